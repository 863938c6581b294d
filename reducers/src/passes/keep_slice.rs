use crate::{
    outline::Outline,
    pass::{Cx, Prior, Proposals, Stage, pass, whole_text},
    slice::{Depth, Slicer, Values, tidied},
};

pass! {
    /// Keeps only what the failure can hang on, as a traced run showed it.
    ///
    /// That is the lines of its traceback, what these read, and what made that.
    ///
    /// ```python before
    /// a = load()
    /// b = a.size
    /// print(b)
    /// def f(x):
    ///     log(x)
    ///     return g(x)  # fails
    /// f(a)  # fails
    /// ```
    /// ```python after
    /// a = load()
    /// def f(x):
    ///     return g(x)
    /// f(a)
    /// ```
    pub(crate) static KEEP_SLICE = Pass { stage: Stage::Leap, propose };
}

fn propose(cx: &Cx<'_>, out: &mut Proposals) {
    let Some(evidence) = cx.evidence.filter(|it| !it.failure.is_empty()) else { return };
    let outline = Outline::of(cx.program, evidence);
    for depth in [Depth::Thin, Depth::Middle, Depth::Full] {
        for values in [Values::Made, Values::Steady, Values::Last] {
            let mut slicer = Slicer::new(&outline, evidence, cx.gaps, depth).with_values(values);
            for statement in evidence.frames().filter_map(|frame| outline.on_line(frame.line)) {
                slicer.keep(statement);
            }
            let text = slicer.text().and_then(|text| tidied(cx.program, text));
            if let Some(edits) = text.and_then(|text| whole_text(cx.program, &text)) {
                out.propose(edits, Prior::Even, "all that the failure does not hang on");
            }
            out.next_group();
        }
    }
}
