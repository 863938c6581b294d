//! Which part of PyTorch has a bug, and so where its test belongs: by the frames of the error, else
//! by what compiles the program. Knows PyTorch's folders by name. Pure.

use minrepro_reducers::{
    syntax::Program,
    torch::environment::{CompilerRank, EnvironmentRank, uses_torch},
};

use crate::runner::Outcome;

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
const INDUCTOR: Component = component("test/inductor", "module: inductor");
const EXPORT: Component = component("test/export", "oncall: export");
const DISTRIBUTED: Component = component("test/distributed", "oncall: distributed");
const NONE: Component = component("test", "module: unknown");

/// What is named on the way to all else that it calls, so that the innermost frame does not tell.
const FIRST: &[(&str, Component)] = &[
    ("/torch/export/", EXPORT),
    ("/torch/_export/", EXPORT),
    ("/torch/onnx/", component("test/onnx", "module: onnx")),
    ("/torch/distributed/", DISTRIBUTED),
];

/// Folders by whose innermost frame a component is known. What all of them use, such as fake
/// tensors, is not among them.
const FOLDERS: &[(&str, Component)] = &[
    ("/torch/_inductor/", INDUCTOR),
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

/// The component that has the bug of a program, by how a run of it ended; none if the program does
/// not use PyTorch.
pub fn of(program: &Program, environment: EnvironmentRank, outcome: &Outcome) -> Option<Component> {
    if !uses_torch(program) {
        return None;
    }
    let frames = outcome
        .exception
        .as_ref()
        .map_or(&outcome.stack, |it| &it.frames);
    let named = |table: &[(&str, Component)], file: &str| {
        table
            .iter()
            .find(|(part, _)| file.contains(part))
            .map(|(_, component)| *component)
    };
    let by_frames = frames
        .iter()
        .find_map(|frame| named(FIRST, &frame.file))
        .or_else(|| {
            frames
                .iter()
                .rev()
                .find_map(|frame| named(FOLDERS, &frame.file))
        });
    // PyTorch's own frames say more than how the program is compiled, but for what every compiled
    // call goes through.
    let by_compiler = match environment.compiler {
        _ if environment.distributed => DISTRIBUTED,
        CompilerRank::Eager => DYNAMO,
        CompilerRank::AotEager => AOT,
        CompilerRank::Decomposed | CompilerRank::Inductor => INDUCTOR,
        CompilerRank::None => NONE,
    };
    Some(by_frames.unwrap_or(by_compiler))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use minrepro_reducers::cost::Cost;

    use super::*;
    use crate::runner::{Captured, End, Exception, TracebackFrame};

    #[track_caller]
    fn check(text: &str, files: &[&str], folder: Option<&str>) {
        let frame = |file: &&str| TracebackFrame {
            file: (*file).to_owned(),
            ..TracebackFrame::default()
        };
        let frames = files.iter().map(frame).collect();
        let outcome = Outcome {
            end: End::Exit(1),
            wall: Duration::ZERO,
            cpu: Duration::ZERO,
            stdout: Captured::default(),
            stderr: Captured::default(),
            exception: Some(Exception {
                frames,
                ..Exception::default()
            }),
            stack: Vec::new(),
            trace: None,
        };
        let program = Program::parse(text).unwrap();
        let found = of(&program, Cost::of(&program).environment, &outcome);
        assert_eq!(found.map(|it| it.folder), folder);
    }

    #[test]
    fn frames_tell_first_and_the_compiler_else() {
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
