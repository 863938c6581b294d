//! Conditions of tensors: device, data type, sizes, and whether they require gradients.

use std::collections::BTreeMap;

use super::{ConditionFinder, ConditionKind, standing_alone};
use crate::{
    rewrite::{
        edit::{Edit, EditSet},
        unwrap::keep_part,
    },
    syntax::{AnyNodeRef, Ranged, TextRange, Tree, ast::Expr},
    torch::{
        data_types::rare_types,
        devices::on_cpu_everywhere,
        dimensions::{WrittenShape, whole_number},
        names::{Torch, removed_argument},
    },
};

pub(super) fn find(cx: &mut ConditionFinder<'_>, torch: &Torch<'_>, tree: &Tree<'_>) {
    let program = cx.program;
    let on_cpu = on_cpu_everywhere(program, torch, tree);
    if let Some(first) = on_cpu
        .resolve(program)
        .ok()
        .and_then(|edits| edits.first().map(|edit| edit.range))
    {
        cx.add(
            ConditionKind::Device,
            "an accelerator",
            Some("the CPU"),
            first,
            &on_cpu,
        );
    }
    types(cx, torch, tree);
    gradients(cx, tree);
    shapes(cx, torch, tree);
}

fn types(cx: &mut ConditionFinder<'_>, torch: &Torch<'_>, tree: &Tree<'_>) {
    let program = cx.program;
    let rare = rare_types(torch, tree);
    for mention in &rare {
        let name = program.slice(mention.name);
        let (name, instead) = if mention.plain == "float" {
            (format!("{name}()"), "float()".to_owned())
        } else {
            (format!("torch.{name}"), format!("torch.{}", mention.plain))
        };
        let edits = EditSet::one(Edit::replace(mention.name, mention.plain));
        let kind = ConditionKind::DataType;
        cx.add(kind, &name, Some(&instead), mention.name, &edits);
    }
    for node in &tree.nodes {
        let AnyNodeRef::Keyword(keyword) = node.node else {
            continue;
        };
        let at = keyword.range;
        let is_type = keyword.arg.as_ref().is_some_and(|arg| arg.id == "dtype")
            && torch.path(&keyword.value).is_some();
        // A rare type is a condition already.
        if !is_type || rare.iter().any(|mention| at.contains_range(mention.name)) {
            continue;
        }
        if let Some(edits) = removed_argument(program, at) {
            cx.add(ConditionKind::DataType, program.slice(at), None, at, &edits);
        }
    }
}

fn gradients(cx: &mut ConditionFinder<'_>, tree: &Tree<'_>) {
    let program = cx.program;
    for (index, node) in (0u32..).zip(&tree.nodes) {
        let (at, edits, owner) = match node.node {
            AnyNodeRef::Keyword(keyword)
                if keyword
                    .arg
                    .as_ref()
                    .is_some_and(|arg| arg.id == "requires_grad")
                    && is_true(&keyword.value) =>
            {
                let at = keyword.range;
                (at, removed_argument(program, at), assigned(tree, index, at))
            }
            AnyNodeRef::ExprCall(call) => match &*call.func {
                Expr::Attribute(method) if method.attr.as_str() == "requires_grad_" => {
                    let alone = standing_alone(tree, index).and_then(|at| cx.without(at));
                    let edits = alone.or_else(|| keep_part(program, call.range, &method.value));
                    let owner = match &*method.value {
                        Expr::Name(name) => Some(name.id.to_string()),
                        _ => assigned(tree, index, call.range),
                    };
                    (call.range, edits, owner)
                }
                _ => continue,
            },
            AnyNodeRef::StmtAssign(assign) => match assign.targets.as_slice() {
                [Expr::Attribute(target)]
                    if target.attr.as_str() == "requires_grad" && is_true(&assign.value) =>
                {
                    let owner = program.slice(target.value.range()).to_owned();
                    (assign.range, cx.without(assign.range), Some(owner))
                }
                _ => continue,
            },
            _ => continue,
        };
        let name = owner.map_or_else(
            || "requires_grad".to_owned(),
            |owner| format!("{owner}.requires_grad"),
        );
        cx.add(
            ConditionKind::Gradient,
            &name,
            None,
            at,
            &edits.unwrap_or_default(),
        );
    }
}

fn is_true(expr: &Expr) -> bool {
    matches!(expr, Expr::BooleanLiteral(literal) if literal.value)
}

/// The name to which the value around a node is assigned.
fn assigned(tree: &Tree<'_>, node: u32, at: TextRange) -> Option<String> {
    tree.ancestors(node).find_map(|outer| match outer {
        AnyNodeRef::StmtAssign(assign) if assign.value.range().contains_range(at) => {
            match assign.targets.as_slice() {
                // In `y = f(ones(2, requires_grad=True))`, the name is not that of the tensor.
                [Expr::Name(name)] if is_outermost(&assign.value, at) => Some(name.id.to_string()),
                _ => None,
            }
        }
        _ => None,
    })
}

/// Whether a place belongs to the outermost call of an expression.
fn is_outermost(value: &Expr, at: TextRange) -> bool {
    matches!(value, Expr::Call(call) if call.range == at || call.arguments.keywords.iter().any(|keyword| keyword.range == at))
}

/// The dimensions of shapes that are written out, and their sizes. Equal sizes are one condition.
fn shapes(cx: &mut ConditionFinder<'_>, torch: &Torch<'_>, tree: &Tree<'_>) {
    let program = cx.program;
    let mut by_size: BTreeMap<u64, Vec<TextRange>> = BTreeMap::new();
    for node in &tree.nodes {
        let AnyNodeRef::ExprCall(call) = node.node else {
            continue;
        };
        let Some(shape) = WrittenShape::of(program, torch, call) else {
            continue;
        };
        for (dimension, size) in shape.sizes.iter().enumerate() {
            let edits = EditSet::one(Edit::replace(
                shape.range,
                shape.without(program, dimension),
            ));
            let name = format!("dimension {dimension} of {}", shape.name);
            cx.add(ConditionKind::Dimension, &name, None, shape.range, &edits);
            if let Some((size, place)) = whole_number(size) {
                by_size.entry(size).or_default().push(place);
            }
        }
    }
    for (size, places) in by_size {
        let larger = (size + 1).to_string();
        let mut edits = EditSet::default();
        for place in &places {
            edits.edit(Edit::replace(*place, larger.clone()));
        }
        let name = format!("size {size}");
        cx.add(ConditionKind::Size, &name, Some(&larger), places[0], &edits);
    }
}
