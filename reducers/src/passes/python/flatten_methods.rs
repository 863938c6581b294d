use crate::{
    analysis::{
        calls::{Movable, class_around},
        statements::Statements,
    },
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        arguments::Places,
        edit::{Edit, EditSet},
    },
    syntax::{
        AnyNodeRef, Program, Ranged, Tree,
        ast::{Expr, Stmt, StmtFunctionDef},
        rows::RowKind,
    },
};

pass! {
    /// Turns properties into plain attributes, and class methods into functions of their class.
    ///
    /// A property that returns a constant becomes an attribute, and one that returns another
    /// attribute is replaced with that attribute. A class method that does not use its class loses
    /// its decorator and that parameter.
    ///
    /// ```python before
    /// class A:
    ///     @property
    ///     def size(self):
    ///         return 3
    /// ```
    /// ```python after
    /// class A:
    ///     size = 3
    /// ```
    pub(crate) static FLATTEN_METHODS = Pass { stage: Stage::Shape, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let tree = cx.program.tree();
    let methods = Methods {
        program: cx.program,
        tree,
        movable: Movable::of(cx.program, tree),
        places: Places::of(cx.program),
        statements: Statements::of(cx.program),
    };
    for node in tree.nodes.iter().rev() {
        let AnyNodeRef::StmtFunctionDef(def) = node.node else {
            continue;
        };
        let ([decorator], Some(_)) = (
            def.decorator_list.as_slice(),
            class_around(tree, node.parent),
        ) else {
            continue;
        };
        let edits = match decorator
            .expression
            .as_name_expr()
            .map(|name| name.id.as_str())
        {
            Some("property" | "cached_property") => methods.property(def),
            Some("classmethod") => methods.without_class(def),
            _ => continue,
        };
        if let Some(edits) = edits.filter(|edits| cx.scales.gains(edits)) {
            out.propose(edits, Prior::Even, format!("decorator of `{}`", def.name));
        }
    }
}

/// The methods of a program, and where they are used.
struct Methods<'a> {
    program: &'a Program,
    tree: &'a Tree<'a>,
    movable: Movable<'a>,
    places: Places<'a>,
    statements: Statements<'a>,
}

impl Methods<'_> {
    /// A property becomes its value.
    fn property(&self, def: &StmtFunctionDef) -> Option<EditSet> {
        let [Stmt::Return(stmt)] = def.body.as_slice() else {
            return None;
        };
        let value = stmt.value.as_deref()?;
        if let Expr::Attribute(other) = value
            && other
                .value
                .as_name_expr()
                .is_some_and(|name| def.parameters.includes(&name.id))
        {
            return self.renamed(def, other.attr.as_str());
        }
        let text = self.program.slice(value.range());
        let is_movable = self.movable.allows(value, 1) && !text.contains('\n');
        is_movable.then(|| EditSet::one(Edit::replace(def.range, format!("{} = {text}", def.name))))
    }

    /// A property becomes the attribute that it returns.
    fn renamed(&self, def: &StmtFunctionDef, other: &str) -> Option<EditSet> {
        let place = self.statements.place(def.range)?;
        let mut edits = EditSet::removal(place);
        for node in &self.tree.nodes {
            if let AnyNodeRef::ExprAttribute(it) = node.node
                && it.attr.id == def.name.id
            {
                edits.edit(Edit::replace(it.attr.range, other));
            }
        }
        Some(edits)
    }

    /// A class method loses its decorator and its class parameter.
    fn without_class(&self, def: &StmtFunctionDef) -> Option<EditSet> {
        let class = def
            .parameters
            .iter_source_order()
            .next()
            .filter(|parameter| !parameter.is_variadic())?;
        let start = class.name().start();
        let own = self.program.scopes().bound_at(start);
        let is_used = own.is_some_and(|variable| !variable.uses.is_empty());
        let place = self.places.parameter(start).filter(|_| !is_used)?;
        let mut edits = EditSet::removal(place);
        let decorator = def.decorator_list[0].range;
        let mut rows = self.program.rows().iter();
        let row =
            rows.find(|row| row.kind == RowKind::Decorators && row.items.contains(&decorator))?;
        edits.remove(row.id(0));
        Some(edits)
    }
}

#[cfg(test)]
mod tests {
    use super::FLATTEN_METHODS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn properties_become_what_they_return() {
        check_edits(
            &FLATTEN_METHODS,
            "class A:\n    @property\n    def p(self): return self._p\nprint(A().p)\n",
            &["class A:\n    pass\nprint(A()._p)\n"],
        );
        check_edits(
            &FLATTEN_METHODS,
            "class A:\n    @cached_property\n    def p(self):\n        return B(1)\n    x = 1\n",
            &["class A:\n    p = B(1)\n    x = 1\n"],
        );
    }

    #[test]
    fn class_methods_lose_their_class() {
        check_edits(
            &FLATTEN_METHODS,
            "class A:\n    @classmethod\n    def m(cls, a): return a\nA.m(1)\n",
            &["class A:\n    def m(a): return a\nA.m(1)\n"],
        );
    }

    #[test]
    fn methods_that_need_what_they_are_given_stay() {
        check_none(
            &FLATTEN_METHODS,
            "class A:\n    @property\n    def p(self): return f(self)\n    @classmethod\n    def m(cls): return cls()\n    @other\n    def o(self): return 1\n",
        );
    }
}
