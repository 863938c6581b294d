//! The name of a pytest test, and the place of its project. Called by the rest of the room.

use std::path::{Path, PathBuf};

use minrepro_reducers::syntax::Program;

use crate::{cli::Failure, target::script};

/// Files that mark the root of a project.
const ROOTS: &[&str] = &[
    "pytest.ini",
    ".pytest.ini",
    "pyproject.toml",
    "tox.ini",
    "setup.cfg",
    "setup.py",
    ".git",
];

/// A node as typed, and where its project lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PytestNode {
    /// As typed.
    pub id: String,
    /// The project's folder.
    root: PathBuf,
    /// The user's folder within it.
    folder: PathBuf,
}

impl PytestNode {
    /// Whether a name means a node, and which.
    pub fn of(typed: &str) -> Option<Self> {
        let (file, _) = typed.split_once("::")?;
        let here = std::env::current_dir().ok()?;
        let folder = here.join(file).parent()?.to_owned();
        let common = here
            .ancestors()
            .find(|ancestor| folder.starts_with(ancestor))
            .unwrap_or(&here)
            .to_owned();
        let root = common.ancestors().find(|ancestor| {
            let is_marked = ROOTS.iter().any(|name| ancestor.join(name).exists());
            is_marked && *ancestor != Path::new("/")
        });
        let root = root.unwrap_or(&common).to_owned();
        let folder = here.strip_prefix(&root).ok()?.to_owned();
        Some(Self {
            id: typed.to_owned(),
            root,
            folder,
        })
    }

    /// The script that stands for it: named as its file, in the project's folder.
    pub(crate) fn place(&self) -> PathBuf {
        let file = Path::new(self.id.split("::").next().unwrap_or_default());
        let name = file.file_name().unwrap_or_default();
        let place = self.root.join(name);
        // There it would hide the test's own file from pytest.
        if self.root.join(&self.folder).join(file) == place {
            return self.root.join(format!("repro_{}", name.display()));
        }
        place
    }

    /// The path of the result, with a name that pytest does not collect.
    pub(crate) fn result(&self) -> PathBuf {
        let name = self.id.rsplit("::").next().unwrap_or_default();
        let name = name.split('[').next().unwrap_or_default();
        let name = name.strip_prefix("test_").unwrap_or(name);
        self.root.join(format!("{name}.min.py"))
    }

    /// The arguments by which an interpreter runs it.
    pub(crate) fn arguments(&self) -> Vec<String> {
        ["-m", "pytest", &self.id].map(str::to_owned).to_vec()
    }

    /// A file of the project.
    pub(crate) fn file(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// The user's folder, if that is not the project's.
    pub(crate) fn folder(&self) -> Option<&Path> {
        Some(self.folder.as_path()).filter(|folder| !folder.as_os_str().is_empty())
    }

    /// The program in a file of the project.
    pub(crate) fn program(&self, relative: &str) -> Result<Program, Failure> {
        Ok(script::read(&self.file(relative))?.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_no_tests_by_their_names() {
        let node = PytestNode {
            id: "tests/test_a.py::TestB::test_gold[x-1]".to_owned(),
            root: "/p".into(),
            folder: PathBuf::new(),
        };
        assert_eq!(node.place(), Path::new("/p/test_a.py"));
        let beside = PytestNode {
            id: "./test_a.py::test_gold".to_owned(),
            ..node.clone()
        };
        assert_eq!(beside.place(), Path::new("/p/repro_test_a.py"));
        assert_eq!(node.result(), Path::new("/p/gold.min.py"));
        assert_eq!(PytestNode::of("x.py"), None);
    }
}
