use crate::{
    analysis::statements::Statements,
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::{
        edit::{Edit, EditSet, rewritten},
        parenthesize::is_atom,
        reindent::reindented,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, Tree,
        ast::{Expr, Stmt, StmtClassDef, StmtFunctionDef, StmtWith},
        scope::Variable,
    },
};

pass! {
    /// Replaces the only `with` of a context manager with the bodies of its `__enter__` and
    /// `__exit__`.
    ///
    /// ```python before
    /// class Log:
    ///     def __enter__(self):
    ///         self.file = open(path)
    ///         return self
    ///     def __exit__(self, *error):
    ///         self.file.close()
    ///
    /// with Log() as log:
    ///     f(log)
    /// ```
    /// ```python after
    /// class Log:
    ///     pass
    ///
    /// log = Log()
    /// log.file = open(path)
    /// f(log)
    /// log.file.close()
    /// ```
    pub(crate) static INLINE_MANAGERS = Pass { stage: Stage::Shape, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let program = cx.program;
    let tree = program.tree();
    let statements = Statements::of(program);
    for node in &tree.nodes {
        let AnyNodeRef::StmtWith(with) = node.node else {
            continue;
        };
        let Some(manager) = Manager::of(tree, with) else {
            continue;
        };
        let Some(text) = manager.inlined(program) else {
            continue;
        };
        let mut edits = EditSet::one(Edit::replace(with.range, text));
        let places = manager.methods().map(|def| statements.place(def.range));
        let Some(places) = places.collect::<Option<Vec<_>>>() else {
            continue;
        };
        for place in places {
            edits.remove(place);
        }
        if cx.scales.gains(&edits) {
            let note = format!("`with` of `{}` inlined", manager.class.name);
            out.propose(edits, Prior::Even, note);
        }
        out.next_group();
    }
}

/// A `with` statement that alone enters the instances of a class.
struct Manager<'a> {
    with: &'a StmtWith,
    class: &'a StmtClassDef,
    enter: &'a StmtFunctionDef,
    exit: &'a StmtFunctionDef,
}

impl<'a> Manager<'a> {
    /// The class whose name is called in the head of a `with` statement, if both of its methods are
    /// simple.
    fn of(tree: &Tree<'a>, with: &'a StmtWith) -> Option<Self> {
        let [item] = with.items.as_slice() else {
            return None;
        };
        let name = made(&item.context_expr)?;
        let mut others = tree.nodes.iter().filter_map(|node| match node.node {
            AnyNodeRef::StmtWith(other) => Some(&other.items),
            _ => None,
        });
        if others.any(|items| {
            let mut entered = items.iter().map(|item| &item.context_expr);
            entered
                .any(|expr| made(expr) == Some(name) && expr.range() != item.context_expr.range())
        }) {
            return None;
        }
        let class = tree.nodes.iter().find_map(|node| match node.node {
            AnyNodeRef::StmtClassDef(class) if class.name.as_str() == name => Some(class),
            _ => None,
        })?;
        let method = |name: &str| {
            let found = class.body.iter().find_map(|statement| {
                let def = statement.as_function_def_stmt()?;
                (def.name.as_str() == name).then_some(def)
            })?;
            // A plain method of an asynchronous block may fail before its result is awaited.
            let fits = with.is_async || !found.is_async;
            let is_simple = found.decorator_list.is_empty() && ends_at_its_end(tree, found);
            (fits && is_simple).then_some(found)
        };
        let [enter, exit] = if with.is_async {
            ["__aenter__", "__aexit__"]
        } else {
            ["__enter__", "__exit__"]
        };
        Some(Self {
            with,
            class,
            enter: method(enter)?,
            exit: method(exit)?,
        })
    }

    fn methods(&self) -> impl Iterator<Item = &'a StmtFunctionDef> {
        [self.enter, self.exit].into_iter()
    }

    /// The text that replaces the statement.
    fn inlined(&self, program: &Program) -> Option<String> {
        let item = self.with.items.first()?;
        let target = item.optional_vars.as_deref();
        let returned = returned(self.enter);
        let own = self_of(self.enter)?;
        let returns_itself =
            returned.is_some_and(|value| value.as_name_expr().is_some_and(|name| name.id == *own));
        let name = match target {
            Some(Expr::Name(target)) if returns_itself => target.id.as_str(),
            _ => own,
        };
        if name == own && is_used_around(program, self.with.range, own) {
            return None;
        }
        let mut lines = vec![format!(
            "{name} = {}",
            program.slice(item.context_expr.range())
        )];
        lines.extend(lines_of(program, self.enter, name, target.is_some())?);
        if let Some(target) = target
            && !(returns_itself && target.is_name_expr())
        {
            let value = match returned {
                Some(value) => {
                    rewritten(program, value.range(), &renamed(program, self.enter, name)?)?
                }
                None => "None".to_owned(),
            };
            lines.push(format!("{} = {value}", program.slice(target.range())));
        }
        let body = TextRange::new(
            self.with.body.first()?.start(),
            self.with.body.last()?.end(),
        );
        if !matches!(self.with.body.as_slice(), [Stmt::Pass(_)]) {
            lines.extend(reindented(program, body, &[], false)?);
        }
        lines.extend(lines_of(program, self.exit, name, false)?);
        let indent = program.indentation(self.with.range)?;
        Some(lines.join(&format!("{}{indent}", program.newline())))
    }
}

/// The name that an expression calls.
fn made(expr: &Expr) -> Option<&str> {
    let call = expr.as_call_expr()?;
    Some(call.func.as_name_expr()?.id.as_str())
}

/// Whether a function neither yields nor returns before its end.
fn ends_at_its_end(tree: &Tree<'_>, def: &StmtFunctionDef) -> bool {
    let last = def.body.last().map(Ranged::range);
    let mut inner = tree
        .nodes
        .iter()
        .filter(|node| def.range.contains_range(node.node.range()));
    !inner.any(|node| match node.node {
        AnyNodeRef::StmtReturn(it) => Some(it.range) != last,
        AnyNodeRef::ExprYield(_)
        | AnyNodeRef::ExprYieldFrom(_)
        | AnyNodeRef::StmtGlobal(_)
        | AnyNodeRef::StmtNonlocal(_) => true,
        _ => false,
    })
}

/// The value at the end of a function.
fn returned(def: &StmtFunctionDef) -> Option<&Expr> {
    def.body.last()?.as_return_stmt()?.value.as_deref()
}

/// The parameter of a method for its instance.
fn self_of(def: &StmtFunctionDef) -> Option<&str> {
    let first = def.parameters.iter_non_variadic_params().next()?;
    Some(first.name().as_str())
}

/// The variables of a function that are its parameters.
fn parameters<'p>(
    program: &'p Program,
    def: &StmtFunctionDef,
) -> impl Iterator<Item = &'p Variable> {
    let range = def.parameters.range;
    let variables = program.scopes().variables.iter();
    variables.filter(move |variable| {
        let mut bindings = variable.bindings.iter();
        bindings.any(|binding| range.contains_range(binding.range))
    })
}

/// The edits that give a method the name of its instance, and nothing but `None` about an error.
/// Nothing if it binds a parameter anew.
fn renamed(program: &Program, def: &StmtFunctionDef, name: &str) -> Option<Vec<Edit>> {
    let own = self_of(def)?;
    let mut edits = Vec::new();
    for variable in parameters(program, def) {
        if variable.bindings.len() > 1 {
            return None;
        }
        let text = if variable.name == own { name } else { "None" };
        let uses = variable.uses.iter();
        edits.extend(uses.map(|used| Edit::replace(used.range, text)));
    }
    Some(edits)
}

/// The statements of a method for an instance with a name, without what it returns. Nothing if that
/// would be lost and may have an effect.
fn lines_of(
    program: &Program,
    def: &StmtFunctionDef,
    name: &str,
    has_target: bool,
) -> Option<Vec<String>> {
    let mut body = def.body.as_slice();
    if let [before @ .., Stmt::Return(last)] = body {
        let is_idle = last.value.as_deref().is_none_or(is_atom);
        if !is_idle && !has_target {
            return None;
        }
        body = before;
    }
    if let [Stmt::Pass(_)] = body {
        body = &[];
    }
    let (Some(first), Some(last)) = (body.first(), body.last()) else {
        return Some(Vec::new());
    };
    let range = TextRange::new(first.start(), last.end());
    reindented(program, range, &renamed(program, def, name)?, false)
}

/// Whether the innermost function around a place, or else the program, uses a name.
fn is_used_around(program: &Program, place: TextRange, name: &str) -> bool {
    let nodes = &program.tree().nodes;
    let function = nodes.iter().rev().find_map(|node| match node.node {
        AnyNodeRef::StmtFunctionDef(def) if def.range.contains_range(place) => Some(def.range),
        _ => None,
    });
    nodes.iter().any(|node| match node.node {
        AnyNodeRef::ExprName(it) if it.id == name => {
            function.is_some_and(|range| range.contains_range(it.range))
        }
        AnyNodeRef::Parameter(it) if it.name.as_str() == name => {
            function.is_some_and(|range| range.contains_range(it.range))
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::INLINE_MANAGERS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn bodies_stand_where_the_block_was() {
        check_edits(
            &INLINE_MANAGERS,
            "class A:\n    def __init__(self): pass\n    async def __aenter__(self):\n        await f(self.x)\n    async def __aexit__(self, kind, error, traceback):\n        g(self, error)\nasync def h():\n    async with A():\n        pass\n",
            &[
                "class A:\n    def __init__(self): pass\nasync def h():\n    self = A()\n    await f(self.x)\n    g(self, None)\n",
            ],
        );
        check_edits(
            &INLINE_MANAGERS,
            "class A:\n    def __enter__(self):\n        return self.x\n    def __exit__(self, *error):\n        g()\nwith A() as x:\n    if x:\n        f(x)\n",
            &["class A:\n    pass\nself = A()\nx = self.x\nif x:\n    f(x)\ng()\n"],
        );
    }

    #[test]
    fn a_plain_method_of_an_asynchronous_block_may_stand_there() {
        check_edits(
            &INLINE_MANAGERS,
            "class A:\n    async def __aenter__(self):\n        await f()\n    def __aexit__(self, *error):\n        g()\nasync def h():\n    async with A(): pass\n",
            &["class A:\n    pass\nasync def h():\n    self = A()\n    await f()\n    g()\n"],
        );
        check_none(
            &INLINE_MANAGERS,
            "class A:\n    def __enter__(self): f()\n    async def __exit__(self, *error): await g()\nwith A(): a\n",
        );
    }

    #[test]
    fn what_is_entered_twice_or_leaves_early_stays() {
        let class = "class A:\n    def __enter__(self): f()\n    def __exit__(self, *error): g()\n";
        check_none(
            &INLINE_MANAGERS,
            &format!("{class}with A(): a\nwith A(): b\n"),
        );
        check_none(&INLINE_MANAGERS, &format!("{class}with A(), b: c\n"));
        check_none(
            &INLINE_MANAGERS,
            "class A:\n    def __enter__(self): f()\n    def __exit__(self, *error):\n        if error: return True\n        g()\nwith A(): a\n",
        );
        check_none(
            &INLINE_MANAGERS,
            &format!("class B:\n    def f(self):\n        with A(): self.g()\n{class}"),
        );
    }
}
