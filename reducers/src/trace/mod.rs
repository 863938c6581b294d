//! Evidence of a traced run as data. Made by the runner's tracer, read by passes.

pub mod evidence;
pub mod value;
