//! The supervisor of a zygote and of all processes forked from it. It passes orders on, keeps each
//! run within its limits, and ends the processes that a run leaves behind. If the zygote is lost or
//! minrepro has died, it ends with everything below it. Called by `supervise`.

use std::{
    io::IoSliceMut,
    mem::MaybeUninit,
    os::fd::{AsFd, AsRawFd, OwnedFd},
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
use serde::Deserialize;

use super::{
    init::Init,
    process_tree::{self, Idleness},
    run_clock::RunClock,
    standstill::Standstill,
    usage::exceeded,
};
use crate::runner::{
    limits::{GRACE, GRACE_FOR_LEFTOVERS, TICK, timespec},
    orders::{Fork, Launch, Reply, RunLimits, RunOrder, reply},
    outcome::{End, Timing},
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

/// A packet from the zygote or from a reaper.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Packet {
    /// Everything is imported, in so many seconds; or why nothing may be forked.
    Ready { unfit: Option<String>, seconds: f64 },
    /// A run was forked; its reaper reports it.
    Started(u64),
    /// A run ended, with this status as `wait` gives it and after so many seconds of processor
    /// time.
    Ended { id: u64, status: i32, cpu: f64 },
    /// The forked process could not become a run. Nothing of the program was started, so this
    /// message does not come from the program.
    Broken { id: u64, reason: String },
}

struct ForkedRun {
    order: Fork,
    /// The process between the zygote and the run, which waits for it.
    reaper: Option<u32>,
    clock: RunClock,
    next_look: Instant,
    looks: u32,
    idleness: Idleness,
    standstill: Standstill,
    /// The reaper had ended when it was looked at.
    is_orphan: bool,
    leaving: Option<Leaving>,
}

/// A run that ended or was ended, while something of it may be left.
struct Leaving {
    end: End,
    timing: Timing,
    /// From then on, remaining processes are killed.
    kill: Instant,
}

struct ZygoteSupervisor {
    limits: RunLimits,
    init: Init,
    control: OwnedFd,
    /// The zygote itself, once it is ready, and its anonymous memory then, in bytes.
    ready: Option<(u32, u64)>,
    runs: Vec<ForkedRun>,
    /// Whether nothing outside can write to the sockets of a run.
    is_alone: bool,
}

/// Starts a zygote and watches over it; `read` is the part of standard input that was already read.
pub(super) fn watch(mut order: RunOrder, mut read: Vec<u8>) {
    let is_alone = order.bounds.confinement.is_whole() && !order.bounds.network;
    let supervisor = open(&mut order.program).and_then(|(control, theirs)| {
        let init = Init::start(order.bounds, Some(order.program))?;
        drop(theirs);
        Ok(ZygoteSupervisor {
            limits: order.limits,
            init,
            control,
            ready: None,
            runs: Vec::new(),
            is_alone,
        })
    });
    let mut supervisor = match supervisor {
        Ok(supervisor) => supervisor,
        Err(reason) => return reply(&Reply::NotStarted(reason)),
    };
    let lost = supervisor.serve(&mut read).err();
    supervisor.init.end(Duration::ZERO);
    if let Some(reason) = lost {
        reply(&Reply::Lost(reason));
    }
}

/// The socket to the zygote: our end, and the end that the zygote inherits.
fn open(program: &mut Launch) -> Result<(OwnedFd, OwnedFd), String> {
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

impl ZygoteSupervisor {
    /// Until minrepro closes its socket; an error if the zygote is lost before.
    fn serve(&mut self, read: &mut Vec<u8>) -> Result<(), String> {
        loop {
            while let Some(end) = read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = read.drain(..=end).collect();
                let order =
                    serde_json::from_slice(&line).map_err(|error| format!("an order: {error}"))?;
                self.begin(order)?;
            }
            // Packets before the zygote's end: the events that they report happened before it.
            let [orders, packets, end] = self.wait();
            if packets {
                while self.has_packet() {
                    self.receive()?;
                }
            }
            if end {
                return Err(match self.init.reply() {
                    Some(Reply::NotStarted(reason)) => reason,
                    Some(Reply::Ended { end, .. }) => format!("it ended: {end:?}"),
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
        let next_look = Instant::now() + TICK;
        self.runs.push(ForkedRun {
            order,
            reaper: None,
            clock: RunClock::start(),
            next_look,
            looks: 0,
            idleness: Idleness::default(),
            standstill: Standstill::new(self.is_alone),
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
            None => run.next_look.min(run.clock.reaches(run.order.timeout)),
            // Ended processes disappear in no time, and nobody reports when, so this checks often.
            Some(_) => now + Duration::from_millis(2),
        });
        let time = until.min().map_or(Duration::from_secs(1), |until| {
            until.saturating_duration_since(now)
        });
        let ours = stdio::stdin();
        let mut fds = [
            PollFd::from_borrowed_fd(ours, PollFlags::IN),
            PollFd::new(&self.control, PollFlags::IN),
            PollFd::new(self.init.socket.get_ref(), PollFlags::IN),
        ];
        let seen = poll(&mut fds, Some(&timespec(time)));
        fds.map(|fd| seen.is_ok() && !fd.revents().is_empty())
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
        // The program may have found the socket: anything but a packet is ignored.
        let Ok(packet) = serde_json::from_slice(&bytes[..received.bytes]) else {
            return Ok(());
        };
        match packet {
            Packet::Ready { unfit, seconds } => {
                // The sender as the kernel names it: within its namespaces it has another number.
                self.ready = sender.map(|zygote| (zygote, process_tree::memory(&[zygote])));
                reply(&Reply::Ready { unfit, seconds });
            }
            Packet::Started(id) => {
                if let Some(run) = self.run(id) {
                    run.reaper = sender;
                }
            }
            Packet::Broken { id, reason } => {
                self.runs.retain(|run| run.order.id != id);
                reply(&Reply::Broken { id, reason });
            }
            Packet::Ended { id, status, cpu } => {
                if let Some(run) = self.run(id) {
                    let end = match status & 0x7f {
                        0 => End::Exit(status >> 8 & 0xff),
                        signal => End::Signal(signal),
                    };
                    // A run that was ended for a limit has that end, whatever it dies of.
                    if run.leaving.is_none() {
                        run.leave(end, GRACE_FOR_LEFTOVERS);
                    }
                    if let Some(leaving) = &mut run.leaving {
                        leaving.timing.cpu = Duration::try_from_secs_f64(cpu).unwrap_or_default();
                    }
                }
            }
        }
        Ok(())
    }

    fn run(&mut self, id: u64) -> Option<&mut ForkedRun> {
        self.runs.iter_mut().find(|run| run.order.id == id)
    }

    /// Holds every run to its limits, and reports those of which nothing is left.
    fn look(&mut self) -> Result<(), String> {
        let mut ended = Vec::new();
        for run in &mut self.runs {
            if run.step(&self.limits)? {
                ended.push(run.order.id);
            }
        }
        for id in ended {
            let at = self.runs.iter().position(|run| run.order.id == id);
            if let Some(Leaving { end, timing, .. }) =
                at.and_then(|at| self.runs.swap_remove(at).leaving)
            {
                reply(&Reply::Gone { id, end, timing });
                if self.ready.is_some_and(|(zygote, size)| {
                    process_tree::memory(&[zygote]) > (size * GROWTH).max(SMALL)
                }) {
                    return Err("it grew".to_owned());
                }
            }
        }
        Ok(())
    }
}

impl ForkedRun {
    /// Whether nothing of the run is left.
    fn step(&mut self, limits: &RunLimits) -> Result<bool, String> {
        let now = Instant::now();
        let Some(reaper) = self.reaper else {
            return if now.duration_since(self.clock.started()) > FORK {
                Err("it does not fork".to_owned())
            } else {
                Ok(false)
            };
        };
        let below = process_tree::descendants(reaper);
        if let Some(leaving) = &self.leaving {
            if below.is_empty() {
                // Its reaper has nothing left to wait for.
                process_tree::signal(&[reaper], Signal::KILL);
                return Ok(true);
            }
            if now >= leaving.kill + END {
                return Err("a run cannot be ended".to_owned());
            }
            if now >= leaving.kill {
                // Stopped first, so that none forks on while others are killed.
                process_tree::signal(&below, Signal::STOP);
                process_tree::signal(&below, Signal::KILL);
            }
            return Ok(false);
        }
        if now >= self.next_look.min(self.clock.reaches(self.order.timeout)) {
            self.looks += 1;
            self.next_look = now + TICK;
            if process_tree::has_ended(reaper) {
                // Its last packet may just have come in: it is read before the next look.
                if self.is_orphan {
                    return Err("a run killed its reaper".to_owned());
                }
                self.is_orphan = true;
                self.next_look = now;
            }
            if self.clock.has_reached(self.order.timeout, &below) {
                self.leave(End::Timeout, GRACE);
            } else if let Some(resource) = exceeded(limits, &below, &self.order.scratch, self.looks)
            {
                self.leave(End::Limit(resource), Duration::ZERO);
            } else if self.standstill.look(&below)
                || self
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
        match self.reaper {
            // An interpreter that is aborted prints its stack.
            Some(reaper) if end == End::Timeout => process_tree::abort_child(reaper),
            Some(reaper) => process_tree::signal(&process_tree::descendants(reaper), Signal::TERM),
            None => {}
        }
        self.leaving = Some(Leaving {
            end,
            timing: Timing {
                wall: now.duration_since(self.clock.started()),
                cpu: Duration::ZERO,
                delay: self.clock.delay(),
                stuck: end == End::Timeout && self.standstill.is_one(),
                ..Timing::default()
            },
            kill: now + grace,
        });
    }
}
