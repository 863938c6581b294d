//! The part of the best program so far that fits the free rows of a terminal: the lines around the
//! last change, in colours. Prints nothing. Called by `progress`.

use std::fmt::Write;

use anstyle::Style;

use super::{highlight, words::counted};
use crate::text::visible;

/// Rows that stay free for the findings so far and for the progress line.
const TAKEN: usize = 9;
/// A view of fewer lines shows nothing.
const LEAST: usize = 4;
/// Lines above the last change that are shown.
const ABOVE: usize = 2;
/// Between the edge of the terminal and a line.
const MARGIN: &str = "  ";

/// A program's lines and the place of the last change to it.
#[derive(Clone, Debug, Default)]
pub(super) struct Best {
    text: String,
    lines: Vec<Vec<(Style, String)>>,
    changed: usize,
}

impl Best {
    /// The program that took the place of this one.
    pub(super) fn followed_by(&self, text: &str) -> Self {
        let same = |(old, new): &(&str, &str)| old == new;
        let changed = self.text.lines().zip(text.lines()).take_while(same).count();
        let mut lines = vec![Vec::new()];
        for (shade, part) in highlight::parts(text) {
            for (number, piece) in part.split('\n').enumerate() {
                if number > 0 {
                    lines.push(Vec::new());
                }
                let shown = visible(piece.trim_end_matches('\r')).replace('\t', "    ");
                if let Some(line) = lines.last_mut() {
                    line.push((shade.style(), shown));
                }
            }
        }
        // Behind the last line end there is none.
        lines.truncate(text.lines().count());
        Self {
            text: text.to_owned(),
            lines,
            changed,
        }
    }

    /// The rows below the moving line on a terminal of this size; nothing where there is no room.
    pub(super) fn rows(&self, (rows, columns): (usize, usize), in_colour: bool) -> String {
        let room = rows.saturating_sub(TAKEN);
        if room < LEAST || self.lines.is_empty() {
            return String::new();
        }
        let shown = (room - 1).min(self.lines.len());
        let first = self.changed.saturating_sub(ABOVE);
        let first = first.min(self.lines.len() - shown);
        let all = counted(self.lines.len() as u64, "line", "lines");
        let mut head = format!("{MARGIN}the best so far, {all}");
        if shown < self.lines.len() {
            let _ = write!(head, ", from line {}", first + 1);
        }
        let mut text = paint(&[(Style::new().dimmed(), head)], columns, in_colour);
        for line in &self.lines[first..first + shown] {
            text.push('\n');
            text.push_str(MARGIN);
            text.push_str(&paint(
                line,
                columns.saturating_sub(MARGIN.len()),
                in_colour,
            ));
        }
        text
    }
}

/// The parts of a line that fit; one that is cut ends in dots.
fn paint(parts: &[(Style, String)], columns: usize, in_colour: bool) -> String {
    let width: usize = parts.iter().map(|(_, part)| part.chars().count()).sum();
    // A line as wide as the terminal would begin a new one.
    let room = columns.saturating_sub(1);
    let (mut left, dots) = if width > room {
        (room.saturating_sub(1), "…")
    } else {
        (room, "")
    };
    let mut text = String::new();
    for (style, part) in parts {
        let shown: String = part.chars().take(left).collect();
        left -= shown.chars().count();
        if in_colour && !shown.is_empty() {
            let _ = write!(text, "{style}{shown}{style:#}");
        } else {
            text.push_str(&shown);
        }
    }
    text.push_str(dots);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_around_the_last_change_are_shown() {
        let program = |left: usize| -> String {
            let lines = (1..=60).filter(|number| *number != left);
            lines.map(|number| format!("line{number} = 1\n")).collect()
        };
        let best = Best::default().followed_by(&program(0));
        let shown = best.rows((24, 80), false);
        assert_eq!(shown.lines().count(), 15, "{shown}");
        assert!(shown.starts_with("  the best so far, 60 lines, from line 1\n  line1 = 1\n"));
        let shown = best.followed_by(&program(40)).rows((24, 80), false);
        assert!(
            shown.starts_with("  the best so far, 59 lines, from line 38\n  line38 = 1\n"),
            "{shown}"
        );
        assert_eq!(best.rows((12, 80), false), "");
    }

    #[test]
    fn a_line_that_does_not_fit_is_cut_and_nothing_in_it_acts() {
        let best = Best::default().followed_by("x = '\u{9b}2J'  # a very long comment\n");
        let shown = best.rows((24, 22), false);
        assert_eq!(shown.lines().nth(1), Some("  x = '\\u009b2J'  # …"));
        let coloured = best.rows((24, 80), true);
        assert!(
            coloured.contains("\x1b[32m'\\u009b2J'\x1b[0m"),
            "{coloured:?}"
        );
        let short = Best::default().followed_by("a = 1\n");
        assert_eq!(
            short.rows((24, 80), false),
            "  the best so far, 1 line\n  a = 1"
        );
    }
}
