//! Reasons why clean runs of a script do not prove that its bug is fixed: the bug may show on
//! another device, in a newer version, under another system, by chance, or may not be the one that
//! was looked for. Pure. Called once a script has passed.

use minrepro_reducers::{
    analysis::names::ImportedNames,
    syntax::{
        AnyNodeRef, Program,
        ast::{Expr, ExprRef, Stmt},
    },
};
use pep440_rs::Version;
use serde::{Deserialize, Serialize};

use super::{
    chance::{Chance, runs_for},
    installed::{Installed, minor},
    issue::{
        Issue,
        claims::{Claims, parsed},
        failure::ReportedFailure,
        recent::confirms,
        reported::{Certainty, Reported},
        versions::{Versions, all_of_torch, branched, versions},
    },
};
use crate::text::pattern;

/// A reason why a clean run proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doubt {
    /// Its kind.
    pub kind: DoubtKind,
    /// The reason, for people.
    pub what: String,
}

/// The kinds of doubts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DoubtKind {
    /// Another device, more devices or more processes.
    Device,
    /// A newer version.
    Newer,
    /// Another system, or a version that nobody named.
    Place,
    /// The script was changed.
    Altered,
    /// Chance.
    Chance,
    /// It is not certain that the failure is the one of this script.
    Source,
    /// Nothing shows that this script fails anywhere on this machine.
    Uncontrolled,
}

impl Doubt {
    /// A doubt.
    pub fn new(kind: DoubtKind, what: impl Into<String>) -> Self {
        Self {
            kind,
            what: what.into(),
        }
    }

    /// Whether it is settled once the same script shows the reported failure in an older version.
    pub fn is_settled_by_control(&self) -> bool {
        !matches!(self.kind, DoubtKind::Device | DoubtKind::Newer)
    }
}

/// The knowledge about a script that has passed.
pub(super) struct Ground<'a> {
    /// The issue.
    pub(super) issue: &'a Issue,
    /// Its versions.
    pub(super) versions: &'a Versions,
    /// The claims in its posts.
    pub(super) claims: &'a Claims,
    /// The reported failure.
    pub(super) reported: Option<&'a Reported>,
    /// Whether the user named the signature.
    pub(super) is_named: bool,
    /// The script as it was written.
    pub(super) program: &'a Program,
    /// The interpreter.
    pub(super) installed: &'a Installed,
    /// The chance that the script shows.
    pub(super) chance: &'a Chance,
    /// Whether the script is refused by an error, in every run, before it could crash.
    pub(super) is_refused: bool,
    /// The number of clean runs.
    pub(super) runs: usize,
}

impl Ground<'_> {
    /// The versions of Python in the posts.
    fn pythons(&self) -> Vec<String> {
        let posts = self.issue.posts().filter(|post| !post.is_bot);
        posts
            .filter_map(|post| versions(&post.body).python)
            .collect()
    }
}

/// All reasons against the conclusion that the bug is fixed.
pub(super) fn doubts(ground: &Ground<'_>) -> Vec<Doubt> {
    [
        device(ground),
        newer(ground),
        place(ground),
        by_chance(ground),
        source(ground),
        handled(ground),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Names of devices and of features that only they have.
const DEVICES: &[&str] = &[
    "cuda", "xpu", "mps", "hpu", "npu", "xla", "nccl", "triton", "hip", "gpu", "mtia", "vulkan",
];
/// Variables that the launcher of several processes sets.
const RANKS: &[&str] = &["RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE"];

fn device(ground: &Ground<'_>) -> Option<Doubt> {
    let has = |name: &str| {
        ground.installed.gpus > 0 && matches!(name, "cuda" | "gpu" | "nccl" | "triton")
    };
    let doubt = |what: String| Some(Doubt::new(DoubtKind::Device, what));
    if let Some(name) = named_device(ground.program)
        && !has(name)
    {
        return doubt(format!(
            "the script names `{name}`, which this machine lacks"
        ));
    }
    if let Some(words) = &ground.claims.processes {
        return doubt(format!(
            "several processes take part (`{words}`), and here it is one"
        ));
    }
    if let Some(name) = asked_rank(ground.program) {
        return doubt(format!(
            "the script reads `{name}`, which a launcher of several processes sets"
        ));
    }
    if ground.installed.gpus > 0 {
        return None;
    }
    if let Some(words) = &ground.claims.device {
        return doubt(format!(
            "the issue says \"{words}\", and this machine has only a CPU"
        ));
    }
    let headline = ground.reported.map(|reported| reported.what.describe());
    if let Some(name) = headline.as_deref().and_then(device_in) {
        return doubt(format!(
            "the reported failure names `{name}`, which this machine lacks"
        ));
    }
    let label = ground.issue.labels.iter().find(|label| {
        let label = label.to_lowercase();
        DEVICES
            .iter()
            .chain(&["cudnn", "cublas", "rocm", "multi-gpu"])
            .any(|name| label.split([' ', '/', '-', ':']).any(|word| word == *name))
    })?;
    doubt(format!(
        "it has the label `{label}`, and this machine has only a CPU"
    ))
}

/// The device that a message names.
fn device_in(message: &str) -> Option<&'static str> {
    let message = message.to_lowercase();
    message
        .split(|char: char| !char.is_alphanumeric())
        .find_map(|word| DEVICES.iter().copied().find(|name| *name == word))
}

/// The variable of a launcher that a script reads.
fn asked_rank(program: &Program) -> Option<&'static str> {
    let tree = program.tree();
    let names = ImportedNames::of(tree);
    tree.nodes.iter().find_map(|node| {
        let (of, key) = match node.node {
            AnyNodeRef::ExprCall(call) => (&*call.func, call.arguments.args.first()?),
            AnyNodeRef::ExprSubscript(item) if item.ctx.is_load() => (&*item.value, &*item.slice),
            _ => return None,
        };
        let Expr::StringLiteral(key) = key else {
            return None;
        };
        let is_read = matches!(
            names.path(of)?.as_str(),
            "os.environ" | "os.environ.get" | "os.getenv"
        );
        let known = RANKS.iter().copied().find(|name| key.value == **name)?;
        is_read.then_some(known)
    })
}

/// The device that a script names, in a literal or in the path of a name. Settings that have no
/// effect without the device do not count.
fn named_device(program: &Program) -> Option<&'static str> {
    let tree = program.tree();
    let known = |word: &str| DEVICES.iter().copied().find(|name| *name == word);
    tree.nodes.iter().find_map(|node| match node.node {
        AnyNodeRef::StringLiteral(text) => known(text.value.split(':').next()?),
        AnyNodeRef::InterpolatedStringLiteralElement(text) => known(text.value.split(':').next()?),
        AnyNodeRef::ExprAttribute(attribute) => {
            let name = known(attribute.attr.as_str())?;
            let parent = node.parent.map(|at| tree.nodes[at as usize].node);
            let is_setting = match parent {
                Some(AnyNodeRef::ExprAttribute(outer)) => {
                    outer.attr.starts_with("manual_seed") || outer.attr.as_str() == "synchronize"
                }
                _ => false,
            };
            let is_asked = matches!(parent, Some(AnyNodeRef::ExprAttribute(outer))
                if outer.attr.starts_with("is_"));
            let is_backend = !is_asked
                && matches!(&*attribute.value, Expr::Attribute(below)
                    if below.attr.as_str() == "backends");
            (!is_setting && !is_backend).then_some(name)
        }
        AnyNodeRef::Alias(alias) => alias.name.split('.').find_map(known),
        other => match other.as_expr_ref() {
            Some(ExprRef::Name(name)) => known(name.id.as_str()),
            _ => None,
        },
    })
}

fn newer(ground: &Ground<'_>) -> Option<Doubt> {
    let doubt = |what: String| Some(Doubt::new(DoubtKind::Newer, what));
    if let Some(own) = ground.installed.torch.as_deref().and_then(parsed) {
        // A number that is far off is of something else; the next major release begins small.
        let part = |version: &Version, at: usize| version.release().get(at).copied().unwrap_or(0);
        let is_near = |version: &Version| {
            let ahead = part(version, 0).wrapping_sub(part(&own, 0));
            ahead == 0 || (ahead == 1 && part(version, 1) <= 3)
        };
        let near = ground.claims.named.iter();
        let near = near.filter(|version| parsed(version).is_some_and(|known| is_near(&known)));
        let named = ground.versions.torch.iter().chain(&ground.claims.fails_on);
        if let Some(version) = named
            .chain(near)
            .filter(|version| parsed(version).is_some_and(|version| version > own))
            .max_by_key(|version| parsed(version))
        {
            return doubt(format!(
                "it was reported with {version}, which is newer than {own}"
            ));
        }
    }
    let posted = ground.pythons();
    let reported = ground.versions.python.iter().chain(&posted);
    let reported = reported.filter_map(|version| minor(version)).max();
    if let (Some(reported), Some(own)) = (reported, ground.installed.python_minor())
        && reported > own
    {
        return doubt(format!(
            "it was reported with Python {}.{}, which is newer than {}.{}",
            reported.0, reported.1, own.0, own.1
        ));
    }
    // Somebody who still saw it after the version was made may have used a later one.
    let installed = ground.installed.torch.as_deref()?;
    let made = branched(installed);
    let own = parsed(installed);
    let names_older = |text: &str| {
        let mut named = all_of_torch(text).filter_map(|version| parsed(&version));
        named.any(|version| own.as_ref().is_some_and(|own| version <= *own))
    };
    let post = ground.issue.comments.iter().rev().find(|post| {
        !post.is_bot
            && made.is_none_or(|made| post.created > made)
            && (confirms(post) || NEWEST.is_match(&post.body))
            && !names_older(&post.body)
    })?;
    let subject = ground.installed.subject();
    doubt(match made {
        Some(_) => format!("{} confirmed it after {subject} was made", post.author),
        None => format!(
            "{} confirmed it, perhaps after {subject} was made",
            post.author
        ),
    })
}

pattern!(
    CHANGED_LIBRARY,
    r"(?i)\b(?:check(?:ed|ing)? ?out|appl(?:y|ied|ying)|cherry-?pick\w*|on top of)\b[^.\n]{0,40}(?:https?://\S+/pull/\d+|\bPR\b|\bpatch\b|\bbranch\b)"
);

// What people run who build or install the newest.
pattern!(
    NEWEST,
    r"(?i)\b(?:same|repro\w*|fail\w*|happen\w*|see|seen|crash\w*|there)\b[^.\n]{0,40}\b(?:nightly|nightlies|main|master|trunk|(?:latest|newest|last) (?:version|release)|release of)\b"
);

fn place(ground: &Ground<'_>) -> Option<Doubt> {
    let doubt = |what: String| Some(Doubt::new(DoubtKind::Place, what));
    if let Some(words) = CHANGED_LIBRARY.find(&ground.issue.post.body) {
        let words = words.as_str();
        return doubt(format!(
            "it was reported with a changed library: \"{words}\""
        ));
    }
    if let Some(os) = &ground.versions.os {
        let os_name = os.to_lowercase();
        if ["windows", "macos", "mac os", "darwin"]
            .iter()
            .any(|name| os_name.contains(name))
        {
            return doubt(format!("it was reported on {os}"));
        }
    }
    if let Some(words) = &ground.claims.mentioned
        && ground.installed.gpus == 0
    {
        return doubt(format!(
            "the issue mentions \"{words}\", and this machine has only a CPU"
        ));
    }
    if let Some(words) = &ground.claims.command {
        return doubt(format!(
            "it was started by `{words}`, and here as a plain script"
        ));
    }
    let is_numbered = |text: &String| parsed(text).is_some();
    let is_named = ground.versions.torch.as_ref().is_some_and(is_numbered)
        || ground.claims.fails_on.iter().any(is_numbered);
    let is_older = || {
        let made = ground.installed.torch.as_deref().and_then(branched);
        made.is_some_and(|made| ground.issue.post.created < made)
    };
    if is_named || is_older() {
        return None;
    }
    doubt(match &ground.versions.torch {
        Some(version) => format!("it was reported with `{version}`, whose age is not known"),
        None => "the issue does not say with which version it was reported".to_owned(),
    })
}

fn by_chance(ground: &Ground<'_>) -> Option<Doubt> {
    let runs = ground.runs;
    let doubt = |what: String| Some(Doubt::new(DoubtKind::Chance, what));
    if let Some(claim) = &ground.claims.chance {
        return match claim.percent.map(runs_for) {
            Some(needed) if runs >= needed => None,
            Some(needed) => doubt(format!(
                "the issue says \"{}\", which asks for {needed} clean runs; there were {runs}",
                claim.words
            )),
            None => doubt(format!(
                "the issue says \"{}\", without a rate; {runs} clean runs may have missed it",
                claim.words
            )),
        };
    }
    if ground.is_refused {
        return None;
    }
    if let Some(Reported {
        what: ReportedFailure::Hang,
        ..
    }) = ground.reported
    {
        return doubt(format!("a hang may be missed by {runs} runs"));
    }
    match ground.chance {
        Chance::Sign(sign) => doubt(format!(
            "{sign}, so that {runs} clean runs may have missed it"
        )),
        Chance::Values
            if !matches!(
                ground.reported,
                Some(Reported {
                    what: ReportedFailure::Exception { .. },
                    ..
                })
            ) =>
        {
            doubt("the result may depend on random values that no seed fixes".to_owned())
        }
        _ => None,
    }
}

fn source(ground: &Ground<'_>) -> Option<Doubt> {
    if ground.is_named {
        return None;
    }
    let reported = ground.reported?;
    (reported.certainty != Certainty::Certain).then(|| {
        Doubt::new(
            DoubtKind::Source,
            format!(
                "the reported failure, {}, comes from {}",
                reported.what.describe(),
                reported.source
            ),
        )
    })
}

/// A script that handles exceptions passes whether or not the reported one is raised.
fn handled(ground: &Ground<'_>) -> Option<Doubt> {
    let is_exception = matches!(
        ground.reported,
        Some(Reported {
            what: ReportedFailure::Exception { .. },
            ..
        })
    );
    let is_import = |stmt: &Stmt| matches!(stmt, Stmt::Import(_) | Stmt::ImportFrom(_));
    let handles = |node: AnyNodeRef<'_>| match node {
        AnyNodeRef::StmtTry(stmt) => !stmt.handlers.is_empty() && !stmt.body.iter().all(is_import),
        AnyNodeRef::ExprAttribute(attribute) => attribute.attr.starts_with("suppress"),
        AnyNodeRef::ExprName(name) => name.id.starts_with("suppress"),
        _ => false,
    };
    let nodes = &ground.program.tree().nodes;
    (is_exception && nodes.iter().any(|node| handles(node.node))).then(|| {
        Doubt::new(
            DoubtKind::Source,
            "the script handles exceptions itself, so that a clean run may hide the reported one",
        )
    })
}
