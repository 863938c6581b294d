//! Puts the commit, its date and the target into `--version`. A build that is no release names the
//! target alone, so that a commit does not compile everything anew.

use std::{env, path::Path, process::Command};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=MINREPRO_COMMIT");
    let target = env::var("TARGET").unwrap_or_default();
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = env::var("MINREPRO_COMMIT").ok();
    let commit = commit.or_else(|| if is_release { checked_out() } else { None });
    let build = match commit {
        Some(commit) => format!("{commit} {target}"),
        None => target,
    };
    println!("cargo::rustc-env=MINREPRO_BUILD={build}");
}

/// The commit that is checked out, and its date, if this is a checkout and no source distribution
/// that lies in another project's.
fn checked_out() -> Option<String> {
    if !Path::new(".git").exists() {
        return None;
    }
    let head = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo::rerun-if-changed={head}");
    git(&["log", "-1", "--abbrev=9", "--format=%h %cs"])
}

#[expect(
    clippy::disallowed_methods,
    reason = "a build script stands outside the runner"
)]
fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
