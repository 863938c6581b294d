//! Whether a comparison of the script's own still compares the same things. Its two sides may
//! differ only as they differ in the script; any other difference would be rightly reported. If one
//! side is written out, it is true only of the numbers that the script works with. Takes no run.

use std::collections::{BTreeMap, BTreeSet};

use minrepro_reducers::{
    analysis::{
        dependence_check::{ReportSite, Side, Surplus, surplus},
        filters::is_decided,
        keywords::{Keywords, Signatures, are_given, called_by_position, keywords},
        number_rows::{is_left_of, number_rows, zero_operands, zeros},
        own_operators::{computing, go_on_computing},
        polarity::{Answers, answers, are_kept, reports_failure},
        same_sides::{compares_alike, compares_with_itself},
        tied_constants::{
            TextTies, Ties, are_one_number, are_tied, come_back, expects_known_texts,
            go_on_sharing, indices, one_variable, round_trips, text_ties, ties,
        },
        truth_tests::OnlyCompared,
        watch::{asked, expects_constants, operands, sides, written_elements},
    },
    syntax::Program,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    super::{
        check::{Applied, Check, Checks, Kind, Script},
        measure::Measure,
        objection::Shown,
        probe::Probe,
    },
    automatic_control::is_exact,
};
use crate::{oracle::Verdict, runner::RunError};

pub(super) const KIND: Kind = Kind {
    id: "comparison",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<Comparison>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates that compare something else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Comparison {
    /// Whether the condition must fail for the report, if it asks one question.
    polarity: Option<bool>,
    /// What the script does by the answers to its questions.
    #[serde(default)]
    answers: Answers,
    /// Whether it compares anything.
    #[serde(default)]
    compares: bool,
    /// The number of arguments that the condition passes to each function.
    asked: BTreeMap<String, usize>,
    /// The surplus of one side over the other, if both are computed.
    surplus: Option<SideSurplus>,
    /// The rows of numbers that are written out, if one side is.
    rows: Option<Vec<Vec<String>>>,
    /// The constants that the written side shares with the computed one.
    shared: BTreeSet<String>,
    /// The number of zeros: most things are the same for zeros.
    zeros: usize,
    /// The number of those that are operands.
    zero_operands: usize,
    /// The number of elements that the compared values write out.
    written: usize,
    /// The parameters of the functions that it imports and calls with positional arguments.
    #[serde(default)]
    signatures: Signatures,
    /// The parameters that calls pass, if no control shows the effect of a call without one.
    keywords: Keywords,
    /// The numbers that the condition shares with calls and indices elsewhere.
    ties: Ties,
    /// The places of the script that have texts in common. None are known where a control shows
    /// that candidates are valid.
    #[serde(default)]
    text_ties: TextTies,
    /// Whether the texts that it expects stand elsewhere as well.
    #[serde(default)]
    expects_known_texts: bool,
    /// The places in which it reads one variable.
    #[serde(default)]
    one_variable: Ties,
    /// The operators of its own classes that compute.
    #[serde(default)]
    computing: BTreeSet<String>,
    /// The things that the script sets to a constant and compares with the same constant.
    round_trips: BTreeSet<String>,
    /// What its conditions compare without testing its truth.
    #[serde(default)]
    only_compared: OnlyCompared,
    /// How the nearest condition compares.
    manner: Manner,
    /// Whether a control shows that the sides are equal without the bug.
    is_controlled: bool,
}

/// How the nearest condition of a report compares.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Manner {
    /// Whether something decides that the program reports.
    is_decided: bool,
    /// Whether it compares a thing with itself.
    is_with_itself: bool,
    /// Whether it compares results of one function.
    #[serde(default)]
    is_alike: bool,
    /// At how many indices it compares elements.
    indices: usize,
}

impl Manner {
    fn of(program: &Program, site: &ReportSite) -> Self {
        Self {
            is_decided: is_decided(program, site),
            is_with_itself: compares_with_itself(program, site),
            is_alike: compares_alike(program, site),
            indices: indices(program, site).len(),
        }
    }

    /// Whether a candidate compares in the same manner.
    fn is_kept_by(&self, program: &Program, site: &ReportSite) -> bool {
        (!self.is_decided || is_decided(program, site))
            && (self.is_with_itself || !compares_with_itself(program, site))
            && (!self.is_alike || compares_alike(program, site))
            && (self.indices != 1 || indices(program, site).len() <= 1)
    }
}

/// The things that one side has more often than the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct SideSurplus {
    names: Surplus,
    constants: Surplus,
}

impl SideSurplus {
    /// None if there are not two sides that are both computed.
    fn of(sides: &[Side]) -> Option<Self> {
        let [one, other] = sides else {
            return None;
        };
        let are_computed = sides.iter().all(|side| !side.operations.is_empty());
        are_computed.then(|| Self {
            names: surplus(&one.names, &other.names),
            constants: surplus(&one.literals, &other.literals),
        })
    }

    /// Whether each side names something that the other does not.
    fn is_two_ways(&self) -> bool {
        let mut names = self.names.values();
        self.names.values().any(|by| *by > 0) && names.any(|by| *by < 0)
    }

    /// Whether two surpluses are the same, the second multiplied by the sign.
    fn is_as(&self, its: &Self, sign: i64) -> bool {
        let are_equal = |known: &Surplus, its: &Surplus| {
            let known = known.iter().map(|(name, by)| (name, by * sign));
            known.eq(its.iter().map(|(name, by)| (name, *by)))
        };
        are_equal(&self.names, &its.names) && are_equal(&self.constants, &its.constants)
    }

    /// Whether the sides of a candidate, in any order, differ by some of the same names and no
    /// others. A constant that only one side has may be replaced by another.
    fn allows(&self, its: &Self) -> bool {
        let within = |sign: i64| {
            let mut names = its.names.iter();
            names.all(|(name, by)| {
                let known = self.names.get(name).map_or(0, |known| known * sign);
                0 < by * known && by.abs() <= known.abs()
            })
        };
        // Of two computations of one thing, each is right as it stands.
        if self.is_two_ways() {
            return self.is_as(its, 1) || self.is_as(its, -1);
        }
        let size = |surplus: &Surplus| surplus.values().map(|by| by.abs()).sum::<i64>();
        self.names.is_empty() == its.names.is_empty()
            && (within(1) || within(-1))
            && size(&its.constants) <= size(&self.constants)
    }
}

/// Applies where a statement of the script's own reports the bug.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    let site = script
        .showing
        .and_then(|showing| probe.measure.report_site(showing));
    let Some(site) = site.filter(|_| !matches!(probe.measure, Measure::Test(_))) else {
        return Ok(None);
    };
    let sides = sides(program, &site, None);
    let surplus = SideSurplus::of(&sides);
    let rows = expects_constants(program, &site).then(|| number_rows(program));
    let is_controlled = is_exact(so_far);
    // Under such a control each candidate shows by itself that its calls are right.
    let signatures = if is_controlled {
        Signatures::new()
    } else {
        signatures(probe, program)?
    };
    let (keywords, ties, one_variable, round_trips) = if is_controlled {
        (Keywords::new(), Ties::new(), Ties::new(), BTreeSet::new())
    } else {
        (
            keywords(program, &signatures),
            ties(program, &site),
            one_variable(program),
            round_trips(program),
        )
    };
    let expects_known_texts = !is_controlled && expects_known_texts(program, &site) == Some(true);
    let text_ties = (!is_controlled).then(|| text_ties(program));
    let check = Comparison {
        text_ties: text_ties.unwrap_or_default(),
        polarity: reports_failure(program, &site),
        answers: answers(program),
        compares: !operands(program, &site, None).is_empty(),
        asked: asked(program, &site),
        surplus,
        rows,
        shared: shared(&sides),
        zeros: zeros(program),
        zero_operands: zero_operands(program),
        written: written_elements(program, &site),
        signatures,
        keywords,
        ties,
        expects_known_texts,
        one_variable,
        computing: computing(program),
        round_trips,
        only_compared: OnlyCompared::of(program),
        manner: Manner::of(program, &site),
        is_controlled,
    };
    Ok(Some(Box::new(check)))
}

/// The signatures of the imported functions that a program calls with positional arguments, as its
/// interpreter knows them.
pub(super) fn signatures(probe: &Probe<'_>, program: &Program) -> Result<Signatures, RunError> {
    let paths = called_by_position(program);
    if paths.is_empty() {
        return Ok(Signatures::new());
    }
    let (found, _) = (probe.runner).ask(include_str!("../python/signatures.py"), &paths)?;
    Ok(found.unwrap_or_default())
}

/// The constants that a written side has in common with a computed one, but for those that stand
/// everywhere.
fn shared(sides: &[Side]) -> BTreeSet<String> {
    let [one, other] = sides else {
        return BTreeSet::new();
    };
    if one.operations.is_empty() == other.operations.is_empty() {
        return BTreeSet::new();
    }
    let usual = BTreeSet::from(["0", "1", "True", "False", "None"]);
    let found = &one.constants() & &other.constants();
    (&found - &usual).into_iter().map(str::to_owned).collect()
}

impl Comparison {
    /// Whether the sides of a candidate consist of the required parts.
    fn has_sides(&self, program: &Program, site: &ReportSite) -> bool {
        // With its condition reversed, a program reports values that the script finds correct.
        let polarity = reports_failure(program, site);
        if polarity.is_some() && self.polarity.is_some() && polarity != self.polarity {
            return false;
        }
        // Asked about less than it needs, a function only fails, or has nothing to say.
        let asks_less = |(name, count): (String, usize)| {
            let known = self.asked.get(&name);
            known.is_some_and(|known| count < *known)
        };
        if asked(program, site).into_iter().any(asks_less) {
            return false;
        }
        if !self.manner.is_kept_by(program, site) {
            return false;
        }
        let sides = sides(program, site, None);
        if let [one, other] = sides.as_slice() {
            let mut shared = self.shared.iter().map(String::as_str);
            let (one, other) = (one.constants(), other.constants());
            if !shared.all(|constant| one.contains(constant) && other.contains(constant)) {
                return false;
            }
        }
        if !are_tied(&self.ties, program, site)
            || self.expects_known_texts && expects_known_texts(program, site) == Some(false)
            || !are_one_number(&self.one_variable, program)
            || !(self.is_controlled || go_on_computing(&self.computing, program))
            || self.written < written_elements(program, site)
        {
            return false;
        }
        self.surplus.as_ref().is_none_or(|known| {
            let its = SideSurplus::of(&sides);
            its.is_some_and(|its| self.is_controlled || known.allows(&its))
        })
    }

    /// Whether the rows of a candidate are those of the script, or what is left of them.
    fn has_rows(&self, program: &Program) -> bool {
        self.rows.as_ref().is_none_or(|known| {
            let is_known = |row: &Vec<String>| known.iter().any(|whole| is_left_of(row, whole));
            number_rows(program).iter().all(is_known)
        })
    }
}

impl Check for Comparison {
    fn review_without_runs(&self, shown: &Shown<'_>) -> Option<Verdict> {
        let has_sides = |site: &ReportSite| self.has_sides(shown.program, site);
        // The usual value of a setting that is left out is another, and zero times anything is as
        // good as no computation: with either, sides differ for reasons of their own.
        let holds = shown.report_site.as_ref().is_none_or(has_sides)
            && self.has_rows(shown.program)
            && come_back(&self.round_trips, shown.program)
            && go_on_sharing(&self.text_ties, shown.program)
            && are_kept(&self.answers, &answers(shown.program))
            && zeros(shown.program) <= self.zeros
            && zero_operands(shown.program) <= self.zero_operands
            && self.only_compared.is_kept_by(shown.program)
            && are_given(&self.keywords, &keywords(shown.program, &self.signatures));
        (!holds).then_some(Verdict::Vacuous)
    }

    fn claim(&self) -> Option<String> {
        // Where nothing is compared, no result was accepted without the rest, which is text.
        self.compares
            .then(|| "it compares what the script compares".to_owned())
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
