//! Working folders that hold the script's siblings. What a run has left as it was serves the next
//! one: on a busy disk a thousand new files take seconds. Called by `workspace` and `scratch`.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{
    removal::{open_up, remove},
    siblings::Siblings,
};

/// Fewer siblings are placed anew for each run.
const FEW: usize = 32;

/// The siblings of the script, and working folders that hold them and that no run is in.
#[derive(Debug)]
pub(super) struct Stock {
    siblings: Siblings,
    /// Where the folders wait.
    folder: PathBuf,
    waiting: Mutex<Vec<PathBuf>>,
    /// Folders of runs that have ended, whose removal took too long at that time.
    left: Mutex<Vec<PathBuf>>,
    numbered: AtomicU64,
}

impl Stock {
    /// The stock of a session.
    pub(super) fn new(mut siblings: Siblings, session: &Path) -> io::Result<Self> {
        let folder = session.join("stock");
        fs::create_dir(&folder)?;
        siblings.make_links(&folder.join("links"))?;
        Ok(Self {
            siblings,
            folder,
            waiting: Mutex::default(),
            left: Mutex::default(),
            numbered: AtomicU64::new(0),
        })
    }

    /// The names by which Python finds modules beside the script.
    pub(super) fn modules(&self) -> BTreeSet<String> {
        self.siblings.modules()
    }

    /// Makes a working folder that holds the siblings.
    pub(super) fn furnish(&self, work: &Path) -> io::Result<()> {
        if let Some(ready) = lock(&self.waiting).pop() {
            return fs::rename(ready, work);
        }
        fs::create_dir(work)?;
        self.siblings.place(work)
    }

    /// Notes a folder that is to be removed later.
    pub(super) fn leave(&self, folder: PathBuf) {
        lock(&self.left).push(folder);
    }

    /// Removes what is left of earlier runs: before the next one there is time for it, at the end
    /// of one that was interrupted there is none.
    pub(super) fn clear(&self) {
        let left = std::mem::take(&mut *lock(&self.left));
        for path in &left {
            remove(path);
        }
    }

    /// Takes a working folder back from a run that has ended, if it is worth it.
    pub(super) fn take_back(&self, work: &Path) {
        if self.siblings.count() < FEW {
            return;
        }
        let number = self.numbered.fetch_add(1, Ordering::Relaxed);
        let place = self.folder.join(number.to_string());
        open_up(work);
        // Out of the reach of whatever may be left of the run.
        if fs::rename(work, &place).is_err() {
            return;
        }
        match self.siblings.restore(&place) {
            Ok(()) => lock(&self.waiting).push(place),
            Err(_) => remove(&place),
        }
    }
}

fn lock(paths: &Mutex<Vec<PathBuf>>) -> MutexGuard<'_, Vec<PathBuf>> {
    paths.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write,
        os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    };

    use super::*;

    #[test]
    fn what_a_run_has_done_to_its_folder_is_undone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("users/inner")).unwrap();
        fs::create_dir(at("session")).unwrap();
        for number in 0..FEW {
            fs::File::create(at(&format!("users/file{number}")))
                .unwrap()
                .write_all(b"mine")
                .unwrap();
        }
        fs::File::create(at("users/inner/deep"))
            .unwrap()
            .write_all(b"mine")
            .unwrap();
        symlink("/proc/version", at("users/link")).unwrap();
        symlink("/proc/uptime", at("users/other")).unwrap();
        let siblings = Siblings::of(&at("users/x.py")).unwrap();
        let stock = Stock::new(siblings, &at("session")).unwrap();
        stock.furnish(&at("work")).unwrap();
        let listed = |path: &Path| {
            let mut found: Vec<_> = ["", "inner"]
                .iter()
                .flat_map(|inner| fs::read_dir(path.join(inner)).unwrap())
                .map(|entry| {
                    let path = entry.unwrap().path();
                    let shown = match path.symlink_metadata().unwrap() {
                        found if found.is_file() => fs::read(&path).unwrap(),
                        found if found.is_dir() => b"folder".to_vec(),
                        _ => fs::read_link(&path)
                            .unwrap()
                            .into_os_string()
                            .into_encoded_bytes(),
                    };
                    (path.file_name().unwrap().to_owned(), shown)
                })
                .collect();
            found.sort();
            found
        };
        let before = listed(&at("work"));
        let inode = |path: &str| at(path).symlink_metadata().unwrap().ino();
        let [untouched, link] = ["work/file9", "work/link"].map(inode);
        fs::remove_file(at("work/file0")).unwrap();
        fs::OpenOptions::new()
            .write(true)
            .open(at("work/file1"))
            .unwrap()
            .write_all(b"X")
            .unwrap();
        fs::set_permissions(at("work/file2"), fs::Permissions::from_mode(0o777)).unwrap();
        fs::hard_link(at("work/file3"), at("kept")).unwrap();
        fs::remove_file(at("work/file4")).unwrap();
        symlink("/etc/passwd", at("work/file4")).unwrap();
        fs::remove_dir_all(at("work/inner")).unwrap();
        symlink("/etc", at("work/inner")).unwrap();
        fs::rename(at("work/link"), at("work/third")).unwrap();
        fs::rename(at("work/other"), at("work/link")).unwrap();
        fs::rename(at("work/third"), at("work/other")).unwrap();
        fs::create_dir_all(at("work/new/below")).unwrap();
        fs::set_permissions(at("work"), fs::Permissions::from_mode(0o500)).unwrap();
        stock.take_back(&at("work"));
        fs::File::options()
            .write(true)
            .open(at("kept"))
            .unwrap()
            .write_all(b"X")
            .unwrap();
        stock.furnish(&at("work")).unwrap();
        assert_eq!(listed(&at("work")), before);
        assert_eq!(["work/file9", "work/link"].map(inode), [untouched, link]);
        assert!(Path::new("/etc/passwd").exists());
    }

    #[test]
    fn a_link_is_made_once_for_all_working_folders() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for made in ["users", "session"] {
            fs::create_dir(at(made)).unwrap();
        }
        symlink("/proc/version", at("users/link")).unwrap();
        let siblings = Siblings::of(&at("users/x.py")).unwrap();
        let stock = Stock::new(siblings, &at("session")).unwrap();
        let [one, two] = ["one", "two"].map(|work| {
            stock.furnish(&at(work)).unwrap();
            at(work).join("link").symlink_metadata().unwrap()
        });
        assert!(one.is_symlink());
        assert_eq!(one.ino(), two.ino());
        // Where no such link can be had, there is a new one.
        fs::remove_dir_all(at("session/stock/links")).unwrap();
        stock.furnish(&at("three")).unwrap();
        assert!(at("three/link").is_symlink());
    }

    #[test]
    fn a_link_that_a_run_leaves_as_its_working_folder_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for made in ["users", "session", "precious"] {
            fs::create_dir(at(made)).unwrap();
        }
        fs::File::create(at("precious/file")).unwrap();
        for number in 0..FEW {
            fs::File::create(at(&format!("users/file{number}"))).unwrap();
        }
        let siblings = Siblings::of(&at("users/x.py")).unwrap();
        let stock = Stock::new(siblings, &at("session")).unwrap();
        stock.furnish(&at("work")).unwrap();
        fs::rename(at("work"), at("elsewhere")).unwrap();
        symlink(at("precious"), at("work")).unwrap();
        stock.take_back(&at("work"));
        let names = |path: &str| fs::read_dir(at(path)).unwrap().count();
        assert_eq!(names("precious"), 1);
        stock.furnish(&at("work")).unwrap();
        assert!(at("work").symlink_metadata().unwrap().is_dir());
        assert_eq!(names("work"), FEW);
    }
}
