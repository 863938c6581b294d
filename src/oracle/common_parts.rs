//! The parts that the exceptions of several runs share. Pure. Called where a signature is derived,
//! completed or compared with the library's failure.

use super::{
    exceptions::{cause, is_internal, is_raised},
    forms::Part,
    normalize::{fragments, informative_lines, is_steady, letters},
    pattern::Pattern,
    raise_site::{RaiseSite, is_in_library},
};
use crate::runner::Exception;

/// A message with fewer letters left is not distinctive.
const FEW_LETTERS: usize = 8;

/// The common parts of exceptions: the class, the words, the place if these are not distinctive,
/// and the exception that they replace.
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

/// The property that all of these share.
pub(super) fn common<S, T: PartialEq>(seen: &[&S], of: impl Fn(&S) -> Option<T>) -> Option<T> {
    let first = of(seen.first()?)?;
    let is_shared = seen.iter().all(|each| of(each).as_ref() == Some(&first));
    is_shared.then_some(first)
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

/// Whether a message is not distinctive: there is none, little is left of it, or many bugs share
/// it.
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
