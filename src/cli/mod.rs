//! The command line: arguments as typed, their help, the printer, and how the program ends. Runs
//! nothing.

mod args;
mod exit;
mod help;
mod issue_name;
mod printer;
mod scrub_args;
mod typo;
mod values;

pub use args::{
    BenchArgs, CheckArgs, Cli, ColorWhen, CompletionsArgs, Format, Globals, ManArgs, PassesArgs,
    PassesVerb, ReduceArgs, ReviewArgs, RunArgs, RunnerKind, Verb,
};
pub use exit::{Exit, Failure};
pub use issue_name::{IssueName, Repo};
pub use printer::Printer;
pub use scrub_args::{Assume, BisectArgs, ProbeArgs, ScrubArgs, VersionArgs};
pub use typo::{advised, command_like};
pub use values::SandboxWhen;
