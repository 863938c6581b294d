//! What runs where no trace sees it: functions that a program hands on to another process, or to
//! whoever never calls them. Goes by names. Called by the rest of the dependence check.

use std::collections::BTreeSet;

use super::passing::Passing;
use crate::syntax::{AnyNodeRef, Ranged, TextRange};

impl Passing<'_, '_, '_> {
    /// The executed statements that hand on the function in which a statement stands, or one that
    /// calls that function, where no trace shows that it ran.
    pub(super) fn handing(&self, statement: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let mut todo: Vec<usize> = self.tree.function_of(statement).into_iter().collect();
        while let Some(function) = todo.pop() {
            if !seen.insert(function) {
                continue;
            }
            for (at, range) in self.uses_of(function) {
                let is_call = self.is_callee(at, range);
                let is_executed = self.tree.statements[at].is_executed;
                if !is_call && is_executed {
                    found.push(at);
                } else if is_call && !(self.tree.is_traced && is_executed) {
                    todo.extend(self.tree.function_of(at));
                }
            }
        }
        found
    }

    /// The statements that use a function by its name, executed or not, and where.
    fn uses_of(&self, function: usize) -> Vec<(usize, TextRange)> {
        let AnyNodeRef::StmtFunctionDef(def) = self.tree.statements[function].node else {
            return Vec::new();
        };
        let scopes = self.tree.program.scopes();
        let own = scopes.bound_by(def.range).iter();
        let names = own.flat_map(|&variable| &scopes.variables[variable].uses);
        let names = names.filter_map(|used| Some((self.tree.at(used.statement)?, used.range)));
        let attributes = self.tree.attributes.get(&def.name.id);
        let attributes = attributes.into_iter().flatten().copied();
        let uses = names.chain(attributes);
        uses.filter(|(_, range)| !def.range.contains_range(*range))
            .collect()
    }

    /// Whether a statement calls what it names there.
    fn is_callee(&self, statement: usize, named: TextRange) -> bool {
        let mut calls = self.nodes[statement]
            .iter()
            .filter_map(AnyNodeRef::as_expr_call);
        calls.any(|call| call.func.range() == named)
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        analysis::dependence_check::{ReportSite, operations},
        syntax::Program,
        testing::evidence,
    };

    #[test]
    fn what_another_process_changes_is_handed_to_it() {
        let text = |mark: &str| {
            format!(
                "import multiprocessing\nclass P:\n    done = 0\n    def tick(self):\n        self.done += 1{mark}\np = P()\ndef work(n):\n    p.tick(){mark}\npool = multiprocessing.Pool(2)\npool.map(work, [1])\nassert p.done == 1\n"
            )
        };
        let check = |text: &str, is_traced: bool, expected: &[&str]| {
            let program = Program::parse(text).unwrap();
            let evidence = Some(evidence(text)).filter(|_| is_traced);
            let site = ReportSite::Raised(vec![11]);
            let found = operations(&program, &site, evidence.as_ref());
            let found: Vec<&str> = found.iter().flatten().map(String::as_str).collect();
            assert_eq!(found, expected, "{text}");
        };
        let elsewhere = text("  # not executed");
        check(&elsewhere, true, &["+", "==", "Pool()", "map() alone"]);
        check(&elsewhere, false, &["+", "==", "Pool()", "map() alone"]);
        // What ran in the traced process needs nobody else.
        check(&text(""), true, &["+", "=="]);
    }
}
