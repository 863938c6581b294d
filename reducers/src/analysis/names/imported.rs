//! The names that import statements bind.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    modules::standard::is_standard,
    syntax::{
        AnyNodeRef, Program, Tree,
        ast::{self, Expr},
        scope::is_builtin,
    },
};

/// What tells the version of Python.
const VERSIONS: [&str; 5] = [
    "platform.python_version",
    "platform.python_version_tuple",
    "sys.hexversion",
    "sys.version",
    "sys.version_info",
];

/// What stands for all names of a module.
const EVERYTHING: &str = "*";

/// The names that import statements bind, with their dotted paths. Of several imports of one name
/// the last counts.
pub struct ImportedNames<'a>(BTreeMap<&'a str, String>);

impl<'a> ImportedNames<'a> {
    /// The imports of a program, wherever they stand. A name that nothing binds comes from the module
    /// whose names are all imported, if there is one: of several, from one that does not come with
    /// Python.
    pub fn of(tree: &Tree<'a>) -> Self {
        let mut names = Self::among(tree.nodes.iter().map(|node| node.node));
        let nodes = || tree.nodes.iter().map(|node| node.node);
        let paths = nodes().flat_map(imports_of);
        let mut starred: Vec<String> = paths
            .filter(|(name, _)| *name == EVERYTHING)
            .filter_map(|(_, path)| path.strip_suffix(EVERYTHING).map(str::to_owned))
            .collect();
        starred.sort_by_key(|module| is_installed(module));
        if let Some(module) = starred.pop() {
            let bound: BTreeSet<&str> = nodes().filter_map(bound_by).collect();
            for node in nodes() {
                let AnyNodeRef::ExprName(name) = node else {
                    continue;
                };
                let name = name.id.as_str();
                if !bound.contains(name) && !is_builtin(name) {
                    let path = || format!("{module}{name}");
                    names.0.entry(name).or_insert_with(path);
                }
            }
        }
        names
    }

    /// The imports among some nodes.
    pub fn among(nodes: impl IntoIterator<Item = AnyNodeRef<'a>>) -> Self {
        Self(nodes.into_iter().flat_map(imports_of).collect())
    }

    /// The path of an expression, if it is an imported name or an attribute below one.
    pub fn path(&self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Name(name) => self.name(name.id.as_str()).map(str::to_owned),
            Expr::Attribute(attribute) => self.attribute(attribute),
            _ => None,
        }
    }

    /// The path of an attribute below an imported name.
    pub fn attribute(&self, attribute: &ast::ExprAttribute) -> Option<String> {
        let mut path = self.path(&attribute.value)?;
        path.push('.');
        path.push_str(&attribute.attr);
        Some(path)
    }

    /// The path of an imported name.
    pub fn name(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The paths of all imported names.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.values().map(String::as_str)
    }

    /// Whether an expression, or what it calls, belongs to a package that does not come with
    /// Python.
    pub fn is_of_installed(&self, expr: &Expr) -> bool {
        let of = expr.as_call_expr().map_or(expr, |call| &call.func);
        let path = self.path(of);
        path.is_some_and(|path| is_installed(&path))
    }

    /// Whether any name belongs to such a package.
    pub fn has_installed(&self) -> bool {
        self.paths().any(is_installed)
    }

    /// Whether a program asks for the version of Python that runs it.
    pub fn ask_for_version(&self, program: &Program) -> bool {
        let mut nodes = program.tree().nodes.iter();
        nodes.any(|node| {
            let path = match node.node {
                AnyNodeRef::ExprName(name) => self.name(&name.id).map(str::to_owned),
                AnyNodeRef::ExprAttribute(attribute) => self.attribute(attribute),
                _ => None,
            };
            path.is_some_and(|path| VERSIONS.contains(&path.as_str()))
        })
    }

    /// Whether an expression is `os.environ`.
    pub fn is_environ(&self, expr: &Expr) -> bool {
        self.path(expr).is_some_and(|path| is_environ(&path))
    }
}

/// The full dotted names of all imported modules; relative ones begin with a dot.
pub fn imported_modules(program: &Program) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for node in &program.tree().nodes {
        match node.node {
            AnyNodeRef::StmtImport(import) => {
                found.extend(import.names.iter().map(|alias| alias.name.to_string()));
            }
            AnyNodeRef::StmtImportFrom(import) => {
                let dots = ".".repeat(import.level as usize);
                let module = import.module.as_ref().map_or("", |module| module.as_str());
                found.insert(format!("{dots}{module}"));
            }
            _ => {}
        }
    }
    found
}

/// The names that a statement imports, with their paths; `*` stands for everything. What is
/// imported from a relative package has no path that is known.
pub(super) fn imports_of(node: AnyNodeRef<'_>) -> Vec<(&str, String)> {
    match node {
        AnyNodeRef::StmtImport(import) => {
            let bound = import.names.iter().map(|alias| {
                let module = alias.name.as_str();
                match &alias.asname {
                    Some(name) => (name.as_str(), module.to_owned()),
                    None => {
                        let root = module.split('.').next().unwrap_or(module);
                        (root, root.to_owned())
                    }
                }
            });
            bound.collect()
        }
        AnyNodeRef::StmtImportFrom(import) if import.level == 0 => {
            let Some(module) = &import.module else {
                return Vec::new();
            };
            let bound = import.names.iter().map(|alias| {
                let name = alias.asname.as_ref().unwrap_or(&alias.name);
                (name.as_str(), format!("{module}.{}", alias.name))
            });
            bound.collect()
        }
        _ => Vec::new(),
    }
}

/// The name that a node binds, unless it imports it.
fn bound_by(node: AnyNodeRef<'_>) -> Option<&str> {
    match node {
        AnyNodeRef::ExprName(name) => (!name.ctx.is_load()).then_some(name.id.as_str()),
        AnyNodeRef::StmtFunctionDef(def) => Some(&def.name),
        AnyNodeRef::StmtClassDef(class) => Some(&class.name),
        AnyNodeRef::Parameter(parameter) => Some(&parameter.name),
        AnyNodeRef::ExceptHandlerExceptHandler(handler) => handler.name.as_deref(),
        AnyNodeRef::PatternMatchAs(pattern) => pattern.name.as_deref(),
        AnyNodeRef::PatternMatchStar(pattern) => pattern.name.as_deref(),
        AnyNodeRef::PatternMatchMapping(pattern) => pattern.rest.as_deref(),
        _ => None,
    }
}

/// The environment of the process, as text or as bytes.
pub(super) fn is_environ(path: &str) -> bool {
    matches!(path, "os.environ" | "os.environb")
}
/// Whether a path leads into a package that does not come with Python.
pub(crate) fn is_installed(path: &str) -> bool {
    let top = path.split('.').next().unwrap_or(path);
    !top.is_empty() && !is_standard(top)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, name: &str, expected: Option<&str>) {
        let program = Program::parse(text).unwrap();
        let names = ImportedNames::of(program.tree());
        assert_eq!(names.name(name), expected, "{name} in {text}");
    }

    #[test]
    fn what_nothing_binds_comes_from_where_all_names_come_from() {
        let text = "from math import *\nfrom lib.all import *\nfrom json import loads\n\
                    def f(x, *y):\n    z = solve(x, print)\n    return loads(y)\n";
        check(text, "solve", Some("lib.all.solve"));
        check(text, "loads", Some("json.loads"));
        for bound in ["f", "x", "y", "z", "print"] {
            check(text, bound, None);
        }
        check("from math import *\nsin(1)\n", "sin", Some("math.sin"));
        check("import math\nsin(1)\n", "sin", None);
    }
}
