use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::{Edit, EditSet},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize, TokenKind,
        ast::{ExceptHandler, Parameters},
    },
};

pass! {
    /// Removes stars from arguments, elements, targets, parameters and `except*`, and the markers
    /// `*` and `/`.
    ///
    /// ```python before
    /// f(*args)
    /// ```
    /// ```python after
    /// f(args)
    /// ```
    pub(crate) static DROP_STARS = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let program = cx.program;
    for node in program.tree().nodes.iter().rev() {
        let start = node.node.start();
        let sets = match node.node {
            AnyNodeRef::ExprStarred(_) => {
                vec![EditSet::one(Edit::delete(TextRange::at(
                    start,
                    TextSize::of("*"),
                )))]
            }
            AnyNodeRef::Keyword(keyword) if keyword.arg.is_none() => {
                vec![EditSet::one(Edit::delete(TextRange::at(
                    start,
                    TextSize::of("**"),
                )))]
            }
            AnyNodeRef::Parameters(parameters) => of_parameters(program, parameters),
            AnyNodeRef::StmtTry(stmt) if stmt.is_star => of_handlers(program, &stmt.handlers),
            _ => continue,
        };
        // Where the grammar requires the star, the edit does not parse, so it gains nothing.
        for edits in sets.into_iter().filter(|edits| cx.scales.gains(edits)) {
            out.propose(
                edits,
                Prior::Unlikely,
                format!("star of `{}`", program.excerpt(node.node.range())),
            );
        }
        out.next_group();
    }
}

/// The stars of parameters, then the markers.
fn of_parameters(program: &Program, parameters: &Parameters) -> Vec<EditSet> {
    let mut found = Vec::new();
    for parameter in parameters.vararg.iter().chain(&parameters.kwarg) {
        if let Some(star) = program.previous_token(parameter.name.start()) {
            found.push(EditSet::one(Edit::delete(star.range())));
        }
    }
    let tokens = |from: TextSize| program.tokens()[program.token_from(from)..].iter();
    let slash = parameters
        .posonlyargs
        .last()
        .and_then(|last| tokens(last.end()).find(|token| token.kind() == TokenKind::Slash));
    if let Some(slash) = slash
        && let Some(comma) = program.previous_token(slash.start())
    {
        found.push(EditSet::one(Edit::delete(
            comma.range().cover(slash.range()),
        )));
    }
    if let (Some(first), None) = (parameters.kwonlyargs.first(), &parameters.vararg)
        && let Some(comma) = program.previous_token(first.start())
        && let Some(star) = program.previous_token(comma.start())
    {
        found.push(EditSet::one(Edit::delete(TextRange::new(
            star.start(),
            first.start(),
        ))));
    }
    found
}

/// All handlers of one statement have a star, or none has.
fn of_handlers(program: &Program, handlers: &[ExceptHandler]) -> Vec<EditSet> {
    let mut edits = EditSet::default();
    for handler in handlers {
        let word = TextRange::at(handler.start(), TextSize::of("except"));
        if let Some(star) = program.next_token(word.end()) {
            edits.edit(Edit::delete(star.range()));
        }
    }
    vec![edits]
}

#[cfg(test)]
mod tests {
    use super::DROP_STARS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn stars_of_all_kinds() {
        check_edits(&DROP_STARS, "f(*a, **b)\n", &["f(*a, b)\n", "f(a, **b)\n"]);
        check_edits(&DROP_STARS, "[*a, b] = c\n", &["[a, b] = c\n"]);
        check_edits(
            &DROP_STARS,
            "try: a\nexcept* B: c\nexcept *D: e\n",
            &["try: a\nexcept B: c\nexcept D: e\n"],
        );
    }

    #[test]
    fn parameters_and_markers() {
        check_edits(
            &DROP_STARS,
            "def f(a, /, *, b, **c): pass\n",
            &[
                "def f(a, /, *, b, c): pass\n",
                "def f(a, *, b, **c): pass\n",
                "def f(a, /, b, **c): pass\n",
            ],
        );
        check_edits(&DROP_STARS, "lambda *a: a\n", &["lambda a: a\n"]);
    }

    #[test]
    fn what_needs_its_star_keeps_it() {
        check_none(
            &DROP_STARS,
            "f(a=1, **b)\ndef f(a=1, *b): pass\nx = a * b ** c\n",
        );
    }
}
