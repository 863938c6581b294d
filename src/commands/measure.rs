//! How an outcome is judged: by the sign of the bug, or by the exit status of the user's test.

use std::time::Duration;

use crate::{
    oracle::{Difference, Signature, Verdict},
    runner::{End, Outcome},
};

/// How outcomes are judged: by the sign of the bug, or by the exit status of the user's test.
#[derive(Clone, Debug)]
pub(super) enum Measure {
    Signature(Signature),
    Test(String),
}

impl Measure {
    /// Judges an outcome.
    pub(super) fn judge(&self, outcome: &Outcome, timeout: Duration) -> Verdict {
        let timeout = timeout.as_millis() as u64;
        match (self, outcome.end) {
            (Self::Signature(signature), _) => signature.judge(outcome, timeout),
            (Self::Test(_), End::Exit(0)) => Verdict::Same,
            (Self::Test(_), End::Exit(1)) => Verdict::Passed,
            (Self::Test(_), End::Timeout) => Verdict::TimedOut(timeout),
            (Self::Test(_), end) => Verdict::Different(Difference {
                end,
                class: String::new(),
                message: String::new(),
                line: None,
            }),
        }
    }

    /// Where an exception was raised, if that is in a library and not where the bug was.
    pub(super) fn elsewhere(&self, outcome: &Outcome) -> Option<String> {
        match self {
            Self::Signature(signature) => signature.elsewhere(outcome),
            Self::Test(_) => None,
        }
    }

    /// In words.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Signature(signature) => signature.to_string(),
            Self::Test(test) => format!("test `{test}`"),
        }
    }

    /// Whether the bug is that the program does not end.
    pub(super) fn is_hang(&self) -> bool {
        matches!(self, Self::Signature(signature) if signature.is_hang())
    }

    /// Whether candidates that leave names unbound may be interesting all the same.
    pub(super) fn allows_unbound_names(&self) -> bool {
        match self {
            Self::Signature(signature) => signature.is_name_error(),
            Self::Test(_) => true,
        }
    }
}
