//! Where a script says that PyTorch's compiler computes something else than PyTorch: whether the
//! compiled program is further from the truth than the plain one, which no claim of the script's
//! own can bring about.

use minrepro_reducers::{
    analysis::dependence_check::ReportSite,
    syntax::Program,
    torch::{
        control::Control,
        environment::{Uncompiled, uncompiled},
        numeric_divergence::{Measured, Numbers, is_further_off, measured},
    },
};

use super::{
    super::{
        check::{Applied, Check, Checks, Kind, Objection, Script, Shown},
        probe::Probe,
    },
    automatic_control::{self, AutomaticControl},
};
use serde_json::Value;

use crate::{
    oracle::Verdict,
    runner::{End, RunError},
};

pub(super) const KIND: Kind = Kind {
    id: "numeric-divergence",
    establish,
    recall: |found| {
        let control = serde_json::from_value(found.clone()).ok()?;
        Some(Box::new(NumericDivergence { control }))
    },
};

/// Refuses what is not further off when it is compiled.
#[derive(Debug)]
struct NumericDivergence {
    /// The control that this check includes.
    control: AutomaticControl,
}

/// The numbers of one program.
#[derive(Clone, Copy, Debug, Default)]
struct Precision {
    /// Whether it is further off when it is compiled; none if that cannot be told.
    is_further_off: Option<bool>,
    /// Whether it shows the bug without the compiler; none if that was not run.
    shows_plain: Option<bool>,
    /// Whether it fails without the compiler, in whatever way.
    fails_plain: bool,
    runs: u64,
    seconds: f64,
}

/// Applies where the script as given is further off when it is compiled.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let control = so_far
        .finding(automatic_control::ID)
        .and_then(|found| serde_json::from_value::<AutomaticControl>(found).ok())
        .filter(|found| found.control == Control::Compile);
    let Some(control) = control else {
        return Ok(None);
    };
    let report_site = script.first.and_then(|first| script.probe.measure.report_site(first));
    // Only a comparison that raises says where its numbers are.
    let Some(report_site @ ReportSite::Raised(_)) = report_site else {
        return Ok(None);
    };
    let shown = Shown {
        program: script.program,
        report_site: Some(report_site),
    };
    let found = precisions(&script.probe, &[shown])?;
    let is_wanted = found.iter().all(|precision| precision.is_further_off == Some(true));
    Ok(is_wanted.then(|| Box::new(NumericDivergence { control }) as Box<dyn Check>))
}

impl Check for NumericDivergence {
    fn review(
        &self,
        probe: &Probe<'_>,
        shown: &[Shown<'_>],
    ) -> Result<Vec<Objection>, RunError> {
        let found = precisions(probe, shown)?;
        let mut objections: Vec<Objection> = found
            .iter()
            .map(|precision| self.objection(precision))
            .collect();
        // A program that prints its numbers without the compiler was run without it just now; one
        // that cannot be measured has not been.
        let open: Vec<usize> = (0..shown.len())
            .filter(|&at| found[at].shows_plain.is_none())
            .collect();
        let candidates: Vec<Shown<'_>> = open.iter().map(|&at| shown[at].clone()).collect();
        for (at, control) in open.into_iter().zip(self.control.review(probe, &candidates)?) {
            let unmeasured = objections[at].verdict.take();
            objections[at].add(control);
            objections[at].verdict = objections[at].verdict.take().or(unmeasured);
        }
        Ok(objections)
    }

    fn is_hopeless(&self, program: &Program) -> bool {
        self.control.is_hopeless(program)
    }

    fn replaces(&self) -> Option<&'static str> {
        Some(automatic_control::ID)
    }

    fn describe(&self) -> Vec<String> {
        let further = "candidates that are not further from double precision when compiled do not \
                       count";
        let mut lines = self.control.describe();
        lines.push(further.to_owned());
        lines
    }

    fn findings(&self) -> Value {
        self.control.findings()
    }
}

impl NumericDivergence {
    fn objection(&self, precision: &Precision) -> Objection {
        let verdict = if precision.shows_plain == Some(true) {
            Some(Verdict::Passed)
        } else if precision.fails_plain && self.control.succeeds {
            Some(Verdict::Invalid)
        } else {
            (precision.is_further_off != Some(true)).then_some(Verdict::Vacuous)
        };
        Objection {
            verdict,
            seconds: precision.seconds,
            runs: precision.runs,
        }
    }
}

/// Runs programs that print what they compare: without the compiler, and what does not show the bug
/// there as it is and without the compiler in double precision.
fn precisions(probe: &Probe<'_>, shown: &[Shown<'_>]) -> Result<Vec<Precision>, RunError> {
    let mut found = vec![Precision::default(); shown.len()];
    let texts: Vec<Option<[Vec<u8>; 3]>> = shown
        .iter()
        .map(|candidate| variants(candidate.program, candidate.report_site.as_ref()?))
        .collect();
    let open: Vec<(usize, &[Vec<u8>; 3])> = texts
        .iter()
        .enumerate()
        .filter_map(|(place, text)| Some((place, text.as_ref()?)))
        .collect();
    let jobs: Vec<_> = open.iter().map(|(_, [_, plain, _])| probe.job(plain)).collect();
    // The plain run first: a program that shows the bug without the compiler is refused for that,
    // and two of its three runs are saved.
    let plain = probe.run(&jobs)?;
    let mut jobs = Vec::new();
    let mut places = Vec::new();
    for ((place, [compiled, _, truth]), outcome) in open.into_iter().zip(plain) {
        let shows = probe.shows(&outcome);
        found[place] = Precision {
            is_further_off: None,
            shows_plain: Some(shows),
            fails_plain: outcome.end != End::Exit(0),
            runs: 1,
            seconds: outcome.wall.as_secs_f64(),
        };
        if !shows {
            jobs.extend([probe.job(compiled), probe.job(truth)]);
            places.push((place, outcome));
        }
    }
    let outcomes = probe.run(&jobs)?;
    for ((place, plain), others) in places.into_iter().zip(outcomes.chunks(2)) {
        let [compiled, plain, truth] = [others.first(), Some(&plain), others.get(1)]
            .map(|outcome| outcome.map(|outcome| Numbers::read(&outcome.stderr.text())));
        let precision = &mut found[place];
        if let (Some(compiled), Some(plain), Some(truth)) = (compiled, plain, truth) {
            precision.is_further_off = is_further_off(&compiled, &plain, &truth);
        }
        precision.runs += others.len() as u64;
        precision.seconds += others
            .iter()
            .map(|outcome| outcome.wall.as_secs_f64())
            .sum::<f64>();
    }
    Ok(found)
}

/// The program that prints its numbers; the same without the compiler; and that in double
/// precision.
fn variants(program: &Program, report_site: &ReportSite) -> Option<[Vec<u8>; 3]> {
    let compiled = program.sibling(measured(program, report_site)?.text()).ok()?;
    let Uncompiled::As(plain) = uncompiled(&compiled) else {
        return None;
    };
    let truth = Measured::in_double(&plain);
    let encode = |text: String| program.sibling(text).ok()?.encode();
    Some([compiled.encode()?, encode(plain)?, encode(truth)?])
}
