//! Whole-program tests; one module per area.
#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod commands;
mod diagnose;
mod docs;
mod engine;
mod grammar;
mod house;
mod inlining;
mod oracle;
mod properties;
mod runner;
mod scrub;
mod stale;
mod support;
