//! The clock of a run, which stops while the run is ready to work and other processes have the
//! processors. Limits use it, so a busy machine changes how long a verdict takes but not the
//! verdict. Called by the supervisors; reads `/proc` and owns no limit.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::process_tree::{self, Scheduled};

/// A run that gets next to nothing of a processor is ended after this many times its limit by the
/// clock on the wall: its machine is too busy to tell anything.
const PATIENCE: u32 = 30;

/// The clock of one run.
#[derive(Debug)]
pub(super) struct RunClock {
    started: Instant,
    /// The last check of the run's threads, and the time that each had been given until then.
    looked: Instant,
    threads: BTreeMap<u32, Scheduled>,
    /// For how long the run was kept from the processors.
    delay: Duration,
}

impl RunClock {
    /// Starts now.
    pub(super) fn start() -> Self {
        let started = Instant::now();
        Self {
            started,
            looked: started,
            threads: BTreeMap::new(),
            delay: Duration::ZERO,
        }
    }

    /// When it was started.
    pub(super) fn started(&self) -> Instant {
        self.started
    }

    /// For how long the run was kept from the processors, as far as it was looked at.
    pub(super) fn delay(&self) -> Duration {
        self.delay
    }

    /// The moment at which a limit is reached, if nothing delays the run from now on.
    pub(super) fn reaches(&self, limit: Duration) -> Instant {
        self.started + limit + self.delay
    }

    /// Looks at the processes of the run; returns whether it has had this much time.
    pub(super) fn has_reached(&mut self, limit: Duration, pids: &[u32]) -> bool {
        let now = Instant::now();
        let threads: BTreeMap<u32, Scheduled> = process_tree::threads(pids).collect();
        let mut since = Scheduled::default();
        for (thread, scheduled) in &threads {
            // A thread that is new has been given all of it since the last look.
            let before = self.threads.get(thread).copied().unwrap_or_default();
            since.ran += scheduled.ran.saturating_sub(before.ran);
            since.waited += scheduled.waited.saturating_sub(before.waited);
        }
        self.delay += delayed(now.duration_since(self.looked), since);
        self.looked = now;
        self.threads = threads;
        now >= self.reaches(limit) || now >= self.started + limit * PATIENCE
    }
}

/// For how long of this time its threads were kept from the processors. They wanted one for as long
/// as they ran and waited for one, and had it for the share of that in which they ran; for the rest
/// of the time they slept, and nobody kept them from anything.
fn delayed(time: Duration, since: Scheduled) -> Duration {
    let wanted = since.ran + since.waited;
    if wanted.is_zero() {
        return Duration::ZERO;
    }
    time.min(wanted)
        .mul_f64(since.waited.div_duration_f64(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(time: u64, ran: u64, waited: u64, expected: u64) {
        let [ran, waited] = [ran, waited].map(Duration::from_millis);
        let found = delayed(Duration::from_millis(time), Scheduled { ran, waited });
        assert_eq!(found, Duration::from_millis(expected));
    }

    #[test]
    fn only_time_in_which_the_run_wanted_a_processor_and_had_none_is_a_delay() {
        // Alone, asleep, starved, half asleep, two threads of which each had half a processor.
        check(50, 50, 0, 0);
        check(50, 0, 0, 0);
        check(50, 10, 40, 40);
        check(50, 5, 20, 20);
        check(50, 50, 50, 25);
    }

    #[test]
    fn a_limit_moves_on_by_the_delay() {
        let mut clock = RunClock::start();
        let limit = Duration::from_secs(1);
        assert_eq!(clock.reaches(limit), clock.started + limit);
        clock.delay = Duration::from_secs(3);
        assert_eq!(clock.reaches(limit), clock.started + Duration::from_secs(4));
        assert!(!clock.has_reached(limit, &[]));
    }
}
