//! A module to be inlined, or the program itself: its text and the names of its imports. Called by
//! `meaning`.

use std::collections::{BTreeSet, HashMap};

use crate::{
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize,
        ast::{Alias, StmtImportFrom},
        scope::{Binding, BindingKind, ScopeKind, Variable},
    },
    trace::evidence::{Evidence, SourceLine, TracedModule},
};

/// The program or a module.
pub(super) struct ModuleUnit {
    /// Its dotted name; `__main__` of the program.
    pub(super) name: String,
    /// The package that its relative imports start from.
    pub(super) package: String,
    /// The path of its file, as it is named in the evidence.
    pub(super) path: String,
    /// The file as an index into the evidence.
    pub(super) file: u32,
    /// The place where its own code began to run; none for the program.
    pub(super) at: Option<SourceLine>,
    pub(super) program: Program,
    pub(super) imports: Vec<ImportedName>,
    /// The variables of its own scope, by name.
    globals: HashMap<String, usize>,
    /// The lines that ran.
    hits: BTreeSet<u32>,
}

/// One name of an import.
pub(super) struct ImportedName {
    pub(super) statement: TextRange,
    pub(super) alias: TextRange,
    /// The name that is bound; `*` binds several.
    pub(super) bound: String,
    pub(super) target: ImportTarget,
    /// The module that has to be there for this, in full.
    pub(super) module: String,
    pub(super) is_executed: bool,
}

/// The target of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ImportTarget {
    /// A module, in full.
    Module(String),
    /// A name in a module, be it of a variable or of a module in it.
    Member(String, String),
    /// All names that a module offers.
    Star(String),
}

impl ModuleUnit {
    /// The program itself.
    pub(super) fn main(program: &Program, evidence: &Evidence) -> Option<Self> {
        let copy = program.sibling(program.shared_text()).ok()?;
        Some(Self::new(copy, "__main__", "", 0, None, evidence))
    }

    /// A module, if its text can be read.
    pub(super) fn of(module: &TracedModule, evidence: &Evidence) -> Option<Self> {
        let program = Program::parse(evidence.text_of(module.file)?).ok()?;
        let TracedModule {
            name,
            package,
            file,
            at,
            ..
        } = module;
        Some(Self::new(
            program,
            name,
            package,
            *file,
            Some(*at),
            evidence,
        ))
    }

    fn new(
        program: Program,
        name: &str,
        package: &str,
        file: u32,
        at: Option<SourceLine>,
        evidence: &Evidence,
    ) -> Self {
        let lines = SourceLine::of_file(file, 0)..=SourceLine::of_file(file, u32::MAX);
        let hits = evidence.hits.range(lines).map(|(line, _)| line.number());
        let mut unit = Self {
            name: name.to_owned(),
            package: package.to_owned(),
            path: evidence
                .files
                .get(file as usize)
                .cloned()
                .unwrap_or_default(),
            file,
            at,
            imports: Vec::new(),
            globals: HashMap::new(),
            hits: hits.collect(),
            program,
        };
        let variables = unit.program.scopes().variables.iter().enumerate();
        let globals = variables.filter(|(_, variable)| variable.scope == ScopeKind::Module);
        unit.globals = globals
            .map(|(at, variable)| (variable.name.to_string(), at))
            .collect();
        unit.imports = unit.imported();
        unit
    }

    /// Whether a statement ran: one of the lines from its first to that of a place in its head.
    pub(super) fn is_executed(&self, statement: TextRange, head: TextSize) -> bool {
        let [first, last] = [statement.start(), head].map(|at| self.program.line_of(at));
        self.hits.range(first..=last.max(first)).next().is_some()
    }

    /// Whether a binding was made when the module ran. Of those within functions all count.
    pub(super) fn is_live(&self, variable: &Variable, binding: &Binding) -> bool {
        match binding.kind {
            BindingKind::Import => self
                .import_at(binding.range)
                .is_some_and(|import| import.is_executed),
            _ if variable.scope != ScopeKind::Module => true,
            _ => self.is_executed(binding.statement, binding.range.start()),
        }
    }

    /// The import that makes a binding.
    pub(super) fn import_at(&self, alias: TextRange) -> Option<&ImportedName> {
        self.imports.iter().find(|import| import.alias == alias)
    }

    /// The bindings of a variable that were made.
    pub(super) fn live<'u>(&'u self, variable: &'u Variable) -> impl Iterator<Item = &'u Binding> {
        let bindings = variable.bindings.iter();
        bindings.filter(|binding| self.is_live(variable, binding))
    }

    /// The variable of the module's own scope with a name.
    pub(super) fn global(&self, name: &str) -> Option<&Variable> {
        let at = *self.globals.get(name)?;
        self.program.scopes().variables.get(at)
    }

    fn imported(&self) -> Vec<ImportedName> {
        let mut found = Vec::new();
        for node in &self.program.tree().nodes {
            match node.node {
                AnyNodeRef::StmtImport(import) => {
                    let is_executed = self.is_executed(import.range, import.range.start());
                    for alias in &import.names {
                        let module = alias.name.to_string();
                        let (bound, target) = match &alias.asname {
                            Some(name) => (name.to_string(), module.clone()),
                            None => {
                                let top = module.split('.').next().unwrap_or(&module).to_owned();
                                (top.clone(), top)
                            }
                        };
                        found.push(ImportedName {
                            statement: import.range,
                            alias: alias.range,
                            bound,
                            target: ImportTarget::Module(target),
                            module,
                            is_executed,
                        });
                    }
                }
                AnyNodeRef::StmtImportFrom(import) => {
                    let is_executed = self.is_executed(import.range, import.range.start());
                    let Some(module) = self.absolute(import) else {
                        continue;
                    };
                    let aliases = import.names.iter();
                    found.extend(aliases.map(|alias| from(import, alias, &module, is_executed)));
                }
                _ => {}
            }
        }
        found
    }

    /// The full name of the module that a statement imports from.
    pub(super) fn absolute(&self, import: &StmtImportFrom) -> Option<String> {
        let named = import.module.as_deref().unwrap_or_default();
        if import.level == 0 {
            return Some(named.to_owned());
        }
        let mut package = self.package.as_str();
        for _ in 1..import.level {
            package = package.rsplit_once('.')?.0;
        }
        match (package, named) {
            ("", _) => None,
            (package, "") => Some(package.to_owned()),
            (package, named) => Some(format!("{package}.{named}")),
        }
    }
}

fn from(import: &StmtImportFrom, alias: &Alias, module: &str, is_executed: bool) -> ImportedName {
    let name = alias.name.as_str();
    let target = if name == "*" {
        ImportTarget::Star(module.to_owned())
    } else {
        ImportTarget::Member(module.to_owned(), name.to_owned())
    };
    ImportedName {
        statement: import.range(),
        alias: alias.range,
        bound: alias.asname.as_ref().unwrap_or(&alias.name).to_string(),
        target,
        module: module.to_owned(),
        is_executed,
    }
}
