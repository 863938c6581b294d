use std::collections::BTreeMap;

use crate::{
    analysis::{
        slice::{Depth, only},
        statement_tree::StatementTree,
    },
    pass::{PassContext, Prior, Proposals, Stage, pass},
    rewrite::edit::{Edit, rewritten},
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange,
        ast::{Expr, Stmt, StmtFunctionDef},
    },
    torch::{
        compilation::{Compilation, Form, compilations},
        names::Torch,
    },
    trace::evidence::{Evidence, Frame},
};

pass! {
    /// Compiles only the statement or the function that fails, with the values that a run without
    /// the compiler saw there.
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
    pub(crate) static JUMP_INTO_COMPILED = Pass { stage: Stage::TraceGuided, propose };
}

fn propose(cx: &PassContext<'_>, out: &mut Proposals) {
    let Some(evidence) = cx.evidence else { return };
    let tree = cx.program.tree();
    let Some(torch) = Torch::of(cx.program, tree) else {
        return;
    };
    let found = compilations(&torch, tree);
    let compilers = Compiler::all(cx.program, &found);
    let outline = StatementTree::of(cx.program, evidence);
    let mentions: Vec<TextRange> = found.iter().map(|it| it.mention).collect();
    let jump = Jump {
        outline: &outline,
        evidence,
        mentions,
    };
    let frames: Vec<&Frame> = evidence
        .failure
        .iter()
        .rev()
        .filter(|it| it.compiled)
        .collect();
    for compiler in &compilers {
        let alone = frames.iter().flat_map(|frame| {
            [false, true]
                .into_iter()
                .filter_map(|results| jump.statement(frame, compiler, results))
        });
        let called = evidence
            .arguments
            .keys()
            .filter_map(|&line| jump.function(line, compiler));
        let beneath = evidence.calls.iter().filter(|call| call.compiled);
        let beneath =
            beneath.map(|it| format!("{}({})\n", compiler.call(&it.called), it.arguments));
        for code in beneath.chain(alone).chain(called) {
            for depth in [Depth::Thin, Depth::Full] {
                if let Some(edits) = only(cx, &outline, evidence, &code, depth) {
                    out.propose(edits, Prior::Even, "what fails when it is compiled, alone");
                }
            }
        }
    }
}

/// What compiles, and its settings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Compiler {
    name: String,
    /// Whether the settings are given by a call of their own.
    comes_first: bool,
    settings: String,
}

impl Compiler {
    /// Those of a program, each once.
    pub(crate) fn all(program: &Program, found: &[Compilation<'_>]) -> Vec<Self> {
        let mut compilers: Vec<Self> = found
            .iter()
            .filter_map(|it| Self::of(program, it))
            .collect();
        compilers.sort();
        compilers.dedup();
        compilers
    }

    fn of(program: &Program, compilation: &Compilation<'_>) -> Option<Self> {
        let is_method = compilation.form == Form::Method;
        let name = if is_method {
            "torch.compile"
        } else {
            program.slice(compilation.mention)
        };
        let comes_first = compilation.form == Form::Optimize;
        let Some(call) = compilation.call else {
            return compilation.around.is_none().then(|| Self {
                name: name.to_owned(),
                comes_first,
                settings: String::new(),
            });
        };
        let positional = call
            .arguments
            .args
            .iter()
            .filter(|_| comes_first)
            .map(Ranged::range);
        let named = call
            .arguments
            .keywords
            .iter()
            .filter(|it| it.arg.as_ref().is_none_or(|it| it.id != "model"));
        let settings: Vec<&str> = positional
            .chain(named.map(Ranged::range))
            .map(|range| program.slice(range))
            .collect();
        Some(Self {
            name: name.to_owned(),
            comes_first,
            settings: settings.join(", "),
        })
    }

    /// As a decorator.
    fn decorator(&self) -> String {
        match self.settings.as_str() {
            "" if !self.comes_first => format!("@{}", self.name),
            settings => format!("@{}({settings})", self.name),
        }
    }

    /// Of a model.
    pub(crate) fn call(&self, model: &str) -> String {
        match self.settings.as_str() {
            settings if self.comes_first => format!("{}({settings})({model})", self.name),
            "" => format!("{}({model})", self.name),
            settings => format!("{}({model}, {settings})", self.name),
        }
    }
}

struct Jump<'a> {
    outline: &'a StatementTree<'a>,
    evidence: &'a Evidence,
    /// Where a compiler is named.
    mentions: Vec<TextRange>,
}

impl Jump<'_> {
    /// A compiled function of the one statement that failed, and its call; what the program's
    /// functions returned there may stand for their calls.
    fn statement(&self, frame: &Frame, compiler: &Compiler, results: bool) -> Option<String> {
        let program = self.outline.program;
        let index = self.outline.on_line(frame.line)?;
        let range = self.outline.statements[index].range;
        let (part, lead) = match self.outline.statements[index].node {
            AnyNodeRef::StmtExpr(it) => (it.value.range(), "return "),
            AnyNodeRef::StmtReturn(it) => (it.value.as_ref()?.range(), "return "),
            AnyNodeRef::StmtAssign(it) => (it.value.range(), "return "),
            AnyNodeRef::StmtAnnAssign(it) => (it.value.as_ref()?.range(), "return "),
            AnyNodeRef::StmtIf(it) => (it.test.range(), "if "),
            AnyNodeRef::StmtWhile(it) => (it.test.range(), "if "),
            AnyNodeRef::StmtFor(it) => (it.iter.range(), "for _ in "),
            AnyNodeRef::StmtAugAssign(_) | AnyNodeRef::StmtAssert(_) => (range, ""),
            _ => return None,
        };
        let mut parameters = BTreeMap::new();
        let mut edits = Vec::new();
        let reads = if results {
            self.outline.results_in(part, frame, self.evidence)?
        } else {
            self.outline.values_in(part, frame)?
        };
        for read in reads {
            if is_literal(read.value) {
                edits.push(Edit::replace(read.range, read.value));
                continue;
            }
            let old = parameters.insert(read.name, read.value);
            if old.is_some_and(|old| old != read.value) || read.name == "f" {
                return None;
            }
            edits.push(Edit::replace(read.range, read.name));
        }
        let mut body = rewritten(program, part, &edits)?;
        if body.contains('\n') {
            if lead.is_empty() {
                return None;
            }
            body = format!("({body})");
        }
        let mut body = format!("{lead}{body}");
        match self.outline.statements[index].node {
            AnyNodeRef::StmtAugAssign(it) => {
                body.push_str("\n    return ");
                body.push_str(program.slice(it.target.range()));
            }
            _ if matches!(lead, "if " | "for _ in ") => body.push_str(":\n        pass"),
            _ => {}
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

    /// The compiled call of the function that begins on a line, with what it was called with.
    fn function(&self, line: u32, compiler: &Compiler) -> Option<String> {
        if !self.evidence.arguments[&line]
            .values()
            .any(|value| value.contains("torch."))
        {
            return None;
        }
        let Called {
            def,
            owner,
            values,
            receiver,
        } = Called::of(self.outline, &self.evidence.arguments, line)?;
        let arguments = arguments(def, values, receiver)?;
        let is_compiled =
            |range: TextRange| self.mentions.iter().any(|it| range.contains_range(*it));
        match owner {
            None if def.decorator_list.iter().any(|it| is_compiled(it.range)) => {
                Some(format!("{}({arguments})\n", def.name))
            }
            None => Some(format!("{}({arguments})\n", compiler.call(&def.name))),
            Some(model) if def.name.as_str() == "forward" => {
                Some(format!("{}({arguments})\n", compiler.call(model)))
            }
            Some(_) => None,
        }
    }
}

/// A function of the module or of a class, and what it was called with.
pub(crate) struct Called<'a, 'e> {
    pub(crate) def: &'a StmtFunctionDef,
    /// The object whose method it is.
    pub(crate) owner: Option<&'e str>,
    pub(crate) values: &'e BTreeMap<String, String>,
    /// How many of its parameters are that object: one, or none.
    pub(crate) receiver: usize,
}

impl<'a, 'e> Called<'a, 'e> {
    /// The one that begins on a line.
    pub(crate) fn of(
        outline: &StatementTree<'a>,
        calls: &'e BTreeMap<u32, BTreeMap<String, String>>,
        line: u32,
    ) -> Option<Self> {
        let begins =
            |index: &usize| outline.line_of(outline.statements[*index].range.start()) == line;
        let index = (0..outline.statements.len())
            .filter(begins)
            .find(|&it| matches!(outline.statements[it].node, AnyNodeRef::StmtFunctionDef(_)))?;
        let AnyNodeRef::StmtFunctionDef(def) = outline.statements[index].node else {
            return None;
        };
        let values = calls.get(&line)?;
        match outline.statements[index]
            .parent
            .map(|it| outline.statements[it].node)
        {
            None => Some(Self {
                def,
                owner: None,
                values,
                receiver: 0,
            }),
            Some(AnyNodeRef::StmtClassDef(_)) => {
                let own = def.parameters.iter_non_variadic_params().next()?.name();
                let owner = values.get(own.as_str())?;
                Some(Self {
                    def,
                    owner: Some(owner),
                    values,
                    receiver: 1,
                })
            }
            _ => None,
        }
    }
}

/// The call of the function that begins on a line with what it was first called with.
pub(crate) fn call_of(
    outline: &StatementTree<'_>,
    evidence: &Evidence,
    line: u32,
) -> Option<String> {
    let Called {
        def,
        owner,
        values,
        receiver,
    } = Called::of(outline, &evidence.arguments, line)?;
    let arguments = arguments(def, values, receiver)?;
    Some(match (owner, def.name.as_str()) {
        (None, name) => format!("{name}({arguments})"),
        (Some(model), "forward") => format!("{model}({arguments})"),
        (Some(owner), name) => format!("{owner}.{name}({arguments})"),
    })
}

/// The arguments of a call that gives a function what it was called with.
pub(crate) fn arguments(
    def: &StmtFunctionDef,
    values: &BTreeMap<String, String>,
    skipped: usize,
) -> Option<String> {
    let mut given = Vec::new();
    let mut by_name = false;
    let keyword_only = def.parameters.kwonlyargs.len();
    let count = def.parameters.iter_non_variadic_params().count();
    for (position, parameter) in def
        .parameters
        .iter_non_variadic_params()
        .enumerate()
        .skip(skipped)
    {
        let name = parameter.name().as_str();
        by_name |= position >= count - keyword_only;
        match values.get(name) {
            Some(value) if by_name => given.push(format!("{name}={value}")),
            Some(value) => given.push(value.clone()),
            None if parameter.default.is_some() => by_name = true,
            None => return None,
        }
    }
    Some(given.join(", "))
}

/// Whether a value may as well stand where it is used.
fn is_literal(value: &str) -> bool {
    const SHORT: usize = 24;
    let Ok(program) = Program::parse(value) else {
        return false;
    };
    match program.body() {
        [Stmt::Expr(stmt)] => value.len() <= SHORT && is_plain(&stmt.value),
        _ => false,
    }
}

fn is_plain(expr: &Expr) -> bool {
    match expr {
        Expr::Tuple(it) => it.elts.iter().all(is_plain),
        Expr::UnaryOp(it) => is_plain(&it.operand),
        _ => expr.is_literal_expr(),
    }
}

#[cfg(test)]
mod tests {
    use super::JUMP_INTO_COMPILED;
    use crate::{syntax::Program, testing::evidence, trace::evidence::MissingSymbols};

    /// The texts that are proposed for a program whose comments tell what a traced run saw.
    fn texts(text: &str) -> Vec<String> {
        let program = Program::parse(text).unwrap();
        let proposals = JUMP_INTO_COMPILED.proposals_with(
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
    fn without_a_compiler_or_without_values_nothing_is_tried() {
        let fails = "import torch\ndef f(y):\n    return y + 1  # compiled with x: 1\n";
        assert!(texts(&format!("{fails}g(f)(1)  # fails\n")).is_empty());
        assert!(texts(&format!("{fails}torch.compile(f)(1)  # fails\n")).is_empty());
    }
}
