//! The events of a command that `--format jsonl` prints, as data, one value per line. Each event
//! holds everything that happened, in fields. The words for people are made elsewhere. Prints and
//! runs nothing.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Report;
use crate::{
    cli::{Exit, Failure},
    engine::{Commit, Event, Retraction, Tally},
    judge::{Inspection, Truth},
    oracle::Verdict,
    runner::End,
};

/// The version of the events' form; it grows when an event or a field changes its meaning or is
/// removed. Within a version, events and fields are only added.
pub const EVENTS_VERSION: u32 = 1;

/// One event.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum EventRecord {
    /// The command began: always the first event.
    Begin {
        /// The version of this form.
        version: u32,
        /// The version of minrepro.
        minrepro: String,
        /// The script.
        script: String,
    },
    /// A phase began.
    Phase {
        /// The phase.
        phase: Phase,
    },
    /// The signature of the bug is known, from the runs of the original script.
    Signature {
        /// The signature, or the command that judges candidates.
        signature: String,
        /// Whether it was derived from the script's own failure.
        derived: bool,
        /// The time limit of each candidate run, in seconds.
        timeout: f64,
    },
    /// It was decided how candidates start.
    Runner {
        /// Whether they are forked from an interpreter that has imported the script's imports.
        warm: bool,
        /// Why they are not, if they are not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why_cold: Option<String>,
        /// How runs are confined, in words.
        confinement: String,
    },
    /// Runs have another environment than the user.
    Environment {
        /// Variables that are set.
        set: BTreeMap<String, String>,
        /// Variables that are withheld.
        withheld: Vec<String>,
    },
    /// A note about the input.
    Note {
        /// The note, in words.
        text: String,
    },
    /// Candidates must meet a condition besides the signature.
    Check {
        /// The condition, in words.
        claim: String,
    },
    /// The bug shows in every run with a seed.
    Stabilizer {
        /// The variable, or the calls that were added to the script.
        by: String,
    },
    /// Candidates are about to be run.
    Batch {
        /// The passes that proposed them.
        pass: String,
        /// How many there are.
        candidates: usize,
        /// How large the search has become.
        #[serde(flatten)]
        so_far: SoFar,
    },
    /// A candidate was judged.
    Run {
        /// The pass that proposed it; `fold` stands for unions of edits. None for verdicts of the
        /// journal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pass: Option<String>,
        /// The verdict.
        verdict: Verdict,
        /// Wall time of its runs, in seconds.
        seconds: f64,
        /// Whether an earlier session had run it.
        from_journal: bool,
        /// How large the search has become.
        #[serde(flatten)]
        so_far: SoFar,
    },
    /// A smaller program was found. It is in the output file when this event is printed.
    Improvement {
        /// The change.
        change: Commit,
        /// How large the search has become.
        #[serde(flatten)]
        so_far: SoFar,
    },
    /// The search went back to the last confirmed program.
    RolledBack {
        /// Why, in words.
        reason: String,
        /// Whether all candidates start cold from here on.
        cold_from_here: bool,
        /// How large the search has become.
        #[serde(flatten)]
        so_far: SoFar,
    },
    /// A pass failed and is switched off: a bug in minrepro.
    PassFailed {
        /// The pass.
        pass: String,
        /// The message of its panic.
        message: String,
    },
    /// The journal cannot be written any more, so a rerun starts from the beginning.
    JournalFailed {
        /// Why.
        message: String,
    },
    /// `check`: the original script was run once.
    BaselineRun {
        /// Its number, from 1.
        number: usize,
        /// Its wall time.
        seconds: f64,
        /// How it ended.
        end: End,
        /// How it ended, in words.
        summary: String,
    },
    /// `check`: the outcome of all runs.
    Checked {
        /// The signature, or the command that judged the script.
        signature: String,
        /// The arguments of `--signature` that give the same signature; empty if a command judged.
        arguments: Vec<String>,
        /// How many runs showed the bug.
        same: usize,
        /// How many runs there were.
        of: usize,
    },
    /// `check --candidate`: a program was judged.
    Candidate {
        /// The file.
        file: String,
        /// Whether it shows the bug and passes all checks.
        verified: bool,
        /// The failure that it shows instead, if it does not show the bug.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instead: Option<String>,
        /// The findings of the checks.
        truth: Truth,
        /// How the mechanism of its failure differs, if it does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mismatch: Option<String>,
    },
    /// The result could not be written to its file, and is here instead.
    Result {
        /// The result.
        text: String,
    },
    /// The reduction ended, and its result was written.
    Report(Box<Report>),
    /// The command failed; `end` follows.
    Error {
        /// The exit status.
        code: u8,
        /// Its name.
        name: String,
        /// The error.
        message: String,
        /// Its causes, outermost first.
        causes: Vec<String>,
        /// The observations behind the error, line by line, for people.
        details: Vec<String>,
        /// How to remedy it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    },
    /// The command ended: the last event, unless minrepro was killed or crashed.
    End {
        /// The exit status.
        code: u8,
        /// Its name.
        name: String,
    },
}

/// The phases of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// The script is run as given.
    Baseline,
    /// Candidates are proposed and run.
    Search,
    /// Conditions of the result are taken away one by one.
    Ablation,
    /// The result is confirmed by fresh runs.
    Confirmation,
    /// The result is run as a test.
    Test,
}

impl Phase {
    /// For people; the search needs no line of its own.
    pub(super) fn words(self) -> Option<&'static str> {
        Some(match self {
            Self::Baseline => "running the script as given",
            Self::Search => return None,
            Self::Ablation => "trying what is necessary",
            Self::Confirmation => "confirming by fresh runs",
            Self::Test => "running the result as a test",
        })
    }
}

/// How large a search has become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SoFar {
    /// Candidate runs of this session.
    pub runs: u64,
    /// Tokens of the best program so far.
    pub tokens: u32,
}

impl EventRecord {
    /// The first event.
    pub fn begin(script: String) -> Self {
        Self::Begin {
            version: EVENTS_VERSION,
            minrepro: env!("CARGO_PKG_VERSION").to_owned(),
            script,
        }
    }

    /// An event of the search.
    pub fn of_search(event: &Event<'_>, tally: &Tally) -> Self {
        let so_far = SoFar {
            runs: tally.runs,
            tokens: tally.tokens_now,
        };
        match event {
            Event::Batch { pass, candidates } => Self::Batch {
                pass: (*pass).to_owned(),
                candidates: *candidates,
                so_far,
            },
            Event::Run {
                pass,
                verdict,
                seconds,
                from_journal,
            } => Self::Run {
                pass: pass.map(str::to_owned),
                verdict: (*verdict).clone(),
                seconds: *seconds,
                from_journal: *from_journal,
                so_far,
            },
            Event::Commit { commit, .. } => Self::Improvement {
                change: (*commit).clone(),
                so_far,
            },
            Event::RolledBack { retraction, .. } => Self::RolledBack {
                reason: retraction.reason().to_owned(),
                cold_from_here: matches!(retraction, Retraction::All(_)),
                so_far,
            },
            Event::PassFailed { pass, message } => Self::PassFailed {
                pass: (*pass).to_owned(),
                message: (*message).to_owned(),
            },
            Event::JournalFailed { error } => Self::JournalFailed {
                message: error.to_string(),
            },
        }
    }

    /// A program that was judged.
    pub fn judged(file: String, found: Inspection) -> Self {
        let verified = found.is_verified();
        let (instead, truth, mismatch) = match found {
            Inspection::NotShown(instead) => (Some(instead), Truth::default(), None),
            Inspection::Shown { truth, mismatch } => (None, truth, mismatch),
        };
        Self::Candidate {
            file,
            verified,
            instead,
            truth,
            mismatch,
        }
    }

    /// A failure.
    pub fn failed(failure: &Failure) -> Self {
        Self::Error {
            code: failure.exit.code(),
            name: failure.exit.name().to_owned(),
            message: failure.error.to_string(),
            causes: failure
                .error
                .chain()
                .skip(1)
                .map(ToString::to_string)
                .collect(),
            details: failure.details.clone(),
            hint: failure.hint.clone(),
        }
    }

    /// The last event.
    pub fn end(exit: Exit) -> Self {
        Self::End {
            code: exit.code(),
            name: exit.name().to_owned(),
        }
    }

    /// As one line.
    pub fn line(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        format!("{text}\n")
    }
}
