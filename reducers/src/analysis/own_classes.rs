//! The classes that a program defines, and what they derive from. Called by the judge's analyses;
//! proposes nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    analysis::names::ImportedNames,
    syntax::{
        AnyNodeRef, Program, Ranged,
        ast::{Expr, Stmt, StmtClassDef},
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
            let lines = class.body.iter().filter(|stmt| {
                matches!(stmt, Stmt::Expr(_) | Stmt::Assign(_) | Stmt::AnnAssign(_))
            });
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
