//! A failure as an issue or a run shows it: an exception, a crash, a hang or a wrong result; the
//! signature that it gives, and whether two are the same complaint. Pure. Called by the readers of
//! issues and by the steps that run scripts.

use minrepro_reducers::torch::messages;
use serde::{Deserialize, Serialize};

use crate::{oracle::Likeness, runner::Exception, text::pattern};

/// A failure as an issue reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportedFailure {
    /// An exception: its class as printed and the first line of its message.
    Exception {
        /// The class.
        class: String,
        /// The line.
        message: String,
        /// Files of libraries in its traceback, innermost last.
        #[serde(default)]
        files: Vec<String>,
    },
    /// Death by one of these signals, if they are known.
    Crash(Vec<i32>),
    /// It does not end.
    Hang,
    /// A wrong result, or a missing error.
    WrongResult,
}

pattern!(
    VARIES,
    &[
        r"0x[0-9a-fA-F]+|/(?:tmp|home|root|usr|opt|data|mnt|workspace)/[^\s'\x22:,)]*",
        messages::FAKE_TENSOR,
        messages::SYMBOLS,
        r"\b\d+(?:x\d+)+\b|\b\d[\d.,]*(?:[eE][-+]?\d+)?\b|<[^<>]* at …>",
    ]
    .join("|")
);

impl ReportedFailure {
    /// The signature that a run must show, as a user types it; none if only a person can judge.
    pub fn signature(&self) -> Option<String> {
        match self {
            Self::Exception { class, message, .. } => {
                let class = class.rsplit('.').next().unwrap_or(class);
                let message = distinctive(message);
                Some(if message.is_empty() {
                    class.to_owned()
                } else {
                    format!("{class}: {message}")
                })
            }
            Self::Crash(signals) if signals.is_empty() => {
                Some("exit:139,134,136,132,135".to_owned())
            }
            Self::Crash(signals) => {
                // One run aborts where the next has a bad access.
                let mut signals = signals.clone();
                if signals.contains(&11) || signals.contains(&6) {
                    signals.extend([11, 6]);
                }
                signals.sort_unstable();
                signals.dedup();
                let statuses: Vec<String> = signals
                    .iter()
                    .map(|signal| (128 + signal).to_string())
                    .collect();
                Some(format!("exit:{}", statuses.join(",")))
            }
            Self::Hang => Some("timeout".to_owned()),
            Self::WrongResult => None,
        }
    }

    /// Whether another failure is the same complaint: of this class, with these plain words.
    pub fn is_alike(&self, other: &Self) -> bool {
        const LEAST: usize = 3;
        let (Some(own), Some(its)) = (self.raised(), other.raised()) else {
            return false;
        };
        let words = own
            .message
            .split_whitespace()
            .filter(|word| word.chars().all(char::is_alphabetic))
            .count();
        words >= LEAST && Likeness::of(&own).is_of(&its) && Likeness::of(&its).is_of(&own)
    }

    fn raised(&self) -> Option<Exception> {
        match self {
            Self::Exception { class, message, .. } => Some(Exception {
                class: class.clone(),
                message: message.clone(),
                ..Exception::default()
            }),
            _ => None,
        }
    }

    /// A description for people.
    pub fn describe(&self) -> String {
        match self {
            Self::Exception { class, message, .. } if message.is_empty() => class.clone(),
            Self::Exception { class, message, .. } => format!("{class}: {message}"),
            Self::Crash(_) => "a crash".to_owned(),
            Self::Hang => "a hang".to_owned(),
            Self::WrongResult => "a wrong result".to_owned(),
        }
    }
}

/// The part of a message that distinguishes the bug and does not vary from run to run.
fn distinctive(message: &str) -> String {
    let line: String = message
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(160)
        .collect();
    let masked = VARIES.replace_all(&line, "…");
    let words = |text: &str| {
        text.split(|char: char| !char.is_alphabetic())
            .filter(|word| word.len() > 2)
            .count()
    };
    let chosen = if words(&masked) >= 2 {
        masked.into_owned()
    } else {
        line.clone()
    };
    let mut chosen = chosen
        .trim()
        .trim_start_matches('…')
        .trim_end_matches(['…', ' ', '(', '['])
        .trim()
        .to_owned();
    if line.chars().count() == 160
        && let Some(at) = chosen.rfind(' ')
    {
        chosen.truncate(at);
    }
    chosen
}
