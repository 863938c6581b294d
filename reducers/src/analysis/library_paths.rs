//! Which lines run in the functions of packages while a program runs. A package that runs lines
//! that it did not run before has met something else on its way: an empty container, a default, a
//! type that it converts. Called by the judge; proposes nothing.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    analysis::{
        dependence_check::Operations,
        observation::{Observation, marked},
        received::called,
        receiving::receiving,
    },
    syntax::{
        AnyNodeRef, Program, Ranged,
        ast::{CmpOp, Expr, Stmt},
    },
};

/// The mark of the package that a called function is of.
const PACKAGE: &str = "package ";

/// Packages that wait for others: what they run depends on who comes first.
const SCHEDULING: [&str; 9] = [
    "asyncio",
    "concurrent",
    "multiprocessing",
    "queue",
    "sched",
    "selectors",
    "socketserver",
    "subprocess",
    "threading",
];

/// The functions of a file by their first lines, each with its lines that ran, counted from there.
type Functions = BTreeMap<u32, BTreeSet<u32>>;

/// The lines that ran, by package and file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LibraryPaths(BTreeMap<String, BTreeMap<String, Functions>>);

impl LibraryPaths {
    /// Reads them off the standard error of a program that writes them down; none if it did not
    /// come to its end.
    pub fn read(stderr: &str) -> Option<Self> {
        let (_, paths) = marked(stderr).find(|(name, _)| *name == "paths")?;
        serde_json::from_str(paths).ok()
    }

    /// The part of them in packages whose functions some operations call, by the same standard
    /// error.
    #[must_use]
    pub fn by(mut self, operations: &Operations, stderr: &str) -> Self {
        let called = called(operations);
        let packages = marked(stderr).filter_map(|(name, package)| {
            let name = name.strip_prefix(PACKAGE)?;
            called.contains(name).then_some(package)
        });
        let packages = packages.filter(|package| !SCHEDULING.contains(package));
        let packages: BTreeSet<&str> = packages.collect();
        self.0
            .retain(|package, _| packages.contains(package.as_str()));
        self
    }

    /// Adds the lines of another run of the same program in the packages that are known.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        for (package, files) in other.0 {
            if let Some(known) = self.0.get_mut(&package) {
                for (file, functions) in files {
                    let known = known.entry(file).or_default();
                    for (first, lines) in functions {
                        known.entry(first).or_default().extend(lines);
                    }
                }
            }
        }
        self
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The lines, by file, that a candidate runs in functions that are known, and that are not. That
    /// it calls other functions says little, since it may make its objects in another way.
    pub fn new_lines<'a>(&self, candidate: &'a Self) -> BTreeMap<&'a str, BTreeSet<u32>> {
        let mut found: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
        for (file, known, its) in self.shared_files(candidate) {
            for (first, its) in its {
                let Some(known) = known.get(first) else {
                    continue;
                };
                let new = its.difference(known).map(|line| first + line);
                found.entry(file).or_default().extend(new);
            }
        }
        found.retain(|_, lines| !lines.is_empty());
        found
    }

    /// Whether a candidate fails in lines of packages that are known, on a stack of files with
    /// lines.
    pub fn allows_stack<'a>(
        &self,
        candidate: &Self,
        mut stack: impl Iterator<Item = (&'a str, u32)>,
    ) -> bool {
        let files: BTreeMap<&str, &Functions> = self
            .shared_files(candidate)
            .map(|(file, known, _)| (file, known))
            .collect();
        stack.all(|(file, line)| {
            files.get(file).is_none_or(|functions| {
                let mut functions = functions.iter();
                functions.any(|(first, lines)| {
                    line.checked_sub(*first)
                        .is_some_and(|line| lines.contains(&line))
                })
            })
        })
    }

    /// The files of a candidate in packages that are known, each with what is known of it.
    fn shared_files<'a, 'b>(
        &'a self,
        candidate: &'b Self,
    ) -> impl Iterator<Item = (&'b str, &'a Functions, &'b Functions)> {
        static NOTHING: Functions = Functions::new();
        let packages = candidate.0.iter();
        let packages = packages.filter_map(|(package, files)| Some((self.0.get(package)?, files)));
        packages.flat_map(|(known, files)| {
            files.iter().map(|(file, its)| {
                let known = known.get(file).unwrap_or(&NOTHING);
                (file.as_str(), known, its)
            })
        })
    }
}

/// Whether all these lines of a file fill something in that was left out: they stand in an `if …
/// is None`, or `is` another name, that assigns to the same.
pub fn fill_in(file: &Program, lines: &BTreeSet<u32>) -> bool {
    let mut filling = BTreeSet::new();
    for node in &file.tree().nodes {
        let AnyNodeRef::StmtIf(choice) = node.node else {
            continue;
        };
        let Expr::Compare(compare) = &*choice.test else {
            continue;
        };
        let is_left_out = *compare.ops == [CmpOp::Is] && is_constant(&compare.comparators[0]);
        let missing = file.slice(compare.left.range());
        let assigns = choice.body.iter().any(|stmt| {
            let targets = match stmt {
                Stmt::Assign(assign) => assign.targets.as_slice(),
                Stmt::AnnAssign(assign) => std::slice::from_ref(&*assign.target),
                _ => &[],
            };
            targets
                .iter()
                .any(|target| file.slice(target.range()) == missing)
        });
        if let (true, [first, .., last] | [first @ last]) =
            (is_left_out && assigns, choice.body.as_slice())
        {
            filling.extend(file.line_of(first.start())..=file.line_of(last.end()));
        }
    }
    lines.is_subset(&filling)
}

/// Whether an expression may stand for what was left out.
fn is_constant(expr: &Expr) -> bool {
    matches!(
        expr,
        Expr::NoneLiteral(_) | Expr::Name(_) | Expr::Attribute(_)
    )
}

/// What makes a program write down which lines of packages run, and of which package each function
/// is that it calls.
pub fn following(program: &Program) -> Observation {
    let mut observation = receiving(program);
    observation.paths(program);
    observation
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;

    fn read(paths: &str) -> LibraryPaths {
        LibraryPaths::read(&format!("noise\n\u{1e}paths\u{1f}{paths}\u{1e}\n")).unwrap()
    }

    #[test]
    fn known_functions_run_no_new_lines() {
        let stderr = "\u{1e}package f\u{1f}lib\u{1e}\n\u{1e}package g\u{1f}other\u{1e}\n";
        let paths = r#"{"lib": {"a.py": {"3": [1, 2], "9": [1]}}, "other": {"b.py": {"1": [1]}}}"#;
        let known = read(paths).by(&["f()".to_owned()].into(), stderr);
        let known = known.and(read(r#"{"lib": {"a.py": {"9": [4]}}, "more": {}}"#));
        assert_eq!(
            known,
            read(r#"{"lib": {"a.py": {"3": [1, 2], "9": [1, 4]}}}"#)
        );
        let is_new = |paths: &str| !known.new_lines(&read(paths)).is_empty();
        assert!(!is_new(r#"{"lib": {"a.py": {"3": [2], "20": [1]}}}"#));
        assert!(!is_new(r#"{"other": {"b.py": {"1": [2]}}}"#));
        let its = read(r#"{"lib": {"a.py": {"9": [1, 2]}, "c.py": {"5": [1]}}}"#);
        assert_eq!(known.new_lines(&its), [("a.py", [11].into())].into());
        let fails_in_known = |file, line| known.allows_stack(&its, iter::once((file, line)));
        assert!(fails_in_known("a.py", 4) && fails_in_known("b.py", 2));
        assert!(!fails_in_known("a.py", 6) && !fails_in_known("c.py", 6));
        assert!(LibraryPaths::read("").is_none() && read("{}").is_empty());
    }

    #[test]
    fn what_was_left_out_is_filled_in() {
        let text = "def f(x, y):\n    if x is None:\n        x = 1\n        g()\n    if y is None:\n        return\n    if y is NO:\n        y = x\n";
        let program = Program::parse(text).unwrap();
        let fills_in = |lines: &[u32]| fill_in(&program, &lines.iter().copied().collect());
        assert!(fills_in(&[3]) && fills_in(&[3, 4]) && fills_in(&[8]));
        assert!(!fills_in(&[2]) && !fills_in(&[3, 6]));
    }
}
