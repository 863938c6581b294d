//! How sure the outcome of a scrub is, for people who look through many plans. Pure. Called by the
//! backlog.

use serde::{Deserialize, Serialize};

use crate::scrub::{ScrubReport, issue::reported::Certainty, steps::ScrubEnd};

/// How sure the outcome of a scrub is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlanConfidence {
    /// Something speaks against it.
    Doubtful,
    /// It rests on something that is likely.
    Likely,
    /// Nothing speaks against it.
    Sure,
}

impl PlanConfidence {
    /// A word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Doubtful => "doubtful",
            Self::Likely => "likely",
            Self::Sure => "sure",
        }
    }
}

/// The confidence, and the reasons for less than the highest.
pub(super) fn confidence(report: &ScrubReport) -> (PlanConfidence, Vec<String>) {
    let found = &report.found;
    let mut doubts: Vec<String> = Vec::new();
    let mut limits: Vec<String> = Vec::new();
    doubts.extend(found.doubts.iter().map(|doubt| doubt.what.clone()));
    if let Some(judgement) = found.judgement.as_ref().filter(|known| !known.is_certain) {
        doubts.push(format!(
            "the kind of the issue is not certain: {}",
            judgement.evidence
        ));
    }
    match report.end {
        ScrubEnd::Inconclusive => {
            doubts.push("a script that passes here proves nothing".to_owned());
        }
        ScrubEnd::DifferentError => {
            doubts.push("it is not certain that this failure is another one".to_owned());
        }
        ScrubEnd::Unrelated => doubts.push("only its words were looked at".to_owned()),
        _ => {}
    }
    if let Some(ran) = &found.ran_with {
        if ran.same > 0 && ran.same < ran.of {
            doubts.push(format!("{} of {} runs show the bug", ran.same, ran.of));
        }
        let named = found.reported.as_ref();
        match named.map(|reported| (reported.certainty, &reported.source)) {
            Some((Certainty::Guessed, source)) => {
                doubts.push(format!("the reported failure is a guess, from {source}"));
            }
            Some((Certainty::Likely, source)) => {
                limits.push(format!("the reported failure is likely, from {source}"));
            }
            Some((Certainty::Certain, _)) => {}
            None => limits.push("the issue names no failure".to_owned()),
        }
        if !found.adaptations.is_empty() {
            limits.push("the script was changed before it was run".to_owned());
        }
    }
    let confidence = if !doubts.is_empty() {
        PlanConfidence::Doubtful
    } else if !limits.is_empty() {
        PlanConfidence::Likely
    } else {
        PlanConfidence::Sure
    };
    doubts.extend(limits);
    doubts.dedup();
    (confidence, doubts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scrub::{
        doubts::{Doubt, DoubtKind},
        issue::actionable::{IssueKind, Judgement},
        steps::{ScrubFindings, Tested},
    };

    fn report(end: ScrubEnd) -> ScrubReport {
        ScrubReport {
            version: 1,
            repo: "o/r".to_owned(),
            number: Some(7),
            end,
            why: String::new(),
            found: ScrubFindings::default(),
            comment: None,
            plan: Vec::new(),
            troubles: Vec::new(),
            seconds: 0.0,
            interrupted: None,
        }
    }

    fn tested(same: usize, of: usize) -> Tested {
        Tested {
            with: "PyTorch 2.9.1".to_owned(),
            python: "3.12".to_owned(),
            device: "CPU".to_owned(),
            same,
            of,
            seen: String::new(),
            settings: Vec::new(),
        }
    }

    #[test]
    fn every_doubt_lowers_the_confidence() {
        let level = |report: &ScrubReport| confidence(report).0;
        let mut it = report(ScrubEnd::ClosedAlready);
        assert_eq!(level(&it), PlanConfidence::Sure);
        it.found.judgement = Some(Judgement {
            kind: IssueKind::Question,
            evidence: "the title ends with ?".to_owned(),
            is_certain: false,
        });
        assert_eq!(level(&it), PlanConfidence::Doubtful);

        let mut it = report(ScrubEnd::Minimized);
        it.found.ran_with = Some(tested(3, 3));
        assert_eq!(level(&it), PlanConfidence::Likely);
        it.found.ran_with = Some(tested(2, 3));
        assert_eq!(level(&it), PlanConfidence::Doubtful);
        it.found.ran_with = Some(tested(0, 7));
        it.found.doubts = vec![Doubt::new(DoubtKind::Device, "no GPU")];
        assert_eq!(
            confidence(&it),
            (
                PlanConfidence::Doubtful,
                vec!["no GPU".to_owned(), "the issue names no failure".to_owned()]
            )
        );
        assert_eq!(
            level(&report(ScrubEnd::Inconclusive)),
            PlanConfidence::Doubtful
        );
    }
}
