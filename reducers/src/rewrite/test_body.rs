//! A program as the body of a test: the statements that must stay at the head of the file, and the
//! others as the body of a method. The text of each statement stays as it is except for its
//! indentation. Called for the tests that results are written as.

use std::collections::BTreeSet;

use crate::{
    analysis::names::ImportedNames,
    rewrite::reindent::indented,
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange,
        ast::{Expr, Stmt},
        lines::with_plain_newlines,
    },
};

/// Where the names of a program's top level are kept once its statements stand in a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// In the method, as people write tests.
    Local,
    /// In the module, for programs that depend on the difference: compiled code reads a global in
    /// another way than a cell.
    Global,
}

/// A program as the inside of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// Imports, and the statements that must come before them.
    pub head: String,
    /// The other statements, indented.
    pub body: String,
}

impl Method {
    /// The program with its statements indented by so many spaces.
    pub fn of(program: &Program, indentation: usize, names: Names) -> Self {
        let statements = program.body();
        let first = first_of_body(statements);
        let (head, body): (Vec<&Stmt>, Vec<&Stmt>) = {
            let place = |(at, statement): &(usize, &Stmt)| *at < first || has_to_lead(statement);
            let (head, body): (Vec<_>, Vec<_>) = statements.iter().enumerate().partition(place);
            (
                head.into_iter().map(|(_, statement)| statement).collect(),
                body.into_iter().map(|(_, statement)| statement).collect(),
            )
        };
        // A program of imports alone fails by one of them.
        let (head, body) = if body.is_empty() {
            head.into_iter()
                .partition(|statement| has_to_lead(statement))
        } else {
            (head, body)
        };
        let prefix = " ".repeat(indentation);
        let mut method = Self {
            head: String::new(),
            body: String::new(),
        };
        for statement in head.iter().filter(|statement| !is_text(statement)) {
            method
                .head
                .push_str(&with_plain_newlines(program.slice(statement.range())));
            method.head.push('\n');
        }
        if names == Names::Global {
            let bound = bound_by(program, &body);
            if !bound.is_empty() {
                let listed = bound.into_iter().collect::<Vec<_>>().join(", ");
                method.body = format!("{prefix}global {listed}\n");
            }
        }
        let mut follows_definition = true;
        for (number, statement) in body.iter().enumerate() {
            let is_definition = matches!(statement, Stmt::FunctionDef(_) | Stmt::ClassDef(_));
            if number > 0 && (is_definition || follows_definition) {
                method.body.push('\n');
            }
            follows_definition = is_definition;
            method
                .body
                .push_str(&indented(program, statement.range(), &prefix));
            method.body.push('\n');
        }
        if method.body.is_empty() {
            method.body = format!("{prefix}pass\n");
        }
        method
    }
}

/// The beginning of the body: after the first imports. Statements that set environment variables
/// may stand between those, since a library may read them when it is imported.
pub(crate) fn first_of_body(statements: &[Stmt]) -> usize {
    let names = ImportedNames::among(statements.iter().map(AnyNodeRef::from));
    let mut first = 0;
    for (at, statement) in statements.iter().enumerate() {
        match statement {
            Stmt::Import(_) | Stmt::ImportFrom(_) => first = at + 1,
            it if is_text(it) || sets_environment(&names, it) => {}
            _ => break,
        }
    }
    first
}

/// Whether a statement can stand nowhere else than at the top level.
fn has_to_lead(statement: &Stmt) -> bool {
    match statement {
        Stmt::ImportFrom(it) => {
            it.module
                .as_ref()
                .is_some_and(|module| module.as_str() == "__future__")
                || it.names.iter().any(|alias| alias.name.as_str() == "*")
        }
        _ => false,
    }
}

/// Whether a statement is but a text, as documentation is.
fn is_text(statement: &Stmt) -> bool {
    matches!(statement, Stmt::Expr(it) if matches!(&*it.value, Expr::StringLiteral(_)))
}

fn sets_environment(names: &ImportedNames<'_>, statement: &Stmt) -> bool {
    let Stmt::Assign(assign) = statement else {
        return false;
    };
    let mut targets = assign.targets.iter();
    targets.all(|target| matches!(target, Expr::Subscript(item) if names.is_environ(&item.value)))
}

/// The names of the top level that some statements bind.
fn bound_by<'a>(program: &'a Program, statements: &[&Stmt]) -> BTreeSet<&'a str> {
    let is_inside = |range: TextRange| {
        statements
            .iter()
            .any(|statement| statement.range().contains_range(range))
    };
    let variables = program.scopes().variables.iter();
    variables
        .filter(|variable| variable.scope == crate::syntax::scope::ScopeKind::Module)
        .filter(|variable| {
            variable
                .bindings
                .iter()
                .any(|binding| is_inside(binding.range))
        })
        .map(|variable| variable.name.as_str())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, names: Names, head: &str, body: &str) {
        let method = Method::of(&Program::parse(text).unwrap(), 4, names);
        assert_eq!((method.head.as_str(), method.body.as_str()), (head, body));
        let whole = format!("{head}def test():\n{body}");
        assert!(Program::parse(whole.as_str()).is_ok(), "{whole}");
    }

    #[test]
    fn imports_lead_and_the_rest_is_the_body() {
        check(
            "\"\"\"Says.\"\"\"\nfrom __future__ import annotations\nimport os, sys\nos.environ['A'] = '1'\nimport torch; x = 1\nfrom math import *\nimport json\nf(x)\n",
            Names::Local,
            "from __future__ import annotations\nimport os, sys\nos.environ['A'] = '1'\nimport torch\nfrom math import *\n",
            "    x = 1\n    import json\n    f(x)\n",
        );
    }

    #[test]
    fn strings_keep_their_lines() {
        check(
            "x = '''a\n  b'''\nif x:\r\n\ty = f\"\"\"{x}\n\"\"\"\r\n\tz = (1,\n2)\n\n\tw = 'a\\\nb'\n",
            Names::Local,
            "",
            "    x = '''a\n  b'''\n    if x:\n    \ty = f\"\"\"{x}\n\"\"\"\n    \tz = (1,\n    2)\n\n    \tw = 'a\\\nb'\n",
        );
    }

    #[test]
    fn definitions_stand_apart_and_names_can_stay_global() {
        check(
            "import a\n@d\ndef f():\n    return x\nx = 1\nclass C: pass\n[y for y in f()]\n",
            Names::Global,
            "import a\n",
            "    global C, f, x\n    @d\n    def f():\n        return x\n\n    x = 1\n\n    class C: pass\n\n    [y for y in f()]\n",
        );
    }

    #[test]
    fn a_program_of_imports_has_them_in_its_body() {
        check(
            "import a\nfrom b import *\n",
            Names::Local,
            "from b import *\n",
            "    import a\n",
        );
    }
}
