//! The real binary in an environment of its own: what a person sees, and that nothing is lost.

mod bad_input;
mod bench;
mod candidates;
mod emit;
mod hangs;
mod hostile;
mod inlining;
mod notebooks;
mod pytest_nodes;
mod reduce;
mod resume;
mod review;
mod screens;
mod situations;
mod stabilize;
mod targets;
mod unittests;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::atomic::{AtomicUsize, Ordering},
};

use minrepro::report::write_atomically;

use crate::support::command;

/// A folder to work in and a home of its own.
struct Place {
    root: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        for folder in ["work", "home", "tmp"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        Self { root }
    }

    fn work(&self) -> PathBuf {
        self.root.path().join("work")
    }

    fn tmp(&self) -> PathBuf {
        self.root.path().join("tmp")
    }

    fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::io::Write::write_all(&mut fs::File::create(&path).unwrap(), text.as_ref()).unwrap();
        path
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = command(env!("CARGO_BIN_EXE_minrepro"));
        command
            .args(args)
            .current_dir(self.work())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.root.path().join("home"))
            .env("TMPDIR", self.tmp());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        let output = self.command(args).output().unwrap();
        self.record(args, &output);
        output
    }

    /// Keeps the events and JSON reports of a run. The tests of the Python package compare all of
    /// them with the schemas.
    fn record(&self, args: &[&str], output: &Output) {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recorded");
        let keep = |bytes: &[u8], kind: &str| {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!("{}-{number}.{kind}", std::process::id());
            fs::create_dir_all(&folder).unwrap();
            write_atomically(&folder.join(name), bytes).unwrap();
        };
        if args.contains(&"jsonl") {
            keep(&output.stdout, "jsonl");
        }
        let reports = args.windows(2).filter(|pair| pair[0] == "--report");
        let paths = reports.map(|pair| self.work().join(pair[1]));
        for path in paths.filter(|path| path.extension().is_some_and(|end| end == "json")) {
            if let Ok(bytes) = fs::read(path) {
                keep(&bytes, "json");
            }
        }
    }

    /// Status, standard output and standard error as one text, folders of this place written as
    /// `[..]`.
    fn shown(&self, args: &[&str]) -> String {
        let output = self.run(args);
        let text = format!(
            "status: {}\n-- stdout\n{}-- stderr\n{}",
            output.status.code().unwrap_or(-1),
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        let root = self.root.path().canonicalize().unwrap();
        text.replace(root.to_str().unwrap(), "[..]")
            .replace(self.root.path().to_str().unwrap(), "[..]")
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.work().join(name)).unwrap()
    }

    fn scratch_is_empty(&self) -> bool {
        fs::read_dir(self.tmp()).unwrap().next().is_none()
    }
}

/// A script with noise around an error of the standard library.
const NOISY: &str = "\
import os, sys
import json
from collections import OrderedDict

LIMIT = 10


def unused(x):
    return x + LIMIT


def build(n):
    data = OrderedDict()
    for i in range(n):
        data[i] = {'tags': {1, 2}}
    return data


def main():
    print('starting', file=sys.stderr)
    data = build(3)
    print(os.getcwd(), unused(1))
    return json.dumps(data)


if __name__ == '__main__':
    main()
";

const SIGNATURE: &str = "TypeError: Object of type set is not JSON serializable";
