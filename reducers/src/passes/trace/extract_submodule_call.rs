use crate::{
    analysis::{dependents::without_unused_definitions, recorded_calls::ModuleCall},
    pass::{PassContext, Prior, Proposals, Stage, pass},
    passes::trace::extract::Extraction,
    rewrite::edit::{Edit, EditSet},
    syntax::{
        AnyNodeRef, Ranged, TextRange,
        ast::{DictItem, Expr},
        scope::ScopeKind,
    },
    torch::values::without_gradients,
};

pass! {
    /// Replaces a PyTorch module by a part of it, with the arguments that a traced run recorded for
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
    pub(crate) static EXTRACT_SUBMODULE_CALL = Pass { stage: Stage::TraceGuided, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let Some(extraction) = Extraction::of(cx) else {
        return;
    };
    let modules = extraction.modules();
    for node in &cx.program.tree().nodes {
        let AnyNodeRef::ExprCall(call) = node.node else {
            continue;
        };
        let made = call.func.as_name_expr().map(|name| name.id.as_str());
        let Some(whole) = modules.iter().find(|module| Some(module.class) == made) else {
            continue;
        };
        for part in modules.iter().filter(|part| part.class != whole.class) {
            let mut swap = Swap {
                extraction: &extraction,
                edits: EditSet::one(Edit::replace(call.range, part.module)),
            };
            if !swap.arguments(whole, part) {
                continue;
            }
            swap.names(&whole.parameters, &part.parameters);
            let text = swap.edits.apply(cx.program).ok();
            let text = text.and_then(|text| without_unused_definitions(cx.program, text));
            if let Some(edits) = text.and_then(|text| extraction.simpler(text)) {
                let note = format!("`{}` for `{}`", part.class, whole.class);
                out.propose(edits, Prior::Even, note);
            }
        }
    }
}

/// The edits that put a part of a module in place of the whole.
struct Swap<'a> {
    extraction: &'a Extraction<'a>,
    edits: EditSet,
}

impl<'a> Swap<'a> {
    /// Passes the part its own arguments where the whole got its arguments. Returns whether that is
    /// possible.
    fn arguments(&mut self, whole: &ModuleCall<'_>, part: &ModuleCall<'_>) -> bool {
        if part.given.len() != whole.given.len() {
            return self.row(whole, part);
        }
        for (old, new) in whole.given.iter().zip(&part.given) {
            if old.text() != new.text() {
                // The argument of the part was computed; the value written instead is an input.
                let new = without_gradients(&new.expression);
                self.variables(old.text(), new.text());
                self.calls(old.text(), new.text());
            }
        }
        true
    }

    /// Assigns another value to variables of the failure's frames that hold one value.
    fn variables(&mut self, old: &str, new: &str) {
        let tree = &self.extraction.tree;
        for frame in self.extraction.failing_frames() {
            let region = self.extraction.region(frame);
            let function = region.and_then(|region| tree.function_of(region.statement));
            let variables = self.extraction.program.scopes().variables.iter();
            let holding = variables.filter(|variable| {
                let value = frame.values.get(variable.name.as_str());
                value.is_some_and(|value| value.text() == old)
            });
            for variable in holding {
                let bindings = variable.bindings.iter();
                for at in bindings.filter_map(|binding| tree.at(binding.statement)) {
                    let is_here = match variable.scope {
                        ScopeKind::Module => frame.is_module(),
                        _ => function.is_some() && tree.function_of(at) == function,
                    };
                    if let AnyNodeRef::StmtAssign(assign) = tree.statements[at].node
                        && is_here
                        && matches!(assign.targets.as_slice(), [Expr::Name(_)])
                    {
                        self.edits.edit(Edit::replace(assign.value.range(), new));
                    }
                }
            }
        }
    }

    /// Writes another value where a call is written that makes one, outside of definitions.
    fn calls(&mut self, old: &str, new: &str) {
        for node in self.outside(|_| true) {
            if let AnyNodeRef::ExprCall(call) = node
                && self.extraction.program.slice(call.range) == old
            {
                self.edits.edit(Edit::replace(call.range, new));
            }
        }
    }

    /// Writes the part's arguments where those of the whole stand in a row, in a call or a tuple
    /// outside of definitions. Returns whether they do.
    fn row(&mut self, whole: &ModuleCall<'_>, part: &ModuleCall<'_>) -> bool {
        let program = self.extraction.program;
        let mut found = false;
        if whole.given.is_empty() {
            return false;
        }
        for node in self.outside(|_| true) {
            let row = match node {
                AnyNodeRef::Arguments(it) => &*it.args,
                AnyNodeRef::ExprTuple(it) => it.elts.as_slice(),
                _ => continue,
            };
            let is_old = |row: &&[Expr]| {
                let mut pairs = row.iter().zip(&whole.given);
                pairs.all(|(expr, old)| program.slice(expr.range()) == old.text())
            };
            if let Some(row) = row.windows(whole.given.len()).find(is_old) {
                let range = TextRange::new(row[0].start(), row[row.len() - 1].end());
                let rest = program.text()[usize::from(range.end())..].trim_start();
                // A tuple of one needs its comma.
                let is_open = node.is_expr_tuple() && !rest.starts_with(',');
                let comma = if is_open { "," } else { "" };
                self.edits.edit(Edit::replace(range, part.row() + comma));
                found = true;
            }
        }
        found
    }

    /// Names the part's parameters where a dict is keyed by those of the whole: one whose keys are
    /// all of them texts that name parameters, outside of classes.
    fn names(&mut self, whole: &[&str], part: &[&str]) {
        for node in self.outside(|around| around.is_stmt_class_def()) {
            let AnyNodeRef::ExprDict(dict) = node else {
                continue;
            };
            let key = |item: &DictItem| {
                let key = item.key.as_ref()?.as_string_literal_expr()?;
                let at = whole.iter().position(|name| *name == key.value.to_str())?;
                Some((key.range, at))
            };
            let keys: Option<Vec<_>> = dict.items.iter().map(key).collect();
            for (range, at) in keys.into_iter().flatten() {
                if let Some(name) = part.get(at).filter(|name| **name != whole[at]) {
                    self.edits.edit(Edit::replace(range, format!("\"{name}\"")));
                }
            }
        }
    }

    /// The nodes outside of such definitions.
    fn outside(&self, counts: impl Fn(AnyNodeRef<'_>) -> bool) -> Vec<AnyNodeRef<'a>> {
        let tree = self.extraction.program.tree();
        let is_definition = |around: AnyNodeRef<'_>| {
            let is_one = around.is_stmt_class_def() || around.is_stmt_function_def();
            is_one && counts(around)
        };
        let indices = (0..).zip(&tree.nodes);
        let outside = indices.filter(|(index, _)| !tree.ancestors(*index).any(is_definition));
        outside.map(|(_, node)| node.node).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::EXTRACT_SUBMODULE_CALL;
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
        let proposals = EXTRACT_SUBMODULE_CALL.proposals_with(
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
        let proposals = EXTRACT_SUBMODULE_CALL.proposals_with(
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
            let proposals = EXTRACT_SUBMODULE_CALL.proposals_with(
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
