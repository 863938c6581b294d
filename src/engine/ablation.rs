//! The ablation: each condition of the result is removed once and the outcome recorded. A removal
//! that makes the bug disappear is repeated before the condition is called needed. Called after the
//! final sweep.

use std::sync::Arc;

use minrepro_reducers::{
    rewrite::edit::EditSet,
    syntax::Program,
    torch::ablation::{Condition, ConditionChange, ConditionKind},
};
use serde::{Deserialize, Serialize};

use super::types::{Event, Tally};
use crate::{
    journal::{Journal, Key},
    judge::{Candidate, Halt, Judge, Judged},
    oracle::Verdict,
};

/// A condition, and the outcome without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Ablated {
    /// Its kind.
    #[serde(rename = "sort")]
    pub kind: ConditionKind,
    /// Its usual name.
    pub name: String,
    /// The text that replaced it; none if it was only removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<String>,
    /// The line of the result that it stands on first, counted from 1; none where it is no part of
    /// the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The outcome without it, in the last run of that.
    pub verdict: Verdict,
}

impl Ablated {
    /// Whether the bug did not show without it.
    pub fn is_needed(&self) -> bool {
        !self.verdict.is_same()
    }
}

/// The outcome of all conditions.
#[derive(Debug, Default)]
pub struct Ablation {
    /// Those that were tried, in the order in which people ask for them.
    pub tried: Vec<Ablated>,
    /// How many runs that took.
    pub runs: u64,
    /// How many of them showed the bug by the program as it is, under other variables.
    pub confirming: usize,
    /// How many conditions seemed to be needed until that was repeated.
    pub taken_back: usize,
    /// How many conditions were not tried, since a budget was spent or somebody interrupted.
    pub left: usize,
    /// The reason that stopped it.
    pub halt: Option<Halt>,
}

/// Removes conditions from a program, one by one, in `budget` runs at most.
pub fn ablate(
    program: &Program,
    conditions: Vec<Condition>,
    judge: &mut dyn Judge,
    journal: &mut Journal,
    budget: Option<u64>,
    watch: &mut dyn FnMut(&Event<'_>, &Tally),
) -> Ablation {
    let mut open: Vec<(Condition, Candidate)> = conditions
        .into_iter()
        .filter_map(|condition| Some((condition.clone(), without(program, &condition)?)))
        .collect();
    open.sort_by_key(|(condition, _)| condition.kind);
    let size = program.size().tokens;
    let tally = Tally {
        tokens_before: size,
        tokens_now: size,
        ..Tally::default()
    };
    watch(
        &Event::Batch {
            pass: "ablation",
            candidates: open.len(),
        },
        &tally,
    );
    let mut ablation = Ablation::default();
    let mut first = first_verdicts(&mut ablation, &open, judge, journal, budget);
    // That a condition is needed is a claim that people act on, so one run is not enough for it;
    // that it is not needed was shown by a run that did without.
    let missed: Vec<usize> = (0..open.len())
        .filter(|&at| first[at].as_ref().is_some_and(|verdict| !verdict.is_same()))
        .collect();
    let surely = if ablation.halt.is_none() {
        judged(&mut ablation, &open, &missed, budget, judge, true)
    } else {
        Vec::new()
    };
    let is_same = |(_, judged): &&(usize, Judged)| judged.verdict.is_same();
    ablation.taken_back = surely.iter().filter(is_same).count();
    ablation.left = open.len();
    for (at, (condition, _)) in open.into_iter().enumerate() {
        let repeated = surely.iter().find(|(place, _)| *place == at);
        let verdict = match repeated {
            Some((_, judged)) => Some(judged.verdict.clone()),
            None => first[at].take().filter(Verdict::is_same),
        };
        ablation.tried.extend(verdict.map(|verdict| Ablated {
            kind: condition.kind,
            name: condition.name,
            instead: condition.instead,
            line: condition.line,
            verdict,
        }));
    }
    ablation.left -= ablation.tried.len();
    ablation
}

/// The first verdict without each condition, as far as the budget reaches.
fn first_verdicts(
    ablation: &mut Ablation,
    open: &[(Condition, Candidate)],
    judge: &mut dyn Judge,
    journal: &mut Journal,
    budget: Option<u64>,
) -> Vec<Option<Verdict>> {
    // A condition that the final sweep or an earlier session decided needs no first run.
    let mut first: Vec<Option<Verdict>> = open
        .iter()
        .map(|(_, candidate)| journal.get(&candidate.key))
        .map(|record| record.map(|record| record.verdict.clone()))
        .collect();
    let unknown: Vec<usize> = (0..open.len()).filter(|&at| first[at].is_none()).collect();
    for (at, judged) in judged(ablation, open, &unknown, budget, judge, false) {
        let candidate = &open[at].1;
        // Under other variables it is the result itself that was run, so the run confirms it.
        let confirms = judged.verdict.is_same() && !candidate.variables.is_empty();
        ablation.confirming += usize::from(confirms);
        // Where the journal cannot be written, the engine has said so.
        let _ = journal.put(candidate.key, judged.record());
        first[at] = Some(judged.verdict);
    }
    first
}

/// Has some candidates judged as far as the budget reaches.
fn judged(
    ablation: &mut Ablation,
    open: &[(Condition, Candidate)],
    which: &[usize],
    budget: Option<u64>,
    judge: &mut dyn Judge,
    surely: bool,
) -> Vec<(usize, Judged)> {
    let room = budget.map_or(usize::MAX, |budget| {
        budget.saturating_sub(ablation.runs) as usize
    });
    let which = &which[..which.len().min(room)];
    if which.is_empty() {
        return Vec::new();
    }
    let batch: Vec<Candidate> = which.iter().map(|&at| open[at].1.clone()).collect();
    let mut found = Vec::new();
    let mut deliver = |index: usize, judged: Judged| {
        ablation.runs += judged.runs;
        found.push((which[index], judged));
    };
    let result = if surely {
        judge.judge_surely(&batch, &mut deliver)
    } else {
        judge.judge(&batch, &mut deliver)
    };
    ablation.halt = result.err();
    found.sort_by_key(|(at, _)| *at);
    found
}

/// A program without a condition.
fn without(program: &Program, condition: &Condition) -> Option<Candidate> {
    let (text, variables) = match &condition.change {
        ConditionChange::Edits(edits) => (edits.apply(program).ok()?.into(), Vec::new()),
        ConditionChange::Variables(variables) => (program.shared_text(), variables.clone()),
    };
    let program = program.sibling(text).ok()?;
    let bytes = program.encode()?;
    let mut content = bytes.clone();
    for (name, value) in &variables {
        // No program has a zero byte.
        content.extend(format!("\0{name}={value:?}").into_bytes());
    }
    Some(Candidate {
        key: Key::of(&content),
        bytes: bytes.into(),
        program: Arc::new(program),
        edits: EditSet::default(),
        variables: variables.into(),
    })
}

#[cfg(test)]
mod tests {
    use minrepro_reducers::torch::ablation::conditions;

    use super::*;

    /// Shows the bug while the text holds these, and A is set; and whatever happens, once it is to
    /// be sure.
    #[derive(Default)]
    struct Fake {
        wanted: Vec<&'static str>,
        sure: Option<Verdict>,
        batches: Vec<usize>,
        halts: bool,
    }

    impl Fake {
        fn verdict(&self, candidate: &Candidate) -> Verdict {
            let is_set = candidate.variables.iter().all(|(name, _)| name != "A");
            let shows = is_set
                && self
                    .wanted
                    .iter()
                    .all(|text| candidate.program.text().contains(text));
            if shows {
                Verdict::Same
            } else {
                Verdict::Passed
            }
        }
    }

    impl Judge for Fake {
        fn judge(
            &mut self,
            batch: &[Candidate],
            deliver: &mut dyn FnMut(usize, Judged),
        ) -> Result<(), Halt> {
            self.batches.push(batch.len());
            for (at, candidate) in batch.iter().enumerate() {
                if self.halts && at == 1 {
                    return Err(Halt::MaxTime);
                }
                deliver(
                    at,
                    Judged {
                        verdict: self.verdict(candidate),
                        seconds: 0.0,
                        runs: 1,
                    },
                );
            }
            Ok(())
        }

        fn judge_surely(
            &mut self,
            batch: &[Candidate],
            deliver: &mut dyn FnMut(usize, Judged),
        ) -> Result<(), Halt> {
            self.batches.push(batch.len());
            for (at, candidate) in batch.iter().enumerate() {
                let verdict = self.sure.clone().unwrap_or_else(|| self.verdict(candidate));
                deliver(
                    at,
                    Judged {
                        verdict,
                        seconds: 0.0,
                        runs: 1,
                    },
                );
            }
            Ok(())
        }
    }

    const TEXT: &str = "import torch\nf = torch.compile(g, dynamic=True, fullgraph=True)\n";

    fn run(judge: &mut Fake, journal: &mut Journal, budget: Option<u64>) -> Ablation {
        let program = Program::parse(TEXT).unwrap();
        let env = [
            ("A".to_owned(), "1".to_owned()),
            ("OMP_NUM_THREADS".to_owned(), "1".to_owned()),
        ];
        ablate(
            &program,
            conditions(&program, &env),
            judge,
            journal,
            budget,
            &mut |_, _| {},
        )
    }

    fn needed(ablation: &Ablation) -> Vec<&str> {
        ablation
            .tried
            .iter()
            .filter(|condition| condition.is_needed())
            .map(|condition| condition.name.as_str())
            .collect()
    }

    #[test]
    fn what_is_needed_is_repeated_and_what_was_settled_is_not_run_again() {
        let mut judge = Fake {
            wanted: vec!["dynamic=True"],
            ..Fake::default()
        };
        let mut journal = Journal::in_memory();
        let ablation = run(&mut judge, &mut journal, None);
        assert_eq!(needed(&ablation), ["torch.compile", "dynamic=True", "A=1"]);
        let names: Vec<&str> = ablation
            .tried
            .iter()
            .map(|condition| condition.name.as_str())
            .collect();
        assert_eq!(
            names,
            [
                "torch.compile",
                "fullgraph=True",
                "dynamic=True",
                "A=1",
                "OMP_NUM_THREADS=1"
            ]
        );
        assert_eq!(
            (judge.batches.as_slice(), ablation.runs, ablation.left),
            ([5, 3].as_slice(), 8, 0)
        );
        assert_eq!(
            ablation.confirming, 1,
            "the program itself showed the bug without OMP_NUM_THREADS"
        );
        let again = run(&mut judge, &mut journal, None);
        assert_eq!((again.runs, again.confirming), (3, 0));
    }

    #[test]
    fn what_shows_the_bug_when_it_is_repeated_is_not_needed() {
        let mut judge = Fake {
            wanted: vec!["dynamic=True"],
            sure: Some(Verdict::Same),
            ..Fake::default()
        };
        let ablation = run(&mut judge, &mut Journal::in_memory(), None);
        assert!(needed(&ablation).is_empty() && ablation.taken_back == 3);
    }

    #[test]
    fn nothing_is_claimed_that_was_not_run() {
        let mut judge = Fake {
            wanted: vec!["dynamic=True"],
            ..Fake::default()
        };
        let ablation = run(&mut judge, &mut Journal::in_memory(), Some(6));
        assert_eq!(
            (ablation.runs, ablation.left, needed(&ablation)),
            (6, 2, vec!["torch.compile"])
        );
        let mut judge = Fake {
            wanted: vec!["dynamic=True"],
            halts: true,
            ..Fake::default()
        };
        let ablation = run(&mut judge, &mut Journal::in_memory(), None);
        assert!(ablation.tried.is_empty() && ablation.left == 5 && ablation.halt.is_some());
    }
}
