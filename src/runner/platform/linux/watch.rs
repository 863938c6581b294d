//! The supervisor of one run: enforces its limits and ends everything that is left of it. When the
//! other end of the socket closes, however minrepro died, it ends the run. Called by `carry_out`.

use std::time::{Duration, Instant};

use rustix::{
    event::{PollFd, PollFlags, poll},
    stdio,
};

use super::{
    init::Init,
    process_tree::{self, Idleness},
    run_clock::RunClock,
    standstill::Standstill,
    usage::exceeded,
};
use crate::runner::{
    bounds::Bounds,
    limits::{GRACE, GRACE_FOR_LEFTOVERS, TICK, timespec},
    orders::{Reply, RunLimits, RunOrder},
    outcome::{End, Timing},
    question::ask,
};

/// Runs one program to its end, whichever comes first.
pub(super) fn watch(order: RunOrder) -> Reply {
    // The time limit holds for the start, too: a program that cannot be started must not hang.
    let mut clock = RunClock::start();
    let bounds = &order.bounds;
    let mut standstill = Standstill::new(bounds.confinement.is_whole() && !bounds.network);
    let mut init = match Init::start(order.bounds, Some(order.program)) {
        Ok(init) => init,
        Err(reason) => return Reply::NotStarted(reason),
    };
    let (reply, limit) = observe(&mut init, &order.limits, &mut clock, &mut standstill);
    let wall = clock.started().elapsed();
    let grace = match limit {
        None => GRACE_FOR_LEFTOVERS,
        Some(End::Timeout) => GRACE,
        Some(_) => Duration::ZERO,
    };
    // A timeout says where it hung only if the interpreter prints its stack.
    if limit == Some(End::Timeout) && order.limits.shows_stack {
        order.limits.question.as_deref().map(ask);
        process_tree::abort_child(init.child.id());
        init.wait(GRACE);
    }
    init.end(grace);
    let ended = |end, wall| Reply::Ended {
        end,
        timing: Timing {
            wall,
            cpu: process_tree::cpu_of_children(),
            delay: clock.delay(),
            stuck: limit == Some(End::Timeout) && standstill.is_one(),
            ..Timing::default()
        },
    };
    match (limit, reply) {
        (Some(end), _) => ended(end, wall),
        (None, Some(Reply::Ended { end, timing })) => ended(end, timing.wall),
        (None, Some(reply)) => reply,
        // The program killed its init process, which nothing but a KILL does.
        (None, None) => ended(End::Signal(9), wall),
    }
}

/// Tries whether a run can be confined so.
pub(super) fn attempt(bounds: Bounds) -> Reply {
    match Init::start(bounds, None) {
        Ok(mut init) => {
            let reply = init.reply();
            init.end(Duration::ZERO);
            reply.unwrap_or_else(|| Reply::NotStarted("the first process inside was killed".into()))
        }
        Err(reason) => Reply::NotStarted(reason),
    }
}

/// Waits for the end of the program, the end of minrepro, or an exceeded limit. Returns the reply
/// of the init process if there is one, and the exceeded limit if there is one.
fn observe(
    init: &mut Init,
    limits: &RunLimits,
    clock: &mut RunClock,
    standstill: &mut Standstill,
) -> (Option<Reply>, Option<End>) {
    let mut next_look = Instant::now() + TICK;
    let mut looks = 0u32;
    let mut idleness = Idleness::default();
    loop {
        let now = Instant::now();
        if now >= next_look.min(clock.reaches(limits.timeout)) {
            looks += 1;
            let pids = process_tree::descendants(std::process::id());
            if clock.has_reached(limits.timeout, &pids) {
                return (None, Some(End::Timeout));
            }
            if let Some(resource) = exceeded(limits, &pids, &limits.scratch, looks) {
                return (None, Some(End::Limit(resource)));
            }
            // The first process below is the run's own init, which always waits.
            let is_stuck = standstill.look(pids.get(1..).unwrap_or_default());
            if is_stuck
                || limits
                    .idle
                    .is_some_and(|most| idleness.look(&pids) * TICK >= most)
            {
                return (None, Some(End::Timeout));
            }
            next_look = Instant::now() + TICK;
        }
        let until = next_look
            .min(clock.reaches(limits.timeout))
            .saturating_duration_since(now);
        let ours = stdio::stdin();
        let mut fds = [
            PollFd::from_borrowed_fd(ours, PollFlags::IN),
            PollFd::new(init.socket.get_ref(), PollFlags::IN),
        ];
        // A millisecond more, or the loop would turn without sleeping just before a look is due.
        let seen = poll(&mut fds, Some(&timespec(until + Duration::from_millis(1))));
        let [minrepro, program] = fds.map(|fd| seen.is_ok() && !fd.revents().is_empty());
        // The end of the program comes first: its outcome counts even if minrepro dies with it.
        if program {
            return (init.reply(), None);
        }
        if minrepro {
            return (None, Some(End::Signal(9)));
        }
    }
}
