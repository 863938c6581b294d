//! What takes elements out of iterators: what one loop or call takes, no other gets. Goes by names.
//! Called by the rest of the dependence check.

use super::passing::{DEPTH, Passing};
use crate::{
    analysis::calls::callee_name,
    syntax::{AnyNodeRef, Ranged, TextRange, ast::Expr},
};

impl Passing<'_, '_, '_> {
    /// What takes elements out of a variable in executed statements, if it holds an iterator: what
    /// one takes, no other gets.
    pub(super) fn taking(&self, variable: usize) -> Vec<(usize, TextRange)> {
        let made_at = self.graph.definitions(variable);
        let mut values = made_at.filter_map(|made| self.tree.statements[made.statement].value());
        if values.any(|value| self.is_iterator(value)) {
            self.taking_within(variable, DEPTH)
        } else {
            Vec::new()
        }
    }

    /// Whether an expression makes an iterator.
    fn is_iterator(&self, value: &Expr) -> bool {
        const MAKING: [&str; 7] = [
            "enumerate",
            "filter",
            "iter",
            "map",
            "open",
            "reversed",
            "zip",
        ];
        let Some(call) = value.as_call_expr() else {
            return value.is_generator_expr();
        };
        let path = self.imported.path(&call.func);
        let is_of_package =
            path.is_some_and(|path| path.starts_with("itertools.") || path == "csv.reader");
        let name = callee_name(&call.func).unwrap_or_default();
        let mut own = self.tree.functions(name).peekable();
        let is_own = own.peek().is_some();
        let yields = own.any(|(function, _)| {
            let mut body = self.graph.body(function);
            body.any(|statement| self.tree.statements[statement].yields)
        });
        is_of_package || yields || !is_own && MAKING.contains(&name)
    }

    /// The loops and calls that take elements out of a variable, and the calls that pass it to
    /// functions of the program that do.
    fn taking_within(&self, variable: usize, depth: usize) -> Vec<(usize, TextRange)> {
        let Some(depth) = depth.checked_sub(1) else {
            return Vec::new();
        };
        let mut taking = Vec::new();
        let uses = self.graph.uses(variable);
        for (statement, range) in uses.filter(|(at, _)| self.tree.statements[*at].is_executed) {
            let each = self.tree.statements[statement].node.as_stmt_for();
            taking.extend(
                each.filter(|each| each.iter.range() == range)
                    .map(|_| (statement, range)),
            );
            for call in self.nodes[statement]
                .iter()
                .filter_map(AnyNodeRef::as_expr_call)
            {
                let mut arguments = call.arguments.arguments_source_order();
                let is_given = arguments.any(|argument| argument.value().range() == range);
                let parameters = self.parameters_of(call, range);
                // A function of a package does what it likes.
                let mut is_taking = is_given && parameters.is_empty();
                for parameter in parameters {
                    let within = self.taking_within(parameter, depth);
                    is_taking |= !within.is_empty();
                    taking.extend(within);
                }
                taking.extend(Some((statement, call.range)).filter(|_| is_taking));
            }
        }
        taking
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        analysis::dependence_check::{Operations, making},
        syntax::Program,
    };

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let program = Program::parse(text).unwrap();
        let last = text.lines().count() as u32;
        let mut found = making(&program, &[last], None, None);
        found.retain(|name| !name.contains("(_)") && name != "in vain" && !name.starts_with("no "));
        let expected: Operations = expected.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_one_takes_no_other_gets() {
        let taken = ["iter()", "list()", "list() alone", "max() alone"];
        check("rows = iter(x)\nprint(max(rows))\nlist(rows)[0]\n", &taken);
        check("rows = [1]\nprint(max(rows))\nlist(rows)[0]\n", &["list()"]);
        check(
            "def f(lines):\n    return max(lines)\nrows = iter(x)\nf(rows)\nlist(rows)[0]\n",
            &taken,
        );
        check(
            "def f():\n    yield 1\nrows = f()\nprint(max(rows))\nlist(rows)[0]\n",
            &["list()", "list() alone", "max() alone"],
        );
    }
}
