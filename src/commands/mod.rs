//! The verbs, a file each. Each takes its arguments as typed and ends with an exit status or a
//! failure.

mod backlog;
mod bench;
mod bisect;
mod check;
mod completions;
mod corpus;
mod diagnose;
mod man;
mod mcp;
mod minimize;
mod passes;
mod reduce;
mod review;
mod script_runner;
mod scrub;
mod session;
mod skill;
mod stale;
mod triage;

use std::path::Path;

use crate::{
    cli::{Cli, Exit, Failure, Format, Printer, Verb},
    report::EventRecord,
};

/// Runs the verb that was typed.
pub fn run(cli: Cli, printer: Printer) -> Result<Exit, Failure> {
    match cli.verb {
        None => {
            let args = &cli.reduce;
            let script = args.script.as_deref();
            with_events(args.format, script, printer, || {
                reduce::reduce(args, printer)
            })
        }
        Some(Verb::Check(args)) => {
            with_events(args.format, args.script.as_deref(), printer, || {
                check::check(&args, printer)
            })
        }
        Some(Verb::Passes(args)) => passes::passes(&args, printer),
        Some(Verb::Completions(args)) => completions::completions(args, printer),
        Some(Verb::Man(args)) => man::man(&args, printer),
        Some(Verb::Skill) => {
            skill::skill(printer);
            Ok(Exit::Reduced)
        }
        Some(Verb::Mcp) => mcp::mcp(),
        Some(Verb::Scrub(args)) if args.approve => backlog::approve(&args, printer),
        Some(Verb::Scrub(args)) if args.search.is_some() => backlog::scrub_all(&args, printer),
        Some(Verb::Scrub(args)) if args.entry.is_some() => backlog::scrub_entry(&args, printer),
        Some(Verb::Scrub(args)) => scrub::scrub(&args, printer),
        Some(Verb::Bisect(args)) => bisect::bisect(&args, printer),
        Some(Verb::Diagnose(args)) => diagnose::diagnose(&args, printer),
        Some(Verb::Stale(args)) => stale::stale(&args, printer),
        Some(Verb::Triage(args)) => triage::triage(&args, printer),
        Some(Verb::Review(args)) => review::review(&args, printer),
        Some(Verb::Bench(args)) => bench::bench(&args, printer),
        Some(Verb::Corpus(args)) => corpus::corpus(&args, printer),
    }
}

/// Runs a verb; where its events are printed for programs, with those of its beginning and end.
fn with_events(
    format: Format,
    script: Option<&Path>,
    printer: Printer,
    run: impl FnOnce() -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    if format == Format::Human {
        return run();
    }
    let script = script.map_or_else(String::new, |script| script.display().to_string());
    printer.data(EventRecord::begin(script).line());
    let ended = run();
    if let Err(failure) = &ended {
        printer.data(EventRecord::failed(failure).line());
    }
    let exit = ended
        .as_ref()
        .map_or_else(|failure| failure.exit, |exit| *exit);
    printer.data(EventRecord::end(exit).line());
    ended
}
