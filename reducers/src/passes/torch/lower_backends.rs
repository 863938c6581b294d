use crate::{
    analysis::dependents::Statements,
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        edit::{Edit, EditSet},
        gain::gains,
        unwrap::keep_part,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TokenKind, Tree,
        ast::{Expr, ExprCall},
        rows::RowKind,
    },
    torch::{
        environment::Compiler,
        names::{Compilation, Form, Torch, compilations, keyword, removed_argument},
    },
};

pass! {
    /// Compiles by less: not at all, by Dynamo alone, by AOT autograd, by Inductor's
    /// decompositions.
    ///
    /// The weakest backend that shows the bug names the component that has it. Settings that only
    /// Inductor knows go along.
    ///
    /// ```python before
    /// import torch
    /// f = torch.compile(g, mode="max-autotune")
    /// ```
    /// ```python after
    /// import torch
    /// f = torch.compile(g, backend="eager")
    /// ```
    pub(crate) static LOWER_BACKENDS = Pass { stage: Stage::Environment, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let tree = cx.program.tree();
    let Some(torch) = Torch::of(cx.program, &tree) else {
        return;
    };
    let found = compilations(&torch, &tree);
    if found.is_empty() {
        return;
    }
    if let Some(edits) = without_compiler(cx.program).filter(|edits| gains(cx.program, edits)) {
        out.propose(edits, Prior::Even, "no compilation");
        out.next_group();
    }
    for (compiler, name) in Compiler::BACKENDS {
        let lowered = found.iter().filter(|it| Compiler::of(it) > compiler);
        let edits = lowered.fold(EditSet::default(), |mut edits, it| {
            edits.extend(&with(cx.program, &tree, it, name).unwrap_or_default());
            edits
        });
        if !edits.is_empty() && gains(cx.program, &edits) {
            out.propose(edits, Prior::Even, format!("backend `{name}`"));
            out.next_group();
        }
    }
}

/// The edits that leave nothing to be compiled.
pub(crate) fn without_compiler(program: &Program) -> Option<EditSet> {
    let tree = program.tree();
    let torch = Torch::of(program, &tree)?;
    compilations(&torch, &tree)
        .iter()
        .try_fold(EditSet::default(), |mut edits, it| {
            edits.extend(&without(program, &tree, it)?);
            Some(edits)
        })
}

/// The decorator that an expression is.
fn decorator(program: &Program, tree: &Tree<'_>, node: u32) -> Option<EditSet> {
    let AnyNodeRef::Decorator(decorator) =
        tree.nodes[tree.nodes[node as usize].parent? as usize].node
    else {
        return None;
    };
    let mut items = program.items();
    items
        .find(|(_, row, range)| {
            row.kind == RowKind::Decorators && range.contains_range(decorator.range)
        })
        .map(|(id, ..)| EditSet::removal(id))
}

/// The edits that leave what is compiled as it is.
fn without(program: &Program, tree: &Tree<'_>, compilation: &Compilation<'_>) -> Option<EditSet> {
    let parent = |node: u32| tree.nodes[node as usize].parent;
    let Some(call) = compilation.call else {
        return decorator(program, tree, compilation.node);
    };
    let at = parent(compilation.node)?;
    if compilation.form == Form::Method {
        let statement = tree.nodes[parent(at)? as usize].node;
        return Statements::of(program)
            .place(statement.range())
            .filter(|_| matches!(statement, AnyNodeRef::StmtExpr(_)))
            .map(EditSet::removal);
    }
    if compilation.form == Form::Compile
        && let Some(model) = call
            .arguments
            .args
            .first()
            .or(keyword(call, "model").map(|it| &it.value))
    {
        return keep_part(program, call.range, model);
    }
    // `torch.compile(backend=b)(f)`, or a decorator with settings.
    match tree.nodes[parent(at)? as usize].node {
        AnyNodeRef::ExprCall(outer) if outer.func.range() == call.range => {
            keep_part(program, outer.range, outer.arguments.args.first()?)
        }
        _ => decorator(program, tree, at),
    }
}

/// The edits that name a backend.
fn with(
    program: &Program,
    tree: &Tree<'_>,
    compilation: &Compilation<'_>,
    backend: &str,
) -> Option<EditSet> {
    let argument = format!("backend=\"{backend}\"");
    let Some(call) = compilation.call.or(compilation.around) else {
        decorator(program, tree, compilation.node)?;
        let end = TextRange::empty(compilation.mention.end());
        return Some(EditSet::one(Edit::replace(end, format!("({argument})"))));
    };
    let mut edits = EditSet::default();
    let mut place = compilation.backend().map(|(value, _)| value.range());
    let is_named = place.is_some();
    for name in ["mode", "options"] {
        let Some(setting) = keyword(call, name) else {
            continue;
        };
        if place.is_none() {
            place = Some(setting.range);
        } else {
            edits.extend(&removed_argument(program, setting.range)?);
        }
    }
    match place {
        Some(place) if is_named => edits.edit(Edit::replace(place, format!("\"{backend}\""))),
        Some(place) => edits.edit(Edit::replace(place, argument)),
        None => edits.extend(&appended(program, call, &argument)?),
    }
    Some(edits)
}

/// A call with one more argument.
fn appended(program: &Program, call: &ExprCall, argument: &str) -> Option<EditSet> {
    let is_bare_generator =
        |it: &Expr| matches!(it, Expr::Generator(generator) if !generator.parenthesized);
    if call.arguments.args.iter().any(is_bare_generator) {
        return None;
    }
    let close = program
        .previous_token(call.range.end())
        .filter(|it| it.kind() == TokenKind::Rpar)?;
    let last = program.previous_token(close.start())?;
    let lead = match last.kind() {
        TokenKind::Lpar if call.arguments.is_empty() => "",
        TokenKind::Comma => " ",
        _ => ", ",
    };
    Some(EditSet::one(Edit::replace(
        TextRange::empty(last.end()),
        format!("{lead}{argument}"),
    )))
}

#[cfg(test)]
mod tests {
    use super::LOWER_BACKENDS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn each_rung_is_an_attempt() {
        check_edits(
            &LOWER_BACKENDS,
            "import torch\nf = torch.compile(g, fullgraph=True, )\n",
            &[
                "import torch\nf = g\n",
                "import torch\nf = torch.compile(g, fullgraph=True, backend=\"eager\" )\n",
                "import torch\nf = torch.compile(g, fullgraph=True, backend=\"aot_eager\" )\n",
                "import torch\nf = torch.compile(g, fullgraph=True, backend=\"aot_eager_decomp_partition\" )\n",
            ],
        );
        check_edits(
            &LOWER_BACKENDS,
            "import torch\n@torch.compile(backend='aot_eager')\ndef f(): pass\n",
            &[
                "import torch\ndef f(): pass\n",
                "import torch\n@torch.compile(backend=\"eager\")\ndef f(): pass\n",
            ],
        );
    }

    #[test]
    fn all_places_together() {
        let program = "from torch import compile as c, nn\n@c\ndef f(): pass\n@c(mode='a', options={})\ndef g(): pass\nm.compile()\nh = c(backend=b)(k)\n";
        check_edits(
            &LOWER_BACKENDS,
            program,
            &[
                "from torch import compile as c, nn\ndef f(): pass\ndef g(): pass\nh = k\n",
                "from torch import compile as c, nn\n@c(backend=\"eager\")\ndef f(): pass\n@c(backend=\"eager\")\ndef g(): pass\nm.compile(backend=\"eager\")\nh = c(backend=\"eager\")(k)\n",
                "from torch import compile as c, nn\n@c(backend=\"aot_eager\")\ndef f(): pass\n@c(backend=\"aot_eager\")\ndef g(): pass\nm.compile(backend=\"aot_eager\")\nh = c(backend=\"aot_eager\")(k)\n",
                "from torch import compile as c, nn\n@c(backend=\"aot_eager_decomp_partition\")\ndef f(): pass\n@c(backend=\"aot_eager_decomp_partition\")\ndef g(): pass\nm.compile(backend=\"aot_eager_decomp_partition\")\nh = c(backend=\"aot_eager_decomp_partition\")(k)\n",
            ],
        );
    }

    #[test]
    fn older_and_partial_forms() {
        check_edits(
            &LOWER_BACKENDS,
            "import torch._dynamo as d\nd.optimize('aot_eager')(f)(x)\n",
            &[
                "import torch._dynamo as d\nf(x)\n",
                "import torch._dynamo as d\nd.optimize(\"eager\")(f)(x)\n",
            ],
        );
        check_edits(
            &LOWER_BACKENDS,
            "import torch\n@partial(torch.compile, backend='aot_eager')\ndef f(): pass\n",
            &["import torch\n@partial(torch.compile, backend=\"eager\")\ndef f(): pass\n"],
        );
    }

    #[test]
    fn other_compilers_are_not_meant() {
        check_none(
            &LOWER_BACKENDS,
            "import re, torch\nre.compile('a')\ncompile('a', 'b', 'c')\n",
        );
        check_none(&LOWER_BACKENDS, "f = torch.compile(g)\n");
        check_none(&LOWER_BACKENDS, "import torch\nf = torch.compile\n");
    }
}
