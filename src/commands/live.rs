//! The judge that stands between engine and runner: it runs candidates, and what speaks against
//! them.

use std::{sync::Arc, time::Duration};

use minrepro_reducers::{
    analysis::dependence_check::{Grounds, Telling},
    syntax::Program,
    torch::ablation::{Change, conditions},
    trace::evidence::Evidence,
};

use super::{
    control, grounds,
    measure::Measure,
    precision,
    repeat::{Repeated, repeated},
    session::last_runs,
};
use crate::{
    engine::{Candidate, Halt, Judge, Judged, Retraction},
    oracle::{SequentialTest, Verdict, summary},
    runner::{End, Job, Outcome, Room, RunError, Runner, Start},
};

/// What further runs say against a candidate that shows the bug, and what they took.
#[derive(Clone, Debug, Default)]
pub(super) struct Doubt {
    pub(super) verdict: Option<Verdict>,
    pub(super) seconds: f64,
    pub(super) runs: u64,
}

/// A program that was confirmed by a run in a fresh interpreter, and where in a library it failed,
/// if that is not where the script did.
pub(super) type Fresh = (Arc<[u8]>, Option<String>);

/// Judges candidates by running them.
pub(super) struct Live<'a> {
    pub(super) runner: &'a Runner,
    pub(super) measure: &'a Measure,
    pub(super) timeout: Duration,
    /// For how long a candidate may only wait.
    pub(super) idle: Option<Duration>,
    pub(super) start: Start,
    /// Whether only what does not show without PyTorch's compiler counts.
    pub(super) compiled: bool,
    /// Whether only what is further from the truth than without the compiler counts.
    pub(super) precise: bool,
    /// What the statement that tells of the bug has to rest on, if that is one of the script's.
    pub(super) grounds: Option<Grounds>,
    /// How candidates are tested, if the bug does not show each time.
    pub(super) steadiness: Option<SequentialTest>,
    /// Runs the control that the user named.
    pub(super) control: Option<&'a Runner>,
    /// The variables that are taken away from the result, to see what is necessary; none if that is
    /// not to be found out.
    pub(super) ablated: Option<Vec<(String, String)>>,
    /// The last that was confirmed by a run in a fresh interpreter.
    pub(super) fresh: Option<Fresh>,
}

impl Live<'_> {
    /// What keeps candidates that show the bug from counting: they show it without the compiler as
    /// well, or what they say of themselves rests on nothing.
    fn doubts(&self, shown: &[(&Program, Option<Telling>)]) -> Result<Vec<Doubt>, RunError> {
        if let Some(runner) = self.control {
            let bytes = |it: &Program| it.encode().unwrap_or_default();
            let jobs: Vec<Job> = shown
                .iter()
                .map(|(it, _)| Job::new(bytes(it).into(), self.timeout))
                .collect();
            let outcomes = runner.run_all(&jobs, &mut |_, _| {})?;
            let doubt = |it: &Outcome| Doubt {
                verdict: self
                    .measure
                    .judge(it, self.timeout)
                    .is_same()
                    .then_some(Verdict::Passed),
                seconds: it.wall.as_secs_f64(),
                runs: 1,
            };
            return Ok(outcomes.iter().map(doubt).collect());
        }
        if let Some(wanted) = &self.grounds {
            return grounds::doubts(wanted, self.runner, shown, self.timeout, self.start);
        }
        let mut doubts = vec![Doubt::default(); shown.len()];
        let mut open: Vec<usize> = (0..shown.len()).collect();
        if self.precise {
            // A program that looks at its numbers without the compiler shows there as well what it
            // does without it.
            let found =
                precision::precisions(self.runner, shown, self.measure, self.timeout, self.start)?;
            for (doubt, it) in doubts.iter_mut().zip(&found) {
                let hollow = (it.is_further_off != Some(true)).then_some(Verdict::Vacuous);
                let verdict = if it.shows_plain == Some(true) {
                    Some(Verdict::Passed)
                } else {
                    hollow
                };
                *doubt = Doubt {
                    verdict,
                    seconds: it.seconds,
                    runs: it.runs,
                };
            }
            open.retain(|&at| found[at].shows_plain.is_none());
        }
        let programs: Vec<&Program> = open.iter().map(|&at| shown[at].0).collect();
        let controls = control::uncompiled_runs(
            self.runner,
            &programs,
            self.measure,
            self.timeout,
            self.start,
        )?;
        for (&at, it) in open.iter().zip(controls) {
            let doubt = &mut doubts[at];
            doubt.verdict = if it.shows {
                Some(Verdict::Passed)
            } else {
                doubt.verdict.take()
            };
            doubt.seconds += it.seconds;
            doubt.runs += it.runs;
        }
        Ok(doubts)
    }

    /// Has run beside the others what will be asked of a result, once it is confirmed.
    pub(super) fn begin_last_runs(&self, program: &Program, bytes: &Arc<[u8]>) {
        if self.steadiness.is_some() {
            return;
        }
        let conditions = self
            .ablated
            .as_ref()
            .map(|env| conditions(program, env))
            .unwrap_or_default();
        let others: Vec<Job> = conditions
            .into_iter()
            .filter_map(|condition| match condition.change {
                Change::Variables(variables) => Some(self.job(bytes, variables.into())),
                Change::Edits(_) => None,
            })
            .collect();
        let already = others.len() + usize::from(self.start == Start::Warm);
        for job in last_runs(program, Arc::clone(bytes), self.timeout, already)
            .into_iter()
            .take(1)
            .chain(others)
        {
            self.runner.begin(job, Room::Left);
        }
    }

    /// The run that a program is confirmed by.
    fn confirmation(&self, candidate: &Candidate) -> Job {
        Job {
            start: Start::Cold,
            ..self.job(&candidate.bytes, Arc::default())
        }
    }

    fn job(&self, bytes: &Arc<[u8]>, variables: Arc<[(String, Option<String>)]>) -> Job {
        Job {
            start: self.start,
            idle: self.idle,
            variables,
            ..Job::new(Arc::clone(bytes), self.timeout)
        }
    }
}

impl Judge for Live<'_> {
    fn judge(
        &mut self,
        batch: &[Candidate],
        deliver: &mut dyn FnMut(usize, Judged),
    ) -> Result<(), Halt> {
        let jobs: Vec<Job> = batch
            .iter()
            .map(|it| self.job(&it.bytes, Arc::clone(&it.variables)))
            .collect();
        if let Some(steadiness) = &self.steadiness {
            let found = repeated(self.runner, &jobs, self.measure, steadiness).map_err(halt)?;
            for (
                index,
                Repeated {
                    verdict,
                    of,
                    seconds,
                    telling,
                    ..
                },
            ) in found.into_iter().enumerate()
            {
                let program = &batch[index].program;
                let is_hollow = verdict.is_same()
                    && self
                        .grounds
                        .as_ref()
                        .is_some_and(|it| !grounds::rests_on(it, program, telling.as_ref()));
                let verdict = if is_hollow { Verdict::Vacuous } else { verdict };
                deliver(
                    index,
                    Judged {
                        verdict,
                        seconds,
                        runs: of as u64,
                    },
                );
            }
            return Ok(());
        }
        let is_doubtful = self.compiled || self.grounds.is_some() || self.control.is_some();
        let mut same = Vec::new();
        let result = self.runner.run_all(&jobs, &mut |index, outcome| {
            let verdict = self.measure.judge(outcome, self.timeout);
            let seconds = outcome.wall.as_secs_f64();
            if is_doubtful && verdict.is_same() {
                same.push((index, seconds, grounds::telling(outcome, self.measure)));
            } else {
                deliver(
                    index,
                    Judged {
                        verdict,
                        seconds,
                        runs: 1,
                    },
                );
            }
        });
        result.map_err(halt)?;
        same.sort_by_key(|(index, ..)| *index);
        let shown: Vec<(&Program, Option<Telling>)> = same
            .iter()
            .map(|(index, _, telling)| (&*batch[*index].program, telling.clone()))
            .collect();
        let doubts = self.doubts(&shown).map_err(halt)?;
        for ((index, seconds, _), doubt) in same.iter().zip(doubts) {
            let verdict = doubt.verdict.unwrap_or(Verdict::Same);
            deliver(
                *index,
                Judged {
                    verdict,
                    seconds: seconds + doubt.seconds,
                    runs: 1 + doubt.runs,
                },
            );
        }
        Ok(())
    }

    fn judge_surely(
        &mut self,
        batch: &[Candidate],
        deliver: &mut dyn FnMut(usize, Judged),
    ) -> Result<(), Halt> {
        let usual = self.steadiness;
        self.steadiness = usual.map(SequentialTest::strict);
        let result = self.judge(batch, deliver);
        self.steadiness = usual;
        result
    }

    fn is_hopeless(&self, candidate: &Candidate) -> bool {
        self.compiled && control::is_hopeless(&candidate.program)
    }

    fn confirm(&mut self, candidate: &Candidate) -> Result<Option<Retraction>, Halt> {
        if let Some(steadiness) = &mut self.steadiness {
            let job = [Job::new(candidate.bytes.clone(), self.timeout)];
            let found =
                repeated(self.runner, &job, self.measure, &steadiness.strict()).map_err(halt)?;
            let Some(Repeated { same, of, .. }) =
                found.into_iter().find(|it| !it.verdict.is_same())
            else {
                return Ok(None);
            };
            // What was accepted by chance is not to be accepted again.
            steadiness.wrongly_accepted /= 10.0;
            return Ok(Some(Retraction::Accepted(format!(
                "the bug shows in only {same} of {of} runs"
            ))));
        }
        if self.start == Start::Cold {
            return Ok(None);
        }
        let job = self.confirmation(candidate);
        let outcomes = self.runner.run_all(&[job], &mut |_, _| {}).map_err(halt)?;
        match outcomes
            .iter()
            .find(|it| !self.measure.judge(it, self.timeout).is_same())
        {
            None => {
                let elsewhere = outcomes.iter().find_map(|it| self.measure.elsewhere(it));
                self.fresh = Some((Arc::clone(&candidate.bytes), elsewhere));
                Ok(None)
            }
            Some(outcome) => {
                let reason = format!(
                    "in a fresh interpreter it ends otherwise: {}",
                    summary(outcome)
                );
                self.start = Start::Cold;
                self.runner.go_cold(&reason);
                Ok(Some(Retraction::All(reason)))
            }
        }
    }

    fn begin_confirmation(&mut self, candidate: &Candidate, is_last: bool) -> bool {
        if self.steadiness.is_some() || self.start == Start::Cold {
            return false;
        }
        self.runner.begin(self.confirmation(candidate), Room::Among);
        if is_last {
            self.begin_last_runs(&candidate.program, &candidate.bytes);
        }
        true
    }

    fn patience(&self) -> Option<u64> {
        self.steadiness.as_ref().map(SequentialTest::doubtful_after)
    }

    fn can_trace(&self) -> bool {
        matches!(self.measure, Measure::Signature(_))
    }

    fn trace(&mut self, candidate: &Candidate) -> Result<Option<Evidence>, Halt> {
        let sought = match self.measure {
            Measure::Signature(signature) => signature.printed_texts().into(),
            Measure::Test(_) => Arc::default(),
        };
        let variables = Arc::clone(&candidate.variables);
        let job = Job {
            traced: true,
            sought,
            idle: None,
            ..self.job(&candidate.bytes, variables)
        };
        let times = self.steadiness.map_or(1, |it| it.patience());
        let mut outcomes = self
            .runner
            .run_all(&vec![job.clone(); times], &mut |_, _| {})
            .map_err(halt)?;
        let has_died = |it: &&Outcome| {
            matches!(it.end, End::Signal(_)) && it.trace.is_none() && !it.stack.is_empty()
        };
        if let Some(died) = outcomes.iter().find(has_died) {
            let doomed = died
                .stack
                .iter()
                .map(|it| (it.file.clone(), it.line))
                .collect();
            let job = Job { doomed, ..job };
            outcomes = self
                .runner
                .run_all(&vec![job; times], &mut |_, _| {})
                .map_err(halt)?;
        }
        Ok(outcomes
            .into_iter()
            .find(|outcome| self.measure.judge(outcome, self.timeout).is_same())
            .and_then(|outcome| serde_json::from_str(outcome.trace.as_deref()?).ok()))
    }
}

/// What a run that could not be made means for the reduction.
pub(super) fn halt(error: RunError) -> Halt {
    match error {
        RunError::Interrupted(signal) => Halt::Interrupted(signal),
        RunError::Deadline => Halt::MaxTime,
        error => Halt::Failed(error.into()),
    }
}
