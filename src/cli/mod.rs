//! The command line: arguments as typed, their help, the printer, and how the program ends. Runs
//! nothing.

mod args;
mod bench_args;
mod corpus_args;
mod diagnose_args;
mod exit;
mod help;
mod issue_name;
mod painted;
mod printer;
mod scrub_args;
mod stale_args;
mod triage_args;
mod typo;
mod values;

pub(crate) use args::VERSION;
pub use args::{
    CheckArgs, Cli, ColorWhen, CompletionsArgs, Format, Globals, ManArgs, PassesArgs, PassesVerb,
    ReduceArgs, ReviewArgs, RunArgs, Verb,
};
pub use bench_args::{BenchArgs, HistoricalArgs};
pub use corpus_args::{CorpusArgs, CorpusFetchArgs, CorpusVerb};
pub use diagnose_args::DiagnoseArgs;
pub use exit::{Exit, Failure};
pub use issue_name::{IssueName, Repo};
pub use painted::Painted;
pub use printer::Printer;
pub(crate) use scrub_args::anywhere;
pub use scrub_args::{Assume, BisectArgs, ProbeArgs, ScrubArgs, VersionArgs};
pub use stale_args::StaleArgs;
pub use triage_args::TriageArgs;
pub use typo::{advised, tip};
pub use values::{RunnerKind, SandboxWhen};
