//! Where an exception was raised, free of line numbers and folders: it distinguishes bugs that
//! share a message. Plain data.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{
    runner::{Exception, TracebackFrame, installed_path, is_installed, package_path},
    text::pattern,
};

pattern!(LIBRARY, r"^(\S+), ([\w<>.]+)\(\)(?:: (.+))?$");

// Code that a library wrote: a file named by a hash, or a text that was numbered.
pattern!(GENERATED, r"(?:^|/)[a-z0-9]{40,}\.py$|^<[\w ]+>\.\d+$");

/// The file of code that a library wrote.
pub(super) const THE_GENERATED: &str = "<generated>";

/// Where an exception was raised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RaiseSite {
    /// In a library.
    Library {
        /// The last two parts of the file's path; fewer where the user gave fewer.
        file: String,
        /// The function.
        function: String,
        /// The line, white space folded: one function may fail at several lines. None if the
        /// traceback shows no source.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
    /// In the script itself: the line, white space folded.
    Script {
        /// The line's text.
        code: String,
    },
}

impl RaiseSite {
    /// Where an exception was raised, if its traceback shows it.
    pub(super) fn of(exception: &Exception) -> Option<Self> {
        let last = exception.frames.last()?;
        let code = folded(&last.code);
        if is_own(exception, last) {
            return Some(Self::Script { code }).filter(|_| !last.code.is_empty());
        }
        Some(Self::Library {
            file: short_path(exception, last),
            function: last.function.clone(),
            code: Some(code).filter(|code| !code.is_empty()),
        })
    }

    /// Whether an exception was raised here.
    pub(super) fn holds(&self, exception: &Exception) -> bool {
        match (self, Self::of(exception)) {
            (
                Self::Library {
                    file,
                    function,
                    code,
                },
                Some(Self::Library {
                    file: its,
                    function: of,
                    code: line,
                }),
            ) => {
                let is_end = its
                    .strip_suffix(file.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'));
                is_end && *function == of && (code.is_none() || *code == line)
            }
            (own, Some(its)) => *own == its,
            (_, None) => false,
        }
    }

    /// All that a typed text may mean: a place in a library, `torch/_dynamo/guards.py, check()`
    /// and, if wanted, `: ` and its line; or a line of the script.
    pub(super) fn typed(text: &str) -> Vec<Self> {
        let mut sites = Vec::new();
        if let Some(found) = LIBRARY.captures(text) {
            let code = found.get(3).map(|code| folded(code.as_str()));
            sites.push(Self::Library {
                file: found[1].to_owned(),
                function: found[2].to_owned(),
                code,
            });
        }
        sites.push(Self::Script { code: folded(text) });
        sites
    }

    /// Whether a text is the line, copied from a traceback.
    pub(super) fn is_quoted_by(&self, text: &str) -> bool {
        let text = folded(text);
        match self {
            Self::Library { code, .. } => code.as_ref() == Some(&text),
            Self::Script { code } => *code == text,
        }
    }

    /// As the user types it.
    pub(super) fn argument(&self) -> String {
        match self {
            Self::Library {
                file,
                function,
                code: Some(code),
            } => format!("{file}, {function}(): {code}"),
            Self::Library {
                file,
                function,
                code: None,
            } => format!("{file}, {function}()"),
            Self::Script { code } => code.clone(),
        }
    }
}

impl fmt::Display for RaiseSite {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Library {
                file,
                function,
                code: Some(code),
            } => {
                write!(formatter, "raised in {file}, {function}(), by `{code}`")
            }
            Self::Library {
                file,
                function,
                code: None,
            } => {
                write!(formatter, "raised in {file}, {function}()")
            }
            Self::Script { code } => write!(formatter, "raised by `{code}`"),
        }
    }
}

/// Whether an exception was raised inside a library.
pub fn is_in_library(exception: &Exception) -> bool {
    exception
        .frames
        .last()
        .is_some_and(|last| !is_own(exception, last))
}

/// The installed package in whose code an exception was raised, or whose code called what raised
/// it.
pub fn failing_package(exception: &Exception) -> Option<&str> {
    let path = package_path(&exception.frames.last()?.file)?;
    let top = path.split('/').next()?;
    Some(top.strip_suffix(".py").unwrap_or(top))
}

/// Whether an exception ended a script later in its text than another one did. Each comes with the
/// number of lines of its script, of which one may have more lines at its beginning.
pub fn is_later(one: (&Exception, usize), other: (&Exception, usize)) -> bool {
    let places = |(exception, lines): (&Exception, usize)| -> Vec<(String, usize)> {
        let own = exception
            .frames
            .iter()
            .filter(|frame| is_own(exception, frame));
        let from_end = |frame: &TracebackFrame| lines.saturating_sub(frame.line as usize);
        own.map(|frame| (frame.function.clone(), from_end(frame)))
            .collect()
    };
    let (one, other) = (places(one), places(other));
    let differing = one.iter().zip(&other).find(|(one, other)| one != other);
    differing.is_some_and(|(one, other)| one.0 == other.0 && one.1 < other.1)
}

/// The script's frame: the outermost, unless the exception ended a thread, a process or a task.
fn script(exception: &Exception) -> Option<&TracebackFrame> {
    exception
        .frames
        .first()
        .filter(|first| first.function == "<module>" && !is_installed(&first.file))
}

/// Whether a frame is the script's own. If the traceback does not show its outermost frame, every
/// file that is not installed is taken for the script.
pub(super) fn is_own(exception: &Exception, frame: &TracebackFrame) -> bool {
    is_of_script(exception, &frame.file)
}

/// Whether a file is the script, or taken for it.
pub(super) fn is_of_script(exception: &Exception, file: &str) -> bool {
    match script(exception) {
        Some(script) => script.file == file,
        None => !is_installed(file),
    }
}

/// The end of a path that does not depend on where the script and the interpreter are: the part
/// below their folders, the last two components at most.
pub(super) fn short_path(exception: &Exception, frame: &TracebackFrame) -> String {
    let folder = script(exception).and_then(|script| Some(script.file.rsplit_once('/')?.0));
    let beside = folder.and_then(|folder| frame.file.strip_prefix(folder)?.strip_prefix('/'));
    if GENERATED.is_match(&frame.file) {
        return THE_GENERATED.to_owned();
    }
    let path = beside
        .or_else(|| installed_path(&frame.file))
        .unwrap_or(&frame.file);
    let start = path.rmatch_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
    path[start..].to_owned()
}

/// A line of code without its comment, white space folded.
fn folded(code: &str) -> String {
    let mut quote = None;
    let end = code.char_indices().find(|(_, char)| {
        match (quote, char) {
            (None, '#') => return true,
            (None, '"' | '\'') => quote = Some(*char),
            (Some(open), _) if open == *char => quote = None,
            _ => {}
        }
        false
    });
    let code = &code[..end.map_or(code.len(), |(at, _)| at)];
    code.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raised(frames: &[(&str, &str, &str)]) -> Exception {
        let frame = |(file, function, code): &(&str, &str, &str)| TracebackFrame {
            file: (*file).to_owned(),
            line: 3,
            function: (*function).to_owned(),
            code: (*code).to_owned(),
        };
        Exception {
            frames: frames.iter().map(frame).collect(),
            ..Exception::default()
        }
    }

    #[track_caller]
    fn check(frames: &[(&str, &str, &str)], expected: &str) {
        let exception = raised(frames);
        let site = RaiseSite::of(&exception).unwrap();
        assert_eq!(site.to_string(), expected);
        assert!(site.holds(&exception));
        assert!(
            RaiseSite::typed(&site.argument()).contains(&site),
            "{site:?}"
        );
    }

    #[test]
    fn a_package_is_known_by_its_folder_or_its_file() {
        let of = |file: &str| {
            let exception = raised(&[("/w/a.py", "<module>", "f()"), (file, "f", "g()")]);
            failing_package(&exception).map(str::to_owned)
        };
        let of_package = |path: &str| of(&format!("/v/lib/python3.11/site-packages/{path}"));
        assert_eq!(of_package("lib/kernels/sums.py").as_deref(), Some("lib"));
        assert_eq!(of_package("six.py").as_deref(), Some("six"));
        assert_eq!(of("/usr/lib/python3.11/json/decoder.py"), None);
        assert_eq!(of("/w/a.py"), None);
    }

    #[test]
    fn the_later_of_two_failures_is_nearer_to_the_end() {
        let failed = |lines: &[(&str, u32)]| {
            let frame = |(function, line): &(&str, u32)| TracebackFrame {
                file: "/tmp/x.py".to_owned(),
                line: *line,
                function: (*function).to_owned(),
                code: String::new(),
            };
            Exception {
                frames: lines.iter().map(frame).collect(),
                ..Exception::default()
            }
        };
        let first = failed(&[("<module>", 9), ("main", 4), ("f", 2)]);
        let later = |lines: &[(&str, u32)], count| is_later((&failed(lines), count), (&first, 9));
        assert!(later(&[("<module>", 9), ("main", 5)], 9));
        // Five lines more come before all of them.
        assert!(later(&[("<module>", 14), ("main", 10)], 14));
        assert!(!later(&[("<module>", 14), ("main", 9)], 14));
        assert!(!later(&[("<module>", 14), ("main", 8), ("f", 8)], 14));
        assert!(!later(&[("<module>", 9), ("g", 7)], 9));
    }

    #[test]
    fn sites_are_named_without_folders() {
        let script = ("/tmp/r1/x.py", "<module>", "f()");
        check(
            &[script, ("/tmp/r1/x.py", "f", "assert  x")],
            "raised by `assert x`",
        );
        // A module beside the script lies in another folder at each run.
        check(
            &[script, ("/tmp/r1/helper.py", "g", "assert y")],
            "raised in helper.py, g(), by `assert y`",
        );
        check(
            &[
                script,
                (
                    "/v/lib/python3.12/site-packages/torch/_inductor/ir.py",
                    "simplify",
                    "",
                ),
            ],
            "raised in _inductor/ir.py, simplify()",
        );
        check(
            &[script, ("/usr/lib/python3.12/queue.py", "put", "a > b")],
            "raised in queue.py, put(), by `a > b`",
        );
        // An installation to be edited lies anywhere.
        check(
            &[
                script,
                ("/src/pytorch/torch/fx/node.py", "<lambda>", "assert z"),
            ],
            "raised in fx/node.py, <lambda>(), by `assert z`",
        );
        check(
            &[
                ("/usr/lib/python3.11/threading.py", "run", "t()"),
                ("/tmp/r1/x.py", "f", "assert x"),
            ],
            "raised by `assert x`",
        );
        for generated in [
            "/tmp/cache/yf/cyfx3tfk2aknmvvbk5rzmjmpyeczz6u3mcuejycvfwqgmrbyu5b3.py",
            "<eval_with_key>.12",
        ] {
            check(
                &[script, (generated, "call", "assert size(a)")],
                "raised in <generated>, call(), by `assert size(a)`",
            );
        }
        check(
            &[("<frozen runpy>", "run", ""), ("<string>", "<module>", "")],
            "raised in <string>, <module>()",
        );
    }

    #[test]
    fn one_function_fails_at_several_lines() {
        let at = |code| {
            raised(&[
                ("/tmp/x.py", "<module>", "f()"),
                ("/l/site-packages/a/b.py", "f", code),
            ])
        };
        let site = RaiseSite::of(&at("assert a")).unwrap();
        assert!(!site.holds(&at("assert b")));
        let typed = &RaiseSite::typed("b.py, f()")[0];
        assert!(typed.holds(&at("assert a")) && typed.holds(&at("assert b")));
        assert!(!RaiseSite::typed("bb.py, f()")[0].holds(&at("assert a")));
    }

    #[test]
    fn a_line_is_quoted_without_its_comment() {
        let script = raised(&[("script.py", "<module>", "assert x  ==  \"#\"  # fails")]);
        let site = RaiseSite::of(&script).unwrap();
        assert_eq!(site.argument(), "assert x == \"#\"");
        assert!(
            site.is_quoted_by("assert x == \"#\"") && site.is_quoted_by(" assert x == \"#\" # ok")
        );
        assert!(!site.is_quoted_by("assert x"));
    }
}
