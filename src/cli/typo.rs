//! A mistyped command looks like a script that does not exist. Suggests the command that may be
//! meant; called when either fails.

use std::path::Path;

use clap::{
    CommandFactory,
    error::{ContextKind, ContextValue},
};

use super::Cli;

/// The error with the command that may be meant instead of the first word.
pub fn advised(mut error: clap::Error) -> clap::Error {
    let word = std::env::args().nth(1).unwrap_or_default();
    if !Path::new(&word).exists()
        && let Some(name) = command_like(&word)
    {
        let tip = format!("there is a command `{name}`");
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![tip.into()]),
        );
    }
    error
}

/// The command that differs from a word by a letter, or by two that are swapped.
pub fn command_like(word: &str) -> Option<String> {
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
