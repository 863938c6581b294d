//! The statements of a program that are a producer, for each kind of producers: those that store
//! something under a name, hand it to a method, or mention it. Goes by names.

use std::collections::BTreeSet;

use crate::{
    analysis::{
        assignments::assigned_values, calls::callee_name, names::name_words,
        statement_tree::StatementTree,
    },
    syntax::{
        AnyNodeRef, Ranged,
        ast::{Expr, ExprAttribute},
        scope::Variable,
    },
};

/// The statements that bind a name.
pub(super) fn binding(tree: &StatementTree<'_>, name: &str) -> BTreeSet<usize> {
    let named = tree.program.scopes().named(name);
    let bindings = named.flat_map(|variable| &variable.bindings);
    let statements = bindings.filter_map(|binding| tree.at(binding.statement));
    statements.collect()
}

/// The statements that are this text.
pub(super) fn standing(tree: &StatementTree<'_>, text: &str) -> BTreeSet<usize> {
    let statements = tree.statements.iter().enumerate();
    let of_text = statements.filter(|(_, statement)| tree.program.slice(statement.range) == text);
    of_text.map(|(at, _)| at).collect()
}

/// The statements that call a method with arguments, or hand it on.
pub(super) fn calling(tree: &StatementTree<'_>, name: &str) -> BTreeSet<usize> {
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

/// The statements that call what has a name, a function or a method, with as many arguments as are
/// asserted.
pub(super) fn called(tree: &StatementTree<'_>, name: &str) -> BTreeSet<usize> {
    let nodes = tree.program.tree().nodes.iter();
    let calls: Vec<_> = nodes.filter_map(|node| node.node.as_expr_call()).collect();
    let asserted = calls.iter().filter(|call| {
        let method = call.func.as_attribute_expr();
        let is_its = |of: &&ExprAttribute| callee_name(&of.value) == Some(name);
        let method = method.filter(is_its).map_or("", |method| &*method.attr);
        method.starts_with("assert_") && method.ends_with("_with")
    });
    let least = asserted.map(|call| call.arguments.len()).max();
    let of_name = calls.iter().filter(|call| {
        let is_whole = call.arguments.len() >= least.unwrap_or_default();
        callee_name(&call.func) == Some(name) && is_whole
    });
    of_name
        .filter_map(|call| tree.around(call.range()))
        .collect()
}

/// The statements that give something to a method of an attribute of a name.
pub(super) fn giving(tree: &StatementTree<'_>, name: &str) -> BTreeSet<usize> {
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
pub(super) fn naming(tree: &StatementTree<'_>, names: &[String]) -> BTreeSet<usize> {
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
pub(super) fn mentioning(tree: &StatementTree<'_>, name: &str) -> BTreeSet<usize> {
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
        // A docstring stores nothing.
        let is_alone = parent.is_some_and(|parent| parent.node.is_stmt_expr());
        let is_looked_up = is_looked_up(parent.map(|parent| parent.node));
        if is_held && !is_alone && !is_looked_up && !is_argument_of_look_up {
            found.extend(tree.around(node.node.range()));
        }
    }
    found
}

pub(super) fn is_number(key: &str) -> bool {
    key.parse::<i64>().is_ok()
}

/// The statements by which a class has something under a name.
pub(super) fn defining(tree: &StatementTree<'_>, name: &str) -> impl Iterator<Item = usize> {
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
pub(super) fn storing(tree: &StatementTree<'_>, name: &str) -> BTreeSet<usize> {
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

/// The elements of a list, tuple or set that is written out.
pub(super) fn elements(node: AnyNodeRef<'_>) -> Option<&[Expr]> {
    match node {
        AnyNodeRef::ExprList(list) => Some(&list.elts),
        AnyNodeRef::ExprTuple(tuple) => Some(&tuple.elts),
        AnyNodeRef::ExprSet(set) => Some(&set.elts),
        _ => None,
    }
}

/// Whether a node stands in a statement of a class body.
pub(super) fn is_in_class_body(tree: &StatementTree<'_>, node: AnyNodeRef<'_>) -> bool {
    let around = tree.around(node.range());
    let class = around.and_then(|around| tree.statements[around].parent);
    class.is_some_and(|class| tree.statements[class].node.is_stmt_class_def())
}
