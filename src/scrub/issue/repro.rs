//! Picks the repro of an issue and says why: the most recent one by the original poster, or a
//! commenter's if it is shorter and needs nothing from the description. Asks instead of guessing.
//! Pure.

use std::collections::BTreeSet;

use minrepro_reducers::{
    analysis::names::imported_modules,
    syntax::{AnyNodeRef, Program, Ranged},
};
use serde::{Deserialize, Serialize};

use super::{
    Association, Issue, Post,
    blocks::{self, BlockKind, PostBlock, prose},
    markdown::Section,
};
use crate::{scrub::python, text::pattern};

/// A repro, its origin and the reason for picking it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repro {
    /// The code.
    pub code: String,
    /// Whether it parses.
    pub parses: bool,
    /// Its author.
    pub author: String,
    /// The author's association with the repository.
    pub association: Association,
    /// The index of its post: 0 is the description, the others are comments.
    pub post: usize,
    /// The reason for picking it.
    pub why: String,
    /// Its size in tokens.
    pub weight: u32,
}

/// The result of picking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pick {
    /// A repro.
    Found(Box<Repro>),
    /// Several candidates, the likeliest first.
    Ask(Vec<Repro>),
    /// The code is only shown in images.
    ImageOnly,
    /// No code; this link may lead to some.
    None(Option<String>),
}

// Text before code that is not a repro: a cure, a working variant, a place in the library, the
// output of a tool.
pattern!(
    CONTRAST,
    r"(?i)work[- ]?arounds?\b|\bworks?\b(?:\s+(?:fine|well|correctly|as expected|ok|around|if|when|with|without|on|in))|\bworking\b|\bsucceeds?\b|\bno (?:error|issue|problem|crash)|\bdoes(?:n't| not) (?:fail|crash|error|happen)|\bruns? (?:fine|ok|correctly|without)|\bfix(?:es|ed)?\b|\bsolution\b|\bsolved\b|\bhack\b|\bpropos(?:e|al)|\bpatch\b|\binstead\b|\bexpected (?:output|result|behaviou?r)|\b(?:source|generated|output|triton|inductor|compiled) code\b|\bthe (?:culprit|offending|relevant|following) (?:code|lines?|function) (?:in|from|of) |\bin `?torch/|\bimplementation (?:in|of)\b|\bfull (?:code|script)\b.{0,30}\bproject\b"
);
pattern!(
    MINIMAL,
    r"(?i)\bminim(?:al|um|ized|ised)\b|\bminified\b|\bsimplif\w+|\bsimple[rs]t?\b|\bsmaller\b|\bshort(?:er|ened)\b|\breduced?\b|\bMRE\b|\bMWE\b|\bself[- ]?contained\b|\bstand-?alone\b"
);
pattern!(
    REPRO,
    r"(?i)\brepro\w*\b|\bminim(?:al|ized|ised)\b|\bminified\b|\bsimplif\w+|\bsimpler\b|\bsmaller\b|\bshort(?:er|ened)\b|\breduced\b|\bMRE\b|\bMWE\b|\bself[- ]?contained\b|\bstand-?alone\b|\btrigger(?:s|ed)?\b|\bstill (?:fails|happens|crash\w+|see)\b"
);
pattern!(
    NOT_REPRODUCED,
    r"(?i)\b(?:can(?:'t|not| not)|could(?:n't| not)|unable to|failed to|not able to|no longer|does(?:n't| not)|did(?:n't| not)|won't)\s+(?:\w+\s+)?repro|\bworks for me\b|\bnot reproducible\b"
);

/// Names that scripts use without importing them, which a repair can supply.
const WELL_KNOWN: &[&str] = &[
    "torch",
    "nn",
    "F",
    "np",
    "numpy",
    "functional",
    "os",
    "sys",
    "math",
];

/// One piece of code that may be the repro.
#[derive(Clone, Debug)]
struct ReproCandidate {
    text: String,
    parses: bool,
    /// Names that it uses and does not bind.
    lacks: BTreeSet<String>,
    /// The prose before it.
    lead: String,
    /// Whether an error is shown right after it.
    fails: bool,
    section: Section,
}

impl ReproCandidate {
    /// Whether it stands where the expected behaviour is described.
    fn is_expected(&self) -> bool {
        self.section == Section::Expected
    }

    fn is_minified(&self) -> bool {
        self.section == Section::Minified
    }

    fn is_contrast(&self) -> bool {
        let lead = self.last_words();
        self.is_expected() || (CONTRAST.is_match(&lead) && !MINIMAL.is_match(&lead))
    }

    fn is_minimal(&self) -> bool {
        MINIMAL.is_match(&self.last_words())
    }

    /// The last two filled lines before it.
    fn last_words(&self) -> String {
        let filled: Vec<&str> = self
            .lead
            .lines()
            .filter(|line| !line.trim().is_empty())
            .collect();
        filled[filled.len().saturating_sub(2)..].join(" ")
    }

    fn is_self_contained(&self) -> bool {
        self.parses
            && self
                .lacks
                .iter()
                .all(|name| WELL_KNOWN.contains(&name.as_str()))
    }

    fn weight(&self) -> u32 {
        python::weight(&self.text)
    }

    /// The candidate as the repro of a post.
    fn in_post(&self, at: usize, post: &Post, why: &str) -> Repro {
        Repro {
            code: self.text.clone(),
            parses: self.parses,
            author: post.author.clone(),
            association: post.association,
            post: at,
            why: why.to_owned(),
            weight: self.weight(),
        }
    }
}

/// Picks the repro of an issue.
pub fn pick(issue: &Issue) -> Pick {
    let own = own_repros(issue);
    let least = own
        .as_ref()
        .and_then(|own| own.iter().map(|repro| repro.weight).min());
    let Shorter { claimed, unclaimed } = shorter_repros(issue, least);
    match (own, claimed, unclaimed) {
        (_, Some(claimed), _) => Pick::Found(Box::new(claimed)),
        (Some(own), None, Some(other))
            if !own.iter().any(|repro| is_self_contained(&repro.code)) =>
        {
            Pick::Ask(own.into_iter().chain([other]).collect())
        }
        (Some(mut own), None, _) if own.len() == 1 => Pick::Found(Box::new(own.remove(0))),
        (Some(own), None, _) => Pick::Ask(own),
        (None, None, Some(other)) => Pick::Ask(vec![other]),
        (None, None, None) => nothing(issue),
    }
}

/// The repros of the original poster's latest post that has any; of a comment only those that stand
/// alone.
fn own_repros(issue: &Issue) -> Option<Vec<Repro>> {
    let posts: Vec<&Post> = issue.posts().collect();
    let mut own = None;
    for (at, post) in posts.iter().enumerate().rev() {
        if !issue.is_original_poster(post) || post.is_bot {
            continue;
        }
        let mut found = candidates(&post.body);
        if at > 0 {
            found.retain(|candidate| candidate.is_self_contained() && !candidate.is_contrast());
        }
        if !found.is_empty() {
            own = Some((at, post, found));
            break;
        }
    }
    let (at, post, found) = own?;
    let place = if at == 0 {
        "the description"
    } else {
        "the original poster's latest comment with code"
    };
    let (found, why) = preferred(found);
    let why = format!("{place}: {why}");
    let repros = found
        .iter()
        .map(|candidate| candidate.in_post(at, post, &why));
    Some(repros.collect())
}

/// The shortest complete scripts of others.
#[derive(Default)]
struct Shorter {
    /// One that its author calls a repro.
    claimed: Option<Repro>,
    /// One that may show something else.
    unclaimed: Option<Repro>,
}

/// Looks for scripts of others that are shorter than a weight.
fn shorter_repros(issue: &Issue, least: Option<u32>) -> Shorter {
    let mut shorter = Shorter::default();
    for (at, post) in issue.posts().enumerate().skip(1) {
        let text = prose(&blocks::blocks(&post.body));
        if issue.is_original_poster(post) || post.is_bot || NOT_REPRODUCED.is_match(&text) {
            continue;
        }
        for candidate in candidates(&post.body) {
            let is_better = match least {
                Some(least) => {
                    candidate.parses && candidate.lacks.is_empty() && candidate.weight() < least
                }
                None => candidate.is_self_contained(),
            };
            if !is_better || candidate.is_contrast() {
                continue;
            }
            let target = if REPRO.is_match(&text) || MINIMAL.is_match(&candidate.lead) {
                &mut shorter.claimed
            } else {
                &mut shorter.unclaimed
            };
            let is_shortest = target
                .as_ref()
                .is_none_or(|before| candidate.weight() < before.weight);
            if is_shortest {
                let why = format!(
                    "a comment by {}: it is shorter and needs nothing from the description",
                    post.author
                );
                *target = Some(candidate.in_post(at, post, &why));
            }
        }
    }
    shorter
}

fn is_self_contained(code: &str) -> bool {
    Program::parse(code).is_ok_and(|program| {
        python::unbound(&program)
            .iter()
            .all(|name| WELL_KNOWN.contains(&name.as_str()))
    })
}

/// The result for an issue without code: it may have images or a link.
fn nothing(issue: &Issue) -> Pick {
    let own = issue.posts().filter(|post| issue.is_original_poster(post));
    let kinds: Vec<BlockKind> = own
        .flat_map(|post| blocks::blocks(&post.body))
        .map(|block| block.kind)
        .collect();
    let link = kinds.iter().find_map(|kind| match kind {
        BlockKind::Elsewhere(link) => Some(link.clone()),
        _ => None,
    });
    if link.is_none() && kinds.contains(&BlockKind::Image) {
        return Pick::ImageOnly;
    }
    Pick::None(link)
}

/// A quality by which candidates are preferred.
type Rule<'a> = &'a dyn Fn(&ReproCandidate) -> bool;

/// The most plausible candidate of a post, or all plausible ones, the likeliest first.
fn preferred(mut found: Vec<ReproCandidate>) -> (Vec<ReproCandidate>, &'static str) {
    found.dedup_by(|next, before| next.text.trim() == before.text.trim());
    if found.len() == 1 {
        return (found, "the only code that does something");
    }
    // Pieces that fail each by themselves, none smaller than the others, may be several bugs.
    let others = found
        .iter()
        .filter(|candidate| candidate.fails && !candidate.is_minimal());
    let least = others.map(ReproCandidate::weight).min();
    let rules: [(Rule<'_>, _); 6] = [
        (
            &|candidate| !candidate.is_minified(),
            "the only one written by a person",
        ),
        (
            &|candidate| !candidate.is_expected(),
            "the others show what is expected",
        ),
        (
            &|candidate| !candidate.is_contrast(),
            "the others show working code or the cause",
        ),
        (
            &|candidate| {
                candidate.is_minimal() && least.is_none_or(|least| candidate.weight() < least)
            },
            "it is called minimal",
        ),
        (
            &|candidate| candidate.fails,
            "the error follows right after it",
        ),
        (
            &|candidate| candidate.parses && candidate.lacks.is_empty(),
            "the only one that is complete",
        ),
    ];
    for (rule, why) in rules {
        let fits = found.iter().filter(|candidate| rule(candidate)).count();
        if fits == 1 {
            found.retain(rule);
            return (found, why);
        }
        if fits > 1 {
            found.retain(rule);
        }
    }
    (found, "one of several")
}

/// The code of a post that can be run, blocks that belong together joined. What stands among logs
/// and versions counts only if there is nothing else.
fn candidates(body: &str) -> Vec<ReproCandidate> {
    let blocks = blocks::blocks(body);
    let is_aside = |block: &PostBlock| matches!(block.section, Section::Logs | Section::Versions);
    let found = candidates_of(
        blocks
            .iter()
            .filter(|block| !(is_aside(block) && matches!(block.kind, BlockKind::Python(_)))),
    );
    if !found.is_empty() {
        return found;
    }
    let imports = |candidate: &ReproCandidate| {
        Program::parse(candidate.text.as_str())
            .is_ok_and(|program| !imported_modules(&program).is_empty())
    };
    let mut found = candidates_of(blocks.iter());
    found.retain(imports);
    found
}

fn candidates_of<'a>(blocks: impl Iterator<Item = &'a PostBlock>) -> Vec<ReproCandidate> {
    let mut groups: Vec<ReproCandidate> = Vec::new();
    let mut lead = String::new();
    for PostBlock { section, kind } in blocks {
        match kind {
            BlockKind::Prose(text) => lead.push_str(text),
            BlockKind::Log(text) => {
                // A log further down may belong to something else.
                if let Some(last) = groups.last_mut()
                    && lead
                        .trim()
                        .lines()
                        .filter(|line| !line.trim().is_empty())
                        .count()
                        <= 3
                    && blocks::shows_failure(text)
                {
                    last.fails = true;
                }
                lead.clear();
            }
            BlockKind::Python(snippet) => {
                let program = Program::parse(snippet.text.as_str()).ok();
                let lacks = program.as_ref().map(python::unbound).unwrap_or_default();
                // A line of a method that is quoted without it.
                let is_quoted =
                    |program: &Program| program.body().len() == 1 && lacks.contains("self");
                if program.as_ref().is_some_and(is_quoted) {
                    continue;
                }
                let next = ReproCandidate {
                    text: snippet.text.clone(),
                    parses: snippet.parses,
                    lacks,
                    lead: std::mem::take(&mut lead),
                    fails: false,
                    section: *section,
                };
                add(&mut groups, next);
            }
            _ => lead.clear(),
        }
    }
    groups.retain(|candidate| {
        candidate
            .parses
            .then(|| Program::parse(candidate.text.as_str()))
            .is_none_or(|program| program.is_ok_and(|program| python::can_be_run(&program)))
    });
    groups
}

/// Joins a block to the one before if it needs its names. Otherwise the block stands alone, with
/// the imports that it shares.
fn add(groups: &mut Vec<ReproCandidate>, mut next: ReproCandidate) {
    let before = groups
        .last()
        .filter(|last| last.parses && next.parses && last.is_minified() == next.is_minified());
    if let Some(before) = before
        && !next.lacks.is_empty()
        && !next.is_contrast()
        && let Ok(program) = Program::parse(before.text.as_str())
    {
        let bound = python::bound(&program);
        let imported = imported(&program);
        let shared: BTreeSet<&String> = next.lacks.intersection(&bound).collect();
        let only_imports = shared.iter().all(|name| imported.contains_key(*name));
        if !shared.is_empty() && (!only_imports || !python::does_something(&program)) {
            let joined = format!("{}{}", before.text, next.text);
            if let Ok(program) = Program::parse(joined.as_str())
                && let Some(last) = groups.last_mut()
            {
                last.lacks = python::unbound(&program);
                last.text = joined;
                if last.lead.trim().is_empty() {
                    last.lead = next.lead;
                }
                return;
            }
        } else if !shared.is_empty() {
            let mut lines: Vec<&str> = shared
                .iter()
                .filter_map(|name| imported.get(*name).map(String::as_str))
                .collect();
            lines.dedup();
            next.text = format!("{}\n{}", lines.join("\n"), next.text);
            next.lacks = Program::parse(next.text.as_str())
                .map(|program| python::unbound(&program))
                .unwrap_or_default();
        }
    }
    groups.push(next);
}

/// The names that the top level imports, each with its statement.
fn imported(program: &Program) -> std::collections::BTreeMap<String, String> {
    let mut found = std::collections::BTreeMap::new();
    for stmt in program.body() {
        let names = match AnyNodeRef::from(stmt) {
            AnyNodeRef::StmtImport(import) => &import.names,
            AnyNodeRef::StmtImportFrom(import) => &import.names,
            _ => continue,
        };
        for alias in names {
            let name = alias.asname.as_ref().unwrap_or(&alias.name);
            let name = name
                .as_str()
                .split('.')
                .next()
                .unwrap_or_default()
                .to_owned();
            found.insert(name, program.slice(stmt.range()).to_owned());
        }
    }
    found
}
