//! The record of a test by the project's own pytest, as data. Called by the rest of the room.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::target::failure::TestFailure;

/// The record of a node by pytest.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct NodeRecord {
    /// Set if there is no pytest.
    pub(super) pytest: Option<bool>,
    /// The tests that the node stands for.
    pub(super) items: Vec<String>,
    /// All tests of its file, where there is none.
    pub(super) known: Vec<String>,
    /// The error before any test was found.
    pub(super) collection: Option<String>,
    pub(super) skipped: Option<String>,
    pub(super) failure: Option<TestFailure>,
    /// Why the test cannot do without pytest.
    pub(super) unsupported: Vec<String>,
    /// The phases that failed.
    pub(super) phases: Vec<String>,
    pub(super) modules: Vec<ProjectFile>,
    /// Folders in which modules are found.
    pub(super) paths: Vec<String>,
    pub(super) class: Option<String>,
    pub(super) unittest: bool,
    pub(super) function: String,
    pub(super) coroutine: bool,
    /// The name of the instance of the class.
    pub(super) instance: String,
    pub(super) arguments: Vec<String>,
    /// The attributes of `request` that the test reads.
    pub(super) request: Vec<String>,
    /// Expressions for arguments.
    pub(super) parameters: BTreeMap<String, String>,
    /// In the order in which they were set up.
    pub(super) fixtures: Vec<Fixture>,
}

/// A file of the project.
#[derive(Debug, Deserialize)]
pub(super) struct ProjectFile {
    pub(super) file: String,
    pub(super) package: String,
}

/// A fixture that was set up.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Fixture {
    pub(super) name: String,
    /// The file and name of its function.
    pub(super) file: Option<String>,
    pub(super) function: String,
    /// Whether that is a method of the test's class.
    pub(super) method: bool,
    pub(super) generator: bool,
    pub(super) arguments: Vec<String>,
    /// The attributes of `request` that it reads.
    pub(super) request: Vec<String>,
    /// The expression of its parameter.
    pub(super) parameter: Option<String>,
    /// Its name, if it is one of pytest's own.
    pub(super) builtin: Option<String>,
    /// Statements that set up and tear down, if it stands for `setup_method` or the like.
    pub(super) xunit: Option<[Option<String>; 2]>,
}

impl NodeRecord {
    /// Whether there was a test to run, and not only a file that cannot be imported.
    pub(super) fn is_collected(&self) -> bool {
        !self.items.is_empty()
    }
}
