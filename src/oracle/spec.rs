//! A signature as the user types it. The same text may mean several things, `Mismatch` a class or a
//! message; the first meaning that the baseline bears out is the one. Pure.

use regex::Regex;

use super::{
    crash_site::CrashSite,
    derive::{common, is_internal, message, wrapped},
    pattern::Pattern,
    raise_site::{RaiseSite, is_in_library},
    signals,
    signature::{HangKind, Part, Signature, is_status_alone, listed},
};
use crate::runner::{Exception, Outcome};

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

const FORMS: &str = "the forms are `Class: text`, `Class`, `text`, `/regex/`, `exit:N`, `signal:NAME`, `timeout`, `stdout:TEXT`, `stderr:TEXT`, `at:PLACE`, `in:PLACE` and `cause:Class: text`";

impl Spec {
    /// Whether this may mean that the program does not end.
    pub fn is_hang(&self) -> bool {
        self.readings
            .iter()
            .flatten()
            .any(|part| matches!(part, Part::Timeout(_)))
    }

    /// Reads what was typed.
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
        let (mut parts, count) = best.unwrap_or_default();
        parts.extend(implied(&parts, outcomes));
        if matches!(parts.as_slice(), [Part::Signal(_) | Part::Timeout(_)]) {
            // What else could hold a program up, or kill it, is much.
            parts.extend(CrashSite::common(outcomes).map(Part::In));
        }
        (parts, count)
    }
}

/// What the outcomes show beside what was typed, where that leaves room for other bugs: the class,
/// where a text alone was typed, a status, or a failure that a library wraps (without the compiler
/// that reports it, it is another bug); the place, where a library broke in the interpreter's own
/// words; and what the script's own exception was raised for.
fn implied(parts: &[Part], outcomes: &[Outcome]) -> Vec<Part> {
    let exceptions: Option<Vec<&Exception>> =
        outcomes.iter().map(|it| it.exception.as_ref()).collect();
    let Some(exceptions) = exceptions.filter(|it| !it.is_empty()) else {
        return Vec::new();
    };
    let class = |of: &[&Exception]| common(of, |it| Some(it.short_class().to_owned()));
    let is_classed = parts.iter().any(|it| matches!(it, Part::Class(_)));
    let mut found = Vec::new();
    let wants_class = match parts {
        [Part::Headline(_)] => true,
        [Part::Cause(..)] => exceptions.iter().all(|it| is_in_library(it)),
        _ => is_status_alone(parts),
    };
    if wants_class {
        found.extend(class(&exceptions).map(Part::Class));
    }
    if !(is_classed || wants_class)
        || parts
            .iter()
            .any(|it| matches!(it, Part::RaisedAt(_) | Part::Cause(..)))
    {
        return found;
    }
    if exceptions.iter().all(|it| is_internal(it)) {
        let place = common(&exceptions, |it| match RaiseSite::of(it)? {
            RaiseSite::Library { file, function, .. } => Some(RaiseSite::Library {
                file,
                function,
                code: None,
            }),
            RaiseSite::Script { .. } => None,
        });
        found.extend(place.map(Part::RaisedAt));
    }
    let causes: Option<Vec<&Exception>> = exceptions.iter().map(|it| wrapped(it)).collect();
    if let Some(causes) = causes
        && let Some(of_cause) = class(&causes)
    {
        // Where both are of one class, that tells nothing of the cause.
        let message = (class(&exceptions).as_ref() == Some(&of_cause))
            .then(|| message(&causes))
            .flatten();
        found.push(Part::Cause(of_cause, message));
    }
    found
}

impl Signature {
    /// What the user types, each behind a `--signature`, to get this signature from the script that
    /// it was seen in.
    pub fn to_arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        let mut parts = self.parts.iter().peekable();
        while let Some(part) = parts.next() {
            arguments.push(match (part, parts.peek()) {
                (Part::Class(class), Some(Part::Message(pattern))) => {
                    parts.next();
                    format!("{class}: {}", pattern.argument())
                }
                (Part::Class(class), _) => class.clone(),
                (Part::Message(pattern) | Part::Headline(pattern), _) => pattern.argument(),
                (Part::RaisedAt(place), _) => format!("at:{}", place.argument()),
                (Part::Cause(class, None), _) => format!("cause:{class}"),
                (Part::Cause(class, Some(pattern)), _) => {
                    format!("cause:{class}: {}", pattern.argument())
                }
                (Part::Exit(statuses), _) => format!("exit:{}", listed(statuses)),
                (Part::Signal(signals), _) => format!("signal:{}", signals::listed(signals)),
                (Part::Timeout(pace), _) => format!("timeout:{}", pace.argument()),
                (Part::In(spot), _) => format!("in:{}", spot.argument()),
                (Part::Stdout(pattern), _) => format!("stdout:{}", pattern.argument()),
                (Part::Stderr(pattern), _) => format!("stderr:{}", pattern.argument()),
            });
        }
        arguments
    }
}

type Readings = Vec<Vec<Part>>;

/// What a text may mean, or why it means nothing and what to type instead.
fn readings(typed: &str) -> Result<Readings, (String, &'static str)> {
    if typed.is_empty() {
        return Err(("it is empty".to_owned(), FORMS));
    }
    if let Some((form, wanted)) = form(typed) {
        let wanted = wanted.trim();
        if wanted.is_empty() {
            return Err(("no text is given behind the colon".to_owned(), FORMS));
        }
        return match form {
            "exit" => exit(wanted),
            "stdout" => Ok(each(Pattern::typed(wanted), Part::Stdout)),
            "stderr" => Ok(each(Pattern::typed(wanted), Part::Stderr)),
            "at" => Ok(each(RaiseSite::typed(wanted), Part::RaisedAt)),
            "cause" => cause(wanted),
            "signal" => signal(wanted),
            "in" => Ok(each(CrashSite::typed(wanted), Part::In)),
            _ => match wanted {
                "busy" => Ok(vec![vec![Part::Timeout(HangKind::Busy)]]),
                "waiting" => Ok(vec![vec![Part::Timeout(HangKind::Waiting)]]),
                _ => Err((
                    "it is neither `busy` nor `waiting`".to_owned(),
                    "`timeout` alone finds out which",
                )),
            },
        };
    }
    if typed == "timeout" {
        return Ok(each(vec![HangKind::Waiting, HangKind::Busy], Part::Timeout));
    }
    if let Some(regex) = regex(typed) {
        let compiled = Regex::new(&regex).map_err(|cause| {
            (
                cause.to_string(),
                "the syntax is that of Rust's regex crate",
            )
        })?;
        if compiled.is_match("") {
            return Err(("it matches the empty text".to_owned(), FORMS));
        }
        return Ok(anywhere(&[Pattern::Regex(regex)], Vec::new()));
    }
    Ok(worded(typed))
}

/// A form that begins with its name, and what is behind the colon. `cause: no space` is text.
fn form(text: &str) -> Option<(&str, &str)> {
    let (form, rest) = text.split_once(':')?;
    let is_form = match form {
        "exit" | "stdout" | "stderr" | "signal" => true,
        "at" | "cause" | "in" | "timeout" => !rest.starts_with(char::is_whitespace),
        _ => false,
    };
    is_form.then_some((form, rest))
}

fn each<T>(meanings: Vec<T>, part: fn(T) -> Part) -> Readings {
    meanings
        .into_iter()
        .map(|meaning| vec![part(meaning)])
        .collect()
}

fn exit(statuses: &str) -> Result<Readings, (String, &'static str)> {
    let found: Result<Vec<u8>, _> = statuses
        .split(',')
        .map(|status| status.trim().parse())
        .collect();
    match found {
        Ok(statuses) if statuses.contains(&0) => Err((
            "every program that does nothing exits with 0".to_owned(),
            "for a script that prints its error use `stdout:TEXT` or `stderr:TEXT`",
        )),
        Ok(statuses) => Ok(vec![vec![Part::Exit(
            statuses.into_iter().map(i32::from).collect(),
        )]]),
        Err(_) => Err((
            "an exit status is a number from 0 to 255".to_owned(),
            "for a signal give 128 and its number: `exit:139` is SIGSEGV",
        )),
    }
}

fn signal(signals: &str) -> Result<Readings, (String, &'static str)> {
    let found: Option<Vec<i32>> = signals
        .split(',')
        .map(|it| signals::typed(it.trim()))
        .collect();
    let found = found.ok_or_else(|| {
        (
            "no such signal is known".to_owned(),
            "name signals as in `signal:SIGSEGV` or `signal:SIGSEGV,SIGABRT`",
        )
    })?;
    Ok(vec![vec![Part::Signal(found)]])
}

fn cause(wanted: &str) -> Result<Readings, (String, &'static str)> {
    let readings = classed(wanted, |class, pattern| vec![Part::Cause(class, pattern)]);
    if readings.is_empty() {
        return Err(("a cause is named by its class".to_owned(), FORMS));
    }
    Ok(readings)
}

/// `/regex/` or `/regex/i`.
fn regex(text: &str) -> Option<String> {
    let (regex, flags) = text.strip_prefix('/')?.rsplit_once('/')?;
    let known = !regex.is_empty() && flags.chars().all(|flag| "imsx".contains(flag));
    known.then(|| {
        if flags.is_empty() {
            regex.to_owned()
        } else {
            format!("(?{flags}){regex}")
        }
    })
}

/// Patterns in the exception's headline, else what `beneath` says, else on standard error, else on
/// standard output.
fn anywhere(patterns: &[Pattern], beneath: Readings) -> Readings {
    let on = |part: fn(Pattern) -> Part| each(patterns.to_vec(), part);
    [
        on(Part::Headline),
        beneath,
        on(Part::Stderr),
        on(Part::Stdout),
    ]
    .concat()
}

/// `Class: text`, `Class` or `text`.
fn worded(text: &str) -> Readings {
    let mut readings = classed(text, |class, pattern| {
        [Part::Class(class)]
            .into_iter()
            .chain(pattern.map(Part::Message))
            .collect()
    });
    let mut patterns = Pattern::typed(text);
    if matches!(class_and_message(text), Some((class, None)) if class.contains('.')) {
        // `other.Error` names a class in full, not the end of `another.Error`.
        patterns.retain(|it| !matches!(it, Pattern::Text(_)));
    }
    let beneath = classed(text, |class, pattern| vec![Part::Cause(class, pattern)]);
    readings.extend(anywhere(&patterns, beneath));
    readings
}

/// What `Class: text` or `Class` may mean; nothing if no class is named.
fn classed(text: &str, parts: impl Fn(String, Option<Pattern>) -> Vec<Part>) -> Readings {
    let Some((class, message)) = class_and_message(text) else {
        return Vec::new();
    };
    let Some(message) = message else {
        return vec![parts(class.to_owned(), None)];
    };
    Pattern::typed(message)
        .into_iter()
        .map(|pattern| parts(class.to_owned(), Some(pattern)))
        .collect()
}

/// A class and what is in its message, if something is given.
fn class_and_message(text: &str) -> Option<(&str, Option<&str>)> {
    let (class, message) = match text.split_once(": ") {
        Some((class, message)) => (class, Some(message.trim()).filter(|it| !it.is_empty())),
        None => (text.strip_suffix(':').unwrap_or(text), None),
    };
    // Tracebacks leave these modules out.
    let class = ["__main__.", "builtins."]
        .iter()
        .find_map(|it| class.strip_prefix(it))
        .unwrap_or(class);
    is_class(class).then_some((class, message))
}

/// Whether a text is a dotted name, which may be that of a class.
fn is_class(text: &str) -> bool {
    let is_name = |part: &str| {
        part.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && part
                .chars()
                .all(|char| char.is_alphanumeric() || char == '_')
    };
    text.split('.')
        .all(|part| is_name(part) || part == "<locals>")
}
