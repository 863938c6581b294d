//! Classifies a failure by what its runs showed: mode, moment, component, categories, and the line
//! of the script. Each answer comes with its evidence. Pure.

use std::collections::BTreeSet;

use minrepro_reducers::{
    syntax::Program,
    torch::{
        components::{Component, component_of},
        diagnosis::{CategoryRow, categories},
        environment::{CompilerRank, EnvironmentRank},
    },
};
use regex::Regex;
use serde::Serialize;

use super::{
    findings::{Divergence, FakeKernel, Findings, NodeFinding, ProbedException, SourcePlace},
    ladder::{Rung, RungKind, RungOutcome, lowest, of},
    trace::CompilerTrace,
};
use crate::runner::{End, Outcome};

/// An answer and its evidence.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Answer {
    /// The answer.
    pub is: String,
    /// The evidence.
    pub by: String,
    /// Whether the evidence leaves room for another answer.
    pub guess: bool,
}

impl Answer {
    fn fact(is: impl Into<String>, by: impl Into<String>) -> Self {
        Self {
            is: is.into(),
            by: by.into(),
            guess: false,
        }
    }

    fn guess(is: impl Into<String>, by: impl Into<String>) -> Self {
        Self {
            guess: true,
            ..Self::fact(is, by)
        }
    }
}

/// A category that a failure belongs to.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct CategoryFinding {
    /// Its name on the command line.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The evidence that supports it.
    pub by: String,
    /// What to read in its run.
    pub read: String,
}

/// All that is known before anything is decided.
pub(super) struct EvidenceOfRuns<'a> {
    pub(super) program: &'a Program,
    pub(super) rank: EnvironmentRank,
    /// A run that shows the bug.
    pub(super) outcome: &'a Outcome,
    pub(super) findings: &'a Findings,
    pub(super) trace: &'a CompilerTrace,
    pub(super) rungs: &'a [Rung],
    /// The first results that diverge, where that was looked for.
    pub(super) accuracy: &'a [Divergence],
}

impl EvidenceOfRuns<'_> {
    /// The exceptions, outermost first.
    fn exceptions(&self) -> &[ProbedException] {
        &self.findings.exceptions
    }

    /// The frames of the failure, outermost first: of the outermost exception, or of the death.
    pub(super) fn frames(&self) -> Vec<SourcePlace> {
        if let Some(exception) = self.exceptions().first() {
            return exception.frames.clone();
        }
        let of_outcome = |frame: &crate::runner::TracebackFrame| {
            let installed = frame.file.split_once("site-packages/");
            let own = frame.file.rsplit('/').next() == Some(self.script_name());
            SourcePlace {
                file: match installed {
                    Some((_, file)) => file.to_owned(),
                    None if own => self.script_name().to_owned(),
                    None => frame.file.clone(),
                },
                line: frame.line,
                function: frame.function.clone(),
                code: frame.code.clone(),
                own,
            }
        };
        let raised = self
            .outcome
            .exception
            .iter()
            .flat_map(|raised| &raised.frames);
        self.outcome
            .stack
            .iter()
            .chain(raised)
            .map(of_outcome)
            .collect()
    }

    fn script_name(&self) -> &str {
        let frames = self.outcome.stack.iter();
        let files = frames.map(|frame| frame.file.as_str());
        let scratch =
            files.filter(|file| file.contains("/work/") && !file.contains("site-packages"));
        scratch
            .filter_map(|file| file.rsplit('/').next())
            .next_back()
            .unwrap_or_default()
    }

    pub(super) fn passes_without(&self) -> bool {
        of(self.rungs, RungKind::Backend(CompilerRank::None)) == Some(RungOutcome::Passes)
    }

    fn is_export(&self) -> bool {
        self.frames()
            .iter()
            .any(|frame| is_in(frame, &["torch/export/", "torch/_export/"]))
    }

    /// Whether the failure is a difference of numbers or of other things that the script compares.
    pub(super) fn is_accuracy(&self) -> bool {
        let claims = match self.exceptions().first() {
            None => !matches!(self.outcome.end, End::Signal(_) | End::Timeout),
            Some(raised) => {
                let last = raised.frames.last();
                let is_own = last.is_some_and(|frame| frame.own);
                let is_testing = last.is_some_and(|frame| is_in(frame, &["torch/testing/"]));
                raised.short_class() == "AssertionError" && (is_own || is_testing)
            }
        };
        claims && self.passes_without() && lowest(self.rungs).is_some()
    }
}

fn is_in(frame: &SourcePlace, parts: &[&str]) -> bool {
    parts.iter().any(|part| frame.file.contains(part))
}

/// The way through PyTorch that fails.
pub(super) fn mode(cx: &EvidenceOfRuns<'_>) -> Answer {
    let frames = cx.frames();
    let find = |parts: &[&str]| frames.iter().find(|frame| is_in(frame, parts));
    let through = |frame: &SourcePlace| format!("the stack passes {}", frame.shown());
    let text = cx.program.text();
    if text.contains("aoti_compile") || text.contains("aot_compile") {
        let frame = find(&["torch/_inductor/", "torch/export/", "torch/_export/"]);
        if let Some(frame) = frame {
            return Answer::fact("AOTInductor", through(frame));
        }
    }
    if let Some(frame) = find(&["torch/export/", "torch/_export/"]) {
        let strict = frames.iter().find(|frame| {
            frame.function.contains("strict_export") || frame.function == "_export_to_torch_ir"
        });
        let named = match strict {
            Some(frame) if frame.function.contains("non_strict") => "export, non-strict",
            Some(_) => "export, strict",
            None => "export",
        };
        return Answer::fact(named, through(strict.unwrap_or(frame)));
    }
    for (part, name) in [
        ("torch/onnx/", "ONNX export"),
        ("torch/jit/", "TorchScript"),
    ] {
        if let Some(frame) = find(&[part]) {
            return Answer::fact(name, through(frame));
        }
    }
    // A function that switches the compiler off for another is on the stack as well.
    if lowest(cx.rungs) == Some(CompilerRank::None) {
        return Answer::fact("eager", "the bug shows without the compiler");
    }
    if let Some(frame) = find(&[
        "torch/_dynamo/",
        "torch/_inductor/",
        "torch/_functorch/_aot",
    ]) {
        return Answer::fact("torch.compile", through(frame));
    }
    if cx.passes_without() {
        return Answer::fact("torch.compile", "the script passes without the compiler");
    }
    Answer::guess("eager", "nothing of the compiler is on the stack")
}

/// Phases by the files that the stack passes, the innermost first.
const PHASES: [(&[&str], &str); 5] = [
    (
        &["torch/_inductor/compile_fx.py", "torch/_inductor/graph.py"],
        "compile time (Inductor)",
    ),
    (
        &["torch/_functorch/aot_autograd.py", "_aot_autograd/graph_"],
        "trace time (AOTAutograd)",
    ),
    (
        &[
            "torch/_dynamo/symbolic_convert.py",
            "torch/_dynamo/convert_frame.py",
        ],
        "trace time (Dynamo)",
    ),
    (
        &["torch/export/_trace.py", "torch/_export/"],
        "trace time (export)",
    ),
    (
        &["torch/fx/experimental/proxy_tensor.py"],
        "trace time (make_fx)",
    ),
];

/// When it fails: while something is traced or compiled, or when it runs.
pub(super) fn moment(cx: &EvidenceOfRuns<'_>, mode: &str) -> Answer {
    let frames = cx.frames();
    let last = |parts: &[&str]| frames.iter().rev().find(|frame| is_in(frame, parts));
    let (direction, seen) = direction(&frames);
    let of = |phase: &str, by: String| {
        let by = match &seen {
            Some(place) => format!("{by}; {place} runs the {direction}"),
            None => by,
        };
        Answer::fact(format!("{phase}, {direction}"), by)
    };
    // Generated code that runs was loaded by the compiler, which is on the stack then.
    let is_running = last(&[
        "_aot_autograd/runtime_wrappers.py",
        "torch/_inductor/output_code.py",
    ]);
    let is_compiling = last(&[
        "torch/_inductor/compile_fx.py",
        "torch/_dynamo/convert_frame.py",
    ]);
    if is_running.is_none() || is_compiling.is_some() {
        for (parts, phase) in PHASES {
            if let Some(frame) = last(parts) {
                return of(phase, format!("the stack passes {}", frame.shown()));
            }
        }
    }
    // Some errors of Dynamo are raised without frames of its work.
    let raised = cx.exceptions().iter().find(|raised| {
        raised.class.contains("torch._dynamo.exc")
            && raised.short_class() != "BackendCompilerFailed"
    });
    if let Some(raised) = raised {
        let by = format!("Dynamo raises {}", raised.short_class());
        return of("trace time (Dynamo)", by);
    }
    let by = match (is_running, cx.is_accuracy()) {
        (Some(frame), _) => {
            let place = frame.shown();
            format!("the stack passes {place}, which runs compiled code")
        }
        (None, true) => "a result is wrong; nothing is raised by PyTorch".to_owned(),
        (None, false) if mode == "eager" => "nothing is traced or compiled on the stack".to_owned(),
        (None, false) => "nothing on the stack traces or compiles".to_owned(),
    };
    of("run time", by)
}

/// Forward, backward or optimizer, with the place that says so.
fn direction(frames: &[SourcePlace]) -> (&'static str, Option<String>) {
    let last = |parts: &[&str]| frames.iter().rev().find(|frame| is_in(frame, parts));
    let backward = last(&["torch/autograd/graph.py", "torch/_tensor.py"]);
    if let Some(frame) = backward.filter(|frame| frame.function.contains("backward")) {
        return ("backward", Some(frame.shown()));
    }
    match last(&["torch/optim/"]) {
        Some(frame) => ("optimizer", Some(frame.shown())),
        None => ("forward", None),
    }
}

/// A component: its name in the table of labels, and its name for people.
pub(super) type ComponentAnswer = (&'static str, Answer);

/// The component that has the bug.
pub(super) fn component(cx: &EvidenceOfRuns<'_>, mode: &str) -> ComponentAnswer {
    let frames = cx.frames();
    let own_kernel = |kernel: &&FakeKernel| kernel.place.own;
    if let Some(kernel) = cx.findings.fake_kernels.iter().find(own_kernel) {
        let place = kernel.place.shown();
        let operator = &kernel.operator;
        let by = format!("the failure names {operator}; {place} gives its fake kernel");
        let name = format!("the script's own operator {operator}");
        return ("custom operator", Answer::fact(name, by));
    }
    let is_distributed = |frame: &&SourcePlace| is_in(frame, &["torch/distributed/"]);
    if let Some(frame) = frames.iter().find(is_distributed) {
        let by = format!("the stack passes {}", frame.shown());
        return ("distributed", Answer::fact("distributed", by));
    }
    if mode == "AOTInductor" && !cx.is_export() {
        return ("aot inductor", Answer::fact("AOTInductor", "the mode"));
    }
    if mode.starts_with("export") || mode == "AOTInductor" {
        let by = match of(cx.rungs, RungKind::NotExported) {
            Some(RungOutcome::Passes) => {
                "the script passes if it calls functions instead of exporting them"
            }
            Some(RungOutcome::FailsOtherwise) => {
                "if the script calls functions instead of exporting them, it fails in another way"
            }
            _ => "the failure is raised within torch.export",
        };
        return ("export", Answer::fact("torch.export", by));
    }
    let compiled = mode == "torch.compile";
    match lowest(cx.rungs) {
        Some(CompilerRank::None) => in_eager_mode(cx),
        Some(rank) => {
            let (id, name) = match rank {
                CompilerRank::AotEager => ("aot", "AOTAutograd"),
                CompilerRank::Decomposed => ("inductor", "Inductor's decompositions"),
                CompilerRank::Inductor => ("inductor", "Inductor"),
                CompilerRank::Eager | CompilerRank::None => ("dynamo", "Dynamo"),
            };
            let by = format!("shows with {} and with no weaker backend", rank.backend());
            (id, Answer::fact(name, by))
        }
        // No rung names a backend: a function of PyTorch calls the compiler by itself.
        None if compiled && cx.rungs.len() == 1 => by_stack(&frames),
        None if compiled => {
            let by = "it passes with each of PyTorch's backends";
            let name = "the backend that the script gives";
            ("backend", Answer::fact(name, by))
        }
        None => in_eager_mode(cx),
    }
}

/// The part of the compiler that the stack passes last.
fn by_stack(frames: &[SourcePlace]) -> ComponentAnswer {
    let passes = |part: &str| frames.iter().any(|frame| is_in(frame, &[part]));
    let (id, name) = if passes("torch/_inductor/") {
        ("inductor", "Inductor")
    } else if passes("torch/_functorch/") {
        ("aot", "AOTAutograd")
    } else {
        ("dynamo", "Dynamo")
    };
    let by = "the stack; PyTorch calls the compiler by itself";
    (id, Answer::fact(name, by))
}

/// The owner of the innermost folder of PyTorch on the stack.
fn in_eager_mode(cx: &EvidenceOfRuns<'_>) -> ComponentAnswer {
    let name = match owner(cx).map(|named| named.owner) {
        None => "none of PyTorch",
        Some("module: unknown") => "an operator in eager mode",
        Some(owner) => owner,
    };
    let by = "the bug shows without the compiler";
    ("eager", Answer::fact(name, by))
}

/// The owner of a failure by the folders on its stack.
pub(super) fn owner(cx: &EvidenceOfRuns<'_>) -> Option<Component> {
    let frames = cx.frames();
    // The table is of full paths.
    let files: Vec<String> = frames
        .iter()
        .map(|frame| format!("/{}", frame.file))
        .collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    component_of(cx.program, cx.rank, &files)
}

/// The categories that a failure belongs to, the first that matches first.
pub(super) fn categories_of(cx: &EvidenceOfRuns<'_>, component: &str) -> Vec<CategoryFinding> {
    let table = &categories().categories;
    let row = |id: &str| table.iter().find(|row| row.id == id);
    let mut found: Vec<CategoryFinding> = Vec::new();
    let mut add = |row: Option<&CategoryRow>, by: String| {
        if let Some(row) = row
            && found.iter().all(|known| known.id != row.id)
        {
            found.push(CategoryFinding {
                id: row.id.clone(),
                name: row.name.clone(),
                by,
                read: row.read.clone(),
            });
        }
    };
    if let End::Signal(signal) = cx.outcome.end {
        add(
            table.iter().find(|row| row.signals),
            format!("the process dies of signal {signal}"),
        );
    }
    if cx.is_accuracy() {
        add(
            row("accuracy"),
            "the script's check fails with the compiler and holds without it".to_owned(),
        );
    }
    // Without the compiler, the words of a category describe errors that any program could raise.
    let is_compiled = component != "eager" && component != "distributed";
    for row in table.iter().filter(|_| is_compiled) {
        let raised = cx.exceptions().iter().find(|raised| {
            row.classes
                .iter()
                .any(|class| class == raised.short_class())
                || row.messages.iter().any(|regex| {
                    Regex::new(regex).is_ok_and(|regex| regex.is_match(&raised.message))
                })
        });
        if let Some(raised) = raised
            && (row.id != "accuracy" || cx.passes_without())
        {
            add(Some(row), format!("{} is raised", raised.short_class()));
        }
    }
    if !cx.trace.breaks.is_empty() && is_compiled {
        let count = cx.trace.breaks.len();
        add(
            row("graph_break"),
            format!("the log has {count} graph breaks"),
        );
    }
    if found.is_empty() {
        let (id, by) = if is_compiled
            && cx
                .rungs
                .iter()
                .any(|rung| rung.outcome == RungOutcome::Passes)
        {
            (
                "runtime_error",
                "compiled code raises; the script passes on a weaker rung",
            )
        } else {
            ("eager", "the bug shows without the compiler")
        };
        found.extend(row(id).map(|row| CategoryFinding {
            id: row.id.clone(),
            name: row.name.clone(),
            by: by.to_owned(),
            read: row.read.clone(),
        }));
    }
    found
}

/// The innermost line of the script that a node comes from.
fn own_line(node: &NodeFinding) -> Option<u32> {
    node.places.last().map(|place| place.line)
}

/// The line of the script that is responsible, as far as the evidence says.
pub(super) fn guilty(cx: &EvidenceOfRuns<'_>, component: &str) -> Option<(SourcePlace, Answer)> {
    let say =
        |place: &SourcePlace, by: String| Some((place.clone(), Answer::fact(place.shown(), by)));
    let first = cx.accuracy.iter().find_map(|one| one.first.as_ref());
    if let Some(first) = first
        && let Some(place) = first.node.places.last()
    {
        return say(
            place,
            format!(
                "node {} of its graph is the first whose compiled result is wrong",
                first.node.name
            ),
        );
    }
    let frames = cx.frames();
    let own = frames.iter().rev().find(|frame| frame.own);
    // Code that does not compile fails where Python is.
    let is_given = ["backend", "eager", "distributed"].contains(&component);
    if let Some(own) = own.filter(|_| is_given) {
        return say(
            own,
            "the innermost line of the script on the stack".to_owned(),
        );
    }
    if let Some(kernel) = cx
        .findings
        .fake_kernels
        .iter()
        .find(|kernel| kernel.place.own)
    {
        return say(
            &kernel.place,
            format!("it gives the fake kernel of {}", kernel.operator),
        );
    }
    for raised in cx.exceptions() {
        let on = &raised.working_on;
        let mut node = on.node.as_ref().into_iter().chain(&on.origins);
        if let Some((node, place)) = node.find_map(|node| Some((node, node.places.last()?))) {
            let fused: BTreeSet<u32> = on.origins.iter().filter_map(own_line).collect();
            if on.node.is_none() && fused.len() > 1 {
                let count = fused.len();
                let by = format!("one of {count} lines whose nodes were fused into what failed");
                return Some((place.clone(), Answer::guess(place.shown(), by)));
            }
            return say(
                place,
                format!("Inductor was working on node {} of its graph", node.name),
            );
        }
        if let Some(instruction) = on.instruction.as_ref().filter(|found| found.place.own) {
            return say(
                &instruction.place,
                format!("Dynamo was interpreting {} there", instruction.opcode),
            );
        }
    }
    let is_shape = |raised: &ProbedException| raised.short_class() == "ConstraintViolationError";
    if cx.exceptions().iter().any(is_shape)
        && let Some(guard) = cx.trace.guards.first()
    {
        return say(
            &guard.place,
            format!("it asks whether {}", guard.expression),
        );
    }
    say(
        own?,
        "the innermost line of the script on the stack".to_owned(),
    )
}
