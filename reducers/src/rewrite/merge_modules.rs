//! Several modules as one script: each as it reads outside its package, one after the other. A
//! name that a later module binds as well is renamed in the earlier one. Called for tests, whose
//! fixtures stand in other files.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    rewrite::{
        absolute_imports::absolute_imports,
        edit::{Conflict, Edit, EditSet},
    },
    syntax::{
        AnyNodeRef, Program, Ranged,
        ast::{Expr, Stmt},
        lines::with_plain_newlines,
        scope::{BindingKind, ScopeKind, Variable},
    },
};

/// A module to be merged.
pub struct MergedModule<'a> {
    /// Its program.
    pub program: &'a Program,
    /// The package that it belongs to; empty if to none.
    pub package: &'a str,
    /// An expression for the value of its `__file__`, in terms of `os`.
    pub file: Option<String>,
    /// Its other changes.
    pub edits: EditSet,
}

/// Modules as one script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// The script.
    pub text: String,
    /// The new names of each module, by the old ones.
    pub renamed: Vec<BTreeMap<String, String>>,
}

/// Merges modules in this order.
///
/// # Errors
///
/// The edits of a module conflict with each other.
pub fn merge(modules: &[MergedModule<'_>]) -> Result<Merged, Conflict> {
    let mut taken: BTreeSet<String> = BTreeSet::new();
    let mut merged = Merged::default();
    let (mut futures, mut texts) = (BTreeSet::new(), Vec::new());
    let mut uses_os = false;
    for module in modules {
        let names = module.program.tree().nodes.iter();
        let named = names.filter_map(|node| match node.node {
            AnyNodeRef::ExprName(name) => Some(name.id.as_str()),
            _ => None,
        });
        taken.extend(named.map(str::to_owned));
    }
    for (at, module) in modules.iter().enumerate() {
        let later = &modules[at + 1..];
        let clashing = globals(module.program).filter(|variable| {
            let same = |other: &MergedModule<'_>| {
                globals(other.program).any(|theirs| {
                    theirs.name == variable.name && !are_one_import(module, variable, other, theirs)
                })
            };
            later.iter().any(same)
        });
        let mut edits = module
            .edits
            .union(&absolute_imports(module.program, module.package));
        let mut renamed = BTreeMap::new();
        for variable in clashing {
            let name = free(&variable.name, &mut taken);
            rename(module.program, variable, &name, &mut edits);
            renamed.insert(variable.name.to_string(), name);
        }
        for statement in module.program.body() {
            if let Stmt::ImportFrom(import) = statement
                && import
                    .module
                    .as_ref()
                    .is_some_and(|from| from.as_str() == "__future__")
            {
                futures.insert(module.program.slice(import.range).to_owned());
                remove(module.program, statement, &mut edits);
            }
            if is_main_block(statement) {
                remove(module.program, statement, &mut edits);
            }
        }
        uses_os |= name_file(module, &mut edits);
        texts.push(
            with_plain_newlines(&edits.apply(module.program)?)
                .trim_matches('\n')
                .to_owned(),
        );
        merged.renamed.push(renamed);
    }
    for line in futures {
        merged.text += &line;
        merged.text.push('\n');
    }
    if uses_os {
        merged.text += "import os\n";
    }
    texts.retain(|text| !text.is_empty());
    merged.text += &texts.join("\n\n\n");
    merged.text.push('\n');
    Ok(merged)
}

/// The variables of a module's top level.
fn globals(program: &Program) -> impl Iterator<Item = &Variable> {
    let variables = program.scopes().variables.iter();
    variables.filter(|variable| variable.scope == ScopeKind::Module)
}

/// Whether two modules bind a name by the same import.
fn are_one_import(
    module: &MergedModule<'_>,
    a: &Variable,
    other: &MergedModule<'_>,
    b: &Variable,
) -> bool {
    let imported =
        |module: &MergedModule<'_>, variable: &Variable| match variable.bindings.as_slice() {
            [only] if only.kind == BindingKind::Import => {
                let text = module.program.slice(only.statement);
                // `from . import x` means another thing in another package.
                let origin = if text.contains("from .") {
                    module.package
                } else {
                    ""
                };
                let lead = text.split("import").next().unwrap_or_default();
                let whole = if text.starts_with("from") {
                    format!("{lead}{}", clause(text, &variable.name))
                } else {
                    clause(text, &variable.name)
                };
                Some((whole, origin.to_owned()))
            }
            _ => None,
        };
    let first = imported(module, a);
    first.is_some() && first == imported(other, b)
}

/// The part of an import statement that binds a name.
fn clause(text: &str, name: &str) -> String {
    let list = text.split_once("import").map_or(text, |(_, list)| list);
    let mut clauses = list
        .split(',')
        .map(|clause| clause.trim_matches([' ', '(', ')', '\n', '\\']));
    clauses
        .find(|clause| clause.split(['.', ' ']).any(|word| word == name))
        .unwrap_or_default()
        .to_owned()
}

/// A name that is not taken yet.
fn free(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut free = format!("{name}_1");
    let mut number = 1;
    while !taken.insert(free.clone()) {
        number += 1;
        free = format!("{name}_{number}");
    }
    free
}

fn rename(program: &Program, variable: &Variable, name: &str, edits: &mut EditSet) {
    for binding in &variable.bindings {
        let text = match binding.kind {
            // An import without a name of its own binds the one that it imports.
            BindingKind::Import if !is_named_so(program, binding.range.end().into()) => {
                format!("{} as {name}", variable.name)
            }
            _ => name.to_owned(),
        };
        edits.edit(Edit::replace(binding.range, text));
    }
    for place in &variable.uses {
        edits.edit(Edit::replace(place.range, name.to_owned()));
    }
    for node in &program.tree().nodes {
        if let AnyNodeRef::StmtGlobal(global) = node.node {
            let names = global.names.iter();
            for declared in names.filter(|name| name.id == variable.name) {
                edits.edit(Edit::replace(declared.range(), name.to_owned()));
            }
        }
    }
}

/// Whether the name that ends at an offset follows an `as`.
fn is_named_so(program: &Program, end: usize) -> bool {
    let before =
        program.text()[..end].trim_end_matches(|char: char| char.is_alphanumeric() || char == '_');
    before.trim_end().ends_with(" as")
}

/// Removes a statement of the top level.
fn remove(program: &Program, statement: &Stmt, edits: &mut EditSet) {
    let item = program
        .items()
        .find(|(_, row, range)| row.kind.is_suite() && *range == statement.range());
    match item {
        Some((id, ..)) => edits.remove(id),
        None => edits.edit(Edit::replace(statement.range(), "pass")),
    }
}

/// Whether a statement runs only in a script: `if __name__ == "__main__":`.
fn is_main_block(statement: &Stmt) -> bool {
    let Stmt::If(block) = statement else {
        return false;
    };
    let Expr::Compare(compare) = &*block.test else {
        return false;
    };
    let sides = [Some(&*compare.left), compare.comparators.first()];
    let is_name = |side: &Expr| matches!(side, Expr::Name(name) if name.id == "__name__");
    let is_main =
        |side: &Expr| matches!(side, Expr::StringLiteral(text) if text.value == *"__main__");
    block.elif_else_clauses.is_empty()
        && sides.iter().flatten().any(|side| is_name(side))
        && sides.iter().flatten().any(|side| is_main(side))
}

/// Writes the value of `__file__` where it is read; whether that was anywhere.
fn name_file(module: &MergedModule<'_>, edits: &mut EditSet) -> bool {
    let Some(value) = &module.file else {
        return false;
    };
    let mut found = false;
    for node in &module.program.tree().nodes {
        if let AnyNodeRef::ExprName(name) = node.node
            && name.id == "__file__"
        {
            edits.edit(Edit::replace(name.range, value.clone()));
            found = true;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[&str], expected: &str) {
        let programs: Vec<Program> = texts
            .iter()
            .map(|text| Program::parse(*text).unwrap())
            .collect();
        let modules: Vec<MergedModule<'_>> = programs
            .iter()
            .map(|program| MergedModule {
                program,
                package: "tests",
                file: Some("os.path.abspath('tests/x.py')".to_owned()),
                edits: EditSet::default(),
            })
            .collect();
        let merged = merge(&modules).unwrap();
        assert_eq!(merged.text, expected);
        Program::parse(merged.text).unwrap();
    }

    #[test]
    fn modules_follow_each_other() {
        check(
            &[
                "from __future__ import annotations\nfrom .core import x\n",
                "from __future__ import annotations\ny = x\n\n\
                 if __name__ == '__main__':\n    f()\n",
            ],
            "from __future__ import annotations\nfrom tests.core import x\n\n\ny = x\n",
        );
        check(
            &["here = __file__\n"],
            "import os\nhere = os.path.abspath('tests/x.py')\n",
        );
    }

    #[test]
    fn a_name_that_a_later_module_binds_is_renamed() {
        check(
            &[
                "import os, a.b\nfrom c import d\nn = 0\n\
                 def store(x):\n    global n\n    n = x\nstore(n)\n",
                "import os\nimport a.b\nfrom c import (d, e)\ndef store(n_1): pass\nn = n_1\n",
            ],
            "import os, a.b\nfrom c import d\nn_2 = 0\n\
             def store_1(x):\n    global n_2\n    n_2 = x\nstore_1(n_2)\n\n\n\
             import os\nimport a.b\nfrom c import (d, e)\ndef store(n_1): pass\nn = n_1\n",
        );
        check(
            &["from c import d\nd()\n", "from e import d\nd()\n"],
            "from c import d as d_1\nd_1()\n\n\nfrom e import d\nd()\n",
        );
    }
}
