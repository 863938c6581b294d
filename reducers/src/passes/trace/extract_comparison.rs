use std::fmt::Write;

use crate::{
    analysis::{recorded_calls::RecordedCall, slice::Depth},
    pass::{PassContext, Proposals, Stage, pass},
    passes::trace::extract::{Extraction, Region},
    syntax::{AnyNodeRef, Ranged, TextRange},
    torch::{compilation::compilations, compiler::Compiler, names::Torch},
};

pass! {
    /// Compares the result of one function or module, compiled and as it is, by the check that
    /// fails.
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
    pub(crate) static EXTRACT_COMPARISON = Pass { stage: Stage::TraceGuided, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let Some(extraction) = Extraction::of_torch(cx) else {
        return;
    };
    let tree = cx.program.tree();
    let Some(torch) = Torch::of(cx.program, tree) else {
        return;
    };
    let compilers = Compiler::all(cx.program, &compilations(&torch, tree));
    let check = extraction
        .failing_frames()
        .next()
        .and_then(|frame| extraction.region(frame))
        .filter(|_| !compilers.is_empty())
        .and_then(|region| comparison(&extraction, region));
    let Some((names, check)) = check else { return };
    for compiler in &compilers {
        for &line in extraction.evidence.arguments.keys() {
            if let Some(code) = compared(&extraction, line, compiler, names, &check) {
                let note = format!("what the compiler makes otherwise of line {line}, alone");
                extraction.propose_alone(out, [code], &[Depth::Thin, Depth::Full], &note);
                out.next_group();
            }
        }
    }
}

/// The two tensors that the statement that failed reads by name, and its text with values in place
/// of what else it reads.
fn comparison<'a>(
    extraction: &Extraction<'a>,
    region: Region<'_>,
) -> Option<([&'a str; 2], String)> {
    let mut names: Vec<&str> = Vec::new();
    let mut written = |range: TextRange| {
        let mut reads = extraction.tree.values_in(range, region.frame)?;
        reads.retain(|read| {
            let is_variable =
                region.frame.values.get(read.name).map(String::as_str) == Some(read.value);
            let is_compared = is_variable && read.value.contains("torch.");
            if is_compared && !names.contains(&read.name) {
                names.push(read.name);
            }
            !is_compared
        });
        extraction.printed(range, &reads)
    };
    let statement = &extraction.tree.statements[region.statement];
    let check = match statement.node {
        AnyNodeRef::StmtExpr(_) | AnyNodeRef::StmtAssert(_) => {
            format!("{}\n", written(region.range)?)
        }
        AnyNodeRef::StmtRaise(_) => match extraction.tree.statements[statement.parent?].node {
            AnyNodeRef::StmtIf(it) => {
                let test = written(it.test.range())?;
                format!("if {test}:\n    {}\n", written(region.range)?)
            }
            _ => return None,
        },
        _ => return None,
    };
    let [one, other] = names[..] else { return None };
    Some(([one, other], check))
}

/// The comparison of the function that begins on a line, with the arguments of its last call.
fn compared(
    extraction: &Extraction<'_>,
    line: u32,
    compiler: &Compiler,
    [one, other]: [&str; 2],
    check: &str,
) -> Option<String> {
    let evidence = extraction.evidence;
    let call = RecordedCall::of(&extraction.tree, &evidence.latest, line)
        .or_else(|| RecordedCall::of(&extraction.tree, &evidence.arguments, line))?;
    let mut code = String::new();
    let function = match call.owner {
        None if call.def.decorator_list.is_empty() => call.def.name.as_str(),
        Some((_, model)) if call.def.name.as_str() == "forward" => {
            let _ = writeln!(code, "model = {model}");
            "model"
        }
        _ => return None,
    };
    // Both are to be given the same tensors.
    let mut values = call.values.clone();
    let mut has_tensor = false;
    for (name, value) in &mut values {
        let is_free = ![one, other, function, "self"].contains(&name.as_str());
        if is_free && value.contains("torch.") {
            let _ = writeln!(code, "{name} = {value}");
            value.clone_from(name);
            has_tensor = true;
        }
    }
    let given = call.arguments(&values).filter(|_| has_tensor)?;
    let compiled = compiler.call(function);
    let _ = writeln!(code, "{one} = {compiled}({given})");
    let _ = writeln!(code, "{other} = {function}({given})");
    Some(code + check)
}

#[cfg(test)]
mod tests {
    use super::EXTRACT_COMPARISON;
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
        let proposals = EXTRACT_COMPARISON.proposals_with(
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
