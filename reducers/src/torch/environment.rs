//! The rank of the environment that a program needs: which compiler, which device, how many
//! processes. It is the first part of [`crate::cost`], because a repro with fewer needs runs
//! sooner, for its reader and for the engine. Goes only by PyTorch's names: a program that does not
//! import PyTorch has the lowest rank.

use serde::{Deserialize, Serialize};

use crate::{
    modules::standard::packages_needed,
    rewrite::edit::EditSet,
    syntax::{AnyNodeRef, Program, TextRange, Tree},
    torch::{
        compilation::{
            Compilation, compilations, with_argument_of, with_backend, with_setting,
            without_compiler,
        },
        devices::{ACCELERATORS, is_accelerator},
        names::{Torch, string},
    },
};

/// The needs of a program; fewer are simpler. Each part is that of the most demanding place in the
/// program, so the number of such places does not matter.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct EnvironmentRank {
    /// How many packages it needs besides the standard library and those that every reader has.
    #[serde(default)]
    pub packages: u32,
    /// Whether it is written for several processes.
    pub distributed: bool,
    /// Whether it names a device other than the CPU.
    pub accelerator: bool,
    /// How much of the compiler it uses.
    pub compiler: CompilerRank,
}

/// How much of `torch.compile` a program uses.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum CompilerRank {
    /// Nothing is compiled.
    #[default]
    None,
    /// Dynamo alone: `backend="eager"`.
    Eager,
    /// Also AOT autograd: `backend="aot_eager"`.
    AotEager,
    /// Also Inductor's decompositions: `backend="aot_eager_decomp_partition"`.
    Decomposed,
    /// Inductor, or a backend that is not known.
    Inductor,
}

impl CompilerRank {
    /// The call that compiles, as ablation names it.
    pub const CALL: &str = "torch.compile";

    /// The backends plainer than Inductor by name, the plainest first.
    pub(crate) const BACKENDS: [(Self, &'static str); 3] = [
        (Self::Eager, Self::Eager.backend()),
        (Self::AotEager, Self::AotEager.backend()),
        (Self::Decomposed, Self::Decomposed.backend()),
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

    /// All ranks, the lowest first.
    pub const ALL: [Self; 5] = [
        Self::None,
        Self::Eager,
        Self::AotEager,
        Self::Decomposed,
        Self::Inductor,
    ];

    /// The name of the backend, as PyTorch calls it; `none` where nothing is compiled.
    pub const fn backend(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Eager => "eager",
            Self::AotEager => "aot_eager",
            Self::Decomposed => "aot_eager_decomp_partition",
            Self::Inductor => "inductor",
        }
    }

    /// The next lower rank.
    pub fn lower(self) -> Option<Self> {
        Self::ALL.into_iter().rev().find(|rank| *rank < self)
    }

    /// The rank that a compilation needs.
    pub(crate) fn of(compilation: &Compilation<'_>) -> Self {
        let named = compilation.backend().and_then(|(value, _)| string(value));
        let found = Self::BACKENDS
            .into_iter()
            .find(|(_, name)| Some(*name) == named);
        found.map_or(Self::Inductor, |(rank, _)| rank)
    }
}

const DISTRIBUTED: &[&str] = &[
    "distributed",
    "DistributedDataParallel",
    "FullyShardedDataParallel",
    "multiprocessing",
];

/// The rank of the environment that a part of a program needs, given what the program imports.
pub(crate) fn environment(tree: &Tree<'_>, torch: Option<&Torch<'_>>) -> EnvironmentRank {
    let packages = packages_needed(tree).len() as u32;
    let Some(torch) = torch else {
        return EnvironmentRank {
            packages,
            ..EnvironmentRank::default()
        };
    };
    let is_distributed = |path: &str| {
        path.starts_with("torch") && path.split('.').any(|part| DISTRIBUTED.contains(&part))
    };
    let mut found = EnvironmentRank {
        packages,
        distributed: torch.imports().any(is_distributed),
        compiler: compilations(torch, tree)
            .iter()
            .map(CompilerRank::of)
            .max()
            .unwrap_or_default(),
        accelerator: false,
    };
    for node in &tree.nodes {
        match node.node {
            AnyNodeRef::StringLiteral(text) => found.accelerator |= is_accelerator(text.as_str()),
            AnyNodeRef::ExprAttribute(attribute) => {
                found.accelerator |= ACCELERATORS.contains(&attribute.attr.as_str());
                found.distributed |= torch
                    .attribute(attribute)
                    .is_some_and(|path| is_distributed(&path));
            }
            _ => {}
        }
    }
    found
}

/// Whether a program imports PyTorch.
pub fn uses_torch(program: &Program) -> bool {
    Torch::of(program, program.tree()).is_some()
}

/// Modules that define operators.
const OPERATORS: [&str; 5] = [
    "torch.library",
    "torch._library",
    "torch._custom_op",
    "torch._custom_ops",
    "torch.utils.cpp_extension",
];

/// Functions that call the compiler themselves.
pub(crate) const CALLING_COMPILER: [&str; 7] = [
    "torch._dynamo.repro.after_aot",
    "torch._dynamo.repro.after_dynamo",
    "torch.cond",
    "torch.while_loop",
    "torch._higher_order_ops",
    "torch.ops.higher_order",
    "torch.nn.attention.flex_attention",
];

/// Modules that capture functions as graphs without compiling them.
const CAPTURING: [&str; 4] = ["torch.export", "torch.fx", "torch.jit", "torch.onnx"];

/// Functions that check numbers.
const CHECKING: [&str; 6] = [
    "torch.allclose",
    "torch.isclose",
    "torch.testing",
    "torch.autograd.gradcheck",
    "torch.autograd.gradgradcheck",
    "numpy.testing",
];

/// Whether a program may define operators of its own: then the result of compiling a graph that
/// calls them depends on more than the graph.
pub fn makes_operators(program: &Program) -> bool {
    let tree = program.tree();
    Torch::of(program, tree).is_some_and(|torch| names_any(&torch, tree, &OPERATORS))
}

/// Whether functions of a program are captured as a whole, compiled or not, so that no single line
/// of them is known to fail.
pub(crate) fn is_captured(program: &Program, tree: &Tree<'_>) -> bool {
    let Some(torch) = Torch::of(program, tree) else {
        return false;
    };
    let names = |modules| names_any(&torch, tree, modules);
    !compilations(&torch, tree).is_empty() || names(&CAPTURING) || names(&CALLING_COMPILER)
}

/// Whether functions of a program are captured as graphs.
pub fn captures_graphs(program: &Program) -> bool {
    is_captured(program, program.tree())
}

/// Whether a program checks numbers against others, which it computes or writes out.
pub(crate) fn checks_numbers(program: &Program, tree: &Tree<'_>) -> bool {
    let torch = Torch::of(program, tree);
    torch.is_some_and(|torch| names_any(&torch, tree, &CHECKING))
}

/// Whether a program imports or mentions one of some modules or something in it.
pub(crate) fn names_any(torch: &Torch<'_>, tree: &Tree<'_>, modules: &[&str]) -> bool {
    let is_one = |path: &str| {
        modules.iter().any(|module| {
            path.strip_prefix(module)
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
    /// The program does not compile anything.
    Itself,
    /// The text of the same program without the compiler.
    As(String),
    /// It is not known how to leave the compiler out.
    Unknown,
}

/// The same program without PyTorch's compiler.
pub fn uncompiled(program: &Program) -> Uncompiled {
    let tree = program.tree();
    let torch = Torch::of(program, tree);
    if environment(tree, torch.as_ref()).compiler == CompilerRank::None {
        return Uncompiled::Itself;
    }
    let text = without_compiler(program).and_then(|edits| edits.apply(program).ok());
    text.map_or(Uncompiled::Unknown, Uncompiled::As)
}

/// The variable that switches PyTorch's compiler off, also where PyTorch calls it by itself
/// (`torch.cond` does), and its value.
pub const COMPILER_OFF: (&str, &str) = ("TORCHDYNAMO_DISABLE", "1");

/// The text of a program whose compilations all have this rank; as it is for no compiler at all,
/// which [`COMPILER_OFF`] gives. None if it is not known how to make it.
pub fn compiled_with(program: &Program, rank: CompilerRank) -> Option<String> {
    if rank == CompilerRank::None {
        return Some(program.text().to_owned());
    }
    let tree = program.tree();
    let Some(torch) = Torch::of(program, tree) else {
        return Some(program.text().to_owned());
    };
    let found = compilations(&torch, tree);
    let edits = with_backend(program, tree, found.iter(), rank.backend());
    edits.apply(program).ok()
}

/// The text of a program whose compilations all have this setting, `NAME=VALUE`; none if it
/// compiles nothing, or has the setting already.
pub fn compiled_by_setting(program: &Program, setting: &str) -> Option<String> {
    changed(program, &with_setting(program, setting)?)
}

/// The functions that export a program as a graph.
const EXPORTS: [&str; 3] = [
    "torch.export.export",
    "torch.export.export_for_training",
    "torch.export.draft_export",
];

/// The text of a program whose exports all have this setting; likewise.
pub fn exported_by_setting(program: &Program, setting: &str) -> Option<String> {
    changed(program, &with_argument_of(program, &EXPORTS, setting)?)
}

/// The text of a program that edits change.
fn changed(program: &Program, edits: &EditSet) -> Option<String> {
    let text = edits.apply(program).ok()?;
    (text != program.text()).then_some(text)
}

/// The arguments that name a plain backend: without one of them, the program would be compiled by
/// Inductor.
pub(crate) struct PlainBackends(Vec<(TextRange, TextRange)>);

impl PlainBackends {
    pub(crate) fn of(program: &Program) -> Self {
        // Most programs need no tree for this.
        if !program.text().contains("backend") && !program.text().contains("optimize") {
            return Self(Vec::new());
        }
        let tree = program.tree();
        let named = Torch::of(program, tree).map(|torch| {
            let plain = compilations(&torch, tree)
                .into_iter()
                .filter(|compilation| CompilerRank::of(compilation) < CompilerRank::Inductor);
            plain
                .filter_map(|compilation| Some((compilation.mention, compilation.backend()?.1)))
                .collect()
        });
        Self(named.unwrap_or_default())
    }

    /// Whether edits touch such an argument and leave the compiler.
    pub(crate) fn are_touched_by(&self, program: &Program, edits: &EditSet) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let Ok(edits) = edits.resolve(program) else {
            return false;
        };
        let touches = |range: TextRange| {
            edits.iter().any(|edit| {
                edit.range
                    .intersect(range)
                    .is_some_and(|both| !both.is_empty())
            })
        };
        self.0.iter().any(|(mention, argument)| {
            touches(*argument) && !edits.iter().any(|edit| edit.range.contains_range(*mention))
        })
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
    fn compilations_are_given_a_backend() {
        let with = |text: &str, rank| compiled_with(&Program::parse(text).unwrap(), rank);
        let compiled = "import torch\nf = torch.compile(g, mode='a', dynamic=True)\n";
        assert_eq!(
            with(compiled, CompilerRank::AotEager).as_deref(),
            Some("import torch\nf = torch.compile(g, backend=\"aot_eager\", dynamic=True)\n")
        );
        assert_eq!(
            with(compiled, CompilerRank::None).as_deref(),
            Some(compiled)
        );
        assert_eq!(
            with("f(1)\n", CompilerRank::Eager).as_deref(),
            Some("f(1)\n")
        );
        assert_eq!(CompilerRank::Eager.lower(), Some(CompilerRank::None));
        assert_eq!(CompilerRank::None.lower(), None);
    }

    #[test]
    fn compilations_and_exports_are_given_settings() {
        let head = "import torch\n";
        let program = |text: &str| Program::parse(format!("{head}{text}\n")).unwrap();
        let with = |text: &str| compiled_by_setting(&program(text), "dynamic=True");
        let expected = |text: &str| Some(format!("{head}{text}\n"));
        assert_eq!(
            with("f = torch.compile(g, dynamic=False)"),
            expected("f = torch.compile(g, dynamic=True)")
        );
        assert_eq!(
            with("@torch.compile\ndef f(): pass"),
            expected("@torch.compile(dynamic=True)\ndef f(): pass")
        );
        assert_eq!(with("f = torch.compile(g, dynamic=True)"), None);
        assert_eq!(with("f()"), None);
        let exported = |text: &str| exported_by_setting(&program(text), "strict=True");
        assert_eq!(
            exported("torch.export.export(m, (x,))"),
            expected("torch.export.export(m, (x,), strict=True)")
        );
        assert_eq!(exported("torch.compile(m)"), None);
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
