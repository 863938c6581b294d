//! The line of code that a library wrote at which a program failed. The words of the interpreter are
//! the same on any line; what the line does says more. Such a library prints the traceback itself and
//! raises the exception anew, so that its own traceback ends before that line. Pure. Called by the
//! fingerprint.

use std::collections::BTreeSet;

use super::exceptions::is_of_interpreter;
use crate::{runner::Outcome, text::pattern};

// A frame of code whose text the library numbered, with its line.
pattern!(
    FRAME,
    r#"(?m)^ *File "<[\w ]+>\.\d+[^"\n]*", line \d+, in .*\n +(\S.*)$"#
);

pattern!(CALLED, r"(\w+)\(");

/// What the last line of generated code does that a program printed on its way to an exception in the
/// interpreter's own words: whether it returns something, and what it calls.
pub(super) fn failing_line(outcome: &Outcome) -> Option<String> {
    let exception = outcome.exception.as_ref()?;
    let is_of_name = matches!(exception.class.as_str(), "NameError" | "UnboundLocalError");
    let is_asked = is_of_name || is_of_interpreter(exception);
    is_asked.then(|| does(&outcome.stderr.text()))?
}

/// What the last line of generated code does that is printed in a text.
fn does(stderr: &str) -> Option<String> {
    let frame = FRAME.captures_iter(stderr).last()?;
    let line = &frame[1];
    let called: BTreeSet<String> = CALLED
        .captures_iter(line)
        .map(|found| format!("{}()", &found[1]))
        .collect();
    let returned = line.starts_with("return ").then(|| "return".to_owned());
    let does: Vec<String> = returned.into_iter().chain(called).collect();
    Some(does.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_generated_code_counts() {
        let frame =
            |file: &str, line: &str| format!("  File \"{file}\", line 6, in forward\n    {line}\n");
        let generated = |line: &str| frame("<made by lib>.4 from x.py:1", line);
        assert_eq!(does(&generated("return y")).as_deref(), Some("return"));
        let called = "y = lib.relu(x.sum(y))\n        ^^^^";
        let two = generated("return y") + &generated(called) + &frame("/lib/call.py", "f()");
        assert_eq!(does(&two).as_deref(), Some("relu() sum()"));
        assert_eq!(does(&frame("<string>", "return y")), None);
        assert_eq!(does(&frame("x.py", "return y")), None);
    }
}
