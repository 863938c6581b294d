//! The way on which a report is reached that rests on nothing computed. Where a program says
//! something whatever has happened, that it comes to say so is all there is of its bug: a package
//! called the function that says it, or a call before it ended. Called by the rest of the dependence
//! check.

use std::collections::BTreeSet;

use super::{Operations, Rest, effects::only_reads};
use crate::{
    analysis::calls::OF_NO_MATTER,
    syntax::{AnyNodeRef, Ranged, TextSize, ast::StmtFunctionDef},
};

/// Calls that only say something, besides those that matter nowhere.
const OF_SAYING: [&str; 4] = ["flush", "len", "object", "write"];

/// Modules whose settings say what is logged and where modules are found.
const HELPING: [&str; 3] = ["logging", "logging.config", "sys.path"];

/// What stands for a function that others call.
const BY_OTHERS: &str = "called by others";

/// What stands for a coroutine: who only makes one has not run it.
const AWAITED: &str = "await ";

/// Whether nothing among some operations computes anything of what packages hand over.
pub fn are_of_others(operations: &Operations) -> bool {
    operations.contains(BY_OTHERS)
}

impl Rest<'_, '_> {
    /// The way on which the innermost frame is reached, if none of its operations computes.
    pub(super) fn way(&self, operations: &Operations) -> Operations {
        let mut way = Operations::new();
        let Some(&last) = self.frames.last() else {
            return way;
        };
        if operations.iter().any(|operation| computes(operation)) {
            return way;
        }
        let function = self.outline.function_of(last);
        if function.is_some_and(|function| !self.is_called(function)) {
            way.insert(BY_OTHERS.to_owned());
            let given = self.given.iter();
            way.extend(given.map(|parameter| format!("given {parameter}")));
        }
        // An operator compares or computes at least what is the program's own.
        let says_only = |operation: &String| operation.contains("()");
        if operations.iter().all(says_only) && !self.is_in_handler(last) {
            let (_, callers) = self.frames.split_last().unwrap_or((&last, &[]));
            for &caller in callers {
                way.extend(self.computing(caller).map(|call| format!("through {call}")));
            }
            let coroutine = function.and_then(|function| self.definition(function));
            way.extend(
                coroutine
                    .filter(|function| function.is_async)
                    .map(|_| AWAITED.trim().to_owned()),
            );
            let mut frames = self.frames.iter().rev();
            let ended = frames.find_map(|&frame| self.ended_before(frame));
            if let Some(ended) = ended {
                way.extend(ended);
                way.extend(self.set_before(last));
            }
        }
        way
    }

    /// Whether the program calls a function by its name, or the language does.
    pub(super) fn is_called(&self, function: usize) -> bool {
        self.definition(function).is_none_or(|function| {
            let name = function.name.as_str();
            name.starts_with("__") || self.nodes.calls_of(name).next().is_some()
        })
    }

    fn definition(&self, function: usize) -> Option<&StmtFunctionDef> {
        let node = self.outline.statements[function].node;
        node.as_stmt_function_def().copied()
    }

    /// The calls in a statement of functions that are not the program's own.
    fn computing(&self, statement: usize) -> impl Iterator<Item = String> {
        let nodes = self.nodes[statement].iter();
        let awaited = nodes.clone().filter_map(AnyNodeRef::as_expr_await);
        let awaited: BTreeSet<TextSize> = awaited.map(|of| of.value.end()).collect();
        nodes.flat_map(move |node| {
            let operations = self.operation(*node, statement).into_iter();
            let lead = if awaited.contains(&node.end()) {
                AWAITED
            } else {
                ""
            };
            let calls = operations.filter(|operation| computes(operation));
            let calls = calls.map(move |call| {
                let call = call.split(' ').next().unwrap_or_default();
                format!("{lead}{call}")
            });
            calls.collect::<Vec<_>>()
        })
    }

    /// The settings before a statement: calls of modules for nothing else, with what is written out in
    /// them. What came after should have ended in another way under them.
    fn set_before(&self, statement: usize) -> impl Iterator<Item = String> {
        let outline = self.outline;
        let before = (0..statement).filter(|&at| outline.statements[at].is_executed);
        let alone = before.filter_map(|at| outline.statements[at].node.as_stmt_expr());
        let calls = alone.filter_map(|alone| alone.value.as_call_expr());
        calls.filter_map(|call| {
            let path = self.imported.path(&call.func)?;
            let (module, name) = path.rsplit_once('.')?;
            let is_setting = !HELPING.contains(&module) && !only_reads(name);
            let arguments = call.arguments.arguments_source_order();
            let written: Vec<&str> = arguments
                .filter(|argument| argument.value().is_literal_expr())
                .map(|argument| outline.program.slice(argument.range()))
                .collect();
            (is_setting && !written.is_empty())
                .then(|| format!("before {name}({})", written.join(", ")))
        })
    }

    /// The calls in the last statement with any that ended before a frame, within its function.
    fn ended_before(&self, frame: usize) -> Option<Vec<String>> {
        let outline = self.outline;
        let function = outline.function_of(frame);
        let around: Vec<usize> = outline.ancestors(frame).collect();
        let before = (0..frame).rev().filter(|at| {
            outline.statements[*at].is_executed
                && outline.function_of(*at) == function
                && !around.contains(at)
        });
        let mut calls = before.map(|at| {
            let calls = self.computing(at);
            calls
                .map(|call| format!("after {call}"))
                .collect::<Vec<_>>()
        });
        calls.find(|calls| !calls.is_empty())
    }
}

/// Whether an operation calls something that computes.
fn computes(operation: &str) -> bool {
    let name = operation.split_once("()").map(|(name, _)| name);
    name.is_some_and(|name| !OF_NO_MATTER.contains(&name) && !OF_SAYING.contains(&name))
}
