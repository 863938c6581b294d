//! Issues whose bug is there although the script passes here, once or often: none of them may be
//! closed. And what a fix is proven by.

use std::sync::LazyLock;

use serde_json::json;

use super::{
    faults::wrong_ones,
    flow::{BROKEN, FIXED, OLDER, Place, comment, has_gh, issue},
    server::World,
};

/// The log that an issue shows below its script.
const LOG: &str = "Traceback (most recent call last):\n  File \"x.py\", line 9, in <module>\n    \
     f()\nRuntimeError: the values went wrong here";

/// An issue in the usual form.
struct MadeUp {
    name: &'static str,
    title: &'static str,
    code: &'static str,
    /// Between script and log.
    text: &'static str,
    log: &'static str,
    versions: &'static str,
    comment: &'static str,
    label: &'static str,
}

const USUAL: MadeUp = MadeUp {
    name: "",
    title: "The values go wrong",
    code: "",
    text: "",
    log: LOG,
    versions: "PyTorch version: 2.0.0",
    comment: "",
    label: "",
};

impl MadeUp {
    fn world(&self) -> World {
        let log = if self.log.is_empty() {
            String::new()
        } else {
            format!("### Error logs\n\n```\n{}\n```\n\n", self.log)
        };
        let body = format!(
            "### 🐛 Describe the bug\n\n```python\nimport torch\n{}\n```\n\n{}\n\n{log}### Versions\n\n\
             {}\n",
            self.code, self.text, self.versions
        );
        let mut world = World::new(issue(self.title, &body));
        if !self.comment.is_empty() {
            world
                .comments
                .push(comment("bob", "NONE", "2026-09-03T00:00:00Z", self.comment));
        }
        if !self.label.is_empty() {
            world.issue["labels"] = json!([{"name": self.label}]);
        }
        world
    }
}

/// A script that raises the reported error if a condition holds.
macro_rules! raises {
    ($name:literal, $before:literal, $when:literal) => {
        MadeUp {
            name: $name,
            code: concat!(
                $before,
                "\nif ",
                $when,
                ":\n    raise RuntimeError('the values went wrong here')\nprint(torch.ones(2))"
            ),
            ..USUAL
        }
    };
}

/// The script of those of which the issue tells more than the script does.
const QUIET: &str = "x = torch.ones(3)\nprint(len(x), torch.stack([x]))";

fn by_chance() -> Vec<MadeUp> {
    vec![
        raises!("5 %", "import random", "random.random() < 0.05"),
        raises!("10 %", "import random", "random.random() < 0.10"),
        raises!("20 %", "from random import random", "random() < 0.20"),
        raises!("30 %", "import random as r", "r.randint(0, 9) < 3"),
        raises!("40 %", "import random", "random.random() < 0.40"),
        raises!("50 %", "import random", "random.random() < 0.50"),
        raises!("60 %", "import random", "random.random() < 0.60"),
        raises!("75 %", "import random", "random.random() < 0.75"),
        raises!("90 %", "import random", "random.random() < 0.90"),
        raises!(
            "the clock",
            "import time",
            "time.time_ns() // 1000 % 10 == 0"
        ),
        raises!("the process", "import os", "os.getpid() % 7 == 0"),
        raises!("bytes of the system", "import os", "os.urandom(1)[0] < 20"),
        raises!("an identifier", "import uuid", "uuid.uuid4().int % 12 == 0"),
        raises!("an address", "x = object()", "id(x) // 16 % 16 == 0"),
        raises!(
            "threads",
            "import threading, random\nt = threading.Thread(target=lambda: None)\nt.start()\nt.join()",
            "random.random() < 0.1"
        ),
        MadeUp {
            text: "It fails in about 5% of the runs.",
            ..raises!("a rate of 5 %", "import random", "random.random() < 0.05")
        },
        MadeUp {
            text: "1 in 10 runs fails.",
            ..raises!("one in ten", "import random", "random.random() < 0.1")
        },
        MadeUp {
            text: "This happens only sometimes.",
            code: QUIET,
            name: "sometimes, and nothing in the script says so",
            ..USUAL
        },
        MadeUp {
            title: "Intermittent failure of stack",
            code: QUIET,
            name: "intermittent, by the title",
            ..USUAL
        },
        MadeUp {
            comment: "For me it is flaky, I see it now and then.",
            code: QUIET,
            name: "flaky, by a comment",
            ..USUAL
        },
    ]
}

fn by_seed() -> Vec<MadeUp> {
    vec![
        raises!("four of six seeds", "h = hash('value')", "h % 6 > 1"),
        raises!("one of six seeds", "h = hash('value')", "h % 6 == 1"),
        raises!(
            "the order of a set",
            "names = list({'a', 'b', 'c', 'd'})",
            "names[0] == 'c'"
        ),
        raises!(
            "the order of a set that is built",
            "names = [x for x in set('abcdefgh')]",
            "names.index('a') < names.index('b')"
        ),
        raises!(
            "a set comprehension",
            "names = list({str(i) for i in range(9)})",
            "names[0] in '13'"
        ),
    ]
}

/// An issue whose script shows nothing by itself, with what sets it apart.
fn quiet(name: &'static str, change: fn(&mut MadeUp)) -> MadeUp {
    let mut made_up = MadeUp {
        name,
        code: QUIET,
        ..USUAL
    };
    change(&mut made_up);
    made_up
}

fn in_other_versions() -> Vec<MadeUp> {
    vec![
        quiet("a newer version", |made_up| {
            made_up.versions = "PyTorch version: 10.1.0";
        }),
        quiet("a newer version in words", |made_up| {
            made_up.text = "It fails on torch 10.1 and works on 9.9.9.";
            made_up.versions = "see above";
        }),
        quiet("a newer nightly", |made_up| {
            made_up.versions = "PyTorch version: 10.0.0.dev20260801+cpu";
        }),
        quiet("a newer version in a comment", |made_up| {
            made_up.comment = "It still fails with PyTorch 10.0.0 for me.";
        }),
        quiet("no version at all", |made_up| {
            made_up.versions = "the latest one";
        }),
        quiet("a newer Python", |made_up| {
            made_up.versions = "PyTorch version: 2.0.0\nPython version: 3.99.1 (main)";
        }),
        quiet("another system", |made_up| {
            made_up.versions = "PyTorch version: 2.0.0\nOS: Microsoft Windows 11 Pro";
        }),
    ]
}

fn on_other_devices() -> Vec<MadeUp> {
    vec![
        quiet("a device by its name", |made_up| {
            made_up.code = "x = torch.ones(3, device='cuda')\nprint(len(x), torch.stack([x]))";
        }),
        quiet("a device if there is one", |made_up| {
            made_up.code = "device = 'cuda' if torch.cuda.is_available() else 'cpu'\nx = \
                       torch.ones(3)\nprint(device, torch.stack([x]))";
        }),
        quiet("only on a card, by the text", |made_up| {
            made_up.text = "It fails only on GPU.";
        }),
        quiet("a card, by the title", |made_up| {
            made_up.title = "The values go wrong on CUDA";
        }),
        quiet("a card, by a label", |made_up| {
            made_up.label = "module: cuda";
        }),
        quiet("two ranks by torchrun", |made_up| {
            made_up.code = "import torch.distributed as dist\ndist.init_process_group('gloo')\nif \
                       dist.get_world_size() == 2:\n    raise RuntimeError('the values went wrong \
                       here')\nprint('done')";
            made_up.text = "Run it by `torchrun --nproc-per-node 2 x.py`.";
        }),
        quiet("two ranks, one of which fails", |made_up| {
            made_up.code = "import os\nimport torch.distributed as dist\ndist.init_process_group('gloo')\n\
                       if dist.get_rank() == 1:\n    raise RuntimeError('the values went wrong \
                       here')\nprint('done')";
        }),
        quiet("workers", |made_up| {
            made_up.code = "class Loader:\n    def __init__(self, num_workers=0):\n        \
                       self.num_workers = num_workers\nprint(Loader(num_workers=2).num_workers)";
        }),
    ]
}

fn of_another_source() -> Vec<MadeUp> {
    vec![
        quiet("the error of an aside", |made_up| {
            made_up.log = "";
            made_up.text = "Last year a colleague saw RuntimeError: the values went wrong here.";
        }),
        quiet("an error in the title alone", |made_up| {
            made_up.log = "";
            made_up.title = "RuntimeError: the values went wrong here";
        }),
        quiet("a wrong result in words", |made_up| {
            made_up.log = "";
            made_up.text = "The result is wrong.";
            made_up.code = "x = torch.ones(3)\nassert len(x) == 3\nprint(x)";
        }),
        quiet("the error of another snippet", |made_up| {
            made_up.log = "";
            made_up.text = "With a list it works. In our project it is\n\n```python\nmodel = \
                       build(config)\nmodel.run()\n```\n\n```\nTraceback (most recent call last):\n  \
                       File \"y.py\", line 2, in <module>\n    model.run()\nRuntimeError: the values \
                       went wrong here\n```";
        }),
        quiet("the error of a changed library", |made_up| {
            made_up.text = "To see it, check out https://example.com/o/r/pull/12 first.";
        }),
        quiet("the error of a changed script", |made_up| {
            made_up.log = "";
            made_up.text = "The result is wrong. If I comment out the last line, a new error \
                            emerges:\n\n```\nTraceback (most recent call last):\n  File \
                            \"y.py\", line 2, in <module>\nRuntimeError: the values went wrong \
                            here\n```";
        }),
    ]
}

/// Scripts that end well although the reported error shows, or that stop before it can.
fn by_handlers() -> Vec<MadeUp> {
    vec![
        MadeUp {
            name: "an error that is handled",
            code: "try:\n    raise RuntimeError('the values ' + 'went wrong here')\n\
                   except RuntimeError:\n    print('failed')",
            ..USUAL
        },
        MadeUp {
            name: "an error that is suppressed",
            code: "import contextlib\nwith contextlib.suppress(RuntimeError):\n    \
                   raise RuntimeError('the values ' + 'went wrong here')",
            ..USUAL
        },
        MadeUp {
            name: "the second run fails",
            code: "import os\nif os.path.isfile('state.txt'):\n    \
                   raise RuntimeError('the values ' + 'went wrong here')\nopen('state.txt', 'w')",
            ..USUAL
        },
        quiet("run it twice, by the text", |made_up| {
            made_up.text = "You need to run this code twice to see the error.";
        }),
        MadeUp {
            name: "no argument for the crash",
            title: "stack crashes",
            code: "import sys\ntorch.stack([int(sys.argv[1])])",
            log: "Segmentation fault (core dumped)",
            ..USUAL
        },
    ]
}

static ALL: LazyLock<Vec<MadeUp>> = LazyLock::new(|| {
    by_chance()
        .into_iter()
        .chain(by_seed())
        .chain(in_other_versions())
        .chain(on_other_devices())
        .chain(of_another_source())
        .chain(by_handlers())
        .collect()
});

/// A script that passes in version 9.9.9 and failed in 2.0.0.
const FIXED_BODY: MadeUp = MadeUp {
    name: "fixed",
    code: "x = torch.ones(3)\nprint(len(x))\ntorch.stack([x])",
    log: "Traceback (most recent call last):\n  File \"x.py\", line 4, in <module>\n    \
          torch.stack([x])\nRuntimeError: stack expects a non-empty TensorList of things",
    ..USUAL
};

fn scrubbed(made_up: &MadeUp, python: &std::path::Path, args: &[&str]) -> (Place, String) {
    let place = Place::new(made_up.world());
    let output = place.run(python, args);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (place, stderr)
}

#[test]
fn a_fix_is_told_by_the_versions_that_show_it() {
    if !has_gh("fixes") {
        return;
    }
    let body = |place: &Place| {
        let world = place.server.world.lock().unwrap();
        let body = world.comments.last().map(|comment| comment["body"].clone());
        let body = body.and_then(|body| body.as_str().map(str::to_owned));
        (body.unwrap_or_default(), world.issue["state"] == "closed")
    };
    // By itself a clean script proves nothing, whatever the user accepts.
    let (place, stderr) = scrubbed(&FIXED_BODY, &FIXED, &["--post", "--accept-fix"]);
    assert_eq!(body(&place), (String::new(), false), "{stderr}");
    assert_eq!(place.report()["end"], "Inconclusive", "{stderr}");
    assert!(stderr.contains("no older version was run"), "{stderr}");
    let old = OLDER.clone();
    let new = format!("9.9.9={}", FIXED.display());
    let newer = format!("10.5.0={}", BROKEN.display());
    // With an older version, it does, also where the report was only words.
    let told = MadeUp {
        log: "",
        title: "RuntimeError: stack expects a non-empty TensorList of things",
        versions: "",
        ..FIXED_BODY
    };
    for (made_up, others) in [(&FIXED_BODY, vec![&old, &new]), (&told, vec![&old])] {
        let mut args = vec!["--post"];
        args.extend(
            others
                .iter()
                .flat_map(|env| ["--interpreter", env.as_str()]),
        );
        let (place, stderr) = scrubbed(made_up, &FIXED, &args);
        let (text, is_closed) = body(&place);
        assert!(
            is_closed
                && text.contains("The bug is in PyTorch 2.0.0 and not in PyTorch 9.9.9.")
                && text.contains("fixed in PyTorch 9.9.9")
                && text.contains("7 runs do not show it")
                && text.contains("on CPU with Python 3"),
            "{text}{stderr}"
        );
    }
    // Broken later is not fixed.
    let (place, stderr) = scrubbed(&FIXED_BODY, &FIXED, &["--post", "--interpreter", &newer]);
    let (text, is_closed) = body(&place);
    assert!(!is_closed && text.is_empty(), "{text}{stderr}");
    assert_eq!(place.report()["end"], "Inconclusive", "{stderr}");
    assert!(stderr.contains("10.5.0 shows the bug"), "{stderr}");
    // An older version as the control, and a device that is missing: somebody is asked.
    let device = MadeUp {
        text: "It fails only on GPU.",
        ..FIXED_BODY
    };
    let (place, stderr) = scrubbed(&device, &FIXED, &["--post", "--interpreter", &old]);
    assert_eq!(place.report()["end"], "NeedsHardware", "{stderr}");
    assert!(stderr.contains("--accept-fix"), "{stderr}");
    let (place, stderr) = scrubbed(
        &device,
        &FIXED,
        &["--post", "--accept-fix", "--interpreter", &old],
    );
    assert!(body(&place).1, "{stderr}");
}

#[test]
fn a_version_without_the_bug_is_the_control_of_the_minimization() {
    if !has_gh("controls of minimization") {
        return;
    }
    let made_up = MadeUp {
        title: "stack fails",
        code: "import os\n\ndef rows(count):\n    print(os.getpid())\n    return \
               [torch.ones(count)]\n\nx = rows(3)\nprint(len(x))\ntorch.stack(x)",
        ..FIXED_BODY
    };
    let new = format!("9.9.9={}", FIXED.display());
    let (place, stderr) = scrubbed(&made_up, &BROKEN, &["--post", "--interpreter", &new]);
    assert_eq!(place.report()["end"], "Minimized", "{stderr}");
    assert!(
        stderr.contains("control: the script succeeds under `--good"),
        "{stderr}"
    );
    let world = place.server.world.lock().unwrap();
    let body = world.comments[0]["body"].as_str().unwrap();
    assert!(
        world.issue["state"] == "open"
            && body.contains("still reproduces on PyTorch 2.0.0")
            && body.contains("The bug is in PyTorch 2.0.0 and not in PyTorch 9.9.9.")
            && body.contains("Minimized repro"),
        "{body}"
    );
}

#[test]
fn a_crash_that_is_an_error_today_is_an_end_of_its_own() {
    if !has_gh("crashes") {
        return;
    }
    let crash = MadeUp {
        title: "Segmentation fault in crash",
        code: "x = torch.ones(3)\nprint(len(x))\ntorch.crash(x)",
        log: "Segmentation fault (core dumped)",
        ..USUAL
    };
    let (place, stderr) = scrubbed(&crash, &FIXED, &["--post"]);
    assert_eq!(place.report()["end"], "FailsProperly", "{stderr}");
    {
        let world = place.server.world.lock().unwrap();
        let body = world.comments[0]["body"].as_str().unwrap();
        assert!(
            body.contains("no longer happens")
                && body.contains("RuntimeError: this cannot be done with a list")
                && world.issue["state"] == "open",
            "{body}"
        );
    }
    let old = OLDER.clone();
    let (place, stderr) = scrubbed(&crash, &FIXED, &["--post", "--interpreter", &old]);
    assert_eq!(place.report()["end"], "FailsProperly", "{stderr}");
    let world = place.server.world.lock().unwrap();
    assert!(
        world.issue["state"] == "closed"
            && world.comments[0]["body"]
                .to_string()
                .contains("fixed in PyTorch 9.9.9"),
        "{stderr}"
    );
    drop(world);
    // Where it still crashes, it is the bug.
    let (place, stderr) = scrubbed(&crash, &BROKEN, &["--dry-run"]);
    assert_eq!(place.report()["end"], "AlreadyMinimal", "{stderr}");
}

#[test]
fn what_changed_meanwhile_stops_the_writes() {
    if !has_gh("meanwhile") {
        return;
    }
    for (change, told) in [
        (
            (|world: &mut World| world.issue["state"] = "closed".into()) as fn(&mut World),
            "was closed meanwhile",
        ),
        (
            |world| world.issue["locked"] = true.into(),
            "was locked meanwhile",
        ),
        (
            |world| {
                world.comments.push(comment(
                    "ann",
                    "MEMBER",
                    "2026-09-04T00:00:00Z",
                    "I have a fix.",
                ));
            },
            "ann commented meanwhile",
        ),
        (
            |world| world.issue["body"] = "never mind".into(),
            "was edited meanwhile",
        ),
        (
            |world| world.issue["labels"] = json!([{"name": "triaged"}]),
            "labels were changed meanwhile",
        ),
    ] {
        let place = Place::new(FIXED_BODY.world());
        place.server.world.lock().unwrap().meanwhile = Some(change);
        let output = place.run(&FIXED, &["--post", "--interpreter", &OLDER]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.code() == Some(5) && stderr.contains(told),
            "{told}: {stderr}"
        );
        let calls = place.server.calls();
        assert!(
            !calls.iter().any(|call| {
                call.starts_with("add") || call.starts_with("close") || call.starts_with("remove")
            }),
            "{calls:#?}"
        );
    }
}

#[test]
fn no_issue_is_closed_whose_bug_is_there() {
    if !has_gh("made-up issues") {
        return;
    }
    assert!(ALL.len() >= 40, "{}", ALL.len());
    let step = if std::env::var_os("MINREPRO_TEST_UNFIXED").is_none() {
        2
    } else {
        1
    };
    let wrong = wrong_ones(ALL.iter().step_by(step).collect(), |made_up| {
        let place = Place::new(made_up.world());
        let output = place.run(&FIXED, &["--post"]);
        let world = place.server.world.lock().unwrap();
        let says_fixed = world
            .comments
            .iter()
            .any(|comment| comment["body"].to_string().contains("no longer reproduces"));
        let end = place.report_if_any()["end"].clone();
        let is_settled = end == "Inconclusive"
            || end == "DifferentError"
            || end == "NeedsHardware"
            || end == "AlreadyMinimal"
            || end == "Minimized";
        (world.issue["state"] == "closed" || says_fixed || !is_settled).then(|| {
            format!(
                "{}: {end} {:?}\n{}",
                made_up.name,
                output.status.code(),
                String::from_utf8_lossy(&output.stderr)
            )
        })
    });
    assert!(
        wrong.is_empty(),
        "{} of {}:\n{}",
        wrong.len(),
        ALL.len(),
        wrong.join("\n=====\n")
    );
}

#[test]
fn a_message_that_the_script_prints_is_the_reported_failure() {
    if !has_gh("a printed message") {
        return;
    }
    let made_up = MadeUp {
        code: "try:\n    raise RuntimeError('the values ' + 'went wrong here')\n\
               except RuntimeError as error:\n    print('failed:', error)",
        ..USUAL
    };
    let (place, text) = scrubbed(&made_up, &FIXED, &["--dry-run"]);
    let report = place.report_if_any();
    assert_eq!(
        report["ran_with"]["same"], report["ran_with"]["of"],
        "{text}"
    );
    assert!(
        text.contains("handles the exception itself and prints it"),
        "{text}"
    );
}
