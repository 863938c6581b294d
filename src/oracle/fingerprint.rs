//! The fingerprint of a failure: the mechanism behind its words, taken from the traceback. Several
//! bugs share the words of a generic wrapper, and users shorten the words that they give. Plain
//! data and a pure match.

use std::collections::BTreeSet;

use minrepro_reducers::torch::messages;
use serde::{Deserialize, Serialize};

use super::{
    artifact::Artifacts,
    common_parts::{common, message, of_exceptions},
    exceptions::{headline, innermost, is_in_interpreters_words, is_raised},
    forms::Part,
    generated,
    likeness::plain_words,
    normalize::kind,
    origin::{RaiseOrigin, claim},
    pattern::Pattern,
    raise_site::{RaiseSite, is_in_library, is_own, short_path},
    scale::Scale,
    shapes::AgreeingShapes,
};
use crate::runner::{Exception, Outcome, TracebackFrame};

/// Fewer words say nothing of the mechanism.
const FEW_WORDS: usize = 4;

/// The mechanism of a failure that ended with an exception.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The parts of the exception that all runs share: its class, its words, and, if these are not
    /// distinctive, its place.
    parts: Vec<Part>,
    /// The class and the words of the exception from which a library raised it.
    cause: Option<(String, Option<Pattern>)>,
    /// What the compiler was doing, according to its message.
    context: Option<String>,
    /// The first error of the C++ compiler.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cpp_error: Option<String>,
    /// The conditions on sizes that the compiler could not keep or answer.
    #[serde(default)]
    conditions: BTreeSet<String>,
    /// What is wrong with the arguments of a call, for each function that may be meant.
    #[serde(default)]
    misfits: BTreeSet<String>,
    /// The plain words of the lines below the first: details follow a general headline.
    details: BTreeSet<String>,
    /// The functions of libraries that were on the way to the exception.
    path: BTreeSet<String>,
    /// The function of a library that the script called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    entry: Option<String>,
    /// The origin of the exception.
    origin: Option<RaiseOrigin>,
    /// How wrong something is, where the exception says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scale: Option<Scale>,
    /// In which dimensions two shapes agree that do not fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shapes: Option<AgreeingShapes>,
    /// Whether a library warned that its check needs more precise numbers.
    #[serde(default)]
    is_imprecise: bool,
    /// Where the arguments of a call were wrong: who called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    caller: Option<String>,
    /// Where code that a library wrote failed in the interpreter's own words: what its line does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    generated: Option<String>,
}

/// The caller that is no function of a library.
const THE_SCRIPT: &str = "the script";

impl Fingerprint {
    /// The fingerprint that the exceptions of all outcomes share. Where the signature is about
    /// another exception than the one that ended the program, `is_outer` is false, and only the
    /// causes count.
    pub(super) fn common(outcomes: &[&Outcome], is_outer: bool) -> Option<Self> {
        let exceptions = outcomes.iter().map(|outcome| outcome.exception.as_ref());
        let exceptions = &*exceptions.collect::<Option<Vec<&Exception>>>()?;
        exceptions.first()?;
        // A failure that the script itself reports is judged by its dependences, since its words
        // are the script's own.
        let is_claim = exceptions.iter().any(|raised| claim(raised).is_some());
        let parts = if is_outer && !is_claim {
            let mut parts = of_exceptions(exceptions).unwrap_or_default();
            // A line of the script may change as all of the script may.
            parts.retain(|part| !matches!(part, Part::RaisedAt(RaiseSite::Script { .. })));
            parts
        } else {
            Vec::new()
        };
        let causes: Vec<&Exception> = exceptions.iter().map(|raised| innermost(raised)).collect();
        let is_wrapped = exceptions
            .iter()
            .zip(&causes)
            .all(|(raised, cause)| !std::ptr::eq(*raised, *cause) && is_in_library(raised));
        let cause = common(&causes, |cause| Some(cause.short_class().to_owned()))
            .filter(|_| is_wrapped)
            .map(|class| (class, message(&causes)));
        Some(Self {
            parts,
            cause,
            context: common(exceptions, context),
            cpp_error: common(exceptions, |raised| messages::cpp_error(&raised.message)),
            conditions: shared(exceptions, |raised| {
                messages::size_conditions(&raised.message)
            }),
            misfits: shared(exceptions, |raised| messages::misfits(&raised.message)),
            details: shared(exceptions, |raised| details(&raised.message)),
            path: shared(exceptions, |raised| {
                functions(raised, &raised.frames).collect()
            }),
            entry: common(exceptions, entry),
            origin: RaiseOrigin::common(exceptions.iter().copied()).filter(|_| is_outer),
            scale: Scale::of(exceptions.iter().map(|raised| raised.message.as_str())),
            shapes: common(exceptions, |raised| AgreeingShapes::of(&raised.message)),
            is_imprecise: outcomes.iter().any(|outcome| is_imprecise(outcome)),
            caller: common(exceptions, caller),
            generated: common(outcomes, generated::failing_line),
        })
    }

    /// Takes the script's own names and texts out of the words: a class may be merged into another,
    /// and a text be cut, as long as the user's words stay.
    pub(super) fn forget(&mut self, names: &BTreeSet<String>, texts: &[&str]) {
        let patterns = self.parts.iter_mut().filter_map(|part| match part {
            Part::Message(pattern) | Part::Cause(_, Some(pattern)) => Some(pattern),
            _ => None,
        });
        let cause = self
            .cause
            .as_mut()
            .and_then(|(_, pattern)| pattern.as_mut());
        for pattern in patterns.chain(cause) {
            pattern.forget(names, texts);
        }
    }

    /// How the mechanism of a failure differs from this one, in words; none if it does not.
    pub(super) fn mismatch(&self, outcome: &Outcome) -> Option<String> {
        let exception = outcome.exception.as_ref()?;
        if let Some(other) = self.parts.iter().find(|part| {
            // The artifacts that are allowed were judged with the signature.
            !part.holds(outcome, &Artifacts::default())
        }) {
            return Some(format!("not {other}"));
        }
        let cause = innermost(exception);
        if let Some((class, pattern)) = &self.cause {
            let is_same = cause.short_class() == class
                && pattern
                    .as_ref()
                    .is_none_or(|pattern| pattern.is_in(&cause.message));
            if !is_same {
                let its = cause.short_class();
                let words = pattern.as_ref().filter(|_| its == class);
                return Some(match words {
                    Some(words) => format!("caused by `{}`, not `{words}`", headline(cause)),
                    None => format!("caused by {its}, not {class}"),
                });
            }
        }
        if let Some(known) = &self.context {
            let its = context(exception);
            if its.as_ref() != Some(known) {
                let its = its.unwrap_or_else(|| "nothing".to_owned());
                return Some(format!("the compiler reports `{its}`, not `{known}`"));
            }
        }
        if let Some(known) = &self.cpp_error {
            let its = messages::cpp_error(&exception.message);
            if its.as_ref() != Some(known) {
                let its = its.unwrap_or_else(|| "nothing".to_owned());
                return Some(format!("the C++ compiler reports `{its}`, not `{known}`"));
            }
        }
        let conditions = messages::size_conditions(&exception.message);
        if !self.conditions.is_empty() && self.conditions.is_disjoint(&conditions) {
            let listed = |all: &BTreeSet<String>| {
                let all: Vec<&str> = all.iter().map(String::as_str).collect();
                if all.is_empty() {
                    return "nothing".to_owned();
                }
                format!("`{}`", all.join("`, `"))
            };
            let [its, known] = [listed(&conditions), listed(&self.conditions)];
            return Some(format!("the condition on sizes is {its}, not {known}"));
        }
        let misfits = messages::misfits(&exception.message);
        if !self.misfits.is_empty()
            && let Some(other) = misfits.symmetric_difference(&self.misfits).next()
        {
            return Some(format!("what does not fit is another: {other}"));
        }
        let its = details(&exception.message);
        let shared = self.details.intersection(&its).count();
        // Data among the words may go as the script shrinks, so not all of them have to stay.
        if self.details.len() >= FEW_WORDS && shared * 2 < self.details.len() {
            let line = exception.message.lines().nth(1).unwrap_or_default().trim();
            return Some(format!("in particular `{line}`"));
        }
        if let Some(known) = &self.caller
            && let Some(its) = caller(exception)
            && its != *known
        {
            return Some(format!("called by {its}, not by {known}"));
        }
        self.elsewhere(exception)
            .or_else(|| self.generated_otherwise(outcome))
            .or_else(|| self.called_elsewhere(exception))
            .or_else(|| self.entered_elsewhere(exception))
            .or_else(|| self.off_scale(outcome, exception))
    }

    /// How something is less wrong, or wrong in another way, than in the original script, or fits less.
    fn off_scale(&self, outcome: &Outcome, exception: &Exception) -> Option<String> {
        if is_imprecise(outcome) && !self.is_imprecise {
            return Some("checked in less than double precision".to_owned());
        }
        let message = &exception.message;
        let shapes = self.shapes.as_ref();
        shapes
            .and_then(|known| known.mismatch(message))
            .or_else(|| self.scale.as_ref()?.mismatch(message))
    }

    /// What the failing line of generated code does, if it does something else than the original's or
    /// is not shown.
    fn generated_otherwise(&self, outcome: &Outcome) -> Option<String> {
        let known = self.generated.as_ref()?;
        match generated::failing_line(outcome) {
            Some(its) if its == *known => None,
            Some(its) => Some(format!("in generated code by `{its}`, not by `{known}`")),
            None => Some(format!("not by `{known}` in generated code that is shown")),
        }
    }

    /// The function of a library that called the failing one, if the original failure did not pass
    /// it: a library that packs and unpacks asks for the same things on both ways. Where a statement
    /// raises in words of its own, these say more.
    fn called_elsewhere(&self, exception: &Exception) -> Option<String> {
        if self.path.is_empty() || !is_in_interpreters_words(exception) {
            return None;
        }
        let mut frames = exception.frames.iter().rev();
        let last = frames.next().filter(|last| !is_own(exception, last))?;
        // It may call itself.
        let caller =
            frames.find(|frame| (&frame.file, &frame.function) != (&last.file, &last.function))?;
        let mut its = functions(exception, std::slice::from_ref(caller));
        let its = its.next().filter(|its| !self.path.contains(its))?;
        Some(format!("called by {its}, which the script did not pass"))
    }

    /// The special method by which the script enters a library, if the original script did not use
    /// it. A script that shrinks may call another function by name that leads to the same place. A
    /// method that Python calls implicitly, to iterate, to compare or to set a property, shows that
    /// the script now does something else.
    fn entered_elsewhere(&self, exception: &Exception) -> Option<String> {
        let its = entry(exception)?;
        // One check of numbers may call another, which then finds something else.
        if self.scale.is_some() && self.entry.as_ref().is_some_and(|known| *known != its) {
            return Some(format!("checked by {its}, which the script did not call"));
        }
        let (_, function) = its.rsplit_once(' ')?;
        let function = function.strip_suffix("()")?;
        let is_special = function.starts_with("__") && function.ends_with("__");
        if !is_special && !is_property(function, exception) {
            return None;
        }
        let is_other = !self.path.is_empty() && !self.path.contains(&its);
        is_other.then(|| format!("reached by {its}, which the script did not pass"))
    }

    /// Where an exception was raised, if that is not where this failure was: in another place of a
    /// library, or, with the interpreter's words, not in a library any more.
    pub(super) fn elsewhere(&self, exception: &Exception) -> Option<String> {
        let origin = self.origin.as_ref()?;
        let is_own_now = origin.is_in_library()
            && !is_in_library(exception)
            && !exception.frames.is_empty()
            && is_in_interpreters_words(exception);
        if is_own_now {
            return Some(format!("raised by the script, not {}", origin.site));
        }
        // An exception of compiled code shows its caller at the end, and that may be any on the
        // way.
        let is_of_compiled_code =
            !origin.stated && !is_raised(exception) && !is_in_interpreters_words(exception);
        let mut caller = functions(
            exception,
            &exception.frames[exception.frames.len().saturating_sub(1)..],
        );
        if is_of_compiled_code && caller.next().is_some_and(|last| self.path.contains(&last)) {
            return None;
        }
        origin.elsewhere(exception)
    }
}

/// The words that the texts of all exceptions share.
fn shared(
    exceptions: &[&Exception],
    of: impl Fn(&Exception) -> BTreeSet<String>,
) -> BTreeSet<String> {
    let each = exceptions.iter().map(|raised| of(raised));
    each.reduce(|all, its| &all & &its).unwrap_or_default()
}

/// Where the arguments of a call are too many or too few: the function of a library that called, or
/// the script. Who calls with the wrong arguments is at fault, and a call that
/// the script itself makes is wrong with or without the bug. Functions that only pass calls on, by
/// their names private or special, do not count.
fn caller(exception: &Exception) -> Option<String> {
    let is_arity = exception.class == "TypeError"
        && (exception.message.contains("required positional argument")
            || exception.message.contains("positional arguments but"));
    if !is_arity || is_raised(exception) {
        return None;
    }
    let frames = exception.frames.iter().rev();
    let above = frames.take_while(|frame| !is_own(exception, frame));
    let mut callers = above.filter(|frame| !frame.function.starts_with('_'));
    Some(callers.next().map_or_else(
        || THE_SCRIPT.to_owned(),
        |frame| format!("{}, {}()", short_path(exception, frame), frame.function),
    ))
}

/// The function of a library that the script called last.
fn entry(exception: &Exception) -> Option<String> {
    let frames = &exception.frames;
    let own = frames.iter().rposition(|frame| is_own(exception, frame));
    let below = &frames[own.map_or(0, |last| last + 1)..];
    functions(exception, below).next()
}

/// Whether the script's innermost line reads or sets an attribute by this name, and does not call it.
fn is_property(function: &str, exception: &Exception) -> bool {
    let mut frames = exception.frames.iter().rev();
    let Some(line) = frames.find(|frame| is_own(exception, frame)) else {
        return false;
    };
    let attribute = format!(".{function}");
    let mut mentions = line.code.match_indices(&attribute);
    mentions.any(|(at, _)| {
        let rest = line.code[at + attribute.len()..].trim_start();
        !rest.starts_with(|char: char| char == '(' || char == '_' || char.is_alphanumeric())
    })
}

/// The functions of libraries among some frames of an exception, outermost first.
fn functions<'a>(
    exception: &'a Exception,
    frames: &'a [TracebackFrame],
) -> impl Iterator<Item = String> + 'a {
    let of_library = frames.iter().filter(|frame| !is_own(exception, frame));
    of_library.map(|frame| format!("{}, {}()", short_path(exception, frame), frame.function))
}

/// The words in the lines of a message below the first, without names and data: without quoted
/// text, and without words that hold a digit, a dot or an underscore. A line that only names a backend
/// is above the first, and what a C++ compiler says is compared by its error.
fn details(message: &str) -> BTreeSet<String> {
    let is_headed = message.lines().next().is_some_and(messages::names_backend);
    let lines = message.lines().skip(1 + usize::from(is_headed));
    let own = lines.take_while(|line| !messages::is_of_cpp_compiler(line));
    plain_words(own).into_iter().collect()
}

/// Whether a library warned that its check needs more precise numbers than it got.
fn is_imprecise(outcome: &Outcome) -> bool {
    outcome.stderr.text().contains(messages::IMPRECISE)
}

/// What the compiler was doing, without numbers.
fn context(exception: &Exception) -> Option<String> {
    let all = [exception, innermost(exception)];
    all.into_iter()
        .find_map(|raised| messages::debug_context(&raised.message))
        .map(kind)
}
