//! Whether it is the class of an object that stores what the object lacks. Where a class stores an
//! attribute and its objects lack it, the store was left out or lost; where another class stores
//! it, its absence is expected.

use std::collections::BTreeSet;

use super::storing;
use crate::{analysis::statement_tree::StatementTree, syntax::Program};

/// Whether a class of the program, or one that it derives from, stores something under a name.
pub fn stores_in_class(program: &Program, name: &str, class: &str) -> bool {
    let tree = StatementTree::untraced(program);
    let classes = with_bases(&tree, class);
    storing(&tree, name).into_iter().any(|statement| {
        let around = |at: &usize| tree.statements[*at].parent;
        let mut around = std::iter::successors(Some(statement), around);
        around.any(|at| classes.contains(&at))
    })
}

/// The statements that define a class of the program, and those that it derives from.
fn with_bases(tree: &StatementTree<'_>, class: &str) -> BTreeSet<usize> {
    let definition = |at: usize| tree.statements[at].node.as_stmt_class_def();
    let named = |name: &str| {
        let mut all = 0..tree.statements.len();
        all.find(|&at| definition(at).is_some_and(|class| class.name.as_str() == name))
    };
    let mut found = BTreeSet::new();
    let mut open: Vec<usize> = named(class).into_iter().collect();
    while let Some(at) = open.pop() {
        if found.insert(at) {
            let bases = definition(at).into_iter().flat_map(|class| class.bases());
            let bases = bases.filter_map(|base| named(base.as_name_expr()?.id.as_str()));
            open.extend(bases);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_stores_what_its_bases_store() {
        let text = "class A:\n    def f(self):\n        self.a = 1\nclass B(lib.B, A): pass\nclass C(lib.B):\n    b = 2\n";
        let program = Program::parse(text).unwrap();
        let stores = |name: &str, class: &str| stores_in_class(&program, name, class);
        assert!(stores("a", "A") && stores("a", "B") && stores("b", "C"));
        assert!(!stores("a", "C") && !stores("b", "B") && !stores("a", "D"));
    }
}
