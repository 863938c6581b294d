//! Derives a signature from baseline runs when the user gives none: the class, and what of the message is distinctive
//! and stable. Pure.

use std::sync::LazyLock;

use regex::Regex;
use similar::{ChangeTag, TextDiff};

use super::signature::{Part, Pattern, Place, Signature};
use crate::runner::{End, Exception, Outcome, traceback};

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
    if outcomes.iter().all(|it| matches!(it.end, End::Timeout | End::Limit(_))) {
        return Err(NotDerivable::Endless);
    }
    if outcomes.iter().any(|it| it.end != first.end) {
        return Err(NotDerivable::Varies);
    }
    let parts = match first.end {
        End::Signal(signal) => vec![Part::Exit(128 + signal)],
        _ => match exceptions(outcomes) {
            Some(exceptions) => of_exceptions(&exceptions).ok_or(NotDerivable::Varies)?,
            None => of_output(outcomes, first.end)?,
        },
    };
    let signature = Signature::seen_in(parts, outcomes);
    if outcomes.iter().all(|outcome| signature.matches(outcome)) {
        Ok(signature)
    } else {
        Err(NotDerivable::Varies)
    }
}

fn exceptions(outcomes: &[Outcome]) -> Option<Vec<&Exception>> {
    outcomes.iter().map(|outcome| outcome.exception.as_ref()).collect()
}

fn of_exceptions(exceptions: &[&Exception]) -> Option<Vec<Part>> {
    let first = exceptions.first()?;
    if exceptions.iter().any(|it| it.short_class() != first.short_class()) {
        return None;
    }
    let messages: Vec<String> = exceptions.iter().map(|it| telling(&it.message)).collect();
    let mut parts = vec![Part::Class(first.short_class().to_owned())];
    match fragments(&messages) {
        found if !found.is_empty() => parts.push(Part::Message(Pattern::Fragments(found))),
        _ => {
            let places: Vec<Option<Place>> = exceptions.iter().map(|it| Place::of(it)).collect();
            if let Some(Some(place)) = places.first()
                && places.iter().all(|it| it.as_ref() == Some(place))
            {
                parts.push(Part::RaisedAt(place.clone()));
            }
        }
    }
    Some(parts)
}

/// A program that shows its error in its own words, or by its exit status.
fn of_output(outcomes: &[Outcome], end: End) -> Result<Vec<Part>, NotDerivable> {
    let texts = |stream: fn(&Outcome) -> String| -> Vec<String> { outcomes.iter().map(stream).collect() };
    let stdout = texts(|outcome| outcome.stdout.text().into_owned());
    let stderr = texts(|outcome| outcome.stderr.text().into_owned());
    let sign = |texts: &[String]| {
        let lines: Vec<String> = texts.iter().map(|text| telling_line(text)).collect::<Option<_>>()?;
        Some(fragments(&lines)).filter(|found| !found.is_empty()).map(Pattern::Fragments)
    };
    let mut parts = Vec::new();
    if let End::Exit(status @ 1..) = end {
        parts.push(Part::Exit(status));
        let last: Vec<String> = stderr
            .iter()
            .map(|text| {
                text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
            })
            .collect();
        let found = fragments(&last);
        if !found.is_empty() {
            parts.push(Part::Stderr(Pattern::Fragments(found)));
        }
        return Ok(parts);
    }
    if let Some(pattern) = sign(&stdout) {
        parts.push(Part::Stdout(pattern));
    } else if let Some(pattern) = sign(&stderr) {
        parts.push(Part::Stderr(pattern));
    }
    if parts.is_empty() { Err(NotDerivable::Passes) } else { Ok(parts) }
}

/// The line of a program's own output that tells of an error: the headline of a printed traceback, or a line that says
/// error, bug, failure or mismatch.
fn telling_line(text: &str) -> Option<String> {
    static ERROR: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?:^|[^\w])(?:[A-Za-z_][\w.]*(?:Error|Exception)\b|(?i:error|bug|fail(?:ed|ure|s)?|mismatch|incorrect|wrong)\b)")
            .expect("the pattern is well-formed")
    });
    if let Some(exception) = traceback::parse_all(text).last() {
        let line = telling(&exception.message);
        return Some(format!("{}: {line}", exception.class));
    }
    text.lines().rev().find(|line| ERROR.is_match(line)).map(str::to_owned)
}

/// The lines of a message that tell what went wrong: the first, and where it only announces another, that one, too.
fn telling(message: &str) -> String {
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    if (first.ends_with("raised:") || first.ends_with(':'))
        && let Some(second) = lines.next()
    {
        return format!("{first}\n{second}");
    }
    first.to_owned()
}

/// What stands in for the parts of a message that vary.
const GAP: char = '\u{0}';

/// The fragments that all texts have in common, in order, without what is volatile by nature.
fn fragments(texts: &[String]) -> Vec<String> {
    let Some((first, rest)) = texts.split_first() else { return Vec::new() };
    let common =
        rest.iter().map(|text| mask(text)).fold(mask(first), |common, other| shared(&common, &other));
    common
        .split(GAP)
        .flat_map(|piece| piece.split('\n'))
        .map(|piece| piece.trim_matches(|char: char| char.is_whitespace() || "()[]{},;".contains(char)))
        // A bracket or a preposition between two numbers says nothing.
        .filter(|piece| piece.chars().filter(|char| char.is_alphabetic()).count() >= 3)
        .map(str::to_owned)
        .collect()
}

/// What two texts have in common, word by word, gaps where they differ.
fn shared(one: &str, other: &str) -> String {
    if one == other {
        return one.to_owned();
    }
    let mut common = String::new();
    for change in TextDiff::from_words(one, other).iter_all_changes() {
        match change.tag() {
            ChangeTag::Equal => common.push_str(change.value()),
            ChangeTag::Delete | ChangeTag::Insert => common.push(GAP),
        }
    }
    common
}

/// Addresses, paths, ids, symbols, argument lists and numbers give way: they differ between runs, or change while the
/// script shrinks.
fn mask(text: &str) -> String {
    static VOLATILE: LazyLock<[Regex; 5]> = LazyLock::new(|| {
        [
            r"0x[0-9a-fA-F]+",
            r"(?:/[\w.+@-]+){2,}",
            r"Fake(?:Tensor)?\([^()]*(?:\([^()]*\)[^()]*)*\)",
            r"\b[us]\d+\b",
            r"(?:^|[^A-Za-z0-9_])(\d+(?:x\d+)*(?:\.\d+)?(?:[eE][+-]?\d+)?)",
        ]
        .map(|pattern| Regex::new(pattern).expect("the pattern is well-formed"))
    });
    let mut masked = text.to_owned();
    for regex in &*VOLATILE {
        masked = regex
            .replace_all(&masked, |found: &regex::Captures<'_>| {
                let whole = &found[0];
                let kept = found.get(1).map_or(0, |group| whole.len() - group.as_str().len());
                format!("{}{GAP}", &whole[..kept])
            })
            .into_owned();
    }
    masked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[&str], expected: &[&str]) {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        assert_eq!(fragments(&texts), expected);
    }

    #[test]
    fn volatile_parts_give_way() {
        check(&["<a.B object at 0x7f001> is bad"], &["<a.B object at", "> is bad"]);
        check(
            &["mat1 and mat2 shapes cannot be multiplied (3x4 and 15x6)"],
            &["mat1 and mat2 shapes cannot be multiplied", "and"],
        );
        check(&["can't open /tmp/tmpab12/x.py: not there"], &["can't open", ": not there"]);
        check(&["Eq(u0, 1) (size s1)"], &["size"]);
        check(&["12 3.5e-7 (8, 9)"], &[]);
    }

    #[test]
    fn what_differs_between_runs_gives_way() {
        check(&["key alpha is missing", "key beta is missing"], &["key", "is missing"]);
        check(&["same", "same", "same"], &["same"]);
    }
}
