//! From the user's input to one program and the place where it runs: a script, standard input, a
//! module, a test, a notebook. Every other room knows only scripts. Called by the commands. Runs
//! nothing but questions about the input, confined as candidates are.

mod environment;
mod failure;
mod module;
mod notebook;
mod pytest;
mod script;
mod unittest;
mod unittest_steps;

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use minrepro_reducers::syntax::Program;

use crate::{cli::Failure, oracle::Spec, runner::Setup};

pub use environment::interpreter;
pub use pytest::PytestNode;
pub use script::read;

/// The input as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// A script.
    Script(PathBuf),
    /// A script on standard input.
    Input,
    /// A module that is run as `python -m` runs it.
    Module(String),
    /// A test of pytest's.
    PytestNode(PytestNode),
    /// A notebook.
    Notebook(PathBuf),
}

/// One program that stands for the input.
pub struct TargetProgram {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The program.
    pub program: Program,
    /// How it came to be, for people; nothing for a script.
    pub notes: Vec<String>,
    /// Whether further arguments are those of the program rather than of the input.
    pub takes_arguments: bool,
}

impl Target {
    /// The script as typed, or else the module.
    pub fn typed(script: Option<&Path>, module: Option<&str>) -> Result<Self, Failure> {
        match (script, module) {
            (_, Some(module)) => Ok(Self::Module(module.to_owned())),
            (Some(script), None) if script.as_os_str() == "-" => Ok(Self::Input),
            (Some(script), None) => Ok(match script.to_str().and_then(PytestNode::of) {
                Some(node) => Self::PytestNode(node),
                None if script.extension().is_some_and(|end| end == "ipynb") => {
                    Self::Notebook(script.to_owned())
                }
                None => Self::Script(script.to_owned()),
            }),
            (None, None) => Err(Failure::usage("no script was named")),
        }
    }

    /// Its name for people.
    pub fn name(&self) -> String {
        match self {
            Self::Script(script) | Self::Notebook(script) => script.display().to_string(),
            Self::Input => "-".to_owned(),
            Self::Module(module) => format!("-m {module}"),
            Self::PytestNode(node) => node.id.clone(),
        }
    }

    /// The path of the program that stands for the input. Candidates have its name and see the
    /// files of its folder. Only the path of a script exists.
    pub fn place(&self) -> PathBuf {
        match self {
            Self::Script(script) => script.clone(),
            Self::Input => "stdin.py".into(),
            // Not the name of a module that others import.
            Self::Module(module) if module.contains('.') => {
                format!("{}.py", module.replace('.', "_")).into()
            }
            Self::Module(module) => format!("{module}_main.py").into(),
            Self::PytestNode(node) => node.place(),
            Self::Notebook(notebook) => notebook::place(notebook),
        }
    }

    /// The arguments by which an interpreter runs it as it was given; none for a script.
    pub fn arguments(&self) -> Option<Vec<String>> {
        match self {
            Self::Script(_) => None,
            Self::Input => Some(vec!["-".to_owned()]),
            Self::Module(module) => Some(vec!["-m".to_owned(), module.clone()]),
            Self::PytestNode(node) => Some(node.arguments()),
            Self::Notebook(notebook) => {
                let words = ["-m", "jupyter", "execute", &notebook.to_string_lossy()];
                Some(words.map(str::to_owned).to_vec())
            }
        }
    }

    /// The default path of the result, unless it is `NAME.min.py` beside the program.
    pub fn result(&self) -> Option<PathBuf> {
        match self {
            Self::PytestNode(node) => Some(node.result()),
            Self::Notebook(notebook) => Some(notebook::result(notebook)),
            // A script from standard input has its result on standard output.
            Self::Input => Some("-".into()),
            Self::Script(_) | Self::Module(_) => None,
        }
    }

    /// Makes one program of the input. If that requires questions to the interpreter, `setup` says
    /// how to start its runs; `specs` are the user's signatures of the bug.
    pub fn read(
        &self,
        arguments: &[OsString],
        specs: &[Spec],
        setup: &mut dyn FnMut() -> Result<Setup, Failure>,
    ) -> Result<TargetProgram, Failure> {
        match self {
            Self::Script(script) => {
                let (bytes, program) = read(script)?;
                let Some(name) = unittest::asked(&program, arguments) else {
                    return Ok(TargetProgram::plain(bytes, program));
                };
                match unittest::read(script, &program, &name, specs, setup()?)? {
                    Ok(target) => Ok(target),
                    Err(why) => Ok(TargetProgram {
                        notes: vec![format!("unittest runs the test, since {why}")],
                        ..TargetProgram::plain(bytes, program)
                    }),
                }
            }
            Self::Input => {
                let (bytes, program) = script::read_input()?;
                Ok(TargetProgram::plain(bytes, program))
            }
            Self::Module(name) => module::read(name, setup()?),
            Self::Notebook(notebook) => notebook::read(notebook, specs, setup()?),
            Self::PytestNode(node) => {
                let arguments = arguments.iter();
                let arguments = arguments.map(|argument| argument.to_string_lossy().into_owned());
                node.read(&arguments.collect::<Vec<_>>(), specs, setup()?)
            }
        }
    }
}

impl TargetProgram {
    fn plain(bytes: Vec<u8>, program: Program) -> Self {
        Self {
            bytes,
            program,
            notes: Vec::new(),
            takes_arguments: true,
        }
    }
}
