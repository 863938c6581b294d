//! Values that a traced run recorded: each as an expression that makes a similar value, and its
//! kind. Passes query these instead of reading the expression's text.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use serde::{Deserialize, Serialize};

use crate::syntax::{
    Program,
    ast::{Expr, Stmt, name::Name},
};

/// A value that a traced run saw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedValue {
    /// An expression that makes a similar value, in terms of the program's own global names.
    pub expression: Expression,
    /// Its kind.
    #[serde(default, skip_serializing_if = "ValueKind::is_plain")]
    pub kind: ValueKind,
    /// The tensors and modules that are in it, if it is neither.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<ValuePart>,
    /// Whether the expression makes the value in its final state, as far as is known. If not, it
    /// makes the value as the program first made it.
    #[serde(rename = "exact", default = "yes")]
    pub is_exact: bool,
}

/// The kind of a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ValueKind {
    /// A tensor.
    Tensor(Tensor),
    /// A module: layers with their parameters.
    Module,
    /// Anything else.
    #[default]
    Plain,
}

/// The properties of a tensor, except its numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tensor {
    /// Its sizes, the outermost first.
    pub shape: Vec<u64>,
    /// The type of its numbers, such as `float32`.
    pub dtype: String,
    /// Where it was, such as `cpu` or `cuda:0`.
    pub device: String,
    /// Whether gradients were to be computed for it.
    pub requires_grad: bool,
}

/// A tensor or module within a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ValuePart {
    /// How it is looked up in the value, such as `[0]['mask']`; `None` if that is not known.
    pub path: Option<String>,
    /// Its kind.
    pub kind: ValueKind,
}

impl RecordedValue {
    /// The text of the expression.
    pub fn text(&self) -> &str {
        self.expression.text()
    }

    /// Whether it was `None`.
    pub(crate) fn is_none(&self) -> bool {
        self.text() == "None"
    }

    /// Whether it was a tensor, or one was in it.
    pub(crate) fn holds_tensor(&self) -> bool {
        self.kinds()
            .any(|(_, kind)| matches!(kind, ValueKind::Tensor(_)))
    }

    /// Whether it was neither tensor nor module, and none was in it.
    pub(crate) fn is_plain(&self) -> bool {
        self.kinds().all(|(_, kind)| kind.is_plain())
    }

    /// How to look up, in the value, the first tensor that has a gradient; none if the value
    /// itself is one.
    pub(crate) fn path_to_gradient(&self) -> Option<&str> {
        let has_gradient =
            |kind: &ValueKind| matches!(kind, ValueKind::Tensor(it) if it.requires_grad);
        let mut parts = self.kinds().filter(|(_, kind)| has_gradient(kind));
        parts.find_map(|(path, _)| path)
    }

    /// Its own kind and those of its parts, each with how it is looked up.
    fn kinds(&self) -> impl Iterator<Item = (Option<&str>, &ValueKind)> {
        let parts = self
            .parts
            .iter()
            .map(|part| (part.path.as_deref(), &part.kind));
        std::iter::once((Some(""), &self.kind)).chain(parts)
    }
}

impl ValueKind {
    fn is_plain(&self) -> bool {
        *self == Self::Plain
    }
}

/// An expression, parsed when it is first asked about, and once.
#[derive(Clone)]
pub struct Expression(Arc<(String, OnceLock<Option<Program>>)>);

impl Expression {
    /// As it is written.
    pub fn text(&self) -> &str {
        &self.0.0
    }

    /// Its program of one statement; `None` if it does not parse.
    pub(crate) fn program(&self) -> Option<&Program> {
        let parse = || Program::parse(self.text()).ok();
        self.0.1.get_or_init(parse).as_ref()
    }

    /// Its syntax; `None` if it is no expression.
    pub(crate) fn syntax(&self) -> Option<&Expr> {
        match self.program()?.body() {
            [Stmt::Expr(statement)] => Some(&statement.value),
            _ => None,
        }
    }

    /// The names that it reads, builtins left out.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let program = self.program().into_iter();
        program.flat_map(|program| program.scopes().unbound_names())
    }

    /// The attributes of plain names that it reads, with the names.
    pub(crate) fn attributes(&self) -> impl Iterator<Item = (&str, &Name)> {
        let nodes = self.program().into_iter();
        let nodes = nodes.flat_map(|program| program.tree().nodes.iter());
        let attributes = nodes.filter_map(|node| node.node.as_expr_attribute().copied());
        attributes.filter_map(|attribute| {
            let of = attribute.value.as_name_expr()?;
            Some((of.id.as_str(), &attribute.attr.id))
        })
    }

    /// Whether it is written out: a literal, or a tuple of such.
    pub(crate) fn is_literal(&self) -> bool {
        fn is_written_out(expr: &Expr) -> bool {
            match expr {
                Expr::Tuple(tuple) => tuple.elts.iter().all(is_written_out),
                Expr::UnaryOp(operation) => is_written_out(&operation.operand),
                _ => expr.is_literal_expr(),
            }
        }
        self.syntax().is_some_and(is_written_out)
    }

    /// The last part of the name of the callee, if it is a call.
    pub(crate) fn called(&self) -> Option<&str> {
        match &*self.syntax()?.as_call_expr()?.func {
            Expr::Name(name) => Some(name.id.as_str()),
            Expr::Attribute(attribute) => Some(attribute.attr.as_str()),
            _ => None,
        }
    }
}

impl From<String> for Expression {
    fn from(text: String) -> Self {
        Self(Arc::new((text, OnceLock::new())))
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.text() == other.text()
    }
}

impl Eq for Expression {}

impl fmt::Debug for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.text(), formatter)
    }
}

impl Serialize for Expression {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text())
    }
}

impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(requires_grad: bool) -> ValueKind {
        ValueKind::Tensor(Tensor {
            requires_grad,
            ..Tensor::default()
        })
    }

    #[test]
    fn the_tensor_with_a_gradient_is_found_in_what_holds_it() {
        let value = |kind: ValueKind, parts: &[(Option<&str>, bool)]| RecordedValue {
            expression: "x".to_owned().into(),
            kind,
            parts: parts
                .iter()
                .map(|(path, requires_grad)| ValuePart {
                    path: path.map(str::to_owned),
                    kind: tensor(*requires_grad),
                })
                .collect(),
            is_exact: true,
        };
        assert_eq!(value(tensor(true), &[]).path_to_gradient(), Some(""));
        assert_eq!(value(tensor(false), &[]).path_to_gradient(), None);
        let held = [(Some("[0]"), false), (None, true), (Some("[1]['b']"), true)];
        let held = value(ValueKind::Plain, &held);
        assert_eq!(held.path_to_gradient(), Some("[1]['b']"));
        assert!(held.holds_tensor() && !held.is_plain());
        let plain = value(ValueKind::Plain, &[]);
        assert!(plain.is_plain() && !plain.holds_tensor());
        let module = value(ValueKind::Module, &[]);
        assert!(!module.is_plain() && !module.holds_tensor());
    }

    #[test]
    fn expressions_say_what_they_read_and_call() {
        let of = |text: &str| Expression::from(text.to_owned());
        assert_eq!(
            of("a.b(c, len(d))").names().collect::<Vec<_>>(),
            ["a", "c", "d"]
        );
        assert_eq!(of("a.b(c)").called(), Some("b"));
        assert_eq!(of("a.b").called(), None);
        let nested = of("f(A.b, c().d, A.e.f)");
        let read: Vec<_> = nested
            .attributes()
            .map(|(of, name)| (of, name.as_str()))
            .collect();
        assert_eq!(read, [("A", "b"), ("A", "e")]);
        assert!(of("(1, -2.5, ('x',))").is_literal() && !of("[1]").is_literal());
        assert!(of("1 +").syntax().is_none() && of("x = 1").syntax().is_none());
    }
}
