//! The numbers that steer the search, in one place, each with the trade-off that it balances. They
//! decide which candidates are tried and in which order, never whether a result is right: the final
//! sweep and the confirmation do not depend on them. None may depend on the number of workers or on
//! time, or the result would, too.
//!
//! Where no measurement is named, none is recorded: the number was chosen while the corpus was run
//! as a whole.

/// The size of a batch at most. Larger batches keep more workers busy; smaller ones use what the
/// previous batch taught. Fixed, so that results do not depend on the number of workers. Workers
/// that a batch leaves idle make speculative runs.
pub(super) const BATCH: usize = 8;

/// Into at least so many chunks a long row of proposals is cut. In a long row something is nearly
/// always needed, so that all of it together would be a wasted run; an eighth fails cheaply, and
/// eight of them fill one batch.
pub(super) const CHUNKS: usize = 8;

/// The divisor for a rejected chunk's next attempt. Halves, as in classic delta debugging, spend
/// more runs on chunks that are still too large; quarters spend more on chunks that are too small.
pub(super) const SHRINK: usize = 3;

/// The number of chunks to choose at once, at most, while most chosen chunks need no run. Choosing
/// walks over all proposals, so choosing a few at a time would be slow for a script of thousands of
/// lines. Surplus chunks are thrown away.
pub(super) const MOST_CHOSEN: usize = 256;

/// The weight of a pass's own prior, in candidates, against acceptances and rejections. Low enough
/// that one batch of eight can reverse it, high enough that one candidate cannot.
pub(super) const PRIOR_WEIGHT: f64 = 4.0;

/// The least and, from one, the most probability: nothing is impossible, so that rejections that
/// were due to a neighbour in the chunk can be made up for.
pub(super) const LEAST_PROBABILITY: f64 = 0.001;

/// The least assumed gain of a proposal, in tokens. Some gain none, for example a plainer literal.
/// With no gain, they would never be chosen.
pub(super) const LEAST_GAIN: f64 = 0.25;

/// From which probability on clutter is removed before all else, all at once.
pub(super) const CLEARLY_CLUTTER: f64 = 0.5;

/// How many tokens on each side are part of a proposal's fingerprint. None, and equal statements in
/// different places would count as one; more, and each change nearby would make an old proposal new
/// and have it rejected once more.
pub(super) const CONTEXT: usize = 1;

/// Down to how many tenths of its tokens a program has shrunk since the last traced run when
/// another is worth its run.
pub(super) const SHRUNK_TENTHS: u32 = 8;

/// The size of a trace-guided candidate at most, in tenths of the program's tokens. Single changes
/// reach smaller gains as well, and leave more of the author's text.
pub(super) const GAINING_TENTHS: u32 = 9;

/// How many trace-guided candidates may miss in a row before the first has hit. Each is a run of
/// nearly the whole program; but one that hits saves hundreds.
pub(super) const FIRST_GUESSES: usize = 32;

/// The same for later traced runs: another trace seldom shows what the first one could not show.
pub(super) const LATER_GUESSES: usize = 5;

/// After how many waves of them whose failures name nothing new it is given up: the next would
/// repeat the same mistake.
pub(super) const STALE_WAVES: usize = 2;

/// Up to which quotient of their tokens two trace-guided candidates count as about as large: of
/// such the larger is tried alone. A twentieth is a name or two in a small program.
pub(super) const ABOUT_AS_LARGE: (u32, u32) = (21, 20);

/// The size of a program, in tenths of the last confirmed one, at which another confirmation in a
/// fresh interpreter is worth its time. It bounds the cost of one wrongly accepted candidate: half
/// of the program.
pub(super) const CONFIRM_TENTHS: u32 = 5;

/// After how many runs since the last confirmation began another is worth its time, whatever the
/// program has shrunk by since: so much work is too much to lose. A confirmation may take as long
/// as twenty warm runs, so more often would cost a script that needs none.
pub(super) const CONFIRM_RUNS: u64 = 64;

/// The number of runs after which the answer of a parallel confirmation is read. By then it has
/// ended, and nobody waits. The fewer, the less is built on a program that does not hold.
pub(super) const CONFIRM_ANSWER: u64 = 16;

/// Up to how many tokens a program is confirmed as the result alone: so little is soon done.
pub(super) const SOON_DONE: u32 = 50;

/// The number of runs left in the final sweep when its program is confirmed in parallel: about as
/// many as take as long as the confirmation, so that neither waits for the other.
pub(super) const CONFIRM_BEFORE_END: usize = 24;
