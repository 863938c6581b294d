//! Parentheses: an expression gets them if it could bind less tightly than its new place requires,
//! or if its lines need them. Called by all code that moves expressions.

use crate::syntax::{
    Program, Ranged, TextRange, TokenKind,
    ast::{Expr, Stmt},
    positions::{closes, opens},
};

/// A text that may have several lines, in parentheses if it has.
pub(crate) fn one_logical_line(text: &str) -> String {
    if text.contains('\n') {
        format!("({text})")
    } else {
        text.to_owned()
    }
}

/// An expression's text for a place in which anything may be called on it or looked up in it.
pub(crate) fn as_primary(expr: &Expr, text: &str) -> String {
    if is_primary(expr) {
        text.to_owned()
    } else {
        format!("({text})")
    }
}

/// The same for a text that is to be an expression; `None` if it is not one.
pub(crate) fn primary(text: &str) -> Option<String> {
    match Program::parse(text).ok()?.body() {
        [Stmt::Expr(statement)] => Some(as_primary(&statement.value, text)),
        _ => None,
    }
}

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

/// The parentheses that an expression needs as a statement: two, or none.
pub(crate) fn parentheses_of_statement(
    program: &Program,
    expr: &Expr,
) -> (&'static str, &'static str) {
    if expr.is_named_expr() || breaks_line(program, expr.range()) {
        ("(", ")")
    } else {
        ("", "")
    }
}

/// The text of expressions as a tuple in parentheses.
pub(crate) fn tuple(elements: &[impl AsRef<str>]) -> String {
    let elements: Vec<&str> = elements.iter().map(AsRef::as_ref).collect();
    let comma = if elements.len() == 1 { "," } else { "" };
    format!("({}{comma})", elements.join(", "))
}

/// Whether an expression reads the same in any place: it has its own brackets, or is a primary with
/// all line ends within its brackets.
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
        | Expr::NumberLiteral(_) => !breaks_line(program, expr.range()),
        _ => false,
    }
}

/// Whether a part of a program, which may be in brackets now, spans several lines outside all of
/// its own brackets.
fn breaks_line(program: &Program, range: TextRange) -> bool {
    let tokens =
        &program.tokens()[program.token_from(range.start())..program.token_from(range.end())];
    let mut depth = 0_usize;
    tokens.iter().any(|token| {
        depth += usize::from(opens(token.kind()));
        depth = depth.saturating_sub(usize::from(closes(token.kind())));
        depth == 0 && token.kind() == TokenKind::NonLogicalNewline
    })
}

/// Whether an expression fills its place, so that its replacement may bind as loosely as it likes.
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
    kind && !breaks_line(program, expr.range())
}

/// Whether an expression can stand anywhere, any number of times.
pub(crate) fn is_atom(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::Name(_)
            | Expr::NumberLiteral(_)
            | Expr::NoneLiteral(_)
            | Expr::BooleanLiteral(_)
            | Expr::EllipsisLiteral(_)
    ) || matches!(expr, Expr::StringLiteral(it) if it.value.iter().count() == 1 && !it.value.to_str().contains('\n'))
}

/// Whether an expression binds as tightly as a name.
fn is_primary(expr: &Expr) -> bool {
    is_atom(expr)
        || matches!(
            expr,
            Expr::Attribute(_)
                | Expr::Call(_)
                | Expr::Subscript(_)
                | Expr::List(_)
                | Expr::Dict(_)
                | Expr::Set(_)
        )
}
