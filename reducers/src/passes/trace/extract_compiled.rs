use std::collections::BTreeMap;

use crate::{
    analysis::{recorded_calls::RecordedCall, slice::Depth, statement_tree::Read},
    pass::{PassContext, Proposals, Stage, pass},
    passes::trace::extract::{Extraction, Region},
    syntax::{AnyNodeRef, Ranged},
    torch::compiler::{Compiler, Compilers},
    trace::evidence::SourceLine,
};

pass! {
    /// Compiles only the statement or the function that fails, with the values that a run without
    /// the compiler recorded there.
    ///
    /// ```python before
    /// import torch
    /// def step(x):
    ///     y = x.relu()
    ///     return y.sum() + 1  # compiled with y: torch.rand(2, 3)
    /// f = torch.compile(step, fullgraph=True)
    /// for batch in load():
    ///     f(batch)  # fails
    /// ```
    /// ```python after
    /// import torch
    /// @torch.compile(fullgraph=True)
    /// def f(y):
    ///     return y.sum() + 1
    /// f(torch.rand(2, 3))
    /// ```
    pub(crate) static EXTRACT_COMPILED = Pass { stage: Stage::TraceGuided, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let Some(extraction) = Extraction::of(cx) else {
        return;
    };
    let compilers = Compilers::of(cx.program);
    if compilers.all.is_empty() {
        return;
    }
    for module in &Extraction::library(cx) {
        let extraction = Extraction::of_module(cx, module);
        let regions = compiled(&extraction);
        for compiler in &compilers.all {
            let statements = statements(&extraction, &regions, compiler);
            let note = "what fails in a package when it is compiled, alone";
            extraction.propose_alone(out, statements, &[Depth::Thin, Depth::Full], note);
        }
        out.next_group();
    }
    let evidence = extraction.evidence;
    let regions = compiled(&extraction);
    for compiler in &compilers.all {
        let under_way = evidence.calls.iter().filter(|call| call.compiled);
        let under_way =
            under_way.map(|call| format!("{}({})\n", compiler.call(&call.called), call.arguments));
        let statements = statements(&extraction, &regions, compiler);
        let lines = evidence.arguments.keys();
        let functions = lines.filter_map(|&line| function(&extraction, line, compiler, &compilers));
        let codes = under_way.chain(statements).chain(functions);
        let note = "what fails when it is compiled, alone";
        extraction.propose_alone(out, codes, &[Depth::Thin, Depth::Full], note);
    }
}

/// The statements that were being compiled when that failed, innermost first.
fn compiled<'a>(extraction: &Extraction<'a>) -> Vec<Region<'a>> {
    let frames = extraction.evidence.failure.iter().rev();
    let compiled = frames.filter(|frame| frame.compiled);
    compiled
        .filter_map(|frame| extraction.region(frame))
        .collect()
}

/// Compiled functions of each of some statements, and their calls.
fn statements(
    extraction: &Extraction<'_>,
    regions: &[Region<'_>],
    compiler: &Compiler,
) -> Vec<String> {
    let regions = regions.iter();
    let codes = regions.flat_map(|region| {
        let with = |reading| statement(extraction, *region, compiler, reading);
        Reading::ALL.into_iter().filter_map(with)
    });
    codes.collect()
}

/// Which parts of a statement recorded values replace.
#[derive(Clone, Copy)]
enum Reading {
    /// Names, attributes and elements as they are looked up.
    Paths,
    /// Only names, if they are known: looking up an element may be what fails.
    Names,
    /// Also the results of the program's functions.
    Results,
}

impl Reading {
    const ALL: [Self; 3] = [Self::Paths, Self::Names, Self::Results];
}

/// A compiled function of the one statement that failed, and its call.
fn statement(
    extraction: &Extraction<'_>,
    region: Region<'_>,
    compiler: &Compiler,
    reading: Reading,
) -> Option<String> {
    let Extraction { tree, program, .. } = extraction;
    let node = tree.statements[region.statement].node;
    let (part, start, end) = match node {
        AnyNodeRef::StmtIf(it) => (it.test.range(), "if ", ":\n        pass"),
        AnyNodeRef::StmtWhile(it) => (it.test.range(), "if ", ":\n        pass"),
        AnyNodeRef::StmtFor(it) => (it.iter.range(), "for _ in ", ":\n        pass"),
        AnyNodeRef::StmtAugAssign(_) | AnyNodeRef::StmtAssert(_) => (region.range, "", ""),
        _ => {
            let value = tree.statements[region.statement].value()?;
            (value.range(), "return ", "")
        }
    };
    let reads = match reading {
        Reading::Paths => tree.values_in(part, region.frame, &[])?,
        Reading::Names => tree.names_in(part, region.frame)?,
        Reading::Results => tree.results_in(part, region.frame, extraction.evidence)?,
    };
    let mut parameters = BTreeMap::new();
    for read in reads.iter().filter(|read| !is_constant(read)) {
        let value = read.value.text();
        let old = parameters.insert(read.name, value);
        // One parameter stands for one value, and the function has a name of its own.
        if old.is_some_and(|old| old != value) || read.name == "f" {
            return None;
        }
    }
    let body = extraction.printed(part, &reads, |read| {
        if is_constant(read) {
            read.value.text()
        } else {
            read.name
        }
    })?;
    // A statement takes no parentheses.
    if start.is_empty() && body.contains('\n') {
        return None;
    }
    let mut body = format!("{start}{body}{end}");
    if let AnyNodeRef::StmtAugAssign(it) = node {
        body.push_str("\n    return ");
        body.push_str(program.slice(it.target.range()));
    }
    let names: Vec<&str> = parameters.keys().copied().collect();
    let values: Vec<&str> = parameters.values().copied().collect();
    Some(format!(
        "{}\ndef f({}):\n    {body}\nf({})\n",
        compiler.decorator(),
        names.join(", "),
        values.join(", ")
    ))
}

/// Whether a value may as well stand where it is read: the compiler takes it for a constant.
fn is_constant(read: &Read<'_, '_>) -> bool {
    const SHORT: usize = 24;
    read.value.text().len() <= SHORT && read.value.expression.is_literal()
}

/// The compiled call of the function that begins on a line, with its recorded arguments.
fn function(
    extraction: &Extraction<'_>,
    line: SourceLine,
    compiler: &Compiler,
    compilers: &Compilers,
) -> Option<String> {
    let call = RecordedCall::of(&extraction.tree, &extraction.evidence.arguments, line)?;
    // Compiled code computes with tensors.
    call.values.values().find(|value| value.holds_tensor())?;
    let arguments = call.arguments(|_, value| value.text())?;
    let callee = call.callee()?;
    let is_compiled = call.owner.is_none() && compilers.decorate(call.def);
    Some(if is_compiled {
        format!("{callee}({arguments})\n")
    } else {
        format!("{}({arguments})\n", compiler.call(callee))
    })
}

#[cfg(test)]
mod tests {
    use super::EXTRACT_COMPILED;
    use crate::{
        syntax::Program,
        testing::evidence,
        trace::evidence::{Evidence, MissingSymbols, SourceLine},
    };

    /// The texts that are proposed for a program whose comments tell what a traced run saw.
    fn texts(text: &str) -> Vec<String> {
        let program = Program::parse(text).unwrap();
        let proposals = EXTRACT_COMPILED.proposals_with(
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
    fn attributes_and_plain_values_are_written_in_their_place() {
        let text = "\
from torch import compile, nn
import torch
class M(nn.Module):
    def forward(self, x):
        if self.layer(x).view(self.n, -1).sum() > 1:  # compiled with self.layer: nn.Linear(2, 3); self.n: 4; x: torch.rand(8, 2)
            print(x)
            raise ValueError('what goes on for long enough to be longer than what stands for it')
compile(M(), backend='eager')(torch.rand(8, 2))  # fails
";
        assert_eq!(
            texts(text),
            ["\
from torch import compile, nn
import torch
@compile(backend='eager')
def f(layer, x):
    if layer(x).view(4, -1).sum() > 1:
        pass
f(nn.Linear(2, 3), torch.rand(8, 2))
"]
        );
    }

    #[test]
    fn what_a_function_returned_may_stand_for_its_call() {
        let text = "\
import torch
def confidence(self, x):  # returned torch.rand(16)
    return self.softmax(x).amax(dim=-1)
def step(self, x):
    if confidence(self, x).min() > 0.9:  # compiled with x: torch.rand(2)
        return x.sum() + 1 + 2 + 3 + 4 + 5 + 6 + 7
f = torch.compile(step)
f(load('a file that is not there'), load('another one that is not there'))  # fails
";
        assert_eq!(
            texts(text),
            ["\
import torch
@torch.compile
def f(confidence):
    if confidence.min() > 0.9:
        pass
f(torch.rand(16))
"]
        );
    }

    #[test]
    fn functions_are_compiled_with_their_arguments() {
        let text = "\
import torch
class Part(torch.nn.Module):
    def forward(self, x, mask=None):  # called with self: Part(); x: torch.rand(2)
        return x + 1
class Whole(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = [Part() for _ in range(8)]
    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x
model = torch.compile(Whole())
assert compare(model, torch.rand(2))  # fails
";
        assert_eq!(
            texts(text),
            ["\
import torch
class Part(torch.nn.Module):
    def forward(self, x, mask=None):
        return x + 1
torch.compile(Part())(torch.rand(2))
"]
        );
    }

    #[test]
    fn what_pytorch_calls_is_compiled_alone() {
        let text = "\
import torch
model = torch.compile(torch.load('model.pt'), backend='eager')
model(torch.load('input.pt')).sum().backward()  # fails
# under way, compiled torch.relu(torch.ones(2))
";
        assert_eq!(
            texts(text),
            ["import torch\ntorch.compile(torch.relu, backend='eager')(torch.ones(2))\n"]
        );
    }

    #[test]
    fn operators_of_the_program_are_compiled_alone() {
        let text = "\
import torch
@torch.library.custom_op('a::f', mutates_args=())  # called with x: torch.ones(2)
def f(x):
    return x.clone()
@f.register_fake
def _(x):
    return x
class Model(torch.nn.Module):
    def forward(self, x):
        return f(x) + 1 + 2 + 3 + 4
model = torch.compile(Model())
model(torch.load('input.pt')).sum().backward()  # fails
";
        let head = text
            .split("class")
            .next()
            .unwrap()
            .replace("  # called with x: torch.ones(2)", "");
        assert_eq!(
            texts(text).last(),
            Some(&format!("{head}torch.compile(f)(torch.ones(2))\n"))
        );
    }

    #[test]
    fn to_look_up_an_element_may_be_what_fails() {
        let text = "\
import torch
def pick(rows, mask):
    chosen = rows[mask]  # compiled with rows: torch.rand(8); mask: torch.ones(8); rows[mask]: torch.rand(2)
    return chosen.sum() + chosen.mean() + chosen.amax() + chosen.amin() + 1 + 2 + 3 + 4 + 5 + 6
torch.compile(pick)(load('a file that is not there'), load('another file'))  # fails
";
        let expected = "\
import torch
@torch.compile
def f(mask, rows):
    return rows[mask]
f(torch.ones(8), torch.rand(8))
";
        let texts = texts(text);
        assert!(texts.iter().any(|it| it == expected), "{texts:#?}");
    }

    #[test]
    fn statements_of_packages_are_compiled_without_the_package() {
        let module = "\
from __future__ import annotations
from torch import nn
from .base import Base
LIMIT = 3
class Gate(Base):
    def forward(self, hidden):
        if hidden.gt(LIMIT).any().item():  # compiled with hidden: torch.rand(2)
            return nn.functional.relu(hidden)
";
        let text = "\
import torch as t
from gates import Gate
def backend(graph, _):
    return graph
t.compile(Gate(), backend=backend)(t.rand(2))
";
        let mut library = evidence(module).failure;
        for frame in &mut library {
            frame.line = SourceLine::of_file(1, frame.line.number());
            frame.package = Some("gates".to_owned());
        }
        let evidence = Evidence {
            sources: [(1, module.to_owned())].into(),
            library,
            ..evidence(text)
        };
        let program = Program::parse(text).unwrap();
        let missing = MissingSymbols::default();
        let proposals = EXTRACT_COMPILED.proposals_with(&program, Some(&evidence), &missing);
        let found = proposals[0].edits.apply(&program).unwrap();
        let expected = "\
from __future__ import annotations
import torch
import torch as t
def backend(graph, _):
    return graph
LIMIT = 3
@t.compile(backend=backend)
def f(hidden):
    if hidden.gt(LIMIT).any().item():
        pass
f(torch.rand(2))
";
        let lines = |text: &str| -> Vec<String> {
            let lines = text.lines().filter(|line| !line.is_empty());
            lines.map(str::to_owned).collect()
        };
        assert_eq!(lines(&found), lines(expected));
    }

    #[test]
    fn without_a_compiler_or_without_values_nothing_is_tried() {
        let fails = "import torch\ndef f(y):\n    return y + 1  # compiled with x: 1\n";
        assert!(texts(&format!("{fails}g(f)(1)  # fails\n")).is_empty());
        assert!(texts(&format!("{fails}torch.compile(f)(1)  # fails\n")).is_empty());
    }
}
