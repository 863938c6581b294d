//! Lines of a program: their numbers and ends, where logical lines start and end, and by how much
//! statements are indented. Called by every room.

use std::collections::BTreeSet;

use rustpython_source_file::LineIndex;

use crate::syntax::{Program, Ranged, TextRange, TextSize, TokenKind};

/// The longest line that is still easy to read, in characters.
pub(crate) const WIDTH: usize = 88;

/// How many characters a line has.
pub(crate) fn width(line: &str) -> usize {
    line.chars().count()
}

/// The lines of a text that are longer than [`WIDTH`], without the white space round them.
pub(super) fn long_texts(text: &str) -> BTreeSet<String> {
    let long = text.lines().filter(|line| width(line) > WIDTH);
    long.map(|line| line.trim().to_owned()).collect()
}

impl Program {
    /// The lines that are longer than [`WIDTH`].
    pub(crate) fn long_lines(&self) -> Vec<TextRange> {
        // Most programs have none; an index of the lines takes longer.
        let mut lines = self.text().lines();
        if !lines.any(|line| line.len() > WIDTH) {
            return Vec::new();
        }
        let starts = self.line_starts();
        let ends = starts[1..]
            .iter()
            .copied()
            .chain([TextSize::of(self.text())]);
        let lines = starts.iter().zip(ends).map(|(&start, end)| {
            let text = self.slice(TextRange::new(start, end));
            TextRange::at(start, TextSize::of(text.trim_end_matches(['\r', '\n'])))
        });
        let is_long = |line: &TextRange| width(self.slice(*line)) > WIDTH;
        lines.filter(is_long).collect()
    }

    /// Whether the author of the program that this one is made of wrote a line as it is.
    pub(crate) fn is_long_by_author(&self, line: TextRange) -> bool {
        self.long_by_author.contains(self.slice(line).trim())
    }

    /// By how many characters its lines are too long, in all.
    pub(crate) fn overhang(&self) -> usize {
        let lines = self.long_lines().into_iter();
        lines.map(|line| width(self.slice(line)) - WIDTH).sum()
    }

    /// How the program ends its lines.
    pub fn newline(&self) -> &'static str {
        newline_of(self.text())
    }

    /// The number of the line on which an offset stands, counted from 1.
    pub fn line_of(&self, offset: TextSize) -> u32 {
        self.line_index().line_index(offset).get() as u32
    }

    /// Where each line starts.
    pub(crate) fn line_starts(&self) -> &[TextSize] {
        self.line_index().line_starts()
    }

    fn line_index(&self) -> &LineIndex {
        self.lines
            .get_or_init(|| LineIndex::from_source_text(self.text()))
    }

    /// Where the logical line starts whose first token stands at `at`; `None` if other tokens of
    /// the line come before it.
    pub(crate) fn logical_start(&self, at: TextSize) -> Option<TextSize> {
        let before = &self.tokens()[..self.token_from(at)];
        for token in before.iter().rev() {
            match token.kind() {
                TokenKind::Indent | TokenKind::Dedent | TokenKind::Comment => {}
                TokenKind::Newline | TokenKind::NonLogicalNewline => return Some(token.end()),
                _ => return None,
            }
        }
        Some(TextSize::new(0))
    }

    /// Where the logical line ends, its line break included, whose last statement ends at `at`.
    pub(crate) fn logical_end(&self, at: TextSize) -> TextSize {
        for token in &self.tokens()[self.token_from(at)..] {
            match token.kind() {
                TokenKind::Semi | TokenKind::Comment => {}
                TokenKind::Newline => return token.end(),
                _ => return at,
            }
        }
        TextSize::of(self.text())
    }

    /// The white space before a statement that starts its line; `None` if others come before it.
    pub(crate) fn indentation(&self, statement: TextRange) -> Option<&str> {
        let start = self.logical_start(statement.start())?;
        Some(self.slice(TextRange::new(start, statement.start())))
    }

    /// Where the lines of a range start, except those inside a string.
    pub(crate) fn lines_outside_strings(&self, range: TextRange) -> Vec<TextSize> {
        let tokens = &self.tokens()[self.token_from(range.start())..self.token_from(range.end())];
        let literal = |kind| {
            matches!(
                kind,
                TokenKind::String | TokenKind::FStringMiddle | TokenKind::TStringMiddle
            )
        };
        let strings: Vec<TextRange> = tokens
            .iter()
            .filter(|token| literal(token.kind()))
            .map(Ranged::range)
            .collect();
        let mut starts = vec![range.start()];
        let text = self.slice(range);
        starts.extend(
            text.match_indices('\n')
                .map(|(at, _)| range.start() + TextSize::new(at as u32 + 1))
                .filter(|&start| start < range.end())
                .filter(|&start| {
                    !strings
                        .iter()
                        .any(|string| string.start() < start && start <= string.end())
                }),
        );
        starts
    }
}

/// How a text ends its lines.
pub fn newline_of(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// A text with line ends as most files have them; Python reads no others, in strings either.
pub fn with_plain_newlines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}
