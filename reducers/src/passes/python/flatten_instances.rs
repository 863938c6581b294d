use std::collections::BTreeSet;

use crate::{
    analysis::{
        calls::{Site, call_of},
        statements::Statements,
    },
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        arguments::substituted,
        edit::{Edit, EditSet},
        reindent::reindented,
        unwrap::unwrap_block,
        without_self::{attribute_of, beginning, first_parameter, prefix, without_self},
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, Tree,
        ast::{Expr, ExprCall, ExprContext, Stmt, StmtClassDef, StmtFunctionDef},
        scope::{Use, Variable},
    },
};

pass! {
    /// Replaces a class that has a single instance with functions and variables.
    ///
    /// The variables are global, or those of the function that creates the instance.
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
            && cx.scales.gains(&edits)
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
    let instance = Instance::of(program, tree, only)?;
    let statements = Statements::of(program);
    // Methods move to where the object is created if a function creates it.
    let goes = instance.is_local || methods.iter().all(|def| def.name.as_str() == "__init__");
    let mut edits = if goes {
        EditSet::removal(statements.place(class.range)?)
    } else {
        // Without the class's header its methods stand at its indentation.
        unwrap_block(program, class.range, &class.body)?
    };
    let mut local: Vec<String> = Vec::new();
    let mut made: Vec<String> = Vec::new();
    let mut is_called = false;
    for &def in &methods {
        let own = def.parameters.iter_non_variadic_params().next()?.name();
        let is_init = def.name.as_str() == "__init__";
        let is_call = def.name.as_str() == "__call__";
        is_called |= is_call;
        if def.name.starts_with("__") && !is_init && !is_call {
            return None;
        }
        let (mut changes, assigned) = without_self(tree, def, own.as_str(), is_init)?;
        if is_init {
            made = instance.begun(program, tree, def, own.as_str())?;
            if !goes {
                edits.remove(statements.place(def.range)?);
            }
            continue;
        }
        if !assigned.is_empty() {
            changes.push(instance.declaration(program, class, def, &assigned)?);
        }
        changes.push(Edit::delete(first_parameter(program, def)?));
        if is_call {
            let (name, _) = instance.variable?;
            changes.push(Edit::replace(def.name.range, name));
        }
        if instance.is_local {
            local.extend(reindented(program, def.range, &changes, false)?);
        } else {
            for change in changes {
                edits.edit(change);
            }
        }
    }
    local.extend(made);
    instance.replace(program, tree, &local, is_called, &mut edits)?;
    Some(edits)
}

/// The one place where a class is called.
struct Instance<'a> {
    call: &'a ExprCall,
    statement: AnyNodeRef<'a>,
    /// The name of the object, and its variable, if the statement assigns it to one.
    variable: Option<(&'a str, &'a Variable)>,
    /// Whether a function creates it.
    is_local: bool,
}

impl<'a> Instance<'a> {
    fn of(program: &'a Program, tree: &Tree<'a>, only: &Use) -> Option<Self> {
        let call = call_of(tree, only.range)?;
        let statement = tree
            .nodes
            .iter()
            .rfind(|node| node.node.is_statement() && node.node.range() == only.statement)?
            .node;
        let variable = match statement {
            AnyNodeRef::StmtAssign(assign) if assign.value.range() == call.range => {
                let [Expr::Name(target)] = assign.targets.as_slice() else {
                    return None;
                };
                let variable = program.scopes().bound_at(target.start())?;
                if variable.bindings.len() != 1 {
                    return None;
                }
                Some((target.id.as_str(), variable))
            }
            _ => None,
        };
        let is_local = function_around(tree, only.statement).is_some();
        Some(Self {
            call,
            statement,
            variable,
            is_local,
        })
    }

    /// The lines of `__init__` with the arguments of the call.
    fn begun(
        &self,
        program: &Program,
        tree: &Tree<'_>,
        init: &StmtFunctionDef,
        own: &str,
    ) -> Option<Vec<String>> {
        let site = Site {
            whole: self.call.range,
            call: Some(self.call),
            receiver: None,
        };
        let (mut lines, changes) = substituted(program, init, &site, 1)?;
        lines.extend(beginning(program, tree, init, own, changes)?);
        // An attribute that is called like the argument that it holds.
        let is_idle = |line: &String| {
            line.split_once(" = ")
                .is_some_and(|(left, right)| left == right)
        };
        lines.retain(|line| !is_idle(line));
        Some(lines)
    }

    /// Whether a place is in the function that creates the object, or in none if none does.
    fn is_here(&self, tree: &Tree<'_>, place: TextRange) -> bool {
        let function = |place| function_around(tree, place).map(|def| def.range);
        function(place) == function(self.statement.range())
    }

    /// The edit by which a method that assigns to attributes declares them as variables from
    /// outside, once it is a function.
    fn declaration(
        &self,
        program: &Program,
        class: &StmtClassDef,
        method: &StmtFunctionDef,
        names: &BTreeSet<&str>,
    ) -> Option<Edit> {
        let body = method.body.first()?.range();
        let deeper = program.indentation(body)?;
        let deeper = deeper.strip_prefix(program.indentation(method.range)?)?;
        let names: Vec<&str> = names.iter().copied().collect();
        let names = names.join(", ");
        let text = if self.is_local {
            format!("nonlocal {names}\n{deeper}")
        } else {
            let outer = program.indentation(class.range)?;
            format!("global {names}{}{outer}{deeper}", program.newline())
        };
        Some(Edit::replace(TextRange::empty(body.start()), text))
    }

    /// Puts some lines before the statement that creates the object, and removes the object from
    /// its uses.
    fn replace(
        &self,
        program: &Program,
        tree: &Tree<'_>,
        lines: &[String],
        is_called: bool,
        edits: &mut EditSet,
    ) -> Option<()> {
        let indent = program.indentation(self.statement.range())?;
        let glue = format!("{}{indent}", program.newline());
        let Some((_, variable)) = self.variable else {
            edits.edit(Edit::delete(prefix(attribute_of(tree, self.call.range)?)));
            if !lines.is_empty() {
                let text = lines
                    .iter()
                    .flat_map(|line| [line.as_str(), &glue])
                    .collect::<String>();
                let place = TextRange::empty(self.statement.start());
                edits.edit(Edit::replace(place, text));
            }
            return Some(());
        };
        // The object's attributes become plain names.
        for used in &variable.uses {
            if is_called && call_of(tree, used.range).is_some() {
                continue;
            }
            let attribute = attribute_of(tree, used.range)?;
            if attribute.ctx != ExprContext::Load && !self.is_here(tree, used.range) {
                return None;
            }
            edits.edit(Edit::delete(prefix(attribute)));
        }
        let text = if lines.is_empty() {
            "pass".to_owned()
        } else {
            lines.join(&glue)
        };
        edits.edit(Edit::replace(self.statement.range(), text));
        Some(())
    }
}

/// The function around a place, if any.
fn function_around<'a>(tree: &Tree<'a>, place: TextRange) -> Option<&'a StmtFunctionDef> {
    let mut functions = tree.nodes.iter().rev().filter_map(|node| match node.node {
        AnyNodeRef::StmtFunctionDef(def)
            if def.range != place && def.range.contains_range(place) =>
        {
            Some(def)
        }
        _ => None,
    });
    functions.next()
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
    fn attributes_that_methods_assign_to_are_declared() {
        check_edits(
            &FLATTEN_INSTANCES,
            "class A:\n    def f(self):\n        self.x = 1\nA().f()\n",
            &["def f():\n    global x\n    x = 1\nf()\n"],
        );
        check_edits(
            &FLATTEN_INSTANCES,
            "class A:\n    def __init__(self):\n        self.x = {}\n    def f(self):\n        self.x = 1\ndef g():\n    a = A()\n    a.y = 2\n    return a.f()\n",
            &[
                "def g():\n    def f():\n        nonlocal x\n        x = 1\n    x = {}\n    y = 2\n    return f()\n",
            ],
        );
    }

    #[test]
    fn arguments_stand_for_parameters() {
        check_edits(
            &FLATTEN_INSTANCES,
            "class A:\n    def __init__(self, x, y=2):\n        self.x = x\n        if y:\n            self.y = g(y)\na = A(x)\na.x.b(a.y)\n",
            &["if 2:\n    y = g(2)\nx.b(y)\n"],
        );
    }

    #[test]
    fn what_a_function_creates_is_of_that_function() {
        check_edits(
            &FLATTEN_INSTANCES,
            "class A:\n    def __init__(self, x):\n        self.x = g(x)\n    def f(self, y):\n        return self.x + y\ndef h(x):\n    a = A(x)\n    return a.f(1)\nh(1)\nh(2)\n",
            &[
                "def h(x):\n    def f(y):\n        return x + y\n    x = g(x)\n    return f(1)\nh(1)\nh(2)\n",
            ],
        );
    }

    #[test]
    fn what_can_be_called_becomes_a_function_of_its_name() {
        check_edits(
            &FLATTEN_INSTANCES,
            "class A:\n    def __init__(self):\n        self.x = 1\n    def __call__(self, y):\n        return self.x + y\na = A()\na(2)\na.x\n",
            &["def a(y):\n    return x + y\nx = 1\na(2)\nx\n"],
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
