//! The classes that a program defines, and what they derive from. Called by the judge's analyses;
//! proposes nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    analysis::{class_statements::known_to_packages, names::ImportedNames},
    syntax::{
        AnyNodeRef, Program, Ranged,
        ast::{Expr, Stmt, StmtClassDef, StmtFunctionDef},
    },
};

/// The classes of a program.
pub(super) struct OwnClasses<'a> {
    /// The first of each name.
    by_name: BTreeMap<&'a str, &'a StmtClassDef>,
    /// The names that the program binds, by imports too.
    bound: BTreeSet<&'a str>,
}

impl<'a> OwnClasses<'a> {
    pub(super) fn of(program: &'a Program) -> Self {
        let mut by_name = BTreeMap::new();
        for node in &program.tree().nodes {
            if let AnyNodeRef::StmtClassDef(class) = node.node {
                by_name.entry(class.name.as_str()).or_insert(class);
            }
        }
        let variables = program.scopes().variables.iter();
        Self {
            by_name,
            bound: variables.map(|variable| &*variable.name).collect(),
        }
    }

    /// The names of those that derive from something that is neither the program's own nor the
    /// language's.
    pub(super) fn derived(&self) -> impl Iterator<Item = &'a str> {
        let names = self.by_name.keys().copied();
        names.filter(|name| self.is_derived(name))
    }

    fn is_derived(&self, class: &str) -> bool {
        let mut classes = self.with_bases(class).into_iter();
        classes.any(|class| class.bases().iter().any(|base| self.is_foreign(base)))
    }

    /// The body of a class.
    pub(super) fn body(&self, class: &str) -> &'a [Stmt] {
        self.by_name.get(class).map_or(&[], |class| &class.body)
    }

    /// Whether calls of a class pass their arguments on to what it derives from.
    pub(super) fn passes_on(&self, class: &str) -> bool {
        self.is_derived(class) && !self.constructs(class)
    }

    /// Whether a class, or one of the program that it derives from, defines how its objects are made.
    pub(super) fn constructs(&self, class: &str) -> bool {
        const CONSTRUCTORS: [&str; 2] = ["__init__", "__new__"];
        let constructs = |stmt: &Stmt| {
            let def = stmt.as_function_def_stmt();
            def.is_some_and(|def| CONSTRUCTORS.contains(&def.name.as_str()))
        };
        let mut classes = self.with_bases(class).into_iter();
        classes.any(|class| class.body.iter().any(constructs))
    }

    /// A class and those of the program that it derives from.
    pub(super) fn with_bases(&self, class: &str) -> Vec<&'a StmtClassDef> {
        let mut found: Vec<&StmtClassDef> = Vec::new();
        let mut open: Vec<&StmtClassDef> = self.by_name.get(class).copied().into_iter().collect();
        while let Some(class) = open.pop() {
            if !found.iter().any(|known| std::ptr::eq(*known, class)) {
                found.push(class);
                let names = class.bases().iter().filter_map(Expr::as_name_expr);
                open.extend(names.filter_map(|name| self.by_name.get(name.id.as_str()).copied()));
            }
        }
        found
    }

    /// The imported names that the bodies of derived classes call outside of functions, by class,
    /// and those that decorate their functions, by function: by those a class tells its base what
    /// its objects are.
    fn declarations(&self, program: &Program) -> Declarations {
        let imported = ImportedNames::of(program.tree());
        let of_class = |class: &StmtClassDef| {
            let lines = assignments(&class.body).into_iter();
            let nodes = lines.flat_map(|stmt| program.tree().within(stmt.range()));
            let calls = nodes.filter_map(|node| node.as_expr_call().copied());
            let paths = calls.filter_map(|call| imported.path(&call.func));
            paths.collect::<BTreeSet<String>>()
        };
        let of_functions = |class: &'a StmtClassDef| {
            let functions = class.body.iter().filter_map(Stmt::as_function_def_stmt);
            functions.map(|def| {
                let decorators = def.decorator_list.iter();
                let paths = decorators.filter_map(|decorator| {
                    let called = decorator.expression.as_call_expr();
                    imported.path(called.map_or(&decorator.expression, |call| &call.func))
                });
                (format!("{}.{}", class.name, def.name), paths.collect())
            })
        };
        let mut found = Declarations::new();
        for name in self.derived() {
            let class = self.by_name[name];
            found.insert(name.to_owned(), of_class(class));
            found.extend(of_functions(class));
        }
        found
    }

    fn is_foreign(&self, base: &Expr) -> bool {
        match base {
            Expr::Name(name) => {
                let name = name.id.as_str();
                self.bound.contains(name) && !self.by_name.contains_key(name)
            }
            Expr::Attribute(_) | Expr::Call(_) => true,
            _ => false,
        }
    }
}

/// The assignments in a class body, and in the classes within it.
fn assignments(body: &[Stmt]) -> Vec<&Stmt> {
    let mut found = Vec::new();
    for stmt in body {
        match stmt {
            Stmt::ClassDef(within) => found.extend(assignments(&within.body)),
            Stmt::Assign(_) | Stmt::AnnAssign(_) => found.push(stmt),
            _ => {}
        }
    }
    found
}

/// The names of methods that are called on the class or on nothing, each with what makes it so.
pub type Bindings = BTreeSet<(String, String)>;

/// The methods by whose names packages may call those of a program's classes, if they are called on
/// the class or on nothing: whoever calls them otherwise calls them wrongly.
pub fn bindings(program: &Program) -> Bindings {
    let classes = OwnClasses::of(program);
    let known = known_to_packages(program);
    let names = classes.derived().chain(known.iter().map(String::as_str));
    let mut found = Bindings::new();
    for class in names {
        for method in methods(classes.body(class)) {
            let name = || method.name.to_string();
            found.extend(binding(method).map(|binding| (name(), binding.to_owned())));
        }
    }
    found.retain(|known| is_bound(known, program));
    found
}

/// Whether the methods that a candidate still has are called as they were.
pub fn are_bound(known: &Bindings, candidate: &Program) -> bool {
    known.iter().all(|known| is_bound(known, candidate))
}

/// Whether all methods of a name are bound in a way.
fn is_bound((name, way): &(String, String), program: &Program) -> bool {
    let nodes = program.tree().nodes.iter();
    let classes = nodes.filter_map(|node| node.node.as_stmt_class_def().copied());
    let mut methods = classes.flat_map(|class| methods(&class.body));
    methods.all(|method| method.name.as_str() != name || binding(method).any(|its| its == way))
}

/// The methods of a class, but for those that the language itself binds.
fn methods(body: &[Stmt]) -> impl Iterator<Item = &StmtFunctionDef> {
    const BOUND_ANYWAY: [&str; 3] = ["__class_getitem__", "__init_subclass__", "__new__"];
    let methods = body.iter().filter_map(Stmt::as_function_def_stmt);
    methods.filter(|method| !BOUND_ANYWAY.contains(&&*method.name))
}

/// What binds a method to its class or to nothing.
fn binding(method: &StmtFunctionDef) -> impl Iterator<Item = &str> {
    let decorators = method.decorator_list.iter();
    let names = decorators.filter_map(|decorator| decorator.expression.as_name_expr());
    let names = names.map(|name| name.id.as_str());
    names.filter(|name| matches!(*name, "classmethod" | "staticmethod"))
}

/// What classes and their functions call, by their names.
pub type Declarations = BTreeMap<String, BTreeSet<String>>;

/// What the classes of a program call to tell their bases what they are.
pub fn declarations(program: &Program) -> Declarations {
    OwnClasses::of(program).declarations(program)
}

/// Whether the classes and functions of a candidate call what those of the same names call.
pub fn are_declared(known: &Declarations, candidate: &Declarations) -> bool {
    candidate.iter().all(|(class, calls)| {
        let known = known.get(class);
        known.is_none_or(|known| known.is_subset(calls))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_packages_are_derived() {
        let text = "class A: pass\nclass H(A): pass\nclass C(lib.C, A): pass\nclass D(C):\n    def __init__(self): pass\nclass E(D): pass\nclass F(Exception): pass\nB = lib.base()\nclass G(B): pass\n";
        let program = Program::parse(text).unwrap();
        let classes = OwnClasses::of(&program);
        assert_eq!(classes.derived().collect::<Vec<_>>(), ["C", "D", "E", "G"]);
        assert!(classes.passes_on("C") && !classes.passes_on("A"));
        assert!(!classes.passes_on("D") && !classes.passes_on("E") && !classes.passes_on("F"));
    }

    #[test]
    fn methods_stay_bound() {
        let script = "import lib\nclass A(lib.B):\n    @classmethod\n    def f(cls): pass\n    @staticmethod\n    \
                      def __new__(cls): pass\nclass C:\n    @staticmethod\n    def g(): pass\n    @staticmethod\n    \
                      def h(): pass\nclass D(C): pass\nclass E:\n    def h(): pass\n    @staticmethod\n    \
                      def i(): pass\nlib.load(D)\n";
        let known = bindings(&Program::parse(script).unwrap());
        let keeps = |from: &str, to: &str| {
            let candidate = script.replace(from, to);
            assert_ne!(candidate, script);
            are_bound(&known, &Program::parse(candidate).unwrap())
        };
        assert!(keeps("@staticmethod\n    def __new__", "def __new__"));
        assert!(keeps("    @classmethod\n    def f(cls): pass\n", ""));
        assert!(!keeps("    @classmethod\n", ""));
        assert!(!keeps("class D(C): pass", "class D:\n    def g(): pass"));
        assert!(keeps("@staticmethod\n    def h", "def h"));
        assert!(keeps("@staticmethod\n    def i", "def i"));
    }

    #[test]
    fn classes_go_on_telling_what_they_are() {
        let of = |text: &str| declarations(&Program::parse(text).unwrap());
        let script = "import lib\nclass A(lib.B):\n    x = lib.Config(k=1)\n    y = lib.column()\n    z = len('')\n    def f(self): lib.g()\nclass C:\n    x = lib.other()\n";
        let keeps = |text: &str| are_declared(&of(script), &of(text));
        assert!(keeps(&script.replace("lib.g()", "pass")));
        assert!(keeps(
            "import lib\nclass A(lib.B):\n    x = lib.Config(), lib.column()\n"
        ));
        assert!(keeps("import lib\nlib.B()\n"));
        assert!(!keeps(
            "import lib\nclass A(lib.B):\n    x = lib.Config()\n"
        ));
        let script = "import lib\nclass A(lib.B):\n    @lib.field(k=1)\n    @lib.cached\n    @property\n    def f(self): pass\n";
        let keeps = |text: &str| are_declared(&of(script), &of(text));
        assert!(keeps(&script.replace("    @property\n", "")));
        assert!(keeps(
            "import lib\nclass A(lib.B):\n    def g(self): pass\n"
        ));
        assert!(!keeps(&script.replace("    @lib.field(k=1)\n", "")));
    }
}
