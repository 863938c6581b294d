//! Runs programs as often as it takes to know whether they show a bug that does not show each time.
//! Called by the session.

use minrepro_reducers::analysis::dependence_check::Telling;

use super::{grounds::telling, measure::Measure};
use crate::{
    oracle::{SequentialTest, Verdict},
    runner::{Job, RunError, Runner},
};

/// What came of one program.
#[derive(Clone, Debug)]
pub(super) struct Repeated {
    /// Whether it shows the bug often enough; else what else it showed first.
    pub(super) verdict: Verdict,
    /// How many runs showed it.
    pub(super) same: usize,
    /// How many runs there were.
    pub(super) of: usize,
    /// Which statements of the script told of the bug, in the first run that showed it.
    pub(super) telling: Option<Telling>,
    /// The time they took.
    pub(super) seconds: f64,
}

/// Runs each job until it is decided, all that are open at once; each as often at once as it takes
/// at least, or, where workers would be idle, as often as a refusal takes.
pub(super) fn repeated(
    runner: &Runner,
    jobs: &[Job],
    measure: &Measure,
    steadiness: &SequentialTest,
) -> Result<Vec<Repeated>, RunError> {
    let start = Repeated {
        verdict: Verdict::Passed,
        same: 0,
        of: 0,
        telling: None,
        seconds: 0.0,
    };
    let mut all = vec![start; jobs.len()];
    loop {
        let open: Vec<usize> = (0..jobs.len())
            .filter(|&it| steadiness.decide(all[it].same, all[it].of).is_none())
            .collect();
        if open.is_empty() {
            break;
        }
        let idle = (runner.jobs() / open.len()).min(steadiness.patience());
        let round: Vec<usize> = open
            .into_iter()
            .flat_map(|at| vec![at; steadiness.at_least(all[at].same, all[at].of).max(idle)])
            .collect();
        let these: Vec<Job> = round.iter().map(|&at| jobs[at].clone()).collect();
        for (&at, outcome) in round.iter().zip(runner.run_all(&these, &mut |_, _| {})?) {
            let it = &mut all[at];
            it.of += 1;
            it.seconds += outcome.wall.as_secs_f64();
            match measure.judge(&outcome, jobs[at].timeout) {
                Verdict::Same => {
                    it.same += 1;
                    it.telling = it.telling.take().or_else(|| telling(&outcome, measure));
                }
                // A failure tells more than an end without one.
                verdict if it.verdict == Verdict::Passed => it.verdict = verdict,
                _ => {}
            }
        }
    }
    for it in &mut all {
        if steadiness.decide(it.same, it.of) == Some(true) {
            it.verdict = Verdict::Same;
        }
    }
    Ok(all)
}
