use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::{Edit, EditSet},
    syntax::{
        Program, Ranged, TextRange, TextSize, Token, TokenKind,
        lines::{WIDTH, width},
        positions::{closes, opens},
    },
};

pass! {
    /// Joins the lines within brackets if they fit on one line.
    ///
    /// ```python before
    /// f(
    ///     a,
    ///     [b,
    ///      c]
    /// )
    /// ```
    /// ```python after
    /// f(a, [b, c])
    /// ```
    pub(crate) static JOIN_LINES = Pass { stage: Stage::Tidy, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let program = cx.program;
    let tokens: Vec<&Token> = program
        .tokens()
        .iter()
        .filter(|token| !token.kind().is_trivia())
        .collect();
    let mut at = 0;
    while at < tokens.len() {
        if opens(tokens[at].kind())
            && let Some(length) = closing(&tokens[at..])
            && let Some(edits) = joined(program, &tokens[at..=at + length])
        {
            out.propose(
                edits,
                Prior::Certain,
                format!(
                    "lines within `{}` joined",
                    program.excerpt(tokens[at].range())
                ),
            );
            at += length;
        }
        at += 1;
    }
}

/// The index of the token that closes the first bracket.
fn closing(tokens: &[&Token]) -> Option<usize> {
    let mut depth = 0_usize;
    tokens.iter().position(|token| {
        depth += usize::from(opens(token.kind()));
        depth -= usize::from(closes(token.kind()));
        depth == 0
    })
}

/// The edits that put tokens on one line; none if they have no line break, hold a comment or a
/// literal of several lines, or do not fit.
fn joined(program: &Program, tokens: &[&Token]) -> Option<EditSet> {
    let mut edits = EditSet::default();
    let mut saved = 0;
    for pair in tokens.windows(2) {
        let gap = TextRange::new(pair[0].end(), pair[1].start());
        let text = program.slice(gap);
        if !text.trim().is_empty() || program.slice(pair[0].range()).contains('\n') {
            return None;
        }
        if text.contains('\n') {
            // Another pass removes a trailing comma.
            let space = if is_tight(pair[0].kind(), pair[1].kind()) {
                ""
            } else {
                " "
            };
            saved += text.len() - space.len();
            edits.edit(Edit::replace(gap, space));
        }
    }
    let (first, last) = (tokens.first()?, tokens.last()?);
    let text = program.text();
    let start = text[..usize::from(first.start())]
        .rfind('\n')
        .map_or(0, |at| at + 1);
    let end = usize::from(last.end());
    let end = end + text[end..].find(['\r', '\n']).unwrap_or(text.len() - end);
    let range = TextRange::new(TextSize::new(start as u32), TextSize::new(end as u32));
    let width = width(program.slice(range)) - saved;
    (saved > 0 && width <= WIDTH).then_some(edits)
}

/// Whether no space stands between two tokens: at the edges of brackets, in `a.b`, `a[b]`, `a(b)`.
fn is_tight(before: TokenKind, after: TokenKind) -> bool {
    let is_operand = before == TokenKind::Name || closes(before);
    opens(before)
        || closes(after)
        || before == TokenKind::Dot
        // `3.real` is no attribute.
        || after == TokenKind::Dot && before != TokenKind::Int
        || is_operand && matches!(after, TokenKind::Lpar | TokenKind::Lsqb)
}

#[cfg(test)]
mod tests {
    use super::JOIN_LINES;
    use crate::testing::{check_all, check_none};

    #[test]
    fn what_fits_is_joined() {
        check_all(
            &JOIN_LINES,
            "if (a and\n        b):\n    x = {\n        1: f(\n            2),\n    }[1]\n",
            "if (a and b):\n    x = {1: f(2),}[1]\n",
        );
    }

    #[test]
    fn chains_are_joined_without_spaces() {
        check_all(
            &JOIN_LINES,
            "x = (\n    a\n    .b(c)\n    ['d']\n    (e)\n    in\n    [f]\n)\n",
            "x = (a.b(c)['d'](e) in [f])\n",
        );
    }

    #[test]
    fn what_is_too_long_is_joined_in_parts() {
        let long = "a".repeat(86);
        check_all(
            &JOIN_LINES,
            &format!("f(\n    {long},\n    g(\n        1\n    )\n)\n"),
            &format!("f(\n    {long},\n    g(1)\n)\n"),
        );
    }

    #[test]
    fn comments_and_long_literals_stay() {
        check_none(&JOIN_LINES, "f(\n    a  # b\n)\nf(\n    '''\n''')\nf(a)\n");
    }
}
