//! Which class a line creates, if a package takes part in its creation: by a base, a metaclass or a
//! decorator. Goes by names. Called by the judge; proposes nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    analysis::{
        calls::{annotated, callee_name},
        names::{ImportedNames, name_words},
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange,
        ast::{Expr, StmtClassDef},
    },
};

/// The class whose statement begins on a line, if an installed package makes it.
pub fn class_on(program: &Program, line: u32) -> Option<&str> {
    let found = made_by_packages(program);
    let header = |class: &&&StmtClassDef| {
        let first = class.body.first().map_or(class.range.end(), Ranged::start);
        let lines = program.line_of(class.range.start())..=program.line_of(first);
        lines.contains(&line)
    };
    found
        .iter()
        .rev()
        .find(header)
        .map(|class| class.name.as_str())
}

/// The names of the classes that installed packages make.
pub fn classes_of_packages(program: &Program) -> BTreeSet<String> {
    let found = made_by_packages(program).into_iter();
    found.map(|class| class.name.to_string()).collect()
}

/// The classes that installed packages make.
pub(super) fn made_by_packages(program: &Program) -> Vec<&StmtClassDef> {
    let imported = ImportedNames::of(program.tree());
    let mut found: Vec<&StmtClassDef> = Vec::new();
    let nodes = program.tree().nodes.iter();
    for class in nodes.filter_map(|node| node.node.as_stmt_class_def().copied()) {
        let is_of_package = |expr: &Expr| {
            let of = expr.as_call_expr().map_or(expr, |call| &call.func);
            let is_own = of.as_name_expr().is_some_and(|name| {
                let mut above = found.iter();
                above.any(|class| class.name.id == name.id)
            });
            is_own || imported.is_of_installed(of)
        };
        let keywords = class.keywords().iter().map(|keyword| &keyword.value);
        let decorators = class.decorator_list.iter();
        let decorators = decorators.map(|decorator| &decorator.expression);
        let mut makers = class.bases().iter().chain(keywords).chain(decorators);
        if makers.any(is_of_package) {
            found.push(class);
        }
    }
    found
}

/// The names of the classes that installed packages make or are given: as an argument, if need be of
/// a function that they decorate, in the annotation of a field of such a class, or as its base.
pub(super) fn known_to_packages(program: &Program) -> BTreeSet<String> {
    let imported = ImportedNames::of(program.tree());
    let nodes = || program.tree().nodes.iter().map(|node| node.node);
    let classes: BTreeMap<&str, &StmtClassDef> = nodes()
        .filter_map(|node| node.as_stmt_class_def().copied())
        .map(|class| (class.name.as_str(), class))
        .collect();
    let named_in = |range: TextRange| {
        let within = program.tree().within(range);
        within.flat_map(|node| {
            // An annotation may be a text.
            let text = match node {
                AnyNodeRef::ExprName(name) => name.id.as_str(),
                AnyNodeRef::StringLiteral(text) => text.as_str(),
                _ => "",
            };
            name_words(text)
        })
    };
    let calls = nodes().filter_map(|node| node.as_expr_call().copied());
    let functions = nodes().filter_map(|node| node.as_stmt_function_def().copied());
    let decorated = functions.filter(|function| {
        let mut decorators = function.decorator_list.iter();
        decorators.any(|decorator| imported.is_of_installed(&decorator.expression))
    });
    let decorated: BTreeSet<&str> = decorated.map(|function| function.name.as_str()).collect();
    let calls = calls.filter(|call| {
        imported.is_of_installed(&call.func)
            || callee_name(&call.func).is_some_and(|name| decorated.contains(name))
    });
    let given = calls.flat_map(|call| named_in(call.arguments.range));
    let made = made_by_packages(program).into_iter();
    let mut open: Vec<&str> = given.chain(made.map(|class| class.name.as_str())).collect();
    let mut found = BTreeSet::new();
    while let Some(name) = open.pop() {
        if let Some(class) = classes.get(name)
            && found.insert(name.to_owned())
        {
            let annotations = annotated(class).map(|(_, field)| field.annotation.range());
            let bases = class.bases().iter().map(Ranged::range);
            open.extend(annotations.chain(bases).flat_map(named_in));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_makes_what_inherits_of_it() {
        let text = "\
from lib import Base, mark
from abc import ABC
class A(Base):
    x: int
class B(A): x = 1
@mark(1)
class C:
    pass
class D(ABC): pass
";
        let program = Program::parse(text).unwrap();
        let found: Vec<_> = (1..10).map(|line| class_on(&program, line)).collect();
        let (a, b, c) = (Some("A"), Some("B"), Some("C"));
        assert_eq!(found, [None, None, a, a, b, c, c, c, None]);
        let all: Vec<_> = classes_of_packages(&program).into_iter().collect();
        assert_eq!(all, ["A", "B", "C"]);
        let more = "class E: pass\nclass F:\n    e: list['E']\nclass G: pass\nclass H(G): pass\n\
                    @mark\ndef f(x): pass\nload(D)\nf(H)\nBase.load(list[F])\n";
        let text = format!("{text}{more}");
        let all: Vec<_> = known_to_packages(&Program::parse(text).unwrap())
            .into_iter()
            .collect();
        assert_eq!(all, ["A", "B", "C", "E", "F", "G", "H"]);
    }
}
