//! What "the same bug" means: parts that must all hold of an outcome. Plain data and a pure match;
//! no part ever looks at the source lines inside a traceback, but for the one that raised.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    artifact::{self, Artifacts, ReductionArtifact},
    crash_site::CrashSite,
    origin::RaiseOrigin,
    pattern::Pattern,
    raise_site::RaiseSite,
    signals,
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
    /// What the script as given shows of the failures that programs get by artifact when parts of
    /// them go. An outcome with others never matches.
    #[serde(default, skip_serializing_if = "Artifacts::is_empty")]
    pub artifacts: Artifacts,
    /// Whether the script as given ends with an exception, or prints one. Where it does not, an
    /// outcome that does shows another bug, whatever else it shows.
    #[serde(default)]
    pub raises: bool,
    /// Whether the script as given dies of a signal; likewise.
    #[serde(default)]
    pub dies: bool,
    /// Whether its exception ends the script as given. Then one that ended a thread alone, or was
    /// only shown, is another.
    #[serde(default)]
    pub ends: bool,
    /// What raised the exception of the script as given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<RaiseOrigin>,
    /// Whether an exception from elsewhere in a library never is the same.
    #[serde(default)]
    pub strict: bool,
}

/// One part of a signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The class of the exception: its last dotted parts.
    Class(String),
    /// In the exception's message.
    Message(Pattern),
    /// In the exception's class and message, `Class: message`.
    Headline(Pattern),
    /// Where the exception was raised, for messages that do not tell bugs from each other.
    RaisedAt(RaiseSite),
    /// The class, and what is in the message, of the exception, or of one that it was raised from
    /// or, as a group, holds.
    Cause(String, Option<Pattern>),
    /// The exit status as a shell shows it, one of these.
    Exit(Vec<i32>),
    /// Death by one of these signals: the program's own, or a child's that its status tells of.
    Signal(Vec<i32>),
    /// The program does not end.
    Timeout(HangKind),
    /// Where the program was when it died of a signal or was ended.
    In(CrashSite),
    /// On standard output.
    Stdout(Pattern),
    /// On standard error.
    Stderr(Pattern),
}

/// What a program does that does not end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HangKind {
    /// It computes.
    Busy,
    /// It waits for something that does not come.
    Waiting,
}

impl HangKind {
    /// What an outcome's processor time says.
    pub(super) fn of(outcome: &Outcome) -> Self {
        // Many runs may share a core.
        if outcome.cpu * 5 > outcome.wall {
            Self::Busy
        } else {
            Self::Waiting
        }
    }

    /// As the user types it.
    pub(super) fn argument(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Waiting => "waiting",
        }
    }
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
            .flat_map(|part| outcomes.iter().map(move |it| (part, it)))
        {
            // What is printed beside the sign counts only where the sign is not seen without it.
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
        let ended = |it: &Outcome| it.exception.is_some() && matches!(it.end, End::Exit(1..));
        Self {
            parts,
            artifacts,
            raises: exceptions().next().is_some(),
            dies,
            ends: !outcomes.is_empty() && outcomes.iter().all(ended),
            origin: RaiseOrigin::common(exceptions()),
            strict: false,
        }
    }

    /// Whether an outcome shows the bug.
    pub fn matches(&self, outcome: &Outcome) -> bool {
        if matches!(outcome.end, End::Limit(_)) || (outcome.end == End::Timeout && !self.is_hang())
        {
            return false;
        }
        // A death by a signal is no matter of what was printed before.
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
        // A status says nothing of why, so all that is printed does.
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

    /// Whether an exception may be the bug's by what raised it, and by what it ended.
    fn may_come_from(&self, outcome: &Outcome, exception: &Exception) -> bool {
        let is_elsewhere = || self.strict && self.elsewhere(outcome).is_some();
        self.is_printed_alone()
            || (!(self.ends && outcome.end == End::Exit(0))
                && self.origin.as_ref().is_none_or(|it| it.allows(exception))
                && !is_elsewhere())
    }

    /// Where the exception of an outcome was raised, if that is in a library and not where the bug
    /// was.
    pub fn elsewhere(&self, outcome: &Outcome) -> Option<String> {
        self.origin.as_ref()?.elsewhere(outcome.exception.as_ref()?)
    }

    /// Texts that the program prints where it shows the bug: of its output, and of what it says of
    /// its exceptions.
    pub fn printed_texts(&self) -> Vec<String> {
        let text = |part: &Part| match part {
            Part::Message(it) | Part::Headline(it) | Part::Stdout(it) | Part::Stderr(it) => {
                it.longest_text().map(str::to_owned)
            }
            Part::Cause(_, it) => it.as_ref()?.longest_text().map(str::to_owned),
            _ => None,
        };
        self.parts
            .iter()
            .filter_map(text)
            .filter(|text| !text.trim().is_empty())
            .collect()
    }

    /// Whether the bug is that the program does not end.
    pub fn is_hang(&self) -> bool {
        self.parts
            .iter()
            .any(|part| matches!(part, Part::Timeout(_)))
    }

    /// Whether the bug is that a name is bound nowhere.
    pub fn is_name_error(&self) -> bool {
        [ReductionArtifact::Name, ReductionArtifact::UnboundLocal]
            .iter()
            .any(|it| self.artifacts.contains(it))
    }

    /// Whether the bug shows by what the script prints and by nothing else.
    pub fn is_printed_alone(&self) -> bool {
        self.parts
            .iter()
            .all(|part| matches!(part, Part::Stdout(_) | Part::Stderr(_)))
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
                class: exception.map_or_else(String::new, |it| it.class.clone()),
                message: exception
                    .map_or_else(String::new, |it| it.message.chars().take(300).collect()),
                line: exception.and_then(|it| Some(it.frames.first()?.line)),
            }),
        }
    }

    /// The same text for the same signature, for names of journals.
    pub fn identity(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Part {
    /// Whether this part holds of an outcome, lines of other artifacts than these left out.
    fn holds(&self, outcome: &Outcome, artifacts: &Artifacts) -> bool {
        let exception = outcome.exception.as_ref();
        let any = |holds: &dyn Fn(&Exception) -> bool| {
            exception
                .is_some_and(|it| holds(it) || otherwise_reported(it).is_some_and(|it| holds(&it)))
        };
        match self {
            Self::Class(class) => any(&|it| ends_in(&it.class, class)),
            Self::Message(pattern) => any(&|it| pattern.is_in(&it.message)),
            Self::Headline(pattern) => any(&|it| pattern.is_in(&headline(it))),
            Self::RaisedAt(place) => exception.is_some_and(|it| place.holds(it)),
            Self::Cause(class, pattern) => exception.is_some_and(|it| {
                let beneath: Vec<&Exception> = it.chain.iter().chain(leaves(it)).collect();
                // What reported it may be gone. By its class alone it could be what reports
                // something else.
                let alone = Some(it).filter(|_| pattern.is_some() || beneath.is_empty());
                beneath.into_iter().chain(alone).any(|cause| {
                    ends_in(&cause.class, class)
                        && pattern.as_ref().is_none_or(|it| it.is_in(&cause.message))
                })
            }),
            Self::Exit(statuses) => outcome
                .end
                .shell_status()
                .is_some_and(|it| statuses.contains(&it)),
            Self::Signal(signals) => match outcome.end {
                End::Signal(signal) => signals.contains(&signal),
                End::Exit(status) => status > 128 && signals.contains(&(status - 128)),
                End::Timeout | End::Limit(_) => false,
            },
            Self::Timeout(pace) => outcome.end == End::Timeout && HangKind::of(outcome) == *pace,
            Self::In(spot) if outcome.end == End::Timeout => spot.holds_up(outcome),
            Self::In(spot) => spot.allows_death(outcome),
            Self::Stdout(pattern) | Self::Stderr(pattern) => self
                .printed(outcome)
                .is_some_and(|printed| pattern.is_in(&artifact::without(&printed, artifacts))),
        }
    }

    /// What an outcome shows on the stream that this part is about.
    fn printed(&self, outcome: &Outcome) -> Option<String> {
        let stream = match self {
            Self::Stdout(_) => &outcome.stdout,
            Self::Stderr(_) => &outcome.stderr,
            _ => return None,
        };
        Some(traceback::without_frames(&stream.text()))
    }
}

/// Whether these parts ask for an exit status and for nothing else.
pub(super) fn is_status_alone(parts: &[Part]) -> bool {
    parts.iter().all(|part| matches!(part, Part::Exit(_)))
}

/// The artifacts that an outcome tells of on either stream.
fn named_on_streams(outcome: &Outcome) -> Artifacts {
    let told = |stream: &Captured| -> Artifacts {
        traceback::without_frames(&stream.text())
            .lines()
            .flat_map(artifact::named_in)
            .collect()
    };
    &told(&outcome.stdout) | &told(&outcome.stderr)
}

/// The exceptions that a group holds, groups within it opened; none if it is no group.
pub(super) fn leaves(group: &Exception) -> Vec<&Exception> {
    let opened = |member| match leaves(member) {
        leaves if leaves.is_empty() => vec![member],
        leaves => leaves,
    };
    group.members.iter().flat_map(opened).collect()
}

/// An error of PyTorch's compiler as another version of PyTorch reports it, or the same one without
/// its caches.
fn otherwise_reported(exception: &Exception) -> Option<Exception> {
    const RAISED: &str = "backend='inductor' raised:\n";
    let (class, message) = match exception.short_class() {
        "InductorError" => (
            "torch._dynamo.exc.BackendCompilerFailed",
            format!("{RAISED}{}", exception.message),
        ),
        "BackendCompilerFailed" => (
            "torch._inductor.exc.InductorError",
            exception.message.strip_prefix(RAISED)?.to_owned(),
        ),
        _ => return None,
    };
    Some(Exception {
        class: class.to_owned(),
        message,
        ..exception.clone()
    })
}

/// `Class: message`, or the class alone.
pub(super) fn headline(exception: &Exception) -> String {
    if exception.message.is_empty() {
        return exception.class.clone();
    }
    format!("{}: {}", exception.class, exception.message)
}

/// Whether a dotted name ends in another: `a.b.C` in `C` and `b.C`, not in `bC`.
fn ends_in(name: &str, end: &str) -> bool {
    name.strip_suffix(end)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
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

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Class(class) => formatter.write_str(class),
            Self::Message(pattern) | Self::Headline(pattern) => pattern.fmt(formatter),
            Self::RaisedAt(place) => place.fmt(formatter),
            Self::Cause(class, None) => write!(formatter, "beneath it {class}"),
            Self::Cause(class, Some(pattern)) => write!(formatter, "beneath it {class}: {pattern}"),
            Self::Exit(statuses) => write!(formatter, "exit:{}", listed(statuses)),
            Self::Signal(signals) => write!(formatter, "signal:{}", signals::listed(signals)),
            Self::Timeout(pace) => write!(formatter, "timeout:{}", pace.argument()),
            Self::In(spot) => spot.fmt(formatter),
            Self::Stdout(pattern) => write!(formatter, "stdout:{pattern}"),
            Self::Stderr(pattern) => write!(formatter, "stderr:{pattern}"),
        }
    }
}

/// Exit statuses as the user types them.
pub(super) fn listed(statuses: &[i32]) -> String {
    statuses
        .iter()
        .map(i32::to_string)
        .collect::<Vec<_>>()
        .join(",")
}
