//! Properties of a program's text that a failure takes for granted: the tolerance of comparisons,
//! the switches set before the failing call, and functions passed on where functions are expected.
//! Goes by names. Called by the judge; proposes nothing.

mod arguments;

use std::collections::{BTreeMap, BTreeSet};

use arguments::ArgumentKinds;
use serde::{Deserialize, Serialize};

use crate::{
    analysis::{handed_on::branches, names::ImportedNames, statement_tree::StatementTree},
    syntax::{
        AnyNodeRef, Program, Ranged,
        ast::{CmpOp, Expr},
    },
    trace::evidence::{Evidence, SourceLine},
};

/// A bound that is larger than this is not a tolerance.
const SMALL: f64 = 0.1;

/// The conditions that a program takes for granted where it fails.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preconditions {
    /// The constants that comparisons of size use as bounds, if one of them is a tolerance.
    bounds: BTreeSet<String>,
    /// The attributes that are set to constants on objects whose methods the failing line calls.
    switches: BTreeSet<(String, String)>,
    arguments: ArgumentKinds,
    /// The callees that get several functions with equally many parameters, each with the fewest
    /// arguments that it gets.
    branching: BTreeMap<String, usize>,
    /// The comparisons that calls get more than once, each time with the same number: if one call
    /// states what another tests, both must use one number.
    #[serde(default)]
    stated: BTreeSet<String>,
}

impl Preconditions {
    /// The preconditions of a program that fails on some lines, counted from 1. With evidence, they
    /// include the objects that its failing call works on.
    pub fn of(program: &Program, lines: &[u32], evidence: Option<&Evidence>) -> Self {
        let bounds = bounds(program);
        let has_tolerance = bounds.iter().any(|bound| {
            let number = bound.parse::<f64>();
            number.is_ok_and(|number| 0.0 < number && number < SMALL)
        });
        Self {
            bounds: if has_tolerance {
                bounds
            } else {
                BTreeSet::new()
            },
            switches: lines
                .iter()
                .flat_map(|&line| switches(program, line))
                .collect(),
            arguments: ArgumentKinds::of(program, lines, evidence),
            branching: {
                let counts = fewest_arguments(program);
                let alike = branches(program).into_iter();
                let alike = alike.filter(|(_, are_alike)| *are_alike);
                let counted = alike.map(|(called, _)| {
                    let count = counts.get(&*called).copied();
                    (called, count.unwrap_or_default())
                });
                counted.collect()
            },
            stated: stated(program)
                .into_iter()
                .filter(|(_, numbers)| are_repeated(numbers))
                .map(|(compared, _)| compared)
                .collect(),
        }
    }

    /// Whether a candidate meets the preconditions of this program.
    pub fn hold_in(&self, candidate: &Program) -> bool {
        let has_bounds = self.bounds.is_empty() || bounds(candidate).is_subset(&self.bounds);
        let has_switches = self.switches.is_empty() || self.switches.is_subset(&stores(candidate));
        let its = branches(candidate);
        let counts = fewest_arguments(candidate);
        let are_branches_alike = self.branching.iter().all(|(called, fewest)| {
            let is_short = counts.get(&**called).is_some_and(|count| count < fewest);
            its.get(called) != Some(&false) && !is_short
        });
        let its = stated(candidate);
        let mut left = self.stated.iter().filter_map(|compared| its.get(compared));
        let are_bounds_alike = left.all(|numbers| are_repeated(numbers));
        has_bounds
            && has_switches
            && are_branches_alike
            && are_bounds_alike
            && self
                .arguments
                .hold_in(&ArgumentKinds::of(candidate, &[], None))
    }
}

/// The fewest arguments that a program passes to each callee, by the last part of its name.
fn fewest_arguments(program: &Program) -> BTreeMap<&str, usize> {
    let nodes = program.tree().nodes.iter();
    let calls = nodes.filter_map(|node| node.node.as_expr_call());
    let mut found = BTreeMap::new();
    for call in calls {
        let name = program.slice(call.func.range()).rsplit('.').next();
        let count = call.arguments.len();
        let fewest = found.entry(name.unwrap_or_default()).or_insert(count);
        *fewest = count.min(*fewest);
    }
    found
}

/// The numbers in comparisons that calls get, by the compared value and the operator.
fn stated(program: &Program) -> BTreeMap<String, Vec<&str>> {
    let mut found: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let nodes = program.tree().nodes.iter();
    let calls = nodes.filter_map(|node| node.node.as_expr_call());
    let given = calls.flat_map(|call| &call.arguments.args);
    for compare in given.filter_map(Expr::as_compare_expr) {
        if let ([op], [other]) = (&*compare.ops, &*compare.comparators)
            && other.is_number_literal_expr()
        {
            let compared = format!("{} {op}", program.slice(compare.left.range()));
            let numbers = found.entry(compared).or_default();
            numbers.push(program.slice(other.range()));
        }
    }
    found
}

/// Whether there is more than one number, and all are equal.
fn are_repeated(numbers: &[&str]) -> bool {
    numbers.len() > 1 && numbers.iter().all(|number| *number == numbers[0])
}

/// The constants with which comparisons of size compare.
fn bounds(program: &Program) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for node in &program.tree().nodes {
        let AnyNodeRef::ExprCompare(compare) = node.node else {
            continue;
        };
        let is_of_size = |op: &CmpOp| matches!(op, CmpOp::Lt | CmpOp::LtE | CmpOp::Gt | CmpOp::GtE);
        if compare.ops.iter().all(is_of_size) {
            let sides = std::iter::once(&*compare.left).chain(&compare.comparators);
            let constants = sides.filter(|side| side.is_number_literal_expr());
            found.extend(constants.map(|side| program.slice(side.range()).to_owned()));
        }
    }
    found
}

/// The attributes that are set to constants, by their names, with the constants.
fn stores(program: &Program) -> BTreeSet<(String, String)> {
    stores_on(program, &|_| true)
}

/// The same for the objects whose methods the statement on a line calls.
fn switches(program: &Program, line: u32) -> BTreeSet<(String, String)> {
    let tree = StatementTree::untraced(program);
    let Some(at) = tree.on_line(SourceLine::of_program(line)) else {
        return BTreeSet::new();
    };
    let range = tree.own_range(at);
    let foreign = made_by_packages(program);
    let nodes = program.tree().within(range);
    let receivers: BTreeSet<&str> = nodes
        .filter_map(|node| match node {
            AnyNodeRef::ExprCall(call) => {
                let method = call.func.as_attribute_expr()?;
                Some(method.value.as_name_expr()?.id.as_str())
            }
            _ => None,
        })
        .collect();
    stores_on(program, &|object| {
        receivers.contains(object) && foreign.contains(object)
    })
}

/// The names that are set to the result of a call of an imported name. The program's own objects do
/// not count.
fn made_by_packages(program: &Program) -> BTreeSet<&str> {
    let imported = ImportedNames::of(program.tree());
    let nodes = program.tree().nodes.iter();
    let made = nodes.filter_map(|node| match node.node {
        AnyNodeRef::StmtAssign(assign) => {
            let call = assign.value.as_call_expr()?;
            imported.path(&call.func)?;
            Some(assign.targets.first()?.as_name_expr()?.id.as_str())
        }
        _ => None,
    });
    made.collect()
}

fn stores_on(program: &Program, is_meant: &dyn Fn(&str) -> bool) -> BTreeSet<(String, String)> {
    let nodes = program.tree().nodes.iter();
    let assignments = nodes.filter_map(|node| match node.node {
        AnyNodeRef::StmtAssign(assign) if assign.value.is_literal_expr() => Some(assign),
        _ => None,
    });
    let stores = assignments.filter_map(|assign| match assign.targets.as_slice() {
        [Expr::Attribute(target)] => {
            let object = target.value.as_name_expr()?;
            let value = program.slice(assign.value.range()).to_owned();
            is_meant(&object.id).then(|| (target.attr.to_string(), value))
        }
        _ => None,
    });
    stores.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(script: &str, lines: &[u32], candidate: &str, expected: bool) {
        let known = Preconditions::of(&Program::parse(script).unwrap(), lines, None);
        let candidate = Program::parse(candidate).unwrap();
        assert_eq!(known.hold_in(&candidate), expected);
    }

    #[test]
    fn tolerances_stay_where_they_are_used() {
        let script = "for x in y:\n    if abs(x) >= 1e-9 and n < 3:\n        f()\n";
        check(script, &[], "if abs(x) >= 1e-9: f()\n", true);
        check(script, &[], "if abs(x) >= 0: f()\n", false);
        check(script, &[], "assert x\n", true);
        check("assert n < 3\n", &[], "assert n < 2\n", true);
    }

    #[test]
    fn what_is_compared_twice_with_one_number_stays_so() {
        let script = "check(n > 5)\ncond(n > 5, f)\nx > 2\n";
        check(script, &[], "check(n > 3)\ncond(n > 3)\n", true);
        check(script, &[], "check(n > 3)\ncond(n > 0)\n", false);
        check(script, &[], "check(n > 3)\ncond(1)\n", false);
        check(script, &[], "x > 1\n", true);
    }

    #[test]
    fn calls_go_on_being_given_several_functions() {
        let script = "def f(x): pass\ndef g(x): pass\ncond(n, f, g, x)\n";
        check(script, &[], script, true);
        check(script, &[], "def f(x): pass\ncond(n, f, x)\n", false);
        check(script, &[], "def f(x): pass\nf(x)\n", true);
        check(
            script,
            &[],
            "def f(x): pass\ncond(1, f, lambda x: x, x)\n",
            true,
        );
    }

    #[test]
    fn switches_of_what_fails_stay() {
        let script = "from lib import T\nt = T()\nt.checks = True\nlog.level = 3\nt.trace(f)\n";
        check(script, &[5], "t = T()\nt.checks = True\nt.trace(f)\n", true);
        check(script, &[5], "T().trace(f)\n", false);
        check(script, &[5], "log.level = 3\nt.trace(f)\n", false);
        let own = script.replace("from lib import T", "class T: pass");
        check(&own, &[5], "T().trace(f)\n", true);
    }

    #[test]
    fn negative_arguments_stay_negative() {
        let script = "vmap(f, out_dims=-1)(x)\nx.sum(-1)\n";
        check(script, &[1], "vmap(f, out_dims=-2)(x)\n", true);
        check(script, &[1], "vmap(f)(x)\n", true);
        check(script, &[1], "vmap(f, out_dims=1)(x)\n", false);
        check(script, &[1], "x.sum(1)\n", true);
    }

    #[test]
    fn functions_are_not_replaced_by_constants() {
        let script =
            "def nop(g): pass\ndef f(): pass\nm.aot(f, nop)\nm.aot(lambda: 0, key=nop)\nuse(1)\n";
        check(script, &[], "aot(f, lambda g: g)\n", true);
        check(script, &[], "aot(f, 0)\n", false);
        check(script, &[], "aot(f, key=None)\n", false);
        check(script, &[], "use(2)\naot(f, x)\n", true);
        let other = "class A:\n    def size(self): pass\ndef f(size): make(size)\n";
        check(other, &[], "make(2)\n", true);
    }

    #[test]
    fn mappings_are_not_replaced_by_constants() {
        let script = "y = x.astype({'a': 'b'})\nuse(1)\n";
        check(script, &[], "x.astype({'': 'b'})\nuse(2)\n", true);
        check(script, &[], "x.astype('b')\n", false);
        check(script, &[], "x.astype(y)\n", true);
    }
}
