//! The warm runner against the cold one: what a script does must be the same, or the warm one must decline.

use std::time::Duration;

use minrepro::runner::{Job, Outcome, Runner, Start};

use super::setup;

/// What a run did, without what differs from run to run: the number of its folder, addresses.
fn shown(outcome: &Outcome) -> String {
    let (stdout, stderr) = (outcome.stdout.text(), outcome.stderr.text());
    let text = format!("{:?}\n--- stdout\n{stdout}\n--- stderr\n{stderr}", outcome.end);
    let folder = regex::Regex::new(r"/run-\d+/").unwrap();
    let address = regex::Regex::new(r"0x[0-9a-f]{6,}").unwrap();
    address.replace_all(&folder.replace_all(&text, "/run/"), "0x").into_owned()
}

fn is_the_same_warm(source: &str) {
    let folder = tempfile::tempdir().unwrap();
    let runner = Runner::start(setup(folder.path(), 2)).unwrap();
    let job = Job::new(source.as_bytes().into(), Duration::from_secs(30));
    let run = |start| runner.run_all(&[Job { start, ..job.clone() }], &mut |_, _| {}).unwrap().remove(0);
    let cold = shown(&run(Start::Cold));
    for start in [Start::Recorded, Start::Warm, Start::Warm] {
        assert_eq!(cold, shown(&run(start)), "{start:?}\n{source}");
    }
    assert_eq!(runner.why_cold(), None, "{source}");
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
        is_the_same_warm(source);
    }
}
