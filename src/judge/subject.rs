//! The original script and how it is run, from which the baseline is established. Runs programs,
//! but judges none.

use std::{
    cell::OnceCell,
    sync::Arc,
    time::{Duration, Instant},
};

use minrepro_reducers::syntax::Program;

use super::{
    confirmation::CONFIRMING_RUNS,
    kept::Kept,
    measure::Measure,
    probe::{CandidateLimits, GivenControl, Probe},
};
use crate::{
    oracle::{Baseline, Forbidden, Obstacle, Seed, Spec, obstacle},
    runner::{End, Job, Outcome, RunError, Runner, Start},
};

/// How often a script is run that does not show the bug each time.
pub const FLAKY_RUNS: usize = 20;

/// The time limit of the first run of all: it is not known yet how long the script takes.
pub(super) const FIRST_TIMEOUT: Duration = Duration::from_mins(2);
/// The same where the bug is that the script does not end.
const FIRST_HANG: Duration = Duration::from_mins(1);
/// The same where a trace shows that it comes to nothing new for most of that time.
const SHORT_HANG: Duration = Duration::from_secs(10);

/// The bounds of a candidate's time limit if the bug is that it does not end. Within them, the
/// limit is four times the time that the script works before it waits.
const HANG: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(15)];
/// The least limit if a trace shows when it last came to something new.
const LEAST_HANG: Duration = Duration::from_millis(500);
/// The least limit of a run that confirms such a candidate.
const LEAST_PATIENCE: Duration = Duration::from_secs(5);

/// From where candidates are to start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Warmth {
    /// Warm, where that shows the bug just as well and saves time.
    #[default]
    Auto,
    /// Warm, or not at all.
    Always,
    /// Each in a fresh interpreter.
    Never,
}

/// Four times as long as a run, within bounds.
fn within(wall: Duration, [least, most]: [Duration; 2]) -> Duration {
    (wall * 4).clamp(least, most)
}

/// The user's settings for the bug and the runs.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The signatures of the bug; empty if one must be derived.
    pub specs: Vec<Spec>,
    /// The command that judges in place of a signature.
    pub test: Option<String>,
    /// The time limit of each run.
    pub timeout: Option<Duration>,
    /// From where candidates are to start.
    pub warmth: Warmth,
    /// The share of runs that must show a bug which does not show each time.
    pub min_rate: Option<f64>,
    /// Whether the same words count as the bug whatever the mechanism is.
    pub loose: bool,
    /// Variables set for every run.
    pub env: Vec<(String, String)>,
    /// The parts that every candidate must keep.
    pub keep: Vec<Kept>,
    /// How often programs are run to confirm them, if less often than usual. The runs of the last
    /// look at them then start as candidates do, not in fresh interpreters.
    pub fewer_runs: Option<usize>,
}

/// The original script, and everything needed to run it.
pub struct Subject {
    /// The script.
    pub program: Arc<Program>,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Runs candidates.
    pub runner: Runner,
    /// The controls that the user named, or other versions of Python.
    pub controls: Vec<GivenControl>,
    /// The user's settings.
    pub settings: Settings,
    /// The script with its random numbers seeded, where that makes the bug show each time.
    seeded: OnceCell<(Arc<Program>, Vec<u8>)>,
    /// The seed that makes the bug show each time.
    stabilizer: OnceCell<Seed>,
}

impl Subject {
    /// A script of which nothing was run yet.
    pub fn new(
        program: Program,
        bytes: Vec<u8>,
        runner: Runner,
        controls: Vec<GivenControl>,
        settings: Settings,
    ) -> Self {
        Self {
            program: Arc::new(program),
            bytes,
            runner,
            controls,
            settings,
            seeded: OnceCell::new(),
            stabilizer: OnceCell::new(),
        }
    }

    /// How programs are run and judged by this measure.
    pub fn probe<'a>(
        &'a self,
        measure: &'a Measure,
        timeout: Duration,
        candidate_limits: Option<CandidateLimits>,
        start: Start,
    ) -> Probe<'a> {
        Probe {
            runner: &self.runner,
            controls: &self.controls,
            measure,
            timeout,
            candidate_limits,
            start,
        }
    }

    /// How often the script is run before, and the result after, the reduction.
    pub fn confirming_runs(&self) -> usize {
        let fewer = self.settings.fewer_runs;
        fewer.map_or(CONFIRMING_RUNS, |runs| runs.clamp(1, CONFIRMING_RUNS))
    }

    /// How the runs of the last look at a program start, if candidates start from `start`.
    pub(super) fn last_start(&self, start: Start) -> Start {
        if self.confirming_runs() < CONFIRMING_RUNS {
            start
        } else {
            Start::Cold
        }
    }

    /// The time limit of a run: the user's, else four times the slowest baseline run within bounds.
    pub fn timeout(&self, wall: Duration) -> Duration {
        let own = within(wall, [Duration::from_secs(10), Duration::from_mins(1)]);
        self.settings.timeout.unwrap_or(own)
    }

    /// The limits of a candidate of a script that takes so long. The script takes that long without
    /// being traced, so they need not allow for more.
    pub(super) fn candidate_limits(&self, wall: Duration) -> CandidateLimits {
        const LEAST_IDLE: Duration = Duration::from_secs(1);
        let incomplete = within(wall, [Duration::from_secs(3), Duration::from_mins(1)]);
        CandidateLimits {
            idle: (wall * 2).max(LEAST_IDLE),
            timeout: self.settings.timeout.unwrap_or(incomplete),
            incomplete,
        }
    }

    /// The time limit of a candidate if the bug is that it does not end. The time that the script
    /// works before it waits forever, or comes to nothing new, shows how long the working part
    /// takes.
    pub(super) fn hang_limit(&self, first: &Outcome) -> Duration {
        let [least, most] = HANG;
        let limit = match first.timing.settled {
            Some(settled) => (settled * 4).clamp(LEAST_HANG, most),
            None => (first.timing.cpu * 4).clamp(least, most),
        };
        self.settings.timeout.unwrap_or(limit)
    }

    /// The time limit of a run that confirms a candidate with this limit, if the bug is that it
    /// does not end: one that only takes longer than before ends within it.
    pub(super) fn patient_hang_limit(&self, limit: Duration) -> Duration {
        let patient = (limit * 4).clamp(LEAST_PATIENCE, FIRST_HANG);
        self.settings.timeout.unwrap_or(patient)
    }

    /// Whether the bug is that the script does not end, as far as the user says.
    fn is_hang(&self) -> bool {
        self.settings.specs.iter().any(Spec::is_hang)
    }

    /// Whether candidates may be started warm, as far as is known before the first run.
    pub(super) fn may_be_warm(&self) -> bool {
        let Settings {
            warmth,
            test,
            min_rate,
            ..
        } = &self.settings;
        *warmth != Warmth::Never && test.is_none() && min_rate.is_none() && !self.is_hang()
    }

    /// Runs these bytes several times.
    pub fn run_times(
        &self,
        bytes: &[u8],
        times: usize,
        timeout: Duration,
    ) -> Result<Vec<Outcome>, RunError> {
        let jobs = vec![Job::new(bytes.into(), timeout); times];
        self.runner.run_all(&jobs, &mut |_, _| {})
    }

    /// Runs the script as it is once, from this start.
    pub fn run_from(&self, start: Start, timeout: Duration) -> Result<Outcome, RunError> {
        let job = Job {
            start,
            ..Job::new(self.as_run().into(), timeout)
        };
        let mut outcomes = self.runner.run_all(&[job], &mut |_, _| {})?;
        outcomes.pop().ok_or(RunError::Deadline)
    }

    /// Runs the script as it is, the first time from this start. Where it never ends, or is not
    /// meant to, the first run sets the limit of the others. `ended` sees each outcome.
    pub fn baseline_runs(
        &self,
        times: usize,
        first: Start,
        ended: &mut dyn FnMut(&Outcome),
    ) -> Result<Vec<Outcome>, RunError> {
        let is_hang = self.is_hang();
        let first_timeout = self.settings.timeout.unwrap_or(FIRST_TIMEOUT);
        let mut outcomes = if is_hang {
            // A hang takes its whole limit, so the second run must get a shorter one.
            let first = self.first_hang(first)?;
            ended(&first);
            vec![first]
        } else {
            // Two at once if there is room; a third would only wait for the findings of the first.
            let mut jobs = vec![self.job(first, first_timeout)];
            if times > 1 && self.runner.jobs() > 1 {
                jobs.push(self.job(Start::Cold, first_timeout));
            }
            self.runner
                .run_all(&jobs, &mut |_, outcome| ended(outcome))?
        };
        // A script that did not end though it should have is not run again: each run would take as
        // long, and the first says it all.
        let timeout = match outcomes.first() {
            Some(first) if first.end == End::Timeout && is_hang => Some(self.hang_limit(first)),
            Some(first) if first.end != End::Timeout => Some(first_timeout),
            _ => None,
        };
        if let Some(timeout) = timeout.filter(|_| times > outcomes.len()) {
            let jobs = vec![self.job(Start::Cold, timeout); times - outcomes.len()];
            outcomes.extend(
                self.runner
                    .run_all(&jobs, &mut |_, outcome| ended(outcome))?,
            );
        }
        Ok(outcomes)
    }

    /// The first run of a script that is not meant to end. A short one is enough if a trace beside
    /// it shows that the script comes to nothing new for most of that time.
    fn first_hang(&self, start: Start) -> Result<Outcome, RunError> {
        let run = |jobs: &[Job]| self.runner.run_all(jobs, &mut |_, _| {});
        let alone = |timeout| {
            let outcome = run(&[self.job(start, timeout)])?.pop();
            outcome.ok_or(RunError::Deadline)
        };
        if let Some(timeout) = self.settings.timeout {
            return alone(timeout);
        }
        let traced = Job {
            traced: true,
            hangs: true,
            keeps_last: true,
            ..self.job(Start::Cold, SHORT_HANG)
        };
        let mut outcomes = run(&[self.job(start, SHORT_HANG), traced])?.into_iter();
        let (Some(mut first), Some(traced)) = (outcomes.next(), outcomes.next()) else {
            return Err(RunError::Deadline);
        };
        first.timing.settled = traced.timing.settled;
        let is_settled = |settled: Duration| settled * 4 <= SHORT_HANG;
        let is_enough = first.timing.stuck || first.timing.settled.is_some_and(is_settled);
        if first.end == End::Timeout && !is_enough {
            return alone(FIRST_HANG);
        }
        Ok(first)
    }

    fn job(&self, start: Start, timeout: Duration) -> Job {
        Job {
            start,
            ..Job::new(self.bytes.as_slice().into(), timeout)
        }
    }

    /// The reason why the script did not reach its bug in these runs, if there is one. A failure
    /// that the user names as the bug counts as the bug, unless only confinement can cause it.
    pub fn obstacle(&self, outcomes: &[Outcome]) -> Option<Obstacle> {
        let found = obstacle(outcomes.first()?)?;
        let specs = &self.settings.specs;
        let is_derived = specs.is_empty();
        let baseline = Baseline::new(specs, outcomes.to_vec());
        let is_named = !is_derived && baseline.is_ok();
        let never_shows = || baseline.as_ref().is_err_and(|error| !error.is_unstable());
        let is_one = match &found {
            Obstacle::Forbidden(access, _) => {
                self.is_forbidden(*access) && (is_derived || access.is_certain() && is_named)
            }
            Obstacle::Package(name) => (is_derived || never_shows()) && !self.is_beside(name),
            _ => is_derived || never_shows(),
        };
        is_one.then_some(found)
    }

    /// Whether an access of this kind may have failed because runs are confined.
    pub fn is_forbidden(&self, access: Forbidden) -> bool {
        access.may_be_by(self.runner.confinement(), self.runner.allowed().network)
    }

    /// Whether a module of this name lies beside the script.
    pub fn is_beside(&self, name: &str) -> bool {
        let folder = self.runner.script().parent();
        folder.is_some_and(|folder| {
            folder.join(name).is_dir() || folder.join(format!("{name}.py")).is_file()
        })
    }

    /// The seed that makes the bug show each time, if it needs one.
    pub fn stabilizer(&self) -> Option<&Seed> {
        self.stabilizer.get()
    }

    /// Keeps the seed that makes the bug show each time, with the script as it is run from now on
    /// if its text changed.
    pub(super) fn keep_stabilizer(
        &self,
        stabilizer: Seed,
        seeded: Option<(Arc<Program>, Vec<u8>)>,
    ) {
        // Set once in a session; the first is the one that its journal remembers.
        let _ = self.stabilizer.set(stabilizer);
        if let Some(seeded) = seeded {
            let _ = self.seeded.set(seeded);
        }
    }

    /// The bytes of the script as it is run: with its random numbers seeded, if that makes the bug
    /// show each time.
    pub fn as_run(&self) -> &[u8] {
        self.seeded.get().map_or(&self.bytes, |(_, bytes)| bytes)
    }

    /// The script as it is run.
    pub fn program_as_run(&self) -> &Arc<Program> {
        self.seeded
            .get()
            .map_or(&self.program, |(program, _)| program)
    }

    /// From then on no run is made, controls included.
    pub fn set_deadline(&self, deadline: Option<Instant>) {
        for runner in self.controls.iter().filter_map(GivenControl::runner) {
            runner.set_deadline(deadline);
        }
        self.runner.set_deadline(deadline);
    }

    /// Sets variables for every run from now on.
    pub(super) fn set_variables(&self, variables: Vec<(String, String)>) {
        for runner in self.controls.iter().filter_map(GivenControl::runner) {
            runner.set_variables(variables.clone());
        }
        self.runner.set_variables(variables);
    }

    /// The variables that each run is given, by the user and to make the bug show each time.
    pub fn env(&self) -> Vec<(String, String)> {
        let own = self.stabilizer.get().and_then(Seed::variable);
        let replaced = |name: &str| own.as_ref().is_some_and(|(its, _)| its == name);
        let of_user = self
            .settings
            .env
            .iter()
            .filter(|(name, _)| !replaced(name))
            .cloned();
        of_user.chain(own.clone()).collect()
    }
}

/// How many runs this machine can make at once.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}
