//! Derives a signature from baseline runs when the user gives none: the class, and what of the
//! message is distinctive and stable. Pure.

use std::{collections::BTreeSet, sync::LazyLock};

use regex::Regex;

use super::{
    crash_site::CrashSite,
    normalize::{fragments, informative_lines, is_steady, letters},
    origin::is_raised,
    pattern::Pattern,
    raise_site::{RaiseSite, is_in_library},
    signature::{Part, Signature, leaves},
};
use crate::runner::{End, Exception, Outcome, traceback};

/// A message of which less is left does not tell bugs from each other.
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
        .all(|it| matches!(it.end, End::Timeout | End::Limit(_)))
    {
        return Err(NotDerivable::Endless);
    }
    let is_dead = |it: &Outcome| matches!(it.end, End::Signal(_));
    if outcomes
        .iter()
        .any(|it| it.end != first.end && !(is_dead(first) && is_dead(it)))
    {
        return Err(NotDerivable::Varies);
    }
    let raised = exceptions(outcomes).map(|found| of_exceptions(&found));
    let parts = match (first.end, raised) {
        // An interpreter may die while it cleans up behind an exception.
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

/// A death by a signal, and what the C or C++ that gave up said. Corrupted memory may show by one
/// signal or another.
fn of_death(outcomes: &[Outcome]) -> Vec<Part> {
    static LAST_WORDS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\s*what\(\): |Assertion [`'].+' failed|^Fatal Python error: _?Py")
            .expect("the pattern is well-formed")
    });
    let signals: BTreeSet<i32> = outcomes
        .iter()
        .filter_map(|it| match it.end {
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

fn of_exceptions(exceptions: &[&Exception]) -> Option<Vec<Part>> {
    let class = common(exceptions, |it| Some(it.short_class().to_owned()))?;
    let mut parts = vec![Part::Class(class)];
    let message = message(exceptions);
    let place =
        common(exceptions, RaiseSite::of).filter(|_| needs_place(message.as_ref(), exceptions));
    parts.extend(message.map(Part::Message));
    parts.extend(place.map(Part::RaisedAt));
    let causes: Option<Vec<&Exception>> = exceptions.iter().map(|it| beneath(it)).collect();
    if let Some(causes) = causes
        && let Some(class) = common(&causes, |it| Some(it.short_class().to_owned()))
    {
        parts.push(Part::Cause(class, self::message(&causes)));
    }
    Some(parts)
}

/// What all exceptions have in common.
pub(super) fn common<T: PartialEq>(
    exceptions: &[&Exception],
    of: impl Fn(&Exception) -> Option<T>,
) -> Option<T> {
    let first = of(exceptions.first()?)?;
    exceptions
        .iter()
        .all(|it| of(it).as_ref() == Some(&first))
        .then_some(first)
}

/// What the messages of all exceptions have in common; the whole message where it is but a quoted
/// name, as that of a `KeyError` is.
pub(super) fn message(exceptions: &[&Exception]) -> Option<Pattern> {
    let told: Vec<Vec<&str>> = exceptions
        .iter()
        .map(|it| informative_lines(&it.message))
        .collect();
    let found = fragments(&told);
    if !found.is_empty() {
        return Some(Pattern::Lines(found));
    }
    let whole = common(exceptions, |it| Some(it.message.trim().to_owned()))?;
    let is_name = letters(&whole) > 0 && is_steady(&whole) && !whole.contains('\n');
    is_name.then(|| Pattern::Lines(vec![vec![whole]]))
}

/// Whether a message does not tell a bug from others: there is none, little is left of it, or
/// others show it as well.
fn needs_place(message: Option<&Pattern>, exceptions: &[&Exception]) -> bool {
    let Some(Pattern::Lines(lines)) = message else {
        return true;
    };
    let fragments: Vec<&str> = lines.iter().flatten().map(String::as_str).collect();
    if exceptions.iter().all(|it| is_internal(it)) {
        return true;
    }
    let is_name = fragments.iter().any(|it| it.starts_with('\''));
    let is_whole = exceptions.iter().all(|it| fragments == [it.message.trim()]);
    // The script's own words are found nowhere else.
    let is_own = exceptions
        .iter()
        .all(|it| is_raised(it) && !is_in_library(it));
    let enough = match (is_name, is_whole || is_own) {
        (true, _) => 1,
        (_, true) => 3,
        _ => FEW_LETTERS,
    };
    // The class of a wrapped exception is none of its message.
    let words = fragments
        .iter()
        .flat_map(|it| it.split_whitespace())
        .filter(|word| !is_class(word));
    words.map(letters).sum::<usize>() < enough
}

/// Whether a word names an exception.
fn is_class(word: &str) -> bool {
    let name = word.trim_end_matches(':');
    name.ends_with("Error") || name.ends_with("Exception")
}

/// Whether an exception says no more than that a library broke: in the interpreter's own words,
/// such as `'a' object is not callable`, which are the same wherever it breaks.
pub(super) fn is_internal(exception: &Exception) -> bool {
    is_of_interpreter(exception) && is_in_library(exception) && !is_raised(exception)
}

/// Whether an exception is of a class that the interpreter itself raises when anything is not as it
/// must be.
pub(super) fn is_of_interpreter(exception: &Exception) -> bool {
    const CLASSES: &[&str] = &[
        "AttributeError",
        "IndexError",
        "KeyError",
        "StopIteration",
        "TypeError",
        "ZeroDivisionError",
    ];
    CLASSES.contains(&exception.class.as_str())
}

/// The exception that another only reports: the first that a group holds, or the one that it
/// replaces.
fn beneath(exception: &Exception) -> Option<&Exception> {
    leaves(exception)
        .first()
        .copied()
        .or_else(|| wrapped(exception))
}

/// The exception that another replaces: one that is raised by a statement of the handler that
/// caught the first. Where the handler's own work failed, the first has no part in it.
pub(super) fn wrapped(exception: &Exception) -> Option<&Exception> {
    let (cause, last) = (exception.chain.last()?, exception.frames.last()?);
    let caught = cause.frames.first()?;
    let is_handler = caught.file == last.file && caught.function == last.function;
    (is_handler && is_raised(exception)).then_some(cause)
}

/// A program that shows its error in its own words, or by its exit status.
fn of_output(outcomes: &[Outcome], end: End) -> Result<Vec<Part>, NotDerivable> {
    let on_stdout = pattern(outcomes, |it| error_line(&it.stdout.text())).map(Part::Stdout);
    let told = pattern(outcomes, |it| error_line(&it.stderr.text())).map(Part::Stderr);
    let End::Exit(status @ 1..) = end else {
        return on_stdout
            .or(told)
            .map(|part| vec![part])
            .ok_or(NotDerivable::Passes);
    };
    let last = || pattern(outcomes, |it| last_line(&it.stderr.text())).map(Part::Stderr);
    let sign = told.or_else(last).or(on_stdout);
    Ok([Part::Exit(vec![status])].into_iter().chain(sign).collect())
}

/// What the lines that are picked from each outcome have in common.
fn pattern(outcomes: &[Outcome], pick: impl Fn(&Outcome) -> Option<String>) -> Option<Pattern> {
    let picked: Vec<String> = outcomes.iter().map(pick).collect::<Option<_>>()?;
    let lines: Vec<Vec<&str>> = picked.iter().map(|text| text.lines().collect()).collect();
    Some(fragments(&lines))
        .filter(|found| !found.is_empty())
        .map(Pattern::Lines)
}

/// The lines of a program's own output that are no warnings of the interpreter's.
fn own_lines(text: &str) -> Vec<&str> {
    static WARNING: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^.+:\d+: \w*Warning: ").expect("the pattern is well-formed"));
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

/// The line of a program's own output that tells of an error most plainly: the headline of a
/// printed traceback, the name of an exception, a loud word, a word; the last one of a kind.
fn error_line(text: &str) -> Option<String> {
    static SIGNS: LazyLock<[Regex; 3]> = LazyLock::new(|| {
        [
            r"(?:^|[^\w])[A-Za-z_][\w.]*(?:Error|Exception)\b",
            r"\b(?:ERROR|BUG|FAIL(?:ED|URE|S)?|MISMATCH|INCORRECT|WRONG)\b",
            r"\b(?i:error|bug|fail(?:ed|ure|s)?|mismatch|incorrect|wrong)\b",
        ]
        .map(|pattern| Regex::new(pattern).expect("the pattern is well-formed"))
    });
    // Counts of nothing, and their like.
    static NONE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:no|0|without|zero|any)(?: \w+)? (?:errors?|bugs?|fail(?:ed|ures?|s)?|mismatch(?:es)?)\b")
            .expect("the pattern is well-formed")
    });
    if let Some(exception) = traceback::parse_all(text).last() {
        let lines = informative_lines(&exception.message);
        return Some(format!("{}: {}", exception.class, lines.join("\n")));
    }
    let lines: Vec<&str> = own_lines(text)
        .into_iter()
        .filter(|line| !NONE.is_match(line))
        .collect();
    let last = |sign: &Regex| lines.iter().rev().find(|line| sign.is_match(line));
    SIGNS.iter().find_map(last).map(|line| (*line).to_owned())
}
