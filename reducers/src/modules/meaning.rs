//! What the names of several modules stand for: a variable of one of them, or a module. Called by
//! the rest of the room.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::{
    modules::unit::{ImportTarget, ImportedName, ModuleUnit},
    syntax::{
        AnyNodeRef, Program,
        ast::Expr,
        scope::{ScopeKind, Variable},
    },
    trace::evidence::{Evidence, SourceLine},
};

/// The program, first, and the modules that are to be inlined, in the order in which they began.
pub(super) struct Units {
    pub(super) all: Vec<ModuleUnit>,
    by_name: HashMap<String, usize>,
    /// Their names, and those of the packages around them.
    known: HashSet<String>,
    /// The names of attributes that anything assigns to, on objects that may be modules.
    stored: HashSet<String>,
    /// Where modules began to run, whether they are inlined or not, by their files.
    pub(super) places: HashMap<u32, SourceLine>,
}

/// A variable of a module: the module's place in [`Units::all`], and the name.
pub(super) type Entity = (usize, String);

/// The meaning of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A module, by its full name.
    Module(String),
    /// A variable.
    Entity(Entity),
}

/// Chains of imports are followed as far as this.
const DEPTH: usize = 12;

impl Units {
    /// The modules that are wanted; and those that cannot be read, each with the reason.
    pub(super) fn of(
        program: &Program,
        evidence: &Evidence,
        wanted: &dyn Fn(&str) -> bool,
    ) -> (Self, BTreeMap<String, String>) {
        let mut units = Self {
            all: ModuleUnit::main(program, evidence).into_iter().collect(),
            by_name: HashMap::new(),
            known: HashSet::new(),
            stored: HashSet::new(),
            places: HashMap::new(),
        };
        let places = evidence
            .modules
            .iter()
            .map(|module| (module.file, module.at));
        units.places.extend(places);
        let mut unread = BTreeMap::new();
        for module in evidence
            .modules
            .iter()
            .filter(|module| wanted(&module.name))
        {
            let of_program = units.all.first().map(|main| main.program.text());
            if units.by_name.contains_key(&module.name) {
                let reason = "it is run more than once".to_owned();
                unread.insert(module.name.clone(), reason);
            } else if let Some(unit) = ModuleUnit::of(module, evidence) {
                // A program that imports itself is in two places already.
                if of_program == Some(unit.program.text()) {
                    unread.insert(module.name.clone(), "it is the script itself".to_owned());
                    continue;
                }
                units.by_name.insert(module.name.clone(), units.all.len());
                units.all.push(unit);
            } else {
                unread.insert(module.name.clone(), "its text cannot be parsed".to_owned());
            }
        }
        for unit in units.all.iter().skip(1) {
            let name = &unit.name;
            let ends = name.match_indices('.').map(|(at, _)| at);
            let packages = ends.chain([name.len()]).map(|end| name[..end].to_owned());
            units.known.extend(packages);
        }
        units.stored = units.all.iter().flat_map(stored).collect();
        (units, unread)
    }

    /// The unit of a module.
    pub(super) fn find(&self, module: &str) -> Option<usize> {
        self.by_name.get(module).copied()
    }

    /// Whether a module is inlined, or is but a package around one that is.
    pub(super) fn is_known(&self, module: &str) -> bool {
        self.known.contains(module)
    }

    /// The target of an import, if it is an inlined module or a part of one.
    pub(super) fn target(&self, import: &ImportedName) -> Option<Meaning> {
        match &import.target {
            // All of `import a.b.c` has to be there, though it binds `a` alone.
            ImportTarget::Module(bound) => {
                (self.is_known(&import.module)).then(|| Meaning::Module(bound.clone()))
            }
            ImportTarget::Member(module, name) => self.member(module, name),
            ImportTarget::Star(_) => None,
        }
    }

    /// The meaning of a name in a module.
    pub(super) fn member(&self, module: &str, name: &str) -> Option<Meaning> {
        self.member_within(module, name, DEPTH)
    }

    fn member_within(&self, module: &str, name: &str, depth: usize) -> Option<Meaning> {
        let depth = depth.checked_sub(1)?;
        if let Some(at) = self.find(module) {
            let unit = &self.all[at];
            if let Some(variable) = unit.global(name)
                && unit.live(variable).next().is_some()
            {
                return Some(self.variable_within(at, variable, depth));
            }
            let stars = unit
                .imports
                .iter()
                .rev()
                .filter(|import| import.is_executed);
            for import in stars {
                if let ImportTarget::Star(source) = &import.target
                    && self.offers(source, name, depth)
                {
                    return self.member_within(source, name, depth);
                }
            }
        }
        let inner = format!("{module}.{name}");
        self.is_known(&inner).then_some(Meaning::Module(inner))
    }

    fn variable_within(&self, at: usize, variable: &Variable, depth: usize) -> Meaning {
        let own = || Meaning::Entity((at, variable.name.to_string()));
        self.imported_within(at, variable, depth)
            .unwrap_or_else(own)
    }

    /// The meaning of a variable of a unit, if a single import of an inlined module binds it.
    pub(super) fn imported(&self, at: usize, variable: &Variable) -> Option<Meaning> {
        self.imported_within(at, variable, DEPTH)
    }

    fn imported_within(&self, at: usize, variable: &Variable, depth: usize) -> Option<Meaning> {
        let unit = &self.all[at];
        let mut meaning = None;
        for binding in unit.live(variable) {
            let found = unit
                .import_at(binding.range)
                .and_then(|import| match &import.target {
                    // A package that imports a module in itself binds nothing else by that.
                    ImportTarget::Member(module, name) if *module == unit.name => {
                        let inner = format!("{module}.{name}");
                        self.is_known(&inner).then_some(Meaning::Module(inner))
                    }
                    ImportTarget::Member(module, name) => self.member_within(module, name, depth),
                    _ => self.target(import),
                });
            match (found, &meaning) {
                (Some(found), None) => meaning = Some(found),
                (Some(found), Some(known)) if found == *known => {}
                _ => return None,
            }
        }
        // A name that is bound anew later does not take its imports along.
        meaning.filter(|meaning| match meaning {
            Meaning::Entity(entity) => self.is_constant(entity),
            Meaning::Module(_) => true,
        })
    }

    /// Whether a variable keeps the value that it is given first.
    pub(super) fn is_constant(&self, (at, name): &Entity) -> bool {
        let unit = &self.all[*at];
        let count = unit
            .global(name)
            .map_or(0, |variable| unit.live(variable).count());
        count <= 1 && !self.stored.contains(name)
    }

    /// Whether `from MODULE import *` brings a name.
    pub(super) fn offers(&self, module: &str, name: &str, depth: usize) -> bool {
        let (Some(at), Some(depth)) = (self.find(module), depth.checked_sub(1)) else {
            return false;
        };
        let unit = &self.all[at];
        if let Some(names) = declared(&unit.program) {
            return names.contains(name);
        }
        let is_bound = unit
            .global(name)
            .is_some_and(|variable| unit.live(variable).next().is_some());
        let by_star = || {
            unit.imports.iter().any(|import| {
            matches!(&import.target, ImportTarget::Star(source) if self.offers(source, name, depth))
        })
        };
        let is_inner = || self.inner(at, name).is_some();
        !name.starts_with('_') && (is_bound || by_star() || is_inner())
    }

    /// The meaning of a name that a unit does not bind, by its star imports.
    pub(super) fn by_star(&self, at: usize, name: &str) -> Option<Meaning> {
        let stars = self.all[at].imports.iter().rev();
        for import in stars.filter(|import| import.is_executed) {
            if let ImportTarget::Star(source) = &import.target
                && self.offers(source, name, DEPTH)
            {
                return self.member(source, name);
            }
        }
        None
    }

    /// The meaning of a name that a package does not bind: a module in it, as importing one makes it
    /// an attribute of the package.
    pub(super) fn inner(&self, at: usize, name: &str) -> Option<Meaning> {
        let unit = &self.all[at];
        if unit.package != unit.name {
            return None;
        }
        let inner = format!("{}.{name}", unit.name);
        self.is_known(&inner).then_some(Meaning::Module(inner))
    }

    /// The foreign name that a variable of the module's scope imports, if it does nothing else: the
    /// same name in two modules is one thing.
    pub(super) fn foreign(&self, (at, name): &Entity) -> Option<String> {
        let unit = &self.all[*at];
        let variable = unit.global(name)?;
        let mut path = None;
        for binding in &variable.bindings {
            let import = unit.import_at(binding.range)?;
            let its = match &import.target {
                ImportTarget::Module(module) => module.clone(),
                ImportTarget::Member(module, name) => format!("{module}:{name}"),
                ImportTarget::Star(_) => return None,
            };
            if self.target(import).is_some() || path.as_ref().is_some_and(|path| *path != its) {
                return None;
            }
            path = Some(its);
        }
        path
    }
}

/// The names of attributes that a unit assigns to, on objects that may be modules.
fn stored(unit: &ModuleUnit) -> Vec<String> {
    let is_module = |expr: &Expr| match expr {
        Expr::Name(name) => unit.imports.iter().any(|import| import.bound == *name.id),
        _ => expr.is_attribute_expr(),
    };
    let nodes = unit.program.tree().nodes.iter();
    let stored = nodes.filter_map(|node| match node.node {
        AnyNodeRef::ExprAttribute(attribute) if !attribute.ctx.is_load() => {
            is_module(&attribute.value).then(|| attribute.attr.to_string())
        }
        _ => None,
    });
    stored.collect()
}

/// The names that `__all__` lists, if it is one list of texts.
fn declared(program: &Program) -> Option<BTreeSet<&str>> {
    let variables = &program.scopes().variables;
    let variable = variables
        .iter()
        .find(|variable| variable.scope == ScopeKind::Module && variable.name == "__all__")?;
    let [binding] = variable.bindings.as_slice() else {
        return None;
    };
    let value = program.body().iter().find_map(|statement| {
        let statement = statement.as_assign_stmt()?;
        (statement.range == binding.statement).then_some(&*statement.value)
    })?;
    let elements = match value {
        Expr::List(list) => &list.elts,
        Expr::Tuple(tuple) => &tuple.elts,
        _ => return None,
    };
    let texts = elements.iter().map(|element| {
        let literal = element.as_string_literal_expr()?;
        Some(literal.value.to_str())
    });
    texts.collect()
}
