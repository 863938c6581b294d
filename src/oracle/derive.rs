//! Derives a signature from baseline runs when the user gives none: the class, and the distinctive
//! and stable part of the message. Pure.

use std::collections::BTreeSet;

use minrepro_reducers::analysis::cpython;
use regex::Regex;

use super::{
    crash_site::CrashSite,
    exceptions::{cause, is_internal, is_raised},
    forms::Part,
    normalize::{fragments, informative_lines, is_steady, letters},
    pattern::Pattern,
    raise_site::{RaiseSite, is_in_library},
    signature::Signature,
};
use crate::{
    runner::{End, Exception, Outcome, traceback},
    text::pattern,
};

pattern!(
    LAST_WORDS,
    r"^\s*what\(\): |Assertion [`'].+' failed|^Fatal Python error: _?Py"
);
pattern!(WARNING, cpython::WARNING_PATTERN);
pattern!(
    EXCEPTION_NAME,
    r"(?:^|[^\w])[A-Za-z_][\w.]*(?:Error|Exception)\b"
);
pattern!(
    LOUD_WORD,
    r"\b(?:ERROR|BUG|FAIL(?:ED|URE|S)?|MISMATCH|INCORRECT|WRONG)\b"
);
pattern!(
    ERROR_WORD,
    r"\b(?i:error|bug|fail(?:ed|ure|s)?|mismatch|incorrect|wrong)\b"
);
// `0 errors` and the like.
pattern!(
    NO_ERRORS,
    r"(?i)\b(?:no|0|without|zero|any)(?: \w+)? (?:errors?|bugs?|fail(?:ed|ures?|s)?|mismatch(?:es)?)\b"
);

/// A message with fewer letters left is not distinctive.
const FEW_LETTERS: usize = 8;

/// Why no signature can be derived.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotDerivable {
    /// The script ends well and prints nothing that looks like an error.
    #[error("the script ends well and prints nothing that looks like an error")]
    Passes,
    /// The runs end differently.
    #[error("the runs end differently")]
    Varies,
    /// The script does not end.
    #[error("the script did not end within its limits")]
    Endless,
}

/// The signature that all outcomes share.
pub fn derive(outcomes: &[Outcome]) -> Result<Signature, NotDerivable> {
    let first = outcomes.first().ok_or(NotDerivable::Passes)?;
    if outcomes
        .iter()
        .all(|outcome| matches!(outcome.end, End::Timeout | End::Limit(_)))
    {
        return Err(NotDerivable::Endless);
    }
    let is_dead = |outcome: &Outcome| matches!(outcome.end, End::Signal(_));
    if outcomes
        .iter()
        .any(|outcome| outcome.end != first.end && !(is_dead(first) && is_dead(outcome)))
    {
        return Err(NotDerivable::Varies);
    }
    let raised = exceptions(outcomes).map(|found| of_exceptions(&found));
    let parts = match (first.end, raised) {
        // An interpreter may die while it cleans up after an exception.
        (End::Signal(_), raised) => {
            [raised.flatten().unwrap_or_default(), of_death(outcomes)].concat()
        }
        (_, Some(parts)) => parts.ok_or(NotDerivable::Varies)?,
        (end, None) => of_output(outcomes, end)?,
    };
    let signature = Signature::seen_in(parts, outcomes);
    if outcomes.iter().all(|outcome| signature.matches(outcome)) {
        Ok(signature)
    } else {
        Err(NotDerivable::Varies)
    }
}

/// A death by a signal, and the last message of the C or C++ code that aborted. Corrupted memory may
/// cause one signal or another.
fn of_death(outcomes: &[Outcome]) -> Vec<Part> {
    let signals: BTreeSet<i32> = outcomes
        .iter()
        .filter_map(|outcome| match outcome.end {
            End::Signal(signal) => Some(signal),
            _ => None,
        })
        .collect();
    let said = pattern(outcomes, |outcome| {
        let text = outcome.stderr.text();
        text.lines()
            .find(|line| LAST_WORDS.is_match(line))
            .map(str::to_owned)
    });
    let spot = CrashSite::common(outcomes).map(Part::In);
    [Part::Signal(signals.into_iter().collect())]
        .into_iter()
        .chain(said.map(Part::Stderr))
        .chain(spot)
        .collect()
}

fn exceptions(outcomes: &[Outcome]) -> Option<Vec<&Exception>> {
    outcomes
        .iter()
        .map(|outcome| outcome.exception.as_ref())
        .collect()
}

/// What exceptions share: the class, the words, the place where these are not distinctive, and the
/// exception that they replace.
pub(super) fn of_exceptions(exceptions: &[&Exception]) -> Option<Vec<Part>> {
    let class = common(exceptions, |raised| Some(raised.short_class().to_owned()))?;
    let mut parts = vec![Part::Class(class)];
    let message = message(exceptions);
    let place =
        common(exceptions, RaiseSite::of).filter(|_| needs_place(message.as_ref(), exceptions));
    parts.extend(message.map(Part::Message));
    parts.extend(place.map(Part::RaisedAt));
    let causes: Option<Vec<&Exception>> = exceptions.iter().map(|raised| cause(raised)).collect();
    if let Some(causes) = causes
        && let Some(class) = common(&causes, |raised| Some(raised.short_class().to_owned()))
    {
        parts.push(Part::Cause(class, self::message(&causes)));
    }
    Some(parts)
}

/// The property that all exceptions share.
pub(super) fn common<T: PartialEq>(
    exceptions: &[&Exception],
    of: impl Fn(&Exception) -> Option<T>,
) -> Option<T> {
    let first = of(exceptions.first()?)?;
    exceptions
        .iter()
        .all(|raised| of(raised).as_ref() == Some(&first))
        .then_some(first)
}

/// The parts that the messages of all exceptions share; the whole message if it is only a quoted
/// name, as that of a `KeyError` is.
pub(super) fn message(exceptions: &[&Exception]) -> Option<Pattern> {
    let lines: Vec<Vec<&str>> = exceptions
        .iter()
        .map(|raised| informative_lines(&raised.message))
        .collect();
    let found = fragments(&lines);
    if !found.is_empty() {
        return Some(Pattern::Lines(found));
    }
    let whole = common(exceptions, |raised| Some(raised.message.trim().to_owned()))?;
    let is_name = letters(&whole) > 0 && is_steady(&whole) && !whole.contains('\n');
    is_name.then(|| Pattern::Lines(vec![vec![whole]]))
}

/// Whether a message is not distinctive: there is none, little is left of it, or many bugs share it.
fn needs_place(message: Option<&Pattern>, exceptions: &[&Exception]) -> bool {
    let Some(Pattern::Lines(lines)) = message else {
        return true;
    };
    let fragments: Vec<&str> = lines.iter().flatten().map(String::as_str).collect();
    if exceptions.iter().all(|raised| is_internal(raised)) {
        return true;
    }
    let is_name = fragments.iter().any(|fragment| fragment.starts_with('\''));
    let is_whole = exceptions
        .iter()
        .all(|raised| fragments == [raised.message.trim()]);
    // The script's own words are found nowhere else.
    let is_own = exceptions
        .iter()
        .all(|raised| is_raised(raised) && !is_in_library(raised));
    let enough = match (is_name, is_whole || is_own) {
        (true, _) => 1,
        (_, true) => 3,
        _ => FEW_LETTERS,
    };
    // The class of a wrapped exception does not make the message distinctive.
    let words = fragments
        .iter()
        .flat_map(|fragment| fragment.split_whitespace())
        .filter(|word| !is_class(word));
    words.map(letters).sum::<usize>() < enough
}

/// Whether a word names an exception.
fn is_class(word: &str) -> bool {
    let name = word.trim_end_matches(':');
    name.ends_with("Error") || name.ends_with("Exception")
}

/// A program that shows its error in its own words, or by its exit status.
fn of_output(outcomes: &[Outcome], end: End) -> Result<Vec<Part>, NotDerivable> {
    let on_stdout =
        pattern(outcomes, |outcome| error_line(&outcome.stdout.text())).map(Part::Stdout);
    let on_stderr =
        pattern(outcomes, |outcome| error_line(&outcome.stderr.text())).map(Part::Stderr);
    let End::Exit(status @ 1..) = end else {
        return on_stdout
            .or(on_stderr)
            .map(|part| vec![part])
            .ok_or(NotDerivable::Passes);
    };
    let last = || pattern(outcomes, |outcome| last_line(&outcome.stderr.text())).map(Part::Stderr);
    let sign = on_stderr.or_else(last).or(on_stdout);
    Ok([Part::Exit(vec![status])].into_iter().chain(sign).collect())
}

/// The fragments that the lines picked from each outcome share.
fn pattern(outcomes: &[Outcome], pick: impl Fn(&Outcome) -> Option<String>) -> Option<Pattern> {
    let picked: Vec<String> = outcomes.iter().map(pick).collect::<Option<_>>()?;
    let lines: Vec<Vec<&str>> = picked.iter().map(|text| text.lines().collect()).collect();
    Some(fragments(&lines))
        .filter(|found| !found.is_empty())
        .map(Pattern::Lines)
}

/// The lines of a program's output without the interpreter's warnings.
fn own_lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut warned = false;
    for line in text.lines() {
        // The source line of a warning follows it.
        let is_source = warned && line.starts_with("  ");
        warned = WARNING.is_match(line);
        if !warned && !is_source && !line.trim().is_empty() {
            lines.push(line);
        }
    }
    lines
}

fn last_line(text: &str) -> Option<String> {
    own_lines(text).last().map(|line| (*line).to_owned())
}

/// The line of a program's output that reports an error most plainly: the headline of a printed
/// traceback, the name of an exception, a capitalized word, a word; the last one of a kind.
fn error_line(text: &str) -> Option<String> {
    let signs: [&Regex; 3] = [&EXCEPTION_NAME, &LOUD_WORD, &ERROR_WORD];
    if let Some(exception) = traceback::parse_all(text).last() {
        let lines = informative_lines(&exception.message);
        return Some(format!("{}: {}", exception.class, lines.join("\n")));
    }
    let lines: Vec<&str> = own_lines(text)
        .into_iter()
        .filter(|line| !NO_ERRORS.is_match(line))
        .collect();
    let last = |sign: &Regex| lines.iter().rev().find(|line| sign.is_match(line));
    signs
        .into_iter()
        .find_map(last)
        .map(|line| (*line).to_owned())
}
