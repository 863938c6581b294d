//! The inside instead of the whole: a body instead of its block, a part instead of an expression.
//! Called by passes and by the room for PyTorch.

use crate::{
    rewrite::{
        edit::{Edit, EditSet},
        parenthesize::parentheses,
    },
    syntax::{
        Program, Ranged, TextRange, TextSize,
        ast::{Expr, Stmt},
    },
};

/// The edits that leave only a body of a statement, moved out to the statement's indentation.
pub(crate) fn unwrap_block(
    program: &Program,
    statement: TextRange,
    body: &[Stmt],
) -> Option<EditSet> {
    let inner = body.first()?.range().cover(body.last()?.range());
    let outer_start = program.logical_start(statement.start())?;
    let outer_end = program.logical_end(statement.end());
    let mut edits = EditSet::default();
    let mut delete = |from: TextSize, to: TextSize| {
        if from < to {
            edits.edit(Edit::delete(TextRange::new(from, to)));
        }
    };
    let Some(inner_start) = program.logical_start(inner.start()) else {
        // The body stands on the line of its header.
        delete(statement.start(), inner.start());
        delete(inner.end().min(statement.end()), statement.end());
        return Some(edits);
    };
    let inner_end = program.logical_end(inner.end());
    let outer_indent = program.slice(TextRange::new(outer_start, statement.start()));
    let inner_indent = program.slice(TextRange::new(inner_start, inner.start()));
    if !inner_indent.starts_with(outer_indent) || inner_indent.len() <= outer_indent.len() {
        return None;
    }
    delete(outer_start, inner_start);
    for line in program.lines_outside_strings(TextRange::new(inner_start, inner_end)) {
        // A line continued within brackets may be indented less; as much indentation is removed as
        // possible without losing text.
        if program.text()[usize::from(line)..].starts_with(inner_indent) {
            delete(
                line + TextSize::of(outer_indent),
                line + TextSize::of(inner_indent),
            );
        }
    }
    delete(inner_end, outer_end);
    Some(edits)
}

/// The edits that leave a part of an expression, in parentheses where it needs them.
pub(crate) fn keep_part(program: &Program, whole: TextRange, part: &Expr) -> Option<EditSet> {
    let (open, close) = parentheses(program, part, whole);
    let text = program.slice(part.range());
    if open.is_empty() && program.would_glue(whole, text) {
        return None;
    }
    let mut edits = EditSet::default();
    edits.edit(Edit::replace(
        TextRange::new(whole.start(), part.start()),
        open,
    ));
    edits.edit(Edit::replace(
        TextRange::new(part.end(), whole.end()),
        close,
    ));
    let tokens =
        |range: TextRange| program.token_from(range.end()) - program.token_from(range.start());
    (tokens(part.range()) + open.len() + close.len() < tokens(whole)).then_some(edits)
}
