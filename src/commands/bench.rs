//! `minrepro bench FOLDER...`: minimizes every case of a corpus and compares the results with those
//! that an expert wrote.

mod compare;
mod corpus;
mod historical;
mod history;
mod remote;
mod row;
mod speed;
mod truth;

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, anyhow};
use minrepro_reducers::{
    registry::PASSES,
    syntax::Program,
    torch::environment::{COMPILER_OFF, CompilerRank, compiled_with},
};
use serde::Serialize;

use super::{
    minimize::{Effort, Minimized, minimize},
    reduce::open_journal,
    session::Session,
};
use crate::{
    cli::{BenchArgs, Exit, Failure, Printer, RunArgs, SandboxWhen},
    engine::{Halt, Stop},
    journal::{Journal, named_journals_folder},
    judge::{Alone, Confirmed, FLAKY_RUNS, Measure, confirm},
    oracle::Baseline,
    report::{Output, Progress, encoded, write_atomically},
    runner::{Covered, Interpreter, Job, Start},
};
use corpus::{Case, Interpreters, all_interpreters, cases};
use row::{Row, footer, header, line};
use speed::{Speed, speed};
use truth::judgements;

/// The figures of the cases so far.
#[derive(Default)]
struct Found {
    rows: Vec<Row>,
    speeds: Vec<Speed>,
    /// How many programs were judged against a script, and which of them wrongly, as is known.
    judged: usize,
    holes: Vec<String>,
    /// How many cases were tried, how many of them fall short, and how many were not tried.
    held: usize,
    short: usize,
    skipped: usize,
    /// The expectations that are not met, each with its case.
    faults: Vec<String>,
}

pub(super) fn bench(args: &BenchArgs, printer: Printer) -> Result<Exit, Failure> {
    if args.interpreters {
        return Ok(print_interpreters(printer));
    }
    if let [a, b] = args.issues.compare.as_slice() {
        return compare::compare(a, b, args, printer);
    }
    if let Some(list) = &args.issues.historical {
        return historical::historical(list, args, printer);
    }
    let folders = cases(&args.folders)?;
    let absolute = |path: &PathBuf| std::path::absolute(path).unwrap_or_else(|_| path.clone());
    let args = &BenchArgs {
        json: args.json.as_ref().map(absolute),
        keep: args.keep.as_ref().map(absolute),
        ..args.clone()
    };
    let mut found = Found::default();
    if args.speed {
        printer.data(Speed::header());
    } else if !args.check {
        printer.data(header());
    }
    match &args.ray {
        Some(address) => remote::corpus(&folders, address, args, &mut found, printer)?,
        None => found.try_all(&folders, args, printer)?,
    }
    found.end(args, printer)
}

/// Prints the interpreters of this machine.
fn print_interpreters(printer: Printer) -> Exit {
    let known = all_interpreters().into_iter();
    let known: Vec<serde_json::Value> = known
        .map(|found| serde_json::json!({"version": found.description, "path": found.path}))
        .collect();
    let text = serde_json::to_string_pretty(&known).unwrap_or_default();
    printer.data(format!("{text}\n"));
    Exit::Reduced
}

impl Found {
    /// Tries the cases here, one after the other.
    fn try_all(
        &mut self,
        folders: &[PathBuf],
        args: &BenchArgs,
        printer: Printer,
    ) -> Result<(), Failure> {
        let interpreters = Interpreters::new(&args.python)?;
        for folder in folders {
            let case = Case::read(folder)?;
            let Some(python) = interpreters.fitting(&case)? else {
                let needs = case.needs();
                self.skip(
                    &case.name,
                    &format!("no interpreter here is {needs}"),
                    printer,
                );
                continue;
            };
            case.enter()?;
            let faults = self.try_case(&case, &python, args, printer)?;
            self.hold(&case.name, &faults);
        }
        Ok(())
    }

    /// Counts a case that was tried.
    fn hold(&mut self, name: &str, faults: &[String]) {
        self.held += 1;
        self.short += usize::from(!faults.is_empty());
        let faults = faults.iter().map(|fault| format!("{name}: {fault}"));
        self.faults.extend(faults);
    }

    /// Counts a case that cannot be tried.
    fn skip(&mut self, name: &str, why: &str, printer: Printer) {
        printer.warning(&format!("SKIPPED {name}: {why}"));
        self.skipped += 1;
    }

    /// Prints the last lines, writes the figures, and says what falls short.
    fn end(self, args: &BenchArgs, printer: Printer) -> Result<Exit, Failure> {
        if self.held == 0 {
            let error = anyhow!("no case could be run");
            return Err(Failure::new(Exit::Environment, error));
        }
        if !self.rows.is_empty() {
            printer.data(footer(&self.rows));
        }
        for hole in &self.holes {
            printer.warning(&format!("KNOWN HOLE {hole}"));
        }
        if self.judged > 0 {
            let (judged, holes) = (self.judged, self.holes.len());
            printer.data(format!(
                "judged {judged} times, {holes} of them wrongly as is known\n"
            ));
        }
        if self.skipped > 0 {
            let (skipped, all) = (self.skipped, self.held + self.skipped);
            printer.warning(&format!("{skipped} of {all} cases were SKIPPED"));
        }
        if let Some(path) = &args.json {
            self.write(args, path)?;
        }
        if self.faults.is_empty() {
            return Ok(Exit::Reduced);
        }
        let error = anyhow!("{} of the cases fall short", self.short);
        let mut failure = Failure::new(Exit::NotReproduced, error);
        failure.details = self.faults;
        Err(failure)
    }

    /// Checks, times or minimizes a case, prints its figures, and returns the expectations that are
    /// not met.
    fn try_case(
        &mut self,
        case: &Case,
        python: &Interpreter,
        args: &BenchArgs,
        printer: Printer,
    ) -> Result<Vec<String>, Failure> {
        if args.check {
            // Whoever judges by a signature finds out whether the script and the ideal show it.
            let is_judged = !case.slips.is_empty();
            let mut faults = Vec::new();
            if !is_judged || case.expected.rung.is_some() {
                faults = check(case, python, args, printer)?;
            }
            if is_judged {
                let started = Instant::now();
                let found = judgements(case, &run_args(case, python, args), args.runs.into())?;
                let judged = format!("judged: {}", found.line());
                printer.data(checked(case, python, started, &judged));
                faults.extend(found.faults);
                let holes = found.holes.iter();
                self.holes
                    .extend(holes.map(|hole| format!("{}: {hole}", case.name)));
                self.judged += found.judged;
            }
            return Ok(faults);
        }
        if !args.speed {
            let row = run(case, python, args, printer)?;
            printer.data(line(&row));
            let faults = row.faults.clone();
            self.rows.push(row);
            return Ok(faults);
        }
        let mut faults = Vec::new();
        for script in case.scripts() {
            let args = RunArgs {
                jobs: Some(1),
                ..run_args(case, python, args)
            };
            let speed = speed(&case.name, &script, &args)?;
            printer.data(speed.line());
            faults.extend(speed.faults.clone());
            self.speeds.push(speed);
        }
        Ok(faults)
    }

    /// Writes the figures as JSON.
    fn write(&self, args: &BenchArgs, path: &Path) -> Result<(), Failure> {
        if args.speed {
            write_figures(path, &self.speeds)
        } else {
            write_figures(path, &self.rows)
        }
    }
}

/// Writes figures as JSON.
fn write_figures(path: &Path, figures: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_vec_pretty(figures).unwrap_or_default();
    write_atomically(path, &text)
        .with_context(|| format!("could not write `{}`", path.display()))
        .map_err(|error| Failure::new(Exit::Environment, error))
}

/// The arguments with which the scripts of a case are run.
fn run_args(case: &Case, python: &Interpreter, args: &BenchArgs) -> RunArgs {
    RunArgs {
        signature: vec![case.expected.signature.clone()],
        min_rate: case.expected.min_rate,
        timeout: Some(Duration::from_secs_f64(case.expected.timeout)),
        args: case.expected.arguments.iter().map(Into::into).collect(),
        ..plain_run_args(python, args)
    }
}

/// The arguments that all scripts have.
fn plain_run_args(python: &Interpreter, args: &BenchArgs) -> RunArgs {
    RunArgs {
        signature: Vec::new(),
        loose: false,
        control: None,
        good: None,
        min_rate: None,
        test: None,
        python: Some(python.path.clone()),
        timeout: None,
        memory: None,
        env: Vec::new(),
        sandbox: SandboxWhen::Auto,
        scrubbed: true,
        covered: Covered::default(),
        allow_network: false,
        allow_write: Vec::new(),
        runner: args.runner,
        jobs: args.jobs,
        args: Vec::new(),
        module: None,
        stdin: None,
    }
}

/// Runs both scripts of a case, and returns the expectations that are not met.
fn check(
    case: &Case,
    python: &Interpreter,
    args: &BenchArgs,
    printer: Printer,
) -> Result<Vec<String>, Failure> {
    let started = Instant::now();
    let session = Session::start(&case.target, &run_args(case, python, args))?;
    let flaky = case.expected.min_rate.is_some();
    let runs = if flaky { FLAKY_RUNS } else { args.runs.into() };
    let outcomes = session
        .subject
        .baseline_runs(runs, Start::Cold, &mut |_| {})?;
    let first = outcomes.first().cloned();
    let found = if flaky {
        Baseline::of_some(&session.subject.settings.specs, outcomes)
    } else {
        Baseline::new(&session.subject.settings.specs, outcomes)
    };
    let faults = match found {
        Ok(baseline) => {
            let timeout = session.subject.timeout(baseline.wall);
            ideal_faults(
                case,
                &session,
                &Measure::Signature(baseline.signature),
                timeout,
                runs,
            )?
        }
        Err(error) => {
            let failure = session.not_reproduced(error, first.as_ref());
            let mut faults = vec![format!("`repro.py`: {}", failure.error)];
            faults.extend(failure.details);
            faults
        }
    };
    let state = if faults.is_empty() {
        "both show it"
    } else {
        "FALLS SHORT"
    };
    printer.data(checked(case, python, started, state));
    Ok(faults)
}

/// The line of a case that was checked.
fn checked(case: &Case, python: &Interpreter, started: Instant, state: &str) -> String {
    format!(
        "{:24} {:16} {:>6.1} s  {state}\n",
        case.name,
        python.description,
        started.elapsed().as_secs_f64(),
    )
}

/// The faults of an ideal: it must show the bug as written and compiled at its rank, and must not
/// show it at the next lower rank. All of these runs are parallel.
fn ideal_faults(
    case: &Case,
    session: &Session,
    measure: &Measure,
    timeout: Duration,
    times: usize,
) -> Result<Vec<String>, Failure> {
    // An expert has judged that it is the same bug, by whatever mechanism.
    let measure = &measure.by_words();
    let ideal = encoded(&case.ideal).map_err(|error| Failure::new(Exit::Usage, error))?;
    let mut jobs = vec![Job::new(ideal.into(), timeout); times];
    let mut ranks: Vec<(CompilerRank, bool)> = Vec::new();
    let mut faults = Vec::new();
    let rank = case.expected.rung;
    let lower = rank.and_then(CompilerRank::lower);
    for (rank, expected) in rank
        .map(|rank| (rank, true))
        .into_iter()
        .chain(lower.map(|lower| (lower, false)))
    {
        match compiled_with(&case.ideal, rank) {
            Some(text) => {
                let (name, value) = COMPILER_OFF;
                let off = (name.to_owned(), Some(value.to_owned()));
                let is_off = rank == CompilerRank::None;
                jobs.push(Job {
                    variables: is_off.then_some(off).into_iter().collect(),
                    ..Job::new(text.into_bytes().into(), timeout)
                });
                ranks.push((rank, expected));
            }
            None => faults.push(format!(
                "`ideal.py` cannot be compiled on rung {}: its compilation has an unknown form",
                rank.backend()
            )),
        }
    }
    let outcomes = session.subject.runner.run_all(&jobs, &mut |_, _| {})?;
    let shows: Vec<bool> = outcomes
        .iter()
        .map(|outcome| measure.judge(outcome, timeout).is_same())
        .collect();
    let (as_it_is, lowered) = shows.split_at(times);
    let same = as_it_is.iter().filter(|&&shows| shows).count();
    let enough = case
        .expected
        .min_rate
        .is_some_and(|least| same as f64 >= least * times as f64);
    faults.extend(ideal_fault(Confirmed {
        same,
        of: times,
        enough,
    }));
    for (&shows, (rank, expected)) in lowered.iter().zip(ranks) {
        if shows != expected {
            let verb = if shows { "shows" } else { "does not show" };
            faults.push(format!(
                "`ideal.py` {verb} the signature on rung {}",
                rank.backend()
            ));
        }
    }
    Ok(faults)
}

/// The fault of an ideal that does not show the bug in every run.
fn ideal_fault(confirmed: Confirmed) -> Option<String> {
    let Confirmed { same, of, .. } = confirmed;
    (!confirmed.is_certain())
        .then(|| format!("`ideal.py` shows the signature in {same} of {of} runs"))
}

/// Minimizes the script of a case, and compares the result with the ideal.
fn run(
    case: &Case,
    python: &Interpreter,
    args: &BenchArgs,
    printer: Printer,
) -> Result<Row, Failure> {
    let mut session = Session::start(&case.target, &run_args(case, python, args))?;
    if case.is_project() {
        session.inline()?;
    }
    let effort = Effort {
        max_runs: None,
        end: None,
        ablates: args.ablation,
    };
    let minimized = minimize(
        &session,
        PASSES,
        &mut journal(&session, printer),
        effort,
        &Output::Stdout,
        &Progress::silent(printer),
    )?;
    let reduction = &minimized.reduction;
    if let Stop::Halted(Halt::Interrupted(signal)) = reduction.stop {
        let error = anyhow!("interrupted");
        return Err(Failure::new(Exit::Interrupted(signal), error));
    }
    if let Some(folder) = &args.keep {
        keep_result(folder, &case.name, &reduction.program)?;
    }
    let timeout = session.subject.timeout(Duration::ZERO);
    let measure = &minimized.established.measure;
    let probe = session.subject.probe(measure, timeout, None, Start::Cold);
    let (shown, _) = confirm(&probe, &case.ideal, minimized.steadiness().as_ref(), 0)?;
    let mut row = Row::of(case, python, &session, &minimized);
    row.faults.extend(ideal_fault(shown));
    row.faults.extend(faults(case, &minimized));
    Ok(row)
}

/// The journal of a reduction: figures are those of a whole one, unless the user names a folder of
/// journals.
fn journal(session: &Session, printer: Printer) -> Journal {
    match named_journals_folder() {
        Some(_) => open_journal(&session.identity(&[]), printer),
        None => Journal::in_memory(),
    }
}

/// Writes the result of a case into the folder of results.
fn keep_result(folder: &Path, case: &str, program: &Program) -> Result<(), Failure> {
    let result = program.encode().unwrap_or_default();
    std::fs::create_dir_all(folder)
        .and_then(|()| write_atomically(&folder.join(format!("{case}.py")), &result))
        .with_context(|| format!("could not keep the result in `{}`", folder.display()))
        .map_err(|error| Failure::new(Exit::Environment, error))
}

/// The expectations of a case that its result does not meet.
fn faults(case: &Case, minimized: &Minimized) -> Vec<String> {
    let expected = &case.expected;
    let program = &minimized.reduction.program;
    let has = |fragment: &&String| program.text().contains(*fragment);
    let missing = expected.keep.iter().filter(|fragment| !has(fragment));
    let left = expected.gone.iter().filter(has);
    let mut faults: Vec<String> = missing
        .map(|fragment| format!("`{fragment}` is missing"))
        .chain(left.map(|fragment| format!("`{fragment}` is still there")))
        .collect();
    let (tokens, runs) = (program.size().tokens, minimized.reduction.tally.runs);
    if tokens > expected.max_tokens {
        faults.push(format!("{tokens} tokens, {} at most", expected.max_tokens));
    }
    if runs > expected.max_runs {
        faults.push(format!("{runs} runs, {} at most", expected.max_runs));
    }
    if !minimized.confirmed.is_certain() {
        faults.push("not confirmed by fresh runs".to_owned());
    }
    if case.is_project() && minimized.alone != Some(Alone::Empty) {
        faults.push("does not stand alone".to_owned());
    }
    faults
}
