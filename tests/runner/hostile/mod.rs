//! Programs that try to do harm, each against something set up outside of it, by every way of running them. What stands
//! outside must be as it was, and the next run must work.

mod outside;
mod scripts;

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::{
        fd::OwnedFd,
        unix::{fs::PermissionsExt, net::UnixStream},
    },
    path::Path,
    time::Duration,
};

use minrepro::runner::{Confinement, Interpreter, Job, Runner, Sandbox};

use self::{
    outside::Outside,
    scripts::{Needs, PRELUDE, SCRIPTS},
};
use super::LIMITS;
use crate::support::{command, skip};

/// Size of the shared memory of a run, in bytes.
const SHARED_MEMORY: u64 = LIMITS.memory / 2;

/// A way of running programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Each in a process of its own, in namespaces.
    Cold,
    /// The same where user namespaces are forbidden.
    LandlockAlone,
    /// Forked from an interpreter that was started in namespaces, by `confine.py`.
    Nested,
    /// The same where user namespaces are forbidden.
    NestedInLandlock,
    /// Not confined.
    Free,
}

impl Kind {
    fn withstands(self, needs: Needs) -> bool {
        match needs {
            Needs::Any | Needs::Shown => true,
            Needs::Namespaces | Needs::NamespacesShown => matches!(self, Self::Cold | Self::Nested),
            Needs::Limits => matches!(self, Self::Cold | Self::LandlockAlone),
        }
    }
}

/// Runs programs one after the other. What each printed, and what a plain one printed thereafter.
type Run = Box<dyn Fn(&str) -> (String, String)>;

/// Nothing where this system can not confine like that.
fn cold(kind: Kind) -> Option<Run> {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = super::setup(folder.path(), 1);
    if matches!(kind, Kind::LandlockAlone | Kind::NestedInLandlock) {
        setup.supervisor = without_namespaces(folder.path());
    }
    setup.sandbox = if kind == Kind::Free { Sandbox::Off } else { Sandbox::Auto };
    let runner = Runner::start(setup).unwrap();
    let wanted = match kind {
        Kind::Cold | Kind::Nested => Confinement::Namespaces { landlock: true },
        Kind::LandlockAlone | Kind::NestedInLandlock => Confinement::Landlock,
        Kind::Free => Confinement::Off,
    };
    if runner.confinement() != wanted {
        return None;
    }
    let run = move |source: &str, seconds| {
        // The folder stays as long as there are runs.
        assert!(folder.path().exists());
        let job = Job::new(source.as_bytes().into(), Duration::from_secs(seconds));
        let outcome = runner.run_all(&[job], &mut |_, _| {}).unwrap().remove(0);
        format!("{}{}", outcome.stdout.text(), outcome.stderr.text())
    };
    Some(Box::new(move |source| (run(source, 5), run("print(1)\n", 20))))
}

/// A minrepro that may make no user namespaces.
fn without_namespaces(folder: &Path) -> std::path::PathBuf {
    let path = folder.join("minrepro");
    let text = format!(
        "#!/bin/sh\nexec unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; exec {} supervise'\n",
        env!("CARGO_BIN_EXE_minrepro")
    );
    fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn nested(kind: Kind, source: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let session = folder.path().join("session");
    let library = session.join("lib");
    fs::create_dir_all(&library).unwrap();
    let put = |name: &str, text: &str| {
        fs::File::create(library.join(name)).unwrap().write_all(text.as_bytes()).unwrap();
    };
    put("confine.py", include_str!("../../../src/runner/confine.py"));
    put("parent.py", include_str!("parent.py"));
    let (program, namespaces) = match kind {
        Kind::Nested => (env!("CARGO_BIN_EXE_minrepro").into(), true),
        _ => (without_namespaces(folder.path()), false),
    };
    let how = serde_json::json!({
        "namespaces": namespaces,
        "landlock": true,
        "devices": ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"],
        "shared": SHARED_MEMORY,
        "source": source,
    });
    let confinement = if namespaces {
        serde_json::json!({"Namespaces": {"landlock": true}})
    } else {
        serde_json::json!("Landlock")
    };
    let seconds = |seconds: u64| serde_json::json!({"secs": seconds, "nanos": 0});
    let order = serde_json::json!({"Run": {
        "program": {
            "argv": [Interpreter::find(None).unwrap().path, library.join("parent.py"), how.to_string()],
            "env": {"PATH": std::env::var("PATH").unwrap()},
            "work": session,
            "file_size": LIMITS.file_size,
        },
        "bounds": {
            "confinement": confinement,
            "writable": [session],
            "readable": [],
            "shared_memory": SHARED_MEMORY,
            "nests": true,
            "sockets": [],
        },
        "limits": {
            "timeout": seconds(20),
            "memory": LIMITS.memory,
            "processes": LIMITS.processes,
            "scratch": session,
            "scratch_size": LIMITS.scratch,
        },
    }});
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    let supervisor = command(program)
        .arg("supervise")
        .stdin(OwnedFd::from(theirs))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(ours, "{order}").unwrap();
    let mut answer = String::new();
    BufReader::new(ours).read_line(&mut answer).unwrap();
    let output = supervisor.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(answer.contains("\"exit\":0"), "{answer}{said}");
    // What the scripts print goes to standard error, what stands for the interpreter prints to standard output.
    assert_eq!(String::from_utf8_lossy(&output.stdout), "next\nnext\n", "{said}");
    match said.strip_suffix("1\n") {
        Some(first) => (first.to_owned(), "1\n".to_owned()),
        None => (said, String::new()),
    }
}

/// Everything that did not stand a script.
fn broken_by(run: &Run, needs: Needs, source: &str) -> Vec<String> {
    let outside = Outside::new();
    let told = outside.told(SHARED_MEMORY);
    let (said, next) = run(&format!("OUTSIDE = {told:?}\n{PRELUDE}{source}\nprint('tried')\n"));
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
    let Some(cold) = cold(kind) else {
        return skip("hostile programs", &format!("{kind:?} can not be had on this system"));
    };
    let run: Run = match kind {
        Kind::Nested | Kind::NestedInLandlock => Box::new(move |source| nested(kind, source)),
        _ => cold,
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
fn runs_under_landlock_alone_do_no_harm() {
    withstands_all(Kind::LandlockAlone);
}

#[test]
fn forked_runs_do_no_harm() {
    withstands_all(Kind::Nested);
}

#[test]
fn runs_forked_under_landlock_alone_do_no_harm() {
    withstands_all(Kind::NestedInLandlock);
}

#[test]
fn what_is_set_up_outside_shows_what_free_runs_do() {
    let run = cold(Kind::Free).unwrap();
    for (name, needs, source) in SCRIPTS {
        if matches!(needs, Needs::Shown | Needs::NamespacesShown) {
            let broken = broken_by(&run, *needs, source);
            assert!(!broken.is_empty(), "{name}");
        }
    }
}
