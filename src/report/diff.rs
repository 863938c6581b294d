//! The difference between the script and the result, as a unified diff.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use similar::{ChangeTag, TextDiff};

const REMOVED: Style = AnsiColor::Red.on_default();
const NEW: Style = AnsiColor::Green.on_default();
const HUNK: Style = AnsiColor::Cyan.on_default();

/// A unified diff of two texts under their names, coloured; streams that know no colour strip it.
pub fn unified(before: (&str, &str), after: (&str, &str)) -> String {
    let diff = TextDiff::from_lines(before.1, after.1);
    let mut text = String::new();
    let mut hunks = diff.unified_diff();
    let hunks = hunks.context_radius(2);
    for (number, hunk) in hunks.iter_hunks().enumerate() {
        if number == 0 {
            let _ = writeln!(
                text,
                "{REMOVED}--- {}{REMOVED:#}\n{NEW}+++ {}{NEW:#}",
                before.0, after.0
            );
        }
        let _ = writeln!(text, "{HUNK}{}{HUNK:#}", hunk.header());
        for change in hunk.iter_changes() {
            let (sign, style) = match change.tag() {
                ChangeTag::Delete => ('-', REMOVED),
                ChangeTag::Insert => ('+', NEW),
                ChangeTag::Equal => (' ', Style::new()),
            };
            let line = change.value().trim_end_matches(['\r', '\n']);
            let _ = writeln!(text, "{style}{sign}{line}{style:#}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_shown() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let diff = unified(("x.py", before), ("x.min.py", "a\nc\nd\ne\nf\ng\nh\n"));
        let plain = anstream::adapter::strip_str(&diff).to_string();
        assert_eq!(
            plain,
            "--- x.py\n+++ x.min.py\n@@ -1,4 +1,3 @@\n a\n-b\n c\n d\n"
        );
        assert_eq!(unified(("x", before), ("y", before)), "");
    }
}
