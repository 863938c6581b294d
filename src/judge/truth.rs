//! The last check of a result: which of the established conditions hold. A repro that shows the
//! words but lacks one of them may show another bug.

use serde::{Deserialize, Serialize};

/// What is said of the mechanism.
pub(super) const MECHANISM: &str = "it fails by the mechanism of the script's own failure";

/// What the checks found of a result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Truth {
    /// The findings, one for each check that applies.
    pub findings: Vec<CheckFinding>,
    /// Whether one of them is a control: a setting under which the script does not show the bug.
    pub has_control: bool,
    /// What could not be looked at, if nothing could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
}

/// What one check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CheckFinding {
    /// What must hold of the result: `it succeeds without the compiler`.
    pub claim: String,
    /// Whether it does.
    pub holds: bool,
}

impl Truth {
    /// Whether all that was looked at holds.
    pub fn is_verified(&self) -> bool {
        self.findings.iter().all(|finding| finding.holds)
    }
}
