//! Whether the judge tells an ideal from slips: programs that show the same words but another bug.
//! Checks each form of the signature. Called by `bench --check`; reduces nothing.

use std::{collections::BTreeSet, sync::Arc};

use super::corpus::{Brevity, Case};
use crate::{
    cli::{Failure, RunArgs},
    commands::{check::halted, session::Session},
    journal::Journal,
    judge::{BaselineFailure, Inspection, establish, inspect},
    oracle::{BaselineError, Spec},
    report,
};

/// How the ideal and the slips of a case were judged.
#[derive(Debug, Default)]
pub(super) struct Judgements {
    /// Per form, as a line shows it.
    states: Vec<String>,
    /// Programs that were judged wrongly and are not known holes.
    pub(super) faults: Vec<String>,
    /// Programs that were judged wrongly, as is known.
    pub(super) holes: Vec<String>,
    /// Programs that were judged, by all forms.
    pub(super) judged: usize,
}

impl Judgements {
    /// Each form and its outcome.
    pub(super) fn line(&self) -> String {
        self.states.join(", ")
    }
}

/// Judges the ideal and the slips of a case by each form of its signature. What seems to show the bug
/// is run that often in fresh interpreters.
pub(super) fn judgements(case: &Case, args: &RunArgs, runs: usize) -> Result<Judgements, Failure> {
    let mut session = Session::start(&case.target, args)?;
    session.subject.settings.fewer_runs = Some(runs);
    let mut found = Judgements::default();
    let mut seen = BTreeSet::new();
    for form in Brevity::ALL {
        let signature = form.of(&case.expected.signature);
        if !seen.insert(signature.clone()) {
            continue;
        }
        let specs = signature.iter().map(|text| Spec::parse(text));
        session.subject.settings.specs = match specs.collect() {
            Ok(specs) => specs,
            Err(error) => {
                found.fault(form, &error.to_string());
                continue;
            }
        };
        // The same runs of the same programs, judged by another signature.
        session.subject.runner.replay();
        found.judge(case, &session, form)?;
    }
    for (file, forms) in &case.expected.holes {
        for form in forms {
            let name = format!("{file} ({})", form.name());
            if !found.holes.iter().any(|hole| hole.starts_with(&name)) {
                let closed = format!("`{name}` is a hole no more: take it out of `holes`");
                found.faults.push(closed);
            }
        }
    }
    Ok(found)
}

impl Judgements {
    fn fault(&mut self, form: Brevity, fault: &str) {
        self.states.push(format!("{} NOT JUDGED", form.name()));
        self.faults.push(format!("{}: {fault}", form.name()));
    }

    /// Judges all programs by the signature that is set.
    fn judge(&mut self, case: &Case, session: &Session, form: Brevity) -> Result<(), Failure> {
        let subject = &session.subject;
        let mut established = match establish(subject, &mut Journal::in_memory(), &|_| {}) {
            Ok(established) => established,
            Err(error) if form == Brevity::Derived && is_not_derivable(&error) => {
                self.states.push(format!("{} none", form.name()));
                return Ok(());
            }
            Err(error @ (BaselineFailure::Run(_) | BaselineFailure::Unended)) => {
                return Err(session.failure(error));
            }
            Err(error) => {
                self.fault(form, &session.failure(error).error.to_string());
                return Ok(());
            }
        };
        established.judge_by_hand();
        let ideal = [("ideal.py".to_owned(), Arc::clone(&case.ideal))];
        let all = ideal.iter().chain(&case.slips);
        let mut wrong = 0;
        for (at, (file, program)) in all.enumerate() {
            let inspection = inspect(subject, &established, Arc::clone(program)).map_err(halted)?;
            self.judged += 1;
            let is_ideal = at == 0;
            let is_right = match &inspection {
                // A slip that does not show the words says nothing of the judge.
                Inspection::NotShown(shown) => {
                    !is_ideal && (form != Brevity::Given || has_words(shown, case))
                }
                Inspection::Shown { .. } => inspection.is_verified() == is_ideal,
            };
            if is_right {
                continue;
            }
            wrong += 1;
            let what = report::inspection(&inspection).join("; ");
            let wrong = format!("{file} ({}): {what}", form.name());
            let holes = case.expected.holes.get(file);
            if holes.is_some_and(|forms| forms.contains(&form)) {
                self.holes.push(wrong);
            } else {
                self.faults.push(wrong);
            }
        }
        let state = if wrong == 0 { "right" } else { "WRONG" };
        self.states.push(format!("{} {state}", form.name()));
        Ok(())
    }
}

/// Whether a failure, in one line, has the words of a case's signature, as far as a line tells.
fn has_words(shown: &str, case: &Case) -> bool {
    let signature = &case.expected.signature;
    match signature.split_once(": ") {
        Some((class, text)) => shown.contains(class) && shown.contains(text),
        None => {
            let is_hang = signature == "timeout" && shown.starts_with("timed out");
            is_hang || signature.contains(':') || shown.contains(signature.as_str())
        }
    }
}

fn is_not_derivable(error: &BaselineFailure) -> bool {
    match error {
        BaselineFailure::NotReproduced { error, .. } => {
            matches!(**error, BaselineError::NotDerivable { .. })
        }
        BaselineFailure::Obstructed { .. } => true,
        _ => false,
    }
}
