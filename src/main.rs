//! Parses the arguments, runs the command, gives the exit status.

use std::process::ExitCode;

#[cfg(unix)]
use clap::Parser;
#[cfg(unix)]
use minrepro::{
    cli::{Cli, Printer, advised},
    commands, crash, runner,
};

/// Says at once that nothing can be run here.
#[cfg(not(unix))]
fn main() -> ExitCode {
    anstream::eprintln!(
        "error: minrepro does not run on Windows\n\n\
         hint: run it in WSL, or in a container by the `Containerfile` of its sources"
    );
    ExitCode::from(5)
}

#[cfg(unix)]
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
