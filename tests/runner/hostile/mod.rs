//! Programs that try to do harm, each against something set up outside of it, by every way of
//! running them. What stands outside must be as it was, and the next run must work.

mod outside;
mod scripts;

use std::{fs, io::Write, os::unix::fs::PermissionsExt, path::Path, time::Duration};

use minrepro::runner::{Confinement, End, Job, Runner, Sandbox, Start};

use self::{
    outside::Outside,
    scripts::{Needs, PRELUDE, SCRIPTS},
};
use super::LIMITS;
use crate::support::skip;

/// Size of the shared memory of a run, in bytes.
const SHARED_MEMORY: u64 = LIMITS.memory / 2;

/// A way of running programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Each in an interpreter of its own, in namespaces.
    Cold,
    /// Each forked from an interpreter, in namespaces.
    Warm,
    /// Cold, where user namespaces are forbidden.
    ColdUnderLandlock,
    /// Warm, where user namespaces are forbidden.
    WarmUnderLandlock,
    /// Not confined.
    Free,
}

impl Kind {
    fn is_warm(self) -> bool {
        matches!(self, Self::Warm | Self::WarmUnderLandlock)
    }

    fn confinement(self) -> Confinement {
        match self {
            Self::Cold | Self::Warm => Confinement::Namespaces { landlock: true },
            Self::ColdUnderLandlock | Self::WarmUnderLandlock => Confinement::Landlock,
            Self::Free => Confinement::Off,
        }
    }

    fn withstands(self, needs: Needs) -> bool {
        match needs {
            Needs::Any | Needs::Shown | Needs::Limits => true,
            Needs::Namespaces | Needs::NamespacesShown => self.confinement().is_whole(),
        }
    }
}

/// Runs programs one after the other. What each printed, and what a plain one printed thereafter.
type Run = Box<dyn Fn(&str) -> (String, String)>;

/// Nothing where this system cannot confine like that.
fn runs(kind: Kind) -> Option<Run> {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = super::setup(folder.path(), 1);
    if kind.confinement() == Confinement::Landlock {
        setup.supervisor = without_namespaces(folder.path());
    }
    setup.sandbox = if kind == Kind::Free {
        Sandbox::Off
    } else {
        Sandbox::Auto
    };
    let runner = Runner::start(setup).unwrap();
    if runner.confinement() != kind.confinement() {
        return None;
    }
    let run = move |source: &str, seconds| {
        // The folder stays as long as there are runs.
        assert!(folder.path().exists());
        let start = if kind.is_warm() {
            Start::Warm
        } else {
            Start::Cold
        };
        let job = Job {
            start,
            ..Job::new(source.as_bytes().into(), Duration::from_secs(seconds))
        };
        let outcome = runner.run_all(&[job], &mut |_, _| {}).unwrap().remove(0);
        if kind.is_warm() {
            assert_eq!(runner.why_cold(), None, "{source}");
        }
        format!("{}{}", outcome.stdout.text(), outcome.stderr.text())
    };
    Some(Box::new(move |source| {
        (run(source, 5), run("print(1)\n", 20))
    }))
}

/// A minrepro that may make no user namespaces.
fn without_namespaces(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("minrepro");
    let text = format!(
        "#!/bin/sh\nexec unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; exec {} \
         supervise'\n",
        env!("CARGO_BIN_EXE_minrepro")
    );
    fs::File::create(&path)
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Everything that did not stand a script.
fn broken_by(run: &Run, needs: Needs, source: &str) -> Vec<String> {
    let outside = Outside::new();
    let places = outside.places(SHARED_MEMORY);
    let (said, next) = run(&format!(
        "OUTSIDE = {places:?}\n{PRELUDE}{source}\nprint('tried')\n"
    ));
    let mut faults = outside.changes();
    if said.contains("ESCAPED") {
        faults.push(said.clone());
    }
    // What it comes to when it kills itself or passes a limit says nothing.
    let ends_early = needs == Needs::Limits || source.contains("kill");
    if !ends_early && !said.contains("tried\n") {
        faults.push(format!("the script is broken: {said}"));
    }
    if next != "1\n" {
        faults.push(format!("the next run: {next}"));
    }
    faults
}

fn withstands_all(kind: Kind) {
    let Some(run) = runs(kind) else {
        return skip(
            "hostile programs",
            &format!("{kind:?} is not to be had on this system"),
        );
    };
    let mut faults = Vec::new();
    for (name, needs, source) in SCRIPTS {
        if kind.withstands(*needs) {
            let broken = broken_by(&run, *needs, source);
            faults.extend(broken.into_iter().map(|fault| format!("{name}: {fault}")));
        }
    }
    assert!(faults.is_empty(), "{kind:?}\n{}", faults.join("\n"));
}

#[test]
fn cold_runs_do_no_harm() {
    withstands_all(Kind::Cold);
}

#[test]
fn warm_runs_do_no_harm() {
    withstands_all(Kind::Warm);
}

#[test]
fn cold_runs_under_landlock_alone_do_no_harm() {
    withstands_all(Kind::ColdUnderLandlock);
}

#[test]
fn warm_runs_under_landlock_alone_do_no_harm() {
    withstands_all(Kind::WarmUnderLandlock);
}

#[test]
fn the_traps_outside_catch_unconfined_runs() {
    let run = runs(Kind::Free).unwrap();
    for (name, needs, source) in SCRIPTS {
        if matches!(needs, Needs::Shown | Needs::NamespacesShown) {
            let broken = broken_by(&run, *needs, source);
            assert!(!broken.is_empty(), "{name}");
        }
    }
}

#[test]
fn evidence_is_read_from_a_regular_file_of_a_limited_size_alone() {
    let bench = super::Bench::new();
    for (what, is_read) in [
        ("pass", true),
        ("os.remove(path); os.mkfifo(path)", false),
        ("os.remove(path); os.symlink('/dev/zero', path)", false),
        ("os.truncate(path, 1 << 25)", false),
    ] {
        let source = format!(
            "import atexit, os\npath = os.path.abspath('../trace.json')\ndef last():\n    {what}\n\
             atexit.register(last)\n"
        );
        let mut job = Job::new(source.as_bytes().into(), Duration::from_secs(20));
        job.traced = true;
        let mut outcomes = bench.runner.run_all(&[job], &mut |_, _| {}).unwrap();
        let outcome = outcomes.remove(0);
        assert_eq!(
            outcome.end,
            End::Exit(0),
            "{what}: {}",
            outcome.stderr.text()
        );
        assert_eq!(outcome.trace.is_some(), is_read, "{what}");
    }
}
