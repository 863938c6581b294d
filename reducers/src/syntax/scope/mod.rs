//! Scopes: which name is bound where, which uses it has, which loads nothing binds, and which
//! statements CPython's compiler would refuse where they stand. Ignores the order of execution: a
//! name counts as bound if anything in its scope binds it. Called by the passes, and by the engine
//! to drop candidates that cannot run.

mod builder;

use std::{
    collections::{BTreeSet, HashMap},
    sync::OnceLock,
};

use crate::syntax::{
    AnyNodeRef, Program, TextRange, TextSize, Tree,
    ast::{StmtClassDef, StmtFunctionDef, name::Name, visitor::Visitor},
};
use builder::Builder;

pub use builder::is_builtin;

/// The names that a program binds and uses.
#[derive(Debug)]
pub struct Scopes {
    /// Every name of every scope that is bound there, in the order of its first appearance.
    pub variables: Vec<Variable>,
    /// Loads that nothing binds and that are no builtins.
    pub unbound: Vec<Use>,
    /// The builtins that are loaded and that nothing binds.
    pub builtins: BTreeSet<Name>,
    /// The first statement that stands where CPython refuses it: a `return` outside a function, a
    /// `break` outside a loop.
    pub misplaced: Option<TextRange>,
    /// Made when it is first asked for: few candidates need it.
    index: OnceLock<VariableIndex>,
}

/// The variables of a program, as positions in their list.
#[derive(Debug, Default)]
struct VariableIndex {
    names: HashMap<Name, Vec<usize>>,
    /// By the statements that bind them.
    statements: HashMap<TextRange, Vec<usize>>,
    /// By the beginnings of the names where they are bound.
    starts: HashMap<TextSize, usize>,
}

/// A name of one scope.
#[derive(Debug)]
pub struct Variable {
    /// The name.
    pub name: Name,
    /// What kind of scope it belongs to.
    pub scope: ScopeKind,
    /// Where it is bound.
    pub bindings: Vec<Binding>,
    /// Where it is used, from whatever scope.
    pub uses: Vec<Use>,
}

/// The kinds of scopes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeKind {
    /// The module.
    Module,
    /// A function, a lambda, or the type parameters of a definition.
    Function,
    /// A class.
    Class,
    /// A comprehension or generator expression.
    Comprehension,
}

/// One binding of a name.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// How it is bound.
    pub kind: BindingKind,
    /// The name, where it is bound.
    pub range: TextRange,
    /// The innermost statement around it.
    pub statement: TextRange,
}

/// How a name is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingKind {
    /// By an import.
    Import,
    /// By `def`.
    Function,
    /// By `class`.
    Class,
    /// By an assignment, `for`, `with`, `except`, a pattern, a walrus, or as a type parameter or
    /// alias.
    Value,
    /// As a parameter.
    Parameter,
    /// Made local without a value of its own: augmented assignment, bare annotation, `del`.
    Weak,
}

/// One use of a name.
#[derive(Clone, Debug)]
pub struct Use {
    /// The name.
    pub name: Name,
    /// Where.
    pub range: TextRange,
    /// The innermost statement around it.
    pub statement: TextRange,
}

impl Variable {
    /// The class statement that alone binds the variable.
    pub(crate) fn only_class<'a>(&self, tree: &Tree<'a>) -> Option<&'a StmtClassDef> {
        let statement = self.only_binding(BindingKind::Class)?;
        tree.nodes.iter().find_map(|node| match node.node {
            AnyNodeRef::StmtClassDef(class) if class.range == statement => Some(class),
            _ => None,
        })
    }

    /// The `def` statement that alone binds the variable.
    pub(crate) fn only_function<'a>(&self, tree: &Tree<'a>) -> Option<&'a StmtFunctionDef> {
        let statement = self.only_binding(BindingKind::Function)?;
        tree.nodes.iter().find_map(|node| match node.node {
            AnyNodeRef::StmtFunctionDef(def) if def.range == statement => Some(def),
            _ => None,
        })
    }

    /// The statement of the only binding, if that is of a kind.
    fn only_binding(&self, kind: BindingKind) -> Option<TextRange> {
        match self.bindings.as_slice() {
            [only] if only.kind == kind => Some(only.statement),
            _ => None,
        }
    }
}

impl Scopes {
    pub(crate) fn of(program: &Program) -> Self {
        let mut builder = Builder::default();
        builder.open(ScopeKind::Module);
        builder.visit_body(program.body());
        builder.finish()
    }

    /// The variable with a binding whose name starts at an offset.
    pub(crate) fn bound_at(&self, name: TextSize) -> Option<&Variable> {
        Some(&self.variables[self.position_of(name)?])
    }

    /// Its position in the list.
    pub(crate) fn position_of(&self, name: TextSize) -> Option<usize> {
        self.index().starts.get(&name).copied()
    }

    /// The position of the variable that is read by the name of a range.
    pub(crate) fn position_read(&self, name: &str, range: TextRange) -> Option<usize> {
        let mut positions = self.positions_named(name).iter().copied();
        positions.find(|&position| {
            let mut uses = self.variables[position].uses.iter();
            uses.any(|used| used.range == range)
        })
    }

    /// The variables of a name, one for each scope that binds it.
    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = &Variable> {
        let found = self.positions_named(name).iter();
        found.map(|&position| &self.variables[position])
    }

    /// Whether the program itself binds a name in any scope.
    pub fn binds(&self, name: &str) -> bool {
        !self.positions_named(name).is_empty()
    }

    /// The positions of the variables of a name.
    pub(crate) fn positions_named(&self, name: &str) -> &[usize] {
        self.index().names.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether a class statement binds a name.
    pub(crate) fn is_class(&self, name: &str) -> bool {
        let mut bindings = self.named(name).flat_map(|variable| &variable.bindings);
        bindings.any(|binding| binding.kind == BindingKind::Class)
    }

    /// The positions of the variables that a statement binds.
    pub(crate) fn bound_by(&self, statement: TextRange) -> &[usize] {
        let found = self.index().statements.get(&statement);
        found.map_or(&[], Vec::as_slice)
    }

    fn index(&self) -> &VariableIndex {
        self.index.get_or_init(|| {
            let mut index = VariableIndex::default();
            for (position, variable) in self.variables.iter().enumerate() {
                let named = index.names.entry(variable.name.clone()).or_default();
                named.push(position);
                for binding in &variable.bindings {
                    let bound = index.statements.entry(binding.statement).or_default();
                    if bound.last() != Some(&position) {
                        bound.push(position);
                    }
                    let start = binding.range.start();
                    index.starts.entry(start).or_insert(position);
                }
            }
            index
        })
    }

    /// The names that nothing binds, without repeats.
    pub fn unbound_names(&self) -> BTreeSet<&str> {
        self.unbound.iter().map(|load| load.name.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(text: &str) -> Scopes {
        Scopes::of(&Program::parse(text).unwrap())
    }

    #[track_caller]
    fn check_unbound(text: &str, expected: &[&str]) {
        let scopes = scopes(text);
        assert_eq!(scopes.misplaced, None);
        assert_eq!(
            scopes.unbound_names().into_iter().collect::<Vec<_>>(),
            expected
        );
    }

    #[test]
    fn builtins_are_those_that_nothing_hides() {
        let found = scopes("def f(input):\n    return len(input)\nf(id)\nmax = 1\nmax\n");
        assert_eq!(found.builtins.iter().collect::<Vec<_>>(), ["id", "len"]);
        assert!(found.binds("input") && !found.binds("len"));
    }

    #[test]
    fn names_are_looked_up_outwards() {
        check_unbound("def f(): return x\n", &["x"]);
        check_unbound("def f(): return x\nx = 1\n", &[]);
        check_unbound("class A:\n    x = 1\n    def f(self): return x\n", &["x"]);
        check_unbound("class A:\n    x = 1\n    y = x\n", &[]);
        check_unbound(
            "class A:\n    x = 1\n    y = [x for _ in range(3)]\n",
            &["x"],
        );
        check_unbound(
            "def f():\n    x = 1\n    def g():\n        nonlocal x\n        x = 2\n        return x\n",
            &[],
        );
        check_unbound("def f():\n    global x\n    x = 1\nprint(x)\n", &[]);
        check_unbound("print(len, __name__, __file__)\n", &[]);
    }

    #[test]
    fn every_form_binds() {
        check_unbound("import a.b, c as d\nfrom e import f as g\na, d, g\n", &[]);
        check_unbound("for i, (j, *k) in []: i, j, k\n", &[]);
        check_unbound("with a as b: b\n", &["a"]);
        check_unbound("try: pass\nexcept E as e: e\n", &["E"]);
        check_unbound(
            "match 1:\n    case {'k': v, **r}: v, r\n    case [p, *q] as s: p, q, s\n",
            &[],
        );
        check_unbound("[y := 1 for x in [1]]\ny, x\n", &["x"]);
        check_unbound("f = lambda a, *b, c=d, **e: (a, b, c, e)\n", &["d"]);
        check_unbound(
            "def f[T: int](x: T) -> T: return x\nclass A[U](B[U]): pass\ntype L[V] = list[V]\n",
            &["B"],
        );
        check_unbound("f'{x!r:{w}}'\n", &["w", "x"]);
        check_unbound("def f(a: A = b, *c: D): pass\n", &["A", "D", "b"]);
        check_unbound("def f():\n    x: Unevaluated = 1\n    return x\n", &[]);
    }

    #[test]
    fn a_name_that_is_only_changed_is_unbound() {
        check_unbound("x += 1\n", &["x"]);
        check_unbound("x: int\nprint(x)\n", &["x"]);
        check_unbound("x = 0\ndef f():\n    x += 1\n", &["x"]);
    }

    #[test]
    fn misplaced_statements_are_found() {
        for text in [
            "return 1\n",
            "break\n",
            "for x in y:\n    def f():\n        continue\n",
            "while x: pass\nelse: break\n",
            "yield 1\n",
            "class A:\n    yield 1\n",
            "await x\n",
            "def f(): await x\n",
            "def f():\n    async with a: pass\n",
            "nonlocal x\n",
            "def f():\n    nonlocal x\n",
            "def f():\n    x = 1\n    global x\n",
            "x = 1\nfrom __future__ import annotations\n",
            "def f():\n    from a import *\n",
        ] {
            assert!(scopes(text).misplaced.is_some(), "{text}");
        }
        for text in [
            "'doc'\nfrom __future__ import annotations\n",
            "async def f():\n    async for x in y: await x\n    return [await z async for z in w]\n",
            "def f():\n    while 1:\n        if x: break\n    yield\n",
            "lambda: (yield)\n",
        ] {
            assert_eq!(scopes(text).misplaced, None, "{text}");
        }
    }

    #[test]
    fn uses_belong_to_their_binding() {
        let scopes = scopes("import os, sys\ndef f():\n    os = 1\n    return os\nsys.exit()\n");
        let uses = |name: &str, scope| {
            let variable = scopes
                .variables
                .iter()
                .find(|variable| variable.name == name && variable.scope == scope)
                .unwrap();
            variable.uses.len()
        };
        assert_eq!(uses("os", ScopeKind::Module), 0);
        assert_eq!(uses("os", ScopeKind::Function), 1);
        assert_eq!(uses("sys", ScopeKind::Module), 1);
    }
}
