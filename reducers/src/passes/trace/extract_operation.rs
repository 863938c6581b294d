use crate::{
    analysis::{recorded_calls::ModuleCall, slice::Depth},
    pass::{PassContext, Proposals, Stage, pass},
    passes::trace::extract::{Extraction, Region},
    rewrite::edit::{Edit, splice},
    syntax::{Program, Ranged, TextRange, ast::ArgOrKeyword},
    trace::{
        evidence::Frame,
        value::{RecordedValue, ValueKind},
    },
};

pass! {
    /// Extracts only the operation that failed, with the values that a traced run recorded in place
    /// of its reads.
    ///
    /// Tensors and layers of PyTorch are made like those that the operation got. If the failure
    /// arose in a library, the operation may need only the object that the library worked on, such
    /// as a part of an argument. A call that PyTorch itself made may also be the one that failed.
    ///
    /// ```python before
    /// import torch
    /// class Model(torch.nn.Module):
    ///     def __init__(self):
    ///         super().__init__()
    ///         self.linear = torch.nn.Linear(4, 2)
    ///     def forward(self, x):
    ///         y = self.linear(x)  # fails with self.linear: torch.nn.Linear(4, 2); x: torch.randn(2, 3)
    ///         return y
    /// Model()(torch.randn(2, 3))  # fails
    /// ```
    /// ```python after
    /// import torch
    /// torch.nn.Linear(4, 2)(torch.randn(2, 3))
    /// ```
    pub(crate) static EXTRACT_OPERATION = Pass { stage: Stage::TraceGuided, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let Some(extraction) = Extraction::of(cx) else {
        return;
    };
    let calls = extraction.evidence.calls.iter();
    let under_way = calls
        .filter(|call| !call.compiled)
        .map(|call| format!("{}({})\n", call.called, call.arguments));
    let note = "the library's operation that failed, alone";
    extraction.propose_alone(out, under_way, &[Depth::Thin], note);
    let modules = extraction.modules();
    for frame in extraction.failing_frames() {
        let Some(region) = extraction.failing(frame) else {
            continue;
        };
        let operation = with_values(&extraction, region);
        let parts = operation.iter().flat_map(|code| with_parts(code, frame));
        let alone: Vec<String> = operation.iter().cloned().chain(parts).collect();
        let note = "the operation that failed, alone";
        extraction.propose_alone(out, alone, &[Depth::Thin], note);
        // Any statement of a call may leave state behind.
        let called = after_a_call(&extraction, region, &modules).unwrap_or_default();
        extraction.propose_alone(out, called, &[Depth::Full], note);
    }
}

/// The operation with values instead of its reads: with recorded results of the calls in it, with
/// none, and with the results of the program's functions.
fn with_values(extraction: &Extraction<'_>, region: Region<'_>) -> Vec<String> {
    let Region { range, frame, .. } = region;
    let tree = &extraction.tree;
    let all = [
        tree.recorded_in(range, frame),
        tree.values_in(range, frame, &[]),
        tree.results_in(range, frame, extraction.evidence),
    ];
    let known = all.iter().flatten().filter(|reads| !reads.is_empty());
    known
        .filter_map(|reads| extraction.printed(range, reads, |read| read.value.text()))
        .map(|operation| operation + "\n")
        .collect()
}

/// The operation with the argument that the code below it got, instead of one argument of its
/// calls.
fn with_parts(operation: &str, frame: &Frame) -> Vec<String> {
    let Ok(program) = Program::parse(operation) else {
        return Vec::new();
    };
    let nodes = program.tree().nodes.iter();
    let calls = nodes.filter_map(|node| node.node.as_expr_call());
    let arguments: Vec<TextRange> = calls
        .flat_map(|call| call.arguments.arguments_source_order())
        .map(ArgOrKeyword::value)
        .filter(|value| !value.is_literal_expr() && !value.is_starred_expr())
        .map(Ranged::range)
        .collect();
    let of_each = frame.inside.iter().flat_map(|part| {
        let put = |argument: &TextRange| Edit::replace(*argument, part.text());
        arguments
            .iter()
            .map(move |argument| splice(operation, &[put(argument)]))
    });
    of_each.collect()
}

/// The operation after one call of a module that it reads.
///
/// A module that can only be written as it was made lacks the state that later calls left in it,
/// and the operation may fail for that. One recorded call restores the state: a call of the module
/// itself, or of another module that then replaces it, since the state may be in a part of it.
fn after_a_call(
    extraction: &Extraction<'_>,
    region: Region<'_>,
    modules: &[ModuleCall<'_>],
) -> Option<Vec<String>> {
    let reads = (extraction.tree).values_in(region.range, region.frame, &[])?;
    let lacks_calls = |value: &RecordedValue| value.kind == ValueKind::Module && !value.is_exact;
    let name = reads.iter().find(|read| lacks_calls(read.value))?.name;
    let operation = extraction.printed(region.range, &reads, |read| {
        let is_it = read.name == name && lacks_calls(read.value);
        if is_it { name } else { read.value.text() }
    })?;
    let after = modules.iter().map(|call| {
        let (module, row) = (call.module, call.row());
        format!("{name} = {module}\n{name}({row})\n{operation}\n")
    });
    Some(after.collect())
}

#[cfg(test)]
mod tests {
    use super::EXTRACT_OPERATION;
    use crate::{syntax::Program, testing::evidence, trace::evidence::MissingSymbols};

    fn texts(text: &str) -> Vec<String> {
        let program = Program::parse(text).unwrap();
        let proposals = EXTRACT_OPERATION.proposals_with(
            &program,
            Some(&evidence(text)),
            &MissingSymbols::default(),
        );
        proposals
            .iter()
            .map(|it| it.edits.apply(&program).unwrap())
            .collect()
    }

    #[test]
    fn every_frame_is_an_attempt() {
        let text = "\
import torch
from torch import nn
def inner(a, b):
    b = b.view(2, -1).contiguous().clone()
    return torch.mm(a, b) + torch.mm(b, a)  # fails with a: torch.ones(2, 3); b: torch.ones(2, 4)
def outer(x):
    return inner(x, nn.Linear(3, 4)(x)) + torch.relu(x).sum() + x  # fails with x: torch.ones(2, 3)
outer(torch.load('x.pt'))  # fails
";
        assert_eq!(
            texts(text),
            [
                "import torch\ntorch.mm(torch.ones(2, 3), torch.ones(2, 4)) + torch.mm(torch.ones(2, 4), torch.ones(2, 3))\n",
            ]
        );
    }

    #[test]
    fn what_a_call_leaves_in_a_module_is_made_by_one_call() {
        let text = "\
import copy
import torch
class Part(torch.nn.Module):
    def forward(self, y):  # called with self: Part(); y: torch.rand(2, 8)
        self.last = y.sin()
class Whole(torch.nn.Module):
    def forward(self, x):  # called with self: Whole(); x: torch.rand(2, 4)
        return Part()(torch.cat([x, x], 1))
def average(trainer):
    return copy.deepcopy(trainer.model)  # fails with trainer.model: Whole()
average(load('a file that is not there'))  # fails
";
        let head = "\
import copy
import torch
class Part(torch.nn.Module):
    def forward(self, y):
        self.last = y.sin()
";
        let tail = "model = Part()\nmodel(torch.rand(2, 8))\ncopy.deepcopy(model)\n";
        let texts = texts(text);
        assert!(texts.contains(&format!("{head}{tail}")), "{texts:#?}");
    }

    #[test]
    fn what_pytorch_called_may_be_what_failed() {
        let text = "\
import torch
from torch import nn
def run(model, x):
    return model(x).sum() + 1 + 2 + 3 + 4  # fails
run(torch.load('model.pt'), 1)  # fails
# under way nn.functional.linear(torch.ones(2), torch.ones(3, 4))
# under way, compiled torch.relu(torch.ones(2))
";
        assert_eq!(
            texts(text),
            [
                "import torch\nfrom torch import nn\nnn.functional.linear(torch.ones(2), torch.ones(3, 4))\n"
            ]
        );
    }

    #[test]
    fn without_values_nothing_is_tried() {
        assert!(
            texts("import torch\ndef f(x):\n    return x + 1  # fails\nf(1)  # fails\n").is_empty()
        );
    }

    #[test]
    fn a_part_of_an_argument_may_be_all_that_is_needed() {
        let text = "\
import json
def save(book, indent):
    return json.dumps(book, indent=indent)  # fails with book: {'a': [1, {2}]}; indent: 2; inside: {2}
save(load(), 2)  # fails
";
        assert_eq!(
            texts(text),
            [
                "import json\njson.dumps({'a': [1, {2}]}, indent=2)\n",
                "import json\njson.dumps({2}, indent=2)\n",
            ]
        );
    }

    #[test]
    fn what_calls_returned_stands_in_their_place() {
        let text = "\
import math
def f(x):
    return list(x) + len(sorted(x)) + x  # fails with x: iter(y); list(x): ['a']; len(sorted(x)): 1
f(iter('a'))  # fails
";
        assert_eq!(texts(text)[0], "['a'] + 1 + iter(y)\n");
    }

    #[test]
    fn any_program_s_operation_may_stand_alone() {
        let text = "def f(x):\n    return x['a'] + x['b'] + [len(x)]  # fails with x['a']: 'y'; x: {}\nf(1)  # fails\n";
        assert_eq!(texts(text), ["'y' + {}['b'] + [len({})]\n"]);
    }

    #[test]
    fn what_has_to_be_called_first_is_called_with_its_values() {
        let text = "\
import net
def begin(size):
    if size:
        net.set_up(size)  # done net.set_up(3)
        net.log(size)  # done net.log(3)
def main(x):
    begin(3)
    return net.send(x)  # fails with x: [1]
main(read())  # fails
";
        let program = Program::parse(text).unwrap();
        let mut missing = MissingSymbols::default();
        missing.learn(text, "net.Error", "no network, call set_up first", None);
        let proposals = EXTRACT_OPERATION.proposals_with(&program, Some(&evidence(text)), &missing);
        let texts: Vec<String> = proposals
            .iter()
            .map(|it| it.edits.apply(&program).unwrap())
            .collect();
        assert_eq!(texts[0], "import net\nnet.set_up(3)\nnet.send([1])\n");
    }
}
