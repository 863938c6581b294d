//! A signature defines "the same bug": parts that must all hold for an outcome. Plain data and a
//! pure match. Of the source lines in a traceback, only the one that raised is ever looked at.

use std::{collections::BTreeSet, fmt};

use serde::{Deserialize, Serialize};

use super::{
    artifact::{self, Artifacts, ReductionArtifact},
    fingerprint::Fingerprint,
    forms::{Part, is_status_alone},
    hang_place::HangPlace,
    origin::RaiseOrigin,
    raise_site::RaiseSite,
    verdict::{Difference, Verdict},
};
use crate::runner::{Captured, End, Exception, Outcome, traceback};

/// The sign of a bug. All parts must hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one thing that the script showed"
)]
pub struct Signature {
    /// The parts.
    pub parts: Vec<Part>,
    /// The artifacts that the script as given shows itself. An outcome with others never matches.
    #[serde(default, skip_serializing_if = "Artifacts::is_empty")]
    pub artifacts: Artifacts,
    /// Whether the script as given ends with an exception, or prints one. If it does not, an
    /// outcome that does shows another bug, whatever else it shows.
    #[serde(default)]
    pub raises: bool,
    /// Whether the script as given dies of a signal; likewise.
    #[serde(default)]
    pub dies: bool,
    /// Whether its exception ends the script as given. If so, an exception that ended a thread
    /// alone or was only printed is another bug.
    #[serde(default)]
    pub ends: bool,
    /// The origin of the original script's exception.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<RaiseOrigin>,
    /// The mechanism behind the words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Box<Fingerprint>>,
    /// Where it hangs, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hang_place: Option<Box<HangPlace>>,
    /// Whether the same words count as the bug whatever the mechanism is.
    #[serde(default)]
    pub loose: bool,
}

impl Signature {
    /// A signature of these parts, seen in these outcomes.
    pub(super) fn seen_in(parts: Vec<Part>, outcomes: &[Outcome]) -> Self {
        let exceptions = || {
            outcomes
                .iter()
                .filter_map(|outcome| outcome.exception.as_ref())
        };
        let mut artifacts: Artifacts = exceptions().flat_map(artifact::behind).collect();
        for (part, outcome) in parts
            .iter()
            .flat_map(|part| outcomes.iter().map(move |outcome| (part, outcome)))
        {
            // Other printed lines count only if the part does not hold without them.
            if let Some(printed) = part.printed(outcome)
                && !part.holds(outcome, &artifacts)
            {
                artifacts.extend(printed.lines().flat_map(artifact::named_in));
            }
        }
        if is_status_alone(&parts) {
            artifacts.extend(outcomes.iter().flat_map(named_on_streams));
        }
        let dies = outcomes
            .iter()
            .any(|outcome| matches!(outcome.end, End::Signal(_)));
        let ended = |outcome: &Outcome| {
            outcome.exception.is_some() && matches!(outcome.end, End::Exit(1..))
        };
        Self {
            fingerprint: fingerprint(&parts, &artifacts, outcomes).filter(|_| !dies),
            hang_place: hang_place(&parts, &artifacts, outcomes).map(Box::new),
            parts,
            artifacts,
            raises: exceptions().next().is_some(),
            dies,
            ends: !outcomes.is_empty() && outcomes.iter().all(ended),
            origin: RaiseOrigin::common(exceptions()),
            loose: false,
        }
    }

    /// Whether an outcome shows the bug.
    pub fn matches(&self, outcome: &Outcome) -> bool {
        self.has_words(outcome) && (self.loose || self.mismatch(outcome).is_none())
    }

    /// How the mechanism of a failure with the bug's words differs from the bug's.
    pub fn mismatch(&self, outcome: &Outcome) -> Option<String> {
        let by_traceback = self
            .fingerprint
            .as_ref()
            .and_then(|known| known.mismatch(outcome));
        by_traceback.or_else(|| self.hang_place.as_ref()?.mismatch(outcome))
    }

    /// Takes names that the script defines and texts that it holds out of the words of the
    /// mechanism: these may change as the script does.
    pub fn forget(&mut self, names: &BTreeSet<String>, texts: &[&str]) {
        if let Some(fingerprint) = &mut self.fingerprint {
            fingerprint.forget(names, texts);
        }
    }

    /// Whether an outcome shows the bug, as far as words say.
    fn has_words(&self, outcome: &Outcome) -> bool {
        if matches!(outcome.end, End::Limit(_)) || (outcome.end == End::Timeout && !self.is_hang())
        {
            return false;
        }
        // Whatever was printed before a death by a signal did not cause it.
        let is_new = match outcome.end {
            End::Signal(_) => !self.dies,
            _ => outcome.exception.is_some() && !self.raises,
        };
        if is_new {
            return false;
        }
        if let Some(exception) = &outcome.exception
            && !(artifact::behind(exception).is_subset(&self.artifacts)
                && self.may_come_from(outcome, exception))
        {
            return false;
        }
        // A status does not say why the program failed, so all of its output counts.
        if is_status_alone(&self.parts)
            && matches!(outcome.end, End::Exit(_))
            && !named_on_streams(outcome).is_subset(&self.artifacts)
        {
            return false;
        }
        self.parts
            .iter()
            .all(|part| part.holds(outcome, &self.artifacts))
    }

    /// Whether the origin of an exception, and what it ended, allow it to be the bug's.
    fn may_come_from(&self, outcome: &Outcome, exception: &Exception) -> bool {
        self.is_printed_alone()
            || (!(self.ends && outcome.end == End::Exit(0))
                && self
                    .origin
                    .as_ref()
                    .is_none_or(|origin| origin.allows(exception)))
    }

    /// Texts that the program prints when it shows the bug, in its output or in the messages of its
    /// exceptions.
    pub fn printed_texts(&self) -> Vec<String> {
        self.parts
            .iter()
            .filter_map(|part| part.pattern()?.longest_text())
            .filter(|text| !text.trim().is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// Whether the bug is an exception that the script itself caused, not a library.
    pub fn is_of_script(&self) -> bool {
        let origin = self.origin.as_ref();
        self.ends && origin.is_some_and(|its| matches!(its.site, RaiseSite::Script { .. }))
    }

    /// Whether the bug is that the program hangs.
    pub fn is_hang(&self) -> bool {
        self.parts
            .iter()
            .any(|part| matches!(part, Part::Timeout(_)))
    }

    /// Whether the bug is that a name is bound nowhere.
    pub fn is_name_error(&self) -> bool {
        [ReductionArtifact::Name, ReductionArtifact::UnboundLocal]
            .iter()
            .any(|artifact| self.artifacts.contains(artifact))
    }

    /// Whether the bug shows in the script's output and in nothing else.
    pub fn is_printed_alone(&self) -> bool {
        self.parts.iter().all(|part| part.on_stream().is_some())
    }

    /// Judges an outcome.
    pub fn judge(&self, outcome: &Outcome, timeout_ms: u64) -> Verdict {
        if self.matches(outcome) {
            return Verdict::Same;
        }
        let exception = outcome.exception.as_ref();
        match outcome.end {
            End::Timeout => Verdict::TimedOut(timeout_ms),
            End::Exit(0) if exception.is_none() => Verdict::Passed,
            end => Verdict::Different(Difference {
                end,
                class: exception.map_or_else(String::new, |raised| raised.class.clone()),
                message: exception.map_or_else(String::new, |raised| {
                    raised.message.chars().take(300).collect()
                }),
                line: exception.and_then(|raised| Some(raised.frames.first()?.line)),
                mechanism: self.mismatch(outcome).filter(|_| self.has_words(outcome)),
            }),
        }
    }

    /// The same text for the same signature, for names of journals.
    pub fn identity(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The mechanism of the exceptions that show these parts. Printed text and a death by a signal have
/// no mechanism in a traceback.
fn fingerprint(
    parts: &[Part],
    artifacts: &Artifacts,
    outcomes: &[Outcome],
) -> Option<Box<Fingerprint>> {
    if parts.iter().all(|part| part.on_stream().is_some()) {
        return None;
    }
    let showing = showing(parts, artifacts, outcomes);
    let is_outer = !parts.iter().all(|part| matches!(part, Part::Cause(..)));
    Fingerprint::common(&showing, is_outer).map(Box::new)
}

/// Where the program hangs in the outcomes that show these parts, if it is to hang.
fn hang_place(parts: &[Part], artifacts: &Artifacts, outcomes: &[Outcome]) -> Option<HangPlace> {
    let is_hang = parts.iter().any(|part| matches!(part, Part::Timeout(_)));
    is_hang.then(|| HangPlace::common(&showing(parts, artifacts, outcomes)))?
}

fn showing<'o>(parts: &[Part], artifacts: &Artifacts, outcomes: &'o [Outcome]) -> Vec<&'o Outcome> {
    let shows = |outcome: &&Outcome| parts.iter().all(|part| part.holds(outcome, artifacts));
    outcomes.iter().filter(shows).collect()
}

/// The artifacts that both streams of an outcome name.
fn named_on_streams(outcome: &Outcome) -> Artifacts {
    let named = |stream: &Captured| -> Artifacts {
        traceback::without_frames(&stream.text())
            .lines()
            .flat_map(artifact::named_in)
            .collect()
    };
    &named(&outcome.stdout) | &named(&outcome.stderr)
}

impl fmt::Display for Signature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = self.parts.iter().peekable();
        let mut first = true;
        while let Some(part) = parts.next() {
            if !first {
                formatter.write_str(" and ")?;
            }
            first = false;
            match (part, parts.peek()) {
                (Part::Class(class), Some(Part::Message(pattern))) => {
                    write!(formatter, "{class}: {pattern}")?;
                    parts.next();
                }
                _ => write!(formatter, "{part}")?,
            }
        }
        Ok(())
    }
}
