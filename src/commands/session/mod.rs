//! What the verbs that run a script share: its file, its interpreter, its runner, its baseline.

mod settle;

use std::{
    cell::OnceCell,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use minrepro_reducers::{
    cost::Cost,
    syntax::Program,
    torch::environment::{Compiler, makes_operators},
};

pub(super) use settle::{Calibration, Settlement};

use super::{control, inputs, measure::Measure, output::encoded, repeat::repeated, script};
use crate::{
    cli::{Exit, Failure, Printer, RunArgs, SandboxWhen},
    oracle::{BaselineError, NotDerivable, RULES, Seed, SequentialTest, Spec, summary},
    report::Confirmed,
    runner::{
        Command, Confinement, End, Interpreter, Job, Limits, Outcome, RunError, Runner, Sandbox,
        Setup, Start,
    },
};

/// How often the script is run before, and the result after, the reduction.
pub(super) const RUNS: usize = 3;
/// How often, where it does not show the bug each time.
pub(super) const FLAKY_RUNS: usize = 20;
/// What the first run of all is given.
const FIRST_TIMEOUT: Duration = Duration::from_mins(2);
/// What it is given where the bug is that it does not end.
const FIRST_HANG: Duration = Duration::from_mins(1);

/// The variables that have PyTorch's compiler find nothing that it compiled before, by the versions
/// that know them.
const NO_CACHES: [&str; 2] = [
    "TORCHINDUCTOR_FORCE_DISABLE_CACHES",
    "TORCH_COMPILE_FORCE_DISABLE_CACHES",
];

/// The variables that have it find no graph that it compiled before. Such a graph is told by what
/// it calls, not by what operators do that the script makes: changed ones would be taken for what
/// they were.
const NO_GRAPHS: [&str; 3] = [
    "TORCHINDUCTOR_FX_GRAPH_CACHE",
    "TORCHINDUCTOR_AUTOGRAD_CACHE",
    "ENABLE_AOT_AUTOGRAD_CACHE",
];

/// A script, and all that it takes to run it.
pub(super) struct Session {
    pub(super) script: PathBuf,
    pub(super) bytes: Vec<u8>,
    pub(super) interpreter: Option<Interpreter>,
    pub(super) runner: Runner,
    /// Runs the control that the user named.
    pub(super) control: Option<Runner>,
    pub(super) specs: Vec<Spec>,
    args: RunArgs,
    /// The script with its random numbers seeded, where that makes the bug show each time.
    seeded: OnceCell<Vec<u8>>,
    /// What makes the bug show each time.
    stabilizer: OnceCell<Seed>,
    memory: u64,
    /// The files of the test command that were named by a path.
    programs: Vec<PathBuf>,
}

impl Session {
    /// Reads the script, finds the interpreter, starts the runner; nothing is run yet but the
    /// interpreter itself.
    pub(super) fn start(script: &Path, args: &RunArgs) -> Result<(Self, Program), Failure> {
        let (bytes, program) = script::read(script)?;
        let specs = args
            .signature
            .iter()
            .map(|text| Spec::parse(text))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| {
                let hint = error.hint;
                Failure::new(Exit::Usage, error).hint(hint)
            })?;
        let mut programs = Vec::new();
        let (command, interpreter) = if let Some(test) = &args.test {
            let words = words(test)?;
            programs.extend(
                words
                    .iter()
                    .map(PathBuf::from)
                    .filter(|it| it.is_absolute() && it.is_file()),
            );
            (Command::Test(words), None)
        } else {
            let interpreter = Interpreter::find(args.python.as_deref())?;
            let command = Command::Python {
                python: interpreter.path.clone(),
                args: args.args.clone(),
            };
            (command, Some(interpreter))
        };
        let jobs = args.jobs.map_or_else(cores, usize::from);
        let memory = args.memory.unwrap_or_else(default_memory);
        let script = std::path::absolute(script).unwrap_or_else(|_| script.to_owned());
        let own = NO_GRAPHS
            .iter()
            .filter(|_| makes_operators(&program))
            .map(|name| ((*name).to_owned(), "0".to_owned()));
        let setup = Setup {
            command,
            script: script.clone(),
            env: own.chain(args.env.iter().cloned()).collect(),
            limits: Limits {
                memory,
                processes: 512,
                file_size: 8 << 30,
                scratch: 10 << 30,
                output: 256 << 10,
            },
            jobs,
            sandbox: match args.sandbox {
                SandboxWhen::Auto => Sandbox::Auto,
                SandboxWhen::Require => Sandbox::Require,
                SandboxWhen::Off => Sandbox::Off,
            },
            supervisor: supervisor()?,
        };
        let control = args
            .control
            .as_deref()
            .map(|it| control::setup(it, &setup))
            .transpose()?;
        let control = control.map(Runner::start).transpose()?;
        let runner = Runner::start(setup)?;
        let session = Self {
            script,
            bytes,
            interpreter,
            runner,
            control,
            specs,
            args: args.clone(),
            seeded: OnceCell::new(),
            stabilizer: OnceCell::new(),
            memory,
            programs,
        };
        Ok((session, program))
    }

    /// Says so where runs are confined less than was asked for.
    pub(super) fn warn_of_weak_confinement(&self, printer: Printer) {
        let confinement = self.runner.confinement();
        if !confinement.is_whole() && confinement != Confinement::Off {
            printer.warning(&format!("confinement of runs: {}", confinement.describe()));
        }
    }

    /// All that verdicts depend on, as one text: the name of the journal. Files `written` by us are
    /// no part of it.
    pub(super) fn identity(&self, written: &[&Path]) -> String {
        let interpreter = self.interpreter.as_ref().map(|it| it.identity.as_str());
        let specs: Vec<&str> = self.specs.iter().map(|spec| spec.text.as_str()).collect();
        let args = &self.args;
        let test = args.test.as_deref().unwrap_or_default();
        let inputs = inputs::fingerprint(
            &self.script,
            &[&self.bytes, test.as_bytes()],
            &self.programs,
            written,
        );
        format!(
            "{} {RULES} {:?} {} {inputs} {interpreter:?} {specs:?} {:?} {:?} {:?} {} {:?} {:?} {:?}",
            env!("CARGO_PKG_VERSION"),
            self.script,
            blake3::hash(&self.bytes),
            args.test,
            args.env,
            args.args,
            self.memory,
            self.runner.confinement(),
            args.runner,
            (args.strict, args.min_rate, &args.control),
        )
    }

    /// What a run of a program is given: what the user says, else four times the slowest baseline
    /// run within bounds.
    pub(super) fn timeout(&self, wall: Duration) -> Duration {
        self.args
            .timeout
            .unwrap_or_else(|| (wall * 4).clamp(Duration::from_secs(10), Duration::from_mins(1)))
    }

    /// Runs these bytes several times.
    pub(super) fn run_times(
        &self,
        bytes: &[u8],
        times: usize,
        timeout: Duration,
    ) -> Result<Vec<Outcome>, RunError> {
        let jobs = vec![Job::new(bytes.into(), timeout); times];
        self.runner.run_all(&jobs, &mut |_, _| {})
    }

    /// Runs the script as it is once, from where is said.
    pub(super) fn run_from(&self, start: Start, timeout: Duration) -> Result<Outcome, RunError> {
        let job = Job {
            start,
            ..Job::new(self.as_run().into(), timeout)
        };
        let mut outcomes = self.runner.run_all(&[job], &mut |_, _| {})?;
        outcomes.pop().ok_or(RunError::Deadline)
    }

    /// Why runs that were to be warm are cold, if they are.
    pub(super) fn why_cold(&self) -> Option<String> {
        self.runner.why_cold()
    }

    /// Runs the script as it is: the first time from where is said. If the script is never done, or
    /// is not meant to be, the first is to tell what the others are given.
    pub(super) fn baseline_runs(
        &self,
        times: usize,
        first: Start,
    ) -> Result<Vec<Outcome>, RunError> {
        let is_hang = self.specs.iter().any(Spec::is_hang);
        let first_timeout = if is_hang { FIRST_HANG } else { FIRST_TIMEOUT };
        let first_timeout = self.args.timeout.unwrap_or(first_timeout);
        let job = |start, timeout| Job {
            start,
            ..Job::new(self.bytes.as_slice().into(), timeout)
        };
        let mut jobs = vec![job(first, first_timeout)];
        if times > 1 && self.runner.jobs() > 1 && !is_hang {
            jobs.push(job(Start::Cold, first_timeout));
        }
        let mut outcomes = self.runner.run_all(&jobs, &mut |_, _| {})?;
        let timeout = match outcomes.first() {
            Some(first) if first.end == End::Timeout && is_hang => Some(self.hang_limit(first)),
            Some(first) if first.end != End::Timeout => Some(first_timeout),
            _ => None,
        };
        if let Some(timeout) = timeout.filter(|_| times > outcomes.len()) {
            let jobs = vec![job(Start::Cold, timeout); times - outcomes.len()];
            outcomes.extend(self.runner.run_all(&jobs, &mut |_, _| {})?);
        }
        Ok(outcomes)
    }

    /// What makes the bug show each time, if it did not by itself.
    pub(super) fn stabilizer(&self) -> Option<&Seed> {
        self.stabilizer.get()
    }

    /// The script as it is run: with its random numbers seeded, if that makes the bug show each
    /// time.
    pub(super) fn as_run(&self) -> &[u8] {
        self.seeded.get().unwrap_or(&self.bytes)
    }

    /// Sets variables for every run from now on.
    pub(super) fn set_variables(&self, variables: Vec<(String, String)>) {
        if let Some(control) = &self.control {
            control.set_variables(variables.clone());
        }
        self.runner.set_variables(variables);
    }

    /// Expected and seen side by side, then all of one run.
    pub(super) fn not_reproduced(&self, error: BaselineError, shown: Option<&Outcome>) -> Failure {
        let (exit, expected, seen, hint) = match &error {
            BaselineError::NotReproduced { expected, seen } => (
                Exit::NotReproduced,
                Some(expected),
                seen,
                "give a signature that fits what was seen, or the interpreter that shows the bug: `--python PATH`",
            ),
            BaselineError::Unstable { expected, seen, .. } => (
                Exit::Unstable,
                Some(expected),
                seen,
                "seed what is random in the script, or give `--env`, `--timeout` or a looser signature; `minrepro check` shows how steady it is",
            ),
            BaselineError::NotDerivable {
                reason: NotDerivable::Endless,
                seen,
            } => (
                Exit::NotReproduced,
                None,
                seen,
                "give it more by `--timeout TIME` or `--memory SIZE`; if it never ends, and that is the bug: `--signature timeout`",
            ),
            BaselineError::NotDerivable { seen, .. } => (
                Exit::NotReproduced,
                None,
                seen,
                "say what the bug looks like: `--signature \"stdout:TEXT\"`, or by a test: `--test CMD`",
            ),
        };
        let mut details = Vec::new();
        if let Some(expected) = expected.filter(|it| !it.is_empty()) {
            details.push(format!("expected: {expected}"));
        }
        let runs: usize = seen.iter().map(|(_, count)| count).sum();
        for (number, (line, count)) in seen.iter().enumerate() {
            let lead = if number == 0 {
                "seen:    "
            } else {
                "         "
            };
            details.push(format!("{lead} {line} ({count} of {runs} runs)"));
        }
        details.extend(shown.map(|outcome| self.shown(outcome)).unwrap_or_default());
        let mut failure = Failure::new(exit, error).hint(hint);
        failure.details = details;
        failure
    }

    /// A run in full: the command, its folder, its end, both outputs, and how to run it by hand.
    fn shown(&self, outcome: &Outcome) -> Vec<String> {
        let mut lines = vec![
            String::new(),
            format!("command: {}", self.command_line(&self.script)),
            "folder:  a scratch copy of the script's folder".to_owned(),
            format!("bounds:  {}", self.runner.confinement().describe()),
            format!("end:     {}", summary(outcome)),
        ];
        for (name, stream) in [("stdout", &outcome.stdout), ("stderr", &outcome.stderr)] {
            if stream.is_empty() {
                lines.push(format!("{name}:  (empty)"));
                continue;
            }
            lines.push(format!("{name}:"));
            let text = stream.text();
            let all: Vec<&str> = text.lines().collect();
            let from = all.len().saturating_sub(15);
            if from > 0 {
                lines.push(format!("  [... {from} lines ...]"));
            }
            lines.extend(all[from..].iter().map(|line| format!("  {line}")));
        }
        lines.push(format!("by hand: {}", self.by_hand(&self.script)));
        lines
    }

    fn command_line(&self, file: &Path) -> String {
        let words = self.runner.command_line(file);
        words
            .iter()
            .map(|word| quoted(word))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The variables that each run is given, by the user and to make the bug show each time.
    pub(super) fn env(&self) -> Vec<(String, String)> {
        let own = self.stabilizer.get().and_then(Seed::variable);
        let replaced = |name: &str| own.as_ref().is_some_and(|(its, _)| its == name);
        let of_user = self
            .args
            .env
            .iter()
            .filter(|(name, _)| !replaced(name))
            .cloned();
        of_user.chain(own.clone()).collect()
    }

    /// What a user types to run a file as minrepro does.
    pub(super) fn by_hand(&self, file: &Path) -> String {
        let folder = self.script.parent().unwrap_or(Path::new("/"));
        let env: String = self
            .env()
            .iter()
            .map(|(name, value)| format!("{name}={} ", quoted(value)))
            .collect();
        format!(
            "cd {} && {env}{}",
            quoted(&folder.to_string_lossy()),
            self.command_line(file)
        )
    }

    /// Runs a result in fresh interpreters, but for what showed the bug `already`. Also where it
    /// failed, if that is elsewhere in a library than the script.
    pub(super) fn confirm(
        &self,
        program: &Program,
        measure: &Measure,
        timeout: Duration,
        steadiness: Option<&SequentialTest>,
        already: usize,
    ) -> Result<(Confirmed, Option<String>), RunError> {
        let bytes: Arc<[u8]> = encoded(program)
            .map_err(|source| RunError::Scratch {
                folder: self.script.clone(),
                source,
            })?
            .into();
        if let Some(steadiness) = steadiness {
            let job = Job::new(bytes, timeout);
            let found = repeated(&self.runner, &[job], measure, &steadiness.strict())?.remove(0);
            let enough = found.verdict.is_same();
            return Ok((
                Confirmed {
                    same: found.same,
                    of: found.of,
                    enough,
                },
                None,
            ));
        }
        let outcomes = self
            .runner
            .run_all(&last_runs(program, bytes, timeout, already), &mut |_, _| {})?;
        let failed = outcomes
            .iter()
            .filter(|outcome| !measure.judge(outcome, timeout).is_same())
            .count();
        let elsewhere = outcomes
            .iter()
            .find_map(|outcome| measure.elsewhere(outcome));
        Ok((
            Confirmed {
                same: RUNS - failed,
                of: RUNS,
                enough: false,
            },
            elsewhere,
        ))
    }
}

/// The runs of a result in fresh interpreters, but for what showed the bug `already`. Where it
/// compiles, the first is one that finds nothing that another has compiled; no other run stands for
/// that.
pub(super) fn last_runs(
    program: &Program,
    bytes: Arc<[u8]>,
    timeout: Duration,
    already: usize,
) -> Vec<Job> {
    let mut jobs = vec![Job::new(bytes, timeout); RUNS];
    let compiles = Cost::of(program).environment.compiler > Compiler::Eager;
    if compiles {
        jobs[0].variables = NO_CACHES
            .iter()
            .map(|name| ((*name).to_owned(), Some("1".to_owned())))
            .collect();
    }
    jobs.truncate(RUNS.saturating_sub(already).max(usize::from(compiles)));
    jobs
}

/// The words of a test command; the program as an absolute path where it is one, since runs have a
/// folder of their own.
fn words(test: &str) -> Result<Vec<String>, Failure> {
    let mut words = shlex::split(test)
        .filter(|words| !words.is_empty())
        .ok_or_else(|| {
            Failure::usage(format!("`{test}` is no command")).hint("are all quotes closed?")
        })?;
    if words[0].contains('/') {
        let path = std::path::absolute(&words[0]).unwrap_or_else(|_| PathBuf::from(&words[0]));
        if !path.is_file() {
            return Err(Failure::usage(format!("there is no test `{}`", words[0]))
                .hint("give the path of a program, from this folder"));
        }
        words[0] = path.to_string_lossy().into_owned();
    }
    Ok(words)
}

/// This program itself.
fn supervisor() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .context("could not find the path of minrepro itself")
        .map_err(|error| Failure::new(Exit::Environment, error))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// 16 GB, or three quarters of what the machine has.
fn default_memory() -> u64 {
    let total = std::fs::read_to_string("/proc/meminfo")
        .ok()
        .and_then(|text| {
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix("MemTotal:"))?;
            line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()
        });
    let most = 16 << 30;
    total.map_or(most, |kilobytes| (kilobytes * 1024 / 4 * 3).min(most))
}

/// A word as a shell takes it.
pub(super) fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), std::borrow::Cow::into_owned)
}
