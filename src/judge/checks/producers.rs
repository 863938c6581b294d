//! Whether the program still contains the store whose loss a failure reports. A script that stores
//! an attribute or a key and then finds it missing shows that something lost it. Without the store,
//! anything would lack it, in the same words.

use std::collections::{BTreeMap, BTreeSet};

use minrepro_reducers::{
    analysis::{
        cpython,
        dependence_check::packages,
        lost_values::lost_values,
        producers::{
            Producer, StateMethod, added_to, asserted_call, attributes_asked_again,
            attributes_asked_for, attributes_read, class_that_asks, counterparts, declares,
            has_field, is_to_produce, keeps_state, missing_name, produces, produces_before,
            quoted_names, reaches, special_stores, state_methods, stored_in_class, stores_in_class,
        },
        quoted_lines::quoted_lines,
    },
    syntax::Program,
    torch::producers::{giving, made_by, stored_by},
    trace::evidence::Evidence,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    super::{
        check::{Applied, Asked, Check, Checks, Kind, Script, ask},
        measure::Measure,
        objection::{Objection, Shown, lacking_class},
        probe::Probe,
    },
    automatic_control,
    caught::first_caught,
    sources::is_of_foreign_class,
};
use crate::{
    oracle::{Verdict, is_in_library, own_lines},
    runner::{Exception, Outcome, RunError},
};

pub(super) const KIND: Kind = Kind {
    id: "producers",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<Producers>(found.clone()).ok()?,
        ))
    },
};

/// Refuses candidates that no longer store the value that they find missing.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Producers {
    /// The code that stored it.
    producer: Producer,
    /// How it is stored, if it is not only declared.
    way: Option<Way>,
    /// Whether a class says that what is missing is to be kept.
    #[serde(default)]
    is_declared: bool,
    /// Whether a traced run of the script shows the bug, so that those of candidates say which
    /// statements ran.
    can_trace: bool,
    /// Whether the failing statement depends on it.
    #[serde(default)]
    is_reaching: bool,
    /// The special methods by which the class of the object stores it.
    #[serde(default)]
    special: BTreeSet<String>,
    /// Those by which it is copied.
    #[serde(default)]
    state: BTreeMap<String, StateMethod>,
}

/// How a missing value is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Way {
    /// By a statement that runs.
    Anywhere,
    /// By the class of the object that lacks it. That its statements do not run may be the bug.
    InClass,
    /// By a statement of that class itself that runs.
    RunInClass,
    /// By a function that is called, or handed on to be, and has not come to it.
    Later,
}

/// Applies if the script stores the value that the failure reports as missing, and a library had
/// access to it: if the script's own code does not find a value in its own objects, nobody lost it.
/// The class of such an object goes on storing it all the same.
fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    if script.is_flaky || matches!(probe.measure, Measure::Test(_)) {
        return Ok(None);
    }
    let exception = script
        .showing
        .and_then(|showing| showing.exception.as_ref());
    // A script that prints the exception that it caught fails by that.
    let caught = first_caught(so_far);
    let failure = caught
        .as_ref()
        .filter(|_| exception.is_none())
        .or(exception);
    let mut producers = failure.map_or_else(Vec::new, |raised| {
        let given = [
            quoted(program, raised),
            lost(program, raised),
            refused_field(program, raised),
            not_given_back(program, raised),
            too_short(program, raised),
            not_called(program, raised),
            property(raised),
            bound_elsewhere(raised),
            hidden(program, raised),
        ];
        let mut found: Vec<Producer> = given.into_iter().flatten().collect();
        // TorchScript's control, for one, calls no method that only the compiler looks into.
        if found.is_empty() && !automatic_control::is_exact(so_far) {
            found = named_by_library(raised);
        }
        if found.is_empty() {
            found = none_in_place(program, raised);
        }
        found.extend(named_as_key(raised));
        found.extend(asked_again(program, raised));
        found
    });
    producers.extend(asked_for(script));
    let failing = exception.map(own_lines).unwrap_or_default();
    producers.retain(|producer| {
        produces_before(program, producer, &failing, None) || declares(program, producer)
    });
    if producers.is_empty() {
        return Ok(None);
    }
    // Whether one of them ran before the failure, only a trace says.
    let evidence = script.evidence()?;
    let can_trace = evidence.is_some();
    let class = failure.and_then(|raised| class_lacking(program, raised));
    let checks = producers.into_iter().map(|producer| {
        let is_in_class = |evidence| {
            let class = class.as_deref();
            class.is_some_and(|class| is_in_class(program, &producer, class, evidence))
        };
        // Where its class stores it, no other store will do.
        let way = if evidence.is_some() && is_in_class(evidence) {
            Some(Way::RunInClass)
        } else if is_in_class(None) || matches!(producer, Producer::Field(_)) {
            Some(Way::InClass)
        } else if produces_before(program, &producer, &failing, evidence) {
            Some(Way::Anywhere)
        } else {
            is_to_produce(program, &producer, &failing, evidence).then_some(Way::Later)
        };
        Producers {
            way,
            is_declared: declares(program, &producer),
            is_reaching: reaches(program, &producer, &failing),
            special: special(program, &producer, class.as_deref()),
            state: state(program, &producer, class.as_deref(), evidence),
            producer,
            can_trace,
        }
    });
    let mut checks = checks.filter(|check| check.way.is_some() || check.is_declared);
    Ok(checks.next().map(|check| Box::new(check) as Box<dyn Check>))
}

/// The class of the object that lacks something, or that asks itself for it for ever.
fn class_lacking(program: &Program, exception: &Exception) -> Option<String> {
    let is_endless = exception.short_class() == "RecursionError";
    let asking = is_endless.then(|| class_that_asks(program, &own_lines(exception)));
    lacking_class(exception).or(asking.flatten())
}

/// The class of the object in which a candidate misses something.
fn class_of(shown: &Shown<'_>) -> Option<String> {
    let asking = || class_that_asks(shown.program, &shown.failed_at);
    shown.lacking_class.clone().or_else(asking)
}

/// Whether a class stores what its objects lack; with evidence, whether it did, itself.
fn is_in_class(
    program: &Program,
    producer: &Producer,
    class: &str,
    evidence: Option<&Evidence>,
) -> bool {
    let Producer::Store(name) = producer else {
        return false;
    };
    match evidence {
        Some(evidence) => stored_in_class(program, name, class, evidence),
        None => stores_in_class(program, name, class),
    }
}

/// The special methods by which a class stores what its objects lack.
fn special(program: &Program, producer: &Producer, class: Option<&str>) -> BTreeSet<String> {
    match (producer, class) {
        (Producer::Store(name), Some(class)) => special_stores(program, name, class),
        _ => BTreeSet::new(),
    }
}

/// The methods by which objects of a class are copied, unless it is one of them that stores what is
/// missing: it may make that anew.
fn state(
    program: &Program,
    producer: &Producer,
    class: Option<&str>,
    evidence: Option<&Evidence>,
) -> BTreeMap<String, StateMethod> {
    let methods = class.map_or_else(BTreeMap::new, |class| {
        state_methods(program, class, evidence)
    });
    // What is made anew depends on nothing that a copy takes over.
    let special = special(program, producer, class);
    if methods.keys().any(|method| special.contains(method)) {
        return BTreeMap::new();
    }
    methods
}

/// The code that may have stored the value that is `None`, or the element that a queue lacks.
fn none_in_place(program: &Program, exception: &Exception) -> Vec<Producer> {
    if exception.short_class() == "Empty" && is_in_library(exception) {
        let puts = ["put", "put_nowait"];
        return puts.map(|put| Producer::Call(put.to_owned())).into();
    }
    let Some(line) = own_lines(exception).pop() else {
        return Vec::new();
    };
    let lost = lost_values(program, &exception.class, &exception.message, line);
    let stored = lost.into_iter().map(|name| match made_by(&name) {
        Some(maker) => Producer::Names(vec![maker.to_owned()]),
        None => Producer::Value(name),
    });
    stored.collect()
}

/// Whether a library is involved in the loss of what an exception reports as missing: the library
/// raises it, or the object is not of one of the script's own classes, or it depends on a value from
/// a library.
fn is_lost_by_library(program: &Program, exception: &Exception) -> bool {
    is_of_foreign_class(program, exception)
        || is_in_library(exception)
        || !packages(program, &own_lines(exception), None).is_empty()
}

/// The code that stores the value that an exception reports as missing, if a library is involved, or
/// the object is of a class that stores it.
fn lost(program: &Program, exception: &Exception) -> Option<Producer> {
    if !is_lost_by_library(program, exception) {
        let class = lacking_class(exception)?;
        let name = missing_name(&exception.class, &exception.message)?;
        return stores_in_class(program, &name, &class).then_some(Producer::Store(name));
    }
    let mut all = exception.chain.iter().chain([exception]).rev();
    all.find_map(|raised| {
        let name = missing_name(&raised.class, &raised.message)?;
        Some(match raised.short_class() {
            "KeyError" => Producer::Key(name),
            _ => Producer::Store(name),
        })
    })
}

/// The code that gives something to an attribute by the name of the key that is missing: a library
/// may make keys of attributes.
fn named_as_key(exception: &Exception) -> Option<Producer> {
    let key = missing_name(&exception.class, &exception.message)?;
    (exception.short_class() == "KeyError").then_some(Producer::Receiver(key))
}

/// The code that stores under the names that a library reports as missing. A template reports a
/// value that it was given as undefined in the words for one that it was not given.
fn named_by_library(exception: &Exception) -> Vec<Producer> {
    const OF_ABSENCE: [&str; 9] = [
        "lacks",
        "missing",
        "no",
        "not",
        "required",
        "undefined",
        "unknown",
        "unset",
        "without",
    ];
    let class = words_of_class(exception.short_class());
    let words = exception
        .message
        .split(|char: char| !char.is_alphanumeric());
    let mut words = words.map(str::to_lowercase).chain(class);
    let reports_absence = words.any(|word| OF_ABSENCE.contains(&word.as_str()));
    // What lacks an attribute or a key in the interpreter's own words is read already.
    let is_read = exception.message.contains(cpython::NO_ATTRIBUTE)
        || missing_name(&exception.class, &exception.message).is_some();
    if !reports_absence || is_read || !is_in_library(exception) {
        return Vec::new();
    }
    let mut names = quoted_names(&exception.message);
    // Where the class says what is wrong, the message may be the name alone.
    if names.is_empty() {
        names = quoted_names(&format!("'{}'", exception.message.trim()));
    }
    names.into_iter().map(Producer::Store).collect()
}

/// The words that the name of a class is made of.
fn words_of_class(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for char in name.chars() {
        match words.last_mut().filter(|_| !char.is_uppercase()) {
            Some(word) => word.push(char),
            None => words.push(char.to_lowercase().to_string()),
        }
    }
    words
}

/// The method that stores the values that a library did not return. The script fails where it reads
/// them.
fn not_given_back(program: &Program, exception: &Exception) -> Option<Producer> {
    let line = own_lines(exception).pop()?;
    let read = attributes_read(program, line);
    let call = |method: &str| Producer::Call(method.to_owned());
    let class = exception.short_class();
    let stored = read
        .iter()
        .find_map(|attribute| stored_by(class, attribute));
    let stored = stored.and_then(|method| {
        // Some get the values to store as arguments, others find them themselves.
        let mut ways = [call(method), Producer::Names(vec![method.to_owned()])].into_iter();
        ways.find(|producer| produces(program, producer, None))
    });
    stored.or_else(|| {
        let methods = read.iter().flat_map(|method| counterparts(class, method));
        let mut called = methods.map(|method| call(method));
        called.find(|producer| produces(program, producer, None))
    })
}

/// The code that stores the attributes whose presence decides what the script reports itself.
fn asked_for(script: &Script<'_>) -> Vec<Producer> {
    let Script { probe, program, .. } = script;
    let showing = script.showing;
    let site = showing.and_then(|showing| probe.measure.report_site(showing));
    let names = site.map_or_else(BTreeSet::new, |site| attributes_asked_for(program, &site));
    names.into_iter().map(Producer::Store).collect()
}

/// The code that stores the attribute for which an object asks itself for ever.
fn asked_again(program: &Program, exception: &Exception) -> Vec<Producer> {
    if exception.short_class() != "RecursionError" {
        return Vec::new();
    }
    let names = attributes_asked_again(program, &own_lines(exception)).into_iter();
    names.map(Producer::Store).collect()
}

/// The method that adds to a container that is too short, if a library returned the container.
fn too_short(program: &Program, exception: &Exception) -> Option<Producer> {
    let lines = own_lines(exception);
    if exception.short_class() != "IndexError" || packages(program, &lines, None).is_empty() {
        return None;
    }
    added_to(program, *lines.last()?).map(Producer::Call)
}

/// The call of what a library says was not called, or not so.
fn not_called(program: &Program, exception: &Exception) -> Option<Producer> {
    let line = own_lines(exception).pop()?;
    let is_assertion = exception.short_class() == "AssertionError" && is_in_library(exception);
    let asserted = asserted_call(program, line).filter(|_| is_assertion);
    asserted.map(Producer::Called)
}

/// The line of the script quoted by a text that is not found.
fn quoted(program: &Program, exception: &Exception) -> Option<Producer> {
    let line = own_lines(exception).pop()?;
    let quoted = quoted_lines(program, line).into_iter().next();
    quoted.map(Producer::Line)
}

/// The code that binds a name that is not found where it is needed.
fn bound_elsewhere(exception: &Exception) -> Option<Producer> {
    let is_of_name = exception.short_class() == "NameError";
    let name = cpython::quoted(&exception.message).filter(|_| is_of_name);
    name.map(|name| Producer::Binding(name.to_owned()))
}

/// The method with a special name that a class has all the same: something hides it.
fn hidden(program: &Program, exception: &Exception) -> Option<Producer> {
    let (class, method) = cpython::missing_protocol(&exception.message)?;
    let is_hidden =
        exception.short_class() == "TypeError" && stores_in_class(program, method, class);
    is_hidden.then(|| Producer::Store(method.to_owned()))
}

/// The code that gives a class the field that it does not know when it is called.
fn refused_field(program: &Program, exception: &Exception) -> Option<Producer> {
    let line = own_lines(exception).pop()?;
    let is_refused = exception.short_class() == "TypeError"
        && exception.message.contains(cpython::UNEXPECTED_KEYWORD);
    let name = cpython::quoted(&exception.message).filter(|_| is_refused)?;
    has_field(program, name, line).then(|| Producer::Field(name.to_owned()))
}

/// The code that gives a value the property that it lacks.
fn property(exception: &Exception) -> Option<Producer> {
    let names = giving(&exception.message).iter();
    let names: Vec<String> = names.map(|name| (*name).to_owned()).collect();
    (!names.is_empty()).then_some(Producer::Names(names))
}

impl Check for Producers {
    fn review(&self, probe: &Probe<'_>, shown: &[Shown<'_>]) -> Result<Vec<Objection>, RunError> {
        // The text refuses most; whether a store that is left ran, only a trace says.
        let asked = |candidate: &Shown<'_>| {
            let refused = self.review_without_runs(candidate);
            if refused.is_some() || !self.can_trace || !self.way.is_some_and(Way::runs) {
                return Asked::Nothing(refused);
            }
            Asked::Run(probe.traced_job(&candidate.program.encode().unwrap_or_default()))
        };
        ask(probe, shown, asked, |candidate, outcome| {
            self.verdict(probe, candidate, outcome)
        })
    }

    fn review_without_runs(&self, shown: &Shown<'_>) -> Option<Verdict> {
        let asks_class = matches!(self.way, Some(Way::InClass | Way::RunInClass));
        let class = class_of(shown).filter(|_| asks_class);
        let is_elsewhere = class
            .as_deref()
            .is_some_and(|class| !is_in_class(shown.program, &self.producer, class, None));
        let its = special(shown.program, &self.producer, class.as_deref());
        let lacks_method = class.as_deref().is_some_and(|class| {
            !self.special.is_subset(&its) || !keeps_state(&self.state, shown.program, class)
        });
        let lacks_field = match (&self.producer, shown.failed_at.last()) {
            (Producer::Field(name), Some(&line)) => !has_field(shown.program, name, line),
            _ => false,
        };
        let is_apart = self.is_reaching
            && !shown.failed_at.is_empty()
            && !reaches(shown.program, &self.producer, &shown.failed_at);
        // What is called only after the failure has no part in it.
        let failed_at = &shown.failed_at;
        let never_comes = self.way == Some(Way::Later)
            && !is_to_produce(shown.program, &self.producer, failed_at, None);
        let only_asks =
            self.way.is_some() && !produces_before(shown.program, &self.producer, failed_at, None);
        (is_elsewhere
            || lacks_field
            || lacks_method
            || is_apart
            || never_comes
            || only_asks
            || self.is_hopeless(shown.program))
        .then_some(Verdict::Vacuous)
    }

    fn is_hopeless(&self, program: &Program) -> bool {
        self.way.is_some() && !produces(program, &self.producer, None)
            || self.is_declared && !declares(program, &self.producer)
    }

    fn claim(&self) -> Option<String> {
        let name = self.producer.name();
        Some(match self.producer {
            Producer::Called(_) => format!("it calls `{name}`"),
            Producer::Binding(_) => format!("it binds `{name}`"),
            Producer::Field(_) => format!("its class has a field `{name}`"),
            _ => format!("it stores the missing value by `{name}`"),
        })
    }

    fn describe(&self) -> Vec<String> {
        let name = self.producer.name();
        let stores = match self.producer {
            Producer::Store(_) | Producer::Key(_) | Producer::Receiver(_) => {
                format!("stores `{name}`, which is missing later")
            }
            Producer::Line(_) => format!("runs `{name}`, which a text quotes"),
            Producer::Binding(_) => format!("binds `{name}`, which is not found"),
            Producer::Field(_) => {
                format!("gives a class the field `{name}`, which it then refuses")
            }
            Producer::Value(_) => format!("stores `{name}`, which is `None` later"),
            Producer::Names(_) => format!("names `{name}`, and its value is missing later"),
            Producer::Call(_) => {
                format!("calls `{name}`, and the value that it stores is missing later")
            }
            Producer::Called(_) => format!("calls `{name}`, and then asserts how it was called"),
        };
        vec![format!(
            "producer: the script {stores}; so must every candidate"
        )]
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl Way {
    /// Whether statements must run for it.
    fn runs(self) -> bool {
        self != Self::InClass
    }
}

impl Producers {
    /// The verdict on a candidate by a traced run, if that speaks against it. One that does not
    /// show the bug while it is traced cannot be verified.
    fn verdict(&self, probe: &Probe<'_>, shown: &Shown<'_>, outcome: &Outcome) -> Option<Verdict> {
        let evidence = probe.evidence(std::slice::from_ref(outcome));
        let is_stored = evidence.is_some_and(|ran| {
            // The store itself did not run in the script either.
            if self.way == Some(Way::Later) {
                is_to_produce(shown.program, &self.producer, &shown.failed_at, Some(&ran))
            } else if self.way == Some(Way::RunInClass) {
                class_of(shown).is_some_and(|class| {
                    is_in_class(shown.program, &self.producer, &class, Some(&ran))
                })
            } else {
                let failed_at = &shown.failed_at;
                produces_before(shown.program, &self.producer, failed_at, Some(&ran))
            }
        });
        (!is_stored).then_some(Verdict::Vacuous)
    }
}
