//! The process that watches over a zygote and over all that is forked from it: `minrepro supervise`
//! once more, with many runs instead of one. It passes orders on, keeps each run within its limits,
//! ends what a run leaves behind, and goes down with everything below it when the zygote is lost or
//! minrepro is gone. Started by `warm`.

use std::{
    collections::BTreeMap,
    io::IoSliceMut,
    mem::MaybeUninit,
    os::fd::{AsFd, AsRawFd, OwnedFd},
    path::PathBuf,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::{FdFlags, fcntl_setfd},
    net::{
        AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags,
        SocketFlags, SocketType, recvmsg, send, socketpair,
        sockopt::{set_socket_passcred, set_socket_send_buffer_size},
    },
    process::Signal,
    stdio,
};
use serde::{Deserialize, Serialize};

use super::{
    outcome::End,
    supervise::{
        Answer, GRACE, GRACE_FOR_LEFTOVERS, Inside, Program, RunLimits, RunOrder, TICK, exceeded,
        reply, timespec,
    },
    tree::{self, Idleness},
};

/// Names the socket to the zygote.
const SOCKET: &str = "MINREPRO_ZYGOTE";
/// How long a zygote may take to fork.
const FORK: Duration = Duration::from_secs(20);
/// How long the kernel may take to end a process.
const END: Duration = Duration::from_secs(10);
/// A zygote that has grown to more than this many times its size when it was ready is given up.
const GROWTH: u64 = 2;
/// Smaller zygotes may grow as they like, in bytes.
const SMALL: u64 = 256 << 20;

/// One run, forked from the zygote. Limits other than time are the zygote's.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Fork {
    pub(super) id: u64,
    /// The interpreter, the script, its arguments.
    pub(super) argv: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) work: PathBuf,
    /// The folder whose size is limited.
    pub(super) scratch: PathBuf,
    /// Named pipes.
    pub(super) stdout: PathBuf,
    pub(super) stderr: PathBuf,
    /// Unix sockets by which the run could reach a service outside, those since the zygote's start
    /// included.
    pub(super) sockets: Vec<PathBuf>,
    /// Where a run that is not for this zygote says so.
    pub(super) note: PathBuf,
    /// Where imports are written down, if they are.
    pub(super) record: Option<PathBuf>,
    pub(super) timeout: Duration,
    pub(super) idle: Option<Duration>,
}

/// What comes from the zygote and those it forks.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Packet {
    /// Everything is imported, in so many seconds; or why nothing may be forked.
    Ready { unfit: Option<String>, seconds: f64 },
    /// A run was forked; its keeper tells.
    Started(u64),
    /// A run ended, with this status as `wait` gives it and after so many seconds of processor
    /// time.
    Ended { id: u64, status: i32, cpu: f64 },
}

struct Run {
    order: Fork,
    /// The process that waits for the run.
    keeper: Option<u32>,
    started: Instant,
    next_look: Instant,
    looks: u32,
    idleness: Idleness,
    /// The keeper was gone when it was looked at.
    is_orphan: bool,
    leaving: Option<Leaving>,
}

/// A run that ended or was ended, while something of it may be left.
struct Leaving {
    end: End,
    wall: Duration,
    cpu: Duration,
    /// From then on what is left is killed.
    kill: Instant,
}

struct Nursery {
    limits: RunLimits,
    inside: Inside,
    control: OwnedFd,
    /// The zygote itself, once it is ready, and its anonymous memory then, in bytes.
    ready: Option<(u32, u64)>,
    runs: Vec<Run>,
}

/// Starts a zygote and tends it; `read` is what was read from standard input already.
pub(super) fn tend(mut order: RunOrder, mut read: Vec<u8>) {
    let nursery = open(&mut order.program).and_then(|(control, theirs)| {
        let inside = Inside::start(order.bounds, Some(order.program))?;
        drop(theirs);
        Ok(Nursery {
            limits: order.limits,
            inside,
            control,
            ready: None,
            runs: Vec::new(),
        })
    });
    let mut nursery = match nursery {
        Ok(nursery) => nursery,
        Err(reason) => return reply(&Answer::NotStarted(reason)),
    };
    let lost = nursery.serve(&mut read).err();
    nursery.inside.end(Duration::ZERO);
    if let Some(reason) = lost {
        reply(&Answer::Lost(reason));
    }
}

/// The socket to the zygote: our end, and the end that the zygote inherits.
fn open(program: &mut Program) -> Result<(OwnedFd, OwnedFd), String> {
    let pair = || -> rustix::io::Result<(OwnedFd, OwnedFd)> {
        let (ours, theirs) = socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )?;
        set_socket_passcred(&ours, true)?;
        set_socket_send_buffer_size(&ours, 1 << 20)?;
        fcntl_setfd(&theirs, FdFlags::empty())?;
        Ok((ours, theirs))
    };
    let (ours, theirs) = pair().map_err(|error| format!("socket to the zygote: {error}"))?;
    program
        .env
        .insert(SOCKET.to_owned(), theirs.as_raw_fd().to_string());
    program.inherited = Some(theirs.as_raw_fd().cast_unsigned());
    Ok((ours, theirs))
}

impl Nursery {
    /// Until minrepro closes its socket; an error if the zygote is lost before.
    fn serve(&mut self, read: &mut Vec<u8>) -> Result<(), String> {
        loop {
            while let Some(end) = read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = read.drain(..=end).collect();
                let order =
                    serde_json::from_slice(&line).map_err(|error| format!("an order: {error}"))?;
                self.begin(order)?;
            }
            let [orders, packets, end] = self.wait();
            if packets {
                while self.has_packet() {
                    self.receive()?;
                }
            }
            if end {
                return Err(match self.inside.answer() {
                    Some(Answer::NotStarted(reason)) => reason,
                    Some(Answer::Ended { end, .. }) => format!("it ended: {end:?}"),
                    _ => "it was killed".to_owned(),
                });
            }
            self.look()?;
            if orders {
                let mut buffer = [0; 1 << 12];
                match rustix::io::read(stdio::stdin(), &mut buffer) {
                    Ok(0) => return Ok(()),
                    Ok(count) => read.extend_from_slice(&buffer[..count]),
                    Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                    Err(_) => return Ok(()),
                }
            }
        }
    }

    fn begin(&mut self, order: Fork) -> Result<(), String> {
        let packet = serde_json::to_vec(&order).map_err(|error| error.to_string())?;
        send(&self.control, &packet, SendFlags::NOSIGNAL)
            .map_err(|error| format!("it takes no orders: {error}"))?;
        let now = Instant::now();
        let next_look = now + TICK;
        self.runs.push(Run {
            order,
            keeper: None,
            started: now,
            next_look,
            looks: 0,
            idleness: Idleness::default(),
            is_orphan: false,
            leaving: None,
        });
        Ok(())
    }

    /// Sleeps until there is something to read or to look after: orders, packets, the end of the
    /// zygote.
    fn wait(&self) -> [bool; 3] {
        let now = Instant::now();
        let until = self.runs.iter().map(|run| match &run.leaving {
            None => run.next_look.min(run.started + run.order.timeout),
            Some(_) => now + Duration::from_millis(2),
        });
        let time = until.min().map_or(Duration::from_secs(1), |until| {
            until.saturating_duration_since(now)
        });
        let ours = stdio::stdin();
        let mut fds = [
            PollFd::from_borrowed_fd(ours, PollFlags::IN),
            PollFd::new(&self.control, PollFlags::IN),
            PollFd::new(self.inside.socket.get_ref(), PollFlags::IN),
        ];
        let seen = poll(&mut fds, Some(&timespec(time)));
        fds.map(|it| seen.is_ok() && !it.revents().is_empty())
    }

    fn has_packet(&self) -> bool {
        let mut fds = [PollFd::new(&self.control, PollFlags::IN)];
        poll(&mut fds, Some(&timespec(Duration::ZERO))).is_ok_and(|count| count > 0)
    }

    /// Takes one packet. The kernel says who sent it, in our own numbering.
    fn receive(&mut self) -> Result<(), String> {
        let mut bytes = vec![0; 1 << 16];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmCredentials(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = recvmsg(
            self.control.as_fd(),
            &mut [IoSliceMut::new(&mut bytes)],
            &mut ancillary,
            RecvFlags::empty(),
        )
        .map_err(|error| format!("its socket: {error}"))?;
        if received.bytes == 0 {
            return Err("it closed its socket".to_owned());
        }
        let sender = ancillary.drain().find_map(|message| match message {
            RecvAncillaryMessage::ScmCredentials(who) => {
                Some(who.pid.as_raw_nonzero().get().cast_unsigned())
            }
            _ => None,
        });
        // What no zygote of ours says is not listened to.
        let Ok(packet) = serde_json::from_slice(&bytes[..received.bytes]) else {
            return Ok(());
        };
        match packet {
            Packet::Ready { unfit, seconds } => {
                self.ready = sender.map(|zygote| (zygote, tree::memory(&[zygote])));
                reply(&Answer::Ready { unfit, seconds });
            }
            Packet::Started(id) => {
                if let Some(run) = self.run(id) {
                    run.keeper = sender;
                }
            }
            Packet::Ended { id, status, cpu } => {
                if let Some(run) = self.run(id) {
                    let end = match status & 0x7f {
                        0 => End::Exit(status >> 8 & 0xff),
                        signal => End::Signal(signal),
                    };
                    if run.leaving.is_none() {
                        run.leave(end, GRACE_FOR_LEFTOVERS);
                    }
                    if let Some(leaving) = &mut run.leaving {
                        leaving.cpu = Duration::try_from_secs_f64(cpu).unwrap_or_default();
                    }
                }
            }
        }
        Ok(())
    }

    fn run(&mut self, id: u64) -> Option<&mut Run> {
        self.runs.iter_mut().find(|run| run.order.id == id)
    }

    /// Holds every run to its limits, and answers for those that are gone.
    fn look(&mut self) -> Result<(), String> {
        let mut gone = Vec::new();
        for run in &mut self.runs {
            if run.step(&self.limits)? {
                gone.push(run.order.id);
            }
        }
        for id in gone {
            let at = self.runs.iter().position(|run| run.order.id == id);
            if let Some(Leaving { end, wall, cpu, .. }) =
                at.and_then(|at| self.runs.swap_remove(at).leaving)
            {
                reply(&Answer::Gone { id, end, wall, cpu });
                if self.ready.is_some_and(|(zygote, size)| {
                    tree::memory(&[zygote]) > (size * GROWTH).max(SMALL)
                }) {
                    return Err("it grew".to_owned());
                }
            }
        }
        Ok(())
    }
}

impl Run {
    /// Whether nothing of the run is left.
    fn step(&mut self, limits: &RunLimits) -> Result<bool, String> {
        let now = Instant::now();
        let Some(keeper) = self.keeper else {
            return if now.duration_since(self.started) > FORK {
                Err("it does not fork".to_owned())
            } else {
                Ok(false)
            };
        };
        let below = tree::descendants(keeper);
        if let Some(leaving) = &self.leaving {
            if below.is_empty() {
                tree::signal(&[keeper], Signal::KILL);
                return Ok(true);
            }
            if now >= leaving.kill + END {
                return Err("a run can not be ended".to_owned());
            }
            if now >= leaving.kill {
                tree::signal(&below, Signal::STOP);
                tree::signal(&below, Signal::KILL);
            }
            return Ok(false);
        }
        if now.duration_since(self.started) >= self.order.timeout {
            self.leave(End::Timeout, GRACE);
        } else if now >= self.next_look {
            self.looks += 1;
            self.next_look = now + TICK;
            if tree::is_gone(keeper) {
                // What it said before it went may just have come in.
                if self.is_orphan {
                    return Err("a run ended the process that waits for it".to_owned());
                }
                self.is_orphan = true;
                self.next_look = now;
            }
            if let Some(resource) = exceeded(limits, &below, &self.order.scratch, self.looks) {
                self.leave(End::Limit(resource), Duration::ZERO);
            } else if self
                .order
                .idle
                .is_some_and(|most| self.idleness.look(&below) * TICK >= most)
            {
                self.leave(End::Timeout, GRACE);
            }
        }
        Ok(false)
    }

    fn leave(&mut self, end: End, grace: Duration) {
        let now = Instant::now();
        let wall = now.duration_since(self.started);
        match self.keeper {
            Some(keeper) if end == End::Timeout => tree::abort_child(keeper),
            Some(keeper) => tree::signal(&tree::descendants(keeper), Signal::TERM),
            None => {}
        }
        self.leaving = Some(Leaving {
            end,
            wall,
            cpu: Duration::ZERO,
            kill: now + grace,
        });
    }
}
