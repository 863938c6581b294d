use std::fmt::Write;

use crate::{
    analysis::{recorded_calls::RecordedCall, slice::Depth},
    pass::{PassContext, Proposals, Stage, pass},
    passes::trace::extract::{Extraction, Region},
    syntax::{AnyNodeRef, Ranged, TextRange},
    torch::compiler::{Compiler, Compilers},
    trace::evidence::SourceLine,
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
    let Some(extraction) = Extraction::of(cx) else {
        return;
    };
    let compilers = Compilers::of(cx.program).all;
    let failing = extraction.failing_frames().next();
    let check = failing
        .filter(|_| !compilers.is_empty())
        .and_then(|frame| comparison(&extraction, extraction.region(frame)?));
    let Some((names, check)) = check else { return };
    for compiler in &compilers {
        for &line in extraction.evidence.arguments.keys() {
            if let Some((function, code)) = compared(&extraction, line, compiler, names) {
                let note = format!("`{function}` alone, compiled and as it is");
                let depths = [Depth::Thin, Depth::Full];
                extraction.propose_alone(out, [code + &check], &depths, &note);
                // A difference in this function says nothing about the next.
                out.next_group();
            }
        }
    }
}

/// The two tensors that the failed statement reads by name, and its text with values instead of its
/// other reads.
fn comparison<'a>(
    extraction: &Extraction<'a>,
    region: Region<'_>,
) -> Option<([&'a str; 2], String)> {
    let mut names: Vec<&str> = Vec::new();
    let mut written = |range: TextRange| {
        let mut reads = extraction.tree.values_in(range, region.frame, &[])?;
        reads.retain(|read| {
            let is_variable = region.frame.values.get(read.name) == Some(read.value);
            let is_compared = is_variable && read.value.holds_tensor();
            if is_compared && !names.contains(&read.name) {
                names.push(read.name);
            }
            !is_compared
        });
        extraction.printed(range, &reads, |read| read.value.text())
    };
    let statement = &extraction.tree.statements[region.statement];
    let check = match statement.node {
        AnyNodeRef::StmtExpr(_) | AnyNodeRef::StmtAssert(_) => {
            format!("{}\n", written(region.range)?)
        }
        // A `raise` has a reason: the condition around it is the check.
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

/// The two results of the function that begins on a line, with the arguments of its last call, and
/// the function's name.
fn compared<'a>(
    extraction: &Extraction<'a>,
    line: SourceLine,
    compiler: &Compiler,
    [one, other]: [&str; 2],
) -> Option<(&'a str, String)> {
    let evidence = extraction.evidence;
    let call = RecordedCall::of(&extraction.tree, &evidence.latest, line)
        .or_else(|| RecordedCall::of(&extraction.tree, &evidence.arguments, line))?;
    let mut code = String::new();
    let is_method = call.owner.is_some();
    let mut function = call
        .callee()
        .filter(|_| is_method || call.def.decorator_list.is_empty())?;
    if is_method {
        // Two modules that are made alike have different parameters.
        let _ = writeln!(code, "model = {function}");
        function = "model";
    }
    // Both are to be given the same tensors.
    let is_shared = |name: &str| {
        let is_free = ![one, other, function, "self"].contains(&name);
        is_free && call.values.get(name).is_some_and(|value| !value.is_plain())
    };
    for (name, value) in call.values.iter().filter(|(name, _)| is_shared(name)) {
        let _ = writeln!(code, "{name} = {}", value.text());
    }
    let mut values = call.values.iter();
    values.find(|(name, value)| is_shared(name) && value.holds_tensor())?;
    let given = call.arguments(|name, value| if is_shared(name) { name } else { value.text() })?;
    let compiled = compiler.call(function);
    let _ = writeln!(code, "{one} = {compiled}({given})");
    let _ = writeln!(code, "{other} = {function}({given})");
    Some((call.def.name.as_str(), code))
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
