//! PyTorch as a program names it: dotted names behind imports and their aliases, and the calls that
//! passes look for. Goes only by names; a candidate run shows whether the answer was right. Called
//! by the cost and by the passes for PyTorch.

use crate::{
    analysis::names::ImportedNames,
    rewrite::{arguments::argument_item, edit::EditSet},
    syntax::{
        Program, TextRange, Tree,
        ast::{Expr, ExprAttribute, ExprCall, Keyword},
    },
};

/// The meaning of the names in a program that imports PyTorch.
pub(crate) struct Torch<'a>(ImportedNames<'a>);

impl<'a> Torch<'a> {
    /// `None` if the program does not import PyTorch.
    pub(crate) fn of(program: &Program, tree: &Tree<'a>) -> Option<Self> {
        if !program.text().contains("torch") {
            return None;
        }
        let imported = ImportedNames::of(tree);
        let is_torch = |path: &str| path == "torch" || path.starts_with("torch.");
        let imports_torch = imported.paths().any(is_torch);
        imports_torch.then_some(Self(imported))
    }

    /// The full name of an imported name.
    pub(crate) fn name(&self, name: &str) -> Option<&str> {
        self.0.name(name)
    }

    /// The full name of an expression, if it is imported.
    pub(crate) fn path(&self, expr: &Expr) -> Option<String> {
        self.0.path(expr)
    }

    /// The same of an attribute.
    pub(crate) fn attribute(&self, attribute: &ExprAttribute) -> Option<String> {
        self.0.attribute(attribute)
    }

    /// The full names of all imports.
    pub(crate) fn imports(&self) -> impl Iterator<Item = &str> {
        self.0.paths()
    }

    /// Whether an expression is `os.environ`.
    pub(crate) fn is_environ(&self, expr: &Expr) -> bool {
        self.0.is_environ(expr)
    }
}

/// The value that a call passes by a keyword.
pub(crate) fn keyword<'a>(call: &'a ExprCall, name: &str) -> Option<&'a Keyword> {
    call.arguments
        .keywords
        .iter()
        .find(|keyword| keyword.arg.as_ref().is_some_and(|arg| arg.id == name))
}

/// The removal of an argument.
pub(crate) fn removed_argument(program: &Program, argument: TextRange) -> Option<EditSet> {
    argument_item(program, argument).map(EditSet::removal)
}

/// The text of a string literal.
pub(crate) fn string(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::StringLiteral(it) => Some(it.value.to_str()),
        _ => None,
    }
}
