//! The answers of the tools, built from the events that the program printed. Pure.

use serde_json::{Value, json};

use super::program::OwnRunEnd;
use crate::report::{EventRecord, Report};

/// The events of a run that an answer is made of.
#[derive(Default)]
pub(super) struct Heard {
    /// The report of a reduction.
    pub(super) report: Option<Box<Report>>,
    checked: Vec<Value>,
    failure: Option<Value>,
    status: Option<String>,
}

/// Progress, for whoever waits.
pub(super) struct ProgressStep {
    /// How far it is: candidate runs, which only grow.
    pub(super) runs: u64,
    /// The same in words.
    pub(super) words: String,
}

impl Heard {
    /// Takes an event, and makes progress of it, if it is some.
    pub(super) fn hear(&mut self, line: &str) -> Option<ProgressStep> {
        let event: EventRecord = serde_json::from_str(line).ok()?;
        let step = |runs, words| Some(ProgressStep { runs, words });
        match event {
            EventRecord::Signature { signature, .. } => step(0, format!("the bug: {signature}")),
            EventRecord::Improvement { change, so_far } => step(
                so_far.runs,
                format!("{} tokens: {}", so_far.tokens, change.note),
            ),
            EventRecord::Batch { pass, so_far, .. } => {
                step(so_far.runs, format!("{} tokens, {pass}", so_far.tokens))
            }
            EventRecord::BaselineRun {
                number, summary, ..
            } => step(number as u64, summary),
            EventRecord::Checked { .. } | EventRecord::Candidate { .. } => {
                self.checked.extend(serde_json::to_value(event));
                None
            }
            EventRecord::Error { .. } => {
                self.failure = serde_json::to_value(event).ok();
                None
            }
            EventRecord::Report(report) => {
                self.report = Some(report);
                None
            }
            EventRecord::End { name, .. } => {
                self.status = Some(name);
                None
            }
            _ => None,
        }
    }

    /// The answer of `check`.
    pub(super) fn of_check(&self, ended: &OwnRunEnd) -> Value {
        let mut answer = self.end(ended);
        for event in &self.checked {
            let found = event["event"].as_str().unwrap_or_default();
            answer[found] = event.clone();
        }
        answer
    }

    /// The answer of `minimize`: only what an agent needs to go on, not the whole report.
    pub(super) fn of_minimize(&self, ended: &OwnRunEnd) -> Value {
        let mut answer = self.end(ended);
        let Some(report) = &self.report else {
            return answer;
        };
        let needed = report.ablation.conditions.iter();
        let needed = needed.filter(|condition| condition.is_needed());
        let needed: Vec<&str> = needed.map(|condition| condition.name.as_str()).collect();
        answer["text"] = report.programs.text_after.as_str().into();
        answer["signature"] = report.signature.as_str().into();
        answer["before"] = json!(report.programs.before);
        answer["after"] = json!(report.programs.after);
        answer["confirmed"] = json!(report.reproduction.confirmed);
        answer["findings"] = json!(report.reproduction.truth.findings);
        answer["needed"] = json!(needed);
        answer["stop"] = report.stop.as_str().into();
        answer["verify"] = report.programs.verify.as_str().into();
        answer
    }

    /// How it ended.
    fn end(&self, ended: &OwnRunEnd) -> Value {
        let mut answer = json!({"status": self.status, "exit_code": ended.code});
        match &self.failure {
            Some(failure) => answer["error"] = failure.clone(),
            None if self.status.is_none() => answer["error"] = json!({"message": ended.said}),
            None => {}
        }
        answer
    }
}
