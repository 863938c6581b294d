//! Decides whether a run shows the same bug. The script's own runs set the standard (baseline),
//! each candidate is judged against it, and checks look for objections to a candidate that shows
//! the signature. Called by the commands; the engine knows only the contract.
//!
//! To add a check, write one file in `checks/` and name it in the list of `checks/mod.rs`.

mod baseline;
mod calibration;
mod check;
mod checks;
mod confirmation;
mod contract;
mod control_run;
mod error;
mod inlining;
mod inspection;
mod kept;
mod library_calls;
mod measure;
mod objection;
mod observer;
mod probe;
mod repetition;
mod runner_judge;
mod seeding;
mod subject;
mod truth;

pub use baseline::{Established, FirstStep, establish};
pub use calibration::Calibration;
pub use check::Checks;
pub use confirmation::{CONFIRMING_RUNS, Confirmed, confirm};
pub use contract::{Candidate, Halt, Judge, Judged, Retraction};
pub use error::BaselineFailure;
pub use inlining::{Alone, Inlining, inline, stands_alone};
pub use inspection::{Inspection, inspect};
pub use kept::Kept;
pub use measure::Measure;
pub use probe::{ControlSetting, Demand, GivenControl, Probe};
pub use runner_judge::RunnerJudge;
pub use subject::{FLAKY_RUNS, Settings, Subject, Warmth, cores};
pub use truth::{CheckFinding, Truth};
