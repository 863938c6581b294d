use std::collections::BTreeSet;

use crate::{
    analysis::calls::{Calls, class_around, given},
    pass::{PassContext, Prior, Proposals, Stage, pass},
    syntax::{AnyNodeRef, Program, TextSize, rows::RowKind},
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

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let required = required(cx.program);
    for row in cx.program.rows().iter().rev() {
        if row.kind != RowKind::Arguments {
            continue;
        }
        for (item, range) in row.with_ids().rev() {
            if required.contains(&range.start()) {
                continue;
            }
            let text = cx.program.slice(range);
            let is_keyword = text.split_once('=').is_some_and(|(name, value)| {
                name.trim_end()
                    .chars()
                    .all(|char| char.is_alphanumeric() || char == '_')
                    && !value.starts_with('=')
            });
            let prior = if is_keyword {
                Prior::Even
            } else {
                Prior::Unlikely
            };
            let note = format!("argument `{}`", cx.program.excerpt(range));
            out.remove(item, prior, note);
        }
        out.next_group();
    }
}

/// The starts of the arguments that a function of the program requires: they are removed with their
/// parameters.
fn required(program: &Program) -> BTreeSet<TextSize> {
    let tree = program.tree();
    let calls = Calls::of(tree);
    let mut found = BTreeSet::new();
    for node in &tree.nodes {
        let AnyNodeRef::StmtFunctionDef(def) = node.node else {
            continue;
        };
        let class = class_around(tree, node.parent);
        let receiver = usize::from(class.is_some());
        let calls = calls.of_function(def, class);
        let parameters = def
            .parameters
            .iter_non_variadic_params()
            .enumerate()
            .skip(receiver);
        for (position, parameter) in parameters.filter(|(_, parameter)| parameter.default.is_none())
        {
            let arguments = calls
                .iter()
                .filter_map(|call| given(call, parameter.name(), position - receiver).argument());
            found.extend(arguments.map(|(start, _)| start));
        }
    }
    found
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
            &[
                "f(a, (b), *c)\n",
                "f(a, (b), d=e)\n",
                "f(a, *c, d=e)\n",
                "f((b), *c, d=e)\n",
            ],
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
    fn what_a_function_needs_goes_with_its_parameter() {
        check_edits(
            &DROP_ARGUMENTS,
            "def f(a, b=0, *c, d): pass\nf(1, 2, 3, d=4)\n",
            &[
                "def f(a, b=0, *c, d): pass\nf(1, 2, d=4)\n",
                "def f(a, b=0, *c, d): pass\nf(1, 3, d=4)\n",
            ],
        );
    }

    #[test]
    fn a_call_without_arguments_offers_nothing() {
        check_none(&DROP_ARGUMENTS, "f()\n");
    }
}
