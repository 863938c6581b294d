//! The state of one reduction and its steps: a stage, a round, a batch, a commit. Called by the loop in `mod.rs`.

use std::{
    any::Any,
    collections::{HashMap, HashSet},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Instant,
};

use minrepro_reducers::{
    cost::Cost,
    edit::{EditSet, Rebase, splice},
    evidence::{Evidence, Gaps},
    hints::Hint,
    pass::{Pass, Proposal, Stage},
    registry,
    syntax::Program,
};
use rayon::prelude::*;

use super::{
    plan::{Base, Plan},
    round::{BATCH, Chunk, Round, Thoroughness},
    types::{Candidate, Commit, Event, Judge, Judged, Kept, Options, Reduction, Stop, Tally},
};
use crate::{
    journal::{Journal, Key, Record},
    oracle::{Difference, Verdict},
};

/// After how many guesses that miss the evidence is given up.
const LEAPS: usize = 32;

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
    /// What guesses from evidence missed so far.
    gaps: Gaps,
    started: Instant,
}

/// A chunk that shows the bug, and the candidate that it makes.
pub(super) struct Member {
    chunk: Chunk,
    pub(super) candidate: Candidate,
}

/// A union that is taken as the base before its verdict is there, and what to return to if it does not hold.
struct Pending {
    base: Base,
    round: Round,
    union: Candidate,
    members: Vec<Member>,
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
            gaps: Gaps::default(),
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

    /// Takes away all clutter at once, if that shows the bug: what is left is easier to follow.
    pub(super) fn declutter(&mut self) -> Result<(), Stop> {
        let mut proposals = self.proposals(&registry::of_stage(&self.passes, Stage::Clutter));
        proposals.retain(|proposal| proposal.prior.probability() > 0.5);
        let mut round = Round::new(proposals, Thoroughness::Everything);
        let mut all = Chunk { units: Vec::new(), widened: None };
        all.units.extend(round.all().into_iter().flat_map(|chunk| chunk.units));
        let plan = self.base.plan(&round.edits(&all));
        self.judge("clutter", std::slice::from_ref(&plan))?;
        if let Plan::Candidate(candidate) = plan
            && self.verdicts.get(&candidate.key).is_some_and(Verdict::is_same)
        {
            self.go_over(&mut round, Member { chunk: all, candidate: *candidate });
        }
        self.check_budget()
    }

    /// Takes a candidate that shows the bug as the base.
    fn go_over(&mut self, round: &mut Round, member: Member) {
        let before = round.clone();
        let candidate = member.candidate.clone();
        let members = [member];
        let base = self.advance(&candidate, &members, round);
        self.record_commits(&base, &candidate, &members, &before);
    }

    /// Traces the program and goes over to the simplest of what that suggests, if any of it shows the bug. Tells whether
    /// any did.
    ///
    /// Guesses that miss something are made anew with what their failure names. Each wave holds the boldest guesses and
    /// some safer ones.
    pub(super) fn leap(&mut self) -> Result<bool, Stop> {
        let Some(evidence) = self.trace()? else { return Ok(false) };
        let mut left = LEAPS;
        loop {
            let (mut round, mut members) = self.leaps(&evidence);
            members.retain(|member| !self.verdicts.contains_key(&member.candidate.key));
            let wave = spread(members, BATCH.min(left));
            if wave.is_empty() {
                return Ok(false);
            }
            left -= wave.len();
            let plans: Vec<Plan> =
                wave.iter().map(|it| Plan::Candidate(Box::new(it.candidate.clone()))).collect();
            self.judge("leap", &plans)?;
            let verdicts = self.verdicts_of(&plans);
            let found = verdicts.iter().position(|it| it.as_ref().is_some_and(Verdict::is_same));
            for (member, verdict) in wave.iter().zip(&verdicts) {
                if let Some(Verdict::Different(it)) = verdict {
                    let lines = member.candidate.program.text().lines();
                    let line = it.line.and_then(|line| lines.skip(line.saturating_sub(1) as usize).next());
                    self.gaps.learn(&it.class, &it.message, line);
                }
            }
            if let Some(member) = found.and_then(|at| wave.into_iter().nth(at)) {
                self.go_over(&mut round, member);
                return Ok(true);
            }
            self.check_budget()?;
        }
    }

    /// What evidence suggests, the simplest first.
    fn leaps(&self, evidence: &Evidence) -> (Round, Vec<Member>) {
        let proposals: Vec<Proposal> = registry::of_stage(&self.passes, Stage::Leap)
            .iter()
            .flat_map(|pass| pass.proposals_with(&self.base.program, Some(evidence), &self.gaps))
            .collect();
        let round = Round::new(proposals, Thoroughness::Everything);
        let chunks = round.all();
        let base = &self.base;
        let plans: Vec<Plan> = chunks.par_iter().map(|chunk| base.plan(&round.edits(chunk))).collect();
        let mut members: Vec<Member> = chunks
            .into_iter()
            .zip(plans)
            .filter_map(|(chunk, plan)| match plan {
                Plan::Candidate(candidate) => Some(Member { chunk, candidate: *candidate }),
                Plan::Pruned | Plan::Useless => None,
            })
            .collect();
        members.sort_by_cached_key(|member| Cost::of(&member.candidate.program));
        members.dedup_by_key(|member| member.candidate.key);
        (round, members)
    }

    /// What a traced run of the program shows; a run like any other, and remembered like one.
    fn trace(&mut self) -> Result<Option<Evidence>, Stop> {
        let Plan::Candidate(candidate) = self.base.itself() else { return Ok(None) };
        if let Some(known) = self.journal.trace(&candidate.key) {
            self.tally.journal_hits += 1;
            return Ok(known);
        }
        self.check_budget()?;
        (self.watch)(&Event::Batch { pass: "trace", candidates: 1 }, &self.tally);
        let evidence = self.judge.trace(&candidate).map_err(Stop::Halted)?;
        self.tally.runs += 1;
        if !self.journal_failed
            && let Err(error) = self.journal.put_trace(candidate.key, evidence.clone())
        {
            self.journal_failed = true;
            (self.watch)(&Event::JournalFailed { error: &error }, &self.tally);
        }
        Ok(evidence)
    }

    /// What is new of some stages. Of the structure only the first phase, top-level statements, goes with the stages up to
    /// it, since it spares the rest much; the rest of it goes with the stages that follow.
    pub(super) fn stages(&mut self, stages: &[Stage]) -> Result<(), Stop> {
        let passes: Vec<&'static Pass> =
            stages.iter().flat_map(|&stage| registry::of_stage(&self.passes, stage)).collect();
        let mut proposals = self.proposals(&passes);
        if stages.last() == Some(&Stage::Structure) {
            proposals.retain(|proposal| proposal.phase == 0);
        }
        self.round(proposals, Thoroughness::New)
    }

    /// What is new of all passes but those for layout, or everything of all.
    pub(super) fn sweep(&mut self, how: Thoroughness) -> Result<(), Stop> {
        self.kept.clear();
        let mut passes = self.passes.clone();
        passes.retain(|pass| pass.stage != Stage::Leap);
        if how == Thoroughness::New {
            passes.retain(|pass| pass.stage != Stage::Tidy);
        }
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

    /// Tries proposals until none is left to try.
    ///
    /// Several successes of one batch are united, and the next batch is made against their union while the union itself
    /// is being judged, as one more candidate of that batch: unions nearly always hold. If one does not, its batch
    /// counts for nothing, and the successes are folded with care.
    fn round(&mut self, mut proposals: Vec<Proposal>, how: Thoroughness) -> Result<(), Stop> {
        if how == Thoroughness::New {
            proposals.retain(|proposal| !self.rejected.contains(&self.base.fingerprint(proposal)));
        }
        let mut round = Round::new(proposals, how);
        let mut pending: Option<Pending> = None;
        loop {
            let chunks = round.next_batch(BATCH - usize::from(pending.is_some()));
            if chunks.is_empty() && pending.is_none() {
                return Ok(());
            }
            let mut plans: Vec<Plan> =
                pending.iter().map(|it| Plan::Candidate(Box::new(it.union.clone()))).collect();
            plans.par_extend(chunks.par_iter().map(|chunk| self.base.plan(&round.edits(chunk))));
            let pass = chunks.first().map_or("fold", |chunk| round.pass_of(chunk));
            let judged = self.judge(pass, &plans);
            if let Some(it) = pending.take() {
                plans.remove(0);
                if self.verdicts.get(&it.union.key).is_some_and(Verdict::is_same) {
                    self.record_commits(&it.base, &it.union, &it.members, &it.round);
                } else {
                    self.base = it.base;
                    round = it.round;
                    self.fold_with_care(it.members, &mut round);
                    judged?;
                    self.check_budget()?;
                    continue;
                }
            }
            judged?;
            let verdicts = self.verdicts_of(&plans);
            let mut successes = Vec::new();
            let mut wider = Vec::new();
            for ((chunk, plan), verdict) in chunks.into_iter().zip(plans).zip(verdicts) {
                match (plan, verdict) {
                    (Plan::Candidate(candidate), Some(Verdict::Same)) => {
                        successes.push(Member { chunk, candidate: *candidate });
                    }
                    (plan, verdict) => {
                        wider.extend(self.reject(&round, &chunk, &plan, verdict.as_ref(), how));
                    }
                }
            }
            if successes.is_empty() {
                for (chunk, edits) in wider.into_iter().rev() {
                    round.widen(&chunk, edits);
                }
                self.check_budget()?;
                continue;
            }
            pending = self.unite(successes, &mut round);
            if pending.is_none() {
                self.check_budget()?;
            }
        }
    }

    /// Goes over to the union of successes: at once if that is known to hold, else pending its verdict.
    fn unite(&mut self, members: Vec<Member>, round: &mut Round) -> Option<Pending> {
        // Of changes that exclude each other, two values for one literal say, the first stays.
        let mut edits = EditSet::default();
        let members: Vec<Member> = members
            .into_iter()
            .filter(|member| {
                let union = edits.union(&member.candidate.edits);
                let fits = union.resolve(&self.base.program).is_ok();
                if fits {
                    edits = union;
                }
                fits
            })
            .collect();
        let known = |session: &Self, candidate: &Candidate| session.verdicts.get(&candidate.key).cloned();
        match self.base.plan(&edits) {
            Plan::Candidate(union) if known(self, &union).is_none_or(|it| it.is_same()) => {
                let is_known = known(self, &union).is_some();
                let before = round.clone();
                let base = self.advance(&union, &members, round);
                if is_known {
                    self.record_commits(&base, &union, &members, &before);
                    return None;
                }
                Some(Pending { base, round: before, union: *union, members })
            }
            _ => {
                self.fold_with_care(members, round);
                None
            }
        }
    }

    /// Commits what of some successes works together.
    fn fold_with_care(&mut self, members: Vec<Member>, round: &mut Round) {
        let Some((union, indices)) = self.fold(&members) else { return };
        let members: Vec<Member> = members
            .into_iter()
            .enumerate()
            .filter_map(|(index, member)| indices.contains(&index).then_some(member))
            .collect();
        let before = round.clone();
        let base = self.advance(&union, &members, round);
        self.record_commits(&base, &union, &members, &before);
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

    /// Finds out the verdicts of plans, as far as the run budget reaches.
    fn judge(&mut self, pass: &str, plans: &[Plan]) -> Result<(), Stop> {
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
        Ok(())
    }

    /// The verdicts of plans; `None` for those pruned or beyond the budget.
    fn verdicts_of(&self, plans: &[Plan]) -> Vec<Option<Verdict>> {
        let of = |plan: &Plan| match plan {
            Plan::Candidate(candidate) => self.verdicts.get(&candidate.key).cloned(),
            Plan::Pruned | Plan::Useless => None,
        };
        plans.iter().map(of).collect()
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

    /// Which unions of changes show the bug. Out of budget, what is not known does not count.
    pub(super) fn try_folds(&mut self, unions: &[EditSet]) -> Vec<Option<Candidate>> {
        let plans: Vec<Plan> = unions.par_iter().map(|edits| self.base.plan(edits)).collect();
        // A halt shows at the next batch; what was judged before it counts.
        let _ = self.judge("fold", &plans);
        let verdicts = self.verdicts_of(&plans);
        let shows = |(plan, verdict)| match (plan, verdict) {
            (Plan::Candidate(candidate), Some(Verdict::Same)) => Some(*candidate),
            _ => None,
        };
        plans.into_iter().zip(verdicts).map(shows).collect()
    }

    /// Takes a candidate as the base and brings the round along; returns the base that was.
    fn advance(&mut self, candidate: &Candidate, members: &[Member], round: &mut Round) -> Base {
        let done = candidate.edits.resolve(&self.base.program).unwrap_or_default();
        let rebase = Rebase::new(&self.base.program, &done, &candidate.program);
        round.accept(members.iter().map(|member| &member.chunk), &rebase);
        let base = self.base.rebased(Arc::clone(&candidate.program), &rebase);
        std::mem::replace(&mut self.base, base)
    }

    /// Records what led from `base` to the program that is the base now, a commit for each of its members.
    fn record_commits(&mut self, base: &Base, union: &Candidate, members: &[Member], round: &Round) {
        let seconds = self.started.elapsed().as_secs_f64();
        let mut together = EditSet::default();
        for (index, Member { chunk, candidate }) in members.iter().enumerate() {
            together.extend(&candidate.edits);
            let text = together.resolve(&base.program).map(|edits| splice(base.program.text(), &edits));
            let partial = text.ok().and_then(|text| base.program.sibling(text).ok());
            let last = index + 1 == members.len();
            let program = partial.as_ref().filter(|_| !last).unwrap_or(&union.program);
            let first = chunk.units.first().and_then(|&unit| round.proposal(unit));
            let more = chunk.units.len() - 1;
            self.commits.push(Commit {
                pass: round.pass_of(chunk).to_owned(),
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
        self.tally.tokens_now = union.program.size().tokens;
        if let Some(commit) = self.commits.last() {
            (self.watch)(&Event::Commit { commit, program: &union.program }, &self.tally);
        }
    }

    fn check_budget(&self) -> Result<(), Stop> {
        match self.options.max_runs {
            Some(limit) if self.tally.runs >= limit => Err(Stop::MaxRuns),
            _ => Ok(()),
        }
    }
}

/// Some of a row: the first of it, and of the rest some at even distances, the last among them.
fn spread<T>(row: Vec<T>, count: usize) -> Vec<T> {
    let safe = (count / 2).min(row.len().saturating_sub(count - count / 2));
    let bold = count.min(row.len()) - safe;
    let rest = row.len() - bold;
    let chosen: HashSet<usize> = (1..=safe).map(|n| bold + rest * n / safe - 1).chain(0..bold).collect();
    row.into_iter().enumerate().filter(|(at, _)| chosen.contains(at)).map(|(_, it)| it).collect()
}
