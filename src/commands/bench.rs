//! `minrepro bench FOLDER...`: minimizes every case of a corpus and holds the results against what
//! an expert wrote.

use std::{fmt::Write as _, time::Duration};

use anyhow::{Context, anyhow};
use minrepro_reducers::{
    registry::PASSES,
    torch::environment::{COMPILER_OFF, CompilerRank, compiled_with},
};
use serde::Serialize;

use super::{
    corpus::{Case, Interpreters, cases},
    minimize::{Effort, minimize},
    output::{Output, encoded},
    session::Session,
    speed::{Speed, speed},
};
use crate::{
    cli::{BenchArgs, Exit, Failure, Printer, RunArgs, SandboxWhen},
    engine::Stop,
    journal::Journal,
    judge::{Confirmed, FLAKY_RUNS, Measure, confirm},
    oracle::Baseline,
    report::{Progress, write_atomically},
    runner::{Interpreter, Job, Start},
};

/// The figures of one case.
#[derive(Clone, Debug, Serialize)]
struct Row {
    case: String,
    description: String,
    python: String,
    before: u32,
    after: u32,
    ideal: u32,
    ratio: f64,
    /// Tokens once 100 candidates had been run, over the ideal's.
    ratio_at_100: f64,
    runs: u64,
    /// Share of runs behind the last success.
    tail: f64,
    seconds: f64,
    /// Seconds of the script as given in a fresh interpreter.
    cold: f64,
    /// Seconds of the script as given when it is forked; none if candidates were not.
    warm: Option<f64>,
    /// Lines without imports, of the result and of the ideal.
    lines: u32,
    ideal_lines: u32,
    /// The weakest backend that shows the bug, as the case says.
    rung: Option<&'static str>,
    confirmed: bool,
    /// Conditions that were tried, those needed, and those that seemed to be until that was
    /// repeated.
    conditions: [usize; 3],
    /// What falls short; empty if nothing does.
    faults: Vec<String>,
}

pub(super) fn bench(args: &BenchArgs, printer: Printer) -> Result<Exit, Failure> {
    let folders = cases(&args.folders)?;
    let interpreters = Interpreters::new(&args.python)?;
    let (mut rows, mut faults, mut held, mut short, mut skipped) =
        (Vec::new(), Vec::new(), 0, 0, 0);
    let mut speeds = Vec::new();
    if args.speed {
        printer.data(&Speed::header());
    } else if !args.check {
        printer.data(&header());
    }
    for folder in folders {
        let case = Case::read(&folder)?;
        let Some(python) = interpreters.fitting(&case)? else {
            printer.warning(&format!(
                "SKIPPED {}: no interpreter here is {}",
                case.name,
                case.needs()
            ));
            skipped += 1;
            continue;
        };
        held += 1;
        let found = if args.check {
            check(&case, &python, args, printer)?
        } else if args.speed {
            let mut found = Vec::new();
            for script in [case.script.clone(), case.script.with_file_name("ideal.py")] {
                let speed = speed(
                    &case.name,
                    &script,
                    &RunArgs {
                        jobs: Some(1),
                        ..run_args(&case, &python, args)
                    },
                )?;
                printer.data(&speed.line());
                found.extend(speed.faults.clone());
                speeds.push(speed);
            }
            found
        } else {
            let row = run(&case, &python, args, printer)?;
            printer.data(&line(&row));
            rows.push(row.clone());
            row.faults
        };
        short += usize::from(!found.is_empty());
        faults.extend(
            found
                .into_iter()
                .map(|fault| format!("{}: {fault}", case.name)),
        );
    }
    if held == 0 {
        return Err(Failure::new(
            Exit::Environment,
            anyhow!("no case could be run"),
        ));
    }
    if !rows.is_empty() {
        printer.data(&footer(&rows));
    }
    if skipped > 0 {
        printer.warning(&format!(
            "{skipped} of {} cases were SKIPPED",
            held + skipped
        ));
    }
    if let Some(path) = &args.json {
        let text = if args.speed {
            serde_json::to_vec_pretty(&speeds)
        } else {
            serde_json::to_vec_pretty(&rows)
        };
        let text = text.unwrap_or_default();
        write_atomically(path, &text)
            .with_context(|| format!("could not write `{}`", path.display()))
            .map_err(|error| Failure::new(Exit::Environment, error))?;
    }
    if faults.is_empty() {
        return Ok(Exit::Reduced);
    }
    let mut failure = Failure::new(
        Exit::NotReproduced,
        anyhow!("{short} of the cases fall short"),
    );
    failure.details = faults;
    Err(failure)
}

/// How a case's script is run.
fn run_args(case: &Case, python: &Interpreter, args: &BenchArgs) -> RunArgs {
    RunArgs {
        signature: vec![case.expected.signature.clone()],
        strict: case.expected.strict,
        control: None,
        min_rate: case.expected.min_rate,
        test: None,
        python: Some(python.path.clone()),
        timeout: Some(Duration::from_secs_f64(case.expected.timeout)),
        memory: None,
        env: Vec::new(),
        sandbox: SandboxWhen::Auto,
        runner: args.runner,
        jobs: args.jobs,
        args: Vec::new(),
    }
}

/// Runs both scripts of a case, and says what falls short.
fn check(
    case: &Case,
    python: &Interpreter,
    args: &BenchArgs,
    printer: Printer,
) -> Result<Vec<String>, Failure> {
    let started = std::time::Instant::now();
    let session = Session::start(&case.script, &run_args(case, python, args))?;
    let flaky = case.expected.min_rate.is_some();
    let runs = if flaky { FLAKY_RUNS } else { args.runs.into() };
    let outcomes = session.subject.baseline_runs(runs, Start::Cold)?;
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
    printer.data(&format!(
        "{:24} {:16} {:>6.1} s  {}\n",
        case.name,
        python.description,
        started.elapsed().as_secs_f64(),
        if faults.is_empty() {
            "both show it"
        } else {
            "FALLS SHORT"
        }
    ));
    Ok(faults)
}

/// The faults of an ideal: it must show the bug as it is and compiled at its rank, and must not at
/// the next lower one. All that is run at once.
fn ideal_faults(
    case: &Case,
    session: &Session,
    measure: &Measure,
    timeout: Duration,
    times: usize,
) -> Result<Vec<String>, Failure> {
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

/// What is wrong with an ideal that does not show the bug each time.
fn ideal_fault(confirmed: Confirmed) -> Option<String> {
    let Confirmed { same, of, .. } = confirmed;
    (!confirmed.is_certain())
        .then(|| format!("`ideal.py` shows the signature in {same} of {of} runs"))
}

fn run(
    case: &Case,
    python: &Interpreter,
    args: &BenchArgs,
    printer: Printer,
) -> Result<Row, Failure> {
    let Case {
        name,
        expected,
        ideal,
        ..
    } = case;
    let session = Session::start(&case.script, &run_args(case, python, args))?;
    let progress = Progress::silent(printer);
    let minimized = {
        let effort = Effort {
            max_runs: None,
            ablates: args.ablation,
        };
        minimize(
            &session,
            PASSES,
            &mut Journal::in_memory(),
            effort,
            &Output::Stdout,
            &progress,
        )?
    };
    let reduction = &minimized.reduction;
    if let Stop::Halted(crate::engine::Halt::Interrupted(signal)) = reduction.stop {
        return Err(Failure::new(
            Exit::Interrupted(signal),
            anyhow!("interrupted"),
        ));
    }
    if let Some(keep) = &args.keep {
        let written = std::fs::create_dir_all(keep).and_then(|()| {
            write_atomically(
                &keep.join(format!("{name}.py")),
                &reduction.program.encode().unwrap_or_default(),
            )
        });
        written
            .with_context(|| format!("could not keep the result in `{}`", keep.display()))
            .map_err(|error| Failure::new(Exit::Environment, error))?;
    }
    let (before, after, best) = (
        session.subject.program.size().tokens,
        reduction.program.size().tokens,
        ideal.size().tokens,
    );
    let at_100 = reduction
        .commits
        .iter()
        .take_while(|commit| commit.run <= 100)
        .last()
        .map_or(before, |commit| commit.tokens);
    let last = reduction.commits.last().map_or(0, |commit| commit.run);
    let runs = reduction.tally.runs;
    let over = |tokens: u32| f64::from(tokens) / f64::from(best.max(1));
    let timeout = session.subject.timeout(Duration::ZERO);
    let established = &minimized.established;
    let probe = session
        .subject
        .probe(&established.measure, timeout, None, Start::Cold);
    let (shown, _) = confirm(&probe, ideal, minimized.steadiness().as_ref(), 0)?;
    let mut faults: Vec<String> = ideal_fault(shown).into_iter().collect();
    let text = reduction.program.text();
    faults.extend(
        expected
            .keep
            .iter()
            .filter(|fragment| !text.contains(*fragment))
            .map(|fragment| format!("`{fragment}` is gone")),
    );
    faults.extend(
        expected
            .gone
            .iter()
            .filter(|fragment| text.contains(*fragment))
            .map(|fragment| format!("`{fragment}` is still there")),
    );
    if after > expected.max_tokens {
        faults.push(format!("{after} tokens, {} at most", expected.max_tokens));
    }
    if runs > expected.max_runs {
        faults.push(format!("{runs} runs, {} at most", expected.max_runs));
    }
    if !minimized.confirmed.is_certain() {
        faults.push("not confirmed by fresh runs".to_owned());
    }
    Ok(Row {
        case: name.clone(),
        description: expected.description.clone(),
        python: python.description.clone(),
        before,
        after,
        ideal: best,
        ratio: over(after),
        ratio_at_100: over(at_100),
        runs,
        tail: (runs.saturating_sub(last)) as f64 / runs.max(1) as f64,
        seconds: minimized.seconds,
        cold: minimized.established.calibration.cold.as_secs_f64(),
        warm: (minimized.established.calibration.start == Start::Warm)
            .then_some(minimized.established.calibration.warm.as_secs_f64()),
        lines: reduction.program.lines_without_imports(),
        ideal_lines: ideal.lines_without_imports(),
        rung: expected.rung.map(CompilerRank::backend),
        confirmed: minimized.confirmed.is_certain(),
        conditions: [
            minimized.ablation.tried.len(),
            minimized
                .ablation
                .tried
                .iter()
                .filter(|condition| condition.is_needed())
                .count(),
            minimized.ablation.taken_back,
        ],
        faults,
    })
}

fn header() -> String {
    format!(
        "{:24} {:16} {:>6} {:>6} {:>6} {:>6} {:>7} {:>5} {:>5} {:>8} {:>6} {:>6} {:>7}  {}\n",
        "case",
        "python",
        "before",
        "after",
        "ideal",
        "ratio",
        "at 100",
        "runs",
        "tail",
        "seconds",
        "cold",
        "warm",
        "faster",
        "confirmed"
    )
}

fn line(row: &Row) -> String {
    format!(
        "{:24} {:16} {:>6} {:>6} {:>6} {:>6.2} {:>7.2} {:>5} {:>4.0}% {:>8.1} {:>6.2} {:>6} {:>7}  {}{}\n",
        row.case,
        row.python,
        row.before,
        row.after,
        row.ideal,
        row.ratio,
        row.ratio_at_100,
        row.runs,
        100.0 * row.tail,
        row.seconds,
        row.cold,
        row.warm
            .map_or_else(String::new, |warm| format!("{warm:.3}")),
        row.warm.map_or_else(String::new, |warm| format!(
            "{:.1}",
            row.cold / warm.max(1e-6)
        )),
        if row.confirmed { "yes" } else { "NO" },
        if row.faults.is_empty() {
            ""
        } else {
            "  FALLS SHORT"
        },
    )
}

fn footer(rows: &[Row]) -> String {
    let mean = |of: &dyn Fn(&Row) -> f64| {
        (rows.iter().map(|row| of(row).max(1e-9).ln()).sum::<f64>() / rows.len() as f64).exp()
    };
    let mut text = String::new();
    let _ = writeln!(
        text,
        "geometric mean of {} cases: ratio {:.2}, at 100 runs {:.2}, runs {:.0}",
        rows.len(),
        mean(&|row| row.ratio),
        mean(&|row| row.ratio_at_100),
        mean(&|row| row.runs as f64)
    );
    let [tried, needed, taken_back] =
        [0, 1, 2].map(|at| rows.iter().map(|row| row.conditions[at]).sum::<usize>());
    if tried > 0 {
        let _ = writeln!(
            text,
            "of {tried} conditions {needed} are needed, each by a run that was repeated; {taken_back} more seemed so before"
        );
    }
    text
}
