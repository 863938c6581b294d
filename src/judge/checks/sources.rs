//! Whether a missing value is still one that a library should have provided. A script that looks up
//! a key in data that `csv` read shows the behaviour of `csv`. Without `csv`, any dictionary lacks
//! any key, in the same words. Where a library looks up what the script names, the words of the
//! library are the same for any object that lacks it, however it was made. A call that fails on
//! nothing, as a mean of no numbers does, shows the behaviour of what made nothing of something.

use std::collections::BTreeSet;

use minrepro_reducers::{
    analysis::{
        cpython::missing_attribute,
        dependence_check::{
            Operations, ReportSite, are_read, include, operations, packages, packages_of_arguments,
            packages_of_operands, read_of_standard,
        },
        keywords::{Keywords, Signatures, are_given, keywords},
        producers::{Producer, asks_for_missing, missing_name, owner_class, produces},
        received::Received,
    },
    syntax::Program,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    super::{
        check::{Applied, Check, Checks, Kind, Script},
        error::BaselineFailure,
        measure::Measure,
        objection::Shown,
    },
    automatic_control::is_exact,
    comparison::signatures,
};
use crate::{
    oracle::{
        Unfound, Verdict, claim, is_called_by_library, is_in_library, is_operation, own_lines,
    },
    runner::Exception,
};

pub(super) const KIND: Kind = Kind {
    id: "sources",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<Sources>(found.clone()).ok()?,
        ))
    },
};

/// The words of a failure to look something up in what holds nothing.
const NO_LOOKUP: &str = "is not subscriptable";

/// Refuses candidates that fail on what something else gave.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Sources {
    /// The packages on one of which the failing statement must depend, if it depends on any.
    packages: BTreeSet<String>,
    /// The operations on all of which it must depend.
    operations: Operations,
    /// The parameters that calls pass, if the operations are required.
    #[serde(default)]
    keywords: Keywords,
    /// The parameters of the functions that it imports and calls with positional arguments.
    #[serde(default)]
    signatures: Signatures,
    /// Whether each thing that it looks something up in depends on packages.
    #[serde(default)]
    has_foreign_operands: bool,
    /// The packages on one of which an argument of the failing call must depend, if that gets
    /// nothing: what made nothing of something is why it fails.
    #[serde(default)]
    of_nothing: BTreeSet<String>,
    /// What comes with Python of which that must be made in which nothing is found.
    #[serde(default)]
    of_standard: BTreeSet<String>,
    /// The attribute that something lacks.
    #[serde(default)]
    lacks: Option<String>,
    /// What it fails to look up or to unpack.
    #[serde(default)]
    sought: Option<Unfound>,
    /// Whether a library must call the failing function: it then says what the function works on.
    is_called_by_library: bool,
}

/// Applies if a line of the script does not find something in what a library gave it, or gives
/// another library nothing.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, .. } = script;
    if script.is_flaky || matches!(probe.measure, Measure::Test(_)) {
        return Ok(None);
    }
    let exception = script
        .showing
        .and_then(|showing| showing.exception.as_ref())
        .filter(|_| probe.measure.has_mechanism());
    let Some(exception) = exception else {
        return Ok(None);
    };
    // What the script itself says is judged by its dependences.
    let is_claim = claim(exception).is_some();
    let mut check = if !is_claim && reports_absence(exception) {
        of_absence(script, so_far, exception)?
    } else {
        Sources {
            of_nothing: of_nothing(script, so_far, exception)?,
            ..Sources::default()
        }
    };
    if !is_claim && !is_in_library(exception) && !is_exact(so_far) {
        check.of_standard = of_standard(script, exception)?;
        check.lacks = missing_attribute(&exception.message).map(str::to_owned);
        check.sought = Unfound::of(exception);
    }
    let applies = check.is_called_by_library
        || !check.packages.is_empty()
        || !check.of_nothing.is_empty()
        || !check.of_standard.is_empty()
        || check.sought.is_some();
    Ok(applies.then(|| Box::new(check) as Box<dyn Check>))
}

/// What comes with Python of which that is made in which an operation of the language finds nothing.
fn of_standard(
    script: &Script<'_>,
    exception: &Exception,
) -> Result<BTreeSet<String>, BaselineFailure> {
    let Script { program, .. } = script;
    let frames = own_lines(exception);
    let lacks = missing_attribute(&exception.message);
    let is_of_nothing =
        reports_absence(exception) || exception.short_class() == "ZeroDivisionError";
    // The text costs nothing, but only a trace shows which of it was executed.
    if !is_of_nothing
        || !is_operation(exception)
        || read_of_standard(program, &frames, lacks, None).is_empty()
    {
        return Ok(BTreeSet::new());
    }
    let mut read = read_of_standard(program, &frames, lacks, script.evidence()?);
    read.retain(|path| !is_input(path, exception));
    Ok(read)
}

/// Whether what a module gives, by a dotted path in it, is what the user gave to the program: what
/// is missing in that is missing whoever wrote it down. That the user gave nothing is another case.
fn is_input(path: &str, exception: &Exception) -> bool {
    let module = path.split('.').next();
    // Other modules compute what they give.
    module == Some("argparse") && !exception.message.contains("NoneType")
}

/// The packages that made nothing of something which a call then gets that fails.
fn of_nothing(
    script: &Script<'_>,
    so_far: &Checks,
    exception: &Exception,
) -> Result<BTreeSet<String>, BaselineFailure> {
    let Script { program, .. } = script;
    let frames = own_lines(exception);
    // The text costs nothing, but only a run shows what the call was given.
    let arguments = packages_of_arguments(program, &frames, None);
    if is_exact(so_far) || arguments.iter().all(BTreeSet::is_empty) {
        return Ok(BTreeSet::new());
    }
    let fails_on_nothing = fails_on_nothing(script)?;
    let found = arguments.into_iter().flatten();
    Ok(found.filter(|_| fails_on_nothing).collect())
}

/// Whether the call of a package that fails gets nothing, or something empty.
pub(super) fn fails_on_nothing(script: &Script<'_>) -> Result<bool, BaselineFailure> {
    let calls = script.library_calls()?;
    // What is nothing in one run alone is not why it fails.
    let mut told = calls.iter().flat_map(|calls| &calls.told);
    Ok(calls.is_some() && told.all(|told| Received::read(told).fails_on_nothing()))
}

/// What candidates must depend on if the script fails for the lack of something.
fn of_absence(
    script: &Script<'_>,
    so_far: &Checks,
    exception: &Exception,
) -> Result<Sources, BaselineFailure> {
    let Script { probe, program, .. } = script;
    let mut check = Sources {
        is_called_by_library: is_called_by_library(exception) && !is_exact(so_far),
        ..Sources::default()
    };
    let frames = own_lines(exception);
    // If the script does not name what is missing, the library's own lookup is at fault.
    let is_in_library = is_in_library(exception);
    let is_named = is_in_library && is_named(program, exception, &frames);
    // The text costs nothing, but only a trace shows which of it was executed.
    if (!is_in_library || is_named) && !packages(program, &frames, None).is_empty() {
        let evidence = script.evidence()?;
        check.packages = packages(program, &frames, evidence);
        check
            .packages
            .retain(|package| !is_input(package, exception));
        let operands = packages_of_operands(program, &frames, evidence);
        let is_lookup = exception.message.contains(NO_LOOKUP);
        check.has_foreign_operands = is_lookup && !operands.iter().any(BTreeSet::is_empty);
        // What the script itself never stored, only all that made the object can have left out.
        if (is_named || is_of_foreign_class(program, exception)) && !is_stored(program, exception) {
            let site = ReportSite::Raised(frames);
            let found = operations(program, &site, evidence).into_iter();
            check.operations = found.flatten().collect();
            check.signatures = signatures(probe, program)?;
            check.keywords = keywords(program, &check.signatures);
        }
    }
    Ok(check)
}

/// Whether an exception says that something is not there.
pub(super) fn reports_absence(exception: &Exception) -> bool {
    let message = &exception.message;
    match exception.short_class() {
        "AttributeError" | "IndexError" | "KeyError" | "StopAsyncIteration" | "StopIteration" => {
            true
        }
        "TypeError" => {
            message.contains("required positional argument")
                || message.contains("'NoneType'")
                || message.contains("non-iterable NoneType")
        }
        "ValueError" => message.contains("values to unpack"),
        _ => false,
    }
}

/// Whether the failing statement itself names what an exception reports as missing.
fn is_named(program: &Program, exception: &Exception, frames: &[u32]) -> bool {
    let class = exception.short_class();
    let is_of_lookup = ["AttributeError", "IndexError", "KeyError"].contains(&class);
    let line = frames.last().copied().filter(|_| is_of_lookup);
    line.is_some_and(|line| asks_for_missing(program, line, class, &exception.message))
}

/// Whether the script stores something under the name that an exception reports as missing.
fn is_stored(program: &Program, exception: &Exception) -> bool {
    let name = missing_name(&exception.class, &exception.message);
    name.is_some_and(|name| produces(program, &Producer::Store(name), None))
}

/// Whether an object lacks an attribute that is of a class which neither the language nor the script
/// defines.
pub(super) fn is_of_foreign_class(program: &Program, exception: &Exception) -> bool {
    const BUILTINS: [&str; 9] = [
        "NoneType", "dict", "float", "function", "int", "list", "str", "tuple", "type",
    ];
    exception.short_class() == "AttributeError"
        && owner_class(&exception.message).is_some_and(|class| {
            !program.defined_names().contains(class) && !BUILTINS.contains(&class)
        })
}

impl Check for Sources {
    fn review_without_runs(&self, shown: &Shown<'_>) -> Option<Verdict> {
        let is_of_packages = || {
            let found = packages(shown.program, &shown.failed_at, None);
            self.packages.is_empty() || !self.packages.is_disjoint(&found)
        };
        let has_operands = || {
            let found = packages_of_operands(shown.program, &shown.failed_at, None);
            !found.iter().any(BTreeSet::is_empty)
        };
        let gets_nothing_of_it = || {
            let found = packages_of_arguments(shown.program, &shown.failed_at, None);
            self.of_nothing.is_empty()
                || found
                    .iter()
                    .any(|found| !self.of_nothing.is_disjoint(found))
        };
        let has_operations = || {
            let site = ReportSite::Raised(shown.failed_at.clone());
            let found = operations(shown.program, &site, None).into_iter();
            include(&found.flatten().collect(), &self.operations)
                && are_given(&self.keywords, &keywords(shown.program, &self.signatures))
        };
        let is_of_standard = || {
            let lacks = self.lacks.as_deref();
            let found = read_of_standard(shown.program, &shown.failed_at, lacks, None);
            are_read(&self.of_standard, &found)
        };
        let seeks_alike = || match (&self.sought, &shown.sought) {
            (Some(known), Some(its)) => known.is_like(its),
            (known, its) => known == its,
        };
        let holds = (!self.is_called_by_library || shown.is_called_by_library)
            && (shown.failed_at.is_empty() || seeks_alike())
            && is_of_packages()
            && is_of_standard()
            && gets_nothing_of_it()
            && (!self.has_foreign_operands || has_operands())
            && (self.operations.is_empty() || has_operations());
        (!holds).then_some(Verdict::Vacuous)
    }

    fn claim(&self) -> Option<String> {
        let quoted = |name: &String| format!("`{name}`");
        if !self.of_standard.is_empty() {
            let names: Vec<String> = self.of_standard.iter().map(quoted).collect();
            return Some(format!("it fails on what {} gave", names.join(" and ")));
        }
        let names = self.packages.iter().chain(&self.of_nothing);
        let names: Vec<String> = names.map(quoted).collect();
        if names.is_empty() && self.is_called_by_library {
            return Some("it fails in a function that a library calls".to_owned());
        }
        if names.is_empty() {
            return Some("it looks for what the script looks for".to_owned());
        }
        Some(format!("it fails on what {} gave", names.join(" or ")))
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
