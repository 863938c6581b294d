//! What the first runs of the script settle: the signature, the limits, and from where candidates
//! start.

use std::time::Duration;

use minrepro_reducers::analysis::dependence_check::Grounds;

use super::{FIRST_TIMEOUT, FLAKY_RUNS, RUNS, Session, cores};
use crate::{
    cli::{Exit, Failure, RunnerKind},
    commands::{control, grounds, measure::Measure, precision, stabilize},
    journal::{Journal, Settled},
    oracle::{Baseline, BaselineError, Seed, SequentialTest, Signature, Spec, summary},
    runner::{End, Job, Outcome, RunError, Start},
};

/// What a warm run has to save at least, unless that is a fifth of a cold one.
const WORTH_IT: Duration = Duration::from_millis(500);
/// What a candidate is given where the bug is that it does not end, at least and at most: four
/// times what the script works before it waits.
const HANG: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(15)];

/// What the runs of the script as it is settle.
pub(in crate::commands) struct Settlement {
    pub(in crate::commands) measure: Measure,
    pub(in crate::commands) timeout: Duration,
    /// The slowest baseline run of those that showed the bug.
    pub(in crate::commands) slowest: Duration,
    pub(in crate::commands) calibration: Calibration,
    /// Whether only what does not show without PyTorch's compiler counts.
    pub(in crate::commands) compiled: bool,
    /// Whether only what is further from the truth than without the compiler counts.
    pub(in crate::commands) precise: bool,
    /// What the script's own statement that tells of the bug has to rest on.
    pub(in crate::commands) grounds: Option<Grounds>,
    /// How candidates are tested, and how often the script showed the bug in how many runs, if it
    /// does not show each time.
    pub(in crate::commands) flaky: Option<(SequentialTest, usize, usize)>,
    /// How many runs in fresh interpreters showed the bug just now; none where the journal
    /// remembers.
    pub(in crate::commands) fresh: usize,
}

impl Settlement {
    fn of(
        settled: Settled,
        measure: Measure,
        timeout: Duration,
        calibration: Calibration,
        fresh: usize,
    ) -> Self {
        let Settled {
            wall: slowest,
            compiled,
            precise,
            grounds,
            flaky,
            ..
        } = settled;
        Self {
            measure,
            timeout,
            slowest,
            calibration,
            compiled,
            precise,
            grounds,
            flaky,
            fresh,
        }
    }

    /// For how long a candidate may do nothing but wait: what waits for longer than the script as
    /// given ran at all waits for what never comes. `None` where that is the bug, or where a test
    /// of the user's is what runs.
    pub(in crate::commands) fn idle(&self) -> Option<Duration> {
        const LEAST: Duration = Duration::from_secs(1);
        let waits = self.measure.is_hang() || matches!(self.measure, Measure::Test(_));
        (!waits).then(|| (self.slowest * 2).max(LEAST))
    }
}

/// The first runs of the script.
struct FirstRuns {
    /// Those in interpreters that have imported nothing.
    fresh: Vec<Outcome>,
    /// One forked from what the first of them imported.
    warm: Option<Outcome>,
    /// Whether the warm one shows what the fresh ones show, and stands for one of them.
    agree: bool,
}

/// What a run would have taken alone that had to share: each second of its work took so many, its
/// waiting did not.
fn alone(wall: Duration, cpu: Duration, crowd: f64) -> Duration {
    let crowd = crowd.max(1.0);
    wall.saturating_sub(cpu.mul_f64(crowd - 1.0))
        .max(wall.div_f64(crowd))
}

/// From where candidates start, and why.
pub(in crate::commands) struct Calibration {
    pub(in crate::commands) start: Start,
    /// What the script takes in a fresh interpreter.
    pub(in crate::commands) cold: Duration,
    /// What it takes when it is forked.
    pub(in crate::commands) warm: Duration,
    reason: Option<String>,
}

impl Calibration {
    /// In words for people; `doubt` is what spoke against warm runs later.
    pub(in crate::commands) fn describe(&self, doubt: Option<&str>) -> String {
        let (cold, warm) = (self.cold.as_secs_f64(), self.warm.as_secs_f64());
        match (&self.reason, doubt) {
            (Some(reason), _) => format!("cold ({reason})"),
            (None, Some(reason)) => format!("warm, then cold ({reason})"),
            (None, None) => format!("warm ({warm:.2} s for the script instead of {cold:.2} s)"),
        }
    }
}

impl Session {
    /// What a candidate is given where the bug is that it does not end: what the script works
    /// before it waits for ever tells how long the working part takes.
    pub(super) fn hang_limit(&self, first: &Outcome) -> Duration {
        let [least, most] = HANG;
        self.args
            .timeout
            .unwrap_or_else(|| (first.cpu * 4).clamp(least, most))
    }

    /// What an earlier session settled.
    fn recalled(&self, journal: &Journal) -> Result<Option<Settlement>, Failure> {
        let Some(settled) = journal.settled().cloned() else {
            return Ok(None);
        };
        let timeout = settled.limit.unwrap_or_else(|| self.timeout(settled.wall));
        let measure = match (settled.signature.clone(), &self.args.test) {
            (Some(signature), None) => Measure::Signature(signature),
            (None, Some(test)) => Measure::Test(test.clone()),
            _ => return Ok(None),
        };
        if let Some(stabilizer) = settled.stabilizer.clone() {
            let bytes = stabilize::again(self, &stabilizer);
            self.keep_stabilizer(stabilizer, bytes);
        }
        let calibration = self.calibrate(
            &measure,
            timeout,
            settled.fastest,
            settled.cold.clone(),
            Start::Recorded,
            None,
        )?;
        Ok(Some(Settlement::of(
            settled,
            measure,
            timeout,
            calibration,
            0,
        )))
    }

    /// The first runs of the script. Where warm runs are wanted, the last is one if those before it
    /// agree: it has to show the same anyway. Where it does not, or may not stand for one, there is
    /// another fresh one.
    fn first_runs(&self, may_be_warm: bool) -> Result<FirstRuns, RunError> {
        if !may_be_warm {
            let fresh = self.baseline_runs(RUNS, Start::Cold)?;
            return Ok(FirstRuns {
                fresh,
                warm: None,
                agree: false,
            });
        }
        let mut fresh = self.baseline_runs(RUNS - 1, Start::Recorded)?;
        if fresh.len() < RUNS - 1 || fresh.iter().any(|it| it.end == End::Timeout) {
            return Ok(FirstRuns {
                fresh,
                warm: None,
                agree: false,
            });
        }
        let timeout = self.args.timeout.unwrap_or(FIRST_TIMEOUT);
        let agree = |outcomes: &[Outcome]| Baseline::new(&self.specs, outcomes.to_vec()).is_ok();
        let warm = if agree(&fresh) {
            Some(self.run_from(Start::Warm, timeout)?)
        } else {
            None
        };
        let agree = warm
            .as_ref()
            .is_some_and(|warm| agree(&[&*fresh, std::slice::from_ref(warm)].concat()));
        if !agree {
            fresh.push(self.run_from(Start::Cold, timeout)?);
        }
        Ok(FirstRuns { fresh, warm, agree })
    }

    /// The base of the reduction, by a seed if that makes the bug show each time; else with how
    /// candidates are to be tested.
    fn baseline(
        &self,
        outcomes: Vec<Outcome>,
    ) -> Result<(Baseline, Option<SequentialTest>), Failure> {
        let first = outcomes.first().cloned();
        let error = match Baseline::new(&self.specs, outcomes.clone()) {
            Ok(baseline) if self.args.min_rate.is_none() => return Ok((baseline, None)),
            // Who says how often it is to show knows that it does not each time, though it has so
            // far.
            Ok(baseline) => baseline.too_rare(&self.specs),
            Err(error) => error,
        };
        if error.is_unstable() || self.args.min_rate.is_some() {
            let found = self.flaky_baseline(outcomes, error);
            let known = found.as_ref().ok().map(|(baseline, _)| baseline);
            let rate = known.map_or(0.1, |it| it.same as f64 / it.outcomes.len() as f64);
            return match self.steadied(rate, known.map(|it| &it.signature), first.as_ref())? {
                Some(baseline) => Ok((baseline, None)),
                None => found.map(|(baseline, steadiness)| (baseline, Some(steadiness))),
            };
        }
        if stabilize::may_help_what_never_shows(self)
            && let Some(baseline) = self.steadied(0.5, None, first.as_ref())?
        {
            return Ok((baseline, None));
        }
        Err(self.not_reproduced(error, first.as_ref()))
    }

    /// Settles what the bug looks like and how long it takes: from the journal, or by running the
    /// script.
    pub(in crate::commands) fn settle(&self, journal: &mut Journal) -> Result<Settlement, Failure> {
        if let Some(settlement) = self.recalled(journal)? {
            return Ok(settlement);
        }
        let may_be_warm = self.args.runner != RunnerKind::Cold
            && self.args.test.is_none()
            && self.args.min_rate.is_none()
            && !self.specs.iter().any(Spec::is_hang);
        let FirstRuns { fresh, warm, agree } = self.first_runs(may_be_warm)?;
        // Two runs were beside what warm runs will be forked from.
        let crowd = if may_be_warm && self.runner.jobs() > 1 {
            RUNS as f64 / cores() as f64
        } else {
            1.0
        };
        let fastest = fresh
            .iter()
            .map(|outcome| alone(outcome.wall, outcome.cpu, crowd))
            .min()
            .unwrap_or_default();
        let mut first = fresh.first().cloned();
        // The first is forked as well, if from an interpreter that had imported nothing.
        let mut shown = fresh.len() - usize::from(may_be_warm && !fresh.is_empty());
        let outcomes = fresh
            .into_iter()
            .chain(warm.clone().filter(|_| agree))
            .collect::<Vec<_>>();
        let mut limit = None;
        let mut flaky = None;
        let mut showing = first.clone();
        let (measure, wall) = if let Some(test) = &self.args.test {
            (
                Measure::Test(test.clone()),
                self.interesting(test, &outcomes)?,
            )
        } else {
            let (baseline, found) = self.baseline(outcomes)?;
            flaky = found.map(|it| (it, baseline.same, baseline.outcomes.len()));
            if flaky.is_some() || self.stabilizer().is_some() {
                showing = baseline
                    .outcomes
                    .iter()
                    .find(|it| baseline.signature.matches(it))
                    .cloned();
            }
            if self.stabilizer().is_some() {
                first.clone_from(&showing);
                shown = baseline.outcomes.len();
            }
            let hanging = first.as_ref().filter(|_| baseline.signature.is_hang());
            limit = hanging.map(|first| self.hang_limit(first));
            let signature = Signature {
                strict: self.args.strict,
                ..baseline.signature
            };
            (Measure::Signature(signature), baseline.wall)
        };
        let signature = match &measure {
            Measure::Signature(signature) => Some(signature.clone()),
            Measure::Test(_) => None,
        };
        let timeout = limit.unwrap_or_else(|| self.timeout(wall));
        let cold = flaky.map(|_| "the bug does not show each time".to_owned());
        // Under a seed it is another script.
        let is_other = self.stabilizer().is_some();
        let next = if warm.is_some() && !is_other {
            Start::Warm
        } else {
            Start::Recorded
        };
        let warm = warm.filter(|_| !is_other);
        let calibration = self.calibrate(&measure, timeout, fastest, cold.clone(), next, warm)?;
        let start = calibration.start;
        let compiled = match &first {
            Some(first) if flaky.is_none() && self.control.is_none() => {
                control::is_wanted(&self.runner, self.as_run(), first, &measure, timeout, start)?
            }
            _ => false,
        };
        let precise = match &first {
            Some(first) if compiled => {
                precision::is_wanted(&self.runner, self.as_run(), first, &measure, timeout, start)?
            }
            _ => false,
        };
        if let Some(runner) = &self.control {
            let jobs = vec![Job::new(self.as_run().into(), timeout); RUNS];
            let outcomes = runner.run_all(&jobs, &mut |_, _| {})?;
            if let Some(shown) = outcomes
                .iter()
                .find(|it| measure.judge(it, timeout).is_same())
            {
                let named = self.args.control.as_deref().unwrap_or_default();
                let mut failure =
                    Failure::usage(format!("the bug shows under the control `{named}` as well"))
                        .hint("name a control under which the script does not show it");
                failure.details = self.shown(shown);
                return Err(failure);
            }
        }
        let mut grounds = match &showing {
            Some(showing) if !compiled && self.control.is_none() => grounds::of_script(
                &self.runner,
                self.as_run(),
                showing,
                &measure,
                timeout,
                start,
            )?,
            _ => None,
        };
        if let Some(grounds) = grounds.as_mut().filter(|_| flaky.is_some()) {
            // What it compares is what chance decides.
            grounds.values.clear();
        }
        let settled = Settled {
            signature,
            wall,
            fastest,
            runs: RUNS,
            limit,
            compiled,
            precise,
            grounds: grounds.clone(),
            flaky,
            stabilizer: self.stabilizer.get().cloned(),
            cold,
        };
        // Where the journal can not be written, the engine will say so.
        let _ = journal.settle(settled.clone());
        Ok(Settlement::of(
            settled,
            measure,
            timeout,
            calibration,
            shown,
        ))
    }

    /// Looks for a seed under which the bug shows each time, and keeps it for all that follows.
    fn steadied(
        &self,
        rate: f64,
        signature: Option<&Signature>,
        first: Option<&Outcome>,
    ) -> Result<Option<Baseline>, RunError> {
        let timeout = self.timeout(first.map(|it| it.wall).unwrap_or_default());
        let Some(found) = stabilize::steady(self, rate, signature, timeout)? else {
            return Ok(None);
        };
        self.keep_stabilizer(found.stabilizer, found.bytes);
        Ok(Some(found.baseline))
    }

    fn keep_stabilizer(&self, stabilizer: Seed, bytes: Option<Vec<u8>>) {
        // Set once in a session; the first is the one that its journal remembers.
        let _ = self.stabilizer.set(stabilizer);
        if let Some(bytes) = bytes {
            let _ = self.seeded.set(bytes);
        }
    }

    /// Runs a script that shows its bug in some runs more often, and says how its candidates are to
    /// be tested.
    fn flaky_baseline(
        &self,
        mut outcomes: Vec<Outcome>,
        error: BaselineError,
    ) -> Result<(Baseline, SequentialTest), Failure> {
        let wall = outcomes
            .iter()
            .map(|outcome| outcome.wall)
            .max()
            .unwrap_or_default();
        outcomes.extend(self.run_times(
            &self.bytes,
            FLAKY_RUNS - outcomes.len(),
            self.timeout(wall),
        )?);
        let first = outcomes.first().cloned();
        let of = outcomes.len();
        let Ok(baseline) = Baseline::of_some(&self.specs, outcomes) else {
            return Err(self.not_reproduced(error, first.as_ref()));
        };
        match SequentialTest::of(baseline.same, of, self.args.min_rate) {
            Some(steadiness) => Ok((baseline, steadiness)),
            None => Err(self.not_reproduced(baseline.too_rare(&self.specs), first.as_ref())),
        }
    }

    /// Finds out from where candidates start: warm, if the script shows the bug that way too, and
    /// sooner than in the `fastest` fresh run. There may be a reason against it, and a warm run
    /// already.
    fn calibrate(
        &self,
        measure: &Measure,
        timeout: Duration,
        fastest: Duration,
        mut reason: Option<String>,
        next: Start,
        mut known: Option<Outcome>,
    ) -> Result<Calibration, Failure> {
        if self.args.runner == RunnerKind::Cold {
            reason = Some("asked for".to_owned());
        } else if matches!(measure, Measure::Test(_)) {
            reason = Some("a test is a program of its own".to_owned());
        }
        // What a warm run saves is the start: as candidates get smaller, it is an ever larger part
        // of a run.
        let is_wanted = self.args.runner == RunnerKind::Warm;
        let is_worth_it = |warm: Duration| {
            let is_shorter =
                warm.saturating_mul(5) <= fastest * 4 || warm.saturating_add(WORTH_IT) <= fastest;
            is_wanted || is_shorter || self.runner.imports() >= WORTH_IT
        };
        // The first of the warm runs starts what the others are forked from, and fills caches.
        let record = (next == Start::Recorded).then_some(next);
        let mut fastest_warm: Option<Duration> = None;
        for start in record.into_iter().chain([Start::Warm; 3]) {
            if reason.is_some() || fastest_warm.is_some_and(is_worth_it) {
                break;
            }
            let outcome = match known.take() {
                Some(outcome) => outcome,
                None => self.run_from(start, timeout)?,
            };
            reason = self.runner.why_cold().or_else(|| {
                let is_same = measure.judge(&outcome, timeout).is_same();
                (!is_same).then(|| format!("a warm run ends otherwise: {}", summary(&outcome)))
            });
            if start == Start::Warm {
                fastest_warm = Some(fastest_warm.map_or(outcome.wall, |it| it.min(outcome.wall)));
            }
        }
        let warm = fastest_warm.unwrap_or(Duration::MAX);
        if reason.is_none() && !is_worth_it(warm) {
            let [warm, cold] = [warm, fastest].map(|it| it.as_secs_f64());
            reason = Some(format!(
                "warm runs take as long: {warm:.2} s instead of {cold:.2} s"
            ));
        }
        match reason {
            None => Ok(Calibration {
                start: Start::Warm,
                cold: fastest,
                warm,
                reason: None,
            }),
            Some(reason) if is_wanted => Err(Failure::new(
                Exit::Environment,
                anyhow::anyhow!("candidates can not be run warm: {reason}"),
            )
            .hint("`--runner auto` runs them in fresh interpreters where it must")),
            Some(reason) => {
                self.runner.go_cold(&reason);
                Ok(Calibration {
                    start: Start::Cold,
                    cold: fastest,
                    warm,
                    reason: Some(reason),
                })
            }
        }
    }

    /// The slowest run of the user's test, if all runs found the script interesting.
    fn interesting(&self, test: &str, outcomes: &[Outcome]) -> Result<Duration, Failure> {
        let same = outcomes
            .iter()
            .filter(|outcome| outcome.end == End::Exit(0))
            .count();
        if same == outcomes.len() {
            return Ok(outcomes
                .iter()
                .map(|outcome| outcome.wall)
                .max()
                .unwrap_or_default());
        }
        let exit = if same == 0 {
            Exit::NotReproduced
        } else {
            Exit::Unstable
        };
        let mut failure = Failure::new(
            exit,
            anyhow::anyhow!(
                "the test `{test}` finds the script interesting in {same} of {} runs",
                outcomes.len()
            ),
        )
        .hint("a test exits with 0 while the file that is its last argument is interesting");
        if let Some(outcome) = outcomes.iter().find(|outcome| outcome.end != End::Exit(0)) {
            failure.details = self.shown(outcome);
        }
        Err(failure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_had_to_share_would_have_taken_less_alone() {
        let seconds = |wall: f64, cpu: f64, crowd: f64| {
            let [wall, cpu] = [wall, cpu].map(Duration::from_secs_f64);
            alone(wall, cpu, crowd).as_millis()
        };
        assert_eq!(seconds(4.5, 3.0, 1.5), 3000);
        assert_eq!(seconds(10.5, 1.0, 1.5), 10_000);
        // It works by several threads.
        assert_eq!(seconds(4.5, 6.0, 1.5), 3000);
        assert_eq!(seconds(4.5, 3.0, 0.4), 4500);
    }
}
