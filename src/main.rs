//! Parses the arguments, runs the command, gives the exit status.

use std::process::ExitCode;

use clap::Parser;
use minrepro::{
    cli::{Cli, Printer, advised},
    commands, crash, runner,
};

fn main() -> ExitCode {
    // The runner starts this program once more as the supervisor of a run.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|verb| verb == "supervise")
    {
        return runner::supervise();
    }
    let cli = Cli::try_parse().unwrap_or_else(|error| advised(error).exit());
    let printer = Printer::new(cli.globals);
    match crash::caught(|| commands::run(cli, printer)) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            printer.failure(&failure);
            failure.exit.into()
        }
    }
}
