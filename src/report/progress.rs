//! Progress as it happens: a line that moves on a terminal, plain lines elsewhere, JSON for
//! machines.

use std::{io::IsTerminal, time::Duration};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;

use crate::{
    cli::{Format, Printer},
    engine::{Event, Retraction, Tally},
};

/// Tells what happens in the form that the user wants.
pub struct Progress {
    form: Form,
    printer: Printer,
    started: std::time::Instant,
}

enum Form {
    Bar(ProgressBar),
    Lines,
    Json,
    Silent,
}

impl Progress {
    /// A bar where standard error is a terminal.
    pub fn new(printer: Printer, format: Format) -> Self {
        let form = match format {
            Format::Jsonl => Form::Json,
            Format::Human if printer.is_quiet() => Form::Silent,
            Format::Human if std::io::stderr().is_terminal() => Form::Bar(bar()),
            Format::Human => Form::Lines,
        };
        Self {
            form,
            printer,
            started: std::time::Instant::now(),
        }
    }

    /// Tells nothing.
    pub fn silent(printer: Printer) -> Self {
        Self {
            form: Form::Silent,
            printer,
            started: std::time::Instant::now(),
        }
    }

    /// Tells what is being done before the reduction.
    pub fn phase(&self, what: &str) {
        match &self.form {
            Form::Bar(bar) => bar.set_message(what.to_owned()),
            Form::Lines => self.printer.note(what),
            Form::Json => self
                .printer
                .data(&format!("{}\n", json!({"event": "phase", "what": what}))),
            Form::Silent => {}
        }
    }

    /// Tells an event.
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
                    "pass {pass} failed and is off from here on: {message}"
                ));
            }
            Event::JournalFailed { error } => {
                self.aside(&format!(
                    "the journal can not be written any more, a rerun will start anew: {error}"
                ));
            }
            _ => {}
        }
        match &self.form {
            Form::Bar(bar) => self.on_bar(bar, event, tally),
            Form::Lines => self.as_line(event, tally),
            Form::Json => self.printer.data(&format!("{}\n", as_json(event, tally))),
            Form::Silent => {}
        }
    }

    fn aside(&self, message: &str) {
        match &self.form {
            Form::Bar(bar) => bar.suspend(|| self.printer.warning(message)),
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
            "{} -> {} tokens, {} gone; {} runs, {:.1}/s",
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
                "{:>6} tokens, {} gone after {} runs  {}",
                tally.tokens_now,
                share(tally),
                commit.run,
                commit.pass
            ));
            self.printer.detail(&format!("        {}", commit.note));
        }
    }

    /// Clears what moves.
    pub fn finish(&self) {
        if let Form::Bar(bar) = &self.form {
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
