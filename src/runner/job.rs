//! A run to be made. Created by the judge and the commands.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

/// One run: these bytes as the script, under this time limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// The script's bytes, in its own encoding.
    pub source: Arc<[u8]>,
    /// Wall-time limit.
    pub timeout: Duration,
    /// For how long nothing of the run may do anything but wait before it counts as timed out.
    /// `None`: as long as it likes.
    pub idle: Option<Duration>,
    /// Whether the run records what the script does. Only
    /// [`Command::Python`](super::Command::Python) can be traced.
    pub traced: bool,
    /// Texts of which a traced run notes where it prints them.
    pub sought: Arc<[String]>,
    /// Where a traced run crashed, files and lines, outermost first. A process that crashes can
    /// write nothing more, so this run writes its findings each time it reaches this place.
    pub crash_stack: Arc<[(String, u32)]>,
    /// Whether a traced run is to hang, and is asked where it does.
    pub hangs: bool,
    /// Whether a traced run is to die or to hang, and keeps its last lines where they outlive it.
    pub keeps_last: bool,
    /// How the run starts. A run with variables of its own always starts in a fresh interpreter.
    pub start: Start,
    /// Variables that are set, or not set, besides those of all runs.
    pub variables: Arc<[(String, Option<String>)]>,
    /// The interpreter, if it is another than that of the setup. Such a run is cold and is not traced.
    pub interpreter: Option<Arc<Path>>,
    /// A folder that receives the files that the run leaves in the folder named by `ARTIFACTS`.
    /// Such a run is cold.
    pub artifacts: Option<PathBuf>,
}

/// The variable that tells a run where to leave files that are kept.
pub(super) const ARTIFACTS: &str = "MINREPRO_ARTIFACTS";

/// From where a run starts. A job that cannot run warm runs cold;
/// [`Runner::why_cold`](super::Runner::why_cold) says why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// A fresh interpreter.
    #[default]
    Cold,
    /// An interpreter that has imported nothing. Later warm runs find the imports of this run
    /// imported.
    Recorded,
    /// An interpreter that has imported the imports of a recorded run.
    Warm,
}

impl Job {
    /// A plain run.
    pub fn new(source: Arc<[u8]>, timeout: Duration) -> Self {
        Self {
            source,
            timeout,
            idle: None,
            traced: false,
            sought: Arc::default(),
            crash_stack: Arc::default(),
            hangs: false,
            keeps_last: false,
            start: Start::Cold,
            variables: Arc::default(),
            interpreter: None,
            artifacts: None,
        }
    }
}
