//! Methods as functions: without the object that they belong to. Its attributes become global
//! variables. Called by the passes that flatten classes.

use std::collections::BTreeSet;

use crate::{
    rewrite::edit::{Edit, EditSet, rewritten},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize, Tree,
        ast::{Expr, ExprAttribute, ExprContext, Stmt, StmtFunctionDef},
    },
};

/// Removes `self.` within a method, and returns the attributes that it assigns to after the object's
/// beginning. Nothing if the object is used in another way.
pub(crate) fn without_self<'a>(
    tree: &Tree<'a>,
    def: &StmtFunctionDef,
    own: &str,
    is_init: bool,
    edits: &mut EditSet,
) -> Option<BTreeSet<&'a str>> {
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
        edits.edit(Edit::delete(prefix(attribute)));
    }
    Some(assigned)
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

/// The lines of a method without parameters that only assigns attributes and makes calls, with
/// global variables.
pub(crate) fn beginning(
    program: &Program,
    tree: &Tree<'_>,
    def: &StmtFunctionDef,
    own: &str,
) -> Option<Vec<String>> {
    if def.parameters.iter().count() != 1 {
        return None;
    }
    let is_idle = |stmt: &&Stmt| stmt.is_pass_stmt() || is_super_init(program, stmt);
    let is_plain = |stmt: &&Stmt| match stmt {
        Stmt::Assign(it) => matches!(it.targets.as_slice(), [Expr::Attribute(_)]),
        Stmt::Expr(it) => it.value.is_call_expr(),
        _ => false,
    };
    let stmts: Vec<&Stmt> = def.body.iter().filter(|stmt| !is_idle(stmt)).collect();
    if !stmts.iter().all(is_plain) {
        return None;
    }
    let edits: Vec<Edit> = tree
        .nodes
        .iter()
        .filter_map(|node| node.node.as_expr_attribute())
        .filter(|attribute| {
            def.range.contains_range(attribute.range)
                && attribute
                    .value
                    .as_name_expr()
                    .is_some_and(|name| name.id == own)
        })
        .map(|attribute| Edit::delete(prefix(attribute)))
        .collect();
    // An expression over several lines has brackets around it and may stand anywhere.
    stmts
        .iter()
        .map(|stmt| rewritten(program, stmt.range(), &edits))
        .collect()
}

/// Whether a statement only lets the base class begin.
pub(crate) fn is_super_init(program: &Program, stmt: &Stmt) -> bool {
    let Stmt::Expr(stmt) = stmt else { return false };
    matches!(&*stmt.value, Expr::Call(call) if program.slice(TextRange::new(stmt.start(), call.func.end())) == "super().__init__")
}
