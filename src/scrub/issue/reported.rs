//! Finds the failure that an issue reports: the exception of the last traceback in its logs or
//! around the repro, a crash, a hang or a wrong result, with the signature that a run must show.
//! Pure.

use minrepro_reducers::torch::messages;
use serde::{Deserialize, Serialize};

use super::{
    Issue,
    blocks::{self, BlockKind, PostBlock},
    markdown::Section,
    repro::Repro,
};
use crate::{
    oracle::Likeness,
    runner::{End, Exception, Outcome, TracebackFrame, package_path, traceback},
    text::{margin, pattern, unindented},
};

/// The reported failure and its source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reported {
    /// The failure.
    pub what: ReportedFailure,
    /// The place in the issue that reports it.
    pub source: String,
    /// How certain it is that it is the failure of the repro.
    #[serde(default)]
    pub certainty: Certainty,
}

/// How certain it is that a failure is that of the repro.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// Read from what people write.
    #[default]
    Guessed,
    /// Stands in a title, or there is other code that it may belong to.
    Likely,
    /// In a log beside the repro, or in the repro.
    Certain,
}

impl Certainty {
    /// A word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Guessed => "a guess",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}

/// A failure as an issue reports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportedFailure {
    /// An exception: its class as printed and the first line of its message.
    Exception {
        /// The class.
        class: String,
        /// The line.
        message: String,
        /// Files of libraries in its traceback, innermost last.
        #[serde(default)]
        files: Vec<String>,
    },
    /// Death by one of these signals, if they are known.
    Crash(Vec<i32>),
    /// It does not end.
    Hang,
    /// A wrong result, or a missing error.
    WrongResult,
}

pattern!(
    HEADLINE,
    r"^(?:\[rank\d+\]:? ?)?(?:E {2,})?((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Unsupported|Failed|Hit|Exceeded|Interrupt|Exit|Warning|NotImplemented)|(?:torch\._dynamo\.exc\.)?Unsupported|AssertionError|KeyboardInterrupt)(?:: ?(.*))?$"
);
pattern!(
    INLINE,
    r"((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Failed)|torch\._dynamo\.exc\.Unsupported): ?([^`\n]{3,200})"
);
pattern!(WRAPPED, messages::WRAPPED);
pattern!(WRAPPED_2_0, messages::WRAPPED_2_0);
pattern!(FAILED_CALL, messages::FAILED_CALL);
pattern!(GOT, messages::GOT);
pattern!(
    CRASH,
    r"(?i)segmentation fault|\bsegfault\w*|\bsegv\b|SIGSEGV|(?:exit(?:s|ed)?|return(?:s|ed)?|status|code)[ :=a-z]{0,16}(?:-11|139)\b"
);
pattern!(
    ABORT,
    r"(?i)free\(\): |double free|malloc\(\): |corrupted size|corrupted double|terminate called|SIGABRT|\bAborted\b|(?:exit(?:s|ed)?|return(?:s|ed)?|status|code)[ :=a-z]{0,16}(?:-6|134)\b"
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
pattern!(CRASH_WORD, r"(?i)\bcrash(?:es|ed|ing)?\b|core dumped");
pattern!(
    HANG,
    r"(?i)\bhangs?\b|\bhanging\b|\bdead-?lock\w*|\bgets? stuck\b|\bnever (?:returns|ends|finishes|terminates)\b|\binfinite loop\b"
);
pattern!(
    WRONG,
    r"(?i)\bincorrect(?:ly)?\b|\bwrong\b|\bdiffer(?:s|ent|ence)?\b|\bmismatch\w*|\bsilent(?:ly)?\b|\binconsisten\w+|\bnot equal\b|\bdiscrepan\w+|\bshould (?:raise|fail|error|be|print|return)\b|\bexpected\b.{0,80}\b(?:but|actual|got)\b|\bnan\b|\binaccura\w+|\bdiverg\w+|\bcorrectness\b"
);
pattern!(CALL_DETAIL, r"^\s+(?:target|args\[\d+\]|kwargs): ");
pattern!(
    VARIES,
    &[
        r"0x[0-9a-fA-F]+|/(?:tmp|home|root|usr|opt|data|mnt|workspace)/[^\s'\x22:,)]*",
        messages::FAKE_TENSOR,
        messages::SYMBOLS,
        r"\b\d+(?:x\d+)+\b|\b\d[\d.,]*(?:[eE][-+]?\d+)?\b|<[^<>]* at …>",
    ]
    .join("|")
);

/// The failure that an issue reports, preferably one near the repro.
pub fn reported(issue: &Issue, repro: Option<&Repro>) -> Option<Reported> {
    let posts: Vec<Vec<PostBlock>> = issue
        .posts()
        .map(|post| blocks::blocks(&post.body))
        .collect();
    let own: Vec<usize> = issue
        .posts()
        .enumerate()
        .filter(|(_, post)| issue.is_original_poster(post))
        .map(|(at, _)| at)
        .collect();
    let of_repro = repro.map_or(0, |repro| repro.post);
    let name = |at: usize| {
        if at == 0 {
            "the description".to_owned()
        } else {
            format!("comment {at}")
        }
    };
    let found = |what, certainty, source| {
        Some(Reported {
            what,
            source,
            certainty,
        })
    };
    if of_repro > 0
        && let Some((what, certainty)) = near(&posts[of_repro], repro)
    {
        let source = format!("beside the repro in {}", name(of_repro));
        return found(what, certainty, source);
    }
    for &at in &own {
        if let Some(what) = in_logs(&posts[at]) {
            let is_alone = at == of_repro && !has_other_code(&posts[at], repro);
            let certainty = if is_alone {
                Certainty::Certain
            } else {
                Certainty::Likely
            };
            return found(what, certainty, format!("the error logs in {}", name(at)));
        }
    }
    for at in [of_repro].into_iter().chain(own.iter().copied()) {
        let there = repro.filter(|repro| repro.post == at);
        if let Some((what, certainty)) = near(&posts[at], there) {
            return found(what, certainty, format!("the log in {}", name(at)));
        }
    }
    if let Some(what) = repro.and_then(|repro| in_comments(&repro.code)) {
        let source = "a comment in the repro".to_owned();
        return found(what, Certainty::Certain, source);
    }
    if let Some(what) = inline(&issue.title) {
        return found(what, Certainty::Likely, "the title".to_owned());
    }
    if let Some(what) = crash(&issue.title) {
        return found(what, Certainty::Guessed, "the title".to_owned());
    }
    for at in [of_repro].into_iter().chain(own) {
        if let Some(what) = inline(&prose(&posts[at])) {
            return found(
                what,
                Certainty::Guessed,
                format!("the text of {}", name(at)),
            );
        }
    }
    in_words(issue, &posts[of_repro], repro)
}

/// The last failure in a log.
pub fn parse_log(text: &str) -> Option<ReportedFailure> {
    let text = unboxed(&blocks::plain(text));
    // The header of the traceback starts a line, whatever the log is part of.
    let header = text
        .lines()
        .find(|line| line.trim_start().starts_with("Traceback (most recent"));
    let text = unindented(&text, header.map_or(0, margin));
    if let Some(exception) = last_exception(&text) {
        return Some(of_exception(&exception));
    }
    let lines: Vec<&str> = text.lines().collect();
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
    crash(&text)
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

fn crash(text: &str) -> Option<ReportedFailure> {
    let mut signals = Vec::new();
    for (pattern, signal) in [(&CRASH, 11), (&ABORT, 6), (&FPE, 8), (&ILL, 4), (&BUS, 7)] {
        if pattern.is_match(text) {
            signals.push(signal);
        }
    }
    (!signals.is_empty()).then_some(ReportedFailure::Crash(signals))
}

/// The last failure in the section for logs.
fn in_logs(blocks: &[PostBlock]) -> Option<ReportedFailure> {
    let mut logs = blocks
        .iter()
        .rev()
        .filter(|block| block.section == Section::Logs);
    logs.find_map(|block| match &block.kind {
        BlockKind::Log(text) | BlockKind::Other(text) => parse_log(text),
        BlockKind::Prose(text) => {
            parse_log(text).filter(|_| text.contains("Traceback") || HEADLINE.is_match(text.trim()))
        }
        _ => None,
    })
}

/// The first failure after the repro, or else the last one before it.
fn near(blocks: &[PostBlock], repro: Option<&Repro>) -> Option<(ReportedFailure, Certainty)> {
    let at = blocks.iter().rposition(|block| is_of(block, repro));
    let failure = |block: &PostBlock| match &block.kind {
        BlockKind::Log(text) => parse_log(text),
        BlockKind::Prose(text) if is_log(text) => parse_log(text),
        _ => None,
    };
    let last = |blocks: &[PostBlock]| {
        let what = blocks.iter().rev().find_map(failure)?;
        Some((what, Certainty::Likely))
    };
    let Some(at) = at else {
        return last(blocks);
    };
    // A log right after the repro most likely belongs to it.
    for (distance, block) in blocks[at + 1..].iter().enumerate() {
        let Some(what) = failure(block) else { continue };
        let between = &blocks[at + 1..at + 1 + distance];
        let is_next = !between
            .iter()
            .any(|block| matches!(block.kind, BlockKind::Python(_)));
        let certainty = if is_next {
            Certainty::Certain
        } else {
            Certainty::Likely
        };
        return Some((what, certainty));
    }
    last(&blocks[..at])
}

/// Whether a block is a part of the repro.
fn is_of(block: &PostBlock, repro: Option<&Repro>) -> bool {
    match &block.kind {
        BlockKind::Python(snippet) => {
            repro.is_some_and(|repro| repro.code.contains(snippet.text.trim()))
        }
        _ => false,
    }
}

/// Whether a post has code that is no part of the repro.
fn has_other_code(blocks: &[PostBlock], repro: Option<&Repro>) -> bool {
    blocks.iter().any(|block| {
        matches!(block.kind, BlockKind::Python(_))
            && !matches!(block.section, Section::Logs | Section::Versions)
            && !is_of(block, repro)
    })
}

/// Whether a text that stands in no fence was printed: it has a traceback, or a line that is the
/// headline of an exception and nothing else.
fn is_log(text: &str) -> bool {
    text.contains("Traceback (most recent call last)")
        || text.lines().any(|line| {
            HEADLINE
                .captures(line.trim_end())
                .is_some_and(|found| found.get(2).is_some_and(|said| !said.is_empty()))
        })
}

/// `# RuntimeError: ...` in the repro.
fn in_comments(code: &str) -> Option<ReportedFailure> {
    let comments = code
        .lines()
        .filter_map(|line| line.split_once('#'))
        .map(|(_, comment)| comment.trim());
    comments.rev().find_map(inline)
}

/// `RuntimeError: ...` within a text.
fn inline(text: &str) -> Option<ReportedFailure> {
    let found = INLINE.captures(text)?;
    let mut message = found[2].trim().trim_end_matches('.').to_owned();
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

/// A failure that is only described in words.
fn in_words(issue: &Issue, blocks: &[PostBlock], repro: Option<&Repro>) -> Option<Reported> {
    let text = prose(blocks);
    let code = repro.map_or("", |repro| repro.code.as_str());
    for (source, text) in [
        ("the title", issue.title.as_str()),
        ("the text", text.as_str()),
        ("a comment in the repro", code),
    ] {
        let what = if let Some(what) = crash(text) {
            what
        } else if HANG.is_match(text) && source != "a comment in the repro" {
            ReportedFailure::Hang
        } else if CRASH_WORD.is_match(text)
            && source != "a comment in the repro"
            && issue.has_label("module: crash")
        {
            ReportedFailure::Crash(Vec::new())
        } else if WRONG.is_match(text) {
            ReportedFailure::WrongResult
        } else {
            continue;
        };
        return Some(Reported {
            what,
            source: source.to_owned(),
            certainty: Certainty::Guessed,
        });
    }
    if blocks
        .iter()
        .any(|block| block.section == Section::Expected)
        || issue.has_label("module: correctness (silent)")
    {
        return Some(Reported {
            what: ReportedFailure::WrongResult,
            source: "the expected behaviour".to_owned(),
            certainty: Certainty::Guessed,
        });
    }
    None
}

fn prose(blocks: &[PostBlock]) -> String {
    let texts = blocks.iter().filter_map(|block| match &block.kind {
        BlockKind::Prose(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
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

impl ReportedFailure {
    /// The signature that a run must show, as a user types it; none if only a person can judge.
    pub fn signature(&self) -> Option<String> {
        match self {
            Self::Exception { class, message, .. } => {
                let class = class.rsplit('.').next().unwrap_or(class);
                let message = distinctive(message);
                Some(if message.is_empty() {
                    class.to_owned()
                } else {
                    format!("{class}: {message}")
                })
            }
            Self::Crash(signals) if signals.is_empty() => {
                Some("exit:139,134,136,132,135".to_owned())
            }
            Self::Crash(signals) => {
                // One run aborts where the next has a bad access.
                let mut signals = signals.clone();
                if signals.contains(&11) || signals.contains(&6) {
                    signals.extend([11, 6]);
                }
                signals.sort_unstable();
                signals.dedup();
                let statuses: Vec<String> = signals
                    .iter()
                    .map(|signal| (128 + signal).to_string())
                    .collect();
                Some(format!("exit:{}", statuses.join(",")))
            }
            Self::Hang => Some("timeout".to_owned()),
            Self::WrongResult => None,
        }
    }

    /// Whether another failure is the same complaint: of this class, with these plain words.
    pub fn is_alike(&self, other: &Self) -> bool {
        const LEAST: usize = 3;
        let (Some(own), Some(its)) = (self.raised(), other.raised()) else {
            return false;
        };
        let words = own
            .message
            .split_whitespace()
            .filter(|word| word.chars().all(char::is_alphabetic))
            .count();
        words >= LEAST && Likeness::of(&own).is_of(&its) && Likeness::of(&its).is_of(&own)
    }

    fn raised(&self) -> Option<Exception> {
        match self {
            Self::Exception { class, message, .. } => Some(Exception {
                class: class.clone(),
                message: message.clone(),
                ..Exception::default()
            }),
            _ => None,
        }
    }

    /// A description for people.
    pub fn describe(&self) -> String {
        match self {
            Self::Exception { class, message, .. } if message.is_empty() => class.clone(),
            Self::Exception { class, message, .. } => format!("{class}: {message}"),
            Self::Crash(_) => "a crash".to_owned(),
            Self::Hang => "a hang".to_owned(),
            Self::WrongResult => "a wrong result".to_owned(),
        }
    }
}

/// The part of a message that distinguishes the bug and does not vary from run to run.
fn distinctive(message: &str) -> String {
    let line: String = message
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(160)
        .collect();
    let masked = VARIES.replace_all(&line, "…");
    let words = |text: &str| {
        text.split(|char: char| !char.is_alphabetic())
            .filter(|word| word.len() > 2)
            .count()
    };
    let chosen = if words(&masked) >= 2 {
        masked.into_owned()
    } else {
        line.clone()
    };
    let mut chosen = chosen
        .trim()
        .trim_start_matches('…')
        .trim_end_matches(['…', ' ', '(', '['])
        .trim()
        .to_owned();
    if line.chars().count() == 160
        && let Some(at) = chosen.rfind(' ')
    {
        chosen.truncate(at);
    }
    chosen
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
