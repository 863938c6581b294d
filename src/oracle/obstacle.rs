//! Obstacles: reasons why a program did not reach its bug. Confinement forbade something, or the
//! program lacks an input. Recognized by the classes and error numbers of the exception and of its
//! causes. Pure.

use std::path::PathBuf;

use minrepro_reducers::{analysis::cpython, torch::messages::ACCELERATOR_REFUSED};
use serde::{Deserialize, Serialize};

use super::exceptions::leaves;
use crate::{
    runner::{Confinement, End, Exception, Outcome},
    text::pattern,
};

/// A kind of access that confinement forbids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Forbidden {
    /// To other machines: a name was not resolved, or no way leads to a network.
    Network,
    /// To a service that may listen outside.
    Service,
    /// To a file system, to write.
    Writing,
    /// To what needs rights.
    Rights,
    /// To what an accelerator needs to start.
    Accelerator,
}

/// The reason why a program did not reach its bug.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// An access failed that confinement forbids, to this file if it was to one.
    Forbidden(Forbidden, Option<PathBuf>),
    /// This package is not installed.
    Package(String),
    /// This file, or program, is missing.
    File(String),
    /// The script wants arguments.
    Arguments,
    /// The script reads its standard input.
    Input,
    /// This environment variable is not set.
    Variable(String),
}

pattern!(ERROR_NUMBER, r"\[Errno (-?\d+)\]");
pattern!(ERROR_PATH, r#"\[Errno \d+\] [^:'"]+: ['"]([^'"]+)['"]"#);
pattern!(MISSING_MODULE, cpython::MODULE_PATTERN);
pattern!(USAGE, r"(?mi)^usage: ");
pattern!(USAGE_ERROR, r"(?mi)^(?:[^\s:]+: )?error: ");

impl Forbidden {
    /// The access that an error's number stands for. The numbers of the resolver are negative.
    fn of_number(number: i32) -> Option<Self> {
        Some(match number {
            ..=-1 | libc::ENETUNREACH | libc::ENETDOWN | libc::EHOSTUNREACH => Self::Network,
            libc::ECONNREFUSED | libc::EADDRNOTAVAIL => Self::Service,
            libc::EROFS => Self::Writing,
            libc::EPERM | libc::EACCES => Self::Rights,
            _ => return None,
        })
    }

    /// The accesses that a text reports by the numbers of their errors.
    pub(super) fn named_in(text: &str) -> impl Iterator<Item = Self> {
        ERROR_NUMBER
            .captures_iter(text)
            .filter_map(|found| Self::of_number(found[1].parse().ok()?))
    }

    /// The accesses for which an exception stands by its class.
    pub(super) fn of_class(class: &str) -> Option<Self> {
        match class.rsplit('.').next().unwrap_or(class) {
            "gaierror" => Some(Self::Network),
            "ConnectionRefusedError" => Some(Self::Service),
            "PermissionError" => Some(Self::Rights),
            _ => None,
        }
    }

    /// Whether this confinement may be the reason, with the network open or not.
    pub fn may_be_by(self, confinement: Confinement, network: bool) -> bool {
        match (confinement, self) {
            (Confinement::Namespaces { .. }, Self::Network | Self::Service) => !network,
            (Confinement::Namespaces { .. }, _) => true,
            (Confinement::Landlock, access) => matches!(access, Self::Rights | Self::Accelerator),
            (Confinement::Off | Confinement::Unavailable, _) => false,
        }
    }

    /// Whether nothing but confinement is likely to be the reason.
    pub fn is_certain(self) -> bool {
        matches!(self, Self::Network | Self::Writing)
    }
}

/// The reason why a program did not reach its bug, if there is one.
pub fn obstacle(outcome: &Outcome) -> Option<Obstacle> {
    let Some(exception) = &outcome.exception else {
        let asks = || {
            let stderr = outcome.stderr.text();
            USAGE.is_match(&stderr) && USAGE_ERROR.is_match(&stderr)
        };
        return (outcome.end == End::Exit(2) && asks()).then_some(Obstacle::Arguments);
    };
    if outcome.end == End::Exit(0) || matches!(outcome.end, End::Signal(_)) {
        return None;
    }
    forbidden(exception).or_else(|| missing(exception))
}

/// The failed access among everything that a run reports, in its exceptions or in its output.
pub fn forbidden_anywhere(outcome: &Outcome) -> Option<Forbidden> {
    let raised = outcome.exception.as_ref().and_then(forbidden);
    if let Some(Obstacle::Forbidden(access, _)) = raised {
        return Some(access);
    }
    [&outcome.stderr, &outcome.stdout]
        .into_iter()
        .find_map(|stream| Forbidden::named_in(&stream.text()).next())
}

/// The access that failed first in the causes of an exception.
fn forbidden(exception: &Exception) -> Option<Obstacle> {
    let all = exception.chain.iter().chain([exception]);
    let all = all.chain(leaves(exception));
    all.into_iter().find_map(|raised| {
        let access = Forbidden::named_in(&raised.message).next();
        let access = access.or_else(|| Forbidden::of_class(&raised.class));
        let is_refused = || raised.message.contains(ACCELERATOR_REFUSED);
        let access = access.or_else(|| is_refused().then_some(Forbidden::Accelerator))?;
        let path = ERROR_PATH.captures(&raised.message);
        let path = path.map(|found| PathBuf::from(&found[1]));
        Some(Obstacle::Forbidden(access, path))
    })
}

/// The thing that a program that ends with this exception lacks.
fn missing(exception: &Exception) -> Option<Obstacle> {
    let message = exception.message.trim();
    let last = exception.frames.last();
    let quoted = || message.trim_matches(['\'', '"']).to_owned();
    match exception.short_class() {
        "ModuleNotFoundError" if MISSING_MODULE.is_match(message) => {
            let name = message.split('\'').nth(1)?;
            // Of a module within a package, the package is there.
            (!name.contains('.')).then(|| Obstacle::Package(name.to_owned()))
        }
        "FileNotFoundError" => {
            let path = ERROR_PATH.captures(message)?;
            Some(Obstacle::File(path[1].to_owned()))
        }
        "EOFError" if message == "EOF when reading a line" => Some(Obstacle::Input),
        "IndexError" if last?.code.contains("argv[") => Some(Obstacle::Arguments),
        "KeyError" => {
            let frame = last?;
            let is_environment = frame.file.ends_with("/os.py") || frame.file == "<frozen os>";
            (is_environment && frame.function.ends_with("__getitem__"))
                .then(|| Obstacle::Variable(quoted()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::{Captured, Timing, traceback};

    fn of(end: End, stderr: &str) -> Option<Obstacle> {
        obstacle(&Outcome {
            end,
            timing: Timing::default(),
            stdout: Captured::default(),
            stderr: Captured::whole(stderr),
            exception: traceback::parse(stderr),
            stack: Vec::new(),
            other_stacks: Vec::new(),
            trace: None,
        })
    }

    fn raised(frame: &str, headline: &str) -> Option<Obstacle> {
        let stderr = format!("Traceback (most recent call last):\n{frame}\n{headline}\n");
        of(End::Exit(1), &stderr)
    }

    #[test]
    fn accesses_are_known_by_error_numbers_anywhere_in_the_chain() {
        let frame = "  File \"x.py\", line 1, in <module>\n    f()";
        for (headline, expected) in [
            (
                "OSError: [Errno 30] Read-only file system: '/a/b'",
                Some((Forbidden::Writing, Some("/a/b"))),
            ),
            (
                "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 304: OS call \
                 failed or operation not supported on this OS",
                Some((Forbidden::Accelerator, None)),
            ),
            (
                "PermissionError: [Errno 13] Permission denied: '/a'",
                Some((Forbidden::Rights, Some("/a"))),
            ),
            (
                "socket.gaierror: [Errno -3] Temporary failure",
                Some((Forbidden::Network, None)),
            ),
            (
                "a.Error: (Caused by B('[Errno 101] Network is unreachable'))",
                Some((Forbidden::Network, None)),
            ),
            (
                "ConnectionRefusedError: [Errno 111] Connection refused",
                Some((Forbidden::Service, None)),
            ),
            ("OSError: [Errno 28] No space left on device", None),
            ("ValueError: Errno 30", None),
        ] {
            let expected =
                expected.map(|(access, path)| Obstacle::Forbidden(access, path.map(PathBuf::from)));
            assert_eq!(raised(frame, headline), expected, "{headline}");
        }
        let chained = "OSError: [Errno 30] Read-only file system: '/a'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"x.py\", line 3, in <module>\n    g()\nKeyError: 'x'";
        assert!(matches!(
            raised(frame, chained),
            Some(Obstacle::Forbidden(Forbidden::Writing, _))
        ));
    }

    #[test]
    fn what_a_script_lacks_is_known_by_the_class_and_the_place() {
        let own = |code: &str| format!("  File \"x.py\", line 1, in <module>\n    {code}");
        let environ = "  File \"/usr/lib/python3.11/os.py\", line 679, in __getitem__\n    raise KeyError(key) from None";
        for (frame, headline, expected) in [
            (
                own("import a"),
                "ModuleNotFoundError: No module named 'a'",
                Some(Obstacle::Package("a".into())),
            ),
            (
                own("import a.b"),
                "ModuleNotFoundError: No module named 'a.b'",
                None,
            ),
            (
                own("open(p)"),
                "FileNotFoundError: [Errno 2] No such file or directory: 'd.csv'",
                Some(Obstacle::File("d.csv".into())),
            ),
            (
                own("input()"),
                "EOFError: EOF when reading a line",
                Some(Obstacle::Input),
            ),
            (own("pickle.load(f)"), "EOFError: Ran out of input", None),
            (
                own("n = int(sys.argv[1])"),
                "IndexError: list index out of range",
                Some(Obstacle::Arguments),
            ),
            (
                own("n = rows[1]"),
                "IndexError: list index out of range",
                None,
            ),
            (
                environ.to_owned(),
                "KeyError: 'TOKEN'",
                Some(Obstacle::Variable("TOKEN".into())),
            ),
            (own("d['a']"), "KeyError: 'a'", None),
        ] {
            assert_eq!(raised(&frame, headline), expected, "{headline}");
        }
        let usage = "usage: x.py [-h] n\nx.py: error: the following arguments are required: n\n";
        assert_eq!(of(End::Exit(2), usage), Some(Obstacle::Arguments));
        assert_eq!(of(End::Exit(1), usage), None);
        assert_eq!(of(End::Exit(2), "error: bad\n"), None);
    }
}
