//! One replacement, and texts with some of their parts replaced. Called by `edit`, `removal` and
//! code that rewrites a text that is not a program.

use std::hash::{Hash, Hasher};

use crate::syntax::TextRange;

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The removed text; empty for an insertion.
    pub range: TextRange,
    /// The new text.
    pub text: String,
}

impl Edit {
    /// Deletes a range.
    pub fn delete(range: TextRange) -> Self {
        Self {
            range,
            text: String::new(),
        }
    }

    /// Replaces a range.
    pub fn replace(range: TextRange, text: impl Into<String>) -> Self {
        Self {
            range,
            text: text.into(),
        }
    }
}

impl Ord for Edit {
    /// By start; of two that start together the longer first, insertions before all.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |edit: &Self| {
            (
                edit.range.start(),
                !edit.range.is_empty(),
                std::cmp::Reverse(edit.range.end()),
            )
        };
        key(self)
            .cmp(&key(other))
            .then_with(|| self.text.cmp(&other.text))
    }
}

impl PartialOrd for Edit {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Edit {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (
            u32::from(self.range.start()),
            u32::from(self.range.end()),
            &self.text,
        )
            .hash(state);
    }
}

/// Replaces disjoint ascending ranges of a text.
pub fn splice(text: &str, edits: &[Edit]) -> String {
    let mut result = String::with_capacity(text.len());
    let mut from = 0;
    for edit in edits {
        result.push_str(&text[from..usize::from(edit.range.start())]);
        result.push_str(&edit.text);
        from = edit.range.end().into();
    }
    result.push_str(&text[from..]);
    result
}
