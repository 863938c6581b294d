//! Overlays in the mounts of a run. They show the files outside, but no Unix socket can be reached
//! through them, whatever its name: the kernel finds the service behind a socket by its file, and
//! an overlay has files of its own. Also makes private copies of folders. Called by `namespaces`.

use std::{
    collections::BTreeSet,
    ffi::{CString, OsString},
    fs, io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::{ffi::OsStringExt, fs::FileTypeExt},
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Mode, OFlags},
    mount::{MountFlags, UnmountFlags, mount, unmount},
};

use super::Bounds;

/// Folders of the kernel, which hold no sockets of services: `/dev` is furnished anew.
const OF_KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];
/// Kinds of file systems below which there are none either, or which must not be touched.
const WITHOUT_SOCKETS: [&str; 5] = ["autofs", "erofs", "iso9660", "squashfs", "vfat"];
/// At most so many overlays for one run: each takes a tenth of a millisecond.
const MOST: usize = 256;
/// Of a folder that is looked into, at most so many entries.
const ENTRIES: usize = 4096;

const FLAGS: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV);

/// Unix sockets by which a run could reach a service although its view is an overlay: those in
/// folders that no overlay can cover, and all of this network namespace that have a place in the
/// file system, for file systems that overlays cannot cover.
pub(super) fn sockets(copied: &[PathBuf]) -> Vec<PathBuf> {
    let table = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    // Read by hand: `procfs` cuts a path at its first space.
    let listed = table
        .lines()
        .filter_map(|line| line.find(" /").map(|at| PathBuf::from(&line[at + 1..])))
        .filter(|path| {
            path.symlink_metadata()
                .is_ok_and(|metadata| metadata.file_type().is_socket())
        });
    let mut paths: Vec<PathBuf> = listed.collect();
    for folder in Outside::look(copied).split {
        let inside = entries(&folder);
        paths.extend(
            inside
                .filter(|(kind, _)| kind.is_socket())
                .map(|(_, path)| path),
        );
    }
    paths.sort();
    paths.dedup();
    paths
}

/// Covers everything outside by read-only overlays. Folders that may be written to in a private
/// copy are covered by overlays whose upper layers are in memory, hidden, and end with the run.
/// Paths go through open files, since overlays hide each other and their contents.
pub(super) fn cover(bounds: &Bounds) -> io::Result<()> {
    let Some(place) = bounds.writable.first() else {
        return Ok(());
    };
    // Before any mount of our own turns up in the table.
    let outside = Outside::look(&bounds.overlays).whole();
    let size = format!("mode=0700,size={}", bounds.shared_memory);
    let size = CString::new(size).unwrap_or_default();
    mount("tmpfs", place, "tmpfs", FLAGS, Some(size.as_c_str()))?;
    let memory = open(place)?;
    let empty = place.join("empty");
    fs::create_dir(&empty)?;
    let empty = open(&empty)?;
    let mut layers = Vec::new();
    for (number, path) in bounds.overlays.iter().enumerate() {
        let upper = place.join(number.to_string());
        let work = place.join(format!("{number}-work"));
        fs::create_dir(&upper)?;
        fs::create_dir(&work)?;
        // The upper folder's rights are those that a run sees.
        fs::set_permissions(&upper, fs::metadata(path)?.permissions())?;
        layers.push((path, [open(path)?, open(&upper)?, open(&work)?]));
    }
    for path in outside {
        let Ok(lower) = open(&path) else {
            continue;
        };
        let layers = format!("lowerdir={}:{}", by_file(&lower), by_file(&empty));
        // `sockets` lists those that cannot be covered in this way.
        let _ = overlay(&path, FLAGS | MountFlags::RDONLY, layers);
    }
    for (path, layers) in &layers {
        let [lower, upper, work] = layers.each_ref().map(by_file);
        let layers = format!("userxattr,lowerdir={lower},upperdir={upper},workdir={work}");
        overlay(path, FLAGS, layers)?;
    }
    Ok(unmount(by_file(&memory), UnmountFlags::DETACH)?)
}

fn overlay(path: &Path, flags: MountFlags, layers: String) -> io::Result<()> {
    let layers = CString::new(layers).unwrap_or_default();
    Ok(mount(
        "overlay",
        path,
        "overlay",
        flags,
        Some(layers.as_c_str()),
    )?)
}

fn open(folder: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    Ok(rustix::fs::open(folder, flags, Mode::empty())?)
}

fn by_file(file: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// The folders outside. A folder with mounts below it cannot be covered, since that would show the
/// files that these hide. The folders in it are covered one by one.
struct Outside {
    /// Those that have to be looked into.
    split: BTreeSet<PathBuf>,
    /// Those that are left as they are.
    left: BTreeSet<PathBuf>,
}

impl Outside {
    /// By the table of mounts; folders with copies of their own are left, too.
    fn look(copied: &[PathBuf]) -> Self {
        let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let mounts: Vec<(PathBuf, &str)> = table.lines().filter_map(mount_point).collect();
        let mut left: BTreeSet<PathBuf> = OF_KERNEL.map(PathBuf::from).into();
        left.extend(copied.iter().cloned());
        let apart = mounts
            .iter()
            .filter(|(_, kind)| WITHOUT_SOCKETS.contains(kind));
        left.extend(apart.map(|(path, _)| path.clone()));
        let inner = mounts.iter().map(|(path, _)| path).chain(&left);
        let split = inner
            .filter(|path| !OF_KERNEL.iter().any(|kernel| path.starts_with(kernel)))
            .flat_map(|path| path.ancestors().skip(1))
            .chain([Path::new("/")])
            .map(Path::to_owned)
            .collect();
        Self { split, left }
    }

    /// The folders that can be covered as a whole.
    fn whole(&self) -> Vec<PathBuf> {
        let inside = self.split.iter().flat_map(|folder| entries(folder));
        inside
            .filter(|(kind, path)| {
                kind.is_dir() && !self.split.contains(path) && !self.left.contains(path)
            })
            .map(|(_, path)| path)
            .take(MOST)
            .collect()
    }
}

/// The entries of a folder, if it can be read.
fn entries(folder: &Path) -> impl Iterator<Item = (fs::FileType, PathBuf)> + use<> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    found
        .take(ENTRIES)
        .filter_map(|entry| Some((entry.file_type().ok()?, entry.path())))
}

/// The place and the kind of a mount, from its line in the table.
fn mount_point(line: &str) -> Option<(PathBuf, &str)> {
    let (before, after) = line.split_once(" - ")?;
    let place = before.split(' ').nth(4)?.as_bytes();
    let mut bytes = Vec::new();
    let mut at = 0;
    while let Some(&byte) = place.get(at) {
        // Spaces and the like are written as octal numbers.
        let code = place.get(at + 1..at + 4).filter(|_| byte == b'\\');
        let code = code.and_then(|code| u8::from_str_radix(str::from_utf8(code).ok()?, 8).ok());
        bytes.push(code.unwrap_or(byte));
        at += if code.is_some() { 4 } else { 1 };
    }
    let kind = after.split(' ').next()?;
    Some((OsString::from_vec(bytes).into(), kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_mounts_are_read_with_their_spaces() {
        let line = r"31 27 0:25 / /mnt/a\040b\134 ro,nosuid - tmpfs tmpfs ro,size=4k";
        assert_eq!(
            mount_point(line),
            Some((PathBuf::from("/mnt/a b\\"), "tmpfs"))
        );
    }

    #[test]
    fn folders_with_mounts_in_them_are_looked_into() {
        let folder = tempfile::tempdir().unwrap();
        let copied = folder.path().join("copied");
        for name in ["copied", "beside"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let outside = Outside::look(std::slice::from_ref(&copied));
        let whole = outside.whole();
        assert!(outside.split.contains(folder.path()), "{:?}", outside.split);
        assert!(whole.contains(&folder.path().join("beside")), "{whole:?}");
        for left in ["/", "/proc", "/dev"]
            .iter()
            .map(Path::new)
            .chain([&*copied])
        {
            assert!(
                !whole.iter().any(|path| path == left),
                "{left:?}: {whole:?}"
            );
        }
    }
}
