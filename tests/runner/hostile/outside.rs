//! What stands outside of a run and must be found as it was: files, listeners, a process.

use std::{
    fs,
    io::{ErrorKind, Write},
    net::{TcpListener, UdpSocket},
    os::{
        linux::net::SocketAddrExt,
        unix::{
            fs::{MetadataExt, PermissionsExt},
            net::{SocketAddr, UnixDatagram, UnixListener},
        },
    },
    path::{Path, PathBuf},
    process::{Child, Stdio},
};

use crate::support::{command, processes_with};

pub(super) struct Outside {
    folder: tempfile::TempDir,
    victim: Child,
    tcp: TcpListener,
    udp: UdpSocket,
    abstract_socket: UnixListener,
    stream: UnixListener,
    /// Reached by other names than those that the kernel's table has.
    renamed: UnixListener,
    datagram: UnixDatagram,
    marker: String,
    before: String,
}

impl Outside {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        fs::create_dir_all(home.join("folder")).unwrap();
        for name in ["file", "folder/inner", "journal", "result.min.py"] {
            fs::File::create(home.join(name))
                .unwrap()
                .write_all(b"mine")
                .unwrap();
        }
        let setuid = home.join("setuid");
        fs::copy("/bin/cat", &setuid).unwrap();
        fs::set_permissions(&setuid, fs::Permissions::from_mode(0o4755)).unwrap();
        let marker = folder
            .path()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .replace(".tmp", "minrepro-");
        let address = SocketAddr::from_abstract_name(&marker).unwrap();
        let (tcp, udp) = (
            TcpListener::bind("127.0.0.1:0").unwrap(),
            UdpSocket::bind("127.0.0.1:0").unwrap(),
        );
        let abstract_socket = UnixListener::bind_addr(&address).unwrap();
        let stream = UnixListener::bind(home.join("stream")).unwrap();
        let renamed = UnixListener::bind(home.join("before")).unwrap();
        fs::hard_link(home.join("before"), home.join("linked")).unwrap();
        fs::rename(home.join("before"), home.join("renamed")).unwrap();
        let datagram = UnixDatagram::bind(home.join("datagram")).unwrap();
        tcp.set_nonblocking(true).unwrap();
        udp.set_nonblocking(true).unwrap();
        abstract_socket.set_nonblocking(true).unwrap();
        stream.set_nonblocking(true).unwrap();
        renamed.set_nonblocking(true).unwrap();
        datagram.set_nonblocking(true).unwrap();
        let mut victim = command("sleep");
        victim
            .arg("600")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let victim = victim.spawn().unwrap();
        let before = String::new();
        let mut outside = Self {
            folder,
            victim,
            tcp,
            udp,
            abstract_socket,
            stream,
            renamed,
            datagram,
            marker,
            before,
        };
        // The victim is at rest once it sleeps.
        while !outside.state().contains("state S") {
            std::thread::yield_now();
        }
        outside.before = outside.state();
        outside
    }

    pub(super) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The places that a script is to attack, as JSON.
    pub(super) fn places(&self, shared_memory: u64) -> String {
        let home = self.home();
        serde_json::json!({
            "home": home,
            "journal": home.join("journal"),
            "result": home.join("result.min.py"),
            "setuid": home.join("setuid"),
            "stream": home.join("stream"),
            "renamed": home.join("renamed"),
            "linked": home.join("linked"),
            "datagram": home.join("datagram"),
            "abstract": self.marker,
            "marker": self.marker,
            "tcp": self.tcp.local_addr().unwrap().port(),
            "udp": self.udp.local_addr().unwrap().port(),
            "victim": self.victim.id(),
            "minrepro": std::process::id(),
            "shared": shared_memory,
        })
        .to_string()
    }

    /// What has changed.
    pub(super) fn changes(&self) -> Vec<String> {
        let mut changes = Vec::new();
        let now = self.state();
        if now != self.before {
            changes.push(format!("was\n{}\nis\n{now}", self.before));
        }
        let mut heard = |what: &str, error: Option<std::io::Error>| {
            if error.is_none_or(|error| error.kind() != ErrorKind::WouldBlock) {
                changes.push(format!("{what} was reached"));
            }
        };
        let mut buffer = [0; 8];
        heard("TCP", self.tcp.accept().err());
        heard("UDP", self.udp.recv(&mut buffer).err());
        heard("the abstract socket", self.abstract_socket.accept().err());
        heard("the stream socket", self.stream.accept().err());
        heard("the renamed socket", self.renamed.accept().err());
        heard("the datagram socket", self.datagram.recv(&mut buffer).err());
        changes.extend(
            processes_with(&self.marker)
                .iter()
                .map(|process| format!("still there: {process}")),
        );
        changes
    }

    fn state(&self) -> String {
        let mut lines = Vec::new();
        describe(&self.home(), &mut lines);
        let pid = self.victim.id();
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields: Vec<&str> = stat
            .rsplit_once(')')
            .map_or("", |(_, rest)| rest)
            .split_whitespace()
            .collect();
        // Places as in proc_pid_stat(5), the first two left out.
        let field = |place: usize| fields.get(place - 3).copied().unwrap_or("ended");
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let of = |name: &str| {
            status
                .lines()
                .find(|line| line.starts_with(name))
                .unwrap_or_default()
        };
        lines.push(format!(
            "victim: state {} nice {} policy {}",
            field(3),
            field(19),
            field(41)
        ));
        lines.push(format!("{} {}", of("Cpus_allowed:"), of("TracerPid")));
        lines.push(fs::read_to_string(format!("/proc/{pid}/limits")).unwrap_or_default());
        lines.push(fs::read_to_string("/proc/sys/kernel/hostname").unwrap());
        lines.join("\n")
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
        let _ = fs::set_permissions(self.home(), fs::Permissions::from_mode(0o700));
        let _ = fs::set_permissions(
            self.home().join("folder"),
            fs::Permissions::from_mode(0o700),
        );
    }
}

/// All that can be changed of what lies below a folder.
fn describe(path: &Path, lines: &mut Vec<String>) {
    let Ok(it) = path.symlink_metadata() else {
        return lines.push(format!("{} was removed", path.display()));
    };
    let content = if it.is_file() && it.len() < 100 {
        fs::read(path).unwrap_or_default()
    } else {
        Vec::new()
    };
    lines.push(format!(
        "{} {:o} {}:{} {} bytes, {} links, {}.{:09}, {}.{:09} {:?}",
        path.display(),
        it.mode(),
        it.uid(),
        it.gid(),
        it.len(),
        it.nlink(),
        it.mtime(),
        it.mtime_nsec(),
        // Of an extended attribute this time alone tells.
        it.ctime(),
        it.ctime_nsec(),
        String::from_utf8_lossy(&content)
    ));
    if it.is_dir() {
        let mut inside: Vec<PathBuf> = fs::read_dir(path)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        inside.sort();
        for path in inside {
            describe(&path, lines);
        }
    }
}
