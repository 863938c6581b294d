use crate::{
    analysis::{
        slice::{Depth, only},
        statement_tree::{Read, StatementTree},
    },
    pass::{PassContext, Prior, Proposals, Stage, pass},
    passes::trace::{
        descend_into_modules::{Called, all_called},
        jump_to_failure::{expression, one_line},
    },
    rewrite::edit::{Edit, rewritten, splice},
    syntax::{AnyNodeRef, Program, Ranged, TextRange, ast::ArgOrKeyword},
    trace::evidence::{Evidence, Frame},
};

pass! {
    /// Leaves only the operation that failed, with the values that a traced run saw in the place of
    /// what it reads.
    ///
    /// Tensors and layers of PyTorch are made like those that it was given. Where the failure arose
    /// in code that is not the program's, what that was working on, a part of an argument say, may
    /// be all that the operation needs to be given; and what PyTorch itself called may be what
    /// failed.
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
    pub(crate) static JUMP_TO_OPERATION = Pass { stage: Stage::TraceGuided, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let Some(evidence) = cx.evidence else { return };
    let outline = StatementTree::of(cx.program, evidence);
    let called = all_called(&outline, evidence);
    for call in evidence.calls.iter().filter(|call| !call.compiled) {
        let code = format!("{}({})\n", call.called, call.arguments);
        if let Some(edits) = only(cx, &outline, evidence, &code, Depth::Thin) {
            out.propose(
                edits,
                Prior::Even,
                "the operation of PyTorch that failed, alone",
            );
        }
    }
    for frame in evidence
        .failure
        .iter()
        .rev()
        .filter(|frame| !frame.compiled)
    {
        let alone = operation(&outline, evidence, frame);
        let parts: Vec<String> = alone
            .iter()
            .flat_map(|code| with_parts(code, frame))
            .collect();
        let alone = alone
            .into_iter()
            .chain(parts)
            .map(|code| (code, Depth::Thin));
        // What a call leaves behind may be left by any of its statements.
        let used = after_use(&outline, frame, &called)
            .into_iter()
            .map(|code| (code, Depth::Full));
        for (code, depth) in alone.chain(used) {
            if let Some(edits) = only(cx, &outline, evidence, &code, depth) {
                out.propose(edits, Prior::Even, "the operation that failed, alone");
            }
        }
    }
}

/// The expression that failed in a frame.
fn failing(outline: &StatementTree<'_>, frame: &Frame) -> Option<TextRange> {
    let index = outline.on_line(frame.line)?;
    let value = match outline.statements[index].node {
        AnyNodeRef::StmtExpr(it) => Some(&*it.value),
        AnyNodeRef::StmtReturn(it) => it.value.as_deref(),
        AnyNodeRef::StmtAssign(it) => Some(&*it.value),
        AnyNodeRef::StmtAnnAssign(it) => it.value.as_deref(),
        _ => None,
    };
    expression(outline, frame, index).or(value.map(Ranged::range))
}

/// The expression that failed in a frame, with values in the place of what it reads, and with
/// results in that of the calls in it.
fn operation(outline: &StatementTree<'_>, evidence: &Evidence, frame: &Frame) -> Vec<String> {
    let Some(part) = failing(outline, frame) else {
        return Vec::new();
    };
    let all = [
        outline.recorded_in(part, frame),
        outline.values_in(part, frame),
        outline.results_in(part, frame, evidence),
    ];
    let text = |reads: &Vec<Read<'_, '_>>| {
        let edits: Vec<Edit> = reads
            .iter()
            .map(|read| Edit::replace(read.range, read.value))
            .collect();
        Some(one_line(&rewritten(outline.program, part, &edits)?) + "\n")
    };
    all.iter()
        .flatten()
        .filter(|reads| !reads.is_empty())
        .filter_map(text)
        .collect()
}

/// The operation with what the code beneath it was given in the place of one argument of its calls.
fn with_parts(operation: &str, frame: &Frame) -> Vec<String> {
    let Some(program) = Program::parse(operation)
        .ok()
        .filter(|_| !frame.inside.is_empty())
    else {
        return Vec::new();
    };
    let calls = program
        .tree()
        .nodes
        .iter()
        .filter_map(|node| match node.node {
            AnyNodeRef::ExprCall(call) => Some(call),
            _ => None,
        });
    let arguments: Vec<TextRange> = calls
        .flat_map(|call| call.arguments.arguments_source_order())
        .map(ArgOrKeyword::value)
        .filter(|value| !value.is_literal_expr() && !value.is_starred_expr())
        .map(Ranged::range)
        .collect();
    let pairs = frame
        .inside
        .iter()
        .flat_map(|part| arguments.iter().map(move |&argument| (part, argument)));
    pairs
        .map(|(part, argument)| splice(operation, &[Edit::replace(argument, part)]))
        .collect()
}

/// The same after a module that it reads, or a part of it, was called once: what a call leaves in
/// it may matter.
fn after_use(outline: &StatementTree<'_>, frame: &Frame, called: &[Called<'_>]) -> Vec<String> {
    let Some(part) = failing(outline, frame) else {
        return Vec::new();
    };
    let reads = outline.values_in(part, frame).unwrap_or_default();
    let is_of = |value: &str, class: &str| {
        value
            .strip_prefix(class)
            .is_some_and(|it| it.starts_with('('))
    };
    let Some(at) = reads
        .iter()
        .position(|read| called.iter().any(|it| is_of(read.value, it.class)))
    else {
        return Vec::new();
    };
    let name = reads[at].name;
    let text = |used: &Called<'_>| {
        let edits: Vec<Edit> = (reads.iter().enumerate())
            .map(|(index, read)| {
                Edit::replace(read.range, if index == at { name } else { read.value })
            })
            .collect();
        let expression = one_line(&rewritten(outline.program, part, &edits)?);
        Some(format!(
            "{name} = {}\n{name}({})\n{expression}\n",
            used.module,
            used.given.join(", ")
        ))
    };
    called.iter().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::JUMP_TO_OPERATION;
    use crate::{syntax::Program, testing::evidence, trace::evidence::MissingSymbols};

    fn texts(text: &str) -> Vec<String> {
        let program = Program::parse(text).unwrap();
        let proposals = JUMP_TO_OPERATION.proposals_with(
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
        let proposals = JUMP_TO_OPERATION.proposals_with(&program, Some(&evidence(text)), &missing);
        let texts: Vec<String> = proposals
            .iter()
            .map(|it| it.edits.apply(&program).unwrap())
            .collect();
        assert_eq!(texts[0], "import net\nnet.set_up(3)\nnet.send([1])\n");
    }
}
