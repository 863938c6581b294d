//! Guesses from what a traced run of the program shows.

use std::{collections::HashSet, time::Instant};

use minrepro_reducers::{
    analysis::dependents::failing,
    cost::Cost,
    pass::{Proposal, Stage},
    registry,
    trace::evidence::Evidence,
};

use super::{Member, Session, singles};
use crate::{
    engine::{
        offer::{BATCH, Chunk, Offer},
        plan::Plan,
        types::{Event, Stop},
    },
    oracle::Verdict,
};

/// After how many guesses that miss the evidence is given up.
pub(super) const LEAPS: usize = 32;

/// After how many waves of them that teach nothing new it is given up, too.
const STALE: usize = 2;

/// The same as `LEAPS` once one of them has hit.
const LATER_LEAPS: usize = 5;

impl Session<'_> {
    /// Traces as often as that brings anything.
    pub(in crate::engine) fn leaps(&mut self) -> Result<bool, Stop> {
        let mut brought = false;
        while self.leap()? {
            brought = true;
        }
        self.leaps_left = LATER_LEAPS;
        self.leapt_at = self.base.program.size().tokens;
        Ok(brought)
    }

    /// Whether so much is gone since the last look at the whole that another may bring a gain that
    /// counts.
    pub(in crate::engine) fn is_news(&self) -> bool {
        self.traces && self.base.program.size().tokens <= gaining(self.leapt_at)
    }

    /// Traces the program and goes over to the simplest of what that suggests, if any of it shows
    /// the bug. Tells whether any did.
    ///
    /// Guesses that miss something are made anew with what their failure names. Each wave holds the
    /// boldest guesses and some safer ones.
    fn leap(&mut self) -> Result<bool, Stop> {
        let Some(evidence) = self.trace()? else {
            return Ok(false);
        };
        self.base
            .note_failing(failing(&self.base.program, &evidence));
        let mut left = self.leaps_left;
        let mut stale = 0;
        loop {
            let mut members = self.suggested(&evidence);
            // What gains little is better left to single changes.
            let least = gaining(self.base.program.size().tokens);
            members.retain(|member| {
                !self.verdicts.contains_key(&member.candidate.key)
                    && !self.judge.is_hopeless(&member.candidate)
                    && member.candidate.program.size().tokens <= least
            });
            let members = distinct(members);
            let wave = spread(members, BATCH.min(left));
            if wave.is_empty() {
                return Ok(false);
            }
            left -= wave.len();
            let plans: Vec<Plan> = wave
                .iter()
                .map(|it| Plan::Candidate(Box::new(it.candidate.clone())))
                .collect();
            self.note_makers(&wave);
            self.judge("leap", &plans)?;
            let verdicts = self.verdicts_of(&plans);
            let found = verdicts
                .iter()
                .position(|it| it.as_ref().is_some_and(Verdict::is_same));
            let mut is_news = false;
            for (member, verdict) in wave.iter().zip(&verdicts) {
                match verdict {
                    Some(Verdict::Different(it)) => {
                        let mut lines = member.candidate.program.text().lines();
                        let line = it
                            .line
                            .and_then(|line| lines.nth(line.saturating_sub(1) as usize));
                        is_news |= self.missing.learn(
                            self.base.program.text(),
                            &it.class,
                            &it.message,
                            line,
                        );
                    }
                    // What failed went well: it was given something else.
                    Some(Verdict::Passed) => {
                        let lines: Vec<&str> = self.base.program.text().lines().collect();
                        for frame in &evidence.failure {
                            let line = lines.get(frame.line as usize - 1).copied();
                            is_news |= self.missing.learn("", "", "", line);
                        }
                    }
                    _ => {}
                }
            }
            if let Some(member) = found.and_then(|at| wave.into_iter().nth(at)) {
                self.leaps_left = BATCH;
                self.go_over(member);
                return Ok(true);
            }
            self.check_budget()?;
            stale = if is_news { 0 } else { stale + 1 };
            if stale == STALE {
                return Ok(false);
            }
        }
    }

    /// What evidence suggests, the simplest first.
    fn suggested(&self, evidence: &Evidence) -> Vec<Member> {
        let proposals: Vec<Proposal> = registry::of_stage(&self.passes, Stage::Leap)
            .iter()
            .flat_map(|pass| pass.proposals_with(&self.base.program, Some(evidence), &self.missing))
            .collect();
        let mut members = singles(&self.base, &Offer::new(&self.base, proposals));
        members.sort_by_cached_key(|member| Cost::of(&member.candidate.program));
        members.dedup_by_key(|member| member.candidate.key);
        members
    }

    /// What a traced run of the program shows; a run like any other, and remembered like one.
    fn trace(&mut self) -> Result<Option<Evidence>, Stop> {
        // What does not show the bug when it is watched is not watched again.
        let (true, Plan::Candidate(candidate)) = (self.traces, self.base.itself()) else {
            return Ok(None);
        };
        if let Some(known) = self.journal.trace(&candidate.key) {
            self.tally.journal_hits += 1;
            self.traces = known.is_some();
            return Ok(known);
        }
        self.check_budget()?;
        (self.watch)(
            &Event::Batch {
                pass: "trace",
                candidates: 1,
            },
            &self.tally,
        );
        let started = Instant::now();
        let evidence = self.judge.trace(&candidate).map_err(Stop::Halted)?;
        let spent = self.spent.entry("trace".to_owned()).or_default();
        spent.runs += 1;
        spent.seconds += started.elapsed().as_secs_f64();
        self.tally.runs += 1;
        if !self.journal_failed
            && let Err(error) = self.journal.put_trace(candidate.key, evidence.clone())
        {
            self.journal_failed = true;
            (self.watch)(&Event::JournalFailed { error: &error }, &self.tally);
        }
        Ok(evidence)
    }
}

/// How many tokens a guess may have at most.
fn gaining(tokens: u32) -> u32 {
    tokens * 9 / 10
}

/// Of guesses, the simplest first, that are about as large, the largest: it holds what the others
/// do, and a bit more, unless their pass says that they are of different parts.
fn distinct(members: Vec<Member>) -> Vec<Member> {
    let mut kept: Vec<(u32, Member)> = Vec::new();
    for member in members {
        let tokens = member.candidate.program.size().tokens;
        let chunk = &member.chunk;
        let is_other = |it: &Chunk| it.pass() == chunk.pass() && it.group != chunk.group;
        match kept.last_mut() {
            Some((first, last)) if tokens * 20 <= *first * 21 && !is_other(&last.chunk) => {
                *last = member;
            }
            _ => kept.push((tokens, member)),
        }
    }
    kept.into_iter().map(|(_, member)| member).collect()
}

/// Some of a row: the first of it, and of the rest some at even distances, the last among them.
fn spread<T>(row: Vec<T>, count: usize) -> Vec<T> {
    let safe = (count / 2).min(row.len().saturating_sub(count - count / 2));
    let bold = count.min(row.len()) - safe;
    let rest = row.len() - bold;
    let chosen: HashSet<usize> = (1..=safe)
        .map(|n| bold + rest * n / safe - 1)
        .chain(0..bold)
        .collect();
    row.into_iter()
        .enumerate()
        .filter(|(at, _)| chosen.contains(at))
        .map(|(_, it)| it)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use minrepro_reducers::{pass::Prior, rewrite::edit::EditSet, syntax::Program};

    use super::*;
    use crate::{engine::beliefs::Name, journal::Key, judge::Candidate};

    /// A guess of so many tokens.
    fn guess(tokens: u32, pass: &'static str, group: u32) -> Member {
        let row = "x\n".repeat(tokens as usize);
        let program = (1..=row.len() / 2)
            .map(|lines| Program::parse(row[..2 * lines].to_owned()).unwrap())
            .find(|program| program.size().tokens >= tokens)
            .unwrap();
        let names = vec![Name {
            pass,
            prior: Prior::Likely,
            print: 0,
        }];
        let edits = EditSet::default();
        let bytes = program.text().as_bytes();
        let candidate = Candidate {
            key: Key::of(bytes),
            bytes: bytes.into(),
            program: Arc::new(program),
            edits: edits.clone(),
            variables: Arc::default(),
        };
        let chunk = Chunk {
            edits,
            names,
            note: String::new(),
            units: Vec::new(),
            group,
            widened: false,
        };
        Member { chunk, candidate }
    }

    fn sizes(guesses: Vec<Member>) -> Vec<u32> {
        distinct(guesses)
            .iter()
            .map(|it| it.candidate.program.size().tokens)
            .collect()
    }

    #[test]
    fn of_guesses_about_as_large_the_largest_stays() {
        let guesses = vec![
            guess(40, "a", 0),
            guess(41, "b", 1),
            guess(42, "a", 0),
            guess(43, "a", 0),
        ];
        assert_eq!(sizes(guesses), [42, 43]);
    }

    #[test]
    fn guesses_of_different_parts_stay() {
        let guesses = vec![guess(40, "a", 0), guess(41, "a", 1), guess(42, "a", 1)];
        assert_eq!(sizes(guesses), [40, 42]);
    }

    #[test]
    fn a_wave_has_the_boldest_and_some_at_even_distances() {
        assert_eq!(spread((0..3).collect(), 8), [0, 1, 2]);
        assert_eq!(spread((0..20).collect(), 8), [0, 1, 2, 3, 7, 11, 15, 19]);
        assert!(spread(Vec::<u32>::new(), 8).is_empty() && spread(vec![1], 0).is_empty());
    }
}
