//! The code that stored the value whose absence a failure reports. If an attribute or a key is
//! missing although the script stored it, the bug is that it was lost. Without the store, its
//! absence would be expected. Goes by names, through any alias. Called by the judge; proposes
//! nothing.

mod asked;
mod in_class;
mod kinds;

use std::collections::BTreeSet;

pub use asked::{
    added_to, asks_for_missing, asserted_call, attributes_asked_again, attributes_asked_for,
    attributes_read, class_that_asks, counterparts, missing_name, owner_class, quoted_names,
};
pub use in_class::{
    StateMethod, has_field, keeps_state, special_stores, state_methods, stored_in_class,
    stores_in_class,
};
use kinds::{
    binding, called, calling, defining, elements, giving, is_in_class_body, mentioning, naming,
    standing, storing,
};
use serde::{Deserialize, Serialize};

use crate::{
    analysis::{
        dependence_check::{ReportSite, Rest, told},
        names::name_words,
        statement_tree::StatementTree,
    },
    syntax::{AnyNodeRef, Program, Ranged, TextSize, ast::Expr},
    trace::evidence::{Evidence, SourceLine},
};

/// A statement that must have run for a value to be there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Producer {
    /// One that stores something under this name.
    Store(String),
    /// One that stores something other than `None` under this name.
    Value(String),
    /// One that binds this name.
    Binding(String),
    /// One of the body of a class that defines this name.
    Field(String),
    /// One that stores something under this key, or mentions it where it is not looked up.
    Key(String),
    /// One that calls this method with something to store, or hands it on to be called.
    Call(String),
    /// One that calls what has this name.
    Called(String),
    /// One that gives something to a method of an attribute of this name.
    Receiver(String),
    /// One that names one of these.
    Names(Vec<String>),
    /// The one on a line of this text.
    Line(String),
}

impl Producer {
    /// The name under which it stores, or by which it is called.
    pub fn name(&self) -> &str {
        match self {
            Self::Store(name)
            | Self::Value(name)
            | Self::Binding(name)
            | Self::Field(name)
            | Self::Key(name)
            | Self::Call(name)
            | Self::Called(name)
            | Self::Receiver(name)
            | Self::Line(name) => name,
            Self::Names(names) => names.first().map_or("", String::as_str),
        }
    }
}

/// Whether an executed statement of a program is such a producer. Without evidence every statement
/// counts as executed.
pub fn produces(program: &Program, producer: &Producer, evidence: Option<&Evidence>) -> bool {
    produces_before(program, producer, &[], evidence)
}

/// Whether an executed statement of a program is such a producer, other than by asking for what is
/// missing where the program fails, given the lines of its frames, outermost first.
pub fn produces_before(
    program: &Program,
    producer: &Producer,
    frames: &[u32],
    evidence: Option<&Evidence>,
) -> bool {
    let tree = evidence.map_or_else(
        || StatementTree::untraced(program),
        |evidence| StatementTree::of(program, evidence),
    );
    let failing = frames.last().map(|&line| SourceLine::of_program(line));
    let failing = failing.and_then(|line| tree.on_line(line));
    let mut producing = producing(&tree, producer);
    producing.retain(|&at| Some(at) != failing || !only_asks(&tree, producer, at));
    let mut producing = producing.into_iter();
    producing
        .any(|statement| tree.statements[statement].is_executed || is_handed_on(&tree, statement))
}

/// Whether a statement does nothing with a key but give it to calls, or reads the attribute that it
/// stores: where these fail for lack of it, they ask for it.
fn only_asks(tree: &StatementTree<'_>, producer: &Producer, statement: usize) -> bool {
    let name = match producer {
        Producer::Key(name) => name,
        Producer::Store(name) => {
            let mut read = tree.statements[statement].attributes.iter();
            return read.any(|(attribute, _)| attribute == name);
        }
        _ => return false,
    };
    let range = tree.own_range(statement);
    let nodes = tree.program.tree().nodes.iter().map(|node| node.node);
    let nodes: Vec<AnyNodeRef<'_>> = nodes
        .filter(|node| range.contains_range(node.range()))
        .collect();
    let calls = nodes.iter().filter_map(AnyNodeRef::as_expr_call);
    let arguments = calls.flat_map(|call| &call.arguments.args);
    let given: BTreeSet<TextSize> = arguments.map(Ranged::start).collect();
    let mut texts = nodes.iter().filter_map(AnyNodeRef::as_expr_string_literal);
    !storing(tree, name).contains(&statement)
        && texts.all(|text| {
            let value = text.value.to_str();
            given.contains(&text.range.start()) && value == name
                || name_words(value).all(|word| word != name)
        })
}

/// Whether a function that an executed statement of a program calls, or hands on, holds such a
/// producer, besides those of the frames on these lines.
pub fn is_to_produce(
    program: &Program,
    producer: &Producer,
    frames: &[u32],
    evidence: Option<&Evidence>,
) -> bool {
    let tree = evidence.map_or_else(
        || StatementTree::untraced(program),
        |evidence| StatementTree::of(program, evidence),
    );
    let frames = frames.iter();
    let failing = frames.filter_map(|&line| tree.on_line(SourceLine::of_program(line)));
    let failing: Vec<usize> = failing.filter_map(|at| tree.function_of(at)).collect();
    producing(&tree, producer).into_iter().any(|statement| {
        let function = tree.function_of(statement);
        let function = function.filter(|function| !failing.contains(function));
        function.is_some_and(|function| is_in_use(&tree, function))
    })
}

/// Whether an executed statement names a function, or a method as an attribute.
fn is_in_use(tree: &StatementTree<'_>, function: usize) -> bool {
    let Some(def) = tree.statements[function].node.as_stmt_function_def() else {
        return false;
    };
    let is_executed = |at: &usize| tree.statements[*at].is_executed;
    let parent = tree.statements[function].parent;
    if parent.is_some_and(|parent| tree.statements[parent].node.is_stmt_class_def()) {
        return tree.reads_of(&def.name.id).any(|(at, _)| is_executed(&at));
    }
    let own = tree.program.scopes().named(&def.name.id);
    let uses = own.flat_map(|variable| &variable.uses);
    let outer = uses.filter(|of_it| !def.range.contains_range(of_it.range));
    let mut statements = outer.filter_map(|of_it| tree.at(of_it.statement));
    statements.any(|at| is_executed(&at))
}

/// Whether what fails on these lines of a program, outermost first, depends on such a producer of a
/// value. A call that stores one may do so for another thread.
pub fn reaches(program: &Program, producer: &Producer, frames: &[u32]) -> bool {
    let is_value = matches!(
        producer,
        Producer::Store(_) | Producer::Value(_) | Producer::Key(_) | Producer::Names(_)
    );
    let site = ReportSite::Raised(frames.to_vec());
    let found = told(program, &site, None, &|tree, nodes, frames| {
        let mut producing = producing(tree, producer);
        let failing = frames.last().copied();
        producing.retain(|&at| Some(at) != failing || !only_asks(tree, producer, at));
        let rest = Rest::of(tree, nodes).of_frames(frames);
        let mut statements = rest.statements();
        statements.any(|statement| producing.contains(&statement))
    });
    is_value && found.contains(&true)
}

/// The statements that are such a producer.
fn producing(tree: &StatementTree<'_>, producer: &Producer) -> BTreeSet<usize> {
    match producer {
        Producer::Store(name) => storing(tree, name),
        Producer::Value(name) => {
            let is_none = |at: &usize| {
                let value = tree.statements[*at].value();
                value.is_some_and(Expr::is_none_literal_expr)
            };
            let mut storing = storing(tree, name);
            storing.retain(|at| !is_none(at));
            storing
        }
        Producer::Binding(name) => binding(tree, name),
        Producer::Field(name) => defining(tree, name).collect(),
        Producer::Key(name) => &storing(tree, name) | &mentioning(tree, name),
        Producer::Call(name) => calling(tree, name),
        Producer::Called(name) => called(tree, name),
        Producer::Receiver(name) => giving(tree, name),
        Producer::Names(names) => naming(tree, names),
        Producer::Line(text) => standing(tree, text),
    }
}

/// Whether a class of the program lists the attribute of a producer in its body, as in `_fields =
/// ["a"]`: by that its base class knows what to keep.
pub fn declares(program: &Program, producer: &Producer) -> bool {
    let Producer::Store(name) = producer else {
        return false;
    };
    let tree = StatementTree::untraced(program);
    let is_name = |expr: &Expr| {
        let text = expr.as_string_literal_expr();
        text.is_some_and(|text| text.value.to_str() == name)
    };
    let mut nodes = program.tree().nodes.iter();
    nodes.any(|node| {
        let holds = elements(node.node).is_some_and(|elements| elements.iter().any(is_name));
        holds && is_in_class_body(&tree, node.node)
    })
}

/// Whether a statement stands in a function that an executed statement hands on, to be called where
/// no trace sees it: in another process, or by a library that never does.
fn is_handed_on(tree: &StatementTree<'_>, statement: usize) -> bool {
    let function = tree
        .function_of(statement)
        .and_then(|function| tree.statements[function].node.as_stmt_function_def());
    let Some(function) = function else {
        return false;
    };
    let nodes = &tree.program.tree().nodes;
    nodes.iter().any(|found| {
        let is_name = found
            .node
            .as_expr_name()
            .is_some_and(|name| name.ctx.is_load() && name.id == function.name.id);
        let parent = found.parent.map(|parent| nodes[parent as usize].node);
        let is_called = matches!(parent, Some(AnyNodeRef::ExprCall(call))
            if call.func.range() == found.node.range());
        let around = tree.around(found.node.range());
        is_name && !is_called && around.is_some_and(|around| tree.statements[around].is_executed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_missing_name_is_that_of_an_attribute_or_a_key() {
        let of = |class: &str, message: &str| missing_name(class, message);
        assert_eq!(
            of("AttributeError", "'Series' object has no attribute 'unit'").as_deref(),
            Some("unit")
        );
        assert_eq!(of("KeyError", "'b'").as_deref(), Some("b"));
        assert_eq!(of("KeyError", "7").as_deref(), Some("7"));
        assert_eq!(of("KeyError", "\"['b'] not in index\""), None);
        assert_eq!(
            of("AttributeError", "'NoneType' object has no attribute 'x'"),
            None
        );
        assert_eq!(owner_class("'Series' object has no"), Some("Series"));
    }

    #[test]
    fn a_statement_asks_for_what_it_names() {
        let program = Program::parse(
            "from ledger import layer\ng = layer.build()\nassert layer.find(g, \"broad-join\")\n\
             g.total\ng.pick(\n    7)\n",
        )
        .unwrap();
        let asks =
            |line, class: &str, message: &str| asks_for_missing(&program, line, class, message);
        assert!(asks(
            3,
            "KeyError",
            "\"No layer starts with 'broad-join': ['merge-1']\""
        ));
        assert!(!asks(
            3,
            "KeyError",
            "\"No layer starts with 'join': ['merge-1']\""
        ));
        assert!(!asks(2, "KeyError", "'broad-join'"));
        assert!(asks(
            4,
            "AttributeError",
            "'Graph' object has no attribute 'total'"
        ));
        assert!(!asks(
            4,
            "AttributeError",
            "'Graph' object has no attribute 'totals'"
        ));
        assert!(asks(5, "KeyError", "7"));
        assert!(!asks(5, "KeyError", "17"));
    }

    #[test]
    fn names_are_quoted_in_all_ways() {
        assert_eq!(
            quoted_names("'form' is undefined, but `x_1` and \"y\" are; 'a b', '7' are no names"),
            ["form", "y", "x_1"]
        );
        assert!(quoted_names("it's its").is_empty());
    }

    #[test]
    fn a_store_is_found_however_it_is_written() {
        let store = Producer::Store("a".to_owned());
        let stored = |text: &str| produces(&Program::parse(text).unwrap(), &store, None);
        for text in [
            "x.y.a = 1\n",
            "x = X()\nx.a = 1\nuse(x)\n",
            "for x in X():\n    x.a = 1\n",
            "setattr(x, 'a', 1)\n",
            "x['a'] = 1\n",
            "f({'a': 1})\n",
            "f(a=1)\n",
            "f(columns=['a', 'b'])\n",
            "for x.a in y: pass\n",
            "class A:\n    a = 1\n",
            "class A:\n    @property\n    def a(self): pass\n",
        ] {
            assert!(stored(text), "{text}");
        }
        for text in [
            "x.a\n",
            "X().a = 1\nX().a\n",
            "x = X()\nx.a = 1\nX().a\n",
            "x['a']\n",
            "a = 1\n",
            "def a(): pass\n",
            "f('a')\n",
            "x['b'] = 'a'\n",
            "class A(B):\n    kept = ['a']\n",
        ] {
            assert!(!stored(text), "{text}");
        }
    }

    #[test]
    fn attributes_are_given_something() {
        let receiver = Producer::Receiver("a".to_owned());
        let gives = |text: &str| produces(&Program::parse(text).unwrap(), &receiver, None);
        assert!(gives("x.a.put(1)\n"));
        assert!(!gives("x.a.get()\nx.a\na.put(1)\n"));
    }

    #[test]
    fn a_failure_depends_on_what_reaches_it() {
        let store = Producer::Store("a".to_owned());
        let reaches = |text: &str| {
            let lines = text.lines().count() as u32;
            reaches(&Program::parse(text).unwrap(), &store, &[lines])
        };
        assert!(reaches("x = f(['a'])\nx.g('a')\n") && reaches("f(a=1).g('a')\n"));
        assert!(!reaches("y = ['a']\nx = f()\nx.g('a')\n"));
    }

    #[test]
    fn a_function_in_use_may_come_to_it() {
        let key = Producer::Key("a".to_owned());
        let comes = |text: &str, lines: &[u32]| {
            let hits = lines.iter();
            let evidence = Evidence {
                hits: hits
                    .map(|line| (SourceLine::of_program(*line), 1))
                    .collect(),
                ..Evidence::default()
            };
            let program = Program::parse(text).unwrap();
            is_to_produce(&program, &key, &[4], Some(&evidence))
        };
        let text = "async def f(x):\n    x['a'] = 1\ng(f({}))\n";
        assert!(comes(text, &[1, 3]) && !comes(text, &[1]));
        let method = "class A:\n    def f(self, x):\n        x['a'] = 1\ng(A().f)\n";
        assert!(comes(method, &[1, 2, 4]) && !comes(method, &[1, 2]));
        assert!(!comes("def f(x):\n    x['a'] = 1\ng.f()\n", &[1, 3]));
        let failing = "def f(x):\n    y = 1\n    if y:\n        x['a']\n    x['a'] = 1\nf({})\n";
        assert!(!comes(failing, &[1, 2, 3, 4, 6]));
    }

    #[test]
    fn what_the_fallback_asks_for_is_what_was_not_set() {
        let text = "class A:\n    def __getattr__(self, name):\n        return super().__getattr__(name) or self.f[name]\n    def g(self):\n        self.h\n";
        let program = Program::parse(text).unwrap();
        let asked = attributes_asked_again(&program, &[5, 3, 3]);
        assert_eq!(asked.into_iter().collect::<Vec<_>>(), ["f"]);
        assert_eq!(class_that_asks(&program, &[5, 3]).as_deref(), Some("A"));
        assert_eq!(class_that_asks(&program, &[3, 5]), None);
    }

    #[test]
    fn a_report_asks_for_attributes() {
        let asked = |text: &str| {
            let program = Program::parse(text).unwrap();
            attributes_asked_for(&program, &ReportSite::Raised(vec![3]))
        };
        let a = ["a".to_owned()].into();
        assert_eq!(asked("x.a = 1\nf(x)\nassert hasattr(x, 'a')\n"), a);
        assert_eq!(asked("x.a = 1\nif getattr(x, 'a', 0):\n    raise E\n"), a);
        assert!(asked("x.a = 1\nhasattr(x, 'a')\nassert y\n").is_empty());
    }

    #[test]
    fn classes_declare_what_is_to_be_kept() {
        let store = Producer::Store("a".to_owned());
        let declared = |text: &str| declares(&Program::parse(text).unwrap(), &store);
        assert!(declared("class A(B):\n    _kept = X + ['a']\n"));
        assert!(!declared(
            "class A(B):\n    def f(self):\n        return ['a']\nx = ['a']\n"
        ));
    }

    #[test]
    fn a_name_is_bound_in_any_way() {
        let binding = Producer::Binding("A".to_owned());
        let bound = |text: &str| produces(&Program::parse(text).unwrap(), &binding, None);
        assert!(bound("class B[A]:\n    x: A\n") && bound("if 0:\n    import A\n"));
        assert!(!bound("class B:\n    x: A\nB.A = 1\n"));
    }

    #[test]
    fn none_is_no_value() {
        let value = Producer::Value("a".to_owned());
        let stored = |text: &str| produces(&Program::parse(text).unwrap(), &value, None);
        assert!(stored("x.a = y\n") && stored("x.a = None\nx.a = 1\n"));
        assert!(!stored("x.a = None\n"));
    }

    #[test]
    fn a_store_that_is_not_executed_stores_nothing() {
        let text = "def f(x):\n    x.a = 1\nf(y)\n";
        let program = Program::parse(text).unwrap();
        let executed = |lines: &[u32]| Evidence {
            hits: lines
                .iter()
                .map(|line| (SourceLine::of_program(*line), 1))
                .collect(),
            ..Evidence::default()
        };
        let store = Producer::Store("a".to_owned());
        assert!(produces(&program, &store, Some(&executed(&[1, 2, 3]))));
        assert!(!produces(&program, &store, Some(&executed(&[1, 3]))));
    }

    #[test]
    fn a_key_is_mentioned_where_it_is_not_looked_up() {
        let mentioned = |key: &str, text: &str| {
            let key = Producer::Key(key.to_owned());
            produces(&Program::parse(text).unwrap(), &key, None)
        };
        for text in [
            "f('a')\n",
            "x = b'id,a'\n",
            "x = '[s]\\na = 1'\n",
            "x['a'] = 1\n",
        ] {
            assert!(mentioned("a", text), "{text}");
        }
        for text in [
            "x['a']\n",
            "x.get('a')\n",
            "'a' in x\n",
            "f('ab')\n",
            "a = 1\n",
        ] {
            assert!(!mentioned("a", text), "{text}");
        }
        assert!(mentioned("2", "f({2: 'x'})\n"));
        assert!(!mentioned("2", "f(2)\nx[2]\n'2'\n"));
    }

    #[test]
    fn to_ask_for_a_key_where_it_is_missing_is_not_to_store_it() {
        let key = Producer::Key("a".to_owned());
        let stored = |text: &str| {
            let program = Program::parse(text).unwrap();
            let lines = text.lines().count() as u32;
            produces_before(&program, &key, &[lines], None)
        };
        assert!(!stored("x = f('b')\nx.getint('b', 'a')\n"));
        assert!(stored("x = f('[b]\\na = 1')\nx.getint('b', 'a')\n"));
        assert!(stored("f('$a').g({'a': 1})\n") && stored("f('x $a').g('a')\n"));
    }

    #[test]
    fn a_store_in_a_function_that_is_handed_on_counts() {
        let program = Program::parse("def f():\n    q.put(1)\nrun(f)\n").unwrap();
        let evidence = |lines: &[u32]| Evidence {
            hits: lines
                .iter()
                .map(|line| (SourceLine::of_program(*line), 1))
                .collect(),
            ..Evidence::default()
        };
        let call = Producer::Call("put".to_owned());
        assert!(produces(&program, &call, Some(&evidence(&[1, 3]))));
        assert!(!produces(&program, &call, Some(&evidence(&[1]))));
    }

    #[test]
    fn one_of_several_names_is_enough_and_false_is_none() {
        let names = Producer::Names(vec!["requires_grad".to_owned(), "nn".to_owned()]);
        let named = |text: &str| produces(&Program::parse(text).unwrap(), &names, None);
        assert!(
            named("f(requires_grad=True)\n") && named("x.requires_grad = y\n") && named("nn.L()\n")
        );
        assert!(!named("f(requires_grad=False)\n") && !named("f(x)\n"));
    }

    #[test]
    fn a_method_stores_what_it_is_given() {
        let call = Producer::Call("save".to_owned());
        let stored = |text: &str| produces(&Program::parse(text).unwrap(), &call, None);
        assert!(stored("def f(ctx, x):\n    ctx.save(x)\n"));
        assert!(stored("run(target=ctx.save)\n"));
        assert!(!stored("ctx.save()\nsave(x)\nctx.saved(x)\nctx.save = 1\n"));
        let line = Producer::Line("return g(x)".to_owned());
        assert!(produces(
            &Program::parse("def f(x):\n    return g(x)\n").unwrap(),
            &line,
            None
        ));
        let program = Program::parse("def f(ctx):\n    x, = ctx.saved\n").unwrap();
        assert_eq!(attributes_read(&program, 2), ["saved"]);
    }
}
