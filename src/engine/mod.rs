//! The search: passes propose edits, and the engine plans batches, has them judged, folds the
//! successes and goes on until nothing more can be removed. Knows neither Python processes nor
//! PyTorch and runs nothing itself. Called by the commands.
//!
//! The batches depend only on the program and the priors, never on the number of workers or on
//! time. Successes are folded in the order of their proposals. So the result is the same for any
//! number of workers. Chunks follow counter-based delta debugging (Zhang et al., "Deep Dive into
//! Probabilistic Delta Debugging", ICSE 2025).

mod ablation;
mod base;
mod in_time;
mod priors;
mod proposal_pool;
mod search;
mod tuning;
mod types;

use std::sync::Arc;

use minrepro_reducers::{
    pass::{Pass, Stage},
    syntax::Program,
};

use crate::journal::Journal;
pub use crate::judge::{Candidate, Halt, Judge, Judged, Retraction};
pub use ablation::{Ablated, Ablation, ablate};
use search::{Search, SearchEnd};
pub use types::{Commit, Event, Options, Reduction, SearchStep, Spent, Stop, Tally, WhyKept};

/// The stages that change the program itself, not only its layout.
const MATTER: [Stage; 5] = [
    Stage::Environment,
    Stage::Clutter,
    Stage::Structure,
    Stage::Shape,
    Stage::Detail,
];

/// The stages of the final sweep.
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
    let mut search = Search::new(program.into(), passes, judge, journal, options, watch);
    let stop = run(&mut search).err().unwrap_or(Stop::Done);
    if matches!(stop, Stop::MaxRuns | Stop::Halted(Halt::MaxTime)) {
        // The budget is spent, but a result that does not show the bug is worth less than none. A
        // confirmation that cannot be made leaves the result unconfirmed, which the report says.
        search.end_of_search();
        let _ = search.confirm();
    }
    search.finish(stop)
}

/// The whole search, bold before fine: first, proposals that make all later runs cheaper; then
/// candidates that a traced run suggests for the whole program; then the most promising chunks,
/// with another trace whenever much was removed; then the layout. Last, it tries everything once
/// more, one by one, on the final program. This final sweep is the proof that no single proposal is
/// left.
fn run(search: &mut Search<'_>) -> Result<(), Stop> {
    search.declutter()?;
    // Before the trace: on the CPU and without a compiler, each of the runs that follow is shorter.
    search.greedy_search(&[Stage::Environment])?;
    search.begin_step(SearchStep::TraceGuided);
    search.trace_guided()?;
    loop {
        search.begin_step(SearchStep::Parts);
        search.begin_confirmation()?;
        loop {
            while search.greedy_search(&MATTER)? == SearchEnd::Shrunk || search.is_worth_tracing() {
                search.trace_guided()?;
            }
            if !search.move_failing() {
                break;
            }
        }
        // Layout last: it hardly ever matters to the bug, and least of it is left now.
        search.begin_step(SearchStep::Layout);
        search.greedy_search(&[Stage::Tidy])?;
        search.begin_step(SearchStep::FinalSweep);
        search.begin_confirmation()?;
        // A proof about a program that does not show the bug is worth nothing: it is confirmed, and
        // if it does not hold, all begins again from the last program that did.
        if search.final_sweep(&ALL)? == SearchEnd::Exhausted && search.confirm()? {
            return Ok(());
        }
    }
}
