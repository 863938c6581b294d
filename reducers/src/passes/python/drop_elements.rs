use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    syntax::rows::RowKind,
};

pass! {
    /// Removes elements of lists, tuples and sets, and entries of dicts.
    ///
    /// ```python before
    /// x = [1, 2, 3]
    /// ```
    /// ```python after
    /// x = []
    /// ```
    pub(crate) static DROP_ELEMENTS = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    for row in cx.program.rows().iter().rev() {
        let keep = match row.kind {
            RowKind::Elements
            | RowKind::Entries
            | RowKind::TupleElements {
                parenthesized: true,
            } => 0,
            // An empty set has no display; a bare tuple of one element is as long as the empty
            // tuple.
            RowKind::SetElements
            | RowKind::TupleElements {
                parenthesized: false,
            } => 1,
            _ => continue,
        };
        if row.items.len() <= keep {
            continue;
        }
        for (item, range) in row.with_ids().rev() {
            let short: String = cx.program.slice(range).chars().take(40).collect();
            out.remove(item, Prior::Likely, format!("element `{short}`"));
        }
        out.next_group();
    }
}

#[cfg(test)]
mod tests {
    use super::DROP_ELEMENTS;
    use crate::testing::{check_all, check_edits, check_none};

    #[test]
    fn elements_go_one_by_one_or_all() {
        check_edits(
            &DROP_ELEMENTS,
            "x = (1, 2)\n",
            &["x = (1,)\n", "x = (2,)\n"],
        );
        check_all(
            &DROP_ELEMENTS,
            "x = {'a': 1, **b}\ny = [\n    1,\n    2,\n]\n",
            "x = {}\ny = [\n    \n]\n",
        );
    }

    #[test]
    fn inner_rows_are_reached() {
        check_edits(
            &DROP_ELEMENTS,
            "x = [[1], 2]\n",
            &["x = [[], 2]\n", "x = [[1]]\n", "x = [2]\n"],
        );
    }

    #[test]
    fn the_last_of_a_set_or_a_bare_tuple_stays() {
        check_none(&DROP_ELEMENTS, "x = {1}\ny = 1,\nz = []\n");
    }
}
