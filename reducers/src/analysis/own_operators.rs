//! The operators that a program defines for its own classes by computing something. One that gives
//! back what it gets makes every sum wrong. Goes by names. Called by the judge; proposes nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    analysis::special_names::is_operator,
    syntax::{AnyNodeRef, Program, Ranged},
};

/// The methods for operators that compute by operators themselves, in all classes that have them.
pub fn computing(program: &Program) -> BTreeSet<String> {
    let methods = methods(program).into_iter();
    methods
        .filter_map(|(name, compute)| compute.iter().all(|computes| *computes).then_some(name))
        .map(str::to_owned)
        .collect()
}

/// Whether those of a candidate still compute.
pub fn go_on_computing(known: &BTreeSet<String>, candidate: &Program) -> bool {
    known.is_empty() || {
        let its = methods(candidate);
        let its = known.iter().filter_map(|name| its.get(name.as_str()));
        its.flatten().all(|computes| *computes)
    }
}

/// The methods for operators, each with whether the one of each class computes.
fn methods(program: &Program) -> BTreeMap<&str, Vec<bool>> {
    let tree = program.tree();
    let mut found: BTreeMap<&str, Vec<bool>> = BTreeMap::new();
    for node in &tree.nodes {
        if let AnyNodeRef::StmtFunctionDef(def) = node.node
            && is_operator(&def.name)
        {
            let mut within = tree.within(def.range());
            let computes = within.any(|node| {
                matches!(
                    node,
                    AnyNodeRef::ExprBinOp(_) | AnyNodeRef::StmtAugAssign(_)
                )
            });
            found.entry(&def.name).or_default().push(computes);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_operators_go_on_computing() {
        let of = |text: &str| Program::parse(text).unwrap();
        let script = "class A:\n    def __add__(self, x): return A(self.y + x.y)\n    def __radd__(self, x): return self if x == 0 else self + x\n    def __mul__(self, x): return self\n    def f(self): return 1 + 2\n";
        let known = computing(&of(script));
        assert_eq!(known, ["__add__", "__radd__"].map(str::to_owned).into());
        let goes_on = |text: &str| go_on_computing(&known, &of(text));
        assert!(goes_on(script) && goes_on("a + b\n"));
        assert!(goes_on("class A:\n    def __mul__(self, x): pass\n"));
        assert!(!goes_on(
            "class A:\n    def __add__(self, x): return self\n"
        ));
    }
}
