use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        edit::{Edit, EditSet},
        parenthesize::parentheses,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange,
        ast::{Expr, ExprDict},
    },
};

pass! {
    /// Replaces a literal list, tuple or dict that is unpacked or looked into with its elements.
    ///
    /// ```python before
    /// f(*[a, b], **{"c": d})
    /// ```
    /// ```python after
    /// f(a, b, c=d)
    /// ```
    pub(crate) static UNPACK_DISPLAYS = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let program = cx.program;
    for node in program.tree().nodes.iter().rev() {
        match node.node {
            AnyNodeRef::ExprStarred(it) => {
                if let Some(inner) = inside(program, &it.value) {
                    offer(cx, it.range, inner.to_owned(), out);
                }
            }
            AnyNodeRef::Keyword(it) if it.arg.is_none() => {
                if let Expr::Dict(dict) = &it.value
                    && let Some(text) = keywords(program, dict)
                {
                    offer(cx, it.range, text, out);
                }
            }
            AnyNodeRef::ExprSubscript(it) => {
                // Each is an attempt of its own.
                for part in parts(&it.value) {
                    out.next_group();
                    let (open, close) = parentheses(program, part, it.range);
                    offer(
                        cx,
                        it.range,
                        format!("{open}{}{close}", program.slice(part.range())),
                        out,
                    );
                }
                out.next_group();
            }
            _ => {}
        }
    }
}

fn offer(cx: &PassContext<'_>, range: TextRange, text: String, out: &mut Proposals) {
    let edits = EditSet::one(Edit::replace(range, text));
    if cx.scales.gains(&edits) {
        out.propose(
            edits,
            Prior::Even,
            format!("elements of `{}`", cx.program.excerpt(range)),
        );
    }
}

/// The text within the brackets of a list or tuple that is not empty.
fn inside<'a>(program: &'a Program, value: &Expr) -> Option<&'a str> {
    let is_display = match value {
        Expr::List(it) => !it.elts.is_empty(),
        Expr::Tuple(it) => it.parenthesized && !it.elts.is_empty(),
        _ => false,
    };
    let text = program.slice(value.range());
    is_display.then(|| {
        text[1..text.len() - 1]
            .trim()
            .trim_end_matches(',')
            .trim_end()
    })
}

/// The text of a dict as keyword arguments.
fn keywords(program: &Program, dict: &ExprDict) -> Option<String> {
    let mut parts = Vec::new();
    for item in &dict.items {
        let value = program.slice(item.value.range());
        match &item.key {
            Some(Expr::StringLiteral(key)) => parts.push(format!("{}={value}", key.value.to_str())),
            Some(_) => return None,
            None => parts.push(format!("**{value}")),
        }
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// The element that is looked up in a display.
fn parts(value: &Expr) -> Vec<&Expr> {
    match value {
        Expr::List(it) => it
            .elts
            .iter()
            .filter(|element| !element.is_starred_expr())
            .collect(),
        Expr::Tuple(it) => it
            .elts
            .iter()
            .filter(|element| !element.is_starred_expr())
            .collect(),
        Expr::Dict(it) => it
            .items
            .iter()
            .filter(|item| item.key.is_some())
            .map(|item| &item.value)
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::UNPACK_DISPLAYS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn what_is_looked_up_stands_for_the_display() {
        check_edits(
            &UNPACK_DISPLAYS,
            "x = {1: a, 2: b + c}[1].d\n",
            &["x = a.d\n", "x = (b + c).d\n"],
        );
        check_edits(&UNPACK_DISPLAYS, "x = [a][0]\n", &["x = a\n"]);
    }

    #[test]
    fn displays_of_other_use_stay() {
        check_none(&UNPACK_DISPLAYS, "f([a], {'b': c}, *d, **e)\nx[0]\n");
        check_none(&UNPACK_DISPLAYS, "f(**{'not a name': 1})\n");
    }
}
