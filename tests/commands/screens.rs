//! What a person sees while a script is minimized: on terminals of several widths, and where there
//! is none.

use super::{NOISY, Place, SIGNATURE};
use crate::support::on_terminal;

const ARGS: [&str; 5] = ["x.py", "--no-journal", "-s", SIGNATURE, "--no-ablation"];

/// The frames of a spinner that begin the moving line.
fn is_moving(line: &str) -> bool {
    line.starts_with(|char| ('\u{2800}'..='\u{28ff}').contains(&char))
}

#[test]
fn the_line_moves_on_every_width_and_the_findings_stay() {
    for (columns, resized) in [(40, None), (80, None), (120, None), (120, Some(40))] {
        let place = Place::new();
        place.file("x.py", NOISY);
        let mut command = place.command(&ARGS);
        command.env("TERM", "xterm-256color");
        let seen = on_terminal(
            command,
            columns,
            resized.map(|columns| ("signature:", columns)),
        );
        assert_eq!(seen.status.code(), Some(0), "{}", seen.screen());
        let columns = usize::from(columns);
        let moving: Vec<String> = seen
            .moments()
            .into_iter()
            .filter(|line| is_moving(line))
            .collect();
        let words = |text: &str| moving.iter().any(|line| line.contains(text));
        assert!(words("run 1 of 3 of the script"), "{moving:#?}");
        assert!(words("ing statements: "), "{moving:#?}");
        assert!(words(" → "), "{moving:#?}");
        // A line that were cut or wrapped would lose the time at its end.
        // Below it stands the best program so far.
        let moments = seen.moments();
        let best = moments
            .iter()
            .position(|line| line.starts_with("  the best so far, "));
        let best = best.unwrap_or_else(|| panic!("{moments:#?}"));
        assert!(
            moments[best..]
                .iter()
                .any(|line| line.starts_with("  import json")),
            "{moments:#?}"
        );
        for line in moving.iter().filter(|_| resized.is_none()) {
            assert!(
                line.chars().count() <= columns && line.ends_with('s'),
                "{line:?}"
            );
        }
        // Wrapped lines are one text.
        let screen = seen.screen().replace('\n', "");
        // What was drawn before the terminal got narrower is cut there.
        if resized.is_some() {
            assert!(
                screen.contains("json.dumps(") && screen.contains("written to "),
                "{screen}"
            );
            continue;
        }
        for part in [
            "signature: TypeError: Object of type set is not JSON serializable",
            "runner: ",
            "import json",
            "json.dumps(",
            "% removed)",
            "confirmed by 3 fresh runs",
            "verify: cd ",
            "written to ",
        ] {
            assert!(screen.contains(part), "{part}\n{}", seen.screen());
        }
        assert!(!screen.contains("@@"), "{screen}");
        assert!(!seen.screen().lines().any(is_moving), "{}", seen.screen());
        assert!(!screen.contains("the best so far"), "{}", seen.screen());
    }
}

#[test]
fn a_slow_script_is_counted_and_timed() {
    let place = Place::new();
    place.file("x.py", format!("import time\ntime.sleep(2)\n{NOISY}"));
    let more = ["--max-runs", "1", "--runner", "cold", "-j", "1"];
    let mut command = place.command(&[&ARGS[..], &more].concat());
    command.env("TERM", "xterm-256color");
    let seen = on_terminal(command, 80, None);
    let moments = seen.moments().join("\n");
    for part in [
        "run 1 of 3 of the script ",
        "run 2 of 3 of the script, about ",
        " s each",
    ] {
        assert!(moments.contains(part), "{part}\n{moments}");
    }
}

#[test]
fn where_nothing_moves_there_are_plain_lines() {
    let place = Place::new();
    place.file("x.py", NOISY);
    let mut command = place.command(&ARGS);
    command.env("TERM", "dumb");
    let dumb = on_terminal(command, 80, None);
    let piped = place.run(&ARGS).stderr;
    for (kind, bytes) in [("dumb", dumb.bytes), ("piped", piped)] {
        let text = String::from_utf8_lossy(&bytes).replace('\r', "");
        assert!(!text.contains('\x1b'), "{kind}: {text:?}");
        assert!(text.contains("signature: TypeError"), "{kind}: {text}");
        assert!(text.contains(" tokens, "), "{kind}: {text}");
        assert!(text.contains("\njson.dumps("), "{kind}: {text}");
    }
}

#[test]
fn the_figures_of_a_recalled_run_are_those_of_the_first() {
    let place = Place::new();
    place.file("x.py", NOISY);
    let args = ["x.py", "-s", SIGNATURE, "--no-ablation"];
    place.run(&args);
    let output = place.run(&args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.contains("continues an earlier reduction: "),
        "{stderr}"
    );
    let figures = stderr
        .lines()
        .find(|line| line.contains(" of an earlier session"));
    let figures = figures.unwrap_or_else(|| panic!("{stderr}"));
    assert!(
        figures.starts_with("0 runs in ") && figures.contains(", after "),
        "{figures}"
    );
}

#[test]
fn files_of_others_are_not_replaced() {
    let place = Place::new();
    place.file("x.py", NOISY);
    place.file("x.min.py", "mine = 1\n");
    let shown = place.shown(&ARGS);
    assert!(shown.starts_with("status: 2\n"), "{shown}");
    assert!(
        shown.contains("x.min.py` exists, and minrepro did not write it"),
        "{shown}"
    );
    assert!(shown.contains("--force"), "{shown}");
    assert_eq!(place.read("x.min.py"), "mine = 1\n");
    let forced = [&ARGS[..], &["--force", "--diff", "--max-runs", "9"]].concat();
    let shown = place.shown(&forced);
    assert!(shown.starts_with("status: 3\n"), "{shown}");
    assert!(shown.contains("--- ") && shown.contains("@@ "), "{shown}");
    assert_ne!(place.read("x.min.py"), "mine = 1\n");
    // From now on it is ours.
    let shown = place.shown(&[&ARGS[..], &["--max-runs", "1"]].concat());
    assert!(shown.starts_with("status: 3\n"), "{shown}");
}

#[test]
fn questions_of_newcomers_are_answered() {
    let place = Place::new();
    place.file("x.py", NOISY);
    for (args, part) in [
        (&["help"][..], "Usage:"),
        (&["help", "check"], "Usage: minrepro check"),
        (&["reduce", "x.py"], "`minrepro x.py`"),
        (&["minimize"], "omit the command"),
        (&["passes", "drop-comments"], "passes explain drop-comments"),
        (
            &["x.py", "--passes", "zzzzzzzzzz"],
            "`minrepro passes` lists them all",
        ),
    ] {
        let shown = place.shown(args);
        assert!(shown.contains(part), "{args:?}\n{shown}");
        assert!(!shown.contains("did you mean"), "{args:?}\n{shown}");
    }
}
