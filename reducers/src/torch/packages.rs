//! The packages that a repro may need besides the standard library: whoever looks into a bug of
//! PyTorch has them.

/// Their names in imports. They are not inlined, and a program does not count as the simpler for
/// doing without them.
pub const KEPT: &[&str] = &["torch", "numpy"];
