//! The uses of names that cannot be the built-in ones.

use std::collections::{BTreeSet, HashSet};

use crate::syntax::{
    AnyNodeRef, Program, Ranged, TextRange, TextSize,
    ast::{self, Expr},
    scope::{BindingKind, ScopeKind},
};

/// The uses of names that something binds for certain: in a function, where every binding makes
/// a name local; in a module or class, an unconditional statement above.
pub(super) fn own_uses(program: &Program) -> BTreeSet<TextSize> {
    let tree = program.tree();
    let mut body = HashSet::new();
    unconditional(program.body(), &mut body);
    let mut own = BTreeSet::new();
    for variable in &program.scopes().variables {
        let is_local = matches!(
            variable.scope,
            ScopeKind::Function | ScopeKind::Comprehension
        );
        let is_deleted = tree.nodes.iter().any(|node| match node.node {
            AnyNodeRef::ExprName(name) => {
                name.ctx == ast::ExprContext::Del && name.id == variable.name
            }
            _ => false,
        });
        let mut bindings = variable.bindings.iter();
        let above = bindings.find(|binding| {
            binding.kind != BindingKind::Weak && !is_deleted && body.contains(&binding.statement)
        });
        let uses = variable.uses.iter().filter(|used| {
            let is_below = above.is_some_and(|above| above.range.end() <= used.range.start());
            is_local || (variable.scope == ScopeKind::Module && is_below)
        });
        own.extend(uses.map(|used| used.range.start()));
    }
    own
}

/// The statements of a body that run whenever the program does, `with` blocks and the block of the
/// main program included.
fn unconditional(body: &[ast::Stmt], found: &mut HashSet<TextRange>) {
    for stmt in body {
        found.insert(stmt.range());
        match stmt {
            ast::Stmt::With(block) => unconditional(&block.body, found),
            ast::Stmt::If(block) if is_main_check(&block.test) => {
                unconditional(&block.body, found);
            }
            _ => {}
        }
    }
}

/// `__name__ == "__main__"`
pub(crate) fn is_main_check(test: &Expr) -> bool {
    let Expr::Compare(comparison) = test else {
        return false;
    };
    matches!(&*comparison.left, Expr::Name(name) if name.id == "__name__")
        && matches!(&*comparison.ops, [ast::CmpOp::Eq])
}
