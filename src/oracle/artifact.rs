//! Artifacts: failures that a reduction itself causes by removing parts of a program, such as
//! missing names, modules and arguments, broken syntax, and a plain literal instead of an object.
//! An artifact is never the bug, printed or raised, unless the original script shows one of its
//! kind. Pure.

use std::collections::BTreeSet;

use minrepro_reducers::{analysis::cpython, torch::messages};
use serde::{Deserialize, Serialize};

use super::{exceptions::leaves, normalize::informative_lines, obstacle::Forbidden};
use crate::{runner::Exception, text::pattern};

/// A kind of artifact.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReductionArtifact {
    /// A name is bound nowhere.
    Name,
    /// A local variable is not bound yet.
    UnboundLocal,
    /// A module lacks a name.
    Import,
    /// There is no such module.
    Module,
    /// The source does not parse.
    Syntax,
    /// Arguments do not fit the parameters, or values the names they are unpacked to.
    Arity,
    /// A number that is compared is none.
    NotANumber,
    /// A value of this built-in type is used where it does not fit.
    Literal(String),
    /// An access failed that confinement forbids.
    Forbidden(Forbidden),
}

pattern!(
    CLASS,
    r"\b(?:NameError|UnboundLocalError|ImportError|ModuleNotFoundError|SyntaxError|IndentationError|TabError)\b"
);
pattern!(LITERAL, cpython::LITERAL_PATTERN);
pattern!(
    ARITY,
    &format!("(?x){}|{}", cpython::ARITY_PATTERN, messages::ARITY)
);
pattern!(NAME, cpython::NAME_PATTERN);
pattern!(UNBOUND, cpython::UNBOUND_PATTERN);
pattern!(IMPORT, cpython::IMPORT_PATTERN);
pattern!(MODULE, cpython::MODULE_PATTERN);
pattern!(SYNTAX, cpython::SYNTAX_PATTERN);
pattern!(NOT_A_NUMBER, messages::NOT_A_NUMBER);

/// The artifacts of a set of runs.
pub(super) type Artifacts = BTreeSet<ReductionArtifact>;

impl ReductionArtifact {
    /// The artifact that a class of exceptions stands for.
    pub(super) fn of_class(class: &str) -> Option<Self> {
        Some(match class.rsplit('.').next().unwrap_or(class) {
            "NameError" => Self::Name,
            "UnboundLocalError" => Self::UnboundLocal,
            "ImportError" => Self::Import,
            "ModuleNotFoundError" => Self::Module,
            "SyntaxError" | "IndentationError" | "TabError" => Self::Syntax,
            _ => Self::Forbidden(Forbidden::of_class(class)?),
        })
    }
}

/// Whether a failure is an artifact, by its class or by what its message says.
pub(super) fn is_artifact(class: &str, message: &str) -> bool {
    ReductionArtifact::of_class(class).is_some()
        || !informative_lines(message)
            .into_iter()
            .all(|line| named_in(line).is_empty())
}

/// The artifacts that a line names, by their class or by the interpreter's words.
pub(super) fn named_in(line: &str) -> Artifacts {
    let words = [
        (ReductionArtifact::Name, &NAME),
        (ReductionArtifact::UnboundLocal, &UNBOUND),
        (ReductionArtifact::Import, &IMPORT),
        (ReductionArtifact::Module, &MODULE),
        (ReductionArtifact::Syntax, &SYNTAX),
        (ReductionArtifact::NotANumber, &NOT_A_NUMBER),
        (ReductionArtifact::Arity, &ARITY),
    ];
    let mut named: Artifacts = CLASS
        .find_iter(line)
        .filter_map(|class| ReductionArtifact::of_class(class.as_str()))
        .collect();
    let by_words = words.into_iter().filter(|(_, words)| words.is_match(line));
    named.extend(by_words.map(|(artifact, _)| artifact));
    let types = LITERAL
        .captures_iter(line)
        .filter_map(|found| found.iter().skip(1).flatten().next());
    named.extend(types.map(|of| ReductionArtifact::Literal(of.as_str().to_owned())));
    named.extend(Forbidden::named_in(line).map(ReductionArtifact::Forbidden));
    named
}

/// The artifacts that an exception is, names, holds as a group, or was raised from.
pub(super) fn behind(exception: &Exception) -> Artifacts {
    let all = exception
        .chain
        .iter()
        .chain([exception])
        .chain(leaves(exception));
    let classes = all
        .clone()
        .filter_map(|raised| ReductionArtifact::of_class(&raised.class));
    let compared = exception
        .message
        .lines()
        .filter(|line| line.starts_with(messages::DISTANCE));
    let lines = all
        .flat_map(|raised| informative_lines(&raised.message))
        .chain(compared);
    classes.chain(lines.flat_map(named_in)).collect()
}

/// A text without the lines that name artifacts other than these.
pub(super) fn without(text: &str, known: &Artifacts) -> String {
    text.lines()
        .filter(|line| named_in(line).is_subset(known))
        .flat_map(|line| [line, "\n"])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn artifacts_are_recognized_by_their_words() {
        let check = |expected: Option<ReductionArtifact>, lines: &[&str]| {
            for line in lines {
                assert_eq!(named_in(line).into_iter().next(), expected, "{line}");
            }
        };
        check(
            Some(ReductionArtifact::Name),
            &[
                "FAIL: NameError: no",
                "name 'x' is not defined. Did you mean: 'y'?",
                "cannot access free variable 'x' where it is not",
            ],
        );
        check(
            Some(ReductionArtifact::UnboundLocal),
            &[
                "cannot access local variable 'x' where it is not associated with a value",
                "local variable 'x' referenced before assignment",
            ],
        );
        check(
            Some(ReductionArtifact::Import),
            &["cannot import name 'a' from 'b' (unknown location)"],
        );
        check(Some(ReductionArtifact::Module), &["No module named 'a.b'"]);
        check(
            Some(ReductionArtifact::Syntax),
            &["'(' was never closed (x.py, line 3)"],
        );
        check(
            Some(ReductionArtifact::Arity),
            &[
                "f() missing 2 required positional arguments: 'a' and 'b'",
                "A.f() takes from 1 to 2 positional arguments but 3 were given",
                "f() got an unexpected keyword argument 'a'",
                "add() missing 1 required positional arguments: \"other\"",
                "pow() missing required argument 'exp' (pos 2)",
                "len() takes exactly one argument (2 given)",
                "A() takes no arguments",
                "isinstance expected 2 arguments, got 1",
                "conv2d() received an invalid combination of arguments - got (int)",
                "not enough values to unpack (expected 2, got 1)",
            ],
        );
        let literal = |class: &str| Some(ReductionArtifact::Literal(class.into()));
        check(literal("list"), &["list index out of range"]);
        check(literal("int"), &["'int' object is not callable"]);
        check(
            literal("NoneType"),
            &[
                "'NoneType' object is not callable",
                "argument after * must be an iterable, not NoneType",
            ],
        );
        check(
            None,
            &[
                "expected 2 tensors, got 1",
                "index 3 is out of range",
                "'Tensor' object is not callable",
                "the name of x is not good",
                "MyNameError: a",
                "expected (3, line 4)",
                "FileNotFoundError: [Errno 2] No such file: '/a'",
            ],
        );
        check(
            Some(ReductionArtifact::Forbidden(Forbidden::Writing)),
            &["OSError: [Errno 30] Read-only file system: '/a'"],
        );
    }

    #[test]
    fn lines_that_name_artifacts_are_left_out() {
        let text = "a\nb: name 'x' is not defined\nc\n";
        assert_eq!(without(text, &Artifacts::new()), "a\nc\n");
        assert_eq!(
            without(text, &Artifacts::from([ReductionArtifact::Name])),
            text
        );
    }
}
