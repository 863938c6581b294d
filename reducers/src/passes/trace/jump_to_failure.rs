use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use crate::{
    analysis::{
        calls::{given, spreads},
        slice::{Depth, Slicer, Values, names_of, tidied},
        statement_tree::StatementTree,
    },
    pass::{PassContext, Prior, Proposals, Stage, pass, whole_text},
    rewrite::edit::{Edit, EditSet, rewritten},
    syntax::{
        AnyNodeRef, Ranged, TextRange,
        ast::Expr,
        scope::{BindingKind, ScopeKind, Variable},
    },
    trace::evidence::{Evidence, Frame},
};

pass! {
    /// Puts a failing statement of a function alone into the script, with the values that a traced
    /// run saw there.
    ///
    /// ```python before
    /// class A:
    ///     def f(self, x):
    ///         log(x)
    ///         return g(self, x + 1)  # fails with self: A(); x: 2
    ///
    /// for item in load():
    ///     item.f(2)  # fails
    /// ```
    /// ```python after
    /// class A:
    ///     pass
    ///
    /// self = A()
    /// x = 2
    /// g(self, x + 1)
    /// ```
    pub(crate) static JUMP_TO_FAILURE = Pass { stage: Stage::TraceGuided, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let Some(evidence) = cx.evidence else { return };
    let outline = StatementTree::of(cx.program, evidence);
    let values = Values::to_try(cx.program, evidence);
    let plain = |frame: &usize| !evidence.failure[*frame].compiled;
    for frame in (0..evidence.failure.len()).rev().filter(plain) {
        for depth in [Depth::Thin, Depth::Middle, Depth::Full] {
            for (whole, values) in [false, true]
                .into_iter()
                .flat_map(|it| values.map(|values| (it, values)))
            {
                let text = Jump::new(cx, &outline, evidence, depth, values).text(frame, whole);
                let text = text.and_then(|text| tidied(cx.program, text));
                if let Some(edits) = text.and_then(|text| whole_text(cx.program, &text)) {
                    let name = &evidence.failure[frame].function;
                    let note = format!("the failure in `{name}`, with the values there");
                    out.propose(edits, Prior::Even, note);
                }
            }
        }
    }
}

struct Jump<'a> {
    outline: &'a StatementTree<'a>,
    evidence: &'a Evidence,
    slicer: Slicer<'a>,
    depth: Depth,
    /// Statements to be lifted to the top level, each with the frame that it is seen from,
    /// outermost first.
    lifted: BTreeSet<(usize, usize)>,
    /// Values that variables are given at the start.
    given: BTreeMap<String, String>,
    /// Arguments that parameters are given, by the frame of the function.
    passed: BTreeMap<(usize, String), String>,
    /// Parts of frames whose names are still to be looked at.
    todo: Vec<(TextRange, usize)>,
}

impl<'a> Jump<'a> {
    fn new(
        cx: &'a PassContext<'_>,
        outline: &'a StatementTree<'a>,
        evidence: &'a Evidence,
        depth: Depth,
        values: Values,
    ) -> Self {
        Self {
            outline,
            evidence,
            slicer: Slicer::new(outline, evidence, cx.missing, depth).with_values(values),
            depth,
            lifted: BTreeSet::new(),
            given: BTreeMap::new(),
            passed: BTreeMap::new(),
            todo: Vec::new(),
        }
    }

    /// The script that starts at the failing statement, or with the failing expression alone, of a
    /// frame, the frames below it as they are.
    fn text(mut self, frame: usize, whole: bool) -> Option<String> {
        let outline = self.outline;
        let frames = &self.evidence.failure;
        let statement = outline.on_line(frames[frame].line)?;
        let root = if whole {
            outline.statements[statement].range
        } else {
            expression(outline, &frames[frame], statement)?
        };
        let causes = self.evidence.causes.iter().flatten();
        let is_above = |it: &Frame| frames[..=frame].iter().any(|above| above.line == it.line);
        for below in frames[frame + 1..]
            .iter()
            .chain(causes.filter(|it| !is_above(it)))
        {
            let Some(statement) = outline.on_line(below.line) else {
                continue;
            };
            self.slicer.keep(statement);
        }
        self.todo.push((root, frame));
        while let Some((range, frame)) = self.todo.pop() {
            self.look_at(range, frame)?;
        }
        let mut text = self.slicer.text_set_up()?;
        for (name, value) in &self.given {
            let _ = writeln!(text, "{name} = {value}");
        }
        self.lifted.insert((frame, statement));
        let mut at = 0;
        for &(frame, index) in &self.lifted {
            while at <= frame {
                for ((_, name), argument) in self
                    .passed
                    .range((at, String::new())..(at + 1, String::new()))
                {
                    let _ = writeln!(text, "{name} = {argument}");
                }
                at += 1;
            }
            if index == statement && !whole {
                let expression = rewritten(outline.program, root, &self.slicer.results(statement))?;
                let owner = owner(outline, statement).unwrap_or_default();
                text.push_str(&one_line(&expression.replace("super()", &owner)));
                text.push('\n');
            } else {
                text.push_str(&lines(outline, index, &self.slicer)?);
            }
        }
        Some(text)
    }

    /// Sees to it that all names of a part of a frame have their values.
    fn look_at(&mut self, range: TextRange, frame: usize) -> Option<()> {
        let outline = self.outline;
        let results: Vec<Edit> = (0..outline.statements.len())
            .filter(|&it| outline.statements[it].range.intersect(range).is_some())
            .flat_map(|it| self.slicer.results(it))
            .collect();
        let stays = |range: TextRange| !results.iter().any(|it| it.range.contains_range(range));
        for (name, range) in outline.attributes_in(range) {
            if stays(range) {
                self.slicer.keep_attribute(name);
            }
        }
        for edit in results.iter().filter(|it| range.contains_range(it.range)) {
            self.slicer.keep_names_of(&edit.text);
        }
        let statement = outline.on_line(self.evidence.failure[frame].line)?;
        let supers = outline.program.slice(range).contains("super()");
        let owner_names = owner(outline, statement)
            .filter(|_| supers)
            .map(|it| names_of(&it))
            .unwrap_or_default();
        for name in &owner_names {
            self.slicer.keep_names_of(name);
        }
        for (index, variable) in outline.program.scopes().variables.iter().enumerate() {
            let is_read = variable.uses.iter().any(|it| {
                range.contains_range(it.range)
                    && stays(it.range)
                    && is_executed(outline, it.statement)
            }) || (is_local(outline, statement, variable)
                && owner_names.iter().any(|it| *it == *variable.name));
            let is_inner = variable
                .bindings
                .iter()
                .all(|it| range.contains_range(it.range));
            if is_read && !is_inner {
                self.give(index, variable, frame)?;
            }
        }
        Some(())
    }

    /// Sees to it that a variable that a frame reads has its value.
    fn give(&mut self, index: usize, variable: &Variable, frame: usize) -> Option<()> {
        let here = &self.evidence.failure[frame];
        let is_global = variable.scope == ScopeKind::Module;
        let value = here
            .values
            .get(variable.name.as_str())
            .filter(|_| !is_global || here.is_module());
        let value = value
            .filter(|_| self.depth != Depth::Full || !here.rough.contains(variable.name.as_str()));
        if let Some(value) = value {
            if *value == *variable.name {
                self.slicer.keep_variable(index);
                return Some(());
            }
            let old = self.given.insert(variable.name.to_string(), value.clone());
            self.slicer.keep_names_of(value);
            // Variables of two frames may share their name, not more.
            return (old.is_none_or(|old| old == *value)).then_some(());
        }
        if is_global {
            self.slicer.keep_variable(index);
            return Some(());
        }
        for binding in &variable.bindings {
            let maker = self.outline.at(binding.statement)?;
            if binding.kind == BindingKind::Parameter {
                self.give_parameter(&variable.name, maker, frame)?;
            } else if is_executed(self.outline, binding.statement)
                && self.lifted.insert((frame, maker))
            {
                self.todo.push((binding.statement, frame));
            }
        }
        let changes = if self.depth == Depth::Full {
            self.slicer.changes(index)
        } else {
            Vec::new()
        };
        for change in changes {
            if self.lifted.insert((frame, change)) {
                self.todo
                    .push((self.outline.statements[change].range, frame));
            }
        }
        Some(())
    }

    /// Gives a parameter the argument of the call in the frame above.
    fn give_parameter(&mut self, name: &str, function: usize, frame: usize) -> Option<()> {
        let outline = self.outline;
        let above = frame.checked_sub(1)?;
        let AnyNodeRef::StmtFunctionDef(def) = outline.statements[function].node else {
            return None;
        };
        let caller = outline.on_line(self.evidence.failure[above].line)?;
        let whole = outline.statements[caller].range;
        let call = outline
            .program
            .tree()
            .nodes
            .iter()
            .find_map(|node| match node.node {
                AnyNodeRef::ExprCall(call) if whole.contains_range(call.range) => {
                    let (called, receiver) = match &*call.func {
                        Expr::Name(it) => (it.id.as_str(), None),
                        Expr::Attribute(it) => (it.attr.as_str(), Some(&*it.value)),
                        _ => return None,
                    };
                    (called == def.name.as_str()).then_some((call, receiver))
                }
                _ => None,
            });
        let (call, receiver) = call?;
        let is_method = outline.statements[function]
            .parent
            .is_some_and(|it| matches!(outline.statements[it].node, AnyNodeRef::StmtClassDef(_)));
        let receiver = receiver.filter(|_| is_method);
        let position = def
            .parameters
            .iter_non_variadic_params()
            .position(|it| it.name().as_str() == name)?;
        let parameter = def.parameters.iter_non_variadic_params().nth(position)?;
        let argument = match receiver {
            Some(receiver) if position == 0 => Some(receiver),
            _ if spreads(call) => return None,
            _ => {
                let before = usize::from(receiver.is_some());
                let given = given(call, parameter.name(), position - before);
                given.argument().map(|(_, value)| value)
            }
        };
        let default = parameter.default.as_deref();
        let below = frame;
        let (value, frame) = argument
            .map(|it| (it, above))
            .or(default.map(|it| (it, frame)))?;
        let text = one_line(outline.program.slice(value.range()));
        if text != name {
            self.passed.insert((below, name.to_owned()), text);
        }
        self.todo.push((value.range(), frame));
        Some(())
    }
}

/// What `super()` stands for in the method that a statement is in.
fn owner(outline: &StatementTree<'_>, statement: usize) -> Option<String> {
    let function = outline.function_of(statement)?;
    let class = outline.statements[function].parent?;
    match (
        outline.statements[function].node,
        outline.statements[class].node,
    ) {
        (AnyNodeRef::StmtFunctionDef(def), AnyNodeRef::StmtClassDef(class)) => {
            let first = def.parameters.iter_non_variadic_params().next()?;
            Some(format!("super({}, {})", class.name, first.name()))
        }
        _ => None,
    }
}

/// Whether a variable is one of the function that a statement is in.
fn is_local(outline: &StatementTree<'_>, statement: usize, variable: &Variable) -> bool {
    let function = outline
        .function_of(statement)
        .map(|it| outline.statements[it].range);
    variable.scope == ScopeKind::Function
        && variable
            .bindings
            .iter()
            .any(|it| Some(it.statement) == function)
}

fn is_executed(outline: &StatementTree<'_>, statement: TextRange) -> bool {
    outline
        .at(statement)
        .is_some_and(|it| outline.statements[it].is_executed)
}

/// A statement's lines for the top level: what was executed of it, values in place of returns.
fn lines(outline: &StatementTree<'_>, index: usize, slicer: &Slicer<'_>) -> Option<String> {
    let mut edits = EditSet::default();
    for edit in std::iter::once(index)
        .chain(outline.within(index))
        .flat_map(|it| slicer.results(it))
    {
        edits.edit(edit);
    }
    let owner = owner(outline, index);
    for node in &outline.program.tree().nodes {
        if let (AnyNodeRef::ExprCall(call), Some(owner)) = (node.node, &owner)
            && outline.statements[index].range.contains_range(call.range)
            && outline.program.slice(call.range) == "super()"
        {
            edits.edit(Edit::replace(call.range, owner.clone()));
        }
    }
    for at in std::iter::once(index).chain(outline.within(index)) {
        let it = &outline.statements[at];
        match it.node {
            AnyNodeRef::StmtReturn(stmt) => match &stmt.value {
                Some(value) => {
                    edits.edit(Edit::delete(TextRange::new(
                        it.range.start(),
                        value.range().start(),
                    )));
                }
                None => edits.edit(Edit::replace(it.range, "pass")),
            },
            AnyNodeRef::StmtGlobal(_) | AnyNodeRef::StmtNonlocal(_) => {
                edits.edit(Edit::replace(it.range, "pass"));
            }
            _ => {}
        }
    }
    outline.lines_of(index, |it| outline.statements[it].is_executed, &edits)
}

/// The expression of a statement that failed, if that is known and not all of it.
pub(crate) fn expression(
    outline: &StatementTree<'_>,
    frame: &Frame,
    statement: usize,
) -> Option<TextRange> {
    let (first_line, first, last_line, last) = frame.place;
    let start = outline.offset(first_line?, first?)?;
    let end = outline.offset(last_line?, last?)?;
    let range = (start < end).then(|| TextRange::new(start, end))?;
    let tree = outline.program.tree();
    let is_expression = tree
        .nodes
        .iter()
        .any(|node| node.node.is_expression() && node.node.range() == range);
    let whole = outline.statements[statement].range;
    (is_expression && range != whole && whole.contains_range(range)).then_some(range)
}

/// An expression that may have several lines, in parentheses if it has.
pub(crate) fn one_line(text: &str) -> String {
    if text.contains('\n') {
        format!("({text})")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::JUMP_TO_FAILURE;
    use crate::{syntax::Program, testing::evidence, trace::evidence::MissingSymbols};

    #[test]
    fn attributes_and_elements_have_their_values() {
        let text = "\
class Span:
    def __init__(self, start, row):
        self.start = parse(start)
        self.row = row
    def before(self, other):
        return max(self.start, other.row['end'])  # fails with self: Span('x', {}); self.start: 1; other.row['end']: 'z'
Span('x', {}).before(Span('y', {'end': 'z'}))  # fails
";
        let program = Program::parse(text).unwrap();
        let proposals = JUMP_TO_FAILURE.proposals_with(
            &program,
            Some(&evidence(text)),
            &MissingSymbols::default(),
        );
        let texts: Vec<String> = proposals
            .iter()
            .map(|it| it.edits.apply(&program).unwrap())
            .collect();
        assert!(
            texts.contains(&"max(1, 'z')\n".to_owned()),
            "{}",
            texts.join("or\n")
        );
    }
}
