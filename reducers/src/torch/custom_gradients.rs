//! Functions with gradients of their own: subclasses of `torch.autograd.Function`. Called by the
//! judge; proposes nothing.

use crate::{
    syntax::{
        AnyNodeRef, Program,
        ast::{Expr, Stmt, StmtClassDef, StmtFunctionDef},
    },
    torch::names::Torch,
};

/// Whether the `forward` of such a function returns one of its inputs as it is, or what it finds
/// outside, which autograd and compilers treat specially.
pub fn returns_input(program: &Program) -> bool {
    functions(program).into_iter().any(|class| {
        let mut forward = methods(class).filter(|method| method.name.as_str() == "forward");
        forward.any(|method| returns_unassigned(program, method))
    })
}

/// Whether such a function has no gradient, or one that takes none. What captures graphs traces the
/// gradient together with the function, also where no run ever asks for it.
pub fn has_no_gradient(program: &Program) -> bool {
    const GRADIENTS: [&str; 3] = ["backward", "vjp", "jvp"];
    functions(program).into_iter().any(|class| {
        let mut gradients = methods(class).filter(|of| GRADIENTS.contains(&of.name.as_str()));
        !gradients.any(|gradient| {
            let parameters = &gradient.parameters;
            let own = parameters.posonlyargs.len() + parameters.args.len();
            own > 1 || parameters.vararg.is_some()
        })
    })
}

/// The classes of functions that have gradients of their own.
fn functions(program: &Program) -> Vec<&StmtClassDef> {
    let tree = program.tree();
    let Some(torch) = Torch::of(program, tree) else {
        return Vec::new();
    };
    let classes = tree.nodes.iter().filter_map(|node| match node.node {
        AnyNodeRef::StmtClassDef(class) => Some(class),
        _ => None,
    });
    let custom = classes.filter(|class| {
        let mut bases = class.bases().iter();
        bases.any(|base| torch.path(base).as_deref() == Some("torch.autograd.Function"))
    });
    custom.collect()
}

fn methods(class: &StmtClassDef) -> impl Iterator<Item = &StmtFunctionDef> {
    class.body.iter().filter_map(Stmt::as_function_def_stmt)
}

/// Whether a function returns a name that it does not assign, so one of its parameters or what it
/// finds outside.
fn returns_unassigned(program: &Program, function: &StmtFunctionDef) -> bool {
    let within: Vec<AnyNodeRef<'_>> = program.tree().within(function.range).collect();
    let is_assigned = |name: &str| {
        let mut names = within.iter().filter_map(|node| node.as_expr_name());
        names.any(|other| other.id == name && !other.ctx.is_load())
    };
    let is_input = |value: &Expr| {
        let name = value.as_name_expr();
        name.is_some_and(|name| !is_assigned(&name.id))
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

    fn function(body: &str) -> Program {
        let text = format!(
            "import torch\nclass F(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        {body}\n"
        );
        Program::parse(text).unwrap()
    }

    #[test]
    fn functions_without_a_gradient_are_found() {
        let lacks = |body: &str| has_no_gradient(&function(body));
        assert!(lacks("return x + 1"));
        assert!(!lacks(
            "return x + 1\n    @staticmethod\n    def backward(ctx, g):\n        return g"
        ));
        assert!(lacks(
            "return x + 1\n    @staticmethod\n    def backward(ctx):\n        pass"
        ));
        let module = "import torch\nclass M(torch.nn.Module):\n    def forward(self, x):\n        return x\n";
        assert!(!has_no_gradient(&Program::parse(module).unwrap()));
    }

    #[test]
    fn inputs_that_are_returned_are_found() {
        let returns = |body: &str| returns_input(&function(body));
        assert!(returns("return x"));
        assert!(returns("return x, x + 1") && returns("return y"));
        assert!(!returns("return x.clone()"));
        assert!(!returns("x = x + 1; return x"));
        let module = "import torch\nclass F(torch.nn.Module):\n    def forward(self, x):\n        return x\n";
        assert!(!returns_input(&Program::parse(module).unwrap()));
    }
}
