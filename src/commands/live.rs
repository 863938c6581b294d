//! The judge that stands between engine and runner: it runs candidates, and what speaks against them.

use std::{sync::Arc, time::Duration};

use minrepro_reducers::{
    evidence::Evidence,
    grounds::{Grounds, Telling},
    syntax::Program,
};

use super::{
    control, grounds,
    measure::Measure,
    precision,
    repeat::{Repeated, repeated},
};
use crate::{
    engine::{Candidate, Halt, Judge, Judged, Retraction},
    oracle::{Steadiness, Verdict, summary},
    runner::{End, Job, Outcome, RunError, Runner, Start},
};

/// What further runs say against a candidate that shows the bug, and what they took.
#[derive(Clone, Debug, Default)]
pub(super) struct Doubt {
    pub(super) verdict: Option<Verdict>,
    pub(super) seconds: f64,
    pub(super) runs: u64,
}

/// What programs are confirmed by runs in fresh interpreters.
#[derive(Debug, Default)]
pub(super) struct Fresh {
    /// The last that was, and where in a library it failed, if that is not where the script did.
    pub(super) confirmed: Option<(Arc<[u8]>, Option<String>)>,
    /// The one that is beside the other runs.
    begun: Option<Arc<[u8]>>,
}

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
    pub(super) steadiness: Option<Steadiness>,
    /// Runs the control that the user named.
    pub(super) control: Option<&'a Runner>,
    /// What is known by runs in fresh interpreters.
    pub(super) fresh: Fresh,
}

impl Live<'_> {
    /// What keeps candidates that show the bug from counting: they show it without the compiler as well, or what they say of
    /// themselves rests on nothing.
    fn doubts(&self, shown: &[(&Program, Option<Telling>)]) -> Result<Vec<Doubt>, RunError> {
        if let Some(runner) = self.control {
            let bytes = |it: &Program| it.encode().unwrap_or_default();
            let jobs: Vec<Job> =
                shown.iter().map(|(it, _)| Job::new(bytes(it).into(), self.timeout)).collect();
            let outcomes = runner.run_all(&jobs, &mut |_, _| {})?;
            let doubt = |it: &Outcome| Doubt {
                verdict: self.measure.judge(it, self.timeout).is_same().then_some(Verdict::Passed),
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
            // A program that looks at its numbers without the compiler shows there as well what it does without it.
            let found = precision::precisions(self.runner, shown, self.measure, self.timeout, self.start)?;
            for (doubt, it) in doubts.iter_mut().zip(&found) {
                let hollow = (it.is_further_off != Some(true)).then_some(Verdict::Hollow);
                let verdict = if it.shows_plain == Some(true) { Some(Verdict::Passed) } else { hollow };
                *doubt = Doubt { verdict, seconds: it.seconds, runs: it.runs };
            }
            open.retain(|&at| found[at].shows_plain.is_none());
        }
        let programs: Vec<&Program> = open.iter().map(|&at| shown[at].0).collect();
        let controls =
            control::uncompiled_runs(self.runner, &programs, self.measure, self.timeout, self.start)?;
        for (&at, it) in open.iter().zip(controls) {
            let doubt = &mut doubts[at];
            doubt.verdict = if it.shows { Some(Verdict::Passed) } else { doubt.verdict.take() };
            doubt.seconds += it.seconds;
            doubt.runs += it.runs;
        }
        Ok(doubts)
    }

    fn job(&self, candidate: &Candidate) -> Job {
        let variables = candidate.variables.clone();
        Job {
            start: self.start,
            idle: self.idle,
            variables,
            ..Job::new(candidate.bytes.clone(), self.timeout)
        }
    }
}

impl Judge for Live<'_> {
    fn judge(&mut self, batch: &[Candidate], deliver: &mut dyn FnMut(usize, Judged)) -> Result<(), Halt> {
        let jobs: Vec<Job> = batch.iter().map(|candidate| self.job(candidate)).collect();
        if let Some(steadiness) = &self.steadiness {
            let found = repeated(self.runner, &jobs, self.measure, steadiness).map_err(halt)?;
            for (index, Repeated { verdict, of, seconds, telling, .. }) in found.into_iter().enumerate() {
                let program = &batch[index].program;
                let is_hollow = verdict.is_same()
                    && self
                        .grounds
                        .as_ref()
                        .is_some_and(|it| !grounds::rests_on(it, program, telling.as_ref()));
                let verdict = if is_hollow { Verdict::Hollow } else { verdict };
                deliver(index, Judged { verdict, seconds, runs: of as u64 });
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
                deliver(index, Judged { verdict, seconds, runs: 1 });
            }
        });
        result.map_err(halt)?;
        same.sort_by_key(|(index, ..)| *index);
        let shown: Vec<(&Program, Option<Telling>)> =
            same.iter().map(|(index, _, telling)| (&*batch[*index].program, telling.clone())).collect();
        let doubts = self.doubts(&shown).map_err(halt)?;
        for ((index, seconds, _), doubt) in same.iter().zip(doubts) {
            let verdict = doubt.verdict.unwrap_or(Verdict::Same);
            deliver(*index, Judged { verdict, seconds: seconds + doubt.seconds, runs: 1 + doubt.runs });
        }
        Ok(())
    }

    fn judge_surely(
        &mut self,
        batch: &[Candidate],
        deliver: &mut dyn FnMut(usize, Judged),
    ) -> Result<(), Halt> {
        let usual = self.steadiness;
        self.steadiness = usual.map(Steadiness::strict);
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
            let found = repeated(self.runner, &job, self.measure, &steadiness.strict()).map_err(halt)?;
            let Some(Repeated { same, of, .. }) = found.into_iter().find(|it| !it.verdict.is_same()) else {
                return Ok(None);
            };
            // What was accepted by chance is not to be accepted again.
            steadiness.wrongly_accepted /= 10.0;
            return Ok(Some(Retraction::Accepted(format!("the bug shows in only {same} of {of} runs"))));
        }
        if self.start == Start::Cold {
            return Ok(None);
        }
        let begun = match self.fresh.begun.take() {
            Some(bytes) if bytes == candidate.bytes => self.runner.ended().map_err(halt)?,
            _ => None,
        };
        let outcomes = match begun {
            Some(outcome) => vec![outcome],
            None => {
                let job = Job { start: Start::Cold, ..self.job(candidate) };
                self.runner.run_all(&[job], &mut |_, _| {}).map_err(halt)?
            }
        };
        match outcomes.iter().find(|it| !self.measure.judge(it, self.timeout).is_same()) {
            None => {
                let elsewhere = outcomes.iter().find_map(|it| self.measure.elsewhere(it));
                self.fresh.confirmed = Some((Arc::clone(&candidate.bytes), elsewhere));
                Ok(None)
            }
            Some(outcome) => {
                let reason = format!("in a fresh interpreter it ends otherwise: {}", summary(outcome));
                self.start = Start::Cold;
                self.runner.go_cold(&reason);
                Ok(Some(Retraction::All(reason)))
            }
        }
    }

    fn begin_confirmation(&mut self, candidate: &Candidate) -> Result<bool, Halt> {
        if self.steadiness.is_some() || self.start == Start::Cold {
            return Ok(false);
        }
        let job = Job { start: Start::Cold, ..self.job(candidate) };
        self.runner.begin(job).map_err(halt)?;
        self.fresh.begun = Some(Arc::clone(&candidate.bytes));
        Ok(true)
    }

    fn patience(&self) -> Option<u64> {
        self.steadiness.as_ref().map(Steadiness::doubtful_after)
    }

    fn can_trace(&self) -> bool {
        matches!(self.measure, Measure::Signature(_))
    }

    fn trace(&mut self, candidate: &Candidate) -> Result<Option<Evidence>, Halt> {
        let sought = match self.measure {
            Measure::Signature(signature) => signature.printed_texts().into(),
            Measure::Test(_) => Arc::default(),
        };
        let job = Job { traced: true, sought, idle: None, ..self.job(candidate) };
        let times = self.steadiness.map_or(1, |it| it.patience());
        let mut outcomes = self.runner.run_all(&vec![job.clone(); times], &mut |_, _| {}).map_err(halt)?;
        let has_died =
            |it: &&Outcome| matches!(it.end, End::Signal(_)) && it.trace.is_none() && !it.stack.is_empty();
        if let Some(died) = outcomes.iter().find(has_died) {
            let doomed = died.stack.iter().map(|it| (it.file.clone(), it.line)).collect();
            let job = Job { doomed, ..job };
            outcomes = self.runner.run_all(&vec![job; times], &mut |_, _| {}).map_err(halt)?;
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
