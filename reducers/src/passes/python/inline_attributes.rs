use std::collections::BTreeMap;

use crate::{
    analysis::{
        calls::{Movable, formatted_strings},
        statements::Statements,
    },
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{arguments::put, edit::EditSet},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize, Tree,
        ast::{Expr, ExprContext, StmtAssign},
        scope::ScopeKind,
    },
};

pass! {
    /// Replaces an attribute that is set once with its value.
    ///
    /// ```python before
    /// class A:
    ///     def __init__(self):
    ///         self.size = 3
    ///         f(self.size)
    /// ```
    /// ```python after
    /// class A:
    ///     def __init__(self):
    ///         f(3)
    /// ```
    pub(crate) static INLINE_ATTRIBUTES = Pass { stage: Stage::Detail, propose };
}

/// The bindings and uses of all attributes of one name.
#[derive(Default)]
struct Attribute<'a> {
    /// The plain assignment that sets it, if there is one, and the range of any other binding.
    set: Vec<Option<&'a StmtAssign>>,
    read: Vec<TextRange>,
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let tree = cx.program.tree();
    let statements = Statements::of(cx.program);
    let movable = Movable::of(cx.program, tree);
    let strings = formatted_strings(tree);
    for (name, attribute) in attributes(cx.program, tree).into_iter().rev() {
        let [Some(assign)] = attribute.set.as_slice() else {
            continue;
        };
        let times = attribute.read.len();
        if times == 0 || !movable.allows(&assign.value, times) {
            continue;
        }
        let Some(place) = statements.place(assign.range) else {
            continue;
        };
        let mut edits = EditSet::removal(place);
        let fits = put(
            cx.program,
            &strings,
            &assign.value,
            attribute.read,
            &mut edits,
        )
        .is_some();
        if fits && cx.scales.gains(&edits) {
            out.propose(
                edits,
                Prior::Even,
                format!("attribute `{name}` replaced with its value"),
            );
        }
        out.next_group();
    }
}

/// Attributes by their names: those of objects, and the variables of classes.
fn attributes<'a>(program: &'a Program, tree: &Tree<'a>) -> BTreeMap<&'a str, Attribute<'a>> {
    let mut found: BTreeMap<&str, Attribute<'_>> = BTreeMap::new();
    let mut targets: BTreeMap<TextSize, &StmtAssign> = BTreeMap::new();
    for node in &tree.nodes {
        match node.node {
            AnyNodeRef::StmtAssign(assign) => {
                if let [target @ (Expr::Attribute(_) | Expr::Name(_))] = assign.targets.as_slice() {
                    targets.insert(target.start(), assign);
                }
            }
            AnyNodeRef::ExprAttribute(it) => {
                let attribute = found.entry(it.attr.as_str()).or_default();
                if it.ctx == ExprContext::Load {
                    attribute.read.push(it.range);
                } else {
                    let whole = targets
                        .get(&it.start())
                        .filter(|assign| assign.targets[0].range() == it.range);
                    attribute.set.push(whole.copied());
                }
            }
            _ => {}
        }
    }
    for variable in program
        .scopes()
        .variables
        .iter()
        .filter(|variable| variable.scope == ScopeKind::Class)
    {
        let attribute = found.entry(variable.name.as_str()).or_default();
        attribute.set.extend(
            variable
                .bindings
                .iter()
                .map(|binding| targets.get(&binding.range.start()).copied()),
        );
        attribute
            .read
            .extend(variable.uses.iter().map(|usage| usage.range));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::INLINE_ATTRIBUTES;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn attributes_of_objects_and_classes() {
        check_edits(
            &INLINE_ATTRIBUTES,
            "class A:\n    x = 1\n    y = x + 2\n    def f(self): self.z = B()\nprint(A.x, A().z.c)\n",
            &[
                "class A:\n    x = 1\n    y = x + 2\n    def f(self): pass\nprint(A.x, B().c)\n",
                "class A:\n    y = 1 + 2\n    def f(self): self.z = B()\nprint(1, A().z.c)\n",
            ],
        );
    }

    #[test]
    fn what_is_set_twice_or_depends_on_its_place_stays() {
        check_none(
            &INLINE_ATTRIBUTES,
            "a.x = 1\na.x = 2\nprint(a.x)\ndef f(p):\n    a.y = p\n    a.z += 1\n    return a.y + a.z\nimport os\nos.sep\n",
        );
    }
}
