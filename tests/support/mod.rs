//! What several areas need: interpreters, and a loud way to say that a test can not run here.

mod terminal;

pub(crate) use terminal::{answering, on_terminal};

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    sync::LazyLock,
};

/// Says on stderr, past the test harness, that a test did not run and why.
pub(crate) fn skip(test: &str, why: &str) {
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {why}");
}

/// Says a figure on stderr, past the test harness.
pub(crate) fn tell(figure: &str) {
    let _ = writeln!(std::io::stderr(), "{figure}");
}

/// A command for a test; the only place in the tests that names the constructor.
#[expect(clippy::disallowed_methods, reason = "tests stand outside the runner")]
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}

/// The `CPythons` of this machine by minor version: `python3.N` on the search path, then those of
/// pyenv.
pub(crate) fn interpreters() -> &'static BTreeMap<u8, PathBuf> {
    static FOUND: LazyLock<BTreeMap<u8, PathBuf>> = LazyLock::new(|| {
        let mut names: Vec<PathBuf> = (8..=14)
            .map(|minor| format!("python3.{minor}").into())
            .collect();
        names.push("python3".into());
        let root = command("pyenv").arg("root").output();
        if let Ok(root) = root
            && let Ok(versions) = PathBuf::from(String::from_utf8_lossy(&root.stdout).trim())
                .join("versions")
                .read_dir()
        {
            let mut found: Vec<PathBuf> = versions
                .flatten()
                .map(|it| it.path().join("bin/python"))
                .collect();
            found.sort();
            names.extend(found);
        }
        let mut found = BTreeMap::new();
        for name in names {
            let script = "import sys; print(sys.version_info[1], sys.executable) if \
                 sys.version_info[0] == 3 else 0";
            let Ok(output) = command(&name).args(["-c", script]).output() else {
                continue;
            };
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            if let Some((minor, path)) = text.trim().split_once(' ')
                && let Ok(minor) = minor.parse()
                && minor >= 8
            {
                found.entry(minor).or_insert_with(|| path.into());
            }
        }
        found
    });
    &FOUND
}

/// The newest CPython of this machine.
pub(crate) fn newest() -> Option<&'static PathBuf> {
    interpreters().last_key_value().map(|(_, path)| path)
}

/// An interpreter with PyTorch.
pub(crate) fn torch() -> Option<PathBuf> {
    with_package("torch")
}

/// An interpreter with a package: one in minrepro's cache, `PACKAGE-VERSION/bin/python`.
pub(crate) fn with_package(package: &str) -> Option<PathBuf> {
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or(home)?
        .join("minrepro");
    let mut found: Vec<PathBuf> = cache
        .read_dir()
        .ok()?
        .flatten()
        .map(|it| it.path())
        .collect();
    found.retain(|it| {
        it.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(&format!("{package}-")))
    });
    found.sort();
    found
        .into_iter()
        .map(|it| it.join("bin/python"))
        .rfind(|it| it.is_file())
}

/// Processes whose command line holds a text.
pub(crate) fn processes_with(marker: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Ok(line) = fs::read(entry.path().join("cmdline")) else {
            continue;
        };
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(marker) {
            found.push(format!("{} {line}", entry.file_name().display()));
        }
    }
    found
}

/// Every file below a folder with its content.
pub(crate) fn snapshot(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        if entry.path().is_dir() {
            found.extend(snapshot(&entry.path()));
        } else {
            found.push((entry.path(), fs::read(entry.path()).unwrap()));
        }
    }
    found.sort();
    found
}
