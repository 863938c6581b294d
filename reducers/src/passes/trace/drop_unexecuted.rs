use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    passes::trace::extract::Extraction,
};

pass! {
    /// Removes everything that a traced run did not execute, at once.
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
    let Some(extraction) = Extraction::of(cx) else {
        return;
    };
    let tree = &extraction.tree;
    let text = tree.text_of(|index| tree.statements[index].is_executed, &[]);
    if let Some(edits) = text.and_then(|text| extraction.simpler(text)) {
        out.propose(edits, Prior::Likely, "everything that was not executed");
    }
}
