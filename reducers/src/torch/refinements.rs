//! How a program tells `TorchScript` the types of its values: by annotations, and by tests that an
//! optional value is there. Without one, `TorchScript` is right to refuse the value. Called by the
//! judge; proposes nothing.

use crate::{
    syntax::{AnyNodeRef, Program, ast::Expr},
    torch::{environment::names_any, names::Torch},
};

/// The types of parameters without an annotation.
pub const IMPLIED_TYPES: [&str; 2] = ["Tensor", "torch.Tensor"];

/// How `TorchScript` writes the type of a value that may be `None`.
const OPTIONAL: &str = "Optional[";

/// Whether `TorchScript` refuses, by this message, an optional value of a program that tests one.
pub fn is_refused_in_spite_of_test(program: &Program, message: &str) -> bool {
    let torch = Torch::of(program, program.tree());
    let is_scripted =
        torch.is_some_and(|torch| names_any(&torch, program.tree(), &["torch.jit.script"]));
    is_scripted && message.contains(OPTIONAL) && tests_for_none(program)
}

/// Whether a program compares something with `None`, or asks for its type.
pub fn tests_for_none(program: &Program) -> bool {
    let mut nodes = program.tree().nodes.iter().map(|node| node.node);
    nodes.any(|node| match node {
        AnyNodeRef::ExprCompare(compare) => {
            compare.left.is_none_literal_expr()
                || compare.comparators.iter().any(Expr::is_none_literal_expr)
        }
        AnyNodeRef::ExprCall(call) => {
            let name = call.func.as_name_expr();
            name.is_some_and(|name| name.id == "isinstance")
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_count_where_torchscript_complains_of_an_optional() {
        let script = "import torch\ndef f(x):\n    if x.a is not None:\n        return y[x.a]\ntorch.jit.script(f)\n";
        let refused = |text: &str, message: &str| {
            is_refused_in_spite_of_test(&Program::parse(text).unwrap(), message)
        };
        let message = "unsupported index type 'Optional[int]'";
        assert!(refused(script, message));
        assert!(!refused(script, "unsupported index type 'str'"));
        assert!(!refused(&script.replace(" is not None", ""), message));
        assert!(!refused(&script.replace("script", "trace"), message));
    }
}
