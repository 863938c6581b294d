use std::fmt::Write as _;

use crate::{
    analysis::{
        slice::{Depth, only},
        statement_tree::StatementTree,
    },
    pass::{PassContext, Prior, Proposals, Stage, pass},
    passes::trace::{
        jump_into_compiled::call_of,
        jump_to_failure::{expression, one_line},
    },
    rewrite::edit::{Edit, rewritten},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange,
        ast::{Expr, Stmt},
    },
    torch::names::Torch,
    trace::evidence::{Evidence, Frame},
};

pass! {
    /// Leaves only the call of PyTorch whose backward fails, on fresh tensors, what is done to its
    /// result, and the backward.
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
    pub(crate) static JUMP_TO_BACKWARD = Pass { stage: Stage::TraceGuided, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let Some(evidence) = cx.evidence.filter(|it| !it.forward.is_empty()) else {
        return;
    };
    let tree = cx.program.tree();
    if Torch::of(cx.program, tree).is_none() {
        return;
    }
    let outline = StatementTree::of(cx.program, evidence);
    for frame in evidence.forward.iter().rev() {
        let mut codes = Vec::new();
        codes.extend(operation(&outline, frame));
        codes.extend(followed(&outline, frame));
        codes.extend(function(&outline, evidence, frame));
        for code in codes {
            for depth in [Depth::Thin, Depth::Full] {
                if let Some(edits) = only(cx, &outline, evidence, &code, depth) {
                    out.propose(edits, Prior::Even, "the call whose backward fails, alone");
                }
            }
        }
    }
}

/// The value of a statement on the way forward, with values in the place of what it reads; and the
/// name it is given.
fn value<'a>(
    outline: &StatementTree<'a>,
    frame: &Frame,
) -> Option<(usize, TextRange, Option<&'a str>)> {
    let index = outline.on_line(frame.line)?;
    let (value, target) = match outline.statements[index].node {
        AnyNodeRef::StmtExpr(it) => (&*it.value, None),
        AnyNodeRef::StmtReturn(it) => (it.value.as_deref()?, None),
        AnyNodeRef::StmtAnnAssign(it) => (it.value.as_deref()?, name(&it.target)),
        AnyNodeRef::StmtAssign(it) => match it.targets.as_slice() {
            [target] => (&*it.value, name(target)),
            _ => return None,
        },
        _ => return None,
    };
    Some((index, value.range(), target))
}

fn name(target: &Expr) -> Option<&str> {
    match target {
        Expr::Name(it) => Some(it.id.as_str()),
        _ => None,
    }
}

/// A part of a frame's statement with values in the place of what it reads, but for some names.
fn given(
    outline: &StatementTree<'_>,
    frame: &Frame,
    part: TextRange,
    kept: &[&str],
) -> Option<String> {
    let mut frame = frame.clone();
    for name in kept {
        frame.values.insert((*name).to_owned(), (*name).to_owned());
        let prefix = format!("{name}.");
        frame.values.retain(|it, _| !it.starts_with(&prefix));
    }
    let reads = outline.values_in(part, &frame)?;
    let edits: Vec<Edit> = reads
        .iter()
        .map(|read| Edit::replace(read.range, read.value))
        .collect();
    rewritten(outline.program, part, &edits)
}

/// The failing call alone, and its backward: that of the first and that of the last of several
/// results.
fn operation(outline: &StatementTree<'_>, frame: &Frame) -> Vec<String> {
    let code = || {
        let (index, range, _) = value(outline, frame)?;
        let part = expression(outline, frame, index).unwrap_or(range);
        let text = one_line(&given(outline, frame, part, &[])?);
        let results = match outline.statements[index].node {
            AnyNodeRef::StmtAssign(it) if part == range => match it.targets.as_slice() {
                [Expr::Tuple(it)] => it.elts.len(),
                _ => 0,
            },
            _ => 0,
        };
        let parts = if results == 0 {
            vec![String::new()]
        } else {
            vec!["[0]".to_owned(), format!("[{}]", results - 1)]
        };
        Some(
            parts
                .into_iter()
                .filter_map(|part| backward(&format!("{text}{part}")))
                .collect(),
        )
    };
    code().unwrap_or_default()
}

/// The statement of the failing call, those of its block that have to do with its result, and the
/// backward of what they come to.
fn followed(outline: &StatementTree<'_>, frame: &Frame) -> Option<String> {
    let (index, range, target) = value(outline, frame)?;
    let mut last = target?;
    let mut text = format!(
        "{last} = {}\n",
        one_line(&given(outline, frame, range, &[])?)
    );
    let mut results = vec![last];
    let mut count = 0;
    let place = outline.statements[index].place;
    for statement in &outline.statements[index + 1..] {
        if statement.place.row != place.row || !statement.is_executed {
            continue;
        }
        let variables = &outline.program.scopes().variables;
        let mut reads = statement
            .reads
            .iter()
            .map(|it| variables[it.0].name.as_str());
        if !reads.any(|it| results.contains(&it)) {
            continue;
        }
        match statement.node {
            AnyNodeRef::StmtAssign(it)
                if it.targets.len() == 1 && name(&it.targets[0]).is_some() =>
            {
                let value = given(outline, frame, it.value.range(), &results)?;
                last = name(&it.targets[0])?;
                let _ = writeln!(text, "{last} = {}", one_line(&value));
                results.push(last);
            }
            AnyNodeRef::StmtAugAssign(it) => {
                let value = given(outline, frame, it.value.range(), &results)?;
                let target = outline
                    .program
                    .slice(TextRange::new(it.range.start(), it.value.range().start()));
                let _ = writeln!(text, "{target}{}", one_line(&value));
            }
            AnyNodeRef::StmtExpr(it)
                if outline.program.slice(it.range).ends_with(".backward()") =>
            {
                break;
            }
            AnyNodeRef::StmtExpr(it) => {
                let value = given(outline, frame, it.range, &results)?;
                let _ = writeln!(text, "{}", one_line(&value));
            }
            _ => break,
        }
        count += 1;
    }
    (count > 0).then(|| format!("{text}{last}.sum().backward()\n"))
}

/// The call of the function on the way forward with what it was called with, and the backward of
/// what it returned.
fn function(outline: &StatementTree<'_>, evidence: &Evidence, frame: &Frame) -> Option<String> {
    let call = call_of(outline, evidence, frame.first_line)?;
    let returned = evidence.returned.get(&frame.first_line)?;
    backward(&(call + &part_with_gradient(returned)?))
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
    use super::{JUMP_TO_BACKWARD, part_with_gradient};
    use crate::{syntax::Program, testing::evidence, trace::evidence::MissingSymbols};

    fn texts(text: &str) -> Vec<String> {
        let program = Program::parse(text).unwrap();
        let proposals = JUMP_TO_BACKWARD.proposals_with(
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
