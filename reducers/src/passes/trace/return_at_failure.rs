use crate::{
    analysis::{names::ImportedNames, statement_tree::StatementTree},
    pass::{PassContext, Prior, Proposals, Stage, pass},
    passes::trace::extract::Extraction,
    rewrite::edit::Edit,
    syntax::{
        AnyNodeRef, Ranged,
        ast::{Expr, StmtFunctionDef},
    },
};

/// How many parameters of a function are tried as its result.
const PARAMETERS: usize = 3;

pass! {
    /// Ends a function of the failure right after the statement that failed, with a result.
    ///
    /// The statements after it run only where the bug is absent. A package that calls the function
    /// needs its result there, so dropping them is not enough.
    ///
    /// ```python before
    /// from torch.func import jvp
    /// def f(x, t):
    ///     if t:
    ///         y, z = g(x)  # fails
    ///         y = y + z
    ///     u, v = h(y)
    ///     return u, v
    /// (u, v), t = jvp(f, a, b)  # fails
    /// print(u)
    /// ```
    /// ```python after
    /// from torch.func import jvp
    /// def f(x, t):
    ///     if t:
    ///         g(x)
    ///     return x
    /// jvp(f, a, b)
    /// ```
    pub(crate) static RETURN_AT_FAILURE = Pass { stage: Stage::TraceGuided, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    // Python's own modules need no result of a program that has failed: no control asks for one.
    let has_packages = ImportedNames::of(cx.program.tree()).has_installed();
    let Some(extraction) = Extraction::of(cx).filter(|_| has_packages) else {
        return;
    };
    let frames = extraction.evidence.failure.iter();
    let statements = frames.filter_map(|frame| extraction.tree.on_line(frame.line));
    let statements: Vec<usize> = statements.collect();
    for &statement in statements.iter().rev() {
        propose_after(&extraction, statement, &statements, out);
        out.next_group();
    }
}

/// Proposes the results of the function that a failing statement stands in, the likeliest first.
fn propose_after(
    extraction: &Extraction<'_>,
    failed: usize,
    all_failed: &[usize],
    out: &mut Proposals,
) {
    let tree = &extraction.tree;
    let Some(function) = tree.function_of(failed) else {
        return;
    };
    let AnyNodeRef::StmtFunctionDef(def) = tree.statements[function].node else {
        return;
    };
    let of_top_level = all_failed
        .first()
        .filter(|&&at| tree.function_of(at).is_none());
    let mut rest = rest(tree, failed);
    // The first statement at the function's own level gives way to the result.
    let is_own = |&&at: &&usize| tree.statements[at].parent == Some(function);
    let Some(&replaced) = rest.iter().find(is_own) else {
        return;
    };
    rest.extend(
        of_top_level
            .into_iter()
            .flat_map(|&at| self::rest(tree, at)),
    );
    let ended = [Some(&failed), of_top_level].into_iter().flatten();
    for result in results(tree, failed, def) {
        let unassigned = ended
            .clone()
            .filter_map(|&at| without_targets(tree, at, result));
        let text = format!("return {result}");
        let mut edits = vec![Edit::replace(tree.statements[replaced].range, text)];
        edits.extend(unassigned);
        let is_kept = |at: usize| at == replaced || !rest.contains(&at);
        let text = tree.text_of(is_kept, &edits);
        if let Some(edits) = text.and_then(|text| extraction.simpler(text)) {
            let note = format!("`{}` returns `{result}` after the failure", def.name);
            out.propose(edits, Prior::Even, note);
        }
    }
}

/// The statements that follow one in its function, in its own block and in those around it.
fn rest(tree: &StatementTree<'_>, failed: usize) -> Vec<usize> {
    let function = tree.function_of(failed);
    let blocks = std::iter::once(failed).chain(tree.ancestors(failed));
    let blocks = blocks.take_while(|&at| Some(at) != function);
    let after = blocks.flat_map(|at| {
        let row = tree.statements[at].place.row;
        (at + 1..tree.statements.len()).filter(move |&next| tree.statements[next].place.row == row)
    });
    after.collect()
}

/// What a function may return: what the failing statement assigns, or a parameter.
fn results<'a>(
    tree: &StatementTree<'a>,
    failed: usize,
    def: &'a StmtFunctionDef,
) -> impl Iterator<Item = &'a str> {
    let target = tree.statements[failed]
        .target()
        .and_then(Expr::as_name_expr);
    let parameters = def.parameters.iter_non_variadic_params();
    let parameters = parameters.map(|parameter| parameter.name().as_str());
    let of_data = parameters.filter(|name| !matches!(*name, "self" | "cls" | "ctx"));
    let target = target.map(|name| name.id.as_str());
    target.into_iter().chain(of_data.take(PARAMETERS))
}

/// The edit that leaves of an assignment the value, unless a result needs what it assigns.
fn without_targets(tree: &StatementTree<'_>, at: usize, result: &str) -> Option<Edit> {
    let statement = &tree.statements[at];
    let target = statement.target()?.as_name_expr();
    if target.is_some_and(|target| target.id == result) {
        return None;
    }
    let value = tree.program.slice(statement.value()?.range());
    Some(Edit::replace(statement.range, value))
}

#[cfg(test)]
mod tests {
    use super::RETURN_AT_FAILURE;
    use crate::{
        pass::Proposal, syntax::Program, testing::evidence, trace::evidence::MissingSymbols,
    };

    fn texts(text: &str) -> Vec<String> {
        let text = &format!("import torch\n{text}");
        let program = Program::parse(text.as_str()).unwrap();
        let missing = MissingSymbols::default();
        let proposals = RETURN_AT_FAILURE.proposals_with(&program, Some(&evidence(text)), &missing);
        let text = |proposal: &Proposal| proposal.edits.apply(&program).unwrap();
        let texts = proposals.iter().map(text);
        texts
            .map(|text| text.replace("import torch\n", ""))
            .collect()
    }

    #[test]
    fn what_the_failing_statement_assigns_is_returned_or_a_parameter() {
        assert_eq!(
            texts(
                "def f(self, a, b):\n    y = g(a)  # fails\n    z = y + b\n    return z * 2\nf(m, 1, 2)  # fails\n"
            ),
            [
                "def f(self, a, b):\n    y = g(a)\n    return y\nf(m, 1, 2)\n",
                "def f(self, a, b):\n    g(a)\n    return a\nf(m, 1, 2)\n",
                "def f(self, a, b):\n    g(a)\n    return b\nf(m, 1, 2)\n",
            ]
        );
    }

    #[test]
    fn a_function_that_ends_with_the_failure_stays() {
        assert_eq!(
            texts("def f(a):\n    return g(a)  # fails\nf(1)  # fails\n"),
            [""; 0]
        );
    }

    #[test]
    fn each_function_between_calls_of_libraries_may_end() {
        let text = "def f(a):\n    g(a)  # fails\n    return k(a)\ndef h(b):\n    lib(f, b)  # fails\n    return b.sum()\nlib(h)  # fails\n";
        assert_eq!(
            texts(text),
            [
                "def f(a):\n    g(a)\n    return a\ndef h(b):\n    lib(f, b)\n    return b.sum()\nlib(h)\n",
                "def f(a):\n    g(a)\n    return k(a)\ndef h(b):\n    lib(f, b)\n    return b\nlib(h)\n",
            ]
        );
    }
}
