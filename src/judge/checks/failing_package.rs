//! Whether the failure still has to do with the package in whose code it happened. Where code of a
//! package calls another's native code with wrong arguments, that native code is right to refuse
//! them: called by the script in the same way, it fails in the same words.

use minrepro_reducers::analysis::dependence_check::packages;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{
    check::{Applied, Check, Checks, Kind, Script},
    objection::Shown,
};
use crate::oracle::{RaiseOrigin, Verdict, failing_package};

pub(super) const KIND: Kind = Kind {
    id: "failing-package",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<FailingPackage>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates whose failing statement does without this package.
#[derive(Debug, Serialize, Deserialize)]
struct FailingPackage(String);

/// Applies if native code that a package called raised the exception, and no control shows that
/// the script is right.
#[expect(
    clippy::unnecessary_wraps,
    reason = "other kinds run the script and may fail"
)]
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    // What the package itself raises, only it can raise.
    let is_native = |origin: RaiseOrigin| !origin.stated;
    let package = script
        .uncontrolled_exception(so_far)
        .filter(|raised| RaiseOrigin::of(raised).is_some_and(is_native))
        .and_then(failing_package);
    Ok(package.map(|package| Box::new(FailingPackage(package.to_owned())) as Box<dyn Check>))
}

impl Check for FailingPackage {
    fn review_without_runs(&self, shown: &Shown<'_>) -> Option<Verdict> {
        let Self(package) = self;
        // Its code may have been extracted, or lead to a failure by itself.
        let calls_it = || packages(shown.program, &shown.failed_at, None).contains(package);
        let holds = shown.failing_package.as_ref() == Some(package) || calls_it();
        (!holds).then_some(Verdict::Vacuous)
    }

    fn claim(&self) -> Option<String> {
        Some(format!("it fails in `{}`, or depends on it", self.0))
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
