//! Properties of the script's text that no candidate may change: calls keep settings that name an
//! implementation or a tolerance; no random numbers are drawn; no tensor is empty; attributes have
//! their annotated types; modules are no values; functions that are passed on keep their
//! decorators, and classes and functions what packages read of them, and classes known to packages; methods stay bound to the class
//! or to nothing, and modules registered; attributes are not changed in place; collections have
//! more than one key; repeated draws use one seed; functions still return something; a class that is
//! created successfully does not become the failing one. With a change, a program may fail, or
//! print, the same for reasons of its own. Takes no run.

use std::collections::BTreeSet;

use minrepro_reducers::{
    analysis::{
        annotated::{ParameterTypes, contradicts_annotations, have_types, parameter_types},
        class_statements::{class_on, classes_of_packages},
        definite_bindings::reads_unbound,
        handed_on::{
            are_decorated, decorated, decorated_around, hands_on_without_parameters,
            keep_decorators, looked_up, nameless_take, parameters_of,
        },
        namespaces::{has_as_value, namespaces},
        own_classes::{Bindings, Declarations, are_bound, are_declared, bindings, declarations},
        package_classes::{PackageClasses, are_made_alike, package_classes},
        package_functions::PackageFunctions,
        preconditions::Preconditions,
        registrations::{
            Handlers, Registrations, are_registered, handlers, handlers_passed_over, registrations,
        },
        results::{gives_nothing, giving},
        unchecked::{
            asks_constants, awaits_nothing, calls_constants, calls_with_too_little,
            computes_with_itself, handles_anything, holds_own_lock, leaves_coroutines,
            logs_wrongly, loops_unchanged, makes_of_nothing, repeats_a_constant, repeats_a_key,
            unpacks_parameters, waits_for_no_thread,
        },
    },
    syntax::Program,
    torch::{
        control::{Control, Without},
        custom_gradients::{has_no_gradient, returns_input},
        emptiness::makes_empty_tensors,
        environment::makes_operators,
        members::{changes_attribute, is_plain, registering},
        permissions::permissions,
        refinements::{IMPLIED_TYPES, is_refused_in_spite_of_test, tests_for_none},
        seeds::{draws_each_time, draws_random_numbers, equal_seedings},
        settings::CallSettings,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    super::{
        check::{Applied, Check, Checks, Kind, Script},
        measure::{Measure, failed_at},
        objection::Shown,
    },
    automatic_control::is_exact,
};
use crate::{
    oracle::{Verdict, is_in_library, lines_called_by_library},
    runner::{End, RunError},
};

pub(super) const KIND: Kind = Kind {
    id: "preserved",
    establish,
    recall: |found| {
        Some(Box::new(
            serde_json::from_value::<Preserved>(found.clone()).ok()?,
        ))
    },
};

/// Things that the script does not do and a candidate must not start to do: it would fail, or
/// print, for reasons of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Oddity {
    /// It draws random numbers although the script shows the bug each time. It may show the bug by
    /// chance.
    Chance,
    /// Data or sizes that it writes out are empty.
    Emptiness,
    /// An attribute is assigned a constant of another type than the annotated one.
    WrongType,
    /// A function with its own gradient returns an input as it is.
    ReturnedInput,
    /// A function with its own gradient loses it although a compiler reads it.
    NoGradient,
    /// A compiler refuses an optional value that nothing tests.
    Untested,
    /// A compiler that reads all branches finds a variable that some of them do not bind.
    Unbound,
    /// The script's own operators, whose code no compiler sees, are removed.
    Transparent,
    /// A function that is passed on to be called with arguments takes none.
    Unfed,
    /// So does one without a name.
    UnfedNameless,
    /// A condition is a constant, or one decides it, so that no run checks what stands under it.
    Constant,
    /// A function of Python's own is called with fewer arguments than it takes.
    TooLittle,
    /// A handler names no exception: it reports the right one as well.
    AnyException,
    /// A method changes what an attribute holds, which may be a constant.
    ChangedAttribute,
    /// A dictionary or a set has one key for all that it is made of.
    RepeatedKey,
    /// A list has one constant for all that it is made of.
    RepeatedConstant,
    /// A message is logged with more or fewer things than it has places for.
    Misformatted,
    /// A method that the language awaits is a plain one.
    Unawaitable,
    /// A coroutine is made that nothing runs.
    Unawaited,
    /// Threads are started that nothing waits for.
    Unjoined,
    /// Something runs under a lock that nobody else can hold.
    Unshared,
    /// A constant is called, or a variable that is never anything else.
    Uncallable,
    /// Something is taken from itself, divided by itself or compared with itself.
    WithItself,
    /// Random numbers are drawn each time that a function or a loop runs.
    DrawnEachTime,
    /// A container or a number of the language's own is made of nothing.
    MadeOfNothing,
    /// A loop changes nothing of its condition.
    Unchanging,
    /// A plain parameter is unpacked into the arguments of a call.
    UnpackedParameter,
}

impl Oddity {
    const ALL: [Self; 27] = [
        Self::Chance,
        Self::Emptiness,
        Self::WrongType,
        Self::ReturnedInput,
        Self::NoGradient,
        Self::Untested,
        Self::Unbound,
        Self::Transparent,
        Self::Unfed,
        Self::UnfedNameless,
        Self::Constant,
        Self::TooLittle,
        Self::AnyException,
        Self::ChangedAttribute,
        Self::RepeatedKey,
        Self::RepeatedConstant,
        Self::Misformatted,
        Self::Unawaitable,
        Self::Unawaited,
        Self::Unjoined,
        Self::Unshared,
        Self::Uncallable,
        Self::WithItself,
        Self::DrawnEachTime,
        Self::MadeOfNothing,
        Self::Unchanging,
        Self::UnpackedParameter,
    ];

    fn is_in(self, program: &Program) -> bool {
        match self {
            Self::Chance => draws_random_numbers(program),
            Self::Emptiness => makes_empty_tensors(program),
            Self::WrongType => contradicts_annotations(program),
            Self::ReturnedInput => returns_input(program),
            Self::NoGradient => has_no_gradient(program),
            Self::Untested => !tests_for_none(program),
            Self::Unbound => reads_unbound(program),
            Self::Transparent => !makes_operators(program),
            Self::Unfed => hands_on_without_parameters(program),
            Self::UnfedNameless => nameless_take(program).contains(&false),
            Self::Constant => asks_constants(program),
            Self::TooLittle => calls_with_too_little(program),
            Self::AnyException => handles_anything(program),
            Self::ChangedAttribute => changes_attribute(program),
            Self::RepeatedKey => repeats_a_key(program),
            Self::RepeatedConstant => repeats_a_constant(program),
            Self::Misformatted => logs_wrongly(program),
            Self::Unawaitable => awaits_nothing(program),
            Self::Unawaited => leaves_coroutines(program),
            Self::Unjoined => waits_for_no_thread(program),
            Self::Unshared => holds_own_lock(program),
            Self::Uncallable => calls_constants(program),
            Self::WithItself => computes_with_itself(program),
            Self::DrawnEachTime => draws_each_time(program),
            Self::MadeOfNothing => makes_of_nothing(program),
            Self::Unchanging => loops_unchanged(program),
            Self::UnpackedParameter => unpacks_parameters(program),
        }
    }

    /// Whether it matters that the script does not do it.
    fn matters(self, script: &Script<'_>, so_far: &Checks) -> bool {
        let exception = || script.showing?.exception.as_ref();
        let reports = || script.probe.measure.report_site(script.showing?);
        match self {
            Self::Chance => !script.is_flaky,
            Self::NoGradient => [Control::Compile, Control::Export]
                .iter()
                .any(|control| control.without(script.program) != Without::Itself),
            Self::Untested => exception()
                .is_some_and(|raised| is_refused_in_spite_of_test(script.program, &raised.message)),
            Self::Unbound => is_compiled_from_text(script.program),
            // A library's own report shows which operator failed, or by which exception.
            Self::RepeatedConstant | Self::Transparent => reports().is_some(),
            // Nor does a control whose failures are caught as well.
            Self::AnyException => reports().is_some() || so_far.has_control(),
            Self::WithItself | Self::DrawnEachTime | Self::MadeOfNothing => {
                reports().is_some() && !so_far.has_full_control()
            }
            // A control calls the functions that are passed on.
            Self::Unfed => !so_far.has_control(),
            Self::UnfedNameless => {
                !so_far.has_control() && nameless_take(script.program).contains(&true)
            }
            // Under a full one, what succeeds is valid, if it runs. What is compiled from its text
            // need not.
            Self::Constant => !so_far.has_full_control() || is_compiled_from_text(script.program),
            _ => true,
        }
    }
}

/// Refuses candidates that change any of this.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Preserved {
    settings: CallSettings,
    preconditions: Preconditions,
    /// The permissions that it gives a compiler.
    permissions: BTreeSet<String>,
    /// The methods by which its objects tell packages what to do, if it reports the outcome itself.
    looked_up: BTreeSet<String>,
    /// The imported decorators of the functions that it passes on.
    decorated: BTreeSet<(String, String)>,
    /// Those of the functions on the way to the failure that packages call.
    #[serde(default)]
    decorated_on_way: BTreeSet<(String, String)>,
    /// What its classes call to tell packages what they are, if it reports the outcome itself.
    #[serde(default)]
    declarations: Declarations,
    /// What packages read of the classes that they make.
    #[serde(default)]
    package_classes: PackageClasses,
    /// The methods that are called on a class or on nothing.
    #[serde(default)]
    bindings: Bindings,
    /// The attributes that register the modules that they hold.
    #[serde(default)]
    registering: BTreeSet<String>,
    /// The classes that it makes known to packages.
    #[serde(default)]
    registrations: Registrations,
    /// The classes for which it registers functions that are not called all the same.
    #[serde(default)]
    handlers: Handlers,
    /// What packages read of functions and types.
    #[serde(default)]
    package_functions: PackageFunctions,
    /// The function that a library calls wrongly, with its parameters: it is called wrongly as long
    /// as it has those.
    #[serde(default)]
    called_wrongly: Option<(String, BTreeSet<Vec<String>>)>,
    /// The types of its functions' parameters, if a compiler reads them.
    #[serde(default)]
    parameter_types: ParameterTypes,
    /// The functions that packages call and that return something.
    #[serde(default)]
    giving: BTreeSet<String>,
    /// The classes that packages create for it without failing, if they fail to create another.
    #[serde(default)]
    made: BTreeSet<String>,
    /// The imported names that it only reads others off.
    #[serde(default)]
    namespaces: BTreeSet<String>,
    /// How often it sets the same seed.
    seedings: usize,
    /// The things that it does not do.
    absent: Vec<Oddity>,
}

fn establish(script: &Script<'_>, so_far: &Checks) -> Applied {
    let Script { probe, program, .. } = script;
    let mut failed_at = script.showing.map(failed_at).unwrap_or_default();
    // Under an exact control each candidate shows by itself that its calls are right.
    let exact = is_exact(so_far);
    let evidence = if fails_in_library(script) && !exact {
        // A script that does not show the bug while it is traced has its text.
        Some(script.evidence()?.cloned().unwrap_or_default())
    } else {
        None
    };
    // A process that dies leaves no traceback.
    if let Some(evidence) = evidence.as_ref().filter(|_| failed_at.is_empty()) {
        let frames = evidence.failure.iter();
        failed_at = frames.filter_map(|frame| frame.line.in_program()).collect();
    }
    let reports = script
        .showing
        .is_some_and(|showing| probe.measure.report_site(showing).is_some());
    let mut absent = Vec::from(Oddity::ALL);
    absent.retain(|oddity| oddity.matters(script, so_far) && !oddity.is_in(program));
    let check = Preserved {
        settings: CallSettings::of(program),
        preconditions: Preconditions::of(program, &failed_at, evidence.as_ref()),
        permissions: permissions(program),
        looked_up: unless(exact || !reports, || looked_up(program)),
        decorated: unless(exact, || decorated(program)),
        decorated_on_way: unless(exact, || {
            decorated_around(program, &called_by_library(script))
        }),
        declarations: unless(
            exact || !reports && !makes_class(program, &failed_at),
            || declarations(program),
        ),
        package_classes: unless(exact, || package_classes(program)),
        bindings: bindings(program),
        registering: registering(program),
        registrations: unless(exact, || registrations(program)),
        handlers: passed_over(script)?,
        package_functions: unless(exact, || PackageFunctions::of(program)),
        called_wrongly: called_wrongly(script).map(|name| {
            let parameters = parameters_of(program, &name);
            (name, parameters)
        }),
        parameter_types: unless(!is_compiled_from_text(program), || parameter_types(program)),
        giving: giving(program),
        made: made(program, &failed_at),
        namespaces: namespaces(program),
        // What a library raises hardly depends on numbers that are drawn twice.
        seedings: unless(fails_in_library(script), || equal_seedings(program)),
        absent,
    };
    Ok(Some(Box::new(check)))
}

/// What a check needs to know, unless there is a reason why it need not.
fn unless<T: Default>(reason: bool, known: impl FnOnce() -> T) -> T {
    if reason { T::default() } else { known() }
}

/// The classes for which functions are registered on the one that fails, though it gets a value of
/// such a class.
fn passed_over(script: &Script<'_>) -> Result<Handlers, RunError> {
    let program = script.program;
    // The text costs nothing, but a trace takes a run.
    let evidence = if handlers(program).is_empty() {
        None
    } else {
        script.evidence()?
    };
    Ok(evidence.map_or_else(Handlers::new, |evidence| {
        handlers_passed_over(program, evidence)
    }))
}

/// Whether functions of a program are compiled from their text.
fn is_compiled_from_text(program: &Program) -> bool {
    Control::Script.without(program) != Without::Itself
}

/// The function of the script that a library calls with other arguments than it takes.
fn called_wrongly(script: &Script<'_>) -> Option<String> {
    const FAULTS: [&str; 4] = [" got ", " missing ", " takes ", " has no "];
    let exception = script.showing?.exception.as_ref()?;
    let (name, fault) = exception.message.split_once("()")?;
    let is_wrong = exception.short_class() == "TypeError"
        && is_in_library(exception)
        && FAULTS.iter().any(|lead| fault.starts_with(lead));
    let name = name.rsplit('.').next().unwrap_or(name);
    (is_wrong && script.program.defined_names().contains(name)).then(|| name.to_owned())
}

/// Whether a program fails where a package creates a class for it.
fn makes_class(program: &Program, failed_at: &[u32]) -> bool {
    let line = failed_at.last();
    line.is_some_and(|line| class_on(program, *line).is_some())
}

/// The classes that packages create for a program that fails where one creates another.
fn made(program: &Program, failed_at: &[u32]) -> BTreeSet<String> {
    let failing = failed_at.last().and_then(|line| class_on(program, *line));
    let Some(failing) = failing else {
        return BTreeSet::new();
    };
    let mut made = classes_of_packages(program);
    made.remove(failing);
    made
}

/// The lines on the way to the script's failure that packages call.
fn called_by_library(script: &Script<'_>) -> Vec<u32> {
    let exception = script
        .showing
        .and_then(|showing| showing.exception.as_ref());
    exception.map(lines_called_by_library).unwrap_or_default()
}

/// Whether the script fails in a library, and not by a statement of its own.
fn fails_in_library(script: &Script<'_>) -> bool {
    let Script { probe, showing, .. } = script;
    let failing = showing
        .filter(|showing| showing.exception.is_some() || matches!(showing.end, End::Signal(_)));
    !matches!(probe.measure, Measure::Test(_))
        && failing.is_some_and(|showing| probe.measure.report_site(showing).is_none())
}

impl Check for Preserved {
    fn review_without_runs(&self, shown: &Shown<'_>) -> Option<Verdict> {
        let failing = shown.failed_at.last();
        let failing = failing.and_then(|line| class_on(shown.program, *line));
        let is_other_class = failing.is_some_and(|failing| self.made.contains(failing));
        let gives_nothing = shown
            .left
            .as_ref()
            .is_some_and(|left| gives_nothing(&self.giving, shown.program, left));
        (gives_nothing || is_other_class || self.is_hopeless(shown.program))
            .then_some(Verdict::Vacuous)
    }

    fn is_hopeless(&self, program: &Program) -> bool {
        self.absent.iter().any(|oddity| oddity.is_in(program))
            || !self.preconditions.hold_in(program)
            || has_as_value(&self.namespaces, program)
            || !self.permissions.is_subset(&permissions(program))
            || !self.looked_up.is_empty() && !self.looked_up.is_subset(&looked_up(program))
            || !are_decorated(&self.decorated, program)
            || !keep_decorators(&self.decorated_on_way, program)
            || !have_types(&self.parameter_types, &IMPLIED_TYPES, program)
            || !are_declared(&self.declarations, &declarations(program))
            || !are_made_alike(&self.package_classes, program)
            || !self.package_functions.are_read_alike(program)
            || !are_registered(&self.registrations, program)
            || !self.handlers.is_empty() && !self.handlers.is_subset(&handlers(program))
            || !are_bound(&self.bindings, program)
            || is_plain(&self.registering, program)
            || self.called_wrongly.as_ref().is_some_and(|(name, known)| {
                let its = parameters_of(program, name);
                !its.is_subset(known)
            })
            || self.seedings > 1 && draws_random_numbers(program) && equal_seedings(program) < 2
            || !self.settings.are_kept_by(&CallSettings::of(program))
    }

    fn claim(&self) -> Option<String> {
        // No result was accepted without it, and no run can change the text.
        None
    }

    fn findings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
