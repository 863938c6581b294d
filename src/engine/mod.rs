//! The reduce loop: passes propose, the engine plans batches, has them judged, folds the successes
//! and goes on until nothing more goes. Knows neither Python processes nor PyTorch; runs nothing
//! itself. Called by the commands.
//!
//! The batches depend on the program and the priors alone, never on the number of workers or on
//! time, and successes are folded in the order of their proposals: the result is the same however
//! many run at once. Chunks follow counter-based delta debugging (Zhang et al., "Deep Dive into
//! Probabilistic Delta Debugging", ICSE 2025).

mod ablation;
mod beliefs;
mod fold;
mod offer;
mod plan;
mod session;
mod types;

use std::sync::Arc;

use minrepro_reducers::{
    pass::{Pass, Stage},
    syntax::Program,
};

use crate::journal::Journal;
pub use crate::judge::{Candidate, Halt, Judge, Judged, Retraction};
pub use ablation::{Ablation, Tried, ablate};
use session::{Pursuit, Session};
pub use types::{Commit, Event, Kept, Options, Reduction, Spent, Stop, Tally};

/// What changes the program itself, not only its layout.
const MATTER: [Stage; 5] = [
    Stage::Environment,
    Stage::Clutter,
    Stage::Structure,
    Stage::Shape,
    Stage::Detail,
];

/// What the last sweep goes through.
const ALL: [Stage; 6] = [
    Stage::Environment,
    Stage::Clutter,
    Stage::Structure,
    Stage::Shape,
    Stage::Detail,
    Stage::Tidy,
];

/// Reduces a program that is known to show the bug.
pub fn reduce(
    program: impl Into<Arc<Program>>,
    passes: &[&'static Pass],
    judge: &mut dyn Judge,
    journal: &mut Journal,
    options: &Options,
    watch: &mut dyn FnMut(&Event<'_>, &Tally),
) -> Reduction {
    let mut session = Session::new(program.into(), passes, judge, journal, options, watch);
    let stop = search(&mut session).err().unwrap_or(Stop::Done);
    if matches!(stop, Stop::MaxRuns) {
        // What is not what it seemed is taken back; nothing else is left to do.
        let _ = session.confirm();
    }
    session.finish(stop)
}

/// What makes all later runs cheaper first; then bold before fine: what evidence suggests for the
/// program as a whole, then what promises most for a run, the whole again whenever much is gone;
/// then the layout, and everything once more, one by one, on the program as it is then. That last
/// sweep is the proof that no single proposal is left.
fn search(session: &mut Session<'_>) -> Result<(), Stop> {
    session.declutter()?;
    session.pursue(&[Stage::Environment])?;
    session.leaps()?;
    loop {
        session.begin_confirmation()?;
        while session.pursue(&MATTER)? == Pursuit::Shrunk || session.is_news() {
            session.leaps()?;
        }
        session.pursue(&[Stage::Tidy])?;
        session.begin_confirmation()?;
        // What is proved of a program that does not show the bug is worth nothing.
        if session.prove(&ALL)? == Pursuit::Exhausted && session.confirm()? {
            return Ok(());
        }
    }
}
