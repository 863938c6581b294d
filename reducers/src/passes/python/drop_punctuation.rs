use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::{Edit, EditSet},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize, Token, TokenKind,
        positions::{closes, opens},
    },
};

pass! {
    /// Removes parentheses, commas and semicolons that change nothing.
    ///
    /// Parentheses that a line break needs stay, and so do those of tuples.
    ///
    /// ```python before
    /// class A():
    ///     x = (f(a,));
    /// ```
    /// ```python after
    /// class A:
    ///     x = f(a)
    /// ```
    pub(crate) static DROP_PUNCTUATION = Pass { stage: Stage::Tidy, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    for edits in candidates(cx.program) {
        if cx.scales.means_the_same(&edits) {
            out.propose(edits, Prior::Certain, "needless punctuation");
        }
    }
}

fn candidates(program: &Program) -> Vec<EditSet> {
    let tuples = tuple_starts(program);
    let tokens: Vec<_> = program
        .tokens()
        .iter()
        .filter(|token| !token.kind().is_trivia())
        .collect();
    let mut open: Vec<usize> = Vec::new();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1).map(|next| next.kind());
        let between = |next: TextSize| program.slice(TextRange::new(token.end(), next));
        match token.kind() {
            TokenKind::Lpar | TokenKind::Lsqb | TokenKind::Lbrace => open.push(at),
            TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace => {
                let Some(from) = open.pop() else { continue };
                let range = tokens[from].range().cover(token.range());
                let is_one_line = !breaks(program, &tokens[from..=at]);
                let is_empty = from + 1 == at;
                let before = from.checked_sub(1).map(|before| tokens[before].kind());
                let is_class = from > 1 && tokens[from - 2].kind() == TokenKind::Class;
                let is_needed = if is_empty {
                    !is_class
                } else {
                    before.is_some_and(ends_primary)
                };
                let is_round = token.kind() == TokenKind::Rpar && !tuples.contains(&range.start());
                if is_round && is_one_line && !is_needed {
                    found.push(without(program, tokens[from].range(), token.range()));
                }
            }
            TokenKind::Comma | TokenKind::Semi => {
                let closes = matches!(
                    next,
                    Some(
                        TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace | TokenKind::Newline
                    )
                );
                if closes
                    && tokens
                        .get(at + 1)
                        .is_some_and(|next| !between(next.start()).contains(['\n', '#']))
                {
                    found.push(EditSet::one(Edit::delete(token.range())));
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether a line ends within two brackets, the first and the last token, and not within others
/// inside them.
fn breaks(program: &Program, tokens: &[&Token]) -> bool {
    let mut depth = 0_usize;
    tokens.windows(2).any(|pair| {
        depth += usize::from(opens(pair[0].kind()));
        depth -= usize::from(closes(pair[0].kind()));
        depth == 1
            && program
                .slice(TextRange::new(pair[0].end(), pair[1].start()))
                .contains('\n')
    })
}

/// Where tuples and generators start that have parentheses of their own.
fn tuple_starts(program: &Program) -> Vec<TextSize> {
    let nodes = &program.tree().nodes;
    let starts = nodes.iter().filter_map(|node| match node.node {
        AnyNodeRef::ExprTuple(it) if it.parenthesized => Some(it.start()),
        AnyNodeRef::ExprGenerator(it) if it.parenthesized => Some(it.start()),
        _ => None,
    });
    starts.collect()
}

/// Whether parentheses after a token call or define something.
fn ends_primary(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Name
            | TokenKind::Rpar
            | TokenKind::Rsqb
            | TokenKind::Rbrace
            | TokenKind::String
            | TokenKind::FStringEnd
            | TokenKind::TStringEnd
    )
}

/// The text without two parentheses, a space where a word stands outside.
fn without(program: &Program, open: TextRange, close: TextRange) -> EditSet {
    let is_word = |char: char| char.is_alphanumeric() || matches!(char, '_' | '"' | '\'');
    let is_empty = open.end() == close.start();
    let space = |outside: Option<char>| {
        if !is_empty && outside.is_some_and(is_word) {
            " "
        } else {
            ""
        }
    };
    let mut edits = EditSet::default();
    let before = program.text()[..usize::from(open.start())]
        .chars()
        .next_back();
    edits.edit(Edit::replace(open, space(before)));
    edits.edit(Edit::replace(
        close,
        space(program.text()[usize::from(close.end())..].chars().next()),
    ));
    edits
}

#[cfg(test)]
mod tests {
    use super::DROP_PUNCTUATION;
    use crate::testing::{check_all, check_none};

    #[test]
    fn parentheses_go_where_inner_brackets_hold_the_line_breaks() {
        check_all(&DROP_PUNCTUATION, "(f(\n    a\n))\n", "f(\n    a\n)\n");
        check_none(&DROP_PUNCTUATION, "x = (a +\n    b)\n");
    }

    #[test]
    fn needless_punctuation_goes() {
        check_all(
            &DROP_PUNCTUATION,
            "def f(a,):\n    return(a)if(b)else((c))\nx = [1, (a * b) + c,];\nfrom d import (e)\nassert (x), (y)\n",
            "def f(a):\n    return a if b else c\nx = [1, a * b + c]\nfrom d import e\nassert x, y\n",
        );
    }

    #[test]
    fn what_means_something_stays() {
        check_none(
            &DROP_PUNCTUATION,
            "x = (a + b) * c\ny = (1,)\nz = a,\n(i for i in j)\nd = (\n    e\n)\nf = [\n    1,\n]\ng(())\n",
        );
    }
}
