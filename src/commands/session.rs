//! What the verbs that run a script share: its file, its interpreter, its runner, its baseline.

mod bare;
mod obstruction;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context;
use minrepro_reducers::{
    analysis::names::imported_modules,
    syntax::Program,
    torch::{environment::makes_operators, variables::NO_GRAPHS, versions},
};

use self::{bare::Bare, obstruction::Obstruction};
use crate::{
    cli::{Exit, Failure, Printer, RunArgs, RunnerKind, SandboxWhen},
    judge::{
        self, Alone, BaselineFailure, Established, GivenControl, Inlining, Kept, Settings, Subject,
        Warmth, cores,
    },
    oracle::{BaselineError, NotDerivable, Obstacle, RULES, Spec, forbidden_anywhere, summary},
    runner::{
        Allowed, Command, Confinement, End, EnvironmentDifference, FILES, Inherited, Interpreter,
        Limits, Outcome, Resource, RunError, Runner, Sandbox, Setup, platform,
    },
    target::{self, Target, TargetProgram},
    text::quoted,
};

/// Processes of a run at a time.
const PROCESSES: u32 = 512;
/// Bytes on disk that a run may leave at a time.
const SCRATCH: u64 = 10 << 30;

/// What a verb was given, and all that it takes to run it.
pub(super) struct Session {
    pub(super) given: Target,
    /// How the program came to be, for people; nothing for a script.
    pub(super) notes: Vec<String>,
    /// The path of the script, or of the program that stands for what was given.
    script: PathBuf,
    pub(super) interpreter: Option<Interpreter>,
    /// The interpreter in which the script succeeds, if the user named one.
    good: Option<Interpreter>,
    pub(super) subject: Subject,
    /// The script before anything was inlined.
    uninlined: Arc<Program>,
    /// What became of the modules that the script imports.
    pub(super) inlining: Inlining,
    setup: Setup,
    args: RunArgs,
    memory: u64,
    /// The files of the test command that were named by a path.
    programs: Vec<PathBuf>,
}

impl Session {
    /// Reads the script, finds the interpreter, starts the runner; nothing is run yet but the
    /// interpreter itself.
    pub(super) fn start(given: &Target, args: &RunArgs) -> Result<Self, Failure> {
        let specs = specs(args)?;
        let place = given.place();
        let script = std::path::absolute(&place).unwrap_or(place);
        let TargetProgram {
            bytes,
            program,
            mut notes,
            takes_arguments,
        } = given.read(&args.args, &specs, &mut || {
            let (interpreter, _) = target::interpreter(args.python.as_deref(), &script)?;
            let command = Command::Python {
                python: interpreter.path,
                args: Vec::new(),
            };
            setup(command, &script, None, args)
        })?;
        let mut programs = Vec::new();
        let (command, interpreter) = if let Some(test) = &args.test {
            let words = words(test)?;
            programs.extend(
                words
                    .iter()
                    .map(PathBuf::from)
                    .filter(|path| path.is_absolute() && path.is_file()),
            );
            (Command::Test(words), None)
        } else {
            let (interpreter, note) = target::interpreter(args.python.as_deref(), &script)?;
            notes.extend(note);
            let command = Command::Python {
                python: interpreter.path.clone(),
                args: if takes_arguments {
                    args.args.clone()
                } else {
                    Vec::new()
                },
            };
            (command, Some(interpreter))
        };
        let setup = setup(command, &script, Some(&program), args)?;
        let memory = setup.limits.memory;
        let (controls, good) = controls(args, &setup)?;
        let runner = Runner::start(setup.clone())?;
        if !args.allow_write.is_empty() && runner.confinement() == Confinement::Landlock {
            let error = "this system cannot give each run a copy of a folder to write to";
            return Err(Failure::new(Exit::Environment, anyhow::anyhow!(error))
                .hint("`--sandbox off` confines nothing; then runs write to the folder itself"));
        }
        let settings = Settings {
            specs,
            test: args.test.clone(),
            timeout: args.timeout,
            warmth: match args.runner {
                RunnerKind::Auto => Warmth::Auto,
                RunnerKind::Warm => Warmth::Always,
                RunnerKind::Cold => Warmth::Never,
            },
            min_rate: args.min_rate,
            loose: args.loose,
            env: args.env.clone(),
            keep: Vec::new(),
        };
        let subject = Subject::new(program, bytes, runner, controls, settings);
        Ok(Self {
            given: given.clone(),
            notes,
            script,
            interpreter,
            good,
            uninlined: Arc::clone(&subject.program),
            subject,
            inlining: Inlining::default(),
            setup,
            args: args.clone(),
            memory,
            programs,
        })
    }

    /// Inlines what the script imports, as far as it shows the same bug then.
    pub(super) fn inline(&mut self) -> Result<(), Failure> {
        let mut inlining = match judge::inline(&self.subject) {
            Err(RunError::Deadline) => Inlining::default(),
            inlining => inlining?,
        };
        if let Some((program, bytes)) = inlining.script.take() {
            self.subject.program = program;
            self.subject.bytes = bytes;
        }
        self.inlining = inlining;
        Ok(())
    }

    /// Whether a result shows the bug where nothing of what was inlined can be imported; nothing if
    /// nothing was.
    pub(super) fn stands_alone(
        &self,
        established: &Established,
        program: &Program,
    ) -> Option<Alone> {
        if self.inlining.modules.is_empty() {
            return None;
        }
        let alone = self.run_alone(established, program);
        // The result counts for more than that this is not known.
        Some(alone.unwrap_or_else(|failure| Alone::Not(format!("nothing: {:#}", failure.error))))
    }

    fn run_alone(&self, established: &Established, program: &Program) -> Result<Alone, Failure> {
        let bare = Bare::make(&self.script, &self.inlining.modules)
            .context("could not make a folder without what was inlined")
            .map_err(|error| Failure::new(Exit::Environment, error))?;
        let [empty, beside] = bare.setups(&self.setup);
        let runners = [Runner::start(empty)?, Runner::start(beside)?];
        for runner in &runners {
            runner.set_deadline(self.subject.runner.deadline());
        }
        let probe = established.probe(&self.subject);
        let [empty, beside] = &runners;
        Ok(judge::stands_alone(
            &probe,
            program,
            [empty, beside],
            &bare.files,
        )?)
    }

    /// Has candidates hold what the user typed.
    pub(super) fn keep(&mut self, typed: &[String]) -> Result<(), Failure> {
        let joined = &self.subject.program;
        let read = |text: &String| {
            // Lines are those of the script as it was given.
            let kept = Kept::read(text, &self.uninlined).or_else(|_| Kept::read(text, joined));
            kept.map_err(|reason| {
                Failure::usage(format!("`--keep {text}` cannot be kept: {reason}"))
                    .hint("give a name that the script uses, the number of a line, or `/REGEX/`")
            })
        };
        self.subject.settings.keep = typed.iter().map(read).collect::<Result<_, _>>()?;
        Ok(())
    }

    /// Says so where runs are confined less than was asked for.
    pub(super) fn warn_of_weak_confinement(&self, printer: Printer) {
        let confinement = self.subject.runner.confinement();
        if !confinement.is_whole() && confinement != Confinement::Off {
            let bounds = self.subject.runner.bounds();
            printer.warning(&format!("confinement of runs: {bounds}"));
        }
    }

    /// The versions of what a program imports and of the system, for reports.
    pub(super) fn versions(&self, program: &Program) -> Vec<(String, String)> {
        let top = |module: &String| module.split('.').next().map(str::to_owned);
        let is_installed = |module: &String| !module.is_empty() && !self.subject.is_beside(module);
        let modules = imported_modules(program)
            .iter()
            .filter_map(top)
            .filter(is_installed)
            .collect();
        let modules: Vec<String> = versions::reported(modules).into_iter().collect();
        let mut found = Vec::new();
        if let Some(python) = &self.interpreter {
            if !modules.is_empty() {
                let answer = python.answer(versions::QUESTION, &modules);
                found = answer
                    .and_then(|answer| serde_json::from_str(&answer).ok())
                    .unwrap_or_default();
            }
            let own = python.description.split_once(' ');
            found.extend(own.map(|(name, version)| (name.to_owned(), version.to_owned())));
        }
        found.push(("on".to_owned(), platform()));
        found
    }

    /// What runs are given that the user has otherwise, in one line; nothing if it is all the same.
    pub(super) fn environment(&self) -> Option<String> {
        let EnvironmentDifference { set, withheld } = self.subject.runner.environment_difference();
        let set: Vec<String> = set
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let said: Vec<String> = [("with", set), ("without", withheld)]
            .into_iter()
            .filter(|(_, names)| !names.is_empty())
            .map(|(word, names)| format!("{word} {}", names.join(", ")))
            .collect();
        (!said.is_empty()).then(|| format!("environment: yours {}", said.join("; ")))
    }

    /// All that verdicts depend on, as one text: the name of the journal. Files `written` by us are
    /// no part of it.
    pub(super) fn identity(&self, written: &[&Path]) -> String {
        let interpreter = self
            .interpreter
            .as_ref()
            .map(|found| found.identity.as_str());
        let specs: Vec<&str> = self
            .subject
            .settings
            .specs
            .iter()
            .map(|spec| spec.text.as_str())
            .collect();
        let args = &self.args;
        let test = args.test.as_deref().unwrap_or_default();
        let variables = self.subject.runner.inherited_variables();
        let of_runs = args.env.iter().rev().find(|(name, _)| name == "PYTHONPATH");
        let of_runs = of_runs
            .map(|(_, value)| value)
            .or(variables.get("PYTHONPATH"));
        let path: Vec<PathBuf> = of_runs
            .map(|value| std::env::split_paths(value).collect())
            .unwrap_or_default();
        let inputs = crate::journal::fingerprint(
            &self.script,
            &[&self.subject.bytes, test.as_bytes()],
            &self.programs,
            &path,
            written,
        );
        format!(
            "{} {RULES} {:?} {} {inputs} {interpreter:?} {specs:?} {:?} {:?} {:?} {} {:?} {:?} {:?}",
            env!("CARGO_PKG_VERSION"),
            self.script,
            blake3::hash(&self.subject.bytes),
            args.test,
            args.env,
            args.args,
            self.memory,
            (
                self.subject.runner.confinement(),
                self.subject.runner.allowed(),
            ),
            args.runner,
            (
                args.loose,
                args.min_rate,
                &args.control,
                self.good.as_ref().map(|found| found.identity.as_str()),
                &self.subject.settings.keep,
                self.subject.runner.input().map(blake3::hash),
                // A hash: values may be long, and private.
                blake3::hash(format!("{variables:?}").as_bytes()),
            ),
        )
    }

    /// Why the script's own runs are no base for a reduction, and what the user can do.
    pub(super) fn failure(&self, failure: BaselineFailure) -> Failure {
        match failure {
            BaselineFailure::Run(error) => error.into(),
            BaselineFailure::NotReproduced { error, first } => {
                self.not_reproduced(*error, first.as_deref())
            }
            BaselineFailure::Obstructed { obstacle, first } => self.obstructed(&obstacle, &first),
            BaselineFailure::ShowsUnderControl { typed, outcome } => {
                let mut failure =
                    Failure::usage(format!("the bug shows under the control `{typed}` as well"))
                        .hint("name a control under which the script does not show it");
                failure.details = self.shown(&outcome);
                failure
            }
            BaselineFailure::FailsUnderControl { typed, outcome } => {
                let mut failure =
                    Failure::usage(format!("the script does not succeed under `{typed}`"))
                        .hint("does that interpreter have all that the script imports?");
                failure.details = self.shown(&outcome);
                failure
            }
            BaselineFailure::NotInteresting { same, of, other } => {
                let test = self.args.test.as_deref().unwrap_or_default();
                let exit = if same == 0 {
                    Exit::NotReproduced
                } else {
                    Exit::Unstable
                };
                let mut failure = Failure::new(
                    exit,
                    anyhow::anyhow!(
                        "the test `{test}` finds the script interesting in {same} of {of} runs"
                    ),
                )
                .hint(
                    "a test exits with 0 while the file that is its last argument is interesting",
                );
                failure.details = self.shown(&other);
                failure
            }
            error @ BaselineFailure::NotWarm(_) => Failure::new(Exit::Environment, error)
                .hint("`--runner auto` runs them in fresh interpreters where it must"),
        }
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
            } if shown.is_some_and(|shown| shown.end == End::Limit(Resource::Processes)) => (
                Exit::NotReproduced,
                None,
                seen,
                "let the script start fewer processes; this limit cannot be raised",
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
        if let Some(expected) = expected.filter(|text| !text.is_empty()) {
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
        let forbidden = shown
            .and_then(forbidden_anywhere)
            .filter(|access| self.subject.is_forbidden(*access));
        let mut failure = Failure::new(exit, error);
        failure = match forbidden {
            Some(access) => failure.hint(format!(
                "confinement may be the reason: {}",
                obstruction::remedy(access, None)
            )),
            None => failure.hint(hint),
        };
        failure.details = details;
        failure
    }

    /// What kept the script from getting as far as its bug, and how to go on.
    pub(super) fn obstructed(&self, obstacle: &Obstacle, first: &Outcome) -> Failure {
        let Obstruction { exit, what, hint } = obstruction::of(obstacle);
        let mut failure = Failure::new(exit, anyhow::anyhow!(what)).hint(hint);
        failure.details = vec![format!("seen:     {}", summary(first))];
        failure.details.extend(self.shown(first));
        failure
    }

    /// A run in full: the command, its folder, its end, both outputs, and how to run it by hand.
    fn shown(&self, outcome: &Outcome) -> Vec<String> {
        let mut lines = vec![
            String::new(),
            format!("command: {}", self.original()),
            "folder:  a scratch copy of the script's folder".to_owned(),
            format!("bounds:  {}", self.subject.runner.bounds()),
            format!("end:     {}", summary(outcome)),
        ];
        if let End::Limit(resource) = outcome.end {
            lines.push(format!("limit:   {}", self.limit(resource)));
        }
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
        lines.push(format!("by hand: {}", self.in_folder(&self.original())));
        lines
    }

    /// What a run and all its processes may use of a resource.
    fn limit(&self, resource: Resource) -> String {
        let bytes = |bytes: u64| bytesize::ByteSize(bytes).display().iec().to_string();
        match resource {
            Resource::Memory => format!("{} of memory", bytes(self.memory)),
            Resource::Processes => format!("{PROCESSES} processes at a time"),
            Resource::Scratch => format!("{} of files, or {FILES} of them", bytes(SCRATCH)),
        }
    }

    fn command_line(&self, file: &Path) -> String {
        let words = self.subject.runner.command_line(file);
        let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
        self.with_input(&words.join(" "))
    }

    /// The command line of what was given.
    fn original(&self) -> String {
        let line = self.command_line(&self.script);
        let (Some(arguments), Some(interpreter)) = (self.given.arguments(), &self.interpreter)
        else {
            return line;
        };
        let words = [interpreter.path.to_string_lossy().into_owned()].into_iter();
        let own = self.args.args.iter();
        let own = own.map(|argument| argument.to_string_lossy().into_owned());
        let words = words.chain(arguments).chain(own);
        let words: Vec<_> = words.map(|word| quoted(&word)).collect();
        self.with_input(&words.join(" "))
    }

    /// What a user types to run a file as minrepro does.
    pub(super) fn by_hand(&self, file: &Path) -> String {
        self.in_folder(&self.command_line(file))
    }

    /// A command with what it reads.
    fn with_input(&self, command: &str) -> String {
        match &self.args.stdin {
            Some(input) => {
                let input = std::path::absolute(input).unwrap_or_else(|_| input.clone());
                format!("{command} < {}", quoted(&input.to_string_lossy()))
            }
            None => command.to_owned(),
        }
    }

    /// What a user types to run a command as minrepro does.
    fn in_folder(&self, command: &str) -> String {
        let folder = self.script.parent().unwrap_or(Path::new("/"));
        let EnvironmentDifference { set, withheld } = self.subject.runner.environment_difference();
        let own = self.subject.env();
        let is_own = |name: &str| own.iter().any(|(its, _)| its == name);
        let set = set.iter().filter(|(name, _)| !is_own(name));
        let env: String = own
            .iter()
            .chain(set)
            .map(|(name, value)| format!("{name}={} ", quoted(value)))
            .collect();
        let without: String = withheld
            .iter()
            .map(|name| format!("-u {} ", quoted(name)))
            .collect();
        let without = if without.is_empty() {
            without
        } else {
            format!("env {without}")
        };
        format!(
            "cd {} && {without}{env}{command}",
            quoted(&folder.to_string_lossy()),
        )
    }
}

/// How the runs of a script are started, limited and confined.
fn setup(
    command: Command,
    script: &Path,
    program: Option<&Program>,
    args: &RunArgs,
) -> Result<Setup, Failure> {
    let jobs = args.jobs.map_or_else(cores, usize::from);
    let memory = args.memory.unwrap_or_else(default_memory);
    let own = NO_GRAPHS
        .iter()
        .filter(|_| program.is_some_and(makes_operators))
        .map(|name| ((*name).to_owned(), "0".to_owned()));
    Ok(Setup {
        command,
        script: script.to_owned(),
        input: args.stdin.as_deref().map(input).transpose()?,
        env: own.chain(args.env.iter().cloned()).collect(),
        inherited: if args.scrubbed {
            Inherited::Scrubbed
        } else {
            Inherited::Users
        },
        limits: Limits {
            memory,
            processes: PROCESSES,
            file_size: 8 << 30,
            scratch: SCRATCH,
            output: 256 << 10,
        },
        jobs,
        sandbox: match args.sandbox {
            SandboxWhen::Auto => Sandbox::Auto,
            SandboxWhen::Require => Sandbox::Require,
            SandboxWhen::Off => Sandbox::Off,
        },
        allowed: Allowed {
            network: args.allow_network,
            folders: folders(&args.allow_write)?,
        },
        covered: args.covered.clone(),
        supervisor: supervisor()?,
    })
}

/// The content of the file that each run has as its standard input.
fn input(file: &Path) -> Result<Arc<[u8]>, Failure> {
    let bytes = std::fs::read(file)
        .with_context(|| format!("could not read `{}`", file.display()))
        .map_err(|error| {
            Failure::new(Exit::Usage, error).hint("name a file with `--stdin FILE`")
        })?;
    Ok(bytes.into())
}

/// The folders that runs may write to, as absolute paths.
fn folders(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let absolute = |path: &PathBuf| match path.canonicalize() {
        Ok(folder) if folder.is_dir() && folder != Path::new("/") => Ok(folder),
        Ok(folder) => Err(Failure::usage(format!(
            "runs cannot be given a copy of `{}`",
            folder.display()
        ))
        .hint("name a folder other than the root")),
        Err(_) => Err(
            Failure::usage(format!("there is no folder `{}`", path.display()))
                .hint("name a folder that exists; runs may create others in it"),
        ),
    };
    named.iter().map(absolute).collect()
}

/// What the user says that the bug looks like.
fn specs(args: &RunArgs) -> Result<Vec<Spec>, Failure> {
    let specs = args.signature.iter().map(|text| Spec::parse(text));
    specs.collect::<Result<_, _>>().map_err(|error| {
        let hint = error.hint;
        Failure::new(Exit::Usage, error).hint(hint)
    })
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

/// The controls that the user named, and the interpreter of the one by interpreter.
fn controls(
    args: &RunArgs,
    setup: &Setup,
) -> Result<(Vec<GivenControl>, Option<Interpreter>), Failure> {
    let mut controls = Vec::new();
    if let Some(named) = &args.control {
        controls.push(GivenControl {
            typed: named.clone(),
            runner: Runner::start(control(named, setup)?)?,
            must_succeed: false,
        });
    }
    let Some(named) = &args.good else {
        return Ok((controls, None));
    };
    let good = Interpreter::find(Some(named))?;
    let args = match &setup.command {
        Command::Python { args, .. } => args.clone(),
        Command::Test(_) => Vec::new(),
    };
    let command = Command::Python {
        python: good.path.clone(),
        args,
    };
    controls.push(GivenControl {
        typed: format!("--good {}", named.display()),
        runner: Runner::start(Setup {
            command,
            ..setup.clone()
        })?,
        must_succeed: true,
    });
    Ok((controls, Some(good)))
}

/// How the control that the user named is run: under other variables, or by a command of its own.
fn control(named: &str, setup: &Setup) -> Result<Setup, Failure> {
    let words = shlex::split(named)
        .filter(|words| !words.is_empty())
        .ok_or_else(|| {
            Failure::usage(format!("`{named}` is no control")).hint("are all quotes closed?")
        })?;
    let is_variable = |word: &str| {
        let name = word.split_once('=').map_or("", |(name, _)| name);
        !name.is_empty()
            && name
                .chars()
                .all(|char| char.is_ascii_alphanumeric() || char == '_')
    };
    let variables = words.iter().take_while(|word| is_variable(word)).count();
    let mut control = setup.clone();
    control.env.extend(
        words[..variables]
            .iter()
            .filter_map(|word| word.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    if variables < words.len() {
        control.command = Command::Test(words[variables..].to_vec());
    }
    Ok(control)
}

/// This program itself.
fn supervisor() -> Result<PathBuf, Failure> {
    std::env::current_exe()
        .context("could not find the path of minrepro itself")
        .map_err(|error| Failure::new(Exit::Environment, error))
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
