//! Backward slices: of the statements that a traced run executed, those that a failure can depend
//! on. After Weiser, "Program Slicing" (IEEE TSE 1984), restricted to executed statements, as
//! Agrawal and Horgan do (PLDI 1990). But slices go by names, and attributes by name alone, so a
//! slice is a guess that a run must confirm. Called by the passes that use evidence.

mod lifting;
mod values;

pub(crate) use lifting::Lifting;
pub(crate) use values::Values;
use values::assigned;

use std::collections::{BTreeMap, HashSet};

use crate::{
    analysis::{
        dependence_graph::DependenceGraph,
        special_names::{is_of_library, is_special},
        statement_tree::StatementTree,
    },
    rewrite::edit::Edit,
    syntax::{
        AnyNodeRef, TextRange,
        ast::{Expr, StmtAssign, name::Name},
        scope::{BindingKind, ScopeKind},
    },
    trace::{
        evidence::{Evidence, Frame, MissingSymbols, SourceLine},
        value::Expression,
    },
};

/// How much of the functions that are kept is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The statements that their results are assigned from.
    Thin,
    /// Also the later changes of these values.
    Middle,
    /// All that was executed of them.
    Full,
}

/// A slice as it grows.
pub(crate) struct Slicer<'a> {
    outline: &'a StatementTree<'a>,
    graph: DependenceGraph<'a, 'a>,
    evidence: &'a Evidence,
    missing: &'a MissingSymbols,
    depth: Depth,
    kept: Vec<bool>,
    variables: HashSet<usize>,
    attributes: HashSet<Name>,
    changes: HashSet<usize>,
    /// Whether attributes count only in statements that are kept anyway: all objects are made anew,
    /// by names.
    is_anew: bool,
    /// Recorded values of variables, instead of the statements that made them: those of each frame
    /// of the failure, by its function.
    values: Vec<(Option<usize>, &'a Frame)>,
    which: Values,
    replaced: BTreeMap<usize, Vec<Edit>>,
    todo: Vec<Need>,
}

enum Need {
    Statement(usize),
    /// A statement that changes something, and the calls by which it is come to.
    Change(usize),
    Variable(usize),
    Attribute(Name),
}

impl<'a> Slicer<'a> {
    /// An empty slice, except for statements that affect how the rest of the file is read.
    pub(crate) fn new(
        outline: &'a StatementTree<'a>,
        evidence: &'a Evidence,
        missing: &'a MissingSymbols,
        depth: Depth,
    ) -> Self {
        let mut slicer = Self {
            outline,
            graph: DependenceGraph::of(outline),
            evidence,
            missing,
            depth,
            kept: vec![false; outline.statements.len()],
            variables: HashSet::new(),
            attributes: HashSet::new(),
            changes: HashSet::new(),
            is_anew: false,
            values: Vec::new(),
            which: Values::Made,
            replaced: BTreeMap::new(),
            todo: Vec::new(),
        };
        for (index, statement) in outline.statements.iter().enumerate() {
            if matches!(statement.node, AnyNodeRef::StmtImportFrom(it) if it.module.as_deref() == Some("__future__"))
            {
                slicer.keep(index);
            }
        }
        slicer
    }

    /// Gives variables the values of the failure's frames if that takes no more text than the
    /// statements that made them, and loops that failed only the iteration that did.
    pub(crate) fn with_values(mut self, which: Values) -> Self {
        self.which = which;
        if which == Values::Made {
            return self;
        }
        let frames = self.evidence.frames();
        self.values = frames
            .filter_map(|frame| Some((self.outline.on_line(frame.line)?, frame)))
            .map(|(statement, frame)| (self.outline.function_of(statement), frame))
            .collect();
        self
    }

    /// Counts attributes only in statements that are kept anyway, and these from the start: all
    /// objects are made anew, by names.
    pub(crate) fn anew(mut self, attributes: impl IntoIterator<Item = Name>) -> Self {
        self.is_anew = true;
        self.attributes.extend(attributes);
        self
    }

    /// Keeps a statement.
    pub(crate) fn keep(&mut self, statement: usize) {
        self.todo.push(Need::Statement(statement));
        self.settle();
    }

    /// Keeps the statements that start those functions of the failure that none of its frames
    /// calls: those of tasks and threads. Their values are passed to them there.
    pub(crate) fn keep_starts(&mut self) {
        let outline = self.outline;
        let function_of = |frame: &Frame| outline.function_of(outline.on_line(frame.line)?);
        let Evidence {
            failure, causes, ..
        } = self.evidence;
        // The first of them is called by none.
        let mut called: HashSet<usize> = failure.iter().skip(1).filter_map(function_of).collect();
        let firsts = [failure]
            .into_iter()
            .chain(causes)
            .filter_map(|frames| function_of(frames.first()?));
        let mut left: Vec<usize> = firsts.collect();
        while let Some(function) = left.pop() {
            if !called.insert(function) {
                continue;
            }
            for start in self.graph.uses_of_function(function) {
                self.keep(start);
                let around = outline.function_of(start);
                left.extend(around);
                for beside in around
                    .into_iter()
                    .flat_map(|function| outline.within(function))
                {
                    let is_body = outline.statements[beside].is_executed
                        && outline.function_of(beside) == around;
                    if self.depth == Depth::Full && is_body {
                        self.keep(beside);
                    }
                }
            }
        }
    }

    /// Keeps the statements that make a variable.
    pub(crate) fn keep_variable(&mut self, variable: usize) {
        self.todo.push(Need::Variable(variable));
        self.settle();
    }

    /// Keeps the statements that make the module's variables that some code reads.
    pub(crate) fn keep_names_of(&mut self, code: &str) {
        self.keep_names(&code.to_owned().into());
    }

    /// The same of an expression, with the members of the program's classes that it reads.
    pub(crate) fn keep_names(&mut self, expression: &Expression) {
        let scopes = self.outline.program.scopes();
        let global = |name: &str| {
            let mut named = scopes.positions_named(name).iter().copied();
            named.find(|&at| scopes.variables[at].scope == ScopeKind::Module)
        };
        let names = expression.names().filter_map(global);
        self.todo.extend(names.map(Need::Variable));
        let of_classes = expression.attributes().filter(|(name, _)| {
            let bindings = global(name).map(|at| &scopes.variables[at].bindings);
            let mut bindings = bindings.into_iter().flatten();
            bindings.any(|binding| binding.kind == BindingKind::Class)
        });
        let members = of_classes.map(|(_, member)| Need::Attribute(member.clone()));
        self.todo.extend(members);
        self.settle();
    }

    /// Keeps the assignments to an attribute, and methods of that name.
    pub(crate) fn keep_attribute(&mut self, name: &Name) {
        self.todo.push(Need::Attribute(name.clone()));
        self.settle();
    }

    /// The program's text with only the slice.
    pub(crate) fn text(&mut self) -> Option<String> {
        // A name from a gap matters only where the slice is concerned: in functions and classes
        // that are in it.
        loop {
            let before = self.kept.iter().filter(|&&is_kept| is_kept).count();
            for index in 0..self.kept.len() {
                let statement = &self.outline.statements[index];
                let is_near = statement.parent.is_none_or(|parent| self.kept[parent]);
                if is_near
                    && statement.is_executed
                    && !self.kept[index]
                    && (self.names_a_gap(index) || self.makes_an_attribute(index))
                {
                    self.keep(index);
                }
            }
            if self.kept.iter().filter(|&&is_kept| is_kept).count() == before {
                break;
            }
        }
        let replaced: Vec<Edit> = self.replaced.values().flatten().cloned().collect();
        self.outline.text_of(|index| self.kept[index], &replaced)
    }

    /// The text of the program with only the slice, then the calls of functions outside it that a
    /// gap names, which must be set up first.
    pub(crate) fn text_set_up(&mut self) -> Option<String> {
        let done = &self.evidence.done;
        let is_named = |call: &Expression| {
            call.called()
                .is_some_and(|name| self.missing.words.contains(name))
        };
        let named: Vec<(SourceLine, &Expression)> = done
            .iter()
            .filter(|(_, call)| is_named(call))
            .map(|(&line, call)| (line, call))
            .collect();
        for (_, call) in &named {
            self.keep_names(call);
        }
        let mut text = self.text()?;
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        for (line, call) in named {
            if self
                .outline
                .on_line(line)
                .is_some_and(|statement| !self.kept[statement])
            {
                text.push_str(call.text());
                text.push('\n');
            }
        }
        Some(text)
    }

    /// Whether a statement itself has a word of the missing.
    fn names_a_gap(&self, index: usize) -> bool {
        let text = self.outline.own_text(index);
        let is_word = |char: char| char.is_alphanumeric() || char == '_';
        !self.missing.words.is_empty()
            && text
                .split(|char| !is_word(char))
                .any(|word| self.missing.words.contains(word))
    }

    /// Whether a statement near the kept ones makes an attribute that they read.
    fn makes_an_attribute(&self, index: usize) -> bool {
        let statement = &self.outline.statements[index];
        let is_read = |name: &str| self.attributes.iter().any(|read| read == name);
        if !self.is_anew {
            return false;
        }
        let of_class = statement.parent.is_some_and(|parent| {
            matches!(
                self.outline.statements[parent].node,
                AnyNodeRef::StmtClassDef(_)
            )
        });
        let is_member = match statement.node {
            AnyNodeRef::StmtFunctionDef(def) => is_read(&def.name) && self.is_entered(index),
            AnyNodeRef::StmtAssign(stmt) => assigns(stmt, is_read),
            _ => false,
        };
        let is_store = || {
            let stores = self
                .outline
                .stores
                .iter()
                .filter(|(name, _)| self.attributes.contains(*name));
            stores.flat_map(|(_, at)| at).any(|&at| at == index)
                && (statement.parent.is_some()
                    || statement
                        .reads
                        .iter()
                        .any(|(variable, _)| self.variables.contains(variable)))
        };
        (of_class && is_member) || is_store()
    }

    fn settle(&mut self) {
        while let Some(need) = self.todo.pop() {
            match need {
                Need::Statement(index) if !self.kept[index] => self.grow_by_statement(index),
                Need::Change(index) if self.changes.insert(index) => self.grow_by_change(index),
                Need::Variable(index) if self.variables.insert(index) => {
                    self.grow_by_variable(index);
                }
                Need::Attribute(name) if self.attributes.insert(name.clone()) => {
                    self.grow_by_attribute(&name);
                }
                _ => {}
            }
        }
    }

    fn grow_by_statement(&mut self, index: usize) {
        let outline = self.outline;
        let statement = &outline.statements[index];
        self.kept[index] = true;
        self.replaced.remove(&index);
        self.todo.extend(statement.parent.map(Need::Statement));
        let mut edits = self.results(index);
        edits.extend(self.failing_turn(index));
        for edit in &edits {
            self.keep_names_of(&edit.text);
        }
        let stays = |range: TextRange| !edits.iter().any(|edit| edit.range.contains_range(range));
        let reads = statement
            .reads
            .iter()
            .filter(|read| stays(read.1))
            .map(|read| Need::Variable(read.0));
        self.todo.extend(reads);
        let attributes = statement
            .attributes
            .iter()
            .filter(|attribute| stays(attribute.1));
        self.todo
            .extend(attributes.map(|attribute| Need::Attribute(attribute.0.clone())));
        // The docstring is what makes the one variable of a module that nothing assigns.
        if outline.own_text(index).contains("__doc__") && is_docstring(&outline.statements[0].node)
        {
            self.todo.push(Need::Statement(0));
        }
        let failed = self
            .missing
            .lines
            .iter()
            .any(|line| self.outline.own_text(index).contains(line.as_str()));
        if failed {
            let changes: Vec<usize> = statement
                .reads
                .iter()
                .flat_map(|read| self.graph.changes(read.0))
                .collect();
            self.todo.extend(changes.into_iter().map(Need::Change));
        }
        match statement.node {
            AnyNodeRef::StmtFunctionDef(_) | AnyNodeRef::StmtClassDef(_) if failed => {
                self.todo.extend(
                    statement
                        .children
                        .iter()
                        .map(|&child| Need::Statement(child)),
                );
            }
            AnyNodeRef::StmtFunctionDef(_) if let Some((stub, value)) = self.stub(index) => {
                // Nothing of the body is looked at; the edit stands for all of it.
                for inside in outline.within(index) {
                    self.kept[inside] = true;
                }
                edits.push(stub);
                self.keep_names(&value);
            }
            AnyNodeRef::StmtFunctionDef(_) => {
                let body = self.graph.body(index).filter(|&statement| {
                    self.depth == Depth::Full || is_result(outline, statement)
                });
                self.todo.extend(body.map(Need::Statement));
            }
            AnyNodeRef::StmtClassDef(_) => {
                let members = statement
                    .children
                    .iter()
                    .filter(|&&child| self.is_wanted_in_class(child));
                let members: Vec<Need> = members.map(|&child| Need::Statement(child)).collect();
                self.todo.extend(members);
            }
            _ => {}
        }
        if !edits.is_empty() {
            self.replaced.insert(index, edits);
        }
    }

    /// Keeps a change. If a function makes it, keeps the calls of that function for their effect,
    /// and its uses as a decorator.
    fn grow_by_change(&mut self, index: usize) {
        self.todo.push(Need::Statement(index));
        let outline = self.outline;
        for function in outline.ancestors(index) {
            let AnyNodeRef::StmtFunctionDef(_) = outline.statements[function].node else {
                continue;
            };
            for used in self.graph.uses_of_function(function) {
                if matches!(
                    outline.statements[used].node,
                    AnyNodeRef::StmtExpr(_)
                        | AnyNodeRef::StmtFunctionDef(_)
                        | AnyNodeRef::StmtClassDef(_)
                ) {
                    self.todo.push(Need::Change(used));
                }
            }
        }
    }

    /// Whether a statement of a class is kept with it, whoever asks: methods that nothing names are
    /// called by a library, and for those that it names itself it may ask without calling them.
    fn is_wanted_in_class(&self, index: usize) -> bool {
        let statement = &self.outline.statements[index];
        statement.is_executed
            && match statement.node {
                AnyNodeRef::StmtFunctionDef(def) => {
                    let is_called = is_special(&def.name)
                        || !self.outline.attributes.contains_key(&def.name.id);
                    is_of_library(&def.name) || (is_called && self.is_entered(index))
                }
                AnyNodeRef::StmtAssign(stmt) => {
                    self.depth == Depth::Full || assigns(stmt, is_special)
                }
                AnyNodeRef::StmtAnnAssign(_) => true,
                _ => self.depth == Depth::Full,
            }
    }

    /// Whether a function was entered; one whose call only makes a coroutine or generator counts
    /// always.
    fn is_entered(&self, index: usize) -> bool {
        let is_suspended = |statement: usize| self.outline.statements[statement].yields;
        if matches!(self.outline.statements[index].node, AnyNodeRef::StmtFunctionDef(def) if def.is_async)
            || self.outline.within(index).any(is_suspended)
        {
            return true;
        }
        let line = self
            .outline
            .line_of(self.outline.statements[index].range.start());
        self.evidence.entered.contains_key(&line)
    }

    fn grow_by_variable(&mut self, index: usize) {
        let variable = &self.outline.program.scopes().variables[index];
        if let Some((statement, value)) = self.value_for(variable) {
            if !self.kept[statement] {
                self.kept[statement] = true;
                let range = self.outline.statements[statement].range;
                self.replaced.insert(
                    statement,
                    vec![Edit::replace(range, assigned(variable, value))],
                );
                self.todo.extend(
                    self.outline.statements[statement]
                        .parent
                        .map(Need::Statement),
                );
                self.keep_names(&value.expression);
                if self.depth != Depth::Thin && !value.is_exact {
                    let changes = self.graph.changes(index);
                    self.todo.extend(changes.into_iter().map(Need::Change));
                }
            }
            return;
        }
        for definition in self.graph.definitions(index) {
            if definition.kind != BindingKind::Weak || self.depth != Depth::Thin {
                self.todo.push(Need::Statement(definition.statement));
            }
        }
        // A called function of a module changes only objects that are made anew.
        let is_import = variable
            .bindings
            .iter()
            .all(|binding| binding.kind == BindingKind::Import);
        if self.depth != Depth::Thin && !(self.is_anew && is_import) {
            let changes = self.graph.changes(index);
            self.todo.extend(changes.into_iter().map(Need::Change));
        }
    }

    fn grow_by_attribute(&mut self, name: &Name) {
        if self.is_anew {
            return;
        }
        for definition in self.graph.members(name) {
            // A method counts only where it was entered.
            if definition.kind != BindingKind::Function || self.is_entered(definition.statement) {
                self.todo.push(Need::Statement(definition.statement));
            }
        }
        let stores = self.graph.stores(name).map(Need::Statement);
        self.todo.extend(stores);
        if self.depth != Depth::Thin {
            let changes = self.graph.attribute_changes(name);
            self.todo.extend(changes.map(Need::Statement));
        }
    }
}

/// Whether a statement gives a function's result, or is there for names.
fn is_result(outline: &StatementTree<'_>, index: usize) -> bool {
    let statement = &outline.statements[index];
    match statement.node {
        AnyNodeRef::StmtReturn(_)
        | AnyNodeRef::StmtRaise(_)
        | AnyNodeRef::StmtBreak(_)
        | AnyNodeRef::StmtContinue(_)
        | AnyNodeRef::StmtGlobal(_)
        | AnyNodeRef::StmtNonlocal(_) => true,
        _ => statement.yields || outline.own_text(index).contains("super("),
    }
}

/// Whether an assignment has a plain name of some kind among its targets.
fn assigns(stmt: &StmtAssign, is_wanted: impl Fn(&str) -> bool) -> bool {
    let mut names = stmt.targets.iter().filter_map(Expr::as_name_expr);
    names.any(|name| is_wanted(&name.id))
}

fn is_docstring(node: &AnyNodeRef<'_>) -> bool {
    matches!(node, AnyNodeRef::StmtExpr(it) if it.value.is_string_literal_expr())
}
