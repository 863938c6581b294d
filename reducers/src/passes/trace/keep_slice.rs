use crate::{
    analysis::slice::{Depth, Slicer, Values},
    pass::{PassContext, Prior, Proposals, Stage, pass},
    passes::trace::extract::Extraction,
};

pass! {
    /// Keeps only the statements that the failure can depend on, as a traced run showed it.
    ///
    /// These are the lines of its traceback, and the statements that made the values read there.
    ///
    /// ```python before
    /// a = load()
    /// b = a.size
    /// print(b)
    /// def f(x):
    ///     log(x)
    ///     return g(x)  # fails
    /// f(a)  # fails
    /// ```
    /// ```python after
    /// a = load()
    /// def f(x):
    ///     return g(x)
    /// f(a)
    /// ```
    pub(crate) static KEEP_SLICE = Pass { stage: Stage::TraceGuided, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let Some(extraction) = Extraction::of(cx) else {
        return;
    };
    let evidence = extraction.evidence;
    if evidence.failure.is_empty() {
        return;
    }
    let failing: Vec<usize> = evidence
        .frames()
        .filter_map(|frame| Some(extraction.region(frame)?.statement))
        .collect();
    let values = Values::to_try(cx.program, evidence);
    // If the failing code is made by a compiler, its internals may be known.
    let inner = values.contains(&Values::Variables).then_some(Values::Inner);
    let values = [Values::Made].into_iter().chain(values).chain(inner);
    for depth in [Depth::Thin, Depth::Middle, Depth::Full] {
        for values in values.clone() {
            let slicer = Slicer::new(&extraction.tree, evidence, cx.missing, depth);
            let mut slicer = slicer.with_values(values);
            for &statement in &failing {
                slicer.keep(statement);
            }
            slicer.keep_starts();
            if let Some(edits) = slicer.text().and_then(|text| extraction.simpler(text)) {
                out.propose(
                    edits,
                    Prior::Even,
                    "all that the failure does not depend on",
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::KEEP_SLICE;
    use crate::{
        syntax::Program,
        testing::{evidence, recorded},
        trace::evidence::{MissingSymbols, SourceLine},
    };

    #[test]
    fn what_changes_objects_stays_with_them() {
        let text = "\
class Stack:
    def __init__(self):
        self.items = []
    def push(self, item):
        print(item)
        self.items.append(item)
    def pop(self):
        return self.items.pop().name  # fails
def note(text):
    print(text)
stack = Stack()
note('a')
stack.push(1)
stack.pop()  # fails
";
        let program = Program::parse(text).unwrap();
        let mut evidence = evidence(text);
        evidence
            .returned
            .insert(SourceLine::of_program(9), recorded("None"));
        let proposals =
            KEEP_SLICE.proposals_with(&program, Some(&evidence), &MissingSymbols::default());
        let texts: Vec<String> = proposals
            .iter()
            .map(|it| it.edits.apply(&program).unwrap())
            .collect();
        let expected = "\
class Stack:
    def __init__(self):
        self.items = []
    def push(self, item):
        self.items.append(item)
    def pop(self):
        return self.items.pop().name
stack = Stack()
stack.push(1)
stack.pop()
";
        assert!(
            texts.iter().any(|it| it == expected),
            "{}",
            texts.join("or\n")
        );
    }

    #[test]
    fn what_registers_functions_stays_with_them() {
        let text = "\
TABLE = {}
def handles(kind):
    def register(function):
        TABLE[kind] = function
        return function
    return register
def note(kind):
    print(kind)
note(int)
@handles(int)
def of_int(value):
    return value.name
def setup():
    TABLE[str] = of_int
setup()
def handle(value):
    return TABLE[type(value)](value)  # fails
handle(1)  # fails
";
        let program = Program::parse(text).unwrap();
        let proposals =
            KEEP_SLICE.proposals_with(&program, Some(&evidence(text)), &MissingSymbols::default());
        let texts: Vec<String> = proposals
            .iter()
            .map(|it| it.edits.apply(&program).unwrap())
            .collect();
        let expected = text
            .replace("def note(kind):\n    print(kind)\nnote(int)\n", "")
            .replace("  # fails", "");
        assert!(texts.contains(&expected), "{}", texts.join("or\n"));
    }

    #[test]
    fn what_a_class_may_be_asked_for_stays_without_its_body() {
        let text = "\
class Row:
    def __init__(self, items):
        self.items = items
    def __array_interface__(self):
        print('never')  # not executed
    def __iter__(self):
        print('never')  # not executed
    def __array__(self):
        return list(self.items)  # not executed
row = Row([1])
dict(row)  # fails
";
        let program = Program::parse(text).unwrap();
        let mut evidence = evidence(text);
        evidence
            .entered
            .retain(|line, _| line.in_program() == Some(2));
        let proposals =
            KEEP_SLICE.proposals_with(&program, Some(&evidence), &MissingSymbols::default());
        let texts: Vec<String> = proposals
            .iter()
            .map(|it| it.edits.apply(&program).unwrap())
            .collect();
        let expected = "\
class Row:
    def __init__(self, items):
        pass
    def __array_interface__(self):
        pass
    def __array__(self):
        return self
row = Row([1])
dict(row)
";
        assert!(
            texts.iter().any(|it| it == expected),
            "{}",
            texts.join("or\n")
        );
    }

    #[test]
    fn members_that_values_name_stay_in_their_class() {
        let text = "\
import lib
class Kind(lib.Enum):
    A = 1
    B = 2
def make(number):
    kind = [Kind.A, Kind.B][number]
    return kind
kind = make(0)
lib.use(kind)  # fails with kind: Kind.A
";
        let program = Program::parse(text).unwrap();
        let proposals =
            KEEP_SLICE.proposals_with(&program, Some(&evidence(text)), &MissingSymbols::default());
        let expected = "\
import lib
class Kind(lib.Enum):
    A = 1
kind = Kind.A
lib.use(kind)
";
        let texts: Vec<String> = proposals
            .iter()
            .map(|it| it.edits.apply(&program).unwrap())
            .collect();
        let is_expected = |it: &String| it.replace("  # fails with kind: Kind.A", "") == expected;
        assert!(texts.iter().any(is_expected), "{}", texts.join("or\n"));
    }

    #[test]
    fn results_within_what_is_compiled_stand_for_what_made_them() {
        let text = "\
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer('scales', torch.rand(4))
    def scaled(self, n):
        return self.scales * n
    def forward(self, x):
        return self.scaled(len(x)) / x
model = Model()
x = torch.rand(2, 4)
torch.testing.assert_close(torch.compile(model)(x), model(x))  # fails with x: torch.rand(2, 4)
";
        let program = Program::parse(text).unwrap();
        let mut evidence = evidence(text);
        evidence.returned = [
            (SourceLine::of_program(6), recorded("torch.randn(4)")),
            (SourceLine::of_program(8), recorded("torch.randn(2, 4)")),
        ]
        .into();
        let proposals =
            KEEP_SLICE.proposals_with(&program, Some(&evidence), &MissingSymbols::default());
        let texts: Vec<String> = proposals
            .iter()
            .map(|it| it.edits.apply(&program).unwrap())
            .collect();
        let expected = "\
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
    def forward(self, x):
        return torch.ones(4) / x
model = Model()
x = torch.rand(2, 4)
torch.testing.assert_close(torch.compile(model)(x), model(x))
";
        assert!(
            texts.iter().any(|it| it == expected),
            "{}",
            texts.join("or\n")
        );
    }

    #[test]
    fn tasks_stay_with_what_starts_them() {
        let text = "\
import asyncio
sizes = {}
async def work(name):
    return sizes[name]  # fails
async def other(name):
    return name
async def main():
    print('begins')
    async with asyncio.TaskGroup() as group:  # fails
        group.create_task(other('a'))
        group.create_task(work('a'))
asyncio.run(main())  # fails
";
        let program = Program::parse(text).unwrap();
        let mut evidence = evidence(text);
        evidence.causes = vec![evidence.failure.split_off(2)];
        let proposals =
            KEEP_SLICE.proposals_with(&program, Some(&evidence), &MissingSymbols::default());
        let texts: Vec<String> = proposals
            .iter()
            .map(|it| it.edits.apply(&program).unwrap())
            .collect();
        let expected = "\
import asyncio
sizes = {}
async def work(name):
    return sizes[name]
async def main():
    async with asyncio.TaskGroup() as group:
        group.create_task(work('a'))
asyncio.run(main())
";
        assert!(
            texts.iter().any(|it| it == expected),
            "{}",
            texts.join("or\n")
        );
    }
}
