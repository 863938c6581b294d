//! User, PID, mount, network and IPC namespaces for one run: within them everything outside is out
//! of sight or read-only. Needs Linux 5.12 and the right to make user namespaces, which some
//! distributions and most containers withhold.

use std::{
    ffi::CString,
    fs, io,
    os::{
        fd::{AsFd, OwnedFd},
        unix::fs::{MetadataExt, symlink},
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, FileType, fstat},
    io::Errno,
    mount::{MountFlags, MoveMountFlags, OpenTreeFlags, mount, mount_bind, move_mount, open_tree},
    net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with},
    process::{getegid, geteuid, getgid, getuid},
    thread::{
        CapabilitySet, CapabilitySets, UnshareFlags, capabilities,
        configure_capability_in_ambient_set, set_capabilities,
    },
};

use serde_json::{Map, Value, json};

use super::{Bounds, kernel, overlays};

/// Devices that do no harm, whoever writes to them.
const HARMLESS: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];
/// Beginnings of the names of graphics cards and other accelerators.
const ACCELERATORS: &[&str] = &["nvidia", "dri", "kfd", "dxg", "accel"];

/// Where the kernel shows its processes.
pub(super) const PROCESSES: &str = "/proc";

/// The kernel's numbers that forked runs are confined with.
pub(super) fn numbers() -> Map<String, Value> {
    let named = json!({
        "CLONE_NEWNS": libc::CLONE_NEWNS,
        "CLONE_NEWIPC": libc::CLONE_NEWIPC,
        "CLONE_NEWPID": libc::CLONE_NEWPID,
        "CLONE_NEWNET": libc::CLONE_NEWNET,
        "SYS_open_tree": libc::SYS_open_tree,
        "SYS_move_mount": libc::SYS_move_mount,
        "SYS_mount_setattr": libc::SYS_mount_setattr,
        "AT_FDCWD": libc::AT_FDCWD,
        "AT_EMPTY_PATH": libc::AT_EMPTY_PATH,
        "AT_RECURSIVE": libc::AT_RECURSIVE,
        "OPEN_TREE_CLONE": OpenTreeFlags::OPEN_TREE_CLONE.bits(),
        "MOVE_MOUNT_F_EMPTY_PATH": MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH.bits(),
        "MOUNT_ATTR_RDONLY": libc::MOUNT_ATTR_RDONLY,
        "MS_RDONLY": libc::MS_RDONLY,
        "MS_NOSUID": libc::MS_NOSUID,
        "MS_NODEV": libc::MS_NODEV,
        "MS_NOEXEC": libc::MS_NOEXEC,
        "MS_BIND": libc::MS_BIND,
        "MNT_DETACH": libc::MNT_DETACH,
        "PR_SET_DUMPABLE": libc::PR_SET_DUMPABLE,
        "SIOCSIFFLAGS": libc::SIOCSIFFLAGS,
        "IFF_UP": libc::IFF_UP,
    });
    named.as_object().cloned().unwrap_or_default()
}

/// The devices that a run may write to.
pub(super) fn devices() -> Vec<PathBuf> {
    let accelerators = fs::read_dir("/dev")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name();
            let is_one = |prefix: &&str| name.to_str().is_some_and(|name| name.starts_with(prefix));
            ACCELERATORS.iter().any(is_one).then(|| entry.path())
        });
    let harmless = HARMLESS
        .iter()
        .map(|name| Path::new("/dev").join(name))
        .filter(|path| path.exists());
    harmless.chain(accelerators).collect()
}

/// Moves this process into new namespaces, except those of the network, if it is open, and of the
/// mounts. The next process to be started, the first one of the new PID namespace, makes that of
/// the mounts. This process still sees and reaches everything that it did. Nothing inside sees it.
///
/// # Errors
///
/// The step that the kernel refuses.
pub(in super::super) fn enter(network: bool) -> Result<(), String> {
    let (user, group) = (geteuid(), getegid());
    if (getuid(), getgid()) != (user, group) {
        return Err("a set-user-ID start".to_owned());
    }
    let mut namespaces = UnshareFlags::NEWUSER | UnshareFlags::NEWPID | UnshareFlags::NEWIPC;
    if !network {
        namespaces |= UnshareFlags::NEWNET;
    }
    kernel::unshare(namespaces).map_err(|error| format!("new namespaces: {error}"))?;
    for (file, text) in [
        // Programs see who they are, and nobody else's files are theirs.
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{0} {0} 1", user.as_raw())),
        ("/proc/self/gid_map", format!("{0} {0} 1", group.as_raw())),
    ] {
        overwrite(file, &text).map_err(|error| format!("{file}: {error}"))?;
    }
    // No namespaces within: a hardening that some containers do not allow.
    let _ = overwrite("/proc/sys/user/max_user_namespaces", "0");
    hand_down_capabilities().map_err(|error| format!("capabilities: {error}"))
}

/// Lets the next program keep the capabilities to furnish its namespaces, whoever its user is.
fn hand_down_capabilities() -> Result<(), Errno> {
    // The last is for overlays, whose working folders nobody else may enter.
    let needed = CapabilitySet::SYS_ADMIN
        | CapabilitySet::NET_ADMIN
        | CapabilitySet::SETPCAP
        | CapabilitySet::DAC_OVERRIDE;
    let own = capabilities(None)?;
    set_capabilities(
        None,
        CapabilitySets {
            inheritable: needed,
            ..own
        },
    )?;
    needed
        .iter()
        .try_for_each(|capability| configure_capability_in_ambient_set(capability, true))
}

/// Writes to a file of the kernel.
fn overwrite(file: &str, text: &str) -> io::Result<()> {
    io::Write::write_all(
        &mut fs::OpenOptions::new().write(true).open(file)?,
        text.as_bytes(),
    )
}

/// Gives this process a mount namespace of its own and furnishes it.
///
/// # Errors
///
/// The step that the kernel refuses.
pub(super) fn furnish(bounds: &Bounds) -> Result<(), String> {
    let step = |what: &str| {
        let what = what.to_owned();
        move |error: io::Error| format!("{what}: {error}")
    };
    kernel::unshare(UnshareFlags::NEWNS).map_err(|error| format!("new mounts: {error}"))?;
    // Paths that must stay as they are, taken out before everything else changes.
    let kept = |path: &Path| -> Result<(PathBuf, OwnedFd), String> {
        let tree = clone(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok((path.to_owned(), tree))
    };
    let writable: Vec<_> = bounds
        .writable
        .iter()
        .map(|path| kept(path))
        .collect::<Result<_, _>>()?;
    let devices: Vec<_> = devices()
        .iter()
        .map(|path| kept(path))
        .collect::<Result<_, _>>()?;
    let root = open_tree(CWD, "/", OpenTreeFlags::OPEN_TREE_CLOEXEC)
        .map_err(|error| format!("/: {error}"))?;
    let attributes = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
    kernel::set_mount_attributes(root.as_fd(), attributes, true)
        .map_err(|error| format!("read-only mounts: {error}"))?;
    furnish_devices(&devices, bounds.shared_memory).map_err(step("/dev"))?;
    overlays::cover(bounds).map_err(step("overlays"))?;
    for (path, tree) in &writable {
        attach(tree, path).map_err(step("scratch"))?;
    }
    for socket in &bounds.sockets {
        // One that went away, or lies where nobody gets to, needs no cover.
        let _ = mount_bind("/dev/null", socket);
    }
    furnish_processes().map_err(step("/proc"))?;
    if bounds.network {
        return Ok(());
    }
    raise_loopback().map_err(step("loopback"))
}

fn clone(path: &Path) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    Ok(open_tree(CWD, path, flags)?)
}

fn attach(tree: &OwnedFd, path: &Path) -> io::Result<()> {
    Ok(move_mount(
        tree,
        "",
        CWD,
        path,
        MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH,
    )?)
}

/// A `/dev` with only the given devices, terminals and shared memory of its own.
fn furnish_devices(devices: &[(PathBuf, OwnedFd)], shared_memory: u64) -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    mount("tmpfs", "/dev", "tmpfs", flags, Some(c"mode=0755,size=1m"))?;
    for (path, tree) in devices {
        if FileType::from_raw_mode(fstat(tree)?.st_mode).is_dir() {
            fs::create_dir(path)?;
        } else {
            fs::File::create(path)?;
        }
        attach(tree, path)?;
    }
    for (name, target) in [
        ("fd", "/proc/self/fd"),
        ("stdin", "/proc/self/fd/0"),
        ("stdout", "/proc/self/fd/1"),
        ("stderr", "/proc/self/fd/2"),
        ("ptmx", "pts/ptmx"),
    ] {
        symlink(target, Path::new("/dev").join(name))?;
    }
    fs::create_dir("/dev/pts")?;
    fs::create_dir("/dev/shm")?;
    // A kernel without pseudo-terminals is none to fail for.
    let _ = mount(
        "devpts",
        "/dev/pts",
        "devpts",
        flags,
        Some(c"newinstance,ptmxmode=0666,mode=0620"),
    );
    let size = CString::new(format!("mode=1777,size={shared_memory}")).unwrap_or_default();
    mount(
        "tmpfs",
        "/dev/shm",
        "tmpfs",
        MountFlags::NOSUID | MountFlags::NODEV,
        Some(size.as_c_str()),
    )?;
    let folder = open_tree(CWD, "/dev", OpenTreeFlags::OPEN_TREE_CLOEXEC)?;
    Ok(kernel::set_mount_attributes(
        folder.as_fd(),
        libc::MOUNT_ATTR_RDONLY,
        false,
    )?)
}

/// A `/proc` with the processes of this namespace, which may write there what is about themselves:
/// CUDA gives its threads their names that way, and does not start where it cannot. All that is about
/// the system stays read-only.
fn furnish_processes() -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    if mount("proc", PROCESSES, "proc", flags, None).is_err() {
        // Containers that cover parts of theirs allow no fresh one. The old one is read-only by now;
        // it shows the processes outside, which can be neither signalled nor traced from here.
        return Ok(());
    }
    for entry in fs::read_dir(PROCESSES)? {
        let entry = entry?;
        let is_process = entry.file_name().to_str().is_some_and(is_number);
        let metadata = entry.metadata()?;
        let may_be_written =
            metadata.is_dir() || metadata.is_file() && metadata.mode() & 0o222 != 0;
        if !is_process && may_be_written {
            let tree = clone(&entry.path())?;
            kernel::set_mount_attributes(tree.as_fd(), libc::MOUNT_ATTR_RDONLY, true)?;
            attach(&tree, &entry.path())?;
        }
    }
    Ok(())
}

/// Whether the name of a folder below `/proc` is the number of a process.
fn is_number(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_digit())
}

/// Switches on the one interface of a new network namespace, which is always the first.
fn raise_loopback() -> io::Result<()> {
    /// From `linux/netlink.h` and `linux/rtnetlink.h`: a request to change a link, to be
    /// acknowledged.
    const CHANGE_LINK: u16 = 16;
    const REQUEST_AND_ACKNOWLEDGE: u16 = 1 | 4;
    const UP: u32 = libc::IFF_UP.cast_unsigned();
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        None,
    )?;
    let mut message = Vec::new();
    message.extend(32u32.to_ne_bytes());
    message.extend(CHANGE_LINK.to_ne_bytes());
    message.extend(REQUEST_AND_ACKNOWLEDGE.to_ne_bytes());
    // Sequence and port; then family and type of the link; its index, its flags, which of them
    // change.
    for word in [1, 0, 0, 1, UP, UP] {
        message.extend(u32::to_ne_bytes(word));
    }
    send(&socket, &message, SendFlags::empty())?;
    let mut answer = [0u8; 256];
    let (length, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
    // Behind the header: zero, or the error with its sign turned.
    match answer
        .get(16..20)
        .filter(|_| length >= 20)
        .and_then(|word| word.try_into().ok())
        .map(i32::from_ne_bytes)
    {
        Some(0) => Ok(()),
        Some(error) => Err(io::Error::from_raw_os_error(-error)),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
