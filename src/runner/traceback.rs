//! Reads exceptions from the text of tracebacks, as CPython 3.8 to 3.14 print them. Pure. Called by
//! `scratch` for standard error and by the oracle for texts that a program prints itself.

use minrepro_reducers::analysis::observation::OBSERVER;

use super::outcome::{Exception, TracebackFrame};
use crate::text::pattern;

/// The last exception in a text: the one that ended the program, if one did. Exceptions outside the
/// main thread (of other threads, processes and tasks) count only if there is no other. Exceptions
/// that the interpreter ignored never count.
pub fn parse(text: &str) -> Option<Exception> {
    let mut all = parse_blocks(text);
    let last = |standing| all.iter().rposition(|block| block.standing == standing);
    let at = last(Standing::Main).or_else(|| last(Standing::Beside))?;
    Some(all.swap_remove(at).exception)
}

/// All exceptions that a text shows, in order, each with those it was raised from in its chain.
pub fn parse_all(text: &str) -> Vec<Exception> {
    let counts = |block: &Block| block.standing != Standing::Ignored;
    parse_blocks(text)
        .into_iter()
        .filter(counts)
        .map(|block| block.exception)
        .collect()
}

/// A text without the frames and source lines of its tracebacks: the messages, not their places.
pub fn without_frames(text: &str) -> String {
    let mut kept = String::new();
    let mut in_frames = false;
    for line in clean(text) {
        if is_header(&line) || FRAME.is_match(&line) {
            in_frames = true;
            continue;
        }
        in_frames &= line.starts_with(' ');
        if !in_frames {
            kept.push_str(&line);
            kept.push('\n');
        }
    }
    kept
}

struct Block {
    exception: Exception,
    standing: Standing,
}

/// The meaning of an exception for the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Standing {
    /// It may have ended it.
    #[default]
    Main,
    /// It ended something else: a thread, a process, a task, a log call.
    Beside,
    /// The interpreter reported it and went on.
    Ignored,
}

pattern!(ANSI, r"\x1b\[[0-9;?]*[ -/]*[@-~]");
pattern!(RANK, r"^\[rank(\d+)\]:? ?");
// Log lines of PyTorch, new style and old: a traceback inside them is a report, not the failure.
pattern!(
    LOG,
    r"^(?:[VIWEF]\d{4} \d\d:\d\d:\d\d\.\d+ \d+ |\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+\] )"
);
pattern!(FRAME, r#"^\s+File "(.+)", line (\d+)(?:, in (.+))?$"#);
pattern!(
    HEADLINE,
    r"^([A-Za-z_\u{80}-\u{10FFFF}][\w.<>]*)(?:: ?(.*))?$"
);
pattern!(MARKERS, r"^\s*[\^~]+[\^~\s]*$");
pattern!(CUT, r"^\[\.\.\. \d+ bytes cut \.\.\.\]$");
pattern!(
    IGNORED,
    r"^(?:Exception ignored |Error in (?:atexit\._run_exitfuncs|sys\.excepthook):$)"
);
pattern!(
    BESIDE,
    r"^(?:Exception in thread |Exception in callback |Process [\w:-]+:$|(?:Task|Future) exception was never retrieved$|--- Logging error ---$)"
);
// The line between such an announcement and its traceback.
pattern!(DETAIL, r"^(?:future|task|handle): ");
// Lines that follow a message and are no part of it. The last is a progress bar.
pattern!(
    OTHER,
    r"^(?:Fatal Python error: |Current thread 0x|Original exception was:$|Call stack:$|.+:\d+: \w*Warning: |\s*\d+%\|)"
);
pattern!(
    GROUP,
    r"^(\s*)\+ Exception Group Traceback \(most recent call last\):$"
);
pattern!(MEMBER, r"^\s*\+(?:-\+)?-+ (?:\d+|\.\.\.) -+$");

const HEADER: &str = "Traceback (most recent call last):";
const CAUSE: &str = "The above exception was the direct cause of the following exception:";
const CONTEXT: &str = "During handling of the above exception, another exception occurred:";

fn is_header(line: &str) -> bool {
    line == HEADER
}

fn is_link(line: &str) -> bool {
    line == CAUSE || line == CONTEXT
}

/// Whether a line ends a message, whatever the message is.
fn is_over(line: &str) -> bool {
    is_header(line)
        || is_link(line)
        || GROUP.is_match(line)
        || IGNORED.is_match(line)
        || BESIDE.is_match(line)
        || OTHER.is_match(line)
        || CUT.is_match(line)
}

/// The lines without colours, ranks and log lines. Lines that one rank wrote in one go are kept
/// together, in the order of ranks, because several ranks that fail at once write their lines
/// alternately. A header after an unfinished line, such as a progress bar leaves, gets a separate
/// line.
fn clean(text: &str) -> Vec<String> {
    let mut lines: Vec<(Option<u32>, String)> = text
        .lines()
        .flat_map(|line| line.trim_end_matches('\r').split('\r'))
        .map(|line| ANSI.replace_all(line, ""))
        .map(|line| match RANK.captures(&line) {
            Some(found) => (found[1].parse().ok(), line[found[0].len()..].to_owned()),
            None => (None, line.into_owned()),
        })
        .filter(|(_, line)| !LOG.is_match(line))
        .collect();
    for run in lines.chunk_by_mut(|one, next| one.0.is_some() == next.0.is_some()) {
        run.sort_by_key(|(rank, _)| *rank);
    }
    let mut split = Vec::with_capacity(lines.len());
    let mut lines = lines.into_iter().map(|(_, line)| line).peekable();
    while let Some(line) = lines.next() {
        match line.strip_suffix(HEADER) {
            Some(before)
                if !before.is_empty()
                    && lines
                        .peek()
                        .is_some_and(|next| next.starts_with("  File \"")) =>
            {
                split.push(before.to_owned());
                split.push(HEADER.to_owned());
            }
            _ => split.push(line),
        }
    }
    split
}

fn parse_blocks(text: &str) -> Vec<Block> {
    let lines = clean(text);
    let mut reader = TracebackReader {
        lines: &lines,
        at: 0,
    };
    let mut blocks: Vec<Block> = Vec::new();
    // The standing announced for the next exception, the exception it was raised from, whether that
    // is its declared cause, and where the last one ended.
    let (mut standing, mut cause, mut is_declared, mut end) = (Standing::Main, None, false, None);
    while let Some(line) = reader.peek() {
        let from = reader.at;
        if IGNORED.is_match(line) {
            (standing, cause) = (Standing::Ignored, None);
        } else if BESIDE.is_match(line) {
            (standing, cause) = (Standing::Beside, None);
        } else if is_link(line) {
            let is_near =
                end.is_some_and(|end| lines[end..from].iter().all(|line| line.trim().is_empty()));
            is_declared = line == CAUSE;
            cause = if is_near {
                blocks.pop()
            } else {
                untraced(&lines[..from], standing)
            };
        } else if let Some(mut exception) = reader.exception() {
            if let Some(Block {
                exception: mut before,
                standing: its,
            }) = cause.take()
            {
                exception.chain = std::mem::take(&mut before.chain);
                exception.chain.push(before);
                exception.is_from_cause = is_declared;
                standing = its;
            }
            blocks.push(Block {
                exception,
                standing: std::mem::take(&mut standing),
            });
            end = Some(reader.at);
        } else if !line.trim().is_empty() && !DETAIL.is_match(line) {
            (standing, cause) = (Standing::Main, None);
        }
        if reader.at == from {
            reader.at += 1;
        }
    }
    blocks
}

/// The exception at the end of a text if it is shown without a traceback, as a cause that was never
/// raised is.
fn untraced(lines: &[String], standing: Standing) -> Option<Block> {
    let last = lines.iter().rev().find(|line| !line.trim().is_empty())?;
    let exception = headline(last).filter(|exception| !exception.message.is_empty())?;
    Some(Block {
        exception,
        standing,
    })
}

/// The exception that a line names, with the part of its message on that line.
fn headline(line: &str) -> Option<Exception> {
    let found = HEADLINE.captures(line)?;
    let message = found
        .get(2)
        .map_or("", |message| message.as_str())
        .to_owned();
    Some(Exception {
        class: found[1].to_owned(),
        message,
        ..Exception::default()
    })
}

struct TracebackReader<'a> {
    lines: &'a [String],
    at: usize,
}

impl<'a> TracebackReader<'a> {
    fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).map(String::as_str)
    }

    /// The exception that begins at this line, if one does. Moves past it, or to where its
    /// traceback breaks off.
    fn exception(&mut self) -> Option<Exception> {
        let line = self.peek()?;
        if let Some(group) = GROUP.captures(line) {
            return self.group(group[1].len());
        }
        if is_header(line) {
            self.at += 1;
            return self.block();
        }
        // The header may be in the part that was cut.
        if CUT.is_match(line) {
            return self.block().filter(|block| !block.frames.is_empty());
        }
        // A script that does not parse is shown by its place alone.
        let is_place = line.starts_with("  File")
            && FRAME
                .captures(line)
                .is_some_and(|found| found.get(3).is_none());
        if !is_place {
            return None;
        }
        self.block().filter(|block| {
            matches!(
                block.short_class(),
                "SyntaxError" | "IndentationError" | "TabError"
            )
        })
    }

    /// Frames, then the headline, then the rest of the message.
    fn block(&mut self) -> Option<Exception> {
        let frames = self.frames();
        let mut exception = headline(self.peek()?)?;
        self.at += 1;
        self.message(&mut exception.message);
        Some(Exception {
            frames,
            ..exception
        })
    }

    /// The frames up to the headline. After a cut they begin anywhere: lines there that are neither
    /// frames nor source lines are skipped, and a headline counts only next to a frame or source
    /// line.
    fn frames(&mut self) -> Vec<TracebackFrame> {
        let mut frames: Vec<TracebackFrame> = Vec::new();
        let mut is_inside = true;
        while let Some(line) = self.peek() {
            if let Some(found) = FRAME.captures(line) {
                is_inside = true;
                frames.push(TracebackFrame {
                    file: found[1].to_owned(),
                    line: found[2].parse().unwrap_or(0),
                    function: found
                        .get(3)
                        .map_or_else(String::new, |name| name.as_str().to_owned()),
                    code: String::new(),
                });
            } else if line.starts_with(' ') {
                is_inside = true;
                if let Some(frame) = frames.last_mut()
                    && frame.code.is_empty()
                    && !MARKERS.is_match(line)
                    && !line.trim_start().starts_with("[Previous line repeated")
                {
                    line.trim().clone_into(&mut frame.code);
                }
            } else if CUT.is_match(line) {
                is_inside = false;
                // A part of a line follows.
                let rest = self.lines.get(self.at + 1);
                self.at +=
                    usize::from(rest.is_some_and(|rest| !FRAME.is_match(rest) && !is_over(rest)));
            } else if is_inside || is_over(line) {
                break;
            }
            self.at += 1;
        }
        frames.retain(|frame| frame.file != OBSERVER);
        frames
    }

    fn message(&mut self, message: &mut String) {
        while let Some(line) = self.peek() {
            let next = self.lines[self.at..]
                .iter()
                .find(|line| !line.trim().is_empty());
            if is_over(line) || (line.trim().is_empty() && next.is_none_or(|next| is_over(next))) {
                break;
            }
            message.push('\n');
            message.push_str(line);
            self.at += 1;
        }
        let length = message.trim_end().len();
        message.truncate(length);
    }

    /// An exception group, whose lines have a margin: `  | ` before its own, and a deeper one
    /// before its members'.
    fn group(&mut self, margin: usize) -> Option<Exception> {
        self.at += 1;
        let is_inside = |line: &str| {
            let rest = line.trim_start_matches(' ');
            line.len() - rest.len() >= margin && (rest.starts_with('|') || rest.starts_with('+'))
        };
        let length = self.lines[self.at..]
            .iter()
            .take_while(|line| is_inside(line))
            .count();
        let inside = &self.lines[self.at..self.at + length];
        let found = group_of(inside, margin);
        self.at += if found.is_some() { length } else { 0 };
        found
    }
}

/// A group from the lines below its header, `margin` spaces before the bar.
fn group_of(lines: &[String], margin: usize) -> Option<Exception> {
    let is_own = |line: &&String| {
        line.as_bytes().get(margin) == Some(&b'|') && line[..margin].trim().is_empty()
    };
    let own: Vec<String> = lines
        .iter()
        .take_while(is_own)
        .map(|line| without_margin(line, margin))
        .collect();
    let mut reader = TracebackReader { lines: &own, at: 0 };
    if reader.peek().is_some_and(is_header) {
        reader.at += 1;
    }
    let mut exception = reader.block()?;
    let mut members: Vec<Vec<String>> = Vec::new();
    for line in &lines[own.len()..] {
        let rest = line.trim_start();
        // The first member's rule begins at the group's margin, the others' at their own.
        let is_ours = match line.len() - rest.len() {
            depth if depth == margin => rest.starts_with("+-+-"),
            depth => depth == margin + 2 && rest.starts_with("+--"),
        };
        if is_ours && MEMBER.is_match(line) {
            members.push(Vec::new());
        } else if is_ours {
            break;
        } else if let Some(member) = members.last_mut() {
            member.push(line.clone());
        }
    }
    exception.members = members
        .iter()
        .filter_map(|member| member_of(member, margin + 2))
        .collect();
    Some(exception)
}

fn member_of(lines: &[String], margin: usize) -> Option<Exception> {
    if let Some(found) = group_of(lines, margin).filter(|group| !group.members.is_empty()) {
        return Some(found);
    }
    let plain: Vec<String> = lines
        .iter()
        .map(|line| without_margin(line, margin))
        .collect();
    parse(&plain.join("\n")).or_else(|| {
        TracebackReader {
            lines: &plain,
            at: 0,
        }
        .block()
    })
}

fn without_margin(line: &str, margin: usize) -> String {
    line.get(margin..)
        .and_then(|rest| rest.strip_prefix('|'))
        .map_or("", |rest| rest.strip_prefix(' ').unwrap_or(rest))
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str) -> (String, String) {
        let found = parse(text).unwrap();
        (found.class, found.message)
    }

    #[track_caller]
    fn check(text: &str, class: &str, message: &str) {
        assert_eq!(one(text), (class.to_owned(), message.to_owned()));
    }

    #[test]
    fn plain() {
        let text = concat!(
            "warm-up\nTraceback (most recent call last):\n",
            "  File \"/s/x.py\", line 3, in <module>\n    f(\n    ~^\n        1)\n",
            "  File \"/s/x.py\", line 1, in f\n    def f(x): return 1 / 0\n",
            "                     ~~^~~\nZeroDivisionError: division by zero\n",
        );
        let found = parse(text).unwrap();
        assert_eq!(
            (found.class.as_str(), found.message.as_str()),
            ("ZeroDivisionError", "division by zero")
        );
        assert_eq!(found.frames.len(), 2);
        assert_eq!(
            found.frames[1],
            TracebackFrame {
                file: "/s/x.py".into(),
                line: 1,
                function: "f".into(),
                code: "def f(x): return 1 / 0".into()
            }
        );
    }

    #[test]
    fn messages_of_many_lines_or_none() {
        let head = "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\n";
        check(&format!("{head}AssertionError\n"), "AssertionError", "");
        check(
            &format!("{head}a.b.C.<locals>.E: one\n\n  two\nthree\n\n"),
            "a.b.C.<locals>.E",
            "one\n\n  two\nthree",
        );
        check(
            &format!("{head}ValueError: x\nException ignored in: <f>\n{head}KeyError: 'y'\n"),
            "ValueError",
            "x",
        );
        check(
            &format!("{head}ValueError: x\nsys:1: ResourceWarning: unclosed\n"),
            "ValueError",
            "x",
        );
        check(
            &format!(
                "{head}t.BackendCompilerFailed: backend='inductor' raised:\nRuntimeError: msg\n"
            ),
            "t.BackendCompilerFailed",
            "backend='inductor' raised:\nRuntimeError: msg",
        );
    }

    #[test]
    fn chains() {
        let block = |class: &str| {
            format!(
                "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\n\
                 \x20   x\n{class}: m\n"
            )
        };
        let text = format!(
            "{}\n{CONTEXT}\n\n{}\n{CAUSE}\n\n{}",
            block("A"),
            block("B"),
            block("C")
        );
        let found = parse(&text).unwrap();
        assert_eq!(found.class, "C");
        let chain: Vec<&str> = found
            .chain
            .iter()
            .map(|cause| cause.class.as_str())
            .collect();
        assert_eq!(chain, ["A", "B"]);
    }

    #[test]
    fn threads_count_only_alone() {
        let thread = concat!(
            "Exception in thread Thread-1 (f):\nTraceback (most recent call last):\n",
            "  File \"x.py\", line 1, in f\n    x\nKeyError: 1\n",
        );
        let main = concat!(
            "Traceback (most recent call last):\n  File \"x.py\", line 9, in <module>\n",
            "    x\nValueError: 2\n",
        );
        check(thread, "KeyError", "1");
        check(&format!("{main}{thread}"), "ValueError", "2");
    }

    #[test]
    fn ranks_colours_and_logs() {
        check(
            concat!(
                "[rank0]: Traceback (most recent call last):\n",
                "[rank0]:   File \"x.py\", line 1, in <module>\n[rank0]:     x\n",
                "[rank0]: RuntimeError: a\n[rank0]: b\n",
            ),
            "RuntimeError",
            "a\nb",
        );
        check(
            concat!(
                "Traceback (most recent call last):\n",
                "  File \x1b[35m\"x.py\"\x1b[0m, line \x1b[35m1\x1b[0m, in \x1b[35m<module>\x1b[0m\n",
                "    x\n\x1b[1;35mNameError\x1b[0m: \x1b[35mname 'x'\x1b[0m\n",
            ),
            "NameError",
            "name 'x'",
        );
        let log = "W0925 06:14:03.574000 1502963 torch/_x.py:1798] [0/0] ";
        let logged = format!(
            "{log}Traceback (most recent call last):\n{log}  File \"x\", line 1, in f\n{log}E: no\n"
        );
        assert_eq!(parse(&logged), None);
    }

    #[test]
    fn a_script_that_does_not_parse() {
        let text = concat!(
            "  File \"/s/x.py\", line 2\n    def f(\n         ^\n",
            "SyntaxError: '(' was never closed\n",
        );
        let found = parse(text).unwrap();
        assert_eq!(
            (found.class.as_str(), found.message.as_str()),
            ("SyntaxError", "'(' was never closed")
        );
        assert_eq!(
            (found.frames[0].line, found.frames[0].function.as_str()),
            (2, "")
        );
    }

    #[test]
    fn groups() {
        let text = concat!(
            "  + Exception Group Traceback (most recent call last):\n",
            "  |   File \"x.py\", line 1, in <module>\n  |     raise e\n",
            "  | ExceptionGroup: outer (2 sub-exceptions)\n  | note\n",
            "  +-+---------------- 1 ----------------\n",
            "    | Traceback (most recent call last):\n",
            "    |   File \"x.py\", line 2, in f\n    |     g()\n    | ValueError: one\n",
            "    | more\n    +---------------- 2 ----------------\n",
            "    | ExceptionGroup: inner (1 sub-exception)\n",
            "    +-+---------------- 1 ----------------\n      | TypeError: two\n",
            "      +------------------------------------\n",
        );
        let found = parse(text).unwrap();
        assert_eq!(found.message, "outer (2 sub-exceptions)\nnote");
        assert_eq!(found.members.len(), 2, "{found:?}");
        assert_eq!(
            (
                found.members[0].class.as_str(),
                found.members[0].message.as_str()
            ),
            ("ValueError", "one\nmore")
        );
        assert_eq!(found.members[1].members[0].class, "TypeError");
    }

    #[test]
    fn a_cut_in_the_middle_does_no_harm() {
        let text = concat!(
            "Traceback (most recent call last):\n  File \"x.py\", line 1, in f\n    f()\n",
            "  Fi\n[... 9000 bytes cut ...]\nle x = y()\n  File \"x.py\", line 1, in f\n",
            "    f()\nRecursionError: too deep\n",
        );
        check(text, "RecursionError", "too deep");
    }

    #[test]
    fn what_was_said_without_where() {
        let text = concat!(
            "before\nTraceback (most recent call last):\n  File \"x.py\", line 1, in f\n",
            "    raise E('secret')\nE: said\n  more\n",
        );
        assert_eq!(without_frames(text), "before\nE: said\n  more\n");
    }
}
