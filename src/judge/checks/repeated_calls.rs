//! Control runs without the calls that the failing call repeats. If the script succeeds without
//! them, its call fails only because another one came before it. A candidate whose first call fails
//! is another bug.

use std::collections::BTreeSet;

use minrepro_reducers::{
    analysis::repeated_calls::{repeats_calls, without_repeated_calls},
    syntax::Program,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{
    check::{Applied, Asked, Check, Checks, Kind, Script, ask},
    control_run::ControlRun,
    measure::{Measure, failed_at},
    objection::{Objection, Shown},
    probe::Probe,
};
use crate::{
    oracle::Verdict,
    runner::{Job, RunError},
};

pub(super) const KIND: Kind = Kind {
    id: "repeated-calls",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<RepeatedCalls>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates that do not succeed without the calls that they repeat.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RepeatedCalls {
    run: ControlRun,
    /// What is called again.
    names: BTreeSet<String>,
}

/// Applies where the script succeeds without the calls that its failing call repeats.
fn establish(script: &Script<'_>, _: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    if script.is_flaky || matches!(probe.measure, Measure::Test(_)) {
        return Ok(None);
    }
    // Of a death by a signal or a hang, no line tells what failed.
    let lines = script.showing.map(failed_at).unwrap_or_default();
    let Some((job, names)) = job(probe, program, &lines) else {
        return Ok(None);
    };
    // What fails in another way, too, may lack what the earlier calls gave.
    let run = ControlRun::of_success(probe, job)?;
    Ok(run.map(|run| Box::new(RepeatedCalls { run, names }) as Box<dyn Check>))
}

impl Check for RepeatedCalls {
    fn review(&self, probe: &Probe<'_>, shown: &[Shown<'_>]) -> Result<Vec<Objection>, RunError> {
        let asked = |candidate: &Shown<'_>| {
            // A call that repeats none is not kept from succeeding by one.
            job(probe, candidate.program, &candidate.failed_at)
                .map_or(Asked::Nothing(Some(Verdict::Vacuous)), |(job, _)| {
                    Asked::Run(job)
                })
        };
        ask(probe, shown, asked, |_, outcome| {
            self.run.verdict(probe, outcome)
        })
    }

    fn is_hopeless(&self, program: &Program) -> bool {
        !repeats_calls(program)
    }

    fn claim(&self) -> Option<String> {
        Some("it succeeds without the calls that its failing call repeats".to_owned())
    }

    fn is_control(&self) -> bool {
        true
    }

    /// What is called only once may be called wrongly.
    fn is_full_control(&self) -> bool {
        false
    }

    fn describe(&self) -> Vec<String> {
        let names: Vec<_> = self.names.iter().map(|name| format!("`{name}`")).collect();
        vec![format!(
            "control: the script succeeds without its earlier calls of {}; so must every candidate",
            names.join(", ")
        )]
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// A run of a program without the calls that its failing call repeats, with the names of what they
/// call; none if it repeats none.
fn job(probe: &Probe<'_>, program: &Program, lines: &[u32]) -> Option<(Job, BTreeSet<String>)> {
    let (text, names) = without_repeated_calls(program, lines)?;
    Some((probe.changed_job(program, text)?, names))
}
