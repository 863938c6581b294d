//! The facts that the first runs of the script establish: what counts as the bug, the time limits,
//! which checks apply, and how candidates start.

use std::{cell::OnceCell, collections::BTreeMap, time::Duration};

use super::{
    calibration::{Before, Calibration, calibrate},
    check::{Checks, Script},
    checks,
    confirmation::CONFIRMING_RUNS,
    error::BaselineFailure,
    measure::Measure,
    probe::{CandidateLimits, Probe},
    seeding,
    subject::{FIRST_TIMEOUT, FLAKY_RUNS, Subject},
};
use crate::{
    journal::{BaselineRecord, Journal, state_of_files},
    oracle::{Baseline, BaselineError, SequentialTest, Signature},
    runner::{End, Outcome, RunError, Start},
};

/// The facts that the runs of the unchanged script establish.
pub struct Established {
    /// The part of it that the journal keeps.
    pub record: BaselineRecord,
    /// What counts as the bug.
    pub measure: Measure,
    /// The time limit of a run.
    pub timeout: Duration,
    /// From where candidates start.
    pub calibration: Calibration,
    /// The checks that candidates have to pass.
    pub checks: Checks,
    /// Whether there was time to find out which checks these are.
    pub is_whole: bool,
    /// How many runs in fresh interpreters showed the bug just now; none where the journal
    /// remembers.
    pub fresh: usize,
}

impl Established {
    /// How long the last look at a result takes, with so many runs at a time, if the result takes
    /// as long as the script: the runs that confirm it, and one for each check.
    pub fn last_look(&self, jobs: usize) -> Duration {
        let runs = CONFIRMING_RUNS + usize::from(!self.checks.is_empty()) + self.checks.len();
        self.record.wall * runs.div_ceil(jobs.max(1)) as u32
    }

    /// Makes it judge programs that somebody wrote by hand: their lines and values are not the
    /// script's.
    pub fn judge_by_hand(&mut self) {
        self.measure = self.measure.clone().wherever();
        self.checks.retain_by_hand();
    }

    /// How to run and judge programs by these facts.
    pub fn probe<'a>(&'a self, subject: &'a Subject) -> Probe<'a> {
        let start = self.calibration.start;
        let limits = candidate_limits(subject, &self.measure, self.record.wall);
        subject.probe(&self.measure, self.timeout, limits, start)
    }
}

/// The current step before the reduction begins, for whoever waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FirstStep {
    /// The script as given is run.
    Run {
        /// Which run it is, counted from 1.
        number: usize,
        /// How many there will be, if none needs others.
        of: usize,
        /// How long one takes, once that is known.
        each: Option<Duration>,
    },
    /// The checks find out whether they apply.
    Checks,
}

/// The first runs of the script.
struct FirstRuns {
    /// Those in interpreters that have imported nothing.
    fresh: Vec<Outcome>,
    /// One forked from an interpreter that has imported what the first of them imported.
    warm: Option<Outcome>,
    /// Whether the warm run shows the same as the fresh ones and counts as one of them.
    agree: bool,
}

/// The definition of the bug, and the runs that support it.
struct Sighting {
    measure: Measure,
    /// The slowest run.
    wall: Duration,
    /// The time limit of a candidate where the bug is that it does not end.
    limit: Option<Duration>,
    flaky: Option<(SequentialTest, usize, usize)>,
    /// The first run, of those by a seed if there is one.
    first: Option<Outcome>,
    /// A run that shows the bug.
    showing: Option<Outcome>,
    /// How many runs by a seed showed the bug.
    seeded: Option<usize>,
}

/// Establishes what counts as the bug and how long runs take: from the journal, or by running the
/// script.
///
/// # Errors
///
/// The script does not show the bug, or not in a way that candidates can be judged by.
pub fn establish(
    subject: &Subject,
    journal: &mut Journal,
    watch: &dyn Fn(FirstStep),
) -> Result<Established, BaselineFailure> {
    if let Some(established) = recalled(subject, journal)? {
        return Ok(established);
    }
    let mut ended = Vec::new();
    match found_out(subject, journal, watch, &mut ended) {
        Err(BaselineFailure::Run(RunError::Deadline)) => {
            let failure = if ended.is_empty() {
                BaselineFailure::Unended
            } else {
                BaselineFailure::Run(RunError::Deadline)
            };
            in_haste(subject, ended).ok_or(failure)
        }
        result => result,
    }
}

/// The little that is known if the time is up before everything was found out: the runs of the
/// script that ended, if any of them shows the bug. There is no time to judge candidates by it.
fn in_haste(subject: &Subject, ended: Vec<Outcome>) -> Option<Established> {
    const LATE: &str = "the time was up before the first candidate";
    let (measure, wall, shown) = if let Some(test) = &subject.settings.test {
        let shown = ended.iter().filter(|run| run.end == End::Exit(0)).count();
        (Measure::Test(test.clone()), slowest(&ended), shown)
    } else {
        let baseline = Baseline::of_some(&subject.settings.specs, ended).ok()?;
        let measure = Measure::Signature(baseline.signature);
        (measure, baseline.wall, baseline.same)
    };
    let record = BaselineRecord {
        signature: match &measure {
            Measure::Signature(signature) => Some(signature.clone()),
            Measure::Test(_) => None,
        },
        wall,
        fastest: wall,
        limit: None,
        checks: BTreeMap::new(),
        flaky: None,
        stabilizer: None,
        cold: Some(LATE.to_owned()),
        imported: Default::default(),
    };
    (shown > 0).then(|| Established {
        record,
        measure,
        timeout: subject.timeout(wall),
        calibration: Calibration::cold(wall, LATE),
        checks: Checks::default(),
        is_whole: false,
        fresh: shown,
    })
}

/// What counts as the bug and how long runs take, from runs of the script; `ended` receives the
/// first of them.
fn found_out(
    subject: &Subject,
    journal: &mut Journal,
    watch: &dyn Fn(FirstStep),
    ended: &mut Vec<Outcome>,
) -> Result<Established, BaselineFailure> {
    // Measured before anything is decided: the first runs show what counts as the bug, how long it
    // takes, and whether a warm run shows the same.
    let FirstRuns { fresh, warm, agree } = first_runs(subject, watch, ended)?;
    let walls = fresh.iter().map(|outcome| outcome.timing.alone());
    let fastest = walls.min().unwrap_or_default();
    // The first is forked as well, if from an interpreter that had imported nothing.
    let unforked = fresh.len() - usize::from(subject.may_be_warm() && !fresh.is_empty());
    let outcomes = fresh
        .into_iter()
        .chain(warm.clone().filter(|_| agree))
        .collect();
    let mut sighting = sighting(subject, outcomes)?;
    let timeout = sighting
        .limit
        .unwrap_or_else(|| subject.timeout(sighting.wall));
    let cold = sighting
        .flaky
        .map(|_| "the bug does not show each time".to_owned());
    // Under a seed it is another script.
    let warm = warm.filter(|_| subject.stabilizer().is_none());
    let before = Before {
        fastest,
        reason: cold.clone(),
        next: warm.as_ref().map_or(Start::Recorded, |_| Start::Warm),
        warm,
    };
    let calibration = calibrate(subject, &sighting.measure, timeout, before)?;
    // Last, since checks run programs as candidates will be run: under this limit, from this start.
    watch(FirstStep::Checks);
    let limits = candidate_limits(subject, &sighting.measure, sighting.wall);
    let checks = checks::establish(&Script {
        probe: subject.probe(&sighting.measure, timeout, limits, calibration.start),
        program: subject.program_as_run(),
        bytes: subject.as_run(),
        first: sighting.first.as_ref(),
        showing: sighting.showing.as_ref(),
        is_flaky: sighting.flaky.is_some(),
        library_calls: &OnceCell::new(),
        evidence: &OnceCell::new(),
    })?;
    // Who names a place means it.
    if checks::know_loop(&checks) && subject.settings.specs.len() == 1 {
        sighting.measure = sighting.measure.anywhere_in_loop();
    }
    let imported = subject.runner.imported_files();
    let state = state_of_files(&imported);
    let record = BaselineRecord {
        signature: match &sighting.measure {
            Measure::Signature(signature) => Some(signature.clone()),
            Measure::Test(_) => None,
        },
        wall: sighting.wall,
        fastest,
        limit: sighting.limit,
        checks: checks.findings().collect(),
        flaky: sighting.flaky,
        stabilizer: subject.stabilizer().cloned(),
        cold,
        imported: (imported, state),
    };
    // Where the journal cannot be written, the engine will say so.
    let _ = journal.put_baseline(record.clone());
    Ok(Established {
        record,
        measure: sighting.measure,
        timeout,
        calibration,
        checks,
        is_whole: true,
        fresh: sighting.seeded.unwrap_or(unforked),
    })
}

/// The limits of candidates, narrower than those of other runs: a candidate that waits for longer than
/// the script as given ran at all waits for something that never comes, and one that works for several
/// times as long does not end. `None` where that is the bug, or where the user's own test is run.
fn candidate_limits(
    subject: &Subject,
    measure: &Measure,
    wall: Duration,
) -> Option<CandidateLimits> {
    let waits = measure.is_hang() || matches!(measure, Measure::Test(_));
    (!waits).then(|| subject.candidate_limits(wall))
}

/// The facts that an earlier session established.
fn recalled(
    subject: &Subject,
    journal: &mut Journal,
) -> Result<Option<Established>, BaselineFailure> {
    let Some(record) = journal.baseline().cloned() else {
        return Ok(None);
    };
    let (files, state) = &record.imported;
    if !files.is_empty() && *state != state_of_files(files) {
        // Other libraries, other verdicts. Where the file cannot be cut, the engine will say so.
        let _ = journal.start_over();
        return Ok(None);
    }
    let measure = match (record.signature.clone(), &subject.settings.test) {
        (Some(signature), None) => Measure::Signature(signature),
        (None, Some(test)) => Measure::Test(test.clone()),
        _ => return Ok(None),
    };
    // A journal with a check that this version does not know is none to judge by.
    let Some(checks) = checks::recall(&record.checks) else {
        return Ok(None);
    };
    let timeout = record.limit.unwrap_or_else(|| subject.timeout(record.wall));
    if let Some(stabilizer) = record.stabilizer.clone() {
        let seeded = seeding::again(subject, &stabilizer);
        subject.keep_stabilizer(stabilizer, seeded);
    }
    let before = Before {
        fastest: record.fastest,
        reason: record.cold.clone(),
        next: Start::Recorded,
        warm: None,
    };
    // Measured anew: the machine may be busier, or another one.
    let calibration = calibrate(subject, &measure, timeout, before)?;
    Ok(Some(Established {
        record,
        measure,
        timeout,
        calibration,
        checks,
        is_whole: true,
        fresh: 0,
    }))
}

/// The first runs of the script. Where warm runs are wanted, the last is one if those before it
/// agree: it has to show the same anyway. Where it does not, or may not stand for one, there is
/// another fresh one.
fn first_runs(
    subject: &Subject,
    watch: &dyn Fn(FirstStep),
    seen: &mut Vec<Outcome>,
) -> Result<FirstRuns, RunError> {
    let wanted = subject.confirming_runs();
    let run = |number, each| {
        watch(FirstStep::Run {
            number,
            of: wanted,
            each,
        });
    };
    run(1, None);
    let mut number = 1;
    let mut slowest = Duration::ZERO;
    let mut ended = |outcome: &Outcome| {
        number += 1;
        slowest = slowest.max(outcome.timing.wall);
        seen.push(outcome.clone());
        if number <= wanted {
            run(number, Some(slowest));
        }
    };
    let alone = |fresh| FirstRuns {
        fresh,
        warm: None,
        agree: false,
    };
    if !subject.may_be_warm() {
        return Ok(alone(subject.baseline_runs(
            wanted,
            Start::Cold,
            &mut ended,
        )?));
    }
    // The warm run is one of them, unless there is but one.
    let first = wanted.saturating_sub(1).max(1);
    let mut fresh = subject.baseline_runs(first, Start::Recorded, &mut ended)?;
    let is_endless = fresh.iter().any(|outcome| outcome.end == End::Timeout);
    if fresh.len() < first || is_endless {
        return Ok(alone(fresh));
    }
    let specs = &subject.settings.specs;
    let timeout = subject.settings.timeout.unwrap_or(FIRST_TIMEOUT);
    let agree = |outcomes: &[Outcome]| Baseline::new(specs, outcomes.to_vec()).is_ok();
    // Where the fresh runs differ among themselves, a warm one could agree or not by chance.
    let warm = if agree(&fresh) {
        Some(subject.run_from(Start::Warm, timeout)?)
    } else {
        None
    };
    let agree = warm
        .as_ref()
        .is_some_and(|warm| agree(&[&*fresh, std::slice::from_ref(warm)].concat()));
    if !agree {
        fresh.push(subject.run_from(Start::Cold, timeout)?);
    }
    Ok(FirstRuns { fresh, warm, agree })
}

/// What counts as the bug, from the first runs of the script.
fn sighting(subject: &Subject, outcomes: Vec<Outcome>) -> Result<Sighting, BaselineFailure> {
    let first = outcomes.first().cloned();
    if let Some(test) = &subject.settings.test {
        return Ok(Sighting {
            wall: interesting(&outcomes)?,
            measure: Measure::Test(test.clone()),
            limit: None,
            flaky: None,
            showing: first.clone(),
            first,
            seeded: None,
        });
    }
    if let Some(obstacle) = subject.obstacle(&outcomes)
        && let Some(first) = first
    {
        return Err(BaselineFailure::Obstructed {
            obstacle,
            first: Box::new(first),
        });
    }
    let (baseline, found) = baseline(subject, outcomes)?;
    let flaky = found.map(|test| (test, baseline.same, baseline.outcomes.len()));
    let is_seeded = subject.stabilizer().is_some();
    // Checks learn from a run that shows the bug; where it does not show each time, the first may
    // not.
    let showing = if flaky.is_some() || is_seeded {
        let mut outcomes = baseline.outcomes.iter();
        outcomes
            .find(|outcome| baseline.signature.matches(outcome))
            .cloned()
    } else {
        first.clone()
    };
    let first = if is_seeded { showing.clone() } else { first };
    let hanging = first.as_ref().filter(|_| baseline.signature.is_hang());
    let limit = hanging.map(|first| subject.hang_limit(first));
    let mut signature = Signature {
        loose: subject.settings.loose,
        ..baseline.signature
    };
    signature.forget(&subject.program.defined_names(), &subject.program.texts());
    Ok(Sighting {
        measure: Measure::Signature(signature),
        wall: baseline.wall,
        limit,
        flaky,
        first,
        showing,
        seeded: is_seeded.then_some(baseline.outcomes.len()),
    })
}

/// The base of the reduction, by a seed if that makes the bug show each time; else with how
/// candidates are to be tested.
fn baseline(
    subject: &Subject,
    outcomes: Vec<Outcome>,
) -> Result<(Baseline, Option<SequentialTest>), BaselineFailure> {
    let specs = &subject.settings.specs;
    let min_rate = subject.settings.min_rate;
    let first = outcomes.first().cloned();
    let error = match Baseline::new(specs, outcomes.clone()) {
        Ok(baseline) if min_rate.is_none() => return Ok((baseline, None)),
        // Who says how often it is to show knows that it does not each time, though it has so far.
        Ok(baseline) => baseline.too_rare(specs),
        Err(error) => error,
    };
    if error.is_unstable() || min_rate.is_some() {
        let found = flaky_baseline(subject, outcomes, error);
        let known = found.as_ref().ok().map(|(baseline, _)| baseline);
        // A script that is too rare to be tested may still show its bug each time under a seed: it
        // is taken to show it in a tenth of its runs.
        let rate = known.map_or(0.1, |known| known.same as f64 / known.outcomes.len() as f64);
        let signature = known.map(|known| &known.signature);
        return match steadied(subject, rate, signature, first.as_ref())? {
            Some(baseline) => Ok((baseline, None)),
            None => found.map(|(baseline, steadiness)| (baseline, Some(steadiness))),
        };
    }
    if seeding::may_help_what_never_shows(subject)
        && let Some(baseline) = steadied(subject, 0.5, None, first.as_ref())?
    {
        return Ok((baseline, None));
    }
    Err(not_reproduced(error, first))
}

fn not_reproduced(error: BaselineError, first: Option<Outcome>) -> BaselineFailure {
    BaselineFailure::NotReproduced {
        error: Box::new(error),
        first: first.map(Box::new),
    }
}

/// Looks for a seed under which the bug shows each time, and keeps it from then on.
fn steadied(
    subject: &Subject,
    rate: f64,
    signature: Option<&Signature>,
    first: Option<&Outcome>,
) -> Result<Option<Baseline>, RunError> {
    let timeout = subject.timeout(first.map(|first| first.timing.alone()).unwrap_or_default());
    let Some(found) = seeding::steady(subject, rate, signature, timeout)? else {
        return Ok(None);
    };
    subject.keep_stabilizer(found.stabilizer, found.seeded);
    Ok(Some(found.baseline))
}

/// Runs a script that shows its bug in some runs more often, and says how its candidates are to be
/// tested.
fn flaky_baseline(
    subject: &Subject,
    mut outcomes: Vec<Outcome>,
    error: BaselineError,
) -> Result<(Baseline, SequentialTest), BaselineFailure> {
    let specs = &subject.settings.specs;
    let timeout = subject.timeout(slowest(&outcomes));
    outcomes.extend(subject.run_times(&subject.bytes, FLAKY_RUNS - outcomes.len(), timeout)?);
    let first = outcomes.first().cloned();
    let of = outcomes.len();
    let Ok(baseline) = Baseline::of_some(specs, outcomes) else {
        return Err(not_reproduced(error, first));
    };
    match SequentialTest::of(baseline.same, of, subject.settings.min_rate) {
        Some(steadiness) => Ok((baseline, steadiness)),
        None => Err(not_reproduced(baseline.too_rare(specs), first)),
    }
}

/// The slowest run of the user's test, if all runs found the script interesting.
fn interesting(outcomes: &[Outcome]) -> Result<Duration, BaselineFailure> {
    let mut others = outcomes
        .iter()
        .filter(|outcome| outcome.end != End::Exit(0));
    let Some(other) = others.next() else {
        return Ok(slowest(outcomes));
    };
    let of = outcomes.len();
    Err(BaselineFailure::NotInteresting {
        same: of - 1 - others.count(),
        of,
        other: Box::new(other.clone()),
    })
}

fn slowest(outcomes: &[Outcome]) -> Duration {
    let walls = outcomes.iter().map(|outcome| outcome.timing.alone());
    walls.max().unwrap_or_default()
}
