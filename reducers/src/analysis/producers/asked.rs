//! What a failure asks for: the name that its message says is missing, the attributes that the failing
//! statement reads, and the methods by which the script should have stored it. Goes by names.

use std::collections::BTreeSet;

use super::kinds::is_number;
use crate::{
    analysis::{
        calls::callee_name,
        cpython,
        dependence_check::{ReportSite, Rest, told},
        statement_tree::StatementTree,
    },
    syntax::{
        AnyNodeRef, Program, Ranged,
        ast::{Stmt, StmtFunctionDef},
    },
    trace::evidence::SourceLine,
};

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

/// The attributes that the method for unknown ones reads on some lines: where it asks itself for
/// ever, one of them was not set.
pub fn attributes_asked_again(program: &Program, lines: &[u32]) -> BTreeSet<String> {
    let nodes = program.tree().nodes.iter();
    let methods = nodes.filter_map(|node| node.node.as_stmt_function_def().copied());
    let fallbacks = methods.filter(|method| method.name.as_str() == "__getattr__");
    let spans: Vec<_> = fallbacks
        .map(|method| program.line_of(method.start())..=program.line_of(method.end()))
        .collect();
    let lines: BTreeSet<u32> = lines.iter().copied().collect();
    let within = lines
        .iter()
        .filter(|line| spans.iter().any(|span| span.contains(line)));
    let read = within.flat_map(|&line| attributes_read(program, line));
    // Those of the language are never missing.
    read.filter(|name| !name.starts_with("__")).collect()
}

/// The class whose method for unknown attributes stands on the last of some lines.
pub fn class_that_asks(program: &Program, lines: &[u32]) -> Option<String> {
    let line = *lines.last()?;
    let nodes = program.tree().nodes.iter();
    let mut classes = nodes.filter_map(|node| node.node.as_stmt_class_def().copied());
    let asks = |method: &StmtFunctionDef| {
        let span = program.line_of(method.start())..=program.line_of(method.end());
        method.name.as_str() == "__getattr__" && span.contains(&line)
    };
    let class = classes.find(|class| {
        let mut methods = class.body.iter().filter_map(Stmt::as_function_def_stmt);
        methods.any(asks)
    });
    class.map(|class| class.name.to_string())
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

/// The name of the object that the statement on a line asserts something of by a method of the
/// object, as a mock does about its calls.
pub fn asserted_call(program: &Program, line: u32) -> Option<String> {
    let tree = StatementTree::untraced(program);
    let at = tree.on_line(SourceLine::of_program(line))?;
    let mut nodes = program.tree().within(tree.own_range(at));
    nodes.find_map(|node| {
        let method = node.as_expr_call()?.func.as_attribute_expr()?;
        let asserts = method.attr.starts_with("assert_");
        let name = callee_name(&method.value).filter(|_| asserts);
        name.map(str::to_owned)
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

/// Whether the statement on a line itself says what is missing: it reads the attribute, or holds the
/// key as a constant that the message quotes.
pub fn asks_for_missing(program: &Program, line: u32, class: &str, message: &str) -> bool {
    let tree = StatementTree::untraced(program);
    let Some(at) = tree.on_line(SourceLine::of_program(line)) else {
        return false;
    };
    if let Some(attribute) = cpython::missing_attribute(message) {
        let mut read = tree.statements[at].attributes.iter();
        return class == "AttributeError" && read.any(|(name, _)| &**name == attribute);
    }
    let mut nodes = program.tree().within(tree.own_range(at));
    nodes.any(|node| match node {
        AnyNodeRef::ExprStringLiteral(text) => {
            let text = text.value.to_str();
            !text.is_empty()
                && ['\'', '"', '`']
                    .iter()
                    .any(|mark| message.contains(&format!("{mark}{text}{mark}")))
        }
        AnyNodeRef::ExprNumberLiteral(number) => {
            class == "KeyError" && program.slice(number.range()) == message.trim()
        }
        _ => false,
    })
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
