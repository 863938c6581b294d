//! `minrepro completions SHELL`.

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs, Printer};

pub(super) fn completions(args: CompletionsArgs, printer: Printer) {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "minrepro", &mut script);
    printer.bytes(&script);
}
