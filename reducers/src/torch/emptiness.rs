//! Tensors that a program makes without elements. Goes only by names. Called by the judge, which
//! compares a candidate with the script.

use crate::{
    analysis::{
        assignments::{assigned_values, elements},
        names::ImportedNames,
    },
    syntax::{
        AnyNodeRef, Program,
        ast::{Expr, ExprCall, StmtClassDef},
        scope::BindingKind,
    },
    torch::{dimensions::whole_number, names::keyword},
};

/// Functions that make tensors or arrays of data or sizes, which their arguments write out.
/// `torch.empty` is none: who writes it may well mean a tensor without elements.
const MAKERS: &[&str] = &[
    "torch.as_tensor",
    "torch.eye",
    "torch.full",
    "torch.ones",
    "torch.rand",
    "torch.randint",
    "torch.randn",
    "torch.sparse_bsc_tensor",
    "torch.sparse_bsr_tensor",
    "torch.sparse_compressed_tensor",
    "torch.sparse_coo_tensor",
    "torch.sparse_csc_tensor",
    "torch.sparse_csr_tensor",
    "torch.tensor",
    "torch.zeros",
    "numpy.array",
    "numpy.ones",
    "numpy.zeros",
];

/// Functions that make tables and columns of the data that they are given.
const TABLES: &[&str] = &[
    "pandas.Categorical",
    "pandas.DataFrame",
    "pandas.Index",
    "pandas.Series",
    "pandas.MultiIndex.from_arrays",
    "pandas.MultiIndex.from_tuples",
];

/// Their arguments that are no data.
const TRAITS: &[&str] = &["copy", "dtype", "name", "names"];

/// Functions of these whose plain arguments are sizes.
const SIZED: &[&str] = &[
    "torch.eye",
    "torch.ones",
    "torch.rand",
    "torch.randn",
    "torch.zeros",
];

/// Layers whose first two arguments are sizes, by the beginnings of their names.
const LAYERS: &[&str] = &[
    "BatchNorm",
    "Bilinear",
    "Conv",
    "Embedding",
    "GRU",
    "GroupNorm",
    "InstanceNorm",
    "LSTM",
    "LayerNorm",
    "Linear",
    "MultiheadAttention",
    "RNN",
    "Transformer",
];

/// Methods whose arguments, or the first of them if it is a list or tuple, are sizes.
const METHODS: &[&str] = &[
    "as_strided",
    "as_strided_",
    "expand",
    "new_ones",
    "new_zeros",
    "reshape",
    "view",
];

/// How many displays and names may stand between a call and a size, as one name may stand for
/// another.
const DEPTH: usize = 4;

/// Whether a program writes out data or sizes of a tensor and leaves them empty, or a size of 0.
/// Such a tensor is a special case to most functions, which then fail, or do not, for reasons of
/// their own.
pub fn makes_empty_tensors(program: &Program) -> bool {
    let tree = program.tree();
    let imported = ImportedNames::of(tree);
    let heirs = heirs(program, &imported);
    let has_zero = |expr: &Expr| has_zero(program, expr, DEPTH);
    let has_empty_display = |expr: &Expr| has_empty_display(meant(program, expr));
    let makes_empty = |call: &ExprCall| {
        let arguments = &call.arguments;
        let Some(path) = imported.path(&call.func) else {
            let method = call.func.as_attribute_expr();
            let is_sized = method.is_some_and(|method| METHODS.contains(&method.attr.as_str()));
            let sizes = sizes(program, &arguments.args);
            let called = call.func.as_name_expr();
            let is_bare = called.is_some_and(|name| heirs.contains(&name.id.as_str()))
                && arguments.is_empty();
            return is_bare || is_sized && sizes.iter().any(|size| has_zero(size));
        };
        if let Some(layer) = path.strip_prefix("torch.nn.") {
            let is_sized = LAYERS.iter().any(|name| layer.starts_with(name));
            let sizes = sizes(program, &arguments.args);
            return is_sized && sizes.iter().take(2).any(|size| has_zero(size));
        }
        if TABLES.contains(&path.as_str()) {
            let keywords = arguments.keywords.iter();
            let mut data = keywords.filter(|keyword| {
                let name = keyword.arg.as_deref();
                name.is_none_or(|name| !TRAITS.contains(&name))
            });
            let is_bare = arguments.args.is_empty() && data.clone().next().is_none();
            let mut given = arguments.args.iter().take(1);
            return is_bare
                || given.any(has_empty_display)
                || data.any(|keyword| has_empty_display(&keyword.value));
        }
        if path == "torch.arange" {
            return matches!(&*arguments.args, [only] if has_zero(only));
        }
        if !MAKERS.contains(&path.as_str()) {
            return false;
        }
        let named = arguments.keywords.iter().map(|keyword| &keyword.value);
        let sizes = keyword(call, "size").map(|size| &size.value);
        if sizes.is_some_and(has_zero) {
            return true;
        }
        // No sizes at all are those of a single number.
        if SIZED.contains(&path.as_str()) {
            return arguments.args.iter().any(has_zero);
        }
        let mut all = arguments.args.iter().chain(named);
        path != "torch.full" && all.any(has_empty_display)
    };
    tree.nodes
        .iter()
        .any(|node| matches!(node.node, AnyNodeRef::ExprCall(call) if makes_empty(call)))
}

/// The sizes among arguments: all of them, or those that the first one lists, in a variable or not.
fn sizes<'a>(program: &'a Program, arguments: &'a [Expr]) -> Vec<&'a Expr> {
    let Some(first) = arguments.first() else {
        return Vec::new();
    };
    let listed = match first {
        Expr::Starred(starred) => &starred.value,
        first => first,
    };
    let listed = elements(meant(program, listed));
    listed.unwrap_or(arguments).iter().collect()
}

/// The classes of a program whose objects are tensors, with as many elements as they are given.
fn heirs<'a>(program: &'a Program, imported: &ImportedNames<'_>) -> Vec<&'a str> {
    let nodes = program.tree().nodes.iter();
    let classes = nodes.filter_map(|node| node.node.as_stmt_class_def());
    let is_tensor = |class: &StmtClassDef| {
        let mut bases = class.bases().iter();
        let makes_itself = class.body.iter().any(|member| {
            let function = member.as_function_def_stmt();
            function.is_some_and(|function| function.name.as_str() == "__new__")
        });
        !makes_itself && bases.any(|base| imported.path(base).as_deref() == Some("torch.Tensor"))
    };
    let found = classes.filter(|class| is_tensor(class));
    found.map(|class| class.name.as_str()).collect()
}

/// The value of a name, if it is assigned once or the default of a parameter; else the expression.
fn meant<'a>(program: &'a Program, expr: &'a Expr) -> &'a Expr {
    let Some(name) = expr.as_name_expr() else {
        return expr;
    };
    let values = assigned_values(program, &name.id);
    let only = values.filter(|values| values.len() == 1);
    let only = only.and_then(|mut values| values.pop());
    only.or_else(|| default(program, &name.id)).unwrap_or(expr)
}

/// The default of the only parameter with a name.
fn default<'a>(program: &'a Program, name: &str) -> Option<&'a Expr> {
    let variables = program.scopes().named(name);
    let mut bindings = variables.flat_map(|variable| &variable.bindings);
    if !bindings.any(|binding| binding.kind == BindingKind::Parameter) {
        return None;
    }
    let nodes = program.tree().nodes.iter();
    let functions = nodes.filter_map(|node| node.node.as_stmt_function_def());
    let parameters = functions.flat_map(|def| def.parameters.iter_non_variadic_params());
    let mut named = parameters.filter(|parameter| parameter.name().as_str() == name);
    named.next().filter(|_| named.next().is_none())?.default()
}

/// Whether an expression is a list, tuple or dictionary without elements, or one that holds such a
/// one.
fn has_empty_display(expr: &Expr) -> bool {
    match expr {
        Expr::Dict(dict) => {
            dict.items.is_empty() || dict.items.iter().any(|item| has_empty_display(&item.value))
        }
        Expr::Call(call)
            if call
                .func
                .as_name_expr()
                .is_some_and(|name| name.id == "dict") =>
        {
            let mut values = call.arguments.keywords.iter().map(|keyword| &keyword.value);
            call.arguments.is_empty() || values.any(has_empty_display)
        }
        _ => elements(expr).is_some_and(|all| all.is_empty() || all.iter().any(has_empty_display)),
    }
}

/// Whether an expression is 0, or a list or tuple that holds it, in a variable or not.
fn has_zero(program: &Program, expr: &Expr, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else {
        return false;
    };
    let expr = meant(program, expr);
    let mut sizes = elements(expr).unwrap_or_default().iter();
    whole_number(expr).is_some_and(|(number, _)| number == 0)
        || sizes.any(|size| has_zero(program, size, depth))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expression: &str, expected: bool) {
        let program = Program::parse(format!(
            "import torch as t, numpy as np, pandas as pd\nx = {expression}\n"
        ))
        .unwrap();
        assert_eq!(makes_empty_tensors(&program), expected, "{expression}");
    }

    #[test]
    fn data_and_sizes_can_be_empty() {
        check("t.sparse_coo_tensor([[], []], [1.0])", true);
        check("t.sparse_coo_tensor(i, v, size=())", true);
        check("np.array([])", true);
        check("t.tensor([[1], [2]])", false);
        check("t.tensor(0)", false);
        check("t.empty(())", false);
        check("t.zeros(()) + t.full((), 0)", false);
        check("t.sparse_coo_tensor([[0]], 1, size=(0,))", true);
        check("t.zeros(2, 0)", true);
        check("t.eye(0)", true);
        check("t.arange(0)", true);
        check("t.nn.Linear(1, 0)", true);
        check("t.nn.Linear(*(1, 0), bias=False)", true);
        check("(0, 1)\nt.nn.Linear(*x)", true);
        check("(0, 0)\nt.randn(size=x)", true);
        check("0\nt.zeros(2, x)", true);
        check("0\nx = 1\nt.zeros(2, x)", false);
        check("y.as_strided_((0, 1), (1, 1))", true);
        check("y.view(2, 0)", true);
        check("t.arange(0, 3)", false);
        check("t.nn.Conv2d(1, 1, 3, 1, 0)", false);
        check("y.as_strided((2, 1), (0, 1))", false);
        check("t.nn.Dropout(0)", false);
        check("t.randint(0, 9, (5,))", false);
        check("t.cat([])", false);
        check("f([])", false);
        check("pd.DataFrame({'a': []})", true);
        check("pd.DataFrame(dict(a=[]))", true);
        check("pd.DataFrame()", true);
        check("0\ndef f(y, z=[]): pd.MultiIndex.from_tuples(z)", true);
        check(
            "0\ndef f(y, z=[1]): pd.MultiIndex.from_tuples(z, names=y)",
            false,
        );
        check("pd.Series(dtype=d)", true);
        check("pd.Series([1], index=[])", true);
        check("pd.DataFrame({'a': [1]}, columns=c)", false);
        check("pd.DataFrame(index=i)", false);
        check("0\nclass T(t.Tensor): pass\nT()", true);
        check("0\nclass T(t.Tensor): pass\nT(x)", false);
    }
}
