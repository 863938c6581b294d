//! The nodes of a program by the statements that they are in, and its calls by name. Called by the
//! rest of the dependence check.

use std::{collections::HashMap, ops::Index};

use crate::{
    analysis::{calls::callee_name, statement_tree::StatementTree},
    syntax::{AnyNodeRef, Ranged, ast::ExprCall},
};

/// The nodes of each statement, those of the statements within it left out.
pub(crate) struct Nodes<'a> {
    by_statement: Vec<Vec<AnyNodeRef<'a>>>,
    /// The calls, each with its statement, by the last part of the callee's name.
    calls: HashMap<&'a str, Vec<(usize, &'a ExprCall)>>,
}

impl<'a> Nodes<'a> {
    pub(super) fn of(outline: &StatementTree<'a>) -> Self {
        let mut nodes = Self {
            by_statement: vec![Vec::new(); outline.statements.len()],
            calls: HashMap::new(),
        };
        let tree = outline.program.tree();
        let mut around: Vec<Option<usize>> = Vec::with_capacity(tree.nodes.len());
        for node in &tree.nodes {
            let own = node
                .node
                .is_statement()
                .then(|| outline.at(node.node.range()))
                .flatten();
            let innermost = own.or_else(|| around[node.parent? as usize]);
            around.push(innermost);
            let Some(at) = innermost.filter(|_| own.is_none()) else {
                continue;
            };
            nodes.by_statement[at].push(node.node);
            if let AnyNodeRef::ExprCall(call) = node.node
                && let Some(name) = callee_name(&call.func)
            {
                nodes.calls.entry(name).or_default().push((at, call));
            }
        }
        nodes
    }

    /// Those of each statement.
    pub(super) fn by_statement(&self) -> impl Iterator<Item = &Vec<AnyNodeRef<'a>>> {
        self.by_statement.iter()
    }

    /// The calls of a function or method of a name, each with its statement.
    pub(super) fn calls_of(&self, name: &str) -> impl Iterator<Item = (usize, &'a ExprCall)> {
        self.calls.get(name).into_iter().flatten().copied()
    }
}

impl<'a> Index<usize> for Nodes<'a> {
    type Output = Vec<AnyNodeRef<'a>>;

    fn index(&self, statement: usize) -> &Self::Output {
        &self.by_statement[statement]
    }
}
