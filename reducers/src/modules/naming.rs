//! The names of variables and modules in the one file: their own, unless these clash. Called by
//! `layout`.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::{
    modules::{
        meaning::{Entity, Meaning, Units},
        references::{ReferenceTo, References},
        unit::ModuleUnit,
    },
    syntax::{
        Ranged, TokenKind,
        scope::{ScopeKind, is_builtin},
    },
};

/// The names of everything in the one file.
pub(super) struct FileNames {
    entities: HashMap<Entity, String>,
    /// The variables that hold modules.
    objects: HashMap<String, String>,
}

/// A thing that has a name.
#[derive(PartialEq, Eq)]
enum Named {
    /// A variable of a unit.
    Own,
    /// Something from elsewhere, which several units may import.
    Foreign(String),
}

impl FileNames {
    pub(super) fn of(units: &Units, references: &References) -> Self {
        let words: Vec<HashSet<&str>> = units.all.iter().map(words).collect();
        let mut namer = Namer {
            all: words.iter().flatten().copied().collect(),
            captured: captured(units, references),
            units,
            words,
            taken: BTreeMap::new(),
        };
        let mut names = Self {
            entities: HashMap::new(),
            objects: HashMap::new(),
        };
        for entity in entities(units) {
            let name = namer.name(&entity);
            names.entities.insert(entity, name);
        }
        for module in &references.objects {
            let last = module.rsplit('.').next().unwrap_or(module);
            names
                .objects
                .insert(module.clone(), namer.fresh(last, "module"));
        }
        names
    }

    /// The name of a variable.
    pub(super) fn entity<'n>(&'n self, entity: &'n Entity) -> &'n str {
        self.entities
            .get(entity)
            .map_or(entity.1.as_str(), String::as_str)
    }

    /// The name of the variable that holds a module.
    pub(super) fn object(&self, module: &str) -> &str {
        self.objects.get(module).map_or("None", String::as_str)
    }
}

/// The variables of all units' own scopes but those that stand for others, the program's first.
fn entities(units: &Units) -> Vec<Entity> {
    let mut found = Vec::new();
    for (at, unit) in units.all.iter().enumerate() {
        for variable in &unit.program.scopes().variables {
            if variable.scope == ScopeKind::Module && units.imported(at, variable).is_none() {
                found.push((at, variable.name.to_string()));
            }
        }
    }
    found
}

/// The words of a unit that are names.
fn words(unit: &ModuleUnit) -> HashSet<&str> {
    let tokens = unit.program.tokens().iter();
    let names = tokens.filter(|token| token.kind() == TokenKind::Name);
    names
        .map(|token| unit.program.slice(token.range()))
        .collect()
}

/// Variables that would mean something else where they are named: a local variable there has the
/// same name.
fn captured(units: &Units, references: &References) -> HashSet<Entity> {
    let locals: Vec<HashSet<&str>> = units
        .all
        .iter()
        .map(|unit| {
            let variables = unit.program.scopes().variables.iter();
            let locals = variables.filter(|variable| variable.scope != ScopeKind::Module);
            locals.map(|variable| variable.name.as_str()).collect()
        })
        .collect();
    let mut found = HashSet::new();
    for reference in &references.all {
        if let ReferenceTo::Entity(entity) = &reference.to {
            let unit = &units.all[reference.unit];
            let is_new = unit.program.slice(reference.range) != entity.1;
            if is_new && locals[reference.unit].contains(entity.1.as_str()) {
                found.insert(entity.clone());
            }
        }
    }
    // A function that keeps what it imports in a variable of its own.
    for (at, unit) in units.all.iter().enumerate() {
        for variable in &unit.program.scopes().variables {
            let is_local = variable.scope != ScopeKind::Module;
            if is_local && units.imported(at, variable).is_none() {
                let imports = unit
                    .live(variable)
                    .filter_map(|binding| unit.import_at(binding.range));
                for import in imports {
                    if let Some(Meaning::Entity(entity)) = units.target(import) {
                        found.insert(entity);
                    }
                }
            }
        }
    }
    found
}

struct Namer<'u> {
    units: &'u Units,
    words: Vec<HashSet<&'u str>>,
    all: BTreeSet<&'u str>,
    captured: HashSet<Entity>,
    taken: BTreeMap<String, Named>,
}

impl Namer<'_> {
    fn name(&mut self, entity: &Entity) -> String {
        let (at, name) = entity;
        let named = self
            .units
            .foreign(entity)
            .map_or(Named::Own, Named::Foreign);
        let is_free = match self.taken.get(name) {
            None => true,
            Some(known) => named != Named::Own && *known == named,
        };
        if is_free && !self.captured.contains(entity) && !self.is_foreign_to_others(*at, name) {
            self.taken.insert(name.clone(), named);
            return name.clone();
        }
        let unit = &self.units.all[*at].name;
        let last = unit.rsplit('.').next().unwrap_or(unit).trim_matches('_');
        self.fresh(last, name)
    }

    /// Whether a name that another unit does not bind has another meaning there: a built-in, or
    /// something imported by a star.
    fn is_foreign_to_others(&self, at: usize, name: &str) -> bool {
        let others = self.units.all.iter().enumerate();
        let mut others = others.filter(|(other, _)| *other != at);
        others.any(|(other, unit)| {
            let is_free = self.words[other].contains(name) && unit.global(name).is_none();
            let is_unbound = || unit.program.scopes().unbound_names().contains(name);
            is_free
                && self.units.by_star(other, name).is_none()
                && (is_builtin(name) || is_unbound())
        })
    }

    /// A name that nothing has yet.
    fn fresh(&mut self, first: &str, second: &str) -> String {
        let base = format!("{first}_{}", second.trim_start_matches('_'));
        let numbered = (2..).map(|number| format!("{base}{number}"));
        let mut names = std::iter::once(base.clone()).chain(numbered);
        let is_free =
            |name: &String| !self.taken.contains_key(name) && !self.all.contains(name.as_str());
        let name = names.find(is_free).unwrap_or(base);
        self.taken.insert(name.clone(), Named::Own);
        name
    }
}
