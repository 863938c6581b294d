//! The values that replace things in a slice: calls, bodies of functions, the statements that made
//! a variable, the iterations of a loop.

use super::{Depth, Slicer};
use crate::{
    analysis::special_names::is_of_library,
    rewrite::edit::Edit,
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange,
        ast::Expr,
        scope::{ScopeKind, Variable},
    },
    torch::{environment::is_captured, values::with_ones},
    trace::{
        evidence::{Evidence, Frame},
        value::{Expression, RecordedValue},
    },
};

/// A value of up to this many characters may replace the statements that made it, however short
/// they are.
const LONG: usize = 240;

/// Which recorded values replace the statements that made them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    /// None.
    Made,
    /// Those of variables in the failure's frames.
    Variables,
    /// The last values that functions returned to functions outside the failure's frames, with
    /// random tensors as ones.
    Inner,
    /// Those of variables in the failure's frames, and results of functions that always were the
    /// same.
    Steady,
    /// These, and the last return values of other functions.
    Last,
}

impl Values {
    /// The variants to try besides `Made`, if values may replace the statements that made them. A
    /// program that a compiler handles fails as a whole, so the results of its functions are as
    /// much a part of the failure as their calls.
    pub(crate) fn to_try(program: &Program, evidence: &Evidence) -> [Self; 2] {
        let tree = program.tree();
        let is_whole = is_captured(program, tree);
        let is_within = evidence.failure.iter().any(|frame| frame.compiled);
        [
            if is_whole && !is_within {
                Self::Variables
            } else {
                Self::Steady
            },
            Self::Last,
        ]
    }
}

impl<'a> Slicer<'a> {
    /// Replacements for the calls, in a statement, of functions that are not in the traceback:
    /// their return values.
    pub(crate) fn results(&self, index: usize) -> Vec<Edit> {
        let mut edits: Vec<Edit> = Vec::new();
        let here = self.outline.function_of(index);
        let is_failing = self.values.iter().any(|(function, _)| *function == here);
        if self.which == Values::Inner && is_failing {
            return edits;
        }
        for &(range, function) in &self.outline.statements[index].results {
            let is_inside = edits.iter().any(|edit| edit.range.contains_range(range));
            if let Some(value) = self.value_of(function).filter(|_| !is_inside) {
                edits.push(Edit::replace(range, value.text()));
            }
        }
        let fails_here = |frame: &Frame| self.outline.on_line(frame.line) == Some(index);
        if let Some((_, frame)) = self
            .values
            .iter()
            .find(|(function, frame)| *function == here && fails_here(frame))
        {
            for (range, value) in self.outline.paths_in(self.outline.own_range(index), frame) {
                let is_inside = edits.iter().any(|edit| edit.range.contains_range(range));
                if !is_inside && value.text().len() <= LONG && self.stands(value) {
                    edits.push(Edit::replace(range, value.text()));
                }
            }
        }
        edits
    }

    /// Whether a value can replace what made it. If all changes of objects are kept, an object as it
    /// was made does not stand for its later state.
    fn stands(&self, value: &RecordedValue) -> bool {
        self.depth != Depth::Full || value.is_exact
    }

    /// The return value of a function that is not in the traceback.
    fn value_of(&self, function: usize) -> Option<Expression> {
        if self.which == Values::Variables {
            return None;
        }
        let statement = &self.outline.statements[function];
        let line = self.outline.line_of(statement.range.start());
        // A function that returns nothing is called for its effect.
        let returned = self.evidence.returned.get(&line);
        let value = returned.filter(|value| !value.is_none() && self.stands(value))?;
        if self.evidence.varying.contains(&line) {
            // Its last return value went to one of its callers, and a function that a library calls
            // has many.
            let statements = self.outline.statements.iter();
            let calls = statements.flat_map(|statement| &statement.results);
            let to_it = calls.filter(|(_, called)| *called == function);
            let is_for_one = to_it.take(2).count() < 2;
            let is_called_by_others = matches!(statement.node, AnyNodeRef::StmtFunctionDef(def) if is_of_library(&def.name));
            if self.which == Values::Steady || !is_for_one || is_called_by_others {
                return None;
            }
        }
        let fails_within = |failing: usize| {
            let mut around = self.outline.ancestors(failing);
            failing == function || around.any(|around| around == function)
        };
        let is_failing = self
            .values
            .iter()
            .any(|(failing, _)| failing.is_some_and(fails_within));
        if self.values.is_empty() || is_failing || value.text().len() > LONG {
            return None;
        }
        // A value that is compared with a compiler's result must be the same each time.
        let is_steady = self.which == Values::Inner;
        Some(if is_steady {
            with_ones(self.outline.program, &value.expression)
        } else {
            value.expression.clone()
        })
    }

    /// A replacement for the body of a function that is not in the traceback, and the value that it
    /// returned. If it was not entered but would return something, it returns anything: whoever finds
    /// such a function may count on that.
    pub(super) fn stub(&self, index: usize) -> Option<(Edit, Expression)> {
        let AnyNodeRef::StmtFunctionDef(def) = self.outline.statements[index].node else {
            return None;
        };
        // A function that a library calls must continue as it did, if only results within it are
        // known.
        let value = self.value_of(index).filter(|_| self.which != Values::Inner);
        let (returned, value) = match value {
            Some(value) => (value.text().to_owned(), value),
            // Nobody comes there, so it needs nothing.
            None if !self.is_entered(index) && self.returns(index) => {
                let first = def.parameters.iter().next()?;
                (first.name().to_string(), "None".to_owned().into())
            }
            None => return None,
        };
        let body = TextRange::new(def.body.first()?.start(), def.body.last()?.end());
        Some((Edit::replace(body, format!("return {returned}")), value))
    }

    /// Whether a function returns something that is not written out.
    fn returns(&self, index: usize) -> bool {
        let mut inside = self.outline.within(index);
        inside.any(|inside| {
            let result = self.outline.statements[inside].node.as_stmt_return();
            let value = result.and_then(|result| result.value.as_deref());
            value.is_some_and(|value| !value.is_literal_expr())
        })
    }

    /// The iterable of a loop that failed, cut to the iteration that failed.
    pub(super) fn failing_turn(&self, index: usize) -> Option<Edit> {
        let AnyNodeRef::StmtFor(stmt) = self.outline.statements[index].node else {
            return None;
        };
        if self.which == Values::Inner {
            return None;
        }
        let function = self.outline.function_of(index);
        let values = &self.values.iter().find(|(here, _)| *here == function)?.1;
        // A frame that its cause ended may have continued after it, for example a loop that tries
        // again.
        if !self.evidence.failure.contains(values) {
            return None;
        }
        let is_failing = self.outline.on_line(values.line).is_some_and(|failing| {
            self.outline
                .ancestors(failing)
                .any(|around| around == index)
        });
        let value = |expr: &Expr| match expr {
            Expr::Name(it) => {
                let value = values.values.get(it.id.as_str());
                value
                    .filter(|value| self.stands(value))
                    .map(RecordedValue::text)
            }
            _ => None,
        };
        let turn = match &*stmt.target {
            Expr::Tuple(it) => {
                let parts: Option<Vec<&str>> = it.elts.iter().map(value).collect();
                format!("[({})]", parts?.join(", "))
            }
            target => format!("[{}]", value(target)?),
        };
        (is_failing && !stmt.is_async).then(|| Edit::replace(stmt.iter.range(), turn))
    }

    /// The statement that makes a variable, and the value that can stand for that.
    pub(super) fn value_for(&self, variable: &Variable) -> Option<(usize, &'a RecordedValue)> {
        if self.which == Values::Inner {
            return None;
        }
        let at = self.outline.at(variable.bindings.first()?.statement)?;
        let function = match variable.scope {
            ScopeKind::Module => None,
            ScopeKind::Function => Some(self.outline.function_of(at)?),
            ScopeKind::Class | ScopeKind::Comprehension => return None,
        };
        let (_, frame) = self.values.iter().find(|(here, _)| *here == function)?;
        let value = frame.values.get(variable.name.as_str())?;
        let mut first = None;
        for binding in &variable.bindings {
            let Some(statement) = self.graph.executed(binding.statement) else {
                continue;
            };
            let is_plain = match self.outline.statements[statement].node {
                AnyNodeRef::StmtAssign(it) => matches!(it.targets.as_slice(), [Expr::Name(_)]),
                AnyNodeRef::StmtAnnAssign(it) => matches!(*it.target, Expr::Name(_)),
                AnyNodeRef::StmtAugAssign(_) => true,
                _ => false,
            };
            if !is_plain {
                return None;
            }
            first.get_or_insert(statement);
        }
        let statement = first?;
        // A value that is written out already stays as it is written.
        if self.outline.statements[statement].reads.is_empty() {
            return None;
        }
        let old = usize::from(self.outline.statements[statement].range.len());
        let is_short = assigned(variable, value).len() <= old.max(LONG);
        let reads_itself = value.expression.names().any(|name| *name == *variable.name);
        (is_short && !reads_itself).then_some((statement, value))
    }
}

/// The statement that gives a variable a value.
pub(super) fn assigned(variable: &Variable, value: &RecordedValue) -> String {
    format!("{} = {}", variable.name, value.text())
}
