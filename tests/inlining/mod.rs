//! Inlining by itself, without a reduction: a script and what it imports, joined into one file,
//! does the same, or the join says why it may not. The modules are those of the standard library,
//! as local copies.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use minrepro::runner::{End, Interpreter, Job, Outcome, Runner};
use minrepro_reducers::{
    modules::{Joined, join},
    syntax::Program,
    trace::evidence::Evidence,
};

use crate::{
    runner::setup,
    support::{command, tell},
};

/// What is done with each module, by its name.
fn snippets() -> Vec<(&'static str, &'static str)> {
    let lines = include_str!("snippets.txt").lines();
    lines.filter_map(|line| line.split_once(": ")).collect()
}

/// A sequence of numbers that look random, the same each time.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

/// A script that imports a module in one of several ways and prints what it does.
fn script(modules: [(&str, &str); 2], numbers: &mut Numbers) -> String {
    let mut imports = String::new();
    let mut body = String::new();
    for (name, snippet) in modules {
        let at = format!("{name}.");
        // Only names that are looked up in the module can be imported from it.
        let used: BTreeSet<&str> = snippet
            .match_indices(&at)
            .filter(|(start, _)| {
                !snippet[..*start]
                    .ends_with(|char: char| char.is_alphanumeric() || char == '_' || char == '.')
            })
            .map(|(start, _)| {
                let rest = &snippet[start + at.len()..];
                let end = rest.find(|char: char| !(char.is_alphanumeric() || char == '_'));
                &rest[..end.unwrap_or(rest.len())]
            })
            .collect();
        let replaced = |by: &str| snippet.replace(&at, by);
        let (import, does) = match numbers.below(6) {
            0 => (format!("import {name}"), snippet.to_owned()),
            1 => (
                format!("import {name} as the_{name}"),
                replaced(&format!("the_{name}.")),
            ),
            2 if !used.is_empty() => {
                let names: Vec<&str> = used.iter().copied().collect();
                (
                    format!("from {name} import {}", names.join(", ")),
                    replaced(""),
                )
            }
            3 if !used.is_empty() => {
                let names: Vec<String> = used
                    .iter()
                    .map(|used| format!("{used} as its_{used}"))
                    .collect();
                (
                    format!("from {name} import {}", names.join(", ")),
                    replaced("its_"),
                )
            }
            4 => (
                format!("try:\n    import {name}\nexcept ImportError:\n    {name} = None"),
                snippet.to_owned(),
            ),
            _ => (
                format!("def use_{name}():\n    import {name}\n    return {snippet}"),
                format!("use_{name}()"),
            ),
        };
        writeln!(imports, "{import}").unwrap();
        writeln!(body, "print({does})").unwrap();
    }
    imports + &body
}

/// Copies a module of the standard library.
fn copy(library: &Path, name: &str, folder: &Path) {
    let file = library.join(format!("{name}.py"));
    if file.is_file() {
        fs::copy(file, folder.join(format!("{name}.py"))).unwrap();
        return;
    }
    fs::create_dir_all(folder.join(name)).unwrap();
    for entry in fs::read_dir(library.join(name)).unwrap().flatten() {
        if entry.path().extension() == Some("py".as_ref()) {
            fs::copy(entry.path(), folder.join(name).join(entry.file_name())).unwrap();
        }
    }
}

/// A script in a folder: how it runs, and what is left of it and how that runs once all that lies
/// beside it is inlined.
fn inlined(folder: &Path, script: &str) -> (Outcome, Option<(Joined, Outcome)>) {
    let runner = Runner::start(setup(folder, 2)).unwrap();
    let plain = Job::new(script.as_bytes().into(), Duration::from_mins(1));
    let traced = Job {
        traced: true,
        ..plain.clone()
    };
    let mut outcomes = runner.run_all(&[plain, traced], &mut |_, _| {}).unwrap();
    let evidence = outcomes.pop().unwrap().trace;
    let evidence: Option<Evidence> = evidence.and_then(|text| serde_json::from_str(&text).ok());
    let program = Program::parse(script).unwrap();
    let joined = evidence.map(|evidence| {
        let joined = join(&program, &evidence, &|_| true);
        let job = Job::new(joined.text.as_bytes().into(), Duration::from_mins(1));
        let outcome = runner
            .run_all(&[job], &mut |_, _| {})
            .unwrap()
            .pop()
            .unwrap();
        (joined, outcome)
    });
    (outcomes.pop().unwrap(), joined)
}

#[test]
fn pairs_of_modules_do_the_same_in_one_file() {
    let python = Interpreter::find(None).unwrap().path;
    let output = command(&python)
        .args(["-c", "import os; print(os.path.dirname(os.__file__))"])
        .output();
    let library = PathBuf::from(String::from_utf8_lossy(&output.unwrap().stdout).trim());
    let mut numbers = Numbers(26);
    let snippets = snippets();
    let [mut same, mut refused, mut wrong, mut untouched] = [0; 4];
    let pairs: usize =
        std::env::var("MINREPRO_TEST_PAIRS").map_or(40, |count| count.parse().unwrap());
    for _ in 0..pairs {
        let first = snippets[numbers.below(snippets.len())];
        let second = snippets[numbers.below(snippets.len())];
        let script = script([first, second], &mut numbers);
        if first == second {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        copy(&library, first.0, folder.path());
        copy(&library, second.0, folder.path());
        let (before, joined) = inlined(folder.path(), &script);
        if before.end != End::Exit(0) {
            tell(&format!("does not run: {script}{}", before.stderr.text()));
            continue;
        }
        let Some((joined, after)) = joined else {
            panic!("no evidence of\n{script}");
        };
        if !joined.left.is_empty() || !joined.doubts.is_empty() {
            refused += 1;
            tell(&format!(
                "{} {}: {:?} {:?}",
                first.0, second.0, joined.left, joined.doubts
            ));
        } else if joined.inlined.is_empty() {
            // What an interpreter has imported before its script cannot be another's copy.
            untouched += 1;
        } else if (before.end, before.stdout.text()) == (after.end, after.stdout.text()) {
            same += 1;
        } else {
            wrong += 1;
            tell(&format!(
                "WRONG\n{script}{}\n{}",
                after.stdout.text(),
                after.stderr.text()
            ));
            if let Ok(folder) = std::env::var("MINREPRO_KEEP") {
                fs::File::create(Path::new(&folder).join(format!("wrong{wrong}.py")))
                    .and_then(|mut file| {
                        std::io::Write::write_all(&mut file, joined.text.as_bytes())
                    })
                    .unwrap();
            }
        }
    }
    tell(&format!(
        "{same} pairs do the same, {refused} are refused, {untouched} were imported before"
    ));
    assert_eq!(wrong, 0);
    assert!(
        same > refused,
        "{same} pairs do the same, {refused} are refused"
    );
}
