//! The environment that a program asks for, from the plainest up: what it has to be compiled by,
//! what it has to run on, how many processes it is made for. The first thing that counts in
//! [`crate::cost`]: one who gets a repro can run it the sooner, and so can the engine. Knows
//! PyTorch's names alone; a program without PyTorch stands on the ground.

use serde::{Deserialize, Serialize};

use crate::{
    passes::torch::{lower_backends::without_compiler, use_cpu::on_cpu_everywhere},
    rewrite::{edit::EditSet, gain::gains},
    syntax::{AnyNodeRef, Program, TextRange, Tree},
    torch::names::{Compilation, Torch, compilations, string},
};

/// What a program asks of its environment; less is simpler. Each part is that of the most demanding
/// place in the program, so that it does not matter how often something is written.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Environment {
    /// Whether it is made for several processes.
    pub distributed: bool,
    /// Whether it names another device than the CPU.
    pub accelerator: bool,
    /// How much of a compiler it goes through.
    pub compiler: Compiler,
}

/// How far down `torch.compile` takes a program.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum Compiler {
    /// It is not compiled.
    #[default]
    None,
    /// Dynamo alone: `backend="eager"`.
    Eager,
    /// And AOT autograd: `backend="aot_eager"`.
    AotEager,
    /// And Inductor's decompositions: `backend="aot_eager_decomp_partition"`.
    Decomposed,
    /// Inductor, or a backend that is not known.
    Inductor,
}

impl Compiler {
    /// The backends by name, the plainest first.
    pub(crate) const BACKENDS: [(Self, &'static str); 3] = [
        (Self::Eager, "eager"),
        (Self::AotEager, "aot_eager"),
        (Self::Decomposed, "aot_eager_decomp_partition"),
    ];

    /// The component that takes part, for people.
    pub fn component(self) -> &'static str {
        match self {
            Self::None => "none: it fails in eager mode",
            Self::Eager => "Dynamo (backend `eager`)",
            Self::AotEager => "AOT autograd (backend `aot_eager`)",
            Self::Decomposed => "Inductor's decompositions (backend `aot_eager_decomp_partition`)",
            Self::Inductor => "Inductor, or the backend that is named",
        }
    }

    /// What a compilation asks for.
    pub(crate) fn of(compilation: &Compilation<'_>) -> Self {
        let named = compilation.backend().and_then(|(value, _)| string(value));
        let found = Self::BACKENDS.iter().find(|(_, name)| Some(*name) == named);
        found.map_or(Self::Inductor, |(compiler, _)| *compiler)
    }
}

/// The devices that are no CPU, as PyTorch names them.
pub(crate) const ACCELERATORS: &[&str] = &["cuda", "mps", "xpu", "hip"];

/// Whether a text names such a device, with or without a number.
pub(crate) fn is_accelerator(text: &str) -> bool {
    let (device, number) = text.split_once(':').unwrap_or((text, "0"));
    ACCELERATORS.contains(&device) && number.bytes().all(|byte| byte.is_ascii_digit())
}

const DISTRIBUTED: &[&str] = &[
    "distributed",
    "DistributedDataParallel",
    "FullyShardedDataParallel",
    "multiprocessing",
];

/// What a program asks of its environment.
pub(crate) fn environment(program: &Program, tree: &Tree<'_>) -> Environment {
    let Some(torch) = Torch::of(program, tree) else {
        return Environment::default();
    };
    let is_distributed = |path: &str| {
        path.starts_with("torch") && path.split('.').any(|part| DISTRIBUTED.contains(&part))
    };
    let mut found = Environment {
        distributed: torch.imports().any(is_distributed),
        compiler: compilations(&torch, tree)
            .iter()
            .map(Compiler::of)
            .max()
            .unwrap_or_default(),
        accelerator: false,
    };
    for node in &tree.nodes {
        match node.node {
            AnyNodeRef::StringLiteral(it) => found.accelerator |= is_accelerator(it.as_str()),
            AnyNodeRef::ExprAttribute(it) => {
                found.accelerator |= ACCELERATORS.contains(&it.attr.as_str());
                found.distributed |= torch
                    .attribute(it)
                    .is_some_and(|path| is_distributed(&path));
            }
            _ => {}
        }
    }
    found
}

/// Whether a program imports PyTorch.
pub fn uses_torch(program: &Program) -> bool {
    Torch::of(program, &program.tree()).is_some()
}

/// Modules that make operators.
const OPERATORS: [&str; 5] = [
    "torch.library",
    "torch._library",
    "torch._custom_op",
    "torch._custom_ops",
    "torch.utils.cpp_extension",
];

/// Modules that capture functions as graphs without compiling them.
const CAPTURING: [&str; 4] = ["torch.export", "torch.fx", "torch.jit", "torch.onnx"];

/// Whether a program may make operators of its own: what PyTorch's compiler makes of a graph that
/// calls them hangs on more than the graph.
pub fn makes_operators(program: &Program) -> bool {
    let tree = program.tree();
    Torch::of(program, &tree).is_some_and(|torch| names_any(&torch, &tree, &OPERATORS))
}

/// Whether functions of a program are captured as a whole, compiled or not: no line of them is
/// known to fail.
pub(crate) fn is_captured(program: &Program, tree: &Tree<'_>) -> bool {
    let Some(torch) = Torch::of(program, tree) else {
        return false;
    };
    !compilations(&torch, tree).is_empty() || names_any(&torch, tree, &CAPTURING)
}

/// Whether a program imports or mentions one of some modules, or what is in it.
fn names_any(torch: &Torch<'_>, tree: &Tree<'_>, modules: &[&str]) -> bool {
    let is_one = |path: &str| {
        modules.iter().any(|it| {
            path.strip_prefix(it)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    };
    let mut attributes = tree
        .nodes
        .iter()
        .filter_map(|node| torch.attribute(node.node.as_expr_attribute()?));
    torch.imports().any(is_one) || attributes.any(|path| is_one(&path))
}

/// A program without PyTorch's compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Uncompiled {
    /// It is not compiled as it is.
    Itself,
    /// This text is the same program, not compiled.
    As(String),
    /// It is not known how to leave the compiler out.
    Unknown,
}

/// The same program on the CPU; `None` if it already is, or if no edit is known that moves it.
pub fn on_cpu(program: &Program) -> Option<String> {
    let tree = program.tree();
    let torch = Torch::of(program, &tree)?;
    let edits = on_cpu_everywhere(program, &torch, &tree);
    let text = edits.apply(program).ok()?;
    (text != program.text()).then_some(text)
}

/// The same program without PyTorch's compiler.
pub fn uncompiled(program: &Program) -> Uncompiled {
    let tree = program.tree();
    if environment(program, &tree).compiler == Compiler::None {
        return Uncompiled::Itself;
    }
    let text = without_compiler(program).and_then(|edits| edits.apply(program).ok());
    text.map_or(Uncompiled::Unknown, Uncompiled::As)
}

/// The arguments without which a program would climb the ladder: those that name a plain backend.
pub(crate) struct Rungs(Vec<(TextRange, TextRange)>);

impl Rungs {
    pub(crate) fn of(program: &Program) -> Self {
        // Most programs need no tree for this.
        if !program.text().contains("backend") && !program.text().contains("optimize") {
            return Self(Vec::new());
        }
        let tree = program.tree();
        let rungs = Torch::of(program, &tree).map(|torch| {
            let named = compilations(&torch, &tree)
                .into_iter()
                .filter(|it| Compiler::of(it) < Compiler::Inductor);
            named
                .filter_map(|it| Some((it.mention, it.backend()?.1)))
                .collect()
        });
        Self(rungs.unwrap_or_default())
    }

    /// Whether edits take such an argument away and leave the compiler, so that the program would
    /// cost more.
    pub(crate) fn are_climbed_by(&self, program: &Program, edits: &EditSet) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let Ok(edits_done) = edits.resolve(program) else {
            return false;
        };
        let touches = |range: TextRange| {
            edits_done.iter().any(|it| {
                it.range
                    .intersect(range)
                    .is_some_and(|both| !both.is_empty())
            })
        };
        let is_touched = |(mention, argument): &(TextRange, TextRange)| {
            touches(*argument)
                && !edits_done
                    .iter()
                    .any(|it| it.range.contains_range(*mention))
        };
        self.0.iter().any(is_touched) && !gains(program, edits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makers_of_operators_are_known() {
        let makes = |text: &str| makes_operators(&Program::parse(text).unwrap());
        assert!(makes(
            "import torch\n@torch.library.custom_op('a::f', mutates_args=())\ndef f(): pass\n"
        ));
        assert!(makes("from torch.library import Library as L\n"));
        assert!(makes(
            "import torch.utils.cpp_extension as c\nc.load_inline('a', '')\n"
        ));
        assert!(!makes(
            "import torch\ntorch.librarian, torch.compile(library)\n"
        ));
    }

    #[test]
    fn programs_are_known_without_their_compiler() {
        let of = |text: &str| uncompiled(&Program::parse(text).unwrap());
        assert_eq!(of("import torch\nf(1)\n"), Uncompiled::Itself);
        assert_eq!(
            of("import torch\n@torch.compile\ndef f(): pass\ng = torch.compile(f, mode='a')\n"),
            Uncompiled::As("import torch\ndef f(): pass\ng = f\n".to_owned())
        );
        assert_eq!(of("import torch\nc = torch.compile\n"), Uncompiled::Unknown);
        let own = "import torch\nclass Sweep:\n    def compile(self): pass\nSweep().compile()\n";
        assert_eq!(of(own), Uncompiled::Itself);
    }
}
