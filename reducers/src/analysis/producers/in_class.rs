//! Whether it is the class of an object that stores what the object lacks. Where a class stores an
//! attribute and its objects lack it, the store was left out or lost; where another class stores
//! it, its absence is expected.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::{kinds::defining, storing};
use crate::{
    analysis::{calls::callee_name, own_classes::OwnClasses, statement_tree::StatementTree},
    syntax::{AnyNodeRef, Program, Ranged, TextRange, ast::Stmt},
    trace::evidence::{Evidence, SourceLine},
};

/// The special methods that give what an object is made of to whoever copies it.
const GIVING_STATE: [&str; 7] = [
    "__copy__",
    "__deepcopy__",
    "__getnewargs__",
    "__getnewargs_ex__",
    "__getstate__",
    "__reduce__",
    "__reduce_ex__",
];

/// The one that takes it.
const TAKING_STATE: &str = "__setstate__";

/// Whether a class of the program, or one that it derives from, stores something under a name.
pub fn stores_in_class(program: &Program, name: &str, class: &str) -> bool {
    let classes = OwnClasses::of(program).with_bases(class);
    let ranges: Vec<TextRange> = classes.iter().map(Ranged::range).collect();
    let tree = StatementTree::untraced(program);
    stores_within(&tree, name, &ranges).next().is_some()
}

/// Whether a class itself does so by an executed statement that is no mere attempt, which may have
/// failed. Those of its bases may have been executed for other objects.
pub fn stored_in_class(program: &Program, name: &str, class: &str, evidence: &Evidence) -> bool {
    let classes = OwnClasses::of(program).with_bases(class);
    let own = classes.iter().filter(|its| its.name.as_str() == class);
    let ranges: Vec<TextRange> = own.map(Ranged::range).collect();
    let tree = StatementTree::of(program, evidence);
    let mut stores = stores_within(&tree, name, &ranges);
    stores.any(|at| tree.statements[at].is_executed && !is_attempt(&tree, at))
}

/// The statements in some parts of a program that store something under a name.
fn stores_within(
    tree: &StatementTree<'_>,
    name: &str,
    parts: &[TextRange],
) -> impl Iterator<Item = usize> {
    storing(tree, name).into_iter().filter(|&statement| {
        let range = tree.statements[statement].range;
        parts.iter().any(|part| part.contains_range(range))
    })
}

/// Whether the failure of a statement is caught, or suppressed, in its function.
fn is_attempt(tree: &StatementTree<'_>, statement: usize) -> bool {
    let function = tree.function_of(statement);
    let at = tree.statements[statement].range;
    let around = tree.ancestors(statement);
    let mut around = around.take_while(|&outer| Some(outer) != function);
    around.any(|outer| match tree.statements[outer].node {
        AnyNodeRef::StmtTry(attempt) => {
            let mut tried = attempt.body.iter();
            !attempt.handlers.is_empty() && tried.any(|part| part.range().contains_range(at))
        }
        AnyNodeRef::StmtWith(with) => with.items.iter().any(|item| {
            let call = item.context_expr.as_call_expr();
            call.and_then(|call| callee_name(&call.func)) == Some("suppress")
        }),
        _ => false,
    })
}

/// The special methods of a class, or of one that it derives from, that store something under a name,
/// themselves or by methods of the class: where it is missing, the language may not have called them.
pub fn special_stores(program: &Program, name: &str, class: &str) -> BTreeSet<String> {
    let tree = StatementTree::untraced(program);
    let classes = OwnClasses::of(program).with_bases(class);
    let bodies = classes.iter().flat_map(|class| &class.body);
    let methods: Vec<_> = bodies.filter_map(Stmt::as_function_def_stmt).collect();
    let ranges = storing(&tree, name);
    let ranges: Vec<_> = ranges.iter().map(|at| tree.statements[*at].range).collect();
    let mut found: BTreeSet<&str> = methods
        .iter()
        .filter(|method| ranges.iter().any(|at| method.range.contains_range(*at)))
        .map(|method| method.name.as_str())
        .collect();
    loop {
        let count = found.len();
        for method in &methods {
            let mut nodes = program.tree().within(method.range);
            let calls = nodes.any(|node| {
                let its = node.as_expr_attribute();
                its.is_some_and(|its| found.contains(its.attr.as_str()))
            });
            found.extend(calls.then_some(method.name.as_str()));
        }
        if found.len() == count {
            break;
        }
    }
    found.retain(|name| name.starts_with("__") && name.ends_with("__"));
    found.into_iter().map(str::to_owned).collect()
}

/// What a method does that gives or takes the state of an object which is copied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateMethod {
    /// The positions of the parameters that it reads.
    reads: BTreeSet<usize>,
    /// Whether it returns something.
    returns: bool,
}

/// The methods by which the objects of a class, or of one that it derives from, give and take their
/// state. With evidence, those that ran.
pub fn state_methods(
    program: &Program,
    class: &str,
    evidence: Option<&Evidence>,
) -> BTreeMap<String, StateMethod> {
    let tree = evidence.map_or_else(
        || StatementTree::untraced(program),
        |evidence| StatementTree::of(program, evidence),
    );
    let classes = OwnClasses::of(program).with_bases(class);
    let bodies = classes.iter().flat_map(|class| &class.body);
    let methods = bodies.filter_map(Stmt::as_function_def_stmt);
    let methods = methods.filter(|method| {
        let mut body = method.body.iter();
        let name = method.name.as_str();
        let runs = |part: &Stmt| {
            let at = tree.at(part.range());
            at.is_some_and(|at| tree.statements[at].is_executed)
        };
        (GIVING_STATE.contains(&name) || name == TAKING_STATE) && body.any(runs)
    });
    let found = methods.map(|method| {
        let body = method.body.iter();
        let nodes = body.flat_map(|part| program.tree().within(part.range()));
        let nodes: Vec<_> = nodes.collect();
        let names = nodes.iter().filter_map(|node| node.as_expr_name());
        let names: BTreeSet<&str> = names.map(|name| name.id.as_str()).collect();
        // Another program may call them by other names.
        let places = method.parameters.iter().enumerate();
        let read = places.filter(|(_, parameter)| names.contains(parameter.name().as_str()));
        let does = StateMethod {
            reads: read.map(|(place, _)| place).collect(),
            returns: nodes.iter().any(|node| {
                let result = node.as_stmt_return();
                result.is_some_and(|result| result.value.is_some())
            }),
        };
        (method.name.to_string(), does)
    });
    found.collect()
}

/// Whether a class of a candidate gives its state by the same methods, and those that give or take it
/// go on reading what they get, and returning something. Without a method that takes it, the language stores it all.
pub fn keeps_state(
    known: &BTreeMap<String, StateMethod>,
    candidate: &Program,
    class: &str,
) -> bool {
    known.is_empty() || {
        let its = state_methods(candidate, class, None);
        known.iter().all(|(name, known)| match its.get(name) {
            Some(its) => known.reads.is_subset(&its.reads) && known.returns <= its.returns,
            None => name == TAKING_STATE,
        })
    }
}

/// Whether the body of a class that the statement on a line calls, or of one that it derives from,
/// defines a name. Where it names no class of the program, any class may be the one.
pub fn has_field(program: &Program, name: &str, line: u32) -> bool {
    let tree = StatementTree::untraced(program);
    let own = OwnClasses::of(program);
    let at = tree.on_line(SourceLine::of_program(line));
    let nodes = at.map(|at| program.tree().within(tree.own_range(at)));
    let calls = nodes.into_iter().flatten();
    let calls = calls.filter_map(|node| node.as_expr_call().copied());
    let names = calls.filter_map(|call| callee_name(&call.func));
    let classes: Vec<_> = names.flat_map(|class| own.with_bases(class)).collect();
    defining(&tree, name).any(|statement| {
        let parent = tree.statements[statement].parent;
        let body = parent.map(|parent| tree.statements[parent].range);
        let mut called = classes.iter();
        classes.is_empty() || called.any(|class| Some(class.range()) == body)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_stores_what_its_bases_store() {
        let text = "class A:\n    def f(self):\n        self.a = 1\nclass B(lib.B, A): pass\nclass C(lib.B):\n    b = 2\n";
        let program = Program::parse(text).unwrap();
        let stores = |name: &str, class: &str| stores_in_class(&program, name, class);
        assert!(stores("a", "A") && stores("a", "B") && stores("b", "C"));
        assert!(!stores("a", "C") && !stores("b", "B") && !stores("a", "D"));
    }

    #[test]
    fn copies_are_made_by_the_same_methods_of_what_they_get() {
        let class = |giving: &str, taking: &str| {
            let text = format!(
                "class A:\n    def __getstate__(self): {giving}\n    def __setstate__(self, state): {taking}\nclass B(A): pass\n"
            );
            Program::parse(text.as_str()).unwrap()
        };
        let script = class("return dict(vars(self))", "vars(self).update(state)");
        let known = state_methods(&script, "B", None);
        let keeps = |giving: &str, taking: &str| keeps_state(&known, &class(giving, taking), "B");
        assert!(keeps("return vars(self)", "self.a = state"));
        assert!(!keeps("return {}", "self.a = state"));
        assert!(!keeps("self", "self.a = state"));
        assert!(!keeps("return vars(self)", "pass"));
        let giving = "class B:\n    def __getstate__(self): return self.a\n";
        let taking = "class B:\n    def __setstate__(self, state): self.a = state\n";
        assert!(keeps_state(&known, &Program::parse(giving).unwrap(), "B"));
        assert!(!keeps_state(&known, &Program::parse(taking).unwrap(), "B"));
        assert!(state_methods(&script, "C", None).is_empty());
    }

    #[test]
    fn an_attempt_may_store_nothing() {
        let stores = |text: &str| {
            let program = Program::parse(text).unwrap();
            stored_in_class(&program, "a", "A", &crate::testing::evidence(text))
        };
        assert!(stores("class A:\n    def f(self):\n        self.a = 1\n"));
        assert!(!stores(
            "class A:\n    def f(self):\n        self.a = 1  # not executed\n"
        ));
        for attempt in ["with suppress(E):", "try:"] {
            let end = if attempt == "try:" {
                "        except E: pass\n"
            } else {
                ""
            };
            let text = format!(
                "class A:\n    def f(self):\n        {attempt}\n            self.a = 1\n{end}"
            );
            assert!(!stores(&text), "{text}");
        }
    }

    #[test]
    fn special_methods_store_by_others() {
        let text = "class A:\n    def reset(self):\n        self.a = 1\n    def f(self):\n        self.reset()\nclass B(A):\n    def __init__(self):\n        self.f()\n    def __setstate__(self, state):\n        self.a = 2\n    def __len__(self):\n        return self.b\n";
        let program = Program::parse(text).unwrap();
        let of = |class: &str| {
            special_stores(&program, "a", class)
                .into_iter()
                .collect::<Vec<_>>()
        };
        assert_eq!(of("B"), ["__init__", "__setstate__"]);
        assert!(of("A").is_empty());
    }

    #[test]
    fn a_class_has_the_fields_of_its_bases() {
        let text = "class A:\n    a: int = 1\nclass B(A):\n    b = 2\nB(a=1)\nA(b=1)\nmake(b=1)\n";
        let program = Program::parse(text).unwrap();
        assert!(has_field(&program, "a", 5) && has_field(&program, "b", 5));
        assert!(!has_field(&program, "b", 6) && has_field(&program, "b", 7));
        assert!(!has_field(&program, "c", 7));
    }
}
