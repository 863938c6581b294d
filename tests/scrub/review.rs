//! The security review over tables of snippets: what must be found, what must not be taken for a
//! danger, and both rates over whole scripts.

use std::path::Path;

use minrepro::scrub::review::{Finding, review};
use minrepro_reducers::syntax::Program;

use crate::support::tell;

/// Snippets with what stands behind their `===`.
fn cases(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    text.split("\n===").map(|case| {
        let (head, body) = case.trim_start_matches("===").split_once('\n').unwrap();
        (head.trim(), body)
    })
}

fn found(snippet: &str) -> Vec<Finding> {
    let program =
        Program::parse(format!("{snippet}\n")).unwrap_or_else(|error| panic!("{snippet}\n{error}"));
    review(&program)
}

#[test]
fn every_risky_snippet_is_found_with_its_concern() {
    let mut missed = Vec::new();
    let mut count = 0;
    for (expected, snippet) in cases(include_str!("risky.txt")) {
        let found = found(snippet);
        count += 1;
        for concern in expected.split(' ') {
            if !found
                .iter()
                .any(|finding| finding.concern.to_string() == concern)
            {
                missed.push(format!("{concern} in\n{snippet}\n{found:?}"));
            }
        }
    }
    assert!(count >= 60, "{count}");
    assert!(missed.is_empty(), "{}", missed.join("\n----\n"));
}

#[test]
fn harmless_snippets_are_left_alone() {
    let all: Vec<_> = cases(include_str!("harmless.txt")).collect();
    assert!(all.len() >= 60, "{}", all.len());
    let flagged: Vec<String> = all
        .iter()
        .filter_map(|(_, snippet)| {
            let found = found(snippet);
            (!found.is_empty()).then(|| format!("{snippet}\n{found:?}"))
        })
        .collect();
    assert!(flagged.is_empty(), "{}", flagged.join("\n----\n"));
}

/// At most one of a hundred hostile scripts may pass.
#[test]
fn hostile_scripts_do_not_pass() {
    let all: Vec<_> = cases(include_str!("hostile.txt")).collect();
    assert!(all.len() >= 600, "{}", all.len());
    let missed: Vec<&str> = all
        .iter()
        .filter_map(|(name, script)| found(script).is_empty().then_some(*name))
        .collect();
    tell(&format!(
        "{} of {} hostile scripts pass the review",
        missed.len(),
        all.len()
    ));
    assert!(missed.len() * 100 <= all.len(), "{missed:?}");
}

/// At most two of a hundred ordinary scripts may be reported.
#[test]
fn ordinary_scripts_are_not_reported() {
    let mut files = Vec::new();
    collect(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus"),
        &mut files,
    );
    // Files of projects import one another, and no issue holds one of them alone.
    files.retain(|file| !file.components().any(|part| part.as_os_str() == "projects"));
    assert!(files.len() >= 300, "{}", files.len());
    let reported: Vec<String> = files
        .iter()
        .filter_map(|file| {
            let text = std::fs::read_to_string(file).unwrap();
            let found = review(&Program::parse(text).unwrap());
            (!found.is_empty()).then(|| format!("{} {found:?}", file.display()))
        })
        .collect();
    tell(&format!(
        "{} of {} ordinary scripts are reported by the review",
        reported.len(),
        files.len()
    ));
    assert!(
        reported.len() * 100 <= files.len() * 2,
        "{}",
        reported.join("\n")
    );
}

fn collect(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "py") {
            files.push(path);
        }
    }
}
