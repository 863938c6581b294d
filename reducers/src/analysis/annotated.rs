//! Attributes that a program annotates and to which it assigns a constant of another type. Such
//! code is wrong whatever the bug is. Goes by names alone. Called by the judge, which compares a
//! candidate with the script.

use std::collections::BTreeSet;

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
