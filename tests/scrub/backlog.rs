//! A backlog with the real `gh`: whatever kills or stops it, every issue has one end and nothing is
//! written twice or unseen.

use std::{
    collections::BTreeMap,
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
    thread,
    time::Duration,
};

use serde_json::Value;

use super::{
    faults::{SMALL, world},
    flow::{BROKEN, Place, comment, has_gh},
    interrupts::run,
    server::{Fault, World},
};
use crate::support::{answering, newest, tell};

/// Issues of five kinds, with their ends.
pub(super) const ENDS: [&str; 5] = [
    "AlreadyMinimal",
    "NeedsRepro",
    "DifferentError",
    "Tracker",
    "ClosedAlready",
];

/// An issue of the kind of its number.
fn numbered(number: u64) -> World {
    let other = "```python\nimport torch\nprint('x')\nraise KeyError('something else')\n```\n\
         RuntimeError: this is what fails";
    let mut world = match number % 5 {
        0 | 4 => world(SMALL),
        2 => world(other),
        _ => world("Since yesterday."),
    };
    match number % 5 {
        3 => world.issue["title"] = "[Tracker] All of it".into(),
        4 => world.issue["state"] = "closed".into(),
        _ => {}
    }
    world.issue["number"] = number.into();
    world.issue["node_id"] = format!("I_{number}").into();
    world
}

/// GitHub with these issues.
fn holding(numbers: impl IntoIterator<Item = u64>) -> World {
    let mut world = world(SMALL);
    world.others = numbers.into_iter().map(numbered).collect();
    world
}

/// GitHub with so many issues, numbered from 10.
pub(super) fn backlog(count: u64) -> World {
    holding(10..10 + count)
}

const SEARCH: [&str; 4] = ["--search", "is:open", "--limit", "1000"];

pub(super) fn scrub_all(place: &Place, args: &[&str]) -> Command {
    let issue: Vec<&str> = SEARCH.into_iter().chain(["--repo", "o/r"]).collect();
    place.command_for(&issue, &BROKEN, args)
}

pub(super) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The queue as `--json` prints it.
pub(super) fn rows(output: &Output) -> Vec<Value> {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(output)))
}

/// The interpreter as an environment of its own, which records each run of a repro in a file.
fn recording(place: &Place) -> (PathBuf, PathBuf) {
    let (root, log) = (place.folder("recording"), place.folder("runs"));
    let original = BROKEN.parent().unwrap().parent().unwrap();
    fs::create_dir_all(root.join("bin")).unwrap();
    fs::copy(original.join("pyvenv.cfg"), root.join("pyvenv.cfg")).unwrap();
    std::os::unix::fs::symlink(original.join("lib"), root.join("lib")).unwrap();
    let python = root.join("bin/python");
    // The name by which Python is called leads it to its environment.
    let text = format!(
        "#!/bin/bash\ncase \"$*\" in *repro.py*) echo run >> '{}';; esac\n\
         exec -a \"$0\" '{}' \"$@\"\n",
        log.display(),
        newest().unwrap().display()
    );
    let mut file = fs::File::create(&python).unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file.set_permissions(fs::Permissions::from_mode(0o755))
        .unwrap();
    (python, log)
}

fn recorded(log: &Path) -> usize {
    fs::read_to_string(log).unwrap_or_default().lines().count()
}

/// A command whose runs are recorded.
fn recorded_command(place: &Place, python: &Path) -> Command {
    let issue: Vec<&str> = SEARCH.into_iter().chain(["--repo", "o/r"]).collect();
    place.command_for(&issue, python, &["--post", "--json", "--sandbox", "off"])
}

/// Starts a command and kills it after so many calls of GitHub; its status if it ended before.
fn killed_after(place: &Place, command: Command, calls: usize) -> Option<i32> {
    let called = || place.server.world.lock().unwrap().calls.len();
    let last = called() + calls;
    killed_when(command, || called() >= last)
}

/// Starts a command and kills it at a moment; its status if it ended before.
fn killed_when(mut command: Command, is_time: impl Fn() -> bool) -> Option<i32> {
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if is_time() {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// What speaks against the writes to an issue.
pub(super) fn wrong_writes(world: &World) -> Option<String> {
    let labels = world.label_names();
    let count = |name: &str| world.calls.iter().filter(|call| *call == name).count();
    let expected = match world.number() % 5 {
        0 => (1, 0, vec![]),
        1 => (0, 1, vec!["needs reproduction"]),
        2 => (0, 1, vec!["triaged"]),
        3 => (0, 1, vec!["tracker"]),
        _ => (0, 0, vec![]),
    };
    let found = (world.comments.len(), count("add labels"), labels);
    let is_right = found.0 == expected.0 && found.1 == expected.1 && found.2 == expected.2;
    let is_restored = world.subscription == "UNSUBSCRIBED";
    (!is_right || !is_restored).then(|| {
        format!(
            "{}: {found:?}, {}, {:?}",
            world.number(),
            world.subscription,
            world.calls
        )
    })
}

/// `MINREPRO_TEST_BACKLOG=300` measures as many issues.
#[test]
fn a_backlog_that_is_killed_again_and_again_ends_each_issue_once() {
    if !has_gh("a backlog that is killed") {
        return;
    }
    let asked = std::env::var("MINREPRO_TEST_BACKLOG");
    let count: u64 = asked.map_or(10, |count| count.parse().unwrap());
    // The runs of each kind when nothing disturbs.
    let calm = Place::new(backlog(5));
    let (python, log) = recording(&calm);
    let output = recorded_command(&calm, &python).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let calls = calm.server.calls().len();
    let usual: u64 = rows(&output)
        .iter()
        .map(|row| row["cost"]["runs"].as_u64().unwrap())
        .sum();
    assert_eq!(usual as usize, recorded(&log), "{}", stderr(&output));

    let place = Place::new(backlog(count));
    let (python, log) = recording(&place);
    // Somewhere in each sixth of the calls, and so in reads, runs and writes.
    let sixth = calls * (count as usize) / 5 / 6;
    for at in 0..5 {
        let command = recorded_command(&place, &python);
        let ended = if at % 2 == 0 {
            killed_after(&place, command, sixth - 4 + at * 3)
        } else {
            // While a script runs.
            let before = recorded(&log);
            killed_when(command, || recorded(&log) > before)
        };
        assert_eq!(ended, None, "it ended before the kill");
    }
    let output = recorded_command(&place, &python).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let rows = rows(&output);
    let mut seen = BTreeMap::new();
    for row in &rows {
        let number = row["number"].as_u64().unwrap();
        *seen.entry(number).or_insert(0) += 1;
        assert_eq!(row["state"], "done", "{row}");
        assert_eq!(row["end"], ENDS[(number % 5) as usize], "{row}");
    }
    assert_eq!(seen.len() as u64, count);
    assert!(seen.values().all(|count| *count == 1));
    let world = place.server.world.lock().unwrap();
    let wrong: Vec<String> = world.others.iter().filter_map(wrong_writes).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let expected = usual * count / 5;
    let repeated = recorded(&log) as u64 - expected;
    tell(&format!(
        "backlog of {count}, killed five times: {repeated} of {expected} runs repeated"
    ));
    // A kill costs the runs of the program that was running.
    assert!(repeated <= 5 * 5, "{repeated}");
}

/// The write goes on without the scrub that has begun it.
#[test]
fn a_write_that_outlives_a_killed_scrub_is_not_repeated() {
    if !has_gh("a write that outlives its scrub") {
        return;
    }
    let place = Place::new(holding([10]));
    let output = scrub_all(&place, &["--dry-run"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    // Search, subscription, issue with comments, the lookup of the issue, the comment.
    let at = place.server.calls().len() + 5;
    place.server.world.lock().unwrap().fault = Some((at, Fault::Late(4)));
    assert_eq!(
        killed_after(&place, scrub_all(&place, &["--post"]), 6),
        None
    );
    assert_eq!(place.server.calls()[at], "add comment");
    assert!(
        place.server.world.lock().unwrap().others[0]
            .comments
            .is_empty()
    );
    let output = scrub_all(&place, &["--post"]).output().unwrap();
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert!(
        told.contains("waiting for a write that an earlier scrub"),
        "{told}"
    );
    let world = place.server.world.lock().unwrap();
    assert_eq!(wrong_writes(&world.others[0]), None, "{told}");
}

#[test]
fn a_rate_limit_is_waited_for_and_a_failing_issue_stops_no_other() {
    if !has_gh("a backlog with a failing issue") {
        return;
    }
    let mut world = backlog(4);
    world.hidden = Some(99);
    // The first page of the search is there; the first issue is not.
    world.fault = Some((1, Fault::Status(429)));
    let place = Place::new(world);
    let output = scrub_all(&place, &["--dry-run", "--json"])
        .output()
        .unwrap();
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(5), "{told}");
    assert!(
        told.contains("rate limit is exceeded; going on in"),
        "{told}"
    );
    assert!(place.server.calls().contains(&"GET /rate_limit".to_owned()));
    let rows = rows(&output);
    assert_eq!(rows.len(), 5);
    for row in &rows {
        let is_hidden = row["number"] == 99;
        assert_eq!(row["state"], if is_hidden { "failed" } else { "done" });
        if is_hidden {
            let why = row["why"].as_str().unwrap();
            assert!(why.contains("the issue does not exist"), "{why}");
        }
    }
    let is_write = |call: &String| call.starts_with("add") || call.starts_with("close");
    assert!(!place.server.calls().iter().any(is_write));
    let page = fs::read_to_string(place.folder("work/scrub-backlog/backlog.html")).unwrap();
    assert!(
        page.contains("gh issue comment 10 --repo o/r --body"),
        "{page}"
    );

    // What is done is not done again.
    let before = place.server.calls().len();
    let output = scrub_all(&place, &["--dry-run"]).output().unwrap();
    assert_eq!(output.status.code(), Some(5), "{}", stderr(&output));
    let calls = place.server.calls()[before..].to_vec();
    assert!(calls[0].starts_with("GET /search/issues"), "{calls:?}");
    assert!(
        calls[1..].iter().all(|call| call.contains("/99")),
        "{calls:?}"
    );
}

/// Nothing happens where nobody can be asked, another process is at work, or the search is another.
fn refuses(place: &Place) {
    let approve = || place.command_for(&["--approve"], &BROKEN, &[]);
    let other = place.command_for(&["--search", "is:closed", "--repo", "o/r"], &BROKEN, &[]);
    let queue = fs::File::open(place.folder("work/scrub-backlog/queue.jsonl")).unwrap();
    for (mut command, is_held, message) in [
        (approve(), false, "there is none"),
        (
            scrub_all(place, &[]),
            true,
            "another minrepro is at work in",
        ),
        (other, false, "is that of another search"),
    ] {
        if is_held {
            queue.lock().unwrap();
        }
        let output = command.output().unwrap();
        queue.unlock().unwrap();
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(message) && told.contains("hint:"), "{told}");
    }
    let is_write = |call: &String| call.starts_with("add") || call.starts_with("close");
    assert!(!place.server.calls().iter().any(is_write));
}

/// The one with a comment is scrubbed anew, and its plan waits again.
fn has_states(place: &Place) {
    let output = scrub_all(place, &["--json"]).output().unwrap();
    let states: Vec<(u64, String)> = rows(&output)
        .iter()
        .map(|row| {
            let writes = row["writes"].as_str().unwrap().to_owned();
            (row["number"].as_u64().unwrap(), writes)
        })
        .collect();
    let expected = [
        (10, "written"),
        (15, "waiting"),
        (20, "written"),
        (25, "written"),
        (11, "declined"),
        (16, "waiting"),
    ];
    assert_eq!(states, expected.map(|(at, state)| (at, state.to_owned())));
}

#[test]
fn plans_wait_until_somebody_has_seen_them_and_agrees() {
    if !has_gh("a backlog with approval") {
        return;
    }
    let place = Place::new(holding([10, 15, 20, 25, 11, 16]));
    let output = scrub_all(&place, &[]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("6 plans wait"),
        "{}",
        stderr(&output)
    );

    refuses(&place);
    let approve = || place.command_for(&["--approve"], &BROKEN, &[]);

    // Somebody comments on one of them before the plans are looked at.
    place.server.world.lock().unwrap().others[1]
        .comments
        .push(comment(
            "ann",
            "MEMBER",
            "2026-09-02T00:00:00Z",
            "I see it, too.",
        ));
    let choose = "[y/n/a/s/q]";
    let shown = answering(
        approve(),
        &[
            // 11 and 16 need a script: no, and later. Then 10, 15, 20 and 25 together.
            (choose, "n"),
            (choose, "s"),
            (choose, "a"),
            ("[y/n]", "y"),
        ],
    );
    let screen = shown.screen();
    assert!(shown.status.success(), "{screen}");
    assert!(
        screen.contains("15: nothing was written: ann commented meanwhile"),
        "{screen}"
    );
    assert!(
        screen.contains("carry out all 4 plans that end as AlreadyMinimal?"),
        "{screen}"
    );
    let world = place.server.world.lock().unwrap();
    let comments: Vec<(u64, usize)> = world
        .others
        .iter()
        .map(|world| (world.number(), world.comments.len()))
        .collect();
    drop(world);
    assert_eq!(
        comments,
        [(10, 1), (15, 1), (20, 1), (25, 1), (11, 0), (16, 0)],
        "{screen}"
    );

    has_states(&place);
}

#[test]
fn ctrl_c_keeps_everything_and_says_how_to_continue() {
    if !has_gh("Ctrl-C in a backlog") {
        return;
    }
    let mut world = backlog(3);
    // In the middle of the second issue.
    world.fault = Some((16, Fault::CtrlC(1)));
    let place = Place::new(world);
    let output = run(&place, scrub_all(&place, &["--post"]));
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(
        told.contains("of 3 issues are done") && told.contains("run the same command again"),
        "{told}"
    );
    place.server.world.lock().unwrap().fault = None;
    let output = run(&place, scrub_all(&place, &["--post"]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let world = place.server.world.lock().unwrap();
    let wrong: Vec<String> = world.others.iter().filter_map(wrong_writes).collect();
    assert!(wrong.is_empty(), "{}\n{told}", wrong.join("\n"));
}

#[test]
fn a_search_that_github_refuses_and_a_missing_login_say_so() {
    if !has_gh("a refused search") {
        return;
    }
    for (fault, status, message) in [
        (422, 2, "GitHub does not accept the search"),
        (401, 5, "not logged in"),
    ] {
        let mut world = backlog(2);
        world.fault = Some((0, Fault::Status(fault)));
        let place = Place::new(world);
        let output = scrub_all(&place, &["--dry-run"]).output().unwrap();
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(status), "{told}");
        assert!(told.contains(message) && told.contains("hint:"), "{told}");
    }
}
