//! A mistyped command looks like a script that does not exist. Suggests the command that may be
//! meant. Called when either fails.

use std::path::Path;

use clap::{
    CommandFactory,
    error::{ContextKind, ContextValue},
};

use minrepro_reducers::registry;

use super::Cli;

/// The words that people type who expect a command for minimizing.
const MINIMIZES: &[&str] = &["reduce", "minimize", "minimise", "shrink", "run"];

/// The error, with a suggestion for the command that the first word may mean.
pub fn advised(mut error: clap::Error) -> clap::Error {
    let mut words = std::env::args().skip(1);
    let word = words.next().unwrap_or_default();
    let next = words.next().unwrap_or_default();
    if let Some(tip) = tip(&word, &next) {
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![tip.into()]),
        );
    }
    error
}

/// A suggestion for a first word that is none of our commands, or for the word after it.
pub fn tip(word: &str, next: &str) -> Option<String> {
    if word == "passes" {
        return registry::find(next)
            .is_some()
            .then(|| format!("`minrepro passes explain {next}` explains that pass"));
    }
    if word == "help" && MINIMIZES.contains(&next) {
        return Some(
            "minrepro minimizes a script without a command; see `minrepro --help`".to_owned(),
        );
    }
    if Path::new(word).exists() {
        return None;
    }
    if MINIMIZES.contains(&word) {
        let script = if next.is_empty() { "SCRIPT" } else { next };
        return Some(format!(
            "to minimize a script, omit the command: `minrepro {script}`"
        ));
    }
    command_like(word).map(|name| format!("there is a command `{name}`"))
}

/// The command that differs from a word by a letter, or by two that are swapped.
fn command_like(word: &str) -> Option<String> {
    let command = Cli::command();
    let mut names = command.get_subcommands().map(clap::Command::get_name);
    // A name that is already right needs no suggestion.
    names
        .find(|name| strsim::osa_distance(name, word) == 1)
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_tools_are_understood() {
        for (word, next, part) in [
            ("reduce", "x.py", Some("`minrepro x.py`")),
            ("minimize", "", Some("`minrepro SCRIPT`")),
            ("help", "reduce", Some("`minrepro --help`")),
            ("help", "review", None),
            (
                "passes",
                "drop-comments",
                Some("passes explain drop-comments"),
            ),
            ("passes", "nothing", None),
            ("sub", "x", None),
        ] {
            let found = tip(word, next);
            assert_eq!(found.is_some(), part.is_some(), "{word} {next}");
            assert!(found.unwrap_or_default().contains(part.unwrap_or_default()));
        }
    }

    #[test]
    fn a_mistyped_command_is_recognized() {
        for (word, name) in [
            ("reveiw", "review"),
            ("scrb", "scrub"),
            ("bisekt", "bisect"),
            ("passess", "passes"),
            ("Check", "check"),
        ] {
            assert_eq!(command_like(word).as_deref(), Some(name), "{word}");
        }
        for word in ["review", "script.py", "x", "", "reduce", "bnhc"] {
            assert_eq!(command_like(word), None, "{word}");
        }
    }
}
