//! The warm runner against the cold one: what a script does must be the same, or the warm one must decline.

use std::{fs, io::Write, path::Path, time::Duration};

use minrepro::runner::{Job, Outcome, Runner, Start};

use super::setup;

/// What a run did, without what differs from run to run: the number of its folder, addresses.
fn shown(outcome: &Outcome) -> String {
    let text = format!(
        "{:?}\n--- stdout\n{}\n--- stderr\n{}",
        outcome.end,
        outcome.stdout.text(),
        outcome.stderr.text()
    );
    let folder = regex::Regex::new(r"/run-\d+/").unwrap();
    let address = regex::Regex::new(r"0x[0-9a-f]{6,}").unwrap();
    address.replace_all(&folder.replace_all(&text, "/run/"), "0x").into_owned()
}

fn outcomes(runner: &Runner, source: &str, starts: &[Start]) -> Vec<Outcome> {
    let job = Job::new(source.as_bytes().into(), Duration::from_secs(30));
    let run = |start: &Start| {
        runner.run_all(&[Job { start: *start, ..job.clone() }], &mut |_, _| {}).unwrap().remove(0)
    };
    starts.iter().map(run).collect()
}

fn same(source: &str) {
    let folder = tempfile::tempdir().unwrap();
    let runner = Runner::start(setup(folder.path(), 2)).unwrap();
    let all = outcomes(&runner, source, &[Start::Cold, Start::Recorded, Start::Warm, Start::Warm]);
    assert_eq!(runner.why_cold(), None, "{source}");
    for outcome in &all[1..] {
        similar_asserts(&shown(&all[0]), &shown(outcome), source);
    }
}

fn similar_asserts(cold: &str, warm: &str, source: &str) {
    assert_eq!(cold, warm, "\n{source}");
}

const SCRIPTS: &[&str] = &[
    "print(1)",
    "import json, argparse, asyncio\nprint(json.dumps({}))\nraise KeyError('x')",
    "import sys\nprint(sys.argv, sys.path[0] == __file__.rpartition('/')[0], __name__, __spec__)\nsys.exit('bye')",
    "import inspect\ndef f(): pass\nprint(inspect.getsource(f), len(inspect.stack()))",
    "import atexit, threading, time\natexit.register(print, 'last')\nthreading.Thread(target=lambda: (time.sleep(.1), print('thread'))).start()\nprint('main')",
];

#[test]
fn warm_runs_are_as_cold_ones() {
    for source in SCRIPTS {
        same(source);
    }
}
