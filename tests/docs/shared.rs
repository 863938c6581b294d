//! The manual pages and the completions that a wheel installs are those of the program;
//! `MINREPRO_BLESS=1 cargo test --test all docs::shared` rewrites them.

use std::{collections::BTreeMap, fs, path::PathBuf};

use clap::CommandFactory;
use minrepro::{cli::Cli, report::write_atomically};

use super::{command, root};

/// Below this folder lies what a wheel installs below the prefix of its environment.
const FOLDER: &str = "python/minrepro.data/data";

/// What the program prints.
fn printed(args: &[&str]) -> Vec<u8> {
    let output = command(env!("CARGO_BIN_EXE_minrepro")).args(args).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{args:?}");
    output.stdout
}

/// All files, by their paths from the folder on.
fn shared() -> BTreeMap<PathBuf, Vec<u8>> {
    let pages = "share/man/man1";
    let mut found = BTreeMap::from([
        (format!("{pages}/minrepro.1"), printed(&["man"])),
        (
            "share/bash-completion/completions/minrepro".to_owned(),
            printed(&["completions", "bash"]),
        ),
        (
            "share/zsh/site-functions/_minrepro".to_owned(),
            printed(&["completions", "zsh"]),
        ),
        (
            "share/fish/vendor_completions.d/minrepro.fish".to_owned(),
            printed(&["completions", "fish"]),
        ),
    ]);
    for verb in Cli::command().get_subcommands() {
        if !verb.is_hide_set() {
            let name = verb.get_name();
            let page = format!("{pages}/minrepro-{name}.1");
            found.insert(page, printed(&["man", name]));
        }
    }
    let found = found.into_iter();
    found.map(|(path, text)| (path.into(), text)).collect()
}

/// The files that there are.
fn written() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(FOLDER)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(root().join(FOLDER)).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn pages_and_completions_are_those_of_the_program() {
    let shared = shared();
    if std::env::var_os("MINREPRO_BLESS").is_some() {
        for (path, text) in &shared {
            let path = root().join(FOLDER).join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            write_atomically(&path, text).unwrap();
        }
    }
    let different: Vec<_> = shared
        .iter()
        .filter(|(path, text)| {
            fs::read(root().join(FOLDER).join(path)).unwrap_or_default() != **text
        })
        .map(|(path, _)| path)
        .collect();
    assert!(
        different.is_empty(),
        "MINREPRO_BLESS=1 rewrites in {FOLDER}: {different:?}"
    );
    assert!(
        written().iter().eq(shared.keys()),
        "{FOLDER} has other files, too"
    );
}
