//! Whether the words of a bug tell of it at all. A text that the script prints without a condition
//! is printed by a sound program as well, once it comes there; and if the script only prints what a
//! package hands to a function of it, nothing in the script says that this is wrong. Where no
//! control shows it either, no run can show that a candidate has the bug. Takes no run.

use minrepro_reducers::analysis::filters::is_made_anyway;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    super::check::{Applied, Check, Checks, Kind, Script},
    printed,
};

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
enum SaidAnyway {
    /// The words are a text of the script.
    Text,
    /// The words are a value that a package hands over.
    HandedOver,
}

/// Applies where the bug is a text that the script prints whatever happens, or a value as a package
/// hands it over, and no control shows when it is not printed. A part without which the script
/// prints another value is a control of that value, but not of a text.
#[expect(
    clippy::unnecessary_wraps,
    reason = "other kinds run the script and may fail"
)]
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    let is_open = probe.measure.is_printed() && !so_far.has_full_control();
    let showing = script.showing.filter(|_| is_open);
    let site = showing.and_then(|showing| probe.measure.report_site(showing));
    // Where a value is among the words, a sound program may print another one.
    let is_text = probe.measure.is_written_in(program)
        && site.is_some_and(|site| is_made_anyway(program, &site));
    let found = if is_text {
        Some(SaidAnyway::Text)
    } else {
        // Any setting under which the value is another shows that the result has to do with it.
        let is_handed_over = || printed::is_handed_over(so_far) && !so_far.has_control();
        (showing.is_some() && is_handed_over()).then_some(SaidAnyway::HandedOver)
    };
    Ok(found.map(|found| Box::new(found) as Box<dyn Check>))
}

impl Check for SaidAnyway {
    fn is_unprovable(&self) -> bool {
        true
    }

    fn claim(&self) -> Option<String> {
        Some("a program without the bug does not print these words".to_owned())
    }

    fn describe(&self) -> Vec<String> {
        let text = match self {
            Self::Text => {
                "the script prints these words whatever happens, and so may a program without the \
                 bug: no result can be verified; give words that only the bug prints, or a setting \
                 without the bug by `--control`"
            }
            Self::HandedOver => {
                "the script prints a value as a package hands it over, and no setting is known under \
                 which it is another: no result can be verified; name one by `--control` or `--good`, \
                 or compare the value by `assert`"
            }
        };
        vec![text.to_owned()]
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
