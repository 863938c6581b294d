//! A pattern that a text must match: lines with fragments in them, a text, or a regular expression.
//! Plain data and a pure match.

use std::{collections::BTreeSet, fmt};

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::normalize::letters;

/// Separates two fragments when a pattern is shown or typed.
pub(super) const ELLIPSIS: &str = " … ";

/// A pattern that a text must match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Lines in this order, not necessarily adjacent, each with its fragments in this order. A
    /// fragment never begins or ends within a word or a number: `key` is not in `keyboard`, `int3`
    /// not in `int32`.
    Lines(Vec<Vec<String>>),
    /// Fragments in this order, anywhere in the text. Like those of lines, they cut no word; any
    /// run of white space equals any other, line breaks included.
    Flow(Vec<String>),
    /// This text, also within a word; any run of white space equals any other.
    Text(String),
    /// A match of this regular expression.
    Regex(String),
}

/// From how many letters on a word says something by itself.
pub const WORD: usize = 3;

impl Pattern {
    /// All meanings of a typed text, strictest first: the words as they are, on other lines, within
    /// words, and with gaps for each ellipsis, within one line or over several.
    pub(super) fn typed(text: &str) -> Vec<Self> {
        let filled = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let literal = filled.map(|line| vec![line.to_owned()]).collect();
        let mut patterns = vec![
            Self::Lines(literal),
            Self::Flow(vec![text.to_owned()]),
            Self::Text(text.to_owned()),
        ];
        for gap in ["…", "..."].into_iter().filter(|gap| text.contains(gap)) {
            let split = |line: &str| -> Vec<String> {
                line.split(gap)
                    .map(str::trim)
                    .filter(|fragment| !fragment.is_empty())
                    .map(str::to_owned)
                    .collect()
            };
            let lines: Vec<Vec<String>> = text
                .lines()
                .map(split)
                .filter(|line| !line.is_empty())
                .collect();
            if !lines.is_empty() {
                let fragments = lines.concat();
                patterns.extend([Self::Lines(lines), Self::Flow(fragments)]);
            }
        }
        patterns
    }

    /// Whether a text matches it.
    pub fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Lines(wanted) => {
                let mut lines = text.lines();
                wanted
                    .iter()
                    .all(|fragments| lines.any(|line| has_all(line, fragments)))
            }
            Self::Flow(wanted) => {
                let wanted: Vec<String> = wanted.iter().map(|words| spaced(words)).collect();
                has_all(&spaced(text), &wanted)
            }
            Self::Text(wanted) => spaced(text).contains(&spaced(wanted)),
            // Checked when the signature was parsed.
            Self::Regex(regex) => Regex::new(regex).is_ok_and(|regex| regex.is_match(text)),
        }
    }

    /// Leaves gaps for these names, and for words in these texts.
    pub(super) fn forget(&mut self, names: &BTreeSet<String>, texts: &[&str]) {
        let Self::Lines(lines) = self else {
            return;
        };
        let is_word = |char: char| char.is_alphanumeric() || char == '_';
        let known = |fragment: &str| -> Vec<String> {
            let mut left = vec![String::new()];
            // Words and the text between them, each as a piece.
            for piece in fragment.split_inclusive(|char| !is_word(char)) {
                let word = piece.trim_end_matches(|char| !is_word(char));
                if names.contains(word) {
                    left.push(piece[word.len()..].to_owned());
                } else if let Some(last) = left.last_mut() {
                    last.push_str(piece);
                }
            }
            let is_separator = |char: char| char.is_whitespace() || ":.,;".contains(char);
            let pieces = left.iter().map(|piece| piece.trim_matches(is_separator));
            pieces
                .filter(|piece| letters(piece) > 0)
                .map(str::to_owned)
                .collect()
        };
        for line in &mut *lines {
            *line = line.iter().flat_map(|fragment| known(fragment)).collect();
            line.retain(|fragment| !texts.iter().any(|text| text.contains(fragment.as_str())));
        }
        lines.retain(|line| !line.is_empty());
    }

    /// The words of so many letters or more that a text must hold; none for a regular expression.
    pub fn words(&self, least: usize) -> Vec<String> {
        let text = match self {
            Self::Lines(lines) => lines
                .iter()
                .flatten()
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join(" "),
            Self::Flow(fragments) => fragments.join(" "),
            Self::Text(text) => text.clone(),
            Self::Regex(_) => String::new(),
        };
        let words = text.split(|char: char| !char.is_alphanumeric());
        words
            .filter(|word| letters(word) >= least)
            .map(str::to_owned)
            .collect()
    }

    /// The longest text that every match contains. A single word, if the white space between words
    /// may be any. None for a regular expression.
    pub(super) fn longest_text(&self) -> Option<&str> {
        match self {
            Self::Lines(lines) => lines
                .iter()
                .flatten()
                .map(String::as_str)
                .max_by_key(|fragment| fragment.len()),
            Self::Flow(fragments) => fragments
                .iter()
                .flat_map(|fragment| fragment.split_whitespace())
                .max_by_key(|word| word.len()),
            Self::Text(text) => text.split_whitespace().max_by_key(|word| word.len()),
            Self::Regex(_) => None,
        }
    }

    /// Whether a text, or the text without some of its lines, may match. A quick check, for long
    /// texts.
    pub(super) fn may_be_in(&self, text: &str) -> bool {
        self.longest_text()
            .is_none_or(|longest| text.contains(longest))
    }

    /// As the user types it.
    pub(super) fn argument(&self) -> String {
        match self {
            Self::Lines(lines) => {
                let lines: Vec<String> = lines
                    .iter()
                    .map(|fragments| fragments.join(ELLIPSIS))
                    .collect();
                lines.join("\n")
            }
            Self::Flow(fragments) => fragments.join(ELLIPSIS),
            Self::Text(text) => text.clone(),
            Self::Regex(regex) => format!("/{regex}/"),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.argument().replace('\n', ELLIPSIS))
    }
}

/// A text with one blank for each run of white space; at its ends they are dropped.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Whether a line holds all fragments, one after the other.
fn has_all(line: &str, fragments: &[String]) -> bool {
    let mut from = 0;
    fragments
        .iter()
        .all(|fragment| match find(line, from, fragment) {
            Some(at) => {
                from = at + fragment.len();
                true
            }
            None => false,
        })
}

/// The position of a fragment in a line, at `from` or later, where it cuts no word.
fn find(line: &str, from: usize, fragment: &str) -> Option<usize> {
    let is_whole = |at: &usize| {
        let end = at + fragment.len();
        !is_within(line[..*at].chars().next_back(), fragment.chars().next())
            && !is_within(fragment.chars().next_back(), line[end..].chars().next())
    };
    line[from..]
        .match_indices(fragment)
        .map(|(at, _)| from + at)
        .find(is_whole)
}

/// Whether two neighbours belong to one word, or to one number.
fn is_within(one: Option<char>, next: Option<char>) -> bool {
    let is_letter = |char: char| char.is_alphabetic() || char == '_';
    one.zip(next).is_some_and(|(one, next)| {
        is_letter(one) && is_letter(next) || one.is_ascii_digit() && next.is_ascii_digit()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lines: &[&[&str]]) -> Pattern {
        Pattern::Lines(
            lines
                .iter()
                .map(|line| line.iter().map(|text| (*text).to_owned()).collect())
                .collect(),
        )
    }

    #[test]
    fn fragments_cut_no_word() {
        for (fragment, text, expected) in [
            ("key", "the key 'a'", true),
            ("key", "keyboard", false),
            ("key", "a monkey", false),
            ("key", "monkey key", true),
            ("int3", "int32", false),
            ("float", "float32", true),
            ("rd dimension", "3rd dimension", true),
            ("'a'", "'a'", true),
            ("x", "x_size", false),
        ] {
            assert_eq!(
                lines(&[&[fragment]]).is_in(text),
                expected,
                "{fragment} in {text}"
            );
            assert_eq!(
                Pattern::Text(fragment.to_owned()).is_in(text),
                text.contains(fragment)
            );
        }
    }

    #[test]
    fn lines_keep_their_order() {
        let pattern = lines(&[&["raised:"], &["got", "of"]]);
        assert!(pattern.is_in("backend raised:\nnoise\nE: got 3 of 4"));
        assert!(!pattern.is_in("E: got 3 of 4\nbackend raised:"));
        assert!(!pattern.is_in("backend raised:\nE: got 3\nof 4"));
        assert!(!pattern.is_in("backend raised: got 3 of 4"));
        assert!(!pattern.is_in("backend raised:\nE: of 4 got 3"));
        assert_eq!(
            (pattern.argument().as_str(), pattern.to_string().as_str()),
            ("raised:\ngot … of", "raised: … got … of")
        );
    }

    #[test]
    fn ellipses_are_gaps() {
        let found = Pattern::typed("got … of ...\nthen");
        assert!(found.contains(&lines(&[&["got", "of ..."], &["then"]])));
        assert!(found.contains(&lines(&[&["got … of"], &["then"]])));
        assert_eq!(Pattern::typed("…").len(), 3);
    }
}
