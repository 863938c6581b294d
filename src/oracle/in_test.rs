//! How a bug shows when the program is the body of a unittest: printed text appears in the message
//! of an assertion, and an exit is an exception that the test framework reports. Pure.

use super::{artifact::Artifacts, forms::Part, pattern::Pattern, signature::Signature};
use crate::runner::{End, Outcome};

impl Signature {
    /// Whether a test whose body is a program with this bug fails by it.
    pub fn fails_test(&self, outcome: &Outcome) -> bool {
        // A test that succeeds does not fail, whatever it printed.
        outcome.end != End::Exit(0) && self.in_test().iter().any(|sign| sign.matches(outcome))
    }

    /// The signatures, one of which such a test must show.
    fn in_test(&self) -> Vec<Self> {
        let reported = |parts| Self {
            parts,
            artifacts: Artifacts::default(),
            raises: true,
            dies: false,
            ends: true,
            origin: None,
            fingerprint: None,
            hang_place: None,
            loose: self.loose,
        };
        if self.is_printed_alone() {
            let printed = self.parts.iter().filter_map(Part::on_stream);
            let parts = printed.map(|(_, pattern)| Part::Stderr(pattern.clone()));
            return vec![reported(
                [Part::Class("AssertionError".to_owned())]
                    .into_iter()
                    .chain(parts)
                    .collect(),
            )];
        }
        let statuses: Vec<i32> = match self.parts.as_slice() {
            [Part::Exit(statuses)] => statuses.clone(),
            [Part::Signal(signals), ..] => signals.iter().map(|signal| 128 + signal).collect(),
            _ => Vec::new(),
        };
        let exit = |status: &i32| {
            let message = Part::Message(Pattern::Lines(vec![vec![status.to_string()]]));
            reported(vec![Part::Class("SystemExit".to_owned()), message])
        };
        std::iter::once(self.clone())
            .chain(statuses.iter().map(exit))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::{Captured, Timing, traceback};

    fn outcome(end: End, stderr: &str) -> Outcome {
        Outcome {
            end,
            timing: Timing::default(),
            stdout: Captured::default(),
            stderr: Captured::whole(stderr),
            exception: traceback::parse(stderr),
            stack: Vec::new(),
            other_stacks: Vec::new(),
            trace: None,
        }
    }

    fn reported(headline: &str) -> String {
        format!(
            "E\n======\nERROR: test_x (__main__.TestX.test_x)\n------\nTraceback (most recent call last):\n  File \"/s/test_x.py\", line 5, in test_x\n    f()\n{headline}\n\n------\nRan 1 test in 0.001s\n\nFAILED (errors=1)\n"
        )
    }

    #[track_caller]
    fn check(signature: &Signature, headline: &str, fails: bool) {
        assert_eq!(
            signature.fails_test(&outcome(End::Exit(1), &reported(headline))),
            fails,
            "{headline}"
        );
        assert!(!signature.fails_test(&outcome(End::Exit(0), &reported(headline))));
    }

    fn of(parts: Vec<Part>) -> Signature {
        Signature {
            parts,
            artifacts: Artifacts::default(),
            raises: false,
            dies: false,
            ends: false,
            origin: None,
            fingerprint: None,
            hang_place: None,
            loose: false,
        }
    }

    #[test]
    fn exceptions_show_as_they_are() {
        let signature = Signature {
            raises: true,
            ends: true,
            ..of(vec![
                Part::Class("ValueError".to_owned()),
                Part::Message(Pattern::Lines(vec![vec!["bad size".to_owned()]])),
            ])
        };
        check(&signature, "ValueError: bad size 3", true);
        check(&signature, "ValueError: good size", false);
        check(
            &signature,
            "ModuleNotFoundError: No module named 'x'",
            false,
        );
    }

    #[test]
    fn exits_and_prints_show_as_exceptions() {
        check(&of(vec![Part::Exit(vec![4])]), "SystemExit: 4", true);
        check(&of(vec![Part::Exit(vec![4])]), "SystemExit: 5", false);
        check(&of(vec![Part::Signal(vec![6])]), "SystemExit: 134", true);
        let printed = of(vec![Part::Stdout(Pattern::Lines(vec![vec![
            "is WRONG".to_owned(),
        ]]))]);
        check(
            &printed,
            "AssertionError: 'is WRONG' unexpectedly found in 'it is WRONG\\n'",
            true,
        );
        check(&printed, "ValueError: is WRONG", false);
        let dies = Signature {
            dies: true,
            ..of(vec![Part::Signal(vec![11])])
        };
        assert!(dies.fails_test(&outcome(End::Signal(11), "")));
    }
}
