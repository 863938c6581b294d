//! The outcome of a run as data. Nothing here judges an outcome (the oracle does) or runs anything.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::installed::is_installed;

/// The outcome of one run of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// How the run ended.
    pub end: End,
    /// How long it took.
    pub timing: Timing,
    /// Standard output, capped.
    pub stdout: Captured,
    /// Standard error, capped.
    pub stderr: Captured,
    /// The exception that standard error shows last, if it shows one.
    pub exception: Option<Exception>,
    /// Where the program was when it died of a signal or was ended for taking too long, outermost
    /// frame first; source lines are those of the script alone. Empty if the interpreter
    /// printed none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<TracebackFrame>,
    /// Where the other threads were, and those of its other processes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_stacks: Vec<Vec<TracebackFrame>>,
    /// The notes of a traced run: a JSON object, [`minrepro_reducers::trace::evidence::Evidence`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

impl Outcome {
    /// The lines of the script at which it died or was ended, outermost frame first.
    pub fn own_stack_lines(&self) -> Vec<u32> {
        // A thread does not begin in the script.
        let script = self
            .stack
            .iter()
            .find(|frame| !is_installed(&frame.file))
            .map(|first| &first.file);
        let own = self.stack.iter();
        let own = own.filter(|frame| Some(&frame.file) == script);
        own.map(|frame| frame.line).collect()
    }
}

/// How long a run took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Wall time from start to end.
    pub wall: Duration,
    /// User and system time of the whole process tree, as far as the kernel attributed it.
    pub cpu: Duration,
    /// The part of the wall time in which it could work and other processes had the processors.
    pub delay: Duration,
    /// Whether it was ended because all of it waited for something that could never come.
    #[serde(default)]
    pub stuck: bool,
    /// How long a traced run had taken when it last came to a line of the script that it had not
    /// come to before; known of runs that keep their last lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<Duration>,
}

impl Timing {
    /// How long the run would have taken on a machine with nothing else to do.
    pub fn alone(self) -> Duration {
        self.wall.saturating_sub(self.delay)
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The main process exited with this status.
    Exit(i32),
    /// The main process died of this signal.
    Signal(i32),
    /// The time limit passed and the whole tree was killed.
    Timeout,
    /// Another limit was passed and the whole tree was killed.
    Limit(Resource),
}

impl End {
    /// The status as a shell shows it: `128 + n` for signal `n`; none for runs that were stopped by
    /// a limit.
    pub fn shell_status(self) -> Option<i32> {
        match self {
            Self::Exit(code) => Some(code),
            Self::Signal(signal) => Some(128 + signal),
            Self::Timeout | Self::Limit(_) => None,
        }
    }
}

/// A resource that a run may use too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Resident memory of the process tree.
    Memory,
    /// Number of processes in the tree.
    Processes,
    /// Bytes in the scratch folder.
    Scratch,
}

/// One captured stream: its beginning, its end, and how long it was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Captured {
    /// The first bytes, decoded leniently; everything if nothing was cut.
    pub head: String,
    /// The last bytes, if something was cut between head and tail; else empty.
    pub tail: String,
    /// Bytes written in all.
    pub total: u64,
}

impl Captured {
    /// A stream that was not cut.
    pub fn whole(text: impl Into<String>) -> Self {
        let head = text.into();
        Self {
            total: head.len() as u64,
            head,
            tail: String::new(),
        }
    }

    /// The stream as one text, with a marker line instead of the cut part.
    pub fn text(&self) -> std::borrow::Cow<'_, str> {
        if self.tail.is_empty() {
            return self.head.as_str().into();
        }
        let cut = self
            .total
            .saturating_sub((self.head.len() + self.tail.len()) as u64);
        format!("{}\n[... {cut} bytes cut ...]\n{}", self.head, self.tail).into()
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }
}

/// An exception as a traceback shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// The class as printed, dots included: `torch._dynamo.exc.Unsupported`.
    pub class: String,
    /// The message, lines joined by `\n`, without the class; notes (PEP 678) follow as further
    /// lines.
    pub message: String,
    /// Frames, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<TracebackFrame>,
    /// The exceptions this one was raised from or during, first cause first; their own `chain` is
    /// empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chain: Vec<Exception>,
    /// Whether the last of these is its declared cause (`raise … from`) rather than the exception
    /// that was being handled.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_from_cause: bool,
    /// The members, if this is an exception group.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<Exception>,
}

impl Exception {
    /// The class without its module.
    pub fn short_class(&self) -> &str {
        self.class.rsplit('.').next().unwrap_or(&self.class)
    }
}

/// One frame of a traceback.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracebackFrame {
    /// The file as printed.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The function; `<module>` for top-level code; empty where the traceback names none (a
    /// `SyntaxError`'s place).
    pub function: String,
    /// The source line as printed, trimmed; empty if none was printed.
    pub code: String,
}
