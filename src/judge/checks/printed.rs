//! Whether a printed value still depends on the same operations. The words of a bug that shows in
//! what the script prints may be a value, as in `stdout:torch.Size([2, 2])`: they stand in no text
//! of the script, and any program can print them. So a run shows which statement prints them, and
//! that statement must still depend on the operations that it depends on in the script.

use minrepro_reducers::{
    analysis::{
        dependence_check::{Operations, are_of_others, include, is_written_out, operations},
        printed::printing,
    },
    syntax::Program,
    trace::evidence::Evidence,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{
    check::{Applied, Check, Checks, Kind, Script},
    measure::Measure,
    objection::Shown,
    observer::{Observed, Observer, Wish},
};
use crate::{oracle::Verdict, runner::Job};

const ID: &str = "printed";

pub(super) const KIND: Kind = Kind {
    id: ID,
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<Printed>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates that print the words by statements which do not depend on all of this.
#[derive(Debug, Serialize, Deserialize)]
struct Printed {
    operations: Operations,
    /// Whether a traced run of the script shows the bug.
    can_trace: bool,
}

/// Applies where the bug is what the script prints, and no control is known under which valid code
/// succeeds. A control says little of a value that the script prints without a condition: under it,
/// the same statement may print another one for reasons of its own.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    let site = script
        .showing
        .and_then(|showing| probe.measure.report_site(showing));
    let is_value = site.is_some_and(|site| !is_written_out(program, &site));
    let is_controlled = so_far.has_full_control() && !is_value;
    let is_open = !script.is_flaky && !is_controlled && probe.measure.is_printed();
    let observing = printing(program).text(program).filter(|_| is_open);
    let Some(job) = observing.and_then(|text| probe.changed_job(program, text)) else {
        return Ok(None);
    };
    let traced = Job {
        traced: true,
        ..job.clone()
    };
    let outcomes = probe.run(&[traced, job])?;
    let evidence = probe.evidence(&outcomes[..1]);
    let shown = outcomes.iter().rev().find(|outcome| probe.shows(outcome));
    let found = shown.and_then(|outcome| {
        let found = of_printing(
            probe.measure,
            program,
            &outcome.stderr.text(),
            evidence.as_ref(),
        );
        // If several statements print the words, the common dependences of all.
        found.into_iter().reduce(|all, its| &all & &its)
    });
    let can_trace = evidence.is_some();
    Ok(found
        .filter(|operations| !operations.is_empty())
        .map(|operations| {
            Box::new(Printed {
                operations,
                can_trace,
            }) as Box<dyn Check>
        }))
}

/// Whether the script only prints what a package hands to a function of it.
pub(super) fn is_handed_over(so_far: &Checks) -> bool {
    let found = so_far.finding(ID).map(serde_json::from_value::<Printed>);
    matches!(found, Some(Ok(printed)) if are_of_others(&printed.operations))
}

/// The operations that each statement depends on which printed the words, as a run wrote it down.
fn of_printing(
    measure: &Measure,
    program: &Program,
    stderr: &str,
    evidence: Option<&Evidence>,
) -> Vec<Operations> {
    let site = measure.printing_site(stderr);
    site.map_or_else(Vec::new, |site| operations(program, &site, evidence))
}

impl Observer for Printed {
    fn asks(&self, candidate: &Shown<'_>) -> Wish {
        Wish::Run(printing(candidate.program))
    }

    fn traces(&self) -> bool {
        self.can_trace
    }

    fn objection(&self, candidate: &Shown<'_>, observed: &Observed<'_>) -> Option<Verdict> {
        let Observed {
            measure, evidence, ..
        } = *observed;
        let found = of_printing(measure, candidate.program, observed.stderr, evidence);
        let mut found = found.iter();
        let holds = found.any(|operations| include(operations, &self.operations));
        (!holds).then_some(Verdict::Vacuous)
    }
}

impl Check for Printed {
    fn observer(&self) -> Option<&dyn Observer> {
        Some(self)
    }

    fn claim(&self) -> Option<String> {
        Some("what it prints depends on the same operations".to_owned())
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
