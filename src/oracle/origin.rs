//! What raised an exception: a statement of the script, a statement of a library, or the
//! interpreter and its C functions. The same words from another origin may be another bug. Plain
//! data.

use serde::{Deserialize, Serialize};

use super::{
    derive::is_of_interpreter,
    raise_site::{RaiseSite, is_check, is_in_library, is_own},
};
use crate::runner::Exception;

/// What raised an exception, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RaiseOrigin {
    /// Whether a statement raised it, a `raise` or an `assert`.
    pub stated: bool,
    /// Where.
    pub place: RaiseSite,
}

impl RaiseOrigin {
    /// What raised an exception, if its traceback tells.
    pub(super) fn of(exception: &Exception) -> Option<Self> {
        Some(Self {
            stated: is_raised(exception),
            place: RaiseSite::of(exception)?,
        })
    }

    /// What raised all exceptions.
    pub(super) fn common<'a>(exceptions: impl Iterator<Item = &'a Exception>) -> Option<Self> {
        let all: Option<Vec<Self>> = exceptions.map(Self::of).collect();
        let all = all?;
        let first = all.first()?;
        all.iter().all(|it| it.is_as(first)).then(|| first.clone())
    }

    /// Whether an exception may be the same: what a statement of the script raised, another of its
    /// statements may raise, and what none of them raised must not become their words. What a
    /// library says itself is told by its words wherever it says so, unless they are the
    /// interpreter's, such as the key of a `KeyError`: these it says of anything.
    pub(super) fn allows(&self, exception: &Exception) -> bool {
        let Some(its) = Self::of(exception) else {
            return true;
        };
        let is_claim = |it: &Self| it.stated && matches!(it.place, RaiseSite::Script { .. });
        if is_claim(self) || is_claim(&its) {
            return is_claim(self) && is_claim(&its);
        }
        its.stated || !self.stated || is_in_library(exception) || !is_of_interpreter(exception)
    }

    /// Where an exception was raised, if that is in a library and not where this was.
    pub(super) fn elsewhere(&self, exception: &Exception) -> Option<String> {
        let its = Self::of(exception).filter(|_| is_in_library(exception))?;
        (!self.is_as(&its)).then(|| format!("{}, not {}", its.place, self.place))
    }

    fn is_as(&self, its: &Self) -> bool {
        let is_there = match (&self.place, &its.place) {
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

/// Whether an exception comes of a statement that raises, not of the interpreter.
pub(super) fn is_raised(exception: &Exception) -> bool {
    let code = exception
        .frames
        .last()
        .map_or("", |last| last.code.as_str());
    code.split(|char: char| !char.is_alphanumeric() && char != '_')
        .any(|word| matches!(word, "raise" | "assert"))
}

/// The lines of the script's own frames, outermost first, if it is the script that tells of the
/// bug: by a statement that raises, or by a check of a library.
pub fn claim(exception: &Exception) -> Option<Vec<u32>> {
    let is_claim = is_raised(exception) && !is_in_library(exception) || is_check(exception);
    let own = exception.frames.iter().filter(|it| is_own(exception, it));
    is_claim.then(|| own.map(|it| it.line).collect())
}
