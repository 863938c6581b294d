//! Puts expressions into other places: in parentheses where they could bind less tightly than the
//! place wants. Called by passes that move expressions.

use crate::syntax::TokenKind;

use crate::{
    cost::{Cost, tokens_of},
    rewrite::edit::EditSet,
    syntax::{
        Program, Ranged, TextRange, TextSize,
        ast::{Expr, comparable::ComparableStmt},
    },
};

/// The parentheses that an expression needs in a place that now holds something else: two, or none.
pub(crate) fn parentheses(
    program: &Program,
    expr: &Expr,
    place: TextRange,
) -> (&'static str, &'static str) {
    let is_looked_into = program
        .next_token(place.end())
        .is_some_and(|token| token.kind() == TokenKind::Dot);
    if expr.is_number_literal_expr() && is_looked_into {
        return ("(", ")");
    }
    if is_closed(program, expr) || (is_open_place(program, place) && is_operation(program, expr)) {
        ("", "")
    } else {
        ("(", ")")
    }
}

/// Whether edits make a program, and a simpler one, for passes that can not tell beforehand.
pub(crate) fn gains(program: &Program, edits: &EditSet) -> bool {
    let text = edits.apply(program).ok();
    let after = text.and_then(|text| program.sibling(text).ok());
    after.is_some_and(|after| Cost::of(&after) < Cost::of(program))
}

/// Whether edits that are known to make a program make a simpler one. Parses it only where what
/// goes and what comes are about as heavy.
pub(crate) fn lightens(program: &Program, edits: &EditSet) -> bool {
    let Ok(disjoint) = edits.resolve(program) else {
        return false;
    };
    let gone: u64 = disjoint
        .iter()
        .map(|edit| 16 * tokens_in(program, edit.range) + literals(program.slice(edit.range)))
        .sum();
    // A piece of a program is somewhat fewer tokens than its words and marks.
    let comes: u64 = disjoint
        .iter()
        .map(|edit| 16 * tokens_of(&edit.text) + literals(&edit.text))
        .sum();
    if gone > comes {
        return true;
    }
    gains(program, edits)
}

/// Whether edits change nothing but how the program is written.
pub(crate) fn means_the_same(program: &Program, edits: &EditSet) -> bool {
    let text = edits.apply(program).ok();
    let after = text.and_then(|text| program.sibling(text).ok());
    after.is_some_and(|after| {
        let (before, now) = (program.body(), after.body());
        before.len() == now.len()
            && before
                .iter()
                .zip(now)
                .all(|(one, other)| ComparableStmt::from(one) == ComparableStmt::from(other))
    })
}

/// About what the literals of a text weigh, in sixteenths of a token.
fn literals(text: &str) -> u64 {
    if text.contains(['\'', '"']) {
        return text.len() as u64;
    }
    4 * text.bytes().filter(u8::is_ascii_digit).count() as u64
}

fn tokens_in(program: &Program, range: TextRange) -> u64 {
    let tokens =
        &program.tokens()[program.token_from(range.start())..program.token_from(range.end())];
    tokens
        .iter()
        .map(|token| u64::from(program.weight_in_tokens(*token)))
        .sum()
}

/// Whether an expression reads the same in any place: it has brackets of its own, or is one primary
/// whose line ends are all within its brackets.
fn is_closed(program: &Program, expr: &Expr) -> bool {
    match expr {
        Expr::List(_)
        | Expr::Set(_)
        | Expr::Dict(_)
        | Expr::ListComp(_)
        | Expr::SetComp(_)
        | Expr::DictComp(_)
        | Expr::Name(_)
        | Expr::NoneLiteral(_)
        | Expr::BooleanLiteral(_)
        | Expr::EllipsisLiteral(_) => true,
        Expr::Tuple(it) => it.parenthesized,
        Expr::Generator(it) => it.parenthesized,
        Expr::Call(_)
        | Expr::Attribute(_)
        | Expr::Subscript(_)
        | Expr::StringLiteral(_)
        | Expr::BytesLiteral(_)
        | Expr::FString(_)
        | Expr::NumberLiteral(_) => has_no_open_line_end(program, expr.range()),
        _ => false,
    }
}

/// Whether a part of a program, which may stand in brackets now, could do without them.
fn has_no_open_line_end(program: &Program, range: TextRange) -> bool {
    let tokens =
        &program.tokens()[program.token_from(range.start())..program.token_from(range.end())];
    let mut depth = 0_usize;
    tokens.iter().all(|token| {
        match token.kind() {
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => depth += 1,
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => {
                depth = depth.saturating_sub(1);
            }
            TokenKind::NonLogicalNewline => return depth > 0,
            _ => {}
        }
        true
    })
}

/// Whether an expression fills its place, so that what stands there may bind as it likes.
fn is_open_place(program: &Program, whole: TextRange) -> bool {
    let before = program
        .previous_token(whole.start())
        .map(|token| token.kind());
    let after = program.next_token(whole.end()).map(|token| token.kind());
    matches!(
        before,
        Some(
            TokenKind::Equal
                | TokenKind::Lpar
                | TokenKind::Lsqb
                | TokenKind::Comma
                | TokenKind::Return
        )
    ) && matches!(
        after,
        Some(
            TokenKind::Newline
                | TokenKind::Rpar
                | TokenKind::Rsqb
                | TokenKind::Comma
                | TokenKind::Semi
        )
    )
}

/// Whether an expression is an operation whose line ends are all within brackets.
fn is_operation(program: &Program, expr: &Expr) -> bool {
    let kind = matches!(
        expr,
        Expr::BinOp(_)
            | Expr::BoolOp(_)
            | Expr::Compare(_)
            | Expr::UnaryOp(_)
            | Expr::If(_)
            | Expr::Await(_)
    );
    kind && has_no_open_line_end(program, expr.range())
}

/// Where the lines of a range start, those inside a string left out.
pub(crate) fn lines_outside_strings(program: &Program, range: TextRange) -> Vec<TextSize> {
    let tokens = program.tokens();
    let tokens = &tokens[program.token_from(range.start())..program.token_from(range.end())];
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
    let text = program.slice(range);
    starts.extend(
        text.match_indices('\n')
            .map(|(at, _)| range.start() + TextSize::new(at as u32 + 1))
            .filter(|&start| start < range.end())
            .filter(|&start| {
                !strings
                    .iter()
                    .any(|it| it.start() < start && start <= it.end())
            }),
    );
    starts
}
