//! The oracle: whether a run shows the same bug. Called by the judge and the commands; runs nothing
//! itself.

mod artifact;
mod baseline;
mod caught;
mod common_parts;
mod crash_site;
mod derive;
mod discrepancy;
mod exceptions;
mod fingerprint;
mod forms;
mod generated;
mod hang_place;
mod in_test;
mod likeness;
mod normalize;
mod obstacle;
mod origin;
mod pattern;
mod raise_site;
mod scale;
mod seed;
mod sequential_test;
mod shapes;
mod signals;
mod signature;
mod slips;
mod spec;
mod verdict;

pub use artifact::ReductionArtifact;
pub use baseline::{Baseline, BaselineError, summary};
pub use caught::Caught;
pub use crash_site::CrashSite;
pub use derive::{NotDerivable, derive};
pub use forms::{FORMS, HangKind, Part, SignatureForm, Stream};
pub use likeness::Likeness;
pub use obstacle::{Forbidden, Obstacle, forbidden_anywhere, obstacle};
pub use origin::{
    RaiseOrigin, Unfound, claim, compiled_lines, is_called_by_library, is_of_value, is_operation,
    lines_called_by_library, own_lines,
};
pub use pattern::{Pattern, WORD};
pub use raise_site::{RaiseSite, failing_package, is_in_library, is_later};
pub use scale::Scale;
pub use seed::Seed;
pub use sequential_test::SequentialTest;
pub use signature::Signature;
pub use slips::{Slip, ledger, looser};
pub use spec::{Spec, SpecError};
pub use verdict::{Difference, Verdict};

/// Grows whenever the same outcome would be judged differently, or evidence is written differently;
/// journals written under older rules are not read.
pub const RULES: u32 = 58;
