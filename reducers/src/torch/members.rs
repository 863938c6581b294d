//! What a module holds: modules in a container that registers them, and tensors that it changes only
//! as copies. A module in a plain list is none of its parts, and a constant that it changes is none.
//! Goes by names. Called by the judge, which compares a candidate with the script.

use std::collections::BTreeSet;

use crate::{
    analysis::{assignments::assigned_values, names::ImportedNames, statement_tree::is_in_place},
    syntax::{AnyNodeRef, Program, ast::Expr},
};

/// Containers that register what they hold.
const CONTAINERS: [&str; 5] = [
    "ModuleDict",
    "ModuleList",
    "ParameterDict",
    "ParameterList",
    "Sequential",
];

/// The names of what is such a container, and never a constant.
pub fn registering(program: &Program) -> BTreeSet<String> {
    let imported = ImportedNames::of(program.tree());
    let is_container = |value: &Expr| {
        let path = value
            .as_call_expr()
            .and_then(|call| imported.path(&call.func));
        let name = path.as_ref().and_then(|path| path.rsplit('.').next());
        name.is_some_and(|name| CONTAINERS.contains(&name))
    };
    let plain = |value: &Expr| value.is_literal_expr();
    &names(program, is_container) - &names(program, plain)
}

/// Whether what has one of these names is a constant, or a plain row or dictionary.
pub fn is_plain(registering: &BTreeSet<String>, program: &Program) -> bool {
    let is_plain = |value: &Expr| {
        value.is_literal_expr()
            || matches!(
                value,
                Expr::List(_)
                    | Expr::Tuple(_)
                    | Expr::Dict(_)
                    | Expr::ListComp(_)
                    | Expr::DictComp(_)
            )
    };
    !registering.is_empty() && !registering.is_disjoint(&names(program, is_plain))
}

/// The names to which something of a kind is assigned: an attribute of an object may become one of
/// its class, or a variable.
fn names(program: &Program, is_of_kind: impl Fn(&Expr) -> bool) -> BTreeSet<String> {
    let assigns = program.tree().nodes.iter();
    let assigns = assigns.filter_map(|node| node.node.as_stmt_assign().copied());
    let assigns = assigns.filter(|assign| is_of_kind(&assign.value));
    let targets = assigns.flat_map(|assign| &assign.targets);
    targets
        .filter_map(|target| match target {
            Expr::Attribute(attribute) => Some(attribute.attr.to_string()),
            Expr::Name(name) => Some(name.id.to_string()),
            _ => None,
        })
        .collect()
}

/// Whether a method changes what an attribute of its object holds, by an index or in place.
pub fn changes_attribute(program: &Program) -> bool {
    let is_own = |value: &Expr| {
        let object = value
            .as_attribute_expr()
            .and_then(|of| of.value.as_name_expr());
        object.is_some_and(|object| object.id.as_str() == "self")
    };
    let is_held = |value: &Expr| match value {
        Expr::Name(name) => {
            let values = assigned_values(program, &name.id).unwrap_or_default();
            values.into_iter().any(is_own)
        }
        value => is_own(value),
    };
    let mut nodes = program.tree().nodes.iter();
    nodes.any(|node| match node.node {
        AnyNodeRef::ExprSubscript(part) => part.ctx.is_store() && is_held(&part.value),
        AnyNodeRef::ExprCall(call) => {
            let method = call.func.as_attribute_expr();
            method.is_some_and(|method| is_in_place(&method.attr) && is_held(&method.value))
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Program {
        Program::parse(text).unwrap()
    }

    #[test]
    fn containers_go_on_registering() {
        let script = "from torch import nn\nself.a = nn.ModuleList([f()])\nself.b = []\n";
        let known = registering(&parse(script));
        assert!(!is_plain(&known, &parse(script)));
        let plain = script.replace("nn.ModuleList([f()])", "[f()]");
        assert!(is_plain(&known, &parse(&plain)));
        assert!(!is_plain(&known, &parse("self.a = f()\n")));
        assert!(is_plain(&known, &parse("class A:\n    a = 0\n")));
        let other = registering(&parse(&format!("{script}self.a = None\n")));
        assert!(other.is_empty());
    }

    #[test]
    fn attributes_are_changed_by_any_name() {
        let changes = |text: &str| changes_attribute(&parse(text));
        assert!(changes("x = self.p\nx[0] = 1\n"));
        assert!(changes("self.p.add_(1)\n"));
        assert!(!changes("x = self.p.clone()\nx[0] = 1\n"));
        assert!(!changes("x = self.p\ny = x[0]\n"));
    }
}
