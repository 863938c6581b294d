//! Derives a signature from baseline runs when the user gives none: the class, and the distinctive
//! and stable part of the message. Pure.

use std::collections::BTreeSet;

use minrepro_reducers::analysis::cpython;
use regex::Regex;

use super::{
    common_parts::of_exceptions,
    crash_site::CrashSite,
    forms::Part,
    normalize::{fragments, informative_lines},
    pattern::Pattern,
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
// `ValueError: no such row` and the like.
pattern!(
    EXCEPTION_HEAD,
    r"^\s*(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*(?:Error|Exception)\s*:"
);
pattern!(
    LOUD_WORD,
    r"\b(?:ERROR|BUG|FAIL(?:ED|URE|S)?|MISMATCH|INCORRECT|WRONG)\b"
);
pattern!(
    ERROR_WORD,
    r"\b(?i:error|bug|fail(?:ed|ure|s)?|mismatch|incorrect|wrong)\b"
);
// `Error: no such row` and the like.
pattern!(
    HEADED,
    r"^\s*(?i:error|bug|fail(?:ed|ure)?|mismatch|incorrect|wrong)\s*:"
);
// `0 errors` and the like.
pattern!(
    NO_ERRORS,
    r"(?i)\b(?:no|0|without|zero|any)(?: \w+)? (?:errors?|bugs?|fail(?:ed|ures?|s)?|mismatch(?:es)?)\b"
);

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

/// A death by a signal, and the last message of the C or C++ code that aborted. Corrupted memory
/// may cause one signal or another.
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

/// A program that shows its error in its own words, or by its exit status.
fn of_output(outcomes: &[Outcome], end: End) -> Result<Vec<Part>, NotDerivable> {
    let on_stdout =
        pattern(outcomes, |outcome| error_line(&outcome.stdout.text(), end)).map(Part::Stdout);
    let on_stderr =
        pattern(outcomes, |outcome| error_line(&outcome.stderr.text(), end)).map(Part::Stderr);
    let End::Exit(status @ 1..) = end else {
        return on_stdout
            .or(on_stderr)
            .map(|part| vec![part])
            .ok_or(NotDerivable::Passes);
    };
    let last =
        |text: fn(&Outcome) -> String| pattern(outcomes, |outcome| last_line(&text(outcome)));
    let sign = on_stderr
        .or_else(|| last(|outcome| outcome.stderr.text().into_owned()).map(Part::Stderr))
        .or(on_stdout)
        .or_else(|| last(|outcome| outcome.stdout.text().into_owned()).map(Part::Stdout));
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

/// The lines of a program's output without the interpreter's warnings and the frames of stacks.
fn own_lines(text: &str) -> Vec<String> {
    let text = traceback::without_frames(text);
    let mut lines = Vec::new();
    let mut warned = false;
    for line in text.lines() {
        // The source line of a warning follows it.
        let is_source = warned && line.starts_with("  ");
        warned = WARNING.is_match(line);
        if !warned && !is_source && !line.trim().is_empty() {
            lines.push(line.to_owned());
        }
    }
    lines
}

fn last_line(text: &str) -> Option<String> {
    own_lines(text).pop()
}

/// The line of a program's output that reports an error most plainly: the headline of a printed
/// traceback, the name of an exception, a capitalized word, a word at its head, a word; the last one
/// of a kind. If the program ends well, a word in the midst of other lines may stand for anything,
/// such as an error that the script expects. If it does not, so may a word in the midst of a line:
/// what such a program prints last says why it ends.
fn error_line(text: &str, end: End) -> Option<String> {
    if let Some(exception) = traceback::parse_all(text).last() {
        let lines = informative_lines(&exception.message);
        return Some(format!("{}: {}", exception.class, lines.join("\n")));
    }
    let mut lines: Vec<String> = own_lines(text)
        .into_iter()
        .filter(|line| !NO_ERRORS.is_match(line))
        .collect();
    let last_with = |sign: &Regex| lines.iter().rposition(|line| sign.is_match(line));
    let plain: &[&Regex] = match end {
        End::Exit(1..) => &[&EXCEPTION_HEAD, &LOUD_WORD, &HEADED],
        _ => &[&EXCEPTION_NAME, &LOUD_WORD, &HEADED],
    };
    let found = plain.iter().copied().find_map(last_with).or_else(|| {
        let is_last = |at: &usize| *at + 1 == lines.len();
        last_with(&ERROR_WORD).filter(is_last)
    });
    found.map(|at| lines.swap_remove(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_lines_of_a_printed_stack_say_nothing() {
        let stack = "  File \"/tmp/a.py\", line 2, in <module>\n    run(ZeroDivisionError)\n";
        assert_eq!(error_line(stack, End::Exit(0)), None);
        assert_eq!(
            error_line(&format!("caught a ValueError\n{stack}"), End::Exit(0)).as_deref(),
            Some("caught a ValueError")
        );
    }

    #[test]
    fn a_word_in_the_midst_of_a_good_end_is_no_error() {
        let of = |text: &str, status: i32| error_line(text, End::Exit(status)).unwrap_or_default();
        for text in ["load failed\n", "1: ok\nload failed\n0 errors\n"] {
            assert_eq!(of(text, 0), "load failed");
        }
        assert_eq!(of("load failed\n2: ok\n", 0), "");
        assert_eq!(of("load failed\n2: ok\n", 1), "");
        assert_eq!(of("load failed\n", 1), "load failed");
        assert_eq!(of("caught a ValueError\nROW LOST\n", 1), "");
        for plain in ["MISMATCH at 3", "a.RowError: no row", "Error: no row"] {
            assert_eq!(of(&format!("{plain}\ndone\n"), 1), plain);
        }
        for plain in ["MISMATCH at 3", "caught a ValueError", "Error: no row"] {
            assert_eq!(of(&format!("{plain}\ndone\n"), 0), plain);
        }
    }
}
