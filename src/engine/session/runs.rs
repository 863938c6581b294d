//! From plans to verdicts: known ones, those of the journal, and runs.

use super::{Session, Watch};
use crate::{
    engine::{
        plan::Plan,
        types::{Event, Stop, Tally},
    },
    journal::{Key, Record},
    judge::{Candidate, Judged},
    oracle::Verdict,
};

impl Session<'_> {
    /// Finds out the verdicts of plans, as far as the run budget reaches.
    pub(super) fn judge(&mut self, pass: &str, plans: &[Plan]) -> Result<(), Stop> {
        self.judge_with(pass, plans, &[])
    }

    /// As [`Session::judge`]; if that takes runs, other candidates are run beside them.
    pub(super) fn judge_with(
        &mut self,
        pass: &str,
        plans: &[Plan],
        ahead: &[Candidate],
    ) -> Result<(), Stop> {
        let mut batch: Vec<Candidate> = Vec::new();
        for plan in plans {
            let Plan::Candidate(candidate) = plan else {
                self.tally.pruned += 1;
                continue;
            };
            if self.verdicts.contains_key(&candidate.key)
                || batch.iter().any(|it| it.key == candidate.key)
            {
                self.tally.pruned += 1;
            } else if let Some(record) = self
                .journal
                .get(&candidate.key)
                .filter(|_| !self.foreseen.contains_key(&candidate.key))
            {
                let verdict = record.verdict.clone();
                self.tally.journal_hits += record.runs;
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
            self.run(pass, &batch, ahead)?;
        }
        Ok(())
    }

    /// The verdicts of plans; `None` for those pruned or beyond the budget.
    pub(super) fn verdicts_of(&self, plans: &[Plan]) -> Vec<Option<Verdict>> {
        let of = |plan: &Plan| match plan {
            Plan::Candidate(candidate) => self.verdicts.get(&candidate.key).cloned(),
            Plan::Pruned | Plan::Useless => None,
        };
        plans.iter().map(of).collect()
    }

    /// Runs a batch, but for what was run ahead. Verdicts go to the journal as they come, but are
    /// learnt in the order of the batch.
    fn run(&mut self, pass: &str, batch: &[Candidate], ahead: &[Candidate]) -> Result<(), Stop> {
        let mut found: Vec<Option<Verdict>> = vec![None; batch.len()];
        let Self {
            judge,
            journal,
            watch,
            tally,
            journal_failed,
            makers,
            spent,
            foreseen,
            ..
        } = self;
        let mut count = |index: usize, judged: Judged, tally: &mut Tally, watch: &mut Watch<'_>| {
            let Judged {
                verdict,
                seconds,
                runs,
            } = judged;
            tally.runs += runs;
            tally.seconds_in_candidates += seconds;
            let of = makers.get(&batch[index].key).copied().unwrap_or(pass);
            let spent = spent.entry(of.to_owned()).or_default();
            spent.runs += runs;
            spent.seconds += seconds;
            watch(
                &Event::Run {
                    verdict: &verdict,
                    from_journal: false,
                },
                tally,
            );
            found[index] = Some(verdict);
        };
        let mut open: Vec<usize> = Vec::new();
        for (index, candidate) in batch.iter().enumerate() {
            match foreseen.remove(&candidate.key) {
                Some(judged) => {
                    tally.runs_ahead -= judged.runs;
                    count(index, judged, tally, watch);
                }
                None => open.push(index),
            }
        }
        let mut result = Ok(());
        if !open.is_empty() {
            let mut jobs: Vec<Candidate> = open.iter().map(|&index| batch[index].clone()).collect();
            let is_new = |it: &&Candidate| {
                !foreseen.contains_key(&it.key)
                    && journal.get(&it.key).is_none()
                    && !judge.is_hopeless(it)
            };
            jobs.extend(ahead.iter().filter(is_new).cloned());
            result = judge.judge(&jobs, &mut |at, judged| {
                let record = Record {
                    verdict: judged.verdict.clone(),
                    seconds: judged.seconds,
                    runs: judged.runs,
                };
                if !*journal_failed && let Err(error) = journal.put(jobs[at].key, record) {
                    *journal_failed = true;
                    watch(&Event::JournalFailed { error: &error }, tally);
                }
                match open.get(at) {
                    Some(&index) => count(index, judged, tally, watch),
                    None => {
                        tally.runs_ahead += judged.runs;
                        foreseen.insert(jobs[at].key, judged);
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

    fn record(&mut self, key: Key, verdict: Verdict, from_journal: bool) {
        if from_journal {
            (self.watch)(
                &Event::Run {
                    verdict: &verdict,
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
