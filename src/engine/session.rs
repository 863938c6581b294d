//! The state of one reduction and its steps: a stage, a round, a batch, a commit. Called by the loop in `mod.rs`.

use std::{
    any::Any,
    collections::{BTreeSet, HashMap, HashSet},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Instant,
};

use minrepro_reducers::{
    edit::{EditSet, Rebase, splice},
    hints::Hint,
    pass::{Pass, Proposal, Stage},
    registry,
    syntax::Program,
};
use rayon::prelude::*;

use super::{
    plan::{Base, Plan},
    round::{Chunk, Round, Thoroughness},
    types::{Candidate, Commit, Event, Judge, Judged, Kept, Options, Reduction, Stop, Tally},
};
use crate::{
    journal::{Journal, Key, Record},
    oracle::{Difference, Verdict},
};

pub(super) struct Session<'a> {
    base: Base,
    passes: Vec<&'static Pass>,
    judge: &'a mut dyn Judge,
    journal: &'a mut Journal,
    options: &'a Options,
    watch: &'a mut dyn FnMut(&Event<'_>, &Tally),
    /// Verdicts of this session, those taken from the journal included.
    verdicts: HashMap<Key, Verdict>,
    /// Single proposals that were rejected, on whatever base.
    rejected: HashSet<u64>,
    tally: Tally,
    commits: Vec<Commit>,
    differences: Vec<(Key, Difference)>,
    kept: Vec<Kept>,
    journal_failed: bool,
    started: Instant,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        program: Arc<Program>,
        passes: &[&'static Pass],
        judge: &'a mut dyn Judge,
        journal: &'a mut Journal,
        options: &'a Options,
        watch: &'a mut dyn FnMut(&Event<'_>, &Tally),
    ) -> Self {
        let tokens = program.size().tokens;
        Self {
            base: Base::new(program, options.unbound_names),
            passes: passes.to_vec(),
            judge,
            journal,
            options,
            watch,
            verdicts: HashMap::new(),
            rejected: HashSet::new(),
            tally: Tally { tokens_before: tokens, tokens_now: tokens, ..Tally::default() },
            commits: Vec::new(),
            differences: Vec::new(),
            kept: Vec::new(),
            journal_failed: false,
            started: Instant::now(),
        }
    }

    pub(super) fn finish(self, stop: Stop) -> Reduction {
        let kept = if matches!(stop, Stop::Done) { self.kept } else { Vec::new() };
        Reduction {
            program: self.base.program,
            commits: self.commits,
            tally: self.tally,
            differences: self.differences,
            kept,
            stop,
        }
    }

    pub(super) fn base_key(&self) -> Key {
        self.base.key
    }

    /// What is new of one stage. Structure goes pass by pass and phase by phase, since each may spare the next much;
    /// the parts of other stages are independent and go together.
    pub(super) fn stage(&mut self, stage: Stage) -> Result<(), Stop> {
        let passes = registry::of_stage(&self.passes, stage);
        if stage != Stage::Structure {
            let proposals = self.proposals(&passes);
            return self.round(proposals, Thoroughness::New);
        }
        for pass in passes {
            for phase in 0.. {
                let mut proposals = self.proposals(&[pass]);
                if proposals.iter().all(|proposal| proposal.phase < phase) {
                    break;
                }
                proposals.retain(|proposal| proposal.phase == phase);
                self.round(proposals, Thoroughness::New)?;
            }
        }
        Ok(())
    }

    /// Every proposal of every pass.
    pub(super) fn sweep(&mut self, how: Thoroughness) -> Result<(), Stop> {
        self.kept.clear();
        let passes = self.passes.clone();
        let proposals = self.proposals(&passes);
        self.round(proposals, how)
    }

    /// The proposals of some passes, in their order. A pass that panics is off from here on.
    fn proposals(&mut self, passes: &[&'static Pass]) -> Vec<Proposal> {
        let program = &self.base.program;
        let found: Vec<Result<Vec<Proposal>, Box<dyn Any + Send>>> = passes
            .par_iter()
            .map(|pass| catch_unwind(AssertUnwindSafe(|| pass.proposals(program))))
            .collect();
        let mut proposals = Vec::new();
        for (pass, result) in passes.iter().zip(found) {
            match result {
                Ok(found) => proposals.extend(found),
                Err(panic) => {
                    let message = panic
                        .downcast_ref::<String>()
                        .map(String::as_str)
                        .or_else(|| panic.downcast_ref::<&str>().copied())
                        .unwrap_or("no message");
                    (self.watch)(&Event::PassFailed { pass: pass.id, message }, &self.tally);
                    self.passes.retain(|other| other.id != pass.id);
                }
            }
        }
        proposals
    }

    fn round(&mut self, mut proposals: Vec<Proposal>, how: Thoroughness) -> Result<(), Stop> {
        if how == Thoroughness::New {
            proposals.retain(|proposal| !self.rejected.contains(&self.base.fingerprint(proposal)));
        }
        let mut round = Round::new(proposals, how);
        loop {
            let chunks = round.next_batch();
            let Some(first) = chunks.first() else { return Ok(()) };
            let pass = first.units.first().and_then(|&unit| round.proposal(unit)).map_or("", |it| it.pass);
            let plans: Vec<Plan> =
                chunks.par_iter().map(|chunk| self.base.plan(&round.edits(chunk))).collect();
            self.tally.breaches += plans
                .iter()
                .zip(&chunks)
                .filter(|(plan, chunk)| matches!(plan, Plan::Useless) && chunk.units.len() == 1)
                .count() as u64;
            let verdicts = self.judge(pass, &plans)?;
            let successes: Vec<(usize, &Candidate)> = plans
                .iter()
                .zip(&verdicts)
                .enumerate()
                .filter_map(|(index, (plan, verdict))| match plan {
                    Plan::Candidate(candidate) if verdict.as_ref().is_some_and(Verdict::is_same) => {
                        Some((index, &**candidate))
                    }
                    _ => None,
                })
                .collect();
            let candidates: Vec<&Candidate> = successes.iter().map(|(_, candidate)| *candidate).collect();
            let folded = self.fold(&candidates);
            let accepted: BTreeSet<usize> = folded
                .iter()
                .flat_map(|(_, members)| members.iter().map(|&member| successes[member].0))
                .collect();
            let mut wider = Vec::new();
            for (index, (chunk, plan)) in chunks.iter().zip(&plans).enumerate() {
                if !accepted.contains(&index) {
                    wider.extend(self.reject(&round, chunk, plan, verdicts[index].as_ref(), how));
                }
            }
            if let Some((candidate, members)) = folded {
                let members: Vec<(&Chunk, &Candidate)> =
                    members.iter().map(|&at| (&chunks[successes[at].0], candidates[at])).collect();
                self.commit(&candidate, &members, &mut round);
            } else {
                for (chunk, edits) in wider.into_iter().rev() {
                    round.widen(&chunk, edits);
                }
            }
            self.check_budget()?;
        }
    }

    /// Learns from a chunk that was not accepted; returns the chunk in the wider form that its failure names.
    fn reject(
        &mut self,
        round: &Round,
        chunk: &Chunk,
        plan: &Plan,
        verdict: Option<&Verdict>,
        how: Thoroughness,
    ) -> Option<(Chunk, EditSet)> {
        let [unit] = chunk.units[..] else { return None };
        let proposal = round.proposal(unit)?;
        let pruned = !matches!(plan, Plan::Candidate(_));
        if verdict.is_some_and(|verdict| !verdict.is_same()) || pruned {
            self.rejected.insert(self.base.fingerprint(proposal));
        }
        let (Plan::Candidate(candidate), Some(verdict)) = (plan, verdict) else { return None };
        if verdict.is_same() {
            return None;
        }
        self.base.note_needed(&candidate.edits);
        if how == Thoroughness::Everything {
            self.kept.push(Kept {
                line: self.base.line_of(&proposal.edits),
                pass: proposal.pass.to_owned(),
                note: proposal.note.clone(),
                verdict: verdict.clone(),
            });
        }
        let Verdict::Different(difference) = verdict else { return None };
        if chunk.widened.is_some() {
            return None;
        }
        let hint = Hint::of(&difference.class, &difference.message)?;
        Some((chunk.clone(), hint.widen(&self.base.program, &candidate.edits)?))
    }

    /// Judges plans; `None` for those pruned and those that the run budget does not reach.
    fn judge(&mut self, pass: &str, plans: &[Plan]) -> Result<Vec<Option<Verdict>>, Stop> {
        let mut batch: Vec<Candidate> = Vec::new();
        for plan in plans {
            let Plan::Candidate(candidate) = plan else {
                self.tally.pruned += 1;
                continue;
            };
            if self.verdicts.contains_key(&candidate.key) || batch.iter().any(|it| it.key == candidate.key) {
                self.tally.pruned += 1;
            } else if let Some(record) = self.journal.get(&candidate.key) {
                let verdict = record.verdict.clone();
                self.tally.journal_hits += 1;
                self.record(candidate.key, verdict, true);
            } else {
                batch.push((**candidate).clone());
            }
        }
        if let Some(limit) = self.options.max_runs {
            batch.truncate(limit.saturating_sub(self.tally.runs) as usize);
        }
        if !batch.is_empty() {
            (self.watch)(&Event::Batch { pass, candidates: batch.len() }, &self.tally);
            self.run(&batch)?;
        }
        Ok(plans
            .iter()
            .map(|plan| match plan {
                Plan::Candidate(candidate) => self.verdicts.get(&candidate.key).cloned(),
                Plan::Pruned | Plan::Useless => None,
            })
            .collect())
    }

    /// Runs a batch. Verdicts go to the journal as they come, but are learnt in the order of the batch.
    fn run(&mut self, batch: &[Candidate]) -> Result<(), Stop> {
        let mut delivered: Vec<Option<Verdict>> = vec![None; batch.len()];
        let Self { judge, journal, watch, tally, journal_failed, .. } = self;
        let result = judge.judge(batch, &mut |index, Judged { verdict, seconds }| {
            tally.runs += 1;
            tally.seconds_in_candidates += seconds;
            let record = Record { verdict: verdict.clone(), seconds };
            if !*journal_failed && let Err(error) = journal.put(batch[index].key, record) {
                *journal_failed = true;
                watch(&Event::JournalFailed { error: &error }, tally);
            }
            watch(&Event::Run { verdict: &verdict, from_journal: false }, tally);
            delivered[index] = Some(verdict);
        });
        for (candidate, verdict) in batch.iter().zip(delivered) {
            if let Some(verdict) = verdict {
                self.record(candidate.key, verdict, false);
            }
        }
        result.map_err(Stop::Halted)
    }

    fn record(&mut self, key: Key, verdict: Verdict, from_journal: bool) {
        if from_journal {
            (self.watch)(&Event::Run { verdict: &verdict, from_journal }, &self.tally);
        }
        if let Verdict::Different(difference) = &verdict {
            self.differences.push((key, difference.clone()));
        }
        self.verdicts.insert(key, verdict);
    }

    /// Whether several changes show the bug together. Out of budget, what is not known does not count.
    pub(super) fn try_fold(&mut self, edits: &EditSet) -> Option<Candidate> {
        let plan = self.base.plan(edits);
        let verdicts = self.judge("fold", std::slice::from_ref(&plan)).ok()?;
        match (plan, verdicts.into_iter().next().flatten()) {
            (Plan::Candidate(candidate), Some(Verdict::Same)) => Some(*candidate),
            _ => None,
        }
    }

    fn commit(&mut self, candidate: &Candidate, members: &[(&Chunk, &Candidate)], round: &mut Round) {
        let Ok(done) = candidate.edits.resolve(&self.base.program) else { return };
        let seconds = self.started.elapsed().as_secs_f64();
        let mut together = EditSet::default();
        for (index, (chunk, member)) in members.iter().enumerate() {
            together.extend(&member.edits);
            let text =
                together.resolve(&self.base.program).map(|edits| splice(self.base.program.text(), &edits));
            let partial = text.ok().and_then(|text| self.base.program.sibling(text).ok());
            let last = index + 1 == members.len();
            let program = partial.as_ref().filter(|_| !last).unwrap_or(&candidate.program);
            let first = chunk.units.first().and_then(|&unit| round.proposal(unit));
            let more = chunk.units.len() - 1;
            self.commits.push(Commit {
                pass: first.map_or_else(String::new, |it| it.pass.to_owned()),
                note: match first {
                    Some(first) if more > 0 => format!("{} and {more} more", first.note),
                    Some(first) => first.note.clone(),
                    None => String::new(),
                },
                tokens: program.size().tokens,
                run: self.tally.judged(),
                seconds,
            });
        }
        let rebase = Rebase::new(&self.base.program, &done, &candidate.program);
        let chunks: Vec<&Chunk> = members.iter().map(|(chunk, _)| *chunk).collect();
        round.accept(&chunks, &rebase);
        let base = self.base.rebased(Arc::clone(&candidate.program), &rebase);
        self.base = base;
        self.tally.tokens_now = candidate.program.size().tokens;
        if let Some(commit) = self.commits.last() {
            (self.watch)(&Event::Commit { commit, program: &candidate.program }, &self.tally);
        }
    }

    fn check_budget(&self) -> Result<(), Stop> {
        match self.options.max_runs {
            Some(limit) if self.tally.runs >= limit => Err(Stop::MaxRuns),
            _ => Ok(()),
        }
    }
}
