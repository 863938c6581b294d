//! The reduce loop: passes propose, the engine plans batches, has them judged, folds the successes and goes on until
//! nothing more goes. Knows neither Python processes nor PyTorch; runs nothing itself. Called by the commands.
//!
//! The batches depend on the program and the priors alone, never on the number of workers or on time, and successes are
//! folded in the order of their proposals: the result is the same however many run at once. Chunks follow
//! counter-based delta debugging (Zhang et al., "Deep Dive into Probabilistic Delta Debugging", ICSE 2025).

mod fold;
mod plan;
mod round;
mod session;
mod types;

use std::sync::Arc;

use minrepro_reducers::{
    pass::{Pass, Stage},
    syntax::Program,
};

use crate::journal::Journal;
use round::Thoroughness;
use session::Session;
pub use types::{Candidate, Commit, Event, Halt, Judge, Judged, Kept, Options, Reduction, Stop, Tally};

/// Reduces a program that is known to show the bug.
pub fn reduce(
    program: Program,
    passes: &[&'static Pass],
    judge: &mut dyn Judge,
    journal: &mut Journal,
    options: &Options,
    watch: &mut dyn FnMut(&Event<'_>, &Tally),
) -> Reduction {
    let mut session = Session::new(Arc::new(program), passes, judge, journal, options, watch);
    let stop = search(&mut session).err().unwrap_or(Stop::Done);
    session.finish(stop)
}

/// Bold first, then fine: some stages at a time, then what is new, all stages at once, until nothing new is left to try; then
/// the layout, and everything once more, one by one, on the program as it is then. That last sweep is the proof that no
/// single proposal is left.
fn search(session: &mut Session<'_>) -> Result<(), Stop> {
    session.declutter()?;
    while session.leap()? {}
    session.stages(&[Stage::Clutter, Stage::Structure])?;
    while session.leap()? {}
    session.stages(&[Stage::Structure, Stage::Shape])?;
    while session.leap()? {}
    session.stages(&[Stage::Detail])?;
    while session.leap()? {}
    loop {
        let before = session.base_key();
        session.sweep(Thoroughness::New)?;
        if session.base_key() != before {
            continue;
        }
        session.stages(&[Stage::Tidy])?;
        let before = session.base_key();
        session.sweep(Thoroughness::Everything)?;
        if session.base_key() == before {
            return Ok(());
        }
    }
}
