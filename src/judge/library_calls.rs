//! What the packages that the failure depends on receive and run while the script runs, for the
//! checks that ask about it.

use minrepro_reducers::{
    analysis::{
        dependence_check::{Operations, ReportSite, operations},
        library_paths::following,
        printed::printing,
        receiving::{made_by_packages, receiving},
    },
    syntax::Program,
};

use super::{
    measure::{Measure, failed_at},
    probe::Probe,
};
use crate::runner::{Job, Outcome, RunError};

/// Runs of the script that show the bug and write down what packages receive and run.
#[derive(Debug)]
pub(super) struct LibraryCalls {
    /// What the failure depends on.
    pub(super) operations: Operations,
    /// What each run wrote on standard error; two at least.
    pub(super) told: Vec<String>,
}

impl LibraryCalls {
    /// Makes the runs of a script one run of which shows the bug; none if it does not show it
    /// meanwhile.
    pub(super) fn of(
        probe: &Probe<'_>,
        program: &Program,
        showing: &Outcome,
    ) -> Result<Option<Self>, RunError> {
        if matches!(probe.measure, Measure::Test(_)) || probe.measure.is_loose() {
            return Ok(None);
        }
        // To note lines takes time, which not every script has.
        for observation in [following(program), receiving(program)] {
            let observation = if probe.measure.is_printed() {
                observation.and(printing(program))
            } else {
                observation
            };
            let text = observation.text(program);
            let Some(job) = text.and_then(|text| probe.changed_job(program, text)) else {
                continue;
            };
            // Values differ from run to run, and a candidate's own run may be traced, which
            // packages may see.
            let traced = Job {
                traced: true,
                ..job.clone()
            };
            let mut outcomes = probe.run(&[job.clone(), job, traced])?;
            outcomes.retain(|outcome| probe.shows_words_while_observed(outcome));
            // One run shows nothing of what varies.
            if outcomes.len() > 1 {
                let told = outcomes.iter();
                let told: Vec<_> = told
                    .map(|outcome| outcome.stderr.text().into_owned())
                    .collect();
                let site = probe.measure.printing_site(&told[0]);
                let site = site.or_else(|| probe.measure.report_site(showing));
                let site = site.unwrap_or_else(|| ReportSite::Raised(failed_at(showing)));
                let operations = operations(program, &site, None).into_iter().flatten();
                return Ok(Some(Self {
                    operations: operations.chain(made_by_packages(program)).collect(),
                    told,
                }));
            }
        }
        Ok(None)
    }
}
