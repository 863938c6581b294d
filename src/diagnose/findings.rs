//! The program that probes a script, and its findings. The script is sent within the probe, which
//! runs in its place; see `python/`. Called by the diagnosis.

use std::{collections::BTreeMap, fmt::Write, fs, path::Path};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::runner::Outcome;

/// The target of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeKind {
    /// The interpreter and PyTorch; the script is not run.
    Environment,
    /// The failure of the script.
    Failure,
    /// The first node of a graph whose compiled result is wrong.
    Accuracy,
}

/// A place in a source file. Files of the script's folder and of installed packages are named from
/// there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct SourcePlace {
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The function around it.
    pub function: String,
    /// The line's text.
    pub code: String,
    /// Whether it belongs to the script, not to a library.
    pub own: bool,
}

impl SourcePlace {
    /// `file:line`.
    pub fn shown(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
}

/// A node of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct NodeFinding {
    /// Its name in the graph.
    pub name: String,
    /// The operator that it calls.
    pub target: String,
    /// The lines of the script that it comes from, the innermost last.
    pub places: Vec<SourcePlace>,
    /// Where Inductor lowers the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lowering: Option<SourcePlace>,
}

/// What the compiler was working on when it failed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct WorkingOn {
    pub(super) node: Option<NodeFinding>,
    pub(super) origins: Vec<NodeFinding>,
    pub(super) instruction: Option<Instruction>,
    pub(super) variable: Option<String>,
}

/// The bytecode instruction that Dynamo interpreted.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Instruction {
    #[serde(flatten)]
    pub(super) place: SourcePlace,
    pub(super) opcode: String,
    pub(super) argument: String,
}

/// An exception, with the frames that its traceback leaves out.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ProbedException {
    pub(super) class: String,
    pub(super) message: String,
    pub(super) frames: Vec<SourcePlace>,
    pub(super) stack: Vec<SourcePlace>,
    pub(super) working_on: WorkingOn,
}

impl ProbedException {
    pub(super) fn short_class(&self) -> &str {
        self.class.rsplit('.').next().unwrap_or(&self.class)
    }
}

/// A fake kernel of an operator that the failure names.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct FakeKernel {
    #[serde(flatten)]
    pub(super) place: SourcePlace,
    pub(super) operator: String,
}

/// A graph that Inductor was given.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ProbedGraph {
    pub(super) nodes: Vec<NodeFinding>,
}

/// The first node of a graph whose compiled result is wrong.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct Divergence {
    /// Whether it is a graph of the backward pass.
    pub backward: bool,
    /// The node; none if no node of the graph diverges.
    pub first: Option<DivergingNode>,
    /// How the node was found.
    pub by: String,
    /// What counts as the truth.
    pub reference: String,
    /// The number of nodes that were compared.
    pub nodes: usize,
    /// Why the graph could not be measured, if it could not.
    pub failed: Option<String>,
}

/// A node with how far its results are off.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct DivergingNode {
    /// The node.
    #[serde(flatten)]
    pub node: NodeFinding,
    /// How far the compiled result is from the truth, at most.
    pub off: f64,
    /// How far the plain result is.
    pub usual: f64,
    /// The size of the truth.
    pub size: f64,
}

/// All that a probe wrote down.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Findings {
    /// The folder that the script ran in.
    pub(super) folder: String,
    pub(super) exceptions: Vec<ProbedException>,
    pub(super) fake_kernels: Vec<FakeKernel>,
    pub(super) configurations: BTreeMap<String, BTreeMap<String, String>>,
    pub(super) environment: BTreeMap<String, Option<String>>,
    pub(super) graphs: Vec<ProbedGraph>,
    pub(super) accuracy: Vec<Divergence>,
}

impl Findings {
    /// Reads the findings of a probe; nothing if it did not get that far.
    pub(super) fn read(folder: &Path) -> Self {
        let text = fs::read_to_string(folder.join("findings.json")).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// The settings that differ from those of a process that has set none, as
    /// `module.name = value`.
    pub(super) fn changed_settings(&self, fresh: &Self) -> Vec<String> {
        let mut found = Vec::new();
        for (module, settings) in &self.configurations {
            let Some(usual) = fresh.configurations.get(module) else {
                continue;
            };
            let changed = settings.iter().filter(|(name, value)| {
                // This folder is named from that of the run.
                let is_folder = *name == "debug_dir_root";
                !is_folder && usual.get(*name).is_some_and(|usual| usual != *value)
            });
            found.extend(changed.map(|(name, value)| format!("{module}.{name} = {value}")));
        }
        found
    }
}

/// The outcome of a run that died or did not end, with the lines of installed code on its stack.
pub(super) fn with_code(outcome: &Outcome) -> Outcome {
    let mut outcome = outcome.clone();
    for frame in outcome
        .stack
        .iter_mut()
        .filter(|frame| frame.code.is_empty())
    {
        let text = fs::read_to_string(&frame.file).unwrap_or_default();
        let line = text.lines().nth((frame.line as usize).saturating_sub(1));
        line.unwrap_or_default().trim().clone_into(&mut frame.code);
    }
    outcome
}

/// The program that probes a script.
pub(super) fn program(kind: ProbeKind, script: &[u8]) -> Vec<u8> {
    let what = match kind {
        ProbeKind::Environment => "environment",
        ProbeKind::Failure => "failure",
        ProbeKind::Accuracy => "accuracy",
    };
    let code = concat!(
        include_str!("python/probe.py"),
        include_str!("python/accuracy.py")
    );
    sent(code, "_probe", script, &json!({"what": what}))
}

/// A program of ours that takes the place of a script: this function of this code, with the script
/// and options.
pub(super) fn sent(code: &str, function: &str, script: &[u8], options: &Value) -> Vec<u8> {
    // In hexadecimal, so that no quotes, ends of lines or encodings matter.
    let hexadecimal = |bytes: &[u8]| {
        bytes.iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    };
    format!(
        "import json\n\
         _space = {{}}\n\
         exec(compile(bytes.fromhex(\"{}\").decode(), \"<minrepro>\", \"exec\"), _space)\n\
         _space[\"{function}\"](bytes.fromhex(\"{}\"), json.loads(bytes.fromhex(\"{}\")))\n",
        hexadecimal(code.as_bytes()),
        hexadecimal(script),
        hexadecimal(options.to_string().as_bytes()),
    )
    .into_bytes()
}
