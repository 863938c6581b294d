//! The setup of a session's runs as the arguments define it: command, limits, folders, confinement,
//! controls.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context;
use minrepro_reducers::{
    analysis::names::ImportedNames,
    modules::switches::switches,
    syntax::Program,
    torch::{environment::makes_operators, variables::NO_GRAPHS},
};

use crate::{
    cli::{Exit, Failure, RunArgs, SandboxWhen},
    judge::{ControlSetting, Demand, GivenControl, cores},
    oracle::Spec,
    runner::{
        Allowed, Command, Inherited, Interpreter, Limits, RunError, Runner, Sandbox, Setup,
        installed_interpreters, machine_memory,
    },
};

/// Processes of a run at a time.
pub(super) const PROCESSES: u32 = 512;
/// Bytes on disk that a run may leave at a time.
pub(super) const SCRATCH: u64 = 10 << 30;

/// How the runs of a script are started, limited and confined.
pub(super) fn setup(
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

/// The signatures that the user gave.
pub(super) fn specs(args: &RunArgs) -> Result<Vec<Spec>, Failure> {
    let specs = args.signature.iter().map(|text| Spec::parse(text));
    specs.collect::<Result<_, _>>().map_err(|error| {
        let hint = error.hint;
        Failure::new(Exit::Usage, error).hint(hint)
    })
}

/// The words of a test command; the program as an absolute path where it is one, since runs have a
/// folder of their own.
pub(super) fn words(test: &str) -> Result<Vec<String>, Failure> {
    let mut words = shlex::split(test)
        .filter(|words| !words.is_empty())
        .ok_or_else(|| {
            Failure::usage(format!("`{test}` is not a command")).hint("are all quotes closed?")
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

/// The controls that the user named, or else those that the program itself suggests: other versions
/// of Python, or packages without what they compile; and the identities of all that another session
/// may not have.
pub(super) fn controls(
    args: &RunArgs,
    setup: &Setup,
    program: &Program,
    interpreter: Option<&Interpreter>,
) -> Result<(Vec<GivenControl>, Vec<String>), Failure> {
    let mut controls = Vec::new();
    let mut identities = Vec::new();
    if let Some(named) = &args.control {
        let runner = Runner::start(control(named, setup)?)?;
        controls.push(GivenControl {
            name: named.clone(),
            setting: ControlSetting::Any(Box::new(runner)),
            demand: Demand::NotShow,
        });
    }
    if let Some(named) = &args.good {
        let (good, runner) = under(named, setup)?;
        controls.push(GivenControl {
            name: format!("--good {}", named.display()),
            setting: ControlSetting::Any(Box::new(runner)),
            demand: Demand::Succeed,
        });
        identities.push(good.identity);
    }
    if let Some(own) = interpreter.filter(|_| controls.is_empty()) {
        for ((major, minor), path, demand) in other_versions(own, program) {
            identities.push(Interpreter::identity_of(&path));
            controls.push(GivenControl {
                name: format!("Python {major}.{minor}"),
                setting: ControlSetting::Interpreter(path.into()),
                demand,
            });
        }
        for (name, value) in switches(program) {
            identities.push(format!("{name}={value}"));
            controls.push(GivenControl {
                name: format!("{name}={value}"),
                setting: ControlSetting::Variable((name, value)),
                demand: Demand::IfBetter,
            });
        }
    }
    Ok((controls, identities))
}

/// The other versions of Python on this machine, if a program needs nothing else: the newer ones
/// from the newest on, then the older ones from the oldest on. A bug of Python itself may be mended
/// in the newest and not be there yet in the oldest; then the others show where it begins or ends.
fn other_versions(
    interpreter: &Interpreter,
    program: &Program,
) -> Vec<((u8, u8), PathBuf, Demand)> {
    let imported = ImportedNames::of(program.tree());
    if imported.has_installed() || imported.ask_for_version(program) {
        return Vec::new();
    }
    let mut older = installed_interpreters();
    older.remove(&interpreter.version);
    let newer = older.split_off(&interpreter.version);
    let newer: Vec<_> = newer.into_iter().rev().collect();
    let older: Vec<_> = older.into_iter().collect();
    let mut found = Vec::new();
    for side in [newer, older] {
        let nearest = side.len().saturating_sub(1);
        for (at, (version, path)) in side.into_iter().enumerate() {
            let demand = match at {
                0 => Demand::IfBetter,
                at if at == nearest => Demand::IfNearest,
                _ => Demand::IfNearer,
            };
            found.push((version, path, demand));
        }
    }
    found
}

/// Another interpreter, and a runner that differs in nothing else.
pub(super) fn under(python: &Path, setup: &Setup) -> Result<(Interpreter, Runner), RunError> {
    let found = Interpreter::find(Some(python))?;
    let args = match &setup.command {
        Command::Python { args, .. } => args.clone(),
        Command::Test(_) => Vec::new(),
    };
    let command = Command::Python {
        python: found.path.clone(),
        args,
    };
    let runner = Runner::start(Setup {
        command,
        ..setup.clone()
    })?;
    Ok((found, runner))
}

/// How to run the control that the user named: with other variables, or by a command of its own.
fn control(named: &str, setup: &Setup) -> Result<Setup, Failure> {
    let words = shlex::split(named)
        .filter(|words| !words.is_empty())
        .ok_or_else(|| {
            Failure::usage(format!("`{named}` is not a control")).hint("are all quotes closed?")
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

/// 16 GB, or three quarters of the machine's memory.
fn default_memory() -> u64 {
    let most = 16 << 30;
    machine_memory().map_or(most, |all| (all / 4 * 3).min(most))
}
