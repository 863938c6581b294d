//! Folders in which none of the inlined modules can be imported, for the last run of a result.
//! Called by the session.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

use crate::{report::write_atomically, runner::Setup};

/// The folders; removed when this is dropped.
pub(super) struct Bare {
    root: tempfile::TempDir,
    script: PathBuf,
    /// The names of the files beside the script that were not inlined.
    pub(super) files: Vec<String>,
}

impl Bare {
    /// Makes an empty folder, one with the other files beside the script, and one with modules that
    /// fail as missing modules do. The last comes before installed packages.
    pub(super) fn make(script: &Path, modules: &[String]) -> io::Result<Self> {
        let root = tempfile::Builder::new()
            .prefix("minrepro-bare-")
            .tempdir()?;
        for folder in ["empty", "beside", "blocked"] {
            fs::create_dir(root.path().join(folder))?;
        }
        let tops = modules
            .iter()
            .map(|name| name.split('.').next().unwrap_or(name));
        let tops: BTreeSet<&str> = tops.collect();
        for top in &tops {
            let text =
                format!("raise ModuleNotFoundError(\"No module named '{top}'\", name='{top}')\n");
            let file = root.path().join("blocked").join(format!("{top}.py"));
            write_atomically(&file, text.as_bytes())?;
        }
        let mut files = Vec::new();
        let folder = script.parent().unwrap_or(Path::new("/"));
        for entry in fs::read_dir(folder)?.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let module = name.strip_suffix(".py").unwrap_or(&name);
            let is_script = Some(entry.file_name().as_ref()) == script.file_name();
            if tops.contains(module) || name.starts_with('.') || name == "__pycache__" || is_script
            {
                continue;
            }
            std::os::unix::fs::symlink(entry.path(), root.path().join("beside").join(&name))?;
            files.push(name);
        }
        files.sort();
        Ok(Self {
            script: script.file_name().map(PathBuf::from).unwrap_or_default(),
            root,
            files,
        })
    }

    /// The settings of runs in the empty folder and in the other, given those in the script's.
    pub(super) fn setups(&self, setup: &Setup) -> [Setup; 2] {
        let blocked = self
            .root
            .path()
            .join("blocked")
            .to_string_lossy()
            .into_owned();
        ["empty", "beside"].map(|folder| {
            let mut bare = setup.clone();
            bare.script = self.root.path().join(folder).join(&self.script);
            bare.env.push(("PYTHONPATH".to_owned(), blocked.clone()));
            bare
        })
    }
}
