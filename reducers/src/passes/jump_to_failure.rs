use std::collections::BTreeMap;

use crate::{
    edit::{Edit, EditSet},
    evidence::{Evidence, Frame},
    outline::Outline,
    pass::{Cx, Prior, Proposals, Stage, pass, whole_text},
    scope::{BindingKind, ScopeKind},
    slice::{Depth, Slicer, tidied},
    syntax::{AnyNodeRef, Ranged, TextRange},
};

pass! {
    /// Puts a failing statement of a function alone into the script, with the values that a traced run saw there.
    ///
    /// ```python before
    /// class A:
    ///     def f(self, x):
    ///         log(x)
    ///         return g(self, x + 1)  # fails with self: A(), x: 2
    ///
    /// for item in load():
    ///     item.f(2)  # fails
    /// ```
    /// ```python after
    /// class A:
    ///     pass
    ///
    /// self = A()
    /// x = 2
    /// g(self, x + 1)
    /// ```
    pub(crate) static JUMP_TO_FAILURE = Pass { stage: Stage::Leap, propose };
}

fn propose(cx: &Cx<'_>, out: &mut Proposals) {
    let Some(evidence) = cx.evidence else { return };
    let outline = Outline::of(cx.program, evidence);
    for frame in (0..evidence.failure.len()).rev() {
        for depth in [Depth::Thin, Depth::Full] {
            for whole in [false, true] {
                let jump = Jump { outline: &outline, evidence, frame: &evidence.failure[frame], depth };
                let text = jump.text(&evidence.failure[frame + 1..], whole);
                let text = text.and_then(|text| tidied(cx.program, text));
                if let Some(edits) = text.and_then(|text| whole_text(cx.program, &text)) {
                    let name = &evidence.failure[frame].function;
                    let note = format!("the failure in `{name}`, with the values there");
                    out.propose(edits, Prior::Even, note);
                }
                out.next_group();
            }
        }
    }
}

struct Jump<'a> {
    outline: &'a Outline<'a>,
    evidence: &'a Evidence,
    frame: &'a Frame,
    depth: Depth,
}

impl Jump<'_> {
    /// The script that starts at the failing statement, or with the failing expression alone, of a frame, the frames below
    /// it as they are.
    fn text(&self, below: &[Frame], whole: bool) -> Option<String> {
        let Self { outline, evidence, frame, depth } = *self;
        let statement = outline.on_line(frame.line)?;
        let expression = self.expression(statement);
        let root = if whole { outline.statements[statement].range } else { expression? };
        let module_values = evidence.failure.first().filter(|it| it.is_module()).map(|it| &it.values);
        let mut slicer = Slicer::new(outline, evidence, depth).with_values(module_values);
        for statement in below.iter().filter_map(|frame| outline.on_line(frame.line)) {
            slicer.keep(statement);
        }
        // What is lifted out of the function, and the values that it starts from.
        let mut lifted = vec![statement];
        let mut given: BTreeMap<usize, (&str, &str)> = BTreeMap::new();
        let mut todo = vec![root];
        while let Some(range) = todo.pop() {
            for name in outline.attributes_in(range) {
                slicer.keep_attribute(name);
            }
            for (index, variable) in outline.program.scopes().variables.iter().enumerate() {
                let is_read = variable
                    .uses
                    .iter()
                    .any(|it| range.contains_range(it.range) && self.is_executed(it.statement));
                let is_inner = variable.bindings.iter().all(|it| range.contains_range(it.range));
                if !is_read || is_inner || given.contains_key(&index) {
                    continue;
                }
                if variable.scope == ScopeKind::Module && !frame.is_module() {
                    slicer.keep_variable(index);
                } else if let Some((name, value)) = frame.values.get_key_value(variable.name.as_str()) {
                    if value != name {
                        given.insert(index, (name, value));
                    } else {
                        slicer.keep_variable(index);
                    }
                    slicer.keep_names_of(value);
                } else if variable.scope == ScopeKind::Module {
                    slicer.keep_variable(index);
                } else {
                    for binding in &variable.bindings {
                        if binding.kind == BindingKind::Parameter {
                            return None;
                        }
                        let maker =
                            outline.at(binding.statement).filter(|_| self.is_executed(binding.statement));
                        if let Some(maker) = maker
                            && !lifted.contains(&maker)
                        {
                            lifted.push(maker);
                            todo.push(binding.statement);
                        }
                    }
                }
            }
        }
        // A variable given a value must not be read by what makes another one.
        let mut text = slicer.text()?;
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        for (name, value) in given.values() {
            text.push_str(&format!("{name} = {value}\n"));
        }
        lifted.sort_unstable();
        for &index in &lifted {
            if index == statement && !whole {
                text.push_str(&one_line(outline.program.slice(root)));
                text.push('\n');
            } else {
                text.push_str(&self.lines(index)?);
            }
        }
        Some(text)
    }

    fn is_executed(&self, statement: TextRange) -> bool {
        self.outline.at(statement).is_some_and(|it| self.outline.statements[it].is_executed)
    }

    /// A statement's lines for the top level: what was executed of it, values in place of returns.
    fn lines(&self, index: usize) -> Option<String> {
        let outline = self.outline;
        let mut edits = EditSet::default();
        for at in std::iter::once(index).chain(outline.within(index)) {
            let it = &outline.statements[at];
            match it.node {
                AnyNodeRef::StmtReturn(stmt) => match &stmt.value {
                    Some(value) => {
                        edits.edit(Edit::delete(TextRange::new(it.range.start(), value.range().start())));
                    }
                    None => edits.edit(Edit::replace(it.range, "pass")),
                },
                AnyNodeRef::StmtGlobal(_) | AnyNodeRef::StmtNonlocal(_) => {
                    edits.edit(Edit::replace(it.range, "pass"));
                }
                _ => {}
            }
        }
        outline.lines_of(index, |it| outline.statements[it].is_executed, &edits)
    }

    /// The expression of a statement that failed, if that is known and not all of it.
    fn expression(&self, statement: usize) -> Option<TextRange> {
        let (first_line, first, last_line, last) = self.frame.place;
        let start = self.outline.offset(first_line?, first?)?;
        let end = self.outline.offset(last_line?, last?)?;
        let range = (start < end).then(|| TextRange::new(start, end))?;
        let tree = self.outline.program.tree();
        let is_expression =
            tree.nodes.iter().any(|node| node.node.is_expression() && node.node.range() == range);
        let whole = self.outline.statements[statement].range;
        (is_expression && range != whole && whole.contains_range(range)).then_some(range)
    }
}

/// An expression that may have several lines, in parentheses if it has.
fn one_line(text: &str) -> String {
    if text.contains('\n') { format!("({text})") } else { text.to_owned() }
}
