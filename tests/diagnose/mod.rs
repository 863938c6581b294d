//! `minrepro diagnose` by the real binary, on the scripts of `corpus/diagnose`: component,
//! category, mode and line as the table there has them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Output,
};

use serde::Deserialize;

use crate::support::{command, interpreters, newest, skip, tell, torch};

/// What a script's failure is.
#[derive(Debug, Deserialize)]
struct Known {
    script: String,
    component: String,
    category: String,
    mode: String,
    lines: Vec<u32>,
    #[serde(default)]
    node: Option<String>,
    /// The most operations that PyTorch's minifier leaves, in a program that then shows the bug.
    #[serde(default)]
    minified: Option<u64>,
    /// The known patterns that its evidence fits; no others.
    #[serde(default)]
    patterns: Vec<String>,
}

#[derive(Deserialize)]
struct KnownTable {
    case: Vec<Known>,
}

/// Scripts that are diagnosed unless all are: one for each way to a diagnosis.
const USUAL: &[&str] = &[
    "export_non_strict_branch.py",
    "graph_break_print.py",
    "../torch/voice_vae/ideal.py",
    "optimizer_state.py",
];

fn minrepro(args: &[&str], folder: &Path) -> Output {
    command(env!("CARGO_BIN_EXE_minrepro"))
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// What is wrong about the diagnosis of a script, and how long it took.
fn wrong(known: &Known, python: &Path) -> (Vec<String>, f64) {
    let place = tempfile::tempdir().unwrap();
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/diagnose");
    fs::copy(corpus.join(&known.script), place.path().join("x.py")).unwrap();
    let python = python.to_str().unwrap();
    let mut args = vec!["diagnose", "x.py", "--report", "x.json", "-p", python];
    if known.minified.is_some() {
        // The minimization of a graph is tested by the reductions.
        args.push("--minifier-time=45");
    }
    let output = minrepro(&args, place.path());
    let stderr = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return (vec![format!("{}: {stderr}", known.script)], 0.0);
    }
    let text = fs::read_to_string(place.path().join("x.json")).unwrap();
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut wrong = Vec::new();
    let mut check = |what: &str, expected: &str, holds: bool, found: &serde_json::Value| {
        if !holds {
            wrong.push(format!(
                "{}: {what} is {found}, not {expected}",
                known.script
            ));
        }
    };
    let component = &found["component"]["is"];
    check(
        "component",
        &known.component,
        *component == known.component.as_str(),
        component,
    );
    let category = &found["categories"][0]["id"];
    check(
        "category",
        &known.category,
        *category == known.category.as_str(),
        category,
    );
    let mode = &found["mode"]["is"];
    check(
        "mode",
        &known.mode,
        mode.as_str().unwrap().starts_with(&known.mode),
        mode,
    );
    let line = &found["guilty"]["is"];
    let places: Vec<String> = known
        .lines
        .iter()
        .map(|line| format!("x.py:{line}"))
        .collect();
    let is_guess = found["guilty"]["guess"] == true;
    let is_known = places.iter().any(|place| *line == place.as_str());
    let holds = is_known || places.is_empty() && is_guess;
    check("line", &places.join(" or "), holds, line);
    if let Some(node) = &known.node {
        let firsts = found["divergences"].as_array().unwrap().iter();
        let firsts: Vec<_> = firsts
            .filter_map(|one| one["first"]["name"].as_str())
            .collect();
        let holds = firsts.len() == 1 && firsts[0].starts_with(node.as_str());
        check("first diverging node", node, holds, &found["divergences"]);
    }
    wrong.extend(wrong_parts(known, &found, place.path()));
    (wrong, found["seconds"].as_f64().unwrap_or_default())
}

/// The same for the parts that only some diagnoses have.
fn wrong_parts(known: &Known, found: &serde_json::Value, place: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |what: &str, expected: &str, holds: bool, found: &serde_json::Value| {
        if !holds {
            wrong.push(format!(
                "{}: {what} is {found}, not {expected}",
                known.script
            ));
        }
    };
    let minifier = &found["minifier"];
    if let Some(most) = known.minified {
        let left = minifier["nodes_after"].as_u64();
        let programs = minifier["programs"].as_array().map_or(0, Vec::len);
        let holds = left.is_some_and(|left| left <= most) && programs == 2;
        check(
            "smallest graph",
            &format!("at most {most}"),
            holds,
            minifier,
        );
    } else if ["backend", "accuracy"].contains(&known.category.as_str()) {
        // It says why not.
        let holds = minifier["failed"].is_string() || minifier["nodes_after"].is_u64();
        check("the minifier", "run, or not for a reason", holds, minifier);
    }
    let patterns = found["patterns"].as_array().unwrap().iter();
    let patterns: Vec<_> = patterns.map(|one| one["id"].as_str().unwrap()).collect();
    check(
        "known patterns",
        &known.patterns.join(", "),
        patterns == known.patterns,
        &found["patterns"],
    );
    // What the page says must be there.
    for file in ["environment/findings.json", "failure"] {
        let path = place.join("x.diagnosis").join(file);
        check("artifact", file, path.exists(), &found["artifacts"]);
    }
    wrong
}

/// `MINREPRO_TEST_DIAGNOSE=all` diagnoses every script: half an hour; a name diagnoses that one.
#[test]
fn scripts_are_diagnosed_as_is_known_of_them() {
    let Some(python) = torch() else {
        return skip("diagnose", "no PyTorch");
    };
    let table: PathBuf = [env!("CARGO_MANIFEST_DIR"), "corpus/diagnose/cases.toml"]
        .iter()
        .collect();
    let table: KnownTable = toml::from_str(&fs::read_to_string(table).unwrap()).unwrap();
    let wanted = std::env::var("MINREPRO_TEST_DIAGNOSE").unwrap_or_default();
    let is_wanted = |known: &&Known| match wanted.as_str() {
        "" => USUAL.contains(&known.script.as_str()),
        "all" => true,
        name => known.script.contains(name),
    };
    let mut all = Vec::new();
    for known in table.case.iter().filter(is_wanted) {
        let (wrong, seconds) = wrong(known, &python);
        tell(&format!(
            "diagnosed {} in {seconds:.0} s: {wrong:?}",
            known.script
        ));
        all.extend(wrong);
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn a_category_is_explained_without_a_run() {
    let place = tempfile::tempdir().unwrap();
    let output = minrepro(&["diagnose", "--explain", "backend"], place.path());
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success());
    assert!(
        text.contains("InductorError") && text.contains("TORCH_COMPILE_DEBUG=1"),
        "{text}"
    );
    let output = minrepro(&["diagnose", "--explain", "nothing"], place.path());
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains("graph_break, "), "{text}");
}

#[test]
fn a_script_for_pytorch_needs_one_that_can_be_imported() {
    let Some(python) = newest() else {
        return skip("diagnose without PyTorch", "no CPython");
    };
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let mut file = fs::File::create(place.path().join(name)).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
    };
    // A package of that name that breaks once PyTorch is asked for what only it has.
    write("torch.py", "raise RuntimeError('libtorch is broken')\n");
    write(
        "x.py",
        "try:\n    import torch\nexcept RuntimeError:\n    pass\nraise KeyError('bug')\n",
    );
    let args = ["diagnose", "x.py", "-p", python.to_str().unwrap()];
    let output = minrepro(&args, place.path());
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(5), "{text}");
    assert!(
        text.contains("libtorch is broken") && text.contains("interpreter: "),
        "{text}"
    );
}

/// Fails under the newest Python, and by version under others.
const BY_VERSION: &str = "\
import sys
minor = sys.version_info[1]
if minor == PASSES:
    sys.exit()
if minor == OTHERWISE:
    raise KeyError(minor)
raise ValueError('bad scale')
";

/// The same as the body of a test.
const TEST_BY_VERSION: &str = "\
import sys
import unittest


class TestValueError(unittest.TestCase):
    def test_bad_scale(self):
        if sys.version_info[1] == PASSES:
            return
        raise ValueError('bad scale')


if __name__ == \"__main__\":
    unittest.main()
";

#[test]
fn the_script_and_its_test_are_run_under_other_interpreters() {
    let found: Vec<(&u8, &PathBuf)> = interpreters().iter().rev().collect();
    let [newest, same, passes, otherwise, ..] = found.as_slice() else {
        return skip("diagnose --also", "fewer than four CPythons");
    };
    let place = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let text = text.replace("PASSES", &passes.0.to_string());
        let text = text.replace("OTHERWISE", &otherwise.0.to_string());
        minrepro::report::write_atomically(&place.path().join(name), text.as_bytes()).unwrap();
    };
    write("x.py", BY_VERSION);
    write("test_x.py", TEST_BY_VERSION);
    let also = |name: &str, python: &Path| format!("--also={name}={}", python.display());
    let named = [
        also("same", same.1),
        also("good", passes.1),
        also("other", otherwise.1),
        also("gone", Path::new("/no/such/python")),
    ];
    let mut args = vec!["diagnose", "x.py", "-s", "ValueError: bad scale"];
    args.extend(["--emitted-test", "test_x.py"]);
    args.extend(["--report=x.json", "--report=x.md", "--report=x.html"]);
    args.extend(["-p", newest.1.to_str().unwrap()]);
    args.extend(named.iter().map(String::as_str));
    let output = minrepro(&args, place.path());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let report = |name: &str| fs::read_to_string(place.path().join(name)).unwrap();
    let found: serde_json::Value = serde_json::from_str(&report("x.json")).unwrap();
    let rows = found["elsewhere"].as_array().unwrap().iter().map(|row| {
        let runs = |program: &str| {
            let runs = &row[program];
            let outcome = runs["outcome"].as_str().unwrap();
            format!("{outcome} {} of {}", runs["shown"], runs["of"])
        };
        let name = row["name"].as_str().unwrap();
        format!("{name}: {}, {}", runs("script"), runs("test"))
    });
    assert_eq!(
        rows.collect::<Vec<_>>(),
        [
            "here: shows 3 of 3, shows 3 of 3",
            "same: shows 3 of 3, shows 3 of 3",
            "good: passes 3 of 3, passes 3 of 3",
            "other: fails_otherwise 3 of 3, shows 3 of 3",
            "gone: cannot_run 0 of 0, cannot_run 0 of 0",
        ]
    );
    let pages = [
        report("x.md"),
        report("x.html"),
        String::from_utf8_lossy(&output.stdout).into_owned(),
    ];
    for page in pages {
        for words in [
            "Under other interpreters",
            "fails in the same way",
            "fails in another way",
            "no interpreter at",
        ] {
            assert!(page.contains(words), "{words}: {page}");
        }
    }
}
