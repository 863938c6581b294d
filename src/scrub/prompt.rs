//! Questions to the user. Each names the flag that answers it in advance and has an answer for
//! unattended runs.

use std::io::IsTerminal;

use super::tool::{ExternalTools, Interrupted};
use crate::cli::Printer;

/// Asks the user.
pub struct Prompt<'a> {
    tools: &'a ExternalTools,
    printer: Printer,
    is_attended: bool,
}

impl<'a> Prompt<'a> {
    /// A run is attended if both ends are a terminal and the report is not for a machine.
    pub fn new(tools: &'a ExternalTools, printer: Printer, for_machine: bool) -> Self {
        let is_attended =
            std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && !for_machine;
        Self {
            tools,
            printer,
            is_attended,
        }
    }

    /// Whether somebody can answer.
    pub fn is_attended(&self) -> bool {
        self.is_attended
    }

    /// Lets the user choose one of several options; `unattended` is the answer of an unattended run
    /// and of an empty line. `flag` answers the question in advance.
    pub fn choose(
        &self,
        question: &str,
        options: &[(&str, &str)],
        unattended: usize,
        flag: &str,
    ) -> Result<usize, Interrupted> {
        let keys = |at: usize| options[at].0;
        if !self.is_attended {
            self.printer.note(format!(
                "{question} {} (unattended; `{flag}` sets the answer)",
                options[unattended].1
            ));
            return Ok(unattended);
        }
        loop {
            self.printer.always(question);
            for (at, (key, text)) in options.iter().enumerate() {
                let mark = if at == unattended { " (default)" } else { "" };
                self.printer.always(format!("  {key}  {text}{mark}"));
            }
            self.printer.always(format!(
                "[{}] (or rerun with `{flag}`)",
                (0..options.len()).map(keys).collect::<Vec<_>>().join("/")
            ));
            let Some(line) = self.tools.line()? else {
                return Ok(unattended);
            };
            if line.is_empty() {
                return Ok(unattended);
            }
            if let Some(at) = options
                .iter()
                .position(|(key, _)| key.eq_ignore_ascii_case(&line))
            {
                return Ok(at);
            }
        }
    }

    /// Asks a yes-or-no question; an unattended run answers no.
    pub fn agrees(&self, question: &str, flag: &str) -> Result<bool, Interrupted> {
        Ok(self.choose(question, &[("y", "yes"), ("n", "no")], 1, flag)? == 0)
    }
}
