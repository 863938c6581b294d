//! The statements of a program by their place, and the attributes that they define. Called by
//! passes and by the room for PyTorch; proposes nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::syntax::{
    AnyNodeRef, Program, Ranged, TextRange, TextSize, ast::ExprContext, rows::ItemId,
    scope::ScopeKind,
};

/// Statements of a program by their range.
pub(crate) struct Statements<'a> {
    program: &'a Program,
    by_range: BTreeMap<(TextSize, TextSize), ItemId>,
}

/// An attribute that the program itself defines: by the members of its classes of that name, and by
/// assignments.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attribute {
    /// The statements that define it.
    pub(crate) definitions: Vec<ItemId>,
    /// The statements that read it, and where.
    pub(crate) uses: Vec<(ItemId, TextRange)>,
}

impl<'a> Statements<'a> {
    /// All statements of a program.
    pub(crate) fn of(program: &'a Program) -> Self {
        let mut by_range = BTreeMap::new();
        for (id, row, range) in program.items() {
            if row.kind.is_suite() {
                by_range.insert((range.start(), range.end()), id);
            }
        }
        Self { program, by_range }
    }

    /// The place of a statement.
    pub(crate) fn place(&self, statement: TextRange) -> Option<ItemId> {
        self.by_range
            .get(&(statement.start(), statement.end()))
            .copied()
    }

    /// The statement that stands after another, in the same suite.
    pub(crate) fn next(&self, place: ItemId) -> Option<TextRange> {
        self.program
            .row(place)
            .items
            .get(place.item as usize + 1)
            .copied()
    }

    /// The attributes that the program defines, by name; those with a meaning to the interpreter
    /// are left out.
    pub(crate) fn attributes(&self) -> BTreeMap<&'a str, Attribute> {
        let mut found: BTreeMap<&str, Attribute> = BTreeMap::new();
        let is_special = |name: &str| name.starts_with("__") && name.ends_with("__");
        for variable in &self.program.scopes().variables {
            if variable.scope == ScopeKind::Class && !is_special(&variable.name) {
                let definitions = variable
                    .bindings
                    .iter()
                    .filter_map(|binding| self.place(binding.statement));
                found
                    .entry(&variable.name)
                    .or_default()
                    .definitions
                    .extend(definitions);
            }
        }
        let tree = self.program.tree();
        let mut loads = Vec::new();
        for (index, node) in tree.nodes.iter().enumerate() {
            let AnyNodeRef::ExprAttribute(it) = node.node else {
                continue;
            };
            let around = tree
                .ancestors(index as u32)
                .find(|statement| statement.is_statement());
            let Some(place) = around.and_then(|statement| self.place(statement.range())) else {
                continue;
            };
            if it.ctx == ExprContext::Load {
                loads.push((it.attr.as_str(), place, it.range));
            } else if !is_special(&it.attr) {
                found
                    .entry(it.attr.as_str())
                    .or_default()
                    .definitions
                    .push(place);
            }
        }
        for (name, place, range) in loads {
            if let Some(attribute) = found.get_mut(name) {
                attribute.uses.push((place, range));
            }
        }
        found.retain(|_, attribute| !attribute.definitions.is_empty());
        found
    }

    /// The text of a statement.
    pub(crate) fn range(&self, place: ItemId) -> TextRange {
        self.program.item(place)
    }

    /// How much of the program's text some statements are, in bytes, nested ones counted once.
    pub(crate) fn extent(&self, places: &BTreeSet<ItemId>) -> u32 {
        let mut ranges: Vec<TextRange> = places.iter().map(|&place| self.range(place)).collect();
        ranges.sort_unstable_by_key(|range| (range.start(), std::cmp::Reverse(range.end())));
        let (mut total, mut end) = (0, TextSize::new(0));
        for range in ranges {
            if range.end() > end {
                total += u32::from(range.end()) - u32::from(range.start().max(end));
                end = range.end();
            }
        }
        total
    }
}
