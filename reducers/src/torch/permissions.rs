//! Permissions that a program gives a compiler: graph breaks in a region, dynamic sizes, scalars in
//! graphs. Without such a permission, the compiler refuses by design what it must not refuse with
//! it. Goes by names. Called by the judge; proposes nothing.

use std::collections::BTreeSet;

use crate::{
    syntax::Program,
    torch::{environment::names_any, names::Torch},
};

/// The names by which a program asks for it.
const PERMISSIONS: [&str; 16] = [
    "torch._dynamo.allow_in_graph",
    "torch._dynamo.config.allow_unspec_int_on_nn_module",
    "torch._dynamo.config.capture_dynamic_output_shape_ops",
    "torch._dynamo.config.capture_scalar_outputs",
    "torch._dynamo.config.specialize_float",
    "torch._dynamo.config.specialize_int",
    "torch._dynamo.config.suppress_errors",
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

/// The permissions that a program gives.
pub fn permissions(program: &Program) -> BTreeSet<String> {
    let tree = program.tree();
    let Some(torch) = Torch::of(program, tree) else {
        return BTreeSet::new();
    };
    let asked = PERMISSIONS
        .iter()
        .filter(|name| names_any(&torch, tree, &[name]));
    asked.map(|name| (*name).to_owned()).collect()
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
    }
}
