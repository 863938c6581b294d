use crate::{
    analysis::slice::{Depth, Lifting, Slicer, Values},
    pass::{PassContext, Prior, Proposals, Stage, pass},
    passes::trace::extract::Extraction,
};

pass! {
    /// Extracts a failing statement from its function into the script, with the values that a
    /// traced run recorded there.
    ///
    /// ```python before
    /// class A:
    ///     def f(self, x):
    ///         log(x)
    ///         return g(self, x + 1)  # fails with self: A(); x: 2
    ///
    /// for item in load():
    ///     item.f(2)  # fails
    /// ```
    /// ```python after
    /// class A:
    ///     pass
    ///
    /// self = A()
    /// x = 2
    /// g(self, x + 1)
    /// ```
    pub(crate) static EXTRACT_FAILURE = Pass { stage: Stage::TraceGuided, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let Some(extraction) = Extraction::of(cx) else {
        return;
    };
    let all_values = Values::to_try(cx.program, extraction.evidence);
    for module in &Extraction::library(cx) {
        propose_frames(&Extraction::of_module(cx, module), all_values, out);
        out.next_group();
    }
    propose_frames(&extraction, all_values, out);
}

/// Proposes the statement of each frame of a program or module alone, the innermost first.
fn propose_frames(extraction: &Extraction<'_>, all_values: [Values; 2], out: &mut Proposals) {
    let frames = &extraction.evidence.failure;
    for (at, frame) in frames.iter().enumerate().rev() {
        let whole = extraction.region(frame).filter(|_| !frame.compiled);
        let whole =
            whole.filter(|region| !extraction.is_of_library() || !extraction.reports(*region));
        let part = whole.and_then(|region| extraction.expression(region));
        for depth in [Depth::Thin, Depth::Middle, Depth::Full] {
            // The part that failed first: it needs less than the statement.
            for region in [part, whole].into_iter().flatten() {
                for values in all_values {
                    let slicer = Slicer::new(
                        &extraction.tree,
                        extraction.evidence,
                        extraction.missing,
                        depth,
                    );
                    let lifting = Lifting::new(slicer.with_values(values));
                    let text = lifting.text(at, region.statement, region.range);
                    if let Some(edits) = text.and_then(|text| extraction.simpler(text)) {
                        let name = &frame.function;
                        let note = format!("the failure in `{name}`, with the values there");
                        out.propose(edits, Prior::Even, note);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::EXTRACT_FAILURE;
    use crate::{syntax::Program, testing::evidence, trace::evidence::MissingSymbols};

    #[test]
    fn attributes_and_elements_have_their_values() {
        let text = "\
class Span:
    def __init__(self, start, row):
        self.start = parse(start)
        self.row = row
    def before(self, other):
        return max(self.start, other.row['end'])  # fails with self: Span('x', {}); self.start: 1; other.row['end']: 'z'
Span('x', {}).before(Span('y', {'end': 'z'}))  # fails
";
        let program = Program::parse(text).unwrap();
        let proposals = EXTRACT_FAILURE.proposals_with(
            &program,
            Some(&evidence(text)),
            &MissingSymbols::default(),
        );
        let texts: Vec<String> = proposals
            .iter()
            .map(|it| it.edits.apply(&program).unwrap())
            .collect();
        assert!(
            texts.contains(&"max(1, 'z')\n".to_owned()),
            "{}",
            texts.join("or\n")
        );
    }

    #[test]
    fn a_text_that_names_super_is_no_call_of_it() {
        let text = "\
class Base:
    def check(self, text):
        raise ValueError(text)  # fails
class Part(Base):
    def run(self):
        print('begins')
        return super().check('call super() first') + 1  # fails with self: Part()
Part().run()  # fails
";
        let program = Program::parse(text).unwrap();
        let mut evidence = evidence(text);
        let place = (Some(7), Some(15), Some(7), Some(50));
        let frames = evidence.failure.iter_mut();
        for frame in frames.filter(|frame| frame.line.in_program() == Some(7)) {
            frame.place = place;
        }
        let missing = MissingSymbols::default();
        let proposals = EXTRACT_FAILURE.proposals_with(&program, Some(&evidence), &missing);
        let texts: Vec<String> = proposals
            .iter()
            .map(|it| it.edits.apply(&program).unwrap())
            .collect();
        let end = "super(Part, self).check('call super() first')\n";
        assert!(
            texts.iter().any(|text| text.ends_with(end)),
            "{}",
            texts.join("or\n")
        );
    }
}
