//! The one printer of the program: knows quiet, verbose and colour. Data goes to standard output,
//! everything else to standard error.

use std::io::Write;

use anstyle::{AnsiColor, Style};

use super::{
    args::{ColorWhen, Globals},
    exit::Failure,
};

/// Prints for the user.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    quiet: bool,
    verbose: bool,
}

/// Bold red, as compilers print it.
const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default().bold();

impl Printer {
    /// A printer with the user's choices.
    pub fn new(globals: Globals) -> Self {
        let choice = match globals.color {
            ColorWhen::Auto => anstream::ColorChoice::Auto,
            ColorWhen::Always => anstream::ColorChoice::AlwaysAnsi,
            ColorWhen::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
        Self {
            quiet: globals.quiet,
            verbose: globals.verbose,
        }
    }

    /// Whether only errors are wanted.
    pub fn is_quiet(self) -> bool {
        self.quiet
    }

    /// Prints data on standard output. A reader that has closed the pipe is no error.
    pub fn data(self, text: &str) {
        let _ = anstream::stdout().write_all(text.as_bytes());
    }

    /// Prints bytes as they are on standard output: nothing in them is taken for a colour.
    pub fn bytes(self, bytes: &[u8]) {
        let _ = std::io::stdout().write_all(bytes);
    }

    /// Prints a line of information.
    pub fn note(self, line: &str) {
        if !self.quiet {
            Self::line(line);
        }
    }

    /// Prints a line that belongs to a prompt or an answer, even if the user wants quiet.
    pub fn always(self, line: &str) {
        Self::line(line);
    }

    /// Prints a line for users who want details.
    pub fn detail(self, line: &str) {
        if self.verbose {
            Self::line(line);
        }
    }

    /// Prints a warning.
    pub fn warning(self, line: &str) {
        if !self.quiet {
            Self::line(&format!("{WARNING}warning:{WARNING:#} {line}"));
        }
    }

    /// Prints a failure: the error, its causes link by link, the observations, the hint.
    pub fn failure(self, failure: &Failure) {
        Self::line(&format!("{ERROR}error:{ERROR:#} {}", failure.error));
        for cause in failure.error.chain().skip(1) {
            Self::line(&format!("  cause: {cause}"));
        }
        if !failure.details.is_empty() {
            Self::line("");
            for line in &failure.details {
                Self::line(line);
            }
        }
        if let Some(hint) = &failure.hint {
            Self::line(&format!("\n{HINT}hint:{HINT:#} {hint}"));
        }
    }

    fn line(line: &str) {
        let _ = writeln!(anstream::stderr(), "{line}");
    }
}
