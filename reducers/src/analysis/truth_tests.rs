//! Whether conditions compare a thing or test its truth. A program that only compares a thing says
//! nothing about its truth: an empty list is false, and equals another. Goes by names. Called by
//! the judge, which compares a candidate with the script.

use std::collections::BTreeSet;

use crate::syntax::{
    AnyNodeRef, Program,
    ast::{Expr, UnaryOp},
};

/// The variables and attributes in the conditions of a program, by name.
#[derive(Default)]
struct Tested<'a> {
    /// Those that are compared.
    compared: BTreeSet<&'a str>,
    /// Those whose truth decides.
    by_truth: BTreeSet<&'a str>,
}

impl<'a> Tested<'a> {
    fn of(program: &'a Program) -> Self {
        let mut tested = Self::default();
        for node in &program.tree().nodes {
            match node.node {
                AnyNodeRef::StmtIf(stmt) => tested.add(&stmt.test),
                AnyNodeRef::ElifElseClause(clause) => {
                    clause.test.iter().for_each(|test| tested.add(test));
                }
                AnyNodeRef::StmtWhile(stmt) => tested.add(&stmt.test),
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
            }
            test => self.by_truth.extend(name(test)),
        }
    }
}

/// The variables and attributes that conditions of a program compare, and none tests for truth.
pub fn only_compared(program: &Program) -> BTreeSet<String> {
    let Tested { compared, by_truth } = Tested::of(program);
    let only = compared.difference(&by_truth);
    only.map(|name| (*name).to_owned()).collect()
}

/// Whether a program tests one of these names for truth.
pub fn is_tested_for_truth(names: &BTreeSet<String>, program: &Program) -> bool {
    let tested = Tested::of(program);
    tested.by_truth.iter().any(|name| names.contains(*name))
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
        let known = only_compared(&Program::parse(script).unwrap());
        assert_eq!(known, ["b", "x", "y"].map(str::to_owned).into());
        let is_refused = |text: &str| is_tested_for_truth(&known, &Program::parse(text).unwrap());
        assert!(is_refused("if x:\n    pass\n"));
        assert!(is_refused("z = 1 if c or not a.b else 2\n"));
        assert!(!is_refused("while c:\n    x\n"));
        assert!(!is_refused("if x == 1:\n    pass\n"));
    }
}
