//! A pass: a pure function from a program to proposals. Owns the types that passes and engine
//! share, and the macro that turns a pass's doc comment into its help, its row in the table of
//! passes and an executed test. Runs nothing and knows no library.

use crate::{
    cost::Cost,
    rewrite::{
        edit::{Edit, EditSet},
        gain::{GainScales, RankGuard},
    },
    syntax::{Program, TextRange, TextSize, rows::ItemId},
    trace::evidence::{Evidence, MissingSymbols},
};

/// One pass over a program.
#[derive(Debug)]
pub struct Pass {
    /// Its permanent name: verb-object, in lower case with hyphens.
    pub id: &'static str,
    /// Its documentation in Markdown: a first paragraph that sums it up, and an example in two
    /// blocks fenced `python before` and `python after`.
    pub doc: &'static str,
    /// The stage in which it runs.
    pub stage: Stage,
    /// Makes its proposals.
    pub propose: fn(&PassContext<'_>, &mut Proposals),
}

/// The order of work: passes that remove most come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// Makes every later run cheaper: a plainer backend, the CPU, one process, smaller data.
    Environment,
    /// Programs that a traced run suggests: of all that show the bug, the smallest is taken.
    TraceGuided,
    /// Parts that the program does not need to run: comments, unused imports.
    Clutter,
    /// Statements and definitions.
    Structure,
    /// Blocks, clauses and parameters.
    Shape,
    /// Parts of statements.
    Detail,
    /// Layout.
    Tidy,
}

impl Stage {
    /// All stages, in order.
    pub const ALL: [Self; 7] = [
        Self::Environment,
        Self::TraceGuided,
        Self::Clutter,
        Self::Structure,
        Self::Shape,
        Self::Detail,
        Self::Tidy,
    ];

    /// The stage's name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::TraceGuided => "trace-guided",
            Self::Clutter => "clutter",
            Self::Structure => "structure",
            Self::Shape => "shape",
            Self::Detail => "detail",
            Self::Tidy => "tidy",
        }
    }
}

impl Pass {
    /// The first paragraph of the documentation, on one line.
    pub fn summary(&self) -> String {
        let lines = self.doc.trim_start().lines().map(str::trim);
        lines
            .take_while(|line| !line.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// The proposals for a program, in the pass's order.
    pub fn proposals(&self, program: &Program) -> Vec<Proposal> {
        self.proposals_with(program, None, &MissingSymbols::default())
    }

    /// The proposals for a program with the evidence of a traced run.
    pub fn proposals_with(
        &self,
        program: &Program,
        evidence: Option<&Evidence>,
        missing: &MissingSymbols,
    ) -> Vec<Proposal> {
        let mut proposals = Proposals {
            pass: self.id,
            group: 0,
            list: Vec::new(),
        };
        let context = PassContext {
            program,
            scales: GainScales::of(program),
            evidence,
            missing,
        };
        (self.propose)(&context, &mut proposals);
        let guard = RankGuard::of(program);
        proposals
            .list
            .retain(|proposal| guard.admits(&context.scales, &proposal.edits));
        proposals.list
    }

    /// The code of the documentation's block whose fence says `python KIND`.
    pub fn example(&self, kind: &str) -> Option<String> {
        let fence = format!("```python {kind}");
        let mut lines = self
            .doc
            .lines()
            .map(|line| line.strip_prefix(' ').unwrap_or(line));
        lines.find(|line| line.trim_end() == fence)?;
        Some(
            lines
                .take_while(|line| line.trim_end() != "```")
                .flat_map(|line| [line, "\n"])
                .collect(),
        )
    }
}

/// The input of a pass.
pub struct PassContext<'a> {
    /// The program.
    pub program: &'a Program,
    /// Tells whether edits of the program gain anything.
    pub(crate) scales: GainScales<'a>,
    /// The evidence of a traced run of this very program, if there was one.
    pub evidence: Option<&'a Evidence>,
    /// The symbols that earlier candidates made from that evidence lacked.
    pub missing: &'a MissingSymbols,
}

/// The longest string, in characters, of which no pass makes another text: many are names of columns
/// or files, dates, formats and patterns. A part of one means something else, or nothing: whoever
/// reads it is right to refuse it. A reader of the repro gains nothing by it either.
pub(crate) const SHORT: usize = 60;

/// The edit that turns a program into another text, if that is simpler.
pub(crate) fn whole_text(program: &Program, text: &str) -> Option<EditSet> {
    let after = program.sibling(text).ok()?;
    let whole = TextRange::up_to(TextSize::of(program.text()));
    (Cost::of(&after) < Cost::of(program)).then(|| EditSet::one(Edit::replace(whole, text)))
}

/// A change that a pass proposes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The pass.
    pub pass: &'static str,
    /// The change.
    pub edits: EditSet,
    /// The pass's guess how likely it is accepted.
    pub prior: Prior,
    /// The change in words, for people.
    pub note: String,
    /// Proposals of one group may be tried together, in their order. Trace-guided ones are tried
    /// alone: of a group's that are about equally large, the largest.
    pub group: u32,
}

/// How likely it is that one proposal is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Prior {
    /// Nothing can depend on the removed part: about 0.98.
    Certain,
    /// Most such parts are noise: about 0.75.
    Likely,
    /// As likely as not.
    Even,
    /// Accepted now and then: about 0.2.
    Unlikely,
}

impl Prior {
    /// The probability.
    pub fn probability(self) -> f64 {
        match self {
            Self::Certain => 0.98,
            Self::Likely => 0.75,
            Self::Even => 0.5,
            Self::Unlikely => 0.2,
        }
    }
}

/// The proposals that a pass makes.
pub struct Proposals {
    pass: &'static str,
    group: u32,
    list: Vec<Proposal>,
}

impl Proposals {
    /// Proposes a change.
    pub fn propose(&mut self, edits: EditSet, prior: Prior, note: impl Into<String>) {
        self.list.push(Proposal {
            pass: self.pass,
            edits,
            prior,
            note: note.into(),
            group: self.group,
        });
    }

    /// Proposes to delete a range.
    pub fn delete(&mut self, range: TextRange, prior: Prior, note: impl Into<String>) {
        self.propose(EditSet::one(Edit::delete(range)), prior, note);
    }

    /// Proposes to remove a thing from its row.
    pub fn remove(&mut self, item: ItemId, prior: Prior, note: impl Into<String>) {
        self.propose(EditSet::removal(item), prior, note);
    }

    /// Ends the group: later proposals are not tried together with earlier ones.
    pub fn next_group(&mut self) {
        self.group += 1;
    }
}

/// Declares a pass: its doc comment becomes [`Pass::doc`], its name in lower case with hyphens
/// [`Pass::id`], and the example in the doc comment a test.
macro_rules! pass {
    ($(#[doc = $doc:literal])+ pub(crate) static $name:ident = Pass { stage: $stage:expr, propose };) => {
        $(#[doc = $doc])+
        pub(crate) static $name: $crate::pass::Pass = $crate::pass::Pass {
            id: {
                const ID: [u8; stringify!($name).len()] = $crate::pass::kebab(stringify!($name));
                match std::str::from_utf8(&ID) {
                    Ok(id) => id,
                    Err(_) => panic!("the name of a pass is ASCII"),
                }
            },
            doc: concat!($($doc, "\n"),+),
            stage: $stage,
            propose,
        };

        #[cfg(test)]
        mod documented {
            #[test]
            fn the_example_holds() {
                $crate::testing::check_example(&super::$name);
            }
        }
    };
}
pub(crate) use pass;

/// `DROP_THIS` as `drop-this`.
pub(crate) const fn kebab<const N: usize>(name: &str) -> [u8; N] {
    let mut result = [0; N];
    let mut at = 0;
    while at < N {
        let byte = name.as_bytes()[at];
        result[at] = if byte == b'_' {
            b'-'
        } else {
            byte.to_ascii_lowercase()
        };
        at += 1;
    }
    result
}
