//! The whole flow with the real binary and the real `gh`, against a GitHub of the tests' own: an
//! issue for each end, with the exact calls in their order.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
    sync::{LazyLock, Mutex},
    time::Duration,
};

use serde_json::{Value, json};

use super::server::{Server, World};
use crate::support::{command, interpreters, newest, skip};

/// Whether `gh` is there; says so if not.
pub(super) fn has_gh(test: &str) -> bool {
    let found = command("gh")
        .arg("--version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !found {
        skip(test, "`gh` is not installed");
    }
    found && newest().is_some()
}

/// One is made at a time.
static MAKING: Mutex<()> = Mutex::new(());

/// An interpreter with a package named `torch` of the tests' own making: version 9.9.9.
pub(super) fn with_torch(version: &str) -> PathBuf {
    let minor = interpreters().last_key_value().unwrap().0;
    // Broken until version 3.
    let text = format!(
        "import os\n__version__ = '{version}'\ndef ones(n, device='cpu'):\n    if device == \
         'cuda':\n        raise AssertionError('Torch not compiled with CUDA enabled')\n    return \
         [1] * n\ndef stack(x):\n    if int(__version__[0]) < 3:\n        raise \
         RuntimeError('stack expects a non-empty TensorList of things')\n    return x\n\
         def crash(x):\n    if int(__version__[0]) < 3:\n        os.kill(os.getpid(), 11)\n    \
         raise RuntimeError('this cannot be done with a list')\n\
         class cuda:\n    @staticmethod\n    def is_available():\n        return False\n"
    );
    let distributed = "import os\ndef init_process_group(backend):\n    pass\n\
         def get_rank():\n    return int(os.environ['RANK'])\n\
         def get_world_size():\n    return int(os.environ['WORLD_SIZE'])\n";
    let mut hasher = std::hash::DefaultHasher::new();
    std::hash::Hash::hash(&(&text, distributed), &mut hasher);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!(
        "torch-{version}-python-3.{minor}-{:x}",
        std::hash::Hasher::finish(&hasher)
    ));
    let python = folder.join("bin/python");
    let _held = MAKING.lock();
    if !folder.join("made").exists() {
        let made = command(newest().unwrap())
            .args(["-m", "venv", "--without-pip"])
            .arg(&folder)
            .status()
            .unwrap();
        assert!(made.success());
        let lib = fs::read_dir(folder.join("lib"))
            .unwrap()
            .flatten()
            .next()
            .unwrap()
            .path();
        let package = lib.join("site-packages/torch");
        fs::create_dir_all(&package).unwrap();
        for (name, text) in [
            ("__init__.py", text.as_str()),
            ("distributed.py", distributed),
        ] {
            std::io::Write::write_all(
                &mut fs::File::create(package.join(name)).unwrap(),
                text.as_bytes(),
            )
            .unwrap();
        }
        fs::File::create(folder.join("made")).unwrap();
    }
    python
}

pub(super) static BROKEN: LazyLock<PathBuf> = LazyLock::new(|| with_torch("2.0.0"));
pub(super) static FIXED: LazyLock<PathBuf> = LazyLock::new(|| with_torch("9.9.9"));
/// The value of `--interpreter` by which the broken version is the control of the other.
pub(super) static OLDER: LazyLock<String> = LazyLock::new(|| format!("2.0.0={}", BROKEN.display()));

/// The bug of the package above, with noise around it.
pub(super) const BODY: &str = "### 🐛 Describe the bug\n\n```python\nimport torch\nimport os\n\n\
     class Noise:\n    def __init__(self, size):\n        self.size = size\n        self.items = \
     torch.ones(size)\n\n    def run(self):\n        print(len(self.items))\n        values = [x \
     for x in self.items if x > 2]\n        return torch.stack(values)\n\nnoise = Noise(4)\n\
     print(os.getpid())\nnoise.run()\n```\n\n### Error logs\n\n```\n\
     Traceback (most recent call last):\n  File \"x.py\", line 17, in <module>\n    noise.run()\n\
     RuntimeError: stack expects a non-empty TensorList of things\n```\n\n### Versions\n\n\
     PyTorch version: 2.0.0\n";

pub(super) fn issue(title: &str, body: &str) -> Value {
    json!({
        "number": 7, "node_id": "I_7", "title": title, "body": body, "state": "open", "state_reason": null, "locked": false,
        "user": {"login": "op", "type": "User"}, "author_association": "NONE", "labels": [], "assignees": [],
        "created_at": "2026-09-01T00:00:00Z", "updated_at": "2026-09-01T00:00:00Z",
    })
}

pub(super) fn comment(author: &str, association: &str, created: &str, body: &str) -> Value {
    json!({"body": body, "user": {"login": author, "type": "User"}, "author_association": association, "created_at": created})
}

/// A folder, a GitHub and a home.
pub(super) struct Place {
    pub(super) root: tempfile::TempDir,
    pub(super) server: Server,
}

impl Place {
    pub(super) fn new(world: World) -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["work", "home", "tmp", "gh", "run"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        let server = Server::start(&root.path().join("gh"), world);
        Self { root, server }
    }

    pub(super) fn folder(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    pub(super) fn command(&self, python: &Path, args: &[&str]) -> std::process::Command {
        self.command_for(&["7", "--repo", "o/r"], python, args)
    }

    pub(super) fn command_for(
        &self,
        issue: &[&str],
        python: &Path,
        args: &[&str],
    ) -> std::process::Command {
        let mut command = self.plain(&["scrub"]);
        command.args(issue).arg("--python").arg(python).args(args);
        command
    }

    /// Any verb, with this GitHub.
    pub(super) fn plain(&self, args: &[&str]) -> std::process::Command {
        let mut command = command(env!("CARGO_BIN_EXE_minrepro"));
        command
            .args(args)
            .current_dir(self.folder("work"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder("home"))
            .env("XDG_RUNTIME_DIR", self.folder("run"))
            .env("TMPDIR", self.folder("tmp"))
            .envs(self.server.environment());
        command
    }

    pub(super) fn run(&self, python: &Path, args: &[&str]) -> Output {
        self.command(python, args).output().unwrap()
    }

    pub(super) fn report_if_any(&self) -> Value {
        let text = fs::read_to_string(self.folder("work/scrub-7/report.json"));
        text.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap())
    }

    pub(super) fn report(&self) -> Value {
        serde_json::from_str(&fs::read_to_string(self.folder("work/scrub-7/report.json")).unwrap())
            .unwrap()
    }
}

/// The calls, those made at the same time in the order of their names.
pub(super) fn in_order(calls: &[String]) -> Vec<String> {
    let mut calls = calls.to_vec();
    for at in 1..calls.len() {
        if calls[at] == "GET issues/7" && calls[at - 1].starts_with("GET issues/7/comments") {
            calls.swap(at - 1, at);
        }
    }
    calls
}

const READ: [&str; 2] = ["GET issues/7", "GET issues/7/comments"];

/// A comment, then its check.
fn commented() -> Vec<&'static str> {
    [["find issue", "add comment"].as_slice(), READ.as_slice()].concat()
}

fn labelled(calls: &[&'static str]) -> Vec<&'static str> {
    [
        ["find issue", "list labels"].as_slice(),
        calls,
        READ.as_slice(),
    ]
    .concat()
}

struct Scenario {
    end: &'static str,
    world: World,
    python: &'static Path,
    args: Vec<&'static str>,
    status: i32,
    calls: Vec<&'static str>,
    labels: Vec<&'static str>,
    is_closed: bool,
}

fn scenario(end: &'static str, title: &str, body: &str) -> Scenario {
    Scenario {
        end,
        world: World::new(issue(title, body)),
        python: &BROKEN,
        args: vec!["--post"],
        status: 0,
        calls: READ.to_vec(),
        labels: Vec::new(),
        is_closed: false,
    }
}

/// Adds the calls that label an issue.
fn refreshed(calls: &mut Vec<&'static str>) {
    calls.push("ask subscription");
    calls.extend(READ);
    calls.extend(labelled(&["add labels"]));
    calls.push("ask subscription");
}

/// The body of an issue with a script.
fn code(text: &str) -> String {
    format!("```python\n{text}\n```\nRuntimeError: this is what fails")
}

/// One scenario for each end, side by side.
fn scenarios() -> Vec<Scenario> {
    let mut all = ends_of_reading();
    all.extend(ends_without_a_script());
    all.extend(ends_of_running());
    all
}

/// The ends that the issue alone decides.
fn ends_of_reading() -> Vec<Scenario> {
    let mut all = Vec::new();

    let mut it = scenario("ClosedAlready", "Closed", BODY);
    it.world.issue["state"] = "closed".into();
    it.world.issue["state_reason"] = "completed".into();
    it.is_closed = true;
    all.push(it);

    let mut it = scenario("Duplicate", "Twice told", BODY);
    it.world.comments.push(comment(
        "ann",
        "MEMBER",
        "2026-09-02T00:00:00Z",
        "Duplicate of #3",
    ));
    refreshed(&mut it.calls);
    it.labels = vec!["triaged"];
    all.push(it);

    let mut it = scenario("NotABug", "[Feature Request] More of it", "Please.");
    refreshed(&mut it.calls);
    it.labels = vec!["feature"];
    all.push(it);

    let mut it = scenario("Tracker", "[Tracker] All of it", "- one\n- two");
    refreshed(&mut it.calls);
    it.labels = vec!["tracker"];
    all.push(it);

    let mut it = scenario(
        "NeedsHardware",
        "Wrong on MPS",
        &code("import torch\ntorch.ones(2, device='mps').sum()"),
    );
    refreshed(&mut it.calls);
    it.status = 5;
    it.labels = vec!["triaged"];
    all.push(it);

    let mut it = scenario("NeedsRepro", "It is slow", "Since yesterday.");
    refreshed(&mut it.calls);
    it.labels = vec!["needs reproduction"];
    all.push(it);

    let mut it = scenario("ImageOnly", "It fails", "![shot](https://x/y.png)");
    refreshed(&mut it.calls);
    it.labels = vec!["needs reproduction"];
    all.push(it);

    let mut it = scenario(
        "MissingPackages",
        "It fails",
        &code("import torch\nimport no_such_package_here\nno_such_package_here.f()"),
    );
    it.calls.push("GET collaborators/op");
    refreshed(&mut it.calls);
    it.status = 5;
    it.labels = vec!["triaged"];
    all.push(it);

    let mut it = scenario(
        "SecurityConcern",
        "It fails",
        &code("import os, torch\nos.system('ls')\ntorch.stack([])"),
    );
    it.world.issue["labels"] = json!([{"name": "triaged"}]);
    it.calls.push("ask subscription");
    it.calls.extend(READ);
    it.calls.extend(labelled(&["remove labels"]));
    it.calls.extend(labelled(&["add labels"]));
    it.calls.push("ask subscription");
    it.status = 6;
    it.labels = vec!["triaged"];
    all.push(it);

    let mut it = scenario("RecentlyVerified", "stack fails", BODY);
    let recent = humantime_days_ago(20);
    it.world.comments.push(comment(
        "ann",
        "MEMBER",
        &recent,
        "This still repros on main abcdef",
    ));
    it.calls.push("GET collaborators/op");
    refreshed(&mut it.calls);
    it.labels = vec!["triaged"];
    all.push(it);

    all
}

/// The ends of issues that no Python script shows.
fn ends_without_a_script() -> Vec<Scenario> {
    let mut all = Vec::new();

    let mut it = scenario(
        "NeedsMeasuring",
        "ones became slower",
        "```python\nimport torch\ntorch.ones(9)\n```",
    );
    refreshed(&mut it.calls);
    it.labels = vec!["triaged"];
    all.push(it);

    let mut it = scenario(
        "NotPython",
        "Building from source fails",
        "Since yesterday.",
    );
    refreshed(&mut it.calls);
    it.labels = vec!["triaged"];
    all.push(it);

    // Nobody is there to ask, so nothing is written.
    all.push(scenario("Unrelated", "Best shoes", "Visit our shop."));
    all
}

/// The ends that runs of the script decide.
fn ends_of_running() -> Vec<Scenario> {
    let mut all = Vec::new();

    let mut it = scenario("DoesNotReproduce", "stack fails", BODY);
    it.python = &FIXED;
    it.args.extend(["--interpreter", OLDER.as_str()]);
    it.status = 1;
    it.calls
        .extend(["GET collaborators/op", "ask subscription"]);
    it.calls.extend(READ);
    it.calls.extend(commented());
    it.calls.extend(["find issue", "close COMPLETED"]);
    it.calls.extend(READ);
    it.is_closed = true;
    all.push(it);

    let mut it = scenario(
        "DifferentError",
        "It fails",
        &code("import torch\nprint('x')\nraise KeyError('something else')"),
    );
    it.calls.push("GET collaborators/op");
    refreshed(&mut it.calls);
    it.status = 1;
    it.labels = vec!["triaged"];
    all.push(it);

    let mut it = scenario("Minimized", "stack fails", BODY);
    it.world.issue["labels"] = json!([{"name": "needs reproduction"}]);
    it.world.delay = Duration::from_millis(1500);
    it.world.may_ask = false;
    it.world.issue["author_association"] = "MEMBER".into();
    it.calls
        .extend(["GET collaborators/op", "ask subscription"]);
    it.calls.extend(READ);
    it.calls.extend(commented());
    it.calls.extend(labelled(&["remove labels"]));
    // Not yet, not yet, now.
    it.calls.extend([
        "ask subscription",
        "ask subscription",
        "ask subscription",
        "set subscription UNSUBSCRIBED",
    ]);
    all.push(it);

    let mut it = scenario(
        "AlreadyMinimal",
        "stack fails",
        "```python\nimport torch\ntorch.stack([])\n```\n\
         RuntimeError: stack expects a non-empty TensorList of things",
    );
    it.calls
        .extend(["GET collaborators/op", "ask subscription"]);
    it.calls.extend(READ);
    it.calls.extend(commented());
    it.calls
        .extend(["ask subscription", "set subscription UNSUBSCRIBED"]);
    all.push(it);
    all
}

fn humantime_days_ago(days: u64) -> String {
    let then = std::time::SystemTime::now() - Duration::from_secs(86_400 * days);
    let output = command("date")
        .args([
            "-u",
            "+%Y-%m-%dT%H:%M:%SZ",
            "-d",
            &format!(
                "@{}",
                then.duration_since(std::time::UNIX_EPOCH)
                    .unwrap()
                    .as_secs()
            ),
        ])
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn every_end_is_reached_by_the_right_calls_in_the_right_order() {
    if !has_gh("every end") {
        return;
    }
    let mut wrong = Vec::new();
    let scenarios = scenarios();
    assert_eq!(scenarios.len(), 17);
    for scenario in scenarios {
        let place = Place::new(scenario.world);
        let output = place.run(scenario.python, &scenario.args);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let calls = in_order(&place.server.calls());
        let end = fs::read_to_string(place.folder("work/scrub-7/report.json"))
            .map(|_| place.report()["end"].clone());
        let world = place.server.world.lock().unwrap();
        let is_closed = world.issue["state"] == "closed";
        let expected_subscription = if is_closed && scenario.calls.len() > 2 {
            "whatever"
        } else {
            "UNSUBSCRIBED"
        };
        let fits = end.as_ref().is_ok_and(|end| *end == scenario.end)
            && output.status.code() == Some(scenario.status)
            && squeezed(&calls)
                == squeezed(
                    &scenario
                        .calls
                        .iter()
                        .map(|label| (*label).to_owned())
                        .collect::<Vec<_>>(),
                )
            && world.label_names() == scenario.labels
            && is_closed == scenario.is_closed
            && (expected_subscription == "whatever" || world.subscription == expected_subscription);
        if !fits {
            wrong.push(format!(
                "{}: {end:?}, status {:?}, labels {:?}, subscription {}\ncalls {calls:#?}\n\
                 expected {:#?}\n{stderr}",
                scenario.end,
                output.status.code(),
                world.label_names(),
                world.subscription,
                scenario.calls
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n=====\n"));
}

/// How often it was asked whether GitHub has subscribed the writer depends on the clock alone.
fn squeezed(calls: &[String]) -> Vec<String> {
    let mut calls = calls.to_vec();
    calls.dedup_by(|next, before| next == "ask subscription" && before == "ask subscription");
    calls
}
