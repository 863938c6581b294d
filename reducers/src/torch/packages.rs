//! The packages that a repro may need besides the standard library, since everyone who looks into a
//! PyTorch bug has them.

/// Their names in imports. They are not inlined, and a program does not count as the simpler for
/// doing without them.
pub const KEPT: &[&str] = &["torch", "numpy"];
