//! What the functions and methods of packages receive while a program runs: their arguments, and
//! the objects whose methods they are. A library that gets a number in the place of an object, or
//! an empty text in the place of one that is not, does something else in the same words. Called by
//! the judge; proposes nothing.

mod kinds;
#[cfg(test)]
mod tests;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use self::{
    kinds::{
        are_keys_of, can_be_called, holds_objects, is_alike, is_as_good, is_for_row, is_number,
        kinds,
    },
    values::{EMPTY, GivenValue, GivenValues, has_letters_of, is_left_of},
};
use crate::{
    analysis::{
        dependence_check::Operations,
        observation::marked,
        own_classes::OwnClasses,
        receiving::{
            HOLDING, LAMBDA, RETURNED, SETTING, SUBSCRIPTS, TRUTH, of_packages, returning,
        },
    },
    syntax::Program,
};

/// The mark of functions and methods of the language's own.
const OF_LANGUAGE: &str = "builtin ";

/// The place that stands for more calls than are written down.
const MORE: &str = "*";

/// The place of the object whose method is called.
const HOLDER: &str = "";

/// The mark of what a run writes down about a call.
const MARK: &str = "received ";

/// The mark of what the functions of packages got that the failure leaves.
const LEFT: &str = "left ";

/// The mark of what those of them got that the program's own code called. In a candidate, that may
/// be another one of those that the failure leaves.
const ENTERED: &str = "entered ";

/// The mark of what calls get that fail.
const FAILED: &str = "failed ";

/// The mark of what may make such a call fail: the places of objects that such a call got before,
/// since to do something twice to one object is another thing than to do it to two, and what is odd
/// about its numbers and files.
const STATE: &str = "state of ";

/// The state of a file that holds nothing.
const NO_CONTENT: &str = "no content";

/// What stores something under a key, and the place of the key.
const STORING: &str = "[]=";
const KEY: &str = "0";

/// The name of the loss of what was stored under the very key that is missing in the end. What it
/// is written as may have changed since.
const LOST: &str = "lost key";

/// The name of how children fail.
const CHILD: &str = "child";

/// The mark of what objects of packages receive that are called.
const CALLED: &str = "call of ";

/// What calls received, by the name of the function.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    calls: BTreeMap<String, Vec<GivenValues>>,
    /// The functions of which candidates must make calls that the program makes.
    exact: BTreeSet<String>,
    /// The program's own classes whose objects packages make of what they are given. These look at
    /// the type of each thing.
    #[serde(default)]
    made: BTreeSet<String>,
    /// Whether something was stored under the key that is missing in the end.
    #[serde(default)]
    stores_sought: bool,
}

impl Received {
    /// Reads it off the standard error of a program that writes it down.
    pub fn read(stderr: &str) -> Self {
        let mut found = Self::default();
        for (name, call) in marked(stderr) {
            if let Some(name) = name.strip_prefix(MARK)
                && let Ok(call) = serde_json::from_str(call)
            {
                let calls = found.calls.entry(name.to_owned()).or_default();
                calls.push(call);
            }
        }
        found
    }

    /// The part of it that is written down, as if there were no more calls.
    #[must_use]
    pub(super) fn of_first_calls(mut self) -> Self {
        for calls in self.calls.values_mut() {
            calls.retain(|call| !call.contains_key(MORE));
        }
        self
    }

    /// The part of it about calls of packages that are among some operations.
    #[must_use]
    pub fn by(mut self, operations: &Operations) -> Self {
        let called = called(operations);
        self.calls
            .retain(|name, _| called.contains(name.as_str()) || is_received_otherwise(name));
        self
    }

    /// The part of it about some operations, which in candidates must receive what is left of what
    /// they receive here, if that is the same in other runs.
    #[must_use]
    pub fn exactly_by(mut self, operations: &Operations, other_runs: &[Self]) -> Self {
        let called = called(operations);
        let is_steady = |name: &String, calls: &Vec<GivenValues>| {
            let mut others = other_runs.iter();
            others.all(|other| other.calls.get(name) == Some(calls))
        };
        self.calls.retain(|name, calls| {
            let of_packages = called.contains(name.as_str());
            let of_language = name.strip_prefix(OF_LANGUAGE);
            of_packages
                || is_received_otherwise(name)
                || of_language.is_some_and(|name| called.contains(name))
                || operations.contains(name) && is_steady(name, calls)
        });
        let calls = self.calls.iter();
        let may_vary = |name: &str| is_received_otherwise(name) && !SUBSCRIPTS.contains(&name);
        let steady = calls.filter(|(name, calls)| is_steady(name, calls) && !may_vary(name));
        self.exact = steady.map(|(name, _)| name.clone()).collect();
        self
    }

    /// The same, with the classes of the program to whose objects packages give what they receive,
    /// and with the functions that others call, those among them that never returned.
    #[must_use]
    pub fn with_definitions_of(mut self, program: &Program) -> Self {
        if !self.is_empty() {
            for function in returning(program) {
                self.calls
                    .entry(format!("{RETURNED}{function}"))
                    .or_default();
            }
        }
        let classes = OwnClasses::of(program);
        let names = of_packages(program).into_iter();
        self.made = names
            .filter(|name| !classes.constructs(name))
            .map(str::to_owned)
            .collect();
        self
    }

    /// The same, with the texts that failing calls get unknown where they differ in other runs.
    #[must_use]
    pub fn with_steady_texts(mut self, other_runs: &[Self]) -> Self {
        for (name, calls) in &mut self.calls {
            if !name.starts_with(FAILED) {
                continue;
            }
            let gets = |other: &Self, place: &str, value: &GivenValue| {
                let mut calls = other.calls.get(name).into_iter().flatten();
                calls.any(|call| call.get(place) == Some(value))
            };
            for (place, value) in calls.iter_mut().flatten() {
                let mut others = other_runs.iter();
                if value.text().is_some() && !others.all(|other| gets(other, place, value)) {
                    *value = GivenValue::Kind([value.kind().to_owned()]);
                }
            }
        }
        self
    }

    /// The same, with whether something is stored under a key that is missing in the end, in other
    /// runs, too.
    #[must_use]
    pub fn with_sought(mut self, key: Option<&str>, other_runs: &[Self]) -> Self {
        self.stores_sought = key.is_some_and(|key| {
            let mut others = other_runs.iter();
            self.stores(key) && others.all(|other| other.stores(key))
        });
        self
    }

    /// Whether a candidate stores something under the key that is missing in the end, if this does.
    pub fn allows_sought(&self, candidate: &Self, key: Option<&str>) -> bool {
        let mut stored = candidate.calls.get(STORING).into_iter().flatten();
        !self.stores_sought
            || key.is_none_or(|key| candidate.stores(key))
            || stored.any(|call| call.contains_key(MORE))
    }

    /// Whether something is stored under a key.
    fn stores(&self, key: &str) -> bool {
        let mut stored = self.calls.get(STORING).into_iter().flatten();
        self.calls.contains_key(LOST)
            || stored.any(|call| call.get(KEY).is_some_and(|stored| stored.is_written(key)))
    }

    /// Whether a call that fails gets `None`, or something empty.
    pub fn fails_on_nothing(&self) -> bool {
        let mut calls = self.calls.iter();
        calls.any(|(name, calls)| {
            let mut values = calls.iter().flat_map(BTreeMap::values);
            name.starts_with(FAILED) && values.any(GivenValue::is_nothing)
                || name.starts_with(STATE) && states(calls).contains(NO_CONTENT)
        })
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Whether candidates must make calls that the program makes.
    pub fn is_exact(&self) -> bool {
        !self.exact.is_empty()
    }

    /// What all functions return that others call, if there are such: a candidate may give them
    /// other names, or none.
    fn returned(&self) -> Option<Vec<GivenValues>> {
        let calls = self.calls.iter();
        let of_functions = calls.filter(|(name, _)| name.starts_with(RETURNED));
        let mut values = of_functions.map(|(_, calls)| calls).peekable();
        values.peek()?;
        Some(values.flatten().cloned().collect())
    }

    /// What a candidate's calls of a name are measured by, if by anything, given what all functions
    /// return.
    fn known<'a>(
        &'a self,
        name: &str,
        returned: Option<&'a Vec<GivenValues>>,
    ) -> Option<&'a Vec<GivenValues>> {
        match name.strip_prefix(ENTERED) {
            Some(function) => self.calls.get(&format!("{LEFT}{function}")),
            None if name.starts_with(LEFT) => None,
            None if name.strip_prefix(RETURNED) == Some(LAMBDA) => returned,
            None if name.starts_with(RETURNED) => self.calls.get(name).or(returned),
            None => self.calls.get(name),
        }
    }

    /// Whether the calls of a candidate receive nothing that is not allowed.
    pub fn allows(&self, candidate: &Self) -> bool {
        let returned = self.returned();
        candidate.calls.iter().all(|(name, its)| {
            let Some(known) = self.known(name, returned.as_ref()) else {
                return true;
            };
            if known.iter().any(|call| call.contains_key(MORE)) {
                return true;
            }
            if name.starts_with(STATE) {
                states(its).is_subset(&states(known))
            } else if name == CHILD {
                its.iter().all(|end| known.contains(end))
            } else if name.starts_with(TRUTH) {
                !holds_objects(known) || holds_objects(its)
            } else if self.exact.contains(name) {
                let mut its = its.iter();
                let gets = |call: &GivenValues| call.keys().any(|place| place != HOLDER);
                // What never was called without arguments is something else without them.
                let is_left = |call: &GivenValues, whole: &GivenValues| {
                    is_left_of(call, whole) && gets(call) == gets(whole)
                };
                its.all(|call| known.iter().any(|whole| is_left(call, whole)))
            } else if name.starts_with(RETURNED) && known.is_empty() {
                false
            } else {
                (!name.starts_with(FAILED) || fails_alike(its, known))
                    && are_keys_of(its, known)
                    && self.allows_kinds(name, its, known)
            }
        })
    }

    /// Whether the calls of a name receive things of kinds that are as good as the known ones.
    fn allows_kinds(&self, name: &str, its: &[GivenValues], known: &[GivenValues]) -> bool {
        let is_typed = self.made.contains(name) || name.starts_with(RETURNED);
        let fits = |of: Option<&str>, kind: &str, known: &BTreeSet<&str>| {
            if name == HOLDING {
                !kind.ends_with(EMPTY) || known.contains(kind) || known.contains("")
            } else if is_typed {
                is_alike(kind, known)
            } else {
                // What is nested may be flat, and a text is a row of letters. But who takes both
                // fails on one of them.
                let is_failing = name.starts_with(FAILED) && of.is_none();
                let may_be_flat = (of.is_some() || !is_number(kind)) && !is_failing;
                is_as_good(kind, known) || may_be_flat && is_for_row(kind, known)
            }
        };
        let (known, its) = (kinds(known), kinds(its));
        its.iter().all(|(place, its)| {
            let known = known.get(place);
            known.is_none_or(|known| {
                can_be_called(its, known) && its.iter().all(|kind| fits(place.1, kind, known))
            })
        })
    }
}

/// Whether calls that fail are methods if others are, since a function is not a method that has its
/// name, and get texts that are left of those that others get in the same places.
fn fails_alike(its: &[GivenValues], known: &[GivenValues]) -> bool {
    let is_method = |call: &GivenValues| call.contains_key(HOLDER);
    let is_known = |call| known.iter().any(|of| is_method(of) == is_method(call));
    let has_texts = |call: &GivenValues| {
        call.iter().all(|(place, value)| {
            let Some(text) = value.text() else {
                return true;
            };
            let mut known = known.iter().filter_map(|call| call.get(place)).peekable();
            // A text that is not known may be any.
            known.peek().is_none()
                || known.any(|known| known.text().is_none_or(|whole| has_letters_of(text, whole)))
        })
    };
    its.iter().all(|call| is_known(call) && has_texts(call))
}

/// What holds of what calls get that fail.
fn states(calls: &[GivenValues]) -> BTreeSet<&str> {
    let values = calls.iter().flatten();
    let holding =
        values.filter(|(_, value)| matches!(value, GivenValue::Plain(_, text) if text == "True"));
    holding.map(|(state, _)| state.as_str()).collect()
}

/// Whether a name stands for what packages receive by other means than calls by name.
fn is_received_otherwise(name: &str) -> bool {
    let marks = [RETURNED, LEFT, CALLED, TRUTH, FAILED, STATE];
    let (before, after) = SETTING;
    SUBSCRIPTS.contains(&name)
        || name.starts_with(before) && name.ends_with(after)
        || [HOLDING, CHILD, LOST].contains(&name)
        || marks.iter().any(|mark| name.starts_with(mark))
}

/// The names of the functions among some operations.
pub(super) fn called(operations: &Operations) -> BTreeSet<&str> {
    let calls = operations.iter();
    calls
        .filter_map(|operation| Some(operation.split_once("()")?.0))
        .collect()
}
