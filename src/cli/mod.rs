//! The command line: arguments as typed, what they mean, how the program speaks and how it ends.
//! Runs nothing.

mod args;
mod exit;
mod printer;
mod typo;

pub use args::{
    Assume, BenchArgs, BisectArgs, CheckArgs, Cli, ColorWhen, CompletionsArgs, Format, Globals,
    PassesArgs, PassesVerb, ProbeArgs, ReduceArgs, ReviewArgs, RunArgs, RunnerKind, SandboxWhen,
    ScrubArgs, Verb, VersionArgs,
};
pub use exit::{Exit, Failure};
pub use printer::Printer;
pub use typo::{advised, command_like};
