//! Reads a log: the exception of its last traceback without wrappers and trailers, a headline that
//! stands alone, or the signs of a crash. Pure. Called by the search for the reported failure and
//! by `minrepro bisect`.

use minrepro_reducers::{syntax::scope::is_builtin, torch::messages};

use super::failure::ReportedFailure;
use crate::{
    runner::{End, Exception, Outcome, TracebackFrame, package_path, traceback},
    text::{margin, pattern, unindented},
};

pattern!(
    HEADLINE,
    r"^(?:\[rank\d+\]:? ?)?(?:E {2,})?((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Unsupported|Failed|Hit|Exceeded|Interrupt|Exit|Warning|NotImplemented)|(?:torch\._dynamo\.exc\.)?Unsupported|AssertionError|KeyboardInterrupt)(?:: ?(.*))?$"
);
pattern!(
    INLINE,
    r"((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Failed)|torch\._dynamo\.exc\.Unsupported): ?([^`\n]{3,200})"
);
// A class of exceptions that libraries define.
pattern!(NAMED, r"\b[A-Z]\w*[a-z](?:Error|Exception)\b");
// The line above a traceback that a logger prints while the program goes on.
pattern!(LOGGED, r"\bWARN(?:ING)?\b.*(?i:error|exception|fail|won't)");
pattern!(ANSI, r"\x1b\[[0-9;?]*[ -/]*[@-~]");
pattern!(WRAPPED, messages::WRAPPED);
pattern!(WRAPPED_2_0, messages::WRAPPED_2_0);
pattern!(FAILED_CALL, messages::FAILED_CALL);
pattern!(GOT, messages::GOT);
pattern!(
    CRASH,
    r"(?i)segment(?:ation)? fault|\bkernel (?:\w+ ){0,3}die[ds]\b|\bsegfault\w*|\bsegv\b|SIGSEGV|(?:exit(?:s|ed)?|return(?:s|ed)?|status|code)[ :=a-z]{0,16}(?:-11|139)\b"
);
pattern!(
    ABORT,
    r"(?i)free\(\): |double free|malloc\(\): |corrupted size|corrupted double|terminate called|fatal python error|assertion `[^`\n]+[`'] failed|SIGABRT|\bAborted\b|(?:exit(?:s|ed)?|return(?:s|ed)?|status|code)[ :=a-z]{0,16}(?:-6|134)\b"
);
pattern!(
    FPE,
    r"(?i)floating[- ]point exception|SIGFPE|(?:exit(?:s|ed)?|return(?:s|ed)?|status|code)[ :=a-z]{0,16}(?:-8|136)\b"
);
pattern!(
    ILL,
    r"(?i)illegal instruction|SIGILL|(?:exit(?:s|ed)?|return(?:s|ed)?|status|code)[ :=a-z]{0,16}(?:-4|132)\b"
);
pattern!(
    BUS,
    r"(?i)\bbus error|SIGBUS|\bexit[ :=a-z]{0,16}(?:-7|135)\b"
);
pattern!(FRAME, r#"^\s*File ".+", line \d+"#);
pattern!(
    RAISES,
    r"^(?:raise ((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Unsupported|Failed))\b|assert\b)"
);
pattern!(CALL_DETAIL, r"^\s+(?:target|args\[\d+\]|kwargs): ");

/// The last failure in a log.
pub fn parse_log(text: &str) -> Option<ReportedFailure> {
    let text = unboxed(&plain(text));
    // The header of the traceback starts a line, whatever the log is part of.
    let header = text
        .lines()
        .find(|line| line.trim_start().starts_with("Traceback (most recent"));
    let text = unindented(&text, header.map_or(0, margin));
    let lines: Vec<&str> = text.lines().collect();
    let header = lines
        .iter()
        .rposition(|line| line.contains("Traceback (most recent call last)"));
    if header.is_some_and(|at| at > 0 && LOGGED.is_match(lines[at - 1])) {
        return None;
    }
    if let Some(exception) = last_exception(&text) {
        return Some(of_exception(&exception));
    }
    let at = lines
        .iter()
        .rposition(|line| HEADLINE.is_match(line) && !line.contains("Traceback (most recent"));
    if let Some(at) = at
        && let Some(found) = HEADLINE.captures(lines[at])
        && !found[1].ends_with("Warning")
    {
        let mut message = found.get(2).map_or("", |text| text.as_str()).to_owned();
        for line in &lines[at + 1..] {
            message.push('\n');
            message.push_str(line);
        }
        let exception = Exception {
            class: found[1].to_owned(),
            message,
            ..Exception::default()
        };
        return Some(of_exception(&exception));
    }
    cut_off(&lines).or_else(|| crash(&text))
}

/// The exception of a traceback that ends with the line that raised it.
fn cut_off(lines: &[&str]) -> Option<ReportedFailure> {
    let mut filled = lines.iter().rev().filter(|line| {
        let mark = |char: char| matches!(char, '^' | '~' | ' ');
        !line.trim_matches(mark).is_empty()
    });
    let last = filled.next()?.trim();
    FRAME.find(filled.next()?)?;
    let found = RAISES.captures(last)?;
    Some(raised(
        found
            .get(1)
            .map_or("AssertionError", |class| class.as_str()),
    ))
}

/// The failure that a run shows.
pub fn of_run(outcome: &Outcome) -> Option<ReportedFailure> {
    match (&outcome.exception, outcome.end) {
        (Some(exception), _) => Some(of_exception(exception)),
        (None, End::Signal(signal)) => Some(ReportedFailure::Crash(vec![signal])),
        _ => None,
    }
}

/// The exception of the last traceback, or the worker's if that one is of a launcher that only
/// reports a worker's failure.
fn last_exception(text: &str) -> Option<Exception> {
    let exception = traceback::parse(text)?;
    if matches!(
        exception.short_class(),
        "ChildFailedError" | "ProcessRaisedException"
    ) {
        let others = traceback::parse_all(text);
        let root = others
            .into_iter()
            .rev()
            .find(|other| other.short_class() != exception.short_class());
        return root.or(Some(exception));
    }
    Some(exception)
}

/// The failure of an exception, without wrappers and trailers.
fn of_exception(exception: &Exception) -> ReportedFailure {
    let files = library_files(&exception.frames);
    let wrapped = WRAPPED
        .captures(&exception.message)
        .or_else(|| WRAPPED_2_0.captures(&exception.message));
    if let Some(found) = wrapped {
        let message = found
            .get(2)
            .map_or("", |text| text.as_str())
            .trim()
            .to_owned();
        return ReportedFailure::Exception {
            class: found[1].to_owned(),
            message,
            files,
        };
    }
    if exception.message.trim().is_empty()
        && exception.short_class() == "InternalTorchDynamoError"
        && let Some(cause) = exception.chain.last()
    {
        return of_exception(cause);
    }
    let mut lines = exception
        .message
        .lines()
        .map(str::trim_end)
        .filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default().to_owned();
    if FAILED_CALL.is_match(&first) {
        // The line names the call; the one below it describes the failure.
        if let Some(second) = lines.find(|line| !is_trailer(line)) {
            return ReportedFailure::Exception {
                class: exception.class.clone(),
                message: second.trim().to_owned(),
                files,
            };
        }
    }
    if let Some(found) = GOT.captures(&first) {
        return ReportedFailure::Exception {
            class: exception.class.clone(),
            message: found[1].to_owned(),
            files,
        };
    }
    let message = if is_trailer(&first) {
        String::new()
    } else {
        first
    };
    ReportedFailure::Exception {
        class: exception.class.clone(),
        message,
        files,
    }
}

/// Whether a line is not about the failure itself: advice, or the details of a call.
fn is_trailer(line: &str) -> bool {
    messages::is_advice(line) || CALL_DETAIL.is_match(line)
}

/// The files of frames of installed packages, from the package on, without repeats.
fn library_files(frames: &[TracebackFrame]) -> Vec<String> {
    let mut files = Vec::new();
    for frame in frames {
        let file = match package_path(&frame.file) {
            Some(file) => file.to_owned(),
            // A checkout of PyTorch is not below a folder of packages.
            None => match frame.file.rfind("/torch/") {
                Some(at) => frame.file[at + 1..].to_owned(),
                None => continue,
            },
        };
        files.retain(|known| *known != file);
        files.push(file);
    }
    files
}

pub(super) fn crash(text: &str) -> Option<ReportedFailure> {
    let mut signals = Vec::new();
    for (pattern, signal) in [(&CRASH, 11), (&ABORT, 6), (&FPE, 8), (&ILL, 4), (&BUS, 7)] {
        if pattern.is_match(text) {
            signals.push(signal);
        }
    }
    (!signals.is_empty()).then_some(ReportedFailure::Crash(signals))
}

/// Whether a text that stands in no fence was printed: it has a traceback, or a line that is the
/// headline of an exception and nothing else.
pub(super) fn is_log(text: &str) -> bool {
    text.contains("Traceback (most recent call last)")
        || text.lines().any(|line| {
            HEADLINE
                .captures(line.trim_end())
                .is_some_and(|found| found.get(2).is_some_and(|said| !said.is_empty()))
        })
}

/// `RuntimeError: ...` within a text.
pub(super) fn inline(text: &str) -> Option<ReportedFailure> {
    let found = INLINE.captures(text)?;
    let mut message = found[2].trim().trim_end_matches('.').to_owned();
    let begins = found.get(0)?.start();
    if text[..begins].ends_with('"') {
        message.truncate(message.find('"').unwrap_or(message.len()));
    }
    for quote in ['"', '\''] {
        // The end of a quotation as a whole, not of a name within it.
        if message.ends_with(quote) && message.matches(quote).count() % 2 == 1 {
            message.pop();
        }
    }
    Some(ReportedFailure::Exception {
        class: found[1].to_owned(),
        message,
        files: Vec::new(),
    })
}

/// An exception of which only the class is known.
pub(super) fn raised(class: &str) -> ReportedFailure {
    ReportedFailure::Exception {
        class: class.to_owned(),
        message: String::new(),
        files: Vec::new(),
    }
}

/// The class of an exception within a text. Those of Python itself say too little without a
/// message.
pub(super) fn named(text: &str) -> Option<ReportedFailure> {
    let mut classes = NAMED.find_iter(text).map(|found| found.as_str());
    classes.find(|class| !is_builtin(class)).map(raised)
}

/// A text without the additions of terminals and editors: colours, invisible characters, odd
/// spaces, spaces at ends of lines.
pub(super) fn plain(text: &str) -> String {
    ANSI.replace_all(text, "")
        .lines()
        .map(|line| {
            let line: String = line
                .chars()
                .filter(|char| !matches!(char, '\u{200b}' | '\u{feff}' | '\u{200e}'))
                .map(|char| if char == '\u{a0}' { ' ' } else { char })
                .collect();
            format!("{}\n", line.trim_end())
        })
        .collect()
}

/// A text without the boxes of rich tracebacks.
fn unboxed(text: &str) -> String {
    if !text.contains('│') {
        return text.to_owned();
    }
    let is_frame = |line: &str| line.starts_with(['╭', '╰', '│']);
    let kept = text.lines().filter(|line| !is_frame(line.trim_start()));
    kept.map(|line| format!("{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(log: &str, expected: &str) {
        assert_eq!(
            parse_log(log)
                .map(|failure| failure.signature().unwrap())
                .as_deref(),
            Some(expected),
            "{log}"
        );
    }

    #[test]
    fn every_form_of_log_gives_its_signature() {
        let head =
            "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\n    f()\n";
        for (log, expected) in [
            (
                "RuntimeError: expected scalar type Float but found Double",
                "RuntimeError: expected scalar type Float but found Double",
            ),
            ("AssertionError", "AssertionError"),
            (
                "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\nRuntimeError: bad thing here\n\nSet TORCH_LOGS=1",
                "RuntimeError: bad thing here",
            ),
            (
                "torch._dynamo.exc.BackendCompilerFailed: debug_wrapper raised RuntimeError: bad thing here",
                "RuntimeError: bad thing here",
            ),
            (
                "torch._inductor.exc.InductorError: CppCompileError: C++ compile error\n\nCommand:\ng++ /tmp/a.cpp",
                "InductorError: CppCompileError: C++ compile error",
            ),
            (
                "torch._dynamo.exc.TorchRuntimeError: Failed running call_function <built-in method mm of type object at 0x7f>(*(FakeTensor(..., size=(2, 3))), **{}):\na and b must have same reduction dim\n\nfrom user code:\n x",
                "TorchRuntimeError: a and b must have same reduction dim",
            ),
            (
                "torch._dynamo.exc.TorchRuntimeError: Dynamo failed to run FX node with fake tensors: call_function f(*(FakeTensor(),), **{}): got RuntimeError('shape mismatch in gather')",
                "TorchRuntimeError: shape mismatch in gather",
            ),
            (
                "torch._dynamo.exc.UserError: Could not guard on data-dependent expression Eq(u0, 1) (unhinted: Eq(u0, 1)).",
                "UserError: Could not guard on data-dependent expression Eq(…, …) (unhinted: Eq(…, …)).",
            ),
            (
                "RuntimeError: Expected size 12 but got size 13 for tensor number 1 in the list.",
                "RuntimeError: Expected size … but got size … for tensor number … in the list.",
            ),
            ("KeyError: 's12'", "KeyError: 's12'"),
        ] {
            check(&format!("{head}{log}\n"), expected);
        }
        check(
            "    Traceback (most recent call last):\n      File \"x.py\", line 1, in f\n    KeyError: 'wanted'\n",
            "KeyError: 'wanted'",
        );
        check(
            "---------------------------------------------------\nInductorError                             Traceback (most recent call last)\nCell In[1], line 10\n----> 10 f()\n\nInductorError: CppCompileError: C++ compile error\n",
            "InductorError: CppCompileError: C++ compile error",
        );
        check(
            "[rank0]: Traceback (most recent call last):\n[rank0]:   File \"x.py\", line 1, in <module>\n[rank0]: RuntimeError: Sharding propagation failed\nTraceback (most recent call last):\n  File \"/bin/torchrun\", line 1, in <module>\ntorch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n====\nx.py FAILED\n",
            "RuntimeError: Sharding propagation failed",
        );
        check(
            "E       ValueError: not good at all\n",
            "ValueError: not good at all",
        );
        check(
            "╭──── Traceback (most recent call last) ────╮\n│ x.py:3 in f │\n╰──────╯\nTypeError: cannot add these\n",
            "TypeError: cannot add these",
        );
        check(
            "free(): invalid next size (fast)\nAborted (core dumped)\n",
            "exit:134,139",
        );
        check("Floating point exception (core dumped)\n", "exit:136");
        check("Segmentation fault (core dumped)\n", "exit:134,139");
        for (cut, expected) in [
            ("    assert len(x) == 0\n    ^^^^^^\n", "AssertionError"),
            ("    raise exc.UserError(\n", "UserError"),
        ] {
            check(&format!("File \"x.py\", line 3, in f\n{cut}"), expected);
        }
        assert_eq!(parse_log("UserWarning: careful\nall well\n"), None);
    }

    #[test]
    fn files_of_the_library_are_kept_for_the_search_of_the_change() {
        let log = "Traceback (most recent call last):\n  File \"/v/lib/python3.11/site-packages/torch/_dynamo/x.py\", line 1, in f\n    g()\n  File \"/src/pytorch/torch/_inductor/y.py\", line 2, in g\n    h()\nKeyError: 1\n";
        let Some(ReportedFailure::Exception { files, .. }) = parse_log(log) else {
            panic!("no exception")
        };
        assert_eq!(files, ["torch/_dynamo/x.py", "torch/_inductor/y.py"]);
    }
}
