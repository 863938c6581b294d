//! The dependences of a statement or of a part of one: a slice that grows backwards from its reads,
//! with the operations, names and constants in it.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    FOR_EFFECT, Nodes, Operations,
    operations::is_neutral,
    passing::{Passing, is_method},
};
use crate::{
    analysis::{
        calls::{fields, is_of_data},
        dependence_graph::DependenceGraph,
        names::{ImportedNames, is_installed},
        statement_tree::StatementTree,
    },
    syntax::{
        AnyNodeRef, Ranged, TextRange, TextSize,
        ast::{Expr, name::Name},
        scope::{Binding, BindingKind, ScopeKind, Variable},
    },
    torch::producers::made_by,
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

    /// Follows what hands on the function in which a statement stands, unless a trace shows that it
    /// ran.
    fn grow_by_handing(&mut self, statement: usize) {
        if self.outline.is_traced && self.outline.statements[statement].is_executed {
            return;
        }
        let handing = self.passing().handing(statement);
        if !handing.is_empty() {
            self.todo.push(statement);
        }
        self.todo.extend(&handing);
        self.handing.extend(handing);
    }

    /// The statements in it.
    pub(crate) fn statements(&self) -> impl Iterator<Item = usize> + '_ {
        self.seen.iter().copied()
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

    /// The operations that made the value of a part of a statement, with those that would have
    /// changed it, but were not reached.
    pub(super) fn making(self, statement: usize, part: TextRange, frames: &[usize]) -> Operations {
        let rest = self.grown(Extent::Value, statement, part, frames);
        let mut operations = rest.of.operations.clone();
        for &statement in &rest.unreached {
            for node in &rest.nodes[statement] {
                operations.extend(rest.operation(*node, statement));
            }
        }
        operations
    }

    /// What a part of a statement reads off objects, and the packages that it depends on.
    pub(super) fn origin(self, statement: usize, part: TextRange, frames: &[usize]) -> ValueSource {
        let rest = self.grown(Extent::Part, statement, part, frames);
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
            let attribute = node.as_expr_attribute();
            if attribute.is_some_and(|attribute| path.is_none() && !is_of_data(&attribute.attr)) {
                origin.read.extend(rest.foreign_name(*node));
            }
            let is_of_standard = |path: &String| path.contains('.') && !is_installed(path);
            origin.of_standard.extend(path.filter(is_of_standard));
        }
        origin
    }

    fn grow_all(&mut self) {
        while let Some(statement) = self.todo.pop() {
            if self.seen.insert(statement) {
                self.grow(statement);
                let mut around = self.conditions(statement);
                let outline = self.outline;
                around.retain(|&at| !self.is_flow || !outline.statements[at].node.is_stmt_for());
                self.todo.extend(around);
                let attempts = self.attempts(statement);
                self.todo.extend(attempts);
                if self.is_everywhere {
                    self.grow_by_handing(statement);
                }
            }
        }
    }

    fn grow(&mut self, index: usize) {
        let statement = &self.outline.statements[index];
        let counted: Option<TextRange> = match statement.node {
            // The words of its message are not part of its dependences.
            AnyNodeRef::StmtRaise(_)
            | AnyNodeRef::StmtFunctionDef(_)
            | AnyNodeRef::StmtClassDef(_) => None,
            AnyNodeRef::StmtAssert(it) => Some(it.test.range()),
            // Elsewhere an annotation computes nothing.
            AnyNodeRef::StmtAnnAssign(it) if !self.is_field_of_package(index) => {
                it.value.as_ref().map(|value| value.range())
            }
            _ => Some(statement.range),
        };
        match statement.node {
            AnyNodeRef::StmtFunctionDef(_) => self.results_of(index),
            AnyNodeRef::StmtClassDef(class) => {
                if class.bases().iter().any(|base| self.is_own_class(base)) {
                    // An inherited base class counts like a computed value.
                    self.of.operations.insert("class".to_owned());
                }
                // The interpreter calls methods that no attribute names, and so do base classes
                // that are not the program's own.
                let inherits = class.bases().iter().any(|base| !self.is_own_class(base));
                let is_called = |child: &&usize| match self.outline.statements[**child].node {
                    AnyNodeRef::StmtFunctionDef(def) => {
                        let is_named = self.outline.attributes.contains_key(&def.name.id);
                        def.name.starts_with("__") || inherits && !is_named
                    }
                    _ => false,
                };
                let methods = statement.children.iter().filter(is_called);
                self.todo.extend(methods.copied().collect::<Vec<_>>());
            }
            AnyNodeRef::StmtAnnAssign(it) if self.is_field_of_package(index) => {
                let types = self.types(index, it.annotation.range());
                self.of.operations.extend(types);
            }
            AnyNodeRef::StmtAugAssign(it) if !is_neutral(it.op, &it.value) => {
                self.of.operations.insert(it.op.as_str().to_owned());
            }
            AnyNodeRef::StmtTry(it) if self.is_making() && self.handles(it) => {
                self.of.operations.insert("except".to_owned());
            }
            AnyNodeRef::StmtDelete(it) if !it.targets.iter().all(Expr::is_name_expr) => {
                self.of.operations.insert("del".to_owned());
            }
            AnyNodeRef::StmtAssign(it) if it.targets.iter().any(Expr::is_subscript_expr) => {
                self.of.operations.insert("[]=".to_owned());
            }
            AnyNodeRef::StmtAssign(it)
                if it
                    .targets
                    .iter()
                    .any(|target| self.is_set_from_outside(target)) =>
            {
                self.of.operations.insert(".=".to_owned());
            }
            _ => {}
        }
        if let Some(counted) = counted {
            self.grow_by_part(index, counted);
        }
    }

    /// Follows the operations and reads of a part of a statement.
    fn grow_by_part(&mut self, index: usize, counted: TextRange) {
        let outline = self.outline;
        let statement = &outline.statements[index];
        let condition = match statement.node {
            AnyNodeRef::StmtIf(it) => Some(&*it.test),
            AnyNodeRef::StmtWhile(it) => Some(&*it.test),
            _ => None,
        };
        let asked = condition.filter(|condition| counted.contains_range(condition.range()));
        let asked = asked.map(|condition| self.truth(condition, index));
        self.of.operations.extend(asked.into_iter().flatten());
        for node in &self.nodes[index] {
            if counted.contains_range(node.range()) {
                self.of.operations.extend(self.operation(*node, index));
                let start = node.start();
                self.of
                    .literals
                    .extend(self.literal(*node).map(|text| (start, text)));
                self.of
                    .names
                    .extend(self.foreign_name(*node).map(|name| (start, name)));
            }
        }
        for (variable, range) in &statement.reads {
            if counted.contains_range(*range) && self.variables.insert(*variable) {
                self.grow_by_variable(*variable);
            }
        }
        for (name, range) in &statement.attributes {
            if counted.contains_range(*range) && self.attributes.insert(name.clone()) {
                self.grow_by_attribute(name);
            }
        }
    }

    /// Whether an expression is an attribute that no class of the program has or sets. Reading it
    /// asks for something that a library computed from the object. An attribute that a class sets
    /// is like a variable.
    fn is_set_from_outside(&self, target: &Expr) -> bool {
        let Some(attribute) = target.as_attribute_expr() else {
            return false;
        };
        let is_own = |target: &Expr| {
            let its = target.as_attribute_expr();
            its.is_some_and(|its| {
                let object = its.value.as_name_expr();
                its.attr == attribute.attr && object.is_some_and(|name| is_receiver(&name.id))
            })
        };
        self.graph.members(&attribute.attr).is_empty()
            && self.graph.stores(&attribute.attr).all(|statement| {
                let target = self.outline.statements[statement].target();
                target.is_some_and(|target| !is_own(target))
            })
    }

    /// Whether it is how a value was made that counts, not what a report rests on: that has its own
    /// check of what is caught.
    fn is_making(&self) -> bool {
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

    /// Whether an expression names a class of the program.
    fn is_own_class(&self, expr: &Expr) -> bool {
        let name = expr.as_name_expr();
        name.is_some_and(|name| self.outline.program.scopes().is_class(&name.id))
    }

    /// Follows the values that a function returns, and the conditions that decide which.
    fn results_of(&mut self, function: usize) {
        let is_result = |statement: &usize| {
            let statement = &self.outline.statements[*statement];
            statement.yields || matches!(statement.node, AnyNodeRef::StmtReturn(_))
        };
        let results = self.graph.body(function).filter(is_result);
        self.todo.extend(results);
        if self.is_changed() {
            let changes = self.passing().changes_of_kept(function);
            self.todo.extend(changes);
        }
    }

    fn grow_by_variable(&mut self, index: usize) {
        let variable = &self.outline.program.scopes().variables[index];
        if self.is_part() && variable.scope == ScopeKind::Comprehension {
            // The iterable stands beside the name, in the same part, but not in its argument.
            if self.is_making() {
                self.grow_by_comprehension(variable);
            }
            return;
        }
        for binding in &variable.bindings {
            match binding.kind {
                BindingKind::Import => {}
                BindingKind::Parameter => {
                    let function = self.outline.at(binding.statement);
                    let is_receiver =
                        is_method(self.outline, function) && is_receiver(&variable.name);
                    if self.is_part() && is_receiver {
                        continue;
                    }
                    if function.is_some_and(|function| !self.is_called(function)) {
                        self.given.insert(variable.name.clone());
                    }
                    let calls = self.frames.windows(2);
                    let passing: Vec<usize> = calls
                        .filter(|pair| self.outline.function_of(pair[1]) == function)
                        .map(|pair| pair[0])
                        .collect();
                    let mut is_given = is_receiver;
                    if passing.is_empty() && self.is_changed() && !is_receiver {
                        let calls = function
                            .map(|function| self.passing().arguments(function, &variable.name));
                        for (statement, argument) in calls.into_iter().flatten() {
                            is_given = true;
                            self.grow_by_part(statement, argument);
                        }
                    }
                    for statement in passing {
                        let argument = self.passing().argument(statement, function, &variable.name);
                        is_given |= argument.is_some();
                        match argument {
                            Some(argument) if self.is_part() => {
                                self.grow_by_part(statement, argument);
                            }
                            _ => self.todo.push(statement),
                        }
                    }
                    if !is_given {
                        self.grow_by_decorators(function);
                    }
                }
                _ => match (
                    self.graph.executed(binding.statement),
                    self.element(binding),
                ) {
                    (Some(statement), Some(element)) if self.is_part() => {
                        self.grow_by_part(statement, element);
                    }
                    (statement, _) => self.todo.extend(statement),
                },
            }
        }
        self.todo.extend(self.graph.changes_in_place(index));
        if self.is_changed() {
            let missed: Vec<usize> = self.graph.missed(index).collect();
            self.grow_by_missed(&missed);
            self.grow_by_contexts(variable);
            let uses = self.graph.uses(index);
            let changes: Vec<usize> = uses
                .flat_map(|(statement, range)| self.passing().changes(statement, range))
                .collect();
            self.todo.extend(changes);
            for (statement, part) in self.passing().taking(index) {
                self.grow_by_effect(statement, part);
            }
        }
    }

    /// Follows what a comprehension iterates over, and what it asks of each.
    fn grow_by_comprehension(&mut self, variable: &Variable) {
        for binding in &variable.bindings {
            let Some(statement) = self.graph.executed(binding.statement) else {
                continue;
            };
            let its = self.nodes[statement].iter();
            let its = its.filter_map(|node| node.as_comprehension().copied());
            let its = its.filter(|each| each.target.range().contains_range(binding.range));
            let parts = its.flat_map(|each| std::iter::once(&each.iter).chain(&each.ifs));
            let parts: Vec<TextRange> = parts.map(Ranged::range).collect();
            for part in parts {
                self.grow_by_part(statement, part);
            }
        }
    }

    /// Follows a part of a statement for its effect alone, whoever uses its result.
    fn grow_by_effect(&mut self, statement: usize, part: TextRange) {
        let its = self.nodes[statement].iter();
        let its = its.filter(|node| node.range() == part);
        let operations: Vec<String> = its
            .flat_map(|node| self.operation(*node, statement))
            .map(|operation| format!("{}{FOR_EFFECT}", operation.trim_end_matches(FOR_EFFECT)))
            .collect();
        self.of.operations.extend(operations);
        let conditions = self.conditions(statement);
        self.todo.extend(conditions);
    }

    /// Follows the decorators of a function: what no call gives it, they do.
    fn grow_by_decorators(&mut self, function: Option<usize>) {
        let outline = self.outline;
        let def = function.and_then(|at| outline.statements[at].node.as_stmt_function_def());
        if let Some((function, def)) = function.zip(def) {
            for decorator in &def.decorator_list {
                let nodes = self.nodes[function].iter();
                let its = nodes.filter(|node| decorator.range.contains_range(node.range()));
                let operations: Vec<_> = its
                    .flat_map(|node| self.operation(*node, function))
                    .collect();
                self.decorating.extend(operations);
                self.grow_by_part(function, decorator.range);
            }
        }
    }

    /// Follows what decided that statements were not reached: the value that they would have given
    /// is missing because of it.
    fn grow_by_missed(&mut self, missed: &[usize]) {
        self.unreached.extend(missed);
        for &statement in missed {
            if self.is_everywhere {
                self.grow_by_handing(statement);
            }
            let mut deciding = self.conditions(statement);
            deciding.extend(self.handled(statement));
            let outline = self.outline;
            deciding.retain(|&at| outline.statements[at].is_executed);
            self.todo.extend(&deciding);
            let is_loop = |at: &usize| {
                let node = outline.statements[*at].node;
                node.is_stmt_for() || node.is_stmt_while()
            };
            if deciding.iter().any(is_loop) {
                let tests = deciding.into_iter().filter(|&at| self.decides(at));
                self.missed.extend(tests.collect::<Vec<_>>());
            }
        }
    }

    /// Follows what runs in a context, if its variable is read later: a profile, a record of warnings
    /// or an expected exception holds what happened there.
    fn grow_by_contexts(&mut self, variable: &Variable) {
        for binding in &variable.bindings {
            let Some(context) = self.graph.executed(binding.statement) else {
                continue;
            };
            let range = self.outline.statements[context].range;
            let mut uses = variable.uses.iter();
            if self.outline.statements[context].node.is_stmt_with()
                && uses.any(|of_it| range.end() <= of_it.range.start())
            {
                let within = self.outline.within(context);
                let outline = self.outline;
                self.todo
                    .extend(within.filter(|&at| outline.statements[at].is_executed));
            }
        }
    }

    /// The expression that a binding gets, where a statement assigns several to as many names.
    fn element(&self, binding: &Binding) -> Option<TextRange> {
        let statement = self.outline.at(binding.statement)?;
        let assign = self.outline.statements[statement].node.as_stmt_assign()?;
        let (Expr::Tuple(values), [Expr::Tuple(targets)]) = (&*assign.value, &*assign.targets)
        else {
            return None;
        };
        let mut pairs = targets.elts.iter().zip(&values.elts);
        let is_exact = targets.elts.len() == values.elts.len()
            && targets.elts.iter().all(Expr::is_name_expr)
            && !values.elts.iter().any(Expr::is_starred_expr);
        let pair = pairs.find(|(target, _)| target.range().contains_range(binding.range));
        pair.filter(|_| is_exact).map(|(_, value)| value.range())
    }

    fn grow_by_attribute(&mut self, name: &Name) {
        if let Some(maker) = made_by(name) {
            self.todo.extend(self.outline.executed_with(maker));
        }
        let members = self.graph.members(name).iter();
        let members: Vec<usize> = members.map(|definition| definition.statement).collect();
        for member in members {
            self.todo.push(member);
            // Calls of the class give its fields their values.
            let outline = self.outline;
            let class = outline.statements[member].parent;
            let class = class.and_then(|class| outline.statements[class].node.as_stmt_class_def());
            let Some(class) = class.filter(|_| self.is_changed()) else {
                continue;
            };
            let mut its = fields(class).into_iter();
            if let Some(position) = its.position(|(field, _)| field == name.as_str()) {
                for (statement, argument) in self.passing().given_for(&class.name, name, position) {
                    self.grow_by_part(statement, argument);
                }
            }
        }
        self.todo.extend(self.graph.stores(name));
        self.todo
            .extend(self.graph.attribute_changes_in_place(name));
        if self.is_changed() {
            let missed: Vec<usize> = self.graph.missed_of_attribute(name).collect();
            self.grow_by_missed(&missed);
            let reads = self.outline.reads_of(name);
            let changes: Vec<usize> = reads
                .flat_map(|(statement, range)| self.passing().changes(statement, range))
                .collect();
            self.todo.extend(changes);
        }
    }
}

/// Whether a parameter stands for the receiver of a method. The reason why the method was called is
/// not part of what it computes.
fn is_receiver(name: &str) -> bool {
    matches!(name, "self" | "cls")
}

/// The message of a statement that raises.
fn message(statement: AnyNodeRef<'_>) -> Option<TextRange> {
    match statement {
        AnyNodeRef::StmtRaise(raise) => Some(raise.exc.as_ref()?.as_call_expr()?.arguments.range),
        AnyNodeRef::StmtAssert(assert) => assert.msg.as_ref().map(|message| message.range()),
        _ => None,
    }
}
