//! Whether two exceptions are of one kind, by their classes and the order of their plain words.
//! Looser than a signature, for failures that are not the bug. Pure. Called by the judge.

use std::collections::BTreeSet;

use minrepro_reducers::torch::messages;
use serde::{Deserialize, Serialize};

use super::exceptions::innermost;
use crate::runner::Exception;

/// The number of lines of a message that say what happened; the rest is data.
const LINES: usize = 6;

/// The recognizable parts of an exception.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Likeness {
    class: String,
    /// Each plain word of the message with the next one. Messages of one library share most of
    /// their words, but seldom their order.
    pairs: BTreeSet<(String, String)>,
}

impl Likeness {
    /// The likeness of the cause of an exception.
    pub fn of(exception: &Exception) -> Self {
        let cause = innermost(exception);
        Self {
            class: cause.short_class().to_owned(),
            pairs: pairs(&plain_words(cause.message.lines())),
        }
    }

    /// The class of the cause.
    pub fn class(&self) -> &str {
        &self.class
    }

    /// Whether an exception is of this kind. A message may lose words as a program shrinks, and
    /// gain others.
    pub fn is_of(&self, exception: &Exception) -> bool {
        let its = Self::of(exception);
        let shared = self.pairs.intersection(&its.pairs).count();
        self.class == its.class && shared * 2 >= self.pairs.len()
    }
}

/// Each word with the next one; nothing follows the last.
fn pairs(words: &[String]) -> BTreeSet<(String, String)> {
    let behind = words.iter().skip(1).cloned().chain([String::new()]);
    words.iter().cloned().zip(behind).collect()
}

/// The words in some lines of a message, without names and data: without quoted text, and without
/// words that hold a digit, a dot or an underscore.
pub(super) fn plain_words<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let lines = lines.map(str::trim);
    let lines = lines.take_while(|line| !messages::is_advice(line));
    let bare = |word: &'a str| word.trim_end_matches([',', '.', ':', ';', '!', '?']);
    lines
        .take(LINES)
        .flat_map(str::split_whitespace)
        .map(bare)
        .filter(|word| word.len() > 1 && word.chars().all(|char| char.is_ascii_alphabetic()))
        .map(str::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raised(class: &str, message: &str) -> Exception {
        Exception {
            class: class.to_owned(),
            message: message.to_owned(),
            ..Exception::default()
        }
    }

    #[test]
    fn kinds_go_by_class_and_words() {
        let sizes = "mat1 and mat2 shapes cannot be multiplied (2x3 and 4x5)";
        let kind = Likeness::of(&raised("RuntimeError", sizes));
        let is_of = |class: &str, message: &str| kind.is_of(&raised(class, message));
        let others = "mat1 and mat2 shapes cannot be multiplied (1x1 and 2x1)";
        assert!(is_of("a.b.RuntimeError", others));
        assert!(!is_of("ValueError", sizes));
        assert!(!is_of("RuntimeError", "a view of a leaf is modified"));
        assert!(Likeness::of(&raised("E", "")).is_of(&raised("E", "anything")));
        let negative = Likeness::of(&raised("E", "found negative index -47 for dim 0"));
        assert!(negative.is_of(&raised("E", "found negative index -1 for dim 1")));
        let large = "size is inconsistent with indices: for dim 0, size is 1 but found index 17";
        assert!(!negative.is_of(&raised("E", large)));
    }
}
