//! The sizes in a program that uses PyTorch and how they depend on each other: equal numbers are one
//! size, and a size may be a multiple, the product or the successor of others. Goes by the numbers
//! alone; a candidate run shows whether that was right. Called by every pass that makes numbers
//! smaller, and by the ablation.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    pass::PassContext,
    rewrite::edit::{Edit, EditSet},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize,
        ast::{Expr, Number},
    },
    torch::names::Torch,
};

/// Numbers up to this are as often choices, counts and indices as sizes.
const SMALL: u64 = 4;

/// Up to so many times another size one is taken for a multiple of it.
const TIMES: u64 = 8;

/// Smaller neighbours than this meet by accident.
const LARGE: u64 = 16;

/// The whole numbers of a program, with the places where each stands.
pub(crate) struct Dimensions {
    places: BTreeMap<u64, Vec<TextRange>>,
}

/// How a number comes of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// It stands for itself.
    Free,
    /// Two others, multiplied.
    Product(u64, u64),
    /// So many times another.
    Multiple(u64, u64),
    /// One more than another, as the length of a row with a mark at its end.
    Next(u64),
}

impl Dimensions {
    /// Those of a program that imports PyTorch.
    pub(crate) fn of(program: &Program) -> Option<Self> {
        let tree = program.tree();
        Torch::of(program, tree)?;
        let mut places: BTreeMap<u64, Vec<TextRange>> = BTreeMap::new();
        for node in &tree.nodes {
            if let AnyNodeRef::ExprNumberLiteral(it) = node.node
                && let Number::Int(number) = &it.value
                && let Some(number) = number.as_u64().filter(|&number| number > 1)
            {
                places.entry(number).or_default().push(it.range);
            }
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
        let below = || self.places.range(2..number).rev().map(|(&it, _)| it);
        let factors = || below().filter(|it| number.is_multiple_of(*it));
        let product =
            factors().find(|&it| it > SMALL && it * it >= number && self.has(number / it));
        let multiple = factors().find(|&it| it > SMALL && number / it <= TIMES);
        match (product, multiple) {
            (Some(it), _) => Origin::Product(it, number / it),
            (_, Some(it)) => Origin::Multiple(number / it, it),
            _ if number > LARGE && self.has(number - 1) => Origin::Next(number - 1),
            _ => Origin::Free,
        }
    }

    /// All sizes as small as they can be without breaking how they hang together: none below
    /// `least`, those that differ still different, what divides another still dividing it.
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
                        .filter(|(it, _)| size.is_multiple_of(**it));
                    let step = divisors.map(|(&it, _)| of(it)).fold(1, lcm);
                    let first = least.div_ceil(step).max(1).saturating_mul(step);
                    // Many sizes have to be even.
                    let fits = |it: &u64| !taken.contains(it) && it % 2 == size % 2;
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

    /// One size made another everywhere, and what comes of it along; nothing for what itself comes
    /// of others.
    pub(crate) fn changed(&self, size: u64, smaller: u64) -> EditSet {
        let mut changed = BTreeMap::new();
        if matches!(
            self.origin(size),
            Origin::Product(..) | Origin::Multiple(..)
        ) {
            return EditSet::default();
        }
        changed.insert(size, smaller);
        for &other in self.places.range(size + 1..).map(|(it, _)| it) {
            let of = |size: u64| changed.get(&size).copied().unwrap_or(size);
            let after = match self.origin(other) {
                Origin::Product(one, two) => of(one) * of(two),
                Origin::Multiple(times, it) => times * of(it),
                Origin::Next(it) => of(it) + 1,
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

impl PassContext<'_> {
    /// Where the expressions start that are sizes of tensors and layers. No pass makes one 0: a
    /// tensor without elements is a special case for most of PyTorch and would puzzle the reader of
    /// the result.
    pub(crate) fn sizes(&self) -> BTreeSet<TextSize> {
        const MAKERS: &[&str] = &["randn", "rand", "zeros", "ones", "empty"];
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
            let is_maker = name.is_some_and(|name| MAKERS.contains(&name));
            if !(is_layer || is_maker || path.is_none() && is_method) {
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
    fn one_size_takes_along_what_comes_of_it() {
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
