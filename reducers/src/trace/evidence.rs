//! What a traced run of a program showed: plain data, true for the program that was run and for no
//! other. Read by the passes that use it; made by the runner's tracer, whose JSON it is.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    syntax::lines::with_plain_newlines,
    trace::value::{Expression, RecordedValue},
};

/// A line of a file that was traced.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(from = "(u32, u32)", into = "(u32, u32)")]
pub struct SourceLine {
    /// The file, as an index into [`Evidence::files`].
    file: u32,
    /// Counted from 1.
    number: u32,
}

impl SourceLine {
    /// A line of the program itself, counted from 1.
    pub fn of_program(number: u32) -> Self {
        Self { file: 0, number }
    }

    /// A line of a file, counted from 1.
    pub fn of_file(file: u32, number: u32) -> Self {
        Self { file, number }
    }

    /// The file, as an index into [`Evidence::files`].
    pub fn file(self) -> u32 {
        self.file
    }

    /// The number, counted from 1.
    pub fn number(self) -> u32 {
        self.number
    }

    /// Which line of the program it is, counted from 1; `None` if it is one of another file.
    pub fn in_program(self) -> Option<u32> {
        (self.file == 0).then_some(self.number)
    }
}

impl From<(u32, u32)> for SourceLine {
    fn from((file, number): (u32, u32)) -> Self {
        Self { file, number }
    }
}

impl From<SourceLine> for (u32, u32) {
    fn from(line: SourceLine) -> Self {
        (line.file, line.number)
    }
}

/// The arguments of calls by parameter, by the line on which the function begins.
pub type Arguments = BTreeMap<SourceLine, BTreeMap<String, RecordedValue>>;

/// The record of one run of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The files that were traced, by name; the program is the first.
    #[serde(default)]
    pub files: Vec<String>,
    /// The texts of those files besides the program, by their indices.
    #[serde(with = "pairs", default)]
    pub sources: BTreeMap<u32, String>,
    /// The modules in these files, in the order in which their own code began to run.
    #[serde(default)]
    pub modules: Vec<TracedModule>,
    /// How often each line was executed, as far as it was counted; lines that were not are missing.
    #[serde(with = "pairs")]
    pub hits: BTreeMap<SourceLine, u64>,
    /// How often each function was entered, by the line on which it begins, its decorators
    /// included.
    #[serde(with = "pairs")]
    pub entered: BTreeMap<SourceLine, u64>,
    /// The last return value of each function when the failure began, by the line on which the
    /// function begins. Functions are missing if they returned nothing that can be written as an
    /// expression, or were called too often to tell.
    #[serde(with = "pairs")]
    pub returned: BTreeMap<SourceLine, RecordedValue>,
    /// The functions that did not always return the same, by the line on which they begin.
    pub varying: BTreeSet<SourceLine>,
    /// The functions that an exception left, by the line on which they begin, those that the
    /// failure left included.
    #[serde(default)]
    pub unwound: BTreeSet<SourceLine>,
    /// The classes of the exceptions that came by the program's lines, by name, with their base
    /// classes, but without the program's own.
    #[serde(default)]
    pub raised: BTreeSet<String>,
    /// The first arguments of each function.
    #[serde(with = "pairs", default)]
    pub arguments: Arguments,
    /// The same of the last call of each function that was called again, if that was called with
    /// something else.
    #[serde(with = "pairs", default)]
    pub latest: Arguments,
    /// Calls of library functions for their effect, by line, with values instead of variables.
    #[serde(with = "pairs", default)]
    pub done: BTreeMap<SourceLine, Expression>,
    /// Calls of PyTorch's functions that were under way beneath the program's frames, the likeliest
    /// to fail first.
    #[serde(default)]
    pub calls: Vec<Call>,
    /// The program's own frames of the failure, outermost first; empty if it caught its failure.
    pub failure: Vec<Frame>,
    /// The frames of the failure in packages, outermost first, with values in the names of their
    /// modules; also those that were being compiled.
    #[serde(default)]
    pub library: Vec<Frame>,
    /// Those of the exceptions that it was raised from or while handling, the nearest first.
    #[serde(default)]
    pub causes: Vec<Vec<Frame>>,
    /// If the failure was in a backward of PyTorch: the program's frames of the forward call that
    /// the backward belongs to, outermost first. Their values come from another run, and include
    /// those that later lines of their functions read.
    #[serde(default)]
    pub forward: Vec<Frame>,
}

impl Evidence {
    /// The frames of the failure that ran as they are written, and those of its causes.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.failure
            .iter()
            .chain(self.causes.iter().flatten())
            .filter(|frame| !frame.compiled)
    }

    /// The text of a file besides the program, as its lines are counted; empty if it could not be
    /// read.
    pub(crate) fn text_of(&self, file: u32) -> Option<String> {
        let text = self.sources.get(&file)?.trim_start_matches('\u{feff}');
        Some(with_plain_newlines(text))
    }
}

/// A module whose own code ran while it was traced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedModule {
    /// Its dotted name.
    pub name: String,
    /// The package that its relative imports start from.
    pub package: String,
    /// Whether it is a package.
    pub is_package: bool,
    /// Its file, as an index into [`Evidence::files`].
    pub file: u32,
    /// The innermost place in the own code of a module, or of the program, that had it imported.
    pub at: SourceLine,
}

/// A call of a function of a library, as expressions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The callee.
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
    pub line: SourceLine,
    /// The expression that failed: line and column where it starts, line and column where it ends.
    /// Columns are counted in bytes of UTF-8 from 0. Only the line is known before CPython 3.11.
    pub place: (Option<u32>, Option<u32>, Option<u32>, Option<u32>),
    /// Whether it did not leave a loop, which begins on that line, until the run was ended.
    #[serde(default)]
    pub loops: bool,
    /// The function's name; `<module>` for top-level code.
    pub function: String,
    /// The line on which the function begins.
    pub first_line: SourceLine,
    /// The values of its variables that can be written as expressions, and those of the attributes
    /// and elements that its line reads, as they are written there.
    pub values: BTreeMap<String, RecordedValue>,
    /// The results of the calls on its line, as these are written there.
    #[serde(default)]
    pub results: BTreeMap<String, RecordedValue>,
    /// The arguments of the foreign code below it, the innermost first.
    #[serde(default)]
    pub inside: Vec<RecordedValue>,
    /// Whether it was being compiled when that failed; its values are those of a run without a
    /// compiler.
    #[serde(default)]
    pub compiled: bool,
    /// For a frame in a package: the package that its module's relative imports start from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
}

impl Frame {
    /// Whether the frame is that of the top-level code.
    pub fn is_module(&self) -> bool {
        self.function == "<module>"
    }
}

/// The symbols that slices that were too small turned out to lack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingSymbols {
    /// Names that failures asked for: of attributes, keys, variables.
    pub words: BTreeSet<String>,
    /// Lines of the traced program that failed in another way than it did, as texts without
    /// indentation.
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
        let is_name = |word: &&str| {
            let mut chars = word.chars();
            !word.is_empty() && chars.all(|char| char.is_alphanumeric() || char == '_')
        };
        // An object without an attribute: the attribute is missing, not the object's class.
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
        let is_plain = |word: &&str| word.trim_matches('_').contains('_') && text.contains(word);
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
