use std::collections::BTreeMap;

use crate::{
    analysis::{dependents::Statements, slice::tidied, statement_tree::StatementTree},
    pass::{PassContext, Prior, Proposals, Stage, pass, whole_text},
    rewrite::edit::{Edit, EditSet},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange, Tree,
        ast::{Expr, StmtFunctionDef},
        scope::{BindingKind, ScopeKind},
    },
    torch::names::Torch,
    trace::evidence::Evidence,
};

pass! {
    /// Puts a part of a PyTorch module in the place of the whole, with what a traced run gave to
    /// that part.
    ///
    /// ```python before
    /// import torch
    /// from torch import nn
    /// class Part(nn.Module):
    ///     def forward(self, y):  # called with self: Part(); y: torch.rand(2, 8)
    ///         return y + 1
    /// class Whole(nn.Module):
    ///     def __init__(self):
    ///         super().__init__()
    ///         self.part = Part()
    ///     def forward(self, x):  # called with self: Whole(); x: torch.rand(2, 4)
    ///         return self.part(torch.cat([x, x], 1))
    /// x = load()
    /// compare(Whole(), x)  # fails with x: torch.rand(2, 4)
    /// ```
    /// ```python after
    /// import torch
    /// from torch import nn
    /// class Part(nn.Module):
    ///     def forward(self, y):
    ///         return y + 1
    /// x = torch.rand(2, 8)
    /// compare(Part(), x)
    /// ```
    pub(crate) static DESCEND_INTO_MODULES = Pass { stage: Stage::TraceGuided, propose };
}

/// A module that was called: its class, itself as an expression, and what it was given.
pub(crate) struct Called<'a> {
    pub(crate) class: &'a str,
    pub(crate) module: &'a str,
    pub(crate) given: Vec<&'a str>,
    /// The parameters that took that.
    parameters: Vec<&'a str>,
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let Some(evidence) = cx.evidence else { return };
    let tree = cx.program.tree();
    if Torch::of(cx.program, tree).is_none() {
        return;
    }
    let outline = StatementTree::of(cx.program, evidence);
    let called = all_called(&outline, evidence);
    for node in &tree.nodes {
        let AnyNodeRef::ExprCall(call) = node.node else {
            continue;
        };
        let Expr::Name(name) = &*call.func else {
            continue;
        };
        let Some(whole) = called.iter().find(|it| it.class == name.id.as_str()) else {
            continue;
        };
        for part in called.iter().filter(|it| it.class != whole.class) {
            let mut edits = EditSet::one(Edit::replace(call.range, part.module));
            if part.given.len() == whole.given.len() {
                for (old, new) in whole
                    .given
                    .iter()
                    .zip(&part.given)
                    .filter(|(old, new)| old != new)
                {
                    let new = without_gradient(new);
                    given(cx.program, &outline, evidence, old, &new, &mut edits);
                    written(cx.program, tree, old, &new, &mut edits);
                }
            } else if !handed_on(cx.program, tree, &whole.given, &part.given, &mut edits) {
                continue;
            }
            renamed(tree, &whole.parameters, &part.parameters, &mut edits);
            let text = edits
                .apply(cx.program)
                .ok()
                .and_then(|text| used(cx.program, text));
            let text = text.and_then(|text| tidied(cx.program, text));
            if let Some(edits) = text.and_then(|text| whole_text(cx.program, &text)) {
                let note = format!("`{}` for `{}`", part.class, whole.class);
                out.propose(edits, Prior::Even, note);
            }
        }
    }
}

fn without_gradient(value: &str) -> String {
    value.replace(", requires_grad=True", "")
}

/// The modules of the program that were called.
pub(crate) fn all_called<'a>(
    outline: &StatementTree<'a>,
    evidence: &'a Evidence,
) -> Vec<Called<'a>> {
    evidence
        .arguments
        .iter()
        .filter_map(|(&line, values)| called(outline, line, values))
        .collect()
}

/// The module whose `forward` begins on a line.
fn called<'a>(
    outline: &StatementTree<'a>,
    line: u32,
    values: &'a BTreeMap<String, String>,
) -> Option<Called<'a>> {
    let defs = outline
        .statements
        .iter()
        .filter(|it| outline.line_of(it.range.start()) == line);
    let (def, parent): (&StmtFunctionDef, usize) =
        defs.into_iter().find_map(|it| match it.node {
            AnyNodeRef::StmtFunctionDef(def) if def.name.as_str() == "forward" => {
                Some((def, it.parent?))
            }
            _ => None,
        })?;
    let AnyNodeRef::StmtClassDef(class) = outline.statements[parent].node else {
        return None;
    };
    let mut parameters = def.parameters.iter_non_variadic_params();
    let module = values.get(parameters.next()?.name().as_str())?;
    let parameters: Vec<&str> = parameters
        .filter(|it| {
            it.default.is_none()
                || values
                    .get(it.name().as_str())
                    .is_some_and(|it| it != "None")
        })
        .map(|it| it.name().as_str())
        .collect();
    let given = parameters
        .iter()
        .map(|it| values.get(*it).map(String::as_str))
        .collect::<Option<Vec<_>>>()?;
    Some(Called {
        class: class.name.as_str(),
        module,
        given,
        parameters,
    })
}

/// Names the parameters of the part where those of the whole are named, outside of classes: as
/// `torch.export` wants its `dynamic_shapes`.
fn renamed(tree: &Tree<'_>, whole: &[&str], part: &[&str], edits: &mut EditSet) {
    let new_of = |name: &str| {
        whole
            .iter()
            .zip(part)
            .find(|(old, new)| **old == name && old != new)
    };
    for (index, node) in tree.nodes.iter().enumerate() {
        let AnyNodeRef::ExprDict(dict) = node.node else {
            continue;
        };
        if tree
            .ancestors(index as u32)
            .any(|it| it.is_stmt_class_def())
        {
            continue;
        }
        for key in dict
            .items
            .iter()
            .filter_map(|item| item.key.as_ref()?.as_string_literal_expr())
        {
            if let Some((_, new)) = new_of(key.value.to_str()) {
                edits.edit(Edit::replace(key.range, format!("\"{new}\"")));
            }
        }
    }
}

/// Gives variables of the failure's frames that hold one value another.
fn given(
    program: &Program,
    outline: &StatementTree<'_>,
    evidence: &Evidence,
    old: &str,
    new: &str,
    edits: &mut EditSet,
) {
    for frame in evidence.failure.iter().filter(|frame| !frame.compiled) {
        let function = outline
            .on_line(frame.line)
            .and_then(|it| outline.function_of(it));
        for variable in &program.scopes().variables {
            let is_old = frame
                .values
                .get(variable.name.as_str())
                .is_some_and(|it| it == old);
            for binding in variable.bindings.iter().filter(|_| is_old) {
                let Some(at) = outline.at(binding.statement) else {
                    continue;
                };
                let is_here = match variable.scope {
                    ScopeKind::Module => frame.is_module(),
                    _ => function.is_some() && outline.function_of(at) == function,
                };
                if let AnyNodeRef::StmtAssign(assign) = outline.statements[at].node
                    && is_here
                    && matches!(assign.targets.as_slice(), [Expr::Name(_)])
                {
                    edits.edit(Edit::replace(assign.value.range(), new));
                }
            }
        }
    }
}

/// Writes another value where a call is written that makes one, outside of classes and functions.
fn written(program: &Program, tree: &Tree<'_>, old: &str, new: &str, edits: &mut EditSet) {
    for (index, node) in tree.nodes.iter().enumerate() {
        let mut within = tree.ancestors(index as u32);
        if let AnyNodeRef::ExprCall(call) = node.node
            && program.slice(call.range) == old
            && !within.any(|it| it.is_stmt_class_def() || it.is_stmt_function_def())
        {
            edits.edit(Edit::replace(call.range, new));
        }
    }
}

/// Hands other arguments on where these stand in a row, in a call or a tuple outside of classes and
/// functions. Tells whether they do.
fn handed_on(
    program: &Program,
    tree: &Tree<'_>,
    old: &[&str],
    new: &[&str],
    edits: &mut EditSet,
) -> bool {
    if old.is_empty() {
        return false;
    }
    let mut found = false;
    for (index, node) in tree.nodes.iter().enumerate() {
        let row = match node.node {
            AnyNodeRef::Arguments(it) => &*it.args,
            AnyNodeRef::ExprTuple(it) => it.elts.as_slice(),
            _ => continue,
        };
        if tree
            .ancestors(index as u32)
            .any(|it| it.is_stmt_class_def() || it.is_stmt_function_def())
        {
            continue;
        }
        let is_old = |row: &[Expr]| {
            row.iter()
                .zip(old)
                .all(|(it, old)| program.slice(it.range()) == *old)
        };
        if let Some(row) = row.windows(old.len()).find(|row| is_old(row)) {
            let range = TextRange::new(row[0].start(), row[row.len() - 1].end());
            let is_followed = program.text()[usize::from(range.end())..]
                .trim_start()
                .starts_with(',');
            let comma = if node.node.is_expr_tuple() && !is_followed {
                ","
            } else {
                ""
            };
            edits.edit(Edit::replace(range, new.join(", ") + comma));
            found = true;
        }
    }
    found
}

/// A text without the classes and functions that nothing in it uses any more.
fn used(program: &Program, text: String) -> Option<String> {
    let mut text = text;
    loop {
        let program = program.sibling(text.as_str()).ok()?;
        let statements = Statements::of(&program);
        let mut edits = EditSet::default();
        for variable in program
            .scopes()
            .variables
            .iter()
            .filter(|it| it.scope == ScopeKind::Module)
        {
            let [binding] = variable.bindings.as_slice() else {
                continue;
            };
            let is_inside = |range: TextRange| binding.statement.contains_range(range);
            if matches!(binding.kind, BindingKind::Class | BindingKind::Function)
                && variable.uses.iter().all(|it| is_inside(it.range))
                && let Some(place) = statements.place(binding.statement)
            {
                edits.remove(place);
            }
        }
        if edits.is_empty() {
            return Some(text);
        }
        text = edits.apply(&program).ok()?;
    }
}

#[cfg(test)]
mod tests {
    use super::DESCEND_INTO_MODULES;
    use crate::{syntax::Program, testing::evidence, trace::evidence::MissingSymbols};

    #[test]
    fn parameters_are_named_as_the_part_names_them() {
        let text = "\
import torch
class Part(torch.nn.Module):
    def forward(self, y):  # called with self: Part(); y: torch.rand(2, 8)
        return y + 1
class Whole(torch.nn.Module):
    def forward(self, x):  # called with self: Whole(); x: torch.rand(2, 4)
        return {'x': Part()(torch.cat([x, x], 1))}
x = torch.rand(2, 4)
torch.export.export(Whole(), (x,), dynamic_shapes={'x': {0: None}})  # fails with x: torch.rand(2, 4)
";
        let program = Program::parse(text).unwrap();
        let evidence = evidence(text);
        let proposals = DESCEND_INTO_MODULES.proposals_with(
            &program,
            Some(&evidence),
            &MissingSymbols::default(),
        );
        let found: Vec<String> = proposals
            .iter()
            .map(|it| it.edits.apply(&program).unwrap())
            .collect();
        let end = "x = torch.rand(2, 8)\ntorch.export.export(Part(), (x,), dynamic_shapes={\"y\": {0: None}})\n";
        assert!(found.iter().any(|it| it.ends_with(end)), "{found:#?}");
    }

    #[test]
    fn what_is_given_may_be_written_where_it_is_given() {
        let text = "\
import torch
class Part(torch.nn.Module):
    def forward(self, y):  # called with self: Part(); y: torch.rand(2, 8)
        return y + 1
class Whole(torch.nn.Module):
    def forward(self, x):  # called with self: Whole(); x: torch.rand(2, 4)
        return Part()(torch.cat([x, x], 1))
torch.export.export(Whole(), (torch.rand(2, 4),))  # fails
";
        let program = Program::parse(text).unwrap();
        let evidence = evidence(text);
        let proposals = DESCEND_INTO_MODULES.proposals_with(
            &program,
            Some(&evidence),
            &MissingSymbols::default(),
        );
        let found: Vec<String> = proposals
            .iter()
            .map(|it| it.edits.apply(&program).unwrap())
            .collect();
        let end = "torch.export.export(Part(), (torch.rand(2, 8),))\n";
        assert!(found.iter().any(|it| it.ends_with(end)), "{found:#?}");
    }

    #[test]
    fn parts_that_are_given_more_want_a_row_of_arguments() {
        let text = |call: &str| {
            format!(
                "\
import torch
class Part(torch.nn.Module):
    def forward(self, y, z):  # called with self: Part(); y: torch.rand(2, 8); z: torch.rand(2)
        return y + z
class Whole(torch.nn.Module):
    def forward(self, x):  # called with self: Whole(); x: torch.rand(2, 4)
        return Part()(x, x)
{call}  # fails
"
            )
        };
        let found = |call: &str| -> Vec<String> {
            let text = text(call);
            let program = Program::parse(text.as_str()).unwrap();
            let evidence = evidence(&text);
            assert_eq!(evidence.arguments.len(), 2);
            let proposals = DESCEND_INTO_MODULES.proposals_with(
                &program,
                Some(&evidence),
                &MissingSymbols::default(),
            );
            let texts = proposals.iter().map(|it| it.edits.apply(&program).unwrap());
            texts
                .map(|it| it.lines().last().unwrap_or_default().to_owned())
                .collect()
        };
        assert_eq!(found("compare(Whole(), torch.rand(4))"), [""; 0]);
        assert_eq!(
            found("check(Whole(), torch.rand(2, 4))"),
            ["check(Part(), torch.rand(2, 8), torch.rand(2))"]
        );
        assert_eq!(
            found("export(Whole(), (torch.rand(2, 4),))"),
            ["export(Part(), (torch.rand(2, 8), torch.rand(2),))"]
        );
    }
}
