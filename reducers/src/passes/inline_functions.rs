use crate::{
    closure::Statements,
    edit::{Edit, EditSet},
    list::logical_start,
    pass::{Cx, Prior, Proposals, Stage, pass},
    paste::gains,
    scope::BindingKind,
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, Tree,
        ast::{self, Expr, ExprContext, Stmt},
    },
};

pass! {
    /// Puts the body of a function that is called once where it is called.
    ///
    /// ```python before
    /// def main(n):
    ///     x = f(n)
    ///     return g(x)
    ///
    /// result = main(3)
    /// ```
    /// ```python after
    ///
    /// n = 3
    /// x = f(n)
    /// result = g(x)
    /// ```
    pub(crate) static INLINE_FUNCTIONS = Pass { stage: Stage::Shape, propose };
}

fn propose(cx: &Cx<'_>, out: &mut Proposals) {
    let statements = Statements::of(cx.program);
    let tree = cx.program.tree();
    for variable in cx.program.scopes().variables.iter().rev() {
        let ([binding], [only]) = (variable.bindings.as_slice(), variable.uses.as_slice()) else { continue };
        if binding.kind != BindingKind::Function {
            continue;
        }
        let def = tree.nodes.iter().find_map(|node| match node.node {
            AnyNodeRef::StmtFunctionDef(def) if def.range == binding.statement => Some(def),
            _ => None,
        });
        let caller =
            tree.nodes.iter().find(|node| node.node.is_statement() && node.node.range() == only.statement);
        let (Some(def), Some(caller)) = (def, caller) else { continue };
        if def.range.contains_range(only.statement) || !is_simple(def, &tree) {
            continue;
        }
        let Some((call, ending)) = call_in(caller.node, only.range) else { continue };
        let text = inlined(cx.program, def, call, ending, only.statement);
        if let (Some(text), Some(place)) = (text, statements.place(def.range)) {
            let mut edits = EditSet::one(Edit::replace(only.statement, text));
            edits.remove(place.list, place.item);
            if gains(cx.program, &edits) {
                out.propose(edits, Prior::Even, format!("`{}` where it is called", def.name));
            }
        }
        out.next_group();
    }
}

/// What becomes of the value that the function returns.
enum Ending<'a> {
    Nothing,
    Assign(&'a Expr),
    Return,
}

/// The call that a statement is, or whose value it assigns or returns.
fn call_in(statement: AnyNodeRef<'_>, name: TextRange) -> Option<(&ast::ExprCall, Ending<'_>)> {
    let (value, ending) = match statement {
        AnyNodeRef::StmtExpr(it) => (&*it.value, Ending::Nothing),
        AnyNodeRef::StmtAssign(it) => match it.targets.as_slice() {
            [target] => (&*it.value, Ending::Assign(target)),
            _ => return None,
        },
        AnyNodeRef::StmtReturn(it) => (it.value.as_deref()?, Ending::Return),
        _ => return None,
    };
    match value {
        Expr::Call(call) if call.func.range() == name => Some((call, ending)),
        _ => None,
    }
}

/// Whether a function only does things one after the other: no generator, no coroutine, one `return` at its end.
fn is_simple(def: &ast::StmtFunctionDef, tree: &Tree<'_>) -> bool {
    let inside = tree.nodes.iter().filter(|node| def.range.contains_range(node.node.range()));
    let mut returns = 0;
    for node in inside {
        match node.node {
            AnyNodeRef::StmtReturn(_) => returns += 1,
            AnyNodeRef::ExprYield(_)
            | AnyNodeRef::ExprYieldFrom(_)
            | AnyNodeRef::ExprAwait(_)
            | AnyNodeRef::StmtGlobal(_)
            | AnyNodeRef::StmtNonlocal(_) => return false,
            _ => {}
        }
    }
    let ends_in_return = matches!(def.body.last(), Some(Stmt::Return(_)));
    !def.is_async
        && def.decorator_list.is_empty()
        && def.type_params.is_none()
        && def.parameters.vararg.is_none()
        && def.parameters.kwarg.is_none()
        && returns <= usize::from(ends_in_return)
}

/// The text that stands for the call's statement: parameters assigned, the body, what becomes of the value.
fn inlined(
    program: &Program,
    def: &ast::StmtFunctionDef,
    call: &ast::ExprCall,
    ending: Ending<'_>,
    statement: TextRange,
) -> Option<String> {
    let line_start = logical_start(program, statement.start())?;
    let indent = program.slice(TextRange::new(line_start, statement.start()));
    let newline = if program.text().contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines: Vec<String> = Vec::new();
    for (position, parameter) in def.parameters.iter_non_variadic_params().enumerate() {
        let value = argument(call, position, parameter.name())?.or(parameter.default.as_deref())?;
        let value = program.slice(value.range());
        let name = parameter.name().as_str();
        if value != name {
            lines.push(format!("{name} = {value}"));
        }
    }
    let (last, before) = def.body.split_last()?;
    let rest = if let Stmt::Return(_) = last { before } else { &def.body };
    if let (Some(first), Some(end)) = (rest.first(), rest.last()) {
        let start = logical_start(program, first.start());
        let body_indent = start.map_or("", |start| program.slice(TextRange::new(start, first.start())));
        let range = TextRange::new(first.start(), end.end());
        let text = program.slice(range);
        if text.contains("'''") || text.contains("\"\"\"") {
            // The lines of a string would move, too.
            return None;
        }
        for (number, line) in text.split('\n').enumerate() {
            let line = line.trim_end_matches('\r');
            let line =
                if number == 0 { line } else { line.strip_prefix(body_indent).unwrap_or(line.trim_start()) };
            lines.push(line.to_owned());
        }
    }
    let value = match last {
        Stmt::Return(it) => it.value.as_deref().map(|value| program.slice(value.range())),
        _ => None,
    };
    match (ending, value) {
        (Ending::Nothing, Some(value)) => lines.push(value.to_owned()),
        (Ending::Nothing, None) => {}
        (Ending::Assign(target), value) => {
            lines.push(format!("{} = {}", program.slice(target.range()), value.unwrap_or("None")));
        }
        (Ending::Return, Some(value)) => lines.push(format!("return {value}")),
        (Ending::Return, None) => lines.push("return".to_owned()),
    }
    if lines.is_empty() {
        lines.push("pass".to_owned());
    }
    Some(lines.join(&format!("{newline}{indent}")))
}

/// The argument that a call gives for a parameter: an error where that can not be told, none where there is none.
#[expect(clippy::option_option, reason = "whether it can be told, and then whether there is one")]
pub(crate) fn argument<'a>(
    call: &'a ast::ExprCall,
    position: usize,
    name: &ast::Identifier,
) -> Option<Option<&'a Expr>> {
    let arguments = &call.arguments;
    let is_starred = |expr: &Expr| matches!(expr, Expr::Starred(it) if it.ctx == ExprContext::Load);
    if arguments.args.iter().any(is_starred) || arguments.keywords.iter().any(|it| it.arg.is_none()) {
        return None;
    }
    let by_name = arguments.keywords.iter().find(|it| it.arg.as_ref().is_some_and(|it| it.id == name.id));
    Some(arguments.args.get(position).or(by_name.map(|it| &it.value)))
}

#[cfg(test)]
mod tests {
    use super::INLINE_FUNCTIONS;
    use crate::testing::{check_edits, check_none};

    #[test]
    fn the_body_stands_where_the_call_stood() {
        check_edits(
            &INLINE_FUNCTIONS,
            "def f(a, b=2):\n    if a:\n        g(b)\n\nif x:\n    f(1)\n",
            &["\nif x:\n    a = 1\n    b = 2\n    if a:\n        g(b)\n"],
        );
        check_edits(&INLINE_FUNCTIONS, "def f(): return 1\nx = f()\n", &["x = 1\n"]);
        check_edits(&INLINE_FUNCTIONS, "def f(x):\n    g(x)\nf(x)\n", &["g(x)\n"]);
    }

    #[test]
    fn what_returns_early_yields_or_is_called_twice_stays() {
        check_none(&INLINE_FUNCTIONS, "def f(x):\n    if x: return 1\n    g()\nf(1)\n");
        check_none(&INLINE_FUNCTIONS, "def f(): yield 1\nf()\n");
        check_none(&INLINE_FUNCTIONS, "def f(): g()\nf()\nf()\n");
        check_none(&INLINE_FUNCTIONS, "def f(n):\n    f(n - 1)\n");
        check_none(&INLINE_FUNCTIONS, "def f(*a): g(a)\nf(1)\n");
    }
}
