use std::fmt::Write;

use crate::{
    analysis::{recorded_calls::RecordedCall, slice::Depth},
    pass::{PassContext, Proposals, Stage, pass},
    passes::trace::extract::{Extraction, Region},
    rewrite::parenthesize::primary,
    syntax::{AnyNodeRef, Ranged, ast::Expr},
    trace::evidence::Frame,
};

pass! {
    /// Extracts only the call of PyTorch whose backward fails, on fresh tensors, the statements
    /// that follow its result, and the backward.
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
    let Some(extraction) = Extraction::of(cx) else {
        return;
    };
    for frame in extraction.evidence.forward.iter().rev() {
        let mut codes = Vec::new();
        if let Some(region) = extraction.region(frame) {
            codes.extend(operation(&extraction, region).unwrap_or_default());
            codes.extend(followed(&extraction, region));
        }
        codes.extend(function(&extraction, frame));
        let note = "the call whose backward fails, alone";
        extraction.propose_alone(out, codes, &[Depth::Thin, Depth::Full], note);
    }
}

/// The failing call alone, and its backward: that of each of its results, where it has several.
fn operation(extraction: &Extraction<'_>, region: Region<'_>) -> Option<Vec<String>> {
    let statement = &extraction.tree.statements[region.statement];
    let failing = extraction.failing(region.frame)?;
    let text = extraction.given(failing.range, region.frame, &[])?;
    let is_all = failing.range == statement.value()?.range();
    let codes = match statement.target().filter(|_| is_all) {
        // Which of the results has the history that fails is not known.
        Some(Expr::Tuple(target)) if !target.is_empty() => (0..target.len())
            .filter_map(|at| backward(&format!("{text}[{at}]")))
            .collect(),
        _ => backward(&text).into_iter().collect(),
    };
    Some(codes)
}

/// The statement of the failing call, the statements of its block that concern its result, and the
/// backward of the values that they lead to.
fn followed(extraction: &Extraction<'_>, region: Region<'_>) -> Option<String> {
    let tree = &extraction.tree;
    let first = &tree.statements[region.statement];
    let mut results = vec![name(first.target()?)?];
    let given =
        |value: &Expr, results: &[&str]| extraction.given(value.range(), region.frame, results);
    let mut text = format!("{} = {}\n", results[0], given(first.value()?, &[])?);
    let alone = text.len();
    for statement in tree.following(region.statement) {
        if !results.iter().any(|name| tree.reads_name(statement, name)) {
            continue;
        }
        let (start, value) = match statement.node {
            AnyNodeRef::StmtAssign(it) => match statement.target().and_then(name) {
                Some(name) => (format!("{name} = "), &*it.value),
                None => break,
            },
            AnyNodeRef::StmtAugAssign(it) => {
                let target = extraction.program.slice(it.target.range());
                (format!("{target} {}= ", it.op), &*it.value)
            }
            AnyNodeRef::StmtExpr(it) if !is_backward(&it.value) => (String::new(), &*it.value),
            _ => break,
        };
        let _ = writeln!(text, "{start}{}", given(value, &results)?);
        if statement.node.is_stmt_assign() {
            results.extend(statement.target().and_then(name));
        }
    }
    let is_followed = text.len() > alone;
    is_followed.then(|| format!("{text}{}.sum().backward()\n", results[results.len() - 1]))
}

/// The forward call of the function with its arguments, and the backward of its result.
fn function(extraction: &Extraction<'_>, frame: &Frame) -> Option<String> {
    let evidence = extraction.evidence;
    let call = RecordedCall::of(&extraction.tree, &evidence.arguments, frame.first_line)?;
    let returned = evidence.returned.get(&frame.first_line)?;
    backward(&(call.expression()? + returned.path_to_gradient()?))
}

fn backward(text: &str) -> Option<String> {
    Some(primary(text)? + ".sum().backward()\n")
}

fn name(target: &Expr) -> Option<&str> {
    target.as_name_expr().map(|name| name.id.as_str())
}

/// Whether an expression calls the backward method.
fn is_backward(expr: &Expr) -> bool {
    let called = expr.as_call_expr().map(|call| &*call.func);
    called
        .and_then(|called| called.as_attribute_expr())
        .is_some_and(|called| called.attr.as_str() == "backward")
}

#[cfg(test)]
mod tests {
    use super::EXTRACT_BACKWARD;
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
}
