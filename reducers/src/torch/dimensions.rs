//! The sizes in a program that uses PyTorch and how they depend on each other: equal numbers are
//! one size, and a size may be a multiple, the product or the successor of others. Goes only by the
//! numbers; a candidate run shows whether the answer was right. Called by every pass that makes
//! numbers smaller, and by the ablation.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    pass::PassContext,
    rewrite::{
        edit::{Edit, EditSet},
        parenthesize::tuple,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize,
        ast::{Expr, ExprCall, ExprNumberLiteral, Number},
    },
    torch::{
        environment::{checks_numbers, is_captured},
        names::{Torch, keyword},
    },
};

/// Numbers up to this are as often choices, counts and indices as they are sizes.
const SMALL: u64 = 4;

/// A size of up to this many times another counts as its multiple: four times a hidden size is
/// common, a hundred times is chance.
const TIMES: u64 = 8;

/// Successive numbers up to this are mere coincidence.
const LARGE: u64 = 16;

/// The whole numbers of a program, with the places where each stands.
pub(crate) struct Dimensions {
    places: BTreeMap<u64, Vec<TextRange>>,
}

/// How a number derives from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// It does not.
    Free,
    /// The product of two others.
    Product(u64, u64),
    /// A multiple of another.
    Multiple(u64, u64),
    /// One more than another, such as the length of a row with an end mark.
    Next(u64),
}

impl Dimensions {
    /// The numbers of a program that imports PyTorch.
    pub(crate) fn of(program: &Program) -> Option<Self> {
        let tree = program.tree();
        Torch::of(program, tree)?;
        let mut places: BTreeMap<u64, Vec<TextRange>> = BTreeMap::new();
        for (number, place) in whole_numbers(program).filter(|(number, _)| *number > 1) {
            places.entry(number).or_default().push(place);
        }
        Some(Self { places })
    }

    /// The sizes, the largest first, each with the number of its places.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = (u64, usize)> {
        self.places
            .iter()
            .rev()
            .map(|(&size, places)| (size, places.len()))
    }

    fn has(&self, number: u64) -> bool {
        self.places.contains_key(&number)
    }

    fn origin(&self, number: u64) -> Origin {
        let below = || {
            self.places
                .range(2..number)
                .rev()
                .map(|(&smaller, _)| smaller)
        };
        let factors = || below().filter(|factor| number.is_multiple_of(*factor));
        let product = factors().find(|&factor| {
            factor > SMALL && factor * factor >= number && self.has(number / factor)
        });
        let multiple = factors().find(|&factor| factor > SMALL && number / factor <= TIMES);
        match (product, multiple) {
            (Some(factor), _) => Origin::Product(factor, number / factor),
            (_, Some(factor)) => Origin::Multiple(number / factor, factor),
            _ if number > LARGE && self.has(number - 1) => Origin::Next(number - 1),
            _ => Origin::Free,
        }
    }

    /// Makes all sizes as small as possible while they keep their relations: none is below `least`,
    /// sizes that differ still differ, and a size that divides another still divides it.
    pub(crate) fn scaled(&self, least: u64) -> EditSet {
        let mut scaled: BTreeMap<u64, u64> = BTreeMap::new();
        let mut taken = BTreeSet::new();
        for &size in self.places.keys() {
            let of = |size: u64| scaled.get(&size).copied().unwrap_or(size);
            let smaller = match self.origin(size) {
                _ if size <= SMALL => size,
                Origin::Product(one, other) => of(one) * of(other),
                Origin::Multiple(times, other) => times * of(other),
                Origin::Next(other) => of(other) + 1,
                Origin::Free => {
                    let divisors = self
                        .places
                        .range(2..size)
                        .filter(|(divisor, _)| size.is_multiple_of(**divisor));
                    let step = divisors.map(|(&divisor, _)| of(divisor)).fold(1, lcm);
                    let first = least.div_ceil(step).max(1).saturating_mul(step);
                    // Code that halves a size needs it to be even.
                    let fits = |smaller: &u64| !taken.contains(smaller) && smaller % 2 == size % 2;
                    (first..size)
                        .step_by(step as usize)
                        .find(fits)
                        .unwrap_or(size)
                }
            };
            taken.insert(smaller.min(size));
            scaled.insert(size, smaller.min(size));
        }
        self.edits(&scaled)
    }

    /// Makes one size another everywhere, and changes the sizes that derive from it; empty for a
    /// size that itself derives from others.
    pub(crate) fn changed(&self, size: u64, smaller: u64) -> EditSet {
        let mut changed = BTreeMap::new();
        if matches!(
            self.origin(size),
            Origin::Product(..) | Origin::Multiple(..)
        ) {
            return EditSet::default();
        }
        changed.insert(size, smaller);
        for &other in self.places.range(size + 1..).map(|(other, _)| other) {
            let of = |size: u64| changed.get(&size).copied().unwrap_or(size);
            let after = match self.origin(other) {
                Origin::Product(one, two) => of(one) * of(two),
                Origin::Multiple(times, base) => times * of(base),
                Origin::Next(previous) => of(previous) + 1,
                Origin::Free => other,
            };
            changed.insert(other, after.min(other));
        }
        self.edits(&changed)
    }

    fn edits(&self, sizes: &BTreeMap<u64, u64>) -> EditSet {
        let mut edits = EditSet::default();
        for (size, smaller) in sizes.iter().filter(|(size, smaller)| size != smaller) {
            for &place in &self.places[size] {
                edits.edit(Edit::replace(place, smaller.to_string()));
            }
        }
        edits
    }
}

fn lcm(one: u64, other: u64) -> u64 {
    let (mut a, mut b) = (one, other);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    (one / a.max(1)).saturating_mul(other)
}

/// Functions whose arguments are the sizes of a new tensor.
const FACTORIES: &[&str] = &["randn", "rand", "zeros", "ones", "empty"];

/// A shape that a call of a factory such as `torch.ones` writes out.
pub(crate) struct WrittenShape<'a> {
    /// Its name for people.
    pub(crate) name: String,
    /// The place where it is written.
    pub(crate) range: TextRange,
    /// Its sizes, from the first dimension to the last.
    pub(crate) sizes: Vec<&'a Expr>,
    brackets: Option<(char, char)>,
}

impl<'a> WrittenShape<'a> {
    /// The shape that a call asks for; none if it is not written out.
    pub(crate) fn of(program: &Program, torch: &Torch<'_>, call: &'a ExprCall) -> Option<Self> {
        let path = torch.path(&call.func)?;
        let name = path
            .strip_prefix("torch.")
            .filter(|name| *name == "full" || FACTORIES.contains(name))?;
        let first = call
            .arguments
            .args
            .first()
            .or(keyword(call, "size").map(|size| &size.value))?;
        let grouped = |elements: &'a [Expr], brackets| Self {
            name: program.slice(first.range()).to_owned(),
            range: first.range(),
            sizes: elements.iter().collect(),
            brackets: Some(brackets),
        };
        match first {
            Expr::Tuple(tuple) => Some(grouped(&tuple.elts, ('(', ')'))),
            Expr::List(list) => Some(grouped(&list.elts, ('[', ']'))),
            // The second argument of `full` is its value.
            Expr::NumberLiteral(_) if name != "full" => {
                let sizes: Vec<&Expr> = call.arguments.args.iter().collect();
                let range = TextRange::new(first.start(), sizes.last()?.end());
                let function = program.slice(call.func.range());
                let name = format!("{function}({})", program.slice(range));
                let is_written = sizes.iter().all(|size| whole_number(size).is_some());
                is_written.then_some(Self {
                    name,
                    range,
                    sizes,
                    brackets: None,
                })
            }
            _ => None,
        }
    }

    /// The text of the shape without one of its dimensions.
    pub(crate) fn without(&self, program: &Program, dimension: usize) -> String {
        let mut left: Vec<&str> = self
            .sizes
            .iter()
            .map(|size| program.slice(size.range()))
            .collect();
        left.remove(dimension);
        match self.brackets {
            Some(('(', _)) => tuple(&left),
            Some((open, close)) => format!("{open}{}{close}", left.join(", ")),
            None if left.is_empty() => "()".to_owned(),
            None => left.join(", "),
        }
    }
}

/// The whole numbers that a program writes out, each with its place.
pub fn whole_numbers(program: &Program) -> impl Iterator<Item = (u64, TextRange)> {
    let nodes = program.tree().nodes.iter();
    nodes.filter_map(|node| whole_literal(node.node.as_expr_number_literal()?))
}

/// The value of a whole number that is written out, and its place.
pub(crate) fn whole_number(expr: &Expr) -> Option<(u64, TextRange)> {
    whole_literal(expr.as_number_literal_expr()?)
}

fn whole_literal(literal: &ExprNumberLiteral) -> Option<(u64, TextRange)> {
    match &literal.value {
        Number::Int(number) => Some((number.as_u64()?, literal.range)),
        _ => None,
    }
}

impl PassContext<'_> {
    /// The least size of tensors. A size of 0 or 1 is a constant to everything that captures
    /// graphs, where larger sizes may be symbols: a program with such a size fails for reasons of
    /// its own, often with the same words. Also, along a dimension of 1, many results are trivially
    /// right or wrong: a softmax, a variance, a broadcast value.
    pub(crate) fn least_size(&self) -> u64 {
        let (program, tree) = (self.program, self.program.tree());
        if is_captured(program, tree) || checks_numbers(program, tree) {
            2
        } else {
            1
        }
    }

    /// Where the expressions start that are sizes of tensors and layers. No pass makes one 0: a
    /// tensor without elements is a special case for most of PyTorch and would puzzle the reader of
    /// the result.
    pub(crate) fn sizes(&self) -> BTreeSet<TextSize> {
        const METHODS: &[&str] = &[
            "view",
            "reshape",
            "expand",
            "new_zeros",
            "new_ones",
            "new_empty",
        ];
        let tree = self.program.tree();
        let mut found = BTreeSet::new();
        let Some(torch) = Torch::of(self.program, tree) else {
            return found;
        };
        for node in &tree.nodes {
            let AnyNodeRef::ExprCall(call) = node.node else {
                continue;
            };
            let path = torch.path(&call.func);
            let name = path.as_deref().and_then(|path| path.strip_prefix("torch."));
            let is_layer = name
                .and_then(|name| name.strip_prefix("nn."))
                .is_some_and(|layer| layer.starts_with(char::is_uppercase));
            let is_method = matches!(&*call.func, Expr::Attribute(method) if METHODS.contains(&method.attr.as_str()));
            let is_factory = name.is_some_and(|name| FACTORIES.contains(&name));
            if !(is_layer || is_factory || path.is_none() && is_method) {
                continue;
            }
            for argument in &call.arguments.args {
                match argument {
                    Expr::Tuple(tuple) => found.extend(tuple.elts.iter().map(Ranged::start)),
                    Expr::List(list) => found.extend(list.elts.iter().map(Ranged::start)),
                    _ => {}
                }
                found.insert(argument.start());
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(numbers: &str, least: u64, expected: &str) {
        let program = Program::parse(format!("import torch\nf({numbers})\n")).unwrap();
        let text = Dimensions::of(&program)
            .unwrap()
            .scaled(least)
            .apply(&program)
            .unwrap();
        assert_eq!(text, format!("import torch\nf({expected})\n"));
    }

    #[test]
    fn related_sizes_stay_related() {
        // A hidden size, four times that, heads and what they divide it into.
        check("768, 3072, 12, 64", 2, "8, 32, 2, 4");
        // Sizes that only differ, and one that another divides.
        check("1000, 128, 5, 7, 128, 8", 2, "6, 4, 3, 5, 4, 2");
        check("128, 129, 2", 4, "4, 5, 2");
        check("96, 32, 3, 4", 8, "24, 8, 3, 4");
    }

    #[test]
    fn derived_sizes_change_with_a_size() {
        let program = Program::parse("import torch\nf(768, 12, 64, 3072, 65, 9)\n").unwrap();
        let dimensions = Dimensions::of(&program).unwrap();
        let text = dimensions.changed(64, 2).apply(&program).unwrap();
        assert_eq!(text, "import torch\nf(24, 12, 2, 96, 3, 9)\n");
        assert!(dimensions.changed(768, 2).is_empty());
    }

    #[test]
    fn programs_without_pytorch_have_none() {
        assert!(Dimensions::of(&Program::parse("import numpy\nf(768, 12)\n").unwrap()).is_none());
    }
}
