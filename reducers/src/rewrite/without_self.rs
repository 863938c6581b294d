//! Methods as functions: without the object that they belong to. Its attributes become
//! variables. Called by the passes that flatten classes.

use std::collections::BTreeSet;

use crate::{
    rewrite::{edit::Edit, reindent::reindented},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize, Tree,
        ast::{Expr, ExprAttribute, ExprContext, Stmt, StmtFunctionDef},
    },
};

/// The edits that remove `self.` within a method, and the attributes that it assigns to after the
/// object's beginning. `None` if the object is used in another way.
pub(crate) fn without_self<'a>(
    tree: &Tree<'a>,
    def: &StmtFunctionDef,
    own: &str,
    is_init: bool,
) -> Option<(Vec<Edit>, BTreeSet<&'a str>)> {
    let mut edits = Vec::new();
    let mut assigned = BTreeSet::new();
    for node in tree
        .nodes
        .iter()
        .filter(|node| def.range.contains_range(node.node.range()))
    {
        let AnyNodeRef::ExprName(name) = node.node else {
            continue;
        };
        if name.id != own {
            continue;
        }
        let attribute = attribute_of(tree, name.range)?;
        if is_init {
            continue;
        }
        if attribute.ctx != ExprContext::Load {
            assigned.insert(attribute.attr.as_str());
        }
        edits.push(Edit::delete(prefix(attribute)));
    }
    Some((edits, assigned))
}

pub(crate) fn attribute_of<'a>(tree: &Tree<'a>, value: TextRange) -> Option<&'a ExprAttribute> {
    tree.nodes.iter().find_map(|node| match node.node {
        AnyNodeRef::ExprAttribute(it) if it.value.range() == value => Some(it),
        _ => None,
    })
}

/// The object and the dot before an attribute's name.
pub(crate) fn prefix(attribute: &ExprAttribute) -> TextRange {
    TextRange::new(attribute.range.start(), attribute.attr.range.start())
}

/// The first parameter with its comma.
pub(crate) fn first_parameter(program: &Program, def: &StmtFunctionDef) -> Option<TextRange> {
    let mut parameters = def.parameters.iter();
    let first = parameters.next()?.range();
    let end = match parameters.next() {
        Some(next) => next.range().start(),
        None => program
            .slice(def.parameters.range)
            .rfind(')')
            .map_or(first.end(), |at| {
                def.parameters.range.start() + TextSize::new(at as u32)
            }),
    };
    Some(TextRange::new(first.start(), end))
}

/// The lines of an `__init__` that returns nowhere, with variables in place of attributes, and with
/// some more changes.
pub(crate) fn beginning(
    program: &Program,
    tree: &Tree<'_>,
    def: &StmtFunctionDef,
    own: &str,
    changes: Vec<Edit>,
) -> Option<Vec<String>> {
    let mut edits = changes;
    for node in &tree.nodes {
        match node.node {
            AnyNodeRef::StmtReturn(stmt) if def.range.contains_range(stmt.range) => return None,
            AnyNodeRef::ExprAttribute(attribute)
                if def.range.contains_range(attribute.range)
                    && attribute
                        .value
                        .as_name_expr()
                        .is_some_and(|name| name.id == own) =>
            {
                edits.push(Edit::delete(prefix(attribute)));
            }
            _ => {}
        }
    }
    let is_idle = |stmt: &&Stmt| stmt.is_pass_stmt() || is_super_init(program, stmt);
    let mut lines = Vec::new();
    for stmt in def.body.iter().filter(|stmt| !is_idle(stmt)) {
        lines.extend(reindented(program, stmt.range(), &edits, false)?);
    }
    Some(lines)
}

/// Whether a statement only lets the base class begin.
pub(crate) fn is_super_init(program: &Program, stmt: &Stmt) -> bool {
    let Stmt::Expr(stmt) = stmt else { return false };
    matches!(&*stmt.value, Expr::Call(call) if program.slice(TextRange::new(stmt.start(), call.func.end())) == "super().__init__")
}
