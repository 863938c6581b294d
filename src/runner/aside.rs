//! A run beside the others, which takes one of their places. Called by the cold runner.

use tokio::task::{JoinError, JoinHandle};

use super::{error::RunError, outcome::Outcome};

/// What came of a run; nothing if it was ended before it was done.
pub(super) type Ended = Result<Option<Outcome>, RunError>;

/// A run beside the others.
#[derive(Default)]
pub(super) enum Aside {
    #[default]
    Nothing,
    Running(JoinHandle<Ended>),
    Ended(Box<Ended>),
}

impl Aside {
    pub(super) fn is_running(&self) -> bool {
        matches!(self, Self::Running(_))
    }

    /// Waits until it has ended.
    pub(super) async fn over(&mut self) {
        if let Self::Running(run) = self {
            let ended = run.await.map_err(broken).and_then(|ended| ended);
            *self = Self::Ended(Box::new(ended));
        }
    }
}

/// A task of ours that did not come to its end.
pub(super) fn broken(error: JoinError) -> RunError {
    RunError::Supervisor(std::io::Error::other(error))
}
