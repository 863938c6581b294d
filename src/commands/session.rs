//! The parts that the verbs that run a script share: its file, its interpreter, its runner, its
//! baseline.

mod bare;
mod command_line;
mod failure;
mod obstruction;
mod setup;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context;
use minrepro_reducers::{analysis::names::imported_modules, syntax::Program, torch::versions};

use self::{
    bare::Bare,
    setup::{controls, setup, specs, under, words},
};
use crate::{
    cli::{Exit, Failure, Printer, RunArgs, RunnerKind},
    judge::{self, Alone, Established, Inlining, Kept, Settings, Subject, Warmth},
    oracle::RULES,
    runner::{
        Command, Confinement, EnvironmentDifference, Interpreter, RunError, Runner, Setup, platform,
    },
    target::{self, Target, TargetProgram},
};

/// The input of a verb, and everything needed to run it.
pub(super) struct Session {
    pub(super) given: Target,
    /// How the program came to be, for people; nothing for a script.
    pub(super) notes: Vec<String>,
    /// The path of the script, or of the program that stands for another input.
    script: PathBuf,
    pub(super) interpreter: Option<Interpreter>,
    /// The identities of the other interpreters in which the script may succeed.
    others: Vec<String>,
    pub(super) subject: Subject,
    /// The script before anything was inlined.
    uninlined: Arc<Program>,
    /// The result of inlining the script's imports.
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
        let (controls, others) = controls(args, &setup, &program, interpreter.as_ref())?;
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
            fewer_runs: None,
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
            others,
            uninlined: Arc::clone(&subject.program),
            subject,
            inlining: Inlining::default(),
            setup,
            args: args.clone(),
            memory,
            programs,
        })
    }

    /// Inlines the script's imports, as far as the script then still shows the same bug.
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

    /// Whether a result shows the bug where none of the inlined modules can be imported. Nothing if
    /// none was inlined.
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
            .context("could not make a folder without the inlined modules")
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

    /// Another interpreter, and a runner of the script under it.
    pub(super) fn under(&self, python: &Path) -> Result<(Interpreter, Runner), RunError> {
        under(python, &self.setup)
    }

    /// Requires that candidates keep the parts that the user named.
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

    /// The versions of a program's imports and of the system, for reports.
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

    /// The differences between the environment of runs and the user's, in one line. Nothing if
    /// there are none.
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
        let others = &self.others;
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
                others,
                &self.subject.settings.keep,
                self.subject.runner.input().map(blake3::hash),
                // A hash: values may be long, and private.
                blake3::hash(format!("{variables:?}").as_bytes()),
            ),
        )
    }
}
