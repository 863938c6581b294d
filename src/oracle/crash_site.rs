//! Where a program was when it died of a signal or hung, from the interpreter's own stack dump,
//! which names functions and shows no source. Plain data.

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

use super::raise_site::{RaiseSite, THE_GENERATED};
use crate::{
    runner::{Exception, Outcome, TracebackFrame},
    text::pattern,
};

pattern!(CALL, r"([^\W\d]\w*)\s*\(");

/// Where a program was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CrashSite {
    /// In a function of a library.
    Library {
        /// The last two parts of the file's path; fewer where the user gave fewer.
        file: String,
        /// The function.
        function: String,
    },
    /// In the script itself, at a line that calls these functions; empty if it calls none.
    Script(BTreeSet<String>),
}

impl CrashSite {
    /// Where a stack ends, if that is known.
    pub(super) fn of(stack: &[TracebackFrame]) -> Option<Self> {
        let raised = Exception {
            frames: stack.to_vec(),
            ..Exception::default()
        };
        Some(match RaiseSite::of(&raised)? {
            RaiseSite::Library { file, function, .. } => Self::Library { file, function },
            RaiseSite::Script { code } => Self::Script(calls(&code)),
        })
    }

    /// The site that all outcomes share.
    pub(super) fn common(outcomes: &[Outcome]) -> Option<Self> {
        let first = Self::of(&outcomes.first()?.stack)?;
        outcomes
            .iter()
            .all(|outcome| Self::of(&outcome.stack).as_ref() == Some(&first))
            .then_some(first)
    }

    /// Whether a program that hangs is held up by the same call.
    pub(super) fn holds_up(&self, outcome: &Outcome) -> bool {
        Self::of(&outcome.stack).is_some_and(|its| self.is_as(&its))
    }

    /// Whether a program may have died of the same cause. Once a library's function is removed, the
    /// script may itself call what that function called. But a death in another library function is
    /// another bug, and code that a library generated calls functions that no script calls.
    pub(super) fn allows_death(&self, outcome: &Outcome) -> bool {
        match (self, Self::of(&outcome.stack)) {
            (Self::Library { file, .. }, Some(Self::Script(_))) => file != THE_GENERATED,
            (_, None | Some(Self::Script(_))) => true,
            (own, Some(its)) => own.is_as(&its),
        }
    }

    fn is_as(&self, its: &Self) -> bool {
        match (self, its) {
            (
                Self::Library { file, function },
                Self::Library {
                    file: its,
                    function: of,
                },
            ) => {
                let is_end = its
                    .strip_suffix(file.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
                is_end && function == of
            }
            (Self::Script(calls), Self::Script(its)) => {
                !calls.is_disjoint(its) || (calls.is_empty() && its.is_empty())
            }
            _ => false,
        }
    }

    /// The possible meanings of a typed text: `FILE, FUNCTION()`, or a line of the script.
    pub(super) fn typed(text: &str) -> Vec<Self> {
        let of = |site| match site {
            RaiseSite::Library { code: Some(_), .. } => None,
            RaiseSite::Library {
                file,
                function,
                code: None,
            } => Some(Self::Library { file, function }),
            RaiseSite::Script { code } => Some(Self::Script(calls(&code))),
        };
        RaiseSite::typed(text).into_iter().filter_map(of).collect()
    }

    /// As the user types it.
    pub(super) fn argument(&self) -> String {
        match self {
            Self::Library { file, function } => format!("{file}, {function}()"),
            Self::Script(calls) if calls.is_empty() => "a line without calls".to_owned(),
            Self::Script(calls) => calls
                .iter()
                .map(|name| format!("{name}()"))
                .collect::<Vec<_>>()
                .join(" "),
        }
    }
}

/// The names that a line calls, without their receivers.
pub(super) fn calls(code: &str) -> BTreeSet<String> {
    const WORDS: &[&str] = &[
        "if", "elif", "while", "for", "in", "not", "and", "or", "return", "await", "with",
    ];
    CALL.captures_iter(code)
        .map(|found| found[1].to_owned())
        .filter(|name| !WORDS.contains(&name.as_str()))
        .collect()
}

impl fmt::Display for CrashSite {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "in {}", self.argument())
    }
}
