//! Step 5a: concludes whether a script that passes proves its bug fixed. Finds the version and the
//! commit with the fix; an older version that shows the bug is the control. For a script that shows
//! the bug, finds a version without it, the control of its minimization.

use std::{path::PathBuf, time::Duration};

use minrepro_reducers::syntax::Program;

use super::{Maybe, ScrubContext, ScrubEnd, reproduce::Reproduction, trivial::trivial};
use crate::{
    cli::Failure,
    oracle::Spec,
    scrub::{
        bisect::{BisectAnswer, BisectQuestion, search},
        chance::{Chance, asserts, chance},
        change,
        doubts::{Doubt, DoubtKind, Ground, doubts},
        issue::{Issue, claims::parsed},
        version_environments::{VersionEnvironment, compare, environments},
        version_search::VersionProbe,
    },
};

/// Runs of each version: a failure that shows in all of them is not rare.
const RUNS: usize = 3;

/// The end for a script that passes, or that fails with an error where it was reported to crash.
pub(in crate::scrub) fn conclude(
    cx: &mut ScrubContext<'_>,
    issue: Maybe<'_>,
    showing: &Reproduction,
    proven: ScrubEnd,
) -> Result<(ScrubEnd, String), Failure> {
    let number = issue.map(|issue| issue.number);
    versions(cx, showing, number, proven)?;
    if let Some(issue) = issue {
        look_for_doubts(cx, issue, showing, proven == ScrubEnd::FailsProperly)?;
    }
    let control = control(cx)?;
    if control {
        cx.found
            .doubts
            .retain(|doubt| !doubt.is_settled_by_control());
    } else if issue.is_some() && proven == ScrubEnd::DoesNotReproduce {
        // No list of doubts is complete. Only a run that fails shows that the conditions of the
        // report are met here.
        let what = "no older version was run in which this script shows the bug";
        cx.found
            .doubts
            .push(Doubt::new(DoubtKind::Uncontrolled, what));
    }
    for doubt in &cx.found.doubts {
        cx.decided(&format!("in doubt: {}", doubt.what));
    }
    let seen = cx.found.ran_with.as_ref().map_or_else(String::new, |ran| {
        let verb = if proven == ScrubEnd::FailsProperly {
            format!("fails properly ({})", ran.seen)
        } else {
            "passes".to_owned()
        };
        format!("the script {verb} with {}", ran.with)
    });
    if !cx.found.doubts.is_empty() && !is_accepted(cx, control, &seen)? {
        return Ok(in_doubt(cx, &seen));
    }
    cx.found.next = Some("close the issue if you agree".to_owned());
    if let Some(number) = number {
        trivial(cx, number)?;
    }
    Ok((proven, seen))
}

/// The end where doubts remain.
fn in_doubt(cx: &mut ScrubContext<'_>, seen: &str) -> (ScrubEnd, String) {
    let needs_device = cx
        .found
        .doubts
        .iter()
        .find(|doubt| doubt.kind == DoubtKind::Device);
    if let Some(doubt) = needs_device {
        let why = format!("{seen}, but {}", doubt.what);
        cx.found.next = Some("scrub it on a machine with the required hardware".to_owned());
        return (ScrubEnd::NeedsHardware, why);
    }
    let doubts: Vec<&str> = cx
        .found
        .doubts
        .iter()
        .map(|doubt| doubt.what.as_str())
        .collect();
    let why = format!("{seen}, which proves no fix: {}", doubts.join("; "));
    let is_newer = |doubt: &Doubt| doubt.kind == DoubtKind::Newer;
    let reported = cx
        .found
        .versions
        .as_ref()
        .and_then(|found| found.torch.clone());
    let failing = reported.iter().chain(&cx.found.claims.fails_on);
    let oldest = failing
        .filter_map(|version| parsed(version))
        .min()
        .map_or_else(
            || "LIST".to_owned(),
            |version| version.only_release().to_string(),
        );
    cx.found.next = Some(if cx.found.doubts.iter().any(is_newer) {
        "run it with the version of the report: `--python PATH`".to_owned()
    } else {
        format!(
            "show that the script fails where it was reported: `--versions {oldest} --install`, or \
             `--interpreter VERSION=PYTHON`"
        )
    });
    (ScrubEnd::Inconclusive, why)
}

/// Whether the user takes the bug for fixed although doubts remain. Asked only where an older
/// version shows it.
fn is_accepted(cx: &ScrubContext<'_>, control: bool, seen: &str) -> Result<bool, Failure> {
    if !control {
        return Ok(false);
    }
    if cx.settings.accept_fix {
        return Ok(true);
    }
    let doubts: Vec<&str> = cx
        .found
        .doubts
        .iter()
        .map(|doubt| doubt.what.as_str())
        .collect();
    let question = format!(
        "{seen}, and an older version shows the bug; but {}. Take it for fixed?",
        doubts.join("; ")
    );
    Ok(cx.prompt.agrees(&question, "--accept-fix")?)
}

fn look_for_doubts(
    cx: &mut ScrubContext<'_>,
    issue: &Issue,
    showing: &Reproduction,
    is_refused: bool,
) -> Result<(), Failure> {
    let installed = cx.installed()?;
    let written = cx.found.repro.as_ref().map(|repro| repro.code.as_str());
    let code = written
        .filter(|code| Program::parse(*code).is_ok())
        .unwrap_or(&showing.code);
    let Ok(program) = Program::parse(code) else {
        return Ok(());
    };
    let chance =
        Program::parse(showing.code.as_str()).map_or(Chance::None, |program| chance(&program));
    let versions = cx.found.versions.clone().unwrap_or_default();
    let ground = Ground {
        issue,
        versions: &versions,
        claims: &cx.found.claims,
        reported: cx.found.reported.as_ref(),
        is_named: !cx.settings.signature.is_empty(),
        program: &program,
        installed: &installed,
        chance: &chance,
        is_refused,
        runs: cx.found.ran_with.as_ref().map_or(0, |ran| ran.of),
    };
    let found = doubts(&ground);
    for doubt in found {
        // Findings that a repair has reported already are not repeated.
        let is_known = cx
            .found
            .doubts
            .iter()
            .any(|known| known.kind == doubt.kind && known.kind == DoubtKind::Device);
        if !is_known {
            cx.found.doubts.push(doubt);
        }
    }
    Ok(())
}

/// Whether an older version shows the bug, in all its runs, and this one is newer than the fix.
/// Versions that contradict a fix are a separate doubt.
fn control(cx: &mut ScrubContext<'_>) -> Result<bool, Failure> {
    let installed = cx.installed()?;
    let Some(own) = installed.torch else {
        return Ok(cx.found.bisected.as_ref().is_some_and(|answer| {
            answer.is_fixed && answer.change.is_some() && shows_always(answer)
        }));
    };
    let Some(answer) = &cx.found.bisected else {
        return Ok(false);
    };
    let newest = answer.versions.iter().rev().find_map(|(version, probe)| {
        matches!(probe, Some(VersionProbe::Shows(_))).then_some(version)
    });
    match (&answer.change, newest) {
        (Some((_, after)), _) if answer.is_fixed && compare(after, &own).is_le() => {
            Ok(shows_always(answer))
        }
        (_, Some(newest)) => {
            let what = format!("{newest} shows the bug, and {own} is not newer than its fix");
            cx.found.doubts.push(Doubt::new(DoubtKind::Newer, what));
            Ok(false)
        }
        _ => Ok(false),
    }
}

/// Whether the version before the fix showed the bug in all its runs.
fn shows_always(answer: &BisectAnswer) -> bool {
    let Some((before, _)) = &answer.change else {
        return false;
    };
    answer.versions.iter().any(|(version, probe)| {
        version == before
            && matches!(probe, Some(VersionProbe::Shows(seen)) if !seen.ends_with(" runs)"))
    })
}

/// Searches for the version in the environments, then for the commit in the checkout.
fn versions(
    cx: &mut ScrubContext<'_>,
    showing: &Reproduction,
    number: Option<u64>,
    proven: ScrubEnd,
) -> Result<(), Failure> {
    if !is_searchable(showing) {
        return Ok(());
    }
    cx.step("5a", "when was it fixed?");
    let seen = cx.found.ran_with.as_ref().map(|ran| ran.seen.clone());
    let cure = seen
        .filter(|_| proven == ScrubEnd::FailsProperly)
        .and_then(|seen| seen.split_once(", ").map(|(_, raised)| raised.to_owned()));
    let Some((answer, _)) = bisect(cx, showing, cure)? else {
        cx.decided(
            "there are no other versions to test; add some by `--interpreter VERSION=PYTHON` or \
             `--versions LIST --install`",
        );
        return Ok(());
    };
    cx.decided(&answer.describe());
    let reported = cx.found.reported.as_ref().map(|reported| &reported.what);
    if let (Some((before, after)), Some(checkout), Some(failure)) = (
        &answer.change,
        &cx.settings.pytorch,
        answer.failure.as_ref().or(reported),
    ) && answer.is_fixed
    {
        let found = change::candidates(checkout, (before, after), number, failure, cx.tools)?;
        for candidate in &found.changes {
            cx.decided(&format!(
                "perhaps fixed by {} {} ({})",
                candidate.commit,
                candidate.subject,
                candidate.reasons.join("; ")
            ));
        }
        for gap in &found.gaps {
            cx.decided(gap);
        }
        cx.found.changes = found.changes;
    }
    cx.found.bisected = Some(answer);
    Ok(())
}

/// Finds a version at hand that does not have the bug, for a script that shows it: the one next to
/// those that show it. Returns its interpreter.
pub(in crate::scrub) fn version_without_it(
    cx: &mut ScrubContext<'_>,
    showing: &Reproduction,
) -> Result<Option<PathBuf>, Failure> {
    if !is_searchable(showing) {
        return Ok(None);
    }
    let Some((answer, environments)) = bisect(cx, showing, None)? else {
        return Ok(None);
    };
    cx.decided(&answer.describe());
    let passing = answer.passing().and_then(|version| {
        let mut all = environments.into_iter();
        all.find(|environment| environment.version == version)
    });
    if let Some(passing) = &passing {
        cx.decided(&format!(
            "control: the script passes with {}",
            passing.version
        ));
    }
    cx.found.bisected = Some(answer);
    Ok(passing.map(|passing| passing.python))
}

/// Whether another version would show the bug by the same signature: an assertion that the script
/// does not make itself may be any.
fn is_searchable(showing: &Reproduction) -> bool {
    let typed = &showing.signature;
    let is_assertion = typed.iter().any(|text| text == "AssertionError");
    let asserts = || Program::parse(&*showing.code).is_ok_and(|program| asserts(&program));
    !typed.is_empty() && (!is_assertion || asserts())
}

/// Searches the versions at hand, the installed one included, for the last change of the script's
/// behaviour; none if there is no other. A crash may be cured by an error.
fn bisect(
    cx: &mut ScrubContext<'_>,
    showing: &Reproduction,
    cure: Option<String>,
) -> Result<Option<(BisectAnswer, Vec<VersionEnvironment>)>, Failure> {
    let mut environments = environments(&cx.settings.search, cx.tools, cx.printer)?;
    let installed = cx.installed()?;
    if let Some(version) = installed.torch
        && !environments.is_empty()
        && !environments.iter().any(|known| known.version == version)
    {
        environments.push(VersionEnvironment {
            version,
            python: cx.runner.python(),
            env: Vec::new(),
        });
        environments.sort_by(|a, b| compare(&a.version, &b.version));
    }
    if environments.len() < 2 {
        return Ok(None);
    }
    let typed = showing.signature.iter();
    let specs: Vec<Spec> = typed.filter_map(|text| Spec::parse(text).ok()).collect();
    let question = BisectQuestion {
        code: &showing.code,
        env: &showing.env,
        specs: &specs,
        at_once: 3,
        timeout: cx.settings.timeout.max(Duration::from_secs(30)),
        times: RUNS,
        cure,
    };
    let answer = search(&question, &environments, &*cx.runner, cx.printer)?;
    Ok(Some((answer, environments)))
}
