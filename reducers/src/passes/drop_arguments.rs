use crate::{
    edit::EditSet,
    list::ListKind,
    pass::{Cx, Prior, Proposals, Stage, pass},
};

pass! {
    /// Removes arguments of calls, and base classes and keywords of class definitions.
    ///
    /// ```python before
    /// f(x, *rest, verbose=True)
    /// ```
    /// ```python after
    /// f(x, *rest)
    /// ```
    pub(crate) static DROP_ARGUMENTS = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &Cx<'_>, out: &mut Proposals) {
    for (list, row) in cx.program.lists().iter().enumerate().rev() {
        if row.kind != ListKind::Arguments {
            continue;
        }
        for (item, &range) in row.items.iter().enumerate().rev() {
            let text = cx.program.slice(range);
            let is_keyword = text.split_once('=').is_some_and(|(name, value)| {
                name.trim_end().chars().all(|char| char.is_alphanumeric() || char == '_')
                    && !value.starts_with('=')
            });
            let prior = if is_keyword { Prior::Even } else { Prior::Unlikely };
            let short: String = text.chars().take(40).collect();
            out.propose(EditSet::removal(list as u32, item as u32), prior, format!("argument `{short}`"));
        }
        out.next_group();
    }
}

#[cfg(test)]
mod tests {
    use super::DROP_ARGUMENTS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn the_last_argument_comes_first() {
        check_edits(
            &DROP_ARGUMENTS,
            "f(a, (b), *c, d=e)\n",
            &["f(a, (b), *c)\n", "f(a, (b), d=e)\n", "f(a, *c, d=e)\n", "f((b), *c, d=e)\n"],
        );
    }

    #[test]
    fn bases_are_arguments_of_a_class() {
        check_edits(
            &DROP_ARGUMENTS,
            "class A(B, metaclass=M): pass\n",
            &["class A(B): pass\n", "class A(metaclass=M): pass\n"],
        );
    }

    #[test]
    fn a_call_without_arguments_offers_nothing() {
        check_none(&DROP_ARGUMENTS, "f()\n");
    }
}
