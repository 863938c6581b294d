//! Permissions that a program gives a compiler: graph breaks in a region, dynamic sizes, scalars in
//! graphs, what holds of sizes that only a run shows. Without such a permission, the compiler
//! refuses by design what it must not refuse with it. Goes by names. Called by the judge; proposes nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    syntax::{AnyNodeRef, Program, Ranged, ast::Expr},
    torch::{environment::names_any, names::Torch},
};

/// The module of Dynamo's settings.
const CONFIG: &str = "torch._dynamo.config";

/// How the names of the settings begin that permit something.
const PERMITTING: [&str; 9] = [
    "allow_",
    "capture_",
    "enable_",
    "ignore_",
    "reorderable_",
    "specialize_",
    "suppress_",
    "trace_",
    "traceable_",
];

/// The names by which a program asks for it otherwise.
const PERMISSIONS: [&str; 10] = [
    "torch._dynamo.allow_in_graph",
    "torch._dynamo.error_on_graph_break",
    "torch._dynamo.mark_dynamic",
    "torch._dynamo.mark_unbacked",
    "torch._dynamo.maybe_mark_dynamic",
    "torch._dynamo.nonstrict_trace",
    "torch._dynamo.set_fullgraph",
    "torch._dynamo.substitute_in_graph",
    "torch.compiler.allow_in_graph",
    "torch.compiler.nested_compile_region",
];

/// The functions that tell it what holds of a value that only a run shows.
const STATEMENTS: [&str; 9] = [
    "torch._check",
    "torch._check_index",
    "torch._check_is_size",
    "torch._check_tensor_all",
    "torch._check_value",
    "torch._constrain_as_size",
    "torch._constrain_as_value",
    "torch.sym_constrain_range",
    "torch.sym_constrain_range_for_size",
];

/// The permissions that a program gives, and what it tells of values, each as often as it does.
pub fn permissions(program: &Program) -> BTreeSet<String> {
    let tree = program.tree();
    let Some(torch) = Torch::of(program, tree) else {
        return BTreeSet::new();
    };
    let asked = PERMISSIONS
        .iter()
        .filter(|name| names_any(&torch, tree, &[name]));
    let asked = asked.map(|name| (*name).to_owned());
    let nodes = tree.nodes.iter();
    let settings = nodes.flat_map(|node| settings(program, &torch, node.node));
    let settings = settings.filter(|setting| {
        let mut beginnings = PERMITTING.iter();
        beginnings.any(|beginning| setting.starts_with(beginning))
    });
    asked
        .chain(settings.map(|setting| format!("{CONFIG}.{setting}")))
        .chain(stated(program, &torch))
        .collect()
}

/// The calls that tell what holds of a value, by their functions and numbers.
fn stated(program: &Program, torch: &Torch<'_>) -> Vec<String> {
    let nodes = program.tree().nodes.iter();
    let calls = nodes.filter_map(|node| node.node.as_expr_call());
    let called = calls.filter_map(|call| torch.path(&call.func));
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let stated = called.filter(|path| STATEMENTS.contains(&path.as_str()));
    stated
        .map(|path| {
            let count = counts.entry(path.clone()).or_default();
            *count += 1;
            format!("{path} {count}")
        })
        .collect()
}

/// The settings of Dynamo that a node names: as an attribute, or where it patches them, with the
/// value there.
fn settings(program: &Program, torch: &Torch<'_>, node: AnyNodeRef<'_>) -> Vec<String> {
    match node {
        AnyNodeRef::ExprAttribute(attribute) => {
            let is_setting = torch.path(&attribute.value).as_deref() == Some(CONFIG);
            let name = is_setting.then(|| attribute.attr.to_string());
            name.into_iter().collect()
        }
        AnyNodeRef::ExprCall(call) if is_patch(torch, &call.func) => {
            let keywords = call.arguments.keywords.iter();
            let keywords = keywords
                .filter_map(|keyword| Some((keyword.arg.as_ref()?.as_str(), &keyword.value)));
            let patched: Vec<(Option<&Expr>, &Expr)> = match &*call.arguments.args {
                [Expr::Dict(patched)] => {
                    let items = patched.items.iter();
                    items.map(|item| (item.key.as_ref(), &item.value)).collect()
                }
                [name, value] => vec![(Some(name), value)],
                _ => Vec::new(),
            };
            let patched = patched.into_iter().filter_map(|(name, value)| {
                let name = name?.as_string_literal_expr()?;
                Some((name.value.to_str(), value))
            });
            let all = keywords.chain(patched);
            all.map(|(name, value)| format!("{name}={}", program.slice(value.range())))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Whether an expression names what patches Dynamo's settings.
fn is_patch(torch: &Torch<'_>, function: &Expr) -> bool {
    let method = function.as_attribute_expr();
    method.is_some_and(|method| {
        method.attr.as_str() == "patch" && torch.path(&method.value).as_deref() == Some(CONFIG)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_known_by_their_names() {
        let text = "import torch\nfrom torch._dynamo import mark_dynamic\ntorch._dynamo.config.capture_scalar_outputs = True\ntorch._dynamo.reset()\n";
        let found: Vec<String> = permissions(&Program::parse(text).unwrap())
            .into_iter()
            .collect();
        assert_eq!(
            found,
            [
                "torch._dynamo.config.capture_scalar_outputs",
                "torch._dynamo.mark_dynamic"
            ]
        );
        let of = |call: &str| {
            let text = format!("import torch._dynamo\n{call}\ndef f(): pass\n");
            let found = permissions(&Program::parse(text).unwrap()).into_iter();
            found.collect::<Vec<_>>().join(" ")
        };
        let name = "torch._dynamo.config.reorderable_logging_functions";
        assert_eq!(
            of("@torch._dynamo.config.patch(reorderable_logging_functions={f})"),
            format!("{name}={{f}}")
        );
        assert_eq!(
            of("@torch._dynamo.config.patch({'reorderable_logging_functions': 1})"),
            format!("{name}=1")
        );
        assert_eq!(of("@torch._dynamo.config.patch('verbose', True)"), "");
        // Two bounds of one size are two statements.
        assert_eq!(
            of("torch._check(u >= 2); torch._check_is_size(u); torch._check(u < 9)"),
            "torch._check 1 torch._check 2 torch._check_is_size 1"
        );
    }
}
