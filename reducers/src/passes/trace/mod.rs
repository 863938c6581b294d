//! Passes that are guided by the evidence of a traced run: the driver of extraction, and its
//! strategies, one file each.

mod extract;

pub(crate) mod drop_unexecuted;
pub(crate) mod extract_backward;
pub(crate) mod extract_comparison;
pub(crate) mod extract_compiled;
pub(crate) mod extract_failure;
pub(crate) mod extract_operation;
pub(crate) mod extract_submodule_call;
pub(crate) mod keep_slice;
pub(crate) mod return_at_failure;
