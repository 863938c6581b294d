//! The events that end runs from outside: signals to minrepro, and its deadline. Called by
//! `schedule`.

use std::{future::pending, io, task::Poll, time::Instant};

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that ask minrepro to end.
pub(super) struct Signals(Vec<(i32, Signal)>);

impl Signals {
    /// Begins to listen to signals.
    pub(super) fn listen() -> io::Result<Self> {
        let kinds = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
        ];
        let listening = kinds.map(|kind| Ok((kind.as_raw_value(), signal(kind)?)));
        listening.into_iter().collect::<io::Result<_>>().map(Self)
    }

    /// Waits for the next one.
    pub(super) async fn next(&mut self) -> i32 {
        std::future::poll_fn(|context| {
            for (number, signal) in &mut self.0 {
                if signal.poll_recv(context).is_ready() {
                    return Poll::Ready(*number);
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// Waits for a deadline, if there is one.
pub(super) async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => pending().await,
    }
}

/// Ends minrepro at once. The guard and the supervisors see their sockets close and clean up.
#[expect(clippy::exit, reason = "a second signal means at once")]
pub(super) fn quit(signal: i32) -> ! {
    std::process::exit(128 + signal)
}
