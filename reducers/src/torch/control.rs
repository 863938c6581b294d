//! Controls: a program without one part of PyTorch, for bugs of that part. A repro of such a bug
//! passes without the part. Goes only by names; the runs of a control show its value. Called by the
//! judge; changes nothing else about a program.

use serde::{Deserialize, Serialize};

use crate::{
    syntax::{AnyNodeRef, Program, Ranged, lines::newline_of},
    torch::{
        environment::{CALLING_COMPILER, Uncompiled, names_any, uncompiled},
        names::Torch,
    },
};

/// The functions that make a model ready for quantization, or quantize it.
const QUANTIZING: [&str; 20] = [
    "torch.quantization.prepare",
    "torch.quantization.prepare_qat",
    "torch.quantization.convert",
    "torch.quantization.quantize",
    "torch.quantization.quantize_qat",
    "torch.quantization.quantize_dynamic",
    "torch.ao.quantization.prepare",
    "torch.ao.quantization.prepare_qat",
    "torch.ao.quantization.convert",
    "torch.ao.quantization.quantize",
    "torch.ao.quantization.quantize_qat",
    "torch.ao.quantization.quantize_dynamic",
    "torch.quantization.quantize_fx.prepare_fx",
    "torch.quantization.quantize_fx.prepare_qat_fx",
    "torch.quantization.quantize_fx.convert_fx",
    "torch.quantization.quantize_fx.convert_to_reference_fx",
    "torch.ao.quantization.quantize_fx.prepare_fx",
    "torch.ao.quantization.quantize_fx.prepare_qat_fx",
    "torch.ao.quantization.quantize_fx.convert_fx",
    "torch.ao.quantization.quantize_fx.convert_to_reference_fx",
];

/// The functions that capture others as graphs, and those that compile such a graph or load the result.
const CAPTURING: [&str; 18] = [
    "torch.export.export",
    "torch.export.export_for_training",
    "torch.export.draft_export",
    "torch._export.capture_pre_autograd_graph",
    "torch._export.aot_compile",
    "torch._export.aot_load",
    "torch._inductor.aot_compile",
    "torch._inductor.aoti_compile_and_package",
    "torch._inductor.aoti_load_package",
    "torch.onnx.export",
    "torch._dynamo.export",
    "torch.fx.symbolic_trace",
    "torch.fx.experimental.proxy_tensor.make_fx",
    "functorch.make_fx",
    "functorch.compile.aot_function",
    "functorch.compile.aot_module",
    "torch._functorch.aot_autograd.aot_function",
    "torch._functorch.aot_autograd.aot_module",
];

/// A part of PyTorch that a program can be run without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Control {
    /// `torch.compile` and what calls it.
    Compile,
    /// Functions that capture others as graphs: `torch.export` and what compiles its result, ONNX,
    /// `make_fx`, `symbolic_trace`, AOT autograd alone.
    Export,
    /// `TorchScript`: `torch.jit.script`, `torch.jit.trace`.
    Script,
    /// `vmap`, replaced by a loop.
    Vmap,
    /// Activation checkpointing.
    Checkpoint,
    /// Automatic mixed precision.
    Autocast,
    /// Quantization of a model.
    Quantize,
    /// Transforms of functions, replaced by plain autograd.
    Transform,
    /// The way in which checkpointing recomputes, replaced by the other.
    Reentrant,
    /// Sparse tensors, replaced by dense ones.
    Sparse,
    /// The fast way of attention.
    Fastpath,
    /// Updates of many parameters at once.
    Optimizer,
    /// Single precision, replaced by double.
    Single,
    /// Nested tensors in one buffer, replaced by lists of strided ones.
    Jagged,
    /// Derivatives of second order, and in forward mode, in checks of gradients.
    Derivatives,
    /// Sparse tensors that are taken as they are given, without a check.
    Unchecked,
    /// The mode in which functions are captured as graphs: strict or not, with the sizes of a
    /// sample or with symbols for them.
    Mode,
}

/// A program without a part of PyTorch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Without {
    /// The program does not name the part.
    Itself,
    /// The text of the program without it.
    As(String),
}

impl Control {
    /// The controls that leave something out, in the order of how much of a program's path they
    /// change: the code that wraps the other parts is at fault more often than they are.
    pub const PARTS: [Self; 8] = [
        Self::Compile,
        Self::Export,
        Self::Script,
        Self::Vmap,
        Self::Checkpoint,
        Self::Autocast,
        Self::Quantize,
        Self::Derivatives,
    ];

    /// The controls that have another implementation do the same. A program that has no use for it
    /// fails by that alone, so these say something only where it succeeds.
    pub const ALTERNATIVES: [Self; 7] = [
        Self::Transform,
        Self::Reentrant,
        Self::Sparse,
        Self::Fastpath,
        Self::Optimizer,
        Self::Single,
        Self::Jagged,
    ];

    /// The controls that turn on checks that PyTorch leaves out by default. The message of a check
    /// distinguishes crashes, so these count only if the program fails by an exception.
    pub const CHECKED: [Self; 1] = [Self::Unchecked];

    /// The control that has the same part work in another mode, if there is one: the less it changes,
    /// the more it says of the bug.
    pub fn nearer(self) -> Option<Self> {
        match self {
            Self::Export => Some(Self::Mode),
            Self::Checkpoint => Some(Self::Reentrant),
            _ => None,
        }
    }

    /// Whether it is one of [`Self::ALTERNATIVES`].
    pub fn is_alternative(self) -> bool {
        Self::ALTERNATIVES.contains(&self)
    }

    /// The names in a program that use this part.
    fn names(self) -> &'static [&'static str] {
        match self {
            // Beside `torch.compile` itself, which is left out of the text.
            Self::Compile => &CALLING_COMPILER,
            Self::Export => &CAPTURING,
            Self::Mode => &[
                "torch.export.export",
                "torch.export.export_for_training",
                "torch.export.draft_export",
                "torch.fx.experimental.proxy_tensor.make_fx",
                "functorch.make_fx",
            ],
            Self::Script => &[
                "torch.jit.script",
                "torch.jit.trace",
                "torch.jit.trace_module",
                "torch.jit.freeze",
                "torch.jit.optimize_for_inference",
                "torch.jit.ScriptModule",
                "torch.jit.script_method",
            ],
            Self::Vmap => &["torch.vmap", "torch.func.vmap"],
            Self::Checkpoint | Self::Reentrant => &[
                "torch.utils.checkpoint.checkpoint",
                "torch.utils.checkpoint.checkpoint_sequential",
            ],
            Self::Autocast => &[
                "torch.autocast",
                "torch.amp",
                "torch.cpu.amp",
                "torch.cuda.amp",
            ],
            Self::Quantize => &QUANTIZING,
            Self::Transform => &[
                "torch.func.jvp",
                "torch.func.grad",
                "torch.func.grad_and_value",
                "torch.func.jacrev",
                "torch.func.jacfwd",
                "torch.func.hessian",
                "torch.autograd.functional.jacobian",
                "torch.autograd.functional.hessian",
            ],
            Self::Sparse | Self::Unchecked => &[
                "torch.sparse_coo_tensor",
                "torch.sparse_csr_tensor",
                "torch.sparse_csc_tensor",
                "torch.sparse_bsr_tensor",
                "torch.sparse_bsc_tensor",
                "torch.sparse_compressed_tensor",
            ],
            Self::Fastpath => &[
                "torch.nn.MultiheadAttention",
                "torch.nn.Transformer",
                "torch.nn.TransformerEncoder",
                "torch.nn.TransformerEncoderLayer",
            ],
            Self::Optimizer => &["torch.optim"],
            Self::Jagged => &[
                "torch.nested.as_nested_tensor",
                "torch.nested.nested_tensor",
            ],
            Self::Derivatives => &["torch.autograd.gradcheck", "torch.autograd.gradgradcheck"],
            Self::Single => &["torch.allclose", "torch.isclose", "torch.testing"],
        }
    }

    /// The methods by which a program also uses this part.
    fn methods(self) -> &'static [&'static str] {
        match self {
            Self::Sparse => &[
                "to_sparse",
                "to_sparse_coo",
                "to_sparse_csr",
                "to_sparse_csc",
                "to_sparse_bsr",
                "to_sparse_bsc",
            ],
            _ => &[],
        }
    }

    /// The keywords of which a program gives one if it asks for this part.
    fn keywords(self) -> &'static [&'static str] {
        match self {
            Self::Optimizer => &["foreach", "fused"],
            _ => &[],
        }
    }

    /// The replacement: a Python function that gets their names.
    fn replacement(self) -> &'static str {
        match self {
            Self::Compile => include_str!("control/compile.py"),
            Self::Export | Self::Script => include_str!("control/capture.py"),
            Self::Vmap => include_str!("control/vmap.py"),
            Self::Checkpoint => include_str!("control/checkpoint.py"),
            Self::Autocast => include_str!("control/autocast.py"),
            Self::Quantize => include_str!("control/quantize.py"),
            Self::Transform => include_str!("control/transform.py"),
            Self::Reentrant => include_str!("control/reentrant.py"),
            Self::Sparse => include_str!("control/sparse.py"),
            Self::Fastpath => include_str!("control/fastpath.py"),
            Self::Optimizer => include_str!("control/optimizer.py"),
            Self::Single => include_str!("control/double.py"),
            Self::Jagged => include_str!("control/strided.py"),
            Self::Derivatives => include_str!("control/derivatives.py"),
            Self::Unchecked => include_str!("control/invariants.py"),
            Self::Mode => include_str!("control/mode.py"),
        }
    }

    /// The part that a program does without, for people.
    pub fn description(self) -> &'static str {
        match self {
            Self::Compile => "without the compiler",
            Self::Export => "when it calls functions instead of exporting them",
            Self::Script => "without TorchScript",
            Self::Vmap => "with a loop instead of vmap",
            Self::Checkpoint => "without checkpointing",
            Self::Autocast => "without autocast",
            Self::Quantize => "without quantization",
            Self::Transform => "with plain autograd instead of transforms",
            Self::Reentrant => "when checkpointing recomputes in the other way",
            Self::Sparse => "with dense tensors instead of sparse ones",
            Self::Fastpath => "without the fast path of attention",
            Self::Optimizer => "when its optimizer updates one parameter at a time",
            Self::Single => "in double precision",
            Self::Jagged => "with nested tensors that are not jagged",
            Self::Derivatives => "when only first derivatives are checked",
            Self::Unchecked => "when its sparse tensors are checked",
            Self::Mode => "when functions are captured in another mode",
        }
    }

    /// A program without this part.
    pub fn without(self, program: &Program) -> Without {
        if self == Self::Compile {
            match uncompiled(program) {
                Uncompiled::As(text) => {
                    // The rest may call the compiler itself.
                    let left = program.sibling(text.as_str());
                    return match left.map(|left| self.without_names(&left)) {
                        Ok(without @ Without::As(_)) => without,
                        _ => Without::As(text),
                    };
                }
                // The switch does not depend on names, so it also covers uses that the text does
                // not show.
                Uncompiled::Unknown => {
                    return Without::As(with_prelude(program, self.replacement(), &[]));
                }
                Uncompiled::Itself => {}
            }
        }
        self.without_names(program)
    }

    /// A program without the names of this part.
    fn without_names(self, program: &Program) -> Without {
        let tree = program.tree();
        let Some(torch) = Torch::of(program, tree) else {
            return Without::Itself;
        };
        let names: Vec<&str> = self
            .names()
            .iter()
            .filter(|name| names_any(&torch, tree, &[name]))
            .copied()
            .collect();
        let names_method = |node: &AnyNodeRef<'_>| match node {
            AnyNodeRef::ExprAttribute(attribute) => self.methods().contains(&&*attribute.attr),
            _ => false,
        };
        let gives_keyword = |node: &AnyNodeRef<'_>| match node {
            AnyNodeRef::Keyword(keyword) => {
                let name = keyword.arg.as_deref();
                name.is_some_and(|name| self.keywords().contains(&name))
            }
            _ => false,
        };
        let mut nodes = tree.nodes.iter().map(|node| node.node);
        let goes_through = !names.is_empty() || nodes.any(|node| names_method(&node));
        let mut nodes = tree.nodes.iter().map(|node| node.node);
        if !goes_through || !self.keywords().is_empty() && !nodes.any(|node| gives_keyword(&node)) {
            return Without::Itself;
        }
        Without::As(with_prelude(program, self.replacement(), &names))
    }
}

/// The program with a function that is defined and called before PyTorch is first imported: a name
/// that is imported from a module afterwards is the replacement, too.
fn with_prelude(program: &Program, function: &str, names: &[&str]) -> String {
    let text = program.text();
    let newline = newline_of(text);
    let is_torch = |path: &str| matches!(path.split('.').next(), Some("torch" | "functorch"));
    let imports_torch = |node: &AnyNodeRef<'_>| match node {
        AnyNodeRef::StmtImport(import) => import.names.iter().any(|alias| is_torch(&alias.name)),
        AnyNodeRef::StmtImportFrom(import) => import.module.as_deref().is_some_and(is_torch),
        _ => false,
    };
    let first = program
        .tree()
        .nodes
        .iter()
        .map(|node| node.node)
        .find(imports_torch);
    let statement = first.and_then(|import| {
        let mut statements = program.body().iter();
        statements.find(|statement| statement.range().contains_range(import.range()))
    });
    let at = statement.map_or(0, |statement| usize::from(statement.start()));
    // Another statement may stand on the same line.
    let at = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let function: String = function.lines().flat_map(|line| [line, newline]).collect();
    let call = format!("_plain({names:?}){newline}del _plain{newline}");
    format!("{}{function}{call}{}", &text[..at], &text[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(control: Control, text: &str, expected: Option<&str>) {
        let program = Program::parse(text).unwrap();
        let found = match control.without(&program) {
            Without::Itself => None,
            Without::As(text) => {
                program.sibling(text.as_str()).unwrap();
                let function = control.replacement();
                assert_eq!(text.matches(function).count(), 1, "{text}");
                Some(text.replace(function, "def _plain...\n"))
            }
        };
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn replacements_come_before_the_import_of_names() {
        check(
            Control::Export,
            "import os\nif os:\n    from torch.export import export as e\ne(f, ())\n",
            Some(
                "import os\ndef _plain...\n_plain([\"torch.export.export\"])\ndel _plain\nif os:\n    from torch.export import export as e\ne(f, ())\n",
            ),
        );
        check(
            Control::Script,
            "x = 1; import torch\nf = torch.jit.trace(g, x)\n",
            Some(
                "def _plain...\n_plain([\"torch.jit.trace\"])\ndel _plain\nx = 1; import torch\nf = torch.jit.trace(g, x)\n",
            ),
        );
    }

    #[test]
    fn a_program_that_does_not_name_the_part_is_its_own_control() {
        check(Control::Vmap, "import torch\ntorch.func.grad(f)(x)\n", None);
        check(Control::Export, "def export(): pass\nexport()\n", None);
        check(Control::Compile, "import torch\nf(torch.ones(2))\n", None);
        check(
            Control::Mode,
            "import torch\ntorch.onnx.export(f, ())\n",
            None,
        );
    }

    #[test]
    fn alternatives_are_for_programs_that_ask_for_them() {
        let sparse = "import torch\nx.to_sparse().sum()\n";
        let expected = format!("def _plain...\n_plain([])\ndel _plain\n{sparse}");
        check(Control::Sparse, sparse, Some(&expected));
        check(Control::Sparse, "import torch\nx.to_dense()\n", None);
        let adam = |given: &str| format!("import torch\ntorch.optim.Adam(p{given})\n");
        check(Control::Optimizer, &adam(""), None);
        let fused = adam(", fused=True");
        let expected = format!("def _plain...\n_plain([\"torch.optim\"])\ndel _plain\n{fused}");
        check(Control::Optimizer, &fused, Some(&expected));
        assert!(Control::Single.is_alternative() && !Control::Vmap.is_alternative());
    }

    #[test]
    fn the_switch_finds_compilers_that_the_text_does_not_show() {
        let text = "import torch\nc = [torch.compile]\nc[0](f)()\n";
        let expected = format!("def _plain...\n_plain([])\ndel _plain\n{text}");
        check(Control::Compile, text, Some(&expected));
        let both = "import torch\ntorch.cond(p, f, g)\ntorch.compile(f)()\n";
        let expected = "def _plain...\n_plain([\"torch.cond\"])\ndel _plain\nimport torch\ntorch.cond(p, f, g)\nf()\n";
        check(Control::Compile, both, Some(expected));
        let cond = "import torch\ntorch.cond(p, f, g)\n";
        let expected = format!("def _plain...\n_plain([\"torch.cond\"])\ndel _plain\n{cond}");
        check(Control::Compile, cond, Some(&expected));
        let minified = "import torch\nif run:\n    from torch._dynamo.repro.after_aot import run_repro\n    run_repro(mod, load)\n";
        let expected = format!(
            "def _plain...\n_plain([\"torch._dynamo.repro.after_aot\"])\ndel _plain\n{minified}"
        );
        check(Control::Compile, minified, Some(&expected));
    }
}
