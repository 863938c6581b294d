use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    syntax::{AnyNodeRef, Ranged, TokenKind, rows::RowKind},
};

pass! {
    /// Removes items of `with` statements, and their `as` targets.
    ///
    /// ```python before
    /// with a as b, c: f()
    /// ```
    /// ```python after
    /// with a as b: f()
    /// ```
    pub(crate) static DROP_WITH_ITEMS = Pass { stage: Stage::Shape, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    for row in cx.program.rows().iter().rev() {
        // Other passes remove a statement with a single item, or replace it with its body.
        if row.kind == RowKind::WithItems && row.items.len() > 1 {
            for (item, range) in row.with_ids().rev() {
                let note = format!("item `{}`", cx.program.excerpt(range));
                out.remove(item, Prior::Even, note);
            }
            out.next_group();
        }
    }
    for node in cx.program.tree().nodes.iter().rev() {
        if let AnyNodeRef::WithItem(item) = node.node
            && let Some(target) = &item.optional_vars
            && let Some(range) = cx.program.tail(TokenKind::As, target.range())
        {
            out.delete(
                range,
                Prior::Even,
                format!("target `{}`", cx.program.excerpt(target.range())),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DROP_WITH_ITEMS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn items_and_targets_go() {
        check_edits(
            &DROP_WITH_ITEMS,
            "with ((a) as (b), c, ): f()\n",
            &[
                "with ((a) as (b), ): f()\n",
                "with (c, ): f()\n",
                "with ((a), c, ): f()\n",
            ],
        );
        check_edits(
            &DROP_WITH_ITEMS,
            "with (a), (b): c\n",
            &["with (a): c\n", "with (b): c\n"],
        );
    }

    #[test]
    fn the_only_item_stays() {
        check_none(&DROP_WITH_ITEMS, "with a: b\n");
    }
}
