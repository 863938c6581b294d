//! Tensors: where they are, of what type, how large, and whether they want gradients.

use std::collections::BTreeMap;

use super::{Found, Sort, standing_alone};
use crate::{
    passes::torch::use_cpu,
    rewrite::{
        edit::{Edit, EditSet},
        unwrap::keep_part,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, Tree,
        ast::{Expr, ExprCall, Number},
    },
    torch::{
        data_types::rare_types,
        names::{Torch, keyword, removed_argument},
    },
};

/// Functions that take a shape as their first arguments.
const FACTORIES: &[&str] = &["empty", "full", "ones", "rand", "randn", "zeros"];

pub(super) fn find(cx: &mut Found<'_>, torch: &Torch<'_>, tree: &Tree<'_>) {
    let program = cx.program;
    let on_cpu = use_cpu::on_cpu_everywhere(program, torch, tree);
    if let Some(first) = on_cpu
        .resolve(program)
        .ok()
        .and_then(|edits| edits.first().map(|it| it.range))
    {
        cx.add(
            Sort::Device,
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

fn types(cx: &mut Found<'_>, torch: &Torch<'_>, tree: &Tree<'_>) {
    let program = cx.program;
    let rare = rare_types(program, tree);
    for it in &rare {
        let name = program.slice(it.name);
        let (name, instead) = if it.plain == "float" {
            (format!("{name}()"), "float()".to_owned())
        } else {
            (format!("torch.{name}"), format!("torch.{}", it.plain))
        };
        let edits = EditSet::one(Edit::replace(it.name, it.plain));
        cx.add(Sort::DataType, &name, Some(&instead), it.name, &edits);
    }
    for node in &tree.nodes {
        let AnyNodeRef::Keyword(it) = node.node else {
            continue;
        };
        let is_type =
            it.arg.as_ref().is_some_and(|arg| arg.id == "dtype") && torch.path(&it.value).is_some();
        // Those have just been asked about.
        if !is_type || rare.iter().any(|rare| it.range.contains_range(rare.name)) {
            continue;
        }
        if let Some(edits) = removed_argument(program, it.range) {
            cx.add(
                Sort::DataType,
                program.slice(it.range),
                None,
                it.range,
                &edits,
            );
        }
    }
}

fn gradients(cx: &mut Found<'_>, tree: &Tree<'_>) {
    let program = cx.program;
    for (index, node) in (0u32..).zip(&tree.nodes) {
        let (at, edits, owner) = match node.node {
            AnyNodeRef::Keyword(it)
                if it.arg.as_ref().is_some_and(|arg| arg.id == "requires_grad")
                    && is_true(&it.value) =>
            {
                let owner = assigned(tree, index, it.range);
                (it.range, removed_argument(program, it.range), owner)
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
            AnyNodeRef::StmtAssign(it) => match it.targets.as_slice() {
                [Expr::Attribute(target)]
                    if target.attr.as_str() == "requires_grad" && is_true(&it.value) =>
                {
                    let owner = program.slice(target.value.range()).to_owned();
                    (it.range, cx.without(it.range), Some(owner))
                }
                _ => continue,
            },
            _ => continue,
        };
        let name = owner.map_or_else(
            || "requires_grad".to_owned(),
            |it| format!("{it}.requires_grad"),
        );
        cx.add(Sort::Gradient, &name, None, at, &edits.unwrap_or_default());
    }
}

fn is_true(expr: &Expr) -> bool {
    matches!(expr, Expr::BooleanLiteral(it) if it.value)
}

/// The name that the value around a node is given.
fn assigned(tree: &Tree<'_>, node: u32, at: TextRange) -> Option<String> {
    tree.ancestors(node).find_map(|it| match it {
        AnyNodeRef::StmtAssign(it) if it.value.range().contains_range(at) => {
            match it.targets.as_slice() {
                // What is called with a tensor is given another.
                [Expr::Name(name)] if innermost(&it.value, at) => Some(name.id.to_string()),
                _ => None,
            }
        }
        _ => None,
    })
}

/// Whether a place belongs to the outermost call of an expression.
fn innermost(value: &Expr, at: TextRange) -> bool {
    matches!(value, Expr::Call(call) if call.range == at || call.arguments.keywords.iter().any(|it| it.range == at))
}

/// A shape as it is written: what stands for it, and its sizes.
struct Shape<'a> {
    /// How it is called.
    name: String,
    range: TextRange,
    sizes: Vec<&'a Expr>,
    brackets: Option<(char, char)>,
}

impl Shape<'_> {
    /// The shape without one of its dimensions.
    fn without(&self, program: &Program, gone: usize) -> String {
        let left = self.sizes.iter().enumerate().filter(|(at, _)| *at != gone);
        let left: Vec<&str> = left.map(|(_, it)| program.slice(it.range())).collect();
        match self.brackets {
            Some(('(', _)) if left.len() == 1 => format!("({},)", left[0]),
            Some((open, close)) => format!("{open}{}{close}", left.join(", ")),
            None if left.is_empty() => "()".to_owned(),
            None => left.join(", "),
        }
    }
}

fn shapes(cx: &mut Found<'_>, torch: &Torch<'_>, tree: &Tree<'_>) {
    let program = cx.program;
    let mut by_size: BTreeMap<u64, Vec<TextRange>> = BTreeMap::new();
    for node in &tree.nodes {
        let AnyNodeRef::ExprCall(call) = node.node else {
            continue;
        };
        let Some(shape) = shape(program, torch, call) else {
            continue;
        };
        for (dimension, size) in shape.sizes.iter().enumerate() {
            let edits = EditSet::one(Edit::replace(
                shape.range,
                shape.without(program, dimension),
            ));
            let name = format!("dimension {dimension} of {}", shape.name);
            cx.add(Sort::Dimension, &name, None, shape.range, &edits);
            if let Some(size) = number(size) {
                by_size.entry(size.0).or_default().push(size.1);
            }
        }
    }
    // Equal sizes hang together.
    for (size, places) in by_size {
        let larger = (size + 1).to_string();
        let mut edits = EditSet::default();
        for place in &places {
            edits.edit(Edit::replace(*place, larger.clone()));
        }
        cx.add(
            Sort::Size,
            &format!("size {size}"),
            Some(&larger),
            places[0],
            &edits,
        );
    }
}

fn number(expr: &Expr) -> Option<(u64, TextRange)> {
    let Expr::NumberLiteral(literal) = expr else {
        return None;
    };
    match &literal.value {
        Number::Int(number) => Some((number.as_u64()?, literal.range)),
        _ => None,
    }
}

/// The shape that a call asks for.
fn shape<'a>(program: &Program, torch: &Torch<'_>, call: &'a ExprCall) -> Option<Shape<'a>> {
    let path = torch.path(&call.func)?;
    let name = path
        .strip_prefix("torch.")
        .filter(|it| FACTORIES.contains(it))?;
    let first = call
        .arguments
        .args
        .first()
        .or(keyword(call, "size").map(|it| &it.value))?;
    let grouped = |elements: &'a [Expr], brackets| Shape {
        name: program.slice(first.range()).to_owned(),
        range: first.range(),
        sizes: elements.iter().collect(),
        brackets: Some(brackets),
    };
    match first {
        Expr::Tuple(it) => Some(grouped(&it.elts, ('(', ')'))),
        Expr::List(it) => Some(grouped(&it.elts, ('[', ']'))),
        Expr::NumberLiteral(_) if name != "full" => {
            let sizes: Vec<&Expr> = call.arguments.args.iter().collect();
            let range = TextRange::new(first.start(), sizes.last()?.end());
            let name = format!(
                "{}({})",
                program.slice(call.func.range()),
                program.slice(range)
            );
            sizes
                .iter()
                .all(|it| number(it).is_some())
                .then_some(Shape {
                    name,
                    range,
                    sizes,
                    brackets: None,
                })
        }
        _ => None,
    }
}
