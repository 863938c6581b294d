//! Message normalization: the lines of a text that say what went wrong, without the parts that are
//! volatile by nature or vary between runs. Pure.

use std::ops::Range;

use minrepro_reducers::{analysis::cpython, torch::messages};
use regex::Regex;
use similar::{ChangeTag, TextDiff};

use crate::text::pattern;

pattern!(COMPILER_ERROR, r"^\S+:\d+:(?:\d+:)? ((?:fatal )?error: .+)");
pattern!(SUGGESTION, cpython::SUGGESTION_PATTERN);
pattern!(GROUP, cpython::GROUP_PATTERN);
// An ellipsis stands for a gap in a typed signature.
pattern!(TYPED_GAP, "…");
pattern!(ADDRESS, r"\b0x[0-9a-fA-F]+\b");
pattern!(PATH, r#""?\.*(?:/[\w.+@-]+){2,}"?"#);
pattern!(SYMBOLS, messages::SYMBOLS);
pattern!(NUMBERED, messages::NUMBERED);
pattern!(
    REPORTED,
    r"(?m)^[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Warning): "
);
// Not in names: `utf-8`, `float32`.
pattern!(
    NUMBER,
    r"(?:^|[^\w-]|(?:^|\W)-)(\d+(?:x\d+)*(?:\.\d+)?(?:[eE][+-]?\d+)?)"
);

/// Replaces the parts of a text that vary.
const GAP: char = '\u{0}';
/// Longer literals inside a message are data: they shrink along with the script.
const LONG: usize = 60;

/// A line with fewer letters names at most a place.
const PLACE: usize = 4;

/// The lines of a message that say what went wrong: the first. If it only announces another, that
/// one too, or alone if the first only names a backend. If it is general by design, also the
/// explanation or the compiler's own error. Of one that holds a traceback, those of the exception at
/// its end: whoever quotes it says no more than that something failed.
pub(super) fn informative_lines(message: &str) -> Vec<&str> {
    let message = behind_traceback(message).unwrap_or(message);
    let mut lines = behind_quotation(message)
        .lines()
        .map(str::trim)
        .take_while(|line| !messages::is_advice(line))
        .filter(|line| !line.is_empty());
    let Some(first) = lines.next() else {
        return Vec::new();
    };
    match lines.clone().next() {
        Some(second) if messages::names_backend(first) => vec![second],
        Some(second) if first.ends_with(':') || second.starts_with("Explanation:") => {
            vec![first, second]
        }
        Some(_) => [first]
            .into_iter()
            .chain(lines.find_map(compiler_error))
            .collect(),
        // A wrapped exception without a message.
        None => vec![first.trim_end_matches(':')],
    }
}

/// The exception at the end of the last traceback that a message holds.
fn behind_traceback(message: &str) -> Option<&str> {
    const TRACEBACK: &str = "(most recent call last):\n";
    let end = message.rfind(TRACEBACK)? + TRACEBACK.len();
    let found = REPORTED.find_iter(&message[end..]).last()?;
    Some(&message[end + found.start()..])
}

/// The part of a message behind the source that it quotes, if it begins with nothing but the place of
/// that (`at 3:14:`) and marks a column of it.
fn behind_quotation(message: &str) -> &str {
    let is_mark =
        |line: &str| !line.is_empty() && line.chars().all(|char| matches!(char, '^' | '~'));
    let mut marks = message.match_indices('\n').filter(|(at, _)| {
        let line = message[..*at].lines().next_back();
        line.is_some_and(|line| is_mark(line.trim()))
    });
    let first = message.lines().next().unwrap_or_default();
    let rest = marks.next_back().map_or("", |(at, _)| &message[at..]);
    if letters(first) < PLACE && !rest.trim().is_empty() {
        rest
    } else {
        message
    }
}

/// The message of a C++ compiler, without the location.
fn compiler_error(line: &str) -> Option<&str> {
    Some(COMPILER_ERROR.captures(line)?.get(1)?.as_str())
}

/// The fragments that all runs share, line by line, without volatile parts.
pub(super) fn fragments(runs: &[Vec<&str>]) -> Vec<Vec<String>> {
    let count = runs.iter().map(Vec::len).min().unwrap_or_default();
    let lines = (0..count).map(|at| line_fragments(runs.iter().map(|lines| lines[at])));
    lines.filter(|fragments| !fragments.is_empty()).collect()
}

fn line_fragments<'a>(runs: impl Iterator<Item = &'a str>) -> Vec<String> {
    let common = runs
        .map(mask)
        .reduce(|common, other| shared(&common, &other))
        .unwrap_or_default();
    // A bracket or a preposition between two numbers is not distinctive.
    common
        .split(GAP)
        .map(trimmed)
        .filter(|piece| letters(piece) >= 3)
        .map(str::to_owned)
        .collect()
}

/// How many letters a text has.
pub(super) fn letters(text: &str) -> usize {
    text.chars().filter(|char| char.is_alphabetic()).count()
}

/// The words that two texts share, with gaps where they differ.
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

/// A line with gaps for addresses, paths, ids, symbols, argument lists, long literals and numbers:
/// these differ between runs, or change while the script shrinks.
fn mask(line: &str) -> String {
    let volatile: [&Regex; 8] = [
        &SUGGESTION,
        &GROUP,
        &TYPED_GAP,
        &ADDRESS,
        &PATH,
        &SYMBOLS,
        &NUMBERED,
        &NUMBER,
    ];
    let mut masked = without_data(line);
    for regex in volatile {
        masked = regex
            .replace_all(&masked, |found: &regex::Captures<'_>| {
                let whole = &found[0];
                let kept = found
                    .get(1)
                    .map_or(0, |group| whole.len() - group.as_str().len());
                format!("{}{GAP}", &whole[..kept])
            })
            .into_owned();
    }
    masked
}

/// Whether nothing of a line is volatile by nature.
pub(super) fn is_steady(line: &str) -> bool {
    !mask(line).contains(GAP)
}

/// A line without its numbers, addresses and the like: the same for failures of one kind.
pub(super) fn kind(line: &str) -> String {
    mask(line).replace(GAP, "…")
}

/// A line with gaps for lists, argument lists and strings that are data.
fn without_data(line: &str) -> String {
    let mut kept = String::new();
    let mut from = 0;
    while let Some(Range { start, end }) = next_data(line, from) {
        kept.push_str(&line[from..start]);
        kept.push(GAP);
        from = end;
    }
    kept + &line[from..]
}

/// The first stretch of data at or after an offset.
fn next_data(line: &str, from: usize) -> Option<Range<usize>> {
    line[from..]
        .char_indices()
        .map(|(at, char)| (from + at, char))
        .find_map(|(start, char)| {
            let end = match char {
                '(' | '[' | '{' => closing(line, start)?,
                '\'' | '"' if !line[..start].ends_with(char::is_alphanumeric) => {
                    start + 1 + line[start + 1..].find(char)? + 1
                }
                _ => return None,
            };
            let (before, inside) = (&line[..start], &line[start..end]);
            let is_data = match char {
                // The arguments of a node in a graph, of a tensor without data.
                '(' => {
                    inside.starts_with("(*(")
                        || messages::ends_in_fake_tensor(before)
                        || inside.len() > LONG && inside.matches(',').count() >= 4
                }
                _ => inside.len() > LONG,
            };
            is_data.then_some(start..end)
        })
}

/// The offset after the bracket that closes the one at `open`.
fn closing(line: &str, open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, char) in line[open..].char_indices() {
        match char {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(open + at + char.len_utf8());
        }
    }
    None
}

/// A piece without the separators and the unpaired brackets that gaps left at its ends.
fn trimmed(piece: &str) -> &str {
    let is_separator = |char: char| char.is_whitespace() || ",;".contains(char);
    let mut piece = piece;
    loop {
        let before = piece;
        piece = piece
            .trim_matches(is_separator)
            .trim_start_matches(['.', ':', ')', ']', '}'])
            .trim_end_matches(['(', '[', '{']);
        if piece.starts_with(['(', '[', '{']) {
            match closing(piece, 0) {
                Some(end) if end == piece.len() => piece = &piece[1..end - 1],
                Some(_) => {}
                None => piece = &piece[1..],
            }
        }
        if piece.ends_with([')', ']', '}']) && !is_balanced(piece) {
            piece = &piece[..piece.len() - 1];
        }
        if piece == before {
            return piece;
        }
    }
}

/// Whether every bracket that closes was opened.
fn is_balanced(piece: &str) -> bool {
    let mut depth = 0_i32;
    piece.chars().all(|char| {
        depth += match char {
            '(' | '[' | '{' => 1,
            ')' | ']' | '}' => -1,
            _ => 0,
        };
        depth >= 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[&str], expected: &[&str]) {
        assert_eq!(line_fragments(texts.iter().copied()), expected);
    }

    #[test]
    fn volatile_parts_become_gaps() {
        check(
            &["<a.B object at 0x7f001> is bad"],
            &["<a.B object at", "> is bad"],
        );
        check(
            &["mat1 and mat2 shapes cannot be multiplied (3x4 and 15x6)"],
            &["mat1 and mat2 shapes cannot be multiplied", "and"],
        );
        check(
            &["can't open /tmp/tmpab12/x.py: not there"],
            &["can't open", "not there"],
        );
        check(&["Eq(u0, 1) (size s1)"], &["size"]);
        check(
            &["buf12 of op3 reads arg0_1 before primals_2"],
            &["reads", "before"],
        );
        check(&["12 3.5e-7 (8, 9) -3"], &[]);
        check(
            &["'utf-8' and int32 of -8 rows"],
            &["'utf-8' and int32 of -", "rows"],
        );
    }

    #[test]
    fn differences_between_runs_become_gaps() {
        check(
            &["key alpha is missing", "key beta is missing"],
            &["key", "is missing"],
        );
        check(&["same", "same", "same"], &["same"]);
    }

    #[test]
    fn brackets_stay_in_pairs() {
        check(&["got RuntimeError('a, b')"], &["got RuntimeError('a, b')"]);
        check(&["7)).  (symbols: none)"], &["symbols: none"]);
        check(&["call to min(int, long 7)"], &["call to min(int, long"]);
        check(&["((("], &[]);
        check(&["(a) was (b c d)"], &["(a) was (b c d)"]);
    }

    #[test]
    fn advice_is_not_part_of_the_failure() {
        assert_eq!(
            informative_lines("AssertionError: \n\nSet TORCHDYNAMO_VERBOSE=1 for more"),
            ["AssertionError"]
        );
        assert_eq!(
            informative_lines("raised:\nRuntimeError: a\nmore"),
            ["raised:", "RuntimeError: a"]
        );
        assert_eq!(
            informative_lines("plain\n  Explanation: b\n  Hint: c"),
            ["plain", "Explanation: b"]
        );
        assert_eq!(
            informative_lines("C++\n/t/a.cpp:7: error: no b"),
            ["C++", "error: no b"]
        );
        let quoting = "at 3:14:\ndef f(x):\n    g(x)\n    ^\nx must be even\nmore";
        assert_eq!(informative_lines(quoting), ["x must be even"]);
        assert_eq!(
            informative_lines("no such:\n  f()\n  ^\n"),
            ["no such:", "f()"]
        );
        assert_eq!(informative_lines(""), Vec::<&str>::new());
        let nested = "It failed.\nTraceback of A (most recent call last):\n  f(x)\n\nTraceback of B (most recent call last):\nm.py(2): f\nRuntimeError: no such x\n";
        assert_eq!(informative_lines(nested), ["RuntimeError: no such x"]);
    }
}
