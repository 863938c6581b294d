//! The values that the conditions of a reporting statement compare: their places in the text, and
//! what a run wrote down about them. Called by the judge; proposes nothing.

use std::collections::BTreeMap;

use crate::{
    analysis::{
        assignments::assigned_values,
        dependence_check::{Nodes, ReportSite, Rest, Side, tests, told},
        observation::{Observation, marked},
        statement_tree::StatementTree,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange,
        ast::{CmpOp, Expr, ExprCall, Operator},
    },
    trace::evidence::Evidence,
};

/// The mark between the kind of an array, its numbers and its shape.
const NUMBERS: char = '\u{1d}';

/// Functions that make an array, or another value, from their arguments.
const MAKERS: [&str; 12] = [
    "Decimal",
    "Fraction",
    "Series",
    "Tensor",
    "array",
    "as_tensor",
    "asarray",
    "complex",
    "float",
    "int",
    "list",
    "tensor",
];

/// The beginnings of the names of values that the nearest conditions compare, and that others do.
const NEAREST: &str = "nearest";
const OUTER: &str = "outer";

/// How many names may stand between a value and its literals.
const DEPTH: usize = 8;

/// The values that the conditions of reporting statements compare, in order, with the distance of
/// each condition from its statement.
pub fn operands(
    program: &Program,
    report_site: &ReportSite,
    evidence: Option<&Evidence>,
) -> Vec<(TextRange, usize)> {
    let found = told(program, report_site, evidence, &|tree, nodes, frames| {
        operands_of(tree, nodes, report_site, &frames)
    });
    let mut operands: Vec<(TextRange, usize)> = found
        .into_iter()
        .flatten()
        .map(|operand| (operand.range, operand.rank))
        .collect();
    operands.sort_by_key(|(range, rank)| (range.start(), *rank));
    operands.dedup_by_key(|(range, _)| *range);
    operands
}

/// The values that the nearest conditions of reporting statements compare.
pub(crate) fn nearest_operands(program: &Program, report_site: &ReportSite) -> Vec<TextRange> {
    let operands = operands(program, report_site, None).into_iter();
    let nearest = operands.filter(|(_, rank)| *rank == 0);
    nearest.map(|(range, _)| range).collect()
}

/// The dependences of each side of the nearest condition by itself. None if several statements may
/// have reported it.
pub fn sides(
    program: &Program,
    report_site: &ReportSite,
    evidence: Option<&Evidence>,
) -> Vec<Side> {
    let mut found = told(program, report_site, evidence, &|tree, nodes, frames| {
        let operands = operands_of(tree, nodes, report_site, &frames);
        let nearest = operands.into_iter().filter(|operand| operand.rank == 0);
        nearest
            .map(|operand| Rest::of(tree, nodes).of_part(operand.statement, operand.range, &frames))
            .collect::<Vec<Side>>()
    });
    if found.len() == 1 {
        found.remove(0)
    } else {
        Vec::new()
    }
}

/// The fewest arguments that each function which the nearest condition asks is given, by the last
/// part of its name; nothing where several statements may have reported it.
pub fn asked(program: &Program, report_site: &ReportSite) -> BTreeMap<String, usize> {
    let found = told(program, report_site, None, &|tree, nodes, frames| {
        let nearest = Rest::of(tree, nodes)
            .conditions_of(&frames)
            .into_iter()
            .next();
        let tests = nearest.map(|statement| tests(tree.statements[statement].node));
        let tests = tests.into_iter().flatten();
        let nodes = tests.flat_map(|test| program.tree().within(test.range()));
        let mut asked = BTreeMap::new();
        for call in nodes.filter_map(|node| node.as_expr_call().copied()) {
            let name = program.slice(call.func.range()).rsplit('.').next();
            let count = call.arguments.len();
            let fewest = asked.entry(name.unwrap_or_default().to_owned());
            fewest
                .and_modify(|fewest: &mut usize| *fewest = count.min(*fewest))
                .or_insert(count);
        }
        asked
    });
    match <[_; 1]>::try_from(found) {
        Ok([asked]) => asked,
        Err(_) => BTreeMap::new(),
    }
}

/// How many elements of the displays that the nearest conditions compare are written out:
/// `(a.x, 0) == (0, 1)` has three.
pub fn written_elements(program: &Program, report_site: &ReportSite) -> usize {
    let nearest = nearest_operands(program, report_site);
    let nodes = program.tree().nodes.iter();
    let displays = nodes.filter(|node| nearest.contains(&node.node.range()));
    let elements = displays.filter_map(|node| match node.node {
        AnyNodeRef::ExprTuple(tuple) => Some(&tuple.elts),
        AnyNodeRef::ExprList(list) => Some(&list.elts),
        _ => None,
    });
    let written = elements
        .flatten()
        .filter(|element| element.is_literal_expr());
    written.count()
}

/// A value that a condition compares.
struct Operand {
    /// How far the condition is from the reporting statement.
    rank: usize,
    /// The statement that holds it.
    statement: usize,
    range: TextRange,
}

/// The values that the conditions of a reporting statement, given by its frames, compare.
fn operands_of(
    tree: &StatementTree<'_>,
    nodes: &Nodes<'_>,
    report_site: &ReportSite,
    frames: &[usize],
) -> Vec<Operand> {
    let mut operands = Vec::new();
    // A check of a library that raises is its own condition.
    let check = frames
        .last()
        .filter(|_| matches!(report_site, ReportSite::Raised(_)));
    if let Some(&statement) = check
        && let AnyNodeRef::StmtExpr(call) = tree.statements[statement].node
    {
        compared(&call.value, &mut |operand| {
            let range = operand.range();
            operands.push(Operand {
                rank: 0,
                statement,
                range,
            });
        });
        return operands;
    }
    let conditions = Rest::of(tree, nodes).conditions_of(frames);
    for (rank, statement) in conditions.into_iter().enumerate() {
        for test in tests(tree.statements[statement].node) {
            compared(test, &mut |operand| {
                let range = operand.range();
                operands.push(Operand {
                    rank,
                    statement,
                    range,
                });
            });
        }
    }
    operands
}

/// What makes a program write down the values that the conditions of reporting statements compare.
pub fn watching(
    program: &Program,
    report_site: &ReportSite,
    evidence: Option<&Evidence>,
) -> Observation {
    let mut observation = Observation::default();
    let operands = operands(program, report_site, evidence);
    for (place, (range, rank)) in operands.into_iter().enumerate() {
        let of = if rank == 0 { NEAREST } else { OUTER };
        observation.value(range, &format!("{of}{place}"));
    }
    observation
}

/// A value that a watched program wrote down, without the numbers of an array.
pub fn without_numbers(value: &str) -> &str {
    value.split(NUMBERS).next().unwrap_or(value)
}

/// Whether a nearest condition compares something with numbers that the program writes out. Such
/// numbers are true of those that the program computes with, and of no others.
pub fn expects_constants(program: &Program, report_site: &ReportSite) -> bool {
    let tree = program.tree();
    let nearest = operands(program, report_site, None);
    let is_nearest = |node: AnyNodeRef<'_>| {
        let mut nearest = nearest.iter().filter(|(_, rank)| *rank == 0);
        node.is_expression() && nearest.any(|(range, _)| *range == node.range())
    };
    let mut has_expected = false;
    let mut has_computed = false;
    for node in tree.nodes.iter().filter(|node| is_nearest(node.node)) {
        let parent = node.parent.map(|parent| tree.nodes[parent as usize].node);
        // A bound is no expected value.
        let is_equated = match parent {
            Some(AnyNodeRef::ExprCompare(compare)) => {
                let mut all = compare.ops.iter();
                all.all(|operator| matches!(operator, CmpOp::Eq | CmpOp::NotEq))
            }
            _ => true,
        };
        match literals(program, node.node, DEPTH) {
            Some(found) => has_expected |= is_equated && found.into_iter().any(is_telling),
            None => {
                has_computed = true;
                has_expected |= is_off_from_constant(program, node.node);
            }
        }
    }
    has_expected && has_computed
}

/// Whether an expression subtracts a constant from something, or the other way round.
fn is_off_from_constant(program: &Program, expression: AnyNodeRef<'_>) -> bool {
    let mut within = program.tree().within(expression.range());
    let is_constant = |side: &Expr| {
        let found = literals(program, side.into(), DEPTH);
        found.is_some_and(|found| found.into_iter().any(is_telling))
    };
    within.any(|node| match node {
        AnyNodeRef::ExprBinOp(operation) if operation.op == Operator::Sub => {
            is_constant(&operation.left) || is_constant(&operation.right)
        }
        _ => false,
    })
}

/// The literals that make up a value; none if anything else has a part in it.
fn literals<'a>(program: &'a Program, node: AnyNodeRef<'a>, depth: usize) -> Option<Vec<&'a str>> {
    let depth = depth.checked_sub(usize::from(node.is_expr_name()))?;
    let all = |parts: &mut dyn Iterator<Item = &'a Expr>| {
        let found = parts.map(|part| literals(program, part.into(), depth));
        Some(found.collect::<Option<Vec<_>>>()?.concat())
    };
    match node {
        AnyNodeRef::ExprNumberLiteral(literal) => Some(vec![program.slice(literal.range)]),
        AnyNodeRef::ExprUnaryOp(operation) => all(&mut std::iter::once(&*operation.operand)),
        AnyNodeRef::ExprBinOp(operation) => {
            all(&mut [&*operation.left, &*operation.right].into_iter())
        }
        AnyNodeRef::ExprList(list) => all(&mut list.elts.iter()),
        AnyNodeRef::ExprTuple(tuple) => all(&mut tuple.elts.iter()),
        AnyNodeRef::ExprCall(call) if is_maker(call) => all(&mut call.arguments.args.iter()),
        AnyNodeRef::ExprName(name) => all(&mut assigned_values(program, &name.id)?.into_iter()),
        _ => None,
    }
}

/// Whether a call makes an array, or another value, from its arguments.
pub(crate) fn is_maker(call: &ExprCall) -> bool {
    let name = match &*call.func {
        Expr::Name(name) => &name.id,
        Expr::Attribute(attribute) => &attribute.attr.id,
        _ => return false,
    };
    MAKERS.contains(&name.as_str()) && !call.arguments.args.is_empty()
}

/// Whether a number is not one that anything may be equal to.
fn is_telling(literal: &str) -> bool {
    !matches!(literal.parse(), Ok(0.0 | 1.0))
}

/// What a watched program wrote down: the last value at each place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// Of the nearest conditions.
    pub nearest: Vec<String>,
    /// Of all others.
    pub outer: Vec<String>,
    /// The shapes of the arrays among the nearest.
    pub shapes: Vec<String>,
}

impl Told {
    /// Reads it off the program's standard error.
    pub fn read(stderr: &str) -> Self {
        let mut values: BTreeMap<&str, &str> = BTreeMap::new();
        let of_watching = |place: &str| place.starts_with(NEAREST) || place.starts_with(OUTER);
        values.extend(marked(stderr).filter(|(place, _)| of_watching(place)));
        let mut told = Self::default();
        for (place, value) in values {
            let (value, shape) = match value.rsplit_once(NUMBERS) {
                Some((value, shape)) => (value, Some(shape)),
                None => (value, None),
            };
            if place.starts_with(NEAREST) {
                told.nearest.push(value.to_owned());
                told.shapes.extend(shape.map(str::to_owned));
            } else {
                told.outer.push(value.to_owned());
            }
        }
        told
    }

    /// Whether several arrays are compared that have the same shape, and hold something.
    pub fn compares_alike(&self) -> bool {
        let is_empty = |shape: &String| shape.split(['(', ',', ' ', ')']).any(|size| size == "0");
        self.compares_arrays()
            && self.shapes.windows(2).all(|pair| pair[0] == pair[1])
            && !self.shapes.iter().any(is_empty)
    }

    /// Whether several arrays are compared.
    pub fn compares_arrays(&self) -> bool {
        self.shapes.len() > 1
    }
}

/// The values that a test compares, or asks a function about.
fn compared<'a>(test: &'a Expr, found: &mut dyn FnMut(&'a Expr)) {
    match test {
        Expr::BoolOp(it) => it.values.iter().for_each(|value| compared(value, found)),
        Expr::UnaryOp(it) => compared(&it.operand, found),
        Expr::Compare(it) => std::iter::once(&*it.left)
            .chain(&it.comparators)
            .for_each(found),
        Expr::Call(it)
            if it
                .arguments
                .args
                .iter()
                .all(|argument| !argument.is_starred_expr())
                && !it.arguments.is_empty() =>
        {
            it.arguments.args.iter().for_each(found);
        }
        // `torch.isclose(a, b).all()`, `(a == b).all()`
        Expr::Call(it) if it.arguments.is_empty() => match it.func.as_attribute_expr() {
            Some(method) if method.value.is_call_expr() || method.value.is_compare_expr() => {
                compared(&method.value, found);
            }
            _ => found(test),
        },
        other => found(other),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::analysis::observation::readable;

    #[test]
    fn elements_that_are_written_out() {
        let count = |text: &str| {
            let program = Program::parse(text).unwrap();
            written_elements(&program, &ReportSite::Raised(vec![1]))
        };
        assert_eq!(count("assert (a.x, 0) == (0, 1)\n"), 3);
        assert_eq!(count("assert [f(x) for x in [1, 2]] == [3, 4]\n"), 2);
        assert_eq!(count("assert f([1, 2]) == 3\n"), 0);
    }

    #[test]
    fn a_watched_program_tells_what_it_compares() {
        let text =
            "def f(x):\n    if x < 1:\n        return\n    raise ValueError(str(x))\nf(abs(2))\n";
        let program = Program::parse(text).unwrap();
        let watching = watching(&program, &ReportSite::Raised(vec![5, 4]), None);
        let watched = readable(&watching.text(&program).unwrap());
        let condition = "if show(\"value\", \"nearest0\", x) < show(\"value\", \"nearest1\", 1):";
        assert!(watched.contains(condition), "{watched}");
        let told = "noise\u{1e}nearest0\u{1f}3\u{1e}\n\u{1e}nearest0\u{1f}'a'\u{1e}\nmore\u{1e}outer1\u{1f}4\u{1e}\n";
        assert_eq!(
            Told::read(told),
            Told {
                nearest: vec!["'a'".to_owned()],
                outer: vec!["4".to_owned()],
                shapes: Vec::new(),
            }
        );
    }

    #[test]
    fn arrays_of_one_shape_are_compared_alike() {
        let read = |shapes: [&str; 2]| {
            let [one, other] = shapes;
            let told = format!(
                "\u{1e}nearest0\u{1f}Tensor\u{1d}[1]\u{1d}{one}\u{1e}\u{1e}nearest1\u{1f}Tensor\u{1d}[1]\u{1d}{other}\u{1e}"
            );
            Told::read(&told)
        };
        assert_eq!(read(["(1,)", "()"]).nearest, ["Tensor\u{1d}[1]"; 2]);
        assert!(read(["(10, 2)", "(10, 2)"]).compares_alike());
        assert!(!read(["(1, 2)", "(2,)"]).compares_alike());
        assert!(!read(["(1, 0)", "(1, 0)"]).compares_alike());
        assert!(read(["(1, 0)", "(1, 0)"]).compares_arrays());
    }

    #[test]
    fn numbers_that_are_written_out_are_expected() {
        let expects = |text: &str| {
            let program = Program::parse(text).unwrap();
            let lines = vec![text.lines().count() as u32];
            expects_constants(&program, &ReportSite::Raised(lines))
        };
        let given = "y = torch.tensor(-0.25, dtype=d)\nx = f(y)\n";
        assert!(expects(&format!(
            "{given}torch.testing.assert_close(x, y)\n"
        )));
        assert!(expects(&format!(
            "{given}assert torch.allclose(x, y), (x, y)\n"
        )));
        assert!(expects("x = f()\nassert x == [3, 4]\n"));
        assert!(expects("x = f()\nassert abs(x - 2.5) < 1e-6\n"));
        assert!(!expects("x = f()\nassert abs(x - g()) < 1e-6\n"));
        assert!(!expects(
            "x = f()\nassert torch.equal(x, torch.tensor([0.0, 1]))\n"
        ));
        assert!(!expects("x, y = f()\ncheck(x, y)\n"));
        assert!(!expects("def f(y):\n    y = [2]\ncheck(x, y)\n"));
    }

    #[test]
    fn how_a_method_came_to_be_called_is_no_part_of_a_side() {
        let text = "class T(unittest.TestCase):\n    def f(self):\n        self.assertEqual(round(self.x), abs(2))\nT().debug()\n";
        let program = Program::parse(text).unwrap();
        let sides = sides(&program, &ReportSite::Raised(vec![4, 3]), None);
        let of = |side: &Side| {
            let operations: Vec<String> = side.operations.iter().cloned().collect();
            let constants: Vec<&str> = side.constants().into_iter().collect();
            (operations.join(" "), constants.join(" "))
        };
        let found = sides.iter().map(of);
        let expected = [("round()", ""), ("abs()", "2")];
        let expected =
            expected.map(|(operations, literals)| (operations.to_owned(), literals.to_owned()));
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_names_of_a_comprehension_belong_to_its_side() {
        let text = "x = [1]\nassert max(i for i in x) == min(x, 2)\n";
        let program = Program::parse(text).unwrap();
        let sides = sides(&program, &ReportSite::Raised(vec![2]), None);
        let constants: Vec<_> = sides.iter().map(Side::constants).collect();
        assert_eq!(
            constants,
            [BTreeSet::from(["1"]), BTreeSet::from(["1", "2"])]
        );
    }

    #[test]
    fn numbers_of_arrays_stand_behind_their_kind() {
        assert_eq!(without_numbers("Tensor\u{1d}[2.5]"), "Tensor");
        assert_eq!(without_numbers("'a'"), "'a'");
    }
}
