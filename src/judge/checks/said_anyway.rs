//! Whether the words of a bug tell of it at all. A text that the script prints without a condition
//! is printed by a sound program as well, once it comes there: no run can show that a candidate has
//! the bug. Takes no run.

use minrepro_reducers::analysis::filters::is_made_anyway;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::check::{Applied, Check, Checks, Kind, Script};

pub(super) const KIND: Kind = Kind {
    id: "said-anyway",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<SaidAnyway>(found.clone()).ok()?,
        ))
    },
};

/// Says of each result that its cause is not known.
#[derive(Debug, Serialize, Deserialize)]
struct SaidAnyway;

/// Applies where the bug is a text that the script prints whatever happens, and no control shows
/// when it is not printed.
#[expect(
    clippy::unnecessary_wraps,
    reason = "other kinds run the script and may fail"
)]
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    let is_open = probe.measure.is_printed() && !so_far.has_full_control();
    let showing = script.showing.filter(|_| is_open);
    let site = showing.and_then(|showing| probe.measure.report_site(showing));
    let applies = site.is_some_and(|site| is_made_anyway(program, &site));
    Ok(applies.then(|| Box::new(SaidAnyway) as Box<dyn Check>))
}

impl Check for SaidAnyway {
    fn is_unprovable(&self) -> bool {
        true
    }

    fn claim(&self) -> Option<String> {
        Some("a program without the bug does not print these words".to_owned())
    }

    fn describe(&self) -> Vec<String> {
        vec![
            "the script prints these words whatever happens, and so may a program without the bug: \
             no result can be verified; give words that only the bug prints, or a setting without \
             the bug by `--control`"
                .to_owned(),
        ]
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
