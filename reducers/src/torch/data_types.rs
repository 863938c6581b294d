//! Data types: the mentions of those that are not PyTorch's default. Called by the cost, the
//! ablation and the pass that replaces them.

use crate::{
    syntax::{AnyNodeRef, Program, Ranged, TextRange, Tree, ast::ExprAttribute},
    torch::{environment::names_any, names::Torch},
};

/// A mention of a data type other than PyTorch's default ones: `torch.float16`, or a method such
/// as `half`.
pub(crate) struct RareType {
    /// Where its name stands.
    pub(crate) name: TextRange,
    /// The name that stands for 32-bit floats there.
    pub(crate) plain: &'static str,
}

impl RareType {
    /// Whether it is one of double precision.
    pub(crate) fn is_double(&self, program: &Program) -> bool {
        const DOUBLE: &[&str] = &["double", "float64", "cdouble", "complex128"];
        DOUBLE.contains(&program.slice(self.name))
    }
}

/// Whether a program has gradients checked by their numbers, which takes double precision: with
/// less, rounding is taken for an error.
pub(crate) fn needs_double(program: &Program, tree: &Tree<'_>) -> bool {
    const CHECKS: &[&str] = &["torch.autograd.gradcheck", "torch.autograd.gradgradcheck"];
    Torch::of(program, tree).is_some_and(|torch| names_any(&torch, tree, CHECKS))
}

/// Every mention of such a type.
pub(crate) fn rare_types(torch: &Torch<'_>, tree: &Tree<'_>) -> Vec<RareType> {
    const TYPES: &[&str] = &[
        "half",
        "float16",
        "bfloat16",
        "double",
        "float64",
        "complex32",
        "chalf",
        "complex64",
        "cfloat",
        "complex128",
        "cdouble",
        "int8",
        "uint8",
        "int16",
        "short",
        "uint16",
        "int32",
        "int",
        "uint32",
        "uint64",
        "float8_e4m3fn",
        "float8_e5m2",
        "float8_e4m3fnuz",
        "float8_e5m2fnuz",
        "qint8",
        "quint8",
        "qint32",
    ];
    const METHODS: &[&str] = &["half", "bfloat16", "double", "short", "char", "byte"];
    let found = tree.nodes.iter().filter_map(|node| {
        let AnyNodeRef::ExprAttribute(attribute) = node.node else {
            return None;
        };
        let name = attribute.attr.as_str();
        let plain = match torch.attribute(attribute) {
            Some(path)
                if path
                    .strip_prefix("torch.")
                    .is_some_and(|name| TYPES.contains(&name)) =>
            {
                "float32"
            }
            None if METHODS.contains(&name) && is_called(tree, node.parent, attribute) => "float",
            _ => return None,
        };
        Some(RareType {
            name: attribute.attr.range,
            plain,
        })
    });
    found.collect()
}

/// Whether a call without arguments calls an attribute.
fn is_called(tree: &Tree<'_>, parent: Option<u32>, attribute: &ExprAttribute) -> bool {
    parent.is_some_and(|at| match tree.nodes[at as usize].node {
        AnyNodeRef::ExprCall(call) => {
            call.func.range() == attribute.range && call.arguments.is_empty()
        }
        _ => false,
    })
}
