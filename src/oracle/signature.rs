//! What "the same bug" means: parts that must all hold of an outcome. Plain data and a pure match; no part ever looks at
//! the source lines inside a traceback.

use std::fmt;

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::verdict::{Difference, Verdict};
use crate::runner::{End, Exception, Outcome, traceback};

/// The sign of a bug. All parts must hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signature {
    /// The parts.
    pub parts: Vec<Part>,
    /// The class of the baseline's exception if it is one that programs get by accident when parts of them go; an
    /// outcome with such a class matches only where it is this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accident: Option<String>,
}

/// One part of a signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The class of the exception: its last dotted parts.
    Class(String),
    /// In the exception's message.
    Message(Pattern),
    /// In the exception's class and message, `Class: message`.
    Headline(Pattern),
    /// Where the exception was raised, for messages that say nothing.
    RaisedAt(Place),
    /// The exit status as a shell shows it.
    Exit(i32),
    /// On standard output.
    Stdout(Pattern),
    /// On standard error.
    Stderr(Pattern),
}

/// What a text must hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// These fragments, in this order.
    Fragments(Vec<String>),
    /// A match of this regular expression.
    Regex(String),
}

/// Where an exception was raised, free of line numbers and folders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// In a library: the last two parts of the file's path, and the function.
    Library {
        /// The file.
        file: String,
        /// The function.
        function: String,
    },
    /// In the script itself: the line, white space folded.
    Script {
        /// The line's text.
        code: String,
    },
}

/// Classes that a program raises by accident once something it needs is gone.
const ACCIDENTS: &[&str] = &[
    "NameError",
    "UnboundLocalError",
    "ImportError",
    "ModuleNotFoundError",
    "SyntaxError",
    "IndentationError",
    "TabError",
];

/// Whether a class is one that programs get by accident.
pub(super) fn is_accident(class: &str) -> bool {
    ACCIDENTS.contains(&class.rsplit('.').next().unwrap_or(class))
}

impl Signature {
    /// A signature of these parts, seen in these outcomes.
    pub(super) fn seen_in(parts: Vec<Part>, outcomes: &[Outcome]) -> Self {
        let accident = outcomes
            .iter()
            .filter_map(|outcome| outcome.exception.as_ref())
            .map(Exception::short_class)
            .find(|class| is_accident(class))
            .map(str::to_owned);
        Self { parts, accident }
    }

    /// Whether an outcome shows the bug.
    pub fn matches(&self, outcome: &Outcome) -> bool {
        if matches!(outcome.end, End::Timeout | End::Limit(_)) {
            return false;
        }
        if let Some(class) = outcome.exception.as_ref().map(Exception::short_class)
            && is_accident(class)
            && self.accident.as_deref() != Some(class)
            && !self.names_class(class)
        {
            return false;
        }
        self.parts.iter().all(|part| part.holds(outcome))
    }

    fn names_class(&self, class: &str) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Class(named) if ends_in(named, class)))
    }

    /// Whether the bug is that a name is bound nowhere.
    pub fn is_name_error(&self) -> bool {
        ["NameError", "UnboundLocalError"]
            .iter()
            .any(|class| self.accident.as_deref() == Some(*class) || self.names_class(class))
    }

    /// Judges an outcome.
    pub fn judge(&self, outcome: &Outcome, timeout_ms: u64) -> Verdict {
        if self.matches(outcome) {
            return Verdict::Same;
        }
        let exception = outcome.exception.as_ref();
        match outcome.end {
            End::Timeout => Verdict::TimedOut(timeout_ms),
            End::Exit(0) if exception.is_none() => Verdict::Passed,
            end => Verdict::Different(Difference {
                end,
                class: exception.map_or_else(String::new, |it| it.class.clone()),
                message: exception.map_or_else(String::new, |it| it.message.chars().take(300).collect()),
                line: exception.and_then(|it| Some(it.frames.first()?.line)),
            }),
        }
    }

    /// The same text for the same signature, for names of journals.
    pub fn identity(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Part {
    /// Whether this part holds of an outcome.
    pub(super) fn holds(&self, outcome: &Outcome) -> bool {
        let exception = outcome.exception.as_ref();
        match self {
            Self::Class(class) => exception.is_some_and(|it| ends_in(&it.class, class)),
            Self::Message(pattern) => exception.is_some_and(|it| pattern.is_in(&it.message)),
            Self::Headline(pattern) => exception.is_some_and(|it| pattern.is_in(&headline(it))),
            Self::RaisedAt(place) => exception.and_then(Place::of).is_some_and(|it| it == *place),
            Self::Exit(status) => outcome.end.shell_status() == Some(*status),
            Self::Stdout(pattern) => pattern.is_in(&traceback::without_frames(&outcome.stdout.text())),
            Self::Stderr(pattern) => pattern.is_in(&traceback::without_frames(&outcome.stderr.text())),
        }
    }
}

/// `Class: message`, or the class alone.
pub(super) fn headline(exception: &Exception) -> String {
    if exception.message.is_empty() {
        return exception.class.clone();
    }
    format!("{}: {}", exception.class, exception.message)
}

/// Whether a dotted name ends in another: `a.b.C` in `C` and `b.C`, not in `bC`.
fn ends_in(name: &str, end: &str) -> bool {
    name.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

impl Pattern {
    /// One literal text.
    pub(super) fn literal(text: &str) -> Self {
        Self::Fragments(vec![text.to_owned()])
    }

    fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Fragments(fragments) => {
                let mut rest = text;
                fragments.iter().all(|fragment| match rest.split_once(fragment.as_str()) {
                    Some((_, behind)) => {
                        rest = behind;
                        true
                    }
                    None => false,
                })
            }
            // Checked when the signature was parsed.
            Self::Regex(regex) => Regex::new(regex).is_ok_and(|regex| regex.is_match(text)),
        }
    }
}

impl Place {
    /// Where an exception was raised.
    pub(super) fn of(exception: &Exception) -> Option<Self> {
        let last = exception.frames.last()?;
        let script = &exception.frames.first()?.file;
        if last.file == *script {
            let code: Vec<&str> = last.code.split_whitespace().collect();
            return Some(Self::Script { code: code.join(" ") });
        }
        let parts: Vec<&str> = last.file.rsplit('/').take(2).collect();
        let file = parts.into_iter().rev().collect::<Vec<_>>().join("/");
        Some(Self::Library { file, function: last.function.clone() })
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = self.parts.iter().peekable();
        let mut first = true;
        while let Some(part) = parts.next() {
            if !first {
                formatter.write_str(" and ")?;
            }
            first = false;
            match (part, parts.peek()) {
                (Part::Class(class), Some(Part::Message(pattern))) => {
                    write!(formatter, "{class}: {pattern}")?;
                    parts.next();
                }
                _ => write!(formatter, "{part}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Class(class) => formatter.write_str(class),
            Self::Message(pattern) | Self::Headline(pattern) => pattern.fmt(formatter),
            Self::RaisedAt(Place::Library { file, function }) => {
                write!(formatter, "raised in {file}, {function}()")
            }
            Self::RaisedAt(Place::Script { code }) => write!(formatter, "raised by `{code}`"),
            Self::Exit(status) => write!(formatter, "exit:{status}"),
            Self::Stdout(pattern) => write!(formatter, "stdout:{pattern}"),
            Self::Stderr(pattern) => write!(formatter, "stderr:{pattern}"),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fragments(fragments) => formatter.write_str(&fragments.join(" … ")),
            Self::Regex(regex) => write!(formatter, "/{regex}/"),
        }
    }
}
