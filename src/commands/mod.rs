//! The verbs, a file each. Each takes its arguments as typed and ends with an exit status or a
//! failure.

mod bench;
mod bisect;
mod check;
mod completions;
mod man;
mod minimize;
mod passes;
mod reduce;
mod review;
mod script;
mod script_runner;
mod scrub;
mod session;

use crate::cli::{Cli, Exit, Failure, Printer, Verb};

/// Runs the verb that was typed.
pub fn run(cli: Cli, printer: Printer) -> Result<Exit, Failure> {
    match cli.verb {
        None => reduce::reduce(&cli.reduce, printer),
        Some(Verb::Check(args)) => check::check(&args, printer),
        Some(Verb::Passes(args)) => passes::passes(&args, printer),
        Some(Verb::Completions(args)) => {
            completions::completions(args, printer);
            Ok(Exit::Reduced)
        }
        Some(Verb::Man(args)) => man::man(&args, printer),
        Some(Verb::Scrub(args)) => scrub::scrub(&args, printer),
        Some(Verb::Bisect(args)) => bisect::bisect(&args, printer),
        Some(Verb::Review(args)) => review::review(&args, printer),
        Some(Verb::Bench(args)) => bench::bench(&args, printer),
    }
}
