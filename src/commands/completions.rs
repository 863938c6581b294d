//! `minrepro completions SHELL`.

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs, Exit, Failure, Printer};

pub(super) fn completions(args: CompletionsArgs, printer: Printer) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "minrepro", &mut script);
    printer.file(&script).map_err(Failure::unprinted)?;
    Ok(Exit::Reduced)
}
