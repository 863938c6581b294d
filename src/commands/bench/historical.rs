//! `minrepro bench --historical`: minimizes issues that were fetched, compares the results with the
//! best known ones, and adds a row for each to the history. Fetches nothing; installs only what the
//! user allows.

mod figures;
mod interpreters;

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::anyhow;
use minrepro_reducers::{registry::PASSES, syntax::Program};

use self::{
    figures::{IssueFigures, IssueVerdict, footer, header},
    interpreters::FittingInterpreters,
};
use super::{
    compare::history,
    journal, keep_result, plain_run_args,
    remote::{BenchJobs, Unminimized},
    write_figures,
};
use crate::{
    cli::{BenchArgs, Exit, Failure, Printer, RunArgs},
    commands::{
        corpus::{chosen, code_folder, read_list},
        minimize::{Effort, Minimized, minimize},
        scrub::tools,
        session::Session,
    },
    engine::{Halt, Stop},
    report::{Output, Progress},
    runner::Interpreter,
    scrub::{
        ExternalTools,
        corpus::{FetchedCode, HashComparison, HistoricalIssue},
        review::{Concern, Finding, review},
    },
    target::Target,
};

/// How long a reduction may take unless the user says.
const LIMIT: Duration = Duration::from_mins(4);

/// Why an issue is skipped whose code is not there.
const UNFETCHED: &str = "its code is not fetched";

pub(super) fn historical(
    list_file: &Path,
    args: &BenchArgs,
    printer: Printer,
) -> Result<Exit, Failure> {
    let (_, list) = read_list(list_file)?;
    let issues = labelled(
        chosen(&list, &args.issues.only)?,
        args.issues.label.as_deref(),
    )?;
    let code = args.issues.code.clone().map_or_else(code_folder, Ok)?;
    let tools = tools(printer)?;
    // A history that cannot be used is reported before hours are spent.
    history(args)?;
    printer.data(header());
    let mut benched = Benched {
        args,
        printer,
        rows: Vec::new(),
        skipped: 0,
    };
    match &args.ray {
        Some(address) => {
            benched.minimize_together(&issues, list_file, &code, address, &tools)?;
        }
        None => benched.minimize_here(&issues, &code, &tools)?,
    }
    benched.end()
}

/// The issues so far.
struct Benched<'a> {
    args: &'a BenchArgs,
    printer: Printer,
    rows: Vec<IssueFigures>,
    skipped: usize,
}

impl Benched<'_> {
    /// Minimizes issues one after the other.
    fn minimize_here(
        &mut self,
        issues: &[&HistoricalIssue],
        code: &Path,
        tools: &ExternalTools,
    ) -> Result<(), Failure> {
        let args = self.args;
        let mut interpreters = FittingInterpreters::new(args, tools, self.printer)?;
        for issue in issues {
            tools.check().map_err(Failure::from)?;
            match ready(issue, code, &mut interpreters, args.issues.trust)? {
                Ok(ready) => {
                    let row = ready.minimized(args, self.printer)?;
                    self.take(row);
                }
                Err(why) => self.skip(&issue.id, &why),
            }
        }
        Ok(())
    }

    /// Minimizes each issue on a node of a cluster.
    fn minimize_together(
        &mut self,
        issues: &[&HistoricalIssue],
        list: &Path,
        code: &Path,
        address: &str,
        tools: &ExternalTools,
    ) -> Result<(), Failure> {
        let args = self.args;
        let mut jobs = BenchJobs::new(address, args)?;
        for issue in issues {
            let script = FetchedCode::file(code, issue);
            let Some(name) = script.file_name().filter(|_| script.is_file()) else {
                self.skip(&issue.id, UNFETCHED);
                continue;
            };
            let files = [
                (list.to_owned(), PathBuf::from("issues.toml")),
                (script.clone(), PathBuf::from(name)),
            ];
            let typed = ["--historical=issues.toml", "--code=.", "--history=history"];
            let mut typed: Vec<String> = typed.map(str::to_owned).into();
            typed.push(format!("--only={}", issue.id));
            let limit = args.issues.max_time.unwrap_or(LIMIT).as_secs_f64();
            typed.push(format!("--max-time={limit}"));
            let flags = [
                ("--install", args.issues.install),
                ("--trust", args.issues.trust),
            ];
            let flags = flags.iter().filter(|(_, is_given)| *is_given);
            typed.extend(flags.map(|(flag, _)| (*flag).to_owned()));
            jobs.add(&issue.id, &files, &typed)?;
        }
        jobs.run(tools, self.printer, |issue, figures| match figures {
            Ok(row) => self.take(row),
            Err(Unminimized::Skipped(why) | Unminimized::Failed(why)) => self.skip(issue, &why),
        })
    }

    fn take(&mut self, row: IssueFigures) {
        self.printer.data(row.line());
        add_to_history(&row, self.args, self.printer);
        self.rows.push(row);
    }

    fn skip(&mut self, issue: &str, why: &str) {
        self.printer.warning(&format!("SKIPPED {issue}: {why}"));
        self.skipped += 1;
    }

    /// Prints the last lines, writes the figures, and says what falls short.
    fn end(self) -> Result<Exit, Failure> {
        let all = self.rows.len() + self.skipped;
        if self.rows.is_empty() {
            let error = anyhow!("none of {all} issues could be minimized");
            return Err(Failure::new(Exit::Environment, error).hint(
                "fetch the code by `minrepro corpus fetch`, and name interpreters by `--python` or allow `--install`",
            ));
        }
        self.printer.data(footer(&self.rows));
        if self.skipped > 0 {
            let skipped = self.skipped;
            self.printer
                .warning(&format!("{skipped} of {all} issues were SKIPPED"));
        }
        if let Some(path) = &self.args.json {
            write_figures(path, &self.rows)?;
        }
        ended(&self.rows)
    }
}

/// Adds a row. The file is open for no longer than that, so that benches may share it.
fn add_to_history(row: &IssueFigures, args: &BenchArgs, printer: Printer) {
    let row = row.for_history(args.issues.name.as_deref());
    let issue = row.issue.clone();
    let added = history(args)
        .map_err(|failure| failure.error)
        .and_then(|mut history| Ok(history.add(row)?));
    if let Err(error) = added {
        printer.warning(&format!("the history lacks {issue}: {error:#}"));
    }
}

/// The exit status, or what falls short.
fn ended(rows: &[IssueFigures]) -> Result<Exit, Failure> {
    let short: Vec<&IssueFigures> = rows.iter().filter(|row| !row.faults.is_empty()).collect();
    if !short.is_empty() {
        let error = anyhow!("{} of the issues fall short", short.len());
        let mut failure = Failure::new(Exit::NotReproduced, error);
        let faults = |row: &&IssueFigures| {
            let name = row.issue.clone();
            let faults = row.faults.clone().into_iter();
            faults.map(move |fault| format!("{name}: {fault}"))
        };
        failure.details = short.iter().flat_map(faults).collect();
        return Err(failure);
    }
    let is_verified = |row: &IssueFigures| row.verdict == IssueVerdict::Verified;
    Ok(if rows.iter().all(is_verified) {
        Exit::Reduced
    } else {
        Exit::Unverified
    })
}

/// The issues of a kind: all of it, or one of its words.
fn labelled<'l>(
    issues: Vec<&'l HistoricalIssue>,
    label: Option<&str>,
) -> Result<Vec<&'l HistoricalIssue>, Failure> {
    let Some(label) = label else {
        return Ok(issues);
    };
    let words = |kind: &'l str| kind.split(|char: char| !char.is_ascii_alphanumeric());
    let has = |kind: &'l str| kind == label || words(kind).any(|word| word == label);
    let found: Vec<_> = issues
        .iter()
        .copied()
        .filter(|issue| has(&issue.kind))
        .collect();
    if found.is_empty() {
        let known: BTreeSet<&str> = issues.iter().flat_map(|issue| words(&issue.kind)).collect();
        let known: Vec<&str> = known.into_iter().filter(|word| !word.is_empty()).collect();
        return Err(Failure::usage(format!("no issue is of the kind `{label}`"))
            .hint(format!("the kinds have the words {}", known.join(", "))));
    }
    Ok(found)
}

/// An issue that can be minimized.
struct ReadyIssue<'l> {
    issue: &'l HistoricalIssue,
    script: PathBuf,
    same_code: bool,
    python: Interpreter,
}

/// An issue with its script and its interpreter, or why it is skipped.
fn ready<'l>(
    issue: &'l HistoricalIssue,
    folder: &Path,
    interpreters: &mut FittingInterpreters<'_>,
    trust: bool,
) -> Result<Result<ReadyIssue<'l>, String>, Failure> {
    let Some(code) = FetchedCode::read(folder, issue) else {
        return Ok(Err(UNFETCHED.to_owned()));
    };
    let Ok(program) = Program::parse(code.text.as_str()) else {
        return Ok(Err("its code does not parse".to_owned()));
    };
    let concerns = concerns(issue, &program);
    if let Some(first) = concerns.first().filter(|_| !trust) {
        let Finding {
            line,
            concern,
            what,
        } = first;
        return Ok(Err(format!(
            "the review objects to line {line}: {concern}: {what}; `--trust` runs it all the same"
        )));
    }
    let python = interpreters.fitting(issue)?;
    Ok(python.map(|python| ReadyIssue {
        issue,
        script: FetchedCode::file(folder, issue),
        same_code: !matches!(
            issue.compare(&code.hash),
            HashComparison::Changed | HashComparison::Completed
        ),
        python,
    }))
}

/// What the review finds, but for the packages whose bugs the issue is about.
fn concerns(issue: &HistoricalIssue, program: &Program) -> Vec<Finding> {
    let mut found = review(program);
    found.retain(|finding| {
        let is_named = |package: &String| finding.what.contains(package.as_str());
        finding.concern != Concern::Package || !issue.versions.keys().any(is_named)
    });
    found
}

impl ReadyIssue<'_> {
    /// Minimizes it. A script that cannot be minimized has figures, too.
    fn minimized(&self, args: &BenchArgs, printer: Printer) -> Result<IssueFigures, Failure> {
        let started = Instant::now();
        let run = RunArgs {
            signature: self.issue.signature.iter().cloned().collect(),
            ..plain_run_args(&self.python, args)
        };
        let effort = Effort {
            max_runs: None,
            end: Some(started + args.issues.max_time.unwrap_or(LIMIT)),
            ablates: false,
        };
        let target = Target::Script(self.script.clone());
        let result = Session::start(&target, &run).and_then(|session| {
            let minimized = minimize(
                &session,
                PASSES,
                &mut journal(&session, printer),
                effort,
                &Output::Stdout,
                &Progress::silent(printer),
            )?;
            Ok((session.subject.program.size().tokens, minimized))
        });
        let (before, minimized) = match result {
            Ok(result) => result,
            Err(failure) if matches!(failure.exit, Exit::Interrupted(_)) => return Err(failure),
            Err(failure) => return Ok(self.failed(&failure, started)),
        };
        if let Stop::Halted(Halt::Interrupted(signal)) = minimized.reduction.stop {
            let error = anyhow!("interrupted");
            return Err(Failure::new(Exit::Interrupted(signal), error));
        }
        if let Some(folder) = &args.keep {
            keep_result(folder, &self.issue.id, &minimized.reduction.program)?;
        }
        Ok(self.figures(before, &minimized))
    }

    /// The figures of an issue without a result.
    fn failed(&self, failure: &Failure, started: Instant) -> IssueFigures {
        let verdict = match failure.exit {
            Exit::NotReproduced => IssueVerdict::NotReproduced,
            Exit::Unstable => IssueVerdict::Unstable,
            _ => IssueVerdict::Failed,
        };
        let mut faults = vec![format!("{:#}", failure.error)];
        faults.extend(failure.details.iter().take(3).cloned());
        IssueFigures {
            after: None,
            runs: 0,
            seconds: started.elapsed().as_secs_f64(),
            verdict,
            stopped: false,
            faults,
            ..self.unmeasured()
        }
    }

    /// The figures of a result.
    fn figures(&self, before: u32, minimized: &Minimized) -> IssueFigures {
        let reduction = &minimized.reduction;
        let text = reduction.program.text();
        let missing = self.issue.keep.iter().filter(|part| !text.contains(*part));
        let mut faults: Vec<String> = missing
            .map(|fragment| format!("`{fragment}` is missing"))
            .collect();
        let signature = minimized.established.measure.describe();
        if self.issue.signature.is_none() && is_incomplete(&signature) {
            faults.push(format!("the code is incomplete: {signature}"));
            return IssueFigures {
                before,
                verdict: IssueVerdict::NotReproduced,
                signature: Some(signature),
                seconds: minimized.seconds,
                faults,
                ..self.unmeasured()
            };
        }
        let confirmed = &minimized.confirmed;
        let stopped = !matches!(reduction.stop, Stop::Done);
        let verdict = if stopped && confirmed.of == 0 {
            // The time was up before anybody looked.
            IssueVerdict::Unverified
        } else if !confirmed.is_certain() {
            faults.push("not confirmed by fresh runs".to_owned());
            IssueVerdict::Unstable
        } else if minimized.truth.is_verified() {
            IssueVerdict::Verified
        } else {
            IssueVerdict::Unverified
        };
        IssueFigures {
            before,
            after: Some(reduction.program.size().tokens),
            runs: reduction.tally.runs,
            seconds: minimized.seconds,
            verdict,
            signature: Some(signature),
            stopped,
            faults,
            ..self.unmeasured()
        }
    }

    fn unmeasured(&self) -> IssueFigures {
        IssueFigures {
            issue: self.issue.id.clone(),
            kind: self.issue.kind.clone(),
            python: self.python.description.clone(),
            before: 0,
            after: None,
            best: self.issue.best,
            runs: 0,
            seconds: 0.0,
            verdict: IssueVerdict::Failed,
            signature: self.issue.signature.clone(),
            stopped: false,
            same_code: self.same_code,
            faults: Vec::new(),
        }
    }
}

/// Whether a signature that was derived is not that of a bug: the code lacks something that its
/// thread takes for granted.
fn is_incomplete(signature: &str) -> bool {
    const CLASSES: [&str; 4] = [
        "NameError",
        "ModuleNotFoundError",
        "ImportError",
        "SyntaxError",
    ];
    CLASSES.iter().any(|class| signature.starts_with(class))
}
