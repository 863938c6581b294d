//! Carries edits over to the program that other edits made. Called by the engine, whose proposals
//! outlive the program that they were made for.

use std::collections::BTreeMap;

use crate::{
    rewrite::edit::{Edit, EditSet},
    syntax::{
        Program, TextRange, TextSize,
        rows::{ItemId, RowKind},
    },
};

impl EditSet {
    /// The same set against the program that results from `done`, as far as there is something left
    /// of it.
    ///
    /// Edits that are done already, or lie within removed text, are dropped. `None` if nothing is
    /// left or an edit was only half done.
    pub fn rebase(&self, rebase: &Rebase<'_>) -> Option<Self> {
        let mut set = Self::default();
        for edit in &self.edits {
            if rebase.done.binary_search(edit).is_ok() {
                continue;
            }
            match rebase.map(edit.range) {
                Mapped::Gone => {}
                Mapped::Torn => return None,
                Mapped::At(range) => {
                    set.edits.insert(Edit {
                        range,
                        text: edit.text.clone(),
                    });
                }
            }
        }
        for removal in &self.removals {
            let row = rebase.from.row(*removal);
            match rebase.map(rebase.from.item(*removal)) {
                Mapped::Gone => {}
                Mapped::Torn => return None,
                Mapped::At(range) => {
                    set.removals.insert(*rebase.items.get(&(
                        row.kind,
                        range.start(),
                        range.end(),
                    ))?);
                }
            }
        }
        (!set.is_empty()).then_some(set)
    }
}

/// The way from one program to the one that some edits made of it.
pub struct Rebase<'a> {
    from: &'a Program,
    done: &'a [Edit],
    items: BTreeMap<(RowKind, TextSize, TextSize), ItemId>,
}

enum Mapped {
    At(TextRange),
    Gone,
    Torn,
}

impl<'a> Rebase<'a> {
    /// `to` is the program that `done`, disjoint and ascending, made from `from`.
    pub fn new(from: &'a Program, done: &'a [Edit], to: &Program) -> Self {
        let mut items = BTreeMap::new();
        for (id, row, range) in to.items() {
            items.insert((row.kind, range.start(), range.end()), id);
        }
        Self { from, done, items }
    }

    fn map(&self, range: TextRange) -> Mapped {
        let first = self
            .done
            .partition_point(|edit| edit.range.end() < range.start());
        let mut start = shifted(range.start(), self.done[..first].iter());
        let mut end = start + range.len();
        for edit in &self.done[first..] {
            let changed = edit.range;
            if changed.start() > range.end() {
                break;
            }
            if changed.is_empty() && !range.is_empty()
                || !changed.is_empty() && range.contains_range(changed) && changed != range
            {
                // Inside: the thing is still there, smaller. An insertion at its edge leaves it as
                // it was.
                if changed.start() == range.start() && changed.is_empty() {
                    start = resized(start, edit);
                    end = resized(end, edit);
                } else if changed.start() < range.end() {
                    end = resized(end, edit);
                }
            } else if changed.contains_range(range) && !changed.is_empty() && !range.is_empty() {
                return Mapped::Gone;
            } else if changed.end() <= range.start() {
                start = resized(start, edit);
                end = resized(end, edit);
            } else if changed.start() < range.end() {
                return Mapped::Torn;
            }
        }
        Mapped::At(TextRange::new(start, end))
    }
}

fn shifted<'e>(offset: TextSize, edits: impl Iterator<Item = &'e Edit>) -> TextSize {
    edits.fold(offset, resized)
}

fn resized(offset: TextSize, edit: &Edit) -> TextSize {
    offset + TextSize::of(edit.text.as_str()) - edit.range.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rewrite::edit::{splice, tests::removing};

    fn program(text: &str) -> Program {
        Program::parse(text).unwrap()
    }

    #[test]
    fn what_is_inserted_already_is_not_inserted_again() {
        let from = program("f()\ng()\n");
        let mut done = EditSet::default();
        done.edit(Edit {
            range: TextRange::empty(4.into()),
            text: "x = 1\n".to_owned(),
        });
        let mut later = removing(&from, &["f()"]);
        later.extend(&done);
        let edits = done.resolve(&from).unwrap();
        let to = program(&splice(from.text(), &edits));
        let rebased = later.rebase(&Rebase::new(&from, &edits, &to)).unwrap();
        assert_eq!(rebased.apply(&to).unwrap(), "x = 1\ng()\n");
    }

    #[test]
    fn a_set_follows_its_program() {
        let from = program("import a, b\nx = 1\nif x:\n    f(p, q)\n    g()\nh(r, s)\n");
        let done = removing(&from, &["a", "x = 1", "q"]);
        let edits = done.resolve(&from).unwrap();
        let to = program(&splice(from.text(), &edits));
        let rebase = Rebase::new(&from, &edits, &to);
        assert_eq!(done.rebase(&rebase), None);
        let later = removing(&from, &["p", "s", "g()"]).rebase(&rebase).unwrap();
        assert_eq!(
            later.apply(&to).unwrap(),
            "import b\nif x:\n    f()\nh(r)\n"
        );
        let whole = removing(&from, &["if x:\n    f(p, q)\n    g()"])
            .rebase(&rebase)
            .unwrap();
        assert_eq!(whole.apply(&to).unwrap(), "import b\nh(r, s)\n");
    }
}
