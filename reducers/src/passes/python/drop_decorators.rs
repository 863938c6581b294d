use crate::{
    pass::{PassContext, Prior, Proposals, Stage, pass},
    syntax::rows::RowKind,
};

pass! {
    /// Removes decorators from functions and classes.
    ///
    /// ```python before
    /// @trace
    /// def f(): ...
    /// ```
    /// ```python after
    /// def f(): ...
    /// ```
    pub(crate) static DROP_DECORATORS = Pass { stage: Stage::Detail, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    for row in cx.program.rows().iter().rev() {
        if row.kind == RowKind::Decorators {
            for (item, range) in row.with_ids() {
                let note = cx.program.slice(range).lines().next().unwrap_or_default();
                out.remove(item, Prior::Even, format!("`{note}`"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::DROP_DECORATORS;
    use crate::testing::{check_all, check_edits, check_none};

    #[test]
    fn each_decorator_is_an_attempt_of_its_own() {
        check_edits(
            &DROP_DECORATORS,
            "@a\n@b(\n    1,\n)  # two\nclass C: pass\n",
            &[
                "@b(\n    1,\n)  # two\nclass C: pass\n",
                "@a\nclass C: pass\n",
            ],
        );
    }

    #[test]
    fn decorators_of_methods_keep_the_indentation() {
        check_all(
            &DROP_DECORATORS,
            "class C:\n    @p\n    # why\n    @q\n    def f(self): pass\n",
            "class C:\n    # why\n    def f(self): pass\n",
        );
    }

    #[test]
    fn plain_functions_have_none() {
        check_none(&DROP_DECORATORS, "def f(): return a @ b\n");
    }
}
