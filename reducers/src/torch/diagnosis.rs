//! The tables by which failures of PyTorch are diagnosed: categories, known patterns, and the
//! labels of the compiler's components. The facts are in `facts/`, each in one place, with the date
//! on which they were looked up. Called by the diagnosis and by the triage of issues.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;

use crate::{
    syntax::{AnyNodeRef, Program, Ranged},
    torch::names::Torch,
};

/// The table of categories.
#[derive(Debug, Deserialize)]
pub struct CategoryTable {
    /// The day on which the facts were looked up.
    pub date: String,
    /// The categories; the first that matches comes first.
    #[serde(rename = "category")]
    pub categories: Vec<CategoryRow>,
}

/// A category of failures.
#[derive(Debug, Deserialize)]
pub struct CategoryRow {
    /// Its name on the command line.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// How a failure of it shows.
    pub seen: String,
    /// Classes of exceptions, without their modules.
    #[serde(default)]
    pub classes: Vec<String>,
    /// Regular expressions, one of which matches a message or the log.
    #[serde(default)]
    pub messages: Vec<String>,
    /// Whether a death by a signal belongs to it.
    #[serde(default)]
    pub signals: bool,
    /// The variables to run the program with.
    pub variables: BTreeMap<String, String>,
    /// What to read in that run.
    pub read: String,
}

/// The table of the labels of the compiler's components.
#[derive(Debug, Deserialize)]
pub struct CompilerLabels {
    /// The day on which the facts were looked up.
    pub date: String,
    /// The labels.
    #[serde(rename = "label")]
    pub labels: Vec<ComponentLabel>,
}

/// The label of a component.
#[derive(Debug, Deserialize)]
pub struct ComponentLabel {
    /// The component.
    pub component: String,
    /// The label.
    pub label: String,
    /// The sign that supports it.
    pub sign: String,
    /// Parts of paths in stacks that speak for it.
    #[serde(default)]
    pub frames: Vec<String>,
    /// Parts of paths that the stacks of other components have, too.
    #[serde(default)]
    pub outer: Vec<String>,
    /// Whether a frame speaks for it wherever it is in its stack.
    #[serde(default)]
    pub anywhere: bool,
    /// Whether a frame speaks for it only if it is the innermost of its stack.
    #[serde(default)]
    pub raised: bool,
    /// Regular expressions for lines of errors and texts that speak for it.
    #[serde(default)]
    pub texts: Vec<String>,
    /// Names in code that speak for it: full ones, or their last parts.
    #[serde(default)]
    pub apis: Vec<String>,
    /// The backend of `torch.compile` that uses it and no component behind it.
    #[serde(default)]
    pub backend: Option<String>,
    /// Parts of frames with which a stack does not speak for it.
    #[serde(default)]
    pub not: Vec<String>,
    /// A label that is too wide where this one holds.
    #[serde(default)]
    pub narrows: Option<String>,
}

/// The table of known patterns of bugs.
#[derive(Debug, Deserialize)]
pub struct PatternTable {
    /// The day on which the facts were looked up.
    pub date: String,
    /// The patterns.
    #[serde(rename = "pattern")]
    pub patterns: Vec<PatternRow>,
}

/// A pattern of bugs that come back in other places.
#[derive(Debug, Deserialize)]
pub struct PatternRow {
    /// Its name in reports.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The check that confirms it.
    pub check: String,
    /// Where it was looked up.
    pub source: String,
    /// The evidence, one of which it needs.
    pub evidence: Vec<PatternEvidence>,
}

/// Conditions on one exception, or on a death; all that are given must hold.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PatternEvidence {
    /// Classes of exceptions, without their modules.
    pub classes: Vec<String>,
    /// A regular expression for the message.
    pub message: Option<String>,
    /// A regular expression for the innermost frame, as `FILE FUNCTION: CODE`.
    pub place: Option<String>,
    /// Regular expressions for frames, one after the other, the outermost first.
    pub passes: Vec<String>,
    /// Whether the script must not contain the message.
    pub unknown: bool,
    /// Whether the script must pass without the compiler.
    pub compiled: bool,
    /// Whether the run must not end.
    pub timeout: bool,
    /// The least version of Python.
    pub python: Option<(u8, u8)>,
}

/// The categories of failures.
pub fn categories() -> &'static CategoryTable {
    static TABLE: LazyLock<CategoryTable> =
        LazyLock::new(|| read(include_str!("facts/categories.toml")));
    &TABLE
}

/// The labels of the compiler's components.
pub fn compiler_labels() -> &'static CompilerLabels {
    static TABLE: LazyLock<CompilerLabels> =
        LazyLock::new(|| read(include_str!("facts/compiler_labels.toml")));
    &TABLE
}

/// The known patterns of bugs.
pub fn patterns() -> &'static PatternTable {
    static TABLE: LazyLock<PatternTable> =
        LazyLock::new(|| read(include_str!("facts/patterns.toml")));
    &TABLE
}

/// The table of the second level of triage of distributed issues.
#[derive(Debug, Deserialize)]
pub struct DistributedTable {
    /// The day on which the facts were looked up.
    pub date: String,
    /// Labels that may be added besides those of modules and groups.
    pub further: Vec<String>,
    /// The modules.
    #[serde(rename = "module")]
    pub modules: Vec<TopicRow>,
    /// The groups of owners, in the order in which they win; the last is the default.
    #[serde(rename = "group")]
    pub groups: Vec<TopicRow>,
    /// Signs of an issue that is not distributed.
    #[serde(rename = "stranger")]
    pub strangers: Vec<SignRow>,
    /// Signs of high priority.
    #[serde(rename = "priority")]
    pub priorities: Vec<SignRow>,
    /// Labels for the kind of an issue.
    #[serde(rename = "kind")]
    pub kinds: Vec<SignRow>,
    /// Comments.
    pub comment: TriageComments,
}

/// A module or a group, and the names that identify it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct TopicRow {
    /// The name of a group.
    pub name: String,
    /// The label.
    pub label: String,
    /// The group that a module belongs to.
    pub owner: String,
    /// Names in code: full ones, or their last parts.
    pub apis: Vec<String>,
    /// Words of texts; `*` at the end stands for any ending.
    pub words: Vec<String>,
    /// Parts of paths in stacks.
    pub frames: Vec<String>,
    /// Regular expressions for the lines of errors.
    pub errors: Vec<String>,
    /// Words that make a line say nothing.
    pub not: Vec<String>,
    /// Those of `apis` that a program calls whatever it goes on to do.
    pub setup: Vec<String>,
}

/// A sign in a text.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct SignRow {
    /// The label that it speaks for.
    pub label: String,
    /// A regular expression.
    pub sign: String,
    /// Its meaning.
    pub why: String,
}

/// The comments of triage.
#[derive(Debug, Deserialize)]
pub struct TriageComments {
    /// For an issue that is not distributed; `{why}` stands for the reason.
    pub not_distributed: String,
    /// For an issue without a way to reproduce it.
    pub needs_reproduction: String,
}

/// The second level of triage of distributed issues.
pub fn distributed() -> &'static DistributedTable {
    static TABLE: LazyLock<DistributedTable> =
        LazyLock::new(|| read(include_str!("facts/distributed.toml")));
    &TABLE
}

/// The names of PyTorch that a program mentions, as they are behind imports, each with its line.
pub fn mentions(program: &Program) -> Vec<(String, u32)> {
    let tree = program.tree();
    let Some(torch) = Torch::of(program, tree) else {
        return Vec::new();
    };
    let named = tree.nodes.iter().filter_map(|node| {
        let path = match node.node {
            AnyNodeRef::ExprName(name) => torch.name(name.id.as_str()).map(str::to_owned),
            AnyNodeRef::ExprAttribute(attribute) => torch.attribute(attribute),
            _ => None,
        }?;
        let line = program.line_of(node.node.range().start());
        path.starts_with("torch").then_some((path, line))
    });
    named.collect()
}

/// A table that is part of the program, and so known to be well-formed.
fn read<T: for<'de> Deserialize<'de>>(text: &str) -> T {
    toml::from_str(text).expect("the table is well-formed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_dated_and_name_each_thing_once() {
        let categories = categories();
        assert_eq!(categories.date.len(), "2026-11-24".len());
        let mut ids: Vec<_> = categories.categories.iter().map(|row| &row.id).collect();
        ids.sort();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count);
        let patterns = patterns();
        assert_eq!(patterns.date.len(), "2026-11-24".len());
        let has_all = |row: &PatternRow| {
            let texts = [&row.id, &row.name, &row.check, &row.source];
            texts.iter().all(|text| !text.is_empty()) && !row.evidence.is_empty()
        };
        assert!(patterns.patterns.iter().all(has_all));
        let labels = compiler_labels();
        assert!(labels.labels.iter().all(|row| !row.sign.is_empty()));
        assert!(labels.labels.len() >= 8);
        let table = distributed();
        let owners: Vec<_> = table.groups.iter().map(|row| &row.name).collect();
        assert_eq!(owners, ["checkpointing", "infra", "parallelisms"]);
        assert!(table.modules.iter().all(|row| owners.contains(&&row.owner)));
    }
}
