//! `minrepro triage NUMBER`: labels for an issue in the distributed or the compiler queue.

use std::path::PathBuf;

use super::{
    script_runner::Bench,
    scrub::{posting, repository, run_args, tools},
};
use crate::{
    cli::{Exit, Failure, Printer, ProbeArgs, SandboxWhen, TriageArgs},
    report::write_atomically,
    scrub::{
        steps::{IssueSource, ScrubSettings},
        triage::triage as run,
        version_environments::Environments,
    },
};

pub(super) fn triage(args: &TriageArgs, printer: Printer) -> Result<Exit, Failure> {
    let settings = settings(args)?;
    std::fs::create_dir_all(&settings.folder).map_err(|error| {
        let context = format!("could not make the folder `{}`", settings.folder.display());
        Failure::new(Exit::Usage, anyhow::Error::new(error).context(context))
            .hint("name another folder: `--dir FOLDER`")
    })?;
    let tools = tools(printer)?;
    // Triage runs nothing, but the code that it shares with scrub asks for something that could.
    let probe = ProbeArgs {
        signature: Vec::new(),
        python: None,
        timeout: None,
        memory: None,
        sandbox: SandboxWhen::Auto,
        jobs: None,
    };
    let mut bench = Bench::new(run_args(&probe), printer)?;
    let report = run(&settings, &tools, &mut bench, printer)?;
    let text = serde_json::to_string_pretty(&report).unwrap_or_default();
    let file = settings.folder.join("triage.json");
    if let Err(error) = write_atomically(&file, text.as_bytes()) {
        printer.warning(&format!("could not write `{}`: {error}", file.display()));
    }
    if args.json {
        printer.data(format!("{text}\n"));
    }
    for trouble in &report.troubles {
        printer.warning(trouble);
    }
    printer.note(format!("report: {}", file.display()));
    Ok(report.exit())
}

fn settings(args: &TriageArgs) -> Result<ScrubSettings, Failure> {
    let repo = repository(args.issue.as_ref(), args.repo.as_ref())?;
    let (source, name) = match (&args.issue, &args.from) {
        (Some(issue), _) => (IssueSource::GitHub(issue.number), issue.number.to_string()),
        (None, Some(file)) => {
            let name = file
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            (IssueSource::Saved(file.clone()), name)
        }
        (None, None) => return Err(Failure::usage("name an issue by its number")),
    };
    let folder = args.dir.clone();
    Ok(ScrubSettings {
        source,
        repo,
        folder: folder.unwrap_or_else(|| PathBuf::from(format!("triage-{name}"))),
        posting: posting(args.dry_run, args.post),
        json: args.json,
        assume: None,
        trust: false,
        with: Vec::new(),
        pick: None,
        reverify: false,
        close_stale: false,
        accept_fix: false,
        signature: Vec::new(),
        timeout: std::time::Duration::from_mins(2),
        pytorch: None,
        search: Environments {
            named: Vec::new(),
            versions: Vec::new(),
            install: false,
        },
    })
}
