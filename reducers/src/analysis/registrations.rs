//! The classes that a program makes known to packages, as `sqlite3.register_adapter(Price, str)`
//! does: by statements that do nothing but give a function of a package one of its classes. Who
//! looks such a class up later, or one that derives from it, must find it still. And the classes for
//! which it registers functions on others, as `functools.singledispatch` has it. Goes by names.
//! Called by the judge; proposes nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    analysis::{calls::callee_name, names::ImportedNames, own_classes::OwnClasses},
    syntax::{
        AnyNodeRef, Program,
        ast::{Expr, Number},
    },
    trace::evidence::Evidence,
};

/// The classes for which functions are registered on a function, by the names of both.
pub type Handlers = BTreeSet<(String, String)>;

/// The classes that functions are given, with those that derive from them, by the path of the
/// function.
pub type Registrations = BTreeMap<String, BTreeSet<String>>;

/// The classes that a program makes known to packages.
pub fn registrations(program: &Program) -> Registrations {
    let classes = OwnClasses::of(program);
    let names = classes_of(program);
    let mut found = Registrations::new();
    for (path, class) in given(program) {
        let derived = names.iter().filter(|name| {
            let mut bases = classes.with_bases(name).into_iter();
            bases.any(|base| base.name.as_str() == class)
        });
        let derived = derived.map(|name| (*name).to_owned());
        found.entry(path).or_default().extend(derived);
    }
    found
}

/// Whether the classes that a candidate still has, or those from which they derive, are known to
/// those to which they are in the script.
pub fn are_registered(known: &Registrations, candidate: &Program) -> bool {
    known.is_empty() || {
        let (given, classes) = (given(candidate), OwnClasses::of(candidate));
        let is_known = |path: &String, class: &str| {
            let bases = classes.with_bases(class);
            given.iter().any(|(to, class)| {
                let mut bases = bases.iter();
                to == path && bases.any(|base| base.name.as_str() == *class)
            })
        };
        let names = classes_of(candidate);
        known.iter().all(|(path, classes)| {
            let mut classes = classes.iter();
            classes.all(|class| !names.contains(class.as_str()) || is_known(path, class))
        })
    }
}

/// The classes for which a program registers functions on those that it decorates:
/// `@convert.register(date)`, or `@convert.register` with an annotated parameter.
pub fn handlers(program: &Program) -> Handlers {
    let nodes = program.tree().nodes.iter().map(|node| node.node);
    let functions = nodes
        .clone()
        .filter_map(|node| node.as_stmt_function_def().copied());
    let decorated = functions
        .clone()
        .filter(|function| !function.decorator_list.is_empty());
    let decorated: BTreeSet<&str> = decorated.map(|function| &*function.name).collect();
    let on = |callee: &Expr| {
        let of = callee.as_attribute_expr()?.value.as_name_expr()?;
        decorated.contains(&*of.id).then(|| of.id.to_string())
    };
    let called = nodes.filter_map(|node| {
        let call = node.as_expr_call().copied()?;
        let class = callee_name(call.arguments.args.first()?)?;
        Some((on(&call.func)?, class.to_owned()))
    });
    let annotated = functions.flat_map(|function| {
        // That of a method comes after the object, which has none.
        let mut parameters = function.parameters.iter();
        let class = parameters.find_map(|parameter| callee_name(parameter.annotation()?));
        let decorators = function.decorator_list.iter();
        let on = decorators.filter_map(|decorator| on(&decorator.expression));
        on.filter_map(move |on| Some((on, class?.to_owned())))
    });
    called.chain(annotated).collect()
}

/// Those of them for a class of which the innermost function of the failure got a value, if it is
/// the one on which they are registered.
pub fn handlers_passed_over(program: &Program, evidence: &Evidence) -> Handlers {
    let failing = evidence.failure.last();
    let failing = failing.filter(|frame| frame.line.in_program().is_some());
    // Only a value that was written down has a class that is known.
    let values = failing.into_iter().flat_map(|frame| frame.values.values());
    let values = values.filter_map(|value| class_of(value.expression.syntax()?));
    let classes: BTreeSet<&str> = values.collect();
    let mut found = handlers(program);
    found.retain(|(on, class)| {
        failing.is_some_and(|frame| frame.function == *on) && classes.contains(class.as_str())
    });
    found
}

/// The class of what an expression makes, by its name.
fn class_of(value: &Expr) -> Option<&str> {
    Some(match value {
        Expr::Call(call) => callee_name(&call.func)?,
        Expr::StringLiteral(_) => "str",
        Expr::BytesLiteral(_) => "bytes",
        Expr::BooleanLiteral(_) => "bool",
        Expr::NumberLiteral(number) => match number.value {
            Number::Int(_) => "int",
            Number::Float(_) => "float",
            Number::Complex { .. } => "complex",
        },
        Expr::List(_) => "list",
        Expr::Tuple(_) => "tuple",
        Expr::Dict(_) => "dict",
        Expr::Set(_) => "set",
        _ => return None,
    })
}

/// The names of the classes that a program defines.
fn classes_of(program: &Program) -> BTreeSet<&str> {
    let nodes = program.tree().nodes.iter();
    let classes = nodes.filter_map(|node| node.node.as_stmt_class_def());
    classes.map(|class| class.name.as_str()).collect()
}

/// The program's classes that its statements give to imported functions, with the functions' paths.
fn given(program: &Program) -> Vec<(String, &str)> {
    let imported = ImportedNames::of(program.tree());
    let names = classes_of(program);
    let mut found = Vec::new();
    for node in &program.tree().nodes {
        if let AnyNodeRef::StmtExpr(stmt) = node.node
            && let Expr::Call(call) = &*stmt.value
            && let Some(path) = imported.path(&call.func)
        {
            let values = call.arguments.args.iter();
            let named = call.arguments.keywords.iter();
            let values = values.chain(named.map(|keyword| &keyword.value));
            let classes = values.filter_map(|value| Some(value.as_name_expr()?.id.as_str()));
            let classes = classes.filter(|class| names.contains(class));
            found.extend(classes.map(|class| (path.clone(), class)));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        testing::evidence,
        trace::{
            evidence::{Frame, SourceLine},
            value::{RecordedValue, ValueKind},
        },
    };

    #[test]
    fn functions_are_registered_for_classes() {
        let text = "@lib.single\ndef f(x): pass\n@f.register(lib.A)\ndef g(x): pass\n\
                    @f.register\ndef h(x: B): pass\nf.register(C, g)\n@i.register(D)\ndef j(): pass\n";
        let of = |text: &str| handlers(&Program::parse(text).unwrap());
        let pairs = ["A", "B", "C"].map(|class| ("f".to_owned(), class.to_owned()));
        assert_eq!(of(text), pairs.into());
        assert!(of(&text.replace("@lib.single\n", "")).is_empty());
    }

    #[test]
    fn those_that_are_passed_over_are_for_the_class_of_what_fails() {
        let text = "@lib.single\ndef f(x):\n    raise E\n@f.register(A)\ndef g(x): pass\n@f.register(B)\ndef h(x): pass\n";
        let program = Program::parse(text).unwrap();
        let mut evidence = evidence(text);
        let mut frame = Frame {
            line: SourceLine::of_program(3),
            function: "f".to_owned(),
            ..Frame::default()
        };
        frame.values.insert(
            "x".to_owned(),
            RecordedValue {
                expression: "A(1)".to_owned().into(),
                kind: ValueKind::default(),
                parts: Vec::new(),
                is_exact: true,
            },
        );
        evidence.failure = vec![frame.clone()];
        let found = handlers_passed_over(&program, &evidence);
        assert_eq!(found, [("f".to_owned(), "A".to_owned())].into());
        frame.function = "g".to_owned();
        evidence.failure = vec![frame];
        assert!(handlers_passed_over(&program, &evidence).is_empty());
    }

    #[test]
    fn classes_stay_known_to_packages() {
        let script = "import lib\nclass A: pass\nclass B(A): pass\nclass C: pass\n\
                      lib.register(A, repr)\nlib.register(C)\nx = lib.f(C)\nlib.g(B())\n";
        let known = registrations(&Program::parse(script).unwrap());
        let keeps = |text: &str| are_registered(&known, &Program::parse(text).unwrap());
        assert!(keeps(script) && keeps("import lib\nlib.g(1)\n"));
        assert!(keeps(
            "from lib import register\nclass B: pass\nregister(B)\nlib.g(B())\n"
        ));
        assert!(!keeps("import lib\nclass B: pass\nlib.g(B())\n"));
        assert!(!keeps("import lib\nclass A: pass\nlib.other(A)\n"));
        assert!(!keeps(&script.replace("B(A)", "B")));
        assert!(!keeps(&script.replace("lib.register(C)\n", "")));
    }
}
