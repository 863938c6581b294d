//! Whether objects of the script's own classes still speak a protocol of the library that fails on
//! them. A library may ask whether a class has such a method without ever calling it, and refuses
//! with good reason what has none. Once the bug is mended, it may be called.

use minrepro_reducers::analysis::protocols::Protocols;
use serde_json::Value;

use super::super::{
    check::{Applied, Check, Checks, Kind, Script},
    objection::Shown,
};
use crate::oracle::{Verdict, is_in_library, own_lines};

pub(super) const KIND: Kind = Kind {
    id: "protocols",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<Protocols>(found.clone()).ok()?,
        ))
    },
};

/// Applies if a library raises the exception, the failing statement depends on such methods, and no
/// control shows that the script is right.
#[expect(
    clippy::unnecessary_wraps,
    reason = "other kinds run the script and may fail"
)]
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let exception = script
        .uncontrolled_exception(so_far)
        .filter(|raised| is_in_library(raised));
    let found = exception
        .map(|raised| Protocols::of(script.program, &own_lines(raised)))
        .unwrap_or_default();
    Ok((!found.is_empty()).then(|| Box::new(found) as Box<dyn Check>))
}

impl Check for Protocols {
    fn review_without_runs(&self, shown: &Shown<'_>) -> Option<Verdict> {
        // A class may be merged with another, so its name does not count.
        let its = Protocols::of(shown.program, &shown.failed_at);
        (!self.has_left(&its)).then_some(Verdict::Vacuous)
    }

    fn claim(&self) -> Option<String> {
        let names: Vec<String> = self.names().map(|name| format!("`{name}`")).collect();
        Some(format!("its objects have {}", names.join(" or ")))
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
