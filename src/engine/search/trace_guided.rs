//! Trace-guided steps: bold candidates made from the evidence of a traced run, each a whole
//! program. A success saves the search hundreds of runs.

use std::{collections::HashSet, sync::Arc, time::Instant};

use minrepro_reducers::{
    analysis::failing, cost::Cost, pass::Stage, registry, syntax::Program,
    trace::evidence::Evidence,
};

use super::{ChunkCandidate, Search};
use crate::{
    engine::{
        base::Attempt,
        tuning::{ABOUT_AS_LARGE, BATCH, GAINING_TENTHS, LATER_GUESSES, STALE_WAVES},
        types::{Event, Stop},
    },
    oracle::Verdict,
};

impl Search<'_> {
    /// Makes trace-guided steps as long as one succeeds: each success is another program, whose own
    /// trace may show more.
    pub(in crate::engine) fn trace_guided(&mut self) -> Result<bool, Stop> {
        let mut brought = false;
        while self.trace_guided_step()? {
            brought = true;
        }
        self.guesses_left = LATER_GUESSES;
        self.traced_at = self.base.program.size().tokens;
        Ok(brought)
    }

    /// Whether so much was removed since the last traced run that another may bring a gain that
    /// counts.
    pub(in crate::engine) fn is_worth_tracing(&self) -> bool {
        self.traces && self.base.program.size().tokens <= gaining(self.traced_at)
    }

    /// Traces the program and adopts the simplest candidate that the trace suggests, if any shows
    /// the bug. Says whether one did.
    ///
    /// Candidates that lack something are made again with the symbols that their failures name.
    /// Each wave holds the boldest and some safer ones.
    fn trace_guided_step(&mut self) -> Result<bool, Stop> {
        let Some(evidence) = self.trace()?.map(Arc::new) else {
            return Ok(false);
        };
        self.base
            .note_failing(failing(&self.base.program, &evidence));
        let mut left = self.guesses_left;
        let mut stale = 0;
        loop {
            let wave = self.next_wave(&evidence, left)?;
            if wave.is_empty() {
                return Ok(false);
            }
            left -= wave.len();
            let attempts: Vec<Attempt> = wave
                .iter()
                .map(|guess| Attempt::Candidate(Box::new(guess.candidate.clone())))
                .collect();
            self.note_makers(&wave);
            self.judge("trace-guided", &attempts)?;
            let verdicts = self.verdicts_of(&attempts);
            let is_news = self.learn_missing(&evidence, &wave, &verdicts);
            // The first is the simplest: the wave is sorted by cost.
            let found = verdicts
                .iter()
                .position(|verdict| verdict.as_ref().is_some_and(Verdict::is_same));
            if let Some(guess) = found.and_then(|at| wave.into_iter().nth(at)) {
                self.guesses_left = BATCH;
                self.adopt(guess);
                return Ok(true);
            }
            self.check_budget()?;
            // Failures that name nothing new would be repeated by the next wave.
            stale = if is_news { 0 } else { stale + 1 };
            if stale == STALE_WAVES {
                return Ok(false);
            }
        }
    }

    /// The candidates to judge next of those that evidence suggests, `left` at most.
    fn next_wave(
        &mut self,
        evidence: &Arc<Evidence>,
        left: usize,
    ) -> Result<Vec<ChunkCandidate>, Stop> {
        let mut guesses = self.suggested(evidence)?;
        // Small gains are better left to single changes, but these lead to no other environment.
        let most = gaining(self.base.program.size().tokens);
        let needed = packages(&self.base.program);
        guesses.retain(|guess| {
            !self.verdicts.contains_key(&guess.candidate.key)
                && !self.judge.is_hopeless(&guess.candidate)
                && (guess.candidate.program.size().tokens <= most
                    || packages(&guess.candidate.program) < needed)
        });
        Ok(spread(distinct(guesses), BATCH.min(left)))
    }

    /// Learns from failures which symbols candidates lack. Says whether any of them is new.
    fn learn_missing(
        &mut self,
        evidence: &Evidence,
        wave: &[ChunkCandidate],
        verdicts: &[Option<Verdict>],
    ) -> bool {
        let text = self.base.program.text();
        let mut is_news = false;
        for (guess, verdict) in wave.iter().zip(verdicts) {
            match verdict {
                Some(Verdict::Different(difference)) => {
                    let mut lines = guess.candidate.program.text().lines();
                    let line = difference
                        .line
                        .and_then(|line| lines.nth(line.saturating_sub(1) as usize));
                    let (class, message) = (&difference.class, &difference.message);
                    is_news |= self.missing.learn(text, class, message, line);
                }
                // The operation that fails in the script went well here: it was given something
                // else. The frames of the failure name the values that it has to be given.
                Some(Verdict::Passed) => {
                    let lines: Vec<&str> = text.lines().collect();
                    for frame in &evidence.failure {
                        let number = frame.line.in_program().unwrap_or_default() as usize;
                        let line = number.checked_sub(1).and_then(|at| lines.get(at).copied());
                        is_news |= self.missing.learn("", "", "", line);
                    }
                }
                _ => {}
            }
        }
        is_news
    }

    /// The candidates that evidence suggests, the simplest first.
    fn suggested(&mut self, evidence: &Arc<Evidence>) -> Result<Vec<ChunkCandidate>, Stop> {
        let passes = registry::of_stage(&self.passes, Stage::TraceGuided);
        let proposals = self.proposals(&passes, Some(evidence))?;
        let pool = self.pool_of(proposals)?;
        let mut guesses = self.singles(&pool)?;
        guesses.sort_by_cached_key(|guess| Cost::of(&guess.candidate.program));
        guesses.dedup_by_key(|guess| guess.candidate.key);
        Ok(guesses)
    }

    /// The evidence of a traced run of the program. A traced run is recorded like any other.
    fn trace(&mut self) -> Result<Option<Evidence>, Stop> {
        // A script that does not show the bug while it is traced is not traced again.
        let (true, Some(candidate)) = (self.traces, self.base.itself()) else {
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
            self.report_journal_failure(&error);
        }
        Ok(evidence)
    }
}

/// How many tokens a candidate may have at most to be worth its run.
fn gaining(tokens: u32) -> u32 {
    tokens * GAINING_TENTHS / 10
}

/// How many packages a program needs.
fn packages(program: &Program) -> u32 {
    Cost::of(program).environment.packages
}

/// Of candidates of about the same size, the largest: it holds the content of the others and a bit
/// more. Others stay only if their pass says that they are of different parts, or if they need
/// fewer packages. The candidates are sorted, the simplest first.
fn distinct(members: Vec<ChunkCandidate>) -> Vec<ChunkCandidate> {
    let mut kept: Vec<(u32, ChunkCandidate)> = Vec::new();
    for member in members {
        let tokens = member.candidate.program.size().tokens;
        let chunk = &member.chunk;
        let is_other = |other: &ChunkCandidate| {
            let is_other_part =
                other.chunk.pass() == chunk.pass() && other.chunk.group != chunk.group;
            is_other_part
                || packages(&other.candidate.program) != packages(&member.candidate.program)
        };
        let (most, least) = ABOUT_AS_LARGE;
        match kept.last_mut() {
            Some((first, last)) if tokens * least <= *first * most && !is_other(last) => {
                *last = member;
            }
            _ => kept.push((tokens, member)),
        }
    }
    kept.into_iter().map(|(_, member)| member).collect()
}

/// Some of a row: the first half of `count` from its start, the bold ones; the other half at even
/// distances from the rest, the last and safest among them. Neighbours in the row are much alike,
/// so that one failure says a lot about the next.
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
        .map(|(_, chosen)| chosen)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use minrepro_reducers::{pass::Prior, rewrite::edit::EditSet, syntax::Program};

    use super::*;
    use crate::{
        engine::{priors::ProposalName, proposal_pool::Chunk},
        journal::Key,
        judge::Candidate,
    };

    /// A guess of so many tokens.
    fn guess(tokens: u32, pass: &'static str, group: u32) -> ChunkCandidate {
        let row = "x\n".repeat(tokens as usize);
        let program = (1..=row.len() / 2)
            .map(|lines| Program::parse(row[..2 * lines].to_owned()).unwrap())
            .find(|program| program.size().tokens >= tokens)
            .unwrap();
        let names = vec![ProposalName {
            pass,
            prior: Prior::Likely,
            fingerprint: 0,
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
        ChunkCandidate { chunk, candidate }
    }

    fn sizes(guesses: Vec<ChunkCandidate>) -> Vec<u32> {
        distinct(guesses)
            .iter()
            .map(|guess| guess.candidate.program.size().tokens)
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
