//! The kinds of arguments that calls get: functions, constants, objects. A candidate that passes a
//! constant where the script passes something else may fail for that reason.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    analysis::{
        assignments::{assigned_values, is_empty},
        names::ImportedNames,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextSize,
        ast::{Expr, ExprCall, UnaryOp},
        scope::BindingKind,
    },
    trace::evidence::{Evidence, Frame},
};

/// An argument, by the name of the function and its own name or position.
type ArgumentPlace = (String, String);

/// The kinds of arguments that calls get.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ArgumentKinds {
    /// The arguments that are functions, or anything that a package has under a name.
    functions: BTreeSet<ArgumentPlace>,
    /// Those that are mappings: with a constant, the call does something else.
    #[serde(default)]
    mappings: BTreeSet<ArgumentPlace>,
    /// The mappings among the arguments of failing calls of packages. Anything else means something
    /// else in their place.
    #[serde(default)]
    mappings_of_failing: BTreeSet<ArgumentPlace>,
    /// Those of them that hold more than constants.
    #[serde(default)]
    mappings_of_objects: BTreeSet<ArgumentPlace>,
    /// The arguments that are no mappings: displays, calls, names of functions.
    #[serde(default)]
    others: BTreeSet<ArgumentPlace>,
    /// The mappings that hold nothing but constants.
    #[serde(default)]
    mappings_of_constants: BTreeSet<ArgumentPlace>,
    /// Those that are constants, except negative numbers.
    constants: BTreeSet<ArgumentPlace>,
    /// Negative numbers among the arguments of the failing calls. They count from the end.
    negative: BTreeSet<ArgumentPlace>,
    /// Those that are objects, of the failing call: tensors, models, everything that is not written
    /// out as a number or a text. A library rightly fails on a number instead.
    objects: BTreeSet<ArgumentPlace>,
}

impl ArgumentKinds {
    /// Those of a program that fails on some lines.
    pub(super) fn of(program: &Program, lines: &[u32], evidence: Option<&Evidence>) -> Self {
        let mut found = Self::default();
        let functions = functions(program);
        let imported = ImportedNames::of(program.tree());
        let made = made(program, &imported);
        let frame = evidence.and_then(|evidence| evidence.failure.last());
        for node in &program.tree().nodes {
            let AnyNodeRef::ExprCall(call) = node.node else {
                continue;
            };
            let called = match &*call.func {
                Expr::Name(name) => made.get(&*name.id).cloned(),
                callee => made_by(&imported, callee),
            };
            let Some(called) = called.or_else(|| name_of(call).map(str::to_owned)) else {
                continue;
            };
            let positional = call.arguments.args.iter().enumerate();
            let positional = positional.map(|(place, value)| (place.to_string(), value));
            let named = call.arguments.keywords.iter();
            let line = program.line_of(call.range.start());
            let fails = lines.contains(&line);
            let is_innermost = lines.last() == Some(&line);
            let frame = frame.filter(|frame| frame.line.in_program() == Some(line));
            let is_object = |value: &Expr| match frame {
                Some(frame) => is_object(program, frame, value),
                None => {
                    evidence.is_some() && is_innermost && always(program, value, is_construction)
                }
            };
            let named = named
                .filter_map(|keyword| Some((keyword.arg.as_ref()?.to_string(), &keyword.value)));
            for (place, value) in positional.chain(named) {
                let place = (called.clone(), place);
                if is_no_mapping(&functions, value) {
                    found.others.insert(place.clone());
                }
                if always(program, value, is_written_out) {
                    found.constants.insert(place);
                } else if fails && is_negative(value) {
                    found.negative.insert(place);
                } else if is_function(&functions, value) || imported.path(value).is_some() {
                    found.functions.insert(place);
                } else if always(program, value, Expr::is_dict_expr) {
                    let holds_constants = always(program, value, maps_to_constants);
                    if holds_constants {
                        found.mappings_of_constants.insert(place.clone());
                    }
                    if fails && imported.is_of_installed(&call.func) {
                        found.mappings_of_failing.insert(place.clone());
                        if !holds_constants {
                            found.mappings_of_objects.insert(place.clone());
                        }
                    }
                    found.mappings.insert(place);
                } else if is_object(value) {
                    found.objects.insert(place);
                }
            }
        }
        found
    }

    /// Whether those of a candidate are of the same kinds.
    pub(super) fn hold_in(&self, candidate: &Self) -> bool {
        let wanted = [
            &self.functions,
            &self.mappings,
            &self.negative,
            &self.objects,
        ];
        let mut new = candidate.constants.difference(&self.constants);
        let mut others = candidate.others.iter();
        !new.any(|place| wanted.iter().any(|places| places.contains(place)))
            && !others.any(|place| self.mappings_of_failing.contains(place))
            && self
                .mappings_of_objects
                .is_disjoint(&candidate.mappings_of_constants)
    }
}

/// Whether something holds for an expression, or for everything that it is a name of.
fn always(program: &Program, value: &Expr, holds: impl Fn(&Expr) -> bool) -> bool {
    let Expr::Name(name) = value else {
        return holds(value);
    };
    let values = assigned_values(program, &name.id);
    values.is_some_and(|values| values.into_iter().all(holds))
}

/// Whether an expression is a literal, or a display of nothing.
fn is_written_out(value: &Expr) -> bool {
    value.is_literal_expr() || is_empty(value)
}

/// Whether a display maps something, and that to constants alone.
fn maps_to_constants(value: &Expr) -> bool {
    let display = value.as_dict_expr();
    display.is_some_and(|display| {
        let mut items = display.items.iter();
        !display.is_empty() && items.all(|item| is_written_out(&item.value))
    })
}

/// Whether an expression was an object in a frame of the failure. A variable whose value cannot be
/// written as an expression was not made by a literal.
fn is_object(program: &Program, frame: &Frame, value: &Expr) -> bool {
    let text = program.slice(value.range());
    let recorded = frame.values.get(text).or_else(|| frame.results.get(text));
    recorded.map_or(value.is_name_expr(), |recorded| {
        let expression = &recorded.expression;
        !expression.is_literal() && !expression.syntax().is_some_and(is_written_out)
    })
}

/// Whether an expression calls a class. It then makes an object, even if no run shows that.
fn is_construction(value: &Expr) -> bool {
    let called = value.as_call_expr().and_then(name_of);
    called.is_some_and(|name| name.starts_with(char::is_uppercase))
}

/// Whether an expression is a number with a minus.
fn is_negative(value: &Expr) -> bool {
    let operation = value.as_unary_op_expr();
    operation.is_some_and(|operation| {
        operation.op == UnaryOp::USub && operation.operand.is_number_literal_expr()
    })
}

/// The variables that hold what a call makes of functions of packages, by name, each with the name
/// by which that is known. The program's own functions may lose parameters.
fn made<'a>(program: &'a Program, imported: &ImportedNames<'_>) -> BTreeMap<&'a str, String> {
    let variables = program.scopes().variables.iter();
    let values = variables.filter_map(|variable| {
        let mut bindings = variable.bindings.iter();
        let is_assigned = bindings.all(|binding| binding.kind == BindingKind::Value);
        let values = is_assigned.then(|| assigned_values(program, &variable.name));
        let value = values.flatten()?.pop()?;
        Some((variable.name.as_str(), made_by(imported, value)?))
    });
    values.collect()
}

/// What a call of a package makes of functions of packages, by the name of what is called.
fn made_by(imported: &ImportedNames<'_>, value: &Expr) -> Option<String> {
    let call = value.as_call_expr()?;
    let mut of = call.arguments.args.iter();
    let is_foreign = of.all(|of| of.is_literal_expr() || imported.path(of).is_some());
    Some(format!("{}()", name_of(call)?)).filter(|_| is_foreign)
}

fn name_of(call: &ExprCall) -> Option<&str> {
    match &*call.func {
        Expr::Name(name) => Some(&name.id),
        Expr::Attribute(attribute) => Some(&attribute.attr),
        _ => None,
    }
}

/// Where variables are read that are functions, of the program or imported. A method is none of
/// them: no name alone reaches it.
fn functions(program: &Program) -> BTreeSet<TextSize> {
    let variables = program.scopes().variables.iter();
    let functions = variables.filter(|variable| {
        let mut bindings = variable.bindings.iter();
        bindings.any(|binding| matches!(binding.kind, BindingKind::Function | BindingKind::Import))
    });
    let uses = functions.flat_map(|variable| &variable.uses);
    uses.map(|used| used.range.start()).collect()
}

/// Whether an expression is certainly none that stands for a mapping which a program writes out.
fn is_no_mapping(functions: &BTreeSet<TextSize>, value: &Expr) -> bool {
    match value {
        Expr::Call(call) => !name_of(call).is_some_and(|name| name.ends_with("dict")),
        // A list of mappings may say the same by position.
        Expr::List(list) => !list.elts.iter().any(Expr::is_dict_expr),
        Expr::Tuple(tuple) => !tuple.elts.iter().any(Expr::is_dict_expr),
        _ => value.is_literal_expr() || is_function(functions, value),
    }
}

/// Whether an expression is a lambda or stands in one of these places.
fn is_function(functions: &BTreeSet<TextSize>, value: &Expr) -> bool {
    match value {
        Expr::Lambda(_) => true,
        Expr::Name(name) => functions.contains(&name.range.start()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{
        evidence::SourceLine,
        value::{RecordedValue, ValueKind},
    };

    #[test]
    fn a_mapping_that_a_package_fails_on_is_not_replaced_by_what_it_holds() {
        let import = "from json import dumps\nfrom torch.fx import f, q\n";
        let of = |text: &str, lines: &[u32]| {
            let text = format!("{import}{text}");
            ArgumentKinds::of(&Program::parse(text.as_str()).unwrap(), lines, None)
        };
        let known = of("f(1, {'a': q})\ndumps({'a': q})\n", &[3, 4]);
        let holds = |text: &str| known.hold_in(&of(text, &[]));
        assert!(holds("f(1, {'b': q})\ndumps(q())\n"));
        assert!(
            holds("c = make()\nf(1, c)\n")
                && holds("f(1, ({0: q},))\n")
                && holds("f(1, dict(a=q))\n")
        );
        assert!(!holds("f(1, {'a': 0})\n"));
        assert!(!holds("f(1, q)\n") && !holds("f(1, q())\n") && !holds("f(1, [q])\n"));
        assert!(of("f(1, {'a': q})\n", &[]).hold_in(&of("f(1, q)\n", &[])));
    }

    #[test]
    fn what_a_package_has_under_a_name_is_no_constant() {
        let of = |text: &str| {
            let program = Program::parse(format!("from lib import Mode\n{text}")).unwrap();
            ArgumentKinds::of(&program, &[], None)
        };
        let known = of("x.run(Mode.FAST, mode=Mode.SLOW)\n");
        assert!(known.hold_in(&of("x.run(y, mode=Mode.FAST)\n")));
        assert!(!known.hold_in(&of("x.run(0, mode=Mode.SLOW)\n")));
        assert!(!known.hold_in(&of("x.run(Mode.FAST, mode=None)\n")));
    }

    #[test]
    fn what_a_call_gives_is_known_by_what_was_called() {
        let of = |text: &str| ArgumentKinds::of(&Program::parse(text).unwrap(), &[], None);
        let own = "import lib\ndef f(x): pass\n";
        let of = |text: &str| of(&format!("{own}{text}"));
        let known = of("mapped = lib.map(lib.g, 1)\nmapped(f, 2)\n");
        assert!(known.hold_in(&of("lib.map(lib.g, 1)(lambda: 0, 2)\n")));
        assert!(!known.hold_in(&of("lib.map(lib.g, 1)(0, 2)\n")));
        assert!(!known.hold_in(&of("y = lib.map(lib.g)\ny(0)\n")));
        assert!(of("mapped = lib.map(f)\nmapped(f)\n").hold_in(&of("lib.map(f)(0)\n")));
    }

    #[test]
    fn objects_are_not_replaced_by_constants() {
        let recorded = |text: &str| RecordedValue {
            expression: text.to_owned().into(),
            kind: ValueKind::default(),
            parts: Vec::new(),
            is_exact: true,
        };
        let frame = Frame {
            line: SourceLine::of_program(2),
            values: BTreeMap::from([
                ("x".to_owned(), recorded("make(2)")),
                ("n".to_owned(), recorded("3")),
                ("none".to_owned(), recorded("[]")),
            ]),
            ..Frame::default()
        };
        let evidence = Evidence {
            failure: vec![frame],
            ..Evidence::default()
        };
        let script = "x, y, n, none = f()\nlib.add(x, n, none, out=y)\nlib.log(x)\n";
        let of = |text: &str, evidence| {
            ArgumentKinds::of(&Program::parse(text).unwrap(), &[2], evidence)
        };
        let known = of(script, Some(&evidence));
        let holds = |text: &str| known.hold_in(&of(text, None));
        assert!(holds("add(make(1), 4, [], out=make(1))\nlog(0)\n"));
        assert!(!holds("add(0, 4, out=y)\n"));
        assert!(!holds("x = []\nadd(x, 4, out=y)\n"));
        // It could not be written as an expression.
        assert!(!holds("x = f()\ny = None\nadd(x, 4, out=y)\n"));
        // No frame says what it was given.
        let script = "x = lib.Masked(1)\nlib.where(x, lib.Masked(2), 3)\n";
        let without_frames = Evidence::default();
        let known = of(script, Some(&without_frames));
        let holds = |text: &str| known.hold_in(&of(text, None));
        assert!(holds("where(f(0), g(), 4)\n"));
        assert!(!holds("where(f(0), 0, 4)\n") && !holds("where(1, g(), 4)\n"));
    }
}
