//! The one name resolver: the dotted paths that the expressions of a program stand for.
//!
//! [`ImportedNames`] reads import statements alone, which is cheap enough for every candidate; its
//! answer is the one path of a name. [`NameResolver`] also follows aliases, `getattr` and the
//! tricks that hide imports, so its answer is every path that a name may have: `o.system` after
//! `import os as o`, `getattr(os, "sys" + "tem")`, `__import__("os").system`, `sys.modules["os"]`.
//! Both ignore the order of execution. Called by the room for PyTorch, by passes and by the flow
//! for issues.

mod held;
mod imported;
mod own;
mod texts;

use std::collections::{BTreeMap, BTreeSet};

pub use held::held_module;
pub(crate) use imported::is_installed;
pub use imported::{ImportedNames, imported_modules};
use imported::{imports_of, is_environ};
pub(crate) use own::is_main_check;
use own::own_uses;
pub(crate) use texts::name_words;

use crate::syntax::{
    AnyNodeRef, Program, TextSize,
    ast::{
        self, Expr, Operator,
        visitor::{self, Visitor},
    },
    scope::is_builtin,
};

/// Dotted paths. The result of a call is written as the call: `pathlib.Path().write_text`.
pub type Paths = BTreeSet<String>;

/// Every path that the names of a program may have.
pub struct NameResolver {
    aliases: BTreeMap<String, Paths>,
    /// Values assigned to attributes, whatever their object.
    attributes: BTreeMap<String, Paths>,
    texts: BTreeMap<String, BTreeSet<String>>,
    /// The return values of the program's functions, by their names.
    returned: BTreeMap<String, Paths>,
    /// Names that the program binds in any way.
    bound: BTreeSet<String>,
    /// Uses of names that are certainly not the built-in ones, by where they start.
    own: BTreeSet<TextSize>,
    /// Modules from which everything was imported.
    stars: BTreeSet<String>,
    exports: &'static [&'static str],
}

/// The longest chain of aliases that is followed.
const ROUNDS: usize = 6;

impl NameResolver {
    /// Resolves the names of a program. `exports` are paths that `from MODULE import *` is known to
    /// bring and that hide built-in names.
    pub fn of(program: &Program, exports: &'static [&'static str]) -> Self {
        let bound = program
            .scopes()
            .variables
            .iter()
            .map(|variable| variable.name.to_string())
            .collect();
        let mut names = Self {
            aliases: BTreeMap::new(),
            attributes: BTreeMap::new(),
            texts: BTreeMap::new(),
            returned: BTreeMap::new(),
            bound,
            own: own_uses(program),
            stars: BTreeSet::new(),
            exports,
        };
        for _ in 0..ROUNDS {
            let before = (
                names.aliases.clone(),
                names.attributes.clone(),
                names.texts.clone(),
            );
            for node in &program.tree().nodes {
                names.learn(node.node);
            }
            if before
                == (
                    names.aliases.clone(),
                    names.attributes.clone(),
                    names.texts.clone(),
                )
            {
                break;
            }
        }
        names
    }

    fn learn(&mut self, node: AnyNodeRef<'_>) {
        match node {
            AnyNodeRef::StmtImport(_) | AnyNodeRef::StmtImportFrom(_) => {
                for (name, path) in imports_of(node) {
                    match path.strip_suffix(".*") {
                        Some(module) => {
                            self.stars.insert(module.to_owned());
                        }
                        None => self.alias(name, [path].into()),
                    }
                }
            }
            AnyNodeRef::StmtAssign(assign) => {
                for target in &assign.targets {
                    self.assign(target, &assign.value);
                }
            }
            AnyNodeRef::StmtAnnAssign(assign) => {
                if let Some(value) = &assign.value {
                    self.assign(&assign.target, value);
                }
            }
            AnyNodeRef::StmtClassDef(class) => self.class_body(class),
            AnyNodeRef::StmtFunctionDef(def) => {
                let mut returned = Returned::default();
                returned.visit_body(&def.body);
                for value in returned.0 {
                    let paths = self.resolve(value);
                    self.returns(def.name.as_str(), paths);
                }
            }
            AnyNodeRef::ExprNamed(named) => self.assign(&named.target, &named.value),
            AnyNodeRef::StmtFor(stmt) => self.assign_each(&stmt.target, &stmt.iter),
            AnyNodeRef::Comprehension(comprehension) => {
                self.assign_each(&comprehension.target, &comprehension.iter);
            }
            AnyNodeRef::WithItem(item) => {
                if let Some(target) = &item.optional_vars {
                    self.assign(target, &item.context_expr);
                }
            }
            AnyNodeRef::ParameterWithDefault(parameter) => {
                if let Some(default) = &parameter.default {
                    let (paths, texts) = (self.resolve(default), self.texts(default));
                    self.alias(parameter.parameter.name.as_str(), paths);
                    self.text(parameter.parameter.name.as_str(), texts);
                }
            }
            _ => {}
        }
    }

    fn assign(&mut self, target: &Expr, value: &Expr) {
        match (target, value) {
            (Expr::Name(name), value) => {
                if let Expr::Lambda(lambda) = value {
                    let paths = self.resolve(&lambda.body);
                    self.returns(name.id.as_str(), paths);
                }
                let (paths, texts) = (self.resolve(value), self.texts(value));
                self.alias(name.id.as_str(), paths);
                self.text(name.id.as_str(), texts);
            }
            (Expr::Attribute(attribute), value) => {
                let paths = self.resolve(value);
                self.attribute(attribute.attr.as_str(), &paths);
            }
            (
                Expr::Tuple(ast::ExprTuple { elts: targets, .. })
                | Expr::List(ast::ExprList { elts: targets, .. }),
                value,
            ) => {
                if let Expr::Tuple(ast::ExprTuple { elts: values, .. })
                | Expr::List(ast::ExprList { elts: values, .. }) = value
                {
                    for (target, value) in targets.iter().zip(values) {
                        self.assign(target, value);
                    }
                }
            }
            _ => {}
        }
    }

    /// What the body of a class assigns are attributes.
    fn class_body(&mut self, class: &ast::StmtClassDef) {
        for stmt in &class.body {
            let ast::Stmt::Assign(assign) = stmt else {
                continue;
            };
            let paths = self.resolve(&assign.value);
            for target in assign.targets.iter().filter_map(Expr::as_name_expr) {
                self.attribute(target.id.as_str(), &paths);
            }
        }
    }

    fn returns(&mut self, function: &str, paths: Paths) {
        let paths = paths.into_iter().filter(|path| path.len() < 160);
        let known = self.returned.entry(function.to_owned()).or_default();
        known.extend(paths);
    }

    fn attribute(&mut self, name: &str, paths: &Paths) {
        if !paths.is_empty() {
            let known = self.attributes.entry(name.to_owned()).or_default();
            known.extend(paths.iter().cloned());
        }
    }

    fn assign_each(&mut self, target: &Expr, values: &Expr) {
        if let Expr::Tuple(ast::ExprTuple { elts, .. })
        | Expr::List(ast::ExprList { elts, .. })
        | Expr::Set(ast::ExprSet { elts, .. }) = values
        {
            for value in elts {
                self.assign(target, value);
            }
        }
    }

    fn alias(&mut self, name: &str, paths: Paths) {
        // A name that is bound to a result of its own, `x = x.f()`, would grow forever.
        let paths = paths.into_iter().filter(|path| path.len() < 160);
        let mut paths = paths.peekable();
        if paths.peek().is_some() {
            self.aliases
                .entry(name.to_owned())
                .or_default()
                .extend(paths);
        }
    }

    fn text(&mut self, name: &str, texts: BTreeSet<String>) {
        let known = self.texts.entry(name.to_owned()).or_default();
        if known.len() + texts.len() <= 16 {
            known.extend(texts.into_iter().filter(|text| text.len() < 4096));
        }
    }

    /// The paths of an expression; none if it is neither a module nor part of one.
    pub fn resolve(&self, expr: &Expr) -> Paths {
        match expr {
            Expr::Name(name) => self.used(name),
            Expr::Attribute(attribute) => {
                let name = attribute.attr.as_str();
                let mut paths = joined(&self.resolve(&attribute.value), name);
                paths.extend(self.attributes.get(name).into_iter().flatten().cloned());
                paths
            }
            Expr::Call(call) => self.called(call),
            Expr::Subscript(subscript) => self.subscripted(subscript),
            Expr::Named(named) => self.resolve(&named.value),
            Expr::Await(awaited) => self.resolve(&awaited.value),
            Expr::Starred(starred) => self.resolve(&starred.value),
            Expr::If(choice) => &self.resolve(&choice.body) | &self.resolve(&choice.orelse),
            Expr::BoolOp(choice) => choice
                .values
                .iter()
                .flat_map(|value| self.resolve(value))
                .collect(),
            Expr::BinOp(operation) if operation.op == Operator::Div => {
                // `pathlib` joins paths so.
                self.resolve(&operation.left)
            }
            _ => Paths::new(),
        }
    }

    /// The paths of a name where it is used: a built-in name that is bound later, elsewhere or
    /// perhaps never is still the built-in one.
    fn used(&self, name: &ast::ExprName) -> Paths {
        let mut paths = self.named(name.id.as_str());
        if !self.own.contains(&name.range.start()) && is_builtin(name.id.as_str()) {
            let exported = self.exports.iter().any(|path| paths.contains(*path));
            if !exported {
                paths.insert(format!("builtins.{}", name.id));
            }
        }
        paths
    }

    fn named(&self, name: &str) -> Paths {
        let mut paths = self.aliases.get(name).cloned().unwrap_or_default();
        if !self.bound.contains(name) {
            if let Some(held) = held_module(name).filter(|_| !self.stars.is_empty()) {
                return [held.to_owned()].into();
            }
            let exported = self.stars.iter().map(|module| format!("{module}.{name}"));
            if let Some(hiding) = exported
                .into_iter()
                .find(|path| self.exports.contains(&path.as_str()))
            {
                return [hiding].into();
            }
            paths.insert(if name == "__builtins__" {
                "builtins".to_owned()
            } else {
                format!("builtins.{name}")
            });
            paths.extend(self.stars.iter().map(|module| format!("{module}.{name}")));
        }
        paths
    }

    fn called(&self, call: &ast::ExprCall) -> Paths {
        let args = &call.arguments.args;
        let mut paths = Paths::new();
        for path in &self.resolve(&call.func) {
            paths.extend(self.called_by_path(path, args));
        }
        paths.extend(self.looked_up(&call.func, args));
        if let Expr::Name(function) = &*call.func {
            let returned = self.returned.get(function.id.as_str());
            paths.extend(returned.into_iter().flatten().cloned());
        }
        paths
    }

    /// The paths of the values that a function returns, by its own path.
    fn called_by_path(&self, function: &str, args: &[Expr]) -> Paths {
        let first = || args.first().map(|first| self.resolve(first));
        match function {
            "builtins.getattr" | "inspect.getattr_static" => match args.get(..2) {
                Some([object, name]) => self.attribute_of(object, name),
                _ => Paths::new(),
            },
            "builtins.__import__"
            | "importlib.import_module"
            | "importlib.__import__"
            | "importlib.util.find_spec"
            | "imp.load_module"
            | "pydoc.locate"
            | "pkgutil.resolve_name" => {
                let names = args.first().map(|name| self.texts(name));
                let names = names.into_iter().flatten();
                names.map(|name| name.replace(':', ".")).collect()
            }
            "builtins.vars" => joined(&first().unwrap_or_default(), "__dict__"),
            "builtins.globals" | "builtins.locals" => ["globals".to_owned()].into(),
            "functools.partial" | "functools.partialmethod" | "functools.wraps" => {
                first().unwrap_or_default()
            }
            _ => {
                let mut paths: Paths = [format!("{function}()")].into();
                if function.starts_with("pathlib.") || function.starts_with("os.path.") {
                    // A path below a temporary folder is temporary as well.
                    let below = args.iter().flat_map(|arg| self.resolve(arg));
                    paths.extend(below.filter(|path| path.starts_with("tempfile.")));
                }
                paths
            }
        }
    }

    /// The paths of the things that a call looks up by a name given as text.
    fn looked_up(&self, function: &Expr, args: &[Expr]) -> Paths {
        let Some(first) = args.first() else {
            return Paths::new();
        };
        match function {
            // `operator.attrgetter("system")(os)` and `operator.methodcaller("system", ...)(os)`
            Expr::Call(getter) => {
                let makers = self.resolve(&getter.func);
                let is_getter = makers.contains("operator.attrgetter")
                    || makers.contains("operator.methodcaller");
                match getter.arguments.args.first() {
                    Some(name) if is_getter => self.attribute_of(first, name),
                    _ => Paths::new(),
                }
            }
            // Methods that look up a name: `os.__getattribute__("system")`.
            Expr::Attribute(attribute)
                if matches!(
                    attribute.attr.as_str(),
                    "__getattribute__" | "__getattr__" | "__getitem__" | "get" | "pop"
                ) =>
            {
                let object = self.resolve(&attribute.value);
                let names = self.texts(first);
                let found = names.iter().flat_map(|name| self.member(&object, name));
                found.collect()
            }
            _ => Paths::new(),
        }
    }

    /// The paths of an object's attribute whose name is a text.
    fn attribute_of(&self, object: &Expr, name: &Expr) -> Paths {
        let (object, names) = (self.resolve(object), self.texts(name));
        let found = names.iter().flat_map(|name| joined(&object, name));
        found.collect()
    }

    fn subscripted(&self, subscript: &ast::ExprSubscript) -> Paths {
        let object = self.resolve(&subscript.value);
        let names = self.texts(&subscript.slice);
        if names.is_empty() {
            return object.iter().map(|path| format!("{path}[]")).collect();
        }
        names
            .iter()
            .flat_map(|name| self.member(&object, name))
            .collect()
    }

    /// `sys.modules["os"]`, `os.__dict__["system"]`, `globals()["x"]`, `__builtins__["eval"]`.
    fn member(&self, object: &Paths, name: &str) -> Paths {
        let mut paths = Paths::new();
        for path in object {
            if path == "sys.modules" {
                paths.insert(name.to_owned());
            } else if let Some(owner) = path.strip_suffix(".__dict__") {
                paths.insert(format!("{owner}.{name}"));
            } else if path == "globals" {
                paths.extend(self.named(name));
            } else if path == "builtins" || path.ends_with("__builtins__") {
                paths.insert(format!("builtins.{name}"));
            } else if path.ends_with("__getattribute__") || path.ends_with("__getattr__") {
                // The object is the prefix of the path.
            } else {
                paths.insert(format!("{path}[{name}]"));
                let is_name = |char: char| char.is_alphanumeric() || char == '_';
                if is_module(path) && name.chars().all(is_name) {
                    paths.insert(format!("{path}.{name}"));
                }
            }
        }
        paths
    }
    /// Whether an expression may be `os.environ`.
    pub fn is_environ(&self, expr: &Expr) -> bool {
        self.resolve(expr).iter().any(|path| is_environ(path))
    }

    /// Whether the program binds a name itself.
    pub fn binds(&self, name: &str) -> bool {
        self.bound.contains(name)
    }
}

/// The values that a function returns or yields.
#[derive(Default)]
struct Returned<'a>(Vec<&'a Expr>);

impl<'a> Visitor<'a> for Returned<'a> {
    fn visit_stmt(&mut self, stmt: &'a ast::Stmt) {
        match stmt {
            ast::Stmt::Return(stmt) => self.0.extend(stmt.value.as_deref()),
            ast::Stmt::FunctionDef(_) | ast::Stmt::ClassDef(_) => {}
            _ => visitor::walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, _: &'a Expr) {}
}

fn joined(objects: &Paths, name: &str) -> Paths {
    objects
        .iter()
        .map(|object| match (object.strip_suffix(".__dict__"), name) {
            (None, _) if object.trim_start_matches('_') != name && held_module(name).is_some() => {
                name.trim_start_matches('_').to_owned()
            }
            // `os.__dict__.__getitem__` and `.get`
            (Some(_), "__getitem__" | "get" | "pop") => object.clone(),
            _ => format!("{object}.{name}"),
        })
        .collect()
}

fn is_module(path: &str) -> bool {
    !path.contains('.') && !path.contains('(') && !path.contains('[')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paths of the last expression statement.
    #[track_caller]
    fn check(text: &str, imported: Option<&str>, resolved: &[&str]) {
        let program = Program::parse(text).unwrap();
        let ast::Stmt::Expr(last) = program.body().last().unwrap() else {
            panic!("no expression: {text}");
        };
        let tree = program.tree();
        let names = ImportedNames::of(tree);
        assert_eq!(names.path(&last.value).as_deref(), imported, "{text}");
        let resolver = NameResolver::of(&program, &["lib.compile"]);
        let paths = resolver.resolve(&last.value);
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        assert_eq!(paths, resolved, "{text}");
    }

    #[test]
    fn imports_have_one_path() {
        check(
            "import os as o\no.system\n",
            Some("os.system"),
            &["os.system"],
        );
        check(
            "import os.path\nos.path.join\n",
            Some("os.path.join"),
            &["os.path.join"],
        );
        check("from a.b import c as d\nd\n", Some("a.b.c"), &["a.b.c"]);
        check("from .a import b\nb\n", None, &[]);
        check("import a as x\nimport b as x\nx\n", Some("b"), &["a", "b"]);
    }

    #[test]
    fn aliases_and_tricks_are_followed() {
        check("import os\nf = os\nf.system\n", None, &["os.system"]);
        check(
            "import os\ngetattr(os, 'sys' + 'tem')\n",
            None,
            &["os.system"],
        );
        check("__import__('os').system\n", None, &["os.system"]);
        check(
            "import sys\nsys.modules['os'].system\n",
            None,
            &["os.system"],
        );
        check("eval\n", None, &["builtins.eval"]);
        check("from lib import *\ncompile\n", None, &["lib.compile"]);
        check(
            "from lib import *\neval\n",
            None,
            &["builtins.eval", "lib.eval"],
        );
    }

    #[test]
    fn the_environment_is_known_by_any_name() {
        for text in [
            "import os\nos.environ\n",
            "from os import environ as e\ne\n",
        ] {
            let program = Program::parse(text).unwrap();
            let ast::Stmt::Expr(last) = program.body().last().unwrap() else {
                panic!("no expression: {text}");
            };
            assert!(ImportedNames::of(program.tree()).is_environ(&last.value));
            assert!(NameResolver::of(&program, &[]).is_environ(&last.value));
        }
    }
}
