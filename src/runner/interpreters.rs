//! The interpreters of this machine: those on the search path, pyenv's and uv's. Starts none of
//! them. Called by the commands.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
};

/// The oldest minor version of Python 3 that runs candidates, and the newest that is looked for.
const MINORS: std::ops::RangeInclusive<u8> = 8..=19;

/// An interpreter for each version of Python, by its name alone; those on the search path first,
/// but for pyenv's shims, which may lead nowhere.
pub fn installed_interpreters() -> BTreeMap<(u8, u8), PathBuf> {
    let mut found = BTreeMap::new();
    for folder in env::var_os("PATH").iter().flat_map(env::split_paths) {
        for minor in MINORS {
            let path = folder.join(format!("python3.{minor}"));
            if folder.file_name().is_none_or(|name| name != "shims") && path.is_file() {
                found.entry((3, minor)).or_insert(path);
            }
        }
    }
    let home = env::var_os("HOME").map(PathBuf::from);
    let under_home = |place: &str| Some(home.as_ref()?.join(place));
    let pyenv = env::var_os("PYENV_ROOT").map(PathBuf::from);
    let pyenv = pyenv.or_else(|| under_home(".pyenv"));
    let uv = env::var_os("UV_PYTHON_INSTALL_DIR").map(PathBuf::from);
    let uv = uv.or_else(|| under_home(".local/share/uv/python"));
    for folder in [pyenv.map(|root| root.join("versions")), uv] {
        for (version, path) in folder.iter().flat_map(|folder| versions_in(folder)) {
            found.entry(version).or_insert(path);
        }
    }
    found
}

/// The interpreters in folders that are named after versions, in the order of their names:
/// `3.12.1`, `cpython-3.12.1-linux-x86_64-gnu`.
fn versions_in(folder: &Path) -> Vec<((u8, u8), PathBuf)> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut found: Vec<((u8, u8), PathBuf)> = entries
        .filter_map(|entry| {
            let version = version_in(entry.file_name().to_str()?)?;
            let path = entry.path().join("bin/python3");
            path.is_file().then_some((version, path))
        })
        .collect();
    found.sort();
    found
}

/// The version of CPython that a folder is named after.
fn version_in(name: &str) -> Option<(u8, u8)> {
    let version = name.strip_prefix("cpython-").unwrap_or(name);
    let mut parts = version.split(['.', '-']);
    let (major, minor) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    (major == 3 && MINORS.contains(&minor)).then_some((major, minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_named_after_versions() {
        let check = |name: &str, expected| assert_eq!(version_in(name), expected, "{name}");
        check("3.12.1", Some((3, 12)));
        check("cpython-3.9.18-linux-x86_64-gnu", Some((3, 9)));
        check("3.7.16", None);
        check("2.7.18", None);
        check("pypy3.10-7.3.12", None);
        check("3.13t", None);
        check("graalpy-3.10-24.0", None);
    }
}
