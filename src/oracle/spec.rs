//! A signature as the user types it. The same text may mean several things, `Mismatch` a class or a message; the first
//! meaning that the baseline bears out is the one. Pure.

use regex::Regex;

use super::signature::{Part, Pattern, Signature};
use crate::runner::Outcome;

/// A signature as typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// What was typed.
    pub text: String,
    readings: Vec<Vec<Part>>,
}

/// Why a text is no signature.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` can not be a signature: {reason}")]
pub struct SpecError {
    /// What was typed.
    pub text: String,
    /// Why not.
    pub reason: String,
    /// What to type instead.
    pub hint: &'static str,
}

const FORMS: &str =
    "the forms are `Class: text`, `Class`, `text`, `/regex/`, `exit:N`, `stdout:TEXT` and `stderr:TEXT`";

impl Spec {
    /// Reads what was typed.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let error = |reason: String, hint| SpecError { text: text.to_owned(), reason, hint };
        let typed = text.trim();
        if typed.is_empty() {
            return Err(error("it is empty".to_owned(), FORMS));
        }
        let readings = if let Some(status) = typed.strip_prefix("exit:") {
            let status: u8 = status.trim().parse().map_err(|_| {
                error(
                    "an exit status is a number from 0 to 255".to_owned(),
                    "for a signal give 128 and its number: `exit:139` is SIGSEGV",
                )
            })?;
            if status == 0 {
                return Err(error(
                    "every program that does nothing exits with 0".to_owned(),
                    "for a script that prints its error use `stdout:TEXT` or `stderr:TEXT`",
                ));
            }
            vec![vec![Part::Exit(status.into())]]
        } else if let Some((stream, wanted)) = stream(typed) {
            if wanted.trim().is_empty() {
                return Err(error("no text is given behind the colon".to_owned(), FORMS));
            }
            let pattern = Pattern::literal(wanted);
            vec![vec![if stream == "stdout" { Part::Stdout(pattern) } else { Part::Stderr(pattern) }]]
        } else if typed.starts_with("signal:") || typed == "timeout" {
            return Err(error(
                "this form is not known".to_owned(),
                "a death by a signal shows as `exit:N` with 128 and the signal's number: `exit:139` is SIGSEGV",
            ));
        } else if let Some(regex) = regex(typed) {
            let compiled = Regex::new(&regex)
                .map_err(|cause| error(cause.to_string(), "the syntax is that of Rust's regex crate"))?;
            if compiled.is_match("") {
                return Err(error("it matches the empty text".to_owned(), FORMS));
            }
            anywhere(&Pattern::Regex(regex))
        } else {
            worded(typed)
        };
        Ok(Self { text: typed.to_owned(), readings })
    }

    /// The first meaning that holds of every outcome; else the one that holds of most, and of how many.
    pub fn resolve(&self, outcomes: &[Outcome]) -> (Vec<Part>, usize) {
        let mut best: Option<(Vec<Part>, usize)> = None;
        for parts in &self.readings {
            let signature = Signature::seen_in(parts.clone(), outcomes);
            let count = outcomes.iter().filter(|outcome| signature.matches(outcome)).count();
            if best.as_ref().is_none_or(|(_, most)| count > *most) {
                best = Some((parts.clone(), count));
            }
        }
        best.unwrap_or_default()
    }
}

fn stream(text: &str) -> Option<(&str, &str)> {
    text.split_once(':').filter(|(stream, _)| matches!(*stream, "stdout" | "stderr"))
}

/// `/regex/` or `/regex/i`.
fn regex(text: &str) -> Option<String> {
    let (regex, flags) = text.strip_prefix('/')?.rsplit_once('/')?;
    let known = !regex.is_empty() && flags.chars().all(|flag| "imsx".contains(flag));
    known.then(|| if flags.is_empty() { regex.to_owned() } else { format!("(?{flags}){regex}") })
}

/// A pattern in the exception's headline, else on standard error, else on standard output.
fn anywhere(pattern: &Pattern) -> Vec<Vec<Part>> {
    vec![
        vec![Part::Headline(pattern.clone())],
        vec![Part::Stderr(pattern.clone())],
        vec![Part::Stdout(pattern.clone())],
    ]
}

/// `Class: text`, `Class` or `text`.
fn worded(text: &str) -> Vec<Vec<Part>> {
    let mut readings = Vec::new();
    match text.split_once(": ") {
        Some((class, message)) if is_class(class) && !message.trim().is_empty() => {
            readings
                .push(vec![Part::Class(class.to_owned()), Part::Message(Pattern::literal(message.trim()))]);
        }
        _ => {
            let class = text.strip_suffix(':').unwrap_or(text);
            if is_class(class) {
                readings.push(vec![Part::Class(class.to_owned())]);
            }
        }
    }
    readings.extend(anywhere(&Pattern::literal(text)));
    readings
}

/// Whether a text is a dotted name whose last part could be a class.
fn is_class(text: &str) -> bool {
    let is_name = |part: &str| {
        part.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && part.chars().all(|char| char.is_alphanumeric() || char == '_')
    };
    text.split('.').all(|part| is_name(part) || part == "<locals>")
        && text.rsplit('.').next().is_some_and(|last| {
            last.trim_start_matches('_').starts_with(char::is_uppercase) || last == "error"
        })
}
