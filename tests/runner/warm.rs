//! The warm runner against the cold one, over the scripts of `warm/` and of the corpus: what a script does must be the
//! same, or the warm runner must decline.
//!
//! A file of `warm/` holds scripts, each under a line `#### name`, or `#### name | 3.11` if it needs that Python. The first
//! of them, `imports`, lists modules: all that stands below is forked from an interpreter that has imported those.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use minrepro::runner::{Interpreter, Job, Outcome, Runner, Start};
use regex::Regex;

use super::{LIMITS, setup};
use crate::support::{interpreters, newest, skip};

struct Script {
    name: String,
    /// The least minor version of Python 3 that it needs.
    minor: u8,
    source: String,
}

/// What a run did, without what differs from run to run: the number of its folder, addresses, process ids.
fn shown(outcome: &Outcome) -> String {
    let (stdout, stderr) = (outcome.stdout.text(), outcome.stderr.text());
    let text =
        format!("{:?} {:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}", outcome.end, outcome.exception);
    let masks = [
        (r"/run-\d+/", "/run/"),
        (r"0x[0-9a-f]{6,}", "0x"),
        (r"\bpid[= ]\d+", "pid"),
        (r"/tmp/tmp\w{8}", "/tmp/tmp"),
        (r"after \d+\.\d+ seconds", "after a while"),
        (r"started( daemon)? \d+", "started$1"),
    ];
    masks
        .iter()
        .fold(text, |text, (mask, with)| Regex::new(mask).unwrap().replace_all(&text, *with).into_owned())
}

fn runner(python: &Path, folder: &Path) -> Runner {
    let mut setup = setup(folder, 2);
    setup.command = minrepro::runner::Command::Python {
        python: Interpreter::find(Some(python)).unwrap().path,
        args: vec!["one".into(), "two words".into()],
    };
    setup.limits.output = 8 << 20;
    setup.limits.memory = LIMITS.memory / 2;
    Runner::start(setup).unwrap()
}

fn run(runner: &Runner, start: Start, sources: &[&str]) -> Vec<String> {
    let job = |source: &&str| Job { start, ..Job::new(source.as_bytes().into(), Duration::from_secs(60)) };
    let jobs: Vec<Job> = sources.iter().map(job).collect();
    runner.run_all(&jobs, &mut |_, _| {}).unwrap().iter().map(shown).collect()
}

/// What differs between cold and warm runs of scripts; `ahead` is run first, and what it imports is imported ahead.
fn differences(python: &Path, ahead: &str, scripts: &[Script]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let runner = runner(python, folder.path());
    let sources: Vec<&str> = scripts.iter().map(|it| it.source.as_str()).collect();
    let mut found = Vec::new();
    let cold = run(&runner, Start::Cold, &sources);
    let recorded = run(&runner, Start::Recorded, &[ahead]);
    if !recorded[0].starts_with("Exit(") {
        found.push(format!("the imports: {}", recorded[0]));
    }
    let warm = run(&runner, Start::Warm, &sources);
    for ((script, cold), warm) in scripts.iter().zip(cold).zip(warm) {
        if cold != warm {
            let differing = differing_lines(&cold, &warm);
            found.push(format!("{}\n{}\n{differing}", script.name, script.source));
        }
    }
    found.extend(runner.why_cold().map(|reason| format!("all is cold: {reason}")));
    found
}

fn differing_lines(cold: &str, warm: &str) -> String {
    let only = |of: &str, other: &str, mark: &str| -> String {
        let lines = of.lines().filter(|line| !other.lines().any(|it| it == *line)).take(12);
        lines.map(|line| format!("{mark} {}\n", line.chars().take(600).collect::<String>())).collect()
    };
    let lines = only(cold, warm, "cold:") + &only(warm, cold, "warm:");
    if lines.is_empty() { format!("the order differs\n{cold}\n{warm}") } else { lines }
}

fn scripts_of(file: &Path) -> (String, Vec<Script>) {
    let text = fs::read_to_string(file).unwrap();
    let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
    let mut scripts: Vec<Script> = text
        .split("#### ")
        .filter_map(|part| part.split_once('\n'))
        .map(|(head, source)| {
            let (name, minor) = head.split_once(" | 3.").unwrap_or((head, "8"));
            Script {
                name: format!("{stem}/{name}"),
                minor: minor.parse().unwrap(),
                source: source.to_owned(),
            }
        })
        .collect();
    let imports = scripts.remove(0).source;
    let ahead = format!(
        "for name in '''{imports}'''.split():\n    try:\n        __import__(name)\n    except ImportError:\n        pass\n"
    );
    (ahead, scripts)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runner/warm")
}

/// The newest interpreter; all with `MINREPRO_TEST_PYTHONS=all`; or those of certain minor versions: `8,10`.
fn pythons() -> Vec<(u8, &'static PathBuf)> {
    let all = interpreters().iter().map(|(minor, path)| (*minor, path));
    match std::env::var("MINREPRO_TEST_PYTHONS").as_deref() {
        Ok("all") => all.collect(),
        Ok(list) => all.filter(|(minor, _)| list.split(',').any(|it| it == minor.to_string())).collect(),
        Err(_) => all.filter(|(_, path)| Some(*path) == newest()).collect(),
    }
}

fn is_as_cold(file: &str) {
    let pythons = pythons();
    if pythons.is_empty() {
        skip("warm runs", "no CPython");
    }
    for (minor, python) in pythons {
        let (ahead, mut scripts) = scripts_of(&folder().join(file));
        scripts.retain(|it| it.minor <= minor);
        let found = differences(python, &ahead, &scripts);
        assert!(
            found.is_empty(),
            "Python 3.{minor}: {} of {}\n{}",
            found.len(),
            scripts.len(),
            found.join("\n")
        );
    }
}

macro_rules! files {
    ($($name:ident)*) => {
        mod as_cold {
            $(#[test]
            fn $name() {
                super::is_as_cold(concat!(stringify!($name), ".txt"));
            })*
        }
        const FILES: &[&str] = &[$(concat!(stringify!($name), ".txt")),*];
    };
}

files! { exceptions exits library modules processes shutdown state streams threads }

#[test]
fn every_file_is_run() {
    let mut files: Vec<String> =
        fs::read_dir(folder()).unwrap().flatten().map(|it| it.file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files, FILES);
}

/// Scripts of the corpus, each forked from an interpreter that has imported what it imports.
#[test]
fn cases_of_the_corpus_are_as_cold() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut folders: Vec<PathBuf> = fs::read_dir(corpus).unwrap().flatten().map(|it| it.path()).collect();
    folders.sort();
    for (minor, python) in pythons() {
        for path in &folders {
            let Ok(source) = fs::read_to_string(path.join("repro.py")) else { continue };
            let script = Script { name: path.display().to_string(), minor: 8, source: source.clone() };
            let found = differences(python, &source, &[script]);
            assert!(found.is_empty(), "Python 3.{minor}\n{}", found.join("\n"));
        }
    }
}
