//! What a rejected candidate teaches: its error names what else has to go. Pure; the engine offers the widened edit next.

use crate::{
    closure::Statements,
    edit::EditSet,
    syntax::{AnyNodeRef, Program, Ranged, TextRange, ast::ExprContext},
};

/// What a failure says is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// A name that nothing binds any more.
    Name(String),
    /// An attribute that nothing sets any more.
    Attribute(String),
}

impl Hint {
    /// Reads the hint off an exception's class, dots included, and message.
    pub fn of(class: &str, message: &str) -> Option<Self> {
        let quoted = || Some(message.split_once('\'')?.1.split_once('\'')?.0.to_owned());
        match class.rsplit('.').next()? {
            "NameError" | "UnboundLocalError" => quoted().map(Self::Name),
            "ImportError" if message.starts_with("cannot import name") => quoted().map(Self::Name),
            "AttributeError" => {
                let message = message.split(". Did you mean").next()?;
                let at = message.rfind("has no attribute '")?;
                let rest = &message[at + "has no attribute '".len()..];
                rest.split_once('\'').map(|(name, _)| Self::Attribute(name.to_owned()))
            }
            _ => None,
        }
    }

    /// An edit set with the removal of every statement that still mentions what is missing; `None` if none does.
    pub fn widen(&self, program: &Program, edits: &EditSet) -> Option<EditSet> {
        let deleted: Vec<TextRange> = edits.resolve(program).ok()?.iter().map(|edit| edit.range).collect();
        let statements = Statements::of(program);
        let mut wider = edits.clone();
        let mut innermost: Vec<TextRange> = Vec::new();
        for node in &program.tree().nodes {
            let range = node.node.range();
            innermost.retain(|it| it.contains_range(range));
            if node.node.is_statement() {
                innermost.push(range);
            }
            let mentions = match (self, node.node) {
                (Self::Name(name), AnyNodeRef::ExprName(expr)) => {
                    expr.ctx == ExprContext::Load && expr.id == name.as_str()
                }
                (Self::Attribute(name), AnyNodeRef::ExprAttribute(expr)) => expr.attr.as_str() == name,
                _ => false,
            };
            if mentions
                && !deleted.iter().any(|it| it.contains_range(range))
                && let Some(place) = innermost.last().and_then(|&statement| statements.place(statement))
            {
                wider.remove(place.list, place.item);
            }
        }
        (wider != *edits).then_some(wider)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_what_is_missing() {
        let name = |name: &str| Some(Hint::Name(name.to_owned()));
        let attribute = |name: &str| Some(Hint::Attribute(name.to_owned()));
        assert_eq!(Hint::of("NameError", "name 'np' is not defined. Did you mean: 'n'?"), name("np"));
        assert_eq!(
            Hint::of(
                "UnboundLocalError",
                "cannot access local variable 'x' where it is not associated with a value"
            ),
            name("x")
        );
        assert_eq!(
            Hint::of("UnboundLocalError", "local variable 'x' referenced before assignment"),
            name("x")
        );
        assert_eq!(Hint::of("ImportError", "cannot import name 'f' from 'm' (/m.py)"), name("f"));
        assert_eq!(
            Hint::of("AttributeError", "'A' object has no attribute 'w'. Did you mean: 'v'?"),
            attribute("w")
        );
        assert_eq!(Hint::of("AttributeError", "module 'os' has no attribute 'x'"), attribute("x"));
        assert_eq!(Hint::of("ValueError", "bad 'x'"), None);
        assert_eq!(Hint::of("NameError", ""), None);
    }

    #[test]
    fn statements_that_mention_it_go_too() {
        let program = Program::parse("a.w = 1\nif x:\n    print(a.w)\n    y = a.v\n").unwrap();
        let edits = EditSet::removal(0, 0);
        let wider = Hint::Attribute("w".to_owned()).widen(&program, &edits).unwrap();
        assert_eq!(wider.apply(&program).unwrap(), "if x:\n    y = a.v\n");
        assert_eq!(Hint::Attribute("u".to_owned()).widen(&program, &edits), None);
    }
}
