//! Writes units as one file: each module replaces the import that executed it first, and every name
//! is written as it is called there. Called by the room's `join`.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    modules::{
        ModuleRefusal,
        meaning::{Meaning, Units},
        naming::FileNames,
        references::{ReferenceTo, References, literal, refusal},
        unit::{ImportTarget, ImportedName, ModuleUnit},
    },
    rewrite::{
        edit::{Edit, EditSet},
        reindent::indented,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize,
        ast::{Stmt, StmtImportFrom},
        scope::{BindingKind, ScopeKind},
    },
};

/// The plan of the file.
pub(super) struct Layout<'u> {
    units: &'u Units,
    names: &'u FileNames,
    objects: &'u BTreeSet<String>,
    /// The changes in each unit, besides the places of modules.
    edits: Vec<Vec<Edit>>,
    /// By unit and the start of a statement, the modules that it had run.
    children: BTreeMap<(usize, TextSize), Vec<usize>>,
    /// Features of `from __future__` that modules import.
    future: BTreeSet<String>,
}

impl<'u> Layout<'u> {
    pub(super) fn new(
        units: &'u Units,
        references: &'u References,
        names: &'u FileNames,
    ) -> Result<Self, Vec<ModuleRefusal>> {
        let mut layout = Self {
            units,
            names,
            objects: &references.objects,
            edits: units.all.iter().map(|_| Vec::new()).collect(),
            children: BTreeMap::new(),
            future: BTreeSet::new(),
        };
        let mut refused = layout.add_references(references);
        for (at, unit) in units.all.iter().enumerate() {
            layout.rename_bindings(at, unit);
        }
        for (at, unit) in units.all.iter().enumerate().skip(1) {
            match layout.place(unit) {
                Some(place) => layout.children.entry(place).or_default().push(at),
                None => refused.push(refusal(
                    &unit.name,
                    "the place that imports it is not known",
                )),
            }
        }
        if refused.is_empty() {
            Ok(layout)
        } else {
            Err(refused)
        }
    }

    /// Writes names and literals where they are used.
    fn add_references(&mut self, references: &References) -> Vec<ModuleRefusal> {
        let mut refused = Vec::new();
        for reference in &references.all {
            let text = match &reference.to {
                ReferenceTo::Entity(entity) => self.names.entity(entity).to_owned(),
                ReferenceTo::Object(module) => self.names.object(module).to_owned(),
                ReferenceTo::Literal(text) => text.clone(),
            };
            let unit = &self.units.all[reference.unit];
            if unit.program.slice(reference.range) == text {
                continue;
            }
            if is_shown(&unit.program, reference.range) {
                let other = match &reference.to {
                    ReferenceTo::Entity((at, _)) if reference.unit == 0 => {
                        &self.units.all[*at].name
                    }
                    ReferenceTo::Object(module) if reference.unit == 0 => module,
                    _ => &unit.name,
                };
                refused.push(refusal(other, "a formatted string shows how it is named"));
            }
            self.edits[reference.unit].push(Edit::replace(reference.range, text));
        }
        refused
    }

    /// Writes the new names of a unit's variables where they are bound.
    fn rename_bindings(&mut self, at: usize, unit: &ModuleUnit) {
        let mut renamed = BTreeMap::new();
        for variable in &unit.program.scopes().variables {
            let entity = (at, variable.name.to_string());
            let name = self.names.entity(&entity);
            if variable.scope != ScopeKind::Module || name == variable.name {
                continue;
            }
            renamed.insert(variable.name.to_string(), name.to_owned());
            for binding in &variable.bindings {
                if binding.kind != BindingKind::Import {
                    self.edits[at].push(Edit::replace(binding.range, name));
                }
            }
        }
        for node in &unit.program.tree().nodes {
            let AnyNodeRef::StmtGlobal(global) = node.node else {
                continue;
            };
            for name in &global.names {
                if let Some(new) = renamed.get(name.as_str()) {
                    self.edits[at].push(Edit::replace(name.range, new.as_str()));
                }
            }
        }
    }

    /// The statement, in the own code of a unit, that had a module run.
    fn place(&self, unit: &ModuleUnit) -> Option<(usize, TextSize)> {
        let mut at = unit.at?;
        // The place may be in a module that stays: then it is where that one was imported.
        for _ in 0..=self.units.places.len() {
            let around = self
                .units
                .all
                .iter()
                .position(|other| other.file == at.file());
            if let Some(around) = around {
                let other = &self.units.all[around];
                let statement = statement_on(&other.program, at.number(), &unit.name)?;
                return Some((around, statement.start()));
            }
            at = *self.units.places.get(&at.file())?;
        }
        None
    }

    /// The whole file.
    pub(super) fn text(mut self) -> Result<String, Vec<ModuleRefusal>> {
        for unit in self.units.all.iter().skip(1) {
            for node in &unit.program.tree().nodes {
                if let AnyNodeRef::StmtImportFrom(import) = node.node
                    && import.module.as_deref() == Some("__future__")
                {
                    let names = import.names.iter().map(|alias| alias.name.to_string());
                    self.future.extend(names);
                }
            }
        }
        self.unit(0)
    }

    /// A unit with everything that it executed in it.
    fn unit(&self, at: usize) -> Result<String, Vec<ModuleRefusal>> {
        let unit = &self.units.all[at];
        let mut edits = EditSet::default();
        for edit in &self.edits[at] {
            edits.edit(edit.clone());
        }
        for edit in self.statements(at)? {
            edits.edit(edit);
        }
        if at == 0 {
            edits = edits.union(&self.future_import(&unit.program));
        }
        edits.apply(&unit.program).map_err(|_| {
            let module = if at == 0 { 1 } else { at };
            let reason = "two changes to one place contradict each other";
            vec![refusal(&self.units.all[module].name, reason)]
        })
    }

    /// The edits of the statements that import, or before which modules run.
    fn statements(&self, at: usize) -> Result<Vec<Edit>, Vec<ModuleRefusal>> {
        let unit = &self.units.all[at];
        let mut found = Vec::new();
        let mut refused = Vec::new();
        let nodes = unit.program.tree().nodes.iter();
        for statement in nodes
            .map(|node| node.node)
            .filter(|node| node.is_statement())
        {
            let children = self.children.get(&(at, statement.start()));
            let mut pieces = Vec::new();
            for child in children.into_iter().flatten() {
                pieces.push(self.child(*child)?);
            }
            let import = self.import(at, statement);
            if pieces.is_empty() && import.is_none() {
                continue;
            }
            let is_import = import.is_some();
            let lines = import.unwrap_or_default();
            match replaced(&unit.program, statement.range(), pieces, lines, is_import) {
                Some(edit) => found.push(edit),
                None => {
                    let reason = "the import shares its line with another statement";
                    let children = children.into_iter().flatten();
                    refused.extend(
                        children.map(|child| refusal(&self.units.all[*child].name, reason)),
                    );
                    if refused.is_empty() {
                        let module = if at == 0 { 1 } else { at };
                        refused.push(refusal(&self.units.all[module].name, reason));
                    }
                }
            }
        }
        if refused.is_empty() {
            Ok(found)
        } else {
            Err(refused)
        }
    }

    /// The text of a module, and the object for it where one is needed.
    fn child(&self, at: usize) -> Result<String, Vec<ModuleRefusal>> {
        let unit = &self.units.all[at];
        let mut text = self.unit(at)?;
        if self.objects.contains(&unit.name) {
            if !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str(&self.object(at, unit));
        }
        Ok(text)
    }

    /// Statements that make a module as a value, with the variables that it has by then.
    fn object(&self, at: usize, unit: &ModuleUnit) -> String {
        let mut fields = Vec::new();
        for variable in &unit.program.scopes().variables {
            let is_live = unit.live(variable).next().is_some();
            if variable.scope != ScopeKind::Module || !is_live {
                continue;
            }
            let value = match self.units.imported(at, variable) {
                None => self
                    .names
                    .entity(&(at, variable.name.to_string()))
                    .to_owned(),
                Some(Meaning::Entity(entity)) => self.names.entity(&entity).to_owned(),
                // Modules that hold each other would have to be made before themselves.
                Some(Meaning::Module(_)) => continue,
            };
            fields.push(format!("{}={value}", variable.name));
        }
        let name = self.names.object(&unit.name);
        let module = literal(&unit.name);
        let fields = fields.join(", ");
        let lines = [
            "import sys, types".to_owned(),
            format!("{name} = types.ModuleType({module})"),
            format!("{name}.__dict__.update({fields})"),
            format!("sys.modules[{module}] = {name}\n"),
        ];
        lines.join("\n")
    }

    /// The statements that an import becomes; nothing if it stays as it is.
    fn import(&self, at: usize, statement: AnyNodeRef<'_>) -> Option<Vec<String>> {
        let unit = &self.units.all[at];
        let from = match statement {
            AnyNodeRef::StmtImport(_) => None,
            AnyNodeRef::StmtImportFrom(import)
                if import.module.as_deref() == Some("__future__") =>
            {
                return (at > 0).then(Vec::new);
            }
            AnyNodeRef::StmtImportFrom(import) => Some(import),
            _ => return None,
        };
        let imports = unit.imports.iter();
        let imports: Vec<&ImportedName> = imports
            .filter(|import| import.statement == statement.range())
            .collect();
        let mut kept = Vec::new();
        let mut assigned = Vec::new();
        for import in &imports {
            match self.becomes(at, unit, import) {
                Becomes::Nothing => {}
                Becomes::Statement(text) => assigned.push(text),
                Becomes::Alias(text) => kept.push(text),
            }
        }
        let is_relative = from.is_some_and(|from| from.level > 0);
        let old = imports
            .iter()
            .map(|import| unit.program.slice(import.alias));
        if !is_relative && assigned.is_empty() && old.eq(kept.iter().map(String::as_str)) {
            return None;
        }
        let mut lines = Vec::new();
        if !kept.is_empty() {
            let names = kept.join(", ");
            lines.push(
                match from.and_then(|from: &StmtImportFrom| unit.absolute(from)) {
                    Some(module) => format!("from {module} import {names}"),
                    None => format!("import {names}"),
                },
            );
        }
        lines.append(&mut assigned);
        Some(lines)
    }

    fn becomes(&self, at: usize, unit: &ModuleUnit, import: &ImportedName) -> Becomes {
        let top = |name: &str| name.split('.').next().unwrap_or(name).to_owned();
        let stays = || Becomes::Alias(unit.program.slice(import.alias).to_owned());
        let variables = unit.program.scopes().variables.iter();
        let binds = |range: TextRange| range == import.alias;
        let mut variables = variables.filter(|variable| {
            let mut bindings = variable.bindings.iter();
            bindings.any(|binding| binds(binding.range))
        });
        let variable = variables.next();
        if !import.is_executed {
            // It would name a package that the file is to do without.
            let names_ours = self
                .units
                .all
                .iter()
                .skip(1)
                .any(|unit| top(&unit.name) == top(&import.module));
            return if names_ours {
                Becomes::Nothing
            } else {
                stays()
            };
        }
        if let ImportTarget::Star(module) = &import.target {
            return if self.units.find(module).is_some() {
                Becomes::Nothing
            } else {
                stays()
            };
        }
        let Some(variable) = variable else {
            return stays();
        };
        let name = if variable.scope == ScopeKind::Module {
            self.names
                .entity(&(at, variable.name.to_string()))
                .to_owned()
        } else {
            variable.name.to_string()
        };
        match self.units.target(import) {
            Some(_) if self.units.imported(at, variable).is_some() => Becomes::Nothing,
            Some(Meaning::Entity(entity)) => {
                Becomes::Statement(format!("{name} = {}", self.names.entity(&entity)))
            }
            Some(Meaning::Module(module)) => {
                Becomes::Statement(format!("{name} = {}", self.names.object(&module)))
            }
            None if name == import.bound => stays(),
            None => {
                let text = unit.program.slice(import.alias);
                let text = text.split_whitespace().next().unwrap_or(text);
                Becomes::Alias(format!("{text} as {name}"))
            }
        }
    }

    /// The edit that imports the features which modules ask of the compiler and the program does
    /// not.
    fn future_import(&self, program: &Program) -> EditSet {
        let mut missing = self.future.clone();
        for statement in program.body() {
            if let Stmt::ImportFrom(import) = statement
                && import.module.as_deref() == Some("__future__")
            {
                for alias in &import.names {
                    missing.remove(alias.name.as_str());
                }
            }
        }
        let names: Vec<&str> = missing.iter().map(String::as_str).collect();
        let is_docstring = |statement: &&Stmt| {
            statement
                .as_expr_stmt()
                .is_some_and(|statement| statement.value.is_string_literal_expr())
        };
        let docstring = program.body().first().filter(is_docstring);
        let at = match (docstring, program.body().first()) {
            (Some(docstring), _) => program.logical_end(docstring.end()),
            (None, Some(first)) => first.start(),
            (None, None) => TextSize::new(0),
        };
        if names.is_empty() {
            return EditSet::default();
        }
        let text = format!("from __future__ import {}\n", names.join(", "));
        EditSet::one(Edit::replace(TextRange::empty(at), text))
    }
}

/// What a name of an import becomes.
enum Becomes {
    Nothing,
    /// A separate statement.
    Statement(String),
    /// A name in the remaining import.
    Alias(String),
}

/// Whether a formatted string shows the text of an expression.
fn is_shown(program: &Program, range: TextRange) -> bool {
    program.tree().nodes.iter().any(|node| match node.node {
        AnyNodeRef::InterpolatedElement(element) => {
            element.debug_text.is_some() && element.range.contains_range(range)
        }
        _ => false,
    })
}

/// A statement with modules before it, and replaced by other lines if it is an import; `None` where
/// it stands on one line with others.
fn replaced(
    program: &Program,
    statement: TextRange,
    modules: Vec<String>,
    lines: Vec<String>,
    is_import: bool,
) -> Option<Edit> {
    let indent = program.indentation(statement);
    let is_alone = indent.is_some() && program.logical_end(statement.end()) > statement.end();
    let count = modules.len() + lines.len();
    if !is_alone && (count > 1 || !modules.is_empty()) {
        return None;
    }
    let indent = indent.unwrap_or_default();
    let mut pieces = Vec::new();
    for text in modules {
        let module = Program::parse(text).ok()?;
        let end = TextSize::of(module.text().trim_end());
        if end > TextSize::new(0) {
            let whole = TextRange::up_to(end);
            let text = indented(&module, whole, indent);
            pieces.push(text.trim_start_matches(indent).to_owned());
        }
    }
    pieces.extend(lines);
    let between = format!("\n{indent}");
    if !is_import {
        pieces.push(String::new());
        let text = pieces.join(&between);
        return Some(Edit::replace(TextRange::empty(statement.start()), text));
    }
    if pieces.is_empty() && !(is_alone && indent.is_empty()) {
        pieces.push("pass".to_owned());
    }
    Some(Edit::replace(statement, pieces.join(&between)))
}

/// The innermost statement of a module's own code on a line; of several imports there the one that
/// names a module.
fn statement_on(program: &Program, line: u32, module: &str) -> Option<TextRange> {
    let mut found: Option<&Stmt> = None;
    let mut body: Vec<&[Stmt]> = vec![program.body()];
    while let Some(statements) = body.pop() {
        for statement in statements {
            let [first, last] = [statement.start(), statement.end()].map(|at| program.line_of(at));
            if !(first..=last).contains(&line) {
                continue;
            }
            let is_better = found.is_none_or(|known| {
                let is_later = program.line_of(known.start()) < first;
                is_later || known.range().contains_range(statement.range()) || !names(known, module)
            });
            if is_better {
                found = Some(statement);
            }
            body.extend(blocks(statement));
        }
    }
    found.map(Ranged::range)
}

/// Whether an import names a module, or one around it.
fn names(statement: &Stmt, module: &str) -> bool {
    let last = module.rsplit('.').next().unwrap_or(module);
    match statement {
        Stmt::Import(import) => {
            let mut names = import.names.iter();
            names.any(|alias| alias.name.split('.').any(|part| part == last))
        }
        Stmt::ImportFrom(import) => {
            let mut names = import.names.iter().map(|alias| alias.name.as_str());
            let module = import.module.as_deref().unwrap_or_default();
            module.split('.').any(|part| part == last) || names.any(|name| name == last)
        }
        _ => false,
    }
}

/// The blocks of a statement that are run with the code around it.
fn blocks(statement: &Stmt) -> Vec<&[Stmt]> {
    match statement {
        Stmt::If(it) => {
            let clauses = it.elif_else_clauses.iter().map(|clause| &*clause.body);
            std::iter::once(&*it.body).chain(clauses).collect()
        }
        Stmt::For(it) => vec![&it.body, &it.orelse],
        Stmt::While(it) => vec![&it.body, &it.orelse],
        Stmt::With(it) => vec![&it.body],
        Stmt::Try(it) => {
            let handlers = it
                .handlers
                .iter()
                .filter_map(|handler| handler.as_except_handler());
            let handlers = handlers.map(|handler| &*handler.body);
            let own = [&*it.body, &*it.orelse, &*it.finalbody];
            own.into_iter().chain(handlers).collect()
        }
        Stmt::Match(it) => it.cases.iter().map(|case| &*case.body).collect(),
        _ => Vec::new(),
    }
}
