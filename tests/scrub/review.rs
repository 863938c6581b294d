//! The security review over tables of snippets: what must be found, and what must not be taken for
//! a danger.

use minrepro::scrub::review::{Finding, review};
use minrepro_reducers::syntax::Program;

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
