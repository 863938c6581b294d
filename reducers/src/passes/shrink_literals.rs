use crate::syntax::TokenKind;

use super::replace_expressions::values;
use crate::{
    edit::{Edit, EditSet},
    pass::{Cx, Prior, Proposals, Stage, pass},
    syntax::{
        Ranged,
        ast::{Expr, Number},
    },
};

pass! {
    /// Makes strings empty and numbers small.
    ///
    /// ```python before
    /// x = zeros(768)
    /// ```
    /// ```python after
    /// x = zeros(1)
    /// ```
    pub(crate) static SHRINK_LITERALS = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &Cx<'_>, out: &mut Proposals) {
    for (expr, _) in values(cx.program) {
        let text = cx.program.slice(expr.range());
        let smaller: Vec<String> = match expr {
            Expr::StringLiteral(it) if it.value.to_str().len() > 1 && text.len() > 4 => {
                let first = it.value.to_str().chars().next().filter(char::is_ascii_alphanumeric);
                let one = first.map(|first| format!("\"{first}\""));
                std::iter::once("\"\"".to_owned()).chain(one).collect()
            }
            Expr::BytesLiteral(_) if text.len() > 3 => vec!["b\"\"".to_owned()],
            Expr::NumberLiteral(it) => match &it.value {
                Number::Int(value) => match value.as_u64() {
                    Some(value) if value > 1 => {
                        let steps = [0, 1, 2, value / 2];
                        let is_less = |it: &&u64| it.leading_zeros() > value.leading_zeros();
                        steps.iter().filter(is_less).map(u64::to_string).collect()
                    }
                    Some(1) if text == "1" => vec!["0".to_owned()],
                    Some(_) => Vec::new(),
                    None => vec!["0".to_owned()],
                },
                Number::Float(value) if *value > 1.0 => vec!["0".to_owned(), "1.0".to_owned()],
                Number::Float(_) | Number::Complex { .. } => vec!["0".to_owned()],
            },
            _ => continue,
        };
        let mut seen = Vec::new();
        for literal in smaller {
            // What is no longer a word of its own would run into its neighbours.
            let is_glued = cx
                .program
                .next_token(expr.end())
                .is_some_and(|next| next.start() == expr.end() && next.kind() == TokenKind::Name);
            if literal.len() <= text.len() && literal != text && !is_glued && !seen.contains(&literal) {
                let edits = EditSet::one(Edit::replace(expr.range(), literal.as_str()));
                let short: String = text.chars().take(30).collect();
                out.propose(edits, Prior::Unlikely, format!("`{short}` to `{literal}`"));
                seen.push(literal);
            }
        }
        out.next_group();
    }
}

#[cfg(test)]
mod tests {
    use super::SHRINK_LITERALS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn numbers_and_strings_step_down() {
        check_edits(&SHRINK_LITERALS, "x = 12\n", &["x = 0\n", "x = 1\n", "x = 2\n", "x = 6\n"]);
        check_edits(&SHRINK_LITERALS, "x = 'hello'\n", &["x = \"\"\n", "x = \"h\"\n"]);
    }

    #[test]
    fn what_is_small_stays() {
        check_none(&SHRINK_LITERALS, "x = 0\ny = ''\nz = 'a'\n");
    }
}
