//! The meaning of PyTorch's names: environments, devices, data types, sizes, numerics. The only
//! room of this crate besides `passes::torch` that knows PyTorch.

pub(crate) mod library_imports;
pub(crate) mod names;

pub(crate) mod compilation;
pub(crate) mod compiler;
pub(crate) mod data_types;
pub mod devices;
pub mod dimensions;
pub(crate) mod values;

pub mod ablation;
pub mod components;
pub mod control;
pub mod custom_gradients;
pub mod diagnosis;
pub mod emptiness;
pub mod environment;
pub mod members;
pub mod messages;
pub mod numeric_divergence;
pub mod packages;
pub mod permissions;
pub mod producers;
pub mod refinements;
pub mod seeds;
pub mod settings;
pub mod test_harness;
pub mod variables;
pub mod versions;
