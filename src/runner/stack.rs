//! The stack that a dying interpreter prints by the standard library's faulthandler: where a
//! program was when it died of a signal, or was aborted because it did not end. Pure; called by
//! `scratch`.

use std::sync::LazyLock;

use regex::Regex;

use super::outcome::TracebackFrame;

/// The frames of the thread that was running, or of the main thread where a signal from outside
/// ended it, outermost first; none if there is no such dump.
pub(super) fn parse(stderr: &str) -> Vec<TracebackFrame> {
    static FRAME: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"^  File "(.*)", line (\d+) in (.+)$"#).expect("the pattern is well-formed")
    });
    let mut lines = stderr
        .lines()
        .skip_while(|line| !line.starts_with("Fatal Python error: "));
    let is_current = |line: &str| {
        line.starts_with("Current thread ") && line.ends_with(" (most recent call first):")
            || line == "Stack (most recent call first):"
    };
    if !lines.any(is_current) {
        return Vec::new();
    }
    let frame = |line: &str| {
        let found = FRAME.captures(line)?;
        Some(TracebackFrame {
            file: found[1].to_owned(),
            line: found[2].parse().ok()?,
            function: found[3].to_owned(),
            code: String::new(),
        })
    };
    let mut frames: Vec<TracebackFrame> = lines.map_while(frame).collect();
    frames.reverse();
    frames
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
        let frames = parse(dump);
        let found: Vec<(&str, u32, &str)> = frames
            .iter()
            .map(|frame| (frame.file.as_str(), frame.line, frame.function.as_str()))
            .collect();
        assert_eq!(
            found,
            [
                ("/s/a b.py", 4, "<module>"),
                ("/l/ctypes/__init__.py", 514, "string_at")
            ]
        );
        assert_eq!(
            parse("Current thread 0x1 (most recent call first):\n  File \"x\", line 1 in f\n"),
            []
        );
        assert_eq!(parse(""), []);
    }
}
