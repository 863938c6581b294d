//! The security review: what a stranger's script may do, read off its syntax tree. Names are
//! resolved through imports, aliases, `getattr` and the tricks that hide imports; each must be on
//! the list of harmless ones (`names.txt`), and all others are concerns. Never searches text and
//! runs nothing. Called by `minrepro review` and by the flow before it runs a script.

mod rules;
mod table;

mod commands;
mod environment;
mod files;
mod hidden;
mod loading;
mod lookups;
mod network;
mod pickled;

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
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::Display,
    strum::EnumString,
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
    /// Uses something that is not known to be harmless.
    Unlisted,
    /// Imports a package of which nothing is known.
    Package,
}

/// How much is known of a concern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::Display)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Grade {
    /// It runs code or commands that the review has not seen.
    Dangerous,
    /// It reaches out of the folder and the process of the run.
    Outside,
    /// Reading the script does not show what happens.
    Unreadable,
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
            Self::Unlisted => "it is not known to be harmless",
            Self::Package => "nothing is known of its code",
        }
    }

    /// How much is known of it.
    pub fn grade(self) -> Grade {
        match self {
            Self::Commands | Self::Loading | Self::Installing => Grade::Dangerous,
            Self::Network | Self::Files | Self::Environment => Grade::Outside,
            Self::Obfuscation | Self::Unlisted | Self::Package => Grade::Unreadable,
        }
    }
}

/// Reviews a program.
pub fn review(program: &Program) -> Vec<Finding> {
    let mut found = rules::Reviewer::new(program, rules::CodeOrigin::Script).findings();
    found.sort();
    found.dedup();
    // The function that takes a path says more than the path alone.
    let reached: Vec<u32> = found
        .iter()
        .filter(|finding| {
            finding.concern == Concern::Files && !finding.what.starts_with(files::NAMED)
        })
        .map(|finding| finding.line)
        .collect();
    found.retain(|finding| {
        !finding.what.starts_with(files::NAMED) || !reached.contains(&finding.line)
    });
    found
}

/// The line of an offset, counted from 1.
fn line_of(program: &Program, offset: TextSize) -> u32 {
    1 + program.text()[..usize::from(offset)].matches('\n').count() as u32
}
