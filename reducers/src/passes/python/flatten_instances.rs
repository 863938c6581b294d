use std::collections::{BTreeMap, BTreeSet};

use crate::{
    analysis::statements::Statements,
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        edit::{Edit, EditSet},
        gain::gains,
        unwrap::unwrap_block,
        without_self::{attribute_of, beginning, first_parameter, prefix, without_self},
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize, Tree,
        ast::{Expr, ExprAttribute, ExprCall, ExprContext, Stmt, StmtClassDef, StmtFunctionDef},
        scope::Use,
    },
};

pass! {
    /// Replaces a class that has a single instance with functions and global variables.
    ///
    /// ```python before
    /// class Log:
    ///     def __init__(self):
    ///         self.lines = open(path)
    ///     def read(self, count):
    ///         next(self.lines)
    ///
    /// log = Log()
    /// log.read(2)
    /// ```
    /// ```python after
    /// def read(count):
    ///     next(lines)
    ///
    /// lines = open(path)
    /// read(2)
    /// ```
    pub(crate) static FLATTEN_INSTANCES = Pass { stage: Stage::Shape, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let tree = cx.program.tree();
    for variable in cx.program.scopes().variables.iter().rev() {
        let [only] = variable.uses.as_slice() else {
            continue;
        };
        let class = variable.only_class(tree);
        if let Some(edits) = class.and_then(|class| flat(cx.program, tree, class, only))
            && gains(cx.program, &edits)
        {
            out.propose(edits, Prior::Even, format!("instance `{}`", variable.name));
        }
        out.next_group();
    }
}

/// The edits that remove a class whose only use is `only`.
fn flat(program: &Program, tree: &Tree<'_>, class: &StmtClassDef, only: &Use) -> Option<EditSet> {
    let is_plain = class.decorator_list.is_empty()
        && class.type_params.is_none()
        && class
            .arguments
            .as_ref()
            .is_none_or(|arguments| arguments.is_empty());
    if !is_plain || class.range.contains_range(only.range) {
        return None;
    }
    let methods: Option<Vec<&StmtFunctionDef>> = class
        .body
        .iter()
        .map(|stmt| match stmt {
            Stmt::FunctionDef(def) if def.decorator_list.is_empty() => Some(def),
            _ => None,
        })
        .collect();
    let methods = methods?;
    // Without the class's header its methods stand at its indentation.
    let mut edits = unwrap_block(program, class.range, &class.body)?;
    let mut made: Vec<String> = Vec::new();
    let mut begun = BTreeSet::new();
    for &def in &methods {
        let own = def.parameters.iter_non_variadic_params().next()?.name();
        let is_init = def.name.as_str() == "__init__";
        if def.name.starts_with("__") && !is_init {
            return None;
        }
        let assigned = without_self(tree, def, own.as_str(), is_init, &mut edits)?;
        if !assigned.is_empty() {
            edits.edit(global(program, class, def, &assigned)?);
        }
        if is_init {
            begun = attributes_made(def);
            made = beginning(program, tree, def, own.as_str())?;
            let place = Statements::of(program).place(def.range)?;
            edits.remove(place);
        } else {
            edits.edit(Edit::delete(first_parameter(program, def)?));
        }
    }
    let assigned = at_the_call(program, tree, only, &made, &mut edits)?;
    add_globals(program, tree, only, begun, assigned, &mut edits)?;
    Some(edits)
}

/// The attributes that `__init__` assigns to.
fn attributes_made(def: &StmtFunctionDef) -> BTreeSet<&str> {
    let targets = def.body.iter().filter_map(Stmt::as_assign_stmt);
    let attributes = targets.flat_map(|assign| &assign.targets);
    let attributes = attributes.filter_map(Expr::as_attribute_expr);
    attributes
        .map(|attribute| attribute.attr.as_str())
        .collect()
}

/// The edit that makes the names that a method assigns to global, once it is a function.
fn global(
    program: &Program,
    class: &StmtClassDef,
    def: &StmtFunctionDef,
    names: &BTreeSet<&str>,
) -> Option<Edit> {
    let first = def.body.first()?.start();
    let outer = program.indentation(class.range)?;
    let inner = program.indentation(class.body.first()?.range())?;
    let deeper = program.indentation(def.body.first()?.range())?;
    let deeper = deeper.strip_prefix(inner)?;
    let names: Vec<&str> = names.iter().copied().collect();
    let names = names.join(", ");
    let text = format!("global {names}{}{outer}{deeper}", program.newline());
    Some(Edit::replace(TextRange::empty(first), text))
}

/// Makes the attributes global that functions assign to: one that creates the object the attributes
/// with which that begins, and each the others.
fn add_globals<'a>(
    program: &Program,
    tree: &Tree<'a>,
    only: &Use,
    begun: BTreeSet<&'a str>,
    assigned: Vec<&'a ExprAttribute>,
    edits: &mut EditSet,
) -> Option<()> {
    let mut names: BTreeMap<TextSize, (&StmtFunctionDef, BTreeSet<&str>)> = BTreeMap::new();
    let begun = begun.into_iter().map(|name| (only.range, name));
    let assigned = assigned
        .into_iter()
        .map(|attribute| (attribute.range, attribute.attr.as_str()));
    for (place, name) in begun.chain(assigned) {
        let mut functions = tree.nodes.iter().rev().filter_map(|node| match node.node {
            AnyNodeRef::StmtFunctionDef(def) if def.range.contains_range(place) => Some(def),
            _ => None,
        });
        if let Some(def) = functions.next() {
            let (_, of_function) = names
                .entry(def.start())
                .or_insert_with(|| (def, BTreeSet::new()));
            of_function.insert(name);
        }
    }
    for (def, names) in names.into_values() {
        let names: Vec<&str> = names.into_iter().collect();
        let names = names.join(", ");
        let first = def.body.first()?.range();
        edits.edit(Edit::before(program, first, &format!("global {names}")));
    }
    Some(())
}

/// Puts the body of `__init__` before the statement that creates the object, and removes the object
/// from its uses. Returns the attributes that are assigned to there.
fn at_the_call<'a>(
    program: &Program,
    tree: &Tree<'a>,
    only: &Use,
    made: &[String],
    edits: &mut EditSet,
) -> Option<Vec<&'a ExprAttribute>> {
    let call: &ExprCall = tree.nodes.iter().find_map(|node| match node.node {
        AnyNodeRef::ExprCall(call)
            if call.func.range() == only.range && call.arguments.is_empty() =>
        {
            Some(call)
        }
        _ => None,
    })?;
    let statement = tree
        .nodes
        .iter()
        .rfind(|node| node.node.is_statement() && node.node.range() == only.statement)?;
    let indent = program.indentation(only.statement)?;
    let glue = format!("{}{indent}", program.newline());
    let mut assigned = Vec::new();
    match statement.node {
        // A variable for the object: its attributes become plain names.
        AnyNodeRef::StmtAssign(assign) if assign.value.range() == call.range => {
            let [Expr::Name(target)] = assign.targets.as_slice() else {
                return None;
            };
            let variable = program.scopes().bound_at(target.start())?;
            if variable.bindings.len() != 1 {
                return None;
            }
            for used in &variable.uses {
                let attribute = attribute_of(tree, used.range)?;
                if attribute.ctx != ExprContext::Load {
                    assigned.push(attribute);
                }
                edits.edit(Edit::delete(prefix(attribute)));
            }
            let text = if made.is_empty() {
                "pass".to_owned()
            } else {
                made.join(&glue)
            };
            edits.edit(Edit::replace(assign.range, text));
        }
        _ => {
            edits.edit(Edit::delete(prefix(attribute_of(tree, call.range)?)));
            if !made.is_empty() {
                let text = made
                    .iter()
                    .flat_map(|line| [line.as_str(), &glue])
                    .collect::<String>();
                edits.edit(Edit::replace(
                    TextRange::empty(only.statement.start()),
                    text,
                ));
            }
        }
    }
    Some(assigned)
}

#[cfg(test)]
mod tests {
    use super::FLATTEN_INSTANCES;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn methods_become_functions() {
        check_edits(
            &FLATTEN_INSTANCES,
            "class A:\n    def f(self):\n        return self.g(1)\n    def g(self, x):\n        return x\nA().f()\n",
            &["def f():\n    return g(1)\ndef g(x):\n    return x\nf()\n"],
        );
    }

    #[test]
    fn what_the_beginning_calls_is_called_then() {
        check_edits(
            &FLATTEN_INSTANCES,
            "class A:\n    def __init__(self):\n        self.x = []\n        self.x.append(self.f, myself.g)\n    def f(self):\n        pass\na = A()\na.x\n",
            &["def f():\n    pass\nx = []\nx.append(f, myself.g)\nx\n"],
        );
    }

    #[test]
    fn attributes_that_functions_assign_to_are_global() {
        check_edits(
            &FLATTEN_INSTANCES,
            "class A:\n    def f(self):\n        self.x = 1\nA().f()\n",
            &["def f():\n    global x\n    x = 1\nf()\n"],
        );
        check_edits(
            &FLATTEN_INSTANCES,
            "class A:\n    def __init__(self):\n        self.x = {}\n    def f(self): return self.x\ndef g():\n    a = A()\n    a.y = 1\n    return a.f()\n",
            &[
                "def f(): return x\ndef g():\n    global x, y\n    x = {}\n    y = 1\n    return f()\n",
            ],
        );
    }

    #[test]
    fn objects_of_other_use_stay() {
        check_none(
            &FLATTEN_INSTANCES,
            "class A:\n    def f(self):\n        g(self)\nA().f()\n",
        );
        check_none(
            &FLATTEN_INSTANCES,
            "class A(B):\n    def f(self):\n        pass\nA().f()\n",
        );
        check_none(
            &FLATTEN_INSTANCES,
            "class A:\n    def f(self):\n        pass\na = A()\nh(a)\n",
        );
        check_none(
            &FLATTEN_INSTANCES,
            "class A:\n    def f(self):\n        pass\nA().f()\nA().f()\n",
        );
    }
}
