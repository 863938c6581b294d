//! The warm runner against the cold one, over the scripts of `warm/` and of the corpus: what a
//! script does must be the same, or the warm runner must decline.
//!
//! A file of `warm/` holds scripts, each under a line `#### name`, or `#### name | 3.11` if it
//! needs that Python, or `#### name | declined` if the warm runner may leave it to the cold one.
//! The first of them, `imports`, lists modules: all that stands below is forked from an interpreter
//! that has imported those. What follows `#### FILE path` is no script, but a module that is
//! installed.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use minrepro::runner::{Command, Interpreter, Job, Outcome, Runner, Start};
use regex::Regex;

use super::{LIMITS, setup};
use crate::support::{interpreters, newest, skip, torch};

struct Script {
    name: String,
    /// The least minor version of Python 3 that it needs.
    minor: u8,
    /// Whether the warm runner may leave it to the cold one.
    is_declined: bool,
    source: String,
}

/// What a run did, without what differs from run to run: the number of its folder, addresses,
/// process ids.
fn shown(outcome: &Outcome) -> String {
    let (stdout, stderr) = (outcome.stdout.text(), outcome.stderr.text());
    let text = format!(
        "{:?} {:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}",
        outcome.end, outcome.exception
    );
    let masks = [
        (r"/run-\d+/", "/run/"),
        (r"0x[0-9a-f]{6,}", "0x"),
        (r"\bpid[= ]\d+", "pid"),
        (r"/tmp/tmp\w{8}", "/tmp/tmp"),
        (r"after \d+\.\d+ seconds", "after a while"),
        (r"started( daemon)? \d+", "started$1"),
    ];
    masks.iter().fold(text, |text, (mask, with)| {
        Regex::new(mask)
            .unwrap()
            .replace_all(&text, *with)
            .into_owned()
    })
}

/// What a file of `warm/` holds.
struct Suite {
    /// Imports what is to be imported ahead.
    ahead: String,
    /// Modules, by path.
    installed: Vec<(String, String)>,
    scripts: Vec<Script>,
}

fn runner(python: &Path, folder: &Path, installed: &[(String, String)]) -> Runner {
    let mut setup = setup(folder, 2);
    setup.command = Command::Python {
        python: Interpreter::find(Some(python)).unwrap().path,
        args: vec!["one".into(), "two words".into()],
    };
    setup.limits.output = 8 << 20;
    setup.limits.memory = LIMITS.memory / 2;
    if !installed.is_empty() {
        let (library, own) = (folder.join("library"), folder.join("own"));
        for (path, text) in installed {
            let path = library.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::File::create_new(path)
                .unwrap()
                .write_all(text.as_bytes())
                .unwrap();
        }
        fs::create_dir_all(&own).unwrap();
        setup.script = own.join("script.py");
        setup
            .env
            .push(("PYTHONPATH".to_owned(), library.display().to_string()));
    }
    Runner::start(setup).unwrap()
}

fn run(runner: &Runner, start: Start, sources: &[&str]) -> Vec<String> {
    let job = |source: &&str| Job {
        start,
        ..Job::new(source.as_bytes().into(), Duration::from_secs(60))
    };
    let jobs: Vec<Job> = sources.iter().map(job).collect();
    runner
        .run_all(&jobs, &mut |_, _| {})
        .unwrap()
        .iter()
        .map(shown)
        .collect()
}

/// What differs between cold and warm runs of scripts.
fn differences(
    python: &Path,
    Suite {
        ahead,
        installed,
        scripts,
    }: &Suite,
) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let runner = runner(python, folder.path(), installed);
    let sources: Vec<&str> = scripts
        .iter()
        .map(|script| script.source.as_str())
        .collect();
    let mut found = Vec::new();
    let cold = run(&runner, Start::Cold, &sources);
    let recorded = run(&runner, Start::Recorded, &[ahead]);
    if !recorded[0].starts_with("Exit(") {
        found.push(format!("the imports: {}", recorded[0]));
    }
    for (script, cold) in scripts.iter().zip(cold) {
        let before = runner.forked();
        let warm = run(&runner, Start::Warm, &[&script.source]).remove(0);
        if runner.forked() == before && !script.is_declined {
            found.push(format!("{} was not run warm", script.name));
        }
        if cold != warm {
            let differing = differing_lines(&cold, &warm);
            found.push(format!("{}\n{}\n{differing}", script.name, script.source));
        }
    }
    found.extend(
        runner
            .why_cold()
            .map(|reason| format!("all is cold: {reason}")),
    );
    found
}

fn differing_lines(cold: &str, warm: &str) -> String {
    let only = |of: &str, other: &str, mark: &str| -> String {
        let lines = of
            .lines()
            .filter(|line| !other.lines().any(|same| same == *line))
            .take(12);
        lines
            .map(|line| format!("{mark} {}\n", line.chars().take(600).collect::<String>()))
            .collect()
    };
    let lines = only(cold, warm, "cold:") + &only(warm, cold, "warm:");
    if lines.is_empty() {
        format!("the order differs\n{cold}\n{warm}")
    } else {
        lines
    }
}

fn suite(file: &Path) -> Suite {
    let text = fs::read_to_string(file).unwrap();
    let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
    let (mut ahead, mut installed, mut scripts) = (String::new(), Vec::new(), Vec::new());
    for (head, source) in text.split("#### ").filter_map(|part| part.split_once('\n')) {
        if head == "imports" {
            ahead = format!(
                "for name in '''{source}'''.split():\n    try:\n        __import__(name)\n    \
                 except ImportError:\n        pass\n"
            );
        } else if let Some(path) = head.strip_prefix("FILE ") {
            installed.push((path.to_owned(), source.to_owned()));
        } else {
            let (head, is_declined) = head
                .strip_suffix(" | declined")
                .map_or((head, false), |head| (head, true));
            let (name, minor) = head.split_once(" | 3.").unwrap_or((head, "8"));
            scripts.push(Script {
                name: format!("{stem}/{name}"),
                minor: minor.parse().unwrap(),
                is_declined,
                source: source.to_owned(),
            });
        }
    }
    Suite {
        ahead,
        installed,
        scripts,
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runner/warm")
}

/// The newest interpreter; all with `MINREPRO_TEST_PYTHONS=all`; or those of certain minor
/// versions: `8,10`.
fn pythons() -> Vec<(u8, &'static PathBuf)> {
    let all = interpreters().iter().map(|(minor, path)| (*minor, path));
    match std::env::var("MINREPRO_TEST_PYTHONS").as_deref() {
        Ok("all") => all.collect(),
        Ok(list) => all
            .filter(|(minor, _)| list.split(',').any(|wanted| wanted == minor.to_string()))
            .collect(),
        Err(_) => all.filter(|(_, path)| Some(*path) == newest()).collect(),
    }
}

fn is_as_cold(file: &str) {
    let pythons = pythons();
    if pythons.is_empty() {
        skip("warm runs", "no CPython");
    }
    for (minor, python) in pythons {
        let mut suite = suite(&folder().join(file));
        suite.scripts.retain(|script| script.minor <= minor);
        let found = differences(python, &suite);
        assert!(
            found.is_empty(),
            "Python 3.{minor}: {} of {}\n{}",
            found.len(),
            suite.scripts.len(),
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

files! { allocator exceptions exits folders installed library modules processes shutdown state streams strict threads }

#[test]
fn every_file_is_run() {
    let mut files: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, FILES);
}

/// Scripts of the corpus, each forked from an interpreter that has imported what it imports.
#[test]
fn cases_of_the_corpus_are_as_cold() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut folders: Vec<PathBuf> = fs::read_dir(corpus)
        .unwrap()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    folders.sort();
    for (minor, python) in pythons() {
        for path in &folders {
            let Ok(source) = fs::read_to_string(path.join("repro.py")) else {
                continue;
            };
            let script = Script {
                name: path.display().to_string(),
                minor: 8,
                is_declined: false,
                source: source.clone(),
            };
            let suite = Suite {
                ahead: source,
                installed: Vec::new(),
                scripts: vec![script],
            };
            let found = differences(python, &suite);
            assert!(found.is_empty(), "Python 3.{minor}\n{}", found.join("\n"));
        }
    }
}

/// PyTorch's compiler asks for the folder as it is imported.
#[test]
fn folders_for_temporary_files_are_the_run_s_own() {
    let Some(python) = torch() else {
        return skip("temporary files", "no PyTorch");
    };
    let source = "import os, tempfile\nimport torch._inductor.codecache\n\
         print(tempfile.gettempdir() == os.environ['TMPDIR'])\ntempfile.TemporaryFile()\n";
    let folder = tempfile::tempdir().unwrap();
    let mut setup = setup(folder.path(), 2);
    setup.command = Command::Python {
        python,
        args: Vec::new(),
    };
    let runner = Runner::start(setup).unwrap();
    let ends: Vec<String> = [Start::Recorded, Start::Warm]
        .map(|start| run(&runner, start, &[source]).remove(0))
        .into();
    assert!(
        ends[0].starts_with("Exit(0)") && ends[0].contains("True"),
        "{}",
        ends[0]
    );
    assert_eq!(
        (ends[0] == ends[1], runner.forked(), runner.why_cold()),
        (true, 1, None),
        "{}",
        ends[1]
    );
}
