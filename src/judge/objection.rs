//! A candidate that showed the bug, as checks get it, and their objection to it.

use minrepro_reducers::{
    analysis::{
        cpython::missing_protocol, dependence_check::ReportSite, producers::owner_class,
        results::Left,
    },
    syntax::Program,
};

use super::{
    measure::{failed_at, left},
    probe::Probe,
};
use crate::{
    oracle::{Unfound, Verdict, failing_package, is_called_by_library},
    runner::{Exception, Outcome},
};

/// A candidate whose own run showed the bug.
#[derive(Clone, Debug)]
pub(super) struct Shown<'a> {
    pub(super) program: &'a Program,
    /// The statements of the script that report the bug, if the script itself does.
    pub(super) report_site: Option<ReportSite>,
    /// The lines of the script on which it failed, outermost frame first.
    pub(super) failed_at: Vec<u32>,
    /// The installed package in whose code it failed, if it did not fail in the script's own.
    pub(super) failing_package: Option<String>,
    /// Whether a library called the innermost of them.
    pub(super) is_called_by_library: bool,
    /// The class of the object that lacked an attribute, if it failed by that.
    pub(super) lacking_class: Option<String>,
    /// What it failed to look up or to unpack.
    pub(super) sought: Option<Unfound>,
    /// Where it was then; nothing if nothing is known of that.
    pub(super) left: Option<Left>,
}

/// The class of the object that lacks an attribute.
pub(super) fn lacking_class(exception: &Exception) -> Option<String> {
    let class = match exception.short_class() {
        "AttributeError" => owner_class(&exception.message),
        "TypeError" => Some(missing_protocol(&exception.message)?.0),
        _ => None,
    };
    class.map(str::to_owned)
}

impl<'a> Shown<'a> {
    /// A candidate and a run of it that showed the bug.
    pub(super) fn of(probe: &Probe<'_>, program: &'a Program, outcome: &Outcome) -> Self {
        Self {
            program,
            report_site: probe.measure.report_site(outcome),
            failed_at: failed_at(outcome),
            failing_package: outcome
                .exception
                .as_ref()
                .and_then(failing_package)
                .map(str::to_owned),
            is_called_by_library: outcome.exception.as_ref().is_some_and(is_called_by_library),
            lacking_class: outcome.exception.as_ref().and_then(lacking_class),
            sought: outcome.exception.as_ref().and_then(Unfound::of),
            left: left(outcome),
        }
    }

    /// A candidate of which nothing is known but the statements that report the bug.
    pub(super) fn unseen(program: &'a Program, report_site: Option<ReportSite>) -> Self {
        Self {
            program,
            report_site,
            failed_at: Vec::new(),
            failing_package: None,
            is_called_by_library: false,
            lacking_class: None,
            sought: None,
            left: None,
        }
    }
}

/// The objection to a candidate, and the cost of finding it.
#[derive(Clone, Debug, Default)]
pub(super) struct Objection {
    /// The verdict that replaces `Same`; none if nothing speaks against the candidate.
    pub(super) verdict: Option<Verdict>,
    /// Wall time of the runs, in seconds.
    pub(super) seconds: f64,
    /// How many runs it took.
    pub(super) runs: u64,
}

impl Objection {
    /// An objection that took this one run.
    pub(super) fn after(outcome: &Outcome, verdict: Option<Verdict>) -> Self {
        Self {
            verdict,
            seconds: outcome.timing.wall.as_secs_f64(),
            runs: 1,
        }
    }

    /// Adds the cost of a further check and, unless there is an objection already, its objection.
    pub(super) fn add(&mut self, other: Self) {
        self.verdict = self.verdict.take().or(other.verdict);
        self.seconds += other.seconds;
        self.runs += other.runs;
    }
}
