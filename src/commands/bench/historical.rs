//! `minrepro bench --historical`: minimizes issues that were fetched, compares the results with the
//! best known ones, and adds a row for each to the history. Fetches nothing; installs only what the
//! user allows.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::anyhow;
use minrepro_reducers::{registry::PASSES, syntax::Program};
use serde::Serialize;

use super::{
    compare::history,
    corpus::{Interpreters, Needs},
    history::{HistoryRow, commit, now},
    keep_result, plain_run_args, write_figures,
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
    journal::Journal,
    report::{Output, Progress, geometric_mean},
    runner::Interpreter,
    scrub::{
        ExternalTools,
        corpus::{FetchedCode, HashComparison, HistoricalIssue},
        review::{Concern, Finding, review},
        version_environments::of_packages,
    },
    target::Target,
};

/// How long a reduction may take unless the user says.
const LIMIT: Duration = Duration::from_mins(4);

/// The figures of one issue.
#[derive(Clone, Debug, Serialize)]
struct IssueFigures {
    issue: String,
    kind: String,
    python: String,
    before: u32,
    /// The size of the result; none if there is no result.
    after: Option<u32>,
    /// The best known size.
    best: Option<u32>,
    runs: u64,
    seconds: f64,
    verdict: IssueVerdict,
    /// Whether the time was up before the search was done.
    stopped: bool,
    /// Whether the code has the recorded hash.
    same_code: bool,
    /// The expectations that are not met; empty if all are.
    faults: Vec<String>,
}

/// What is known of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, strum::Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
enum IssueVerdict {
    /// It shows the same bug.
    Verified,
    /// It shows the same words, or nobody has looked.
    Unverified,
    /// It does not show the bug in each fresh run.
    Unstable,
    /// The script does not show the bug.
    NotReproduced,
    /// The script could not be minimized.
    Failed,
}

/// The environments that fit, each looked for once.
struct FittingInterpreters<'a> {
    interpreters: Interpreters,
    known: BTreeMap<String, Result<Interpreter, String>>,
    args: &'a BenchArgs,
    tools: &'a ExternalTools,
    printer: Printer,
}

pub(super) fn historical(
    list: &PathBuf,
    args: &BenchArgs,
    printer: Printer,
) -> Result<Exit, Failure> {
    let (_, list) = read_list(list)?;
    let issues = labelled(
        chosen(&list, &args.issues.only)?,
        args.issues.label.as_deref(),
    )?;
    let folder = code_folder()?;
    let tools = tools(printer)?;
    let mut history = history(args)?;
    let mut interpreters = FittingInterpreters {
        interpreters: Interpreters::new(&args.python)?,
        known: BTreeMap::new(),
        args,
        tools: &tools,
        printer,
    };
    let mut rows: Vec<IssueFigures> = Vec::new();
    let mut skipped = 0;
    printer.data(header());
    for issue in &issues {
        tools.check().map_err(Failure::from)?;
        let ready = match ready(issue, &folder, &mut interpreters)? {
            Ok(ready) => ready,
            Err(why) => {
                printer.warning(&format!("SKIPPED {}: {why}", issue.id));
                skipped += 1;
                continue;
            }
        };
        let row = ready.minimized(args, printer)?;
        printer.data(row.line());
        let kept = history.add(row.for_history(args.issues.name.as_deref()));
        if let Err(error) = kept {
            printer.warning(&format!("the history lacks {}: {error}", row.issue));
        }
        rows.push(row);
    }
    if rows.is_empty() {
        let error = anyhow!("none of {} issues could be minimized", issues.len());
        return Err(Failure::new(Exit::Environment, error).hint(
            "fetch the code by `minrepro corpus fetch`, and name interpreters by `--python` or allow `--install`",
        ));
    }
    printer.data(footer(&rows));
    if skipped > 0 {
        let all = issues.len();
        printer.warning(&format!("{skipped} of {all} issues were SKIPPED"));
    }
    if let Some(path) = &args.json {
        write_figures(path, &rows)?;
    }
    ended(&rows)
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
    let has = |kind: &str| {
        let mut words = kind.split(|char: char| !char.is_ascii_alphanumeric());
        kind == label || words.any(|word| word == label)
    };
    let found: Vec<_> = issues
        .iter()
        .copied()
        .filter(|issue| has(&issue.kind))
        .collect();
    if found.is_empty() {
        let mut kinds: Vec<&str> = issues.iter().map(|issue| issue.kind.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        return Err(Failure::usage(format!("no issue is of the kind `{label}`"))
            .hint(format!("the kinds are {}", kinds.join(", "))));
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
    folder: &std::path::Path,
    environments: &mut FittingInterpreters<'_>,
) -> Result<Result<ReadyIssue<'l>, String>, Failure> {
    let Some(code) = FetchedCode::read(folder, issue) else {
        return Ok(Err("its code is not fetched".to_owned()));
    };
    let Ok(program) = Program::parse(code.text.as_str()) else {
        return Ok(Err("its code does not parse".to_owned()));
    };
    let concerns = concerns(issue, &program);
    if let Some(first) = concerns.first().filter(|_| !environments.args.issues.trust) {
        let Finding {
            line,
            concern,
            what,
        } = first;
        return Ok(Err(format!(
            "the review objects to line {line}: {concern}: {what}; `--trust` runs it all the same"
        )));
    }
    let python = environments.fitting(issue)?;
    Ok(python.map(|python| ReadyIssue {
        issue,
        script: FetchedCode::file(folder, issue),
        same_code: issue.compare(&code.hash) == HashComparison::Same,
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

impl FittingInterpreters<'_> {
    /// The interpreter for an issue, or why there is none.
    fn fitting(&mut self, issue: &HistoricalIssue) -> Result<Result<Interpreter, String>, Failure> {
        let needs = Needs {
            python: &issue.python,
            packages: &issue.versions,
        };
        let key = needs.to_string();
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let here = self.interpreters.that_is(needs).map_err(|error| {
            let context = format!("the issue `{}` is broken", issue.id);
            Failure::new(Exit::Usage, error.context(context))
        })?;
        let found = match here {
            Some(interpreter) => Ok(interpreter),
            None if !self.args.python.is_empty() => Err(format!("no interpreter named is {needs}")),
            None => self.made(needs)?,
        };
        self.known.insert(key, found.clone());
        Ok(found)
    }

    /// One that uv makes, or has made.
    fn made(&self, needs: Needs<'_>) -> Result<Result<Interpreter, String>, Failure> {
        let install = self.args.issues.install;
        let made = of_packages(
            needs.python,
            needs.packages,
            install,
            self.tools,
            self.printer,
        )?;
        let none = |why: String| format!("no interpreter here is {needs}; {why}");
        Ok(made.map_err(none).and_then(|python| {
            Interpreter::find(Some(&python)).map_err(|error| none(error.to_string()))
        }))
    }
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
                &mut Journal::in_memory(),
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
            stopped: false,
            same_code: self.same_code,
            faults: Vec::new(),
        }
    }
}

impl IssueFigures {
    /// The size divided by the best known one.
    fn ratio(&self) -> Option<f64> {
        Some(f64::from(self.after?) / f64::from(self.best?.max(1)))
    }

    fn line(&self) -> String {
        let shown =
            |size: Option<u32>| size.map_or_else(|| "–".to_owned(), |size| size.to_string());
        let ratio = self.ratio();
        let ratio = ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"));
        let mut notes = vec![self.verdict.to_string()];
        if self.stopped {
            notes.push("stopped".to_owned());
        }
        if !self.same_code {
            notes.push("other code".to_owned());
        }
        if !self.faults.is_empty() {
            notes.push("FALLS SHORT".to_owned());
        }
        format!(
            "{:24} {:16} {:>6} {:>6} {:>6} {ratio:>6} {:>5} {:>8.1}  {}\n",
            self.issue,
            self.python,
            self.before,
            shown(self.after),
            shown(self.best),
            self.runs,
            self.seconds,
            notes.join(", ")
        )
    }

    fn for_history(&self, name: Option<&str>) -> HistoryRow {
        HistoryRow {
            commit: commit(),
            name: name.map(str::to_owned),
            issue: self.issue.clone(),
            date: now(),
            before: self.before,
            tokens: self.after,
            runs: self.runs,
            seconds: self.seconds,
            verdict: self.verdict.to_string(),
        }
    }
}

fn header() -> String {
    format!(
        "{:24} {:16} {:>6} {:>6} {:>6} {:>6} {:>5} {:>8}  {}\n",
        "issue", "python", "before", "after", "best", "ratio", "runs", "seconds", "verdict"
    )
}

fn footer(rows: &[IssueFigures]) -> String {
    let ratios: Vec<f64> = rows.iter().filter_map(IssueFigures::ratio).collect();
    let verified = rows
        .iter()
        .filter(|row| row.verdict == IssueVerdict::Verified)
        .count();
    let smaller = ratios.iter().filter(|ratio| **ratio < 1.0).count();
    let count = rows.len();
    let mut text = format!("{verified} of {count} verified");
    if !ratios.is_empty() {
        let mean = geometric_mean(ratios.iter().copied());
        let with = ratios.len();
        text.push_str(&format!(
            "; by the best known size {mean:.2} (geometric mean of {with}), {smaller} smaller than it"
        ));
    }
    text + "\n"
}
