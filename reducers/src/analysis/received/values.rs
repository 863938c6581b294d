//! A value that a call received, as a run wrote it down, and what may be left of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The mark of the kind of an empty container.
pub(super) const EMPTY: &str = ", empty";

/// The mark of the kind of an object that can be called.
const CALLABLE: &str = ", callable";

/// A value that a call received.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum GivenValue {
    /// Its kind alone; an empty one for what is handed out one by one.
    Kind([String; 1]),
    /// Its kind and its text.
    Plain(String, String),
    /// Its kind and its parts.
    Parts(String, Vec<GivenValue>),
}

impl GivenValue {
    pub(super) fn kind(&self) -> &str {
        let kind = self.whole_kind();
        kind.strip_suffix(CALLABLE).unwrap_or(kind)
    }

    /// Whether it is an object that can be called like a function.
    pub(super) fn is_callable(&self) -> bool {
        self.whole_kind().ends_with(CALLABLE)
    }

    fn whole_kind(&self) -> &str {
        match self {
            Self::Kind([kind]) | Self::Plain(kind, _) | Self::Parts(kind, _) => kind,
        }
    }

    /// Whether it is empty, or `None`.
    pub(super) fn is_nothing(&self) -> bool {
        self.kind() == "None" || self.kind().ends_with(EMPTY)
    }

    /// Its text, if it is one that is known.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Plain(kind, text) if kind == "str" => Some(text),
            _ => None,
        }
    }

    /// Whether Python writes it so.
    pub(super) fn is_written(&self, text: &str) -> bool {
        matches!(self, Self::Plain(_, written) if written == text)
    }

    pub(super) fn parts(&self) -> &[Self] {
        match self {
            Self::Parts(_, parts) => parts,
            _ => &[],
        }
    }

    /// Whether a value is what is left of this one, or any where nothing is known of it.
    fn has_left(&self, other: &Self) -> bool {
        if self.kind().is_empty() {
            return true;
        }
        match (self, other) {
            (Self::Parts(kind, whole), Self::Parts(other, left)) => {
                let mut parts = whole.iter();
                kind == other
                    && left
                        .iter()
                        .all(|part| parts.any(|of_whole| of_whole.has_left(part)))
                    && (!has_both_answers(whole) || left.is_empty() || has_both_answers(left))
            }
            // The time of two runs may be one second, and that of a third the next.
            (Self::Plain(kind, known), Self::Plain(other, text)) => {
                kind == other && (known == text || tells_time(known) && tells_time(text))
            }
            _ => self.kind() == other.kind(),
        }
    }
}

/// Whether a text holds a time of day.
fn tells_time(text: &str) -> bool {
    let mut parts = text.as_bytes().windows("00:00:00".len());
    parts.any(|part| {
        part.iter().enumerate().all(|(at, byte)| match at {
            2 | 5 => *byte == b':',
            _ => byte.is_ascii_digit(),
        })
    })
}

/// Whether some values hold both `True` and `False`: a mask that selects something selects all, or
/// nothing, if it holds one of them alone.
fn has_both_answers(values: &[GivenValue]) -> bool {
    let holds = |answer: &str| {
        let mut values = values.iter();
        values.any(|value| matches!(value, GivenValue::Plain(kind, text) if kind == "bool" && text == answer))
    };
    holds("True") && holds("False")
}

/// The values that a call received, by position or name; the object of a method has none.
pub(super) type GivenValues = BTreeMap<String, GivenValue>;

/// Whether a call receives what is left of another's arguments.
pub(super) fn is_left_of(call: &GivenValues, whole: &GivenValues) -> bool {
    let mut values = call.iter();
    values.all(|(place, value)| {
        let known = whole.get(place);
        known.is_some_and(|known| known.has_left(value))
    })
}

/// Whether the letters of a text are some of another's, in their order. What is left of a text has
/// no letters of its own, while its numbers and its punctuation may have been computed. A single
/// letter says nothing.
pub(super) fn has_letters_of(text: &str, whole: &str) -> bool {
    let is_letter = |char: &char| char.is_alphabetic();
    let mut letters = whole.chars().filter(is_letter);
    let mut its = text.chars().filter(is_letter);
    its.clone().count() < 2 || its.all(|char| letters.any(|letter| letter == char))
}
