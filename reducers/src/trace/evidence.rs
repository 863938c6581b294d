//! What a traced run of a program showed: plain data, true for the program that was run and for no
//! other. Read by the passes that use it; made by the runner's tracer, whose JSON it is.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// What one run of a program did. Lines are counted from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// How often each line was executed, as far as it was counted; lines that were not are missing.
    #[serde(with = "pairs")]
    pub hits: BTreeMap<u32, u64>,
    /// How often each function was entered, by the line on which it begins, its decorators
    /// included.
    #[serde(with = "pairs")]
    pub entered: BTreeMap<u32, u64>,
    /// What each function had returned last when the failure began, as an expression, by the line
    /// on which it begins; those missing returned nothing that can be written as one, or were
    /// called too often to tell.
    #[serde(with = "pairs")]
    pub returned: BTreeMap<u32, String>,
    /// The functions that did not always return the same, by the line on which they begin.
    pub varying: BTreeSet<u32>,
    /// What each function was first called with, by parameter, as expressions, by the line on which
    /// it begins.
    #[serde(with = "pairs", default)]
    pub arguments: BTreeMap<u32, BTreeMap<String, String>>,
    /// The same of the last call of each function that was called again, if that was called with
    /// something else.
    #[serde(with = "pairs", default)]
    pub latest: BTreeMap<u32, BTreeMap<String, String>>,
    /// What functions of libraries were called for what they do, by line: the call with values in
    /// place of variables.
    #[serde(with = "pairs", default)]
    pub done: BTreeMap<u32, String>,
    /// Calls of PyTorch's functions that were under way beneath the program's frames, the likeliest
    /// to fail first.
    #[serde(default)]
    pub calls: Vec<Call>,
    /// The program's own frames of the failure, outermost first; empty if it caught its failure.
    pub failure: Vec<Frame>,
    /// Those of the exceptions that it was raised from or while handling, the nearest first.
    #[serde(default)]
    pub causes: Vec<Vec<Frame>>,
    /// Where the failure was PyTorch's in a backward: the program's frames of the forward call that
    /// it went back through, outermost first. Their values are those of another run, and what later
    /// lines of their functions read is among them.
    #[serde(default)]
    pub forward: Vec<Frame>,
}

impl Evidence {
    /// The frames of the failure that were run as they are written, and those of what it came from.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.failure
            .iter()
            .chain(self.causes.iter().flatten())
            .filter(|frame| !frame.compiled)
    }
}

/// A call of a function of a library, as expressions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// What is called.
    pub called: String,
    /// Its arguments, with commas between them.
    pub arguments: String,
    /// Whether it was being compiled.
    pub compiled: bool,
}

/// A frame of the failure.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// The line that failed.
    pub line: u32,
    /// The expression that failed: line and column where it starts, line and column where it ends.
    /// Columns are counted in bytes of UTF-8 from 0. Only the line is known before CPython 3.11.
    pub place: (Option<u32>, Option<u32>, Option<u32>, Option<u32>),
    /// The function's name; `<module>` for top-level code.
    pub function: String,
    /// The line on which the function begins.
    pub first_line: u32,
    /// The values of its variables that can be written as expressions, in terms of the program's
    /// own global names, and those of the attributes and elements that its line reads, as they are
    /// written there.
    pub values: BTreeMap<String, String>,
    /// Those of them whose values hold objects as they were made, not as they became.
    #[serde(default)]
    pub rough: BTreeSet<String>,
    /// What the calls on its line returned, as these are written there.
    #[serde(default)]
    pub results: BTreeMap<String, String>,
    /// What code that is not the program's was given beneath it, the innermost first, as
    /// expressions.
    #[serde(default)]
    pub inside: Vec<String>,
    /// Whether it was being compiled when that failed; its values are those of a run without a
    /// compiler.
    #[serde(default)]
    pub compiled: bool,
}

impl Frame {
    /// Whether the frame is that of the top-level code.
    pub fn is_module(&self) -> bool {
        self.function == "<module>"
    }
}

/// What slices that were too small turned out to miss.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingSymbols {
    /// Names that failures asked for: of attributes, keys, variables.
    pub words: BTreeSet<String>,
    /// Lines of the traced program that failed otherwise than it did, as texts without indentation.
    pub lines: BTreeSet<String>,
}

impl MissingSymbols {
    /// Learns from a failure other than the bug: its message, and the line of the candidate that
    /// failed, of a program of this text. Tells whether that was news.
    pub fn learn(&mut self, text: &str, class: &str, message: &str, line: Option<&str>) -> bool {
        let is_naming = matches!(
            class.rsplit('.').next(),
            Some(
                "AttributeError"
                    | "KeyError"
                    | "NameError"
                    | "UnboundLocalError"
                    | "ImportError"
                    | "TypeError"
            )
        );
        let mut quoted = message.split('\'').skip(1).step_by(2).filter(|_| is_naming);
        let is_name = |it: &&str| {
            !it.is_empty() && it.chars().all(|char| char.is_alphanumeric() || char == '_')
        };
        // An object without an attribute: the attribute is what is missing, not the object's class.
        let named = if class.ends_with("AttributeError") {
            // Enumerations name nothing else.
            quoted
                .filter(is_name)
                .last()
                .or_else(|| Some(message).filter(is_name))
        } else {
            quoted.find(is_name)
        };
        // Prose has no such words: what they name is what to call first, often.
        let is_plain = |it: &&str| it.trim_matches('_').contains('_') && text.contains(it);
        let spoken = message
            .split(|char: char| !(char.is_alphanumeric() || char == '_'))
            .filter(is_plain);
        let mut word = false;
        for named in named.into_iter().chain(spoken) {
            word |= self.words.insert(named.to_owned());
        }
        let line = line.is_some_and(|line| self.lines.insert(line.trim().to_owned()));
        word || line
    }
}

/// Maps as rows of pairs: keys of JSON objects are strings.
mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &BTreeMap<K, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }

    pub(super) fn deserialize<'de, K, V, D>(deserializer: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: Ord + Deserialize<'de>,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        Ok(Vec::<(K, V)>::deserialize(deserializer)?
            .into_iter()
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::MissingSymbols;

    #[test]
    fn failures_name_what_is_missing() {
        let of = |class: &str, message: &str| {
            let mut missing = MissingSymbols::default();
            let text = "if group is None: init_group()";
            let is_news = missing.learn(text, class, message, None);
            assert_eq!(is_news, !missing.words.is_empty());
            assert!(!missing.learn(text, class, message, None), "that is known");
            missing.words.into_iter().collect::<Vec<_>>()
        };
        assert_eq!(
            of("AttributeError", "'Model' object has no attribute 'head'"),
            ["head"]
        );
        assert_eq!(of("AttributeError", "RED"), ["RED"]);
        assert_eq!(of("NameError", "name 'x' is not defined"), ["x"]);
        assert_eq!(
            of(
                "ValueError",
                "No group, please call `dist.init_group` first"
            ),
            ["init_group"]
        );
        assert_eq!(
            of("ValueError", "no such file: /tmp/made_up"),
            Vec::<String>::new()
        );
        assert_eq!(of("ValueError", "'x' is no number"), Vec::<String>::new());
    }
}
