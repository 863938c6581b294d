//! What annotations say: attributes to which a program assigns a constant of another type, which is
//! wrong whatever the bug is, and the parameters of functions. Goes by names alone. Called by the
//! judge, which compares a candidate with the script.

use std::collections::{BTreeMap, BTreeSet};

use crate::syntax::{
    AnyNodeRef, Program, Ranged, TextRange,
    ast::{Expr, Stmt, StmtClassDef},
};

/// Whether a class annotates an attribute and a statement in it assigns it a number, a text or
/// `None` that the annotation does not name, or gives one of a plain type a collection.
pub fn contradicts_annotations(program: &Program) -> bool {
    let nodes = program.tree().nodes.iter();
    let mut classes = nodes.filter_map(|node| node.node.as_stmt_class_def());
    classes.any(|class| contradicts(program, class))
}

/// The parameters that are annotated wherever a function of this name has them, by function, with
/// their annotations.
pub type ParameterTypes = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// The annotated parameters of a program's functions.
pub fn parameter_types(program: &Program) -> ParameterTypes {
    let mut found = ParameterTypes::new();
    for (function, parameter, annotation) in parameters(program) {
        let of_function = found.entry(function.to_owned()).or_default();
        let annotations = of_function.entry(parameter.to_owned()).or_default();
        annotations.insert(annotation.unwrap_or_default().to_owned());
    }
    // Of one that is also without, nothing is known.
    for parameters in found.values_mut() {
        parameters.retain(|_, annotations| !annotations.contains(""));
    }
    found
}

/// Whether a program's functions still have these annotations for the parameters that they still
/// have, but for those by these names, which may go.
pub fn have_types(known: &ParameterTypes, implied: &[&str], program: &Program) -> bool {
    parameters(program).all(|(function, parameter, annotation)| {
        let annotations = known
            .get(function)
            .and_then(|parameters| parameters.get(parameter));
        annotations.is_none_or(|annotations| {
            let is_known = annotations.contains(annotation.unwrap_or_default());
            is_known || annotations.iter().all(|known| implied.contains(&&**known))
        })
    })
}

/// The parameters of a program's functions, each with the names of both and its annotation.
fn parameters(program: &Program) -> impl Iterator<Item = (&str, &str, Option<&str>)> {
    let nodes = program.tree().nodes.iter();
    let functions = nodes.filter_map(|node| node.node.as_stmt_function_def());
    functions.flat_map(move |def| {
        def.parameters.iter().map(move |parameter| {
            let annotation = parameter.annotation();
            let annotation = annotation.map(|annotation| program.slice(annotation.range()));
            (def.name.as_str(), parameter.name().as_str(), annotation)
        })
    })
}

fn contradicts(program: &Program, class: &StmtClassDef) -> bool {
    let annotated = class.body.iter().filter_map(|statement| {
        let Stmt::AnnAssign(annotated) = statement else {
            return None;
        };
        let name = annotated.target.as_name_expr()?.id.as_str();
        Some((name, words(program, annotated.annotation.range())))
    });
    let annotated: Vec<(&str, BTreeSet<&str>)> = annotated.collect();
    let defaults = class.body.iter().filter_map(Stmt::as_ann_assign_stmt);
    let mut defaults = defaults.filter_map(|stmt| Some((stmt.value.as_deref()?, stmt)));
    if defaults.any(|(value, stmt)| {
        is_collection_for_plain(value, &words(program, stmt.annotation.range()))
    }) {
        return true;
    }
    if annotated.is_empty() {
        return false;
    }
    program.tree().nodes.iter().any(|node| {
        let AnyNodeRef::StmtAssign(assign) = node.node else {
            return false;
        };
        let [Expr::Attribute(target)] = &*assign.targets else {
            return false;
        };
        let of_self = target
            .value
            .as_name_expr()
            .is_some_and(|name| name.id == "self");
        let is_wrong = |(name, words): &(&str, BTreeSet<&str>)| {
            *name == target.attr.as_str() && is_other_type(&assign.value, words)
        };
        of_self && class.range.contains_range(assign.range) && annotated.iter().any(is_wrong)
    })
}

/// The names in an annotation.
fn words(program: &Program, annotation: TextRange) -> BTreeSet<&str> {
    let text = program.slice(annotation);
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    text.split(|char| !is_part(char))
        .filter(|word| !word.is_empty())
        .collect()
}

/// Whether an expression is a constant of a type that an annotation with these names does not
/// allow.
fn is_other_type(value: &Expr, words: &BTreeSet<&str>) -> bool {
    const ANY: [&str; 4] = ["Any", "Final", "ClassVar", "object"];
    let allowed: &[&str] = match value {
        Expr::NumberLiteral(_) | Expr::BooleanLiteral(_) => {
            &["bool", "complex", "float", "int", "number", "Number"]
        }
        Expr::StringLiteral(_) => &["str", "Literal"],
        Expr::NoneLiteral(_) => &["None", "Optional"],
        _ => return false,
    };
    !ANY.iter().chain(allowed).any(|name| words.contains(name))
}

/// Whether an expression is a collection where an annotation with these names asks for a number or a
/// text.
fn is_collection_for_plain(value: &Expr, words: &BTreeSet<&str>) -> bool {
    const PLAIN: [&str; 6] = ["bool", "bytes", "complex", "float", "int", "str"];
    let is_collection = matches!(
        value,
        Expr::Dict(_) | Expr::List(_) | Expr::Set(_) | Expr::Tuple(_)
    );
    is_collection && words.iter().all(|word| PLAIN.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_stay_have_their_types() {
        let of = |text: &str| Program::parse(text).unwrap();
        let known = parameter_types(&of(
            "class A:\n    def f(self, x: List[int], y: Tensor, z): pass\nclass B:\n    def f(self, x: int): pass\ndef g(x: int): pass\ndef g(x): pass\n",
        ));
        let check = |text: &str, expected: bool| {
            assert_eq!(
                have_types(&known, &["Tensor"], &of(text)),
                expected,
                "{text}"
            );
        };
        check(
            "def f(self, x: int, y, z: int): pass\ndef g(x): pass\n",
            true,
        );
        check("def f(self, y): pass\ndef h(x): pass\n", true);
        check("class A:\n    def f(self, x): pass\n", false);
        check("class A:\n    def f(self, x: str): pass\n", false);
    }

    #[track_caller]
    fn check(annotation: &str, value: &str, expected: bool) {
        let text = format!(
            "class A:\n    x: {annotation}\n    def __init__(self):\n        self.x = {value}\n"
        );
        let program = Program::parse(text).unwrap();
        assert_eq!(
            contradicts_annotations(&program),
            expected,
            "{annotation} {value}"
        );
    }

    #[test]
    fn constants_are_of_the_annotated_type() {
        check("Module", "0", true);
        check("nn.Module", "None", true);
        check("Optional[nn.Module]", "None", false);
        check("nn.Module | None", "None", false);
        check("int", "0", false);
        check("list[int]", "[]", false);
        check("Any", "''", false);
        check("Module", "Linear(1, 1)", false);
        let default = |text: &str| {
            let text = format!("class A(NamedTuple):\n    x: {text}\n");
            contradicts_annotations(&Program::parse(text).unwrap())
        };
        assert!(default("float = []") && default("int | str = {}"));
        assert!(!default("List[float] = []") && !default("float") && !default("T = ()"));
        let other = "class A:\n    x: Module\nclass B:\n    def f(self):\n        self.x = 0\n";
        assert!(!contradicts_annotations(&Program::parse(other).unwrap()));
    }
}
