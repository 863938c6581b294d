//! How candidates start: forked from an interpreter that has imported the script's imports, or each
//! in a fresh interpreter.

use std::time::Duration;

use super::{
    error::BaselineFailure,
    measure::Measure,
    subject::{Subject, Warmth},
};
use crate::{
    oracle::summary,
    runner::{Outcome, Start},
};

/// The time that a warm run must save at least, unless that is a fifth of a cold one.
const WORTH_IT: Duration = Duration::from_millis(500);

/// From where candidates start, and why.
pub struct Calibration {
    /// From where candidates start.
    pub start: Start,
    /// How long the script takes in a fresh interpreter.
    pub cold: Duration,
    /// How long it takes when it is forked.
    pub warm: Duration,
    /// Why candidates start cold, if they do.
    reason: Option<String>,
}

/// The knowledge before the first warm run.
pub(super) struct Before {
    /// The fastest run in a fresh interpreter.
    pub(super) fastest: Duration,
    /// The reason against warm runs.
    pub(super) reason: Option<String>,
    /// From where the next run starts: the first warm one needs a recorded one before it.
    pub(super) next: Start,
    /// A warm run that was made already.
    pub(super) warm: Option<Outcome>,
}

impl Calibration {
    /// From fresh interpreters, for this reason.
    pub(super) fn cold(wall: Duration, reason: &str) -> Self {
        Self {
            start: Start::Cold,
            cold: wall,
            warm: wall,
            reason: Some(reason.to_owned()),
        }
    }

    /// Why candidates start cold, if they do.
    pub fn why_cold(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// In words for people; `doubt` is a later reason against warm runs.
    pub fn describe(&self, doubt: Option<&str>) -> String {
        let (cold, warm) = (self.cold.as_secs_f64(), self.warm.as_secs_f64());
        match (&self.reason, doubt) {
            (Some(reason), _) => format!("cold ({reason})"),
            (None, Some(reason)) => format!("warm, then cold ({reason})"),
            (None, None) => format!("warm ({warm:.2} s for the script instead of {cold:.2} s)"),
        }
    }
}

/// Finds out from where candidates start: warm, if the script shows the bug that way too, and
/// sooner than in the fastest fresh run.
pub(super) fn calibrate(
    subject: &Subject,
    measure: &Measure,
    timeout: Duration,
    before: Before,
) -> Result<Calibration, BaselineFailure> {
    let Before {
        fastest,
        mut reason,
        next,
        warm: mut known,
    } = before;
    let warmth = subject.settings.warmth;
    if warmth == Warmth::Never {
        reason = Some("asked for".to_owned());
    } else if matches!(measure, Measure::Test(_)) {
        reason = Some("a test is a program of its own".to_owned());
    }
    // A warm run saves the start: as candidates get smaller, that is an ever larger part of a run.
    let is_wanted = warmth == Warmth::Always;
    let is_worth_it = |warm: Duration| {
        let is_shorter =
            warm.saturating_mul(5) <= fastest * 4 || warm.saturating_add(WORTH_IT) <= fastest;
        is_wanted || is_shorter || subject.runner.imports() >= WORTH_IT
    };
    // The first of the warm runs starts the interpreter that the others are forked from, and fills
    // caches.
    // Up to three warm runs, since one may be slow by the noise of the machine; the fastest counts.
    let record = (next == Start::Recorded).then_some(next);
    let mut fastest_warm: Option<Duration> = None;
    for start in record.into_iter().chain([Start::Warm; 3]) {
        if reason.is_some() || fastest_warm.is_some_and(is_worth_it) {
            break;
        }
        let outcome = match known.take() {
            Some(outcome) => outcome,
            None => subject.run_from(start, timeout)?,
        };
        // A run that was to be warm and was not says nothing about warm runs.
        reason = subject.runner.why_cold().or_else(|| {
            let is_same = measure.judge(&outcome, timeout).is_same();
            (!is_same).then(|| format!("a warm run behaves differently: {}", summary(&outcome)))
        });
        if start == Start::Warm {
            let fastest = fastest_warm.map_or(outcome.timing.alone(), |fastest| {
                fastest.min(outcome.timing.alone())
            });
            fastest_warm = Some(fastest);
        }
    }
    let warm = fastest_warm.unwrap_or(Duration::MAX);
    if reason.is_none() && !is_worth_it(warm) {
        let [warm, cold] = [warm, fastest].map(|wall| wall.as_secs_f64());
        reason = Some(format!(
            "warm runs take as long: {warm:.2} s instead of {cold:.2} s"
        ));
    }
    if let Some(reason) = &reason {
        if is_wanted {
            return Err(BaselineFailure::NotWarm(reason.clone()));
        }
        subject.runner.go_cold(reason);
    }
    Ok(Calibration {
        start: if reason.is_none() {
            Start::Warm
        } else {
            Start::Cold
        },
        cold: fastest,
        warm,
        reason,
    })
}
