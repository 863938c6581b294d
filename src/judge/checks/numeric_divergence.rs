//! Applies if a script says that PyTorch's compiler computes something else than PyTorch. Checks
//! that the compiled program computes numbers that rounding cannot explain, or numbers that are
//! further from the truth than those of the plain one. No claim of the script's own can cause
//! either.

use minrepro_reducers::{
    analysis::dependence_check::ReportSite,
    syntax::Program,
    torch::{
        control::Control,
        environment::{Uncompiled, uncompiled},
        numeric_divergence::{Measured, Numbers, is_further_off, is_gross, measured},
    },
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    super::{
        check::{Applied, Check, Checks, Kind, Script},
        objection::{Objection, Shown},
        probe::Probe,
    },
    automatic_control::{self, AutomaticControl},
};
use crate::{oracle::Verdict, runner::RunError};

pub(super) const KIND: Kind = Kind {
    id: "numeric-divergence",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<NumericDivergence>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates whose compiled numbers are less wrong.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NumericDivergence {
    /// Numbers that no rounding explains.
    Gross,
    /// Numbers that are further off.
    FurtherOff,
}

/// The numbers of one program.
#[derive(Clone, Copy, Debug, Default)]
struct Precision {
    /// Whether its compiled numbers are further from the plain ones than any rounding; none if that
    /// cannot be determined.
    is_gross: Option<bool>,
    /// Whether its compiled numbers are further off; none if that cannot be determined.
    is_further_off: Option<bool>,
    runs: u64,
    seconds: f64,
}

/// Applies where the script as given computes as wrong numbers when it is compiled.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    // Beside the control, which is made first: this check asks only how far off the numbers are.
    let control = so_far.finding(automatic_control::ID);
    let control = control.and_then(|found| serde_json::from_value::<AutomaticControl>(found).ok());
    if control.is_none_or(|found| found.control != Control::Compile) {
        return Ok(None);
    }
    let report_site = script
        .first
        .and_then(|first| script.probe.measure.report_site(first));
    // Only a comparison that raises says where its numbers are.
    let Some(report_site @ ReportSite::Raised(_)) = report_site else {
        return Ok(None);
    };
    let shown = Shown::unseen(script.program, Some(report_site));
    let found = precisions(&script.probe, &[shown])?;
    let kinds = [NumericDivergence::Gross, NumericDivergence::FurtherOff];
    let wanted = kinds
        .into_iter()
        .find(|kind| found.iter().all(|precision| kind.holds_of(precision)));
    Ok(wanted.map(|kind| Box::new(kind) as Box<dyn Check>))
}

impl NumericDivergence {
    fn holds_of(self, precision: &Precision) -> bool {
        let found = match self {
            Self::Gross => precision.is_gross,
            Self::FurtherOff => precision.is_further_off,
        };
        found == Some(true)
    }
}

impl Check for NumericDivergence {
    fn review(&self, probe: &Probe<'_>, shown: &[Shown<'_>]) -> Result<Vec<Objection>, RunError> {
        let found = precisions(probe, shown)?;
        let objection = |precision: &Precision| Objection {
            verdict: (!self.holds_of(precision)).then_some(Verdict::Vacuous),
            seconds: precision.seconds,
            runs: precision.runs,
        };
        Ok(found.iter().map(objection).collect())
    }

    fn claim(&self) -> Option<String> {
        let claim = match self {
            Self::Gross => "it computes other numbers when compiled, not only rounded ones",
            Self::FurtherOff => "it is further from double precision when compiled",
        };
        Some(claim.to_owned())
    }

    fn describe(&self) -> Vec<String> {
        let line = match self {
            Self::Gross => {
                "candidates that compute the same when compiled, but for rounding, do not count"
            }
            Self::FurtherOff => {
                "candidates that are not further from double precision when compiled do not count"
            }
        };
        vec![line.to_owned()]
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// Runs programs that print the values that they compare: as they are, without the compiler, and
/// without the compiler in double precision.
fn precisions(probe: &Probe<'_>, shown: &[Shown<'_>]) -> Result<Vec<Precision>, RunError> {
    let mut found = vec![Precision::default(); shown.len()];
    let mut jobs = Vec::new();
    let mut places = Vec::new();
    for (place, candidate) in shown.iter().enumerate() {
        let site = candidate.report_site.as_ref();
        if let Some(texts) = site.and_then(|site| variants(candidate.program, site)) {
            jobs.extend(texts.iter().map(|text| probe.job(text)));
            places.push(place);
        }
    }
    let outcomes = probe.run(&jobs)?;
    for (place, three) in places.into_iter().zip(outcomes.chunks(VARIANTS)) {
        let numbers: Vec<Numbers> = three
            .iter()
            .map(|outcome| Numbers::read(&outcome.stderr.text()))
            .collect();
        let (is_gross, is_further_off) = match numbers.as_slice() {
            [compiled, plain, truth] => (
                is_gross(compiled, plain),
                is_further_off(compiled, plain, truth),
            ),
            _ => (None, None),
        };
        found[place] = Precision {
            is_gross,
            is_further_off,
            runs: three.len() as u64,
            seconds: three
                .iter()
                .map(|outcome| outcome.timing.wall.as_secs_f64())
                .sum(),
        };
    }
    Ok(found)
}

/// How many programs print the numbers of one.
const VARIANTS: usize = 3;

/// The program that prints its numbers; the same without the compiler; and that in double
/// precision.
fn variants(program: &Program, report_site: &ReportSite) -> Option<[Vec<u8>; VARIANTS]> {
    let compiled = program
        .sibling(measured(program, report_site)?.text())
        .ok()?;
    let Uncompiled::As(plain) = uncompiled(&compiled) else {
        return None;
    };
    let truth = Measured::in_double(&plain);
    let encode = |text: String| program.sibling(text).ok()?.encode();
    Some([compiled.encode()?, encode(plain)?, encode(truth)?])
}
