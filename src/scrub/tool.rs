//! The programs of the user that the flow calls: `gh`, `git`, `conda`, `uv`. The only file of this
//! room that starts processes; it also waits for the user's answer, so that a Ctrl-C is heard
//! whatever is waited for.

use std::{
    path::PathBuf,
    process::Stdio,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    io::AsyncReadExt,
    runtime::Runtime,
    signal::unix::{Signal, SignalKind, signal},
    task::JoinSet,
};

use crate::cli::{Exit, Failure, Printer};

/// A program to be called.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Variables to set, or to take away.
    pub env: Vec<(&'static str, Option<String>)>,
    /// Where; else here.
    pub folder: Option<PathBuf>,
    /// How long it may take.
    pub limit: Duration,
    /// Whether the user was told of it beforehand; else it is told once it takes long.
    pub is_told: bool,
}

/// After so long the user wants to know what is waited for.
const LONG: Duration = Duration::from_secs(4);

impl ToolCall {
    /// A call with a minute's time.
    pub fn new<T: Into<String>>(argv: impl IntoIterator<Item = T>) -> Self {
        let argv = argv.into_iter().map(Into::into).collect();
        Self {
            argv,
            env: Vec::new(),
            folder: None,
            limit: Duration::from_mins(1),
            is_told: false,
        }
    }

    /// As a shell takes it.
    pub fn shown(&self) -> String {
        shlex::try_join(self.argv.iter().map(String::as_str))
            .unwrap_or_else(|_| self.argv.join(" "))
    }

    /// Its beginning, for a line that mentions it.
    pub fn in_short(&self) -> String {
        let shown = self.shown();
        let short: String = shown
            .lines()
            .next()
            .unwrap_or_default()
            .chars()
            .take(80)
            .collect();
        if short.len() == shown.len() {
            short
        } else {
            format!("{short} …")
        }
    }
}

/// What a program said.
#[derive(Clone, Debug, Default)]
pub struct ToolOutput {
    /// Its exit status; none if it was killed or took too long.
    pub status: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Whether the program is not there.
    pub is_missing: bool,
}

impl ToolOutput {
    /// Whether it ended well.
    pub fn is_well(&self) -> bool {
        self.status == Some(0)
    }
}

/// Calls programs, and listens to signals meanwhile.
pub struct ExternalTools {
    runtime: Runtime,
    signals: Mutex<Vec<(i32, Signal)>>,
    hold: Mutex<SignalHold>,
    printer: Printer,
}

/// What becomes of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignalHold {
    /// It ends what is waited for.
    Off,
    /// It is kept for later.
    On,
    /// This one was kept; the next ends what is waited for.
    Heard(i32),
    /// This one was the next: nothing is waited for any more.
    Over(i32),
}

/// A signal asked for the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted(pub i32);

impl From<Interrupted> for Failure {
    fn from(Interrupted(signal): Interrupted) -> Self {
        Self::new(
            Exit::Interrupted(signal),
            anyhow::anyhow!("interrupted by signal {signal}"),
        )
        .hint("run the same command again, it goes on from here")
    }
}

impl ExternalTools {
    /// Begins to listen.
    pub fn start(printer: Printer) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let signals = runtime.block_on(async {
            let mut signals = Vec::new();
            for kind in [
                SignalKind::interrupt(),
                SignalKind::terminate(),
                SignalKind::hangup(),
            ] {
                signals.push((kind.as_raw_value(), signal(kind)?));
            }
            Ok::<_, std::io::Error>(signals)
        })?;
        Ok(Self {
            runtime,
            signals: Mutex::new(signals),
            hold: Mutex::new(SignalHold::Off),
            printer,
        })
    }

    /// Calls all at the same time and waits for all.
    pub fn call_all(&self, calls: &[ToolCall]) -> Result<Vec<ToolOutput>, Interrupted> {
        self.wait(async {
            let mut running = JoinSet::new();
            for (index, call) in calls.iter().cloned().enumerate() {
                let printer = self.printer;
                running.spawn(async move { (index, patiently(&call, printer).await) });
            }
            let mut all = running.join_all().await;
            all.sort_by_key(|(index, _)| *index);
            all.into_iter().map(|(_, said)| said).collect()
        })
    }

    /// Calls one.
    pub fn call(&self, call: &ToolCall) -> Result<ToolOutput, Interrupted> {
        self.wait(patiently(call, self.printer))
    }

    /// From now on a first signal ends nothing, so that what was begun is finished; `check` tells
    /// of it. A second does.
    pub fn hold(&self) {
        *self.held() = SignalHold::On;
    }

    /// Signals end what is waited for again; the one that was kept.
    pub fn release(&self) -> Option<Interrupted> {
        match std::mem::replace(&mut *self.held(), SignalHold::Off) {
            SignalHold::Heard(signal) | SignalHold::Over(signal) => Some(Interrupted(signal)),
            SignalHold::Off | SignalHold::On => None,
        }
    }

    fn held(&self) -> MutexGuard<'_, SignalHold> {
        self.hold.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A line to the user about what is waited for.
    pub fn note(&self, line: &str) {
        self.printer.note(line);
    }

    /// Waits.
    pub fn sleep(&self, time: Duration) -> Result<(), Interrupted> {
        self.wait(async { tokio::time::sleep(time).await })
    }

    /// The user's next line; none at the end of the input.
    pub fn line(&self) -> Result<Option<String>, Interrupted> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        // A thread of its own, which nobody waits for when a signal comes first.
        std::thread::spawn(move || {
            let mut line = String::new();
            let read = std::io::stdin()
                .read_line(&mut line)
                .is_ok_and(|bytes| bytes > 0);
            sender.send(read.then(|| line.trim().to_owned()))
        });
        self.wait(async { receiver.await.unwrap_or(None) })
    }

    /// Whether a signal came meanwhile.
    pub fn check(&self) -> Result<(), Interrupted> {
        self.wait(tokio::task::yield_now())?;
        match *self.held() {
            SignalHold::Heard(signal) | SignalHold::Over(signal) => Err(Interrupted(signal)),
            SignalHold::Off | SignalHold::On => Ok(()),
        }
    }

    fn wait<T>(&self, what: impl Future<Output = T>) -> Result<T, Interrupted> {
        if let SignalHold::Over(signal) = *self.held() {
            return Err(Interrupted(signal));
        }
        let mut signals = self.signals.lock().unwrap_or_else(PoisonError::into_inner);
        self.runtime.block_on(async {
            let mut what = std::pin::pin!(what);
            loop {
                let signal = std::future::poll_fn(|context| {
                    for (number, signal) in signals.iter_mut() {
                        if signal.poll_recv(context).is_ready() {
                            return std::task::Poll::Ready(*number);
                        }
                    }
                    std::task::Poll::Pending
                });
                tokio::select! {
                    biased;
                    number = signal => self.hear(number)?,
                    value = &mut what => return Ok(value),
                }
            }
        })
    }

    fn hear(&self, signal: i32) -> Result<(), Interrupted> {
        let mut hold = self.held();
        match *hold {
            SignalHold::On => {
                *hold = SignalHold::Heard(signal);
                let line =
                    "     interrupted: what was begun is finished first; once more ends it at once";
                self.printer.always(line);
                return Ok(());
            }
            SignalHold::Heard(_) => *hold = SignalHold::Over(signal),
            SignalHold::Off | SignalHold::Over(_) => {}
        }
        Err(Interrupted(signal))
    }
}

/// Calls, and says so where it takes long.
async fn patiently(call: &ToolCall, printer: Printer) -> ToolOutput {
    let mut running = std::pin::pin!(said(call));
    if !call.is_told {
        tokio::select! {
            biased;
            said = &mut running => return said,
            () = tokio::time::sleep(LONG) => printer.note(&format!("     waiting for `{}`", call.in_short())),
        }
    }
    running.await
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one file of this room that starts processes"
)]
async fn said(call: &ToolCall) -> ToolOutput {
    let Some((program, args)) = call.argv.split_first() else {
        return ToolOutput::default();
    };
    let mut command = tokio::process::Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    // Its own group: a Ctrl-C at the terminal is for minrepro alone.
    command.process_group(0);
    for (name, value) in &call.env {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    if let Some(folder) = &call.folder {
        command.current_dir(folder);
    }
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            let is_missing = error.kind() == std::io::ErrorKind::NotFound;
            return ToolOutput {
                stderr: error.to_string(),
                is_missing,
                ..ToolOutput::default()
            };
        }
    };
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let all = async {
        let (status, ..) = tokio::join!(
            child.wait(),
            drain(out, &mut stdout),
            drain(err, &mut stderr)
        );
        status.ok().and_then(|status| status.code())
    };
    let status = tokio::time::timeout(call.limit, all).await;
    let is_late = status.is_err();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut said = ToolOutput {
        status: status.unwrap_or(None),
        stdout: text(&stdout),
        stderr: text(&stderr),
        is_missing: false,
    };
    if is_late {
        said.stderr.push_str("\nit took too long");
    }
    said
}

async fn drain(stream: Option<impl tokio::io::AsyncRead + Unpin>, to: &mut Vec<u8>) {
    if let Some(mut stream) = stream {
        // What can not be read was not said.
        let _ = stream.read_to_end(to).await;
    }
}
