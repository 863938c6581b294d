use std::{cmp::Reverse, collections::BTreeSet};

use crate::{
    analysis::statements::Statements,
    pass::{PassContext, Prior, Proposals, SHORT, Stage, pass},
    rewrite::edit::{Edit, EditSet},
    syntax::{
        Ranged,
        ast::{Expr, ExprNumberLiteral, Number},
        positions::{Place, expressions},
    },
};

pass! {
    /// Empties or shortens strings and makes numbers smaller.
    ///
    /// Numbers are tried as 0, 1 and 2, then with half, three quarters and all but one of their
    /// bits, which closes in on the smallest number that works. Sizes of tensors never become 0,
    /// and not 1 where PyTorch captures graphs. Strings are tried empty, as one character, and by
    /// halves; those of up to sixty characters stay, as they are often names, dates or formats.
    ///
    /// ```python before
    /// x = zeros(768)
    /// ```
    /// ```python after
    /// x = zeros(1)
    /// ```
    pub(crate) static SHRINK_LITERALS = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let statements = Statements::of(cx.program);
    let (sizes, least) = (cx.sizes(), cx.least_size());
    let mut literals: Vec<(Place<'_>, Vec<String>)> = expressions(cx.program)
        .into_iter()
        .filter(|place| statements.place(place.expr.range()).is_none())
        .map(|place| {
            let mut smaller = smaller(place.expr, cx.program.slice(place.expr.range()));
            let is_size = sizes.contains(&place.expr.start());
            let is_special = |literal: &str| literal.parse().is_ok_and(|size: u64| size < least);
            smaller.retain(|literal| !(is_size && is_special(literal)));
            (place, smaller)
        })
        .filter(|(_, smaller)| !smaller.is_empty())
        .collect();
    literals.sort_by_key(|(place, _)| (Reverse(place.statement.start()), place.expr.start()));
    let propose = |expr: &Expr, literal: &str, prior: Prior, out: &mut Proposals| {
        // A dot behind an integer would be read as its decimal point.
        let is_looked_into = cx.program.text()[expr.end().into()..].starts_with('.');
        let is_integer = literal.bytes().all(|byte| byte.is_ascii_digit());
        if !(cx.program.would_glue(expr.range(), literal) || is_looked_into && is_integer) {
            let note = format!(
                "`{}` reduced to `{literal}`",
                cx.program.excerpt(expr.range())
            );
            out.propose(
                EditSet::one(Edit::replace(expr.range(), literal)),
                prior,
                note,
            );
        }
    };
    // The boldest alternatives of a statement are tried together and the others one by one, since
    // alternatives for one place exclude each other.
    for neighbours in literals.chunk_by(|(one, _), (other, _)| one.statement == other.statement) {
        for (place, smaller) in neighbours {
            propose(place.expr, &smaller[0], Prior::Even, out);
        }
        out.next_group();
    }
    for (place, smaller) in &literals {
        for literal in &smaller[1..] {
            propose(place.expr, literal, Prior::Unlikely, out);
            out.next_group();
        }
    }
}

/// The replacements for a literal, the boldest first.
fn smaller(expr: &Expr, text: &str) -> Vec<String> {
    let mut found = match expr {
        Expr::StringLiteral(it) => shorter(text, &it.value.to_str().chars().collect::<Vec<_>>()),
        Expr::BytesLiteral(it) => {
            shorter(text, &it.value.bytes().map(char::from).collect::<Vec<_>>())
        }
        Expr::NumberLiteral(it) => lower(it, text),
        _ => Vec::new(),
    };
    let mut seen = BTreeSet::new();
    found.retain(|literal| {
        literal.len() <= text.len() && literal != text && seen.insert(literal.clone())
    });
    found
}

/// The empty string, its first character, its first and its second half, in the author's quotes.
fn shorter(text: &str, value: &[char]) -> Vec<String> {
    if value.len() <= SHORT {
        return Vec::new();
    }
    let Some(at) = text.find(['\'', '"']) else {
        return Vec::new();
    };
    let (prefix, quoted) = text.split_at(at);
    let (bytes, quote) = (
        if prefix.contains(['b', 'B']) { "b" } else { "" },
        &quoted[..1],
    );
    // Other characters may have to be escaped or have a meaning to their reader.
    let is_plain = |part: &[char]| {
        part.iter().all(|char| {
            char.is_ascii_graphic() && !matches!(char, '\\' | '\'' | '"') || *char == ' '
        })
    };
    let (first, second) = value.split_at(value.len() / 2);
    let parts = [&value[..1], first, second];
    let halves = parts.into_iter().filter(|part| is_plain(part));
    std::iter::once(&value[..0])
        .chain(halves)
        .map(|part| format!("{bytes}{quote}{}{quote}", part.iter().collect::<String>()))
        .collect()
}

/// Numbers with fewer bits or digits.
fn lower(number: &ExprNumberLiteral, text: &str) -> Vec<String> {
    match &number.value {
        Number::Int(value) => {
            let Some(value) = value.as_u64() else {
                return vec!["0".to_owned()];
            };
            let bits = u64::BITS - value.leading_zeros();
            let steps = [
                0,
                1,
                2,
                value >> (bits / 2),
                value >> (bits / 4),
                value >> 1,
            ];
            let is_less = |number: &&u64| number.leading_zeros() > value.leading_zeros();
            steps.iter().filter(is_less).map(u64::to_string).collect()
        }
        Number::Float(value) => {
            let one = (*value > 1.0).then(|| "1.0".to_owned());
            let short = Some(format!("{value:.1}"))
                .filter(|short| short.len() < text.len() && *value < 1e6);
            std::iter::once("0".to_owned())
                .chain(one)
                .chain(short)
                .collect()
        }
        Number::Complex { .. } => vec!["0".to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::SHRINK_LITERALS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn numbers_step_down() {
        check_edits(
            &SHRINK_LITERALS,
            "x = 12\n",
            &["x = 0\n", "x = 1\n", "x = 2\n", "x = 3\n", "x = 6\n"],
        );
        check_edits(&SHRINK_LITERALS, "x = 0.125\n", &["x = 0\n", "x = 0.1\n"]);
        check_edits(
            &SHRINK_LITERALS,
            "x = 2.25.hex()\n",
            &["x = 1.0.hex()\n", "x = 2.2.hex()\n"],
        );
        check_edits(
            &SHRINK_LITERALS,
            "x = 0xFFFF\n",
            &[
                "x = 0\n",
                "x = 1\n",
                "x = 2\n",
                "x = 255\n",
                "x = 4095\n",
                "x = 32767\n",
            ],
        );
    }

    /// Takes the first proposal that keeps the number at or above a limit, until there is none.
    fn rounds(from: u64, limit: u64) -> (u64, u32) {
        let (mut number, mut rounds) = (from, 0);
        loop {
            let program = crate::syntax::Program::parse(format!("x = {number}\n")).unwrap();
            let proposals = SHRINK_LITERALS.proposals(&program);
            let next = proposals
                .iter()
                .map(|proposal| {
                    proposal.edits.apply(&program).unwrap()[4..]
                        .trim()
                        .parse()
                        .unwrap()
                })
                .find(|smaller| *smaller >= limit);
            let Some(next) = next else {
                return (number, rounds);
            };
            (number, rounds) = (next, rounds + 1);
        }
    }

    #[test]
    fn numbers_come_close_to_the_smallest_in_few_rounds() {
        for (from, limit) in [
            (1 << 40, 1),
            (1_000_000, 513),
            (1_000_000, 3),
            (4096, 4000),
            (768, 17),
            (u64::MAX, 1 << 33),
        ] {
            let (number, rounds) = rounds(from, limit);
            assert!(
                number < 2 * limit.next_power_of_two() && rounds <= 8,
                "{from} to {number} of {limit} in {rounds}"
            );
        }
    }

    #[test]
    fn strings_are_cut_in_the_authors_quotes() {
        let (one, other) = ("hello you, ".repeat(3), "and you there ".repeat(3));
        check_edits(
            &SHRINK_LITERALS,
            &format!("x = '{one}{other}!'\n"),
            &[
                "x = ''\n",
                "x = 'h'\n",
                &format!("x = '{one}and y'\n"),
                &format!("x = '{}!'\n", &other[5..]),
            ],
        );
        check_edits(
            &SHRINK_LITERALS,
            &format!("x = rb\"\"\"{one}{other}\\n\"\"\"\n"),
            &[
                "x = b\"\"\n",
                "x = b\"h\"\n",
                &format!("x = b\"{one}and y\"\n"),
            ],
        );
        check_none(
            &SHRINK_LITERALS,
            "x = '2020-01-01T00:00:00Z'\ny = b'test.mat'\n",
        );
    }

    #[test]
    fn the_boldest_of_a_statement_come_first() {
        check_edits(
            &SHRINK_LITERALS,
            "f(3, 7)\n",
            &[
                "f(0, 7)\n",
                "f(3, 0)\n",
                "f(1, 7)\n",
                "f(3, 1)\n",
                "f(3, 2)\n",
                "f(3, 3)\n",
            ],
        );
    }

    #[test]
    fn sizes_of_tensors_stay_above_zero() {
        check_edits(
            &SHRINK_LITERALS,
            "import torch\ntorch.ones(1, 2).view((2, 1)).sum(1)\n",
            &[
                "import torch\ntorch.ones(1, 1).view((2, 1)).sum(1)\n",
                "import torch\ntorch.ones(1, 2).view((1, 1)).sum(1)\n",
                "import torch\ntorch.ones(1, 2).view((2, 1)).sum(0)\n",
            ],
        );
        check_none(&SHRINK_LITERALS, "from torch import nn\nnn.Linear(1, 1)\n");
        check_edits(
            &SHRINK_LITERALS,
            "import torch\nx = torch.randn(8)\ntorch.export.export(m, (x,))\n",
            &[
                "import torch\nx = torch.randn(2)\ntorch.export.export(m, (x,))\n",
                "import torch\nx = torch.randn(4)\ntorch.export.export(m, (x,))\n",
            ],
        );
    }

    #[test]
    fn what_is_small_stays() {
        check_none(&SHRINK_LITERALS, "x = 0\ny = ''\nz = 'a'\n'doc'\nw = b''\n");
    }
}
