//! `minrepro corpus fetch` with the real `gh` against a GitHub of the tests' own, and
//! `minrepro bench --historical` over what it fetched.

use std::{fs, path::Path};

use minrepro::scrub::corpus::hash_of;

use super::{
    flow::{Place, has_gh, issue},
    server::World,
};
use crate::support::newest;

const SCRIPT: &str = "import json\n\ntext = json.dumps({'size': 3})\nprint(len(text))\n\
     total = 1\nfor part in text:\n    total += 1\nprint(json.loads('{' + 'size'))\n";
const OTHER: &str = "values = list(range(9))\nprint(sum(values))\ntable = {'a': values}\n\
     print(table['b'][0])\n";

fn body(script: &str) -> String {
    format!("### Describe the bug\n\n```python\n{script}```\n")
}

/// A list entry; `more` are further lines.
fn entry(id: &str, number: u64, more: &str) -> String {
    format!(
        "[[issue]]\nid = \"{id}\"\nrepository = \"o/r\"\nnumber = {number}\nkind = \"other-eager\"\n\
         versions = {{ CPython = \"{}\" }}\npython = \">=3.8\"\n{more}\n",
        version()
    )
}

/// The version of the newest interpreter.
fn version() -> String {
    let output = crate::support::command(newest().unwrap())
        .args(["-c", "import platform; print(platform.python_version())"])
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A place whose GitHub has some issues, and whose working folder has a list of them.
fn place() -> Place {
    let mut world = World::new(issue("first", &body(SCRIPT)));
    world.elsewhere.extend([
        (8, issue("second", &body(OTHER))),
        (9, serde_json::Value::Null),
        (10, issue("third", "there is no code")),
    ]);
    let place = Place::new(world);
    let list = [
        entry(
            "first",
            7,
            &format!(
                "signature = \"JSONDecodeError\"\nhash = \"{}\"\nbest = 9\nkeep = [\"loads\"]\n",
                hash_of(SCRIPT)
            ),
        ),
        entry("second", 8, &format!("hash = \"{}\"\n", hash_of("as it was"))),
        entry("third", 9, ""),
        entry("fourth", 10, ""),
        "[[issue]]\nid = \"old\"\nthread = \"https://bugs.python.org/issue6717\"\nkind = \"signal\"\n\
         versions = { CPython = \"3.6.15\" }\npython = \"==3.6\"\n"
            .to_owned(),
    ];
    put(&place.folder("work").join("issues.toml"), &list.concat());
    place
}

fn put(path: &Path, text: &str) {
    std::io::Write::write_all(&mut fs::File::create(path).unwrap(), text.as_bytes()).unwrap();
}

/// Runs the command; its status, its standard output and its messages.
#[track_caller]
fn run(place: &Place, args: &[&str], status: i32) -> (String, String) {
    let output = place
        .plain(args)
        .env("XDG_CACHE_HOME", place.folder("home").join("cache"))
        .output()
        .unwrap();
    let [data, said] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(
        output.status.code(),
        Some(status),
        "{args:?}\n{data}\n{said}"
    );
    (data, said)
}

#[track_caller]
fn has_line(text: &str, words: &[&str]) {
    let is_it = |line: &str| words.iter().all(|word| line.contains(word));
    assert!(text.lines().any(is_it), "{words:?} are not in\n{text}");
}

#[test]
fn code_is_fetched_compared_and_recorded() {
    if !has_gh("code_is_fetched_compared_and_recorded") {
        return;
    }
    let place = place();
    let cached = place.folder("home").join("cache/minrepro/historical");
    let (_, said) = run(&place, &["corpus", "fetch", "issues.toml", "--offline"], 5);
    assert!(
        said.contains("missing: first") && said.contains("hint: "),
        "{said}"
    );
    let (table, said) = run(&place, &["corpus", "fetch", "issues.toml"], 0);
    has_line(&table, &["first", "same"]);
    has_line(
        &table,
        &["second", "changed", "other code than the recorded"],
    );
    has_line(&table, &["third", "deleted"]);
    has_line(&table, &["fourth", "no code"]);
    has_line(
        &table,
        &["old", "elsewhere", "https://bugs.python.org/issue6717"],
    );
    has_line(
        &said,
        &["1 changed, 1 deleted, 1 elsewhere, 1 no code, 1 same"],
    );
    assert_eq!(fs::read_to_string(cached.join("first.py")).unwrap(), SCRIPT);
    // The thread changes; what was recorded is that of the new code.
    place
        .server
        .world
        .lock()
        .unwrap()
        .elsewhere
        .insert(8, issue("second", &body(SCRIPT)));
    let args = [
        "corpus",
        "fetch",
        "issues.toml",
        "--only",
        "second",
        "--record",
    ];
    let (table, _) = run(&place, &args, 0);
    has_line(&table, &["second", "changed", "other code than before"]);
    let (table, _) = run(
        &place,
        &["corpus", "fetch", "issues.toml", "--only", "second"],
        0,
    );
    has_line(&table, &["second", "same"]);
    let (_, said) = run(
        &place,
        &["corpus", "fetch", "issues.toml", "--only", "none"],
        2,
    );
    assert!(
        said.contains("the issue `none` is not on the list"),
        "{said}"
    );
    // A deleted issue keeps the code that was fetched before it was deleted.
    place
        .server
        .world
        .lock()
        .unwrap()
        .elsewhere
        .insert(8, serde_json::Value::Null);
    let (table, _) = run(
        &place,
        &["corpus", "fetch", "issues.toml", "--only", "second"],
        0,
    );
    has_line(
        &table,
        &["second", "deleted", "the code fetched before stays"],
    );
}

#[test]
fn without_github_the_code_fetched_before_is_compared() {
    if !has_gh("without_github_the_code_fetched_before_is_compared") {
        return;
    }
    let place = place();
    run(
        &place,
        &["corpus", "fetch", "issues.toml", "--only", "first"],
        0,
    );
    let logged_out = |args: &[&str]| {
        let output = place
            .plain(args)
            .env("XDG_CACHE_HOME", place.folder("home").join("cache"))
            .env_remove("GH_TOKEN")
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    };
    let (status, said) = logged_out(&["corpus", "fetch", "issues.toml", "--only", "first"]);
    assert_eq!(status, Some(0), "{said}");
    has_line(&said, &["warning:", "`gh` is not logged in"]);
    has_line(&said, &["first", "same", "fetched before"]);
    let (status, said) = logged_out(&["corpus", "fetch", "issues.toml", "--only", "first,second"]);
    assert_eq!(status, Some(5), "{said}");
    has_line(&said, &["second", "missing"]);
    has_line(&said, &["hint: log in: `gh auth login`"]);
}

/// The arguments of a bench by the newest interpreter.
fn bench(more: &[&'static str]) -> Vec<&'static str> {
    let python = newest().unwrap().to_str().unwrap();
    let mut args = vec!["bench", "--historical", "issues.toml", "--python", python];
    args.extend(["--history", "rows.jsonl"]);
    args.extend(more);
    args
}

#[test]
fn fetched_issues_are_minimized_and_compared_over_time() {
    if !has_gh("fetched_issues_are_minimized_and_compared_over_time") {
        return;
    }
    let place = place();
    let (_, said) = run(&place, &bench(&[]), 5);
    has_line(&said, &["SKIPPED first: its code is not fetched"]);
    run(&place, &["corpus", "fetch", "issues.toml"], 0);
    let (table, said) = run(
        &place,
        &bench(&["--label", "eager", "--name", "one", "--json", "out.json"]),
        0,
    );
    has_line(&table, &["first", " 9 ", "verified"]);
    has_line(&table, &["second", "–", "verified", "other code"]);
    has_line(&table, &["2 of 2 verified"]);
    has_line(&said, &["SKIPPED third: its code is not fetched"]);
    has_line(&said, &["2 of 4 issues were SKIPPED"]);
    let figures = fs::read_to_string(place.folder("work").join("out.json")).unwrap();
    let figures: serde_json::Value = serde_json::from_str(&figures).unwrap();
    assert!(
        figures[0]["after"].as_u64() < figures[0]["before"].as_u64(),
        "{figures}"
    );
    // A kind, a result without what must stay, and a second version.
    let (_, said) = run(&place, &bench(&["--label", "crash"]), 2);
    has_line(
        &said,
        &["hint: the kinds have the words eager, other, signal"],
    );
    let list = place.folder("work").join("issues.toml");
    let text = fs::read_to_string(&list)
        .unwrap()
        .replace("\"loads\"", "\"dumps\"");
    put(&list, &text);
    let (_, said) = run(&place, &bench(&["--only", "first", "--name", "two"]), 1);
    has_line(&said, &["first: `dumps` is missing"]);
    let compare = [
        "bench",
        "--compare",
        "one",
        "two",
        "--history",
        "rows.jsonl",
        "--plot",
        "p.html",
    ];
    let (table, _) = run(&place, &compare, 0);
    has_line(
        &table,
        &["geometric mean of B/A over 1 case: tokens 1.00, runs 1.00"],
    );
    let page = fs::read_to_string(place.folder("work").join("p.html")).unwrap();
    assert!(page.contains("<svg"));
    let compare = [
        "bench",
        "--compare",
        "one",
        "three",
        "--history",
        "rows.jsonl",
    ];
    let (_, said) = run(&place, &compare, 2);
    has_line(&said, &["hint: it has rows of two,"]);
}

#[test]
fn a_script_that_the_review_objects_to_is_not_run() {
    if !has_gh("a_script_that_the_review_objects_to_is_not_run") {
        return;
    }
    let place = place();
    let script = "import os\nos.system('touch here')\nraise ValueError('bad size')\n";
    place.server.world.lock().unwrap().issue = issue("first", &body(script));
    run(
        &place,
        &["corpus", "fetch", "issues.toml", "--only", "first"],
        0,
    );
    let args = bench(&["--only", "first"]);
    let (_, said) = run(&place, &args, 5);
    has_line(
        &said,
        &["SKIPPED first: the review objects to line 2: commands"],
    );
}

#[test]
fn code_that_lacks_what_its_thread_takes_for_granted_shows_no_bug() {
    if !has_gh("code_that_lacks_what_its_thread_takes_for_granted_shows_no_bug") {
        return;
    }
    let place = place();
    let incomplete = issue("third", &body("size = 3\nprint(size, other)\n"));
    place
        .server
        .world
        .lock()
        .unwrap()
        .elsewhere
        .insert(10, incomplete);
    run(
        &place,
        &["corpus", "fetch", "issues.toml", "--only", "fourth"],
        0,
    );
    let (table, said) = run(&place, &bench(&["--only", "fourth"]), 1);
    has_line(&table, &["fourth", "not-reproduced"]);
    has_line(&said, &["fourth: the code is incomplete: NameError"]);
}
