//! The one place to agree to many plans: shows each as it would be written, asks, and carries out
//! what the user agrees to. Called by the commands.

use std::path::Path;

use super::{
    page, posting,
    queue::{BacklogEntry, PlanState, Queue},
};
use crate::{
    cli::{Failure, Printer},
    scrub::{gh::check_version, prompt::Prompt, steps::report::lines_of_plan, tool::ExternalTools},
};

/// The answers about a plan.
const ANSWERS: [(&str, &str); 5] = [
    ("y", "yes, write it"),
    ("n", "no, do not ask about it again"),
    (
        "a",
        "show all plans of this kind, then ask about them together",
    ),
    ("s", "skip it for now"),
    ("q", "quit"),
];
const SKIP: usize = 3;

/// Whether the user wants to see the next plan.
enum NextPlan {
    Wanted,
    Unwanted,
}

/// The plans that are being looked at.
struct Approval<'a> {
    queue: Queue,
    folder: &'a Path,
    tools: &'a ExternalTools,
    printer: Printer,
    prompt: Prompt<'a>,
}

/// Shows the plans of a backlog that wait, and asks about each, the surest first.
pub fn approve(folder: &Path, tools: &ExternalTools, printer: Printer) -> Result<Queue, Failure> {
    let queue = Queue::existing(folder)?;
    let prompt = Prompt::new(tools, printer, false);
    if !prompt.is_attended() {
        return Err(
            Failure::usage("`--approve` asks at a terminal, and there is none")
                .hint("`minrepro scrub --search TEXT --post` agrees in advance to every write"),
        );
    }
    check_version(tools)?;
    let mut approval = Approval {
        queue,
        folder,
        tools,
        printer,
        prompt,
    };
    let asked = approval.ask_all();
    page::write(&approval.queue, folder)?;
    asked?;
    approval.tell_rest();
    Ok(approval.queue)
}

impl Approval<'_> {
    fn ask_all(&mut self) -> Result<(), Failure> {
        let begun = self.chosen(|entry| entry.writes == PlanState::Agreed);
        if !begun.is_empty() {
            self.printer
                .note("going on with the writes that you agreed to earlier");
            self.write(&begun)?;
        }
        let order = self.chosen(BacklogEntry::is_undecided);
        let count = order.len();
        for (index, at) in order.into_iter().enumerate() {
            // An answer about several may have decided it.
            if !self.queue.entries()[at].is_undecided() {
                continue;
            }
            self.printer
                .always(format!("\nplan {} of {count}", index + 1));
            self.show(at);
            if let NextPlan::Unwanted = self.ask(at)? {
                break;
            }
        }
        Ok(())
    }

    /// The places of some entries, the surest first.
    fn chosen(&self, is_chosen: impl Fn(&BacklogEntry) -> bool) -> Vec<usize> {
        let entries = self.queue.entries();
        let mut order: Vec<usize> = (0..entries.len())
            .filter(|at| is_chosen(&entries[*at]))
            .collect();
        order.sort_by_key(|at| page::rank(&entries[*at]));
        order
    }

    fn show(&self, at: usize) {
        let entry = &self.queue.entries()[at];
        self.printer
            .always(format!("{} {}", entry.name(), entry.title));
        self.printer.always(format!("  {}", super::in_short(entry)));
        for doubt in &entry.doubts {
            self.printer.always(format!("  in doubt: {doubt}"));
        }
        for trouble in &entry.troubles {
            self.printer
                .always(format!("  the last attempt: {trouble}"));
        }
        for line in lines_of_plan(&entry.plan) {
            self.printer.always(line);
        }
    }

    fn ask(&mut self, at: usize) -> Result<NextPlan, Failure> {
        let question = "carry it out? PyTorch requires that a person has read what is posted";
        let flag = "--search TEXT --post";
        match self.prompt.choose(question, &ANSWERS, SKIP, flag)? {
            0 => self.write(&[at])?,
            1 => {
                let mut entry = self.queue.entries()[at].clone();
                entry.writes = PlanState::Declined;
                self.queue.put(entry)?;
            }
            2 => self.ask_about_kind(at)?,
            4 => return Ok(NextPlan::Unwanted),
            _ => {}
        }
        Ok(NextPlan::Wanted)
    }

    /// Shows all plans with the same end, then asks once. Nobody agrees to what was not shown.
    fn ask_about_kind(&mut self, at: usize) -> Result<(), Failure> {
        let end = self.queue.entries()[at].end;
        let same = self.chosen(|entry| entry.is_undecided() && entry.end == end);
        for &other in same.iter().filter(|other| **other != at) {
            self.printer.always("");
            self.show(other);
        }
        let question = format!(
            "carry out all {} plans that end as {}?",
            same.len(),
            self.queue.entries()[at].ended()
        );
        if self.prompt.agrees(&question, "--search TEXT --post")? {
            // All are marked first, so that a kill takes back none of the words.
            for &at in &same {
                let mut entry = self.queue.entries()[at].clone();
                entry.writes = PlanState::Agreed;
                self.queue.put(entry)?;
            }
            self.write(&same)?;
        }
        Ok(())
    }

    fn write(&mut self, places: &[usize]) -> Result<(), Failure> {
        for &at in places {
            let entry = self.queue.entries()[at].clone();
            posting::post(
                &mut self.queue,
                entry,
                self.folder,
                self.tools,
                self.printer,
            )?;
            page::write(&self.queue, self.folder)?;
            self.tools.check()?;
        }
        Ok(())
    }

    /// Prints how many plans are left, and what else there is to do.
    fn tell_rest(&self) {
        let entries = self.queue.entries();
        let count = |is_counted: fn(&BacklogEntry) -> bool| {
            entries.iter().filter(|entry| is_counted(entry)).count()
        };
        self.printer.note(format!(
            "\n{} written, {} declined, {} still wait for your word, {} could not be written",
            count(|entry| entry.writes == PlanState::Written),
            count(|entry| entry.writes == PlanState::Declined),
            count(|entry| entry.writes == PlanState::Waiting),
            count(|entry| entry.writes == PlanState::Failed),
        ));
    }
}
