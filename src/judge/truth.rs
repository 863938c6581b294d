//! The last check of a result: which of the established conditions hold. A repro that shows the
//! words but lacks one of them may show another bug.

use serde::{Deserialize, Serialize};

/// The statement about the mechanism.
pub(super) const MECHANISM: &str = "it fails by the mechanism of the script's own failure";

/// The findings of the checks on a result.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Truth {
    /// The findings, one for each applicable check.
    pub findings: Vec<CheckFinding>,
    /// Whether one of them is a control: a setting under which the script does not show the bug.
    pub has_control: bool,
    /// The check that could not be made, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
}

/// The finding of one check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CheckFinding {
    /// The statement that must hold for the result: `it succeeds without the compiler`.
    pub claim: String,
    /// Whether it does.
    pub holds: bool,
}

impl Truth {
    /// Whether all checks hold.
    pub fn is_verified(&self) -> bool {
        self.findings.iter().all(|finding| finding.holds)
    }
}
