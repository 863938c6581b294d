//! Step 5a: finds the version and the commit that fixed the bug.

use std::time::Duration;

use super::{ScrubContext, reproduce::Reproduction};
use crate::{
    cli::Failure,
    oracle::Spec,
    scrub::{
        bisect::{BisectQuestion, environments, search},
        change,
    },
};

/// Searches for the version in the environments, then for the commit in the checkout.
pub(in crate::scrub) fn fixed(
    cx: &mut ScrubContext<'_>,
    showing: &Reproduction,
    number: Option<u64>,
) -> Result<(), Failure> {
    let typed = &showing.signature;
    if typed.is_empty() {
        return Ok(());
    }
    cx.step("5a", "when was it fixed?");
    let environments = environments(&cx.settings.search, cx.tools, cx.printer)?;
    if environments.len() < 2 {
        cx.decided("there are no other versions to test; add some by `--env VERSION=PYTHON` or `--versions LIST --install`");
        return Ok(());
    }
    let specs: Vec<Spec> = typed
        .iter()
        .filter_map(|text| Spec::parse(text).ok())
        .collect();
    let question = BisectQuestion {
        code: &showing.code,
        env: &showing.env,
        specs: &specs,
        at_once: 3,
        timeout: cx.settings.timeout.max(Duration::from_secs(30)),
    };
    let answer = search(&question, &environments, &*cx.runner, cx.printer)?;
    cx.decided(&answer.describe());
    if let (Some((before, after)), Some(checkout), Some(reported)) =
        (&answer.change, &cx.settings.pytorch, &cx.found.reported)
        && answer.is_fixed
    {
        let found =
            change::candidates(checkout, (before, after), number, &reported.what, cx.tools)?;
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
    cx.found.fixed = Some(answer);
    Ok(())
}
