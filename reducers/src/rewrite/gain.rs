//! Whether edits are worth proposing: their result must be a program, and a simpler one. Called by
//! passes that cannot tell beforehand. Many proposals are weighed, and each changes a few statements
//! of a program that may have thousands: so only the lines of those statements are parsed.

use std::{
    cell::{OnceCell, RefCell},
    collections::HashMap,
};

use crate::{
    cost::{Cost, tokens_of},
    rewrite::{
        edit::EditSet,
        splice::{Edit, splice},
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, TextSize,
        ast::{Stmt, comparable::ComparableStmt},
    },
    torch::{
        compilation::hides_compile, environment::PlainBackends, library_imports::LibraryImports,
    },
};

/// What edits of a program are weighed by.
pub(crate) struct GainScales<'a> {
    program: &'a Program,
    cost: OnceCell<Cost>,
    sections: OnceCell<Option<Sections<'a>>>,
}

/// The program as sections that are weighed alone.
struct Sections<'a> {
    imports: LibraryImports<'a>,
    /// Where a top-level statement starts that begins a line.
    starts: Vec<TextSize>,
    /// What those sections cost that were weighed.
    costs: RefCell<HashMap<TextRange, Option<Cost>>>,
}

/// The lines that edits change, before and after.
struct ChangedLines<'a> {
    before: TextRange,
    after: Program,
    sections: &'a Sections<'a>,
}

impl<'a> GainScales<'a> {
    pub(crate) fn of(program: &'a Program) -> Self {
        Self {
            program,
            cost: OnceCell::new(),
            sections: OnceCell::new(),
        }
    }

    /// Whether edits make a program, and a simpler one.
    pub(crate) fn gains(&self, edits: &EditSet) -> bool {
        let Ok(edits) = edits.resolve(self.program) else {
            return false;
        };
        match self.change(&edits) {
            Ok(change) => {
                let costs = change.costs(self.program);
                costs.map_or_else(
                    || self.gains_in_all(&edits),
                    |[before, after]| after < before,
                )
            }
            Err(Narrow::Broken) => false,
            Err(Narrow::All) => self.gains_in_all(&edits),
        }
    }

    /// Whether edits that are known to make a program make a simpler one. Parses nothing if they
    /// clearly remove more than they add.
    pub(crate) fn lightens(&self, edits: &EditSet) -> bool {
        let program = self.program;
        let Ok(disjoint) = edits.resolve(program) else {
            return false;
        };
        let gone: u64 = disjoint
            .iter()
            .map(|edit| 16 * tokens_in(program, edit.range) + literals(program.slice(edit.range)))
            .sum();
        // A piece of a program is somewhat fewer tokens than its words and marks.
        let comes: u64 = disjoint
            .iter()
            .map(|edit| 16 * tokens_of(&edit.text) + literals(&edit.text))
            .sum();
        gone > comes || self.gains(edits)
    }

    /// Whether edits change nothing but how the program is written.
    pub(crate) fn means_the_same(&self, edits: &EditSet) -> bool {
        let Ok(edits) = edits.resolve(self.program) else {
            return false;
        };
        match self.change(&edits) {
            Ok(change) => {
                let own = self.program.body().iter();
                let before = own.filter(|stmt| change.before.contains_range(stmt.range()));
                are_the_same(before, change.after.body())
            }
            Err(Narrow::Broken) => false,
            Err(Narrow::All) => self
                .after(&edits)
                .is_some_and(|after| are_the_same(self.program.body().iter(), after.body())),
        }
    }

    fn gains_in_all(&self, edits: &[Edit]) -> bool {
        let cost = || Cost::of(self.program);
        self.after(edits)
            .is_some_and(|after| Cost::of(&after) < *self.cost.get_or_init(cost))
    }

    /// The whole program with the edits done.
    fn after(&self, edits: &[Edit]) -> Option<Program> {
        let text = splice(self.program.text(), edits);
        self.program.sibling(text).ok()
    }

    fn change(&self, edits: &[Edit]) -> Result<ChangedLines<'_>, Narrow> {
        let sections = || Sections::of(self.program);
        let sections = self.sections.get_or_init(sections).as_ref();
        let sections = sections.ok_or(Narrow::All)?;
        let before = sections.around(self.program, edits).ok_or(Narrow::All)?;
        let inside: Vec<Edit> = edits
            .iter()
            .map(|edit| Edit::replace(edit.range - before.start(), edit.text.as_str()))
            .collect();
        let text = splice(self.program.slice(before), &inside);
        let is_last = before.end() == TextSize::of(self.program.text());
        if !is_last && !text.is_empty() && !text.ends_with('\n') {
            return Err(Narrow::All);
        }
        let after = self.program.sibling(text).map_err(|_| Narrow::Broken)?;
        // The statement that follows would be the first.
        if before.start() == TextSize::new(0) && after.body().is_empty() {
            return Err(Narrow::All);
        }
        Ok(ChangedLines {
            before,
            after,
            sections,
        })
    }
}

/// Why edits cannot be judged by the lines that they change.
enum Narrow {
    /// They leave no program.
    Broken,
    /// The others matter too.
    All,
}

impl<'a> Sections<'a> {
    /// `None` where what is imported or defined depends on every statement.
    fn of(program: &'a Program) -> Option<Self> {
        let tree = program.tree();
        let is_global = |node: AnyNodeRef<'_>| match node {
            AnyNodeRef::StmtImportFrom(import) => {
                import.names.iter().any(|alias| alias.name.as_str() == "*")
            }
            node => hides_compile(node),
        };
        if tree.nodes.iter().any(|node| is_global(node.node)) {
            return None;
        }
        let starts = program.body().iter();
        let starts = starts.filter_map(|stmt| program.logical_start(stmt.start()));
        Some(Self {
            imports: LibraryImports::of(program),
            starts: starts.collect(),
            costs: RefCell::default(),
        })
    }

    /// The lines of the statements that edits touch. One that touches the start of a statement may
    /// continue the one before.
    fn around(&self, program: &Program, edits: &[Edit]) -> Option<TextRange> {
        let [first, last] = [edits.first()?, edits.last()?].map(|edit| edit.range);
        let before = self.starts.partition_point(|start| *start < first.start());
        let start = before
            .checked_sub(1)
            .map_or(TextSize::new(0), |at| self.starts[at]);
        let after = self.starts.partition_point(|start| *start < last.end());
        let end = self.starts.get(after).copied();
        let end = end.unwrap_or_else(|| TextSize::of(program.text()));
        Some(TextRange::new(start, end))
    }

    /// What a section costs; `None` if what it imports or defines matters to others.
    fn cost(&self, section: &Program, is_start: bool) -> Option<Cost> {
        let reaches_out = |node: AnyNodeRef<'_>| {
            matches!(
                node,
                AnyNodeRef::StmtImport(_) | AnyNodeRef::StmtImportFrom(_)
            ) || hides_compile(node)
        };
        let mut nodes = section.tree().nodes.iter();
        (!nodes.any(|node| reaches_out(node.node)))
            .then(|| Cost::of_part(section, &self.imports, is_start))
    }
}

impl ChangedLines<'_> {
    /// What the lines cost before and after; `None` where that doesn't tell how the costs of the
    /// whole compare. The environment alone does not add up: the most demanding place decides.
    fn costs(&self, program: &Program) -> Option<[Cost; 2]> {
        let is_start = self.before.start() == TextSize::new(0);
        let weigh = || {
            let section = program.sibling(program.slice(self.before)).ok()?;
            self.sections.cost(&section, is_start)
        };
        let mut costs = self.sections.costs.borrow_mut();
        let before = (*costs.entry(self.before).or_insert_with(weigh))?;
        let after = self.sections.cost(&self.after, is_start)?;
        (before.environment == after.environment).then_some([before, after])
    }
}

/// Refuses edits that remove the reason why a program has a low rank of environment, such as the
/// argument that names a plain backend. They look like any other removal, but raise the cost; the
/// cost itself is only computed where edits touch such a place.
pub(crate) struct RankGuard(PlainBackends);

impl RankGuard {
    pub(crate) fn of(program: &Program) -> Self {
        Self(PlainBackends::of(program))
    }

    /// Whether edits may be proposed.
    pub(crate) fn admits(&self, scales: &GainScales<'_>, edits: &EditSet) -> bool {
        !self.0.are_touched_by(scales.program, edits) || scales.gains(edits)
    }
}

fn are_the_same<'a>(before: impl Iterator<Item = &'a Stmt>, after: &'a [Stmt]) -> bool {
    let before = before.map(ComparableStmt::from);
    before.eq(after.iter().map(ComparableStmt::from))
}

/// The approximate weight of the literals of a text, in sixteenths of a token.
fn literals(text: &str) -> u64 {
    if text.contains(['\'', '"']) {
        return text.len() as u64;
    }
    4 * text.bytes().filter(u8::is_ascii_digit).count() as u64
}

fn tokens_in(program: &Program, range: TextRange) -> u64 {
    let tokens =
        &program.tokens()[program.token_from(range.start())..program.token_from(range.end())];
    tokens
        .iter()
        .map(|token| u64::from(program.weight_in_tokens(*token)))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::rows::ItemId;

    const TEXT: &str = "\
\"\"\"Says much.\"\"\"
import torch

# The work.
def work(x, y=1):
    'doc'
    if x: return torch.compile(x.half(), backend='eager')
    else:
        return f'{y} {x!r}'


'alone'
class A(object):
    'doc'
x = work(0x10, y=768); y = work(torch.ones(2).double().cuda())
a_name_of_many_letters = a_function_of_many_letters(a_name_of_many_letters, an_argument_of_it)
with A() as a:

    print(*[1, (2)], sep='',)
@print
def last(): pass";

    /// The edits that a small change anywhere makes: each thing removed, each token removed, or
    /// another text put before it.
    fn small_edits(program: &Program) -> Vec<EditSet> {
        let mut all = Vec::new();
        for (row, content) in (0..).zip(program.rows()) {
            let items = 0..content.items.len() as u32;
            all.extend(items.map(|item| EditSet::removal(ItemId { row, item })));
        }
        for token in program.tokens() {
            let range = token.range();
            all.push(EditSet::one(Edit::delete(range)));
            for text in [
                "1 + ",
                "    pass\n",
                "import os\n",
                "'a'\n",
                "\n",
                "else: x\n",
                "#",
            ] {
                all.push(EditSet::one(Edit::replace(
                    TextRange::empty(range.start()),
                    text,
                )));
            }
        }
        let pairs: Vec<EditSet> = all.windows(9).map(|some| some[0].union(&some[8])).collect();
        all.extend(pairs);
        all
    }

    #[test]
    fn the_changed_lines_weigh_as_the_whole() {
        for text in [
            TEXT,
            &TEXT.replace("import torch", "from torch import *"),
            &TEXT.replace("last", "compile"),
        ] {
            let program = Program::parse(text).unwrap();
            let scales = GainScales::of(&program);
            let [mut gaining, mut same, mut narrow] = [0; 3];
            for edits in small_edits(&program) {
                let Ok(resolved) = edits.resolve(&program) else {
                    assert!(!scales.gains(&edits));
                    continue;
                };
                let after = scales.after(&resolved);
                let is_gain = scales.gains_in_all(&resolved);
                assert_eq!(
                    scales.gains(&edits),
                    is_gain,
                    "{:?}",
                    after.map(|after| after.text().to_owned())
                );
                let is_same = after
                    .as_ref()
                    .is_some_and(|after| are_the_same(program.body().iter(), after.body()));
                assert_eq!(scales.means_the_same(&edits), is_same, "{resolved:?}");
                gaining += u32::from(is_gain);
                same += u32::from(is_same);
                narrow += u32::from(scales.change(&resolved).is_ok());
            }
            assert!(gaining > 50 && same > 50, "{gaining} {same}");
            assert_eq!(narrow > 500, text == TEXT, "{narrow}");
        }
    }
}
