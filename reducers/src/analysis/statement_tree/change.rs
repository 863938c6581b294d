//! How statements change what names stand for.

use crate::syntax::{
    AnyNodeRef, Program, Ranged, TextRange,
    ast::{Expr, ExprCall, ExprSubscript, name::Name},
    scope::BindingKind,
};

/// How a statement may change what a name or an attribute within it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    /// In place: a method is called on it for nothing else, an element of it is assigned, or a result
    /// is put into it.
    InPlace,
    /// In some other way: a part of it is changed, a function is given it first, or what decorates
    /// a function is a part of it.
    Indirect,
}

impl Change {
    /// How a statement changes what a path in it stands for, if it does.
    pub(crate) fn of(
        program: &Program,
        statement: AnyNodeRef<'_>,
        path: TextRange,
    ) -> Option<Self> {
        let begins =
            |expr: &Expr| expr.range().start() == path.start() && expr.range().end() > path.end();
        let of_target = |target: &Expr| match target {
            Expr::Subscript(element) if container(element).range() == path => Some(Self::InPlace),
            _ => begins(target).then_some(Self::Indirect),
        };
        match statement {
            AnyNodeRef::StmtExpr(stmt) => {
                let call = stmt.value.as_call_expr()?;
                if let Expr::Attribute(method) = &*call.func
                    && method.value.range() == path
                    // Checks leave things as they are.
                    && !method.attr.starts_with("assert")
                {
                    return Some(Self::InPlace);
                }
                // Where NumPy and PyTorch are to put a result.
                let filled = call.arguments.find_keyword("out");
                if filled.is_some_and(|keyword| keyword.value.range() == path) {
                    return Some(Self::InPlace);
                }
                let mut args = call.arguments.args.iter();
                let is_given = args.next().is_some_and(|first| first.range() == path);
                (begins(&call.func) || (is_given && is_function(program, &call.func)))
                    .then_some(Self::Indirect)
            }
            AnyNodeRef::StmtAssign(stmt) => stmt.targets.iter().filter_map(of_target).min(),
            AnyNodeRef::StmtAugAssign(stmt) => of_target(&stmt.target),
            AnyNodeRef::StmtDelete(stmt) => stmt.targets.iter().filter_map(of_target).min(),
            // A function that is registered with what the name stands for.
            AnyNodeRef::StmtFunctionDef(def) => {
                let mut decorators = def.decorator_list.iter();
                decorators
                    .any(|decorator| begins(&decorator.expression))
                    .then_some(Self::Indirect)
            }
            _ => None,
        }
    }
}

/// What an element is an element of, however deep.
fn container(element: &ExprSubscript) -> &Expr {
    match &*element.value {
        Expr::Subscript(outer) => container(outer),
        value => value,
    }
}

/// Whether what is called is a function by a name of its own, or one of a module; printing changes
/// nothing.
fn is_function(program: &Program, called: &Expr) -> bool {
    match called {
        Expr::Name(it) => it.id != "print",
        Expr::Attribute(it) => it.value.as_name_expr().is_some_and(|module| {
            program.scopes().variables.iter().any(|variable| {
                variable.name == module.id
                    && variable
                        .bindings
                        .iter()
                        .all(|binding| binding.kind == BindingKind::Import)
            })
        }),
        _ => false,
    }
}

/// The functions of Python and PyTorch's methods that store an attribute whose name they are given
/// as a text.
const STORES: [&str; 6] = [
    "setattr",
    "__setattr__",
    "register_buffer",
    "register_parameter",
    "register_module",
    "add_module",
];

/// The attribute that a call stores by its name, if that is what it does.
pub(super) fn stored_by_name(call: &ExprCall) -> Option<Name> {
    let called = match &*call.func {
        Expr::Name(it) => &it.id,
        Expr::Attribute(it) => &it.attr.id,
        _ => return None,
    };
    let named =
        |argument: &Expr| Some(Name::new(argument.as_string_literal_expr()?.value.to_str()));
    STORES
        .contains(&called.as_str())
        .then(|| call.arguments.args.iter().take(2).find_map(named))?
}
