//! The security review: finds what a stranger's script should not do, on its syntax tree, with
//! names resolved through imports, aliases, `getattr` and the tricks that hide imports. Never
//! searches text and runs nothing. Called by `minrepro review` and by the flow before it runs a
//! script.

mod rules;

mod environment;
mod hidden;
mod network;
mod paths;

use minrepro_reducers::syntax::{Program, TextSize};
use serde::{Deserialize, Serialize};

/// Something that a person should see before the script is run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Finding {
    /// The line, counted from 1.
    pub line: u32,
    /// The kind of danger.
    pub concern: Concern,
    /// What the script does there.
    pub what: String,
}

/// The kinds of danger.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::Display,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Concern {
    /// Connects to other machines.
    Network,
    /// Touches files outside the folder of the run.
    Files,
    /// Runs commands, or code that is not in the script.
    Commands,
    /// Reads files that can hold code.
    Loading,
    /// Hides what it does.
    Obfuscation,
    /// Installs packages.
    Installing,
    /// Changes variables that other programs obey.
    Environment,
}

impl Concern {
    /// The reason why it matters.
    pub fn why(self) -> &'static str {
        match self {
            Self::Network => "data may leave this machine, or foreign code may enter it",
            Self::Files => "files that are not the script's own may be read or changed",
            Self::Commands => "it may do anything, noticed or not",
            Self::Loading => "such files may hold code that runs when they are read",
            Self::Obfuscation => "reading the script does not show what it does",
            Self::Installing => "packages run code of their own when they are installed",
            Self::Environment => "other programs that it starts will behave differently",
        }
    }
}

/// Reviews a program.
pub fn review(program: &Program) -> Vec<Finding> {
    let mut found = rules::Reviewer::new(program).findings();
    found.sort();
    found.dedup();
    found
}

/// The line of an offset, counted from 1.
fn line_of(program: &Program, offset: TextSize) -> u32 {
    1 + program.text()[..usize::from(offset)].matches('\n').count() as u32
}
