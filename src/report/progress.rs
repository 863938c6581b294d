//! Progress as it happens: a moving line and the best program so far on a terminal, plain lines
//! elsewhere, JSON for programs.

use std::{cell::RefCell, io::IsTerminal, time::Duration};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{
    best::Best,
    events::{EventRecord, Phase},
    words,
};
use crate::{
    cli::{Format, Printer},
    engine::{Event, Retraction, Tally},
    text::visible,
};

/// The columns of a line on a terminal that are not the message: the spinner, the time, the spaces
/// between.
const AROUND: usize = 10;

/// Prints events in the form that the user wants.
pub struct Progress {
    sink: Sink,
    printer: Printer,
    started: std::time::Instant,
    doing: RefCell<Doing>,
}

/// The state of the work as a terminal shows it.
#[derive(Default)]
struct Doing {
    /// The step, in words.
    what: String,
    /// How far the search has come, if it is under way.
    tally: Option<Tally>,
    best: Best,
}

enum Sink {
    Bar(ProgressBar),
    Lines,
    Json,
    Silent,
}

impl Progress {
    /// A bar where standard error is a terminal.
    pub fn new(printer: Printer, format: Format) -> Self {
        let sink = match format {
            Format::Jsonl => Sink::Json,
            Format::Human if printer.is_quiet() => Sink::Silent,
            Format::Human if std::io::stderr().is_terminal() && !is_dumb() => Sink::Bar(bar()),
            Format::Human => Sink::Lines,
        };
        Self::on(sink, printer)
    }

    /// Prints nothing.
    pub fn silent(printer: Printer) -> Self {
        Self::on(Sink::Silent, printer)
    }

    fn on(sink: Sink, printer: Printer) -> Self {
        Self {
            sink,
            printer,
            started: std::time::Instant::now(),
            doing: RefCell::default(),
        }
    }

    /// Prints a step on the way, which only a moving line has room for.
    pub fn step(&self, what: &str) {
        if let Sink::Bar(bar) = &self.sink {
            what.clone_into(&mut self.doing.borrow_mut().what);
            self.draw(bar);
        }
    }

    /// Prints that a phase begins.
    pub fn phase(&self, phase: Phase) {
        let record = EventRecord::Phase { phase };
        match (&self.sink, phase.words()) {
            (Sink::Bar(_), Some(words)) => self.step(words),
            (_, words) => self.record(&record, words),
        }
    }

    /// Prints a record for programs, and its words for people, which stay on the screen.
    pub fn record(&self, record: &EventRecord, words: Option<&str>) {
        match (&self.sink, words) {
            (Sink::Json, _) => self.printer.data(record.line()),
            (Sink::Bar(bar), Some(words)) => bar.suspend(|| self.printer.note(words)),
            (Sink::Lines, Some(words)) => self.printer.note(words),
            _ => {}
        }
    }

    /// Prints an event.
    pub fn event(&self, event: &Event<'_>, tally: &Tally) {
        match event {
            Event::RolledBack { retraction, .. } => self.aside(&match retraction {
                Retraction::Accepted(reason) => {
                    format!("went back to the last confirmed result, since a later one was wrongly accepted: {reason}")
                }
                Retraction::All(reason) => format!(
                    "went back to the last result that a fresh interpreter confirmed, and continues with cold runs: {reason}"
                ),
            }),
            Event::PassFailed { pass, message } => {
                self.aside(&format!(
                    "pass `{pass}` failed and is switched off: {message}"
                ));
            }
            Event::JournalFailed { error } => {
                self.aside(&format!(
                    "the journal cannot be written any more, so a rerun starts from the beginning: {error}"
                ));
            }
            _ => {}
        }
        match &self.sink {
            Sink::Bar(bar) => self.on_bar(bar, event, tally),
            Sink::Lines => self.as_line(event, tally),
            Sink::Json => self
                .printer
                .data(EventRecord::of_search(event, tally).line()),
            Sink::Silent => {}
        }
    }

    fn aside(&self, message: &str) {
        match &self.sink {
            Sink::Bar(bar) => bar.suspend(|| self.printer.warning(message)),
            _ => self.printer.warning(message),
        }
    }

    fn on_bar(&self, bar: &ProgressBar, event: &Event<'_>, tally: &Tally) {
        {
            let mut doing = self.doing.borrow_mut();
            match event {
                Event::Batch { pass, .. } => doing.what = words::of_pass(pass),
                Event::Commit { program, .. } | Event::RolledBack { program, .. } => {
                    doing.best = doing.best.followed_by(program.text());
                }
                _ => {}
            }
            doing.tally = Some(*tally);
        }
        if let Event::Commit { commit, .. } = event {
            let line = format!(
                "  {:>6} tokens  {}: {}",
                commit.tokens, commit.pass, commit.note
            );
            bar.suspend(|| self.printer.detail(line));
        }
        self.draw(bar);
    }

    /// Draws the moving line and the best program as wide and as high as the terminal is now.
    fn draw(&self, bar: &ProgressBar) {
        let (rows, columns): (usize, usize) =
            rustix::termios::tcgetwinsize(rustix::stdio::stderr())
                .map_or((0, 80), |size| (size.ws_row.into(), size.ws_col.into()));
        let doing = self.doing.borrow();
        let line = words::line(
            &visible(&doing.what),
            doing.tally.as_ref(),
            self.started.elapsed().as_secs_f64(),
            columns.saturating_sub(AROUND),
        );
        let in_colour = anstream::AutoStream::choice(&std::io::stderr());
        let in_colour = in_colour != anstream::ColorChoice::Never;
        bar.set_prefix(doing.best.rows((rows, columns), in_colour));
        bar.set_message(line);
    }

    fn as_line(&self, event: &Event<'_>, tally: &Tally) {
        if let Event::Commit { commit, .. } = event {
            self.printer.note(format!(
                "{:>6} tokens, {} removed after {} runs  {}",
                tally.tokens_now,
                share(tally),
                commit.run,
                commit.pass
            ));
            self.printer.detail(format!("        {}", commit.note));
        }
    }

    /// Clears the moving line.
    pub fn finish(&self) {
        if let Sink::Bar(bar) = &self.sink {
            bar.finish_and_clear();
        }
    }
}

/// Whether the terminal cannot move its cursor.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb")
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    bar.set_draw_target(ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}\n{prefix}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

fn share(tally: &Tally) -> String {
    let left = f64::from(tally.tokens_now) / f64::from(tally.tokens_before.max(1));
    format!("{:.0} %", 100.0 * (1.0 - left))
}
