//! Questions to the user: each names the flag that answers it, each has an answer for when nobody
//! is there.

use std::io::IsTerminal;

use super::tool::{ExternalTools, Interrupted};
use crate::cli::Printer;

/// Asks.
pub struct Prompt<'a> {
    tools: &'a ExternalTools,
    printer: Printer,
    is_attended: bool,
}

impl<'a> Prompt<'a> {
    /// Someone is there if both ends are a terminal and the answer is not for a machine.
    pub fn new(tools: &'a ExternalTools, printer: Printer, for_machine: bool) -> Self {
        let is_attended =
            std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && !for_machine;
        Self {
            tools,
            printer,
            is_attended,
        }
    }

    /// Whether someone is there.
    pub fn is_attended(&self) -> bool {
        self.is_attended
    }

    /// One of several; `unattended` where nobody is there or nothing is typed. `flag` is what
    /// answers it in advance.
    pub fn choose(
        &self,
        question: &str,
        options: &[(&str, &str)],
        unattended: usize,
        flag: &str,
    ) -> Result<usize, Interrupted> {
        let keys = |at: usize| options[at].0;
        if !self.is_attended {
            self.printer.note(&format!(
                "{question} {} (nobody to ask; {flag} answers it)",
                options[unattended].1
            ));
            return Ok(unattended);
        }
        loop {
            self.printer.always(question);
            for (at, (key, text)) in options.iter().enumerate() {
                let mark = if at == unattended { " (default)" } else { "" };
                self.printer.always(&format!("  {key}  {text}{mark}"));
            }
            self.printer.always(&format!(
                "[{}] ({flag})",
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

    /// Yes or no; no where nobody is there.
    pub fn agrees(&self, question: &str, flag: &str) -> Result<bool, Interrupted> {
        Ok(self.choose(question, &[("y", "yes"), ("n", "no")], 1, flag)? == 0)
    }
}
