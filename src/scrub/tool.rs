//! The user's programs that the flow calls: `gh`, `git`, `conda`, `uv`. The only file of this room
//! that starts processes. It also waits for the user's answers, so that a Ctrl-C is noticed during
//! every wait.

use std::{
    fs::File,
    os::fd::OwnedFd,
    path::PathBuf,
    process::Stdio,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, BufReader},
    runtime::Runtime,
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinSet,
};

use crate::cli::{Exit, Failure, Printer};

/// A program call.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Variables to set or to remove.
    pub env: Vec<(&'static str, Option<String>)>,
    /// The working directory, unless it is the current one.
    pub folder: Option<PathBuf>,
    /// The file that it has as standard input, and with it the file's lock; none if it reads nothing.
    pub stdin: Option<Arc<File>>,
    /// The time limit.
    pub limit: Duration,
    /// Whether the user has seen the call already. Other calls are shown once they take long.
    pub is_announced: bool,
}

/// A call that takes longer is shown to the user.
const LONG: Duration = Duration::from_secs(4);

impl ToolCall {
    /// A call with a limit of one minute.
    pub fn new<T: Into<String>>(argv: impl IntoIterator<Item = T>) -> Self {
        let argv = argv.into_iter().map(Into::into).collect();
        Self {
            argv,
            env: Vec::new(),
            folder: None,
            stdin: None,
            limit: Duration::from_mins(1),
            is_announced: false,
        }
    }

    /// The command line as a shell takes it.
    pub fn shown(&self) -> String {
        shlex::try_join(self.argv.iter().map(String::as_str))
            .unwrap_or_else(|_| self.argv.join(" "))
    }

    /// The beginning of the command line, for messages.
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

/// The output of a program.
#[derive(Clone, Debug, Default)]
pub struct ToolOutput {
    /// The exit status; none if the program was killed or took too long.
    pub status: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Whether the program is not installed.
    pub is_missing: bool,
}

impl ToolOutput {
    /// Whether it exited with status 0.
    pub fn is_success(&self) -> bool {
        self.status == Some(0)
    }
}

/// A program that is read line by line while it runs. Its standard input ends when this is dropped.
pub struct ToolStream {
    lines: UnboundedReceiver<String>,
    running: JoinSet<ToolOutput>,
    _stdin: std::io::PipeWriter,
}

/// Calls programs and listens to signals meanwhile.
pub struct ExternalTools {
    runtime: Runtime,
    signals: Mutex<Vec<(i32, Signal)>>,
    hold: Mutex<SignalHold>,
    printer: Printer,
}

/// The treatment of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SignalHold {
    /// It ends the wait.
    Off,
    /// It is kept for later, so that the writes end in a known state.
    On,
    /// This one was kept; the next ends the wait.
    Heard(i32),
    /// This one came second: every further wait ends at once.
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
        .hint("run the same command again to continue")
    }
}

impl ExternalTools {
    /// Starts to listen.
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

    /// Calls all at the same time and waits for them.
    pub fn call_all(&self, calls: &[ToolCall]) -> Result<Vec<ToolOutput>, Interrupted> {
        self.wait(async {
            let mut running = JoinSet::new();
            for (index, call) in calls.iter().cloned().enumerate() {
                let printer = self.printer;
                running.spawn(async move { (index, patiently(&call, printer).await) });
            }
            let mut all = running.join_all().await;
            all.sort_by_key(|(index, _)| *index);
            all.into_iter().map(|(_, output)| output).collect()
        })
    }

    /// Calls one program.
    pub fn call(&self, call: &ToolCall) -> Result<ToolOutput, Interrupted> {
        self.wait(patiently(call, self.printer))
    }

    /// Starts a program whose lines are wanted as they come. It may run for as long as it likes.
    pub fn open(&self, call: ToolCall) -> std::io::Result<ToolStream> {
        let (reader, writer) = std::io::pipe()?;
        let call = ToolCall {
            stdin: Some(Arc::new(File::from(OwnedFd::from(reader)))),
            limit: Duration::MAX,
            ..call
        };
        let (sender, lines) = unbounded_channel();
        let mut running = JoinSet::new();
        let output = async move { output_of(&call, Some(sender)).await };
        running.spawn_on(output, self.runtime.handle());
        Ok(ToolStream {
            lines,
            running,
            _stdin: writer,
        })
    }

    /// Waits for the next line that a program writes to standard output; none after the last.
    pub fn next_line(&self, stream: &mut ToolStream) -> Result<Option<String>, Interrupted> {
        self.wait(stream.lines.recv())
    }

    /// Waits for the end of a program. What it wrote to standard output was read line by line.
    pub fn close(&self, stream: &mut ToolStream) -> Result<ToolOutput, Interrupted> {
        let output = self.wait(stream.running.join_next())?;
        Ok(output.and_then(Result::ok).unwrap_or_default())
    }

    /// From now on a first signal ends no wait, so that writes in progress are finished; `check`
    /// reports it. A second signal ends the wait.
    pub fn hold(&self) {
        *self.held() = SignalHold::On;
    }

    /// From now on signals end waits again. Returns the one that was kept.
    pub fn release(&self) -> Option<Interrupted> {
        match std::mem::replace(&mut *self.held(), SignalHold::Off) {
            SignalHold::Heard(signal) | SignalHold::Over(signal) => Some(Interrupted(signal)),
            SignalHold::Off | SignalHold::On => None,
        }
    }

    fn held(&self) -> MutexGuard<'_, SignalHold> {
        self.hold.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows the user a line.
    pub fn note(&self, line: &str) {
        self.printer.note(line);
    }

    /// Sleeps.
    pub fn sleep(&self, time: Duration) -> Result<(), Interrupted> {
        self.wait(async { tokio::time::sleep(time).await })
    }

    /// The user's next line; none at the end of the input.
    pub fn line(&self) -> Result<Option<String>, Interrupted> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        // A thread of its own that is abandoned if a signal comes first.
        std::thread::spawn(move || {
            let mut line = String::new();
            let read = std::io::stdin()
                .read_line(&mut line)
                .is_ok_and(|bytes| bytes > 0);
            sender.send(read.then(|| line.trim().to_owned()))
        });
        self.wait(async { receiver.await.unwrap_or(None) })
    }

    /// Fails if a signal came meanwhile.
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
                let line = "     interrupted: finishing the write in progress; interrupt again to stop at once";
                self.printer.always(line);
                return Ok(());
            }
            SignalHold::Heard(_) => *hold = SignalHold::Over(signal),
            SignalHold::Off | SignalHold::Over(_) => {}
        }
        Err(Interrupted(signal))
    }
}

/// Calls a program and shows the call if it takes long.
async fn patiently(call: &ToolCall, printer: Printer) -> ToolOutput {
    let mut running = std::pin::pin!(output_of(call, None));
    if !call.is_announced {
        tokio::select! {
            biased;
            output = &mut running => return output,
            () = tokio::time::sleep(LONG) => {
                printer.note(format!("     waiting for `{}`", call.in_short()));
            }
        }
    }
    running.await
}

#[expect(
    clippy::disallowed_methods,
    reason = "the one file of this room that starts processes"
)]
async fn output_of(call: &ToolCall, lines: Option<UnboundedSender<String>>) -> ToolOutput {
    let Some((program, args)) = call.argv.split_first() else {
        return ToolOutput::default();
    };
    let stdin = call.stdin.as_ref().and_then(|file| file.try_clone().ok());
    let stdin = stdin.map_or_else(Stdio::null, Stdio::from);
    let mut command = tokio::process::Command::new(program);
    command
        .args(args)
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    // Its own group, so that a Ctrl-C at the terminal reaches minrepro alone.
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
        let read = async {
            match lines {
                Some(lines) => send_lines(out, &lines).await,
                None => drain(out, &mut stdout).await,
            }
        };
        let (status, ..) = tokio::join!(child.wait(), read, drain(err, &mut stderr));
        status.ok().and_then(|status| status.code())
    };
    let status = tokio::time::timeout(call.limit, all).await;
    let is_late = status.is_err();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut output = ToolOutput {
        status: status.unwrap_or(None),
        stdout: text(&stdout),
        stderr: text(&stderr),
        is_missing: false,
    };
    if is_late {
        output.stderr.push_str("\nthe call exceeded its time limit");
    }
    output
}

/// Sends what is read line by line, up to the end or to the first line that nobody wants.
async fn send_lines(
    stream: Option<impl tokio::io::AsyncRead + Unpin>,
    to: &UnboundedSender<String>,
) {
    let Some(stream) = stream else {
        return;
    };
    let mut lines = BufReader::new(stream).lines();
    while let Ok(Some(line)) = lines.next_line().await
        && to.send(line).is_ok()
    {}
}

async fn drain(stream: Option<impl tokio::io::AsyncRead + Unpin>, to: &mut Vec<u8>) {
    if let Some(mut stream) = stream {
        // Output that cannot be read is missing, as if it had not been written.
        let _ = stream.read_to_end(to).await;
    }
}
