//! Removal of things from their rows ([`crate::syntax::rows`]): the text of a row without some of
//! its things. Any subset can be removed, and the rest still parses. Called only by `edit`.

use crate::{
    rewrite::splice::Edit,
    syntax::{
        Program, Ranged, TextRange, TokenKind,
        rows::{Row, RowKind},
    },
};

/// The edits that take `gone` (ascending, without repeats) out of a row. `None` if the row cannot
/// lose them.
pub(crate) fn removal(program: &Program, row: &Row, gone: &[u32]) -> Option<Vec<Edit>> {
    let all = gone.len() == row.items.len();
    match row.kind {
        RowKind::Suite if all => Some(vec![emptied(program, row)]),
        RowKind::Module | RowKind::Suite => Some(statements(program, row, gone)),
        RowKind::Decorators => Some(
            gone.iter()
                .map(|&at| Edit::delete(own_lines(program, row.items[at as usize])))
                .collect(),
        ),
        RowKind::Targets | RowKind::TypeParameters if all => Some(vec![Edit::delete(row.inner)]),
        RowKind::Parameters if all => {
            let before = program
                .previous_token(row.inner.start())
                .map_or(row.inner.start(), |token| token.end());
            let comma = program
                .next_token(row.inner.end())
                .filter(|token| token.kind() == TokenKind::Comma);
            let end = comma.map_or(row.inner.end(), |token| token.end());
            Some(vec![Edit::delete(TextRange::new(before, end))])
        }
        _ if all => {
            let filler = row.kind.filler()?;
            Some(vec![Edit::replace(
                with_trailing_comma(program, row),
                filler,
            )])
        }
        _ => Some(separated(program, row, gone)),
    }
}

/// A block of which nothing is left, up to the end of its last line, so that the edit holds all
/// edits within the block.
fn emptied(program: &Program, row: &Row) -> Edit {
    let end = program.logical_end(row.inner.end());
    let rest = program.slice(TextRange::new(row.inner.end(), end));
    let line_break = &rest[rest.trim_end_matches(['\r', '\n']).len()..];
    let filler = row.kind.filler().unwrap_or_default();
    Edit::replace(
        TextRange::new(row.inner.start(), end),
        format!("{filler}{line_break}"),
    )
}

/// A decorator with its whole line, or up to what follows on the same line.
fn own_lines(program: &Program, range: TextRange) -> TextRange {
    let end = program.tokens()[program.token_from(range.end())..]
        .iter()
        .find(|token| token.kind() == TokenKind::Newline)
        .map_or(range.end(), Ranged::end);
    TextRange::new(
        program
            .logical_start(range.start())
            .unwrap_or(range.start()),
        end,
    )
}

fn with_trailing_comma(program: &Program, row: &Row) -> TextRange {
    let range = row.items[0].cover(row.items[row.items.len() - 1]);
    match program.next_token(range.end()) {
        Some(token) if token.kind() == TokenKind::Comma && token.end() <= row.inner.end() => {
            TextRange::new(range.start(), token.end())
        }
        _ => range,
    }
}

/// Things between commas. A run in the middle is removed up to the next thing; a run at the end is
/// removed from the previous thing on, so that a trailing comma stays as it was. A tuple of one
/// keeps its comma.
fn separated(program: &Program, row: &Row, gone: &[u32]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let survivors = row.items.len() - gone.len();
    let last = row.items.len() - 1;
    for (from, to) in runs(gone) {
        if to < last {
            let range = TextRange::new(row.items[from].start(), row.items[to + 1].start());
            let is_parameters = row.kind == RowKind::Parameters;
            let markers = if is_parameters {
                markers(program, range, &row.items[from..=to], from > 0)
            } else {
                String::new()
            };
            edits.push(Edit::replace(range, markers));
        } else {
            edits.push(Edit::delete(TextRange::new(
                row.items[from - 1].end(),
                row.items[to].end(),
            )));
        }
    }
    if matches!(row.kind, RowKind::TupleElements { .. })
        && survivors == 1
        && with_trailing_comma(program, row).end() == row.items[last].end()
    {
        // No comma of the original is left behind the last survivor.
        if gone.last() == Some(&(last as u32)) {
            if let Some(edit) = edits.last_mut() {
                ",".clone_into(&mut edit.text);
            }
        } else {
            edits.push(Edit::replace(TextRange::empty(row.items[last].end()), ","));
        }
    }
    edits
}

/// The markers `/` and `*` among parameters, of which those after the range stay. The star belongs
/// to these, the slash to those before it.
fn markers(
    program: &Program,
    range: TextRange,
    gone: &[TextRange],
    follows_others: bool,
) -> String {
    let tokens =
        &program.tokens()[program.token_from(range.start())..program.token_from(range.end())];
    let has = |kind: TokenKind| {
        tokens.iter().any(|token| {
            let before = program
                .previous_token(token.start())
                .map(|token| token.kind());
            let after = program.next_token(token.end()).map(|token| token.kind());
            let stands_alone = after == Some(TokenKind::Comma)
                && matches!(
                    before,
                    Some(TokenKind::Comma | TokenKind::Lpar | TokenKind::Lambda)
                );
            // One that is there for a single parameter goes with it.
            let is_attached = gone.iter().any(|item| item.contains_range(token.range()));
            token.kind() == kind && stands_alone && !is_attached
        })
    };
    let mut markers = String::new();
    if follows_others && has(TokenKind::Slash) {
        markers.push_str("/, ");
    }
    if has(TokenKind::Star) {
        markers.push_str("*, ");
    }
    markers
}

/// Statements go with their lines; those that share a line with others go up to the next, or from
/// the one before.
fn statements(program: &Program, row: &Row, gone: &[u32]) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (first, last) in lines_of(program, &row.items) {
        let here: Vec<u32> = gone
            .iter()
            .copied()
            .filter(|&at| (first..=last).contains(&(at as usize)))
            .collect();
        if here.is_empty() {
            continue;
        }
        let line = TextRange::new(row.items[first].start(), row.items[last].end());
        if here.len() == last - first + 1
            && let Some(start) = program.logical_start(line.start())
        {
            edits.push(Edit::delete(TextRange::new(
                start,
                program.logical_end(line.end()),
            )));
            continue;
        }
        for (from, to) in runs(&here) {
            edits.push(Edit::delete(if to < last {
                TextRange::new(row.items[from].start(), row.items[to + 1].start())
            } else if from > first {
                TextRange::new(row.items[from - 1].end(), row.items[to].end())
            } else {
                line
            }));
        }
    }
    edits
}

/// Runs of neighbours among ascending indices, as first and last.
fn runs(indices: &[u32]) -> Vec<(usize, usize)> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for &index in indices {
        match runs.last_mut() {
            Some((_, to)) if *to + 1 == index as usize => *to += 1,
            _ => runs.push((index as usize, index as usize)),
        }
    }
    runs
}

/// The statements of a suite by the logical line they stand on, as first and last index.
fn lines_of(program: &Program, items: &[TextRange]) -> Vec<(usize, usize)> {
    let mut lines: Vec<(usize, usize)> = Vec::new();
    for index in 0..items.len() {
        let joined = index > 0
            && program
                .previous_token(items[index].start())
                .is_some_and(|token| {
                    token.kind() == TokenKind::Semi && token.start() >= items[index - 1].end()
                });
        match lines.last_mut() {
            Some((_, last)) if joined => *last = index,
            _ => lines.push((index, index)),
        }
    }
    lines
}
