//! How the text of a program is changed: each mechanism once, for all passes. Nothing here decides
//! what to propose.

pub mod absolute_imports;
pub mod edit;
pub mod merge_modules;
pub mod rebase;
pub(crate) mod removal;
pub mod splice;

pub(crate) mod arguments;
pub(crate) mod parenthesize;
pub(crate) mod reindent;
pub(crate) mod super_calls;
pub(crate) mod unwrap;
pub(crate) mod without_self;

pub(crate) mod gain;
pub mod test_body;
