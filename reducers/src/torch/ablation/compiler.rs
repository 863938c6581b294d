//! That a program is compiled, and how.

use super::{Found, Sort, standing_alone};
use crate::{
    rewrite::edit::EditSet,
    syntax::{
        AnyNodeRef, Ranged, TextRange, Tree,
        ast::{Expr, ExprDict},
        rows::RowKind,
    },
    torch::{
        compilation::{compilations, without_compiler},
        environment::CompilerRank,
        names::{Torch, keyword, removed_argument, string},
    },
};

/// What a compiler is told.
const SETTINGS: &[&str] = &["fullgraph", "mode", "backend", "options"];

/// Functions whose calls make sizes symbols.
const MARKS: &[&str] = &[
    "mark_dynamic",
    "maybe_mark_dynamic",
    "mark_unbacked",
    "mark_static",
];

pub(super) fn find(cx: &mut Found<'_>, torch: &Torch<'_>, tree: &Tree<'_>) {
    let program = cx.program;
    let found = compilations(torch, tree);
    if let (Some(first), Some(edits)) = (found.first(), without_compiler(program)) {
        cx.add(
            Sort::Compiler,
            CompilerRank::CALL,
            None,
            first.mention,
            &edits,
        );
    }
    for call in found.iter().filter_map(|it| it.call.or(it.around)) {
        for name in SETTINGS.iter().chain(&["dynamic"]) {
            let Some(setting) = keyword(call, name) else {
                continue;
            };
            let sort = if *name == "dynamic" {
                Sort::DynamicShapes
            } else {
                Sort::Setting
            };
            if let Some(edits) = removed_argument(program, setting.range) {
                cx.add(
                    sort,
                    program.slice(setting.range),
                    None,
                    setting.range,
                    &edits,
                );
            }
            if let Expr::Dict(dict) = &setting.value {
                entries(cx, name, dict);
            }
        }
    }
    for (index, node) in (0u32..).zip(&tree.nodes) {
        match node.node {
            AnyNodeRef::Keyword(it)
                if it
                    .arg
                    .as_ref()
                    .is_some_and(|arg| arg.id == "dynamic_shapes") =>
            {
                if let Some(edits) = removed_argument(program, it.range) {
                    cx.add(
                        Sort::DynamicShapes,
                        program.slice(it.range),
                        None,
                        it.range,
                        &edits,
                    );
                }
            }
            AnyNodeRef::ExprCall(call) => {
                let Some(path) = torch.path(&call.func) else {
                    continue;
                };
                let name = path.rsplit('.').next().unwrap_or(&path);
                let sort = match name {
                    _ if MARKS.contains(&name) => Sort::DynamicShapes,
                    "set_num_threads" | "set_num_interop_threads" => Sort::Threads,
                    _ if name.starts_with("set_") || name == "manual_seed" => Sort::Setting,
                    "use_deterministic_algorithms" => Sort::Setting,
                    _ => continue,
                };
                let statement = standing_alone(tree, index);
                if let Some((at, edits)) = statement.and_then(|at| Some((at, cx.without(at)?))) {
                    cx.add(sort, program.slice(call.range), None, at, &edits);
                }
            }
            AnyNodeRef::StmtAssign(it) if it.targets.iter().all(|it| is_setting(torch, it)) => {
                if let Some(edits) = cx.without(it.range()) {
                    cx.add(
                        Sort::Setting,
                        program.slice(it.range()),
                        None,
                        it.range(),
                        &edits,
                    );
                }
            }
            _ => {}
        }
    }
}

/// The entries of a setting that has several.
fn entries(cx: &mut Found<'_>, name: &str, dict: &ExprDict) {
    if dict.items.len() < 2 {
        return;
    }
    let items = cx.program.items();
    let found: Vec<(TextRange, EditSet)> = items
        .filter(|(_, row, range)| row.kind == RowKind::Entries && dict.range.contains_range(*range))
        .map(|(id, _, range)| (range, EditSet::removal(id)))
        .collect();
    for entry in &dict.items {
        let Some(key) = entry.key.as_ref().filter(|key| string(key).is_some()) else {
            continue;
        };
        let place = found
            .iter()
            .find(|(range, _)| range.contains_range(key.range()));
        if let Some((range, edits)) = place {
            let name = format!("{name}[{}]", cx.program.slice(key.range()));
            cx.add(Sort::Setting, &name, None, *range, edits);
        }
    }
}

/// Whether a target of an assignment is a setting of PyTorch.
fn is_setting(torch: &Torch<'_>, target: &Expr) -> bool {
    matches!(target, Expr::Attribute(_))
        && torch
            .path(target)
            .is_some_and(|path| path.starts_with("torch."))
}
