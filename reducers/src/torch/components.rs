//! The component of PyTorch that has a bug, and so the folder where its test belongs: by the files
//! in the traceback, else by the backend that compiles the program. Called by `--emit-test`.

use super::environment::{CompilerRank, EnvironmentRank, uses_torch};
use crate::syntax::Program;

/// A part of PyTorch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Component {
    /// The folder of its tests, from the root of PyTorch.
    pub folder: &'static str,
    /// The label of those who own them, as the first line of a test file names it.
    pub owner: &'static str,
}

const fn component(folder: &'static str, owner: &'static str) -> Component {
    Component { folder, owner }
}

const DYNAMO: Component = component("test/dynamo", "module: dynamo");
const AOT: Component = component("test/functorch", "oncall: pt2");
const FUNCTORCH: Component = component("test/functorch", "module: functorch");
const INDUCTOR: Component = component("test/inductor", "module: inductor");
const EXPORT: Component = component("test/export", "oncall: export");
const DISTRIBUTED: Component = component("test/distributed", "oncall: distributed");
const NONE: Component = component("test", "module: unknown");

/// Folders that decide wherever they occur, because what they call is in other folders.
const FIRST: &[(&str, Component)] = &[
    ("/torch/export/", EXPORT),
    ("/torch/_export/", EXPORT),
    ("/torch/onnx/", component("test/onnx", "module: onnx")),
    ("/torch/distributed/", DISTRIBUTED),
];

/// Folders whose innermost frame decides. Folders that all components use, such as fake tensors,
/// are not listed.
const FOLDERS: &[(&str, Component)] = &[
    ("/torch/_inductor/", INDUCTOR),
    ("/torch/_functorch/vmap.py", FUNCTORCH),
    ("/torch/_functorch/apis.py", FUNCTORCH),
    ("/torch/_functorch/eager_transforms.py", FUNCTORCH),
    ("/torch/_functorch/", AOT),
    (
        "/torch/_higher_order_ops/",
        component("test/higher_order_ops", "module: higher order operators"),
    ),
    ("/torch/_dynamo/", DYNAMO),
    ("/torch/fx/", component("test/fx", "module: fx")),
    ("/torch/jit/", component("test/jit", "oncall: jit")),
    (
        "/torch/ao/",
        component("test/quantization", "oncall: quantization"),
    ),
    (
        "/torch/autograd/",
        component("test/autograd", "module: autograd"),
    ),
    (
        "/torch/utils/checkpoint.py",
        component("test/autograd", "module: autograd"),
    ),
    (
        "/torch/distributions/",
        component("test/distributions", "module: distributions"),
    ),
    (
        "/torch/optim/",
        component("test/optim", "module: optimizer"),
    ),
    (
        "/torch/profiler/",
        component("test/profiler", "oncall: profiler"),
    ),
    ("/torch/nn/", component("test/nn", "module: nn")),
];

/// The component that has the bug of a program, by the files in the traceback of a run, outermost
/// first; none if the program does not use PyTorch.
pub fn component_of(
    program: &Program,
    environment: EnvironmentRank,
    files: &[&str],
) -> Option<Component> {
    if !uses_torch(program) {
        return None;
    }
    let named = |table: &[(&str, Component)], file: &&str| {
        table
            .iter()
            .find(|(part, _)| file.contains(part))
            .map(|(_, component)| *component)
    };
    let by_files = files
        .iter()
        .find_map(|file| named(FIRST, file))
        .or_else(|| files.iter().rev().find_map(|file| named(FOLDERS, file)));
    // PyTorch's own frames identify the component better than the backend does.
    let by_compiler = match environment.compiler {
        _ if environment.distributed => DISTRIBUTED,
        CompilerRank::Eager => DYNAMO,
        CompilerRank::AotEager => AOT,
        CompilerRank::Decomposed | CompilerRank::Inductor => INDUCTOR,
        CompilerRank::None => NONE,
    };
    Some(by_files.unwrap_or(by_compiler))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::Cost;

    #[track_caller]
    fn check(text: &str, files: &[&str], folder: Option<&str>) {
        let program = Program::parse(text).unwrap();
        let found = component_of(&program, Cost::of(&program).environment, files);
        assert_eq!(found.map(|component| component.folder), folder);
    }

    #[test]
    fn files_decide_before_the_backend() {
        const COMPILED: &str = "import torch\ntorch.compile(f, backend='eager')(x)\n";
        check("f()\n", &["/l/json/encoder.py"], None);
        check(COMPILED, &["/w/x.py"], Some("test/dynamo"));
        check(
            "import torch\ntorch.compile(f)(x)\n",
            &["/w/x.py"],
            Some("test/inductor"),
        );
        check("import torch\nf(x)\n", &["/w/x.py"], Some("test"));
        check(
            COMPILED,
            &[
                "/l/torch/_dynamo/eval_frame.py",
                "/l/torch/_functorch/aot_autograd.py",
                "/l/torch/_ops.py",
            ],
            Some("test/functorch"),
        );
        check(
            "import torch\ntorch.export.export(m, x)\n",
            &[
                "/l/torch/export/__init__.py",
                "/l/torch/_dynamo/eval_frame.py",
            ],
            Some("test/export"),
        );
        check(
            "import torch\nm(x)\n",
            &["/w/x.py", "/l/torch/nn/modules/linear.py"],
            Some("test/nn"),
        );
    }
}
