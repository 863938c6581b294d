//! The state of one reduction and its steps: a stage, a round, a batch, a commit. Called by the
//! loop in `engine`.

mod ahead;
mod confirm;
mod leap;
mod runs;

use std::{
    any::Any,
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Instant,
};

use minrepro_reducers::{
    analysis::hints::Hint,
    pass::{Pass, Proposal, Stage},
    registry,
    rewrite::{
        edit::{EditSet, splice},
        rebase::Rebase,
    },
    syntax::Program,
    trace::evidence::MissingSymbols,
};
use rayon::prelude::*;

use super::{
    beliefs::Beliefs,
    offer::{BATCH, Chunk, Offer},
    plan::{Base, Plan},
    types::{Commit, Event, Kept, Options, Reduction, Spent, Stop, Tally},
};
use crate::{
    journal::{Journal, Key},
    judge::{Candidate, Judge, Judged},
    oracle::{Difference, Verdict},
};

/// Down to how many tenths of its tokens a program has shrunk when another look at the whole is
/// worth its run.
const SHRUNK: u32 = 7;

/// How many chunks are chosen at once at most.
const MOST_AHEAD: usize = 256;

/// Why a pursuit ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pursuit {
    /// Nothing is left to try.
    Exhausted,
    /// The program is much smaller now.
    Shrunk,
}

/// What is told of what happens.
type Watch<'a> = dyn FnMut(&Event<'_>, &Tally) + 'a;

pub(super) struct Session<'a> {
    base: Base,
    passes: Vec<&'static Pass>,
    judge: &'a mut dyn Judge,
    journal: &'a mut Journal,
    options: &'a Options,
    watch: &'a mut Watch<'a>,
    /// Verdicts of this session, those taken from the journal included.
    verdicts: HashMap<Key, Verdict>,
    /// What was found before it was needed, and has not been needed yet.
    foreseen: HashMap<Key, Judged>,
    beliefs: Beliefs,
    /// How many tokens the program had after the last look at the whole.
    leapt_at: u32,
    /// Whether programs are traced.
    traces: bool,
    /// How many guesses are made from one look.
    leaps_left: usize,
    tally: Tally,
    commits: Vec<Commit>,
    /// The last program that was confirmed, and how many commits led to it.
    confirmed: (Arc<Program>, usize),
    /// The same of the one that is being confirmed.
    confirming: Option<(Arc<Program>, usize)>,
    differences: Vec<(Key, Difference)>,
    kept: Vec<Kept>,
    journal_failed: bool,
    /// The pass that a candidate is of; `fold` for unions.
    makers: HashMap<Key, &'static str>,
    /// What the runs of this session took, by what they were for.
    spent: BTreeMap<String, Spent>,
    /// How many runs there were at the last success.
    last_success: u64,
    /// What guesses from evidence missed so far.
    missing: MissingSymbols,
    started: Instant,
}

/// A chunk that shows the bug, and the candidate that it makes.
#[derive(Clone)]
pub(super) struct Member {
    chunk: Chunk,
    pub(super) candidate: Candidate,
}

/// A union that is taken as the base before its verdict is there, and what to return to if it does
/// not hold.
struct Pending {
    base: Base,
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
        watch: &'a mut Watch<'a>,
    ) -> Self {
        let tokens = program.size().tokens;
        let traces = judge.can_trace();
        Self {
            confirmed: (Arc::clone(&program), 0),
            confirming: None,
            base: Base::new(program, options.unbound_names),
            passes: passes.to_vec(),
            judge,
            journal,
            options,
            watch,
            verdicts: HashMap::new(),
            foreseen: HashMap::new(),
            beliefs: Beliefs::default(),
            leapt_at: tokens,
            traces,
            leaps_left: leap::LEAPS,
            tally: Tally {
                tokens_before: tokens,
                tokens_now: tokens,
                ..Tally::default()
            },
            commits: Vec::new(),
            differences: Vec::new(),
            kept: Vec::new(),
            journal_failed: false,
            makers: HashMap::new(),
            spent: BTreeMap::new(),
            last_success: 0,
            missing: MissingSymbols::default(),
            started: Instant::now(),
        }
    }

    pub(super) fn finish(self, stop: Stop) -> Reduction {
        let kept = if matches!(stop, Stop::Done) {
            self.kept
        } else {
            Vec::new()
        };
        Reduction {
            program: self.base.program,
            commits: self.commits,
            tally: self.tally,
            differences: self.differences,
            kept,
            spent: self.spent,
            stop,
        }
    }

    /// Takes away all clutter at once, if that shows the bug: what is left is easier to follow.
    pub(super) fn declutter(&mut self) -> Result<(), Stop> {
        let mut proposals = self.proposals(&registry::of_stage(&self.passes, Stage::Clutter));
        proposals.retain(|proposal| proposal.prior.probability() > 0.5);
        let offer = Offer::new(&self.base, proposals);
        let chunk = offer.chunk((0..offer.len()).collect());
        let plan = self.base.plan(&chunk.edits);
        self.judge("clutter", std::slice::from_ref(&plan))?;
        if let Plan::Candidate(candidate) = plan
            && self
                .verdicts
                .get(&candidate.key)
                .is_some_and(Verdict::is_same)
        {
            self.go_over(Member {
                chunk,
                candidate: *candidate,
            });
        }
        self.check_budget()
    }

    /// Takes a candidate that shows the bug as the base.
    fn go_over(&mut self, member: Member) {
        let candidate = member.candidate.clone();
        let base = self.advance(&candidate);
        self.record_commits(&base, &candidate, &[member]);
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
                    (self.watch)(
                        &Event::PassFailed {
                            pass: pass.id,
                            message,
                        },
                        &self.tally,
                    );
                    self.passes.retain(|other| other.id != pass.id);
                }
            }
        }
        proposals
    }

    /// Tries what was not rejected before, what promises most first, until nothing is left to try,
    /// or so much is gone that another look at the whole is worth its run.
    ///
    /// Several successes of one batch are united, and the next batch is made against their union
    /// while the union itself is being judged, as one more candidate of that batch: unions nearly
    /// always hold. If one does not, its batch counts for nothing, and the successes are folded
    /// with care.
    pub(super) fn pursue(&mut self, stages: &[Stage]) -> Result<Pursuit, Stop> {
        let mut offer = self.offer(stages);
        let mut urgent: VecDeque<Chunk> = VecDeque::new();
        let mut pending: Option<Pending> = None;
        let most = if self.options.singly { 1 } else { BATCH };
        loop {
            let is_shrunk =
                self.traces && self.base.program.size().tokens * 10 < self.leapt_at * SHRUNK;
            if is_shrunk && pending.is_none() {
                return Ok(Pursuit::Shrunk);
            }
            let room = if is_shrunk {
                0
            } else {
                most - usize::from(pending.is_some())
            };
            let batch = self.next_batch(&offer, &mut urgent, room);
            if batch.is_empty() && pending.is_none() {
                return Ok(Pursuit::Exhausted);
            }
            let pass = batch.first().map_or("fold", |member| member.chunk.pass());
            let plans: Vec<Plan> = pending
                .iter()
                .map(|it| &it.union)
                .chain(batch.iter().map(|it| &it.candidate))
                .map(|it| Plan::Candidate(Box::new(it.clone())))
                .collect();
            self.note_makers(&batch);
            self.makers
                .extend(pending.as_ref().map(|it| (it.union.key, "fold")));
            let ahead = self.foresee(
                &offer,
                &urgent,
                &batch,
                pending.as_ref().map(|it| &it.union),
            );
            let judged = self.judge_with(pass, &plans, &ahead);
            if let Some(it) = pending.take() {
                if self
                    .verdicts
                    .get(&it.union.key)
                    .is_some_and(Verdict::is_same)
                {
                    self.record_commits(&it.base, &it.union, &it.members);
                } else {
                    self.base = it.base;
                    self.fold_with_care(it.members);
                    judged?;
                    self.check_budget()?;
                    offer = self.offer(stages);
                    urgent.clear();
                    continue;
                }
            }
            judged?;
            let mut successes = Vec::new();
            for member in batch {
                match self.verdicts.get(&member.candidate.key).cloned() {
                    Some(Verdict::Same) => {
                        self.beliefs.accept(&member.chunk.names);
                        successes.push(member);
                    }
                    Some(verdict) => urgent.extend(self.reject(&member, &verdict)),
                    None => {}
                }
            }
            if successes.is_empty() {
                self.check_budget()?;
                if !self.suspect()? {
                    offer = self.offer(stages);
                    urgent.clear();
                }
                continue;
            }
            pending = self.unite(successes);
            offer = self.offer(stages);
            urgent.clear();
            if pending.is_none() {
                self.check_budget()?;
            }
        }
    }

    /// What the passes of some stages propose for the program.
    fn offer(&mut self, stages: &[Stage]) -> Offer {
        let passes: Vec<&'static Pass> = stages
            .iter()
            .flat_map(|&stage| registry::of_stage(&self.passes, stage))
            .collect();
        let proposals = self.proposals(&passes);
        Offer::new(&self.base, proposals)
    }

    /// The next candidates to try: what failures named first, then what promises most. What needs
    /// no run, because it can not run or was run before, is learnt from at once.
    fn next_batch(
        &mut self,
        offer: &Offer,
        urgent: &mut VecDeque<Chunk>,
        room: usize,
    ) -> Vec<Member> {
        let mut batch: Vec<Member> = Vec::new();
        // The more of what was chosen needs no run, the more is chosen at once.
        let mut ahead = room;
        while batch.len() < room {
            let mut chunks: Vec<Chunk> = urgent
                .drain(..urgent.len().min(room - batch.len()))
                .collect();
            if chunks.is_empty() {
                let trying: Vec<Chunk> = batch.iter().map(|member| member.chunk.clone()).collect();
                chunks = offer.choose(&self.beliefs, ahead, &trying);
                ahead = (2 * ahead).min(MOST_AHEAD);
            }
            if chunks.is_empty() {
                break;
            }
            while !chunks.is_empty() && batch.len() < room {
                let rest = chunks.split_off(chunks.len().min(room));
                let base = &self.base;
                let plans: Vec<Plan> = chunks
                    .par_iter()
                    .map(|chunk| base.plan_sparing(&chunk.edits))
                    .collect();
                for (chunk, plan) in chunks.into_iter().zip(plans) {
                    self.take(chunk, plan, room, &mut batch);
                }
                chunks = rest;
            }
        }
        batch
    }

    /// Puts a candidate into a batch that has room, unless it needs no run.
    fn take(&mut self, chunk: Chunk, plan: Plan, room: usize, batch: &mut Vec<Member>) {
        let is_new = |key: Key| {
            !batch.iter().any(|it| it.candidate.key == key)
                && self.verdicts.get(&key).is_none_or(Verdict::is_same)
        };
        match plan {
            Plan::Candidate(candidate) if is_new(candidate.key) => {
                if batch.len() < room {
                    batch.push(Member {
                        chunk,
                        candidate: *candidate,
                    });
                }
            }
            _ => {
                self.tally.pruned += 1;
                if !chunk.widened {
                    self.beliefs.reject(&chunk.names);
                }
            }
        }
    }

    /// Tries everything once more, one by one, on the program as it is, and what fails for what it
    /// leaves behind without that, too. What shows the bug is gone over to; if nothing does, that
    /// is the proof that nothing single is left, and the reason why each part stays.
    ///
    /// After a success it goes on where it was: the pass that brought it comes first, then what was
    /// refused longest ago.
    pub(super) fn prove(&mut self, stages: &[Stage]) -> Result<Pursuit, Stop> {
        self.kept.clear();
        let offer = self.offer(stages);
        let mut members = singles(&self.base, &offer);
        self.tally.pruned += (offer.len() - members.len()) as u64;
        let mut seen = HashSet::new();
        members.retain(|member| seen.insert(member.candidate.key));
        let (known, new): (Vec<Member>, Vec<Member>) = members
            .into_iter()
            .partition(|member| self.verdicts.contains_key(&member.candidate.key));
        let mut left = VecDeque::from(new);
        let latest = self.commits.last().map_or("", |commit| &commit.pass);
        left.make_contiguous().sort_by_key(|Member { chunk, .. }| {
            (
                chunk.pass() != latest,
                self.beliefs.last_refusal(&chunk.names),
            )
        });
        let mut batch: Vec<Member> = known;
        loop {
            let plans: Vec<Plan> = batch
                .iter()
                .map(|it| Plan::Candidate(Box::new(it.candidate.clone())))
                .collect();
            let pass = batch.first().map_or("", |member| member.chunk.pass());
            self.note_makers(&batch);
            self.judge(pass, &plans)?;
            let mut successes = Vec::new();
            for member in std::mem::take(&mut batch) {
                match self.verdicts.get(&member.candidate.key).cloned() {
                    Some(Verdict::Same) => successes.push(member),
                    Some(verdict) => {
                        let wider = Some(&member.chunk).filter(|it| !it.widened);
                        if let Some(chunk) =
                            wider.and_then(|it| self.widened(it, &member.candidate, &verdict))
                            && let Plan::Candidate(candidate) = self.base.plan(&chunk.edits)
                            && !self.verdicts.contains_key(&candidate.key)
                            && seen.insert(candidate.key)
                        {
                            left.push_front(Member {
                                chunk,
                                candidate: *candidate,
                            });
                        }
                        if member.chunk.widened {
                            continue;
                        }
                        self.beliefs.refuse(&member.chunk.names);
                        self.base.note_needed(&member.candidate.edits);
                        self.kept.push(Kept {
                            line: self.base.line_of(&member.chunk.edits),
                            pass: member.chunk.pass().to_owned(),
                            note: member.chunk.note,
                            verdict,
                        });
                    }
                    None => {}
                }
            }
            if !successes.is_empty() {
                self.fold_with_care(successes);
                return Ok(Pursuit::Shrunk);
            }
            self.check_budget()?;
            if !self.confirm_at_last(left.len())? {
                return Ok(Pursuit::Shrunk);
            }
            batch.extend(left.drain(..left.len().min(BATCH)));
            if batch.is_empty() {
                return Ok(Pursuit::Exhausted);
            }
        }
    }

    /// Goes over to the union of successes: at once if that is known to hold, else pending its
    /// verdict.
    fn unite(&mut self, members: Vec<Member>) -> Option<Pending> {
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
        let known =
            |session: &Self, candidate: &Candidate| session.verdicts.get(&candidate.key).cloned();
        match self.base.plan(&edits) {
            Plan::Candidate(union) if known(self, &union).is_none_or(|it| it.is_same()) => {
                let is_known = known(self, &union).is_some();
                let base = self.advance(&union);
                if is_known {
                    self.record_commits(&base, &union, &members);
                    return None;
                }
                Some(Pending {
                    base,
                    union: *union,
                    members,
                })
            }
            _ => {
                self.fold_with_care(members);
                None
            }
        }
    }

    /// Commits what of some successes works together.
    fn fold_with_care(&mut self, members: Vec<Member>) {
        let Some((union, indices)) = self.fold(&members) else {
            return;
        };
        let members: Vec<Member> = members
            .into_iter()
            .enumerate()
            .filter_map(|(index, member)| indices.contains(&index).then_some(member))
            .collect();
        let base = self.advance(&union);
        self.record_commits(&base, &union, &members);
    }

    /// Learns from a chunk that was not accepted; returns it in the wider form that its failure
    /// names.
    fn reject(&mut self, Member { chunk, candidate }: &Member, verdict: &Verdict) -> Option<Chunk> {
        if chunk.widened {
            return None;
        }
        self.beliefs.reject(&chunk.names);
        if chunk.units.len() > 1 {
            return None;
        }
        self.base.note_needed(&candidate.edits);
        self.widened(chunk, candidate, verdict)
    }

    /// A change in the wider form that its failure names.
    fn widened(&self, chunk: &Chunk, candidate: &Candidate, verdict: &Verdict) -> Option<Chunk> {
        let Verdict::Different(difference) = verdict else {
            return None;
        };
        let hint = Hint::of(&difference.class, &difference.message)?;
        let edits = hint.widen(&self.base.program, &candidate.edits)?;
        Some(Chunk {
            edits,
            widened: true,
            ..chunk.clone()
        })
    }

    fn note_makers(&mut self, members: &[Member]) {
        self.makers
            .extend(members.iter().map(|it| (it.candidate.key, it.chunk.pass())));
    }

    /// Which unions of changes show the bug. Out of budget, what is not known does not count.
    pub(super) fn try_folds(&mut self, unions: &[EditSet]) -> Vec<Option<Candidate>> {
        let plans: Vec<Plan> = unions
            .par_iter()
            .map(|edits| self.base.plan(edits))
            .collect();
        // A halt shows at the next batch; what was judged before it counts.
        let _ = self.judge("fold", &plans);
        let verdicts = self.verdicts_of(&plans);
        let shows = |(plan, verdict)| match (plan, verdict) {
            (Plan::Candidate(candidate), Some(Verdict::Same)) => Some(*candidate),
            _ => None,
        };
        plans.into_iter().zip(verdicts).map(shows).collect()
    }

    /// Takes a candidate as the base; returns the base that was.
    fn advance(&mut self, candidate: &Candidate) -> Base {
        let done = candidate
            .edits
            .resolve(&self.base.program)
            .unwrap_or_default();
        let rebase = Rebase::new(&self.base.program, &done, &candidate.program);
        let base = self.base.rebased(Arc::clone(&candidate.program), &rebase);
        std::mem::replace(&mut self.base, base)
    }

    /// Records what led from `base` to the program that is the base now, a commit for each of its
    /// members.
    fn record_commits(&mut self, base: &Base, union: &Candidate, members: &[Member]) {
        let seconds = self.started.elapsed().as_secs_f64();
        let mut together = EditSet::default();
        for (index, Member { chunk, candidate }) in members.iter().enumerate() {
            together.extend(&candidate.edits);
            let text = together
                .resolve(&base.program)
                .map(|edits| splice(base.program.text(), &edits));
            let partial = text.ok().and_then(|text| base.program.sibling(text).ok());
            let last = index + 1 == members.len();
            let program = partial.as_ref().filter(|_| !last).unwrap_or(&union.program);
            self.commits.push(Commit {
                pass: chunk.pass().to_owned(),
                note: chunk.note.clone(),
                tokens: program.size().tokens,
                run: self.tally.judged(),
                seconds,
            });
        }
        self.tally.tokens_now = union.program.size().tokens;
        self.last_success = self.tally.runs;
        if let Some(commit) = self.commits.last() {
            (self.watch)(
                &Event::Commit {
                    commit,
                    program: &union.program,
                },
                &self.tally,
            );
        }
    }

    fn check_budget(&self) -> Result<(), Stop> {
        match self.options.max_runs {
            Some(limit) if self.tally.runs >= limit => Err(Stop::MaxRuns),
            _ => Ok(()),
        }
    }
}

/// Every proposal by itself, as far as it makes a candidate.
fn singles(base: &Base, offer: &Offer) -> Vec<Member> {
    (0..offer.len())
        .into_par_iter()
        .filter_map(|unit| {
            let chunk = offer.chunk(vec![unit]);
            match base.plan(&chunk.edits) {
                Plan::Candidate(candidate) => Some(Member {
                    chunk,
                    candidate: *candidate,
                }),
                Plan::Pruned | Plan::Useless => None,
            }
        })
        .collect()
}
