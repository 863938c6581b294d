//! Names of signals on Linux. Pure.

const NAMES: &[(i32, &str)] = &[
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (11, "SIGSEGV"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
    (24, "SIGXCPU"),
    (25, "SIGXFSZ"),
    (31, "SIGSYS"),
];

/// The name of a signal, or its number if it has no common name.
pub(super) fn name(signal: i32) -> String {
    NAMES
        .iter()
        .find(|(number, _)| *number == signal)
        .map_or_else(
            || format!("signal {signal}"),
            |(_, name)| (*name).to_owned(),
        )
}

/// The signal of this name, with or without `SIG`, or number.
pub(super) fn typed(text: &str) -> Option<i32> {
    if let Ok(number) = text.trim_start_matches("signal ").parse::<i32>() {
        return (1..=64).contains(&number).then_some(number);
    }
    let wanted = text.to_ascii_uppercase();
    let found = NAMES
        .iter()
        .find(|(_, name)| *name == wanted || name.strip_prefix("SIG") == Some(&wanted));
    found.map(|(number, _)| *number)
}

/// Signals as the user types them.
pub(super) fn listed(signals: &[i32]) -> String {
    signals
        .iter()
        .map(|signal| name(*signal))
        .collect::<Vec<_>>()
        .join(",")
}
