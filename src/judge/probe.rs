//! How a program is run and judged in one session. All checks share it.

use std::{path::Path, sync::Arc, time::Duration};

use minrepro_reducers::{modules::switches::Switch, syntax::Program, trace::evidence::Evidence};

use super::measure::Measure;
use crate::{
    oracle::Verdict,
    runner::{End, Job, Outcome, RunError, Runner, Start},
};

/// A setting under which the bug must not show: one that the user named, another version of Python,
/// or a variable that a package goes by.
pub struct GivenControl {
    /// As it was typed, or its name.
    pub name: String,
    /// What is different there.
    pub setting: ControlSetting,
    /// What programs have to do there.
    pub demand: Demand,
}

/// What is different under a control that is no part of the script.
pub enum ControlSetting {
    /// Anything: this runs programs under it.
    Any(Box<Runner>),
    /// The interpreter, and nothing else.
    Interpreter(Arc<Path>),
    /// A variable, and nothing else.
    Variable(Switch),
}

impl GivenControl {
    /// The runner of its own, if it has one.
    pub(super) fn runner(&self) -> Option<&Runner> {
        match &self.setting {
            ControlSetting::Any(runner) => Some(runner),
            ControlSetting::Interpreter(_) | ControlSetting::Variable(_) => None,
        }
    }

    /// Runs jobs under it.
    pub(super) fn run(
        &self,
        probe: &Probe<'_>,
        mut jobs: Vec<Job>,
    ) -> Result<Vec<Outcome>, RunError> {
        let runner = match &self.setting {
            ControlSetting::Any(runner) => runner,
            ControlSetting::Interpreter(path) => {
                for job in &mut jobs {
                    job.interpreter = Some(Arc::clone(path));
                }
                probe.runner
            }
            ControlSetting::Variable((name, value)) => {
                let variable = ((*name).to_owned(), Some((*value).to_owned()));
                for job in &mut jobs {
                    job.variables = Arc::new([variable.clone()]);
                }
                probe.runner
            }
        };
        runner.run_all(&jobs, &mut |_, _| {})
    }
}

/// What programs have to do under a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Not show the bug; they may fail in another way if the script does.
    NotShow,
    /// Succeed.
    Succeed,
    /// Succeed, or fail as the script does. If the script does not come further than where it shows
    /// the bug, this is no control.
    IfBetter,
    /// The same, in place of the control before it, if that is one: a version of Python between that
    /// and the script's own. The less is different, the more the control says of the bug.
    IfNearer,
    /// The same, or `IfBetter` if none is known: the version next to the script's own. A later one
    /// may refuse the script for another reason.
    IfNearest,
}

/// The limits of a run that a candidate is judged by.
#[derive(Clone, Copy, Debug)]
pub struct CandidateLimits {
    /// For how long it may only wait.
    pub idle: Duration,
    /// For how long it may run.
    pub timeout: Duration,
    /// The same without one of its parts, whatever the user allows: a loop may then never end.
    pub incomplete: Duration,
}

/// Runs programs and judges the outcomes.
#[derive(Clone, Copy)]
pub struct Probe<'a> {
    /// Runs candidates.
    pub runner: &'a Runner,
    /// The controls that the user named, or other versions of Python.
    pub controls: &'a [GivenControl],
    /// What counts as the bug.
    pub measure: &'a Measure,
    /// The time limit of a run.
    pub timeout: Duration,
    /// What candidates are limited to, if not as other runs.
    pub candidate_limits: Option<CandidateLimits>,
    /// From where runs start.
    pub start: Start,
}

impl Probe<'_> {
    /// The control of this name.
    pub(super) fn control(&self, name: &str) -> Option<&GivenControl> {
        self.controls.iter().find(|control| control.name == name)
    }

    /// A run that is to show something about a program, for a check.
    pub(super) fn job(&self, bytes: &[u8]) -> Job {
        Job {
            start: self.start,
            ..Job::new(bytes.into(), self.timeout)
        }
    }

    /// A run of a program that is changed for a check; none if the text cannot be written.
    pub(super) fn changed_job(&self, program: &Program, text: String) -> Option<Job> {
        Some(self.job(&program.sibling(text).ok()?.encode()?))
    }

    /// A run of a program without a part that it may need to come to an end.
    pub(super) fn incomplete_job(&self, program: &Program, text: String) -> Option<Job> {
        let bytes = program.sibling(text).ok()?.encode()?.into();
        let job = self.candidate_job(&bytes, Arc::default());
        let limit = self.candidate_limits.map(|limits| limits.incomplete);
        Some(Job {
            timeout: limit.map_or(job.timeout, |limit| job.timeout.min(limit)),
            ..job
        })
    }

    /// The run that a candidate is judged by.
    pub(super) fn candidate_job(
        &self,
        bytes: &Arc<[u8]>,
        variables: Arc<[(String, Option<String>)]>,
    ) -> Job {
        let limits = self.candidate_limits;
        let timeout = limits.map_or(self.timeout, |limits| limits.timeout);
        Job {
            start: self.start,
            idle: limits.map(|limits| limits.idle),
            variables,
            ..Job::new(Arc::clone(bytes), timeout)
        }
    }

    /// Runs all of these.
    pub(super) fn run(&self, jobs: &[Job]) -> Result<Vec<Outcome>, RunError> {
        self.runner.run_all(jobs, &mut |_, _| {})
    }

    /// Judges an outcome.
    pub(super) fn judge(&self, outcome: &Outcome) -> Verdict {
        self.measure.judge(outcome, self.timeout)
    }

    /// Whether a run shows the bug.
    pub(super) fn shows(&self, outcome: &Outcome) -> bool {
        self.judge(outcome).is_same()
    }

    /// Whether a run shows the bug's words, by whatever mechanism. Without a part of the program,
    /// the path to a failure differs, so a control run is judged by the words alone.
    pub(super) fn shows_words(&self, outcome: &Outcome) -> bool {
        self.measure
            .by_words()
            .judge(outcome, self.timeout)
            .is_same()
    }

    /// Whether a run of a program that writes things down shows the bug's words: the text of the line
    /// that fails is another one there.
    pub(super) fn shows_words_while_observed(&self, outcome: &Outcome) -> bool {
        let measure = self.measure.while_observed();
        measure.judge(outcome, self.timeout).is_same()
    }

    /// The evidence of a traced run of a program; none if the program does not show the bug while
    /// it is traced.
    pub(super) fn traced(&self, bytes: &[u8]) -> Result<Option<Evidence>, RunError> {
        self.trace(self.traced_job(bytes), 1)
    }

    /// The evidence of a traced run; none if none of so many runs shows the bug while it is traced.
    pub(super) fn trace(&self, job: Job, times: usize) -> Result<Option<Evidence>, RunError> {
        let mut outcomes = self.run(&vec![job.clone(); times])?;
        // A process that died, or that hangs in native code, wrote nothing down; a second run
        // writes all down where that happened.
        let has_died = |outcome: &&Outcome| {
            matches!(outcome.end, End::Signal(_) | End::Timeout)
                && outcome.trace.is_none()
                && !outcome.stack.is_empty()
        };
        if let Some(died) = outcomes.iter().find(has_died) {
            let crash_stack = died
                .stack
                .iter()
                .map(|frame| (frame.file.clone(), frame.line))
                .collect();
            let job = Job { crash_stack, ..job };
            outcomes = self.run(&vec![job; times])?;
        }
        Ok(self.evidence(&outcomes))
    }

    /// A run that is traced, for a check.
    pub(super) fn traced_job(&self, bytes: &[u8]) -> Job {
        self.tracing(self.job(bytes))
    }

    /// The same run, traced.
    pub(super) fn tracing(&self, job: Job) -> Job {
        Job {
            traced: true,
            hangs: self.measure.is_hang(),
            keeps_last: self.measure.is_hang() || self.measure.is_death(),
            ..job
        }
    }

    /// The evidence of the first of some traced runs that shows the bug.
    pub(super) fn evidence(&self, outcomes: &[Outcome]) -> Option<Evidence> {
        let showing = outcomes.iter().find(|outcome| self.shows(outcome))?;
        serde_json::from_str(showing.trace.as_deref()?).ok()
    }

    /// The same for a traced run of a program that writes things down.
    pub(super) fn evidence_while_observed(&self, outcome: &Outcome) -> Option<Evidence> {
        let trace = outcome.trace.as_deref();
        let trace = trace.filter(|_| self.shows_words_while_observed(outcome))?;
        serde_json::from_str(trace).ok()
    }
}
