//! The types of fields in classes that packages make, as pydantic does: such a package reads the
//! annotations, which otherwise compute nothing. Called by the rest of the dependence check.

use std::collections::BTreeSet;

use super::Rest;
use crate::{
    analysis::{calls::callee_name, names::is_installed},
    syntax::{AnyNodeRef, Ranged, TextRange, ast::Expr, scope::BindingKind},
};

/// Through how many base classes a class is followed.
const DEPTH: usize = 8;

impl Rest<'_, '_> {
    /// Whether a statement is in a class that a package makes, which may read its annotations.
    pub(super) fn is_field_of_package(&self, index: usize) -> bool {
        let class = self.outline.statements[index].parent;
        class.is_some_and(|class| self.is_made_by_package(class, DEPTH))
    }

    fn is_made_by_package(&self, class: usize, depth: usize) -> bool {
        let AnyNodeRef::StmtClassDef(class) = self.outline.statements[class].node else {
            return false;
        };
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        let decorators = class.decorator_list.iter();
        let decorators = decorators.map(|decorator| match &decorator.expression {
            Expr::Call(call) => &*call.func,
            expression => expression,
        });
        let mut makers = class.bases().iter().chain(decorators);
        makers.any(|maker| {
            let path = self.imported.path(maker);
            let is_own = || {
                let name = maker.as_name_expr();
                let mut classes = name.into_iter().flat_map(|name| self.own_classes(&name.id));
                classes.any(|class| self.is_made_by_package(class, depth))
            };
            path.map_or_else(is_own, |path| is_installed(&path))
        })
    }

    /// The class statements that bind a name.
    fn own_classes(&self, name: &str) -> impl Iterator<Item = usize> {
        let variables = self.outline.program.scopes().named(name);
        let bindings = variables.flat_map(|variable| &variable.bindings);
        let classes = bindings.filter(|binding| binding.kind == BindingKind::Class);
        classes.filter_map(|binding| self.outline.at(binding.statement))
    }

    /// What an annotation says of the type of a field: what it is composed of, and the classes of
    /// the program that the reporting statement names as well.
    pub(super) fn types(&self, index: usize, annotation: TextRange) -> Vec<String> {
        let reporting = self.frames.last().map(|&last| &self.nodes[last]);
        let named: BTreeSet<&str> = reporting
            .into_iter()
            .flatten()
            .filter_map(|node| Some(node.as_expr_name()?.id.as_str()))
            .collect();
        let nodes = self.nodes[index].iter();
        let nodes = nodes.filter(|node| annotation.contains_range(node.range()));
        let types = nodes.filter_map(|node| match node {
            AnyNodeRef::ExprSubscript(subscript) => {
                Some(format!("{}[]", callee_name(&subscript.value)?))
            }
            AnyNodeRef::ExprName(name) if named.contains(name.id.as_str()) => {
                let is_own = self.outline.program.scopes().is_class(&name.id);
                is_own.then(|| format!("field: {}", name.id))
            }
            _ => None,
        });
        types.collect()
    }
}
