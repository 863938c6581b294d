//! The README, the book in `docs/` and the READMEs of folders: links lead somewhere, commands run,
//! tables are those of the code.

mod commands;
mod markdown;
mod schemas;
mod shared;
mod tables;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use markdown::Page;

use crate::support::{command, skip};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The pages of the book, by their paths from the root of the repository.
fn chapters() -> Vec<String> {
    let folder = root().join("docs/src");
    let mut found: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| format!("docs/src/{}", entry.unwrap().file_name().display()))
        .filter(|path| Path::new(path).extension() == Some("md".as_ref()))
        .collect();
    found.sort();
    found
}

/// All pages that are written for people.
fn pages() -> Vec<Page> {
    let mut paths = chapters();
    paths.extend(
        [
            "README.md",
            "CHANGELOG.md",
            "CONTRIBUTING.md",
            "SECURITY.md",
            "src/README.md",
            "src/agent/skill.md",
            "reducers/README.md",
            "corpus/README.md",
            "tests/README.md",
            "benches/README.md",
        ]
        .map(str::to_owned),
    );
    paths.iter().map(|path| Page::read(path)).collect()
}

#[test]
fn links_lead_somewhere() {
    let broken: Vec<String> = pages().iter().flat_map(Page::broken_links).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    for chapter in chapters() {
        let page = Page::read(&chapter);
        // The built book holds nothing but its chapters.
        let leaves = page.links.iter().find(|link| link.starts_with(".."));
        assert_eq!(leaves, None, "{chapter} links to a file outside the book");
    }
}

#[test]
fn the_summary_lists_every_chapter_once() {
    let summary = Page::read("docs/src/SUMMARY.md");
    let listed: Vec<String> = summary
        .links
        .iter()
        .map(|link| format!("docs/src/{link}"))
        .collect();
    let chapters: BTreeSet<String> = chapters().into_iter().collect();
    let expected: Vec<&String> = chapters
        .iter()
        .filter(|path| !path.ends_with("/SUMMARY.md"))
        .collect();
    let sorted: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(listed.len(), sorted.len(), "a chapter is listed twice");
    assert_eq!(sorted.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn the_readme_is_short() {
    let lines = Page::read("README.md").text.lines().count();
    assert!(lines <= 120, "README.md has {lines} lines");
}

#[test]
fn the_glossary_is_short() {
    let text = Page::read("src/README.md").text;
    let (_, glossary) = text.split_once("## Glossary").unwrap();
    let words = glossary
        .lines()
        .filter(|line| line.starts_with("| "))
        .count()
        - 1;
    assert!((20..=30).contains(&words), "the glossary has {words} words");
}

#[test]
fn the_book_builds() {
    let target = tempfile::tempdir().unwrap();
    let built = command("mdbook")
        .args(["build", "docs", "--dest-dir"])
        .arg(target.path())
        .current_dir(root())
        .output();
    let Ok(built) = built else {
        return skip("the_book_builds", "there is no `mdbook` on the search path");
    };
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{said}");
    assert!(!said.contains("ERROR") && !said.contains("WARN"), "{said}");
    let pages: PathBuf = target.path().join("introduction.html");
    assert!(pages.is_file(), "{said}");
}
