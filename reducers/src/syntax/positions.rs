//! The positions of a program's parts: optional parts with their leading keyword or sign, and every
//! expression with the requirements of its place. Called by passes; proposes nothing.

use crate::syntax::{
    Program, Ranged, TextRange, TextSize, TokenKind,
    ast::{
        self, Expr, ExprContext,
        visitor::source_order::{self, SourceOrderVisitor},
    },
};

impl Program {
    /// The beginning of a part of the text, for people.
    pub(crate) fn excerpt(&self, range: TextRange) -> String {
        self.slice(range)
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(40)
            .collect()
    }

    /// An optional part: from the end of the preceding part, including the sign `lead`, to the end
    /// of the part after the sign, parentheses included.
    pub(crate) fn tail(&self, lead: TokenKind, part: TextRange) -> Option<TextRange> {
        let (sign, end) = self.led(lead, part)?;
        Some(TextRange::new(
            self.previous_token(sign.start())?.end(),
            end,
        ))
    }

    /// The part after the sign `lead`, parentheses and white space included.
    pub(crate) fn behind(&self, lead: TokenKind, part: TextRange) -> Option<TextRange> {
        let (sign, end) = self.led(lead, part)?;
        Some(TextRange::new(sign.end(), end))
    }

    /// The sign before a part, and where the parentheses end that open between the two.
    fn led(&self, lead: TokenKind, part: TextRange) -> Option<(TextRange, TextSize)> {
        let mut sign = self.previous_token(part.start())?;
        let mut opened = 0;
        while sign.kind() == TokenKind::Lpar && lead != TokenKind::Lpar {
            opened += 1;
            sign = self.previous_token(sign.start())?;
        }
        let mut end = part.end();
        for _ in 0..opened {
            end = self
                .next_token(end)
                .filter(|token| token.kind() == TokenKind::Rpar)?
                .end();
        }
        (sign.kind() == lead).then_some((sign.range(), end))
    }

    /// Whether an edit that replaces `range` with `text` would join two words into one.
    pub(crate) fn would_glue(&self, range: TextRange, text: &str) -> bool {
        let is_word = |char: char| char.is_alphanumeric() || matches!(char, '_' | '"' | '\'');
        let before = self.text()[..usize::from(range.start())]
            .chars()
            .next_back();
        let after = self.text()[usize::from(range.end())..].chars().next();
        let touches = |one: Option<char>, other: Option<char>| {
            one.zip(other)
                .is_some_and(|(one, other)| is_word(one) && is_word(other))
        };
        touches(before, text.chars().next()) || touches(text.chars().next_back(), after)
    }
}

/// Whether a token opens a bracket.
pub(crate) fn opens(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace)
}

/// Whether a token closes one.
pub(crate) fn closes(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace)
}

/// Whether an expression only names or writes something.
pub(crate) fn is_plain(expr: &Expr) -> bool {
    expr.is_literal_expr() || matches!(expr, Expr::Name(_) | Expr::Lambda(_))
}

/// The expressions that may replace an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Any value.
    Value,
    /// Something that is called or looked into.
    Base,
    /// A decorator or a raised expression: something callable.
    Callable,
}

/// An expression and its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// The expression.
    pub(crate) expr: &'a Expr,
    /// The innermost statement around it.
    pub(crate) statement: TextRange,
    /// How deep it is nested in others of its statement.
    pub(crate) depth: u32,
    /// The expressions that may replace it.
    pub(crate) role: Role,
    /// Whether it directly follows the brace of a formatted string.
    pub(crate) behind_brace: bool,
}

/// Every expression that is evaluated, annotations and formatted strings included, targets and
/// patterns left out; outer before inner, later before earlier.
pub(crate) fn expressions(program: &Program) -> Vec<Place<'_>> {
    let statement = TextRange::default();
    let mut finder = Finder {
        statement,
        depth: 0,
        role: Role::Value,
        behind_brace: false,
        found: Vec::new(),
    };
    finder.visit_body(program.body());
    finder
        .found
        .sort_by_key(|place| (place.depth, std::cmp::Reverse(place.expr.start())));
    finder.found
}

struct Finder<'a> {
    statement: TextRange,
    depth: u32,
    role: Role,
    behind_brace: bool,
    found: Vec<Place<'a>>,
}

impl<'a> Finder<'a> {
    fn visit_as(&mut self, role: Role, expr: &'a Expr) {
        self.role = role;
        self.visit_expr(expr);
    }
}

impl<'a> SourceOrderVisitor<'a> for Finder<'a> {
    fn visit_stmt(&mut self, stmt: &'a ast::Stmt) {
        let depth = std::mem::take(&mut self.depth);
        let statement = std::mem::replace(&mut self.statement, stmt.range());
        match stmt {
            ast::Stmt::Raise(raise) => {
                if let Some(exc) = &raise.exc {
                    self.visit_as(Role::Callable, exc);
                }
                if let Some(cause) = &raise.cause {
                    self.visit_expr(cause);
                }
            }
            _ => source_order::walk_stmt(self, stmt),
        }
        self.depth = depth;
        self.statement = statement;
    }

    fn visit_decorator(&mut self, decorator: &'a ast::Decorator) {
        self.visit_as(Role::Callable, &decorator.expression);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        let role = std::mem::replace(&mut self.role, Role::Value);
        let behind_brace = std::mem::take(&mut self.behind_brace);
        let is_load = match expr {
            Expr::Name(it) => it.ctx == ExprContext::Load,
            Expr::Attribute(it) => it.ctx == ExprContext::Load,
            Expr::Subscript(it) => it.ctx == ExprContext::Load,
            Expr::List(it) => it.ctx == ExprContext::Load,
            Expr::Tuple(it) => it.ctx == ExprContext::Load,
            Expr::Starred(_) => false,
            _ => true,
        };
        if is_load {
            self.found.push(Place {
                expr,
                statement: self.statement,
                depth: self.depth,
                role,
                behind_brace,
            });
        }
        self.depth += 1;
        match expr {
            Expr::Call(call) => {
                self.visit_as(Role::Base, &call.func);
                self.visit_arguments(&call.arguments);
            }
            Expr::Attribute(it) => self.visit_as(Role::Base, &it.value),
            Expr::Subscript(it) => {
                self.visit_as(Role::Base, &it.value);
                self.visit_expr(&it.slice);
            }
            _ => source_order::walk_expr(self, expr),
        }
        self.depth -= 1;
    }

    fn visit_interpolated_string_element(&mut self, element: &'a ast::InterpolatedStringElement) {
        self.behind_brace = true;
        source_order::walk_interpolated_string_element(self, element);
        self.behind_brace = false;
    }

    fn visit_match_case(&mut self, case: &'a ast::MatchCase) {
        if let Some(guard) = &case.guard {
            self.visit_expr(guard);
        }
        self.visit_body(&case.body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_have_their_sign_and_their_parentheses() {
        let program = Program::parse("raise (a) from ((b))\n").unwrap();
        let part = TextRange::new(17.into(), 18.into());
        assert_eq!(program.slice(part), "b");
        assert_eq!(
            program.slice(program.tail(TokenKind::From, part).unwrap()),
            " from ((b))"
        );
        assert_eq!(
            program.slice(program.behind(TokenKind::From, part).unwrap()),
            " ((b))"
        );
        assert_eq!(program.tail(TokenKind::Comma, part), None);
    }

    #[test]
    fn expressions_know_their_places() {
        let program = Program::parse("x = a.b(f'{c}')\nmatch d:\n    case e.f: pass\n").unwrap();
        let found: Vec<_> = expressions(&program)
            .iter()
            .map(|place| {
                (
                    program.slice(place.expr.range()),
                    place.role,
                    place.behind_brace,
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                ("d", Role::Value, false),
                ("a.b(f'{c}')", Role::Value, false),
                ("f'{c}'", Role::Value, false),
                ("a.b", Role::Base, false),
                ("c", Role::Value, true),
                ("a", Role::Base, false),
            ]
        );
    }
}
