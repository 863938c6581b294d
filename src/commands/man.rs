//! `minrepro man [VERB]`: a manual page, made of the same tables as the help.

use clap::CommandFactory;
use clap_mangen::Man;

use crate::cli::{Cli, Exit, Failure, ManArgs, Printer};

pub(super) fn man(args: &ManArgs, printer: Printer) -> Result<Exit, Failure> {
    // Without commit and target, so that every build of a version has the same page.
    let mut command = Cli::command().long_version(env!("CARGO_PKG_VERSION"));
    command.build();
    if let Some(verb) = &args.verb {
        let found = command.find_subcommand(verb).cloned();
        command = found.ok_or_else(|| {
            Failure::usage(format!("there is no verb `{verb}`"))
                .hint("`minrepro --help` lists the verbs")
        })?;
        command = command.name(format!("minrepro-{verb}"));
    }
    let mut page = Vec::new();
    Man::new(command)
        .render(&mut page)
        .map_err(|error| Failure::new(Exit::Bug, error))?;
    printer.file(&page).map_err(Failure::unprinted)?;
    Ok(Exit::Reduced)
}
