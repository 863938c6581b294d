//! Finds the marks by which tests of a checkout are expected to fail or are not run: decorators,
//! and files that are named after tests. Reads files, runs nothing. The kinds of marks are in
//! `marks.toml`.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use minrepro_reducers::syntax::{
    Program, Ranged,
    ast::{Decorator, Expr, Stmt},
};
use serde::{Deserialize, Serialize};

use crate::text::pattern;

pattern!(
    ISSUE,
    r"(?:issues?/|pull/|(?:^|[\s(:])(?:gh-|GH-)?#|gh-|GH-)(\d{2,})\b"
);
pattern!(RAISES, r"\b([A-Z]\w*(?:Error|Exception|Unsupported))\b");

/// The table of marks.
#[derive(Deserialize)]
struct MarkTable {
    decorator: Vec<MarkRow>,
    folder: Vec<MarkRow>,
}

#[derive(Deserialize)]
struct MarkRow {
    name: String,
    kind: Option<String>,
    #[serde(default)]
    variables: BTreeMap<String, String>,
}

static TABLE: LazyLock<MarkTable> =
    LazyLock::new(|| toml::from_str(include_str!("marks.toml")).expect("the table is well-formed"));

/// A mark of a test, or of all tests of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TestMark {
    /// The file of the mark, from the checkout.
    pub file: String,
    /// The line, counted from 1; 0 where the file itself is the mark.
    pub line: u32,
    /// The kind.
    pub kind: String,
    /// The mark as written.
    pub text: String,
    /// The class of the test; empty if it has none.
    pub class: String,
    /// The test; empty where the mark is of the whole class.
    pub test: String,
    /// The file of the test.
    pub test_file: String,
    /// The issue that the mark or a comment beside it names.
    pub issue: Option<u64>,
    /// The exception that the mark names.
    pub raises: Option<String>,
    /// The lines that the mark takes up, counted from 1; none where the file itself is the mark.
    #[serde(skip)]
    pub(super) lines: Option<(u32, u32)>,
    /// The variables under which the mark counts.
    #[serde(skip)]
    pub(super) variables: BTreeMap<String, String>,
}

impl TestMark {
    /// The test for people.
    pub fn shown_test(&self) -> String {
        let parts = [self.class.as_str(), self.test.as_str()];
        let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(".")
    }
}

/// Folders that hold no tests of the checkout.
const LEFT_OUT: &[&str] = &[
    ".git",
    ".hg",
    ".tox",
    ".venv",
    "venv",
    "node_modules",
    "__pycache__",
    "build",
    "dist",
    "third_party",
];

/// All marks of a checkout, in files whose path holds `pattern`.
pub(super) fn find(root: &Path, pattern: Option<&str>) -> io::Result<Vec<TestMark>> {
    let (mut tests, mut named) = (Vec::new(), Vec::new());
    walk(root, root, &mut tests, &mut named)?;
    let mut found = Vec::new();
    let mut classes: BTreeMap<String, String> = BTreeMap::new();
    for file in &tests {
        let bytes = fs::read(root.join(file))?;
        // A file that is not Python 3, or a template, has no tests that could be run.
        let Ok(program) = Program::read(&bytes) else {
            continue;
        };
        let name = file.display().to_string();
        for statement in program.body() {
            if let Stmt::ClassDef(class) = statement {
                classes.insert(class.name.to_string(), name.clone());
            }
        }
        if pattern.is_none_or(|pattern| name.contains(pattern)) {
            in_body(&program, &name, "", program.body(), &mut found);
        }
    }
    for (file, row) in named {
        let name = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let Some((class, test)) = name.split_once('.') else {
            continue;
        };
        let Some(test_file) = classes.get(class) else {
            continue;
        };
        if pattern.is_none_or(|pattern| test_file.contains(pattern)) {
            found.push(TestMark {
                file: file.display().to_string(),
                line: 0,
                kind: row.name.clone(),
                text: name.clone(),
                class: class.to_owned(),
                test: test.to_owned(),
                test_file: test_file.clone(),
                issue: None,
                raises: None,
                lines: None,
                variables: row.variables.clone(),
            });
        }
    }
    Ok(found)
}

/// Collects the files of tests, and the files that are marks with their rows.
fn walk(
    root: &Path,
    folder: &Path,
    tests: &mut Vec<PathBuf>,
    named: &mut Vec<(PathBuf, &'static MarkRow)>,
) -> io::Result<()> {
    let mut entries: Vec<_> = fs::read_dir(folder)?.flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    let row = folder.file_name().and_then(|name| {
        let name = name.to_string_lossy();
        TABLE.folder.iter().find(|row| row.name == *name)
    });
    for entry in entries {
        let (kind, path) = (entry.file_type()?, entry.path());
        let name = entry.file_name().to_string_lossy().into_owned();
        let below = path.strip_prefix(root).unwrap_or(&path).to_owned();
        if kind.is_dir() && !LEFT_OUT.contains(&name.as_str()) {
            walk(root, &path, tests, named)?;
        } else if kind.is_file()
            && let Some(row) = row
        {
            named.push((below, row));
        } else if kind.is_file() && is_test(&name) {
            tests.push(below);
        }
    }
    Ok(())
}

fn is_test(name: &str) -> bool {
    name.strip_suffix(".py")
        .is_some_and(|stem| stem.starts_with("test") || stem.ends_with("_test"))
}

/// Collects the marks of tests in a module or a class.
fn in_body(program: &Program, file: &str, class: &str, body: &[Stmt], found: &mut Vec<TestMark>) {
    for statement in body {
        match statement {
            Stmt::FunctionDef(function) if function.name.starts_with("test") => {
                for decorator in &function.decorator_list {
                    found.extend(mark(program, file, (class, &function.name), decorator));
                }
            }
            Stmt::ClassDef(inner) if class.is_empty() => {
                for decorator in &inner.decorator_list {
                    found.extend(mark(program, file, (&inner.name, ""), decorator));
                }
                in_body(program, file, &inner.name, &inner.body, found);
            }
            Stmt::If(branch) => in_body(program, file, class, &branch.body, found),
            _ => {}
        }
    }
}

/// The mark that a decorator is, if it is one.
fn mark(
    program: &Program,
    file: &str,
    (class, test): (&str, &str),
    decorator: &Decorator,
) -> Option<TestMark> {
    let named = match &decorator.expression {
        Expr::Call(call) => &*call.func,
        other => other,
    };
    let name = match named {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => return None,
    };
    let row = TABLE
        .decorator
        .iter()
        .find(|row| match row.name.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => row.name == name,
        })?;
    let range = decorator.range();
    let text = program.slice(range).to_owned();
    let first = program.line_of(range.start());
    let last = program.line_of(range.end());
    let all: Vec<&str> = program.text().lines().collect();
    let line = |number: u32| all.get(number.checked_sub(1)? as usize).copied();
    // Comments on the lines of the mark and right above it speak of it.
    let mut beside: Vec<&str> = (first..=last).filter_map(line).collect();
    let mut above = first;
    while let Some(comment) = line(above - 1).filter(|line| line.trim_start().starts_with('#')) {
        beside.push(comment);
        above -= 1;
    }
    let beside = beside.join("\n");
    Some(TestMark {
        file: file.to_owned(),
        line: first,
        kind: row.kind.clone().unwrap_or_else(|| row.name.clone()),
        raises: RAISES.captures(&text).map(|found| found[1].to_owned()),
        text: text.split_whitespace().collect::<Vec<_>>().join(" "),
        class: class.to_owned(),
        test: test.to_owned(),
        test_file: file.to_owned(),
        issue: ISSUE
            .captures(&beside)
            .and_then(|found| found[1].parse().ok()),
        lines: Some((first, last)),
        variables: row.variables.clone(),
    })
}

/// A text without the lines of some marks.
pub(super) fn without(text: &str, marks: &[&TestMark]) -> String {
    let is_of_mark = |line: u32| {
        let mut lines = marks.iter().filter_map(|mark| mark.lines);
        lines.any(|(first, last)| (first..=last).contains(&line))
    };
    let lines = (1u32..).zip(text.split_inclusive('\n'));
    lines
        .filter(|(number, _)| !is_of_mark(*number))
        .map(|(_, line)| line)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_found_with_what_they_name() {
        let text = "import unittest, pytest\n\
            class A(unittest.TestCase):\n\
            \x20   # see https://github.com/o/r/issues/123\n\
            \x20   @unittest.expectedFailure\n\
            \x20   def test_a(self): pass\n\
            \x20   @pytest.mark.xfail(\n\
            \x20       raises=KeyError, reason='gh-77')\n\
            \x20   def test_b(self): pass\n\
            \x20   @skipIfRocm\n\
            \x20   @parametrize('x', [1])\n\
            \x20   def test_c(self): pass\n\
            \x20   @unittest.skip('later')\n\
            \x20   def helper(self): pass\n";
        let program = Program::parse(text).unwrap();
        let mut found = Vec::new();
        in_body(&program, "t.py", "", program.body(), &mut found);
        let shown: Vec<_> = found
            .iter()
            .map(|mark| {
                (
                    mark.kind.as_str(),
                    mark.test.as_str(),
                    mark.issue,
                    mark.raises.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("expectedFailure", "test_a", Some(123), None),
                ("xfail", "test_b", Some(77), Some("KeyError")),
                ("skipIf", "test_c", None, None),
            ]
        );
        let left = without(text, &[&found[1]]);
        assert!(
            !left.contains("KeyError") && left.contains("def test_b"),
            "{left}"
        );
        assert_eq!(left.lines().count(), text.lines().count() - 2);
    }
}
