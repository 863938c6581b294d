//! The meaning of PyTorch's names: environments, devices, data types, sizes, numerics. The only room
//! of this crate besides `passes::torch` that knows PyTorch.

pub mod ablation;
pub(crate) mod dimensions;
pub mod environment;
pub(crate) mod names;
pub mod numeric_divergence;
pub mod seeds;
