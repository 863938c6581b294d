//! Runs programs and reports what they did. The only room that starts processes.
//!
//! A run is never an error of ours, whatever it does; only a failure to start one is. `Runner`
//! takes jobs, `schedule` decides when each of them starts, a `Backend`, cold or warm, runs it in
//! folders of a `Workspace`, and a supervisor in a separate process enforces its limits. Called by
//! the commands, which hand outcomes to the oracle.

mod backend;
mod background;
mod bounds;
mod capture;
mod cold;
mod confinement;
mod copies;
mod covered;
mod environment;
mod error;
mod guard;
mod handle;
mod helpers;
mod import_plan;
mod inquiry;
mod installed;
mod interpreter;
mod interpreters;
mod interrupts;
mod job;
mod launch;
mod limits;
mod orders;
mod outcome;
mod platform;
mod python;
mod question;
mod recording;
mod removal;
mod schedule;
mod scratch;
mod setup;
mod siblings;
mod stack;
mod stock;
mod streams;
mod supervise;
pub mod traceback;
mod warm;
mod workspace;
mod zygote;

pub use background::Priority;
pub use bounds::Confinement;
pub use covered::Covered;
pub use environment::EnvironmentDifference;
pub use error::RunError;
pub use handle::Runner;
pub use installed::{installed_path, is_installed, package_path};
pub use interpreter::{Interpreter, platform};
pub use interpreters::installed_interpreters;
pub use job::{Job, Start};
pub use limits::FILES;
pub use outcome::{Captured, End, Exception, Outcome, Resource, Timing, TracebackFrame};
pub use platform::machine_memory;
pub use setup::{Allowed, Command, Inherited, Limits, Sandbox, Setup};
pub use supervise::supervise;
