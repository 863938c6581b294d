//! The rooms and the arrows between them.

use super::{
    modules::Edges,
    sources::{Kind, Source},
};

/// Rooms that every room may use: pure tools, and the careful way to read a file.
const TOOLS: &[&str] = &["files", "reducers", "text"];

/// Which other rooms a room may use.
const ARROWS: &[(&str, &[&str])] = &[
    ("main", &["cli", "commands", "crash", "runner"]),
    ("crash", &["cli"]),
    // It runs this program itself, and so what the verbs do.
    ("agent", &["report"]),
    (
        "commands",
        &[
            "agent", "cli", "diagnose", "engine", "journal", "judge", "oracle", "report", "runner",
            "scrub", "stale", "target",
        ],
    ),
    // Failures of runs become exit statuses and hints here.
    ("cli", &["judge", "oracle", "runner"]),
    ("scrub", &SHELL),
    ("diagnose", &SHELL),
    ("stale", &SHELL),
    ("report", &["cli", "engine", "judge", "oracle", "runner"]),
    ("target", &["cli", "oracle", "runner"]),
    ("engine", &["judge", "oracle", "journal", "runner"]),
    ("judge", &["oracle", "journal", "runner"]),
    // The oracle judges what the runner reports, the journal keeps what the oracle says.
    ("journal", &["oracle", "runner"]),
    ("oracle", &["runner"]),
    ("runner", &[]),
    ("reducers", &[]),
];

const SHELL: [&str; 8] = [
    "cli", "engine", "journal", "judge", "oracle", "report", "runner", "target",
];

/// Crates that only some places may name, and why.
const CRATES: &[(&str, &[&str])] = &[
    // The one seam to the parser.
    ("rustpython_parser", &["reducers/src/syntax"]),
    ("rustpython_ast", &["reducers/src/syntax"]),
    ("rustpython_text_size", &["reducers/src/syntax"]),
    // Only what waits for processes and signals is asynchronous.
    (
        "tokio",
        &["src/agent/", "src/runner/", "src/scrub/", "src/main.rs"],
    ),
];

/// The arrows between rooms that are not allowed, with the files that draw them.
pub(super) fn forbidden_arrows(sources: &[Source], edges: &Edges) -> Vec<String> {
    let mut found = Vec::new();
    for (from, targets) in edges {
        for to in targets {
            let [from, to] = [from, to].map(|file| sources[*file].path.as_str());
            let (source, target) = (room(from), room(to));
            let is_allowed = source == target
                || TOOLS.contains(&target)
                || ARROWS
                    .iter()
                    .any(|(room, targets)| *room == source && targets.contains(&target));
            if !is_allowed {
                found.push(format!("{source} → {target}: {from} uses {to}"));
            }
        }
    }
    found
}

/// The room of a file.
fn room(path: &str) -> &str {
    match path.strip_prefix("src/") {
        Some(below) => below.split(['/', '.']).next().unwrap_or(below),
        None => "reducers",
    }
}

/// Places that name a crate which is not theirs to name.
pub(super) fn strangers(sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| !source.is_test) {
        for (name, rooms) in CRATES {
            if rooms.iter().any(|room| source.path.starts_with(room)) {
                continue;
            }
            let is_name = |text: &str| text == *name;
            let token = source
                .tokens
                .iter()
                .find(|token| token.kind == Kind::Word && is_name(&token.text));
            if let Some(token) = token {
                let line = source.line(token.range.start);
                found.push(format!("{}:{line} names {name}", source.path));
            }
        }
    }
    found
}

/// The room for what Linux alone offers.
const PLATFORM: &str = "src/runner/platform/";

/// What words and texts contain that mean Linux: its crates, its calls, its files.
const OF_LINUX: &[&str] = &[
    "/proc/",
    "\"/proc\"",
    "target_os",
    "procfs",
    "seccompiler",
    "prctl",
    "unshare",
    "pidfd",
    "memfd",
    "signalfd",
    "eventfd",
    "epoll",
    "subreaper",
    "death_signal",
    "mknodat",
    "O_TMPFILE",
];

/// The same of paths, by their beginnings.
const PATHS_OF_LINUX: &[&str] = &["os::linux", "landlock::", "libc::SYS_", "OFlags::PATH"];

/// Files that name what Linux alone offers outside its room.
pub(super) fn linux_only(sources: &[Source]) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| !source.is_test) {
        if source.path.starts_with(PLATFORM) {
            continue;
        }
        for (at, token) in source.tokens.iter().enumerate() {
            let path: String = source.tokens[at..]
                .iter()
                .take(3)
                .map(|token| token.text.as_str())
                .collect();
            let name = OF_LINUX
                .iter()
                .find(|name| token.text.contains(**name))
                .or_else(|| PATHS_OF_LINUX.iter().find(|name| path.starts_with(**name)));
            if let Some(name) = name {
                let line = source.line(token.range.start);
                found.push(format!("{}:{line} names {name}", source.path));
            }
        }
    }
    found
}

/// The rooms that use each other, as `from → to`; for the report.
pub(super) fn arrows(sources: &[Source], edges: &Edges) -> Vec<String> {
    let mut found = Vec::new();
    for (from, targets) in edges {
        for to in targets {
            let [from, to] = [from, to].map(|file| room(&sources[*file].path));
            if from != to && !TOOLS.contains(&to) {
                found.push(format!("{from} → {to}"));
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Passes that use other passes. The driver of extraction tidies its scripts by some, and belongs
/// to its strategies.
pub(super) fn passes_in_passes(sources: &[Source], edges: &Edges) -> Vec<String> {
    const PASSES: &str = "reducers/src/passes/";
    const DRIVER: &str = "reducers/src/passes/trace/extract.rs";
    let mut found = Vec::new();
    for (from, targets) in edges {
        for to in targets {
            let [from, to] = [from, to].map(|file| sources[*file].path.as_str());
            let are_passes = from.starts_with(PASSES) && to.starts_with(PASSES);
            if are_passes && from != DRIVER && to != DRIVER {
                found.push(format!("{from} uses {to}"));
            }
        }
    }
    found
}
