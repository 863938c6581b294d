use crate::{
    analysis::statements::Statements,
    pass::{PassContext, Prior, Proposals, SHORT, Stage, pass},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize, TokenKind,
        ast::{FString, InterpolatedElement, InterpolatedStringElement},
        rows::{RowKind, widened},
    },
};

pass! {
    /// Removes parts of strings: lines, words, adjacent strings, and the text, fields and formats
    /// of formatted strings.
    ///
    /// ```python before
    /// x = f"got {y!r:>10} of " f"{z}"
    /// ```
    /// ```python after
    /// x = f"{z}"
    /// ```
    pub(crate) static DROP_STRING_PARTS = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let program = cx.program;
    for row in program.rows().iter().rev() {
        if row.kind == RowKind::StringParts {
            for (item, range) in row.with_ids().rev() {
                let note = format!("string {}", program.excerpt(range));
                out.remove(item, Prior::Even, note);
            }
            out.next_group();
        }
    }
    let tree = program.tree();
    let statements = Statements::of(program);
    for node in tree.nodes.iter().rev() {
        match node.node {
            AnyNodeRef::InterpolatedStringLiteralElement(text) => {
                out.delete(
                    text.range,
                    Prior::Likely,
                    format!("text `{}`", program.excerpt(text.range)),
                );
            }
            AnyNodeRef::InterpolatedElement(field) => drop_details(program, field, out),
            _ => {}
        }
    }
    out.next_group();
    for node in tree.nodes.iter().rev() {
        match node.node {
            AnyNodeRef::FString(string) => {
                drop_fields(program, &string.elements, out);
                drop_prefix(program, string, out);
            }
            AnyNodeRef::TString(string) => drop_fields(program, &string.elements, out),
            AnyNodeRef::InterpolatedElement(field) => {
                if let Some(spec) = &field.format_spec {
                    drop_fields(program, &spec.elements, out);
                }
            }
            AnyNodeRef::StringLiteral(literal) => {
                if program.slice(literal.range).starts_with(['u', 'U']) {
                    let prefix = TextRange::at(literal.start(), TextSize::new(1));
                    out.delete(prefix, Prior::Certain, "prefix of a string");
                    out.next_group();
                }
                drop_lines(program, literal.range, &statements, out);
            }
            AnyNodeRef::BytesLiteral(literal) => {
                drop_lines(program, literal.range, &statements, out);
            }
            _ => {}
        }
    }
}

/// The number of lines up to which the words of a string are tried, too.
const FEW: usize = 1;

/// The lines of a string, and its words if it has few lines and is not short. Another pass removes
/// strings that are statements.
fn drop_lines(
    program: &Program,
    literal: TextRange,
    statements: &Statements<'_>,
    out: &mut Proposals,
) {
    if statements.place(literal).is_some() {
        return;
    }
    let text = program.slice(literal);
    let start = text.find(['\'', '"']).unwrap_or_default();
    let quote = &text[start..=start];
    let width = if text[start..].starts_with(&quote.repeat(3)) {
        3
    } else {
        1
    };
    let Some(body) = text.get(start + width..text.len() - width) else {
        return;
    };
    let is_raw = text[..start].contains(['r', 'R']);
    let offset = literal.start() + TextSize::new((start + width) as u32);
    let mut delete = |pieces: Vec<&str>, mut at: TextSize| {
        for piece in pieces {
            let range = TextRange::at(at, TextSize::of(piece));
            at += TextSize::of(piece);
            out.delete(
                range,
                Prior::Even,
                format!("part `{}` of a string", program.excerpt(range)),
            );
        }
        out.next_group();
    };
    let lines = lines(body, is_raw);
    if lines.len() > 1 {
        delete(lines.clone(), offset);
    }
    let mut at = offset;
    for line in lines.iter().filter(|_| lines.len() <= FEW) {
        let words: Vec<&str> = line.split_inclusive(' ').collect();
        // A line that ends in a backslash continues on the next one.
        if words.len() > 1 && body.len() > SHORT && !line.contains("\\\n") {
            delete(words, at);
        }
        at += TextSize::of(*line);
    }
}

/// The lines of a string's body as written: each ends at a line break or at its escape sequence.
fn lines(body: &str, is_raw: bool) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut start = 0;
    let mut is_escaped = false;
    for (at, byte) in body.bytes().enumerate() {
        let ends = match byte {
            b'n' => is_escaped && !is_raw,
            b'\n' => !is_escaped,
            _ => false,
        };
        is_escaped = byte == b'\\' && !is_escaped;
        if ends {
            lines.push(&body[start..=at]);
            start = at + 1;
        }
    }
    if start < body.len() {
        lines.push(&body[start..]);
    }
    lines
}

/// The conversion, the format specification, and the equals sign of a replacement field.
fn drop_details(program: &Program, field: &InterpolatedElement, out: &mut Proposals) {
    let expression = widened(program, field.range, field.expression.range());
    let spec_start = field
        .format_spec
        .as_ref()
        .map(|spec| spec.start() - TextSize::of(':'));
    let name = program.excerpt(field.expression.range());
    if let Some(spec) = &field.format_spec
        && let Some(start) = spec_start
    {
        out.delete(
            TextRange::new(start, spec.end()),
            Prior::Likely,
            format!("format of `{name}`"),
        );
    }
    let end = spec_start.unwrap_or(field.end() - TextSize::of('}'));
    let sign = program.next_token(expression.end());
    let conversion = program.tokens()
        [program.token_from(expression.end())..program.token_from(end)]
        .iter()
        .find(|token| token.kind() == TokenKind::Exclamation);
    if let Some(sign) = sign.filter(|sign| sign.kind() == TokenKind::Equal) {
        let end = conversion.map_or(end, Ranged::start);
        let range = TextRange::new(sign.start(), end);
        out.delete(range, Prior::Likely, format!("equals sign of `{name}`"));
    }
    if let Some(conversion) = conversion {
        let range = TextRange::new(conversion.start(), end);
        out.delete(range, Prior::Likely, format!("conversion of `{name}`"));
    }
}

fn drop_fields(program: &Program, elements: &[InterpolatedStringElement], out: &mut Proposals) {
    for element in elements.iter().rev() {
        if let InterpolatedStringElement::Interpolation(field) = element {
            out.delete(
                field.range,
                Prior::Even,
                format!("field `{}`", program.excerpt(field.range)),
            );
        }
    }
    out.next_group();
}

/// A formatted string without fields is a plain one.
fn drop_prefix(program: &Program, string: &FString, out: &mut Proposals) {
    let text = program.slice(string.range);
    let has_fields = string
        .elements
        .iter()
        .any(InterpolatedStringElement::is_interpolation);
    if let Some(at) = text.find(['f', 'F'])
        && !has_fields
        && !text.contains(['{', '}'])
    {
        let letter = TextRange::at(string.start() + TextSize::new(at as u32), TextSize::new(1));
        out.delete(letter, Prior::Certain, "prefix of a string");
        out.next_group();
    }
}

#[cfg(test)]
mod tests {
    use super::DROP_STRING_PARTS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn every_part_of_a_field_goes() {
        check_edits(
            &DROP_STRING_PARTS,
            "f'{(a) = !r:>{b}}'\n",
            &[
                "f'{(a) = !r:{b}}'\n",
                "f'{(a) = !r}'\n",
                "f'{(a) !r:>{b}}'\n",
                "f'{(a) = :>{b}}'\n",
                "f'{(a) = !r:>}'\n",
                "f''\n",
            ],
        );
    }

    #[test]
    fn strings_without_fields_are_plain() {
        check_edits(
            &DROP_STRING_PARTS,
            "rf''\nu'a'\n",
            &["rf''\n'a'\n", "r''\nu'a'\n"],
        );
        check_edits(
            &DROP_STRING_PARTS,
            "x = ('a'\n  'c').y\n",
            &["x = ('a').y\n", "x = ('c').y\n"],
        );
    }

    /// A word of more than a line.
    const LONG: &str = "three\\n5678901234567890123456789012345678901234567890123456789";

    #[test]
    fn lines_and_words_go() {
        check_edits(
            &DROP_STRING_PARTS,
            "x = \"\"\"a\nb \\\\n\"\"\"\n",
            &["x = \"\"\"b \\\\n\"\"\"\n", "x = \"\"\"a\n\"\"\"\n"],
        );
        check_edits(
            &DROP_STRING_PARTS,
            &format!("x = r'one {LONG}'\ny = 'on one line / of a few words'\n"),
            &[
                &format!("x = r'{LONG}'\ny = 'on one line / of a few words'\n"),
                "x = r'one '\ny = 'on one line / of a few words'\n",
            ],
        );
        check_edits(
            &DROP_STRING_PARTS,
            "x = b'one\\ntwo\\nthree\\n4 5'\n",
            &[
                "x = b'two\\nthree\\n4 5'\n",
                "x = b'one\\nthree\\n4 5'\n",
                "x = b'one\\ntwo\\n4 5'\n",
                "x = b'one\\ntwo\\nthree\\n'\n",
            ],
        );
    }

    #[test]
    fn plain_strings_have_no_parts() {
        check_none(
            &DROP_STRING_PARTS,
            "x = 'a' + b'c' + r''.d\n'a doc string'\n",
        );
    }
}
