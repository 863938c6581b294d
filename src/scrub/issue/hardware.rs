//! Decides whether an issue needs hardware or a system that this machine lacks. Pure. One of the
//! rules by which issues are judged.

use minrepro_reducers::syntax::{AnyNodeRef, Program};
use serde::{Deserialize, Serialize};

use super::{Issue, reported::Reported, repro::Repro};
use crate::text::pattern;

/// The hardware of a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// GPUs that PyTorch can use through CUDA.
    pub gpus: u32,
}

/// The hardware or system that the machine lacks, unless the script does not need it: the evidence,
/// and whether it is certain.
pub(super) fn hardware(
    issue: &Issue,
    repro: Option<&Repro>,
    reported: Option<&Reported>,
    machine: Machine,
) -> Option<(String, bool)> {
    for (label, what) in [
        ("module: mps", "an Apple GPU"),
        ("module: rocm", "an AMD GPU"),
        ("module: xpu", "an Intel GPU"),
        ("module: xla", "a TPU"),
        ("module: windows", "Windows"),
        ("module: macos", "macOS"),
        ("module: ios", "iOS"),
        ("module: android", "Android"),
    ] {
        if issue.has_label(label) {
            let evidence = format!("it has the label `{label}`, which requires {what}");
            let names_it = repro.is_none_or(|repro| match label {
                "module: mps" => repro.code.contains("mps"),
                "module: xpu" => repro.code.contains("xpu"),
                _ => true,
            });
            return Some((evidence, names_it));
        }
    }
    let code = repro.map_or("", |repro| repro.code.as_str());
    for (device, what) in [
        ("mps", "an Apple GPU"),
        ("xpu", "an Intel GPU"),
        ("hpu", "a Gaudi accelerator"),
        ("npu", "an NPU"),
    ] {
        if names_device(code, device) {
            return Some((
                format!("the script uses the device `{device}`, which requires {what}"),
                true,
            ));
        }
    }
    let cards = cards_needed(code);
    if cards > machine.gpus && cards > 1 {
        return Some((
            format!(
                "the script uses {cards} CUDA devices; this machine has {}",
                machine.gpus
            ),
            true,
        ));
    }
    if machine.gpus > 0 || cards == 0 {
        return None;
    }
    bound_to_cuda(issue, code, reported).map(|evidence| (evidence, true))
}

/// The reason why a CUDA script cannot run on a CPU instead, if there is one.
fn bound_to_cuda(issue: &Issue, code: &str, reported: Option<&Reported>) -> Option<String> {
    for (part, what) in [
        ("import triton", "its own Triton kernels"),
        ("cuda.Stream", "CUDA streams"),
        ("cuda.graph", "CUDA graphs"),
        ("CUDAGraph", "CUDA graphs"),
        ("reduce-overhead", "CUDA graphs"),
        ("\"nccl\"", "NCCL"),
        ("'nccl'", "NCCL"),
        ("cudnn", "cuDNN"),
        ("_scaled_mm", "a CUDA-only kernel"),
        ("cuda.memory", "the CUDA allocator"),
        ("memory_allocated", "the CUDA allocator"),
    ] {
        if code.contains(part) {
            return Some(format!(
                "the script is about {what}, and this machine has no CUDA device"
            ));
        }
    }
    let headline = reported
        .map(|reported| reported.what.describe())
        .unwrap_or_default();
    for part in [
        "CUDA error",
        "CUDA out of memory",
        "AcceleratorError",
        "CUBLAS",
        "CUDNN",
        "cuDNN",
        "triton",
        "Triton",
        "NCCL",
        "OutOfResources",
        "PassManager",
    ] {
        if headline.contains(part) {
            return Some(format!(
                "the reported error mentions `{part}`, and this machine has no CUDA device"
            ));
        }
    }
    for label in [
        "module: cuda",
        "module: cuda graphs",
        "module: cudnn",
        "module: nccl",
        "module: user triton",
        "module: cublas",
    ] {
        if issue.has_label(label) && label != "module: cuda" {
            return Some(format!(
                "it has the label `{label}`, and this machine has no CUDA device"
            ));
        }
    }
    None
}

/// Whether a text literal of a script names a device.
fn names_device(code: &str, device: &str) -> bool {
    let Ok(program) = Program::parse(code) else {
        return code.contains(&format!("'{device}'")) || code.contains(&format!("\"{device}\""));
    };
    program.tree().nodes.iter().any(|node| match node.node {
        AnyNodeRef::StringLiteral(text) => text.value.split(':').next() == Some(device),
        _ => false,
    })
}

/// The least number of CUDA devices that a script uses.
fn cards_needed(code: &str) -> u32 {
    pattern!(
        INDEXED,
        r#"['"]cuda:(\d+)['"]|\.cuda\((\d+)\)|\bset_device\((\d+)\)"#
    );
    pattern!(ANY, r#"['"]cuda['"]|\.cuda\(|torch\.cuda\.|cuda:"#);
    let code: String = code
        .lines()
        .map(|line| format!("{}\n", line.split('#').next().unwrap_or_default()))
        .collect();
    let indexed = INDEXED
        .captures_iter(&code)
        .filter_map(|found| {
            found
                .iter()
                .skip(1)
                .flatten()
                .next()?
                .as_str()
                .parse::<u32>()
                .ok()
        })
        .max();
    // A script that checks for CUDA can do without it.
    let asks = code.contains("cuda.is_available()")
        && (code.contains("\"cpu\"") || code.contains("'cpu'"));
    match indexed {
        Some(index) => index + 1,
        None if asks => 0,
        None => u32::from(ANY.is_match(&code)),
    }
}
