//! Conditions that a bug may depend on, as maintainers ask for them: device, data types, sizes,
//! gradients, settings of the compiler, environment variables, threads, the seed of string hashes.
//! Each condition comes with the change that removes it, which need not make the program simpler: a
//! run shows whether the bug needs the condition. Pure; called by the engine's ablation.

mod compiler;
mod environment;
mod tensors;

pub use environment::minds_hashes;

use serde::{Deserialize, Serialize};

use crate::{
    analysis::statements::Statements,
    rewrite::edit::EditSet,
    syntax::{AnyNodeRef, Program, Ranged, TextRange, Tree},
    torch::names::Torch,
};

/// The kind of a condition, in the order in which conditions are tried and reported.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum ConditionKind {
    /// The program is compiled at all.
    Compiler,
    /// A setting of the compiler, or of PyTorch as a whole.
    Setting,
    /// Something makes sizes symbolic.
    DynamicShapes,
    /// The device.
    Device,
    /// A data type.
    DataType,
    /// A tensor requires gradients.
    Gradient,
    /// The size of a dimension.
    Size,
    /// The presence of a dimension.
    Dimension,
    /// An environment variable.
    Variable,
    /// The number of threads.
    Threads,
    /// The seed of string hashes.
    HashSeed,
}

/// The change that removes a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionChange {
    /// Edits of the program.
    Edits(EditSet),
    /// A run with these environment variables, each set or unset.
    Variables(Vec<(String, Option<String>)>),
}

/// Something that a bug may depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Its kind.
    pub kind: ConditionKind,
    /// Its name for people: `dynamic=True`, `x.requires_grad`.
    pub name: String,
    /// Its replacement; none where it is only removed.
    pub instead: Option<String>,
    /// The first line on which it stands, counted from 1; none where it is not part of the program.
    pub line: Option<u32>,
    /// The change that removes it.
    pub change: ConditionChange,
}

/// All conditions of a program that is run with the environment variables `set`. A condition that
/// is written in the same way in several places counts once.
pub fn conditions(program: &Program, set: &[(String, String)]) -> Vec<Condition> {
    let tree = program.tree();
    let mut cx = ConditionFinder {
        program,
        statements: Statements::of(program),
        conditions: Vec::new(),
    };
    if let Some(torch) = Torch::of(program, tree) {
        compiler::find(&mut cx, &torch, tree);
        tensors::find(&mut cx, &torch, tree);
    }
    environment::find(&mut cx, tree, set);
    let makes_program = |condition: &Condition| match &condition.change {
        ConditionChange::Edits(edits) => {
            let text = edits.apply(program).ok();
            text.is_some_and(|text| text != program.text() && program.sibling(text).is_ok())
        }
        ConditionChange::Variables(_) => true,
    };
    cx.conditions.retain(makes_program);
    cx.conditions
}

/// Collects the conditions of a program.
struct ConditionFinder<'a> {
    program: &'a Program,
    statements: Statements<'a>,
    conditions: Vec<Condition>,
}

impl ConditionFinder<'_> {
    /// Adds a condition, or one more place of it.
    fn add(
        &mut self,
        kind: ConditionKind,
        name: &str,
        instead: Option<&str>,
        at: TextRange,
        edits: &EditSet,
    ) {
        let name = shown(name);
        let known = self.conditions.iter_mut().find(|known| {
            known.kind == kind && known.name == name && known.instead.as_deref() == instead
        });
        if let Some(Condition {
            change: ConditionChange::Edits(known),
            ..
        }) = known
        {
            known.extend(edits);
            return;
        }
        self.conditions.push(Condition {
            kind,
            name,
            instead: instead.map(str::to_owned),
            line: Some(self.program.line_of(at.start())),
            change: ConditionChange::Edits(edits.clone()),
        });
    }

    /// The removal of a statement.
    fn without(&self, statement: TextRange) -> Option<EditSet> {
        self.statements.place(statement).map(EditSet::removal)
    }
}

/// The statement around a node, if that is an expression whose value is not used.
fn standing_alone(tree: &Tree<'_>, node: u32) -> Option<TextRange> {
    match tree.ancestors(node).next()? {
        AnyNodeRef::StmtExpr(statement) => Some(statement.range()),
        _ => None,
    }
}

/// A piece of a program on one short line.
fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    line.chars().take(LONGEST - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each condition with the program without it.
    fn found(text: &str) -> Vec<(String, String)> {
        let program = Program::parse(text).unwrap();
        let of = |condition: Condition| {
            let name = &condition.name;
            let name = match &condition.instead {
                Some(instead) => format!("{name} -> {instead}"),
                None => name.clone(),
            };
            match condition.change {
                ConditionChange::Edits(edits) => (name, edits.apply(&program).unwrap()),
                ConditionChange::Variables(set) => (name, format!("{set:?}")),
            }
        };
        conditions(&program, &[]).into_iter().map(of).collect()
    }

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let head = "import torch\n";
        let found = found(&format!("{head}{text}\n"));
        for (name, after) in expected {
            let after = format!("{head}{after}\n");
            assert!(
                found
                    .iter()
                    .any(|(its, text)| its == name && *text == after),
                "{name}\n{found:#?}"
            );
        }
    }

    #[test]
    fn settings_of_the_compiler() {
        check(
            "f = torch.compile(g, fullgraph=True, options={'a': 1, 'b': 2})",
            &[
                ("torch.compile", "f = g"),
                (
                    "fullgraph=True",
                    "f = torch.compile(g, options={'a': 1, 'b': 2})",
                ),
                (
                    "options={'a': 1, 'b': 2}",
                    "f = torch.compile(g, fullgraph=True)",
                ),
                (
                    "options['a']",
                    "f = torch.compile(g, fullgraph=True, options={'b': 2})",
                ),
            ],
        );
        check(
            "@torch.compile(dynamic=True)\ndef f(): pass\ntorch._dynamo.mark_dynamic(x, 0)\ntorch._dynamo.config.x = 1",
            &[
                (
                    "dynamic=True",
                    "@torch.compile()\ndef f(): pass\ntorch._dynamo.mark_dynamic(x, 0)\ntorch._dynamo.config.x = 1",
                ),
                (
                    "torch._dynamo.mark_dynamic(x, 0)",
                    "@torch.compile(dynamic=True)\ndef f(): pass\ntorch._dynamo.config.x = 1",
                ),
                (
                    "torch._dynamo.config.x = 1",
                    "@torch.compile(dynamic=True)\ndef f(): pass\ntorch._dynamo.mark_dynamic(x, 0)",
                ),
            ],
        );
    }

    #[test]
    fn tensors() {
        check(
            "x = torch.ones(2, 3, dtype=torch.float64, device='cuda', requires_grad=True)",
            &[
                (
                    "x.requires_grad",
                    "x = torch.ones(2, 3, dtype=torch.float64, device='cuda')",
                ),
                (
                    "torch.float64 -> torch.float32",
                    "x = torch.ones(2, 3, dtype=torch.float32, device='cuda', requires_grad=True)",
                ),
                (
                    "an accelerator -> the CPU",
                    "x = torch.ones(2, 3, dtype=torch.float64, device='cpu', requires_grad=True)",
                ),
                (
                    "size 3 -> 4",
                    "x = torch.ones(2, 4, dtype=torch.float64, device='cuda', requires_grad=True)",
                ),
                (
                    "dimension 0 of torch.ones(2, 3)",
                    "x = torch.ones(3, dtype=torch.float64, device='cuda', requires_grad=True)",
                ),
            ],
        );
        check(
            "y = torch.full((1,), 7, dtype=torch.int64)\nz = torch.rand([1, 2]).requires_grad_()\nw.requires_grad = True",
            &[
                (
                    "dtype=torch.int64",
                    "y = torch.full((1,), 7)\nz = torch.rand([1, 2]).requires_grad_()\nw.requires_grad = True",
                ),
                (
                    "size 1 -> 2",
                    "y = torch.full((2,), 7, dtype=torch.int64)\nz = torch.rand([2, 2]).requires_grad_()\nw.requires_grad = True",
                ),
                (
                    "dimension 0 of (1,)",
                    "y = torch.full((), 7, dtype=torch.int64)\nz = torch.rand([1, 2]).requires_grad_()\nw.requires_grad = True",
                ),
                (
                    "z.requires_grad",
                    "y = torch.full((1,), 7, dtype=torch.int64)\nz = torch.rand([1, 2])\nw.requires_grad = True",
                ),
                (
                    "w.requires_grad",
                    "y = torch.full((1,), 7, dtype=torch.int64)\nz = torch.rand([1, 2]).requires_grad_()",
                ),
            ],
        );
    }

    #[test]
    fn the_environment() {
        let of = |text: &str, set: &[(&str, &str)]| {
            let set: Vec<_> = set
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect();
            let found = conditions(&Program::parse(text).unwrap(), &set);
            found
                .into_iter()
                .map(|condition| condition.name)
                .collect::<Vec<_>>()
        };
        assert_eq!(of("f(1)\n", &[]), Vec::<String>::new());
        assert_eq!(
            of("f({1, 2})\n", &[("A", "1")]),
            ["A=1", "PYTHONHASHSEED=0"]
        );
        assert_eq!(
            of("import numpy\n", &[("PYTHONHASHSEED", "3")]),
            ["PYTHONHASHSEED=3", "one thread"]
        );
        assert_eq!(
            of("import os\nos.environ['A'] = '1'\n", &[]),
            ["os.environ['A'] = '1'"]
        );
    }

    #[test]
    fn names_of_other_libraries_are_no_conditions() {
        assert_eq!(
            found("x = ones(2, dtype=float64, requires_grad=True)\n"),
            []
        );
    }
}
