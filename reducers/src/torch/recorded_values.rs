//! Recorded values that hold tensors: whether they do, and the same values with ones for random
//! numbers or without gradients. Looks at the syntax, never at texts within strings. Called by the
//! slicer and by strategies of extraction.

use crate::{
    rewrite::edit::{Edit, EditSet},
    syntax::{AnyNodeRef, Program, Ranged, TextRange, ast::Expr},
};

/// Whether an expression names something of PyTorch.
pub(crate) fn names_torch(value: &str) -> bool {
    value.contains("torch.")
        && Program::parse(value).is_ok_and(|program| {
            program.tree().nodes.iter().any(|node| match node.node {
                AnyNodeRef::ExprAttribute(attribute) => is_torch(&attribute.value),
                _ => false,
            })
        })
}

/// A value with ones in place of the random numbers of its tensors.
pub(crate) fn with_ones(value: &str) -> String {
    rewritten(value, |node| match node {
        AnyNodeRef::ExprCall(call) => match &*call.func {
            Expr::Attribute(function) if is_torch(&function.value) => {
                let is_random = matches!(function.attr.as_str(), "rand" | "randn");
                is_random.then(|| Edit::replace(function.attr.range(), "ones"))
            }
            _ => None,
        },
        _ => None,
    })
}

/// A value whose tensors have no gradients.
pub(crate) fn without_gradient(value: &str) -> String {
    rewritten(value, |node| match node {
        AnyNodeRef::Keyword(keyword) if requires_gradient(&node) => {
            let before = value[..usize::from(keyword.range.start())].trim_end();
            // Where it is the only argument there is no comma to go with it.
            let start = before.strip_suffix(',').unwrap_or(before).len();
            let start = u32::try_from(start).ok()?.into();
            Some(Edit::delete(TextRange::new(start, keyword.range.end())))
        }
        _ => None,
    })
}

/// Whether a node is the argument that asks for a gradient.
fn requires_gradient(node: &AnyNodeRef<'_>) -> bool {
    match node {
        AnyNodeRef::Keyword(keyword) => {
            let is_true = |value: &Expr| value.as_boolean_literal_expr().is_some_and(|it| it.value);
            let name = keyword.arg.as_ref();
            name.is_some_and(|name| name.as_str() == "requires_grad") && is_true(&keyword.value)
        }
        _ => false,
    }
}

fn is_torch(expr: &Expr) -> bool {
    expr.as_name_expr().is_some_and(|name| name.id == "torch")
}

/// A value with an edit for each of some nodes; the same where it does not parse.
fn rewritten(value: &str, edit: impl Fn(AnyNodeRef<'_>) -> Option<Edit>) -> String {
    let Ok(program) = Program::parse(value) else {
        return value.to_owned();
    };
    let mut edits = EditSet::default();
    for node in &program.tree().nodes {
        if let Some(edit) = edit(node.node) {
            edits.edit(edit);
        }
    }
    edits.apply(&program).unwrap_or_else(|_| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_read_like_code_stay() {
        let text = "['torch.randn(2)', torch.randn(2, requires_grad=True), ', requires_grad=True']";
        assert_eq!(
            with_ones(text),
            "['torch.randn(2)', torch.ones(2, requires_grad=True), ', requires_grad=True']"
        );
        assert_eq!(
            without_gradient(text),
            "['torch.randn(2)', torch.randn(2), ', requires_grad=True']"
        );
        assert!(names_torch(text) && !names_torch("'torch.ones(1)'"));
    }
}
