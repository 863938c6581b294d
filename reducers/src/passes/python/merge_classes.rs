use crate::{
    analysis::statements::Statements,
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        arguments::argument_item,
        edit::{Edit, EditSet},
        reindent::reindented,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, Tree,
        ast::{self, Expr, Stmt},
        scope::Variable,
    },
};

pass! {
    /// Merges a base class into its only subclass, and a class that adds nothing into its base.
    ///
    /// ```python before
    /// class Base(list):
    ///     x = 1
    ///
    /// class Middle(Base):
    ///     y = 2
    ///
    /// class Empty(Middle):
    ///     pass
    ///
    /// Empty()
    /// ```
    /// ```python after
    ///
    /// class Middle(list):
    ///     x = 1
    ///     y = 2
    ///
    /// class Empty(Middle):
    ///     pass
    ///
    /// Empty()
    /// ```
    pub(crate) static MERGE_CLASSES = Pass { stage: Stage::Shape, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let statements = Statements::of(cx.program);
    let tree = cx.program.tree();
    for variable in cx.program.scopes().variables.iter().rev() {
        let Some(class) = class_of(tree, variable) else {
            continue;
        };
        let Some(place) = statements.place(class.range) else {
            continue;
        };
        let found = [
            of_nothing(cx.program, tree, variable, class),
            into_its_heir(cx.program, tree, variable, class),
        ];
        for mut edits in found.into_iter().flatten() {
            edits.remove(place);
            if cx.scales.gains(&edits) {
                out.propose(edits, Prior::Even, format!("class `{}` merged", class.name));
            }
            out.next_group();
        }
    }
}

/// The class that a name stands for, if the name has no other binding and the class is plain.
fn class_of<'a>(tree: &Tree<'a>, variable: &Variable) -> Option<&'a ast::StmtClassDef> {
    let is_plain =
        |class: &&ast::StmtClassDef| class.decorator_list.is_empty() && class.type_params.is_none();
    variable.only_class(tree).filter(is_plain)
}

fn is_nothing(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Pass(_) => true,
        Stmt::Expr(it) => matches!(
            &*it.value,
            Expr::StringLiteral(_) | Expr::EllipsisLiteral(_)
        ),
        _ => false,
    }
}

/// A class that adds nothing: its base, or `object`, replaces it.
fn of_nothing(
    program: &Program,
    tree: &Tree<'_>,
    variable: &Variable,
    class: &ast::StmtClassDef,
) -> Option<EditSet> {
    if !class.body.iter().all(is_nothing) || variable.uses.is_empty() {
        return None;
    }
    let base = match class.arguments.as_deref() {
        None => None,
        Some(it) if it.is_empty() => None,
        Some(it) => match (&*it.args, &*it.keywords) {
            ([only @ (Expr::Name(_) | Expr::Attribute(_))], []) => {
                Some(program.slice(only.range()))
            }
            _ => return None,
        },
    };
    let mut edits = EditSet::default();
    for used in &variable.uses {
        match (base, heir(tree, used.range)) {
            (Some(base), _) => edits.edit(Edit::replace(used.range, base)),
            (None, None) => edits.edit(Edit::replace(used.range, "object")),
            (None, Some(_)) => {
                edits.remove(argument_item(program, used.range)?);
            }
        }
    }
    Some(edits)
}

/// The class that has a name among its bases.
fn heir<'a>(tree: &Tree<'a>, name: TextRange) -> Option<&'a ast::StmtClassDef> {
    tree.nodes.iter().find_map(|node| match node.node {
        AnyNodeRef::StmtClassDef(class) => class
            .bases()
            .iter()
            .any(|base| base.range() == name)
            .then_some(class),
        _ => None,
    })
}

/// A class whose only use is to be a base: its members move to its subclass.
fn into_its_heir(
    program: &Program,
    tree: &Tree<'_>,
    variable: &Variable,
    class: &ast::StmtClassDef,
) -> Option<EditSet> {
    let [only] = variable.uses.as_slice() else {
        return None;
    };
    let heir = heir(tree, only.range).filter(|class_below| class_below.range != class.range)?;
    let mut edits = EditSet::default();
    match class
        .arguments
        .as_deref()
        .filter(|arguments| !arguments.is_empty())
    {
        Some(it) => {
            let inner = program.slice(it.range);
            edits.edit(Edit::replace(
                only.range,
                inner[1..inner.len() - 1].trim().trim_end_matches(','),
            ));
        }
        None => {
            edits.remove(argument_item(program, only.range)?);
        }
    }
    let own: Vec<&str> = heir.body.iter().filter_map(bound).collect();
    let members: Vec<&Stmt> = class
        .body
        .iter()
        .filter(|statement| {
            !is_nothing(statement) && bound(statement).is_none_or(|name| !own.contains(&name))
        })
        .collect();
    let first = heir.body.first()?;
    let indent = program.indentation(first.range())?;
    let newline = program.newline();
    let mut text = String::new();
    for member in &members {
        for line in reindented(program, member.range(), &[], false)? {
            text.push_str(&line);
            text.push_str(newline);
            text.push_str(indent);
        }
    }
    if heir.body.iter().all(is_nothing) && !members.is_empty() {
        let body = TextRange::new(first.start(), heir.body.last()?.end());
        edits.edit(Edit::replace(body, text.trim_end()));
    } else if !text.is_empty() {
        edits.edit(Edit::replace(TextRange::empty(first.start()), text));
    }
    Some(edits)
}

/// The name that a member of a class binds.
fn bound(stmt: &Stmt) -> Option<&str> {
    match stmt {
        Stmt::FunctionDef(it) => Some(it.name.as_str()),
        Stmt::ClassDef(it) => Some(it.name.as_str()),
        Stmt::Assign(it) => match it.targets.as_slice() {
            [Expr::Name(name)] => Some(name.id.as_str()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::MERGE_CLASSES;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn a_class_of_nothing_is_its_base() {
        check_edits(
            &MERGE_CLASSES,
            "class A(b.C):\n    pass\nf(A, A())\n",
            &["f(b.C, b.C())\n"],
        );
        check_edits(
            &MERGE_CLASSES,
            "class A: pass\nclass B(A):\n    x = A()\nB()\n",
            &["class B():\n    x = object()\nB()\n"],
        );
    }

    #[test]
    fn a_base_of_one_class_goes_into_it() {
        check_edits(
            &MERGE_CLASSES,
            "class A(M, metaclass=N):\n    def f(self):\n        return 1\n    x = 1\nclass B(A):\n    x = 2\nB()\n",
            &["class B(M, metaclass=N):\n    def f(self):\n        return 1\n    x = 2\nB()\n"],
        );
        check_edits(
            &MERGE_CLASSES,
            "class A:\n    x = 1\nclass B(A):\n    pass\nf(B)\n",
            &[
                "class A:\n    x = 1\nf(A)\n",
                "class B():\n    x = 1\nf(B)\n",
            ],
        );
    }

    #[test]
    fn classes_with_more_to_them_stay() {
        check_none(&MERGE_CLASSES, "@d\nclass A:\n    pass\nA()\n");
        check_none(&MERGE_CLASSES, "class A:\n    x = 1\nA()\n");
        check_none(
            &MERGE_CLASSES,
            "class A:\n    x = 1\nclass B(A):\n    y = 1\nA(), B()\n",
        );
    }
}
