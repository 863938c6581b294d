//! The values of arguments: times, sizes, shares, variables, environments and choices, read as
//! people write them. Pure, but for the home folder. Called by the arguments.

use std::{path::PathBuf, time::Duration};

use clap::ValueEnum;

/// How candidates start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum RunnerKind {
    /// Warm if that shows the bug as well and saves time.
    #[default]
    Auto,
    /// Warm, or fail.
    Warm,
    /// Each in a fresh interpreter.
    Cold,
}

/// Whether runs are confined.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum SandboxWhen {
    /// As far as this system allows.
    #[default]
    Auto,
    /// In full, or fail.
    Require,
    /// Not at all.
    Off,
}

/// A share of runs, between 0.001 and 1.
pub(super) fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.001..1.0).contains(&share) => Ok(share),
        _ => Err("a share of runs is between 0.001 and 1".to_owned()),
    }
}

/// A time: seconds, or as in `1h30m`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let parsed = match text.parse::<f64>() {
        Ok(seconds) => Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string()),
        Err(_) => humantime::parse_duration(text).map_err(|error| error.to_string()),
    };
    parsed.and_then(|time| {
        if time.is_zero() {
            Err("it must be longer than zero".to_owned())
        } else {
            Ok(time)
        }
    })
}

/// A size in bytes: `4G`, `512MiB`.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let parsed = text.parse::<bytesize::ByteSize>();
    let size = parsed
        .map_err(|_| "name a size such as `500M` or `16G`".to_owned())?
        .as_u64();
    if size < 1 << 20 {
        Err("no interpreter runs in less than 1M".to_owned())
    } else {
        Ok(size)
    }
}

/// `VERSION=PYTHON`.
pub(super) fn environment(text: &str) -> Result<(String, PathBuf), String> {
    named_python(text).ok_or_else(|| "it has the form VERSION=PYTHON".to_owned())
}

/// `NAME=PYTHON`.
pub(super) fn build(text: &str) -> Result<(String, PathBuf), String> {
    named_python(text).ok_or_else(|| "it has the form NAME=PYTHON".to_owned())
}

/// A name and an interpreter.
fn named_python(text: &str) -> Option<(String, PathBuf)> {
    match text.split_once('=') {
        Some((name, python)) if !name.is_empty() && !python.is_empty() => {
            // Shells do not expand a `~` behind an equals sign.
            let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
            let path = match (python.strip_prefix("~/"), home) {
                (Some(below), Some(home)) => PathBuf::from(home).join(below),
                _ => PathBuf::from(python),
            };
            Some((name.to_owned(), path))
        }
        _ => None,
    }
}

/// `NAME=VALUE`.
pub(super) fn variable(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("it has the form NAME=VALUE".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_are_read_as_people_write_them() {
        assert_eq!(duration("90"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1h30m"), Ok(Duration::from_mins(90)));
        assert!(duration("0").is_err() && duration("-1").is_err() && duration("soon").is_err());
        assert_eq!(size("4G"), Ok(4_000_000_000));
        assert_eq!(size("512MiB"), Ok(512 << 20));
        assert_eq!(
            build("nightly=/v/bin/python"),
            Ok(("nightly".to_owned(), "/v/bin/python".into()))
        );
        assert!(build("=python3").is_err() && build("python3").is_err());
        assert!(size("12").is_err() && size("much").is_err());
    }
}
