//! `minrepro scrub NUMBER`: from a GitHub issue to a minimized repro, a report and a comment that
//! the user has seen.

use std::{path::PathBuf, time::Duration};

use super::script_runner::Bench;
use crate::{
    cli::{
        Assume, Exit, Failure, IssueName, Printer, ProbeArgs, RunArgs, RunnerKind, ScrubArgs,
        VersionArgs,
    },
    report::write_atomically,
    runner::Covered,
    scrub::{
        ExternalTools, ScrubReport,
        issue::{Repo, actionable::IssueKind},
        scrub as go,
        steps::{IssueSource, Posting, ScrubSettings},
        version_environments::Environments,
        write::WriteState,
    },
};

/// The time limit of a run of the original script, unless the user sets one.
const TIMEOUT: Duration = Duration::from_mins(2);

pub(super) fn scrub(args: &ScrubArgs, printer: Printer) -> Result<Exit, Failure> {
    let settings = settings(args)?;
    let tools = tools(printer)?;
    std::fs::create_dir_all(&settings.folder).map_err(|error| {
        let error = anyhow::Error::new(error).context(format!(
            "could not make the folder `{}`",
            settings.folder.display()
        ));
        Failure::new(Exit::Usage, error).hint("name another folder: `--dir FOLDER`")
    })?;
    let mut bench = Bench::new(run_args(&args.probe), printer)?;
    let report =
        go(&settings, &tools, &mut bench, printer).map_err(|failure| match failure.exit {
            // A run may have been interrupted, too.
            Exit::Interrupted(_) => failure.hint("run the same command again to continue"),
            _ => failure,
        })?;
    let text = serde_json::to_string_pretty(&report).unwrap_or_default();
    for (name, text) in [
        ("report.json", Some(&text)),
        ("comment.md", report.comment.as_ref()),
    ] {
        let file = settings.folder.join(name);
        if let Some(text) = text
            && let Err(error) = write_atomically(&file, text.as_bytes())
        {
            printer.warning(&format!("could not write `{}`: {error}", file.display()));
        }
    }
    if args.json {
        printer.data(format!("{text}\n"));
    }
    for trouble in &report.troubles {
        printer.warning(trouble);
    }
    print_summary(&report, &settings, printer);
    Ok(report.exit())
}

/// Prints the last lines.
fn print_summary(report: &ScrubReport, settings: &ScrubSettings, printer: Printer) {
    printer.note(format!("\n{:?}: {}", report.end, report.why));
    if let Some(smaller) = &report.found.minimized {
        printer.note(format!("minimized repro: {}", smaller.file.display()));
    }
    if let Some(next) = &report.found.next {
        printer.note(format!("next: {next}"));
    }
    printer.note(format!(
        "report: {}",
        settings.folder.join("report.json").display()
    ));
    if report.interrupted.is_some()
        && report
            .plan
            .iter()
            .any(|write| write.state != WriteState::Done)
    {
        printer.always("interrupted: run the same command again to continue");
    }
}

/// The user's tools.
pub(super) fn tools(printer: Printer) -> Result<ExternalTools, Failure> {
    ExternalTools::start(printer).map_err(|error| {
        Failure::new(
            Exit::Environment,
            anyhow::Error::new(error).context("could not listen to signals"),
        )
    })
}

/// The arguments of a run, as the other verbs have them.
pub(super) fn run_args(args: &ProbeArgs) -> RunArgs {
    RunArgs {
        signature: Vec::new(),
        loose: false,
        control: None,
        good: None,
        min_rate: None,
        test: None,
        python: args.python.clone(),
        timeout: None,
        memory: args.memory,
        env: Vec::new(),
        sandbox: args.sandbox,
        scrubbed: true,
        covered: Covered::default(),
        allow_network: false,
        allow_write: Vec::new(),
        runner: RunnerKind::Auto,
        jobs: args.jobs,
        args: Vec::new(),
        module: None,
        stdin: None,
    }
}

/// The sources of environments.
pub(super) fn environments(args: &VersionArgs) -> Environments {
    Environments {
        named: args.env.clone(),
        versions: args.versions.clone(),
        install: args.install,
    }
}

/// The repository of an issue: that of its address, else the one that the user named.
pub(super) fn repository(issue: Option<&IssueName>, repo: Option<&Repo>) -> Result<Repo, Failure> {
    let named = issue.and_then(|issue| issue.repo.clone());
    if let (Some(named), Some(repo)) = (&named, repo)
        && named != repo
    {
        return Err(Failure::usage(format!(
            "the issue belongs to {named}, but `--repo` names {repo}"
        ))
        .hint("leave `--repo` out, or name the issue by its number"));
    }
    Ok(named.or_else(|| repo.cloned()).unwrap_or_else(|| Repo {
        owner: "pytorch".to_owned(),
        name: "pytorch".to_owned(),
    }))
}

/// Whether writes are carried out.
pub(super) fn posting(dry_run: bool, post: bool) -> Posting {
    match (dry_run, post) {
        (true, _) => Posting::DryRun,
        (false, true) => Posting::Agreed,
        (false, false) => Posting::Ask,
    }
}

fn settings(args: &ScrubArgs) -> Result<ScrubSettings, Failure> {
    let repo = repository(args.issue.as_ref(), args.repo.as_ref())?;
    let source = match (&args.issue, &args.from) {
        (Some(issue), None) => IssueSource::GitHub(issue.number),
        (None, Some(file))
            if file
                .extension()
                .is_some_and(|extension| extension == "json") =>
        {
            IssueSource::Saved(file.clone())
        }
        (None, Some(file)) => IssueSource::Script(file.clone()),
        _ => {
            return Err(Failure::usage(
                "name an issue by its number, or a file: `--from FILE`",
            ));
        }
    };
    let name = match &source {
        IssueSource::GitHub(number) => number.to_string(),
        IssueSource::Saved(file) | IssueSource::Script(file) => file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
    };
    Ok(ScrubSettings {
        repo,
        folder: args
            .dir
            .clone()
            .unwrap_or_else(|| PathBuf::from(format!("scrub-{name}"))),
        ..each(args, source)?
    })
}

/// The settings that do not depend on the issue.
pub(super) fn each(args: &ScrubArgs, source: IssueSource) -> Result<ScrubSettings, Failure> {
    Ok(ScrubSettings {
        source,
        repo: repository(None, args.repo.as_ref())?,
        folder: PathBuf::new(),
        posting: posting(args.dry_run, args.post),
        json: args.json,
        assume: args.assume.map(|assumed| match assumed {
            Assume::Bug => IssueKind::Bug,
            Assume::Duplicate => IssueKind::Duplicate,
            Assume::Feature => IssueKind::Feature,
            Assume::Refactoring => IssueKind::Refactoring,
            Assume::Question => IssueKind::Question,
            Assume::Tracker => IssueKind::Tracker,
        }),
        trust: args.trust,
        with: args.with.clone(),
        pick: args.pick,
        reverify: args.reverify,
        close_stale: args.close_stale,
        accept_fix: args.accept_fix,
        signature: args.probe.signature.clone(),
        timeout: args.probe.timeout.unwrap_or(TIMEOUT),
        pytorch: args.versions.pytorch.clone(),
        search: environments(&args.versions),
    })
}
