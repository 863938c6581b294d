//! Checks that look at what a candidate does while it runs: at the values that it compares, the
//! exceptions that it catches, the functions that run, and what calls receive. One run writes down
//! what all of them look at.

use minrepro_reducers::{analysis::observation::Observation, trace::evidence::Evidence};

use super::{
    measure::Measure,
    objection::{Objection, Shown},
    probe::Probe,
};
use crate::{
    oracle::Verdict,
    runner::{Job, Outcome, RunError},
};

/// The question of an observer to a candidate.
pub(super) enum Wish {
    /// What a run must write down.
    Run(Observation),
    /// No run: the text alone shows the objection, if there is one.
    Nothing(Option<Verdict>),
}

/// A run of a candidate that wrote down what was asked about.
pub(super) struct Observed<'a> {
    pub(super) outcome: &'a Outcome,
    /// What it wrote on standard error.
    pub(super) stderr: &'a str,
    /// Its trace, if it was traced and showed the bug.
    pub(super) evidence: Option<&'a Evidence>,
    /// What counts as the bug.
    pub(super) measure: &'a Measure,
}

/// Looks at what candidates write down.
pub(super) trait Observer {
    /// The question to a candidate.
    fn asks(&self, candidate: &Shown<'_>) -> Wish;

    /// Whether the run must be traced as well.
    fn traces(&self) -> bool {
        false
    }

    /// Whether it hardly ever objects: no run is made for it alone, but to confirm a program, until
    /// it has objected to one.
    fn is_patient(&self) -> bool {
        false
    }

    /// The objection to a candidate after a run that was asked for.
    fn objection(&self, candidate: &Shown<'_>, observed: &Observed<'_>) -> Option<Verdict>;
}

/// Whether patient observers go on waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Patience {
    /// They do.
    Left,
    /// Runs are made for them as well.
    Over,
}

/// The objections of observers to these candidates, in their order.
pub(super) fn observe(
    observers: &[&dyn Observer],
    probe: &Probe<'_>,
    shown: &[Shown<'_>],
    patience: Patience,
) -> Result<Vec<Objection>, RunError> {
    let mut objections = vec![Objection::default(); shown.len()];
    let mut asking = Vec::new();
    let mut jobs = Vec::new();
    for (place, candidate) in shown.iter().enumerate() {
        let mut observation = Observation::default();
        let mut asked = Vec::new();
        for observer in observers {
            match observer.asks(candidate) {
                Wish::Run(its) => {
                    observation = observation.and(its);
                    asked.push(*observer);
                }
                Wish::Nothing(None) => {}
                Wish::Nothing(verdict) => objections[place].verdict = verdict,
            }
        }
        // A patient one looks along where a run is made for another.
        let needs_run =
            |observer: &&dyn Observer| patience == Patience::Over || !observer.is_patient();
        if objections[place].verdict.is_some() || !asked.iter().any(needs_run) {
            continue;
        }
        let Some(job) = observing(probe, candidate, &observation) else {
            // What no run can write down is known of no candidate.
            objections[place].verdict = Some(Verdict::Vacuous);
            continue;
        };
        let traced = asked.iter().any(|observer| observer.traces());
        jobs.push(if traced { probe.tracing(job) } else { job });
        asking.push((place, asked));
    }
    for ((place, asked), outcome) in asking.into_iter().zip(probe.run(&jobs)?) {
        let evidence = probe.evidence_while_observed(&outcome);
        let stderr = outcome.stderr.text();
        let observed = Observed {
            outcome: &outcome,
            stderr: &stderr,
            evidence: evidence.as_ref(),
            measure: probe.measure,
        };
        let mut asked = asked.iter();
        let verdict = asked.find_map(|observer| observer.objection(&shown[place], &observed));
        objections[place] = Objection::after(&outcome, verdict);
    }
    Ok(objections)
}

/// The run of a candidate that writes down what is asked about; none if there is no such program.
fn observing(probe: &Probe<'_>, candidate: &Shown<'_>, observation: &Observation) -> Option<Job> {
    let program = candidate.program;
    match observation.text(program) {
        Some(text) => probe.changed_job(program, text),
        None => Some(probe.job(&program.encode()?)),
    }
}
