//! What can go wrong between here and GitHub, at each single call: nothing is lost without a word,
//! nothing is written twice, the subscription is restored or the user informed, and the next scrub
//! completes what is missing.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
    sync::Mutex,
    thread,
};

use serde_json::json;

use super::{
    flow::{BODY, BROKEN, FIXED, OLDER, Place, has_gh, issue},
    server::{Fault, World},
};
use crate::support::command;

pub(super) const SMALL: &str = "```python\nimport torch\ntorch.stack([])\n```\n\
     RuntimeError: stack expects a non-empty TensorList of things";

/// A flow that writes, and how much of it.
#[derive(Clone, Copy)]
pub(super) struct Flow {
    pub(super) name: &'static str,
    pub(super) body: &'static str,
    pub(super) python: fn() -> &'static Path,
    /// The version that shows the bug, where it is fixed.
    older: fn() -> Option<&'static str>,
    pub(super) calls: usize,
    status: i32,
}

pub(super) const FLOWS: [Flow; 3] = [
    Flow {
        name: "comment",
        body: SMALL,
        python: || &BROKEN,
        older: || None,
        calls: 11,
        status: 0,
    },
    Flow {
        name: "comment and close",
        body: BODY,
        python: || &FIXED,
        older: || Some(&OLDER),
        calls: 13,
        status: 1,
    },
    Flow {
        name: "labels",
        body: "Since yesterday.",
        python: || &BROKEN,
        older: || None,
        calls: 11,
        status: 0,
    },
];

const FAULTS: [Fault; 5] = [
    Fault::CutBefore,
    Fault::CutAfter,
    Fault::Status(502),
    Fault::Status(403),
    Fault::Killed,
];

pub(super) fn world(body: &str) -> World {
    let mut world = World::new(issue("stack fails", body));
    world.issue["author_association"] = "MEMBER".into();
    world
}

impl Flow {
    /// Its command line.
    pub(super) fn command(self, place: &Place, posting: &'static str) -> Command {
        let mut args = vec![posting];
        args.extend(
            (self.older)()
                .into_iter()
                .flat_map(|older| ["--interpreter", older]),
        );
        place.command((self.python)(), &args)
    }

    /// Whether all is written that this flow writes.
    pub(super) fn is_complete(self, world: &World) -> bool {
        let comments = world.comments.len();
        match self.name {
            "comment" => comments == 1,
            "comment and close" => comments == 1 && world.issue["state"] == "closed",
            _ => world
                .label_names()
                .contains(&"needs reproduction".to_owned()),
        }
    }
}

/// The folder of a scrub that ran everything and wrote nothing, so that the next need not run it
/// again.
pub(super) fn rehearsed(flow: Flow) -> tempfile::TempDir {
    let place = Place::new(world(flow.body));
    let output = flow.command(&place, "--dry-run").output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(flow.status),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let kept = tempfile::tempdir().unwrap();
    fs::rename(place.folder("work/scrub-7"), kept.path().join("scrub-7")).unwrap();
    kept
}

pub(super) fn copy(from: &Path, to: &Path) {
    assert!(
        command("cp")
            .arg("-r")
            .arg(from)
            .arg(to)
            .status()
            .unwrap()
            .success()
    );
}

/// What speaks against a run with this fault; none if all is well.
fn check(flow: Flow, index: usize, fault: Fault, rehearsed: &Path) -> Option<String> {
    let place = Place::new(world(flow.body));
    copy(&rehearsed.join("scrub-7"), &place.folder("work"));
    place.server.world.lock().unwrap().fault = Some((index, fault));
    let first = flow.command(&place, "--post").output().unwrap();
    let stderr = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    let told = stderr(&first);
    let state = || {
        let world = place.server.world.lock().unwrap();
        let labels = world.label_names();
        (
            world.comments.len(),
            world.issue["state"] == "closed",
            labels,
            world.subscription.clone(),
        )
    };
    let (comments, is_closed, labels, subscription) = state();
    let name = format!("{} {index} {fault:?}", flow.name);
    let is_complete = match flow.name {
        "comment" => comments == 1,
        "comment and close" => comments == 1 && is_closed,
        _ => labels.contains(&"needs reproduction".to_owned()),
    };
    let status = first.status.code();
    let mut wrong = Vec::new();
    if comments > 1 {
        wrong.push("doubled".to_owned());
    }
    if status != Some(flow.status) && status != Some(5) && status != Some(6) {
        wrong.push(format!("status {status:?}"));
    }
    if !is_complete && status == Some(flow.status) {
        wrong.push("lost without a word".to_owned());
    }
    if !is_closed && subscription != "UNSUBSCRIBED" && !told.contains("subscription") {
        wrong.push("subscription changed without a word".to_owned());
    }
    place.server.world.lock().unwrap().fault = None;
    let second = flow.command(&place, "--post").output().unwrap();
    let (comments, is_closed, labels, subscription) = state();
    let is_complete = match flow.name {
        "comment" => comments == 1,
        "comment and close" => comments == 1 && is_closed,
        _ => labels.contains(&"needs reproduction".to_owned()),
    };
    if !is_complete {
        wrong.push(format!(
            "not mended: {comments} comments, closed {is_closed}, {labels:?}\n{}",
            stderr(&second)
        ));
    }
    // A state that could not be saved cannot be restored, which was reported.
    if !is_closed
        && subscription != "UNSUBSCRIBED"
        && !told.contains("could not save whether you are subscribed")
    {
        wrong.push("subscription not mended".to_owned());
    }
    (!wrong.is_empty()).then(|| format!("{name}: {wrong:?}\n{:#?}\n{told}", place.server.calls()))
}

/// What speaks against each of some cases, looked at six at a time.
pub(super) fn wrong_ones<T: Send>(
    cases: Vec<T>,
    check: impl Fn(T) -> Option<String> + Sync,
) -> Vec<String> {
    let (cases, wrong) = (Mutex::new(cases.into_iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                loop {
                    let Some(case) = cases.lock().unwrap().next() else {
                        return;
                    };
                    let found = check(case);
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    wrong.into_inner().unwrap()
}

#[test]
fn a_fault_at_any_call_loses_and_doubles_nothing() {
    if !has_gh("a fault at any call") {
        return;
    }
    let rehearsed = FLOWS.map(rehearsed);
    let all = std::env::var_os("MINREPRO_TEST_FAULTS").is_some();
    let mut cases = Vec::new();
    for (number, (flow, folder)) in FLOWS.iter().zip(&rehearsed).enumerate() {
        for index in 0..flow.calls {
            let faults = FAULTS
                .iter()
                .enumerate()
                .filter(|(at, _)| all || (index + number) % FAULTS.len() == *at);
            cases.extend(faults.map(|(_, fault)| (*flow, index, *fault, folder.path())));
        }
    }
    let count = cases.len();
    let wrong = wrong_ones(cases, |(flow, index, fault, folder)| {
        check(flow, index, fault, folder)
    });
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n=====\n")
    );
}

#[test]
fn a_locked_issue_is_only_reported() {
    if !has_gh("a locked issue") {
        return;
    }
    let mut locked = world(SMALL);
    locked.issue["locked"] = json!(true);
    let place = Place::new(locked);
    let output = place.run(&BROKEN, &["--post"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("it is locked"));
    assert_eq!(place.report()["end"], "AlreadyMinimal");
    assert_eq!(place.server.calls().len(), 3);
}

#[test]
fn each_failure_of_gh_has_its_own_message() {
    if !has_gh("messages") {
        return;
    }
    for (fault, message) in [
        (Fault::Status(404), "the issue does not exist"),
        (Fault::Status(401), "not logged in"),
        (Fault::Status(429), "rate limit"),
        (Fault::Status(403), "lacks the rights"),
    ] {
        let place = Place::new(world(SMALL));
        place.server.world.lock().unwrap().fault = Some((0, fault));
        let output = place.run(&BROKEN, &[]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(5), "{stderr}");
        assert!(
            stderr.contains(message) && stderr.contains("hint:"),
            "{message}: {stderr}"
        );
    }
    let place = Place::new(world(SMALL));
    let output = place
        .command(&BROKEN, &[])
        .env("PATH", "/nowhere")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(5) && stderr.contains("is not installed"),
        "{stderr}"
    );
}
