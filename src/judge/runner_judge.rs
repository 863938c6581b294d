//! The judge between engine and runner: it runs candidates, judges their outcomes, and has the
//! checks review those that show the bug.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use minrepro_reducers::{
    syntax::Program,
    torch::ablation::{ConditionChange, conditions},
    trace::evidence::Evidence,
};

use super::{
    baseline::Established,
    check::Checks,
    confirmation::{Confirmed, confirm, last_runs},
    contract::{Candidate, Halt, Judge, Judged, Retraction},
    kept::Kept,
    measure::Measure,
    objection::{Objection, Shown},
    observer::Patience,
    probe::Probe,
    repetition::{Repeated, repeated},
    subject::Subject,
    truth::{CheckFinding, MECHANISM, Truth},
};
use crate::{
    oracle::{SequentialTest, Verdict, summary},
    runner::{Job, Priority, RunError, Start},
};

/// Judges candidates by running them.
pub struct RunnerJudge<'a> {
    probe: Probe<'a>,
    /// The checks that candidates that show the bug must pass.
    checks: &'a Checks,
    /// Whether there was time to find out which these are.
    knows_checks: bool,
    /// The parts that every candidate must keep.
    kept: &'a [Kept],
    /// How candidates are tested, if the bug does not show each time.
    steadiness: Option<SequentialTest>,
    /// The variables that the ablation takes away from the result; none if there is no ablation.
    ablated: Option<Vec<(String, String)>>,
    /// The last program that was confirmed by a run in a fresh interpreter, and where in a library
    /// it failed, if that is not where the script did.
    fresh: Option<(Arc<[u8]>, Option<String>)>,
    /// The time limit of a run that confirms a program, if the bug is that it does not end.
    patient: Option<Duration>,
    /// How the runs of the last look at a result start.
    last_start: Start,
    /// When no more runs are made at all.
    end: Option<Instant>,
    /// Whether patient observers have objected to a program.
    patience: Patience,
}

impl<'a> RunnerJudge<'a> {
    /// Judges candidates of a script by what its baseline established, and confirms them until
    /// `end`.
    pub fn new(
        subject: &'a Subject,
        established: &'a Established,
        ablated: Option<Vec<(String, String)>>,
        end: Option<Instant>,
    ) -> Self {
        Self {
            probe: established.probe(subject),
            checks: &established.checks,
            knows_checks: established.is_whole,
            kept: &subject.settings.keep,
            steadiness: established.record.flaky.map(|(test, ..)| test),
            ablated,
            fresh: None,
            patient: established
                .measure
                .is_hang()
                .then(|| subject.patient_hang_limit(established.timeout))
                .filter(|patient| *patient > established.timeout),
            last_start: subject.last_start(established.calibration.start),
            end,
            patience: Patience::Left,
        }
    }

    /// Starts, as far as the other runs leave room, the runs that a result needs once it is
    /// confirmed, so they are done, or nearly, when the search is.
    pub fn begin_last_runs(&self, program: &Program, bytes: &Arc<[u8]>) {
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
                ConditionChange::Variables(variables) => {
                    Some(self.probe.candidate_job(bytes, variables.into()))
                }
                ConditionChange::Edits(_) => None,
            })
            .collect();
        // As many of the last runs as will be needed, if all goes as it most likely does: a run
        // that was begun and is not asked for is a run wasted.
        let already = others.len() + usize::from(self.probe.start == Start::Warm);
        for job in last_runs(program, Arc::clone(bytes), self.probe.timeout, already)
            .into_iter()
            .take(1)
            .chain(others)
        {
            self.probe.runner.begin(job, Priority::Low);
        }
    }

    /// Runs a result anew. The last of the reduction's own confirmations is one of these runs if it
    /// was of this program, and so are `already` others. Also where the result failed, if that is
    /// elsewhere in a library than the script.
    ///
    /// # Errors
    ///
    /// A run could not be made.
    pub fn confirm_result(
        &mut self,
        program: &Program,
        unchanged: Option<usize>,
        already: usize,
    ) -> Result<(Confirmed, Option<String>), RunError> {
        let bytes = program.encode().unwrap_or_default();
        let last = self.fresh.take().filter(|(fresh, _)| **fresh == *bytes);
        // Where nothing was removed, the runs of the baseline stand for the result's.
        let own = unchanged.unwrap_or(usize::from(last.is_some()));
        let steadiness = self.steadiness.as_ref();
        let (confirmed, elsewhere) = confirm(&self.probe, program, steadiness, own + already)?;
        Ok((confirmed, elsewhere.or(last.and_then(|(_, place)| place))))
    }

    /// Checks a result once more, by fresh runs, with all checks.
    ///
    /// # Errors
    ///
    /// A run could not be made, or the time was up before it was known what to check.
    pub fn verify(&self, program: &Program, mismatch: Option<&str>) -> Result<Truth, RunError> {
        if !self.knows_checks {
            return Err(RunError::Deadline);
        }
        let mut truth = Truth::default();
        // Chance decides each further run of a flaky bug.
        if self.steadiness.is_none() && !self.checks.is_empty() {
            let probe = Probe {
                start: self.last_start,
                ..self.probe
            };
            let bytes = program.encode().unwrap_or_default();
            let job = Job {
                start: self.probe.start,
                ..probe.job(&bytes)
            };
            let outcomes = probe.run(&[job])?;
            let outcome = outcomes.iter().find(|outcome| probe.shows(outcome));
            let shown = match outcome {
                Some(outcome) => Shown::of(&probe, program, outcome),
                None => Shown::unseen(program, None),
            };
            truth = self.checks.verify(&probe, &self.probe, &shown)?;
        }
        if self.probe.measure.has_mechanism() {
            truth.findings.push(CheckFinding {
                claim: MECHANISM.to_owned(),
                holds: mismatch.is_none(),
            });
        }
        if truth.findings.is_empty() {
            let left = if self.probe.measure.is_death() {
                Some("a death by a signal leaves no traceback, so nothing but its place is known")
            } else if self.probe.measure.is_hang() {
                Some("of a hang nothing but its place is known")
            } else {
                None
            };
            truth.unknown = left.map(str::to_owned);
        }
        Ok(truth)
    }

    /// The run that a program is confirmed by.
    fn confirmation(&self, candidate: &Candidate) -> Job {
        Job {
            start: Start::Cold,
            timeout: self.patient.unwrap_or(self.probe.timeout),
            ..self.probe.candidate_job(&candidate.bytes, Arc::default())
        }
    }

    /// Whether it is chance that a program shows the bug in a fresh interpreter, or does not.
    fn is_by_chance(
        &self,
        candidate: &Candidate,
        start: Start,
        shows: bool,
    ) -> Result<bool, RunError> {
        let probe = Probe {
            start,
            ..self.probe
        };
        self.checks.is_by_chance(&probe, &candidate.program, shows)
    }

    /// Judges candidates of a bug that does not show each time.
    fn judge_repeatedly(
        &self,
        batch: &[Candidate],
        jobs: &[Job],
        steadiness: &SequentialTest,
        deliver: &mut dyn FnMut(usize, Judged),
    ) -> Result<(), Halt> {
        let found = repeated(&self.probe, jobs, steadiness)?;
        for (index, repeated) in found.into_iter().enumerate() {
            let Repeated {
                verdict,
                of,
                seconds,
                report_site,
                ..
            } = repeated;
            // If chance decides, no check asks where it failed.
            let shown = Shown::unseen(&batch[index].program, report_site);
            let objection = verdict
                .is_same()
                .then(|| self.checks.review_without_runs(&shown));
            let judged = Judged {
                verdict: objection.flatten().unwrap_or(verdict),
                seconds,
                runs: of as u64,
            };
            deliver(index, judged);
        }
        Ok(())
    }

    /// Confirms a program of a bug that does not show each time, by the strict form of its test.
    fn confirm_repeatedly(
        &mut self,
        candidate: &Candidate,
        steadiness: SequentialTest,
    ) -> Result<Option<Retraction>, Halt> {
        let job = [Job::new(candidate.bytes.clone(), self.probe.timeout)];
        let found = repeated(&self.probe, &job, &steadiness.strict())?;
        let refused = found.into_iter().find(|found| !found.verdict.is_same());
        let Some(Repeated { same, of, .. }) = refused else {
            return Ok(None);
        };
        // A program that was accepted by chance is not to be accepted again.
        self.steadiness = Some(SequentialTest {
            wrongly_accepted: steadiness.wrongly_accepted / 10.0,
            ..steadiness
        });
        Ok(Some(Retraction::Accepted(format!(
            "the bug shows in only {same} of {of} runs"
        ))))
    }
}

impl Judge for RunnerJudge<'_> {
    fn judge(
        &mut self,
        batch: &[Candidate],
        deliver: &mut dyn FnMut(usize, Judged),
    ) -> Result<(), Halt> {
        let jobs: Vec<Job> = batch
            .iter()
            .map(|candidate| {
                let variables = Arc::clone(&candidate.variables);
                self.probe.candidate_job(&candidate.bytes, variables)
            })
            .collect();
        if let Some(steadiness) = &self.steadiness {
            return self.judge_repeatedly(batch, &jobs, steadiness, deliver);
        }
        // Verdicts that no check can change are delivered at once, so that whoever watches sees
        // them while others still run.
        let mut same = Vec::new();
        let result = self.probe.runner.run_all(&jobs, &mut |index, outcome| {
            let verdict = self.probe.judge(outcome);
            let seconds = outcome.timing.wall.as_secs_f64();
            if verdict.is_same() && !self.checks.is_empty() {
                let program = &*batch[index].program;
                same.push((index, seconds, Shown::of(&self.probe, program, outcome)));
            } else {
                let judged = Judged {
                    verdict,
                    seconds,
                    runs: 1,
                };
                deliver(index, judged);
            }
        });
        result?;
        // Outcomes come in the order of their ends; checks must not depend on that.
        same.sort_by_key(|(index, ..)| *index);
        let shown: Vec<Shown<'_>> = same.iter().map(|(.., shown)| shown.clone()).collect();
        let objections = self.checks.review(&self.probe, &shown, self.patience)?;
        for ((index, own, ..), objection) in same.iter().zip(objections) {
            let Objection {
                verdict,
                seconds,
                runs,
            } = objection;
            let judged = Judged {
                verdict: verdict.unwrap_or(Verdict::Same),
                seconds: own + seconds,
                runs: 1 + runs,
            };
            deliver(*index, judged);
        }
        Ok(())
    }

    fn judge_surely(
        &mut self,
        batch: &[Candidate],
        deliver: &mut dyn FnMut(usize, Judged),
    ) -> Result<(), Halt> {
        // A steady bug needs no stricter test: its verdicts do not depend on chance.
        let usual = self.steadiness;
        self.steadiness = usual.map(SequentialTest::strict);
        let result = self.judge(batch, deliver);
        self.steadiness = usual;
        result
    }

    fn is_hopeless(&self, candidate: &Candidate) -> bool {
        let program = &candidate.program;
        self.kept.iter().any(|kept| !kept.is_in(program)) || self.checks.is_hopeless(program)
    }

    fn confirm(&mut self, candidate: &Candidate) -> Result<Option<Retraction>, Halt> {
        if let Some(steadiness) = self.steadiness {
            return self.confirm_repeatedly(candidate, steadiness);
        }
        let is_observed = self.checks.has_patient() && self.patience == Patience::Left;
        // A cold run is already all that a confirmation could be.
        if self.probe.start == Start::Cold && !is_observed && self.patient.is_none() {
            return Ok(None);
        }
        let job = self.confirmation(candidate);
        let outcomes = self.probe.run(&[job])?;
        let other = outcomes.iter().find(|outcome| !self.probe.shows(outcome));
        let Some(other) = other else {
            // Whoever has objected once will look at all candidates from then on.
            if let Some(run) = outcomes.first().filter(|_| is_observed) {
                let shown = Shown::of(&self.probe, &candidate.program, run);
                let objection = self.checks.review_patiently(&self.probe, &shown)?;
                if objection.verdict.is_some() {
                    self.patience = Patience::Over;
                    let reason =
                        "its calls of packages receive or do other things than the script's";
                    return Ok(Some(Retraction::Accepted(reason.to_owned())));
                }
            }
            if self.is_by_chance(candidate, self.probe.start, true)? {
                return Ok(Some(by_chance()));
            }
            let mut outcomes = outcomes.iter();
            let elsewhere = outcomes.find_map(|outcome| self.probe.measure.mismatch(outcome));
            self.fresh = Some((Arc::clone(&candidate.bytes), elsewhere));
            return Ok(None);
        };
        if self.is_by_chance(candidate, Start::Cold, false)? {
            return Ok(Some(by_chance()));
        }
        if let Some(patient) = self.patient.take() {
            // What ends after a while may have been taken for a hang before, too.
            self.probe.timeout = patient;
            return Ok(Some(Retraction::Accepted(format!(
                "it only takes longer: {}",
                summary(other)
            ))));
        }
        let reason = format!(
            "in a fresh interpreter it behaves differently: {}",
            summary(other)
        );
        // Where forking changed one program, it may change any of them.
        self.probe.start = Start::Cold;
        self.probe.runner.go_cold(&reason);
        Ok(Some(Retraction::All(reason)))
    }

    fn begin_confirmation(&mut self, candidate: &Candidate, is_last: bool) -> bool {
        let is_cold = self.probe.start == Start::Cold && self.patient.is_none();
        if self.steadiness.is_some() || is_cold {
            return false;
        }
        let job = self.confirmation(candidate);
        self.probe.runner.begin(job, Priority::High);
        if is_last {
            self.begin_last_runs(&candidate.program, &candidate.bytes);
        }
        true
    }

    fn end_of_search(&mut self) {
        self.probe.runner.set_deadline(self.end);
    }

    fn patience(&self) -> Option<u64> {
        self.steadiness.as_ref().map(SequentialTest::doubtful_after)
    }

    fn can_trace(&self) -> bool {
        matches!(self.probe.measure, Measure::Signature(_))
    }

    fn trace(&mut self, candidate: &Candidate) -> Result<Option<Evidence>, Halt> {
        let sought = match self.probe.measure {
            Measure::Signature(signature) => signature.printed_texts().into(),
            Measure::Test(_) => Arc::default(),
        };
        let variables = Arc::clone(&candidate.variables);
        let job = Job {
            sought,
            idle: None,
            timeout: self.probe.timeout,
            ..self.probe.candidate_job(&candidate.bytes, variables)
        };
        // A traced run that does not show the bug is of no use, so a flaky one is run until it
        // would have shown up.
        let times = self.steadiness.map_or(1, |test| test.patience());
        Ok(self.probe.trace(self.probe.tracing(job), times)?)
    }
}

impl From<RunError> for Halt {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Interrupted(signal) => Self::Interrupted(signal),
            RunError::Deadline => Self::MaxTime,
            error => Self::Failed(error.into()),
        }
    }
}

fn by_chance() -> Retraction {
    Retraction::Accepted("it shows the bug by chance".to_owned())
}
