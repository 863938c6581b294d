//! Ctrl-C at each single call of the flow: what was begun is finished, nothing else is begun, the
//! subscription is restored, and the next scrub completes what is missing. Slow answers, and a
//! spent rate limit amid the writes.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

use super::{
    faults::{FLOWS, Flow, SMALL, copy, rehearsed, world, wrong_ones},
    flow::{BROKEN, Place, has_gh},
    server::Fault,
};
use crate::support::{command, tell};

/// Runs a scrub whose process the server knows.
pub(super) fn run(place: &Place, mut command: Command) -> Output {
    let mut world = place.server.world.lock().unwrap();
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    world.scrub = Some(child.id());
    drop(world);
    child.wait_with_output().unwrap()
}

fn is_write(call: &str) -> bool {
    ["add ", "remove ", "close "]
        .iter()
        .any(|verb| call.starts_with(verb))
}

/// What speaks against a run with so many Ctrl-C at a call; none if all is well.
fn check(flow: Flow, index: usize, times: u8, rehearsed: &Path) -> Option<String> {
    let place = Place::new(world(flow.body));
    copy(&rehearsed.join("scrub-7"), &place.folder("work"));
    place.server.world.lock().unwrap().fault = Some((index, Fault::CtrlC(times)));
    let first = run(&place, flow.command(&place, "--post"));
    let told = String::from_utf8_lossy(&first.stderr).into_owned();
    let calls = place.server.calls();
    let mut wrong = Vec::new();
    if first.status.code() != Some(130) {
        wrong.push(format!("status {:?}", first.status.code()));
    }
    // A write that `gh` had begun by looking up the issue is finished; no other follows.
    let begun = calls[..=index]
        .iter()
        .rev()
        .take_while(|verb| ["find issue", "list labels"].contains(&verb.as_str()));
    let begun = usize::from(begun.count() > 0);
    let after: Vec<&String> = calls[index + 1..]
        .iter()
        .filter(|request| is_write(request))
        .collect();
    if after.len() > begun {
        wrong.push(format!("{after:?} after Ctrl-C"));
    }
    {
        let world = place.server.world.lock().unwrap();
        let is_closed = world.issue["state"] == "closed";
        if world.comments.len() > 1 {
            wrong.push("doubled".to_owned());
        }
        let is_restored = is_closed || world.subscription == "UNSUBSCRIBED";
        if !is_restored && (times == 1 || !told.contains("subscription")) {
            wrong.push("subscription changed".to_owned());
        }
        if !flow.is_complete(&world) && !told.contains("run the same command again") {
            wrong.push("nothing says how to go on".to_owned());
        }
    }
    place.server.world.lock().unwrap().fault = None;
    let second = run(&place, flow.command(&place, "--post"));
    let world = place.server.world.lock().unwrap();
    if !flow.is_complete(&world) {
        wrong.push(format!(
            "not completed\n{}",
            String::from_utf8_lossy(&second.stderr)
        ));
    }
    if world.comments.len() > 1 {
        wrong.push("doubled by the second".to_owned());
    }
    if world.issue["state"] != "closed" && world.subscription != "UNSUBSCRIBED" {
        wrong.push("subscription not mended".to_owned());
    }
    drop(world);
    (!wrong.is_empty()).then(|| {
        format!(
            "{} {index} x{times}: {wrong:?}\n{calls:#?}\n{told}",
            flow.name
        )
    })
}

#[test]
fn ctrl_c_at_any_call_finishes_the_write_in_progress_and_starts_no_other() {
    if !has_gh("Ctrl-C at any call") {
        return;
    }
    let rehearsed = FLOWS.map(rehearsed);
    let all = std::env::var_os("MINREPRO_TEST_FAULTS").is_some();
    let mut cases = Vec::new();
    for (number, (flow, folder)) in FLOWS.iter().zip(&rehearsed).enumerate() {
        for index in 0..flow.calls {
            // Once ends in order, twice at once.
            let times = [1, 2]
                .into_iter()
                .filter(|&write| all || (index + number) % 3 == usize::from(write));
            cases.extend(times.map(|times| (*flow, index, times, folder.path())));
        }
    }
    let count = cases.len();
    let wrong = wrong_ones(cases, |(flow, index, times, folder)| {
        check(flow, index, times, folder)
    });
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n=====\n")
    );
    tell(&format!("Ctrl-C: {count} of {count} as they should be"));
}

#[test]
fn ctrl_c_during_a_run_explains_how_to_continue() {
    if !has_gh("Ctrl-C while the script runs") {
        return;
    }
    let place = Place::new(world(
        &SMALL.replace("torch.stack", "import time\ntime.sleep(100)\ntorch.stack"),
    ));
    let mut child = place
        .command(&BROKEN, &["--post"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap())
        .lines()
        .map_while(Result::ok);
    assert!(
        lines
            .by_ref()
            .any(|line| line.contains("with PyTorch 2.0.0"))
    );
    assert!(
        command("kill")
            .arg("-INT")
            .arg(child.id().to_string())
            .status()
            .unwrap()
            .success()
    );
    let rest: Vec<String> = lines.collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:#?}");
    assert!(
        rest.iter()
            .any(|line| line.contains("run the same command again")),
        "{rest:#?}"
    );
    assert_eq!(place.server.calls().len(), 3);
}

#[test]
fn long_calls_are_reported() {
    if !has_gh("slow answers") {
        return;
    }
    // The issue, and the write.
    for (index, waited_for) in [
        (0, "repos/o/r/issues/7"),
        (7, "gh issue comment 7 --repo o/r"),
    ] {
        let place = Place::new(world(SMALL));
        place.server.world.lock().unwrap().fault = Some((index, Fault::Slow(6)));
        let output = run(&place, place.command(&BROKEN, &["--post"]));
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        let line = stderr.lines().find(|line| line.contains("waiting for"));
        assert!(
            line.is_some_and(|line| line.contains(waited_for)),
            "{index} {:?}: {stderr}",
            place.server.calls()
        );
        assert_eq!(place.server.world.lock().unwrap().comments.len(), 1);
    }
    // Tries of a read that fails.
    let place = Place::new(world(SMALL));
    place.server.world.lock().unwrap().fault = Some((0, Fault::Status(502)));
    let stderr = String::from_utf8_lossy(&run(&place, place.command(&BROKEN, &["--post"])).stderr)
        .into_owned();
    assert!(stderr.contains("again in 1 s"), "{stderr}");
}

#[test]
fn a_late_subscription_is_waited_for_and_reported() {
    if !has_gh("a late subscription") {
        return;
    }
    let place = Place::new(world(SMALL));
    place.server.world.lock().unwrap().delay = Duration::from_secs(4);
    let started = Instant::now();
    let output = run(&place, place.command(&BROKEN, &["--post"]));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && started.elapsed() > Duration::from_secs(4),
        "{stderr}"
    );
    assert!(
        stderr.contains("waiting until GitHub has subscribed you"),
        "{stderr}"
    );
    assert_eq!(
        place.server.world.lock().unwrap().subscription,
        "UNSUBSCRIBED"
    );
}

#[test]
fn a_rate_limit_during_the_writes_loses_nothing() {
    if !has_gh("a rate limit") {
        return;
    }
    // The comment itself; the look whether it is there.
    for index in [7, 8] {
        let place = Place::new(world(SMALL));
        place.server.world.lock().unwrap().fault = Some((index, Fault::Status(429)));
        let output = run(&place, place.command(&BROKEN, &["--post"]));
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        place.server.world.lock().unwrap().fault = None;
        if output.status.code() == Some(5) {
            assert!(
                stderr.contains("rate limit") && stderr.contains("not done"),
                "{index}: {stderr}"
            );
            assert!(
                run(&place, place.command(&BROKEN, &["--post"]))
                    .status
                    .success()
            );
        }
        let world = place.server.world.lock().unwrap();
        assert_eq!(
            (world.comments.len(), world.subscription.as_str()),
            (1, "UNSUBSCRIBED"),
            "{stderr}"
        );
    }
}
