//! The reasons why each line of the result stays, and the gains of each pass, in words. Pure.

use std::collections::BTreeMap;

use super::{Report, words};
use crate::{
    engine::{Ablated, Spent},
    oracle::{Difference, Verdict},
    runner::End,
    text::first_line,
};

/// Reasons shown for one line at most.
const REASONS: usize = 3;

/// The outcomes without parts of a line, for each line of the result that has any.
pub(super) fn by_line(report: &Report) -> BTreeMap<u32, Vec<String>> {
    let mut reasons: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for kept in &report.kept {
        let of_line = reasons.entry(kept.line).or_default();
        let reason = format!("{}: {}", kept.note, outcome(&kept.verdict));
        if of_line.len() < REASONS && !of_line.contains(&reason) {
            of_line.push(reason);
        }
    }
    reasons
}

/// The verdict on a candidate, in words.
fn outcome(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Same => "the bug still shows".to_owned(),
        Verdict::Passed => "the bug disappears".to_owned(),
        Verdict::Invalid => "it fails where the bug is absent, too".to_owned(),
        Verdict::Vacuous => "the script would report a failure that depends on nothing".to_owned(),
        Verdict::TimedOut(limit) => {
            format!("it does not end within {:.0} s", *limit as f64 / 1000.0)
        }
        Verdict::Different(it) => different(it),
    }
}

/// The conditions that the bug needs, each with the outcome without it.
pub(super) fn needed(report: &Report) -> Vec<(&str, String)> {
    let of = |ablated: &Ablated| {
        let without = ablated
            .instead
            .as_ref()
            .map_or_else(|| "without it".to_owned(), |value| format!("with {value}"));
        let end = match &ablated.verdict {
            Verdict::Passed => "passes".to_owned(),
            Verdict::Different(difference) if !difference.class.is_empty() => {
                format!(
                    "other error: {}",
                    different(difference).trim_end_matches(" instead")
                )
            }
            verdict => outcome(verdict),
        };
        format!("{without}: {end}")
    };
    report
        .ablation
        .conditions
        .iter()
        .filter(|condition| condition.is_needed())
        .map(|condition| (condition.name.as_str(), of(condition)))
        .collect()
}

/// The conditions that the bug does not need.
pub(super) fn unneeded(report: &Report) -> Vec<String> {
    let of = |ablated: &Ablated| match &ablated.instead {
        Some(instead) => format!("{} (the same with {instead})", ablated.name),
        None => ablated.name.clone(),
    };
    report
        .ablation
        .conditions
        .iter()
        .filter(|condition| !condition.is_needed())
        .map(of)
        .collect()
}

fn different(difference: &Difference) -> String {
    if !difference.class.is_empty() {
        let first = first_line(&difference.message);
        let shown: String = first.chars().take(80).collect();
        let rest = if shown.len() < first.len() { "…" } else { "" };
        let colon = if shown.is_empty() { "" } else { ": " };
        return format!("{}{colon}{shown}{rest} instead", difference.class);
    }
    match difference.end {
        End::Exit(status) => format!("it exits with {status}"),
        End::Signal(signal) => format!("it dies of signal {signal}"),
        End::Timeout => "it does not end".to_owned(),
        End::Limit(_) => "it uses too much".to_owned(),
    }
}

/// The gain and the cost of a pass.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gain {
    /// Tokens that it removed.
    pub(super) tokens: u32,
    /// In how many changes.
    pub(super) changes: usize,
    /// The cost of its runs, without those of earlier sessions.
    pub(super) spent: Spent,
}

/// The gains and costs of all passes, the largest gain first, then the largest cost.
pub(super) fn gains(report: &Report) -> Vec<(&str, Gain)> {
    let mut gains: BTreeMap<&str, Gain> = BTreeMap::new();
    let mut tokens = report.programs.before.tokens;
    for commit in &report.commits {
        let of_pass = gains.entry(&commit.pass).or_default();
        of_pass.tokens += tokens.saturating_sub(commit.tokens);
        of_pass.changes += 1;
        tokens = commit.tokens;
    }
    for (pass, spent) in &report.spent {
        gains.entry(pass).or_default().spent = *spent;
    }
    let mut gains: Vec<_> = gains.into_iter().collect();
    gains.sort_by_key(|(_, gain)| std::cmp::Reverse((gain.tokens, gain.spent.runs)));
    gains
}

/// How many runs judged candidates and how long they took, in words: a session that recalls them
/// all has still made them once.
pub(super) fn runs(report: &Report) -> String {
    let counts = &report.counts;
    let own = format!("{} in {:.1} s", words::runs(counts.runs), counts.seconds);
    match counts.journal_hits {
        0 => own,
        hits => format!(
            "{own}, after {} in {:.1} s of an earlier session",
            words::runs(hits),
            counts.seconds_recalled
        ),
    }
}

/// The confirmation of the result, in words.
pub(super) fn confirmed(report: &Report) -> String {
    match report.reproduction.confirmed {
        it if it.is_certain() => {
            let by = report
                .reproduction
                .stabilizer
                .as_ref()
                .map_or_else(String::new, |stabilizer| {
                    format!(", made reliable by {stabilizer}")
                });
            format!("shown in {} of {} fresh runs{by}", it.same, it.of)
        }
        it if it.of > 0 => format!("NOT certain: shown in {} of {} fresh runs", it.same, it.of),
        _ => format!("not confirmed by fresh runs ({})", report.stop),
    }
}
