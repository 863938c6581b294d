//! Passes that know PyTorch, one file each.

pub(crate) mod drop_submodules;
pub(crate) mod leave_distributed;
pub(crate) mod lower_backends;
pub(crate) mod plain_tensors;
pub(crate) mod return_early;
pub(crate) mod scale_dimensions;
pub(crate) mod shrink_dimensions;
pub(crate) mod unwrap_calls;
pub(crate) mod unwrap_modules;
pub(crate) mod use_cpu;
pub(crate) mod use_float32;
