use std::fmt::Write;

use crate::{
    analysis::{
        slice::{Depth, only},
        statement_tree::StatementTree,
    },
    pass::{PassContext, Prior, Proposals, Stage, pass},
    passes::trace::jump_into_compiled::{Called, Compiler, arguments},
    rewrite::edit::{Edit, rewritten},
    syntax::{AnyNodeRef, Ranged, TextRange},
    torch::{compilation::compilations, names::Torch},
    trace::evidence::{Evidence, Frame},
};

pass! {
    /// Compares what one function or module makes compiled and as it is, by the check that fails.
    ///
    /// Its arguments are like those of its last call.
    ///
    /// ```python before
    /// import torch
    /// def scale(x):  # called with x: torch.rand(2, 3)
    ///     return x * 2
    /// def model(x):
    ///     return scale(x.relu()) + 1
    /// x = load()
    /// one, other = torch.compile(model)(x), model(x)
    /// torch.testing.assert_close(one, other)  # fails with one: torch.rand(4); other: torch.rand(4)
    /// ```
    /// ```python after
    /// import torch
    /// def scale(x):
    ///     return x * 2
    /// x = torch.rand(2, 3)
    /// one = torch.compile(scale)(x)
    /// other = scale(x)
    /// torch.testing.assert_close(one, other)
    /// ```
    pub(crate) static JUMP_TO_COMPARISON = Pass { stage: Stage::TraceGuided, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let Some(evidence) = cx.evidence else { return };
    let tree = cx.program.tree();
    let Some(torch) = Torch::of(cx.program, tree) else {
        return;
    };
    let compilers = Compiler::all(cx.program, &compilations(&torch, tree));
    let outline = StatementTree::of(cx.program, evidence);
    let Some(frame) = evidence.failure.iter().rfind(|it| !it.compiled) else {
        return;
    };
    let Some((names, check)) = comparison(&outline, frame).filter(|_| !compilers.is_empty()) else {
        return;
    };
    for compiler in &compilers {
        for &line in evidence.arguments.keys() {
            let Some(code) = compared(&outline, evidence, line, compiler, &names, &check) else {
                continue;
            };
            for depth in [Depth::Thin, Depth::Full] {
                if let Some(edits) = only(cx, &outline, evidence, &code, depth) {
                    let note = format!("what the compiler makes otherwise of line {line}, alone");
                    out.propose(edits, Prior::Even, note);
                }
            }
            out.next_group();
        }
    }
}

/// The two tensors that the statement that failed reads by name, and its text with values in the
/// place of what else it reads.
fn comparison<'a>(outline: &StatementTree<'a>, frame: &Frame) -> Option<([&'a str; 2], String)> {
    let mut names: Vec<&str> = Vec::new();
    let mut written = |range: TextRange| {
        let mut edits = Vec::new();
        for read in outline.values_in(range, frame)? {
            let is_tensor = read.value.contains("torch.");
            if is_tensor
                && frame
                    .values
                    .get(read.name)
                    .is_some_and(|it| it == read.value)
            {
                names.extend((!names.contains(&read.name)).then_some(read.name));
            } else {
                edits.push(Edit::replace(read.range, read.value));
            }
        }
        rewritten(outline.program, range, &edits)
    };
    let index = outline.on_line(frame.line)?;
    let range = outline.statements[index].range;
    let check = match outline.statements[index].node {
        AnyNodeRef::StmtExpr(_) | AnyNodeRef::StmtAssert(_) => format!("{}\n", written(range)?),
        AnyNodeRef::StmtRaise(_) => {
            match outline.statements[outline.statements[index].parent?].node {
                AnyNodeRef::StmtIf(it) => format!(
                    "if {}:\n    {}\n",
                    written(it.test.range())?,
                    written(range)?
                ),
                _ => return None,
            }
        }
        _ => return None,
    };
    let [one, other] = names[..] else { return None };
    Some(([one, other], check))
}

/// The comparison of a function that begins on a line.
fn compared(
    outline: &StatementTree<'_>,
    evidence: &Evidence,
    line: u32,
    compiler: &Compiler,
    [one, other]: &[&str; 2],
    check: &str,
) -> Option<String> {
    let last = Called::of(outline, &evidence.latest, line);
    let called = last.or_else(|| Called::of(outline, &evidence.arguments, line))?;
    let mut code = String::new();
    let function = match called.owner {
        None if called.def.decorator_list.is_empty() => called.def.name.as_str(),
        Some(model) if called.def.name.as_str() == "forward" => {
            let _ = writeln!(code, "model = {model}");
            "model"
        }
        _ => return None,
    };
    // Both are to be given the same tensors.
    let mut values = called.values.clone();
    let tensors = values.iter_mut().filter(|(name, value)| {
        value.contains("torch.") && ![*one, *other, function, "self"].contains(&name.as_str())
    });
    let mut has_tensor = false;
    for (name, value) in tensors {
        let _ = writeln!(code, "{name} = {value}");
        value.clone_from(name);
        has_tensor = true;
    }
    let given = arguments(called.def, &values, called.receiver)?;
    has_tensor.then(|| {
        format!(
            "{code}{one} = {}({given})\n{other} = {function}({given})\n{check}",
            compiler.call(function)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::JUMP_TO_COMPARISON;
    use crate::{syntax::Program, testing::evidence, trace::evidence::MissingSymbols};

    #[test]
    fn modules_are_made_once_and_conditions_kept() {
        let text = "\
import torch
class Scale(torch.nn.Module):
    def forward(self, x, by=2):  # called with self: Scale(); x: torch.rand(2); by: 3
        return x * by
def main():
    model = torch.compile(torch.nn.Sequential(Scale(), torch.nn.ReLU()), dynamic=True)
    for size in range(9):
        a, b = model(torch.rand(size)), torch.nn.Sequential(Scale(), torch.nn.ReLU())(torch.rand(size))
        if (a - b).abs().max() > 1e-3:
            raise ValueError(size)  # fails with a: torch.rand(2); b: torch.rand(2); size: 8
main()  # fails
";
        let program = Program::parse(text).unwrap();
        let proposals = JUMP_TO_COMPARISON.proposals_with(
            &program,
            Some(&evidence(text)),
            &MissingSymbols::default(),
        );
        let texts: Vec<String> = proposals
            .iter()
            .map(|it| it.edits.apply(&program).unwrap())
            .collect();
        assert_eq!(
            texts.last().map(String::as_str),
            Some(
                "\
import torch
class Scale(torch.nn.Module):
    def forward(self, x, by=2):
        return x * by
model = Scale()
x = torch.rand(2)
a = torch.compile(model, dynamic=True)(x, 3)
b = model(x, 3)
if (a - b).abs().max() > 1e-3:
    raise ValueError(8)
"
            )
        );
    }
}
