//! Rules that decide whether an issue calls for a reproduction, each with its evidence. Pure.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::{
    Issue, YEAR,
    blocks::{self, own_words},
    failure::ReportedFailure,
    hardware::{Machine, hardware},
    markdown::Section,
    reported::Reported,
    repro::Repro,
};
use crate::text::pattern;

/// The kind of an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IssueKind {
    /// A bug to reproduce.
    Bug,
    /// Closed.
    Closed,
    /// Open, but resolved according to its comments.
    Resolved,
    /// Reported by another issue.
    Duplicate,
    /// A feature request.
    Feature,
    /// A refactoring.
    Refactoring,
    /// A question, a discussion or a documentation issue.
    Question,
    /// A list of other issues.
    Tracker,
    /// Needs hardware or a system that this machine lacks.
    Hardware,
    /// Works as its maintainers mean it to.
    Intended,
    /// About speed or memory.
    Performance,
    /// About building or installing, or code in another language.
    Build,
    /// Has nothing to do with the project.
    Unrelated,
}

/// A judgement with its evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// The kind of the issue.
    #[serde(rename = "sort")]
    pub kind: IssueKind,
    /// The evidence: `the title begins with [rfc]`.
    pub evidence: String,
    /// Whether it needs no confirmation by a person.
    pub is_certain: bool,
}

pattern!(TAG, r"^\s*[\[(]([^\])]{2,40})[\])]");
pattern!(
    DUPLICATE,
    r"(?i)\b(?:duplicate|dup|dupe)\s+(?:of|with)\s+(?:#(\d+)|https://github\.com/[\w.-]+/[\w.-]+/issues/(\d+))"
);
pattern!(
    MAYBE_DUPLICATE,
    r"(?i)\b(?:possible|possibly|maybe|might be|could be|perhaps|looks like|seems like)\b[^.\n]{0,30}\bdup|\bdup\w*[^.\n]{0,60}\?"
);
pattern!(
    RESOLVED,
    r"(?i)\b(?:has been|was|is|been|got|already|now|should be)\s+(?:fixed|resolved|solved|addressed)\b|^\s*(?:fixed|resolved|solved)\b|\bfixed (?:by|in|on|with) (?:#\d+|main|master|nightly|https://|the (?:latest )?(?:nightly|main|release)|v?\d+\.\d+)|\b(?:no longer (?:repro\w*|happens|fails)|doesn't repro\w*|does not repro\w*|can(?:'t|not) repro\w*)[^.\n]{0,40}\b(?:main|master|nightly|latest|trunk|\d+\.\d+)|\bclosing (?:this|as|since|the issue)\b"
);
pattern!(
    NOT_RESOLVED,
    r"(?i)\bstill\b|\bnot (?:been |yet |really |actually )?(?:fixed|resolved|solved)|\b(?:until|once|when|if|after) (?:this|it|that)[^.\n]{0,20}\b(?:fixed|resolved|solved)|\?\s*$|\bregress|\breopen|\bcan be (?:fixed|resolved|solved)|\bpartially\b|\bworkaround\b|\bwould be (?:fixed|resolved|solved)"
);
pattern!(
    QUESTION,
    r"(?i)^\s*(?:how (?:to|do|can|does|should)|what (?:is|are|does)|why (?:is|does|do|are)|is (?:it|there)|can (?:i|we|someone)|does (?:pytorch|torch)|question\b|should |(?:is|are|do|does|can|could)\b.*\?\s*$)"
);
pattern!(
    REFACTORING,
    r"(?i)^\s*(?:refactor\w*|clean ?up|cleanup|deprecate|rename|migrate|consolidate|remove (?:dead|unused|legacy))\b"
);
pattern!(
    FEATURE,
    r"(?i)^\s*(?:feature request|rfc\b|proposal\b|support for\b|(?:please )?add (?:support|an? (?:option|api|way))|request(?:ing)?\b|would be nice|enable\b.*\bby default)"
);
pattern!(
    TASK,
    r"(?m)^\s*(?:[-*]|\d+\.) (?:\[[ xX]\] |(?:https://github\.com/\S+/|[\w-]+/[\w-]+)?#\d+)"
);
pattern!(
    INTENDED,
    r"(?i)\b(?:this|that|it) is (?:the |an? )?(?:expected|intended|intentional)\b|\bthis is (?:by design|not a bug)\b|\b(?:by design|works? as intended|working as intended|works? as expected|not a bug)\b"
);
pattern!(
    NOT_INTENDED,
    r"(?i)\b(?:not|n't|isn't|un)\s*(?:the )?(?:expected|intended)|\bunexpected|\?\s*$|\bshould\b"
);
pattern!(
    PERFORMANCE,
    r"(?i)\bslow(?:er|s|ed|ness|down)?\b|\bperformance\b|\bperf\b|\bspeed\b|\blatency\b|\bthroughput\b|\bmemory (?:leak|usage|consumption|growth|footprint|increase)\w*|\bleak(?:s|ing|ed|age)?\b|\b(?:rss|ram|vram) (?:grow|increas|usage)\w*|\bhigh memory\b|\bcompil\w+ time\b|\btakes (?:too |very |so )?long\b"
);
pattern!(
    BUILD,
    r"(?i)\bbuild(?:ing)?\b.{0,30}\b(?:from source|fails?|failed|failure|error|break\w*|broken)\b|\bcompil(?:e|ing) (?:pytorch|torch|libtorch|from source)\b|\bcmake\b|\bpip install\b|\binstall(?:ation|ing)?\b.{0,30}\b(?:fails?|failed|error|problem|broken)\b|\b(?:cannot|can't|unable to|failed to) install\b|\bundefined symbol\b|\blibtorch\b|\bC\+\+ (?:frontend|api|extension)\b|\bwheels?\b.{0,20}\b(?:missing|for|not)\b|\bDLL load failed\b"
);
pattern!(
    TECHNICAL,
    r"(?i)torch|tensor|cuda|gpu|python|pip|conda|error|crash|fail|bug|model|train|install|build|compile|import|version|doc|tutorial|module|function|dtype|memory|autograd|dataset|dataloader|onnx|export|kernel|test|ci\b|feature|support|api|issue|wrong|slow|regress"
);

/// Judges an issue with the repro and the failure that were found in it.
pub fn judge(
    issue: &Issue,
    repro: Option<&Repro>,
    reported: Option<&Reported>,
    machine: Machine,
) -> Judgement {
    let found = closed(issue)
        .or_else(|| duplicate(issue))
        .or_else(|| tracker(issue, repro))
        .or_else(|| not_a_bug(issue, repro, reported))
        .or_else(|| intended(issue))
        .or_else(|| resolved(issue))
        .or_else(|| {
            let (evidence, is_certain) = hardware(issue, repro, reported, machine)?;
            Some(Judgement {
                kind: IssueKind::Hardware,
                evidence,
                is_certain,
            })
        })
        .or_else(|| performance(issue, repro, reported))
        .or_else(|| build(issue, repro))
        .or_else(|| unrelated(issue, repro, reported));
    found.unwrap_or_else(|| certain(IssueKind::Bug, "no rule says otherwise"))
}

fn certain(kind: IssueKind, evidence: impl Into<String>) -> Judgement {
    Judgement {
        kind,
        evidence: evidence.into(),
        is_certain: true,
    }
}

fn doubtful(kind: IssueKind, evidence: impl Into<String>) -> Judgement {
    Judgement {
        kind,
        evidence: evidence.into(),
        is_certain: false,
    }
}

fn closed(issue: &Issue) -> Option<Judgement> {
    if !issue.is_closed {
        return None;
    }
    let reason = issue
        .state_reason
        .as_deref()
        .map(|reason| format!(" as {}", reason.replace('_', " ")))
        .unwrap_or_default();
    Some(certain(IssueKind::Closed, format!("it is closed{reason}")))
}

fn duplicate(issue: &Issue) -> Option<Judgement> {
    if issue.has_label("duplicate") {
        return Some(certain(
            IssueKind::Duplicate,
            "it has the label `duplicate`",
        ));
    }
    issue
        .comments
        .iter()
        .rev()
        .filter(|post| !post.is_bot)
        .find_map(|post| {
            let text = own_words(&post.body);
            let found = DUPLICATE.captures(&text)?;
            let number = found.get(1).or_else(|| found.get(2))?.as_str();
            if number == issue.number.to_string() {
                return None;
            }
            let evidence = format!("{} wrote `{}`", post.author, found[0].trim());
            let is_sure = post.association.is_trusted() || issue.is_original_poster(post);
            let is_doubted = MAYBE_DUPLICATE.is_match(&text);
            Some(if is_sure && !is_doubted {
                certain(IssueKind::Duplicate, evidence)
            } else {
                doubtful(IssueKind::Duplicate, evidence)
            })
        })
}

fn tracker(issue: &Issue, repro: Option<&Repro>) -> Option<Judgement> {
    if issue.has_label("tracker") {
        return Some(certain(IssueKind::Tracker, "it has the label `tracker`"));
    }
    if let Some(tag) = tag(&issue.title)
        && [
            "tracker",
            "tracking",
            "umbrella",
            "meta",
            "roadmap",
            "tracking issue",
            "master issue",
            "master tracker",
        ]
        .contains(&tag.as_str())
    {
        return Some(certain(
            IssueKind::Tracker,
            format!("the title begins with [{tag}]"),
        ));
    }
    let title = issue.title.to_lowercase();
    for words in [
        "tracking issue",
        "tracker for",
        "umbrella issue",
        "master tracker",
        "meta issue",
    ] {
        if title.contains(words) {
            return Some(certain(
                IssueKind::Tracker,
                format!("the title says `{words}`"),
            ));
        }
    }
    let tasks = TASK.find_iter(&issue.post.body).count();
    (tasks >= 4 && repro.is_none()).then(|| {
        certain(
            IssueKind::Tracker,
            format!("the description is a list of {tasks} tasks"),
        )
    })
}

fn not_a_bug(
    issue: &Issue,
    repro: Option<&Repro>,
    reported: Option<&Reported>,
) -> Option<Judgement> {
    let fails =
        reported.is_some_and(|reported| !matches!(reported.what, ReportedFailure::WrongResult));
    for (label, kind) in [
        ("feature", IssueKind::Feature),
        ("enhancement", IssueKind::Feature),
        ("better-engineering", IssueKind::Refactoring),
        ("question", IssueKind::Question),
        ("module: docs", IssueKind::Question),
    ] {
        if issue.has_label(label) && !(label == "module: docs" && fails) {
            return Some(certain(kind, format!("it has the label `{label}`")));
        }
    }
    if let Some(tag) = tag(&issue.title) {
        let kind = match tag.as_str() {
            "rfc" | "feature" | "feature request" | "proposal" | "feature proposal"
            | "enhancement" | "fr" => Some(IssueKind::Feature),
            "be" | "better-engineering" | "better engineering" | "refactor" | "refactoring"
            | "cleanup" | "code clean" => Some(IssueKind::Refactoring),
            "question" | "discussion" | "docs" | "doc" | "documentation" | "help"
            | "help wanted" | "poll" => Some(IssueKind::Question),
            _ => None,
        };
        if let Some(kind) = kind {
            return Some(certain(kind, format!("the title begins with [{tag}]")));
        }
    }
    let sections: Vec<Section> = blocks::blocks(&issue.post.body)
        .iter()
        .map(|block| block.section)
        .collect();
    if sections.contains(&Section::Feature) {
        return Some(certain(IssueKind::Feature, "it uses the form for features"));
    }
    if sections.contains(&Section::Docs) {
        return Some(certain(
            IssueKind::Question,
            "it uses the form for documentation",
        ));
    }
    if issue.title.starts_with("DISABLED ") || issue.title.starts_with("UNSTABLE ") {
        return Some(certain(
            IssueKind::Question,
            "it records a test or job that was disabled",
        ));
    }
    if fails {
        return None;
    }
    for (pattern, kind, what) in [
        (&FEATURE, IssueKind::Feature, "asks for a new feature"),
        (
            &REFACTORING,
            IssueKind::Refactoring,
            "describes work on the code",
        ),
        (&QUESTION, IssueKind::Question, "asks a question"),
    ] {
        if pattern.is_match(&issue.title) {
            let evidence = format!("the title {what}, and no failure is reported");
            return Some(if repro.is_none() && reported.is_none() {
                certain(kind, evidence)
            } else {
                doubtful(kind, evidence)
            });
        }
    }
    None
}

/// Whether a maintainer says that the behaviour is meant, and nobody has objected since.
fn intended(issue: &Issue) -> Option<Judgement> {
    let mut spoke_since = false;
    for post in issue.comments.iter().rev().filter(|post| !post.is_bot) {
        let text = own_words(&post.body);
        if post.association.is_trusted()
            && let Some(found) = INTENDED.find(&text)
            && !NOT_INTENDED.is_match(&text)
        {
            let evidence = format!("{} wrote `{}`", post.author, found.as_str());
            return Some(if spoke_since {
                doubtful(IssueKind::Intended, evidence)
            } else {
                certain(IssueKind::Intended, evidence)
            });
        }
        spoke_since = true;
    }
    None
}

/// Speed and memory, which neither a failure nor a clean run shows.
fn performance(
    issue: &Issue,
    repro: Option<&Repro>,
    reported: Option<&Reported>,
) -> Option<Judgement> {
    let fails = reported.is_some_and(|reported| {
        !matches!(
            reported.what,
            ReportedFailure::WrongResult | ReportedFailure::Hang
        )
    });
    let is_wrong = reported.is_some_and(|reported| {
        reported.what == ReportedFailure::WrongResult && reported.source == "the title"
    });
    if fails || is_wrong {
        return None;
    }
    let labels = [
        "module: performance",
        "module: memory usage",
        "module: compile-time",
        "topic: performance",
    ];
    if let Some(label) = labels.into_iter().find(|label| issue.has_label(label)) {
        let evidence = format!("it has the label `{label}`, and no failure is reported");
        return Some(certain(IssueKind::Performance, evidence));
    }
    // Without any code there is nothing to measure either.
    repro?;
    let words = PERFORMANCE.find(&issue.title)?.as_str();
    let evidence = format!("the title says `{words}`, and no failure is reported");
    Some(certain(IssueKind::Performance, evidence))
}

/// Builds, installations and other languages, for which there is no script to run.
fn build(issue: &Issue, repro: Option<&Repro>) -> Option<Judgement> {
    if repro.is_some() {
        return None;
    }
    let labels = ["module: build", "module: binaries", "module: cpp"];
    if let Some(label) = labels.into_iter().find(|label| issue.has_label(label)) {
        let evidence = format!("it has the label `{label}`, and no Python script");
        return Some(certain(IssueKind::Build, evidence));
    }
    let is_cpp = issue.posts().any(|post| {
        let lower = post.body.to_lowercase();
        ["```cpp", "```c++", "#include <torch"]
            .iter()
            .any(|mark| lower.contains(mark))
    });
    if is_cpp {
        return Some(certain(IssueKind::Build, "its code is C++"));
    }
    let words = BUILD.find(&issue.title)?.as_str();
    let evidence = format!("the title says `{words}`, and there is no Python script");
    Some(certain(IssueKind::Build, evidence))
}

/// Whether an issue says nothing that belongs to the project.
fn unrelated(
    issue: &Issue,
    repro: Option<&Repro>,
    reported: Option<&Reported>,
) -> Option<Judgement> {
    let text = format!("{}\n{}", issue.title, issue.post.body);
    let is_silent = repro.is_none() && reported.is_none() && !TECHNICAL.is_match(&text);
    (is_silent && issue.comments.iter().all(|post| post.is_bot)).then(|| {
        doubtful(
            IssueKind::Unrelated,
            "no word of it is about the project, and it has no code",
        )
    })
}

/// Whether the last relevant comment says that the bug is resolved.
fn resolved(issue: &Issue) -> Option<Judgement> {
    let mut spoke_since = false;
    for post in issue.comments.iter().rev().filter(|post| !post.is_bot) {
        let text = own_words(&post.body);
        if let Some(found) = RESOLVED.find(&text)
            && !NOT_RESOLVED.is_match(&text)
        {
            let quote = text
                .lines()
                .find(|line| line.contains(found.as_str().trim()))
                .unwrap_or_default()
                .trim();
            let quote: String = quote.chars().take(100).collect();
            let evidence = format!("{} wrote `{quote}`", post.author);
            let is_sure =
                (post.association.is_trusted() || issue.is_original_poster(post)) && !spoke_since;
            return Some(if is_sure {
                certain(IssueKind::Resolved, evidence)
            } else {
                doubtful(IssueKind::Resolved, evidence)
            });
        }
        let says_otherwise = NOT_RESOLVED.is_match(&text) || blocks::shows_failure(&post.body);
        if says_otherwise {
            return None;
        }
        spoke_since = true;
    }
    None
}

/// The reason for closing an issue that is not actionable, if it is abandoned: old, unassigned and
/// without recent comments.
pub fn suggests_closing(issue: &Issue, now: SystemTime) -> Option<String> {
    let age = |time: SystemTime| now.duration_since(time).unwrap_or_default();
    let last = issue
        .posts()
        .filter(|post| !post.is_bot)
        .map(|post| post.created)
        .max()
        .unwrap_or(issue.post.created);
    let is_abandoned = age(issue.post.created) > YEAR
        && age(last) > super::HALF_A_YEAR
        && issue.assignees.is_empty()
        && !issue.is_closed;
    let days = age(last).as_secs() / 86_400;
    is_abandoned
        .then(|| format!("older than a year, unassigned, and without comments for {days} days"))
}

/// The tag in brackets at the beginning of a title, in lower case.
fn tag(title: &str) -> Option<String> {
    Some(TAG.captures(title)?[1].trim().to_lowercase())
}
