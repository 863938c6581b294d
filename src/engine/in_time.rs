//! Work that takes long on a long script, on other threads, so that the search never misses its
//! deadline: a caller waits for it only as long as there is time. Called by the search.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc,
    thread,
    time::Instant,
};

/// Does tasks at once, and returns the result of each, in their order, a panic included. `None` if
/// the time is up before the last has ended: running tasks go on, and nobody waits for them.
pub(super) fn all_in_time<T: Send + 'static>(
    until: Option<Instant>,
    tasks: impl IntoIterator<Item = impl FnOnce() -> T + Send + 'static>,
) -> Option<Vec<thread::Result<T>>> {
    let (sender, receiver) = mpsc::channel();
    let mut found: Vec<Option<thread::Result<T>>> = Vec::new();
    for (index, task) in tasks.into_iter().enumerate() {
        found.push(None);
        let sender = sender.clone();
        rayon::spawn_fifo(move || {
            if !is_over(until) {
                let result = catch_unwind(AssertUnwindSafe(task));
                // Where the time is up, nobody listens.
                let _ = sender.send((index, result));
            }
        });
    }
    drop(sender);
    for _ in 0..found.len() {
        let received = match until {
            Some(end) => receiver
                .recv_timeout(end.saturating_duration_since(Instant::now()))
                .ok(),
            None => receiver.recv().ok(),
        };
        let (index, result) = received?;
        found[index] = Some(result);
    }
    found.into_iter().collect()
}

/// Whether the time is up.
pub(super) fn is_over(until: Option<Instant>) -> bool {
    until.is_some_and(|end| Instant::now() >= end)
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, time::Duration};

    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_tasks_and_panics_with_them() {
        let tasks = (0..9).map(|number| move || assert_ne!(number, 4));
        let found = all_in_time(None, tasks).unwrap();
        let failed: Vec<usize> = (0..9).filter(|&at| found[at].is_err()).collect();
        assert_eq!(failed, [4]);
    }

    #[test]
    fn nobody_waits_for_what_takes_longer_than_there_is_time() {
        let (release, wait) = mpsc::channel::<()>();
        let until = Some(Instant::now() + Duration::from_millis(20));
        assert!(all_in_time(until, [move || wait.recv()]).is_none());
        assert!(is_over(until));
        drop(release);
        assert!(all_in_time(until, [|| ()]).is_none());
    }
}
