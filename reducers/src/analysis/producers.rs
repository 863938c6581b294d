//! What stored the value whose absence a failure reports. Where an attribute or a key is missing
//! that the script did store, the bug is that it was lost: without the store its absence is only
//! what anyone would expect. Goes by names, through any alias. Called by the judge; proposes
//! nothing.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{
    analysis::{cpython, statement_tree::StatementTree},
    syntax::{AnyNodeRef, Program, Ranged, ast::Expr},
    trace::evidence::{Evidence, SourceLine},
};

/// A statement that must have run for a value to be there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Producer {
    /// One that stores something under this name.
    Store(String),
    /// One that stores something other than `None` under this name.
    Value(String),
    /// One that calls this method with something to store.
    Call(String),
    /// One that calls this method, which stores what it makes itself.
    Run(String),
}

impl Producer {
    /// The name under which it stores, or by which it is called.
    pub fn name(&self) -> &str {
        match self {
            Self::Store(name) | Self::Value(name) | Self::Call(name) | Self::Run(name) => name,
        }
    }
}

/// The attributes that the innermost statement on a line, counted from 1, reads.
pub fn attributes_read(program: &Program, line: u32) -> Vec<String> {
    let tree = StatementTree::untraced(program);
    let statement = tree
        .on_line(SourceLine::of_program(line))
        .map(|at| &tree.statements[at]);
    let read = statement
        .into_iter()
        .flat_map(|statement| &statement.attributes);
    read.map(|(name, _)| name.to_string()).collect()
}

/// The name that a failure reports as missing: of an attribute, or a key that is a text. What a
/// value that is `None` lacks was never stored under that name.
pub fn missing_name(class: &str, message: &str) -> Option<String> {
    match class {
        "AttributeError" if !message.starts_with("'NoneType'") => {
            cpython::missing_attribute(message).map(str::to_owned)
        }
        "KeyError" => cpython::quoted(message)
            .filter(|name| message.trim() == format!("'{name}'"))
            .map(str::to_owned),
        _ => None,
    }
}

/// The class of the object that lacks an attribute.
pub fn owner_class(message: &str) -> Option<&str> {
    message
        .starts_with('\'')
        .then(|| cpython::quoted(message))?
}

/// Whether an executed statement of a program is such a producer. Without evidence every statement
/// counts as executed.
pub fn produces(program: &Program, producer: &Producer, evidence: Option<&Evidence>) -> bool {
    let tree = evidence.map_or_else(
        || StatementTree::untraced(program),
        |evidence| StatementTree::of(program, evidence),
    );
    let storing = match producer {
        Producer::Store(name) => storing(&tree, name),
        Producer::Value(name) => {
            let is_none = |at: &usize| {
                let value = tree.statements[*at].value();
                value.is_some_and(Expr::is_none_literal_expr)
            };
            let mut storing = storing(&tree, name);
            storing.retain(|at| !is_none(at));
            storing
        }
        Producer::Call(name) => calling(&tree, name, true),
        Producer::Run(name) => calling(&tree, name, false),
    };
    storing
        .into_iter()
        .any(|statement| tree.statements[statement].is_executed)
}

/// The statements that call a method, if so only those that give it arguments.
fn calling(tree: &StatementTree<'_>, name: &str, has_arguments: bool) -> BTreeSet<usize> {
    let is_call = |node: &AnyNodeRef<'_>| {
        node.as_expr_call().is_some_and(|call| {
            let called = call.func.as_attribute_expr();
            called.is_some_and(|method| method.attr.as_str() == name)
                && !(has_arguments && call.arguments.is_empty())
        })
    };
    let nodes = tree.program.tree().nodes.iter().map(|node| node.node);
    nodes
        .filter(is_call)
        .filter_map(|call| tree.around(call.range()))
        .collect()
}

/// The statements that store something under a name.
fn storing(tree: &StatementTree<'_>, name: &str) -> BTreeSet<usize> {
    let program = tree.program;
    let mut storing: BTreeSet<usize> = tree
        .stores
        .get(name)
        .into_iter()
        .flatten()
        .copied()
        .collect();
    let is_name = |expr: &Expr| {
        expr.as_string_literal_expr()
            .is_some_and(|text| text.value.to_str() == name)
    };
    for node in &program.tree().nodes {
        let holds = match node.node {
            AnyNodeRef::ExprSubscript(item) => item.ctx.is_store() && is_name(&item.slice),
            AnyNodeRef::ExprDict(dict) => dict
                .items
                .iter()
                .any(|item| item.key.as_ref().is_some_and(is_name)),
            AnyNodeRef::ExprList(list) => list.elts.iter().any(is_name),
            AnyNodeRef::ExprTuple(tuple) => tuple.elts.iter().any(is_name),
            AnyNodeRef::ExprSet(set) => set.elts.iter().any(is_name),
            AnyNodeRef::Keyword(keyword) => {
                keyword.arg.as_ref().is_some_and(|arg| arg.as_str() == name)
            }
            _ => false,
        };
        if holds {
            storing.extend(tree.around(node.node.range()));
        }
    }
    storing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_missing_name_is_that_of_an_attribute_or_a_key() {
        let of = |class: &str, message: &str| missing_name(class, message);
        assert_eq!(
            of("AttributeError", "'Series' object has no attribute 'unit'").as_deref(),
            Some("unit")
        );
        assert_eq!(of("KeyError", "'b'").as_deref(), Some("b"));
        assert_eq!(of("KeyError", "7"), None);
        assert_eq!(of("KeyError", "\"['b'] not in index\""), None);
        assert_eq!(
            of("AttributeError", "'NoneType' object has no attribute 'x'"),
            None
        );
        assert_eq!(owner_class("'Series' object has no"), Some("Series"));
    }

    #[test]
    fn a_store_is_found_however_it_is_written() {
        let store = Producer::Store("a".to_owned());
        let stored = |text: &str| produces(&Program::parse(text).unwrap(), &store, None);
        for text in [
            "x.y.a = 1\n",
            "setattr(x, 'a', 1)\n",
            "x['a'] = 1\n",
            "f({'a': 1})\n",
            "f(a=1)\n",
            "f(columns=['a', 'b'])\n",
            "for x.a in y: pass\n",
        ] {
            assert!(stored(text), "{text}");
        }
        for text in ["x.a\n", "x['a']\n", "a = 1\n", "f('a')\n", "x['b'] = 'a'\n"] {
            assert!(!stored(text), "{text}");
        }
    }

    #[test]
    fn none_is_no_value() {
        let value = Producer::Value("a".to_owned());
        let stored = |text: &str| produces(&Program::parse(text).unwrap(), &value, None);
        assert!(stored("x.a = y\n") && stored("x.a = None\nx.a = 1\n"));
        assert!(!stored("x.a = None\n"));
    }

    #[test]
    fn a_store_that_is_not_executed_stores_nothing() {
        let text = "def f(x):\n    x.a = 1\nf(y)\n";
        let program = Program::parse(text).unwrap();
        let executed = |lines: &[u32]| Evidence {
            hits: lines
                .iter()
                .map(|line| (SourceLine::of_program(*line), 1))
                .collect(),
            ..Evidence::default()
        };
        let store = Producer::Store("a".to_owned());
        assert!(produces(&program, &store, Some(&executed(&[1, 2, 3]))));
        assert!(!produces(&program, &store, Some(&executed(&[1, 3]))));
    }

    #[test]
    fn a_method_stores_what_it_is_given() {
        let call = Producer::Call("save".to_owned());
        let stored = |text: &str| produces(&Program::parse(text).unwrap(), &call, None);
        assert!(stored("def f(ctx, x):\n    ctx.save(x)\n"));
        assert!(!stored("ctx.save()\nsave(x)\nctx.saved(x)\n"));
        let run = Producer::Run("save".to_owned());
        assert!(produces(&Program::parse("x.save()\n").unwrap(), &run, None));
        let program = Program::parse("def f(ctx):\n    x, = ctx.saved\n").unwrap();
        assert_eq!(attributes_read(&program, 2), ["saved"]);
    }
}
