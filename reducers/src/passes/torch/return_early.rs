use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::{Edit, EditSet},
    syntax::{
        AnyNodeRef, Ranged, TextRange,
        ast::{Expr, Stmt},
    },
    torch::environment::is_captured,
};

pass! {
    /// Makes functions of a program that is compiled or exported return an intermediate result.
    ///
    /// A captured function shows the bug as a whole or not at all, so no line of it is known to
    /// fail.
    ///
    /// ```python before
    /// import torch
    /// def f(x):
    ///     y = x.sin()
    ///     z = y + x.cos()
    ///     return z.sum() + y
    /// torch.compile(f)(torch.randn(2))
    /// ```
    /// ```python after
    /// import torch
    /// def f(x):
    ///     y = x.sin()
    ///     return y
    /// torch.compile(f)(torch.randn(2))
    /// ```
    pub(crate) static RETURN_EARLY = Pass { stage: Stage::Structure, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let tree = cx.program.tree();
    if !is_captured(cx.program, tree) {
        return;
    }
    for node in &tree.nodes {
        let AnyNodeRef::StmtFunctionDef(def) = node.node else {
            continue;
        };
        let Some((Stmt::Return(last), body)) = def.body.split_last() else {
            continue;
        };
        for stmt in body.iter().filter(|_| last.value.is_some()) {
            let Some(name) = assigned(stmt) else { continue };
            let Some(start) = cx.program.logical_start(stmt.start()) else {
                continue;
            };
            let indent = cx.program.slice(TextRange::new(start, stmt.start()));
            let text = format!("{}{indent}return {name}", cx.program.newline());
            let edits = EditSet::one(Edit::replace(TextRange::new(stmt.end(), last.end()), text));
            if cx.scales.gains(&edits) {
                out.propose(
                    edits,
                    Prior::Unlikely,
                    format!("`{}` returns `{name}`", def.name),
                );
                out.next_group();
            }
        }
    }
}

/// The name that a statement gives a value.
fn assigned(stmt: &Stmt) -> Option<&str> {
    let target = match stmt {
        Stmt::Assign(it) => match it.targets.as_slice() {
            [target] => target,
            _ => return None,
        },
        Stmt::AugAssign(it) => &it.target,
        Stmt::AnnAssign(it) if it.value.is_some() => &it.target,
        _ => return None,
    };
    match target {
        Expr::Name(name) => Some(name.id.as_str()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::RETURN_EARLY;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn every_intermediate_value_may_be_the_result() {
        check_edits(
            &RETURN_EARLY,
            "import torch\n@torch.compile\ndef f(x):\n    x += 1\n    a, b = x\n    if x: c = 1\n    # note\n    d: int = g(a,\n      b)\n    return d.e\n",
            &[
                "import torch\n@torch.compile\ndef f(x):\n    x += 1\n    return x\n",
                "import torch\n@torch.compile\ndef f(x):\n    x += 1\n    a, b = x\n    if x: c = 1\n    # note\n    d: int = g(a,\n      b)\n    return d\n",
            ],
        );
    }

    #[test]
    fn what_is_exported_too() {
        check_edits(
            &RETURN_EARLY,
            "from torch.export import export\nclass M:\n    def f(self, x):\n        y = x.sin()\n        return y + 1\nexport(M(), (x,))\n",
            &[
                "from torch.export import export\nclass M:\n    def f(self, x):\n        y = x.sin()\n        return y\nexport(M(), (x,))\n",
            ],
        );
    }

    #[test]
    fn what_is_not_compiled_or_returns_nothing_stays() {
        check_none(
            &RETURN_EARLY,
            "import torch\ndef f(x):\n    y = x.sin()\n    return y + 1\nf(1)\n",
        );
        check_none(
            &RETURN_EARLY,
            "import torch\n@torch.compile\ndef f(x):\n    y = x.sin()\n    g(y)\n",
        );
        check_none(
            &RETURN_EARLY,
            "import torch\n@torch.compile\ndef f(x):\n    y = x.sin()\n    return y\n",
        );
    }
}
