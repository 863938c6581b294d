//! Where to look: generated code that failed, places in PyTorch, the folder of a test, labels, and
//! facts that could not be found out. Pure.

use minrepro_reducers::torch::{diagnosis::compiler_labels, messages::is_advice};
use serde::Serialize;

use super::{
    classify::{CategoryFinding, EvidenceOfRuns, owner},
    findings::SourcePlace,
    ladder::{RungKind, RungOutcome, of},
    trace::{GraphBreak, graph_break},
};
use crate::{runner::End, text::pattern};

pattern!(
    GENERATED_PLACE,
    r"(?m)^(\S+\.(?:cpp|cu|h)):(\d+):(\d+): error: (.+)$"
);
pattern!(KERNEL_NAME, r"^(\w+) = async_compile\.");

/// Lines of generated code that are shown on each side of one that failed.
const AROUND: usize = 6;
/// Places in PyTorch that are listed, at most.
const PLACES: usize = 8;

/// Generated code that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct GeneratedCode {
    /// Its kind: a kernel or a line.
    pub what: String,
    /// The lines, the one that failed marked by `>`.
    pub lines: Vec<String>,
    /// The message of the C++ compiler, if it failed.
    pub error: Option<String>,
}

/// A label for an issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct SuggestedLabel {
    /// The label.
    pub label: String,
    /// `high` where the runs show it, `medium` where the stack suggests it.
    pub confidence: &'static str,
    /// The evidence that supports it.
    pub by: String,
}

/// Adds the graph break that was raised as an exception.
pub(super) fn add_raised_break(cx: &EvidenceOfRuns<'_>, breaks: &mut Vec<GraphBreak>) {
    let raised = cx.findings.exceptions.iter().find(|raised| {
        ["Unsupported", "UncapturedHigherOrderOpError"].contains(&raised.short_class())
    });
    if let Some(raised) = raised {
        let mut found = graph_break(&raised.message);
        let instruction = raised.working_on.instruction.as_ref();
        found.place = instruction
            .map(|found| found.place.clone())
            .filter(|place| place.own)
            .or_else(|| raised.frames.iter().rev().find(|frame| frame.own).cloned());
        if breaks.iter().all(|known| known.reason != found.reason) {
            breaks.push(found);
        }
    }
}

/// The most telling line: the first error of the C++ compiler, or the first line of the message.
pub(super) fn key_line(cx: &EvidenceOfRuns<'_>) -> String {
    let messages = || {
        cx.findings
            .exceptions
            .iter()
            .map(|raised| raised.message.as_str())
    };
    if let Some(found) = messages().find_map(|message| GENERATED_PLACE.captures(message)) {
        return format!("error: {}", &found[4]);
    }
    if let Some(raised) = cx.findings.exceptions.first() {
        let line = raised
            .message
            .lines()
            .find(|line| !line.trim().is_empty() && !is_advice(line));
        return format!(
            "{}: {}",
            raised.short_class(),
            line.unwrap_or_default().trim()
        );
    }
    match cx.outcome.end {
        End::Signal(_) | End::Timeout => crate::oracle::summary(cx.outcome),
        _ => {
            let stderr = cx.outcome.stderr.text();
            let stdout = cx.outcome.stdout.text();
            let last = |text: &str| {
                text.lines()
                    .rev()
                    .find(|line| !line.trim().is_empty())
                    .map(str::to_owned)
            };
            last(&stderr).or_else(|| last(&stdout)).unwrap_or_default()
        }
    }
}

/// What the compiler was working on.
pub(super) fn working_on(cx: &EvidenceOfRuns<'_>, component: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut add = |line: String| {
        if !found.contains(&line) {
            found.push(line);
        }
    };
    for raised in &cx.findings.exceptions {
        let on = &raised.working_on;
        if let Some(node) = &on.node {
            add(format!("graph node {} ({})", node.name, node.target));
            if let Some(lowering) = &node.lowering {
                add(format!(
                    "lowering {} at {}",
                    lowering.function,
                    lowering.shown()
                ));
            }
        }
        if on.origins.len() > 1 {
            let names: Vec<&str> = on.origins.iter().map(|node| node.name.as_str()).collect();
            add(format!("fused nodes {}", names.join(", ")));
        }
        // Behind a backend's failure Dynamo has just traced the end of the function.
        if let Some(instruction) = on.instruction.as_ref().filter(|_| component != "inductor") {
            let place = &instruction.place;
            add(format!(
                "bytecode {} {} in {} ({})",
                instruction.opcode,
                instruction.argument,
                place.function,
                place.shown()
            ));
        }
        if let Some(variable) = on.variable.as_ref().filter(|_| component != "inductor") {
            add(format!("Dynamo's {variable}"));
        }
    }
    found
}

/// The generated code that failed: the code that the C++ compiler rejects, or the generated line on
/// the stack.
pub(super) fn generated(cx: &EvidenceOfRuns<'_>) -> Option<GeneratedCode> {
    let frames = cx.frames();
    let modules = &cx.trace.generated;
    let frame = frames.iter().rev().find(|frame| {
        let is_generated = |(file, _): &&(String, String)| {
            file.ends_with(&frame.file) || frame.file.ends_with(file.as_str())
        };
        !frame.file.is_empty() && modules.iter().any(|module| is_generated(&module))
    });
    let rejected = cx.findings.exceptions.iter().find_map(|raised| {
        let found = GENERATED_PLACE.captures(&raised.message)?;
        // The compiler quotes the line below its message, behind the number.
        let behind = &raised.message[found.get(0)?.end()..];
        let quoted = behind
            .lines()
            .find_map(|line| Some(line.split_once(" | ")?.1.trim().to_owned()))?;
        Some((quoted, found[4].to_owned()))
    });
    if let Some((quoted, error)) = rejected {
        let of_module = modules.iter().rev().find_map(|(_, text)| {
            let at = text.lines().position(|line| line.trim() == quoted)?;
            Some((text, at))
        });
        let kernel = frame.and_then(|frame| {
            KERNEL_NAME
                .captures(&frame.code)
                .map(|found| found[1].to_owned())
        });
        let what = kernel.map_or_else(
            || "generated C++".to_owned(),
            |name| format!("kernel {name}"),
        );
        let lines = of_module.map_or_else(
            || vec![format!("> {quoted}")],
            |(text, at)| around(text, at),
        );
        return Some(GeneratedCode {
            what,
            lines,
            error: Some(error),
        });
    }
    let frame = frame?;
    let (_, text) = modules
        .iter()
        .rev()
        .find(|(file, _)| file.ends_with(&frame.file) || frame.file.ends_with(file.as_str()))?;
    let at = text
        .lines()
        .position(|line| !frame.code.is_empty() && line.trim() == frame.code);
    let at = at.or_else(|| (frame.line as usize).checked_sub(1))?;
    Some(GeneratedCode {
        what: format!("the generated line in {}()", frame.function),
        lines: around(text, at),
        error: None,
    })
}

/// The lines around one of a text, counted from 0, which is marked.
fn around(text: &str, at: usize) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let from = at.saturating_sub(AROUND);
    let to = (at + AROUND + 1).min(lines.len());
    let shown = (from..to).map(|line| {
        let mark = if line == at { '>' } else { ' ' };
        format!("{mark} {}", lines[line])
    });
    shown.collect()
}

/// Files that wrap everything and say nothing of a failure.
const WRAPPERS: &[&str] = &[
    "torch/_dynamo/eval_frame.py",
    "torch/_utils_internal.py",
    "torch/_compile.py",
    "torch/nn/modules/module.py",
    "torch/_dynamo/convert_frame.py",
    "torch/_dynamo/bytecode_transformation.py",
    "torch/_dynamo/repro/",
    "torch/utils/_traceback.py",
    "torch/_inductor/codecache.py",
    "torch/_inductor/cpp_builder.py",
    "torch/_inductor/async_compile.py",
    "torch/_inductor/runtime/compile_tasks.py",
    "torch/_functorch/_aot_autograd/schemas.py",
];

/// The places in PyTorch that the failure passes, the innermost first.
pub(super) fn places(cx: &EvidenceOfRuns<'_>) -> Vec<SourcePlace> {
    let mut found: Vec<SourcePlace> = Vec::new();
    for raised in &cx.findings.exceptions {
        let on = raised.working_on.node.as_ref();
        found.extend(on.and_then(|node| node.lowering.clone()));
    }
    let raised = cx.findings.exceptions.iter().rev();
    let frames = raised.flat_map(|raised| raised.frames.iter().rev());
    let of_death = cx.frames().into_iter().rev();
    for frame in frames.cloned().chain(of_death) {
        let is_torch = frame.file.starts_with("torch/");
        let is_wrapper = WRAPPERS
            .iter()
            .any(|wrapper| frame.file.starts_with(wrapper));
        let is_known = found
            .iter()
            .any(|known| known.file == frame.file && known.function == frame.function);
        if is_torch && !is_wrapper && !is_known && found.len() < PLACES {
            found.push(frame);
        }
    }
    found
}

/// The folder in PyTorch's repository where a test of it belongs.
pub(super) fn test_folder(cx: &EvidenceOfRuns<'_>, component: &str) -> Option<String> {
    let folder = match component {
        "dynamo" => "test/dynamo",
        "aot" => "test/functorch",
        "inductor" | "aot inductor" => "test/inductor",
        "export" => "test/export",
        _ => owner(cx)?.folder,
    };
    Some(folder.to_owned())
}

/// Labels from the table, each with its evidence.
pub(super) fn labels(
    cx: &EvidenceOfRuns<'_>,
    component: &str,
    moment: &str,
    categories: &[CategoryFinding],
) -> Vec<SuggestedLabel> {
    let is_of = |id: &str| categories.iter().any(|category| category.id == id);
    let frames = cx.frames();
    let passes = |part: &str| frames.iter().any(|frame| frame.file.contains(part));
    let mut parts = vec![(component, "high")];
    let is_cpu = !cx.rank.accelerator && component == "inductor";
    let is_cpp = cx
        .findings
        .exceptions
        .iter()
        .any(|raised| raised.short_class() == "CppCompileError");
    if is_cpu && (is_cpp || passes("torch/_inductor/codegen/cpp")) {
        parts.push(("cpu codegen", "high"));
    } else if is_cpu && moment.starts_with("run time") {
        parts.push(("cpu codegen", "medium"));
    }
    let fixed = of(cx.rungs, RungKind::Dynamic(false)) == Some(RungOutcome::Passes);
    if is_of("dynamic_shapes") || fixed {
        parts.push(("dynamic shapes", "high"));
    }
    if component != "eager" && passes("torch/_functorch/eager_transforms.py") {
        parts.push(("functorch", "medium"));
    }
    if passes("torch/_higher_order_ops/") {
        parts.push(("higher order operators", "high"));
    }
    let table = &compiler_labels().labels;
    let mut found: Vec<SuggestedLabel> = Vec::new();
    for (part, confidence) in parts {
        found.extend(
            table
                .iter()
                .filter(|row| row.component == part)
                .map(|row| SuggestedLabel {
                    label: row.label.clone(),
                    confidence,
                    by: row.sign.clone(),
                }),
        );
    }
    if found.is_empty() && component == "eager" {
        let named = owner(cx);
        let owner = named
            .map(|named| named.owner)
            .filter(|owner| *owner != "module: unknown");
        found.extend(owner.map(|owner| SuggestedLabel {
            label: owner.to_owned(),
            confidence: "medium",
            by: "the folder of the innermost frame in PyTorch".to_owned(),
        }));
    }
    found
}

/// The facts that could not be found out.
pub(super) fn unknown(cx: &EvidenceOfRuns<'_>) -> Vec<String> {
    let mut found = Vec::new();
    if cx.findings.folder.is_empty() {
        found.push("the probe left nothing: the process ended before it could write".to_owned());
    }
    for one in cx.accuracy {
        let graph = if one.backward { "backward" } else { "forward" };
        if let Some(failed) = &one.failed {
            found.push(format!("a {graph} graph could not be measured: {failed}"));
        } else if one.first.is_none() {
            found.push(format!(
                "none of the {} nodes of a {graph} graph diverges when it is compiled alone",
                one.nodes
            ));
        }
    }
    found
}
