//! Step 7: finds tests of a checkout that are disabled for this issue and may pass now. Reports
//! them and changes nothing.

use super::ScrubContext;
use crate::{cli::Failure, scrub::tool::ToolCall};

/// The marks that disable a test.
const MARKS: &[&str] = &["expectedFailure", "xfail", "skip", "Skip"];
/// The number of lines around the number in which a mark counts.
const NEAR: usize = 3;

/// Looks for tests that name the issue next to such a mark.
pub(in crate::scrub) fn trivial(cx: &mut ScrubContext<'_>, number: u64) -> Result<(), Failure> {
    let Some(checkout) = &cx.settings.pytorch else {
        return Ok(());
    };
    cx.step("7", "is a test disabled because of it?");
    let pattern = format!("(#|issues/){number}([^0-9]|$)");
    let context = NEAR.to_string();
    let mut call = ToolCall::new([
        "git", "grep", "-n", "-E", "-C", &context, "-e", &pattern, "--", "test/",
    ]);
    call.folder = Some(checkout.clone());
    let output = cx.tools.call(&call)?;
    cx.found.tests = marked(&output.stdout);
    for test in &cx.found.tests {
        cx.decided(&format!("may be enabled again: {test}"));
    }
    if cx.found.tests.is_empty() {
        cx.decided("none");
    }
    Ok(())
}

/// The marked lines in the output of `git grep`, as `file:line: text`.
fn marked(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for group in text.split("\n--\n") {
        let Some(line) = group
            .lines()
            .find(|line| MARKS.iter().any(|mark| line.contains(mark)))
        else {
            continue;
        };
        // `file:12:text` where it matched, `file-12-text` beside that.
        let parts = ['-', ':'].into_iter().find_map(|mark| {
            let (file, rest) = line.split_once(&format!(".py{mark}"))?;
            let (number, text) = rest.split_once(mark)?;
            number
                .parse::<u32>()
                .ok()
                .map(|number| format!("{file}.py:{number}: {}", text.trim()))
        });
        found.extend(parts);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_beside_the_number_are_found() {
        let text = "test/test_a.py-11-    @unittest.expectedFailure\ntest/test_a.py:12:    # https://github.com/pytorch/pytorch/issues/7\ntest/test_a.py-13-    def test_x(self):\n--\ntest/test_b.py:3:# see #7\ntest/test_b.py-4-x = 1\n";
        assert_eq!(
            marked(text),
            ["test/test_a.py:11: @unittest.expectedFailure"]
        );
        assert!(marked("").is_empty());
    }
}
