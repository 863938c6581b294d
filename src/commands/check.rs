//! `minrepro check SCRIPT`: prints the signature of a script's bug, and in how many runs it shows; or
//! judges programs that somebody wrote to show it.

use std::{path::PathBuf, sync::Arc};

use anyhow::anyhow;

use super::{script, session::Session};
use crate::{
    cli::{CheckArgs, Exit, Failure, Printer},
    engine::Halt,
    journal::Journal,
    judge::{Inspection, establish, inspect},
    oracle::{Baseline, Part, summary},
    report,
    runner::{End, Start},
    text::quoted,
};

pub(super) fn check(args: &CheckArgs, printer: Printer) -> Result<Exit, Failure> {
    let session = Session::start(&args.script, &args.run)?;
    session.warn_of_weak_confinement(printer);
    if !args.candidate.is_empty() {
        return judge(&session, &args.candidate, printer);
    }
    let outcomes = session
        .subject
        .baseline_runs(args.runs.into(), Start::Cold)?;
    for (number, outcome) in outcomes.iter().enumerate() {
        let seconds = outcome.timing.wall.as_secs_f64();
        printer.note(&format!(
            "run {:>2}: {seconds:6.2} s  {}",
            number + 1,
            summary(outcome)
        ));
    }
    let of = outcomes.len();
    if let Some(test) = &args.run.test {
        let same = outcomes
            .iter()
            .filter(|outcome| outcome.end == End::Exit(0))
            .count();
        printer.data(&format!(
            "test:      {test}\nshown by:  {same} of {of} runs\n"
        ));
        return Ok(exit(same, of));
    }
    if let (Some(obstacle), Some(first)) = (session.subject.obstacle(&outcomes), outcomes.first()) {
        return Err(session.obstructed(&obstacle, first));
    }
    match Baseline::new(&session.subject.settings.specs, outcomes) {
        Ok(baseline) => {
            let timeout = session.subject.timeout(baseline.wall).as_secs_f64();
            printer.data(&format!(
                "signature: {}\nshown by:  {} of {of} runs\ntimeout:   {timeout:.0} s for each candidate\n",
                baseline.signature, baseline.same
            ));
            if session.subject.settings.specs.is_empty() {
                let typed = baseline.signature.to_arguments();
                let typed: Vec<String> = typed
                    .iter()
                    .map(|argument| format!("-s {}", quoted(argument)))
                    .collect();
                printer.data(&format!("as typed:  {}\n", typed.join(" ")));
            }
            if baseline
                .signature
                .parts
                .iter()
                .any(|part| matches!(part, Part::RaisedAt(_)))
            {
                printer.note(
                    "the message is not distinctive, so the location is part of the signature",
                );
            }
            if baseline.signature.is_printed_alone() {
                printer.note("the script only prints its error, which a candidate could do without the bug: use an `assert` instead of the `print` for a more faithful result");
            }
            Ok(Exit::Reduced)
        }
        Err(error) => {
            let shown = error.to_string();
            let failure = session.not_reproduced(error, None);
            if failure.exit == Exit::Unstable {
                printer.data(&format!(
                    "shown by:  {}\n",
                    shown.trim_start_matches("the bug shows in ")
                ));
            }
            Err(failure)
        }
    }
}

/// Judges programs as a reduction judges its result, and prints what was found of each.
fn judge(session: &Session, files: &[PathBuf], printer: Printer) -> Result<Exit, Failure> {
    let programs = files.iter().map(|file| Ok(script::read(file)?.1));
    let programs: Vec<_> = programs.collect::<Result<_, Failure>>()?;
    let subject = &session.subject;
    let mut established =
        establish(subject, &mut Journal::in_memory()).map_err(|error| session.failure(error))?;
    established.measure = established.measure.wherever();
    printer.note(&format!("signature: {}", established.measure.describe()));
    for line in established.checks.describe() {
        printer.note(&line);
    }
    let mut exit = Exit::Reduced;
    for (file, program) in files.iter().zip(programs) {
        let found = inspect(subject, &established, Arc::new(program)).map_err(halted)?;
        printer.data(&format!("{}\n", file.display()));
        for line in report::inspection(&found) {
            printer.data(&format!("  {line}\n"));
        }
        exit = match (&found, exit) {
            (Inspection::NotShown(_), _) | (_, Exit::NotReproduced) => Exit::NotReproduced,
            (found, exit) if found.is_verified() || subject.settings.loose => exit,
            _ => Exit::Unverified,
        };
    }
    Ok(exit)
}

/// What stopped the session.
pub(super) fn halted(halt: Halt) -> Failure {
    match halt {
        Halt::Interrupted(signal) => {
            Failure::new(Exit::Interrupted(signal), anyhow!("interrupted"))
        }
        Halt::MaxTime => Failure::new(Exit::Stopped, anyhow!("the time is spent")),
        Halt::Failed(error) => Failure::new(Exit::Environment, error),
    }
}

fn exit(same: usize, of: usize) -> Exit {
    match same {
        0 => Exit::NotReproduced,
        same if same < of => Exit::Unstable,
        _ => Exit::Reduced,
    }
}
