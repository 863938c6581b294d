//! One file per pass, in rooms by what a pass knows; [`crate::registry`] puts them in order.

pub(crate) mod python;
pub(crate) mod torch;
pub(crate) mod trace;
