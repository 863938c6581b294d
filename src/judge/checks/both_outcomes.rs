//! Whether the report of a script decides otherwise at another time. A comparison with numbers that
//! the script computes by itself, which holds in one round of a loop and not in the next, shows that
//! what it compares belongs together. Where it never holds, anything may be compared.

use minrepro_reducers::{
    analysis::{
        decided_otherwise::{is_decided_otherwise, rests_on_both_ways},
        observation::Observation,
        printed::printing,
    },
    trace::evidence::Evidence,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    super::{
        check::{Applied, Check, Checks, Kind, Script},
        measure::Measure,
        objection::Shown,
        observer::{Observed, Observer, Wish},
    },
    automatic_control::is_exact,
};
use crate::oracle::Verdict;

pub(super) const KIND: Kind = Kind {
    id: "both-outcomes",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<BothOutcomes>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates whose report is the same each time.
#[derive(Debug, Default, Serialize, Deserialize)]
struct BothOutcomes {
    /// Whether the script comes to the report, or asks for it, and goes on.
    goes_on: bool,
    /// Whether a condition on which the report rests goes one way and the other.
    goes_both_ways: bool,
    /// Whether the statement that prints the words prints something else, too.
    prints_otherwise: bool,
}

/// Applies if the script itself reports the bug, decides otherwise at another time, and no control
/// shows when it is right.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    let is_told_apart = so_far.has_full_control() || is_exact(so_far);
    if script.is_flaky || is_told_apart || matches!(probe.measure, Measure::Test(_)) {
        return Ok(None);
    }
    let site = script
        .showing
        .and_then(|showing| probe.measure.report_site(showing));
    let Some(site) = site else {
        return Ok(None);
    };
    let mut check = BothOutcomes::default();
    // Which of its outputs a statement prints when, no trace shows.
    let observing = printing(program).text(program);
    let observing = observing.filter(|_| probe.measure.is_printed());
    if let Some(job) = observing.and_then(|text| probe.changed_job(program, text)) {
        let outcomes = probe.run(&[job])?;
        let mut shown = outcomes.iter().filter(|outcome| probe.shows(outcome));
        check.prints_otherwise =
            shown.any(|outcome| probe.measure.prints_otherwise(&outcome.stderr.text()));
    }
    let evidence = script.evidence()?;
    check.goes_on = evidence.is_some_and(|ran| is_decided_otherwise(program, &site, ran));
    check.goes_both_ways = evidence.is_some_and(|ran| rests_on_both_ways(program, &site, ran));
    let applies = check.goes_on || check.goes_both_ways || check.prints_otherwise;
    Ok(applies.then(|| Box::new(check) as Box<dyn Check>))
}

impl BothOutcomes {
    fn holds(&self, candidate: &Shown<'_>, observed: &Observed<'_>) -> bool {
        // A run that is not traced says nothing of conditions.
        let decides = |ran: &Evidence| {
            let program = candidate.program;
            candidate.report_site.as_ref().is_some_and(|site| {
                (!self.goes_on || is_decided_otherwise(program, site, ran))
                    && (!self.goes_both_ways || rests_on_both_ways(program, site, ran))
            })
        };
        observed.evidence.is_none_or(decides)
            && (!self.prints_otherwise || observed.measure.prints_otherwise(observed.stderr))
    }
}

impl Observer for BothOutcomes {
    fn asks(&self, candidate: &Shown<'_>) -> Wish {
        Wish::Run(if self.prints_otherwise {
            printing(candidate.program)
        } else {
            Observation::default()
        })
    }

    fn traces(&self) -> bool {
        self.goes_on || self.goes_both_ways
    }

    fn objection(&self, candidate: &Shown<'_>, observed: &Observed<'_>) -> Option<Verdict> {
        (!self.holds(candidate, observed)).then_some(Verdict::Vacuous)
    }
}

impl Check for BothOutcomes {
    fn observer(&self) -> Option<&dyn Observer> {
        Some(self)
    }

    /// Whoever writes a program by hand knows that what it compares belongs together.
    fn is_of_reduction(&self) -> bool {
        true
    }

    fn claim(&self) -> Option<String> {
        Some("its check decides otherwise at another time, as the script's does".to_owned())
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
