//! Changes to a program's text: edits and their union, parentheses, indentation. Knows what Python
//! needs for the text to parse and to mean the same; proposes nothing. Called by analysis, passes
//! and the engine.

pub mod edit;
pub(crate) mod parenthesize;
pub mod test_body;
