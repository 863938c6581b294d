//! The difference between the script and the result, as a unified diff.

use anstyle::{AnsiColor, Style};
use similar::{ChangeTag, TextDiff};

use crate::cli::Painted;

const REMOVED: Style = AnsiColor::Red.on_default();
const NEW: Style = AnsiColor::Green.on_default();
const HUNK: Style = AnsiColor::Cyan.on_default();

/// A unified diff of two texts under their names, coloured.
pub fn unified(before: (&str, &str), after: (&str, &str)) -> Painted {
    let diff = TextDiff::from_lines(before.1, after.1);
    let mut text = Painted::default();
    let mut hunks = diff.unified_diff();
    let hunks = hunks.context_radius(2);
    for (number, hunk) in hunks.iter_hunks().enumerate() {
        if number == 0 {
            text.push(REMOVED, format!("--- {}\n", before.0));
            text.push(NEW, format!("+++ {}\n", after.0));
        }
        text.push(HUNK, format!("{}\n", hunk.header()));
        for change in hunk.iter_changes() {
            let (sign, style) = match change.tag() {
                ChangeTag::Delete => ('-', REMOVED),
                ChangeTag::Insert => ('+', NEW),
                ChangeTag::Equal => (' ', Style::new()),
            };
            let line = change.value().trim_end_matches(['\r', '\n']);
            text.push(style, format!("{sign}{line}\n"));
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
        assert_eq!(
            diff.text(),
            "--- x.py\n+++ x.min.py\n@@ -1,4 +1,3 @@\n a\n-b\n c\n d\n"
        );
        assert!(unified(("x", before), ("y", before)).is_empty());
    }
}
