//! The modules of the standard library, and what a program needs besides them. Called by the cost
//! and by the commands.

use std::{
    collections::{BTreeSet, HashSet},
    sync::LazyLock,
};

use crate::{
    syntax::{AnyNodeRef, Program, Tree},
    torch::packages::KEPT,
};

/// Whether a module or package, by the first part of its name, comes with CPython, any of 3.8 to
/// 3.13.
pub fn is_standard(top: &str) -> bool {
    static NAMES: LazyLock<HashSet<&str>> =
        LazyLock::new(|| include_str!("standard.txt").lines().collect());
    NAMES.contains(top)
}

/// The packages that a program imports, by the first parts of their names, without those of the
/// standard library and those that every reader of a repro has.
pub fn packages_needed<'a>(tree: &Tree<'a>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    for node in &tree.nodes {
        match node.node {
            AnyNodeRef::StmtImport(import) => {
                found.extend(import.names.iter().map(|alias| top(&alias.name)));
            }
            AnyNodeRef::StmtImportFrom(import) if import.level == 0 => {
                found.extend(import.module.as_deref().map(top));
            }
            _ => {}
        }
    }
    found.retain(|name| !is_standard(name) && !KEPT.contains(name));
    found
}

/// The packages that a program imports besides.
pub fn packages_of(program: &Program) -> BTreeSet<String> {
    let found = packages_needed(program.tree());
    found.into_iter().map(str::to_owned).collect()
}

fn top(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_needs_besides() {
        let text = "import os.path, torch.nn as nn\nfrom shop.core import A\nimport einops\nfrom . import x\n";
        let program = Program::parse(text).unwrap();
        let needed = packages_needed(program.tree());
        assert_eq!(needed.into_iter().collect::<Vec<_>>(), ["einops", "shop"]);
    }
}
