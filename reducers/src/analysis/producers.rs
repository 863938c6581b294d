//! The code that stored the value whose absence a failure reports. If an attribute or a key is
//! missing although the script stored it, the bug is that it was lost. Without the store, its
//! absence would be expected. Goes by names, through any alias. Called by the judge; proposes
//! nothing.

mod in_class;

use std::collections::BTreeSet;

pub use in_class::stores_in_class;
use serde::{Deserialize, Serialize};

use crate::{
    analysis::{
        assignments::assigned_values,
        cpython,
        dependence_check::{ReportSite, Rest, told},
        names::name_words,
        statement_tree::StatementTree,
    },
    syntax::{AnyNodeRef, Program, Ranged, ast::Expr, scope::Variable},
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
    /// One that stores something under this key, or mentions it where it is not looked up.
    Key(String),
    /// One that calls this method with something to store, or hands it on to be called.
    Call(String),
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
            | Self::Key(name)
            | Self::Call(name)
            | Self::Receiver(name)
            | Self::Line(name) => name,
            Self::Names(names) => names.first().map_or("", String::as_str),
        }
    }
}

/// The attributes that the statement on a line reads, and those that its variables were read from.
pub fn attributes_read(program: &Program, line: u32) -> Vec<String> {
    let tree = StatementTree::untraced(program);
    let Some(at) = tree.on_line(SourceLine::of_program(line)) else {
        return Vec::new();
    };
    let statement = &tree.statements[at];
    let variables = statement.reads.iter();
    let bindings =
        variables.flat_map(|(variable, _)| &program.scopes().variables[*variable].bindings);
    let assigned = bindings
        .filter_map(|binding| tree.at(binding.statement))
        .map(|at| &tree.statements[at])
        .filter(|statement| statement.node.is_stmt_assign());
    let read = std::iter::once(statement)
        .chain(assigned)
        .flat_map(|statement| &statement.attributes);
    read.map(|(name, _)| name.to_string()).collect()
}

/// The attributes for whose presence a report asks: `assert hasattr(x, "a")`.
pub fn attributes_asked_for(program: &Program, report_site: &ReportSite) -> BTreeSet<String> {
    const ASKING: [&str; 2] = ["hasattr", "getattr"];
    let found = told(program, report_site, None, &|tree, nodes, frames| {
        let conditions = Rest::of(tree, nodes).conditions_of(&frames);
        let reporting = frames.last().copied();
        let statements = conditions.into_iter().chain(reporting);
        let calls = statements
            .flat_map(|statement| &nodes[statement])
            .filter_map(AnyNodeRef::as_expr_call);
        let asked = calls.filter_map(|call| {
            let function = call.func.as_name_expr()?;
            let name = call
                .arguments
                .find_positional(1)?
                .as_string_literal_expr()?;
            let asks = ASKING.contains(&function.id.as_str());
            asks.then(|| name.value.to_str().to_owned())
        });
        asked.collect::<Vec<_>>()
    });
    found.into_iter().flatten().collect()
}

/// The method by which a program adds to the container in which the statement on a line looks an
/// element up.
pub fn added_to(program: &Program, line: u32) -> Option<String> {
    const ADDING: [&str; 3] = ["append", "extend", "insert"];
    let tree = StatementTree::untraced(program);
    let at = tree.on_line(SourceLine::of_program(line))?;
    let nodes = program.tree().within(tree.own_range(at));
    let looked_up: BTreeSet<&str> = nodes
        .filter_map(|node| node.as_expr_subscript().copied())
        .map(|subscript| program.slice(subscript.value.range()))
        .collect();
    let mut nodes = program.tree().nodes.iter();
    nodes.find_map(|node| {
        let method = node.node.as_expr_call()?.func.as_attribute_expr()?;
        let adds = ADDING.contains(&method.attr.as_str())
            && looked_up.contains(program.slice(method.value.range()));
        adds.then(|| method.attr.to_string())
    })
}

/// The name that a failure reports as missing: of an attribute, or a key that is a text or a whole
/// number. What a value that is `None` lacks was never stored under that name.
pub fn missing_name(class: &str, message: &str) -> Option<String> {
    match class {
        "AttributeError" if !message.starts_with("'NoneType'") => {
            cpython::missing_attribute(message).map(str::to_owned)
        }
        "KeyError" => cpython::quoted(message)
            .filter(|name| message.trim() == format!("'{name}'"))
            .or_else(|| Some(message.trim()).filter(|key| is_number(key)))
            .map(str::to_owned),
        _ => None,
    }
}

/// The names that a message quotes.
pub fn quoted_names(message: &str) -> Vec<String> {
    let is_name = |text: &str| {
        let mut chars = text.chars();
        chars
            .next()
            .is_some_and(|first| first.is_alphabetic() || first == '_')
            && chars.all(|char| char.is_alphanumeric() || char == '_')
    };
    let quoted = ['\'', '"', '`'].map(|mark| message.split(mark).skip(1).step_by(2));
    let names = quoted.into_iter().flatten().filter(|text| is_name(text));
    names.map(str::to_owned).collect()
}

/// The methods that store what a method takes out, if a failure says that nothing is there.
pub fn counterparts(class: &str, method: &str) -> &'static [&'static str] {
    match (class, method) {
        ("LookupError", "get") => &["set"],
        ("Empty", "get" | "get_nowait") => &["put", "put_nowait"],
        _ => &[],
    }
}

/// The class of the object that lacks an attribute.
pub fn owner_class(message: &str) -> Option<&str> {
    message
        .starts_with('\'')
        .then(|| cpython::quoted(message))?
}

/// Whether an executed statement of a program is such a producer. Without evidence every statement
/// counts as executed.
pub fn produces(program: &Program, producer: &Producer, evidence: Option<&Evidence>) -> bool {
    let tree = evidence.map_or_else(
        || StatementTree::untraced(program),
        |evidence| StatementTree::of(program, evidence),
    );
    let mut producing = producing(&tree, producer).into_iter();
    producing
        .any(|statement| tree.statements[statement].is_executed || is_handed_on(&tree, statement))
}

/// Whether what fails on these lines of a program, outermost first, depends on such a producer of a
/// value. A call that stores one may do so for another thread.
pub fn reaches(program: &Program, producer: &Producer, frames: &[u32]) -> bool {
    let is_value = matches!(
        producer,
        Producer::Store(_) | Producer::Value(_) | Producer::Key(_)
    );
    let site = ReportSite::Raised(frames.to_vec());
    let found = told(program, &site, None, &|tree, nodes, frames| {
        let producing = producing(tree, producer);
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
        Producer::Key(name) => &storing(tree, name) | &mentioning(tree, name),
        Producer::Call(name) => calling(tree, name),
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

/// The elements of a list, tuple or set that is written out.
fn elements(node: AnyNodeRef<'_>) -> Option<&[Expr]> {
    match node {
        AnyNodeRef::ExprList(list) => Some(&list.elts),
        AnyNodeRef::ExprTuple(tuple) => Some(&tuple.elts),
        AnyNodeRef::ExprSet(set) => Some(&set.elts),
        _ => None,
    }
}

/// Whether a node stands in a statement of a class body.
fn is_in_class_body(tree: &StatementTree<'_>, node: AnyNodeRef<'_>) -> bool {
    let around = tree.around(node.range());
    let class = around.and_then(|around| tree.statements[around].parent);
    class.is_some_and(|class| tree.statements[class].node.is_stmt_class_def())
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

/// The statements that are this text.
fn standing(tree: &StatementTree<'_>, text: &str) -> BTreeSet<usize> {
    let statements = tree.statements.iter().enumerate();
    let of_text = statements.filter(|(_, statement)| tree.program.slice(statement.range) == text);
    of_text.map(|(at, _)| at).collect()
}

/// The statements that call a method with arguments, or hand it on.
fn calling(tree: &StatementTree<'_>, name: &str) -> BTreeSet<usize> {
    let nodes = &tree.program.tree().nodes;
    let is_call = |parent: Option<AnyNodeRef<'_>>, method: AnyNodeRef<'_>| match parent {
        Some(AnyNodeRef::ExprCall(call)) if call.func.range() == method.range() => {
            !call.arguments.is_empty()
        }
        _ => true,
    };
    nodes
        .iter()
        .filter(|found| {
            let method = found.node.as_expr_attribute();
            method.is_some_and(|method| method.attr.as_str() == name && method.ctx.is_load())
        })
        .filter(|found| is_call(found.parent.map(|at| nodes[at as usize].node), found.node))
        .filter_map(|found| tree.around(found.node.range()))
        .collect()
}

/// The statements that give something to a method of an attribute of a name.
fn giving(tree: &StatementTree<'_>, name: &str) -> BTreeSet<usize> {
    let nodes = tree.program.tree().nodes.iter();
    let calls = nodes.filter_map(|node| node.node.as_expr_call());
    let giving = calls.filter(|call| {
        let method = call.func.as_attribute_expr();
        let receiver = method.and_then(|method| method.value.as_attribute_expr());
        receiver.is_some_and(|its| its.attr.as_str() == name) && !call.arguments.is_empty()
    });
    giving
        .filter_map(|call| tree.around(call.range()))
        .collect()
}

/// The statements that name one of these: as a variable, an attribute, or a keyword that is not
/// false.
fn naming(tree: &StatementTree<'_>, names: &[String]) -> BTreeSet<usize> {
    let is_one = |name: &str| names.iter().any(|its| its == name);
    let names_one = |node: &AnyNodeRef<'_>| match node {
        AnyNodeRef::ExprName(name) => is_one(&name.id),
        AnyNodeRef::ExprAttribute(attribute) => is_one(&attribute.attr),
        AnyNodeRef::Keyword(keyword) => {
            let is_false = keyword
                .value
                .as_boolean_literal_expr()
                .is_some_and(|literal| !literal.value);
            !is_false && keyword.arg.as_ref().is_some_and(|arg| is_one(arg))
        }
        _ => false,
    };
    let nodes = tree.program.tree().nodes.iter().map(|node| node.node);
    nodes
        .filter(names_one)
        .filter_map(|node| tree.around(node.range()))
        .collect()
}

/// The statements with a text that is a key, or holds it as a word, where it is not looked up.
fn mentioning(tree: &StatementTree<'_>, name: &str) -> BTreeSet<usize> {
    const LOOKING: [&str; 5] = ["get", "pop", "getattr", "hasattr", "index"];
    if is_number(name) {
        return BTreeSet::new();
    }
    let nodes = &tree.program.tree().nodes;
    let is_looked_up = |parent: Option<AnyNodeRef<'_>>| match parent {
        Some(AnyNodeRef::ExprSubscript(item)) => item.ctx.is_load(),
        Some(AnyNodeRef::ExprCompare(_)) => true,
        _ => false,
    };
    let holds = |text: &str| {
        let mut words = name_words(text);
        text == name || words.any(|word| word == name)
    };
    let mut found = BTreeSet::new();
    for node in nodes {
        let parent = node.parent.map(|parent| nodes[parent as usize]);
        let is_held = match node.node {
            AnyNodeRef::ExprStringLiteral(text) => holds(text.value.to_str()),
            AnyNodeRef::ExprBytesLiteral(bytes) => {
                let bytes: Vec<u8> = bytes.value.bytes().collect();
                holds(&String::from_utf8_lossy(&bytes))
            }
            _ => false,
        };
        let call = parent
            .and_then(|parent| parent.parent)
            .map(|at| nodes[at as usize].node);
        let is_argument_of_look_up = match call {
            Some(AnyNodeRef::ExprCall(call)) => match &*call.func {
                Expr::Name(name) => LOOKING.contains(&name.id.as_str()),
                Expr::Attribute(method) => LOOKING.contains(&method.attr.as_str()),
                _ => false,
            },
            _ => false,
        };
        if is_held && !is_looked_up(parent.map(|parent| parent.node)) && !is_argument_of_look_up {
            found.extend(tree.around(node.node.range()));
        }
    }
    found
}

fn is_number(key: &str) -> bool {
    key.parse::<i64>().is_ok()
}

/// The statements by which a class has something under a name.
fn defining(tree: &StatementTree<'_>, name: &str) -> impl Iterator<Item = usize> {
    let statements = tree.statements.iter().enumerate();
    let of_classes = statements.filter(|(_, statement)| {
        let around = statement.parent.map(|parent| tree.statements[parent].node);
        around.is_some_and(|around| around.is_stmt_class_def())
    });
    let defining = of_classes.filter(move |(_, statement)| match statement.node {
        AnyNodeRef::StmtFunctionDef(def) => def.name.as_str() == name,
        _ => (statement.target().and_then(Expr::as_name_expr)).is_some_and(|its| its.id == name),
    });
    defining.map(|(at, _)| at)
}

/// Whether a statement stores something in an object that nothing else can reach: in a new one, or
/// one whose variable is used in no other statement.
fn is_lost_at_once(tree: &StatementTree<'_>, statement: usize) -> bool {
    let target = tree.statements[statement].target();
    let Some(attribute) = target.and_then(Expr::as_attribute_expr) else {
        return false;
    };
    let program = tree.program;
    let is_new = |value: &Expr| {
        let call = value.as_call_expr();
        let called = call.and_then(|call| program.slice(call.func.range()).rsplit('.').next());
        called.is_some_and(|name| name.starts_with(char::is_uppercase))
    };
    let Expr::Name(object) = &*attribute.value else {
        return is_new(&attribute.value);
    };
    let mut variables = program.scopes().variables.iter();
    let within = tree.statements[statement].range;
    let is_of_object = |variable: &&Variable| {
        let mut uses = variable.uses.iter();
        uses.any(|of_it| of_it.range == object.range)
    };
    let is_used_here = |variable: &Variable| {
        let mut uses = variable.uses.iter();
        uses.all(|of_it| within.contains_range(of_it.range))
    };
    let values = assigned_values(program, &object.id).unwrap_or_default();
    !values.is_empty()
        && values.into_iter().all(is_new)
        && variables.find(is_of_object).is_some_and(is_used_here)
}

/// The statements that store something under a name.
fn storing(tree: &StatementTree<'_>, name: &str) -> BTreeSet<usize> {
    let program = tree.program;
    let mut storing: BTreeSet<usize> = tree
        .stores
        .get(name)
        .into_iter()
        .flatten()
        .copied()
        .filter(|&statement| !is_lost_at_once(tree, statement))
        .collect();
    storing.extend(defining(tree, name));
    let is_name = |expr: &Expr| match expr {
        Expr::StringLiteral(text) => text.value.to_str() == name,
        Expr::NumberLiteral(_) => program.slice(expr.range()) == name,
        _ => false,
    };
    for node in &program.tree().nodes {
        let holds = match node.node {
            AnyNodeRef::ExprSubscript(item) => item.ctx.is_store() && is_name(&item.slice),
            AnyNodeRef::ExprDict(dict) => dict
                .items
                .iter()
                .any(|item| item.key.as_ref().is_some_and(is_name)),
            AnyNodeRef::Keyword(keyword) => {
                keyword.arg.as_ref().is_some_and(|arg| arg.as_str() == name)
            }
            // What a class lists is declared, and stored elsewhere.
            node => elements(node).is_some_and(|elements| {
                elements.iter().any(is_name) && !is_in_class_body(tree, node)
            }),
        };
        if holds {
            storing.extend(tree.around(node.node.range()));
        }
    }
    storing
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
