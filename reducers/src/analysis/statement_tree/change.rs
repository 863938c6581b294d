//! How statements change what names stand for.

use crate::syntax::{
    AnyNodeRef, Program, Ranged, TextRange,
    ast::{Expr, ExprAttribute, ExprCall, ExprSubscript, name::Name},
    scope::BindingKind,
};

/// How a statement may change the value of a name or an attribute within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    /// In place: a method is called on it or on an element of it, for nothing else or with the name of
    /// a change, an element of it is assigned, an attribute or an element of it is deleted, or a result
    /// is put into it.
    InPlace,
    /// In another way: a part of it is changed, a function gets it as the first argument, or the
    /// decorator of a function is a part of it.
    Indirect,
}

impl Change {
    /// How a statement changes the value of a path in it, if it does.
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
        let of_deleted = |target: &Expr| match target {
            Expr::Attribute(attribute) if attribute.value.range() == path => Some(Self::InPlace),
            _ => of_target(target),
        };
        match statement {
            AnyNodeRef::StmtExpr(stmt) => {
                let call = stmt.value.as_call_expr()?;
                if let Expr::Attribute(method) = &*call.func
                    && overwritten(method).range() == path
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
            AnyNodeRef::StmtAssign(stmt) => {
                let method = stmt.value.as_call_expr();
                let method = method.and_then(|call| call.func.as_attribute_expr());
                if method.is_some_and(|method| {
                    overwritten(method).range() == path && is_changing(method.attr.as_str())
                }) {
                    return Some(Self::InPlace);
                }
                stmt.targets.iter().filter_map(of_target).min()
            }
            AnyNodeRef::StmtAugAssign(stmt) => of_target(&stmt.target),
            AnyNodeRef::StmtDelete(stmt) => stmt.targets.iter().filter_map(of_deleted).min(),
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

/// The verbs with which the names of methods begin that change their object and give something
/// back as well.
const CHANGES: [&str; 6] = ["load", "pop", "push", "put", "register", "update"];

/// Whether a method changes its object, to go by its name: `load_state_dict`, PyTorch's `add_`.
pub(crate) fn is_changing(method: &str) -> bool {
    let verb = method.split('_').next().unwrap_or(method);
    is_in_place(method) || CHANGES.contains(&verb)
}

/// Whether a method has a name of PyTorch's for those that overwrite their tensor.
pub(crate) fn is_in_place(method: &str) -> bool {
    method.ends_with('_') && !method.ends_with("__")
}

/// What a method is called on or, of an element, the container.
fn overwritten(method: &ExprAttribute) -> &Expr {
    match &*method.value {
        Expr::Subscript(element) => container(element),
        value => value,
    }
}

/// The outermost container of an element, however deep it is.
fn container(element: &ExprSubscript) -> &Expr {
    match &*element.value {
        Expr::Subscript(outer) => container(outer),
        value => value,
    }
}

/// Whether the callee is a function with a name of its own, or a function of a module. Printing
/// changes nothing.
fn is_function(program: &Program, called: &Expr) -> bool {
    match called {
        Expr::Name(it) => it.id != "print",
        Expr::Attribute(it) => it.value.as_name_expr().is_some_and(|module| {
            program.scopes().named(&module.id).any(|variable| {
                let mut bindings = variable.bindings.iter();
                bindings.all(|binding| binding.kind == BindingKind::Import)
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

/// The attribute that a call stores by its name, if it does so.
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
