//! The forms of a signature, each once: how it is typed, what it looks for, how it is read, matched
//! and shown. The parser, the help, the manual's table and `Display` all come from here, so a new
//! form touches this file alone. Pure.

use std::{fmt, sync::LazyLock};

use minrepro_reducers::{analysis::cpython, torch::messages};
use regex::Regex;
use serde::{Deserialize, Serialize};

use super::{
    artifact::{self, Artifacts},
    crash_site::CrashSite,
    exceptions::{headline, leaves},
    pattern::{Pattern, WORD},
    raise_site::RaiseSite,
    signals,
};
use crate::{
    runner::{End, Exception, Outcome, traceback},
    text::pattern,
};

/// A form that users type.
pub struct SignatureForm {
    /// The spellings, as help and manual show them.
    pub syntax: &'static [&'static str],
    /// What it matches.
    pub summary: &'static str,
    /// A signature of this form.
    pub example: &'static str,
    mark: Mark,
    read: fn(&str) -> Result<Readings, Refusal>,
}

/// What distinguishes a form from the others.
enum Mark {
    /// It begins with this name and a colon.
    Prefix(&'static str),
    /// The same, but no white space follows the colon: `cause: lost` is a text.
    TightPrefix(&'static str),
    /// It is this word.
    Word(&'static str),
    /// It stands between slashes.
    Slashes,
    /// It is none of the others.
    Words,
}

/// The possible meanings of a typed text, the strictest first, each as its parts.
pub(super) type Readings = Vec<Vec<Part>>;

/// Why a typed text is not a signature, and what to type instead.
pub(super) type Refusal = (String, &'static str);

/// All forms, as help lists them.
pub const FORMS: &[SignatureForm] = &[
    SignatureForm {
        syntax: &["Class: text"],
        summary: "the class (its last dotted part, or more) and a part of the message of the exception or its cause",
        example: "ValueError: bad size",
        mark: Mark::Words,
        read: words,
    },
    SignatureForm {
        syntax: &["Class"],
        summary: "the class alone",
        example: "ValueError",
        mark: Mark::Words,
        read: words,
    },
    SignatureForm {
        syntax: &["text"],
        summary: "a text in the exception's class and message, else on stderr, else on stdout",
        example: "bad size",
        mark: Mark::Words,
        read: words,
    },
    SignatureForm {
        syntax: &["/regex/", "/regex/i"],
        summary: "the same by a regular expression; `i` ignores case",
        example: "/bad (size|shape)/",
        mark: Mark::Slashes,
        read: regex,
    },
    SignatureForm {
        syntax: &["exit:N", "exit:N,M"],
        summary: "one of these exit statuses",
        example: "exit:3,4",
        mark: Mark::Prefix("exit"),
        read: exit,
    },
    SignatureForm {
        syntax: &["signal:NAME", "signal:NAME,NAME"],
        summary: "death by one of these signals, in no other library function if the interpreter reports one",
        example: "signal:SIGSEGV,SIGABRT",
        mark: Mark::Prefix("signal"),
        read: signal,
    },
    SignatureForm {
        syntax: &["timeout"],
        summary: "the program hangs as the script does: busy or waiting, and in the same call",
        example: "timeout",
        mark: Mark::Word("timeout"),
        read: |_| Ok(each(vec![HangKind::Waiting, HangKind::Busy], Part::Timeout)),
    },
    SignatureForm {
        syntax: &["timeout:busy", "timeout:waiting"],
        summary: "the program hangs while it computes, or while it waits",
        example: "timeout:busy",
        mark: Mark::TightPrefix("timeout"),
        read: timeout,
    },
    SignatureForm {
        syntax: &["stdout:TEXT"],
        summary: "a text on standard output",
        example: "stdout:MISMATCH",
        mark: Mark::Prefix("stdout"),
        read: |text| Ok(each(Pattern::typed(text), Part::Stdout)),
    },
    SignatureForm {
        syntax: &["stderr:TEXT"],
        summary: "a text on standard error",
        example: "stderr:MISMATCH",
        mark: Mark::Prefix("stderr"),
        read: |text| Ok(each(Pattern::typed(text), Part::Stderr)),
    },
    SignatureForm {
        syntax: &["warning:TEXT"],
        summary: "a text in the category and message of a Python warning",
        example: "warning:DeprecationWarning: old",
        mark: Mark::TightPrefix("warning"),
        read: |text| Ok(each(Pattern::typed(text), Part::Warning)),
    },
    SignatureForm {
        syntax: &["at:FILE, FUNCTION()", "at:LINE"],
        summary: "where the exception was raised: the end of a library's path, or the script's line",
        example: "at:json/encoder.py, default()",
        mark: Mark::TightPrefix("at"),
        read: |text| Ok(each(RaiseSite::typed(text), Part::RaisedAt)),
    },
    SignatureForm {
        syntax: &["in:FILE, FUNCTION()"],
        summary: "where the program was when it was killed, from the interpreter's own stack dump",
        example: "in:ctypes/__init__.py, string_at()",
        mark: Mark::TightPrefix("in"),
        read: |text| Ok(each(CrashSite::typed(text), Part::In)),
    },
    SignatureForm {
        syntax: &["cause:Class: text", "cause:Class"],
        summary: "the exception, the one that it was raised from, or a member of an exception group",
        example: "cause:KeyError: 'a'",
        mark: Mark::TightPrefix("cause"),
        read: cause,
    },
];

/// One part of a signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The class of the exception: its last dotted parts.
    Class(String),
    /// In the exception's message.
    Message(Pattern),
    /// In the exception's class and message, `Class: message`.
    Headline(Pattern),
    /// Where the exception was raised, for messages that several bugs share.
    RaisedAt(RaiseSite),
    /// The class and the message of the exception, of one of its causes, or of a member of its
    /// group.
    Cause(String, Option<Pattern>),
    /// The exit status as a shell shows it, one of these.
    Exit(Vec<i32>),
    /// Death by one of these signals: the program's own, or a child's that its status reports.
    Signal(Vec<i32>),
    /// The program hangs.
    Timeout(HangKind),
    /// Where the program was when it died of a signal or was killed.
    In(CrashSite),
    /// On standard output.
    Stdout(Pattern),
    /// On standard error.
    Stderr(Pattern),
    /// In the category and message of a warning that Python shows.
    Warning(Pattern),
}

pattern!(WARNING, cpython::WARNING_PATTERN);

/// The activity of a program that hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HangKind {
    /// It computes.
    Busy,
    /// It waits for something that does not come.
    Waiting,
}

/// A stream that a program writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// The possible meanings of a typed text, or why it has none.
pub(super) fn readings(typed: &str) -> Result<Readings, Refusal> {
    if typed.is_empty() {
        return Err(("it is empty".to_owned(), forms_hint()));
    }
    let operand = |form: &'static SignatureForm| Some((form, form.mark.operand(typed)?));
    // Any text is a form of words, so the others come first.
    let marked = FORMS
        .iter()
        .filter(|form| !matches!(form.mark, Mark::Words))
        .find_map(operand);
    let Some((form, operand)) = marked else {
        return words(typed);
    };
    if operand.is_empty() && form.mark.needs_operand() {
        return Err(("no text is given behind the colon".to_owned(), forms_hint()));
    }
    (form.read)(operand)
}

/// The forms in one sentence.
fn forms_hint() -> &'static str {
    static HINT: LazyLock<String> = LazyLock::new(|| {
        let spellings = FORMS.iter().map(|form| format!("`{}`", form.syntax[0]));
        format!("the forms are {}", spellings.collect::<Vec<_>>().join(", "))
    });
    &HINT
}

impl Mark {
    /// The operand of a typed text, without the form's mark; none if the text has another form.
    fn operand<'t>(&self, typed: &'t str) -> Option<&'t str> {
        let behind = |name: &str| typed.strip_prefix(name)?.strip_prefix(':');
        match self {
            Self::Prefix(name) => behind(name).map(str::trim),
            Self::TightPrefix(name) => behind(name)
                .filter(|rest| !rest.starts_with(char::is_whitespace))
                .map(str::trim),
            Self::Word(word) => (typed == *word).then_some(""),
            Self::Slashes => {
                let (regex, flags) = typed.strip_prefix('/')?.rsplit_once('/')?;
                let is_known = !regex.is_empty() && flags.chars().all(|flag| "imsx".contains(flag));
                is_known.then_some(typed)
            }
            Self::Words => Some(typed),
        }
    }

    fn needs_operand(&self) -> bool {
        matches!(self, Self::Prefix(_) | Self::TightPrefix(_))
    }
}

/// A separate part for each meaning.
fn each<T>(meanings: Vec<T>, part: fn(T) -> Part) -> Readings {
    meanings
        .into_iter()
        .map(|meaning| vec![part(meaning)])
        .collect()
}

fn exit(statuses: &str) -> Result<Readings, Refusal> {
    let found: Result<Vec<u8>, _> = statuses
        .split(',')
        .map(|status| status.trim().parse())
        .collect();
    match found {
        Ok(statuses) if statuses.contains(&0) => Err((
            "every program that does nothing exits with 0".to_owned(),
            "for a script that prints its error use `stdout:TEXT` or `stderr:TEXT`",
        )),
        Ok(statuses) => Ok(vec![vec![Part::Exit(
            statuses.into_iter().map(i32::from).collect(),
        )]]),
        Err(_) => Err((
            "an exit status is a number from 0 to 255".to_owned(),
            "for a signal add 128 to its number: `exit:139` is SIGSEGV",
        )),
    }
}

fn signal(names: &str) -> Result<Readings, Refusal> {
    let found: Option<Vec<i32>> = names
        .split(',')
        .map(|name| signals::typed(name.trim()))
        .collect();
    let found = found.ok_or_else(|| {
        (
            "no such signal is known".to_owned(),
            "name signals as in `signal:SIGSEGV` or `signal:SIGSEGV,SIGABRT`",
        )
    })?;
    Ok(vec![vec![Part::Signal(found)]])
}

fn timeout(kind: &str) -> Result<Readings, Refusal> {
    let kinds = [HangKind::Busy, HangKind::Waiting];
    match kinds.into_iter().find(|known| known.argument() == kind) {
        Some(kind) => Ok(vec![vec![Part::Timeout(kind)]]),
        None => Err((
            "it is neither `busy` nor `waiting`".to_owned(),
            "`timeout` alone finds out which",
        )),
    }
}

fn cause(typed: &str) -> Result<Readings, Refusal> {
    let readings = classed(typed, |class, pattern| vec![Part::Cause(class, pattern)]);
    if readings.is_empty() {
        return Err(("a cause is named by its class".to_owned(), forms_hint()));
    }
    Ok(readings)
}

/// `/regex/` or `/regex/i`.
fn regex(typed: &str) -> Result<Readings, Refusal> {
    let (regex, flags) = typed
        .strip_prefix('/')
        .and_then(|rest| rest.rsplit_once('/'))
        .unwrap_or((typed, ""));
    let regex = if flags.is_empty() {
        regex.to_owned()
    } else {
        format!("(?{flags}){regex}")
    };
    let compiled = Regex::new(&regex).map_err(|cause| {
        (
            cause.to_string(),
            "the syntax is that of Rust's regex crate",
        )
    })?;
    if compiled.is_match("") {
        return Err(("it matches the empty text".to_owned(), forms_hint()));
    }
    Ok(anywhere(&[Pattern::Regex(regex)], Vec::new()))
}

/// `Class: text`, `Class` or `text`.
#[expect(
    clippy::unnecessary_wraps,
    reason = "every text is of this form, other forms refuse some"
)]
fn words(text: &str) -> Result<Readings, Refusal> {
    let mut readings = classed(text, |class, pattern| {
        [Part::Class(class)]
            .into_iter()
            .chain(pattern.map(Part::Message))
            .collect()
    });
    let mut patterns = Pattern::typed(text);
    if matches!(class_and_message(text), Some((class, None)) if class.contains('.')) {
        // `other.Error` names a class in full, not the end of `another.Error`.
        patterns.retain(|pattern| !matches!(pattern, Pattern::Text(_)));
    }
    let causes = classed(text, |class, pattern| vec![Part::Cause(class, pattern)]);
    readings.extend(anywhere(&patterns, causes));
    Ok(readings)
}

/// Patterns in the exception's headline, else in `causes`, else on standard error, else on standard
/// output.
fn anywhere(patterns: &[Pattern], causes: Readings) -> Readings {
    let on = |part: fn(Pattern) -> Part| each(patterns.to_vec(), part);
    [
        on(Part::Headline),
        causes,
        on(Part::Stderr),
        on(Part::Stdout),
    ]
    .concat()
}

/// The possible meanings of `Class: text` or `Class`; nothing if no class is named.
fn classed(text: &str, parts: impl Fn(String, Option<Pattern>) -> Vec<Part>) -> Readings {
    let Some((class, message)) = class_and_message(text) else {
        return Vec::new();
    };
    let Some(message) = message else {
        return vec![parts(class.to_owned(), None)];
    };
    Pattern::typed(message)
        .into_iter()
        .map(|pattern| parts(class.to_owned(), Some(pattern)))
        .collect()
}

/// A class, and the text in its message if one is given.
fn class_and_message(text: &str) -> Option<(&str, Option<&str>)> {
    let colon = text
        .match_indices(':')
        .find(|(at, _)| text[at + 1..].starts_with(char::is_whitespace));
    let (class, message) = match colon {
        Some((at, _)) => (
            &text[..at],
            Some(text[at + 1..].trim()).filter(|message| !message.is_empty()),
        ),
        None => (text.strip_suffix(':').unwrap_or(text), None),
    };
    // Tracebacks leave these modules out.
    let class = ["__main__.", "builtins."]
        .iter()
        .find_map(|module| class.strip_prefix(module))
        .unwrap_or(class);
    is_class(class).then_some((class, message))
}

/// Whether a text is a dotted name, which may be that of a class.
fn is_class(text: &str) -> bool {
    let is_name = |part: &str| {
        part.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && part
                .chars()
                .all(|char| char.is_alphanumeric() || char == '_')
    };
    text.split('.')
        .all(|part| is_name(part) || part == "<locals>")
}

impl Part {
    /// Whether this part holds of an outcome, lines of other artifacts than these left out.
    pub(super) fn holds(&self, outcome: &Outcome, artifacts: &Artifacts) -> bool {
        let exception = outcome.exception.as_ref();
        let any = |holds: &dyn Fn(&Exception) -> bool| {
            exception.is_some_and(|raised| {
                holds(raised) || reported_elsewhere(raised).is_some_and(|other| holds(&other))
            })
        };
        match self {
            Self::Class(class) => any(&|raised| ends_in(&raised.class, class)),
            Self::Message(pattern) => any(&|raised| pattern.is_in(&raised.message)),
            Self::Headline(pattern) => any(&|raised| pattern.is_in(&headline(raised))),
            Self::RaisedAt(site) => exception.is_some_and(|raised| site.holds(raised)),
            Self::Cause(class, pattern) => {
                exception.is_some_and(|raised| has_cause(raised, class, pattern.as_ref()))
            }
            Self::Exit(statuses) => outcome
                .end
                .shell_status()
                .is_some_and(|status| statuses.contains(&status)),
            Self::Signal(signals) => match outcome.end {
                End::Signal(signal) => signals.contains(&signal),
                End::Exit(status) => status > 128 && signals.contains(&(status - 128)),
                End::Timeout | End::Limit(_) => false,
            },
            Self::Timeout(kind) => outcome.end == End::Timeout && HangKind::of(outcome) == *kind,
            Self::In(site) if outcome.end == End::Timeout => site.holds_up(outcome),
            Self::In(site) => site.allows_death(outcome),
            Self::Stdout(pattern) | Self::Stderr(pattern) | Self::Warning(pattern) => self
                .printed(outcome)
                .is_some_and(|printed| pattern.is_in(&artifact::without(&printed, artifacts))),
        }
    }

    /// The output on the stream that this part is about, if it may hold the text of this part. For
    /// most streams, that is known at once, however long they are.
    pub(super) fn printed(&self, outcome: &Outcome) -> Option<String> {
        let (stream, pattern) = self.on_stream()?;
        let stream = match stream {
            Stream::Stdout => &outcome.stdout,
            Stream::Stderr => &outcome.stderr,
        };
        let text = stream.text();
        // Colours may stand within words.
        if !pattern.may_be_in(&text) && !text.contains('\x1b') {
            return None;
        }
        let printed = traceback::without_frames(&text);
        let Self::Warning(_) = self else {
            return Some(printed);
        };
        // The location and the source line that Python shows with a warning are not part of it.
        let warnings = printed.lines().filter_map(|line| WARNING.captures(line));
        Some(
            warnings
                .flat_map(|found| [found[1].to_owned(), "\n".to_owned()])
                .collect(),
        )
    }

    /// The stream that this part is about and the required pattern, if it is about one.
    pub fn on_stream(&self) -> Option<(Stream, &Pattern)> {
        match self {
            Self::Stdout(pattern) => Some((Stream::Stdout, pattern)),
            Self::Stderr(pattern) | Self::Warning(pattern) => Some((Stream::Stderr, pattern)),
            _ => None,
        }
    }

    /// The pattern that a text of the program must match, whether output or an exception's message.
    pub fn pattern(&self) -> Option<&Pattern> {
        match self {
            Self::Message(pattern)
            | Self::Headline(pattern)
            | Self::Stdout(pattern)
            | Self::Stderr(pattern)
            | Self::Warning(pattern) => Some(pattern),
            Self::Cause(_, pattern) => pattern.as_ref(),
            _ => None,
        }
    }

    /// The words by which a test for this bug is named.
    pub fn name_words(&self) -> String {
        let words = self
            .pattern()
            .map_or_else(String::new, |pattern| pattern.words(WORD).join(" "));
        match self {
            Self::Cause(class, _) => format!("{class} {words}"),
            Self::Exit(_) => self.to_string().replace(':', " "),
            Self::Signal(signals) => format!("no {}", signals::listed(signals)),
            Self::Timeout(_) => "ends".to_owned(),
            _ => words,
        }
    }

    /// As the user types it.
    pub(super) fn argument(&self) -> String {
        match self {
            Self::Class(class) => class.clone(),
            Self::Message(pattern) | Self::Headline(pattern) => pattern.argument(),
            Self::RaisedAt(site) => format!("at:{}", site.argument()),
            Self::Cause(class, None) => format!("cause:{class}"),
            Self::Cause(class, Some(pattern)) => format!("cause:{class}: {}", pattern.argument()),
            Self::Exit(statuses) => format!("exit:{}", listed(statuses)),
            Self::Signal(signals) => format!("signal:{}", signals::listed(signals)),
            Self::Timeout(kind) => format!("timeout:{}", kind.argument()),
            Self::In(site) => format!("in:{}", site.argument()),
            Self::Stdout(pattern) => format!("stdout:{}", pattern.argument()),
            Self::Stderr(pattern) => format!("stderr:{}", pattern.argument()),
            Self::Warning(pattern) => format!("warning:{}", pattern.argument()),
        }
    }
}

impl fmt::Display for Part {
    /// For people: as typed, but on one line, and places in words.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(pattern) | Self::Headline(pattern) => pattern.fmt(formatter),
            Self::RaisedAt(site) => site.fmt(formatter),
            Self::In(site) => site.fmt(formatter),
            Self::Cause(class, None) => write!(formatter, "caused by {class}"),
            Self::Cause(class, Some(pattern)) => write!(formatter, "caused by {class}: {pattern}"),
            Self::Stdout(pattern) => write!(formatter, "stdout:{pattern}"),
            Self::Stderr(pattern) => write!(formatter, "stderr:{pattern}"),
            Self::Warning(pattern) => write!(formatter, "warning:{pattern}"),
            _ => formatter.write_str(&self.argument()),
        }
    }
}

impl HangKind {
    /// What the processor time of an outcome shows, or how all of its threads waited.
    fn of(outcome: &Outcome) -> Self {
        if !outcome.timing.stuck && outcome.timing.cpu * 5 > outcome.timing.alone() {
            Self::Busy
        } else {
            Self::Waiting
        }
    }

    /// As the user types it.
    fn argument(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Waiting => "waiting",
        }
    }
}

/// Whether these parts ask for an exit status and for nothing else.
pub(super) fn is_status_alone(parts: &[Part]) -> bool {
    parts.iter().all(|part| matches!(part, Part::Exit(_)))
}

/// Whether an exception, one of its causes, or a member of its group has a class and matches a
/// pattern.
fn has_cause(exception: &Exception, class: &str, pattern: Option<&Pattern>) -> bool {
    let causes: Vec<&Exception> = exception.chain.iter().chain(leaves(exception)).collect();
    // A reduction may remove the code that reported the cause. By its class alone, though, the
    // exception could be one that reports something else.
    let itself = Some(exception).filter(|_| pattern.is_some() || causes.is_empty());
    causes.into_iter().chain(itself).any(|cause| {
        ends_in(&cause.class, class) && pattern.is_none_or(|pattern| pattern.is_in(&cause.message))
    })
}

/// The exception as another version of its library reports it.
fn reported_elsewhere(exception: &Exception) -> Option<Exception> {
    let (class, message) =
        messages::reported_elsewhere(exception.short_class(), &exception.message)?;
    Some(Exception {
        class: class.to_owned(),
        message,
        ..exception.clone()
    })
}

/// Whether a dotted name ends in another: `a.b.C` in `C` and `b.C`, not in `bC`.
fn ends_in(name: &str, end: &str) -> bool {
    name.strip_suffix(end)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Exit statuses as the user types them.
fn listed(statuses: &[i32]) -> String {
    let statuses: Vec<String> = statuses.iter().map(i32::to_string).collect();
    statuses.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::{Captured, Timing};

    #[test]
    fn every_example_is_read_by_its_form_and_shown_as_it_is_typed() {
        for form in FORMS {
            let operand = form.mark.operand(form.example).expect(form.example);
            let own = (form.read)(operand).expect(form.example);
            assert_eq!(
                readings(form.example).as_ref(),
                Ok(&own),
                "{}",
                form.example
            );
            let parts = &own[0];
            let typed: Vec<String> = parts.iter().map(Part::argument).collect();
            let again = readings(&typed.join(": ")).expect(form.example);
            assert_eq!(&again[0], parts, "{}", form.example);
        }
    }

    #[test]
    fn a_warning_is_matched_without_its_location() {
        let stderr = "/w/x.py:3: UserWarning: array is not writable\n  f(array)\nother: array\n";
        let outcome = Outcome {
            end: End::Exit(0),
            timing: Timing::default(),
            stdout: Captured::default(),
            stderr: Captured::whole(stderr),
            exception: None,
            stack: Vec::new(),
            other_stacks: Vec::new(),
            trace: None,
        };
        for (typed, holds) in [
            ("warning:UserWarning: array is not writable", true),
            ("warning:not writable", true),
            ("warning:x.py", false),
            ("warning:other", false),
            ("warning:f(array)", false),
        ] {
            let parts = readings(typed).unwrap().concat();
            let found = parts
                .iter()
                .any(|part| part.holds(&outcome, &Artifacts::default()));
            assert_eq!(found, holds, "{typed}");
        }
    }

    #[test]
    fn a_text_is_of_the_form_that_it_is_marked_as() {
        let first = |typed: &str| readings(typed).unwrap()[0][0].clone();
        assert_eq!(first("exit: 3"), Part::Exit(vec![3]));
        assert_eq!(first("timeout:waiting"), Part::Timeout(HangKind::Waiting));
        assert!(matches!(
            first("cause: lost"),
            Part::Headline(_) | Part::Class(_)
        ));
        assert!(matches!(first("timeout: 3 s"), Part::Class(_)));
        assert!(matches!(first("/tmp/x"), Part::Headline(_)));
        assert!(readings("stdout: ").is_err() && readings("at:").is_err());
    }
}
