use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    syntax::rows::RowKind,
};

pass! {
    /// Removes operands from chains of `and`, `or` and comparisons.
    ///
    /// ```python before
    /// x = a and b and c
    /// ```
    /// ```python after
    /// x = a and c
    /// ```
    pub(crate) static DROP_OPERANDS = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    for row in cx.program.rows().iter().rev() {
        // Of two operands one is kept by hoisting it.
        if row.kind != RowKind::Operands || row.items.len() < 3 {
            continue;
        }
        for (item, range) in row.with_ids().rev() {
            let note = format!("operand `{}`", cx.program.excerpt(range));
            out.remove(item, Prior::Even, note);
        }
        out.next_group();
    }
}

#[cfg(test)]
mod tests {
    use super::DROP_OPERANDS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn operands_go_with_their_parentheses() {
        check_edits(
            &DROP_OPERANDS,
            "x = (a) or (\n    b) or not c\n",
            &[
                "x = (a) or (\n    b)\n",
                "x = (a) or not c\n",
                "x = (\n    b) or not c\n",
            ],
        );
        check_edits(
            &DROP_OPERANDS,
            "a < b == c\n",
            &["a < b\n", "a < c\n", "b == c\n"],
        );
    }

    #[test]
    fn two_operands_are_no_chain() {
        check_none(&DROP_OPERANDS, "x = a and b < c\n");
    }
}
