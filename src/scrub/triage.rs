//! `minrepro triage NUMBER`: labels for an issue in the distributed or the compiler queue. All
//! labels come from the tables in `reducers/src/torch/facts`, each with the line of the issue that
//! supports it. Plan, agreement and writes are those of a scrub.

use minrepro_reducers::torch::diagnosis::{ComponentLabel, TopicRow, compiler_labels, distributed};
use serde::Serialize;

use super::{
    ExternalTools, Planned,
    issue::{
        Issue,
        evidence::{EvidenceKind, EvidenceLine, IssueText},
    },
    script_runner::ScriptRunner,
    steps::{self, ScrubContext, ScrubSettings},
    write::IssueWrite,
};
use crate::cli::{Exit, Failure, Printer};

/// The labels of the two queues; neither is ever removed.
const DISTRIBUTED: &str = "oncall: distributed";
const COMPILER: &str = "oncall: pt2";
/// Marks an issue as triaged by this procedure.
const TRIAGED: &str = "ptd-bot-triaged";
/// Asks a person.
const REVIEW: &str = "triage review";
const NEEDS_REPRO: &str = "needs reproduction";
/// Evidence of this weight is enough for a label.
const ENOUGH: u32 = 3;
/// Evidence of this weight in one line gives high confidence.
const HIGH: u32 = 4;
/// Occurrences of a word that count as often as they occur, at most.
const MOST_WORDS: u32 = 2;

/// A label to be added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TriagedLabel {
    /// The label.
    pub label: String,
    /// `high`, `medium`, or `low` where a person is asked.
    pub confidence: &'static str,
    /// Why, with the line of the issue that says so.
    pub by: String,
}

/// The decision of a triage.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Triage {
    /// The kind of decision, in words.
    pub decision: String,
    /// Labels to add.
    pub labels: Vec<TriagedLabel>,
    /// Signs of high priority, on which a person decides.
    pub flags: Vec<String>,
    /// The comment, if there is one.
    pub comment: Option<String>,
}

impl Triage {
    fn add(&mut self, label: &str, confidence: &'static str, by: impl Into<String>) {
        if self.labels.iter().all(|known| known.label != label) {
            self.labels.push(TriagedLabel {
                label: label.to_owned(),
                confidence,
                by: by.into(),
            });
        }
    }

    /// The writes: only labels of the tables that the issue does not have.
    pub fn writes(&self, issue: &Issue) -> Vec<IssueWrite> {
        let mut writes = Vec::new();
        if issue.is_locked || issue.is_closed {
            return writes;
        }
        writes.extend(
            self.comment
                .clone()
                .map(|body| IssueWrite::Comment { body }),
        );
        let labels = self.labels.iter().map(|label| label.label.clone());
        let add: Vec<String> = labels
            .filter(|label| is_allowed(label) && !issue.has_label(label))
            .collect();
        if !add.is_empty() {
            writes.push(IssueWrite::Labels {
                add,
                remove: Vec::new(),
            });
        }
        writes
    }
}

/// Whether a label is one of the tables.
fn is_allowed(label: &str) -> bool {
    let table = distributed();
    let rows = table
        .modules
        .iter()
        .chain(&table.groups)
        .map(|row| row.label.as_str());
    let further = table.further.iter().map(String::as_str);
    let compiler = compiler_labels()
        .labels
        .iter()
        .map(|row| row.label.as_str());
    // The queues themselves are another procedure's.
    label != DISTRIBUTED
        && rows
            .chain(further)
            .chain(compiler)
            .any(|known| known == label)
}

/// Decides on the labels of an issue.
pub fn decide(issue: &Issue) -> Triage {
    let text = IssueText::of(issue);
    let mut triage = Triage::default();
    if issue.has_label(COMPILER) {
        compiler(&text, &mut triage);
    }
    if issue.has_label(DISTRIBUTED) {
        second_level(issue, &text, &mut triage);
    }
    if !issue.has_label(COMPILER) && !issue.has_label(DISTRIBUTED) {
        triage.decision = format!("neither {DISTRIBUTED} nor {COMPILER}: nothing to do");
    }
    triage
}

/// The components of the compiler that an issue names. Where stacks, errors or the title name one,
/// code and words that name others say only what else is involved.
fn compiler(text: &IssueText, triage: &mut Triage) {
    let rows = &compiler_labels().labels;
    let rank = |kind: EvidenceKind| match kind {
        EvidenceKind::Frame | EvidenceKind::Error | EvidenceKind::Title => 2,
        EvidenceKind::Code => 1,
        EvidenceKind::Word | EvidenceKind::OuterFrame => 0,
    };
    let mut found: Vec<(&ComponentLabel, EvidenceLine)> = rows
        .iter()
        .filter(|row| row.label != DISTRIBUTED)
        .filter_map(|row| Some((row, text.line_for(row, rows)?)))
        .collect();
    let most = found.iter().map(|(_, line)| rank(line.kind)).max();
    found.retain(|(_, line)| Some(rank(line.kind)) == most);
    let narrowed: Vec<&String> = found
        .iter()
        .filter_map(|(row, _)| row.narrows.as_ref())
        .collect();
    for (row, line) in found
        .iter()
        .filter(|(row, _)| !narrowed.contains(&&row.label))
    {
        let confidence = match line.kind {
            EvidenceKind::Frame => "high",
            EvidenceKind::Word | EvidenceKind::OuterFrame => "low",
            _ => "medium",
        };
        triage.add(
            &row.label,
            confidence,
            format!("{}: {}", row.sign, shown(std::slice::from_ref(line))),
        );
    }
    triage.decision = match triage.labels.len() {
        0 => "no component of the compiler is named".to_owned(),
        1 => "a component of the compiler".to_owned(),
        count => format!("{count} components of the compiler"),
    };
}

/// The second level of the distributed queue.
fn second_level(issue: &Issue, text: &IssueText, triage: &mut Triage) {
    let table = distributed();
    let has_module = table.modules.iter().any(|row| issue.has_label(&row.label));
    let group = table.groups.iter().find(|row| issue.has_label(&row.label));
    if has_module && group.is_some() {
        triage.decision = String::from("classified already");
        return triage.add(TRIAGED, "high", "it has a module and a group");
    }
    let flags: Vec<String> = table
        .priorities
        .iter()
        .filter_map(|row| Some(format!("{}: {}", row.why, text.line_with(&row.sign)?)))
        .collect();
    let weighed = weigh(text);
    let stranger = table
        .strangers
        .iter()
        .find_map(|row| Some((row, text.line_with(&row.sign)?)));
    // Frames, code and titles outweigh one sign; a few words do not.
    let is_named = weighed.iter().any(|(_, lines)| weight(lines) >= ENOUGH);
    if let Some((row, line)) = stranger.filter(|_| !is_named) {
        triage.decision = String::from("not distributed");
        triage.add(REVIEW, "low", format!("{}: {line}", row.why));
        triage.add(TRIAGED, "high", "not distributed");
        triage.comment = Some(table.comment.not_distributed.replace("{why}", &row.why));
        return;
    }
    for row in &table.kinds {
        if let Some(line) = text.line_with(&row.sign) {
            triage.add(&row.label, "medium", line);
        }
    }
    let chosen = group_of(&weighed);
    match (group, &chosen) {
        (Some(_), _) => {}
        (None, Some((row, by))) => triage.add(&row.label, confidence(by), shown(by)),
        (None, None) => {
            triage.decision = String::from("too little evidence for a group");
            triage.add(REVIEW, "low", "no code, no stack, no name of an interface");
            triage.add(TRIAGED, "high", "a person is asked");
            return;
        }
    }
    let owner = group.map(|row| row.name.as_str());
    let owner = owner.or_else(|| chosen.as_ref().map(|(row, _)| row.name.as_str()));
    if owner == Some("parallelisms") {
        modules(&weighed, triage);
    }
    let is_feature = triage.labels.iter().any(|label| label.label == "feature");
    // An error or a stack that tells the module is enough to begin with.
    let is_told = chosen.as_ref().is_some_and(|(_, lines)| {
        let strong = [EvidenceKind::Error, EvidenceKind::Frame];
        lines.iter().any(|line| strong.contains(&line.kind))
    });
    let is_shown = text.has_code() || text.has_failure() || is_told;
    if !is_shown && !is_feature {
        triage.add(NEEDS_REPRO, "medium", "there is neither code nor an error");
        triage.comment = Some(table.comment.needs_reproduction.clone());
    }
    finish(flags, owner, triage);
}

/// Asks a person where the issue may be urgent, and marks it as triaged where not.
fn finish(flags: Vec<String>, owner: Option<&str>, triage: &mut Triage) {
    triage.decision = format!("distributed, {}", owner.unwrap_or_default());
    if flags.is_empty() {
        triage.add(TRIAGED, "high", "triaged");
    } else {
        triage.add(REVIEW, "medium", flags.join("; "));
        triage.flags = flags;
    }
}

/// A topic with the lines that speak for it.
type Weighed = (&'static TopicRow, Vec<EvidenceLine>);

/// The evidence for each module, and for each group by itself.
fn weigh(text: &IssueText) -> Vec<Weighed> {
    let table = distributed();
    let all: Vec<&'static TopicRow> = table.groups.iter().chain(&table.modules).collect();
    let rows = all.iter().map(|row| (*row, text.lines_for(row, &all)));
    rows.filter(|(_, lines)| !lines.is_empty()).collect()
}

/// How much some lines count together.
fn weight(lines: &[EvidenceLine]) -> u32 {
    let is_weak = |line: &&EvidenceLine| line.kind.weight() == 1;
    let weak = lines.iter().filter(is_weak).count() as u32;
    let strongest = lines
        .iter()
        .map(|line| line.kind.weight())
        .max()
        .unwrap_or(0);
    let has_code = lines.iter().any(|line| line.kind == EvidenceKind::Code);
    let strong = if strongest > 1 { strongest } else { 0 };
    // Code beside an error or a title says that the issue is about that code.
    let code = u32::from(has_code && strongest > EvidenceKind::Code.weight()) * 2;
    strong + code + weak.min(MOST_WORDS)
}

/// The group with the most evidence; the order of the table decides between equals.
fn group_of(weighed: &[Weighed]) -> Option<(&'static TopicRow, Vec<EvidenceLine>)> {
    let table = distributed();
    let of_group = |group: &TopicRow| {
        let rows = weighed
            .iter()
            .filter(|(row, _)| row.owner == group.name || row.label == group.label);
        rows.max_by_key(|(_, lines)| weight(lines))
    };
    let mut best: Option<(&'static TopicRow, u32, Vec<EvidenceLine>)> = None;
    for group in &table.groups {
        if let Some((_, lines)) = of_group(group) {
            let found = weight(lines);
            let is_more = best.as_ref().is_none_or(|(_, most, _)| found > *most);
            if is_more && found >= 1 {
                best = Some((group, found, lines.clone()));
            }
        }
    }
    best.map(|(group, _, lines)| (group, lines))
}

/// Adds the modules with enough evidence; without any, the likeliest one is a question.
fn modules(weighed: &[Weighed], triage: &mut Triage) {
    let mut found = false;
    for (row, lines) in weighed
        .iter()
        .filter(|(row, _)| row.label.starts_with("module: "))
    {
        if weight(lines) >= ENOUGH && row.owner == "parallelisms" {
            triage.add(&row.label, confidence(lines), shown(lines));
            found = true;
        }
    }
    if !found {
        triage.add(REVIEW, "low", "no module has enough evidence");
    }
}

fn confidence(lines: &[EvidenceLine]) -> &'static str {
    let strongest = lines
        .iter()
        .map(|line| line.kind.weight())
        .max()
        .unwrap_or(0);
    match (strongest, weight(lines)) {
        (HIGH.., _) => "high",
        (_, ENOUGH..) => "medium",
        _ => "low",
    }
}

/// The strongest line.
fn shown(lines: &[EvidenceLine]) -> String {
    let strongest = lines.iter().max_by_key(|line| line.kind);
    strongest.map_or_else(String::new, |line| {
        let kind = match line.kind {
            EvidenceKind::Word => "text",
            EvidenceKind::Code => "code",
            EvidenceKind::Title => "title",
            EvidenceKind::Frame | EvidenceKind::OuterFrame => "stack",
            EvidenceKind::Error => "error",
        };
        format!("{kind}: {}", line.line)
    })
}

/// The result of a triage.
#[derive(Debug, Serialize)]
pub struct TriageReport {
    /// The version of this form.
    pub version: u32,
    /// The repository.
    pub repo: String,
    /// The issue.
    pub number: u64,
    /// The labels that it has.
    pub has: Vec<String>,
    /// The decision.
    #[serde(flatten)]
    pub triage: Triage,
    /// The writes with their states.
    pub plan: Vec<Planned>,
    /// Problems with the writes.
    pub troubles: Vec<String>,
    /// The signal that asked for the end.
    #[serde(skip)]
    pub interrupted: Option<i32>,
}

impl TriageReport {
    /// The exit status.
    pub fn exit(&self) -> Exit {
        match self.interrupted {
            Some(signal) => Exit::Interrupted(signal),
            None if !self.troubles.is_empty() => Exit::Environment,
            None => Exit::Reduced,
        }
    }
}

/// Triages an issue: reads it, decides, shows the plan and carries it out if the user agrees.
///
/// # Errors
///
/// The issue cannot be read.
pub fn triage(
    settings: &ScrubSettings,
    tools: &ExternalTools,
    runner: &mut dyn ScriptRunner,
    printer: Printer,
) -> Result<TriageReport, Failure> {
    let mut cx = ScrubContext::open(settings, tools, runner, printer)?;
    let issue = steps::fetch::fetch(&mut cx)?.ok_or_else(|| {
        Failure::usage("a script has no labels")
            .hint("name an issue by its number, or saved as `FILE.json`")
    })?;
    let triage = decide(&issue);
    cx.step("2", &triage.decision);
    for label in &triage.labels {
        cx.decided(&format!(
            "{} ({}): {}",
            label.label, label.confidence, label.by
        ));
    }
    cx.step("3", "writing");
    let writes = triage.writes(&issue);
    let (plan, carried) = steps::report::post(&mut cx, &issue, &writes)?;
    Ok(TriageReport {
        version: 1,
        repo: settings.repo.to_string(),
        number: issue.number,
        has: issue.labels.clone(),
        triage,
        plan,
        troubles: carried.troubles,
        interrupted: carried.interrupted,
    })
}
