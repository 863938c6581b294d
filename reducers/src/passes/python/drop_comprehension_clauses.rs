use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    syntax::{AnyNodeRef, Ranged, TokenKind, rows::RowKind},
};

pass! {
    /// Removes `for` clauses and conditions of comprehensions.
    ///
    /// ```python before
    /// x = [a for a in b for c in d if e]
    /// ```
    /// ```python after
    /// x = [a for a in b]
    /// ```
    pub(crate) static DROP_COMPREHENSION_CLAUSES = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    for node in cx.program.tree().nodes.iter().rev() {
        if let AnyNodeRef::Comprehension(clause) = node.node {
            for condition in clause.ifs.iter().rev() {
                if let Some(range) = cx.program.tail(TokenKind::If, condition.range()) {
                    let note = format!("condition `{}`", cx.program.excerpt(condition.range()));
                    out.delete(range, Prior::Likely, note);
                }
            }
        }
    }
    out.next_group();
    for row in cx.program.rows().iter().rev() {
        if row.kind == RowKind::Generators && row.items.len() > 1 {
            for (item, range) in row.with_ids().rev() {
                let note = format!("clause `{}`", cx.program.excerpt(range));
                out.remove(item, Prior::Even, note);
            }
            out.next_group();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DROP_COMPREHENSION_CLAUSES;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn clauses_and_conditions_go_one_by_one() {
        check_edits(
            &DROP_COMPREHENSION_CLAUSES,
            "x = (a for b in c if (d) if e for f in (g))\n",
            &[
                "x = (a for b in c if (d) for f in (g))\n",
                "x = (a for b in c if e for f in (g))\n",
                "x = (a for b in c if (d) if e)\n",
                "x = (a for f in (g))\n",
            ],
        );
    }

    #[test]
    fn the_only_clause_stays() {
        check_none(
            &DROP_COMPREHENSION_CLAUSES,
            "x = {a: b if c else d for a in e}\n",
        );
    }
}
