//! Slices that begin within a function: a part of a failing frame and its dependences there are
//! lifted to the top level, frame by frame. Variables get their recorded values, or else the
//! statements that made them. Judges nothing. Called by the strategy that extracts failing
//! statements.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

use super::{Depth, Slicer};
use crate::{
    analysis::{
        calls::{call_in, given, spreads},
        statement_tree::StatementTree,
    },
    rewrite::{
        edit::{Edit, EditSet, rewritten},
        parenthesize::one_logical_line,
        super_calls::{bare_supers, explicit_super, with_explicit_supers},
    },
    syntax::{
        AnyNodeRef, Ranged, TextRange,
        ast::{StmtClassDef, StmtFunctionDef},
        scope::{BindingKind, ScopeKind, Variable},
    },
    trace::{evidence::Frame, value::Expression},
};

/// A region that is lifted to the top level, with the values that its names have there or else the
/// definitions of these, frame by frame.
pub(crate) struct Lifting<'a> {
    slicer: Slicer<'a>,
    tree: &'a StatementTree<'a>,
    frames: &'a [Frame],
    /// Statements to be lifted to the top level, each with the frame that it is seen from,
    /// outermost first.
    lifted: BTreeSet<(usize, usize)>,
    /// Values that variables are given at the start.
    given: BTreeMap<&'a str, &'a str>,
    /// Arguments that parameters are given, by the frame of the function.
    passed: BTreeMap<(usize, &'a str), String>,
    /// Parts of frames whose names are still to be looked at.
    todo: Vec<(TextRange, usize)>,
}

impl<'a> Lifting<'a> {
    /// Lifts nothing yet; a slice provides everything that is not lifted.
    pub(crate) fn new(slicer: Slicer<'a>) -> Self {
        Self {
            tree: slicer.outline,
            frames: &slicer.evidence.failure,
            slicer,
            lifted: BTreeSet::new(),
            given: BTreeMap::new(),
            passed: BTreeMap::new(),
            todo: Vec::new(),
        }
    }

    /// The script that starts at a part of a frame's statement, with the frames below it as they
    /// are. Nothing if a value that it needs is not known.
    pub(crate) fn text(mut self, frame: usize, start: usize, part: TextRange) -> Option<String> {
        self.keep_frames_below(frame);
        self.todo.push((part, frame));
        while let Some((range, frame)) = self.todo.pop() {
            self.look_at(range, frame)?;
        }
        let mut text = self.slicer.text_set_up()?;
        for (name, value) in &self.given {
            let _ = writeln!(text, "{name} = {value}");
        }
        self.lifted.insert((frame, start));
        // Parameters get their arguments before the first statement of their frame or of one below.
        let mut passed = self.passed.iter().peekable();
        for &(frame, statement) in &self.lifted {
            while let Some(((_, name), argument)) = passed.next_if(|((at, _), _)| *at <= frame) {
                let _ = writeln!(text, "{name} = {argument}");
            }
            let is_whole = part == self.tree.statements[statement].range;
            if statement == start && !is_whole {
                text.push_str(&self.expression(statement, part)?);
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
        let causes = self.slicer.evidence.causes.iter().flatten();
        let causes = causes.filter(|cause| above.iter().all(|above| above.line != cause.line));
        for frame in below.iter().chain(causes) {
            if let Some(statement) = self.tree.on_line(frame.line) {
                self.slicer.keep(statement);
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
        let stays = |range: TextRange| !results.iter().any(|edit| edit.range.contains_range(range));
        for (name, range) in tree.attributes_in(range) {
            if stays(range) {
                self.slicer.keep_attribute(name);
            }
        }
        for edit in results
            .iter()
            .filter(|edit| range.contains_range(edit.range))
        {
            self.slicer.keep_names_of(&edit.text);
        }
        let statement = tree.on_line(self.frames[frame].line)?;
        let owner = method_of(tree, statement)
            .filter(|_| !bare_supers(tree.program, range).is_empty())
            .and_then(|(class, method)| explicit_super(class, method))
            .map(Expression::from);
        if let Some(owner) = &owner {
            self.slicer.keep_names(owner);
        }
        for (index, variable) in tree.program.scopes().variables.iter().enumerate() {
            let mut names = owner.iter().flat_map(Expression::names);
            let is_owner =
                is_local(tree, statement, variable) && names.any(|name| *name == *variable.name);
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
    fn give(&mut self, index: usize, variable: &'a Variable, frame: usize) -> Option<()> {
        let here = &self.frames[frame];
        let name = variable.name.as_str();
        let is_global = variable.scope == ScopeKind::Module;
        let is_known = !is_global || here.is_module();
        // At full depth, the statements that changed an object are lifted with it: the object is
        // made, not written.
        let is_full = self.slicer.depth == Depth::Full;
        let value = here.values.get(name);
        match value.filter(|value| is_known && (value.is_exact || !is_full)) {
            Some(value) if value.text() == name => self.slicer.keep_variable(index),
            Some(value) => {
                self.slicer.keep_names(&value.expression);
                let old = self.given.insert(name, value.text());
                // Variables of two frames may share their name, not more.
                return old.is_none_or(|old| old == value.text()).then_some(());
            }
            None if is_global => self.slicer.keep_variable(index),
            None => return self.lift(index, variable, frame),
        }
        Some(())
    }

    /// Lifts the statements that make a local variable of a frame to the top level, and at full
    /// depth also those that change it.
    fn lift(&mut self, index: usize, variable: &'a Variable, frame: usize) -> Option<()> {
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
        if self.slicer.depth == Depth::Full {
            for change in self.slicer.graph.changes(index) {
                if self.lifted.insert((frame, change)) {
                    let range = self.tree.statements[change].range;
                    self.todo.push((range, frame));
                }
            }
        }
        Some(())
    }

    /// Passes a parameter the argument of the call in the frame above, or else its default.
    fn pass(&mut self, name: &'a str, function: usize, frame: usize) -> Option<()> {
        let tree = self.tree;
        let above = frame.checked_sub(1)?;
        let AnyNodeRef::StmtFunctionDef(def) = tree.statements[function].node else {
            return None;
        };
        let caller = tree.on_line(self.frames[above].line)?;
        let (call, receiver) = call_in(tree.program, &def.name, tree.statements[caller].range)?;
        let around = tree.statements[function].parent;
        let receiver = receiver.filter(|_| {
            around.is_some_and(|around| tree.statements[around].node.is_stmt_class_def())
        });
        let mut parameters = def.parameters.iter_non_variadic_params().enumerate();
        let (position, parameter) =
            parameters.find(|(_, parameter)| parameter.name().as_str() == name)?;
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
            self.passed.insert((frame, name), text);
        }
        self.todo.push((value.range(), seen_from));
        Some(())
    }

    /// A part of a statement for the top level.
    fn expression(&self, statement: usize, part: TextRange) -> Option<String> {
        let mut edits = self.slicer.results(statement);
        edits.extend(self.supers(statement, part));
        let text = rewritten(self.tree.program, part, &edits)?;
        Some(one_logical_line(&text))
    }

    /// A statement's lines for the top level: its executed parts, with values instead of returns.
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
        for edit in self.supers(index, tree.statements[index].range) {
            edits.edit(edit);
        }
        tree.lines_of(index, |at| tree.statements[at].is_executed, &edits)
    }

    /// The edits that give `super()` its arguments in a part of a statement that leaves its method.
    fn supers(&self, statement: usize, part: TextRange) -> Vec<Edit> {
        let method = method_of(self.tree, statement);
        method.map_or_else(Vec::new, |(class, method)| {
            with_explicit_supers(self.tree.program, class, method, part)
        })
    }
}

/// The method that a statement is in, and its class.
fn method_of<'a>(
    tree: &StatementTree<'a>,
    statement: usize,
) -> Option<(&'a StmtClassDef, &'a StmtFunctionDef)> {
    let function = tree.function_of(statement)?;
    let class = tree.statements[function].parent?;
    match (tree.statements[class].node, tree.statements[function].node) {
        (AnyNodeRef::StmtClassDef(class), AnyNodeRef::StmtFunctionDef(method)) => {
            Some((class, method))
        }
        _ => None,
    }
}

/// Whether a variable is one of the function that a statement is in.
fn is_local(tree: &StatementTree<'_>, statement: usize, variable: &Variable) -> bool {
    let function = tree.function_of(statement);
    let function = function.map(|at| tree.statements[at].range);
    let mut bindings = variable.bindings.iter();
    variable.scope == ScopeKind::Function
        && bindings.any(|binding| Some(binding.statement) == function)
}

fn is_executed(tree: &StatementTree<'_>, statement: TextRange) -> bool {
    tree.at(statement)
        .is_some_and(|at| tree.statements[at].is_executed)
}
