//! `minrepro stale`: marks of tests that no longer hold. Each mark is removed in a copy of the
//! checkout that a run has for itself, and the test is run three times. Called by the command,
//! which writes the patch.

mod marks;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use serde::{Deserialize, Serialize};
use similar::TextDiff;

pub use marks::TestMark;

use crate::runner::{End, Job, RunError, Runner};

/// How often a test is run without its mark.
const RUNS: usize = 3;

/// The result for a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkState {
    /// The test passes without the mark, in each run.
    Stale,
    /// The test fails without it.
    Holds,
    /// The test fails with another exception than the mark names.
    FailsDifferently,
    /// The test passes in some runs.
    Flaky,
    /// The mark makes no difference here, since its condition does not hold.
    Inactive,
    /// The test cannot be run here.
    CannotRun,
}

impl MarkState {
    /// In words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Stale => "passes now",
            Self::Holds => "fails as expected",
            Self::FailsDifferently => "fails differently",
            Self::Flaky => "flaky",
            Self::Inactive => "not active here",
            Self::CannotRun => "cannot run here",
        }
    }
}

/// A mark that was tried.
#[derive(Clone, Debug, Serialize)]
pub struct TriedMark {
    /// The mark.
    #[serde(flatten)]
    pub mark: TestMark,
    /// The result.
    pub state: MarkState,
    /// In how many of the runs without the mark the test passed.
    pub passed: usize,
    /// How many there were.
    pub of: usize,
    /// The observed outcome.
    pub seen: String,
}

/// Which marks are tried.
#[derive(Clone, Debug, Default)]
pub struct MarkFilter {
    /// A part of the path of their tests' file.
    pub pattern: Option<String>,
    /// The issues of which one must be named.
    pub issues: Option<BTreeSet<u64>>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum StaleError {
    /// A run could not be made.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The checkout cannot be read.
    #[error("could not read the checkout")]
    Read(#[from] io::Error),
}

/// The request for a run of tests.
#[derive(Serialize)]
struct TestOrder<'a> {
    root: &'a Path,
    file: &'a str,
    write: BTreeMap<&'a str, String>,
    remove: Vec<&'a str>,
    tests: Vec<[&'a str; 2]>,
}

/// The end of a test, and the exception that it raised.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct TestEnd(String, String);

/// The ends of the tests of a run, by their names.
type TestEnds = BTreeMap<String, Vec<TestEnd>>;

/// Tries marks of a checkout.
pub struct Checkout<'a> {
    /// Its folder.
    pub root: &'a Path,
    /// Runs the tests; gives each run a copy of the folder.
    pub runner: &'a Runner,
    /// The time limit of a run.
    pub timeout: Duration,
    /// A folder for the files that runs write.
    pub scratch: PathBuf,
}

impl Checkout<'_> {
    /// The marks that pass a filter.
    ///
    /// # Errors
    ///
    /// The checkout cannot be read.
    pub fn marks(&self, filter: &MarkFilter) -> io::Result<Vec<TestMark>> {
        let mut found = marks::find(self.root, filter.pattern.as_deref())?;
        if let Some(issues) = &filter.issues {
            found.retain(|mark| mark.issue.is_some_and(|issue| issues.contains(&issue)));
        }
        Ok(found)
    }

    /// Tries each mark; `done` sees it as soon as it is known.
    ///
    /// # Errors
    ///
    /// A run could not be made.
    pub fn try_all(
        &self,
        marks: &[TestMark],
        done: &mut dyn FnMut(&TriedMark),
    ) -> Result<Vec<TriedMark>, StaleError> {
        // With all marks in place, once a file: a mark that is not seen there says nothing here.
        let mut groups: BTreeMap<(&str, &BTreeMap<String, String>), Vec<&TestMark>> =
            BTreeMap::new();
        for mark in marks {
            let group = (mark.test_file.as_str(), &mark.variables);
            groups.entry(group).or_default().push(mark);
        }
        let mut tried = Vec::new();
        for marks in groups.values() {
            let with = self
                .run(&[self.job(marks, &[], 0)?])?
                .pop()
                .unwrap_or_default();
            for mark in marks {
                let found = self.try_one(mark, &with)?;
                done(&found);
                tried.push(found);
            }
        }
        self.together(&mut tried)?;
        Ok(tried)
    }

    fn try_one(&self, mark: &TestMark, with: &TestEnds) -> Result<TriedMark, StaleError> {
        let before = ends_of(with, mark);
        let is_active = |end: &TestEnd| ["skipped", "xfailed", "xpassed"].contains(&end.0.as_str());
        let of = |state, passed, of, seen: String| TriedMark {
            mark: mark.clone(),
            state,
            passed,
            of,
            seen,
        };
        if let Some(TestEnd(_, why)) = with.get("collection").and_then(|ends| ends.first()) {
            let why = why.lines().last().unwrap_or_default();
            return Ok(of(MarkState::CannotRun, 0, 0, format!("its file: {why}")));
        }
        if before.is_empty() {
            let seen = "the test was not found".to_owned();
            return Ok(of(MarkState::CannotRun, 0, 0, seen));
        }
        if !before.iter().any(is_active) {
            let seen = format!("with the mark: {}", before[0].0);
            return Ok(of(MarkState::Inactive, 0, 0, seen));
        }
        let jobs = (1..=RUNS).map(|number| self.job(&[mark], &[mark], number));
        let runs = self.run(&jobs.collect::<Result<Vec<_>, _>>()?)?;
        let ends: Vec<Vec<TestEnd>> = runs.iter().map(|ends| ends_of(ends, mark)).collect();
        let passes = |ends: &&Vec<TestEnd>| {
            let is_passed =
                |end: &TestEnd| end.0 == "passed" || (end.0 == "skipped" && ends.len() > 1);
            ends.iter().any(|end| end.0 == "passed") && ends.iter().all(is_passed)
        };
        let passed = ends.iter().filter(passes).count();
        let worst = ends.iter().flatten().find(|end| end.0 != "passed");
        let state = match (passed, worst) {
            (RUNS, _) => MarkState::Stale,
            (0, Some(TestEnd(end, raised))) if end == "failed" => {
                let class = raised.split(':').next().unwrap_or_default();
                match &mark.raises {
                    Some(named) if named != class => MarkState::FailsDifferently,
                    _ => MarkState::Holds,
                }
            }
            (0, _) => MarkState::CannotRun,
            _ => MarkState::Flaky,
        };
        let seen = worst.map_or_else(String::new, |TestEnd(end, raised)| {
            let words = if end == "skipped" || end == "xfailed" {
                "another mark or condition"
            } else {
                raised.as_str()
            };
            format!("{end}: {}", words.lines().next().unwrap_or_default())
        });
        Ok(of(state, passed, ends.len(), seen))
    }

    /// Runs each file once more without all its stale marks. A test that fails then passes only
    /// where the others are left out, so its mark stays.
    fn together(&self, tried: &mut [TriedMark]) -> Result<(), StaleError> {
        let mut groups: BTreeMap<(String, BTreeMap<String, String>), Vec<usize>> = BTreeMap::new();
        for (at, found) in tried.iter().enumerate() {
            if found.state == MarkState::Stale {
                let group = (found.mark.test_file.clone(), found.mark.variables.clone());
                groups.entry(group).or_default().push(at);
            }
        }
        for group in groups.values().filter(|group| group.len() > 1) {
            let marks: Vec<&TestMark> = group.iter().map(|at| &tried[*at].mark).collect();
            let ends = self
                .run(&[self.job(&marks, &marks, RUNS + 1)?])?
                .pop()
                .unwrap_or_default();
            let failing: Vec<usize> = group
                .iter()
                .zip(&marks)
                .filter(|(_, mark)| ends_of(&ends, mark).iter().any(|end| end.0 == "failed"))
                .map(|(at, _)| *at)
                .collect();
            for at in failing {
                tried[at].state = MarkState::Flaky;
                tried[at].seen = String::from("fails once all stale marks of its file are removed");
            }
        }
        Ok(())
    }

    /// A run of the tests of some marks, with some marks removed. All are of one file.
    fn job(&self, marks: &[&TestMark], removed: &[&TestMark], number: usize) -> io::Result<Job> {
        let first = marks[0];
        let mut write = BTreeMap::new();
        let of_file: Vec<&TestMark> = removed
            .iter()
            .copied()
            .filter(|mark| mark.lines.is_some())
            .collect();
        if !of_file.is_empty() {
            let text = read_text(&self.root.join(&first.test_file))?;
            let text = marks::without(&text, &of_file);
            write.insert(first.test_file.as_str(), hexadecimal(text.as_bytes()));
        }
        let order = TestOrder {
            root: self.root,
            file: &first.test_file,
            write,
            remove: removed
                .iter()
                .filter(|mark| mark.lines.is_none())
                .map(|mark| mark.file.as_str())
                .collect(),
            tests: marks
                .iter()
                .map(|mark| [mark.class.as_str(), mark.test.as_str()])
                .collect(),
        };
        let order = serde_json::to_string(&order)?;
        let code = include_str!("driver.py");
        let source = format!(
            "import json\n{code}\n_run(json.loads(bytes.fromhex(\"{}\").decode()))\n",
            hexadecimal(order.as_bytes())
        );
        let variables = first.variables.iter();
        Ok(Job {
            variables: variables
                .map(|(name, value)| (name.clone(), Some(value.clone())))
                .collect(),
            artifacts: Some(self.scratch.join(number.to_string())),
            ..Job::new(Arc::from(source.as_bytes()), self.timeout)
        })
    }

    /// Runs jobs and reads how their tests ended.
    fn run(&self, jobs: &[Job]) -> Result<Vec<TestEnds>, StaleError> {
        for folder in jobs.iter().filter_map(|job| job.artifacts.as_ref()) {
            // Files that an earlier run left must not be taken for this one's.
            let _ = fs::remove_dir_all(folder);
        }
        let outcomes = self.runner.run_all(jobs, &mut |_, _| {})?;
        let read = |job: &Job| {
            let file = job.artifacts.as_ref()?.join("ends.json");
            serde_json::from_str(&fs::read_to_string(file).ok()?).ok()
        };
        let ends = jobs.iter().zip(&outcomes).map(|(job, outcome)| {
            read(job).unwrap_or_else(|| {
                let end = match outcome.end {
                    End::Exit(_) => "broken",
                    _ => "failed",
                };
                let seen = crate::oracle::summary(outcome);
                BTreeMap::from([("collection".to_owned(), vec![TestEnd(end.to_owned(), seen)])])
            })
        });
        Ok(ends.collect())
    }

    /// The patch that removes the stale marks.
    ///
    /// # Errors
    ///
    /// A file cannot be read.
    pub fn patch(&self, tried: &[TriedMark]) -> io::Result<String> {
        let mut text = String::new();
        for (file, change) in self.changes(tried)? {
            let before = read_text(&self.root.join(&file))?;
            let (name, after) = match &change {
                Some(after) => (format!("b/{file}"), after.as_str()),
                None => ("/dev/null".to_owned(), ""),
            };
            let _ = writeln!(text, "diff --git a/{file} b/{file}");
            if change.is_none() {
                text.push_str("deleted file mode 100644\n");
            }
            let diff = TextDiff::from_lines(before.as_str(), after);
            let mut diff = diff.unified_diff();
            let _ = write!(
                text,
                "{}",
                diff.context_radius(3).header(&format!("a/{file}"), &name)
            );
        }
        Ok(text)
    }

    /// Removes the stale marks from the checkout itself.
    ///
    /// # Errors
    ///
    /// A file cannot be written; those before it were.
    pub fn apply(&self, tried: &[TriedMark]) -> io::Result<usize> {
        let changes = self.changes(tried)?;
        for (file, change) in &changes {
            let path = self.root.join(file);
            match change {
                Some(text) => crate::report::write_atomically(&path, text.as_bytes())?,
                None => fs::remove_file(path)?,
            }
        }
        Ok(changes.len())
    }

    /// The files that the removal of the stale marks changes: the new text, or nothing if the file
    /// is removed.
    fn changes(&self, tried: &[TriedMark]) -> io::Result<BTreeMap<String, Option<String>>> {
        let mut by_file: BTreeMap<&str, Vec<&TestMark>> = BTreeMap::new();
        for found in tried.iter().filter(|found| found.state == MarkState::Stale) {
            by_file
                .entry(&found.mark.file)
                .or_default()
                .push(&found.mark);
        }
        let mut changes = BTreeMap::new();
        for (file, marks) in by_file {
            let change = if marks.iter().any(|mark| mark.lines.is_none()) {
                None
            } else {
                Some(marks::without(&read_text(&self.root.join(file))?, &marks))
            };
            changes.insert(file.to_owned(), change);
        }
        Ok(changes)
    }
}

/// The ends of the tests of a mark, sorted; a run that broke off is an end of each.
fn ends_of(ends: &TestEnds, mark: &TestMark) -> Vec<TestEnd> {
    let name = format!("{}::{}", mark.class, mark.test);
    let found = ends.get(&name).or_else(|| ends.get("collection"));
    found.cloned().unwrap_or_default()
}

fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(fs::read(path)?)
        .map_err(|_| io::Error::other(format!("{} is not UTF-8", path.display())))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
