//! What parts are called, and the words by which a program has them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    analysis::{names::is_installed, special_names::is_hook},
    syntax::{AnyNodeRef, Program},
};

/// Whose names count as parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Libraries {
    /// Those of packages that do not come with Python.
    Installed,
    /// Those of Python's own modules as well.
    All,
}

impl Libraries {
    /// Whether a path leads into one of them.
    pub(super) fn contain(self, path: &str) -> bool {
        is_installed(path) || self == Self::All && !path.is_empty() && !path.starts_with('.')
    }
}

/// A part of a program, wherever it stands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Omission {
    /// Arguments by a keyword.
    Keyword(String),
    /// Calls of a function or method, by the last part of its name.
    Call(String),
    /// An operator between objects of a package.
    Operator(String),
    /// Methods with a special name, by which a library asks objects of the program's own classes.
    Hook(String),
}

impl Omission {
    /// The part, for people.
    pub fn name(&self) -> String {
        match self {
            Self::Keyword(name) => format!("{name}="),
            Self::Call(name) | Self::Operator(name) | Self::Hook(name) => name.clone(),
        }
    }
}

/// The words of a program by which it has its parts: names, attributes, keywords, special methods,
/// and texts that could be names.
pub fn words(program: &Program) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for node in &program.tree().nodes {
        match node.node {
            AnyNodeRef::ExprName(name) => found.insert(word(&name.id)),
            AnyNodeRef::ExprAttribute(attribute) => found.insert(word(&attribute.attr)),
            AnyNodeRef::Keyword(keyword) => keyword
                .arg
                .as_ref()
                .is_some_and(|arg| found.insert(word(arg))),
            AnyNodeRef::ExprBinOp(operation) => found.insert(operation.op.as_str().to_owned()),
            AnyNodeRef::StmtAugAssign(assign) => found.insert(assign.op.as_str().to_owned()),
            AnyNodeRef::ExprUnaryOp(operation) => found.insert(operation.op.as_str().to_owned()),
            AnyNodeRef::Alias(alias) => found.insert(word(last(&alias.name))),
            AnyNodeRef::StmtFunctionDef(def) if is_hook(&def.name) => found.insert(word(&def.name)),
            AnyNodeRef::ExprStringLiteral(text) => found.insert(word(text.value.to_str())),
            AnyNodeRef::ExprCall(call) => {
                let arguments = call.arguments.arguments_source_order();
                let texts = arguments.filter_map(|argument| {
                    let text = argument.value().as_string_literal_expr()?;
                    Some(argument_word(text.value.to_str()))
                });
                found.extend(texts);
                false
            }
            _ => false,
        };
    }
    found
}

/// The word of a text that is an argument.
pub(super) fn argument_word(text: &str) -> String {
    format!("{:?}", word(text))
}

/// A name without a suffix that only says that it changes its object, and one name for each data
/// type.
pub(super) fn word(name: &str) -> String {
    match name.trim_end_matches('_') {
        "half" => "float16",
        "double" => "float64",
        name => name,
    }
    .to_owned()
}

pub(super) fn last(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}
