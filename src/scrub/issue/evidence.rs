//! The evidence that an issue holds for labels: names of PyTorch in its code, frames of stacks,
//! lines of errors, words of its title and text. Each piece keeps the line that it stands on.
//! Pure; called by triage.

use minrepro_reducers::{
    syntax::Program,
    torch::diagnosis::{TopicRow, mentions},
};
use regex::Regex;
use serde::Serialize;

use super::{
    Issue,
    blocks::{BlockKind, blocks, shows_failure},
};
use crate::text::pattern;

pattern!(
    FRAME,
    r#"File "[^"]*?((?:torch|functorch)/[^"]+\.py)", line \d+"#
);
pattern!(NATIVE_FRAME, r"(?:^|\s)(?:frame )?#\d+:? .*");

/// Where a piece of evidence stands; the stronger, the higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceKind {
    /// A word of the text.
    Word,
    /// A frame of a stack that other frames lie within.
    OuterFrame,
    /// A name in code.
    Code,
    /// A word of the title.
    Title,
    /// The innermost frame of a stack that any module knows.
    Frame,
    /// The line of an error.
    Error,
}

impl EvidenceKind {
    /// How much it counts.
    pub(in crate::scrub) fn weight(self) -> u32 {
        match self {
            Self::Word | Self::OuterFrame => 1,
            Self::Code => 3,
            Self::Title | Self::Frame => 4,
            Self::Error => 5,
        }
    }
}

/// A line of the issue that speaks for something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EvidenceLine {
    /// Where it stands.
    pub kind: EvidenceKind,
    /// The line.
    pub line: String,
}

/// The content of an issue.
pub(in crate::scrub) struct IssueText {
    title: String,
    /// Names in code, with the line of each.
    names: Vec<(String, String)>,
    /// Frames of each stack, outermost first.
    stacks: Vec<Vec<String>>,
    /// Lines of errors.
    errors: Vec<String>,
    /// Other lines.
    prose: Vec<String>,
}

impl IssueText {
    /// Reads the description. Comments by others are not part of the report.
    pub(in crate::scrub) fn of(issue: &Issue) -> Self {
        let mut text = Self {
            title: issue.title.clone(),
            names: Vec::new(),
            stacks: Vec::new(),
            errors: Vec::new(),
            prose: Vec::new(),
        };
        for block in blocks(&issue.post.body) {
            match block.kind {
                BlockKind::Python(snippet) => text.add_code(&snippet.text),
                BlockKind::Log(log) => text.add_log(&log),
                BlockKind::Prose(prose) | BlockKind::Other(prose) if shows_failure(&prose) => {
                    text.add_log(&prose);
                }
                BlockKind::Prose(prose) => text.add_prose(&prose),
                BlockKind::Other(other) => text.add_log(&other),
                BlockKind::Environment(_) | BlockKind::Image | BlockKind::Elsewhere(_) => {}
            }
        }
        text
    }

    fn add_code(&mut self, code: &str) {
        let Ok(program) = Program::parse(code) else {
            return self.add_log(code);
        };
        let lines: Vec<&str> = code.lines().collect();
        let line = |number: u32| lines.get(number.saturating_sub(1) as usize);
        self.names
            .extend(mentions(&program).into_iter().map(|(name, number)| {
                let line = line(number).map_or("", |line| line.trim());
                (name, line.to_owned())
            }));
    }

    fn add_log(&mut self, log: &str) {
        let mut stack = Vec::new();
        for line in log.lines() {
            if FRAME.is_match(line) || NATIVE_FRAME.is_match(line) {
                stack.push(line.trim().to_owned());
            } else if line.starts_with("Traceback") && !stack.is_empty() {
                self.stacks.push(std::mem::take(&mut stack));
            } else {
                self.errors.push(line.trim().to_owned());
            }
        }
        if !stack.is_empty() {
            self.stacks.push(stack);
        }
    }

    fn add_prose(&mut self, prose: &str) {
        // The people whom a bot copied in are no evidence.
        let lines = prose
            .lines()
            .filter(|line| !line.trim_start().starts_with("cc @"));
        self.prose.extend(lines.map(str::to_owned));
    }

    /// Whether there is code that names PyTorch.
    pub(in crate::scrub) fn has_code(&self) -> bool {
        !self.names.is_empty()
    }

    /// Whether a stack or an error shows the failure.
    pub(in crate::scrub) fn has_failure(&self) -> bool {
        !self.stacks.is_empty() || self.errors.iter().any(|line| shows_failure(line))
    }

    /// The lines that speak for a topic.
    pub(in crate::scrub) fn lines_for(
        &self,
        row: &TopicRow,
        all: &[&TopicRow],
    ) -> Vec<EvidenceLine> {
        let mut found = Vec::new();
        let mut add = |kind, line: &str| {
            found.push(EvidenceLine {
                kind,
                line: line.chars().take(160).collect(),
            });
        };
        let is_excluded = |line: &str| row.not.iter().any(|word| line.contains(word.as_str()));
        let has_word = |line: &str| row.words.iter().any(|word| holds_word(line, word));
        if has_word(&self.title) {
            add(EvidenceKind::Title, &self.title);
        }
        for (name, line) in &self.names {
            if row.apis.iter().any(|api| is_api(name, api)) {
                add(EvidenceKind::Code, line);
            }
        }
        for stack in &self.stacks {
            let is_of = |row: &TopicRow, frame: &str| {
                row.frames.iter().any(|part| frame.contains(part.as_str()))
            };
            // The caller of c10d has the bug more often than c10d has.
            let knows = |frame: &str, is_infra: bool| {
                let mut rows = all.iter().filter(|row| (row.owner == "infra") == is_infra);
                rows.any(|row| is_of(row, frame))
            };
            let mut inner = [false, true]
                .iter()
                .filter_map(|is_infra| stack.iter().rev().find(|frame| knows(frame, *is_infra)));
            let inner = inner.next();
            for frame in stack.iter().filter(|frame| is_of(row, frame)) {
                let kind = if Some(frame) == inner {
                    EvidenceKind::Frame
                } else {
                    EvidenceKind::OuterFrame
                };
                add(kind, frame);
            }
        }
        for line in &self.errors {
            let is_error = row.errors.iter().any(|error| matches(error, line));
            if is_error && !is_excluded(line) {
                add(EvidenceKind::Error, line);
            }
        }
        for line in self
            .prose
            .iter()
            .filter(|line| has_word(line) && !is_excluded(line))
        {
            add(EvidenceKind::Word, line.trim());
        }
        found
    }

    /// The first line that a sign matches, the title before the text.
    pub(in crate::scrub) fn line_with(&self, sign: &str) -> Option<String> {
        let stacks = self.stacks.iter().flatten();
        let lines = std::iter::once(&self.title)
            .chain(&self.errors)
            .chain(&self.prose)
            .chain(stacks);
        let mut lines = lines.filter(|line| matches(sign, line));
        lines
            .next()
            .map(|line| line.trim().chars().take(160).collect())
    }

    /// The innermost frame of a stack that holds one of some parts.
    pub(in crate::scrub) fn frame_with(&self, parts: &[String]) -> Option<String> {
        let frames = self
            .stacks
            .iter()
            .rev()
            .flat_map(|stack| stack.iter().rev());
        let mut frames =
            frames.filter(|frame| parts.iter().any(|part| frame.contains(part.as_str())));
        frames.next().cloned()
    }
}

fn matches(regex: &str, line: &str) -> bool {
    Regex::new(regex).is_ok_and(|regex| regex.is_match(line))
}

/// Whether a full name is an interface, which is a full name itself or the last part of one.
fn is_api(name: &str, api: &str) -> bool {
    if api.contains('.') {
        return name
            .strip_prefix(api)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    }
    name.split('.').any(|part| part == api)
}

/// Whether a line holds a word; names of classes as they are written, phrases in any case.
fn holds_word(line: &str, word: &str) -> bool {
    let (line, word) = if word.chars().any(char::is_uppercase) {
        (line.to_owned(), word.to_owned())
    } else {
        (line.to_lowercase(), word.to_owned())
    };
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    line.match_indices(&word).any(|(at, _)| {
        !line[..at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part)
    })
}
