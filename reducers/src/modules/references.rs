//! Every place in the units that names a part of an inlined module. Called by the rest of the room.

use std::collections::{BTreeSet, HashMap};

use crate::{
    modules::{
        ModuleRefusal,
        meaning::{Entity, Meaning, Units},
        unit::{ImportTarget, ModuleUnit},
    },
    syntax::{
        AnyNodeRef, Ranged, TextRange,
        ast::{Expr, ExprContext},
        scope::ScopeKind,
    },
};

/// The places, and other findings along the way.
pub(super) struct References {
    pub(super) all: Vec<Reference>,
    /// Modules that are used as values.
    pub(super) objects: BTreeSet<String>,
    /// Why the joined program may do something else.
    pub(super) doubts: Vec<String>,
}

/// A place that is written anew.
pub(super) struct Reference {
    /// Of which unit.
    pub(super) unit: usize,
    pub(super) range: TextRange,
    pub(super) to: ReferenceTo,
}

/// The new text at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ReferenceTo {
    /// The name of a variable.
    Entity(Entity),
    /// A module as a value.
    Object(String),
    /// A literal.
    Literal(String),
}

/// Functions that see in which module they are called, or which names there are.
const LOOKING: [&str; 5] = ["globals", "vars", "dir", "eval", "exec"];

impl References {
    pub(super) fn of(units: &Units) -> Result<Self, Vec<ModuleRefusal>> {
        let mut found = Self {
            all: Vec::new(),
            objects: BTreeSet::new(),
            doubts: Vec::new(),
        };
        let mut refused = Vec::new();
        for (at, unit) in units.all.iter().enumerate() {
            let mut finder = ReferenceFinder {
                units,
                at,
                unit,
                names: names(unit),
                refused: Vec::new(),
            };
            finder.add_names(&mut found);
            if at > 0 {
                finder.add_special_names(&mut found);
            }
            refused.append(&mut finder.refused);
            found.doubts.extend(doubts(units, unit));
        }
        let imported: BTreeSet<String> = units.all.iter().flat_map(imported).collect();
        for unit in units.all.iter().skip(1) {
            if unit.global("__getattr__").is_some() {
                refused.push(refusal(
                    &unit.name,
                    "it makes its names when they are asked for",
                ));
            }
            let is_imported = imported.contains(&unit.name)
                || imported.iter().any(|name| is_within(name, &unit.name));
            if !is_imported {
                found.objects.insert(unit.name.clone());
            }
        }
        for reference in &found.all {
            if let ReferenceTo::Object(module) = &reference.to {
                found.objects.insert(module.clone());
            }
        }
        for module in &found.objects {
            if units.find(module).is_none() {
                // A package without code of its own: what is in it stays with it.
                let inner = units
                    .all
                    .iter()
                    .filter(|unit| is_within(&unit.name, module));
                let reason = format!("the package `{module}` around it is used as a value");
                refused.extend(inner.map(|unit| refusal(&unit.name, &reason)));
            }
        }
        if refused.is_empty() {
            Ok(found)
        } else {
            Err(refused)
        }
    }
}

/// The modules that the executed imports of a unit name, and what they import from these, which may
/// be modules, too.
fn imported(unit: &ModuleUnit) -> Vec<String> {
    let imports = unit.imports.iter().filter(|import| import.is_executed);
    let names = imports.flat_map(|import| {
        let part = match &import.target {
            ImportTarget::Member(module, name) => Some(format!("{module}.{name}")),
            _ => None,
        };
        std::iter::once(import.module.clone()).chain(part)
    });
    names.collect()
}

/// Whether a module lies in a package.
fn is_within(module: &str, package: &str) -> bool {
    let rest = module.strip_prefix(package);
    rest.is_some_and(|rest| rest.starts_with('.'))
}

pub(super) fn refusal(module: &str, reason: &str) -> ModuleRefusal {
    ModuleRefusal {
        module: module.to_owned(),
        reason: reason.to_owned(),
    }
}

/// The names of a unit as nodes of its tree, by their ranges.
fn names(unit: &ModuleUnit) -> HashMap<TextRange, u32> {
    let nodes = (0..).zip(&unit.program.tree().nodes);
    let names = nodes.filter(|(_, node)| node.node.is_expr_name());
    names
        .map(|(index, node)| (node.node.range(), index))
        .collect()
}

/// Why a unit may do something else in another module.
fn doubts(units: &Units, unit: &ModuleUnit) -> Vec<String> {
    let mut found = Vec::new();
    let is_bound = |name: &str| unit.global(name).is_some();
    for node in &unit.program.tree().nodes {
        if let AnyNodeRef::ExprCall(call) = node.node
            && let Expr::Name(name) = &*call.func
            && LOOKING.contains(&name.id.as_str())
            && !is_bound(&name.id)
        {
            found.push(format!("`{}` calls `{}()`", unit.name, name.id));
        }
    }
    let stars = unit
        .imports
        .iter()
        .filter(|import| import.bound == "*" && import.is_executed);
    for import in stars.filter(|import| units.find(&import.module).is_none()) {
        found.push(format!(
            "`{}` imports all of `{}`",
            unit.name, import.module
        ));
    }
    found.dedup();
    found
}

struct ReferenceFinder<'u> {
    units: &'u Units,
    at: usize,
    unit: &'u ModuleUnit,
    names: HashMap<TextRange, u32>,
    refused: Vec<ModuleRefusal>,
}

impl ReferenceFinder<'_> {
    /// Where names are used.
    fn add_names(&mut self, found: &mut References) {
        for variable in &self.unit.program.scopes().variables {
            let meaning = match self.units.imported(self.at, variable) {
                None if variable.scope == ScopeKind::Module => {
                    Meaning::Entity((self.at, variable.name.to_string()))
                }
                None => continue,
                Some(meaning) => meaning,
            };
            for used in &variable.uses {
                self.add(used.range, &meaning, found);
            }
        }
        for load in &self.unit.program.scopes().unbound {
            let by_star = self.units.by_star(self.at, &load.name);
            let meaning = by_star.or_else(|| self.units.inner(self.at, &load.name));
            if let Some(meaning) = meaning {
                self.add(load.range, &meaning, found);
            }
        }
    }

    fn add(&mut self, name: TextRange, meaning: &Meaning, found: &mut References) {
        let (range, to) = match meaning {
            Meaning::Entity(entity) => (name, Some(ReferenceTo::Entity(entity.clone()))),
            Meaning::Module(module) => self.looked_up(name, module),
        };
        found.all.extend(to.map(|to| Reference {
            unit: self.at,
            range,
            to,
        }));
    }

    /// The meaning of an expression that begins with the name of a module, and where the expression
    /// ends.
    fn looked_up(&mut self, name: TextRange, module: &str) -> (TextRange, Option<ReferenceTo>) {
        let nodes = &self.unit.program.tree().nodes;
        let (mut range, mut module) = (name, module.to_owned());
        let mut at = self.names.get(&name).copied();
        while let Some(parent) = at.and_then(|at| nodes[at as usize].parent) {
            let AnyNodeRef::ExprAttribute(attribute) = nodes[parent as usize].node else {
                break;
            };
            if attribute.value.range() != range {
                break;
            }
            let name = attribute.attr.as_str();
            match self.units.member(&module, name) {
                Some(Meaning::Module(inner)) => {
                    (range, module, at) = (attribute.range, inner, Some(parent));
                }
                Some(Meaning::Entity(entity)) => {
                    if attribute.ctx != ExprContext::Load && self.is_in_function(parent) {
                        let reason =
                            format!("a function of another module assigns to its `{name}`");
                        self.refuse(entity.0, &reason);
                        return (range, None);
                    }
                    return (attribute.range, Some(ReferenceTo::Entity(entity)));
                }
                None if name == "__name__" => {
                    let literal = ReferenceTo::Literal(literal(&module));
                    return (attribute.range, Some(literal));
                }
                None => break,
            }
        }
        (range, Some(ReferenceTo::Object(module)))
    }

    fn is_in_function(&self, node: u32) -> bool {
        let mut around = self.unit.program.tree().ancestors(node);
        around.any(|node| node.is_stmt_function_def() || node.is_stmt_class_def())
    }

    /// Refuses a module, or this one if the other is the program.
    fn refuse(&mut self, other: usize, reason: &str) {
        let module = if other == 0 { self.at } else { other };
        self.refused
            .push(refusal(&self.units.all[module].name, reason));
    }

    /// The special names that a module reads of itself, as literals.
    fn add_special_names(&mut self, found: &mut References) {
        let ModuleUnit { name, package, .. } = self.unit;
        let nodes = &self.unit.program.tree().nodes;
        for node in nodes {
            let AnyNodeRef::ExprName(read) = node.node else {
                continue;
            };
            if !read.ctx.is_load() || self.unit.global(&read.id).is_some() {
                continue;
            }
            let text = match read.id.as_str() {
                "__name__" => literal(name),
                "__package__" => literal(package),
                "__file__" => literal(&self.unit.path),
                "__doc__" => self.docstring(),
                "__path__" | "__spec__" | "__loader__" | "__cached__" | "__builtins__" => {
                    let reason = format!("it reads its `{}`", read.id);
                    self.refused.push(refusal(name, &reason));
                    continue;
                }
                _ => continue,
            };
            found.all.push(Reference {
                unit: self.at,
                range: read.range,
                to: ReferenceTo::Literal(text),
            });
        }
    }

    fn docstring(&self) -> String {
        let first = self.unit.program.body().first();
        let expression = first.and_then(|first| first.as_expr_stmt());
        match expression.map(|expression| &*expression.value) {
            Some(text @ Expr::StringLiteral(_)) => self.unit.program.slice(text.range()).to_owned(),
            _ => "None".to_owned(),
        }
    }
}

/// A text as a literal of Python.
pub(super) fn literal(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
