use crate::syntax::TokenKind;

use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::{Edit, EditSet},
    syntax::{Ranged, TextRange, TextSize},
};

pass! {
    /// Removes blank lines that separate nothing.
    ///
    /// One blank line stays between top-level statements; none stays at either end of the file,
    /// inside brackets or inside blocks.
    ///
    /// ```python before
    /// import a
    ///
    ///
    /// def f():
    ///
    ///     return a
    /// ```
    /// ```python after
    /// import a
    ///
    /// def f():
    ///     return a
    /// ```
    pub(crate) static DROP_BLANK_LINES = Pass { stage: Stage::Tidy, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let text = cx.program.text();
    let tokens = cx.program.tokens();
    let literals: Vec<TextRange> = tokens
        .iter()
        .filter(|token| {
            matches!(
                token.kind(),
                TokenKind::String | TokenKind::FStringMiddle | TokenKind::TStringMiddle
            )
        })
        .map(Ranged::range)
        .collect();
    let in_literal = |offset: TextSize| {
        let after = literals.partition_point(|range| range.start() < offset);
        after > 0 && literals[after - 1].end() > offset
    };
    let mut offset = 0;
    let mut blanks: Vec<TextRange> = Vec::new();
    for line in text.split_inclusive('\n') {
        let start = TextSize::new(offset as u32);
        offset += line.len();
        let range = TextRange::at(start, TextSize::of(line));
        if line.trim().is_empty() && !in_literal(start) {
            blanks.push(range);
            continue;
        }
        let separates = !line.starts_with([' ', '\t', ')', ']', '}'])
            && blanks
                .first()
                .is_some_and(|blank| blank.start() > TextSize::new(0));
        let kept = usize::from(separates);
        drop(&blanks[kept.min(blanks.len())..], out);
        blanks.clear();
    }
    drop(&blanks, out);
}

/// Adjacent lines are removed together.
fn drop(lines: &[TextRange], out: &mut Proposals) {
    if let (Some(first), Some(last)) = (lines.first(), lines.last()) {
        out.propose(
            EditSet::one(Edit::delete(first.cover(*last))),
            Prior::Certain,
            "blank lines",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::DROP_BLANK_LINES;
    use crate::testing::{check_all, check_none};

    #[test]
    fn one_blank_line_stays_between_top_level_statements() {
        check_all(
            &DROP_BLANK_LINES,
            "\n\na\n\n\nb = [\n\n    1,\n\n]\n\n",
            "a\n\nb = [\n    1,\n]\n",
        );
        check_all(
            &DROP_BLANK_LINES,
            "if a:\r\n\t\r\n\tb\r\n\r\n\r\nc\r\n",
            "if a:\r\n\tb\r\n\r\nc\r\n",
        );
    }

    #[test]
    fn blank_lines_of_strings_stay() {
        check_none(
            &DROP_BLANK_LINES,
            "x = '''\n\n\n'''\n\ny = f'''\n\n  {x}\n\n'''\n",
        );
    }
}
