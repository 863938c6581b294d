//! Evidence of a traced run as data. Made by the runner's tracer, read by passes.

pub mod evidence;
pub(crate) mod library_modules;
pub mod value;
