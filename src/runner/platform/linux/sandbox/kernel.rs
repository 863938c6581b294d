//! System calls that have no safe wrapper elsewhere.
#![expect(unsafe_code, reason = "calls of the kernel")]

use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::{
    io::Errno,
    thread::{UnshareFlags, unshare_unsafe},
};

fn result(returned: libc::c_long) -> Result<(), Errno> {
    if returned == 0 {
        return Ok(());
    }
    let error = std::io::Error::last_os_error();
    Err(Errno::from_io_error(&error).unwrap_or(Errno::INVAL))
}

/// Leaves the namespaces named for new ones.
pub(super) fn unshare(flags: UnshareFlags) -> Result<(), Errno> {
    assert!(!flags.contains(UnshareFlags::FILES));
    // SAFETY: the table of open files stays shared, which is all that could do harm.
    unsafe { unshare_unsafe(flags) }
}

/// Sets attributes of the mount that `root` refers to, with `recursive` of all mounts below it as
/// well, and takes them out of the exchange of mounts with other namespaces.
pub(super) fn set_mount_attributes(
    root: BorrowedFd<'_>,
    attributes: u64,
    recursive: bool,
) -> Result<(), Errno> {
    let wanted = libc::mount_attr {
        attr_set: attributes,
        attr_clr: 0,
        propagation: libc::MS_PRIVATE,
        userns_fd: 0,
    };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is a C string, and the structure is as long as is said; both outlive the
    // call.
    result(unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            root.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const wanted,
            size_of::<libc::mount_attr>(),
        )
    })
}

/// Keeps programs started from here from inheriting open files, from the descriptor `first` to
/// `last`.
pub(super) fn close_on_exec(first: u32, last: u32) -> Result<(), Errno> {
    if first > last {
        return Ok(());
    }
    // SAFETY: nothing is closed now, a flag is set on each.
    result(unsafe {
        libc::syscall(
            libc::SYS_close_range,
            first,
            last,
            libc::CLOSE_RANGE_CLOEXEC,
        )
    })
}
