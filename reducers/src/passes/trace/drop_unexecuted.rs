use crate::{
    analysis::{slice::tidied, statement_tree::StatementTree},
    pass::{PassContext, Prior, Proposals, Stage, pass, whole_text},
};

pass! {
    /// Removes all that a traced run did not execute, at once.
    ///
    /// ```python before
    /// def f(x):
    ///     if x is None:
    ///         return 0  # not executed
    ///     return g(x)  # fails
    ///
    /// def h():
    ///     f(2)  # not executed
    ///
    /// f(1)  # fails
    /// ```
    /// ```python after
    /// def f(x):
    ///     if x is None:
    ///         pass
    ///     return g(x)
    ///
    /// def h():
    ///     pass
    ///
    /// f(1)
    /// ```
    pub(crate) static DROP_UNEXECUTED = Pass { stage: Stage::TraceGuided, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let Some(evidence) = cx.evidence else { return };
    let outline = StatementTree::of(cx.program, evidence);
    let text = outline.text_of(|index| outline.statements[index].is_executed, &[]);
    if let Some(edits) = text.and_then(|text| whole_text(cx.program, &tidied(cx.program, text)?)) {
        out.propose(edits, Prior::Likely, "all that was not executed");
    }
}
