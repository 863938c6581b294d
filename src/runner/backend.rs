//! The seam between scheduling and running: a backend runs one job, or leaves it to the next one.
//! Called by the runner; `cold` and `warm` implement it and do not know each other.

use std::{future::Future, pin::Pin, sync::Arc};

use tokio::sync::watch;

use super::{error::RunError, job::Job, outcome::Outcome};

/// The result of a run; nothing if it was stopped before its end, or not taken.
pub(super) type Ended = Result<Option<Outcome>, RunError>;

/// Becomes true when all runs must stop.
pub(super) type Stop = watch::Receiver<bool>;

/// A run under way.
pub(super) type Running<'a> = Pin<Box<dyn Future<Output = Ended> + Send + 'a>>;

/// A way to run jobs.
pub(super) trait Backend: Send + Sync {
    /// Runs one job. Nothing comes of it if it was stopped, or if this backend does not take it.
    fn run<'a>(&'a self, job: &'a Job, stop: Stop) -> Running<'a>;
}

/// Runs a job by the first backend that takes it.
pub(super) async fn run_by(backends: &[Arc<dyn Backend>], job: &Job, stop: Stop) -> Ended {
    for backend in backends {
        let outcome = backend.run(job, stop.clone()).await?;
        // A run that was stopped looks like one that was not taken, and must not begin again on the
        // next backend.
        if outcome.is_some() || *stop.borrow() {
            return Ok(outcome);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::runner::outcome::{Captured, End, Timing};

    /// Takes jobs with this source alone.
    struct Only(&'static [u8]);

    impl Backend for Only {
        fn run<'a>(&'a self, job: &'a Job, _: Stop) -> Running<'a> {
            let outcome = (*job.source == *self.0).then(|| Outcome {
                end: End::Exit(0),
                timing: Timing::default(),
                stdout: Captured::whole(String::from_utf8_lossy(self.0)),
                stderr: Captured::default(),
                exception: None,
                stack: Vec::new(),
                other_stacks: Vec::new(),
                trace: None,
            });
            Box::pin(async { Ok(outcome) })
        }
    }

    #[test]
    fn the_first_backend_that_takes_a_job_runs_it() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let backends: [Arc<dyn Backend>; 2] = [Arc::new(Only(b"warm")), Arc::new(Only(b"cold"))];
        let stop = watch::Sender::new(false);
        let run = |source: &[u8]| {
            let job = Job::new(source.into(), Duration::ZERO);
            let outcome = runtime
                .block_on(run_by(&backends, &job, stop.subscribe()))
                .unwrap();
            outcome.map(|outcome| outcome.stdout.head)
        };
        assert_eq!(run(b"warm").as_deref(), Some("warm"));
        assert_eq!(run(b"cold").as_deref(), Some("cold"));
        assert_eq!(run(b"none"), None);
        stop.send_replace(true);
        assert_eq!(run(b"cold"), None);
    }
}
