//! Finds a recent confirmation of the bug with the same error. Pure.

use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::{
    HALF_A_YEAR, Issue, Post,
    blocks::{self, BlockKind, prose},
    failure::ReportedFailure,
    log::parse_log,
    reported::Reported,
};
use crate::text::pattern;

/// A confirmation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirmation {
    /// Its author.
    pub author: String,
    /// Its age in days.
    pub days: u64,
    /// Its words.
    pub quote: String,
}

pattern!(
    CONFIRMS,
    r"(?i)\bstill (?:repro\w*|happen\w*|fails?|crash\w*|occurs?|broken|an issue|present|see(?:ing)?|exists?)\b|\bcan (?:still |also )?(?:repro\w*|confirm)\b|\b(?:confirmed|reproduced|reproducible|reproduces|repros)\b|\bi (?:also )?(?:see|get|have|hit) (?:the )?same\b|\bverdict:? *\**\s*reproduc"
);
pattern!(
    DENIES,
    r"(?i)\b(?:no longer|not|n't|cannot|unable to|never)\s+(?:\w+\s+){0,2}(?:repro|confirm|happen|see)|\b(?:if|whether)\s+(?:\w+\s+){0,3}still\b"
);

/// The latest confirmation of the last six months. An error in it must be the reported one; without
/// an error it must come from someone who may change the repository.
pub fn confirmation(
    issue: &Issue,
    reported: Option<&Reported>,
    now: SystemTime,
) -> Option<Confirmation> {
    issue
        .comments
        .iter()
        .rev()
        .filter(|post| !post.is_bot)
        .find_map(|post| {
            let age = now.duration_since(post.created).unwrap_or_default();
            if age > HALF_A_YEAR {
                return None;
            }
            let blocks = blocks::blocks(&post.body);
            let text = prose(&blocks);
            let found = CONFIRMS.find(&text)?;
            if DENIES.is_match(&text) {
                return None;
            }
            let shown = blocks.iter().rev().find_map(|block| match &block.kind {
                BlockKind::Log(log) => parse_log(log),
                _ => None,
            });
            let fits = match (&shown, reported) {
                (Some(shown), Some(reported)) => is_same(shown, &reported.what),
                (Some(_), None) => false,
                (None, _) => post.association.is_trusted(),
            };
            let quote = text
                .lines()
                .find(|line| line.contains(found.as_str()))
                .unwrap_or_default()
                .trim()
                .chars()
                .take(120)
                .collect();
            fits.then(|| Confirmation {
                author: post.author.clone(),
                days: age.as_secs() / 86_400,
                quote,
            })
        })
}

/// Whether a post says that the bug still shows.
pub fn confirms(post: &Post) -> bool {
    let text = prose(&blocks::blocks(&post.body));
    CONFIRMS.is_match(&text) && !DENIES.is_match(&text)
}

fn is_same(shown: &ReportedFailure, reported: &ReportedFailure) -> bool {
    match (shown, reported) {
        (
            ReportedFailure::Exception { class, message, .. },
            ReportedFailure::Exception {
                class: expected,
                message: text,
                ..
            },
        ) => {
            let short = |class: &str| class.rsplit('.').next().unwrap_or_default().to_owned();
            short(class) == short(expected)
                && (message == text || shown.signature() == reported.signature())
        }
        (ReportedFailure::Crash(_), ReportedFailure::Crash(_)) => true,
        _ => false,
    }
}
