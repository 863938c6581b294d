//! The dependences of a statement or of a part of one: a slice that grows backwards from its reads,
//! with the operations, names and constants in it.

mod contexts;
mod growth;

use std::collections::{BTreeMap, BTreeSet};

use super::{FOR_EFFECT, Nodes, Operations, passing::Passing};
use crate::{
    analysis::{
        calls::{gives_command_line, is_of_data},
        dependence_graph::DependenceGraph,
        names::{ImportedNames, is_installed},
        statement_tree::StatementTree,
    },
    syntax::{AnyNodeRef, Ranged, TextRange, TextSize, ast::name::Name},
};

/// The parts of one side of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Side {
    /// The operations that it depends on.
    pub operations: Operations,
    /// The foreign names in it, by their last part, and where they stand.
    pub names: BTreeSet<(TextSize, String)>,
    /// Its numbers, texts and other constants, and where they stand.
    pub literals: BTreeSet<(TextSize, String)>,
}

/// Where a value comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ValueSource {
    /// The attributes and methods by which it is read off objects, unless the program defines them
    /// or any data have them.
    pub(super) read: BTreeSet<String>,
    /// The modules of the imported names, by the first parts of theirs.
    pub(super) modules: BTreeSet<String>,
    /// Those of them that do not come with Python.
    pub(super) packages: BTreeSet<String>,
    /// The dotted paths of what is read of the modules that come with Python.
    pub(super) of_standard: BTreeSet<String>,
    /// Those of the functions that are called.
    pub(super) called: BTreeSet<String>,
}

/// By how much more often one of two sides has something than the other.
pub type Surplus = BTreeMap<String, i64>;

impl Side {
    /// The constants.
    pub fn constants(&self) -> BTreeSet<&str> {
        self.literals
            .iter()
            .map(|(_, text)| text.as_str())
            .collect()
    }
}

/// The things that one of two sides has more often than the other.
pub fn surplus(
    one: &BTreeSet<(TextSize, String)>,
    other: &BTreeSet<(TextSize, String)>,
) -> Surplus {
    let mut found = Surplus::new();
    for (_, text) in one {
        *found.entry(text.clone()).or_default() += 1;
    }
    for (_, text) in other {
        *found.entry(text.clone()).or_default() -= 1;
    }
    found.retain(|_, count| *count != 0);
    found
}

/// What is followed of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// All of it, and what changes what it reads.
    Statements,
    /// A part of it by itself.
    Part,
    /// A part of it by itself, and what changes the value of that.
    Value,
}

/// A slice that grows backwards from what a statement reads, and the operations in it.
pub(crate) struct Rest<'o, 'a> {
    pub(super) outline: &'o StatementTree<'a>,
    pub(super) graph: DependenceGraph<'o, 'a>,
    pub(super) nodes: &'o Nodes<'a>,
    pub(super) imported: ImportedNames<'a>,
    /// Whether the program itself writes the command line that it parses.
    pub(super) gives_command_line: bool,
    seen: BTreeSet<usize>,
    variables: BTreeSet<usize>,
    attributes: BTreeSet<Name>,
    todo: Vec<usize>,
    /// What decided, each time that a loop came to it, that a statement was not reached.
    missed: BTreeSet<usize>,
    /// The statements of the frames, outermost first.
    pub(super) frames: Vec<usize>,
    of: Side,
    /// What is followed of a statement.
    extent: Extent,
    /// Whether a loop counts only if what it iterates over is read.
    is_flow: bool,
    /// The statements that would have changed what it reads, but were not reached.
    unreached: BTreeSet<usize>,
    /// Whether what another process runs counts, too.
    is_everywhere: bool,
    /// The statements that hand on what it runs.
    pub(super) handing: BTreeSet<usize>,
    /// The parameters that it reads of functions that the program does not call.
    pub(super) given: BTreeSet<Name>,
    /// The operations of decorators that give parameters their values: they compute nothing that
    /// the program says.
    decorating: Operations,
}

impl<'o, 'a> Rest<'o, 'a> {
    pub(crate) fn of(outline: &'o StatementTree<'a>, nodes: &'o Nodes<'a>) -> Self {
        Self {
            outline,
            graph: DependenceGraph::of(outline),
            nodes,
            imported: ImportedNames::of(outline.program.tree()),
            gives_command_line: gives_command_line(outline.program),
            seen: BTreeSet::new(),
            variables: BTreeSet::new(),
            attributes: BTreeSet::new(),
            todo: Vec::new(),
            missed: BTreeSet::new(),
            frames: Vec::new(),
            of: Side::default(),
            extent: Extent::Statements,
            is_flow: false,
            unreached: BTreeSet::new(),
            is_everywhere: false,
            handing: BTreeSet::new(),
            given: BTreeSet::new(),
            decorating: Operations::new(),
        }
    }

    /// The same, but a loop counts only if what it iterates over is read: not if it repeats what
    /// does not depend on it.
    pub(super) fn flow(mut self) -> Self {
        self.is_flow = true;
        self
    }

    fn passing(&self) -> Passing<'_, 'o, 'a> {
        Passing {
            tree: self.outline,
            graph: &self.graph,
            nodes: self.nodes,
            imported: &self.imported,
        }
    }

    /// Follows frames, outermost first: the values that they pass on, and the conditions that lead
    /// to them.
    pub(crate) fn of_frames(mut self, frames: Vec<usize>) -> Self {
        let mut conditions = self.conditions_of(&frames);
        // If nothing else decides, that does which would have ended the program before.
        if conditions.is_empty() {
            conditions = self.passed(&frames);
        }
        // Where it is made whenever its function is called, it says what is wrong, unless it hands
        // on what it handles.
        if let Some(&last) = frames.last()
            && !self.is_in_handler(last)
            && !std::iter::once(last)
                .chain(self.conditions(last))
                .any(|at| self.decides(at))
            && let Some(message) = message(self.outline.statements[last].node)
        {
            self.grow_by_part(last, message);
        }
        self.todo.extend(conditions);
        self.todo.extend(frames.last());
        self.frames = frames;
        self.grow_all();
        self
    }

    /// The operations in it alone.
    pub(super) fn own_operations(self) -> Operations {
        self.of.operations
    }

    /// The operations that decided, in loops, that statements were not reached.
    pub(super) fn missed_operations(self) -> Operations {
        let mut deciding = Self::of(self.outline, self.nodes).flow();
        deciding.todo.extend(self.missed);
        deciding.grow_all();
        deciding.own_operations()
    }

    /// The operations in it or, where none of them computes, the way on which it is reached; with
    /// those of functions that are handed on and that no trace shows to run.
    pub(super) fn operations(mut self) -> Operations {
        let way = self.way(&(&self.of.operations - &self.decorating));
        self.of.operations.extend(way);
        self.is_everywhere = true;
        for statement in &self.seen | &self.unreached {
            self.grow_by_handing(statement);
        }
        self.grow_all();
        self.of.operations
    }

    /// The statements in it.
    pub(crate) fn statements(&self) -> impl Iterator<Item = usize> + '_ {
        self.seen.iter().copied()
    }

    /// How often its calls for nothing but their effect were made, as far as a trace shows.
    pub(super) fn effect_times(&self) -> BTreeMap<String, u64> {
        let mut found = BTreeMap::new();
        for &at in &self.seen {
            let nodes = self.nodes[at].iter();
            let operations = nodes.flat_map(|node| self.operation(*node, at));
            for operation in operations.filter(|operation| operation.ends_with(FOR_EFFECT)) {
                *found.entry(operation).or_default() += self.outline.times(at);
            }
        }
        found
    }

    /// The dependences of a part of a statement alone.
    pub(crate) fn of_part(self, statement: usize, part: TextRange, frames: &[usize]) -> Side {
        self.grown(Extent::Part, statement, part, frames).of
    }

    /// Grown from a part of a statement.
    fn grown(
        mut self,
        extent: Extent,
        statement: usize,
        part: TextRange,
        frames: &[usize],
    ) -> Self {
        self.frames = frames.to_vec();
        self.extent = extent;
        self.grow_by_part(statement, part);
        self.grow_all();
        self
    }

    /// The operations that made the value of a part of a statement, and, as such, those that would
    /// have changed it, but were not reached.
    pub(super) fn making(self, statement: usize, part: TextRange, frames: &[usize]) -> Operations {
        let rest = self.grown(Extent::Value, statement, part, frames);
        let mut operations = rest.of.operations.clone();
        let mut undone = Operations::new();
        for &statement in &rest.unreached {
            for node in &rest.nodes[statement] {
                undone.extend(rest.operation(*node, statement));
            }
        }
        // Whether something is done, only a trace says.
        let all = if rest.outline.is_traced {
            undone
        } else {
            operations.clone()
        };
        operations.extend(all.into_iter().map(|operation| format!("no {operation}")));
        let mut unreached = rest.unreached.iter();
        if !rest.outline.is_traced || unreached.any(|&at| rest.is_called_in_vain(at)) {
            operations.insert("in vain".to_owned());
        }
        operations
    }

    /// Whether a statement stands in a function that the program calls and that does not run, as
    /// generators do not.
    fn is_called_in_vain(&self, statement: usize) -> bool {
        let outline = self.outline;
        let function = outline.function_of(statement);
        let function = function.filter(|&at| {
            let mut body = self.graph.body(at);
            body.next().is_none()
        });
        let def = function.and_then(|at| outline.statements[at].node.as_stmt_function_def());
        def.is_some_and(|def| {
            let mut calls = self.nodes.calls_of(&def.name);
            calls.any(|(at, _)| outline.statements[at].is_executed)
        })
    }

    /// What a part of a statement reads off objects, and the packages that it depends on.
    pub(super) fn origin(self, statement: usize, part: TextRange, frames: &[usize]) -> ValueSource {
        self.grown(Extent::Part, statement, part, frames)
            .source(statement, part)
    }

    /// The same, with what changes the value of that.
    pub(super) fn whole_origin(
        self,
        statement: usize,
        part: TextRange,
        frames: &[usize],
    ) -> ValueSource {
        self.grown(Extent::Value, statement, part, frames)
            .source(statement, part)
    }

    /// What the statements in it, and a part of one, read.
    fn source(self, statement: usize, part: TextRange) -> ValueSource {
        let rest = self;
        let own = rest.nodes[statement].iter();
        let own = own.filter(|node| part.contains_range(node.range()));
        let others = rest.seen.iter().flat_map(|&seen| &rest.nodes[seen]);
        let mut origin = ValueSource::default();
        for node in own.chain(others) {
            if let AnyNodeRef::ExprName(name) = node
                && let Some(path) = rest.imported.name(&name.id)
            {
                let module = path.split('.').next().unwrap_or(path);
                origin.modules.insert(module.to_owned());
                if is_installed(path) {
                    origin.packages.insert(module.to_owned());
                }
            }
            let path = match node {
                AnyNodeRef::ExprName(name) => rest.imported.name(&name.id).map(str::to_owned),
                AnyNodeRef::ExprAttribute(attribute) => rest.imported.attribute(attribute),
                _ => None,
            };
            let call = node.as_expr_call();
            origin
                .called
                .extend(call.and_then(|call| rest.imported.path(&call.func)));
            let attribute = node.as_expr_attribute();
            if attribute.is_some_and(|attribute| path.is_none() && !is_of_data(&attribute.attr)) {
                origin.read.extend(rest.foreign_name(*node));
            }
            let is_of_standard = |path: &String| path.contains('.') && !is_installed(path);
            origin.of_standard.extend(path.filter(is_of_standard));
        }
        origin
    }

    /// Whether it is how a value was made that counts, not what a report rests on: that has its own
    /// check of what is caught.
    pub(super) fn is_making(&self) -> bool {
        self.extent == Extent::Value
    }

    /// Whether a part of a statement is followed by itself.
    fn is_part(&self) -> bool {
        self.extent != Extent::Statements
    }

    /// Whether what changes it in place is followed, too.
    fn is_changed(&self) -> bool {
        self.extent != Extent::Part
    }
}

/// The message of a statement that raises.
fn message(statement: AnyNodeRef<'_>) -> Option<TextRange> {
    match statement {
        AnyNodeRef::StmtRaise(raise) => Some(raise.exc.as_ref()?.as_call_expr()?.arguments.range),
        AnyNodeRef::StmtAssert(assert) => assert.msg.as_ref().map(|message| message.range()),
        _ => None,
    }
}
