//! The interface of a check. A check says whether it applies to the script, and then raises
//! objections to candidates that show the bug. The checks themselves are in `checks/`.

use std::cell::OnceCell;

use minrepro_reducers::{syntax::Program, trace::evidence::Evidence};
use serde_json::Value;

use super::{
    error::BaselineFailure,
    library_calls::LibraryCalls,
    measure::Measure,
    objection::{Objection, Shown},
    observer::{Observer, Patience, observe},
    probe::Probe,
    truth::{CheckFinding, Truth},
};
use crate::{
    oracle::{Verdict, is_later},
    runner::{Exception, Job, Outcome, RunError},
};

/// How often a check looks at a result before it is said not to hold.
const LOOKS: usize = 3;

/// The question of a check to a candidate.
pub(super) enum Asked {
    /// A further run.
    Run(Job),
    /// No run: the text alone shows the objection, if there is one.
    Nothing(Option<Verdict>),
}

/// Asks something of each of these candidates, and judges the runs that this takes.
///
/// # Errors
///
/// A run could not be made.
pub(super) fn ask(
    probe: &Probe<'_>,
    shown: &[Shown<'_>],
    asked: impl Fn(&Shown<'_>) -> Asked,
    verdict: impl Fn(&Shown<'_>, &Outcome) -> Option<Verdict>,
) -> Result<Vec<Objection>, RunError> {
    let mut objections = Vec::new();
    let mut jobs = Vec::new();
    let mut places = Vec::new();
    for (place, candidate) in shown.iter().enumerate() {
        let mut objection = Objection::default();
        match asked(candidate) {
            Asked::Run(job) => {
                jobs.push(job);
                places.push(place);
            }
            Asked::Nothing(verdict) => objection.verdict = verdict,
        }
        objections.push(objection);
    }
    for (place, outcome) in places.into_iter().zip(probe.run(&jobs)?) {
        objections[place] = Objection::after(&outcome, verdict(&shown[place], &outcome));
    }
    Ok(objections)
}

/// Looks for objections to candidates that show the bug.
pub(super) trait Check: std::fmt::Debug {
    /// The objections to these candidates, in their order. A check that takes no run need not
    /// implement it.
    ///
    /// # Errors
    ///
    /// A run could not be made.
    fn review(&self, _: &Probe<'_>, shown: &[Shown<'_>]) -> Result<Vec<Objection>, RunError> {
        let objection = |candidate: &Shown<'_>| Objection {
            verdict: self.review_without_runs(candidate),
            ..Objection::default()
        };
        Ok(shown.iter().map(objection).collect())
    }

    /// The part of [`Check::review`] that takes no run: all there is for a bug that does not show
    /// each time, where every further run would have to be repeated.
    fn review_without_runs(&self, _: &Shown<'_>) -> Option<Verdict> {
        None
    }

    /// The check as one that looks at what a run writes down, if it is one. It then need not
    /// implement [`Check::review`].
    fn observer(&self) -> Option<&dyn Observer> {
        None
    }

    /// Whether it is chance that a program that is being confirmed shows the bug, or does not, by
    /// runs that no candidate is worth.
    ///
    /// # Errors
    ///
    /// A run could not be made.
    fn is_by_chance(&self, _: &Probe<'_>, _: &Program, _shows: bool) -> Result<bool, RunError> {
        Ok(false)
    }

    /// Whether the check is known to refuse a candidate even before the candidate's own run.
    fn is_hopeless(&self, _: &Program) -> bool {
        false
    }

    /// The statement that must hold for a result, as a sentence without its end; none if the last
    /// check need not ask.
    fn claim(&self) -> Option<String>;

    /// Whether no run can show that the claim holds. Such a check raises no objections.
    fn is_unprovable(&self) -> bool {
        false
    }

    /// Whether it binds what only a reduction keeps. Who writes a program by hand may choose other
    /// values.
    fn is_of_reduction(&self) -> bool {
        false
    }

    /// Whether the check is a control.
    fn is_control(&self) -> bool {
        false
    }

    /// Whether it is a control under which valid code succeeds to its end, so that no other control
    /// says more.
    fn is_full_control(&self) -> bool {
        self.is_control()
    }

    /// The description for the user, line by line.
    fn describe(&self) -> Vec<String> {
        Vec::new()
    }

    /// The findings about the script, which the journal keeps.
    fn findings(&self) -> Value {
        Value::Null
    }
}

/// The script as given, for checks that find out whether they apply to it.
#[derive(Clone, Copy)]
pub(super) struct Script<'a> {
    pub(super) probe: Probe<'a>,
    pub(super) program: &'a Program,
    pub(super) bytes: &'a [u8],
    /// Its first run.
    pub(super) first: Option<&'a Outcome>,
    /// A run that shows the bug.
    pub(super) showing: Option<&'a Outcome>,
    /// Whether it does not show the bug each time.
    pub(super) is_flaky: bool,
    /// What packages do meanwhile, once a check has asked.
    pub(super) library_calls: &'a OnceCell<Option<LibraryCalls>>,
    /// What a traced run shows, once a check has asked.
    pub(super) evidence: &'a OnceCell<Option<Evidence>>,
}

impl Script<'_> {
    /// Whether a control run of so many lines fails only after the statement that shows the bug. What
    /// stands for a part of a library may lack what the script then asks of its results, and another
    /// version may refuse what it then does.
    pub(super) fn is_passed_in(&self, outcome: &Outcome, lines: usize) -> bool {
        let showing = self.showing.and_then(|showing| showing.exception.as_ref());
        let before = self.program.text().lines().count();
        let exceptions = outcome.exception.as_ref().zip(showing);
        exceptions.is_some_and(|(after, showing)| is_later((after, lines), (showing, before)))
    }

    /// The exception that shows the bug, if its mechanism counts and no control shows that the
    /// script is right.
    pub(super) fn uncontrolled_exception(&self, so_far: &Checks) -> Option<&Exception> {
        let measure = self.probe.measure;
        let counts = !matches!(measure, Measure::Test(_)) && measure.has_mechanism();
        let showing = self
            .showing
            .filter(|_| counts && !so_far.has_full_control());
        showing?.exception.as_ref()
    }

    /// What a traced run shows; none if it does not show the bug while it is traced.
    pub(super) fn evidence(&self) -> Result<Option<&Evidence>, RunError> {
        if let Some(known) = self.evidence.get() {
            return Ok(known.as_ref());
        }
        let found = self.probe.traced(self.bytes)?;
        Ok(self.evidence.get_or_init(|| found).as_ref())
    }

    /// What packages do while it runs; none if it does not show the bug each time meanwhile.
    pub(super) fn library_calls(&self) -> Result<Option<&LibraryCalls>, RunError> {
        let Some(showing) = self.showing.filter(|_| !self.is_flaky) else {
            return Ok(None);
        };
        if let Some(known) = self.library_calls.get() {
            return Ok(known.as_ref());
        }
        let found = LibraryCalls::of(&self.probe, self.program, showing)?;
        Ok(self.library_calls.get_or_init(|| found).as_ref())
    }
}

/// A check that applies to the script, if it does.
pub(super) type Applied = Result<Option<Box<dyn Check>>, BaselineFailure>;

/// A kind of check.
pub(super) struct Kind {
    /// Its name in the journal.
    pub(super) id: &'static str,
    /// The check, if it applies to a script to which those before it apply already.
    pub(super) establish: fn(&Script<'_>, &Checks) -> Applied,
    /// The check as an earlier session established it.
    pub(super) recall: fn(&Value) -> Option<Box<dyn Check>>,
}

/// The checks that apply to a script, in the order in which they are made.
#[derive(Debug, Default)]
pub struct Checks(Vec<(&'static str, Box<dyn Check>)>);

impl Checks {
    pub(super) fn push(&mut self, id: &'static str, check: Box<dyn Check>) {
        self.0.push((id, check));
    }

    /// Leaves out those that bind what only a reduction keeps.
    pub(super) fn retain_by_hand(&mut self) {
        self.0.retain(|(_, check)| !check.is_of_reduction());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn is_single(&self) -> bool {
        self.0.len() == 1
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.0.iter().any(|(other, _)| *other == id)
    }

    /// Whether one of them is a control.
    pub(super) fn has_control(&self) -> bool {
        self.0.iter().any(|(_, check)| check.is_control())
    }

    /// Whether one of them is a full control.
    pub(super) fn has_full_control(&self) -> bool {
        self.0.iter().any(|(_, check)| check.is_full_control())
    }

    /// The descriptions for the user, line by line.
    pub fn describe(&self) -> impl Iterator<Item = String> {
        self.0.iter().flat_map(|(_, check)| check.describe())
    }

    /// The findings of one of them about the script, if it applies.
    pub(super) fn finding(&self, id: &str) -> Option<Value> {
        let mut all = self.0.iter();
        all.find(|(other, _)| *other == id)
            .map(|(_, check)| check.findings())
    }

    /// Their findings about the script, by their names.
    pub(super) fn findings(&self) -> impl Iterator<Item = (String, Value)> {
        let of =
            |(id, check): &(&'static str, Box<dyn Check>)| ((*id).to_owned(), check.findings());
        self.0.iter().map(of)
    }

    /// Whether they are known to refuse a candidate even before its own run.
    pub(super) fn is_hopeless(&self, program: &Program) -> bool {
        self.0.iter().any(|(_, check)| check.is_hopeless(program))
    }

    /// The objection to a candidate, as far as it takes no run.
    pub(super) fn review_without_runs(&self, shown: &Shown<'_>) -> Option<Verdict> {
        let mut checks = self.0.iter();
        checks.find_map(|(_, check)| check.review_without_runs(shown))
    }

    /// The finding of each of them about a result. An observer compares a run with those that it
    /// saw of the script, so its runs start as those did.
    pub(super) fn verify(
        &self,
        probe: &Probe<'_>,
        observing: &Probe<'_>,
        shown: &Shown<'_>,
    ) -> Result<Truth, RunError> {
        let mut truth = Truth::default();
        for (_, check) in &self.0 {
            let Some(claim) = check.claim() else {
                continue;
            };
            // The check has passed this program before. Where it draws numbers by chance, one look
            // that speaks against it is no proof.
            let mut holds = false;
            let looks = if check.is_unprovable() { 0 } else { LOOKS };
            for _ in 0..looks {
                let shown = std::slice::from_ref(shown);
                let objections = match check.observer() {
                    Some(observer) => observe(&[observer], observing, shown, Patience::Over)?,
                    None => check.review(probe, shown)?,
                };
                holds = objections.iter().all(|found| found.verdict.is_none());
                if holds {
                    break;
                }
            }
            truth.has_control |= check.is_control();
            truth.findings.push(CheckFinding { claim, holds });
        }
        Ok(truth)
    }

    /// The objection of the patient observers to a program.
    pub(super) fn review_patiently(
        &self,
        probe: &Probe<'_>,
        shown: &Shown<'_>,
    ) -> Result<Objection, RunError> {
        let patient: Vec<&dyn Observer> = self.observers().filter(|one| one.is_patient()).collect();
        let shown = std::slice::from_ref(shown);
        let found = observe(&patient, probe, shown, Patience::Over)?;
        Ok(found.into_iter().next().unwrap_or_default())
    }

    /// Whether it is chance that a program that is being confirmed shows the bug, or does not.
    pub(super) fn is_by_chance(
        &self,
        probe: &Probe<'_>,
        program: &Program,
        shows: bool,
    ) -> Result<bool, RunError> {
        for (_, check) in &self.0 {
            if check.is_by_chance(probe, program, shows)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn observers(&self) -> impl Iterator<Item = &dyn Observer> {
        self.0.iter().filter_map(|(_, check)| check.observer())
    }

    /// Whether there are patient observers.
    pub(super) fn has_patient(&self) -> bool {
        self.observers().any(Observer::is_patient)
    }

    /// The objections to these candidates. A candidate with an objection is refused whatever else
    /// may be found, so no check spends runs on it: those that take none are made first.
    pub(super) fn review(
        &self,
        probe: &Probe<'_>,
        shown: &[Shown<'_>],
        patience: Patience,
    ) -> Result<Vec<Objection>, RunError> {
        let without_runs = |candidate: &Shown<'_>| Objection {
            verdict: self.review_without_runs(candidate),
            ..Objection::default()
        };
        let mut objections: Vec<Objection> = shown.iter().map(without_runs).collect();
        // One run shows what all observers look at.
        let checks = self.0.iter().map(|(_, check)| check);
        let mut observers: Vec<&dyn Observer> = self.observers().collect();
        for check in checks {
            let open: Vec<usize> = (0..shown.len())
                .filter(|&at| objections[at].verdict.is_none())
                .collect();
            let candidates: Vec<Shown<'_>> = open.iter().map(|&at| shown[at].clone()).collect();
            let found = match check.observer() {
                Some(_) => {
                    let observers = std::mem::take(&mut observers);
                    observe(&observers, probe, &candidates, patience)?
                }
                None => check.review(probe, &candidates)?,
            };
            for (at, objection) in open.into_iter().zip(found) {
                objections[at].add(objection);
            }
        }
        Ok(objections)
    }
}
