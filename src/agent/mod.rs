//! Support for coding agents: the text that teaches them minrepro, and a server of the Model
//! Context Protocol on standard input and output. Its tools run this program itself, so an agent
//! gets what a person gets. Called by the verbs `skill` and `mcp`.

mod answers;
mod program;
mod requests;
mod server;

pub use server::serve;

/// The skill, as a `SKILL.md`.
pub const SKILL: &str = include_str!("skill.md");
