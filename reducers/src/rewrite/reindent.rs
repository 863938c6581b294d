//! Indentation: statements at the margin, and statements indented further. Lines inside strings
//! stay as they are. Called by whatever moves statements.

use crate::{
    rewrite::edit::{Edit, rewritten},
    syntax::{Program, Ranged, TextRange, TextSize, TokenKind, lines::with_plain_newlines},
};

/// The lines of some statements at the margin; none if a string over several lines would have to
/// move.
pub(crate) fn reindented(
    program: &Program,
    range: TextRange,
    edits: &[Edit],
    at_margin: bool,
) -> Option<Vec<String>> {
    let start = program
        .logical_start(range.start())
        .unwrap_or(range.start());
    let indent = TextRange::new(start, range.start());
    let mut edits = edits.to_vec();
    let lines = program.lines_outside_strings(TextRange::new(start, range.end()));
    if !at_margin && lines.len() < 1 + program.slice(range).matches('\n').count() {
        return None;
    }
    for &line in lines.iter().skip(1) {
        if program.text()[usize::from(line)..].starts_with(program.slice(indent)) {
            edits.push(Edit::delete(TextRange::at(
                line,
                TextSize::of(program.slice(indent)),
            )));
        }
    }
    let text = rewritten(program, range, &edits)?;
    Some(
        text.split('\n')
            .map(|line| line.trim_end_matches('\r').to_owned())
            .collect(),
    )
}

/// A statement with each of its lines indented, but for those that begin within a string.
pub(crate) fn indented(program: &Program, range: TextRange, prefix: &str) -> String {
    let strings = strings(program, range);
    let mut text = prefix.to_owned();
    let mut at = range.start();
    for line in program.slice(range).split_inclusive('\n') {
        let is_within = strings
            .iter()
            .any(|string| string.start() < at && at < string.end());
        if at > range.start() && !is_within && !line.trim().is_empty() {
            text.push_str(prefix);
        }
        text.push_str(line);
        at += TextSize::of(line);
    }
    with_plain_newlines(&text)
}

/// The strings of a range, formatted ones from quote to quote.
fn strings(program: &Program, range: TextRange) -> Vec<TextRange> {
    let mut found = Vec::new();
    let mut open = Vec::new();
    let from = program.token_from(range.start());
    for token in program.tokens()[from..]
        .iter()
        .take_while(|token| token.start() < range.end())
    {
        match token.kind() {
            TokenKind::String => found.push(token.range()),
            TokenKind::FStringStart | TokenKind::TStringStart => open.push(token.start()),
            TokenKind::FStringEnd | TokenKind::TStringEnd => {
                found.extend(open.pop().map(|start| TextRange::new(start, token.end())));
            }
            _ => {}
        }
    }
    found
}
