//! The program without side effects on the values of a report: of the blocks that lead to the
//! reporting statement, only those statements stay that it depends on by names. Methods called only
//! for their effect, assignments to attributes or elements, and constructors that register
//! themselves are removed. Goes by names. Called by the judge; proposes nothing.

use std::collections::BTreeSet;

use crate::{
    analysis::{
        dependence_check::{ReportSite, told},
        statement_tree::StatementTree,
    },
    syntax::{AnyNodeRef, Program, TextRange},
    torch::seeds::seeding_ranges,
};

/// The program without side effects on the reported values. None if it has none, or if the report or
/// the calls that lead to it are not known: without them it would do nothing.
pub fn without_side_effects(program: &Program, report_site: &ReportSite) -> Option<String> {
    let sites = told(program, report_site, None, &|_, _, frames| frames);
    let tree = StatementTree::untraced(program);
    let knows_calls = matches!(report_site, ReportSite::Raised(_));
    let is_called = |&frame: &usize| tree.function_of(frame).is_some();
    if !knows_calls && sites.iter().flatten().any(is_called) {
        return None;
    }
    let frames = sites.concat();
    (!frames.is_empty())
        .then(|| Pruning::of(&tree, &frames).text())
        .flatten()
}

/// The statements that stay of the blocks that lead to a statement.
struct Pruning<'a, 't> {
    tree: &'t StatementTree<'a>,
    /// The statements that make up these blocks.
    members: BTreeSet<usize>,
    kept: BTreeSet<usize>,
    /// Those kept ones whose names were not looked at yet.
    todo: Vec<usize>,
}

impl<'a, 't> Pruning<'a, 't> {
    /// The statements that stay if some statements do.
    fn of(tree: &'t StatementTree<'a>, frames: &[usize]) -> Self {
        let path: BTreeSet<usize> = frames
            .iter()
            .flat_map(|&frame| tree.ancestors(frame).chain([frame]))
            .collect();
        let is_member = |&statement: &usize| match tree.statements[statement].parent {
            // Members of a class are looked up through its objects.
            Some(parent) => {
                path.contains(&parent) && !tree.statements[parent].node.is_stmt_class_def()
            }
            None => true,
        };
        let mut pruning = Self {
            tree,
            members: (0..tree.statements.len()).filter(is_member).collect(),
            kept: BTreeSet::new(),
            todo: Vec::new(),
        };
        for &statement in &path {
            pruning.keep(statement);
        }
        pruning.follow_names(&path);
        pruning
    }

    fn keep(&mut self, statement: usize) {
        if self.kept.insert(statement) {
            self.todo.push(statement);
        }
    }

    /// Keeps the statements that bind the names that kept statements read, and so on.
    fn follow_names(&mut self, path: &BTreeSet<usize>) {
        while let Some(statement) = self.todo.pop() {
            // Of the statements that lead to the report, their members speak for themselves.
            let range = if path.contains(&statement) {
                self.tree.own_range(statement)
            } else {
                self.tree.statements[statement].range
            };
            for binding in self.bindings_of_names_in(range) {
                self.keep(binding);
            }
        }
    }

    /// The members that bind a name which is used in a range.
    fn bindings_of_names_in(&self, range: TextRange) -> Vec<usize> {
        let variables = self.tree.program.scopes().variables.iter();
        let used = variables.filter(|variable| {
            let mut uses = variable.uses.iter();
            uses.any(|used| range.contains_range(used.range))
        });
        let bindings = used.flat_map(|variable| variable.bindings.iter());
        let statements = bindings.map(|binding| binding.statement);
        statements
            .filter_map(|statement| {
                let at = self.tree.at(statement)?;
                let mut around = std::iter::once(at).chain(self.tree.ancestors(at));
                around.find(|at| self.members.contains(at))
            })
            .collect()
    }

    /// Whether a statement stays: also one that binds names without doing anything, that leaves a
    /// block, or that seeds random numbers.
    fn stays(&self, statement: usize, seeds: &[TextRange]) -> bool {
        let is_inert = |node: AnyNodeRef<'_>| {
            node.is_stmt_import()
                || node.is_stmt_import_from()
                || node.is_stmt_function_def()
                || node.is_stmt_class_def()
                || node.is_stmt_global()
                || node.is_stmt_nonlocal()
                || node.is_stmt_pass()
        };
        let leaves = |at: usize| {
            let node = self.tree.statements[at].node;
            node.is_stmt_return() || node.is_stmt_break() || node.is_stmt_continue()
        };
        let range = self.tree.statements[statement].range;
        !self.members.contains(&statement)
            || self.kept.contains(&statement)
            || is_inert(self.tree.statements[statement].node)
            || leaves(statement)
            || self.tree.within(statement).any(leaves)
            || seeds.iter().any(|seed| range.contains_range(*seed))
    }

    /// The program with the statements that stay; none if all do.
    fn text(&self) -> Option<String> {
        let seeds: Vec<TextRange> = seeding_ranges(self.tree.program).collect();
        let stays = |statement: usize| self.stays(statement, &seeds);
        let removes = (0..self.tree.statements.len()).any(|statement| !stays(statement));
        removes.then(|| self.tree.text_of(stays, &[]))?
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, lines: &[u32], expected: Option<&str>) {
        let program = Program::parse(text).unwrap();
        let site = ReportSite::Raised(lines.to_vec());
        assert_eq!(without_side_effects(&program, &site).as_deref(), expected);
    }

    #[test]
    fn what_is_read_by_name_stays() {
        check(
            "import lib\ndef make():\n    return n\nn = 3\nx = make()\ny = lib.Wrap(x)\ny.step()\nx[0] = 2\nlib.seed(1)\nassert x == n\n",
            &[10],
            Some(
                "import lib\ndef make():\n    return n\nn = 3\nx = make()\nlib.seed(1)\nassert x == n\n",
            ),
        );
    }

    #[test]
    fn blocks_that_lead_to_the_report_are_pruned_too() {
        check(
            "class T:\n    a = 1\n    def f(self):\n        x = g()\n        self.b = x\n        for i in x:\n            h(i)\n            if x != i:\n                raise E\nT().f()\nprint(1)\n",
            &[10, 9],
            Some(
                "class T:\n    a = 1\n    def f(self):\n        x = g()\n        for i in x:\n            if x != i:\n                raise E\nT().f()\n",
            ),
        );
    }

    #[test]
    fn calls_that_lead_to_a_report_are_no_side_effects() {
        let text = "def f():\n    x.g()\n    if x:\n        print('wrong')\nf()\n";
        let program = Program::parse(text).unwrap();
        let site = ReportSite::Words(["wrong".to_owned()].into());
        assert_eq!(without_side_effects(&program, &site), None);
    }

    #[test]
    fn nothing_is_left_to_remove() {
        check("x = f()\nassert x\n", &[2], None);
    }
}
