//! How one outcome is judged: by the signature of the bug, or by the exit status of the user's
//! test. Runs nothing.

use std::{collections::BTreeSet, time::Duration};

use minrepro_reducers::{
    analysis::{dependence_check::ReportSite, printed::printed, results::Left},
    syntax::{AnyNodeRef, Program},
};

use crate::{
    oracle::{
        Difference, Part, RaiseSite, Signature, Verdict, WORD, claim, compiled_lines, own_lines,
    },
    runner::{End, Outcome},
};

/// The lines of the script on which a run failed, outermost frame first.
pub(super) fn failed_at(outcome: &Outcome) -> Vec<u32> {
    outcome
        .exception
        .as_ref()
        .map(own_lines)
        .unwrap_or_default()
}

/// Where a run was when it failed or was ended; nothing if nothing is known of that. Who came to the
/// end of the program has left all of it.
pub(super) fn left(outcome: &Outcome) -> Option<Left> {
    let mut lines = failed_at(outcome);
    lines.extend(outcome.exception.iter().flat_map(compiled_lines));
    lines.extend(outcome.own_stack_lines());
    let message = outcome.exception.as_ref().map(|raised| &raised.message);
    let is_known = message.is_some() || !lines.is_empty() || outcome.end == End::Exit(0);
    is_known.then(|| Left {
        lines,
        message: message.cloned().unwrap_or_default(),
    })
}

/// How outcomes are judged: by the signature of the bug, or by the exit status of the user's test.
#[derive(Clone, Debug)]
pub enum Measure {
    /// The signature of the bug.
    Signature(Signature),
    /// The user's own command, which exits with 0 for interesting candidates.
    Test(String),
}

/// The same for a word that only tells statements apart.
const SHORT_WORD: usize = 2;

impl Measure {
    /// Judges an outcome.
    pub fn judge(&self, outcome: &Outcome, timeout: Duration) -> Verdict {
        let timeout = timeout.as_millis() as u64;
        match (self, outcome.end) {
            (Self::Signature(signature), _) => signature.judge(outcome, timeout),
            (Self::Test(_), End::Exit(0)) => Verdict::Same,
            (Self::Test(_), End::Exit(1)) => Verdict::Passed,
            (Self::Test(_), End::Timeout) => Verdict::TimedOut(timeout),
            (Self::Test(_), end) => Verdict::Different(Difference {
                end,
                class: String::new(),
                message: String::new(),
                line: None,
                mechanism: None,
            }),
        }
    }

    /// How the mechanism of a failure with the bug's words differs from the bug's.
    pub fn mismatch(&self, outcome: &Outcome) -> Option<String> {
        match self {
            Self::Signature(signature) => signature.mismatch(outcome),
            Self::Test(_) => None,
        }
    }

    /// The same measure for any mechanism behind the words.
    #[must_use]
    pub fn by_words(&self) -> Self {
        let mut measure = self.clone();
        if let Self::Signature(signature) = &mut measure {
            signature.loose = true;
        }
        measure
    }

    /// Whether a mechanism behind the words is known.
    pub fn has_mechanism(&self) -> bool {
        matches!(self, Self::Signature(signature) if signature.fingerprint.is_some())
    }

    /// Whether the mechanism behind the words does not matter.
    pub(super) fn is_loose(&self) -> bool {
        matches!(self, Self::Signature(signature) if signature.loose)
    }

    /// In words.
    pub fn describe(&self) -> String {
        match self {
            Self::Signature(signature) => signature.to_string(),
            Self::Test(test) => format!("test `{test}`"),
        }
    }

    /// Whether the bug is that the program does not end.
    pub fn is_hang(&self) -> bool {
        matches!(self, Self::Signature(signature) if signature.is_hang())
    }

    /// Whether the bug is that the program dies of a signal.
    pub(super) fn is_death(&self) -> bool {
        matches!(self, Self::Signature(signature) if signature.dies)
    }

    /// Whether candidates that leave names unbound may be interesting all the same.
    pub fn allows_unbound_names(&self) -> bool {
        match self {
            Self::Signature(signature) => signature.is_name_error(),
            Self::Test(_) => true,
        }
    }

    /// The words of a bug that a program prints which an outcome printed, too.
    pub(super) fn words_printed_by(&self, outcome: &Outcome) -> BTreeSet<String> {
        let Self::Signature(signature) = self else {
            return BTreeSet::new();
        };
        let mut words = BTreeSet::new();
        for part in &signature.parts {
            let (pattern, stream) = match part {
                Part::Stdout(pattern) => (pattern, &outcome.stdout),
                Part::Stderr(pattern) => (pattern, &outcome.stderr),
                _ => continue,
            };
            let text = stream.text();
            let its = text.split(|char: char| !char.is_alphanumeric());
            let its: BTreeSet<&str> = its.collect();
            words.extend(
                pattern
                    .words(WORD)
                    .into_iter()
                    .filter(|word| its.contains(word.as_str())),
            );
        }
        words
    }

    /// Whether the bug is nothing but what the program prints.
    pub(super) fn is_printed(&self) -> bool {
        matches!(self, Self::Signature(signature) if signature.is_printed_alone())
    }

    /// The statements that print the bug, if it is nothing else and a run of the program wrote down
    /// what its statements print.
    pub(super) fn printing_site(&self, stderr: &str) -> Option<ReportSite> {
        let Self::Signature(signature) = self else {
            return None;
        };
        let found = printed(stderr).into_iter();
        let starts = found
            .filter(|(_, texts)| prints(signature, &texts.concat()))
            .map(|(start, _)| start);
        let starts: Vec<_> = starts.filter(|_| signature.is_printed_alone()).collect();
        (!starts.is_empty()).then_some(ReportSite::Statements(starts))
    }

    /// Whether a statement that prints the words of the bug prints something else at another time, if
    /// a run of the program wrote down what its statements print.
    pub(super) fn prints_otherwise(&self, stderr: &str) -> bool {
        let Self::Signature(signature) = self else {
            return false;
        };
        printed(stderr).values().any(|texts| {
            let (telling, others): (Vec<&String>, Vec<&String>) =
                texts.iter().partition(|text| prints(signature, text));
            !telling.is_empty() && others.iter().any(|text| !text.trim().is_empty())
        })
    }

    /// Whether a text of a program holds the words of a bug that only shows in what it prints, so
    /// that no value of a run is among them.
    pub(super) fn is_written_in(&self, program: &Program) -> bool {
        let Self::Signature(signature) = self else {
            return false;
        };
        let patterns = signature.parts.iter().filter_map(Part::on_stream);
        let patterns: Vec<_> = patterns.map(|(_, pattern)| pattern).collect();
        let texts = program.tree().nodes.iter();
        texts
            .filter_map(|node| match node.node {
                AnyNodeRef::StringLiteral(literal) => Some(literal.as_str()),
                AnyNodeRef::InterpolatedStringLiteralElement(part) => Some(&*part.value),
                _ => None,
            })
            .any(|text| patterns.iter().any(|pattern| pattern.is_in(text)))
    }

    /// The same measure for programs that somebody wrote by hand: their lines are not the script's.
    #[must_use]
    pub(super) fn wherever(mut self) -> Self {
        if let Self::Signature(signature) = &mut self {
            signature
                .parts
                .retain(|part| !matches!(part, Part::RaisedAt(RaiseSite::Script { .. })));
        }
        self
    }

    /// The same measure for programs that write things down: the lines that do hold statements that
    /// raise.
    #[must_use]
    pub(super) fn while_observed(&self) -> Self {
        let mut measure = self.by_words().wherever();
        if let Self::Signature(signature) = &mut measure {
            signature.origin = None;
        }
        measure
    }

    /// The same measure, whatever the mechanism is and wherever the exception is raised.
    #[must_use]
    pub(super) fn by_class_and_message(&self) -> Self {
        let mut measure = self.by_words();
        if let Self::Signature(signature) = &mut measure {
            signature
                .parts
                .retain(|part| !matches!(part, Part::RaisedAt(_)));
        }
        measure
    }

    /// The same measure for a hang in a loop that a check looks at, wherever in it a run is ended.
    #[must_use]
    pub(super) fn anywhere_in_loop(mut self) -> Self {
        if let Self::Signature(signature) = &mut self {
            signature.hang_place = None;
            signature.parts.retain(|part| !matches!(part, Part::In(_)));
        }
        self
    }

    /// Which statements of the script report the bug, if it is the script that does.
    pub(super) fn report_site(&self, outcome: &Outcome) -> Option<ReportSite> {
        // Nothing reports a hang, whatever is printed before.
        let Self::Signature(signature) = self else {
            return None;
        };
        if signature.is_hang() {
            return None;
        }
        if let Some(exception) = outcome
            .exception
            .as_ref()
            .filter(|_| !signature.is_printed_alone())
        {
            return claim(exception).map(ReportSite::Raised);
        }
        let mut words = BTreeSet::new();
        for part in &signature.parts {
            match part {
                Part::Stdout(pattern) | Part::Stderr(pattern) => {
                    words.extend(pattern.words(SHORT_WORD));
                }
                Part::Exit(_) => {}
                _ => return None,
            }
        }
        match outcome.end {
            _ if !words.is_empty() => Some(ReportSite::Words(words)),
            End::Exit(_) => Some(ReportSite::Exit),
            // A status that stands for a signal is none that the script gave.
            End::Signal(_) | End::Timeout | End::Limit(_) => None,
        }
    }
}
/// Whether a text holds what a signature says of the output.
fn prints(signature: &Signature, text: &str) -> bool {
    let mut patterns = signature.parts.iter().filter_map(Part::on_stream);
    patterns.any(|(_, pattern)| pattern.is_in(text))
}
