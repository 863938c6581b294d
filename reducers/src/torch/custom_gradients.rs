//! Functions with gradients of their own: subclasses of `torch.autograd.Function`. Called by the
//! judge; proposes nothing.

use crate::{
    syntax::{
        AnyNodeRef, Program,
        ast::{Expr, Stmt, StmtFunctionDef},
    },
    torch::names::Torch,
};

/// Whether the `forward` of such a function returns one of its inputs as it is, which autograd
/// treats specially.
pub fn returns_input(program: &Program) -> bool {
    let tree = program.tree();
    let Some(torch) = Torch::of(program, tree) else {
        return false;
    };
    let classes = tree.nodes.iter().filter_map(|node| match node.node {
        AnyNodeRef::StmtClassDef(class) => Some(class),
        _ => None,
    });
    let mut custom = classes.filter(|class| {
        let mut bases = class.bases().iter();
        bases.any(|base| torch.path(base).as_deref() == Some("torch.autograd.Function"))
    });
    custom.any(|class| {
        let methods = class.body.iter().filter_map(Stmt::as_function_def_stmt);
        let mut forward = methods.filter(|method| method.name.as_str() == "forward");
        forward.any(|method| returns_parameter(program, method))
    })
}

/// Whether a function returns one of its parameters, which it assigns nothing else.
fn returns_parameter(program: &Program, function: &StmtFunctionDef) -> bool {
    let within: Vec<AnyNodeRef<'_>> = program.tree().within(function.range).collect();
    let is_parameter = |name: &str| {
        let mut all = function.parameters.iter();
        all.any(|parameter| parameter.name() == name)
    };
    let is_assigned = |name: &str| {
        let mut names = within.iter().filter_map(|node| node.as_expr_name());
        names.any(|other| other.id == name && !other.ctx.is_load())
    };
    let is_input = |value: &Expr| {
        let name = value.as_name_expr();
        name.is_some_and(|name| is_parameter(&name.id) && !is_assigned(&name.id))
    };
    within.iter().any(|node| match node {
        AnyNodeRef::StmtReturn(result) => match result.value.as_deref() {
            Some(Expr::Tuple(results)) => results.elts.iter().any(is_input),
            Some(value) => is_input(value),
            None => false,
        },
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_that_are_returned_are_found() {
        let returns = |body: &str| {
            let text = format!(
                "import torch\nclass F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        {body}\n"
            );
            returns_input(&Program::parse(text).unwrap())
        };
        assert!(returns("return x"));
        assert!(returns("return x, x + 1"));
        assert!(!returns("return x.clone()"));
        assert!(!returns("x = x + 1; return x"));
        let module = "import torch\nclass F(torch.nn.Module):\n    def forward(self, x):\n        return x\n";
        assert!(!returns_input(&Program::parse(module).unwrap()));
    }
}
