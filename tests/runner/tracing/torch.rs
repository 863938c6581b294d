//! The tracer in programs of PyTorch: tensors, what is compiled, what a backward goes through.

use minrepro_reducers::trace::{
    evidence::Evidence,
    value::{RecordedValue, Tensor, ValueKind},
};

use super::{at, number, on};
use crate::support::{skip, torch};

const TENSORS: &str = "\
import torch
from torch import nn
torch.manual_seed(0)
class Model(nn.Module):
    def __init__(self, size, *, more=2):
        super().__init__()
        self.linear = nn.Linear(size, more)
    def forward(self, x):
        moved = x.transpose(0, 1)
        wide = torch.ones(3, 1).expand(3, 4)
        index = torch.arange(5)
        mask = torch.eye(3) > 0.5
        image = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
        half, zero = torch.randn(3).half(), torch.zeros(2, dtype=torch.float64)
        layers = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.GELU()).eval()
        shape, kind, weight = x.shape, torch.bfloat16, self.linear.weight
        held = {'a': [1, weight], 'b': (layers, half)}
        raise ValueError(1)
Model(4)(torch.randn(3, 4))
";

const FIXED: &str = "\
import torch
def f(x):
    some, bits = x - 0.5, x > 2
    many = -torch.linspace(0, 1, 12).reshape(3, 4)
    index = torch.arange(24).reshape(2, 12).t() % 5
    wide = (torch.arange(99) % 7 + 3).reshape(9, 11)
    mask = wide > 5
    raise ValueError(1)
f(torch.arange(4.0))
";

#[test]
fn a_program_without_random_numbers_is_given_none() {
    let Some(python) = torch() else {
        return skip(
            "a_program_without_random_numbers_is_given_none",
            "no PyTorch was found",
        );
    };
    on(&python, FIXED, |_, _, evidence| {
        let evidence = evidence.unwrap();
        let values = &evidence.failure.last().unwrap().values;
        for (name, expected) in [
            ("x", "torch.tensor([0.0, 1.0, 2.0, 3.0])"),
            ("some", "torch.tensor([-0.5, 0.5, 1.5, 2.5])"),
            ("bits", "torch.tensor([False, False, False, True])"),
            ("many", "torch.full((3, 4), -1.0)"),
            (
                "index",
                "torch.tensor([[0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1], \
                 [2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3]]).transpose(0, 1)",
            ),
            ("wide", "(torch.arange(99).reshape(9, 11) % 7 + 3)"),
            ("mask", "(torch.arange(99).reshape(9, 11) % 2 == 0)"),
        ] {
            assert_eq!(
                values.get(name).map(RecordedValue::text),
                Some(expected),
                "{name}"
            );
        }
    });
}

#[test]
fn tensors_are_written_as_calls() {
    let Some(python) = torch() else {
        return skip("tensors_are_written_as_calls", "no PyTorch was found");
    };
    on(&python, TENSORS, |_, _, evidence| {
        let evidence = evidence.unwrap();
        let values = &evidence.failure.last().unwrap().values;
        for (name, expected) in [
            ("self", "Model(4)"),
            ("x", "torch.randn(3, 4)"),
            ("moved", "torch.randn(3, 4).transpose(0, 1)"),
            ("wide", "torch.ones(3, 1).expand(3, 4)"),
            ("index", "torch.arange(5)"),
            ("mask", "(torch.rand(3, 3) > 0.5)"),
            ("image", "torch.randn(2, 4, 5, 3).permute(0, 3, 1, 2)"),
            ("half", "torch.randn(3, dtype=torch.float16)"),
            ("zero", "torch.zeros(2, dtype=torch.float64)"),
            (
                "layers",
                "nn.Sequential(nn.Conv2d(3, 8, kernel_size=3, padding=1), nn.GELU()).eval()",
            ),
            ("shape", "(3, 4)"),
            ("kind", "torch.bfloat16"),
            ("weight", "torch.randn(2, 4, requires_grad=True)"),
        ] {
            assert_eq!(
                values.get(name).map(RecordedValue::text),
                Some(expected),
                "{name}"
            );
        }
        let tensor = |shape: &[u64], dtype: &str, requires_grad| {
            ValueKind::Tensor(Tensor {
                shape: shape.to_vec(),
                dtype: dtype.to_owned(),
                device: "cpu".to_owned(),
                requires_grad,
            })
        };
        let weight = tensor(&[2, 4], "float32", true);
        let kind = |name: &str| &values[name].kind;
        assert_eq!(kind("moved"), &tensor(&[4, 3], "float32", false));
        assert_eq!(kind("weight"), &weight);
        assert_eq!(
            (kind("self"), kind("layers")),
            (&ValueKind::Module, &ValueKind::Module)
        );
        assert_eq!(
            (kind("shape"), kind("kind")),
            (&ValueKind::Plain, &ValueKind::Plain)
        );
        let parts = values["held"].parts.iter();
        let parts: Vec<_> = parts
            .map(|part| (part.path.as_deref(), &part.kind))
            .collect();
        let half = tensor(&[3], "float16", false);
        let expected = [
            (Some("['a'][1]"), &weight),
            (Some("['b'][0]"), &ValueKind::Module),
            (Some("['b'][1]"), &half),
        ];
        assert_eq!(parts, expected);
    });
}

const COMPILED: &str = "\
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.limit = 0.5
    def forward(self, x):
        y = x.relu()
        return y[x > self.limit]
print('once')
torch.compile(Model(), backend='eager', fullgraph=True)(torch.randn(3, 4))
";

#[test]
fn compiled_code_is_run_once_more_without_the_compiler() {
    let test = "what_was_compiled_is_run_once_more_without";
    let Some(python) = torch() else {
        return skip(test, "no PyTorch was found");
    };
    on(&python, COMPILED, |plain, traced, evidence| {
        assert_eq!((plain.end, &plain.stdout), (traced.end, &traced.stdout));
        let evidence = evidence.unwrap();
        assert!(evidence.hits.contains_key(&at(7)), "{:?}", evidence.hits);
        let [module, compiled] = evidence.failure.as_slice() else {
            panic!("{:?}", evidence.failure)
        };
        assert!(
            module.line == at(10)
                && !module.compiled
                && compiled.line == at(8)
                && compiled.compiled
        );
        let value = |name: &str| compiled.values.get(name).map(RecordedValue::text);
        assert_eq!(value("y"), Some("torch.rand(3, 4)"));
        assert_eq!(value("self.limit"), Some("0.5"));
        assert_eq!(evidence.arguments[&at(6)]["x"].text(), "torch.randn(3, 4)");
    });
}

const MAPPED: &str = "\
import torch
from torch import nn
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Sequential(nn.Dropout(0.25))
    def forward(self, x):
        return self.drop(x)
torch.vmap(Model(), in_dims=1)(torch.zeros(3, 4))
";

const COMPILED_BENEATH: &str = "\
import torch
torch.manual_seed(0)
torch.compile(torch.nn.Sequential(torch.nn.Linear(4, 2, False)), backend='eager')(torch.randn(3, 5))
";

#[test]
fn calls_within_pytorch_are_noted() {
    let test = "what_pytorch_called_is_written_down_as_calls";
    let Some(python) = torch() else {
        return skip(test, "no PyTorch was found");
    };
    on(&python, MAPPED, |_, _, evidence: Option<Evidence>| {
        let calls = evidence.unwrap().calls;
        let first = calls
            .first()
            .map(|call| (call.called.as_str(), call.arguments.as_str(), call.compiled));
        let called = "torch.vmap(torch.nn.functional.dropout, (1, None))";
        assert_eq!(
            first,
            Some((called, "torch.zeros(3, 4), 0.25", false)),
            "{calls:?}"
        );
        assert_eq!(calls[1].called, "torch.vmap(nn.Dropout(p=0.25), (1,))");
    });
    on(&python, COMPILED_BENEATH, |_, _, evidence| {
        let calls = evidence.unwrap().calls;
        let [only] = calls.as_slice() else {
            panic!("{calls:?}")
        };
        let given = "torch.randn(3, 5), torch.randn(2, 4, requires_grad=True), None";
        assert_eq!(
            (only.called.as_str(), only.arguments.as_str()),
            ("torch.nn.functional.linear", given)
        );
        assert!(only.compiled);
    });
}

const BACKWARD: &str = "\
import functools, warnings
import torch
from torch import nn
warnings.filterwarnings('ignore')
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.floor = nn.Linear(4, 2), 0.5
    def forward(self, x):
        y = self.linear(x).exp()
        y += self.floor
        return y
model = Model()
with torch.no_grad():
    model(torch.zeros(1, 4))
def run(x):
    call = functools.partial(model)
    return call(x).sum()
loss = run(torch.randn(8, 4) - 9)
print('once')
loss.backward()
";

#[test]
fn the_forward_call_of_a_failing_backward_is_found() {
    let test = "the_forward_call_of_a_backward_that_fails_is_found";
    let Some(python) = torch() else {
        return skip(test, "no PyTorch was found");
    };
    on(&python, BACKWARD, |plain, traced, evidence| {
        assert_eq!((plain.end, &plain.stdout), (traced.end, &traced.stdout));
        let evidence = evidence.unwrap();
        let lines: Vec<u32> = evidence
            .forward
            .iter()
            .map(|frame| number(frame.line))
            .collect();
        assert_eq!(lines, [19, 18, 10]);
        let value = |frame: usize, name: &str| {
            evidence.forward[frame]
                .values
                .get(name)
                .map(RecordedValue::text)
        };
        // With gradients, though it was called without them before; and what is read by the line
        // after it.
        assert_eq!(value(2, "x"), Some("torch.randn(8, 4)"));
        assert_eq!(
            value(2, "self.linear"),
            Some("nn.Linear(in_features=4, out_features=2)")
        );
        assert_eq!(value(2, "self.floor"), Some("0.5"));
        assert_eq!(value(1, "call"), Some("functools.partial(Model())"));
    });
}

/// A tensor of the same shape does not stand for one that gradients go back through, where that is
/// what fails.
#[test]
fn tensors_with_a_failing_history_are_not_replaced_by_new_ones() {
    let test = "what_a_failing_backward_goes_through_is_not_written_as_a_new_tensor";
    let Some(python) = torch() else {
        return skip(test, "no PyTorch was found");
    };
    let source = |end: &str| {
        format!(
            "\
import torch
def squared(x):
    return x * x
def count(x):
    return len(x)
w = torch.ones(3, requires_grad=True)
loss = squared(w).sum() / count(w)
{end}
"
        )
    };
    let has = |source: &str, wanted: (bool, bool)| {
        on(&python, source, |_, _, evidence| {
            let evidence = evidence.unwrap();
            let found = (
                evidence.returned.contains_key(&at(2)),
                evidence.failure[0].values.contains_key("loss"),
            );
            assert_eq!(found, wanted);
            assert_eq!(
                evidence.returned.get(&at(4)).map(RecordedValue::text),
                Some("3")
            );
            assert!(evidence.failure[0].values.contains_key("w"));
        });
    };
    has(
        &source("loss.add(torch.ones(2, 2)).backward()"),
        (false, false),
    );
    has(&source("loss.add(torch.ones(2, 2)) @ w"), (true, true));
}

const HANDED_OVER: &str = "\
import torch
class Gate(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Sequential(Inner())
    def refine(self, h):
        return self.inner(h)
    def keep(self, h):
        return h
    def other(self, h):
        return h + 2
    def forward(self, x):
        return torch.cond(x.sum() > 0, self.refine, self.keep, (x,))
class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x):
        return x + 1
torch.compile(Gate(), backend='eager')(torch.randn(4))
";

/// The compiler reads functions that it is given, and calls none of them.
#[test]
fn functions_that_compiled_code_hands_over_count_as_executed() {
    let test = "functions_that_compiled_code_hands_over_count_as_executed";
    let Some(python) = torch() else {
        return skip(test, "no PyTorch was found");
    };
    on(&python, HANDED_OVER, |_, _, evidence| {
        let hits = evidence.unwrap().hits;
        let found: Vec<u32> = [7, 9, 11, 18]
            .into_iter()
            .filter(|line| hits.contains_key(&at(*line)))
            .collect();
        assert_eq!(found, [7, 9, 18]);
    });
}

const WATCHED: &str = "\
import torch
def part(x):
    torch._dynamo.graph_break()
    return x + 1
def step(x):
    return part(x) + 1
torch.compile(step, backend='eager')(torch.randn(4))
print(torch._dynamo.utils.counters['frames'])
";

#[test]
fn the_compiler_does_not_compile_the_tracer() {
    let test = "the_compiler_does_not_compile_what_watches";
    let Some(python) = torch() else {
        return skip(test, "no PyTorch was found");
    };
    on(&python, WATCHED, |plain, traced, evidence| {
        assert_eq!((plain.end, &plain.stdout), (traced.end, &traced.stdout));
        assert!(evidence.unwrap().hits.contains_key(&at(4)));
    });
}
