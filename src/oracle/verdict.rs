//! The verdict of the oracle on one candidate; plain data that the journal keeps and the passes
//! learn from.

use serde::{Deserialize, Serialize};

use crate::runner::End;

/// Whether a candidate shows the same bug.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The signature matches.
    Same,
    /// The program succeeded, without the bug.
    Passed,
    /// The signature matches, but the program reports a failure that no longer depends on anything.
    Vacuous,
    /// The signature matches, but the program also fails where the original succeeds and the bug
    /// is absent, so that its code is not valid.
    Invalid,
    /// The program failed, in another way.
    Different(Difference),
    /// The time limit, in milliseconds, passed.
    TimedOut(u64),
}

impl Verdict {
    /// Whether the candidate shows the same bug.
    pub fn is_same(&self) -> bool {
        matches!(self, Self::Same)
    }
}

/// How a failure differs from the bug.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Difference {
    /// How the run ended.
    pub end: End,
    /// Class of the exception, dots included; empty if there was none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub class: String,
    /// The first 300 characters of its message.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The line of the script in which it was raised, counted from 1, where the traceback says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// How the mechanism differs, if the words are those of the bug.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mechanism: Option<String>,
}
