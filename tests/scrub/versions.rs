//! `minrepro bisect` with real interpreters whose package `torch` is of the tests' own making and differs by version.

use std::{fs, path::Path};

use super::flow::with_torch;
use crate::support::{command, newest, skip};

const SCRIPT: &str = "import torch\ntorch.stack([])\n";
const SIGNATURE: &str = "RuntimeError: stack expects a non-empty TensorList of things";

fn bisect(folder: &Path, args: &[String]) -> (Option<i32>, serde_json::Value, String) {
    fs::create_dir_all(folder.join("tmp")).unwrap();
    std::io::Write::write_all(&mut fs::File::create(folder.join("x.py")).unwrap(), SCRIPT.as_bytes())
        .unwrap();
    let output = command(env!("CARGO_BIN_EXE_minrepro"))
        .args(["bisect", "x.py", "--json", "--signature", SIGNATURE])
        .args(args)
        .current_dir(folder)
        .env("TMPDIR", folder.join("tmp"))
        .output()
        .unwrap();
    let value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output.status.code(), value, String::from_utf8_lossy(&output.stderr).into_owned())
}

fn environments(pairs: &[(&str, &Path)]) -> Vec<String> {
    pairs
        .iter()
        .flat_map(|(version, python)| ["--env".to_owned(), format!("{version}={}", python.display())])
        .collect()
}

#[test]
fn nine_versions_are_searched_in_three_rounds_and_one_that_can_not_run_is_skipped() {
    if newest().is_none() {
        return skip("bisect", "no CPython was found");
    }
    let (old, new) = (with_torch("2.0.0"), with_torch("9.9.9"));
    // Its torch can not be imported.
    let broken = with_torch("8.8.8");
    let package =
        fs::read_dir(broken.parent().unwrap().with_file_name("lib")).unwrap().flatten().next().unwrap();
    let package = package.path().join("site-packages/torch/__init__.py");
    std::io::Write::write_all(
        &mut fs::File::create(package).unwrap(),
        b"raise ImportError('libtorch.so: no such file')\n",
    )
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let names = ["2.0.0", "2.1.0", "2.2.0", "2.3.0", "2.4.0", "2.5.0", "2.6.0", "2.7.0", "2.10.0"];
    let of = |at: usize| match at {
        5 => broken.as_path(),
        at if at < 5 => old.as_path(),
        _ => new.as_path(),
    };
    let pairs: Vec<(&str, &Path)> =
        names.iter().enumerate().map(|(at, name)| (*name, of(at))).rev().collect();
    let (status, value, stderr) = bisect(folder.path(), &environments(&pairs));
    assert_eq!(status, Some(0), "{stderr}");
    let answer = &value["answer"];
    assert_eq!(
        (&answer["change"][0], &answer["change"][1]),
        (&"2.4.0".into(), &"2.6.0".into()),
        "{answer:#}"
    );
    assert!(answer["is_fixed"] == true && answer["rounds"].as_u64() <= Some(3), "{answer:#}");
    let broken = &answer["versions"][5];
    assert!(broken[1]["broken"].as_str().unwrap().contains("ImportError"), "{answer:#}");
    assert!(stderr.contains("can not tell"), "{stderr}");
}

#[test]
fn the_change_is_found_in_the_history_of_a_checkout() {
    if newest().is_none() || !command("git").arg("--version").output().is_ok_and(|it| it.status.success()) {
        return skip("bisect", "no CPython or no git was found");
    }
    let folder = tempfile::tempdir().unwrap();
    let checkout = folder.path().join("checkout");
    fs::create_dir_all(checkout.join("torch")).unwrap();
    let git = |args: &[&str]| {
        let identity = ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "commit.gpgsign=false"];
        let output = command("git").args(identity).args(args).current_dir(&checkout).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    git(&["init", "-q"]);
    for (number, (subject, tag)) in [
        ("First", Some("v2.0.0")),
        ("Speed up sum (#100)", None),
        ("Let stack take an empty TensorList (#101)\n\nFixes #7", None),
        ("Document views (#102)", Some("v9.9.9")),
        ("Touch stack and TensorList again (#103)", None),
    ]
    .iter()
    .enumerate()
    {
        let text = format!("{number}\n");
        std::io::Write::write_all(
            &mut fs::File::create(checkout.join("torch/x.py")).unwrap(),
            text.as_bytes(),
        )
        .unwrap();
        git(&["add", "."]);
        git(&["commit", "-q", "-m", subject]);
        if let Some(tag) = tag {
            git(&["tag", tag]);
        }
    }
    let (old, new) = (with_torch("2.0.0"), with_torch("9.9.9"));
    let mut args = environments(&[("2.0.0", &old), ("9.9.9", &new)]);
    args.extend(["--pytorch", checkout.to_str().unwrap(), "--issue", "7"].map(str::to_owned));
    let (status, value, stderr) = bisect(folder.path(), &args);
    assert_eq!(status, Some(0), "{stderr}");
    let changes = value["changes"].as_array().unwrap();
    assert_eq!(changes[0]["pull"], 101, "{value:#}");
    assert!(changes.iter().all(|it| it["pull"] != 103), "{value:#}");
    assert!(changes[0]["reasons"].to_string().contains("names the issue"), "{value:#}");
}

#[test]
fn too_few_versions_and_no_change_are_told() {
    if newest().is_none() {
        return skip("bisect", "no CPython was found");
    }
    let folder = tempfile::tempdir().unwrap();
    let old = with_torch("2.0.0");
    let (status, _, stderr) = bisect(folder.path(), &environments(&[("2.0.0", &old)]));
    assert!(status == Some(5) && stderr.contains("hint:"), "{stderr}");
    let (status, value, _) = bisect(folder.path(), &environments(&[("2.0.0", &old), ("2.1.0", &old)]));
    assert_eq!((status, &value["answer"]["change"]), (Some(1), &serde_json::Value::Null));
    let (status, _, stderr) =
        bisect(folder.path(), &["--versions".to_owned(), "2.0.0,no/version".to_owned()]);
    assert!(status == Some(5) && stderr.contains("--install"), "{stderr}");
}
