use std::collections::BTreeMap;

use crate::{
    analysis::statements::Statements,
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::EditSet,
    syntax::{
        AnyNodeRef, Ranged, TextRange, TextSize,
        rows::{ItemId, RowKind},
        scope::BindingKind,
    },
};

pass! {
    /// Removes imports, and names from imports, that nothing uses.
    ///
    /// ```python before
    /// import os
    /// from math import floor, pi
    /// print(pi)
    /// ```
    /// ```python after
    /// from math import pi
    /// print(pi)
    /// ```
    pub(crate) static DROP_UNUSED_IMPORTS = Pass { stage: Stage::Clutter, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let statements = Statements::of(cx.program);
    let mut names: BTreeMap<(TextSize, TextSize), ItemId> = BTreeMap::new();
    for (id, row, range) in cx.program.items() {
        if row.kind == RowKind::ImportNames {
            names.insert((range.start(), range.end()), id);
        }
    }
    let unused: Vec<_> = cx
        .program
        .scopes()
        .variables
        .iter()
        .filter(|variable| variable.uses.is_empty())
        .flat_map(|variable| {
            variable
                .bindings
                .iter()
                .map(|binding| (variable.name.as_str(), binding))
        })
        .filter(|(_, binding)| binding.kind == BindingKind::Import)
        .collect();
    let mut alone = Vec::new();
    for node in cx.program.tree().nodes.iter().rev() {
        let (aliases, statement) = match node.node {
            AnyNodeRef::StmtImport(import) => (&import.names, import.range),
            AnyNodeRef::StmtImportFrom(import)
                if import.module.as_deref() != Some("__future__") =>
            {
                (&import.names, import.range)
            }
            _ => continue,
        };
        let gone: Vec<_> = unused
            .iter()
            .filter(|(_, binding)| aliases.iter().any(|alias| alias.range() == binding.range))
            .collect();
        if gone.len() == aliases.len() {
            if let Some(place) = statements.place(statement) {
                let note = format!(
                    "unused `{}`",
                    cx.program
                        .slice(statement)
                        .lines()
                        .next()
                        .unwrap_or_default()
                );
                out.propose(EditSet::removal(place), Prior::Certain, note);
            }
            // An import with side effects loses its names one by one.
            if gone.len() > 1 {
                alone.extend(gone);
            }
            continue;
        }
        for (name, binding) in gone {
            drop_name(&names, name, binding.range, Prior::Certain, out);
        }
    }
    out.next_group();
    for (name, binding) in alone {
        drop_name(&names, name, binding.range, Prior::Unlikely, out);
    }
}

fn drop_name(
    names: &BTreeMap<(TextSize, TextSize), ItemId>,
    name: &str,
    range: TextRange,
    prior: Prior,
    out: &mut Proposals,
) {
    if let Some(place) = names.get(&(range.start(), range.end())) {
        out.propose(
            EditSet::removal(*place),
            prior,
            format!("unused import of `{name}`"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::DROP_UNUSED_IMPORTS;
    use crate::testing::{check_all, check_none};

    #[test]
    fn unused_names_and_whole_statements_go() {
        check_all(
            &DROP_UNUSED_IMPORTS,
            "import a, b.c as d\nfrom e import (\n    f,\n    g,\n    h,\n)\nimport i\nd, g\n",
            "import b.c as d\nfrom e import (\n    g,\n)\nd, g\n",
        );
    }

    #[test]
    fn an_import_within_a_function_goes_too() {
        check_all(
            &DROP_UNUSED_IMPORTS,
            "def f():\n    import a\n",
            "def f():\n    pass\n",
        );
    }

    #[test]
    fn used_starred_and_future_imports_stay() {
        check_none(
            &DROP_UNUSED_IMPORTS,
            "from __future__ import annotations\nfrom a import *\nimport b.c\nimport b.d\nb.d.e\ndef f(x: b): pass\n",
        );
    }
}
