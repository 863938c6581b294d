use crate::{
    analysis::calls::formatted_strings,
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::{Edit, EditSet},
    syntax::{
        Program, Ranged, TextRange, TextSize, Token, TokenKind,
        lines::{WIDTH, width},
        positions::{closes, opens},
    },
};

pass! {
    /// Wraps long lines that the author did not write, within their longest brackets.
    ///
    /// ```python before
    /// first_quarter = total_of(rows_of_january(2024), rows_of_february(2024), rows_of_march(2024))
    /// ```
    /// ```python after
    /// first_quarter = total_of(
    ///     rows_of_january(2024), rows_of_february(2024), rows_of_march(2024)
    /// )
    /// ```
    pub(crate) static WRAP_LINES = Pass { stage: Stage::Tidy, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let program = cx.program;
    for line in program.long_lines() {
        if program.is_long_by_author(line) {
            continue;
        }
        if let Some(edits) = wrapped(program, line)
            && cx.scales.gains(&edits)
        {
            let note = format!("`{}` wrapped", program.excerpt(line).trim_start());
            out.propose(edits, Prior::Certain, note);
        }
    }
}

/// The edits that put the content of the longest brackets of a line on separate lines.
fn wrapped(program: &Program, line: TextRange) -> Option<EditSet> {
    let strings = formatted_strings(program.tree());
    let tokens: Vec<&Token> = program.tokens()
        [program.token_from(line.start())..program.token_from(line.end())]
        .iter()
        // Within formatted strings no line may end before Python 3.12.
        .filter(|token| {
            !strings
                .iter()
                .any(|text| text.contains_range(token.range()))
        })
        .collect();
    let content = pairs(&tokens)
        .into_iter()
        .filter(|content| !content.is_empty())
        .max_by_key(|content| content.len())?;
    let text = program.slice(line);
    let indentation = &text[..text.len() - text.trim_start().len()];
    let unit = if indentation.ends_with('\t') {
        "\t"
    } else {
        "    "
    };
    let (outer, inner) = (
        format!("{}{indentation}", program.newline()),
        format!("{}{indentation}{unit}", program.newline()),
    );
    let mut edits = EditSet::one(Edit::replace(TextRange::empty(content.start()), &inner));
    if width(indentation) + unit.len() + width(program.slice(content)) > WIDTH {
        for space in breaks(&tokens, content) {
            edits.edit(Edit::replace(space, &inner));
        }
    }
    edits.edit(Edit::replace(TextRange::empty(content.end()), &outer));
    Some(edits)
}

/// The contents of the outermost brackets that open and close among some tokens.
fn pairs(tokens: &[&Token]) -> Vec<TextRange> {
    let mut open: Vec<TextSize> = Vec::new();
    let mut found: Vec<TextRange> = Vec::new();
    for token in tokens {
        if opens(token.kind()) {
            open.push(token.end());
        } else if closes(token.kind())
            && let Some(start) = open.pop()
        {
            let content = TextRange::new(start, token.start());
            found.retain(|inner| !content.contains_range(*inner));
            found.push(content);
        }
    }
    found
}

/// The spaces between brackets where a line may end: after each comma that separates elements, or
/// before each clause of a comprehension.
fn breaks(tokens: &[&Token], content: TextRange) -> Vec<TextRange> {
    let mut depth = 0_usize;
    let mut is_in_parameters = false;
    let (mut commas, mut clauses) = (Vec::new(), Vec::new());
    let inside = tokens
        .iter()
        .filter(|token| content.contains_range(token.range()));
    let inside: Vec<&Token> = inside.copied().collect();
    for pair in inside.windows(2) {
        let [token, next] = pair else { continue };
        depth += usize::from(opens(token.kind()));
        depth -= usize::from(closes(token.kind()));
        if depth > 0 {
            continue;
        }
        let space = TextRange::new(token.end(), next.start());
        match token.kind() {
            TokenKind::Lambda => is_in_parameters = true,
            TokenKind::Colon => is_in_parameters = false,
            TokenKind::Comma if !is_in_parameters => commas.push(space),
            _ => {}
        }
        match next.kind() {
            TokenKind::For if token.kind() == TokenKind::Async => {}
            TokenKind::For | TokenKind::Async => clauses.push(space),
            // Before the first clause it belongs to a condition of the element.
            TokenKind::If if !clauses.is_empty() => clauses.push(space),
            _ => {}
        }
    }
    if clauses.is_empty() { commas } else { clauses }
}

#[cfg(test)]
mod tests {
    use super::WRAP_LINES;
    use crate::{
        syntax::Program,
        testing::{check_all, check_none},
    };

    #[test]
    fn what_does_not_fit_on_one_line_gets_a_line_for_each_part() {
        let (one, other) = ("a".repeat(50), "b".repeat(60));
        check_all(
            &WRAP_LINES,
            &format!("if x:\n\ty = f({one}, g(1, 2), {other})[0] + 1\n"),
            &format!("if x:\n\ty = f(\n\t\t{one},\n\t\tg(1, 2),\n\t\t{other}\n\t)[0] + 1\n"),
        );
    }

    #[test]
    fn a_comprehension_gets_a_line_for_each_clause() {
        let (one, other) = ("a".repeat(50), "b".repeat(60));
        check_all(
            &WRAP_LINES,
            &format!("x = [{one} if y else 1 for y, z in {other}(3, 4) if y]\n"),
            &format!("x = [\n    {one} if y else 1\n    for y, z in {other}(3, 4)\n    if y\n]\n"),
        );
        check_all(
            &WRAP_LINES,
            &format!("f(lambda a, b: {one}, {other})\n"),
            &format!("f(\n    lambda a, b: {one},\n    {other}\n)\n"),
        );
    }

    #[test]
    fn lines_of_the_author_stay() {
        let text = format!("f({}, 1)\n", "a".repeat(90));
        let program = Program::read(text.as_bytes()).unwrap();
        assert!(WRAP_LINES.proposals(&program).is_empty());
        let longer = program.sibling(text.replace("f(", "f(b, ")).unwrap();
        assert_eq!(WRAP_LINES.proposals(&longer).len(), 1);
    }

    #[test]
    fn what_cannot_be_wrapped_stays() {
        let long = "a".repeat(90);
        check_none(
            &WRAP_LINES,
            &format!("x = {long}\ny = f'{{g({long})}}'\nz = '({long})'\nshort(1)\n"),
        );
    }
}
