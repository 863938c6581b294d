use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use crate::{
    analysis::{
        calls::{given, spreads},
        slice::{Depth, Slicer, Values, names_of},
        statement_tree::StatementTree,
    },
    pass::{PassContext, Prior, Proposals, Stage, pass},
    passes::trace::extract::{Extraction, Region},
    rewrite::{
        edit::{Edit, EditSet, rewritten},
        parenthesize::one_logical_line,
    },
    syntax::{
        AnyNodeRef, Ranged, TextRange,
        ast::{Expr, ExprCall},
        scope::{BindingKind, ScopeKind, Variable},
    },
    trace::evidence::Frame,
};

pass! {
    /// Extracts a failing statement from its function into the script, with the values that a traced
    /// run recorded there.
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
    pub(crate) static EXTRACT_FAILURE = Pass { stage: Stage::TraceGuided, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let Some(extraction) = Extraction::of(cx) else {
        return;
    };
    let frames = &extraction.evidence.failure;
    let values = Values::to_try(cx.program, extraction.evidence);
    for (at, frame) in frames.iter().enumerate().rev() {
        let whole = extraction.region(frame).filter(|_| !frame.compiled);
        let part = whole.and_then(|region| extraction.expression(region));
        for depth in [Depth::Thin, Depth::Middle, Depth::Full] {
            for region in [part, whole].into_iter().flatten() {
                for values in values {
                    let lifting = Lifting::new(&extraction, depth, values);
                    let text = lifting.text(at, region);
                    if let Some(edits) = text.and_then(|text| extraction.simpler(text)) {
                        let name = &frame.function;
                        let note = format!("the failure in `{name}`, with the values there");
                        out.propose(edits, Prior::Even, note);
                    }
                }
            }
        }
    }
}

/// A region that is lifted to the top level, with the values that its names have there or else the
/// definitions of these, frame by frame.
struct Lifting<'a> {
    extraction: &'a Extraction<'a>,
    tree: &'a StatementTree<'a>,
    frames: &'a [Frame],
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

impl<'a> Lifting<'a> {
    fn new(extraction: &'a Extraction<'a>, depth: Depth, values: Values) -> Self {
        let (tree, evidence) = (&extraction.tree, extraction.evidence);
        Self {
            extraction,
            tree,
            frames: &evidence.failure,
            slicer: Slicer::new(tree, evidence, extraction.missing, depth).with_values(values),
            depth,
            lifted: BTreeSet::new(),
            given: BTreeMap::new(),
            passed: BTreeMap::new(),
            todo: Vec::new(),
        }
    }

    /// The script that starts at a region of a frame, the frames below it as they are.
    fn text(mut self, frame: usize, region: Region<'_>) -> Option<String> {
        self.keep_frames_below(frame);
        self.todo.push((region.range, frame));
        while let Some((range, frame)) = self.todo.pop() {
            self.look_at(range, frame)?;
        }
        let mut text = self.slicer.text_set_up()?;
        for (name, value) in &self.given {
            let _ = writeln!(text, "{name} = {value}");
        }
        self.lifted.insert((frame, region.statement));
        // Parameters get their arguments before the first statement of their frame or of one below.
        let mut passed = self.passed.iter().peekable();
        for &(frame, statement) in &self.lifted {
            while let Some(((_, name), argument)) = passed.next_if(|((at, _), _)| *at <= frame) {
                let _ = writeln!(text, "{name} = {argument}");
            }
            let is_whole = region.range == self.tree.statements[statement].range;
            if statement == region.statement && !is_whole {
                text.push_str(&self.expression(region)?);
                text.push('\n');
            } else {
                text.push_str(&self.lines(statement)?);
            }
        }
        Some(text)
    }

    /// Keeps the statements of the frames below one, and those of the causes that are not above it.
    fn keep_frames_below(&mut self, frame: usize) {
        let (above, below) = self.frames.split_at(frame + 1);
        let causes = self.extraction.evidence.causes.iter().flatten();
        let causes = causes.filter(|cause| above.iter().all(|above| above.line != cause.line));
        for frame in below.iter().chain(causes) {
            if let Some(region) = self.extraction.region(frame) {
                self.slicer.keep(region.statement);
            }
        }
    }

    /// Sees to it that all names of a part of a frame have their values.
    fn look_at(&mut self, range: TextRange, frame: usize) -> Option<()> {
        let tree = self.tree;
        let results: Vec<Edit> = (0..tree.statements.len())
            .filter(|&at| tree.statements[at].range.intersect(range).is_some())
            .flat_map(|at| self.slicer.results(at))
            .collect();
        let stays = |range: TextRange| !results.iter().any(|it| it.range.contains_range(range));
        for (name, range) in tree.attributes_in(range) {
            if stays(range) {
                self.slicer.keep_attribute(name);
            }
        }
        for edit in results.iter().filter(|it| range.contains_range(it.range)) {
            self.slicer.keep_names_of(&edit.text);
        }
        let statement = self.extraction.region(&self.frames[frame])?.statement;
        let owner = owner(tree, statement).filter(|_| !supers(tree, range).is_empty());
        let owner_names = owner.map(|owner| names_of(&owner)).unwrap_or_default();
        for name in &owner_names {
            self.slicer.keep_names_of(name);
        }
        for (index, variable) in tree.program.scopes().variables.iter().enumerate() {
            let is_owner = is_local(tree, statement, variable)
                && owner_names.iter().any(|name| *name == *variable.name);
            let mut uses = variable.uses.iter();
            let is_read = uses.any(|used| {
                let is_here = range.contains_range(used.range) && stays(used.range);
                is_here && is_executed(tree, used.statement)
            });
            let mut bindings = variable.bindings.iter();
            let is_inner = bindings.all(|binding| range.contains_range(binding.range));
            if (is_read || is_owner) && !is_inner {
                self.give(index, variable, frame)?;
            }
        }
        Some(())
    }

    /// Sees to it that a variable that a frame reads has its value.
    fn give(&mut self, index: usize, variable: &Variable, frame: usize) -> Option<()> {
        let here = &self.frames[frame];
        let name = variable.name.as_str();
        let is_global = variable.scope == ScopeKind::Module;
        let is_known = !is_global || here.is_module();
        // What changed an object is lifted with it at full depth: it is made, not written.
        let is_exact = self.depth != Depth::Full || !here.rough.contains(name);
        let value = here.values.get(name).filter(|_| is_known && is_exact);
        match value {
            Some(value) if value == name => self.slicer.keep_variable(index),
            Some(value) => {
                self.slicer.keep_names_of(value);
                let old = self.given.insert(name.to_owned(), value.clone());
                // Variables of two frames may share their name, not more.
                return old.is_none_or(|old| old == *value).then_some(());
            }
            None if is_global => self.slicer.keep_variable(index),
            None => return self.lift(index, variable, frame),
        }
        Some(())
    }

    /// Lifts what makes a local variable of a frame to the top level, and at full depth what
    /// changes it.
    fn lift(&mut self, index: usize, variable: &Variable, frame: usize) -> Option<()> {
        for binding in &variable.bindings {
            let maker = self.tree.at(binding.statement)?;
            if binding.kind == BindingKind::Parameter {
                self.pass(&variable.name, maker, frame)?;
            } else if is_executed(self.tree, binding.statement)
                && self.lifted.insert((frame, maker))
            {
                self.todo.push((binding.statement, frame));
            }
        }
        if self.depth == Depth::Full {
            for change in self.slicer.changes(index) {
                if self.lifted.insert((frame, change)) {
                    let range = self.tree.statements[change].range;
                    self.todo.push((range, frame));
                }
            }
        }
        Some(())
    }

    /// Passes a parameter the argument of the call in the frame above, or else its default.
    fn pass(&mut self, name: &str, function: usize, frame: usize) -> Option<()> {
        let tree = self.tree;
        let above = frame.checked_sub(1)?;
        let AnyNodeRef::StmtFunctionDef(def) = tree.statements[function].node else {
            return None;
        };
        let caller = self.extraction.region(&self.frames[above])?;
        let (call, receiver) = call_of(tree, &def.name, caller.range)?;
        let is_method = tree.statements[function]
            .parent
            .is_some_and(|it| matches!(tree.statements[it].node, AnyNodeRef::StmtClassDef(_)));
        let receiver = receiver.filter(|_| is_method);
        let mut parameters = def.parameters.iter_non_variadic_params().enumerate();
        let (position, parameter) = parameters.find(|(_, it)| it.name().as_str() == name)?;
        let argument = match receiver {
            Some(receiver) if position == 0 => Some(receiver),
            _ if spreads(call) => return None,
            _ => given(
                call,
                parameter.name(),
                position - usize::from(receiver.is_some()),
            )
            .argument()
            .map(|(_, value)| value),
        };
        let (value, seen_from) = match (argument, parameter.default.as_deref()) {
            (Some(argument), _) => (argument, above),
            (None, default) => (default?, frame),
        };
        let text = one_logical_line(tree.program.slice(value.range()));
        if text != name {
            self.passed.insert((frame, name.to_owned()), text);
        }
        self.todo.push((value.range(), seen_from));
        Some(())
    }

    /// An expression for the top level.
    fn expression(&self, region: Region<'_>) -> Option<String> {
        let mut edits = self.slicer.results(region.statement);
        edits.extend(with_owner(self.tree, region.statement, region.range));
        let text = rewritten(self.tree.program, region.range, &edits)?;
        Some(one_logical_line(&text))
    }

    /// A statement's lines for the top level: what was executed of it, values in place of returns.
    fn lines(&self, index: usize) -> Option<String> {
        let tree = self.tree;
        let mut edits = EditSet::default();
        for at in std::iter::once(index).chain(tree.within(index)) {
            let statement = &tree.statements[at];
            let removed = match statement.node {
                AnyNodeRef::StmtReturn(stmt) if let Some(value) = &stmt.value => {
                    let keyword = TextRange::new(stmt.range.start(), value.range().start());
                    Some(Edit::delete(keyword))
                }
                AnyNodeRef::StmtReturn(_)
                | AnyNodeRef::StmtGlobal(_)
                | AnyNodeRef::StmtNonlocal(_) => Some(Edit::replace(statement.range, "pass")),
                _ => None,
            };
            let results = self.slicer.results(at);
            for edit in results.into_iter().chain(removed) {
                edits.edit(edit);
            }
        }
        for edit in with_owner(tree, index, tree.statements[index].range) {
            edits.edit(edit);
        }
        tree.lines_of(index, |at| tree.statements[at].is_executed, &edits)
    }
}

/// The call of a function by its name in a part of the program, and what it is called on.
fn call_of<'a>(
    tree: &StatementTree<'a>,
    name: &str,
    part: TextRange,
) -> Option<(&'a ExprCall, Option<&'a Expr>)> {
    let mut nodes = tree.program.tree().nodes.iter();
    nodes.find_map(|node| match node.node {
        AnyNodeRef::ExprCall(call) if part.contains_range(call.range) => match &*call.func {
            Expr::Name(called) => (called.id == *name).then_some((call, None)),
            Expr::Attribute(called) => {
                (called.attr.as_str() == name).then_some((call, Some(&*called.value)))
            }
            _ => None,
        },
        _ => None,
    })
}

/// Where a part of the program calls `super` without arguments.
fn supers(tree: &StatementTree<'_>, part: TextRange) -> Vec<TextRange> {
    let nodes = tree.program.tree().nodes.iter();
    let calls = nodes.filter_map(|node| match node.node {
        AnyNodeRef::ExprCall(call) if call.arguments.is_empty() => Some(call),
        _ => None,
    });
    calls
        .filter(|call| call.func.as_name_expr().is_some_and(|it| it.id == "super"))
        .map(|call| call.range)
        .filter(|range| part.contains_range(*range))
        .collect()
}

/// What `super()` stands for in the method that a statement is in.
fn owner(tree: &StatementTree<'_>, statement: usize) -> Option<String> {
    let function = tree.function_of(statement)?;
    let class = tree.statements[function].parent?;
    match (tree.statements[function].node, tree.statements[class].node) {
        (AnyNodeRef::StmtFunctionDef(def), AnyNodeRef::StmtClassDef(class)) => {
            let first = def.parameters.iter_non_variadic_params().next()?;
            Some(format!("super({}, {})", class.name, first.name()))
        }
        _ => None,
    }
}

/// What gives `super()` its arguments in a part of a statement, which leaves its method.
fn with_owner(tree: &StatementTree<'_>, statement: usize, part: TextRange) -> Vec<Edit> {
    let Some(owner) = owner(tree, statement) else {
        return Vec::new();
    };
    supers(tree, part)
        .into_iter()
        .map(|range| Edit::replace(range, owner.clone()))
        .collect()
}

/// Whether a variable is one of the function that a statement is in.
fn is_local(tree: &StatementTree<'_>, statement: usize, variable: &Variable) -> bool {
    let function = tree.function_of(statement);
    let function = function.map(|at| tree.statements[at].range);
    let mut bindings = variable.bindings.iter();
    variable.scope == ScopeKind::Function && bindings.any(|it| Some(it.statement) == function)
}

fn is_executed(tree: &StatementTree<'_>, statement: TextRange) -> bool {
    tree.at(statement)
        .is_some_and(|at| tree.statements[at].is_executed)
}

#[cfg(test)]
mod tests {
    use super::EXTRACT_FAILURE;
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
        let proposals = EXTRACT_FAILURE.proposals_with(
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

    #[test]
    fn a_text_that_names_super_is_no_call_of_it() {
        let text = "\
class Base:
    def check(self, text):
        raise ValueError(text)  # fails
class Part(Base):
    def run(self):
        print('begins')
        return super().check('call super() first') + 1  # fails with self: Part()
Part().run()  # fails
";
        let program = Program::parse(text).unwrap();
        let mut evidence = evidence(text);
        let place = (Some(7), Some(15), Some(7), Some(50));
        let frames = evidence.failure.iter_mut();
        for frame in frames.filter(|frame| frame.line == 7) {
            frame.place = place;
        }
        let missing = MissingSymbols::default();
        let proposals = EXTRACT_FAILURE.proposals_with(&program, Some(&evidence), &missing);
        let texts: Vec<String> = proposals
            .iter()
            .map(|it| it.edits.apply(&program).unwrap())
            .collect();
        let end = "super(Part, self).check('call super() first')\n";
        assert!(
            texts.iter().any(|text| text.ends_with(end)),
            "{}",
            texts.join("or\n")
        );
    }
}
