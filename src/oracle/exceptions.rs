//! The meaning of an exception: whether a statement or the interpreter raised it, which exceptions
//! it holds as a group, and which it replaced. Pure. Called by the rest of the oracle.

use minrepro_reducers::analysis::cpython::{OPERATION_ERRORS, OWN_WORDS_PATTERN};

use super::raise_site::is_in_library;
use crate::{runner::Exception, text::pattern};

pattern!(OWN_WORDS, OWN_WORDS_PATTERN);

/// `Class: message`, or the class alone.
pub(super) fn headline(exception: &Exception) -> String {
    if exception.message.is_empty() {
        return exception.class.clone();
    }
    format!("{}: {}", exception.class, exception.message)
}

/// The exceptions that a group holds, with nested groups opened; none if it is no group.
pub(super) fn leaves(group: &Exception) -> Vec<&Exception> {
    let opened = |member| match leaves(member) {
        leaves if leaves.is_empty() => vec![member],
        leaves => leaves,
    };
    group.members.iter().flat_map(opened).collect()
}

/// The exception that another only reports: the first that a group holds, or the one that it
/// replaces.
pub(super) fn cause(exception: &Exception) -> Option<&Exception> {
    leaves(exception)
        .first()
        .copied()
        .or_else(|| wrapped(exception))
}

/// The exception that another replaces: the other is raised by a statement of the handler that
/// caught the first. If the handler's own work failed, the first has no part in it.
pub(super) fn wrapped(exception: &Exception) -> Option<&Exception> {
    let (cause, last) = (exception.chain.last()?, exception.frames.last()?);
    let caught = cause.frames.first()?;
    let is_handler = caught.file == last.file && caught.function == last.function;
    (is_handler && is_raised(exception)).then_some(cause)
}

/// The first of the declared causes of an exception: the original failure, if everything raised
/// from it only reports it. The exception itself if it has none.
pub(super) fn innermost(exception: &Exception) -> &Exception {
    let mut found = exception;
    for cause in exception.chain.iter().rev() {
        if !found.is_from_cause {
            break;
        }
        found = cause;
    }
    leaves(found).first().copied().unwrap_or(found)
}

/// Whether an exception is one of the interpreter's own, about a name, an attribute or a value that
/// does not fit the operation. It says nothing about the intent of the program.
pub(super) fn is_in_interpreters_words(exception: &Exception) -> bool {
    if is_raised(exception) {
        return false;
    }
    match exception.class.as_str() {
        "AttributeError" | "KeyError" | "StopIteration" | "ZeroDivisionError" | "NameError"
        | "UnboundLocalError" | "RecursionError" | "UnicodeDecodeError" | "UnicodeEncodeError"
        | "BufferError" => true,
        "TypeError" | "ValueError" | "IndexError" | "OverflowError" | "RuntimeError" => {
            OWN_WORDS.is_match(&exception.message)
        }
        _ => false,
    }
}

/// Whether a statement raised an exception, and not the interpreter.
pub(super) fn is_raised(exception: &Exception) -> bool {
    let code = exception
        .frames
        .last()
        .map_or("", |last| last.code.as_str());
    code.split(|char: char| !char.is_alphanumeric() && char != '_')
        .any(|word| matches!(word, "raise" | "assert"))
}

/// Whether an exception only says that a library broke, in the interpreter's own words, such as
/// `'a' object is not callable`, which are the same wherever it breaks.
pub(super) fn is_internal(exception: &Exception) -> bool {
    is_of_interpreter(exception) && is_in_library(exception) && !is_raised(exception)
}

/// Whether the interpreter itself raises exceptions of this class when any operation fails.
pub(super) fn is_of_interpreter(exception: &Exception) -> bool {
    OPERATION_ERRORS.contains(&exception.class.as_str())
}
