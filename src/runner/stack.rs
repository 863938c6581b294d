//! The stacks that a dying interpreter prints by the standard library's faulthandler: where a
//! program was when it died of a signal, or was aborted because it did not end. Pure; called by
//! `scratch`.

use std::sync::LazyLock;

use regex::Regex;

use super::outcome::TracebackFrame;

/// How the dump of an interpreter that dies begins.
const BEGINNING: &str = "Fatal Python error: ";

/// Stacks, each with its outermost frame first.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Stacks {
    /// That of the thread that was running, or of the main thread where a signal from outside ended
    /// it; empty if there is no dump.
    pub(super) current: Vec<TracebackFrame>,
    /// Those of the other threads, and of other processes.
    pub(super) others: Vec<Vec<TracebackFrame>>,
}

/// The stacks of a program that died or was aborted. The first dump is its own; those of its other
/// processes follow.
pub(super) fn parse(stderr: &str) -> Stacks {
    let mut dumps = stderr.split(BEGINNING).skip(1).map(read);
    let mut found = dumps.next().unwrap_or_default();
    for mut dump in dumps {
        dump.others.push(dump.current);
        let others = dump.others.into_iter();
        found
            .others
            .extend(others.filter(|stack| !stack.is_empty()));
    }
    found
}

/// The threads of one dump.
fn read(dump: &str) -> Stacks {
    static FRAME: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"^  File "(.*)", line (\d+) in (.+)$"#).expect("the pattern is well-formed")
    });
    let frame = |line: &str| {
        let found = FRAME.captures(line)?;
        Some(TracebackFrame {
            file: found[1].to_owned(),
            line: found[2].parse().ok()?,
            function: found[3].to_owned(),
            code: String::new(),
        })
    };
    let mut found = Stacks::default();
    let mut lines = dump.lines();
    while let Some(line) = lines.next() {
        let is_current = line.starts_with("Current thread ") || line.starts_with("Stack ");
        let is_thread = is_current || line.starts_with("Thread ");
        if !is_thread || !line.ends_with("(most recent call first):") {
            continue;
        }
        let mut frames: Vec<TracebackFrame> = lines.by_ref().map_while(frame).collect();
        frames.reverse();
        if is_current && found.current.is_empty() {
            found.current = frames;
        } else if !frames.is_empty() {
            found.others.push(frames);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_current_thread_is_what_counts() {
        let dump = concat!(
            "noise\nFatal Python error: Segmentation fault\n\n",
            "Thread 0x00007fcd (most recent call first):\n",
            "  File \"/l/threading.py\", line 870 in run\n\n",
            "Current thread 0x00007fce (most recent call first):\n",
            "  File \"/l/ctypes/__init__.py\", line 514 in string_at\n",
            "  File \"/s/a b.py\", line 4 in <module>\n\n",
            "Extension modules: a.b (total: 1)\n"
        );
        let stacks = parse(dump);
        assert_eq!(
            named(&stacks.current),
            [
                ("/s/a b.py", 4, "<module>"),
                ("/l/ctypes/__init__.py", 514, "string_at")
            ]
        );
        assert_eq!(stacks.others.len(), 1);
        assert_eq!(named(&stacks.others[0]), [("/l/threading.py", 870, "run")]);
        let unannounced =
            "Current thread 0x1 (most recent call first):\n  File \"x\", line 1 in f\n";
        assert_eq!(parse(unannounced), Stacks::default());
        assert_eq!(parse(""), Stacks::default());
    }

    #[test]
    fn the_first_dump_is_the_programs_own() {
        let dump = |file: &str| {
            format!(
                "Fatal Python error: Aborted\n\nCurrent thread 0x1 (most recent call first):\n  \
                 File \"{file}\", line 1 in f\n\n"
            )
        };
        let stacks = parse(&(dump("main.py") + &dump("child.py")));
        assert_eq!(named(&stacks.current), [("main.py", 1, "f")]);
        assert_eq!(stacks.others.len(), 1);
        assert_eq!(named(&stacks.others[0]), [("child.py", 1, "f")]);
    }

    fn named(frames: &[TracebackFrame]) -> Vec<(&str, u32, &str)> {
        let named = frames
            .iter()
            .map(|frame| (frame.file.as_str(), frame.line, frame.function.as_str()));
        named.collect()
    }
}
