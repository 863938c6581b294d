//! Progress as it happens: one moving line on a terminal, plain lines elsewhere, JSON for programs.

use std::{io::IsTerminal, time::Duration};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use crate::{
    cli::{Format, Printer},
    engine::{Event, Retraction, Tally},
};

/// Prints events in the form that the user wants.
pub struct Progress {
    sink: Sink,
    printer: Printer,
    started: std::time::Instant,
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
            Format::Human if std::io::stderr().is_terminal() => Sink::Bar(bar()),
            Format::Human => Sink::Lines,
        };
        Self {
            sink,
            printer,
            started: std::time::Instant::now(),
        }
    }

    /// Prints nothing.
    pub fn silent(printer: Printer) -> Self {
        Self {
            sink: Sink::Silent,
            printer,
            started: std::time::Instant::now(),
        }
    }

    /// Prints what is being done.
    pub fn phase(&self, what: &str) {
        match &self.sink {
            Sink::Bar(bar) => bar.set_message(what.to_owned()),
            Sink::Lines => self.printer.note(what),
            Sink::Json => self
                .printer
                .data(&format!("{}\n", json!({"event": "phase", "what": what}))),
            Sink::Silent => {}
        }
    }

    /// Prints an event.
    pub fn event(&self, event: &Event<'_>, tally: &Tally) {
        match event {
            Event::RolledBack { retraction, .. } => self.aside(&match retraction {
                Retraction::Accepted(reason) => {
                    format!("went back to the last confirmed result, since chance accepted a later one: {reason}")
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
            Sink::Json => self.printer.data(&format!("{}\n", as_json(event, tally))),
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
        let pass = if let Event::Batch { pass, .. } = event {
            pass
        } else {
            ""
        };
        if let Event::Commit { commit, .. } = event {
            let line = format!(
                "  {:>6} tokens  {}: {}",
                commit.tokens, commit.pass, commit.note
            );
            bar.suspend(|| self.printer.detail(&line));
        }
        if !pass.is_empty() {
            bar.set_prefix((*pass).to_owned());
        }
        let seconds = self.started.elapsed().as_secs_f64().max(0.001);
        bar.set_message(format!(
            "{} -> {} tokens, {} removed; {} runs, {:.1}/s",
            tally.tokens_before,
            tally.tokens_now,
            share(tally),
            tally.runs,
            tally.runs as f64 / seconds
        ));
    }

    fn as_line(&self, event: &Event<'_>, tally: &Tally) {
        if let Event::Commit { commit, .. } = event {
            self.printer.note(&format!(
                "{:>6} tokens, {} removed after {} runs  {}",
                tally.tokens_now,
                share(tally),
                commit.run,
                commit.pass
            ));
            self.printer.detail(&format!("        {}", commit.note));
        }
    }

    /// Clears the moving line.
    pub fn finish(&self) {
        if let Sink::Bar(bar) = &self.sink {
            bar.finish_and_clear();
        }
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    bar.set_draw_target(ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix:20} {wide_msg} {elapsed}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

fn share(tally: &Tally) -> String {
    let left = f64::from(tally.tokens_now) / f64::from(tally.tokens_before.max(1));
    format!("{:.0} %", 100.0 * (1.0 - left))
}

fn as_json(event: &Event<'_>, tally: &Tally) -> serde_json::Value {
    let mut value = match event {
        Event::Batch { pass, candidates } => {
            json!({"event": "batch", "pass": pass, "candidates": candidates})
        }
        Event::Run {
            verdict,
            from_journal,
        } => {
            json!({"event": "run", "verdict": verdict, "from_journal": from_journal})
        }
        Event::Commit { commit, .. } => json!({"event": "commit", "commit": commit}),
        Event::RolledBack { retraction, .. } => {
            json!({"event": "rolled-back", "reason": retraction.reason()})
        }
        Event::PassFailed { pass, message } => {
            json!({"event": "pass-failed", "pass": pass, "message": message})
        }
        Event::JournalFailed { error } => {
            json!({"event": "journal-failed", "message": error.to_string()})
        }
    };
    value["runs"] = tally.runs.into();
    value["tokens"] = tally.tokens_now.into();
    value
}
