//! Whether conditions compare a thing or test its truth. A program that only compares a thing says
//! nothing about its truth: an empty list is false, and equals another. Goes by names. Called by
//! the judge, which compares a candidate with the script.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::syntax::{
    AnyNodeRef, Program,
    ast::{Expr, UnaryOp},
};

/// What the conditions of a program compare without testing its truth.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnlyCompared {
    /// The variables and attributes, by name.
    names: BTreeSet<String>,
    /// Whether its conditions do nothing else.
    is_all: bool,
}

impl OnlyCompared {
    /// Those of a program.
    pub fn of(program: &Program) -> Self {
        let tested = ConditionTests::of(program);
        let names = tested.compared.difference(&tested.by_truth);
        Self {
            names: names.map(|name| (*name).to_owned()).collect(),
            is_all: tested.compares && !tested.asks_for_truth,
        }
    }

    /// Whether a candidate does not test them for truth either.
    pub fn is_kept_by(&self, candidate: &Program) -> bool {
        let tested = ConditionTests::of(candidate);
        let mut by_truth = tested.by_truth.iter();
        !(by_truth.any(|name| self.names.contains(*name)) || self.is_all && tested.asks_for_truth)
    }
}

/// The variables and attributes in the conditions of a program, by name.
#[derive(Default)]
struct ConditionTests<'a> {
    /// Those that are compared.
    compared: BTreeSet<&'a str>,
    /// Those whose truth decides.
    by_truth: BTreeSet<&'a str>,
    /// Whether anything is compared.
    compares: bool,
    /// Whether the truth of anything that is not written out decides.
    asks_for_truth: bool,
}

impl<'a> ConditionTests<'a> {
    fn of(program: &'a Program) -> Self {
        let mut tested = Self::default();
        for node in &program.tree().nodes {
            match node.node {
                AnyNodeRef::StmtIf(stmt) => tested.add(&stmt.test),
                AnyNodeRef::ElifElseClause(clause) => {
                    clause.test.iter().for_each(|test| tested.add(test));
                }
                AnyNodeRef::StmtWhile(stmt) => tested.add(&stmt.test),
                AnyNodeRef::StmtAssert(stmt) => tested.add(&stmt.test),
                AnyNodeRef::ExprIf(choice) => tested.add(&choice.test),
                AnyNodeRef::Comprehension(clause) => {
                    clause.ifs.iter().for_each(|test| tested.add(test));
                }
                _ => {}
            }
        }
        tested
    }

    fn add(&mut self, test: &'a Expr) {
        match test {
            Expr::BoolOp(operation) => operation.values.iter().for_each(|value| self.add(value)),
            Expr::UnaryOp(operation) if operation.op == UnaryOp::Not => {
                self.add(&operation.operand);
            }
            Expr::Compare(compare) => {
                let sides = std::iter::once(&*compare.left).chain(&compare.comparators);
                self.compared.extend(sides.filter_map(name));
                self.compares = true;
            }
            test => {
                self.by_truth.extend(name(test));
                self.asks_for_truth |= !test.is_literal_expr();
            }
        }
    }
}

fn name(of: &Expr) -> Option<&str> {
    match of {
        Expr::Name(name) => Some(&name.id),
        Expr::Attribute(attribute) => Some(&attribute.attr),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_only_compared_is_not_tested_for_truth() {
        let script = "if x != a.b and not c:\n    pass\nz = [y for y in d if y == c]\n";
        let known = OnlyCompared::of(&Program::parse(script).unwrap());
        assert_eq!(known.names, ["b", "x", "y"].map(str::to_owned).into());
        let is_refused = |text: &str| !known.is_kept_by(&Program::parse(text).unwrap());
        assert!(is_refused("if x:\n    pass\n"));
        assert!(is_refused("z = 1 if c or not a.b else 2\n"));
        assert!(!is_refused("while c:\n    x\n"));
        assert!(!is_refused("if x == 1:\n    pass\n"));
    }
    #[test]
    fn a_program_that_only_compares_goes_on_to_compare() {
        let known = OnlyCompared::of(&Program::parse("d = f()\nassert d > 0.01\n").unwrap());
        let is_kept = |text: &str| known.is_kept_by(&Program::parse(text).unwrap());
        assert!(is_kept("assert f() > 0.01\n") && is_kept("if True:\n    pass\n"));
        assert!(!is_kept("assert f()\n"));
    }
}
