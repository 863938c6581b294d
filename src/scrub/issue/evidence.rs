//! The evidence that an issue holds for labels: names of PyTorch in its code, frames of stacks,
//! lines of errors, words of its title and text. Each piece keeps the line that it stands on.
//! Pure; called by triage.

use minrepro_reducers::{
    syntax::Program,
    torch::diagnosis::{ComponentLabel, TopicRow, mentions},
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
    r#"File "[^"]*?(?:torch|functorch)/[^"]+\.py", line \d+|^File \S*?(?:torch|functorch)/\S+\.py:\d+,? in "#
);
pattern!(NATIVE_FRAME, r"(?:^|\s)(?:frame )?#\d+:? .*");
// A frame of any Python file.
pattern!(
    ANY_FRAME,
    r#"^(?:File ".+", line \d+|File \S+\.py:\d+,? in )"#
);
// Below a frame: its code, as Python and as notebooks show it, and marks under that.
pattern!(FRAME_CODE, r"^\s{4,}\S|^\s*(?:-+> ?)?\d+ |^\s*[~^]+$");
pattern!(
    BACKEND,
    r#"\bbackend ?= ?["'](eager|aot_eager|inductor)["']"#
);
pattern!(RANK, r"^\[rank\d+\]:? ?");
/// Of code that does not parse as a whole, so many lines are looked at.
const MOST_LINES: usize = 200;

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
    /// Backends in code, with the line of each.
    backends: Vec<(String, String)>,
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
            backends: Vec::new(),
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
        let lines: Vec<&str> = code.lines().collect();
        // Code that is cut off or mixed with other text counts as far as it parses.
        let most = if Program::parse(code).is_ok() {
            lines.len()
        } else {
            lines.len().min(MOST_LINES)
        };
        let parsed = (1..=most).rev().find_map(|count| {
            let program = Program::parse(lines[..count].join("\n")).ok()?;
            Some((program, count))
        });
        let Some((program, count)) = parsed else {
            return self.add_log(code);
        };
        for line in &lines[..count] {
            let found = BACKEND.captures(line);
            self.backends
                .extend(found.map(|found| (found[1].to_owned(), line.trim().to_owned())));
        }
        let line = |number: u32| lines.get(number.saturating_sub(1) as usize);
        self.names
            .extend(mentions(&program).into_iter().map(|(name, number)| {
                let line = line(number).map_or("", |line| line.trim());
                (name, line.to_owned())
            }));
        self.add_log(&lines[count..].join("\n"));
    }

    fn add_log(&mut self, log: &str) {
        let mut stack = Vec::new();
        let mut is_below_frame = false;
        for line in log.lines() {
            let line = RANK.replace(line, "").into_owned();
            let bare = line.trim();
            // Windows writes its paths with another sign.
            let path = bare.replace('\\', "/");
            if FRAME.is_match(&path) || NATIVE_FRAME.is_match(&line) {
                stack.push(path);
                is_below_frame = true;
            } else if ANY_FRAME.is_match(bare) {
                is_below_frame = true;
            } else if line.starts_with("Traceback") && !stack.is_empty() {
                self.stacks.push(std::mem::take(&mut stack));
                is_below_frame = false;
            } else if !(is_below_frame && FRAME_CODE.is_match(&line)) {
                self.errors.push(bare.to_owned());
                is_below_frame &= bare.is_empty();
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
        if has_word(&self.title) && !is_excluded(&self.title) {
            add(EvidenceKind::Title, &self.title);
        }
        // What all programs call to begin with says little beside the names of a module.
        let names_of = |apis: &[String], name: &str| apis.iter().any(|api| is_api(name, api));
        let mut users = all.iter().filter(|row| row.owner != "infra");
        let is_used = users.any(|row| {
            let mut names = self.names.iter();
            names.any(|(name, _)| names_of(&row.apis, name))
        });
        for (name, line) in &self.names {
            if names_of(&row.setup, name) && is_used {
                add(EvidenceKind::Word, line);
            } else if names_of(&row.apis, name) {
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

    /// The strongest line that speaks for a component of the compiler.
    pub(in crate::scrub) fn line_for(
        &self,
        row: &ComponentLabel,
        all: &[ComponentLabel],
    ) -> Option<EvidenceLine> {
        let is_sign = |line: &&String| row.texts.iter().any(|sign| matches(sign, line));
        let is_of = |parts: &[String], frame: &str| parts.iter().any(|part| frame.contains(part));
        // Of a stack only the innermost frame that a component knows says where the failure is:
        // what is compiled last has the others on its path.
        let frame = self.stacks.iter().find_map(|stack| {
            if stack.iter().any(|frame| is_of(&row.not, frame)) {
                return None;
            }
            let mut frames = stack.iter().rev();
            if row.anywhere {
                return frames.find(|frame| is_of(&row.frames, frame));
            }
            let inner = frames.find(|frame| all.iter().any(|row| is_of(&row.frames, frame)))?;
            let is_raised = stack.last() == Some(inner);
            (is_of(&row.frames, inner) && (is_raised || !row.raised)).then_some(inner)
        });
        let outer = || {
            let is_outer = |frame: &&String| all.iter().any(|row| is_of(&row.outer, frame));
            let mut frames = self.stacks.iter().filter_map(|stack| {
                let inner = stack.iter().rev().find(is_outer)?;
                is_of(&row.outer, inner).then_some(inner)
            });
            frames.next()
        };
        let error = || {
            let mut lines = self.errors.iter().filter(is_sign);
            lines.find(|line| shows_failure(line))
        };
        let title = || Some(&self.title).filter(is_sign);
        let is_named = |name: &str| row.apis.iter().any(|api| is_api(name, api));
        let code = || {
            let mut names = self.names.iter();
            names.find_map(|(name, line)| is_named(name).then_some(line))
        };
        // A script that names several backends compares the last with those that work.
        let last = self
            .backends
            .iter()
            .max_by_key(|(name, _)| match name.as_str() {
                "inductor" => 2,
                "aot_eager" => 1,
                _ => 0,
            });
        let backend = || {
            let (name, line) = last?;
            (Some(name) == row.backend.as_ref()).then_some(line)
        };
        // A line of a log that is no error says as much as a line of text.
        let word = || self.prose.iter().chain(&self.errors).find(is_sign);
        let found = frame
            .map(|line| (EvidenceKind::Frame, line))
            .or_else(|| Some((EvidenceKind::Title, title()?)))
            .or_else(|| Some((EvidenceKind::Error, error()?)))
            .or_else(|| Some((EvidenceKind::Code, code().or_else(backend)?)))
            .or_else(|| Some((EvidenceKind::OuterFrame, outer()?)))
            .or_else(|| Some((EvidenceKind::Word, word()?)));
        found.map(|(kind, line)| EvidenceLine {
            kind,
            line: line.trim().chars().take(160).collect(),
        })
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

/// Whether a line holds a word; names of classes as they are written, phrases in any case. `*` at
/// the end of the word stands for any ending.
fn holds_word(line: &str, word: &str) -> bool {
    let (word, is_open) = match word.strip_suffix('*') {
        Some(beginning) => (beginning, true),
        None => (word, false),
    };
    let line = if word.chars().any(char::is_uppercase) {
        line.to_owned()
    } else {
        line.to_lowercase()
    };
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    line.match_indices(word).any(|(at, _)| {
        let ends = is_open || !line[at + word.len()..].starts_with(is_part);
        !line[..at].ends_with(is_part) && ends
    })
}
