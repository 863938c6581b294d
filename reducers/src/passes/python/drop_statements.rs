use std::collections::BTreeSet;

use crate::{
    analysis::statements::Statements,
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::EditSet,
    syntax::{
        Program, Ranged,
        rows::{ItemId, RowKind},
    },
};

pass! {
    /// Removes statements at every depth, the last first, so that uses go before definitions.
    ///
    /// ```python before
    /// def f(x):
    ///     print(x)
    ///     return x + 1
    /// ```
    /// ```python after
    /// def f(x):
    ///     return x + 1
    /// ```
    pub(crate) static DROP_STATEMENTS = Pass { stage: Stage::Structure, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let statements = Statements::of(cx.program);
    let attributes = statements.attributes();
    let read: BTreeSet<ItemId> = attributes
        .values()
        .flat_map(|variable| {
            let is_own = |place: &ItemId| {
                variable
                    .uses
                    .iter()
                    .any(|(_, range)| statements.range(*place).contains_range(*range))
            };
            variable
                .definitions
                .iter()
                .copied()
                .filter(move |place| !variable.uses.is_empty() && !is_own(place))
        })
        .collect();
    let mut rows: Vec<(usize, u16)> = cx
        .program
        .rows()
        .iter()
        .enumerate()
        .filter(|(_, row)| row.kind.is_suite())
        .map(|(index, row)| (index, row.depth))
        .collect();
    // Top-level statements first, then all others, the outer ones first; of one depth the latest
    // first.
    rows.sort_by_key(|&(index, depth)| {
        (
            depth,
            std::cmp::Reverse(cx.program.rows()[index].inner.start()),
        )
    });
    let mut postponed = Vec::new();
    let mut is_nested = false;
    for (index, depth) in rows {
        if depth > 0 && !is_nested {
            out.next_group();
            is_nested = true;
        }
        for item in (0..cx.program.rows()[index].items.len()).rev() {
            let place = cx.program.rows()[index].id(item);
            if is_alone_and_bare(cx.program, place.row) {
                continue;
            }
            if read.contains(&place) {
                postponed.push(place);
            } else {
                let note = describe(cx.program, place);
                out.propose(EditSet::removal(place), Prior::Likely, note);
            }
        }
    }
    // A statement that others read is tried after its readers.
    if !postponed.is_empty() {
        out.next_group();
    }
    for place in postponed {
        let note = describe(cx.program, place);
        out.propose(EditSet::removal(place), Prior::Even, note);
    }
}

/// A block that holds only `pass`, or something as short, cannot be emptied further.
fn is_alone_and_bare(program: &Program, row: u32) -> bool {
    let row = &program.rows()[row as usize];
    let text = program.slice(row.items[0]);
    row.items.len() == 1
        && row.kind != RowKind::Module
        && text.len() <= "pass".len()
        && program
            .next_token(row.inner.start())
            .is_some_and(|token| token.end() == row.inner.end())
}

/// A statement, named by its first line.
fn describe(program: &Program, place: ItemId) -> String {
    let text = program.slice(program.item(place));
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(60).collect();
    if short.len() < text.len() {
        format!("`{short} …`")
    } else {
        format!("`{short}`")
    }
}

#[cfg(test)]
mod tests {
    use super::DROP_STATEMENTS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn outer_statements_come_first_and_later_ones_before_earlier() {
        check_edits(
            &DROP_STATEMENTS,
            "a\nif b:\n    c\n    d\n",
            &[
                "a\n",
                "if b:\n    c\n    d\n",
                "a\nif b:\n    c\n",
                "a\nif b:\n    d\n",
            ],
        );
    }

    #[test]
    fn every_kind_of_suite_is_reached() {
        let program = crate::syntax::Program::parse(
            "for a in b:\n    f(1)\nelse:\n    f(2)\nwhile a:\n    f(3)\nelse:\n    f(4)\n\
             if a:\n    f(5)\nelif b:\n    f(6)\nelse:\n    f(7)\nwith a:\n    f(8)\n\
             try:\n    f(9)\nexcept A:\n    f(10)\nelse:\n    f(11)\nfinally:\n    f(12)\n\
             match a:\n    case b:\n        f(13)\nclass A:\n    f(14)\nasync def g():\n    f(15)\n",
        )
        .unwrap();
        let texts: Vec<_> = crate::testing::proposals(&DROP_STATEMENTS, &program)
            .iter()
            .map(|proposal| proposal.edits.apply(&program).unwrap())
            .collect();
        for number in 1..=15 {
            let call = format!("f({number})");
            assert!(
                texts.contains(&program.text().replace(&call, "pass")),
                "{call}"
            );
        }
    }

    #[test]
    fn an_empty_block_stays() {
        check_none(&DROP_STATEMENTS, "");
        check_edits(&DROP_STATEMENTS, "class A:\n    pass\n", &[""]);
    }
}
