//! Finds the failure that an issue reports: the exception of the last traceback in its logs or
//! around the repro, a crash, a hang or a wrong result, with the signature that a run must show.
//! Pure.

use minrepro_reducers::syntax::Program;
use serde::{Deserialize, Serialize};

use super::{
    Issue,
    blocks::{self, BlockKind, PostBlock, prose},
    failure::ReportedFailure,
    log::{crash, inline, is_log, named, parse_log, raised},
    markdown::Section,
    repro::Repro,
};
use crate::{scrub::chance::asserts, text::pattern};

/// The reported failure and its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reported {
    /// The failure.
    pub what: ReportedFailure,
    /// The place in the issue that reports it.
    pub source: String,
    /// How certain it is that it is the failure of the repro.
    #[serde(default)]
    pub certainty: Certainty,
}

/// How certain it is that a failure is that of the repro.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// Read from what people write.
    #[default]
    Guessed,
    /// Stands in a title, or there is other code that it may belong to.
    Likely,
    /// In a log beside the repro, or in the repro.
    Certain,
}

impl Certainty {
    /// A word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Guessed => "a guess",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}

pattern!(CRASH_WORD, r"(?i)\bcrash(?:es|ed|ing)?\b|core dumped");
pattern!(
    HANG,
    r"(?i)\bhangs?\b|\bhanging\b|\bdead-?lock\w*|\bfr(?:eezes|oze)\b|\bstuck\b|\bnever (?:returns|ends|finishes|terminates)\b|\binfinite loop\b"
);
pattern!(
    WRONG,
    r"(?i)\b(?:incorrect|wrong|mismatch|silent|inconsist|discrepan|inaccura|diverg|nonsens|garbage|bogus)\w*|\bdiffer(?:s|ent|ence)?\b|\bnot equal\b|\b(?:strange|weird|unexpected)\w* (?:results?|outputs?|values?)\b|n[o']t work (?:correctly|properly|as expected)\b|\bshould (?:(?:most )?(?:likely|probably|instead) )?(?:raise|fail|error|be|print|return)\b|\bexpected\b.{0,80}\b(?:but|actual|got)\b|\bnan\b|\bcorrectness\b"
);
// Text about a program that was changed before it failed.
pattern!(
    CHANGED,
    r"(?i)\b(?:if|when|after|by)\b[^.\n]{0,30}\b(?:add|chang|comment|delet|disabl|remov|replac|set|switch)\w*"
);

/// The failure that an issue reports, preferably one near the repro.
pub fn reported(issue: &Issue, repro: Option<&Repro>) -> Option<Reported> {
    let posts: Vec<Vec<PostBlock>> = issue
        .posts()
        .map(|post| blocks::blocks(&post.body))
        .collect();
    let own: Vec<usize> = issue
        .posts()
        .enumerate()
        .filter(|(_, post)| issue.is_original_poster(post))
        .map(|(at, _)| at)
        .collect();
    let of_repro = repro.map_or(0, |repro| repro.post);
    let name = |at: usize| {
        if at == 0 {
            "the description".to_owned()
        } else {
            format!("comment {at}")
        }
    };
    let found = |what, certainty, source| {
        Some(Reported {
            what,
            source,
            certainty,
        })
    };
    if of_repro > 0
        && let Some((what, certainty)) = near(&posts[of_repro], repro)
    {
        let source = format!("beside the repro in {}", name(of_repro));
        return found(what, certainty, source);
    }
    for &at in &own {
        if let Some(what) = in_logs(&posts[at]) {
            let is_alone = at == of_repro && !has_other_code(&posts[at], repro);
            let certainty = if is_alone {
                Certainty::Certain
            } else {
                Certainty::Likely
            };
            return found(what, certainty, format!("the error logs in {}", name(at)));
        }
    }
    for at in [of_repro].into_iter().chain(own.iter().copied()) {
        let there = repro.filter(|repro| repro.post == at);
        if let Some((what, certainty)) = near(&posts[at], there) {
            return found(what, certainty, format!("the log in {}", name(at)));
        }
    }
    if let Some(what) = repro.and_then(|repro| in_comments(&repro.code)) {
        let source = "a comment in the repro".to_owned();
        return found(what, Certainty::Certain, source);
    }
    if let Some(what) = inline(&issue.title) {
        return found(what, Certainty::Likely, "the title".to_owned());
    }
    if let Some(what) = crash(&issue.title) {
        return found(what, Certainty::Guessed, "the title".to_owned());
    }
    for at in [of_repro].into_iter().chain(own) {
        if let Some(what) = inline(&prose(&posts[at])) {
            return found(
                what,
                Certainty::Guessed,
                format!("the text of {}", name(at)),
            );
        }
    }
    let code = repro.map_or("", |repro| repro.code.as_str());
    let text = prose(&posts[of_repro]);
    if let Some(what) = by_name(&issue.title, &text, code) {
        return found(what, Certainty::Guessed, "the name of its class".to_owned());
    }
    in_words(issue, &posts[of_repro], &text, code)
}

/// The last failure in the section for logs.
fn in_logs(blocks: &[PostBlock]) -> Option<ReportedFailure> {
    let mut logs = blocks
        .iter()
        .rev()
        .filter(|block| block.section == Section::Logs);
    logs.find_map(|block| match &block.kind {
        BlockKind::Log(text) | BlockKind::Other(text) => parse_log(text),
        BlockKind::Prose(text) if is_log(text) => parse_log(text),
        _ => None,
    })
}

/// The first failure after the repro, or else the last one before it.
fn near(blocks: &[PostBlock], repro: Option<&Repro>) -> Option<(ReportedFailure, Certainty)> {
    let at = blocks.iter().rposition(|block| is_of(block, repro));
    let failure = |block: &PostBlock| match &block.kind {
        // An error that is expected was never seen, unless it is shown with its traceback.
        BlockKind::Log(text)
            if block.section == Section::Expected
                && !text.contains("Traceback (most recent call last)") =>
        {
            None
        }
        BlockKind::Log(text) => parse_log(text),
        BlockKind::Prose(text) if is_log(text) => parse_log(text),
        _ => None,
    };
    let last = |blocks: &[PostBlock]| {
        let what = blocks.iter().rev().find_map(failure)?;
        Some((what, Certainty::Likely))
    };
    let Some(at) = at else {
        return last(blocks);
    };
    // A log right after the repro most likely belongs to it.
    for (distance, block) in blocks[at + 1..].iter().enumerate() {
        let Some(what) = failure(block) else { continue };
        let between = &blocks[at + 1..at + 1 + distance];
        let is_next = !between.iter().any(|block| match &block.kind {
            BlockKind::Python(_) => true,
            BlockKind::Prose(text) => CHANGED.is_match(text),
            _ => false,
        });
        let certainty = if is_next {
            Certainty::Certain
        } else {
            Certainty::Likely
        };
        return Some((what, certainty));
    }
    last(&blocks[..at])
}

/// Whether a block is a part of the repro.
fn is_of(block: &PostBlock, repro: Option<&Repro>) -> bool {
    match &block.kind {
        BlockKind::Python(snippet) => {
            repro.is_some_and(|repro| repro.code.contains(snippet.text.trim()))
        }
        _ => false,
    }
}

/// Whether a post has code that is no part of the repro.
fn has_other_code(blocks: &[PostBlock], repro: Option<&Repro>) -> bool {
    blocks.iter().any(|block| {
        matches!(block.kind, BlockKind::Python(_))
            && !matches!(block.section, Section::Logs | Section::Versions)
            && !is_of(block, repro)
    })
}

/// `# RuntimeError: ...` in the repro.
fn in_comments(code: &str) -> Option<ReportedFailure> {
    let comments = code
        .lines()
        .filter_map(|line| line.split_once('#'))
        .map(|(_, comment)| comment.trim());
    comments.rev().find_map(inline)
}

/// An exception of which only the class is named. A graph break is one where the whole graph is
/// asked for.
fn by_name(title: &str, text: &str, code: &str) -> Option<ReportedFailure> {
    if let Some(what) = named(title) {
        return Some(what);
    }
    if title.to_lowercase().contains("graph break") && code.contains("fullgraph=True") {
        return Some(raised("Unsupported"));
    }
    named(text).filter(|_| !WRONG.is_match(title) && !HANG.is_match(title))
}

/// A failure that is only described in words.
fn in_words(issue: &Issue, blocks: &[PostBlock], text: &str, code: &str) -> Option<Reported> {
    for (source, text) in [
        ("the title", issue.title.as_str()),
        ("the text", text),
        ("a comment in the repro", code),
    ] {
        let what = if let Some(what) = crash(text) {
            what
        } else if HANG.is_match(text) && source != "a comment in the repro" {
            ReportedFailure::Hang
        } else if CRASH_WORD.is_match(text)
            && source != "a comment in the repro"
            && issue.has_label("module: crash")
        {
            ReportedFailure::Crash(Vec::new())
        } else if WRONG.is_match(text) {
            ReportedFailure::WrongResult
        } else {
            continue;
        };
        return Some(Reported {
            what,
            source: source.to_owned(),
            certainty: Certainty::Guessed,
        });
    }
    let is_expected = blocks
        .iter()
        .any(|block| block.section == Section::Expected)
        || issue.has_label("module: correctness (silent)");
    let source = if is_expected {
        "the expected behaviour"
    } else if Program::parse(code).is_ok_and(|program| asserts(&program)) {
        "an assertion in the repro"
    } else {
        return None;
    };
    Some(Reported {
        what: ReportedFailure::WrongResult,
        source: source.to_owned(),
        certainty: Certainty::Guessed,
    })
}
