//! Passes that are guided by the evidence of a traced run, one file each.

pub(crate) mod descend_into_modules;
pub(crate) mod drop_unexecuted;
pub(crate) mod jump_into_compiled;
pub(crate) mod jump_to_backward;
pub(crate) mod jump_to_comparison;
pub(crate) mod jump_to_failure;
pub(crate) mod jump_to_operation;
pub(crate) mod keep_slice;
