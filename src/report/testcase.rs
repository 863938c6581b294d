//! The result as a unittest that fails because of the bug and passes once it is fixed. Writes text;
//! runs nothing. Called by `--emit-test`.

use std::fmt::Write;

use minrepro_reducers::{
    rewrite::test_body::{Method, Names},
    syntax::Program,
    torch::{components::Component, test_harness::TestHarness},
};

use crate::oracle::{Part, Pattern, Signature, Stream};

/// A result, to be written as a test.
#[derive(Clone, Copy, Debug)]
pub struct TestCase<'a> {
    /// The program.
    pub program: &'a Program,
    /// The signature of its bug.
    pub signature: &'a Signature,
    /// The variables that its runs were given.
    pub env: &'a [(String, String)],
    /// The component that has the bug, if it is known.
    pub component: Option<Component>,
}

impl TestCase<'_> {
    /// The test as a file.
    pub fn render(&self, harness: TestHarness, names: Names) -> String {
        let printed = self.signature.is_printed_alone();
        let Method { head, body } = Method::of(self.program, if printed { 12 } else { 8 }, names);
        let mut text = String::new();
        if let Some(component) = self.component {
            let _ = writeln!(text, "# Owner(s): [\"{}\"]", component.owner);
        }
        let (first, head): (Vec<&str>, Vec<&str>) = head
            .lines()
            .partition(|line| line.starts_with("from __future__ "));
        for line in first {
            let _ = writeln!(text, "{line}");
        }
        self.write_environment(&mut text);
        for line in &head {
            let _ = writeln!(text, "{line}");
        }
        for import in ["import contextlib", "import io"] {
            if printed && !head.contains(&import) {
                let _ = writeln!(text, "{import}");
            }
        }
        let TestHarness {
            imports,
            base,
            main,
        } = harness;
        text.push_str(imports);
        let (class, method) = self.names();
        let sign = self.signature.to_string();
        let _ = write!(
            text,
            "\n\nclass {class}({base}):\n    # Fails by {}\n",
            sign.trim()
        );
        let _ = writeln!(text, "    def {method}(self):");
        if printed {
            text.push_str("        stdout, stderr = io.StringIO(), io.StringIO()\n");
            text.push_str(
                "        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):\n",
            );
        }
        text.push_str(&body);
        for part in self.signature.parts.iter().filter(|_| printed) {
            let Some((stream, pattern)) = part.on_stream() else {
                continue;
            };
            let stream = match stream {
                Stream::Stdout => "stdout",
                Stream::Stderr => "stderr",
            };
            let _ = match plain(pattern) {
                Some(wanted) => {
                    writeln!(
                        text,
                        "        self.assertNotIn({}, {stream}.getvalue())",
                        literal(wanted)
                    )
                }
                None => {
                    let regex = literal(&expression(pattern));
                    writeln!(
                        text,
                        "        self.assertNotRegex({stream}.getvalue(), {regex})"
                    )
                }
            };
        }
        let _ = write!(text, "\n\nif __name__ == \"__main__\":\n    {main}()\n");
        text
    }

    /// The statements that set the variables of the bug's runs. Variables that Python reads when it
    /// starts are only named in a comment.
    fn write_environment(&self, text: &mut String) {
        let (early, late): (Vec<_>, Vec<_>) = self
            .env
            .iter()
            .partition(|(name, _)| name.starts_with("PYTHON") || name.starts_with("LD_"));
        for (name, value) in early {
            let _ = writeln!(text, "# Run it with {name}={value}");
        }
        if !late.is_empty() {
            text.push_str("import os\n");
        }
        for (name, value) in late {
            let _ = writeln!(text, "os.environ[{}] = {}", literal(name), literal(value));
        }
    }

    /// The names of class and method, by the signature.
    fn names(&self) -> (String, String) {
        let mut class = None;
        let mut words = String::new();
        for part in &self.signature.parts {
            if let Part::Class(name) = part {
                class = name.rsplit('.').next().map(capitalized);
            }
            let _ = write!(words, " {}", part.name_words());
        }
        let method = slug(&words);
        let method = if method.is_empty() {
            "repro".to_owned()
        } else {
            method
        };
        (
            format!("Test{}", class.unwrap_or_else(|| "Repro".to_owned())),
            format!("test_{method}"),
        )
    }
}

/// A class's name as the end of another name.
fn capitalized(name: &str) -> String {
    let mut letters = name
        .chars()
        .filter(|letter| letter.is_alphanumeric() || *letter == '_');
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// The first words of a text, as a name.
fn slug(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut name = String::new();
    for word in text
        .split(|char: char| !char.is_ascii_alphanumeric())
        .filter(|words| !words.is_empty())
    {
        if !name.is_empty() && name.len() + word.len() >= LONGEST {
            break;
        }
        if !name.is_empty() {
            name.push('_');
        }
        name.push_str(&word.to_ascii_lowercase());
    }
    name
}

/// The text of a pattern that is a single text.
fn plain(pattern: &Pattern) -> Option<&str> {
    match pattern {
        Pattern::Text(text) => Some(text)
            .filter(|text| !text.contains(char::is_whitespace))
            .map(String::as_str),
        Pattern::Lines(lines) => match lines.as_slice() {
            [fragments] if fragments.len() == 1 => fragments.first().map(String::as_str),
            _ => None,
        },
        Pattern::Flow(_) | Pattern::Regex(_) => None,
    }
}

/// A pattern as a regular expression of Python.
fn expression(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Regex(regex) => regex.clone(),
        Pattern::Text(text) => spaced(text),
        Pattern::Flow(fragments) => {
            let fragments: Vec<String> = fragments.iter().map(|words| spaced(words)).collect();
            fragments.join(r"(?:.|\n)*")
        }
        Pattern::Lines(lines) => {
            let line = |fragments: &Vec<String>| {
                let escaped: Vec<String> = fragments
                    .iter()
                    .map(|fragment| regex::escape(fragment))
                    .collect();
                escaped.join(".*")
            };
            lines
                .iter()
                .map(line)
                .collect::<Vec<_>>()
                .join(r"[^\n]*\n(?:.*\n)*?.*")
        }
    }
}

/// The words of a text, with any white space between them, as a regular expression.
fn spaced(text: &str) -> String {
    let words: Vec<String> = text.split_whitespace().map(regex::escape).collect();
    words.join(r"\s+")
}

/// A text as a literal of Python; a string of JSON is one.
fn literal(text: &str) -> String {
    serde_json::to_string(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use minrepro_reducers::torch::test_harness::{PLAIN, PYTORCH};

    use super::*;
    use crate::{
        oracle::{Baseline, Spec},
        runner::{Captured, End, Outcome, Timing, traceback},
    };

    fn signature(spec: &str, stdout: &str, stderr: &str) -> Signature {
        let outcome = Outcome {
            end: End::Exit(1),
            timing: Timing::default(),
            stdout: Captured::whole(stdout),
            stderr: Captured::whole(stderr),
            exception: traceback::parse(stderr),
            stack: Vec::new(),
            other_stacks: Vec::new(),
            trace: None,
        };
        Baseline::new(&[Spec::parse(spec).unwrap()], vec![outcome])
            .unwrap()
            .signature
    }

    #[track_caller]
    fn check(test: TestCase<'_>, harness: TestHarness, names: Names, expected: &str) {
        let text = test.render(harness, names);
        assert_eq!(text, expected);
        assert!(Program::parse(text).is_ok());
    }

    #[test]
    fn a_test_of_pytorch() {
        let stderr = "Traceback (most recent call last):\n  File \"/w/x.py\", line 3, in <module>\n    f(1)\nRuntimeError: expected scalar type Float but found Double\n";
        let signature = signature("RuntimeError: expected scalar type Float", "", stderr);
        let program =
            Program::parse("import torch\n@torch.compile\ndef f(x): return x\nf(1)\n").unwrap();
        let component = Component {
            folder: "test/inductor",
            owner: "module: inductor",
        };
        let env = [("TORCH_X", "1"), ("PYTHONHASHSEED", "3")]
            .map(|(name, value)| (name.into(), value.into()));
        let test = TestCase {
            program: &program,
            signature: &signature,
            env: &env,
            component: Some(component),
        };
        check(
            test,
            PYTORCH,
            Names::Local,
            "\
# Owner(s): [\"module: inductor\"]
# Run it with PYTHONHASHSEED=3
import os
os.environ[\"TORCH_X\"] = \"1\"
import torch
from torch.testing._internal.common_utils import run_tests, TestCase


class TestRuntimeError(TestCase):
    # Fails by RuntimeError: expected scalar type Float
    def test_expected_scalar_type_float(self):
        @torch.compile
        def f(x): return x

        f(1)


if __name__ == \"__main__\":
    run_tests()
",
        );
    }

    #[test]
    fn what_is_printed_is_asserted() {
        let signature = signature("stdout:round trip is WRONG", "round trip is WRONG\n", "");
        let program = Program::parse("import csv\nprint('round trip is WRONG')\n").unwrap();
        let test = TestCase {
            program: &program,
            signature: &signature,
            env: &[],
            component: None,
        };
        check(
            test,
            PLAIN,
            Names::Global,
            "\
import csv
import contextlib
import io
import unittest


class TestRepro(unittest.TestCase):
    # Fails by stdout:round trip is WRONG
    def test_round_trip_wrong(self):
        stdout, stderr = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            print('round trip is WRONG')
        self.assertNotIn(\"round trip is WRONG\", stdout.getvalue())


if __name__ == \"__main__\":
    unittest.main()
",
        );
    }

    #[test]
    fn names_are_short_and_of_letters() {
        assert_eq!(
            slug("  Object of type <set> isn't JSON-serializable"),
            "object_of_type_set_isn_t_json_serializable"
        );
        assert_eq!(slug(&"word ".repeat(40)).len(), 59);
        assert_eq!(capitalized("_Bad"), "_Bad");
    }
}
