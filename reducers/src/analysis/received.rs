//! What the functions and methods of packages receive while a program runs: their arguments, and
//! the objects whose methods they are. A library that gets a number in the place of an object, or
//! an empty text in the place of one that is not, does something else in the same words. Called by
//! the judge; proposes nothing.

mod kinds;
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
                its.all(|call| known.iter().any(|whole| is_left_of(call, whole)))
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
                // What is nested may be flat, and a text is a row of letters.
                let may_be_flat = of.is_some() || !is_number(kind);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::receiving::made_by_packages;

    fn read(calls: &[(&str, &str)]) -> Received {
        let lines = calls
            .iter()
            .map(|(name, call)| format!("\u{1e}received {name}\u{1f}{call}\u{1e}\n"));
        Received::read(&format!("noise\n{}", lines.collect::<String>()))
    }

    #[test]
    fn calls_go_on_receiving_things_of_the_same_kinds() {
        let known = read(&[
            ("f", r#"{"": ["Lib"], "0": ["str", "'a'"]}"#),
            ("f", r#"{"0": ["list", [["zero int", "0"]]], "k": [""]}"#),
            ("h", r#"{"0": ["class"]}"#),
        ]);
        let known = known.by(&["f()".to_owned(), "g() alone".to_owned()].into());
        let allows = |name: &str, call: &str| known.allows(&read(&[(name, call)]));
        assert!(allows(
            "f",
            r#"{"": ["Lib"], "0": ["str", "'b'"], "k": ["None"]}"#
        ));
        assert!(allows("f", r#"{"0": ["list", [["zero int", "0"]]]}"#));
        assert!(allows("h", r#"{"0": ["None"]}"#) && known.allows(&Received::default()));
        assert!(!allows("f", r#"{"0": ["str, empty", "''"]}"#));
        assert!(!allows("f", r#"{"": ["None"]}"#));
        assert!(!allows("f", r#"{"0": ["list, empty", []]}"#));
        assert!(allows("f", r#"{"0": ["list", [["zero number", "0.0"]]]}"#));
        assert!(!allows("f", r#"{"0": ["tuple", [["str, empty", "''"]]]}"#));
        assert!(allows("f", r#"{"0": ["set", [["str, empty", "''"]]]}"#));
        assert!(
            !read(&[("f", r#"{"0": ["dict", []]}"#)])
                .by(&["f()".to_owned()].into())
                .allows(&read(&[("f", r#"{"0": ["Lib"]}"#)]))
        );
        let dict = |key: &str| format!(r#"{{"0": ["dict", [["str", "'{key}'"], ["None"]]]}}"#);
        let holding = read(&[("f", &dict("a"))]).by(&["f()".to_owned()].into());
        assert!(holding.allows(&read(&[("f", &dict("a"))])));
        assert!(!holding.allows(&read(&[("f", &dict("b"))])));
        let of_key = |value: &str| format!(r#"{{"0": ["dict", [["str", "'a'"], {value}]]}}"#);
        let keyed = read(&[("f", &of_key(r#"["Lib"]"#))]).by(&["f()".to_owned()].into());
        assert!(keyed.allows(&read(&[("f", &of_key(r#"["Other"]"#))])));
        assert!(!keyed.allows(&read(&[("f", &of_key(r#"["str", "'x'"]"#))])));
        let left = read(&[("left lib.f", r#"{"x": ["Lib"], "y": ["None"]}"#)]);
        let left = left.by(&Operations::default());
        let entered = |x: &str| read(&[("entered lib.f", &format!(r#"{{"x": [{x:?}]}}"#))]);
        assert!(left.allows(&entered("Other")) && !left.allows(&entered("None")));
        // It may get there another way.
        assert!(left.allows(&read(&[("left lib.f", r#"{"x": ["None"]}"#)])));
        let result = |kind: &str| read(&[("return of g", &format!(r#"{{"0": [{kind:?}]}}"#))]);
        let text = result("str").by(&Operations::default());
        assert!(text.allows(&result("str")) && !text.allows(&result("finite int")));
        let returned = result("Lib").by(&Operations::default());
        assert!(returned.allows(&result("Lib")));
        assert!(!returned.allows(&result("class")) && !returned.allows(&result("Other")));
        // What never returns in the script returns nothing.
        let program =
            Program::parse("import lib\ndef g(): return h()\nlib.f(g)\nlib.f(lambda: h())\n");
        let defined = known.clone().with_definitions_of(&program.unwrap());
        assert!(
            !defined.allows(&result("Lib"))
                && !defined.allows(&read(&[("return of lambda", r#"{"0": ["Lib"]}"#)]))
        );
        let row = read(&[("f", r#"{"1": ["tuple", []]}"#)]).by(&["f()".to_owned()].into());
        assert!(row.allows(&read(&[("f", r#"{"1": ["str", "'a'"]}"#)])));
        assert!(!row.allows(&read(&[("f", r#"{"1": ["finite int", "2"]}"#)])));
        let set = read(&[(".row=", r#"{"0": ["type"]}"#)]).by(&Operations::default());
        let sets = |kind: &str| set.allows(&read(&[(".row=", &format!(r#"{{"0": [{kind:?}]}}"#))]));
        assert!(sets("type") && sets("Other") && !sets("zero int"));
        let constant = r#"{"": ["finite int", "2"]}"#;
        assert!(!allows("f", constant) && allows("f", r#"{"": ["Other"], "0": ["bool", "True"]}"#));
    }

    #[test]
    fn a_generator_that_has_nothing_left_is_no_other() {
        let given = |kind: &str| {
            let call = format!(r#"{{"0": [{kind:?}]}}"#);
            read(&[("f", &call)]).by(&["f()".to_owned()].into())
        };
        let (spent, new, list) = (given("spent"), given(""), given("list, empty"));
        assert!(spent.allows(&spent) && !spent.allows(&new) && !spent.allows(&list));
        assert!(new.allows(&new) && new.allows(&list) && !new.allows(&spent));
        assert!(!new.allows(&given("str")));
    }

    #[test]
    fn what_is_looked_up_in_is_not_emptied() {
        let of = |kind: &str| {
            let call = format!(r#"{{"0": [{kind:?}]}}"#);
            read(&[("of []", &call)]).by(&Operations::new())
        };
        let whole = of("dict");
        assert!(whole.allows(&of("dict")) && whole.allows(&of("str")));
        assert!(!whole.allows(&of("dict, empty")) && !whole.allows(&of("list, empty")));
        assert!(of("dict, empty").allows(&of("dict, empty")));
    }

    #[test]
    fn what_fails_is_not_done_to_one_object_again() {
        let of = |answer: &str| {
            let call = format!(r#"{{"0": ["bool", {answer:?}]}}"#);
            read(&[("state of backward", &call)]).by(&Operations::new())
        };
        assert!(of("False").allows(&of("False")) && !of("False").allows(&of("True")));
        assert!(of("True").allows(&of("True")) && of("True").allows(&of("False")));
    }

    #[test]
    fn what_fails_gets_what_failed() {
        let of = |calls: &[(&str, &str)]| read(calls).by(&Operations::new());
        let script = of(&[
            ("unpack", r#"{"": ["Struct"], "0": ["bytes"]}"#),
            ("failed unpack", r#"{"0": ["str"], "1": ["bytes"]}"#),
            ("state of unpack", r#"{"nan": ["bool", "True"]}"#),
        ]);
        assert!(script.allows(&script));
        let other = r#"{"": ["Struct"], "0": ["bytes"]}"#;
        assert!(!script.allows(&of(&[("failed unpack", other)])));
        let negative = r#"{"negative": ["bool", "True"]}"#;
        assert!(!script.allows(&of(&[("state of unpack", negative)])));
        assert!(script.allows(&of(&[("state of unpack", "{}")])));
    }

    #[test]
    fn what_fails_gets_what_is_left_of_the_texts() {
        let of = |text: &str| {
            let call = format!(r#"{{"": ["Connection"], "0": ["str", "'{text}'"]}}"#);
            read(&[("failed execute", call.as_str())]).by(&Operations::new())
        };
        let script = of("DELETE FROM users WHERE id = 12");
        assert!(script.clone().allows(&of("DELETE FROM users WHERE id = 3")));
        assert!(script.allows(&of("DELETE FROM users")) && script.allows(&of("x")));
        assert!(!script.allows(&of("INSERT INTO users")));
        // It differs from run to run.
        let varies = script.clone().with_steady_texts(&[of("DELETE FROM other")]);
        assert!(varies.allows(&of("INSERT INTO users")));
        let steady = script.clone().with_steady_texts(&[script]);
        assert!(!steady.allows(&of("INSERT INTO users")));
        assert!(!steady.fails_on_nothing());
        let nothing = r#"{"0": ["list, empty", []]}"#;
        assert!(read(&[("failed mean", nothing)]).fails_on_nothing());
    }

    #[test]
    fn what_is_no_function_is_not_replaced_by_one() {
        let of = |kind: &str| {
            let call = format!(r#"{{"0": [{kind:?}]}}"#);
            read(&[("f", &call)]).by(&["f()".to_owned()].into())
        };
        let function = of("function");
        assert!(!of("object").allows(&function) && !of("None").allows(&function));
        assert!(function.allows(&function) && of("class").allows(&function));
        assert!(of("Module, callable").allows(&function));
        assert!(!function.allows(&of("object")) && of("").allows(&function));
        assert!(function.allows(&of("Module, callable")) && function.allows(&of("class")));
        assert!(of("Module, callable").allows(&of("Module")));
    }

    #[test]
    fn children_fail_as_they_did() {
        let of = |status: &str, said: &str| {
            let end = format!(r#"{{"status": ["int", {status:?}], "said": ["str", {said:?}]}}"#);
            read(&[("child", &end)]).by(&Operations::new())
        };
        let script = of("1", "ValueError: no");
        assert!(script.allows(&script) && script.allows(&Received::default()));
        assert!(!script.allows(&of("2", "ValueError: no")));
        assert!(!script.allows(&of("1", "NameError: no")));
    }

    #[test]
    fn an_object_whose_truth_decides_is_there() {
        let of = |kinds: &[&str]| {
            let calls = kinds.iter().map(|kind| format!(r#"{{"0": [{kind:?}]}}"#));
            let calls: Vec<_> = calls.collect();
            let calls: Vec<_> = calls
                .iter()
                .map(|call| ("truth of x", call.as_str()))
                .collect();
            read(&calls).by(&Operations::new())
        };
        let script = of(&["None", "Element"]);
        assert!(script.allows(&of(&["Other"])) && !script.allows(&of(&["None"])));
        assert!(of(&["None", "list"]).allows(&of(&["None"])));
    }

    #[test]
    fn objects_that_packages_make_receive_things_of_the_same_types() {
        let text = "import lib\n@lib.made\nclass A: pass\nclass B(lib.C):\n    def __init__(self, x): pass\n";
        let program = Program::parse(text).unwrap();
        let call = r#"{"0": ["own A"], "1": ["list", [["own A"]]], "2": ["finite int", "2"]}"#;
        let known = read(&[("A", call), ("B", call)]);
        let operations = made_by_packages(&program);
        let known = known.by(&operations).with_definitions_of(&program);
        let allows = |name: &str, call: &str| known.allows(&read(&[(name, call)]));
        assert!(allows("A", call) && allows("A", r#"{"1": ["list", [["own A"]]]}"#));
        assert!(allows("A", r#"{"2": ["finite number", "0.5"]}"#));
        for other in [
            r#"{"0": ["object"]}"#,
            r#"{"0": ["list, empty", []]}"#,
            r#"{"1": ["finite int", "1"]}"#,
            r#"{"2": ["zero int", "0"]}"#,
            r#"{"2": ["object"]}"#,
        ] {
            assert!(!allows("A", other), "{other}");
        }
        // What its own constructor takes is its own business.
        assert!(allows("B", r#"{"0": ["object"]}"#));
    }

    #[test]
    fn a_key_that_is_missing_in_the_end_was_stored() {
        let stores = |key: &str| {
            let call = format!(r#"{{"0": ["finite int", "{key}"]}}"#);
            read(&[("[]=", &call)])
        };
        let known = stores("2").with_sought(Some("2"), &[stores("2")]);
        assert!(known.allows_sought(&stores("3"), Some("3")));
        assert!(!known.allows_sought(&stores("3"), Some("2")));
        let unsteady = stores("2").with_sought(Some("2"), &[stores("3")]);
        assert!(unsteady.allows_sought(&stores("3"), Some("2")));
    }

    #[test]
    fn masks_and_indices_stay_whole() {
        let mask = r#"{"0": ["list", [["bool", "True"], ["bool", "False"], ["bool", "True"]]]}"#;
        let index =
            r#"{"0": ["finite int", "1"], "1": ["zero int", "0"], "of": ["finite int", "2"]}"#;
        let calls = [("f", mask), ("[]=", index)];
        let known = read(&calls).exactly_by(&["f()".to_owned()].into(), &[read(&calls)]);
        let allows = |name: &str, call: &str| known.allows(&read(&[(name, call)]));
        assert!(allows(
            "f",
            r#"{"0": ["list", [["bool", "False"], ["bool", "True"]]]}"#
        ));
        assert!(!allows(
            "f",
            r#"{"0": ["list", [["bool", "True"], ["bool", "True"]]]}"#
        ));
        assert!(allows("[]=", index));
        assert!(!allows(
            "[]=",
            r#"{"0": ["finite int", "1"], "of": ["finite int", "1"]}"#
        ));
        assert!(!allows("[]=", r#"{"of": ["zero int", "0"]}"#));
    }

    #[test]
    fn exact_calls_receive_what_is_left_of_the_same_values() {
        let calls = [
            (
                "f",
                r#"{"0": ["list", [["str", "'a'"], ["str", "'b'"]]], "1": ["T", "(2,)"]}"#,
            ),
            ("g", r#"{"0": ["finite number", "0.5"]}"#),
            ("f", r#"{"k": ["str", "'1999-12-31 23:59:59'"]}"#),
        ];
        let other = [
            calls[0],
            ("g", r#"{"0": ["finite number", "0.7"]}"#),
            calls[2],
        ];
        let operations = ["f()", "g()", "=="].map(str::to_owned).into();
        let known = read(&calls).exactly_by(&operations, &[read(&other)]);
        let allows = |name: &str, call: &str| known.allows(&read(&[(name, call)]));
        assert!(allows(
            "f",
            r#"{"0": ["list", [["str", "'b'"]]], "1": ["T", "(2,)"]}"#
        ));
        assert!(!allows("f", r#"{"0": ["list", [["str", "'c'"]]]}"#));
        assert!(!allows("f", r#"{"1": ["T", "(1,)"]}"#));
        assert!(allows("f", r#"{"k": ["str", "'2000-01-01 00:00:00'"]}"#));
        assert!(!allows("f", r#"{"k": ["str", "'2000-01-01'"]}"#));
        // Its value varies.
        assert!(allows("g", r#"{"0": ["finite number", "2.0"]}"#));
    }
}
