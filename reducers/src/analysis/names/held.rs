//! Modules that are reached through others.

/// Modules that others hold because they import them: `tempfile._os.system`.
const HELD: &[&str] = &[
    "builtins",
    "codecs",
    "ctypes",
    "fcntl",
    "gc",
    "glob",
    "importlib",
    "inspect",
    "linecache",
    "marshal",
    "nt",
    "os",
    "pathlib",
    "pdb",
    "pickle",
    "pkgutil",
    "posix",
    "pty",
    "pwd",
    "runpy",
    "shutil",
    "socket",
    "ssl",
    "subprocess",
    "sys",
    "tarfile",
    "tempfile",
    "urllib",
    "webbrowser",
    "zipfile",
    "zipimport",
];

/// The module among those that others hold that an attribute names, whatever holds it.
pub fn held_module(attribute: &str) -> Option<&str> {
    let name = attribute.trim_start_matches('_');
    HELD.contains(&name).then_some(name)
}
