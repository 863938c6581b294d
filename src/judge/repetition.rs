//! Runs programs as often as needed to know whether they show a bug that does not show each time.

use minrepro_reducers::analysis::dependence_check::ReportSite;

use super::probe::Probe;
use crate::{
    oracle::{SequentialTest, Verdict},
    runner::{Job, RunError},
};

/// The outcome of one program.
#[derive(Clone, Debug)]
pub(super) struct Repeated {
    /// Whether it shows the bug often enough; if not, the first other outcome.
    pub(super) verdict: Verdict,
    /// How many runs showed it.
    pub(super) same: usize,
    /// How many runs there were.
    pub(super) of: usize,
    /// Which statements of the script reported the bug, in the first run that showed it.
    pub(super) report_site: Option<ReportSite>,
    /// The time they took.
    pub(super) seconds: f64,
}

/// Runs each job until it is decided, all undecided jobs at once. Each is run in parallel as often
/// as it needs at least, or, if workers would be idle, as often as a refusal needs.
pub(super) fn repeated(
    probe: &Probe<'_>,
    jobs: &[Job],
    steadiness: &SequentialTest,
) -> Result<Vec<Repeated>, RunError> {
    let start = Repeated {
        verdict: Verdict::Passed,
        same: 0,
        of: 0,
        report_site: None,
        seconds: 0.0,
    };
    let mut all = vec![start; jobs.len()];
    loop {
        let open: Vec<usize> = (0..jobs.len())
            .filter(|&at| steadiness.decide(all[at].same, all[at].of).is_none())
            .collect();
        if open.is_empty() {
            break;
        }
        // Each program gets as many runs at once as it needs at the least to be decided: fewer
        // would leave another round to do, more might be wasted. Workers without work are free,
        // though.
        let idle = (probe.runner.jobs() / open.len()).min(steadiness.patience());
        let round: Vec<usize> = open
            .into_iter()
            .flat_map(|at| vec![at; steadiness.at_least(all[at].same, all[at].of).max(idle)])
            .collect();
        let these: Vec<Job> = round.iter().map(|&at| jobs[at].clone()).collect();
        for (&at, outcome) in round.iter().zip(probe.run(&these)?) {
            let repeated = &mut all[at];
            repeated.of += 1;
            repeated.seconds += outcome.timing.wall.as_secs_f64();
            match probe.measure.judge(&outcome, jobs[at].timeout) {
                Verdict::Same => {
                    repeated.same += 1;
                    let report_site = repeated.report_site.take();
                    repeated.report_site =
                        report_site.or_else(|| probe.measure.report_site(&outcome));
                }
                // A failure says more than an end without one.
                verdict if repeated.verdict == Verdict::Passed => repeated.verdict = verdict,
                _ => {}
            }
        }
    }
    // Only the sequential test decides whether it is the same. Until here, the verdict is another
    // outcome of the program.
    for repeated in &mut all {
        if steadiness.decide(repeated.same, repeated.of) == Some(true) {
            repeated.verdict = Verdict::Same;
        }
    }
    Ok(all)
}
