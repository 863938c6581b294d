//! Reads the structured log that PyTorch writes to the folder of `TORCH_TRACE`: graph breaks,
//! recompilations, guards on sizes, generated code. Pure but for reading the files.

use std::{collections::BTreeMap, fs, path::Path};

use serde::Serialize;
use serde_json::Value;

use super::findings::SourcePlace;
use crate::text::pattern;

pattern!(RECORD, r"^[VDIWEC]\d{4} \S+ \d+ \S+\] (\{.*)$");
pattern!(BREAK_PLACE, r"(?m)^Graph break in user code at (.+):(\d+)$");
pattern!(BREAK_NUMBER, r"/gb/(gb\d+)\.html");

/// A graph break.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct GraphBreak {
    /// The line of the script, as far as it is known.
    pub place: Option<SourcePlace>,
    /// The reason in short.
    pub reason: String,
    /// PyTorch's explanation.
    pub explanation: String,
    /// PyTorch's hints.
    pub hints: Vec<String>,
    /// The number in PyTorch's list of graph breaks.
    pub number: Option<String>,
    /// The class of the hints: user error, fundamental, supportable, caused by an earlier graph
    /// break, bug of Dynamo.
    pub hint_class: Option<&'static str>,
    /// How often it occurred.
    pub count: usize,
}

impl GraphBreak {
    /// Whether an earlier graph break caused it.
    pub fn is_caused(&self) -> bool {
        self.hint_class == Some(CAUSED)
    }
}

const CAUSED: &str = "caused by an earlier graph break";

/// The classes of hints, each with words of PyTorch's.
const HINT_CLASSES: &[(&str, &str)] = &[
    ("caused by an earlier graph break", CAUSED),
    ("likely to be a Dynamo bug", "bug of Dynamo"),
    ("This graph break is fundamental", "fundamental"),
    (
        "will result in an error when running in eager",
        "user error",
    ),
    ("possible to write Dynamo tracing rules", "supportable"),
];

/// A recompilation of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Recompilation {
    /// The function, with its place.
    pub function: String,
    /// The guards that failed, the youngest compilation's first.
    pub guards: Vec<String>,
}

/// A guard on sizes, and the line of the script that asked for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct SizeGuard {
    /// The expression.
    pub expression: String,
    /// The line.
    pub place: SourcePlace,
}

/// What the log holds.
#[derive(Clone, Debug, Default)]
pub(super) struct CompilerTrace {
    pub(super) breaks: Vec<GraphBreak>,
    pub(super) recompilations: Vec<Recompilation>,
    pub(super) guards: Vec<SizeGuard>,
    /// Generated modules: their files and texts.
    pub(super) generated: Vec<(String, String)>,
}

impl CompilerTrace {
    /// Reads all files of a log. Scripts ran in `folder`.
    pub(super) fn read(log: &Path, folder: &str) -> Self {
        let mut trace = Self::default();
        let mut files: Vec<_> = fs::read_dir(log)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        files.sort();
        for file in files {
            let bytes = fs::read(file).unwrap_or_default();
            trace.add(&String::from_utf8_lossy(&bytes), folder);
        }
        trace
    }

    fn add(&mut self, text: &str, folder: &str) {
        let mut strings: BTreeMap<u64, String> = BTreeMap::new();
        let mut reasons: Option<Vec<String>> = None;
        for (record, payload) in records(text) {
            if let Some([text, id]) = record["str"].as_array().map(Vec::as_slice)
                && let (Some(text), Some(id)) = (text.as_str(), id.as_u64())
            {
                strings.insert(id, text.to_owned());
            }
            match record["artifact"]["name"].as_str() {
                Some("dynamo_graph_break_reason") => self.add_break(&payload, folder),
                Some("recompile_reasons") => {
                    reasons = serde_json::from_str(&payload).ok();
                }
                _ => {}
            }
            // A compilation that starts right behind its reasons is the one that they explain.
            if let Some(stack) = record["dynamo_start"]["stack"].as_array()
                && let Some(guards) = reasons.take()
            {
                let frame = stack.last().map(|frame| frame_of(frame, &strings, folder));
                let function = frame.map_or_else(String::new, |frame| {
                    format!("{} ({})", frame.function, frame.shown())
                });
                self.recompilations.push(Recompilation { function, guards });
            }
            for name in ["guard_added", "guard_added_fast"] {
                self.add_guard(&record[name], &strings, folder);
            }
            if let Some(file) = record["inductor_output_code"]["filename"].as_str() {
                self.generated.push((file.to_owned(), payload));
            }
        }
    }

    fn add_break(&mut self, payload: &str, folder: &str) {
        let mut found = graph_break(payload);
        found.place = BREAK_PLACE.captures(payload).map(|place| {
            let (file, own) = relative(&place[1], folder);
            SourcePlace {
                file,
                line: place[2].parse().unwrap_or_default(),
                own,
                ..SourcePlace::default()
            }
        });
        let is_same =
            |known: &&mut GraphBreak| known.place == found.place && known.reason == found.reason;
        match self.breaks.iter_mut().find(is_same) {
            Some(known) => known.count += 1,
            None => self.breaks.push(found),
        }
    }

    fn add_guard(&mut self, guard: &Value, strings: &BTreeMap<u64, String>, folder: &str) {
        let Some(expression) = guard["expr"].as_str() else {
            return;
        };
        let frames = ["user_stack", "stack"].iter().flat_map(|name| {
            let frames = guard[name].as_array().into_iter().flatten();
            frames.map(|frame| frame_of(frame, strings, folder))
        });
        // The innermost frame of the script may stand anywhere in the list.
        let own: Vec<SourcePlace> = frames.filter(|frame| frame.own).collect();
        let inner = own.iter().find(|frame| frame.function != "<module>");
        if let Some(place) = inner.or(own.last()) {
            self.guards.push(SizeGuard {
                expression: expression.to_owned(),
                place: place.clone(),
            });
        }
    }
}

/// The records of a log, each with the text that follows it.
fn records(text: &str) -> Vec<(Value, String)> {
    let mut found: Vec<(Value, String)> = Vec::new();
    for line in text.lines() {
        if let Some(record) = RECORD.captures(line) {
            let value = serde_json::from_str(&record[1]).unwrap_or_default();
            found.push((value, String::new()));
        } else if let (Some((_, payload)), Some(line)) = (found.last_mut(), line.strip_prefix('\t'))
        {
            payload.push_str(line);
            payload.push('\n');
        }
    }
    found
}

/// A frame of the log.
fn frame_of(frame: &Value, strings: &BTreeMap<u64, String>, folder: &str) -> SourcePlace {
    let name = frame["filename"].as_u64().and_then(|id| strings.get(&id));
    let (file, own) = relative(name.map_or("", String::as_str), folder);
    SourcePlace {
        file,
        line: frame["line"].as_u64().unwrap_or_default() as u32,
        function: frame["name"].as_str().unwrap_or_default().to_owned(),
        code: frame["loc"].as_str().unwrap_or_default().to_owned(),
        own,
    }
}

/// A file from the folder that the script ran in, and whether it lies there.
fn relative(file: &str, folder: &str) -> (String, bool) {
    let below = file
        .strip_prefix(folder)
        .and_then(|file| file.strip_prefix('/'))
        .filter(|_| !folder.is_empty());
    match below {
        Some(below) => (below.to_owned(), true),
        None => {
            let installed = file.split_once("site-packages/");
            (installed.map_or(file, |(_, file)| file).to_owned(), false)
        }
    }
}

/// A graph break as the log or an exception describes it.
pub(super) fn graph_break(text: &str) -> GraphBreak {
    let text = text
        .split_once("Graph Break Reason: ")
        .map_or(text, |(_, text)| text);
    let after = |word: &'static str| {
        let lines = text.lines();
        lines.filter_map(move |line| line.trim_start().strip_prefix(word))
    };
    let hints: Vec<String> = after("Hint: ").map(str::to_owned).collect();
    let class = HINT_CLASSES
        .iter()
        .find(|(words, _)| hints.iter().any(|hint| hint.contains(words)));
    GraphBreak {
        place: None,
        reason: text.lines().next().unwrap_or_default().trim().to_owned(),
        explanation: after("Explanation: ").next().unwrap_or_default().to_owned(),
        number: BREAK_NUMBER
            .captures(text)
            .map(|found| found[1].to_uppercase()),
        hint_class: class.map(|(_, class)| *class),
        hints,
        count: 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read() {
        let log = include_str!("example.log");
        let mut trace = CompilerTrace::default();
        trace.add(log, "/s");
        let found = &trace.breaks[0];
        assert_eq!(found.place.as_ref().unwrap().shown(), "x.py:4");
        assert_eq!(found.reason, "Failed to trace builtin operator");
        assert_eq!(found.number.as_deref(), Some("GB0059"));
        assert_eq!(found.hint_class, Some("fundamental"));
        assert_eq!(trace.recompilations[0].function, "f (x.py:4)");
        assert_eq!(
            trace.recompilations[0].guards,
            ["1/0: tensor 'x' dtype mismatch"]
        );
        assert_eq!(trace.guards[0].place.line, 5);
    }
}
