//! The Python that runs the candidates: finds it, asks for its version, and tells it apart from
//! others. Called by the commands.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use super::error::RunError;

/// A Python interpreter that answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interpreter {
    /// Its path, absolute.
    pub path: PathBuf,
    /// Its version: major, minor.
    pub version: (u8, u8),
    /// In full, for people: `CPython 3.11.7`.
    pub description: String,
    /// Changes when the interpreter or the packages installed for it change.
    pub identity: String,
}

/// Asks for the version of a package by its name on the index.
const PACKAGE: &str = "import sys, importlib.metadata as metadata
try:
    print(metadata.version(sys.argv[1]))
except metadata.PackageNotFoundError:
    pass
";

const QUESTION: &str = "import sys, platform, sysconfig
print('minrepro', sys.version_info[0], sys.version_info[1])
print(platform.python_implementation(), platform.python_version())
print(sys.executable)
print(sys.prefix)
print(sysconfig.get_paths()['purelib'])
";

impl Interpreter {
    /// The interpreter of this name or path; else the active virtual environment's or conda
    /// environment's; else `python3` on the search path.
    pub fn find(explicit: Option<&Path>) -> Result<Self, RunError> {
        let of_environment = |variable: &str| {
            let python = PathBuf::from(env::var_os(variable).filter(|value| !value.is_empty())?)
                .join("bin/python");
            python.exists().then_some(python)
        };
        let wanted = explicit
            .map(Path::to_owned)
            .or_else(|| of_environment("VIRTUAL_ENV"))
            .or_else(|| of_environment("CONDA_PREFIX"))
            .unwrap_or_else(|| "python3".into());
        let path = locate(&wanted).ok_or(RunError::PythonNotFound(wanted))?;
        Self::ask(path)
    }

    fn ask(path: PathBuf) -> Result<Self, RunError> {
        let broken = |reason: String| RunError::PythonBroken {
            python: path.clone(),
            reason,
        };
        let (answer, complaint) = output(&path, &[QUESTION]).map_err(&broken)?;
        let lines: Vec<&str> = answer.lines().collect();
        let number = |at: usize| lines.first()?.split(' ').nth(at)?.parse::<u8>().ok();
        let (Some(major), Some(minor)) = (number(1), number(2)) else {
            let said = if complaint.trim().is_empty() {
                answer.trim()
            } else {
                complaint.trim()
            };
            let said = said.lines().last().unwrap_or("it says nothing");
            return Err(broken(format!("asked for its version, it says `{said}`")));
        };
        if (major, minor) < (3, 8) {
            return Err(RunError::PythonTooOld {
                python: path,
                version: format!("{major}.{minor}"),
            });
        }
        let description = lines.get(1).copied().unwrap_or_default().to_owned();
        // The target of a shim or a link: to start a shim each time costs more than Python itself.
        let real = lines
            .get(2)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute() && path.exists());
        let path = real.unwrap_or_else(|| path.clone());
        let identity = identity(&path, &lines[1..]);
        Ok(Self {
            path,
            version: (major, minor),
            description,
            identity,
        })
    }

    /// What changes when the interpreter at a path changes, without starting it.
    pub fn identity_of(path: &Path) -> String {
        identity(path, &[])
    }

    /// The version of an installed package, without a part after a `+`; none if the package is not
    /// installed.
    pub fn package(&self, name: &str) -> Option<String> {
        let (answer, _) = output(&self.path, &[PACKAGE, name]).ok()?;
        let version = answer.trim().split('+').next().unwrap_or_default();
        (!version.is_empty()).then(|| version.to_owned())
    }

    /// The answer of a program of ours, which is given these arguments, if it answers.
    pub fn answer(&self, program: &str, args: &[String]) -> Option<String> {
        let question: Vec<&str> = [program]
            .into_iter()
            .chain(args.iter().map(String::as_str))
            .collect();
        Some(output(&self.path, &question).ok()?.0)
    }
}

/// The system that runs are made on, for people.
pub fn platform() -> String {
    let system = rustix::system::uname();
    [system.sysname(), system.release(), system.machine()]
        .map(|part| part.to_string_lossy())
        .join(" ")
}

/// A path as it is; a bare name along the search path.
fn locate(wanted: &Path) -> Option<PathBuf> {
    if wanted.components().count() > 1 || wanted.is_absolute() {
        return wanted
            .exists()
            .then(|| std::path::absolute(wanted).ok())
            .flatten();
    }
    let search = env::var_os("PATH")?;
    env::split_paths(&search)
        .map(|folder| folder.join(wanted))
        .find(|path| path.is_file())
}

/// Both outputs of a question with its arguments, or the reason for none. Waits half a minute.
#[expect(clippy::disallowed_methods, reason = "part of the runner")]
fn output(python: &Path, question: &[&str]) -> Result<(String, String), String> {
    let mut child = std::process::Command::new(python)
        .args(["-I", "-c"])
        .args(question)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        match child.try_wait() {
            Ok(Some(_)) => break,
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(2)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err("it does not answer within 30 s".to_owned());
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    let output = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ok((text(output.stdout), text(output.stderr)))
}

/// The interpreter's real file with its size and date, its answers, and the date of its packages'
/// folder.
fn identity(path: &Path, answer: &[&str]) -> String {
    let stamp = |path: &Path| {
        let metadata = fs::metadata(path).ok()?;
        let modified = metadata
            .modified()
            .ok()?
            .duration_since(std::time::UNIX_EPOCH)
            .ok()?;
        Some((metadata.len(), modified.as_nanos()))
    };
    let packages = answer
        .last()
        .map(Path::new)
        .and_then(stamp)
        .map(|(_, date)| date);
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let all = format!(
        "{path:?} {real:?} {:?} {answer:?} {packages:?}",
        stamp(&real)
    );
    blake3::hash(all.as_bytes()).to_hex().to_string()
}
