//! What decides whether a statement is reached: the conditions around it and before it, and what is
//! tried together with it. Called by the rest of the dependence check.

use super::{Rest, is_exit, tests};
use crate::{
    analysis::names::is_main_check,
    syntax::{
        AnyNodeRef, Ranged,
        ast::{ExceptHandler, Stmt, StmtTry},
    },
};

impl Rest<'_, '_> {
    /// The conditions that decide whether the innermost conditional frame is reached, the nearest
    /// first.
    pub(crate) fn conditions_of(&self, frames: &[usize]) -> Vec<usize> {
        let of_frame = |&frame: &usize| {
            let all = std::iter::once(frame).chain(self.conditions(frame));
            let deciding = all.filter(|statement| self.decides(*statement));
            Some(deciding.collect::<Vec<_>>()).filter(|conditions| !conditions.is_empty())
        };
        frames.iter().rev().find_map(of_frame).unwrap_or_default()
    }

    /// Whether a statement stands in the handler of an exception.
    pub(crate) fn is_in_handler(&self, statement: usize) -> bool {
        !self.handled(statement).is_empty()
    }

    /// Whether an attempt fails, and one of its handlers runs.
    pub(super) fn handles(&self, attempt: &StmtTry) -> bool {
        let outline = self.outline;
        attempt
            .handlers
            .iter()
            .any(|ExceptHandler::ExceptHandler(handler)| {
                let first = handler.body.first();
                let first = first.and_then(|first| outline.at(first.range()));
                first.is_some_and(|first| outline.statements[first].is_executed)
            })
    }

    /// The statements whose failure leads to another one, in a handler.
    pub(super) fn handled(&self, statement: usize) -> Vec<usize> {
        let outline = self.outline;
        let at = outline.statements[statement].range;
        let attempts = outline
            .ancestors(statement)
            .filter_map(|around| outline.statements[around].node.as_stmt_try());
        let handling = attempts.filter(|attempt| {
            let mut handlers = attempt.handlers.iter();
            handlers.any(|handler| handler.range().contains_range(at))
        });
        let tried = handling.flat_map(|attempt| &attempt.body);
        tried.filter_map(|part| outline.at(part.range())).collect()
    }

    /// Whether a statement tests something.
    pub(crate) fn decides(&self, statement: usize) -> bool {
        let mut tests = tests(self.outline.statements[statement].node).into_iter();
        tests.any(|test| !test.is_literal_expr())
    }

    /// The assertions before the innermost frame, within its function, the conditions on which the
    /// program would have raised or ended, and what is tried together with the frame.
    pub(crate) fn passed(&self, frames: &[usize]) -> Vec<usize> {
        let outline = self.outline;
        let Some(&last) = frames.last() else {
            return Vec::new();
        };
        let function = outline.function_of(last);
        let ends = |statement: usize| {
            let mut within = outline.within(statement);
            within.any(|inner| {
                outline.statements[inner].node.is_stmt_raise()
                    || self.nodes[inner].iter().any(is_exit)
            })
        };
        let before = (0..last).filter(|&statement| {
            let node = outline.statements[statement].node;
            outline.statements[statement].is_executed
                && (node.is_stmt_assert() || node.is_stmt_if() && ends(statement))
                && outline.function_of(statement) == function
        });
        before.chain(self.tried_before(last)).collect()
    }

    /// The statements before another one that are tried together with it, so that it is not reached
    /// if they fail.
    fn tried_before(&self, statement: usize) -> impl Iterator<Item = usize> {
        let outline = self.outline;
        let at = outline.statements[statement].range;
        let attempts = outline
            .ancestors(statement)
            .filter_map(move |around| outline.statements[around].node.as_stmt_try());
        let holding = attempts.filter(move |attempt| {
            let mut body = attempt.body.iter();
            !attempt.handlers.is_empty() && body.any(|part| part.range().contains_range(at))
        });
        let tried = holding.flat_map(|attempt| &attempt.body);
        let before = tried.filter(move |part| part.end() <= at.start());
        before.filter_map(move |part| outline.at(part.range()))
    }

    /// The statements that decide whether another is reached, within its function: those around it,
    /// and those before it that may leave.
    pub(crate) fn conditions(&self, statement: usize) -> Vec<usize> {
        let outline = self.outline;
        let function = outline.function_of(statement);
        let is_here = |&statement: &usize| {
            outline.function_of(statement) == function && Some(statement) != function
        };
        // Whether the script is the main program decides nothing of the bug.
        let is_guard = |statement: &usize| {
            let block = outline.statements[*statement].node.as_stmt_if();
            block.is_some_and(|block| is_main_check(&block.test))
        };
        let around = outline.ancestors(statement).filter(is_here);
        let around = around.filter(|statement| !is_guard(statement));
        let before = outline.branches_before(statement).filter(is_here);
        let before = before.filter(|&statement| {
            let node = outline.statements[statement].node;
            node.is_stmt_if()
                && outline.statements[statement].is_executed
                && self.may_leave(statement)
        });
        // The nearest first.
        around.chain(before).collect()
    }

    /// Whether a part of a statement may leave the block that the statement is in.
    fn may_leave(&self, statement: usize) -> bool {
        self.outline.within(statement).any(|inner| {
            matches!(
                self.outline.statements[inner].node,
                AnyNodeRef::StmtReturn(_) | AnyNodeRef::StmtBreak(_) | AnyNodeRef::StmtContinue(_)
            )
        })
    }

    /// The statements whose success leads to another, within its function: those that are tried
    /// where a failure leads elsewhere. What is caught where a failure leads to it is another
    /// check's matter.
    pub(super) fn attempts(&self, statement: usize) -> Vec<usize> {
        let outline = self.outline;
        let function = outline.function_of(statement);
        let at = outline.statements[statement].range;
        let mut found = Vec::new();
        let branches = outline.branches_before(statement);
        for before in branches.filter(|&before| outline.function_of(before) == function) {
            let AnyNodeRef::StmtTry(attempt) = outline.statements[before].node else {
                continue;
            };
            let holds = |body: &[Stmt]| body.iter().any(|part| part.range().contains_range(at));
            let succeeded = if attempt.range.contains_range(at) {
                holds(&attempt.orelse)
            } else {
                self.may_leave(before)
            };
            if succeeded {
                let tried = attempt.body.iter();
                found.extend(tried.filter_map(|tried| outline.at(tried.range())));
            }
        }
        found
    }
}
