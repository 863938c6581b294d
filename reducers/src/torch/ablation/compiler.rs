//! Conditions of the compiler: whether a program is compiled, and its settings.

use super::{ConditionFinder, ConditionKind, standing_alone};
use crate::{
    rewrite::edit::EditSet,
    syntax::{
        AnyNodeRef, Ranged, TextRange, Tree,
        ast::{Expr, ExprCall, ExprDict},
        rows::RowKind,
    },
    torch::{
        compilation::{compilations, without_compiler},
        environment::CompilerRank,
        names::{Torch, keyword, removed_argument, string},
    },
};

/// The settings of a compilation.
const SETTINGS: &[&str] = &["fullgraph", "mode", "backend", "options", "dynamic"];

/// Functions whose calls make sizes symbolic or fix them.
const MARKS: &[&str] = &[
    "mark_dynamic",
    "maybe_mark_dynamic",
    "mark_unbacked",
    "mark_static",
];

pub(super) fn find(cx: &mut ConditionFinder<'_>, torch: &Torch<'_>, tree: &Tree<'_>) {
    let program = cx.program;
    let found = compilations(torch, tree);
    if let (Some(first), Some(edits)) = (found.first(), without_compiler(program)) {
        cx.add(
            ConditionKind::Compiler,
            CompilerRank::CALL,
            None,
            first.mention,
            &edits,
        );
    }
    for compilation in &found {
        if let Some(call) = compilation.call.or(compilation.around) {
            settings(cx, call);
        }
    }
    for (index, node) in (0u32..).zip(&tree.nodes) {
        match node.node {
            AnyNodeRef::Keyword(argument)
                if argument
                    .arg
                    .as_ref()
                    .is_some_and(|name| name.id == "dynamic_shapes") =>
            {
                if let Some(edits) = removed_argument(program, argument.range) {
                    let text = program.slice(argument.range);
                    let kind = ConditionKind::DynamicShapes;
                    cx.add(kind, text, None, argument.range, &edits);
                }
            }
            AnyNodeRef::ExprCall(call) => {
                let Some(kind) = kind_of_call(torch, call) else {
                    continue;
                };
                let statement = standing_alone(tree, index);
                if let Some((at, edits)) = statement.and_then(|at| Some((at, cx.without(at)?))) {
                    cx.add(kind, program.slice(call.range), None, at, &edits);
                }
            }
            AnyNodeRef::StmtAssign(assign)
                if assign
                    .targets
                    .iter()
                    .all(|target| is_setting(torch, target)) =>
            {
                if let Some(edits) = cx.without(assign.range) {
                    let text = program.slice(assign.range);
                    cx.add(ConditionKind::Setting, text, None, assign.range, &edits);
                }
            }
            _ => {}
        }
    }
}

/// The settings that a call gives a compiler.
fn settings(cx: &mut ConditionFinder<'_>, call: &ExprCall) {
    let program = cx.program;
    for name in SETTINGS {
        let Some(setting) = keyword(call, name) else {
            continue;
        };
        let kind = if *name == "dynamic" {
            ConditionKind::DynamicShapes
        } else {
            ConditionKind::Setting
        };
        if let Some(edits) = removed_argument(program, setting.range) {
            let text = program.slice(setting.range);
            cx.add(kind, text, None, setting.range, &edits);
        }
        if let Expr::Dict(dict) = &setting.value {
            entries(cx, name, dict);
        }
    }
}

/// The kind of condition that a call of PyTorch is, if it is one.
fn kind_of_call(torch: &Torch<'_>, call: &ExprCall) -> Option<ConditionKind> {
    let path = torch.path(&call.func)?;
    let name = path.rsplit('.').next().unwrap_or(&path);
    match name {
        _ if MARKS.contains(&name) => Some(ConditionKind::DynamicShapes),
        "set_num_threads" | "set_num_interop_threads" => Some(ConditionKind::Threads),
        "manual_seed" | "use_deterministic_algorithms" => Some(ConditionKind::Setting),
        _ => name.starts_with("set_").then_some(ConditionKind::Setting),
    }
}

/// The entries of a setting that is a dictionary with several.
fn entries(cx: &mut ConditionFinder<'_>, name: &str, dict: &ExprDict) {
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
            cx.add(ConditionKind::Setting, &name, None, *range, edits);
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
