//! The values that statements of a traced run read.

use std::collections::BTreeSet;

use super::StatementTree;
use crate::{
    syntax::{AnyNodeRef, Ranged, TextRange, ast::ExprContext, scope::ScopeKind},
    trace::{
        evidence::{Evidence, Frame, SourceLine},
        value::RecordedValue,
    },
};

/// A name or attribute that a statement reads, and its value.
pub(crate) struct Read<'a, 'v> {
    pub(crate) range: TextRange,
    /// The name, of an attribute the last part.
    pub(crate) name: &'a str,
    pub(crate) value: &'v RecordedValue,
}
impl<'a> StatementTree<'a> {
    /// The reads of a part of a frame's statement: the place, the name and the value of each. Plain
    /// names of the program's own and lookups in some names that stay are left out. Nothing if a
    /// value is not known.
    pub(crate) fn values_in<'v>(
        &self,
        part: TextRange,
        frame: &'v Frame,
        staying: &[&str],
    ) -> Option<Vec<Read<'a, 'v>>> {
        self.reads_in(part, frame, |node| {
            root_name(node).is_some_and(|name| staying.contains(&name))
        })
    }

    /// The same, only by names if these are known, without lookups in their values. Nothing if that
    /// makes no difference.
    pub(crate) fn names_in<'v>(
        &self,
        part: TextRange,
        frame: &'v Frame,
    ) -> Option<Vec<Read<'a, 'v>>> {
        let is_known = |name: &str| frame.values.contains_key(name);
        let reads = self.reads_in(part, frame, |node| {
            !node.is_expr_name() && root_name(node).is_some_and(is_known)
        })?;
        let looked_up = self.values_in(part, frame, &[])?;
        let ranges = |reads: &[Read<'_, '_>]| -> Vec<TextRange> {
            reads.iter().map(|read| read.range).collect()
        };
        (ranges(&reads) != ranges(&looked_up)).then_some(reads)
    }

    /// The same of all but some nodes.
    fn reads_in<'v>(
        &self,
        part: TextRange,
        frame: &'v Frame,
        is_left_out: impl Fn(AnyNodeRef<'a>) -> bool,
    ) -> Option<Vec<Read<'a, 'v>>> {
        let mut reads = Vec::new();
        let mut done = TextRange::default();
        for node in self.program.tree().within(part) {
            let range = node.range();
            let Some(name) = looked_up(node) else {
                continue;
            };
            if done.contains_range(range) || is_left_out(node) {
                continue;
            }
            let text = self.program.slice(range);
            match frame.values.get(text) {
                Some(value) => {
                    if value.text() != text {
                        reads.push(Read { range, name, value });
                    }
                    done = range;
                }
                None if node.is_expr_name() && self.is_bound_outside(range, part) => {
                    return None;
                }
                None => {}
            }
        }
        Some(reads)
    }

    /// The same, with the return values of the program's functions instead of their calls, if they
    /// can be written and the failure did not come from there. Nothing if there is no such call.
    pub(crate) fn results_in<'v>(
        &self,
        part: TextRange,
        frame: &'v Frame,
        evidence: &'v Evidence,
    ) -> Option<Vec<Read<'a, 'v>>> {
        let lines = evidence
            .failure
            .iter()
            .chain(evidence.causes.iter().flatten())
            .map(|frame| frame.first_line);
        let failing: BTreeSet<SourceLine> = lines.collect();
        let calls = self
            .statements
            .iter()
            .flat_map(|statement| &statement.results)
            .filter(|(range, _)| part.contains_range(*range));
        let mut results: Vec<Read<'a, 'v>> = Vec::new();
        for &(range, function) in calls {
            let AnyNodeRef::StmtFunctionDef(def) = self.statements[function].node else {
                continue;
            };
            let line = self.line_of(self.statements[function].range.start());
            if !failing.contains(&line)
                && !results
                    .iter()
                    .any(|result| result.range.contains_range(range))
                && let Some(value) = evidence.returned.get(&line)
            {
                results.push(Read {
                    range,
                    name: def.name.as_str(),
                    value,
                });
            }
        }
        self.reads_around(results, part, frame)
    }

    /// The reads of a part of a frame's statement, with results instead of calls. Nothing without
    /// results.
    fn reads_around<'v>(
        &self,
        results: Vec<Read<'a, 'v>>,
        part: TextRange,
        frame: &'v Frame,
    ) -> Option<Vec<Read<'a, 'v>>> {
        if results.is_empty() {
            return None;
        }
        let mut reads = self.reads_in(part, frame, |node| {
            let mut ranges = results.iter().map(|result| result.range);
            ranges.any(|range| range.contains_range(node.range()))
        })?;
        reads.extend(results);
        reads.sort_by_key(|read| read.range.start());
        Some(reads)
    }

    /// The attributes and elements that a part of a frame's statement reads and whose values are
    /// known, the outermost ones.
    pub(crate) fn paths_in<'v>(
        &self,
        part: TextRange,
        frame: &'v Frame,
    ) -> Vec<(TextRange, &'v RecordedValue)> {
        let mut paths: Vec<(TextRange, &RecordedValue)> = Vec::new();
        for node in self.program.tree().within(part) {
            let range = node.range();
            if node.is_expr_name() || looked_up(node).is_none() {
                continue;
            }
            let is_inside = paths
                .last()
                .is_some_and(|last| last.0.contains_range(range));
            if let Some(value) = frame
                .values
                .get(self.program.slice(range))
                .filter(|_| !is_inside)
            {
                paths.push((range, value));
            }
        }
        paths
    }

    /// The reads of a part of a frame's statement, and the results of its outermost calls instead
    /// of the calls. Nothing if none is known.
    pub(crate) fn recorded_in<'v>(
        &self,
        part: TextRange,
        frame: &'v Frame,
    ) -> Option<Vec<Read<'a, 'v>>> {
        let mut results: Vec<Read<'a, 'v>> = Vec::new();
        for node in &self.program.tree().nodes {
            let AnyNodeRef::ExprCall(call) = node.node else {
                continue;
            };
            let range = call.range();
            let is_inside = results
                .last()
                .is_some_and(|last| last.range.contains_range(range));
            if part.contains_range(range)
                && part != range
                && !is_inside
                && let Some(value) = frame.results.get(self.program.slice(range))
            {
                results.push(Read {
                    range,
                    name: "",
                    value,
                });
            }
        }
        self.reads_around(results, part, frame)
    }

    /// Whether a function around a part binds a name in it.
    fn is_bound_outside(&self, name: TextRange, part: TextRange) -> bool {
        self.program.scopes().variables.iter().any(|variable| {
            variable.scope != ScopeKind::Module
                && variable.uses.iter().any(|used| used.range == name)
                && !variable
                    .bindings
                    .iter()
                    .all(|binding| part.contains_range(binding.range))
        })
    }
}

/// The name that a path of attributes and elements begins with.
fn root_name(node: AnyNodeRef<'_>) -> Option<&str> {
    match node {
        AnyNodeRef::ExprAttribute(attribute) => root_name((&*attribute.value).into()),
        AnyNodeRef::ExprSubscript(element) => root_name((&*element.value).into()),
        AnyNodeRef::ExprName(name) => Some(name.id.as_str()),
        _ => None,
    }
}

/// By which name an expression that is a name, an attribute or an element reads.
fn looked_up(node: AnyNodeRef<'_>) -> Option<&str> {
    match node {
        AnyNodeRef::ExprAttribute(it) if it.ctx == ExprContext::Load => Some(it.attr.as_str()),
        AnyNodeRef::ExprSubscript(it) if it.ctx == ExprContext::Load => {
            looked_up((&*it.value).into())
        }
        AnyNodeRef::ExprName(it) => Some(it.id.as_str()),
        _ => None,
    }
}
