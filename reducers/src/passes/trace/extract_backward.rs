use std::fmt::Write as _;

use crate::{
    analysis::{recorded_calls::RecordedCall, slice::Depth},
    pass::{PassContext, Proposals, Stage, pass},
    passes::trace::extract::{Extraction, Region, value},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange,
        ast::{Expr, Stmt},
    },
    trace::evidence::Frame,
};

pass! {
    /// Extracts only the call of PyTorch whose backward fails, on fresh tensors, the statements that
    /// follow its result, and the backward.
    ///
    /// ```python before
    /// import torch
    /// class Model(torch.nn.Module):
    ///     def forward(self, x):
    ///         y = self.linear(x).exp()  # goes back with self.linear: torch.nn.Linear(4, 2); x: torch.randn(8, 4); self.eps: 0.1
    ///         y += self.eps
    ///         return y, x
    /// loss = Model()(torch.randn(8, 4))[0].mean()  # goes back
    /// loss.backward()  # fails
    /// ```
    /// ```python after
    /// import torch
    /// y = torch.nn.Linear(4, 2)(torch.randn(8, 4)).exp()
    /// y += 0.1
    /// y.sum().backward()
    /// ```
    pub(crate) static EXTRACT_BACKWARD = Pass { stage: Stage::TraceGuided, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let Some(extraction) = Extraction::of_torch(cx) else {
        return;
    };
    for frame in extraction.evidence.forward.iter().rev() {
        let mut codes = Vec::new();
        if let Some(region) = extraction.region(frame)
            && let Some((value, target)) = assigned(&extraction, region)
        {
            codes.extend(operation(&extraction, region, value).unwrap_or_default());
            codes.extend(followed(&extraction, region, value, target));
        }
        codes.extend(function(&extraction, frame));
        let note = "the call whose backward fails, alone";
        extraction.propose_alone(out, codes, &[Depth::Thin, Depth::Full], note);
    }
}

/// The value of a statement on the way forward, and the name it is given.
fn assigned<'a>(
    extraction: &Extraction<'a>,
    region: Region<'_>,
) -> Option<(&'a Expr, Option<&'a str>)> {
    let node = extraction.tree.statements[region.statement].node;
    let target = match node {
        AnyNodeRef::StmtAnnAssign(it) => name(&it.target),
        AnyNodeRef::StmtAssign(it) => match it.targets.as_slice() {
            [target] => name(target),
            _ => return None,
        },
        _ => None,
    };
    Some((value(node)?, target))
}

fn name(target: &Expr) -> Option<&str> {
    target.as_name_expr().map(|it| it.id.as_str())
}

/// A part of a frame's statement with values in place of what it reads, but for some names.
fn given(
    extraction: &Extraction<'_>,
    frame: &Frame,
    part: TextRange,
    kept: &[&str],
) -> Option<String> {
    let mut frame = frame.clone();
    for name in kept {
        frame.values.insert((*name).to_owned(), (*name).to_owned());
        let prefix = format!("{name}.");
        frame.values.retain(|path, _| !path.starts_with(&prefix));
    }
    let reads = extraction.tree.values_in(part, &frame)?;
    extraction.printed(part, &reads)
}

/// The failing call alone, and its backward: that of each of its results, where it has several.
fn operation(extraction: &Extraction<'_>, region: Region<'_>, value: &Expr) -> Option<Vec<String>> {
    let failing = extraction.expression(region);
    let part = failing.map_or(value.range(), |it| it.range);
    let text = given(extraction, region.frame, part, &[])?;
    let results = match extraction.tree.statements[region.statement].node {
        AnyNodeRef::StmtAssign(it) if part == value.range() => match it.targets.as_slice() {
            [Expr::Tuple(it)] => it.elts.len(),
            _ => 0,
        },
        _ => 0,
    };
    if results == 0 {
        return Some(backward(&text).into_iter().collect());
    }
    let parts = (0..results).filter_map(|at| backward(&format!("{text}[{at}]")));
    Some(parts.collect())
}

/// The statement of the failing call, those of its block that have to do with its result, and the
/// backward of what they come to.
fn followed(
    extraction: &Extraction<'_>,
    region: Region<'_>,
    value: &Expr,
    target: Option<&str>,
) -> Option<String> {
    let Region {
        statement, frame, ..
    } = region;
    let mut last = target?;
    let first = given(extraction, frame, value.range(), &[])?;
    let mut text = format!("{last} = {first}\n");
    let mut results = vec![last];
    let mut count = 0;
    let block = extraction.tree.statements[statement].place.row;
    let variables = &extraction.program.scopes().variables;
    for statement in &extraction.tree.statements[statement + 1..] {
        let reads = |name: &str| {
            let mut reads = statement.reads.iter();
            reads.any(|(variable, _)| variables[*variable].name == name)
        };
        let is_next = statement.place.row == block && statement.is_executed;
        if !is_next || !results.iter().any(|result| reads(result)) {
            continue;
        }
        let given = |part: TextRange| given(extraction, frame, part, &results);
        match statement.node {
            AnyNodeRef::StmtAssign(it) => {
                let [target] = it.targets.as_slice() else {
                    break;
                };
                let Some(target) = name(target) else { break };
                let _ = writeln!(text, "{target} = {}", given(it.value.range())?);
                last = target;
                results.push(last);
            }
            AnyNodeRef::StmtAugAssign(it) => {
                let target = TextRange::new(it.range.start(), it.value.range().start());
                let target = extraction.program.slice(target);
                let _ = writeln!(text, "{target}{}", given(it.value.range())?);
            }
            AnyNodeRef::StmtExpr(it) if is_backward(&it.value) => break,
            AnyNodeRef::StmtExpr(it) => {
                let _ = writeln!(text, "{}", given(it.range)?);
            }
            _ => break,
        }
        count += 1;
    }
    (count > 0).then(|| format!("{text}{last}.sum().backward()\n"))
}

/// Whether an expression calls the method that goes back.
fn is_backward(expr: &Expr) -> bool {
    let called = expr.as_call_expr().map(|call| &*call.func);
    called
        .and_then(|called| called.as_attribute_expr())
        .is_some_and(|it| it.attr.as_str() == "backward")
}

/// The call of the function on the way forward with what it was called with, and the backward of
/// what it returned.
fn function(extraction: &Extraction<'_>, frame: &Frame) -> Option<String> {
    let evidence = extraction.evidence;
    let call = RecordedCall::of(&extraction.tree, &evidence.arguments, frame.first_line)?;
    let returned = evidence.returned.get(&frame.first_line)?;
    backward(&(call.expression()? + &part_with_gradient(returned)?))
}

fn backward(text: &str) -> Option<String> {
    Program::parse(text).ok()?;
    let is_plain = matches!(
        Program::parse(text).ok()?.body(),
        [Stmt::Expr(it)] if matches!(&*it.value, Expr::Call(_) | Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_))
    );
    let text = if is_plain {
        text.to_owned()
    } else {
        format!("({text})")
    };
    Some(format!("{text}.sum().backward()\n"))
}

/// How to get from a value, as an expression, to a tensor in it that has a gradient.
fn part_with_gradient(value: &str) -> Option<String> {
    const MARK: &str = "requires_grad=True";
    let program = Program::parse(value).ok()?;
    let [Stmt::Expr(stmt)] = program.body() else {
        return None;
    };
    if !value.contains(MARK) {
        return None;
    }
    let has = |expr: &Expr| program.slice(expr.range()).contains(MARK);
    let inner = |expr: &Expr, step: String| {
        Some(format!(
            "{step}{}",
            part_with_gradient(program.slice(expr.range()))?
        ))
    };
    match &*stmt.value {
        Expr::Tuple(it) => {
            let at = it.elts.iter().position(has)?;
            inner(&it.elts[at], format!("[{at}]"))
        }
        Expr::List(it) => {
            let at = it.elts.iter().position(has)?;
            inner(&it.elts[at], format!("[{at}]"))
        }
        Expr::Dict(it) => {
            let item = it.items.iter().find(|item| has(&item.value))?;
            inner(
                &item.value,
                format!("[{}]", program.slice(item.key.as_ref()?.range())),
            )
        }
        _ => Some(String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::{EXTRACT_BACKWARD, part_with_gradient};
    use crate::{syntax::Program, testing::evidence, trace::evidence::MissingSymbols};

    fn texts(text: &str) -> Vec<String> {
        let program = Program::parse(text).unwrap();
        let proposals = EXTRACT_BACKWARD.proposals_with(
            &program,
            Some(&evidence(text)),
            &MissingSymbols::default(),
        );
        let mut texts: Vec<String> = proposals
            .iter()
            .map(|it| it.edits.apply(&program).unwrap())
            .collect();
        texts.dedup();
        texts
    }

    #[test]
    fn the_call_goes_alone_where_it_can() {
        let text = "\
import torch
from torch import nn
loss = nn.MSELoss()
for x, y in load('a file that is not there', 'and another one that is not there either'):
    error = loss(x + 1, y)  # goes back with loss: nn.MSELoss(); x: torch.rand(2); y: torch.ones(2)
    error.backward()  # fails
";
        assert_eq!(
            texts(text),
            [
                "import torch\nfrom torch import nn\nnn.MSELoss()(torch.rand(2) + 1, torch.ones(2)).sum().backward()\n"
            ]
        );
    }

    #[test]
    fn functions_of_autograd_keep_their_backward() {
        let text = "\
import torch
class Round(torch.autograd.Function):
    def forward(ctx, x, step):
        return x
    def backward(ctx, grad):
        return grad
def quantize(x):
    y, z = Round.apply(x, 2.0)  # goes back with Round: Round; x: torch.rand(2, requires_grad=True)
    return y
loss = quantize(load('a file that is not there', 'and another one that is not there')).sum()  # goes back
loss.backward()  # fails
";
        let head = "import torch\nclass Round(torch.autograd.Function):\n    def forward(ctx, x, step):\n        return x\n    def backward(ctx, grad):\n        return grad\n";
        let call = "Round.apply(torch.rand(2, requires_grad=True), 2.0)";
        let expected = [0, 1].map(|at| format!("{head}{call}[{at}].sum().backward()\n"));
        assert_eq!(texts(text), expected);
    }

    #[test]
    fn where_nothing_goes_back_nothing_is_tried() {
        assert!(
            texts("import torch\ndef f(x):\n    return x + 1\nf(1)  # fails with x: 1\n")
                .is_empty()
        );
    }

    #[test]
    fn the_tensor_with_a_gradient_is_found_in_what_holds_it() {
        let found = |value: &str| part_with_gradient(value).unwrap_or_else(|| "none".to_owned());
        assert_eq!(found("torch.ones(1, requires_grad=True)"), "");
        assert_eq!(
            found("(1, {'a': torch.ones(2), 'b': torch.ones(1, requires_grad=True)})"),
            "[1]['b']"
        );
        assert_eq!(found("torch.ones(1)"), "none");
    }
}
