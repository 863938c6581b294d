//! A bench and a backlog on the four nodes of a Ray cluster on this machine, one of which is killed:
//! everything ends as on one machine.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{
    backlog::{ENDS, backlog, rows, scrub_all, stderr, wrong_writes},
    flow::{Place, has_gh},
};
use crate::support::{command, skip, tell, with_package};

/// A cluster on this machine. It ends with its standard input.
struct Nodes {
    process: Child,
    address: String,
}

impl Nodes {
    fn start(place: &Place, python: &Path, count: usize) -> Self {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scrub/nodes.py");
        let mut nodes = command(python);
        nodes.arg(script).arg(count.to_string());
        let mut process = in_reach(&mut nodes, place, python)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let output = process.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut address).unwrap();
        Self {
            process,
            address: address.trim().to_owned(),
        }
    }

    fn kill_one(&mut self) {
        let input = self.process.stdin.as_mut().unwrap();
        input.write_all(b"\n").unwrap();
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        self.process.wait().unwrap();
    }
}

/// A command that finds Ray, the Python package and this GitHub, here and on the nodes.
fn in_reach<'c>(command: &'c mut Command, place: &Place, python: &Path) -> &'c mut Command {
    let bin = python.parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = [bin].into_iter().chain(std::env::split_paths(&path));
    command
        .env("PATH", std::env::join_paths(path).unwrap())
        .env(
            "PYTHONPATH",
            Path::new(env!("CARGO_MANIFEST_DIR")).join("python"),
        )
        .env("MINREPRO_BINARY", env!("CARGO_BIN_EXE_minrepro"))
        .env("HOME", place.folder("home"))
        .env("TMPDIR", place.folder("tmp"))
        .envs(place.server.environment())
}

/// The journals in the folders of jobs, each with its number of lines.
fn journals(place: &Place) -> Vec<usize> {
    let below = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().flatten();
    below(place.folder("tmp"))
        .flat_map(|root| below(root.path()))
        .flat_map(|job| below(job.path().join("journals")))
        .map(|journal| {
            fs::read_to_string(journal.path())
                .unwrap_or_default()
                .lines()
                .count()
        })
        .collect()
}

const COPIES: [&str; 4] = ["north", "east", "south", "west"];

/// Four equal cases, so that all four nodes are at work until the end.
fn cases(place: &Place) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/settings_loader");
    for copy in COPIES {
        let folder = place.folder("work/cases").join(copy);
        fs::create_dir_all(&folder).unwrap();
        for file in ["case.toml", "repro.py", "ideal.py"] {
            fs::copy(corpus.join(file), folder.join(file)).unwrap();
        }
    }
}

/// The figures that a bench has written.
fn figures(place: &Place, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(place.folder("work").join(name)).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn is_benched_as_here(place: &Place, nodes: &mut Nodes, python: &Path) {
    cases(place);
    let bench = |more: &[&str]| {
        let mut command = place.plain(&["bench", "--jobs", "2"]);
        command.args(more);
        in_reach(&mut command, place, python);
        command
    };
    let here = bench(&["cases/north", "--keep", "here", "--json", "here.json"]);
    let output = { here }.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let address = nodes.address.clone();
    let mut there = bench(&[
        "cases",
        "--keep",
        "there",
        "--json",
        "there.json",
        "--ray",
        &address,
    ]);
    let started = Instant::now();
    let running = there
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while journals(place).len() < COPIES.len() || journals(place).iter().any(|lines| *lines < 25) {
        assert!(
            started.elapsed() < Duration::from_mins(3),
            "{:?}",
            journals(place)
        );
        thread::sleep(Duration::from_millis(50));
    }
    nodes.kill_one();
    let output = running.wait_with_output().unwrap();
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{told}");
    assert_eq!(told.matches("was lost").count(), 1, "{told}");
    let result = |from: &str, name: &str| {
        let file = place.folder("work").join(from).join(format!("{name}.py"));
        fs::read(file).unwrap()
    };
    for copy in COPIES {
        assert_eq!(
            result("there", copy),
            result("here", "north"),
            "{copy}: {told}"
        );
    }
    let runs = |rows: &[Value]| -> Vec<u64> {
        rows.iter()
            .map(|row| row["runs"].as_u64().unwrap())
            .collect()
    };
    let usual = runs(&figures(place, "here.json"))[0];
    let mut found = runs(&figures(place, "there.json"));
    found.sort_unstable();
    tell(&format!(
        "four cases of {usual} runs on four nodes, one killed: {found:?} runs, {:.0} s",
        started.elapsed().as_secs_f64()
    ));
    // The one that was on the lost node went on with the journal that had come back.
    assert_eq!(found[1..], [usual; 3], "{told}");
    assert!(found[0] + 10 < usual, "{found:?} of {usual}: {told}");
}

/// The command lines of a plan.
fn writes(row: &Value) -> Vec<&Value> {
    let plan = row["plan"].as_array().unwrap();
    plan.iter().map(|write| &write["command"]).collect()
}

fn is_scrubbed_as_here(place: &Place, nodes: &Nodes, python: &Path) {
    let calm = Place::new(backlog(5));
    let here = scrub_all(&calm, &["--json"]).output().unwrap();
    let mut there = scrub_all(place, &["--json", "--post", "--ray", &nodes.address]);
    let there = in_reach(&mut there, place, python).output().unwrap();
    let told = stderr(&there);
    assert_eq!(there.status.code(), Some(0), "{told}");
    let (here, there) = (rows(&here), rows(&there));
    assert_eq!((here.len(), there.len()), (5, 5), "{told}");
    for (here, there) in here.iter().zip(&there) {
        let number = here["number"].as_u64().unwrap();
        assert_eq!(there["end"], ENDS[(number % 5) as usize], "{there}");
        for field in ["number", "state", "end", "confidence", "why", "doubts"] {
            assert_eq!(here[field], there[field], "{told}");
        }
        assert_eq!(here["cost"]["runs"], there["cost"]["runs"], "{told}");
        assert_eq!(writes(here), writes(there), "{told}");
    }
    let world = place.server.world.lock().unwrap();
    let wrong: Vec<String> = world.others.iter().filter_map(wrong_writes).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_bench_and_a_backlog_on_four_nodes_of_which_one_dies() {
    let name = "Ray";
    if !has_gh(name) {
        return;
    }
    let Some(python) = with_package("ray") else {
        skip(
            name,
            "Ray is not installed in `minrepro/ray-VERSION` in the cache folder",
        );
        return;
    };
    let place = Place::new(backlog(5));
    let mut nodes = Nodes::start(&place, &python, 4);
    is_scrubbed_as_here(&place, &nodes, &python);
    is_benched_as_here(&place, &mut nodes, &python);
}
