//! Runs this program once more, for a tool. The one place of this room that starts a process.

use std::{io, path::PathBuf, process::Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    task::JoinHandle,
};

/// A run of the program.
pub(super) struct OwnRun {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// Standard error is read in parallel with standard output: a full pipe would stop the program.
    said: JoinHandle<io::Result<Vec<u8>>>,
    is_cancelled: bool,
}

/// How a run of the program ended.
pub(super) struct OwnRunEnd {
    /// The exit status; none if it was killed.
    pub(super) code: Option<i32>,
    /// What it printed on standard error.
    pub(super) said: String,
}

impl OwnRun {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// It could not be started.
    pub(super) fn start(arguments: &[String]) -> io::Result<Self> {
        let mut child = command(std::env::current_exe()?)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A client that leaves takes its runs with it.
            .kill_on_drop(true)
            .spawn()?;
        let (Some(stdout), Some(mut stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let said = tokio::spawn(async move {
            let mut said = Vec::new();
            stderr.read_to_end(&mut said).await.map(|_| said)
        });
        Ok(Self {
            child,
            lines: BufReader::new(stdout).lines(),
            said,
            is_cancelled: false,
        })
    }

    /// The next line of its standard output. Once `cancelled` is set, the program is asked to end,
    /// as Ctrl-C asks: it stops everything that it started and writes the best result so far.
    ///
    /// # Errors
    ///
    /// Its output could not be read.
    pub(super) async fn line(
        &mut self,
        cancelled: impl Future<Output = ()>,
    ) -> io::Result<Option<String>> {
        if !self.is_cancelled {
            tokio::select! {
                line = self.lines.next_line() => return line,
                () = cancelled => {}
            }
            self.is_cancelled = true;
            let id = self.child.id().and_then(|id| i32::try_from(id).ok());
            if let Some(pid) = id.and_then(Pid::from_raw) {
                // Processes that a shell starts in the background ignore Ctrl-C until they listen
                // for it. The program may also have just ended by itself.
                let _ = kill_process(pid, Signal::TERM);
            }
        }
        self.lines.next_line().await
    }

    /// Waits for its end.
    ///
    /// # Errors
    ///
    /// Its output could not be read.
    pub(super) async fn end(mut self) -> io::Result<OwnRunEnd> {
        let status = self.child.wait().await?;
        let said = self.said.await.map_err(io::Error::other)??;
        Ok(OwnRunEnd {
            code: status.code(),
            said: String::from_utf8_lossy(&said).into_owned(),
        })
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "it starts minrepro itself, not a script"
)]
fn command(program: PathBuf) -> Command {
    Command::new(program)
}
