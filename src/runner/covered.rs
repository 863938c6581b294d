//! Which files hold code that may be inlined into the script: those of local modules, and those of
//! the packages that the user names. Data and patterns; the tracer reads the patterns.

use serde::Serialize;

/// The files whose code may be inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covered {
    /// Whether local modules may be inlined: those beside the script, on the search path, or in
    /// editable installs.
    pub local: bool,
    /// Installed packages, by their names in imports.
    pub packages: Vec<String>,
    /// Whether every installed package is, but for those to be kept.
    pub all: bool,
}

impl Default for Covered {
    fn default() -> Self {
        Self {
            local: true,
            packages: Vec::new(),
            all: false,
        }
    }
}

/// The same as the tracer is given it: regular expressions that match paths of files.
#[derive(Debug, Serialize)]
pub(super) struct Patterns {
    /// Covered, wherever it is; nothing if empty.
    named: String,
    /// Not covered unless it is named.
    foreign: String,
    /// Never of interest by itself.
    kept: String,
}

const PACKAGES: &str = "/(?:site|dist)-packages/";
const INTERPRETER: &str = r"/lib\d*/python3[\d.]*t?/(?!(?:site|dist)-packages/)|\.zip/";

impl Covered {
    /// Whether there are any.
    pub fn is_any(&self) -> bool {
        self.local || self.all || !self.packages.is_empty()
    }

    /// The patterns, given the `kept` packages.
    pub(super) fn patterns(&self, kept: &[&str]) -> Patterns {
        let packages = format!(r"^<|{INTERPRETER}|/(?:{})(?:/|\.py$)", kept.join("|"));
        let names: Vec<String> = self
            .packages
            .iter()
            .map(|name| regex::escape(name))
            .collect();
        let named = if names.is_empty() {
            // An empty alternative would match every file.
            String::new()
        } else {
            format!(r"{PACKAGES}(?:{})(?:/|\.py$)", names.join("|"))
        };
        // An empty pattern matches everything, so nothing is covered in that case.
        let foreign = match (self.local, self.all) {
            (false, _) => String::new(),
            (true, true) => packages.clone(),
            (true, false) => format!("{PACKAGES}|{packages}"),
        };
        // Who wants nothing inlined wants to keep it all.
        let kept = if self.is_any() {
            packages
        } else {
            String::new()
        };
        Patterns {
            named,
            foreign,
            kept,
        }
    }
}
