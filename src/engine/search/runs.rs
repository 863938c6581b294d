//! From attempts to verdicts: known ones, those of the journal, and runs.

use super::{Search, Watch};
use crate::{
    engine::{
        base::Attempt,
        types::{Event, Stop, Tally},
    },
    journal::Key,
    judge::{Candidate, Judged},
    oracle::Verdict,
};

impl Search<'_> {
    /// Finds out the verdicts of attempts, as far as the run budget reaches.
    pub(super) fn judge(&mut self, pass: &str, attempts: &[Attempt]) -> Result<(), Stop> {
        self.judge_with(pass, attempts, &[])
    }

    /// Like [`Search::judge`], but makes speculative runs in parallel if runs are needed.
    pub(super) fn judge_with(
        &mut self,
        pass: &str,
        attempts: &[Attempt],
        speculative: &[Candidate],
    ) -> Result<(), Stop> {
        let mut batch: Vec<Candidate> = Vec::new();
        for attempt in attempts {
            let Attempt::Candidate(candidate) = attempt else {
                self.tally.pruned += 1;
                continue;
            };
            if self.verdicts.contains_key(&candidate.key)
                || batch.iter().any(|other| other.key == candidate.key)
            {
                self.tally.pruned += 1;
            } else if let Some(record) = self
                .journal
                .get(&candidate.key)
                .filter(|_| !self.prefetched.contains_key(&candidate.key))
            {
                // A prefetched verdict is in the journal, too, but was found in this session: it
                // counts as a run, not as a hit.
                let verdict = record.verdict.clone();
                self.tally.journal_hits += record.runs;
                self.tally.seconds_recalled += record.seconds;
                self.record(candidate.key, verdict, true);
            } else if self.judge.is_hopeless(candidate) {
                self.tally.pruned += 1;
                self.verdicts.insert(candidate.key, Verdict::Passed);
            } else {
                batch.push((**candidate).clone());
            }
        }
        if let Some(limit) = self.options.max_runs {
            batch.truncate(limit.saturating_sub(self.tally.runs) as usize);
        }
        if !batch.is_empty() {
            (self.watch)(
                &Event::Batch {
                    pass,
                    candidates: batch.len(),
                },
                &self.tally,
            );
            self.run(pass, &batch, speculative)?;
        }
        Ok(())
    }

    /// The verdicts of attempts; `None` for those pruned or beyond the budget.
    pub(super) fn verdicts_of(&self, attempts: &[Attempt]) -> Vec<Option<Verdict>> {
        let of = |attempt: &Attempt| match attempt {
            Attempt::Candidate(candidate) => self.verdicts.get(&candidate.key).cloned(),
            Attempt::Pruned | Attempt::Broken => None,
        };
        attempts.iter().map(of).collect()
    }

    /// Runs the part of a batch that was not prefetched, in parallel with speculative runs.
    /// Verdicts go to the journal as they come, so that a kill loses none. But the search learns
    /// them in the order of the batch, so that it does not depend on which run ends first.
    fn run(
        &mut self,
        pass: &str,
        batch: &[Candidate],
        speculative: &[Candidate],
    ) -> Result<(), Stop> {
        let mut found: Vec<Option<Verdict>> = vec![None; batch.len()];
        let Self {
            judge,
            journal,
            watch,
            tally,
            journal_failed,
            makers,
            spent,
            prefetched,
            ..
        } = self;
        let mut count = |index: usize, judged: Judged, tally: &mut Tally, watch: &mut Watch<'_>| {
            tally.runs += judged.runs;
            tally.seconds_in_candidates += judged.seconds;
            let of = makers.get(&batch[index].key).copied().unwrap_or(pass);
            let spent = spent.entry(of.to_owned()).or_default();
            spent.runs += judged.runs;
            spent.seconds += judged.seconds;
            let run = Event::Run {
                pass: Some(of),
                verdict: &judged.verdict,
                seconds: judged.seconds,
                from_journal: false,
            };
            watch(&run, tally);
            found[index] = Some(judged.verdict);
        };
        let mut open: Vec<usize> = Vec::new();
        for (index, candidate) in batch.iter().enumerate() {
            match prefetched.remove(&candidate.key) {
                Some(judged) => {
                    tally.speculative_runs -= judged.runs;
                    count(index, judged, tally, watch);
                }
                None => open.push(index),
            }
        }
        let mut result = Ok(());
        // Speculative runs only fill room beside runs that have to be made.
        if !open.is_empty() {
            let mut jobs: Vec<Candidate> = open.iter().map(|&index| batch[index].clone()).collect();
            // Behind the batch, so that a worker takes one only when none of the batch waits.
            let is_new = |candidate: &&Candidate| {
                !prefetched.contains_key(&candidate.key)
                    && journal.get(&candidate.key).is_none()
                    && !judge.is_hopeless(candidate)
            };
            jobs.extend(speculative.iter().filter(is_new).cloned());
            result = judge.judge(&jobs, &mut |at, judged| {
                if !*journal_failed && let Err(error) = journal.put(jobs[at].key, judged.record()) {
                    *journal_failed = true;
                    watch(&Event::JournalFailed { error: &error }, tally);
                }
                match open.get(at) {
                    Some(&index) => count(index, judged, tally, watch),
                    None => {
                        tally.speculative_runs += judged.runs;
                        prefetched.insert(jobs[at].key, judged);
                    }
                }
            });
        }
        for (candidate, verdict) in batch.iter().zip(found) {
            if let Some(verdict) = verdict {
                self.record(candidate.key, verdict, false);
            }
        }
        result.map_err(Stop::Halted)
    }

    /// Takes a verdict into account.
    fn record(&mut self, key: Key, verdict: Verdict, from_journal: bool) {
        if from_journal {
            (self.watch)(
                &Event::Run {
                    pass: None,
                    verdict: &verdict,
                    seconds: 0.0,
                    from_journal,
                },
                &self.tally,
            );
        }
        if let Verdict::Different(difference) = &verdict {
            self.differences.push((key, difference.clone()));
        }
        self.verdicts.insert(key, verdict);
    }
}
