//! Whether the packages that the failure depends on run lines that they do not run in the script. A
//! package that gets something empty, or a default, or an object that it has to convert, goes
//! another way there, and often fails or answers in the same words at its end. Where no control
//! shows that the bug is the same, a candidate may have packages do less, and nothing new.

use std::collections::{BTreeMap, BTreeSet};

use minrepro_reducers::{
    analysis::library_paths::{LibraryPaths, fill_in, following},
    syntax::Program,
};
use serde_json::Value;

use super::{
    super::{
        check::{Applied, Check, Checks, Kind, Script},
        objection::Shown,
        observer::{Observed, Observer, Wish},
    },
    automatic_control::is_exact,
};
use crate::oracle::Verdict;

pub(super) const KIND: Kind = Kind {
    id: "library_paths",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<LibraryPaths>(found.clone()).ok()?,
        ))
    },
};

/// Applies if the script shows the bug while the lines of its packages are noted, and no control
/// shows when the calls are right.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    if is_exact(so_far) || so_far.has_full_control() {
        return Ok(None);
    }
    let Some(calls) = script.library_calls()? else {
        return Ok(None);
    };
    let mut runs = calls
        .told
        .iter()
        .filter_map(|told| Some(LibraryPaths::read(told)?.by(&calls.operations, told)));
    let (Some(one), Some(other)) = (runs.next(), runs.next()) else {
        return Ok(None);
    };
    let paths = runs.fold(one.and(other), LibraryPaths::and);
    Ok((!paths.is_empty()).then(|| Box::new(paths) as Box<dyn Check>))
}

impl Observer for LibraryPaths {
    fn asks(&self, candidate: &Shown<'_>) -> Wish {
        Wish::Run(following(candidate.program))
    }

    fn is_patient(&self) -> bool {
        true
    }

    fn objection(&self, _: &Shown<'_>, observed: &Observed<'_>) -> Option<Verdict> {
        let Some(its) = LibraryPaths::read(observed.stderr) else {
            return Some(Verdict::Vacuous);
        };
        let exception = observed.outcome.exception.as_ref();
        let stack = exception.map_or(&[][..], |raised| &raised.frames);
        let stack = stack.iter().map(|frame| (frame.file.as_str(), frame.line));
        let is_allowed = self.allows_stack(&its, stack) && all_fill_in(&self.new_lines(&its));
        (!is_allowed).then_some(Verdict::Vacuous)
    }
}

/// Whether all these lines of files fill in arguments that were left out.
fn all_fill_in(new: &BTreeMap<&str, BTreeSet<u32>>) -> bool {
    new.iter().all(|(file, lines)| {
        let text = std::fs::read_to_string(file).ok();
        let program = text.and_then(|text| Program::parse(text).ok());
        program.is_some_and(|program| fill_in(&program, lines))
    })
}

impl Check for LibraryPaths {
    fn observer(&self) -> Option<&dyn Observer> {
        Some(self)
    }

    fn is_of_reduction(&self) -> bool {
        true
    }

    fn claim(&self) -> Option<String> {
        Some("the packages that it calls run nothing that they do not run in the script".to_owned())
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
