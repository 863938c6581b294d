//! The one printer of the program: knows quiet, verbose and colour. Data goes to standard output,
//! everything else to standard error.

use std::io::{self, IsTerminal, Write};

use anstyle::{AnsiColor, Style};

use super::{
    args::{ColorWhen, Globals},
    exit::Failure,
    painted::Painted,
};

/// Prints for the user.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    quiet: bool,
    verbose: bool,
    muted: bool,
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
            muted: false,
        }
    }

    /// A printer for one of many tasks, which prints nothing unless the user wants details.
    #[must_use]
    pub fn for_one_of_many(self) -> Self {
        Self {
            quiet: self.quiet || !self.verbose,
            muted: !self.verbose,
            ..self
        }
    }

    /// Whether only errors are wanted.
    pub fn is_quiet(self) -> bool {
        self.quiet
    }

    /// Prints data on standard output. A reader that has closed the pipe is no error.
    pub fn data(self, text: impl Into<Painted>) {
        let _ = anstream::stdout().write_all(text.into().to_string().as_bytes());
    }

    /// Prints a file's bytes on standard output: as they are, but for people on a terminal.
    ///
    /// # Errors
    ///
    /// They cannot be written. A reader that has closed the pipe is no error.
    pub fn file(self, bytes: &[u8]) -> io::Result<()> {
        let mut stdout = io::stdout();
        if stdout.is_terminal() {
            self.data(String::from_utf8_lossy(bytes));
            return Ok(());
        }
        match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }

    /// Prints a line of information.
    pub fn note(self, line: impl Into<Painted>) {
        if !self.quiet {
            Self::line(line);
        }
    }

    /// Prints a line that belongs to a prompt or an answer, even if the user wants quiet.
    pub fn always(self, line: impl Into<Painted>) {
        if !self.muted {
            Self::line(line);
        }
    }

    /// Prints a line for users who want details.
    pub fn detail(self, line: impl Into<Painted>) {
        if self.verbose {
            Self::line(line);
        }
    }

    /// Prints a warning.
    pub fn warning(self, line: &str) {
        if !self.quiet {
            Self::line(
                Painted::default()
                    .with(WARNING, "warning:")
                    .plain(format!(" {line}")),
            );
        }
    }

    /// Prints a failure: the error, its causes link by link, the observations, the hint.
    pub fn failure(self, failure: &Failure) {
        Self::line(
            Painted::default()
                .with(ERROR, "error:")
                .plain(format!(" {}", failure.error)),
        );
        for cause in failure.error.chain().skip(1) {
            Self::line(format!("  cause: {cause}"));
        }
        if !failure.details.is_empty() {
            Self::line("");
            for line in &failure.details {
                Self::line(line.as_str());
            }
        }
        if let Some(hint) = &failure.hint {
            Self::line(
                Painted::from("\n")
                    .with(HINT, "hint:")
                    .plain(format!(" {hint}")),
            );
        }
    }

    fn line(line: impl Into<Painted>) {
        let _ = writeln!(anstream::stderr(), "{}", line.into());
    }
}
