//! The origin of an exception: a statement of the script, a statement of a library, or the
//! interpreter and its C functions. The same words from another origin may be another bug. Plain
//! data.

use minrepro_reducers::torch::messages;
use serde::{Deserialize, Serialize};

use super::{
    exceptions::{is_in_interpreters_words, is_of_interpreter, is_raised},
    raise_site::{RaiseSite, is_in_library, is_of_script, is_own},
};
use crate::runner::Exception;

/// The origin of an exception, and its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RaiseOrigin {
    /// Whether a statement raised it, a `raise` or an `assert`.
    pub stated: bool,
    /// Where.
    pub site: RaiseSite,
}

impl RaiseOrigin {
    /// The origin of an exception, if its traceback shows it.
    pub fn of(exception: &Exception) -> Option<Self> {
        Some(Self {
            stated: is_raised(exception),
            site: RaiseSite::of(exception)?,
        })
    }

    /// The common origin of all exceptions.
    pub(super) fn common<'a>(exceptions: impl Iterator<Item = &'a Exception>) -> Option<Self> {
        let all: Option<Vec<Self>> = exceptions.map(Self::of).collect();
        let all = all?;
        let first = all.first()?;
        all.iter()
            .all(|origin| origin.is_as(first))
            .then(|| first.clone())
    }

    /// Whether an exception may be the same bug. If a statement of the script raised the original,
    /// another statement of the script may raise it, but the interpreter or a library may not, and
    /// the other way round. A library's own message identifies the bug wherever the library raises
    /// it, unless the words are the interpreter's, such as the key of a `KeyError`: any operation
    /// can fail with those.
    pub(super) fn allows(&self, exception: &Exception) -> bool {
        let Some(its) = Self::of(exception) else {
            return true;
        };
        let is_claim = |one: &Self| one.stated && matches!(one.site, RaiseSite::Script { .. });
        if is_claim(self) || is_claim(&its) {
            return is_claim(self) && is_claim(&its);
        }
        its.stated || !self.stated || is_in_library(exception) || !is_of_interpreter(exception)
    }

    /// Whether a library raised it.
    pub(super) fn is_in_library(&self) -> bool {
        matches!(self.site, RaiseSite::Library { .. })
    }

    /// Where an exception was raised, if that is in a library and not where this was.
    pub(super) fn elsewhere(&self, exception: &Exception) -> Option<String> {
        let its = Self::of(exception).filter(|_| is_in_library(exception))?;
        (!self.is_as(&its)).then(|| format!("{}, not {}", its.site, self.site))
    }

    fn is_as(&self, its: &Self) -> bool {
        let is_there = match (&self.site, &its.site) {
            (RaiseSite::Script { .. }, RaiseSite::Script { .. }) => true,
            (
                RaiseSite::Library { file, function, .. },
                RaiseSite::Library {
                    file: its,
                    function: of,
                    ..
                },
            ) => file == its && function == of,
            _ => false,
        };
        self.stated == its.stated && is_there
    }
}

/// Whether a library's check raised an exception about values that the script passed to it:
/// `assert_close()`, `self.assertEqual()`. Then the script itself reports the failure.
///
/// `unittest` leaves its own frames out of the tracebacks of its tests, so that the statement of the
/// script which calls the check comes last.
fn is_check(exception: &Exception) -> bool {
    // `pandas/_testing.py` in some versions, `pandas/_testing/asserters.py` in others.
    let is_for_tests = |file: &str| {
        let path = file.rsplit_once('.').map_or(file, |(path, _)| path);
        path.split('/')
            .any(|part| part.ends_with("test") || part.ends_with("testing"))
    };
    let last = exception.frames.last();
    exception.short_class() == "AssertionError"
        && last.is_some_and(|last| {
            if is_own(exception, last) {
                !is_raised(exception)
            } else {
                is_for_tests(&last.file)
            }
        })
}

/// Whether an operation of the language, in the script, fails on a value, in the language's words.
/// The operation is right, as a check is: what is wrong is what it works on.
pub fn is_operation(exception: &Exception) -> bool {
    !["RecursionError", "UnboundLocalError"].contains(&exception.short_class())
        && is_of_value(exception)
}

/// Whether an operation of the language fails in the script on what was made before: a value, a
/// variable that is not bound yet, or calls that do not end.
pub fn is_of_value(exception: &Exception) -> bool {
    exception.short_class() != "NameError"
        && !is_in_library(exception)
        && is_in_interpreters_words(exception)
}

/// What an operation of the language looks for in vain, in the script. The words of a failure leave
/// it open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unfound {
    /// A key, as Python writes it.
    Key(String),
    /// So many values to unpack, and so many that are there.
    Values(String),
}

impl Unfound {
    /// What an exception reports as not found, if it does.
    pub fn of(exception: &Exception) -> Option<Self> {
        let message = exception.message.as_str();
        match exception.short_class() {
            _ if !is_operation(exception) => None,
            "KeyError" => Some(Self::Key(message.to_owned())),
            "ValueError" => {
                let expected = message.split_once("(expected ")?.1;
                let counts = expected
                    .split(')')
                    .next()
                    .filter(|counts| !counts.is_empty());
                counts.map(|counts| Self::Values(counts.to_owned()))
            }
            _ => None,
        }
    }

    /// The key, if it is one.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Key(key) => Some(key),
            Self::Values(_) => None,
        }
    }

    /// Whether it is of the same kind as another: as many values, or a key that is written alike.
    pub fn is_like(&self, other: &Self) -> bool {
        let kind = |key: &str| match key.trim_start_matches('-').chars().next() {
            Some('0'..='9') => '0',
            Some('"') => '\'',
            first => first.unwrap_or_default(),
        };
        match (self, other) {
            (Self::Key(key), Self::Key(other)) => kind(key) == kind(other),
            _ => self == other,
        }
    }
}

/// The lines of the script's own frames, outermost first, if the script itself reports the bug: by
/// a statement that raises, or by a check of a library.
pub fn claim(exception: &Exception) -> Option<Vec<u32>> {
    let is_claim = is_raised(exception) && !is_in_library(exception) || is_check(exception);
    is_claim.then(|| own_lines(exception))
}

/// The lines of the script's own frames, outermost first.
pub fn own_lines(exception: &Exception) -> Vec<u32> {
    let frames = exception.frames.iter();
    let own = frames.filter(|frame| is_own(exception, frame));
    own.map(|frame| frame.line).collect()
}

/// The lines of the script's own frames that a library called, outermost first.
pub fn lines_called_by_library(exception: &Exception) -> Vec<u32> {
    let pairs = exception.frames.windows(2);
    let called = pairs.filter(|pair| !is_own(exception, &pair[0]) && is_own(exception, &pair[1]));
    called.map(|pair| pair[1].line).collect()
}

/// Whether a library called the innermost of the script's own frames.
pub fn is_called_by_library(exception: &Exception) -> bool {
    let frames = &exception.frames;
    let innermost = frames.iter().rposition(|frame| is_own(exception, frame));
    let caller = innermost.and_then(|at| frames.get(at.checked_sub(1)?));
    caller.is_some_and(|caller| !is_own(exception, caller))
}

/// The lines of the script that a compiler was at when it gave up, outermost first.
pub fn compiled_lines(exception: &Exception) -> Vec<u32> {
    let messages = std::iter::once(exception).chain(&exception.chain);
    let lines = messages.flat_map(|one| messages::compiled_lines(&one.message));
    let own = lines.filter(|(file, _)| is_of_script(exception, file));
    own.map(|(_, line)| line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::traceback::parse;

    #[test]
    fn what_is_looked_for_is_a_key_or_some_values() {
        let of = |class: &str, message: &str| {
            let traceback = format!(
                "Traceback (most recent call last):\n  File \"/tmp/x.py\", line 1, in <module>\n    \
                 a = b[c]\n{class}: {message}\n"
            );
            Unfound::of(&parse(&traceback).unwrap())
        };
        let key = |message: &str| of("KeyError", message).unwrap();
        assert!(key("2").is_like(&key("-3")) && key("'2'").is_like(&key("\"it's\"")));
        assert!(!key("2").is_like(&key("(2,)")) && !key("2").is_like(&key("'2'")));
        let values = |counts: &str| {
            let message = format!("not enough values to unpack (expected {counts})");
            of("ValueError", &message).unwrap()
        };
        let few = values("3, got 2");
        assert!(few.is_like(&values("3, got 2")) && !few.is_like(&values("3, got 1")));
        assert!(!few.is_like(&values("2, got 1")) && !few.is_like(&values("3")));
        assert_eq!(of("IndexError", "list index out of range"), None);
    }

    #[test]
    fn operations_fail_on_what_was_made_before() {
        let is_of = |code: &str, headline: &str| {
            let traceback = format!(
                "Traceback (most recent call last):\n  File \"/tmp/x.py\", line 1, in <module>\n    \
                 {code}\n{headline}\n"
            );
            is_of_value(&parse(&traceback).unwrap())
        };
        for headline in [
            "IndexError: index out of range",
            "IndexError: pop from an empty deque",
            "KeyError: 'a'",
            "RecursionError: maximum recursion depth exceeded",
            "TypeError: unsupported operand type(s) for +: 'int' and 'object'",
            "UnboundLocalError: cannot access local variable 'a' where it is not associated with a value",
            "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xea in position 0",
            "ValueError: 'a' is not in list",
            "ValueError: invalid literal for int() with base 10: ''",
            "ValueError: list.remove(x): x not in list",
            "ValueError: max() arg is an empty sequence",
            "ValueError: max() iterable argument is empty",
            "ValueError: substring not found",
        ] {
            assert!(is_of("f(x)", headline), "{headline}");
            assert!(!is_of("raise error", headline), "{headline}");
        }
        for headline in [
            "IndexError: index out of range in self",
            "NameError: name 'a' is not defined",
            "ValueError: invalid literal for int() with base 10: 'a'",
            "TypeError: __format__ must return a str, not NoneType",
        ] {
            assert!(!is_of("f(x)", headline), "{headline}");
        }
    }

    /// The lines of the script that a failure blames, if a check raised it that ends in this file.
    fn blamed(class: &str, file: &str) -> Option<Vec<u32>> {
        let text = format!(
            "Traceback (most recent call last):\n  File \"/home/me/script.py\", line 4, in <module>\n    \
             check(a, b)\n  File \"/env/lib/python3.11/site-packages/{file}\", line 90, in check\n    \
             raise {class}(message)\n{class}: a != b\n"
        );
        claim(&parse(&text).unwrap())
    }

    #[test]
    fn checks_of_libraries_are_known_by_their_files() {
        for file in [
            "pandas/_testing.py",
            "pandas/_testing/asserters.py",
            "numpy/testing/_private/utils.py",
            "torch/testing/_comparison.py",
            "unittest.py",
        ] {
            assert_eq!(blamed("AssertionError", file), Some(vec![4]), "{file}");
            assert_eq!(blamed("ValueError", file), None, "{file}");
        }
        for file in ["pandas/core/frame.py", "testing_tools/core.py"] {
            assert_eq!(blamed("AssertionError", file), None, "{file}");
        }
    }
}
