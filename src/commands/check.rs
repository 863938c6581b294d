//! `minrepro check SCRIPT`: prints the signature of a script's bug and in how many runs it shows,
//! or judges programs that somebody wrote to show it.

use std::{path::PathBuf, sync::Arc};

use anyhow::anyhow;

use super::session::Session;
use crate::{
    cli::{CheckArgs, Exit, Failure, Format, Printer},
    engine::Halt,
    journal::Journal,
    judge::{Inspection, establish, inspect},
    oracle::{Baseline, Part, summary},
    report::{self, EventRecord},
    runner::{End, Start},
    target::{self, Target},
    text::quoted,
};

/// Prints the findings: for people, or as records for programs.
#[derive(Clone, Copy)]
struct Listener {
    printer: Printer,
    format: Format,
}

impl Listener {
    fn tell(self, record: impl FnOnce() -> EventRecord, words: impl FnOnce(Printer)) {
        match self.format {
            Format::Human => words(self.printer),
            Format::Jsonl => self.printer.data(record().line()),
        }
    }
}

pub(super) fn check(args: &CheckArgs, printer: Printer) -> Result<Exit, Failure> {
    let given = Target::typed(args.script.as_deref(), args.run.module.as_deref())?;
    let session = Session::start(&given, &args.run)?;
    session.warn_of_weak_confinement(printer);
    let listener = Listener {
        printer,
        format: args.format,
    };
    for text in &session.notes {
        let record = || EventRecord::Note { text: text.clone() };
        listener.tell(record, |printer| printer.note(text));
    }
    if !args.candidate.is_empty() {
        return judge(&session, &args.candidate, listener);
    }
    let outcomes = session
        .subject
        .baseline_runs(args.runs.into(), Start::Cold, &mut |_| {})?;
    for (number, outcome) in outcomes.iter().enumerate() {
        let number = number + 1;
        let seconds = outcome.timing.wall.as_secs_f64();
        let summary = summary(outcome);
        let words = format!("run {number:>2}: {seconds:6.2} s  {summary}");
        let record = || EventRecord::BaselineRun {
            number,
            seconds,
            end: outcome.end,
            summary,
        };
        listener.tell(record, |printer| printer.note(&words));
    }
    let of = outcomes.len();
    if let Some(test) = &args.run.test {
        let same = outcomes
            .iter()
            .filter(|outcome| outcome.end == End::Exit(0))
            .count();
        let record = || EventRecord::Checked {
            signature: test.clone(),
            arguments: Vec::new(),
            same,
            of,
        };
        listener.tell(record, |printer| {
            printer.data(format!(
                "test:      {test}\nshown by:  {same} of {of} runs\n"
            ));
        });
        return Ok(exit(same, of));
    }
    if let (Some(obstacle), Some(first)) = (session.subject.obstacle(&outcomes), outcomes.first()) {
        return Err(session.obstructed(&obstacle, first));
    }
    match Baseline::new(&session.subject.settings.specs, outcomes) {
        Ok(baseline) => {
            tell_signature(&session, &baseline, of, listener);
            Ok(Exit::Reduced)
        }
        Err(error) => {
            let shown = error.to_string();
            let failure = session.not_reproduced(error, None);
            if failure.exit == Exit::Unstable && args.format == Format::Human {
                printer.data(format!(
                    "shown by:  {}\n",
                    shown.trim_start_matches("the bug shows in ")
                ));
            }
            Err(failure)
        }
    }
}

/// The signature, how to type it, and how often the bug shows.
fn tell_signature(session: &Session, baseline: &Baseline, of: usize, listener: Listener) {
    let Baseline {
        signature, same, ..
    } = baseline;
    let record = || EventRecord::Checked {
        signature: signature.to_string(),
        arguments: signature.to_arguments(),
        same: *same,
        of,
    };
    listener.tell(record, |printer| {
        let timeout = session.subject.timeout(baseline.wall).as_secs_f64();
        printer.data(format!(
            "signature: {signature}\nshown by:  {same} of {of} runs\ntimeout:   {timeout:.0} s for each candidate\n",
        ));
        if session.subject.settings.specs.is_empty() {
            let typed = signature.to_arguments();
            let typed: Vec<String> = typed
                .iter()
                .map(|argument| format!("-s {}", quoted(argument)))
                .collect();
            printer.data(format!("as typed:  {}\n", typed.join(" ")));
        }
        let mut parts = signature.parts.iter();
        if parts.any(|part| matches!(part, Part::RaisedAt(_))) {
            printer.note("the message is not distinctive, so the location is part of the signature");
        }
        if signature.is_printed_alone() {
            printer.note("the script only prints its error, which a candidate could do without the bug: use an `assert` instead of the `print` for a more faithful result");
        }
    });
}

/// Judges programs as a reduction judges its result, and prints the findings of each.
fn judge(session: &Session, files: &[PathBuf], listener: Listener) -> Result<Exit, Failure> {
    let programs = files.iter().map(|file| Ok(target::read(file)?.1));
    let programs: Vec<_> = programs.collect::<Result<_, Failure>>()?;
    let subject = &session.subject;
    let mut established = establish(subject, &mut Journal::in_memory(), &|_| {})
        .map_err(|error| session.failure(error))?;
    established.judge_by_hand();
    let signature = established.measure.describe();
    let words = format!("signature: {signature}");
    let record = || EventRecord::Signature {
        signature,
        derived: subject.settings.specs.is_empty() && subject.settings.test.is_none(),
        timeout: established.timeout.as_secs_f64(),
    };
    listener.tell(record, |printer| printer.note(&words));
    for claim in established.checks.describe() {
        let words = claim.clone();
        listener.tell(
            || EventRecord::Check { claim },
            |printer| printer.note(&words),
        );
    }
    let mut exit = Exit::Reduced;
    for (file, program) in files.iter().zip(programs) {
        let found = inspect(subject, &established, Arc::new(program)).map_err(halted)?;
        exit = match (&found, exit) {
            (Inspection::NotShown(_), _) | (_, Exit::NotReproduced) => Exit::NotReproduced,
            (found, exit) if found.is_verified() || subject.settings.loose => exit,
            _ => Exit::Unverified,
        };
        let file = file.display().to_string();
        let lines = report::inspection(&found);
        listener.tell(
            || EventRecord::judged(file.clone(), found),
            |printer| {
                printer.data(format!("{file}\n"));
                for line in lines {
                    printer.data(format!("  {line}\n"));
                }
            },
        );
    }
    Ok(exit)
}

/// The reason that stopped the session.
pub(super) fn halted(halt: Halt) -> Failure {
    match halt {
        Halt::Interrupted(signal) => {
            Failure::new(Exit::Interrupted(signal), anyhow!("interrupted"))
        }
        Halt::MaxTime => Failure::new(Exit::Stopped, anyhow!("the time is up")),
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
