//! Small tools for texts that several rooms need. Knows nothing of scripts, runs or issues.

use std::{borrow::Cow, fmt::Write};

/// A regular expression under a name, compiled on its first use.
macro_rules! pattern {
    ($name:ident, $regex:expr $(,)?) => {
        static $name: std::sync::LazyLock<regex::Regex> = std::sync::LazyLock::new(|| {
            regex::Regex::new($regex).expect("the pattern is well-formed")
        });
    };
}

pub(crate) use pattern;

/// The first line of a text that is not blank, without the white space around it.
pub(crate) fn first_line(text: &str) -> &str {
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default()
}

/// The width of a line's indentation, in bytes.
pub(crate) fn margin(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// A text with its lines moved to the left, at most as far as each is indented.
pub(crate) fn unindented(text: &str, width: usize) -> String {
    text.lines()
        .map(|line| format!("{}\n", &line[margin(line).min(width)..]))
        .collect()
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), std::borrow::Cow::into_owned)
}

/// Names in backticks, with commas between them.
pub(crate) fn in_backticks<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// A text in which characters that a terminal or a page would act on instead of showing are written
/// as Python escapes: control characters except line ends and tabs, and characters that change the
/// writing direction.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let code = u32::from(char);
        if !acts(char) || char == '\r' && chars.peek() == Some(&'\n') {
            shown.push(char);
        } else if code < 0x80 {
            let _ = write!(shown, "\\x{code:02x}");
        } else {
            // Of JSON as well as of Python.
            let _ = write!(shown, "\\u{code:04x}");
        }
    }
    shown.into()
}

/// Whether a terminal or a page acts on a character.
fn acts(char: char) -> bool {
    matches!(
        char,
        '\0'..='\x08'
            | '\x0b'..='\x1f'
            | '\x7f'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_acted_on_is_shown() {
        for (text, shown) in [
            ("plain é 漢\n\t", "plain é 漢\n\t"),
            ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
            ("\u{9b}31m", "\\u009b31m"),
            ("a\u{202e}b\u{2066}", "a\\u202eb\\u2066"),
            ("line\r\nover\rwritten\x08", "line\r\nover\\x0dwritten\\x08"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }
}
