//! Every command of the README and the book is run, in a folder of its page with the scripts of
//! `fixtures/`. Commands that need more than this machine is sure to have are parsed only.

use std::{fs, path::Path, process::Output};

use clap::Parser;
use minrepro::cli::Cli;

use super::{chapters, markdown::Page, root};
use crate::support::{command, newest, skip};

/// Beginnings and parts of commands that are parsed and not run, and why.
const PARSED: &[(&str, &str)] = &[
    ("--ray ", "needs a cluster"),
    ("minrepro scrub 1", "needs GitHub"),
    ("minrepro scrub https:", "needs GitHub"),
    ("minrepro scrub --search", "needs GitHub"),
    ("minrepro scrub --approve", "asks at a terminal"),
    ("--install", "lets uv install from the network"),
    ("--interpreter 2.", "needs interpreters with PyTorch"),
    ("~/", "names an interpreter that is not here"),
    ("minrepro diagnose small.py", "needs PyTorch"),
    ("minrepro triage", "needs GitHub, or an issue"),
    ("minrepro corpus fetch", "needs GitHub"),
    ("minrepro bench", "takes minutes; the gate runs it"),
    ("minrepro flaky.py", "takes hundreds of runs"),
    ("--control PYTORCH", "needs PyTorch"),
    ("::", "needs pytest"),
    (".ipynb", "needs a notebook"),
];

/// Commands of other programs that a test cannot run, and why.
const SKIPPED: &[(&str, &str)] = &[
    ("pip install", "builds the release, which the gate does"),
    ("cargo install", "builds the release, which the gate does"),
    ("cargo build", "builds what the tests have built"),
    ("cargo test", "would run the tests inside a test"),
    ("MINREPRO_", "sets a variable for `cargo test`"),
    ("mdbook ", "the book has a test of its own"),
    ("git clone", "needs the network"),
    ("gh ", "needs GitHub"),
    ("cd ", "the test stands in the folder already"),
];

/// The exit status that a command ends with, where it is not 0.
const STATUSES: &[(&str, i32)] = &[("minrepro review stranger.py", 6), ("--max-runs", 3)];

/// The commands of a page: the lines of its `sh` blocks and of its indented blocks.
fn commands(page: &Page) -> Vec<String> {
    let mut found = Vec::new();
    for block in &page.blocks {
        if block.language != "sh" && !block.language.is_empty() {
            continue;
        }
        let joined = block.text.replace("\\\n", " ");
        let lines = joined.lines().map(|line| match line.split_once("  #") {
            Some((line, _)) => line.trim(),
            None => line.trim(),
        });
        found.extend(
            lines
                .filter(|line| !line.is_empty() && !line.starts_with('#'))
                .filter(|line| block.language == "sh" || line.starts_with("minrepro "))
                .map(str::to_owned),
        );
    }
    found
}

fn reason<'a>(line: &str, table: &[(&str, &'a str)]) -> Option<&'a str> {
    let is_meant = |(part, _): &&(&str, &str)| line.starts_with(part) || line.contains(part);
    table.iter().find(is_meant).map(|(_, why)| *why)
}

/// Why the arguments of a `minrepro` command are wrong.
fn misread(line: &str) -> Option<String> {
    let mut words = shlex::split(line)?;
    // The shell takes what follows.
    let own = words
        .iter()
        .position(|word| ["<", ">"].contains(&word.as_str()));
    words.truncate(own.unwrap_or(words.len()));
    let error = Cli::try_parse_from(words).err()?;
    let is_shown = ["DisplayHelp", "DisplayVersion"]
        .iter()
        .any(|kind| format!("{:?}", error.kind()).starts_with(kind));
    (!is_shown).then(|| error.to_string())
}

/// Runs a line by the shell, `minrepro` being the program under test.
fn run(line: &str, folder: &Path, python: &Path) -> Output {
    let binary = Path::new(env!("CARGO_BIN_EXE_minrepro"));
    let mut path =
        std::env::join_paths([binary.parent().unwrap(), python.parent().unwrap()]).unwrap();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    command("sh")
        .args(["-c", line])
        .current_dir(folder.join("work"))
        .env_remove("VIRTUAL_ENV")
        .env_remove("CONDA_PREFIX")
        .env("PATH", path)
        .env("HOME", folder)
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .output()
        .unwrap()
}

/// Copies all that is in a folder.
fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let copied = to.join(entry.file_name());
        if entry.path().is_dir() {
            fs::create_dir(&copied).unwrap();
            copy(&entry.path(), &copied);
        } else {
            fs::copy(entry.path(), copied).unwrap();
        }
    }
}

/// Runs or parses the commands of a page, in order, in a folder of their own. The home that it is in
/// may be that of other pages, so that what one of them has run, the next one recalls.
fn check(page: &Page, home: &Path, python: &Path) -> Vec<String> {
    let work = home.join("work");
    fs::create_dir(&work).unwrap();
    copy(&root().join("tests/docs/fixtures"), &work);
    let mut wrong = Vec::new();
    for line in commands(page) {
        let is_ours = line.starts_with("minrepro ");
        if is_ours && let Some(error) = misread(&line) {
            wrong.push(format!("{}: `{line}`: {error}", page.path.display()));
            continue;
        }
        if reason(&line, PARSED).is_some() || reason(&line, SKIPPED).is_some() {
            continue;
        }
        let expected = STATUSES
            .iter()
            .find(|(part, _)| line.contains(part))
            .map_or(0, |(_, status)| *status);
        let output = run(&line, home, python);
        if output.status.code() != Some(expected) {
            wrong.push(format!(
                "{}: `{line}` ended with {}, not {expected}\n{}{}",
                page.path.display(),
                output.status,
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            ));
        }
    }
    fs::remove_dir_all(work).unwrap();
    wrong
}

#[test]
fn every_command_runs() {
    let Some(python) = newest() else {
        return skip("every_command_runs", "no CPython found");
    };
    let mut paths = chapters();
    paths.push("README.md".to_owned());
    let pages: Vec<Page> = paths.iter().map(|path| Page::read(path)).collect();
    let count: usize = pages.iter().map(|page| commands(page).len()).sum();
    assert!(count >= 20, "only {count} commands were found");
    let halves = pages.split_at(pages.len() / 2);
    let wrong = std::thread::scope(|scope| {
        let workers = [halves.0, halves.1].map(|pages| {
            scope.spawn(|| {
                let home = tempfile::tempdir().unwrap();
                let wrong = pages
                    .iter()
                    .flat_map(|page| check(page, home.path(), python));
                wrong.collect::<Vec<String>>()
            })
        });
        workers.map(|worker| worker.join().unwrap()).concat()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Commands that are named within a sentence are at least such as the program understands.
#[test]
fn every_command_in_a_sentence_is_understood() {
    let mut wrong = Vec::new();
    for page in super::pages() {
        for span in page
            .spans
            .iter()
            .filter(|span| span.starts_with("minrepro "))
        {
            // A sentence may name a verb or an option without all that it takes.
            if let Some(error) = misread(span)
                && !error.contains("required arguments were not provided")
            {
                wrong.push(format!("{}: `{span}`: {error}", page.path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// The example of the README: the script before, the command, and the result after it.
#[test]
fn the_example_of_the_readme_is_real() {
    let Some(python) = newest() else {
        return skip("the_example_of_the_readme_is_real", "no CPython found");
    };
    let page = Page::read("README.md");
    let scripts: Vec<&str> = page
        .blocks
        .iter()
        .filter(|block| block.language == "python")
        .map(|block| block.text.as_str())
        .collect();
    let [before, after] = scripts[..] else {
        panic!("README.md has {} Python blocks, not 2", scripts.len());
    };
    let fixture = fs::read_to_string(root().join("tests/docs/fixtures/script.py")).unwrap();
    assert_eq!(
        before, fixture,
        "tests/docs/fixtures/script.py is the script of the README"
    );
    let place = tempfile::tempdir().unwrap();
    let work = place.path().join("work");
    fs::create_dir(&work).unwrap();
    fs::copy(
        root().join("tests/docs/fixtures/script.py"),
        work.join("script.py"),
    )
    .unwrap();
    let line = commands(&page)
        .into_iter()
        .find(|line| line.starts_with("minrepro script.py"))
        .expect("README.md reduces script.py");
    let output = run(&line, place.path(), python);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(
        fs::read_to_string(work.join("script.min.py")).unwrap(),
        after
    );
}

#[test]
fn a_wrong_command_is_found() {
    let text = "```sh\nminrepro no-such.py\nminrepro --no-such-option x.py\nfalse\n\
                # a comment\ntrue  # a comment\n```\n\n    minrepro passes\n    not a command\n";
    let page = Page::parse("here.md", text.to_owned());
    assert_eq!(commands(&page).len(), 5);
    let Some(python) = newest() else {
        return skip("a_wrong_command_is_found", "no CPython found");
    };
    let home = tempfile::tempdir().unwrap();
    assert_eq!(check(&page, home.path(), python).len(), 3);
}
