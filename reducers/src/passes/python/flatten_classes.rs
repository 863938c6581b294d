use crate::{
    analysis::statements::Statements,
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        edit::{Edit, EditSet},
        unwrap::unwrap_block,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, Tree,
        ast::{Expr, ExprContext, Stmt, StmtClassDef, StmtFunctionDef},
        rows::RowKind,
        scope::{Use, Variable},
    },
};

pass! {
    /// Turns a class whose only method does not use its object into a function.
    ///
    /// ```python before
    /// class Runner:
    ///     def run(self, x):
    ///         return f(x)
    /// runner = Runner()
    /// runner.run(1)
    /// ```
    /// ```python after
    /// def run(x):
    ///     return f(x)
    /// run(1)
    /// ```
    pub(crate) static FLATTEN_CLASSES = Pass { stage: Stage::Shape, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let tree = cx.program.tree();
    let variables = &cx.program.scopes().variables;
    for variable in variables.iter().rev() {
        let class = variable.only_class(tree);
        let Some((class, method)) = class.and_then(|class| Some((class, only_method(class)?)))
        else {
            continue;
        };
        let name = method.name.as_str();
        // The function must not take the name of something else.
        let is_free = variables.iter().all(|variable| {
            variable.name != *name
                || variable
                    .bindings
                    .iter()
                    .all(|binding| class.range.contains_range(binding.range))
        });
        if let Some(edits) = flatten(cx.program, tree, class, method, variable)
            && is_free
            && cx.scales.gains(&edits)
        {
            out.propose(
                edits,
                Prior::Even,
                format!("function {name} for class {}", class.name),
            );
        }
        out.next_group();
    }
}

/// The method of a class that has nothing else and inherits nothing.
fn only_method(class: &StmtClassDef) -> Option<&StmtFunctionDef> {
    match class.body.as_slice() {
        [Stmt::FunctionDef(method)]
            if class
                .arguments
                .as_ref()
                .is_none_or(|arguments| arguments.is_empty())
                && class.decorator_list.is_empty()
                && method.decorator_list.is_empty()
                && !method.name.starts_with("__") =>
        {
            Some(method)
        }
        _ => None,
    }
}

fn flatten(
    program: &Program,
    tree: &Tree<'_>,
    class: &StmtClassDef,
    method: &StmtFunctionDef,
    variable: &Variable,
) -> Option<EditSet> {
    let receiver = method.parameters.iter_source_order().next()?;
    let own = program.scopes().bound_at(receiver.name().start());
    let is_used = own.is_some_and(|variable| !variable.uses.is_empty());
    if is_used || receiver.is_variadic() {
        return None;
    }
    let mut edits = unwrap_block(program, class.range, &class.body)?;
    for row in program.rows() {
        if row.kind == RowKind::Parameters && row.inner.start() == receiver.start() {
            edits.remove(row.id(0));
        }
    }
    let uses = Uses {
        program,
        tree,
        statements: Statements::of(program),
        method: method.name.as_str(),
    };
    variable
        .uses
        .iter()
        .try_for_each(|usage| uses.replace(usage, &mut edits))
        .map(|()| edits)
}

/// Where a class is used.
struct Uses<'a> {
    program: &'a Program,
    tree: &'a Tree<'a>,
    statements: Statements<'a>,
    method: &'a str,
}

impl Uses<'_> {
    /// `A().run` and `a = A()` with `a.run` become `run`; `None` for any other use.
    fn replace(&self, class: &Use, edits: &mut EditSet) -> Option<()> {
        let at = self
            .tree
            .nodes
            .iter()
            .position(|node| node.node.range() == class.range && node.node.is_expr_name())?;
        let parent = |at: usize| self.tree.nodes[at].parent.map(|at| at as usize);
        let call = parent(at)?;
        let AnyNodeRef::ExprCall(made) = self.tree.nodes[call].node else {
            return None;
        };
        if !made.arguments.is_empty() {
            return None;
        }
        match self.tree.nodes[parent(call)?].node {
            AnyNodeRef::ExprAttribute(it) => self.put(it.attr.as_str(), it.range, edits),
            AnyNodeRef::StmtAssign(assign) => {
                let [Expr::Name(object)] = assign.targets.as_slice() else {
                    return None;
                };
                let variable = self.program.scopes().bound_at(object.start())?;
                if variable.bindings.len() != 1 {
                    return None;
                }
                let place = self.statements.place(assign.range)?;
                edits.remove(place);
                variable.uses.iter().try_for_each(|usage| {
                    let looked_into = self.tree.nodes.iter().find_map(|node| match node.node {
                        AnyNodeRef::ExprAttribute(attribute)
                            if attribute.value.range() == usage.range =>
                        {
                            Some(attribute)
                        }
                        _ => None,
                    })?;
                    let is_load = looked_into.ctx == ExprContext::Load;
                    is_load
                        .then(|| self.put(looked_into.attr.as_str(), looked_into.range, edits))?
                })
            }
            _ => None,
        }
    }

    fn put(&self, attribute: &str, place: TextRange, edits: &mut EditSet) -> Option<()> {
        (attribute == self.method).then(|| edits.edit(Edit::replace(place, attribute)))
    }
}

#[cfg(test)]
mod tests {
    use super::FLATTEN_CLASSES;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn the_method_is_a_function() {
        check_edits(
            &FLATTEN_CLASSES,
            "class A:\n    async def f(self): return 1\nA().f()\n",
            &["async def f(): return 1\nf()\n"],
        );
    }

    #[test]
    fn a_method_that_needs_its_object_stays() {
        check_none(
            &FLATTEN_CLASSES,
            "class A:\n    def f(self): return self\nA().f()\n",
        );
        check_none(
            &FLATTEN_CLASSES,
            "class A:\n    def f(self): pass\nprint(A)\n",
        );
        check_none(
            &FLATTEN_CLASSES,
            "class A:\n    def f(self): pass\nA(1).f()\n",
        );
        check_none(
            &FLATTEN_CLASSES,
            "def f(): pass\nclass A:\n    def f(self): pass\nA().f()\n",
        );
    }
}
