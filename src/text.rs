//! Small tools for texts that several rooms need. Knows nothing of scripts, runs or issues.

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
