//! The file of the result. Before any run, checks refuse the script itself, folders, devices, and
//! folders that cannot be written. Runs nothing. Called by the verbs that write files.

use std::{
    io,
    path::{Path, PathBuf},
};

use minrepro_reducers::syntax::Program;

use super::{ours::OurFiles, write::temporary};
use crate::cli::{Exit, Failure};

/// The destination of the result.
#[derive(Clone, Debug)]
pub(crate) enum Output {
    Stdout,
    File(PathBuf, OurFiles),
}

impl Output {
    /// The file that `-o` names, or else `NAME.min.py` beside the script.
    ///
    /// # Errors
    ///
    /// It is the script itself, or no regular file.
    pub(crate) fn new(
        output: Option<&Path>,
        script: &Path,
        ours: &OurFiles,
    ) -> Result<Self, Failure> {
        let path = match output {
            Some(path) if path.as_os_str() == "-" => return Ok(Self::Stdout),
            Some(path) => path.to_owned(),
            None => {
                let stem = script.file_stem().unwrap_or_default().to_string_lossy();
                script.with_file_name(format!("{stem}.min.py"))
            }
        };
        let path = target(
            &path,
            &[script],
            "name another file with `-o FILE`, or `-o -` for standard output",
        )?;
        ours.check(&path)?;
        Ok(Self::File(path, ours.clone()))
    }

    /// Whether it can be written, before anything is run.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self {
            Self::Stdout => Ok(()),
            Self::File(path, _) => check_writable(
                path,
                "name a file in another folder with `-o FILE`, or `-o -` for standard output",
            ),
        }
    }

    /// For people and reports.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Stdout => "-".to_owned(),
            Self::File(path, _) => path.display().to_string(),
        }
    }

    /// The file, if it is one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdout => None,
            Self::File(path, _) => Some(path),
        }
    }

    /// Writes a program whole; standard output gets only the last one, from the verb itself.
    pub(crate) fn write(&self, program: &Program) -> io::Result<()> {
        match self {
            Self::Stdout => Ok(()),
            Self::File(path, ours) => ours.write(path, &encoded(program)?),
        }
    }
}

/// A program's bytes in its own encoding.
///
/// # Errors
///
/// The encoding lacks a character. That never happens to candidates, whose characters are the
/// script's own.
pub(crate) fn encoded(program: &Program) -> io::Result<Vec<u8>> {
    program
        .encode()
        .ok_or_else(|| io::Error::other("the result does not fit the script's encoding"))
}

/// The absolute path of a file to be written, if it is none of `others`, under any name, and may be
/// replaced.
pub(crate) fn target(path: &Path, others: &[&Path], hint: &str) -> Result<PathBuf, Failure> {
    let refused = |why: &str| Failure::usage(format!("`{}` is {why}", path.display())).hint(hint);
    if let Some((at, _)) = others
        .iter()
        .enumerate()
        .find(|(_, other)| same(path, other))
    {
        return Err(refused(if at == 0 {
            "the script itself, which is never changed"
        } else {
            "the file that the result goes to"
        }));
    }
    if path.is_dir() {
        return Err(refused("a folder"));
    }
    // Replacing a device or a pipe with a file would take it from everyone else.
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(refused("not a regular file"));
    }
    Ok(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

/// Whether two paths lead to one file, even if it does not exist yet.
fn same(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (a.metadata(), b.metadata()) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        (Err(_), Err(_)) => {
            let place = |path: &Path| {
                let path = std::path::absolute(path).ok()?;
                Some((
                    path.parent()?.canonicalize().ok()?,
                    path.file_name()?.to_owned(),
                ))
            };
            place(a).is_some_and(|a| Some(a) == place(b))
        }
        _ => false,
    }
}

/// Whether a file can be written in its place; the attempt is undone.
pub(crate) fn check_writable(path: &Path, hint: &str) -> Result<(), Failure> {
    let probe = temporary(path);
    // A kill may have left one behind; if it cannot be removed, the next step fails.
    let _ = std::fs::remove_file(&probe);
    std::fs::File::create_new(&probe)
        .and_then(|_| std::fs::remove_file(&probe))
        .map_err(|error| {
            let exit = match error.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Exit::Environment,
                _ => Exit::Usage,
            };
            let error =
                anyhow::Error::new(error).context(format!("could not write `{}`", path.display()));
            Failure::new(exit, error).hint(hint)
        })
}
