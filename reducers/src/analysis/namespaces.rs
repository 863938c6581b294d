//! The imported names that a program only reads others off: modules and packages, and the classes
//! that it uses as such. As a value, such a name makes no sense. Goes by the text. Called by the
//! judge, which compares a candidate with the script.

use std::collections::BTreeSet;

use crate::{
    analysis::names::ImportedNames,
    syntax::{AnyNodeRef, Program},
};

/// The imported paths of a program, apart by their use.
#[derive(Default)]
struct UsedPaths {
    /// Those that another is read off.
    roots: BTreeSet<String>,
    /// All others.
    values: BTreeSet<String>,
}

impl UsedPaths {
    fn of(program: &Program) -> Self {
        let tree = program.tree();
        let imported = ImportedNames::of(tree);
        let mut found = Self::default();
        for node in &tree.nodes {
            let path = match node.node {
                AnyNodeRef::ExprName(name) => imported.name(&name.id).map(str::to_owned),
                AnyNodeRef::ExprAttribute(attribute) => imported.attribute(attribute),
                _ => None,
            };
            let parent = node.parent.map(|parent| tree.nodes[parent as usize].node);
            let is_root = matches!(parent, Some(AnyNodeRef::ExprAttribute(_)));
            let paths = if is_root {
                &mut found.roots
            } else {
                &mut found.values
            };
            paths.extend(path);
        }
        found
    }
}

/// The imported paths that a program only reads others off.
pub fn namespaces(program: &Program) -> BTreeSet<String> {
    let UsedPaths { roots, values } = UsedPaths::of(program);
    &roots - &values
}

/// Whether a program uses one of these paths as a value.
pub fn has_as_value(namespaces: &BTreeSet<String>, program: &Program) -> bool {
    !namespaces.is_disjoint(&UsedPaths::of(program).values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_no_values() {
        let script = "import torch, enum\nfrom lib import Color\nf(torch.linalg.norm, Color.RED, \
                      enum)\nenum.Enum\n";
        let known = namespaces(&Program::parse(script).unwrap());
        let listed: Vec<&str> = known.iter().map(String::as_str).collect();
        assert_eq!(listed, ["lib.Color", "torch", "torch.linalg"]);
        let is_refused = |text: &str| has_as_value(&known, &Program::parse(text).unwrap());
        assert!(is_refused("import torch\nf(torch.linalg)\n"));
        assert!(is_refused("from torch import linalg\nf(linalg)\n"));
        assert!(!is_refused("import torch\nf(torch.linalg.norm)\n"));
        assert!(!is_refused("import enum\nf(enum)\n"));
        assert!(!is_refused("linalg = 1\nf(linalg)\n"));
    }
}
