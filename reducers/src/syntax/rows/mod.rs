//! Rows of things that can be removed one by one: the statements of a suite, the arguments of a
//! call, the elements of a display, the names of an import. `rewrite::removal` writes a program
//! without some of them. Called by `rewrite`, `analysis` and passes; proposes nothing.

mod collect;

use crate::syntax::{Program, TextRange};
pub(crate) use collect::{collect, widened};

/// One thing of one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId {
    /// The row, by its index in [`Program::rows`].
    pub row: u32,
    /// The thing, by its index in the row.
    pub item: u32,
}

/// A row of things of which any can be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its index in [`Program::rows`].
    pub index: u32,
    /// The kind of things in the row.
    pub kind: RowKind,
    /// How many statements enclose the row.
    pub depth: u16,
    /// The range of the things, brackets and outer layout not included, unless they go with the
    /// last of the row.
    pub inner: TextRange,
    /// The range of each thing, with parentheses round it, without the separator.
    pub items: Vec<TextRange>,
}

/// The kind of things in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RowKind {
    /// The top-level statements.
    Module,
    /// The statements of a block.
    Suite,
    /// Decorators of a function or class.
    Decorators,
    /// Arguments of a call, bases and keywords of a class.
    Arguments,
    /// Elements of a list display.
    Elements,
    /// Elements of a set display.
    SetElements,
    /// Elements of a tuple; unparenthesized ones included.
    TupleElements {
        /// Whether it has its own parentheses.
        parenthesized: bool,
    },
    /// Entries of a dict display.
    Entries,
    /// Names of an import statement.
    ImportNames,
    /// Names of `global` and `nonlocal`, targets of `del`.
    Names,
    /// Targets of an assignment, each followed by an equals sign.
    Targets,
    /// Items of a `with` statement.
    WithItems,
    /// Operands of a chain of `and`, `or` or comparisons.
    Operands,
    /// Alternatives of a pattern.
    Alternatives,
    /// `for` clauses of a comprehension with their conditions.
    Generators,
    /// Adjacent strings that form one string.
    StringParts,
    /// Type parameters; the brackets go with the last.
    TypeParameters,
    /// Parameters of a function or lambda. A lone `/` or `*` is removed together with its only
    /// parameter.
    Parameters,
}

impl Row {
    /// The things with their ids, in order.
    pub fn with_ids(&self) -> impl DoubleEndedIterator<Item = (ItemId, TextRange)> + '_ {
        (0..self.items.len()).map(|item| (self.id(item), self.items[item]))
    }

    /// The id of the thing at an index.
    pub fn id(&self, item: usize) -> ItemId {
        ItemId {
            row: self.index,
            item: item as u32,
        }
    }
}

impl Program {
    /// All things of all rows.
    pub fn items(&self) -> impl Iterator<Item = (ItemId, &Row, TextRange)> {
        let rows = self.rows().iter();
        rows.flat_map(|row| row.with_ids().map(move |(id, range)| (id, row, range)))
    }

    /// The row of a thing.
    pub fn row(&self, id: ItemId) -> &Row {
        &self.rows()[id.row as usize]
    }

    /// The range of a thing.
    pub fn item(&self, id: ItemId) -> TextRange {
        self.row(id).items[id.item as usize]
    }
}

impl RowKind {
    /// Whether the row holds statements.
    pub fn is_suite(self) -> bool {
        matches!(self, Self::Module | Self::Suite)
    }

    /// The text that replaces an empty row; `None` if something must stay.
    pub(crate) fn filler(self) -> Option<&'static str> {
        match self {
            Self::Suite => Some("pass"),
            Self::Module
            | Self::Decorators
            | Self::Arguments
            | Self::Elements
            | Self::Entries
            | Self::Parameters
            | Self::Targets
            | Self::TypeParameters => Some(""),
            Self::TupleElements { parenthesized } => Some(if parenthesized { "" } else { "()" }),
            Self::SetElements
            | Self::ImportNames
            | Self::Names
            | Self::WithItems
            | Self::Operands
            | Self::Alternatives
            | Self::Generators
            | Self::StringParts => None,
        }
    }
}
