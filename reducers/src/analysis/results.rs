//! Which of the functions that packages call return something, and how many arguments they need:
//! functions that are passed on, those with imported decorators, and methods that the program itself
//! does not name. A package that gets nothing back does something else, often in the same words.
//! Goes by names. Called by the judge; proposes nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    analysis::{
        handed_on::{handed_on, positional},
        names::ImportedNames,
    },
    syntax::{
        AnyNodeRef, Program, Ranged,
        ast::{Expr, StmtClassDef, StmtFunctionDef},
    },
};

/// The names of the functions that packages call and that all give something back.
pub fn giving(program: &Program) -> BTreeSet<String> {
    let mut found = BTreeMap::new();
    for function in called_by_packages(program) {
        let all = found.entry(function.name.to_string()).or_insert(true);
        *all &= gives_something(program, function);
    }
    found.retain(|_, all| *all);
    found.into_keys().collect()
}

/// Where a run was when it failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    /// The lines of the program that it had not come back from.
    pub lines: Vec<u32>,
    /// The message of its failure: a wrong call names the function that it did not enter.
    pub message: String,
}

impl Left {
    /// Whether it was in a function, or on the way into it.
    fn is_in(&self, program: &Program, function: &StmtFunctionDef) -> bool {
        let range = function.range;
        let lines = program.line_of(range.start())..=program.line_of(range.end());
        let entered = self.lines.iter().any(|line| lines.contains(line));
        entered || self.message.contains(&format!("{}()", function.name))
    }
}

/// Whether a function of one of these names gives nothing back to packages, though the run had come
/// back from it, or though nothing but packages calls it.
pub fn gives_nothing(names: &BTreeSet<String>, program: &Program, left: &Left) -> bool {
    !names.is_empty() && {
        let by_name = called_by_name(program);
        let mut called = called_by_packages(program).into_iter();
        called.any(|function| {
            let name = function.name.as_str();
            let is_registered = !function.decorator_list.is_empty() && !by_name.contains(name);
            names.contains(name)
                && !gives_something(program, function)
                && (is_registered || !left.is_in(program, function))
        })
    }
}

/// The names that the program itself calls.
fn called_by_name(program: &Program) -> BTreeSet<&str> {
    let nodes = program.tree().nodes.iter();
    let calls = nodes.filter_map(|node| node.node.as_expr_call());
    let names = calls.filter_map(|call| call.func.as_name_expr());
    names.map(|name| name.id.as_str()).collect()
}

/// Methods that the program itself calls, by the name of its class or of an object.
const CALLED_BY_PROGRAM: [&str; 3] = ["__call__", "__init__", "__new__"];

/// The functions that a program hands on, and the methods that installed packages call.
pub fn called_by_others(program: &Program) -> BTreeSet<String> {
    let methods = called_by_packages(program).into_iter();
    let names = methods.map(|function| function.name.as_str());
    let names = names.filter(|name| !CALLED_BY_PROGRAM.contains(name));
    let names = names.map(str::to_owned);
    names.chain(handed_on(program)).collect()
}

/// How many arguments such functions need, by their names.
pub fn needed_by_others(program: &Program) -> BTreeMap<String, BTreeSet<usize>> {
    let called = called_by_others(program);
    let mut found: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for node in &program.tree().nodes {
        if let AnyNodeRef::StmtFunctionDef(function) = node.node
            && called.contains(function.name.as_str())
        {
            let (least, _) = positional(function);
            let name = function.name.to_string();
            found.entry(name).or_default().insert(least);
        }
    }
    found
}

/// The functions that installed packages call. Python's own modules do not count: their behaviour
/// without a return value is not a bug of theirs.
fn called_by_packages(program: &Program) -> Vec<&StmtFunctionDef> {
    let imported = ImportedNames::of(program.tree());
    if !imported.has_installed() {
        return Vec::new();
    }
    let handed_on = handed_on(program);
    let nodes = &program.tree().nodes;
    let is_named = |class: &StmtClassDef, method: &StmtFunctionDef| {
        // Who calls a method of that name on an object calls no static one.
        let is_static = decorators(method).any(|of| is_name(of, "staticmethod"));
        let mut attributes = nodes
            .iter()
            .filter_map(|node| node.node.as_expr_attribute());
        attributes.any(|attribute| {
            let is_of_class = || is_name(&attribute.value, &class.name);
            attribute.attr.id == method.name.id && (!is_static || is_of_class())
        })
    };
    let functions = nodes.iter().filter_map(|node| {
        let AnyNodeRef::StmtFunctionDef(function) = node.node else {
            return None;
        };
        let parent = node.parent.map(|parent| nodes[parent as usize].node);
        let name = function.name.as_str();
        let is_called = match parent {
            Some(AnyNodeRef::StmtClassDef(class)) => {
                let mut bases = class.bases().iter();
                !is_named(class, function) && bases.any(|base| imported.is_of_installed(base))
            }
            _ => handed_on.contains(name),
        };
        let mut decorators = decorators(function);
        let is_taken = decorators.any(|of| is_of_package(program, &imported, of));
        (is_called || is_taken).then_some(function)
    });
    functions.collect()
}

fn is_name(expr: &Expr, name: &str) -> bool {
    expr.as_name_expr().is_some_and(|its| its.id == name)
}

fn decorators(function: &StmtFunctionDef) -> impl Iterator<Item = &Expr> {
    let decorators = function.decorator_list.iter();
    decorators.map(|decorator| &decorator.expression)
}

/// Whether an expression is a name of a package, or an attribute of a function that one has taken.
fn is_of_package(program: &Program, imported: &ImportedNames<'_>, expr: &Expr) -> bool {
    if imported.is_of_installed(expr) {
        return true;
    }
    let of = expr.as_call_expr().map_or(expr, |call| &call.func);
    let taken = of.as_attribute_expr();
    let taken = taken.and_then(|attribute| attribute.value.as_name_expr());
    taken.is_some_and(|taken| {
        let mut functions = program.tree().nodes.iter();
        functions.any(|node| match node.node {
            AnyNodeRef::StmtFunctionDef(function) => {
                let mut decorators = decorators(function);
                function.name.id == taken.id && decorators.any(|of| imported.is_of_installed(of))
            }
            _ => false,
        })
    })
}

/// Whether a function returns or yields a value that is no constant, those within it left out.
fn gives_something(program: &Program, function: &StmtFunctionDef) -> bool {
    let tree = program.tree();
    let within: Vec<_> = tree.within(function.range).collect();
    let inner: Vec<_> = within
        .iter()
        .filter(|node| node.is_stmt_function_def() || node.is_expr_lambda())
        .map(Ranged::range)
        .filter(|range| *range != function.range)
        .collect();
    within.iter().any(|node| {
        let gives = match node {
            AnyNodeRef::StmtReturn(given) => given
                .value
                .as_ref()
                .is_some_and(|value| !value.is_literal_expr()),
            AnyNodeRef::ExprYield(_) | AnyNodeRef::ExprYieldFrom(_) => true,
            _ => false,
        };
        gives && !inner.iter().any(|range| range.contains_range(node.range()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(script: &str, expected: &[&str]) {
        let found = giving(&Program::parse(script).unwrap());
        let found: Vec<_> = found.iter().map(String::as_str).collect();
        assert_eq!(found, expected, "{script}");
    }

    #[test]
    fn others_call_what_is_handed_on_and_methods_of_their_classes() {
        let text = "import lib\ndef f(a, b, c=1): pass\nlib.add(f)\ndef g(a): pass\ng(1)\nclass A(lib.B):\n    \
                    def __init__(self, a): self.own()\n    def run(self, a): pass\n    def own(self): pass\n";
        let needed = needed_by_others(&Program::parse(text).unwrap());
        let expected = [("f".to_owned(), [2].into()), ("run".to_owned(), [2].into())];
        assert_eq!(needed, expected.into());
    }

    #[test]
    fn what_is_handed_on_gives_something_or_not() {
        let check = |text: &str, expected: &[&str]| check(&format!("import lib\n{text}"), expected);
        check(
            "def f(x):\n    return x\ndef g(x):\n    def h(): return x\nlib.use(f, g)\n",
            &["f"],
        );
        check("def f(x): return x\nlib.use(f(1))\n", &[]);
        check("def f(x):\n    yield\nlib.use(f)\n", &["f"]);
        check("def f(x): return 0\nlib.use(f)\n", &[]);
    }

    #[test]
    fn decorated_functions_and_methods_of_packages_count() {
        let decorated = "import lib\n@lib.op('a')\ndef f(x): return x\n@f.fake\n\
                         def g(x): return x\n@own\ndef h(x): return x\n";
        check(decorated, &["f", "g"]);
        let class = "from lib import Base\nclass A(Base):\n    def run(self): return [1]\n    \
                     def help(self): return [2]\nA().help()\nclass B:\n    \
                     def go(self): return [3]\n";
        check(class, &["run"]);
        let fixed = "from lib import F\nclass A(F):\n    @staticmethod\n    def back(x): return x\n    \
                     @staticmethod\n    def go(x): return x\nA.go(lib.x.back())\n";
        check(fixed, &["back"]);
    }

    #[test]
    fn what_gave_something_goes_on_doing_so() {
        let program = |text: &str| Program::parse(format!("import lib\n{text}")).unwrap();
        let names = giving(&program("def f(x):\n    return x\nlib.use(f)\n"));
        let refuses = |text: &str, lines: &[u32], message: &str| {
            let left = Left {
                lines: lines.to_vec(),
                message: message.to_owned(),
            };
            gives_nothing(&names, &program(text), &left)
        };
        let candidate = "def f(x):\n    pass\nlib.use(f)\n";
        assert!(refuses(candidate, &[4], "no"));
        // It fails in there, or before that.
        assert!(!refuses(candidate, &[4, 3], "no"));
        assert!(!refuses(candidate, &[4], "f() misses an argument"));
        assert!(refuses("def f(x):\n    return 0\nlib.use(f)\n", &[], ""));
        assert!(!refuses("def f(x): pass\nlib.use(f(1))\n", &[], ""));
        assert!(!refuses("def g(x): pass\nlib.use(g)\n", &[], ""));
        // Who is registered gives something to others alone.
        assert!(refuses(
            "@lib.fake\ndef f(x):\n    pass\nlib.g(1)\n",
            &[4],
            ""
        ));
        assert!(!refuses(
            "@lib.compile\ndef f(x):\n    pass\nf(1)\n",
            &[4],
            ""
        ));
    }

    #[test]
    fn functions_for_python_itself_may_give_nothing() {
        check(
            "import functools\ndef f(x): return x\nfunctools.reduce(f, [])\n",
            &[],
        );
    }
}
