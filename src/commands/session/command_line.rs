//! The command by which a user runs a file as minrepro does: its folder, its variables, its input.

use std::path::Path;

use super::Session;
use crate::{runner::EnvironmentDifference, text::quoted};

impl Session {
    fn command_line(&self, file: &Path) -> String {
        let words = self.subject.runner.command_line(file);
        let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
        self.with_input(&words.join(" "))
    }

    /// The command line of the original input.
    pub(super) fn original(&self) -> String {
        let line = self.command_line(&self.script);
        let (Some(arguments), Some(interpreter)) = (self.given.arguments(), &self.interpreter)
        else {
            return line;
        };
        let words = [interpreter.path.to_string_lossy().into_owned()].into_iter();
        let own = self.args.args.iter();
        let own = own.map(|argument| argument.to_string_lossy().into_owned());
        let words = words.chain(arguments).chain(own);
        let words: Vec<_> = words.map(|word| quoted(&word)).collect();
        self.with_input(&words.join(" "))
    }

    /// The command line that runs a file as minrepro does, for users.
    pub(in crate::commands) fn by_hand(&self, file: &Path) -> String {
        self.in_folder(&self.command_line(file))
    }

    /// A command with its standard input.
    fn with_input(&self, command: &str) -> String {
        match &self.args.stdin {
            Some(input) => {
                let input = std::path::absolute(input).unwrap_or_else(|_| input.clone());
                format!("{command} < {}", quoted(&input.to_string_lossy()))
            }
            None => command.to_owned(),
        }
    }

    /// The command line that runs a command as minrepro does, for users.
    pub(super) fn in_folder(&self, command: &str) -> String {
        let folder = self.script.parent().unwrap_or(Path::new("/"));
        let EnvironmentDifference { set, withheld } = self.subject.runner.environment_difference();
        let own = self.subject.env();
        let is_own = |name: &str| own.iter().any(|(its, _)| its == name);
        let set = set.iter().filter(|(name, _)| !is_own(name));
        let env: String = own
            .iter()
            .chain(set)
            .map(|(name, value)| format!("{name}={} ", quoted(value)))
            .collect();
        let without: String = withheld
            .iter()
            .map(|name| format!("-u {} ", quoted(name)))
            .collect();
        let without = if without.is_empty() {
            without
        } else {
            format!("env {without}")
        };
        format!(
            "cd {} && {without}{env}{command}",
            quoted(&folder.to_string_lossy()),
        )
    }
}
