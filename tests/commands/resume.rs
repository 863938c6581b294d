//! Killed at any moment and started again, a reduction ends as if nothing had happened.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::PathBuf,
    process::Stdio,
    time::{Duration, Instant},
};

use super::{NOISY, Place, SIGNATURE};
use crate::support::processes_with;

/// Waits until a condition holds, two seconds at most: the promise for what others clean up.
fn within_two_seconds(condition: impl Fn() -> bool) -> bool {
    let until = Instant::now() + Duration::from_secs(2);
    while !condition() {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

fn journal(place: &Place) -> Option<PathBuf> {
    let folder = place.root.path().join("home/.cache/minrepro/journals");
    fs::read_dir(folder)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .next()
}

/// The keys of the runs that a journal holds, complete lines only.
fn tried(place: &Place) -> Vec<String> {
    let Some(path) = journal(place) else {
        return Vec::new();
    };
    let text = fs::read_to_string(path).unwrap();
    text.split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
        .filter_map(|line| {
            let value: serde_json::Value = serde_json::from_str(line).ok()?;
            Some(value["tried"][0].as_str()?.to_owned())
        })
        .collect()
}

/// How many kills; more by the variable, for those who measure.
fn kills() -> u64 {
    std::env::var("MINREPRO_TEST_KILLS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(12)
}

/// Numbers without order, the same each time.
fn shuffled(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// All that was started below a process, with what tells it from a later process of the same
/// number.
fn descendants(root: u32) -> Vec<(u32, String)> {
    let mut found = vec![(root, String::new())];
    let processes: Vec<(u32, u32, String)> = fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let (parent, born) = status(pid)?;
            Some((pid, parent, born))
        })
        .collect();
    let mut at = 0;
    while at < found.len() {
        let above = found[at].0;
        let below = processes.iter().filter(|(_, parent, _)| *parent == above);
        found.extend(below.map(|(pid, _, born)| (*pid, born.clone())));
        at += 1;
    }
    found.split_off(1)
}

/// The parent of a process that lives, and when it was started.
fn status(pid: u32) -> Option<(u32, String)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    (fields[0] != "Z").then(|| Some((fields[1].parse().ok()?, fields[19].to_owned())))?
}

#[test]
fn a_killed_warm_reduction_leaves_nothing() {
    let undisturbed = Place::new();
    undisturbed.file("x.py", NOISY);
    let args = [
        "x.py",
        "--signature",
        SIGNATURE,
        "--runner",
        "warm",
        "--format",
        "jsonl",
    ];
    let output = undisturbed.run(&args);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let events = output.stdout.split(|byte| *byte == b'\n').count() as u64;

    let mut seed = 0x9E37_79B9_7F4A_7C15_u64;
    let mut forks = 0;
    for _ in 0..kills().div_ceil(3) {
        let place = Place::new();
        place.file("x.py", NOISY);
        let mut child = place
            .command(&args)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let moment = shuffled(&mut seed) % events;
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let _ = lines
            .by_ref()
            .take(usize::try_from(moment).unwrap())
            .count();
        std::thread::sleep(Duration::from_micros(shuffled(&mut seed) % 50_000));
        let below = descendants(child.id());
        let tmp = place.tmp().display().to_string();
        forks += processes_with(&tmp)
            .iter()
            .filter(|it| it.contains("zygote-"))
            .count();
        let _ = child.kill();
        child.wait().unwrap();
        let left = || -> Vec<_> {
            below
                .iter()
                .filter(|(pid, born)| status(*pid).is_some_and(|it| it.1 == *born))
                .collect()
        };
        assert!(
            within_two_seconds(|| left().is_empty()),
            "left: {:?}",
            left()
        );
        assert!(
            within_two_seconds(|| processes_with(&tmp).is_empty()),
            "{:?}",
            processes_with(&tmp)
        );
        assert!(
            within_two_seconds(|| place.scratch_is_empty()),
            "a scratch folder is left"
        );
    }
    assert!(forks > 0, "no kill found a zygote at work");
}

#[test]
fn a_killed_reduction_goes_on_where_it_was() {
    let undisturbed = Place::new();
    undisturbed.file("x.py", NOISY);
    let last = ["x.py", "--signature", SIGNATURE, "--report", "r.json"];
    // Those that workers without work make besides depend on what is known already.
    let needed = |place: &Place| {
        let report: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
        report["runs"].as_u64().unwrap() + report["journal_hits"].as_u64().unwrap()
    };
    assert!(undisturbed.run(&last).status.success());
    let expected = undisturbed.read("x.min.py");
    let runs = needed(&undisturbed);

    let mut done = 0;
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    while done < kills() {
        let place = Place::new();
        place.file("x.py", NOISY);
        // Several kills to one reduction, then it may end.
        for _ in 0..4 {
            shuffled(&mut seed);
            let before = tried(&place);
            let mut child = place
                .command(&["x.py", "--signature", SIGNATURE, "--format", "jsonl"])
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            // Some moment of the reduction: after so many lines of events, and a little more.
            let moment = seed % (runs + 8);
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
            for _ in 0..moment {
                if lines.next().is_none() {
                    break;
                }
            }
            std::thread::sleep(Duration::from_micros(seed % 20_000));
            let _ = child.kill();
            child.wait().unwrap();
            done += 1;
            assert!(
                within_two_seconds(|| place.scratch_is_empty()),
                "a scratch folder is left: {:?}",
                fs::read_dir(place.tmp())
                    .unwrap()
                    .flatten()
                    .map(|it| it.path())
                    .collect::<Vec<_>>()
            );
            let tmp = place.tmp().display().to_string();
            assert!(
                within_two_seconds(|| processes_with(&tmp).is_empty()),
                "{:?}",
                processes_with(&tmp)
            );
            let names: Vec<_> = fs::read_dir(place.work())
                .unwrap()
                .flatten()
                .map(|it| it.file_name())
                .collect();
            assert!(
                names
                    .iter()
                    .all(|name| name == "x.py" || name == "x.min.py"),
                "{names:?}"
            );
            let after = tried(&place);
            assert_eq!(after[..before.len()], before, "records were lost");
        }
        let output = place.run(&last);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(place.read("x.min.py"), expected);
        assert_eq!(needed(&place), runs);
        let mut keys = tried(&place);
        let count = keys.len();
        keys.sort();
        keys.dedup();
        assert_eq!(keys.len(), count, "a finished run was repeated");
    }
}

#[test]
fn a_second_run_is_free() {
    let place = Place::new();
    place.file("x.py", NOISY);
    assert!(place.run(&["x.py"]).status.success());
    let first = place.read("x.min.py");
    assert!(place.run(&["x.py", "--report", "r.json"]).status.success());
    assert_eq!(place.read("x.min.py"), first);
    let report: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert_eq!(report["runs"], 0);
    assert!(report["journal_hits"].as_u64().unwrap() > 10);
    // Another signature is another reduction.
    assert!(
        place
            .run(&["x.py", "--signature", "TypeError", "--report", "r.json"])
            .status
            .success()
    );
    let report: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert!(report["runs"].as_u64().unwrap() > 10);
}

#[test]
fn a_journal_in_use_is_left_alone() {
    let place = Place::new();
    place.file("x.py", NOISY);
    assert!(place.run(&["x.py"]).status.success());
    let lock = fs::File::open(journal(&place).unwrap()).unwrap();
    lock.lock().unwrap();
    let output = place.run(&["x.py", "-o", "other.py"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && stderr.contains("another minrepro is at work"),
        "{stderr}"
    );
}
