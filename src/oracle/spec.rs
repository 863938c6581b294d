//! A signature as the user types it. The same text may have several meanings: `Mismatch` may be a
//! class or a message. The first meaning that the baseline supports is taken. Pure.

use super::{
    common_parts::{common, message},
    crash_site::CrashSite,
    exceptions::{is_internal, wrapped},
    forms::{HangKind, Part, is_status_alone, readings},
    raise_site::{RaiseSite, is_in_library},
    signature::Signature,
};
use crate::runner::{Exception, Outcome};

/// A signature as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The text as typed.
    pub text: String,
    readings: Vec<Vec<Part>>,
}

/// Why a text is no signature.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` cannot be a signature: {reason}")]
pub struct SpecError {
    /// The text as typed.
    pub text: String,
    /// Why not.
    pub reason: String,
    /// The text to type instead.
    pub hint: &'static str,
}

impl Spec {
    /// Whether this may mean that the program does not end.
    pub fn is_hang(&self) -> bool {
        self.readings
            .iter()
            .flatten()
            .any(|part| matches!(part, Part::Timeout(_)))
    }

    /// Reads a typed text.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let typed = text.trim();
        let readings = readings(typed).map_err(|(reason, hint)| SpecError {
            text: text.to_owned(),
            reason,
            hint,
        })?;
        Ok(Self {
            text: typed.to_owned(),
            readings,
        })
    }

    /// The first meaning that holds of every outcome; else the one that holds of most, and of how
    /// many.
    pub fn resolve(&self, outcomes: &[Outcome]) -> (Vec<Part>, usize) {
        let mut best: Option<(Vec<Part>, usize)> = None;
        for parts in &self.readings {
            let signature = Signature::seen_in(parts.clone(), outcomes);
            let count = outcomes
                .iter()
                .filter(|outcome| signature.matches(outcome))
                .count();
            if best.as_ref().is_none_or(|(_, most)| count > *most) {
                best = Some((parts.clone(), count));
            }
        }
        let (mut parts, mut count) = best.unwrap_or_default();
        if count < outcomes.len()
            && let Some(quoted) = self.quoted(outcomes)
        {
            (parts, count) = (quoted, outcomes.len());
        }
        parts.extend(implied(&parts, outcomes));
        // Where a single run of a loop was ended is chance.
        let is_chance = parts == [Part::Timeout(HangKind::Busy)] && outcomes.len() == 1;
        if matches!(parts.as_slice(), [Part::Signal(_) | Part::Timeout(_)]) && !is_chance {
            // Many other things could hold a program up, or kill it.
            parts.extend(CrashSite::common(outcomes).map(Part::In));
        }
        (parts, count)
    }

    /// The place that all outcomes failed at, if the text is its line, with or without the class: an
    /// `assert` without a message leaves nothing else to copy.
    fn quoted(&self, outcomes: &[Outcome]) -> Option<Vec<Part>> {
        let exceptions = outcomes.iter().map(|outcome| outcome.exception.as_ref());
        let exceptions: Vec<&Exception> = exceptions.collect::<Option<_>>()?;
        let class = common(&exceptions, |one| Some(one.short_class().to_owned()))?;
        let site = common(&exceptions, RaiseSite::of)?;
        let text = self.text.strip_prefix(&class).unwrap_or(&self.text);
        let text = text.trim_start_matches([':', ' ']);
        let is_line = !text.is_empty() && site.is_quoted_by(text);
        is_line.then(|| vec![Part::Class(class), Part::RaisedAt(site)])
    }
}

/// The further parts that the outcomes show, if the typed text leaves room for other bugs: the
/// class, if only a text was typed; a status; a failure that a library wraps (without the compiler
/// that reports it, it is another bug); the place, if a library broke in the interpreter's own
/// words; and the exception for which the script's own one was raised.
fn implied(parts: &[Part], outcomes: &[Outcome]) -> Vec<Part> {
    let exceptions: Option<Vec<&Exception>> = outcomes
        .iter()
        .map(|outcome| outcome.exception.as_ref())
        .collect();
    let Some(exceptions) = exceptions.filter(|found| !found.is_empty()) else {
        return Vec::new();
    };
    let class = |of: &[&Exception]| common(of, |one| Some(one.short_class().to_owned()));
    let is_classed = parts.iter().any(|part| matches!(part, Part::Class(_)));
    let mut found = Vec::new();
    let wants_class = match parts {
        [Part::Headline(_)] => true,
        [Part::Cause(..)] => exceptions.iter().all(|raised| is_in_library(raised)),
        _ => is_status_alone(parts),
    };
    if wants_class {
        found.extend(class(&exceptions).map(Part::Class));
    }
    if !(is_classed || wants_class)
        || parts
            .iter()
            .any(|part| matches!(part, Part::RaisedAt(_) | Part::Cause(..)))
    {
        return found;
    }
    if exceptions.iter().all(|raised| is_internal(raised)) {
        let site = common(&exceptions, |raised| match RaiseSite::of(raised)? {
            RaiseSite::Library { file, function, .. } => Some(RaiseSite::Library {
                file,
                function,
                code: None,
            }),
            RaiseSite::Script { .. } => None,
        });
        found.extend(site.map(Part::RaisedAt));
    }
    let causes: Option<Vec<&Exception>> = exceptions.iter().map(|raised| wrapped(raised)).collect();
    if let Some(causes) = causes
        && let Some(of_cause) = class(&causes)
    {
        // If both are of one class, the class does not identify the cause.
        let message = (class(&exceptions).as_ref() == Some(&of_cause))
            .then(|| message(&causes))
            .flatten();
        found.push(Part::Cause(of_cause, message));
    }
    found
}

impl Signature {
    /// The arguments of `--signature` that a user types to get this signature from the script that
    /// showed it.
    pub fn to_arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        let mut parts = self.parts.iter().peekable();
        while let Some(part) = parts.next() {
            let message = match (part, parts.peek()) {
                (Part::Class(_), Some(message @ Part::Message(_))) => Some(*message),
                _ => None,
            };
            let argument = part.argument();
            arguments.push(match message {
                Some(message) => {
                    parts.next();
                    format!("{argument}: {}", message.argument())
                }
                None => argument,
            });
        }
        arguments
    }
}
