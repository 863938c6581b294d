//! The text of a program of which only some statements are kept.

use super::StatementTree;
use crate::{
    rewrite::edit::{Edit, EditSet, splice},
    syntax::{TextRange, TextSize},
};

impl StatementTree<'_> {
    /// The removal of all statements that are not kept, those within others of them left out.
    fn removing(
        &self,
        among: impl Iterator<Item = usize>,
        is_kept: impl Fn(usize) -> bool,
    ) -> EditSet {
        let mut edits = EditSet::default();
        let mut end = TextSize::new(0);
        for index in among {
            let statement = &self.statements[index];
            if statement.range.start() >= end && !is_kept(index) {
                end = statement.range.end();
                edits.remove(statement.place);
            }
        }
        edits
    }

    /// The program with only some of its statements, and parts of these replaced; nothing if that
    /// can not be written.
    pub(crate) fn text_of(
        &self,
        is_kept: impl Fn(usize) -> bool,
        replaced: &[Edit],
    ) -> Option<String> {
        let mut edits = self.removing(0..self.statements.len(), is_kept);
        for edit in replaced {
            edits.edit(edit.clone());
        }
        edits.apply(self.program).ok()
    }

    /// A statement with only some of those within it, as lines at the margin, edited; nothing if it
    /// shares its line.
    pub(crate) fn lines_of(
        &self,
        index: usize,
        is_kept: impl Fn(usize) -> bool,
        more: &EditSet,
    ) -> Option<String> {
        let range = self.statements[index].range;
        let start = self.program.logical_start(range.start())?;
        let end = self.program.logical_end(range.end());
        let lines = TextRange::new(start, end);
        let indent = self.program.slice(TextRange::new(start, range.start()));
        let mut edits = self.removing(self.within(index), is_kept);
        edits.extend(more);
        for line in self.program.lines_outside_strings(lines) {
            if !indent.is_empty() && self.program.text()[usize::from(line)..].starts_with(indent) {
                edits.edit(Edit::delete(TextRange::at(line, TextSize::of(indent))));
            }
        }
        let mut inside = edits.resolve(self.program).ok()?;
        inside.retain(|edit| lines.contains_range(edit.range));
        for edit in &mut inside {
            edit.range -= start;
        }
        let mut text = splice(self.program.slice(lines), &inside);
        if !text.ends_with('\n') {
            text.push('\n');
        }
        Some(text)
    }
}
