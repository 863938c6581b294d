//! Situations in which a result would not be true, or is not trusted although it is.

use super::Place;

/// Runs, and checks the exit status and what standard error holds.
#[track_caller]
pub(super) fn shows(place: &Place, args: &[&str], status: i32, fragments: &[&str]) -> String {
    let shown = place.shown(args);
    assert!(shown.starts_with(&format!("status: {status}\n")), "{shown}");
    for fragment in fragments {
        assert!(shown.contains(fragment), "`{fragment}` is not in\n{shown}");
    }
    shown
}

#[test]
fn white_space_of_a_pasted_message_need_not_be_that_of_the_real_one() {
    let place = Place::new();
    let script = "import sys\nnoise = 1\nraise ValueError('bad size 3\\n  of the\\ttable')\n";
    place.file("x.py", script);
    for pasted in [
        "ValueError: bad size 3 of the table",
        "bad size 3   of the table",
        "ValueError:\nbad size 3\nof the table",
        "size … of  the table",
    ] {
        shows(&place, &["check", "x.py", "-n", "2", "-s", pasted], 0, &[]);
    }
    for other in ["bad size 3of the table", "bad size 3 of\nthe tab le"] {
        shows(&place, &["check", "x.py", "-n", "2", "-s", other], 1, &[]);
    }
    shows(
        &place,
        &["x.py", "-s", "ValueError: bad size 3 of the table"],
        0,
        &["confirmed by 3 fresh runs"],
    );
    assert!(!place.read("x.min.py").contains("noise"));
}

#[test]
fn a_message_that_begins_with_a_line_break_is_matched_and_shown() {
    let place = Place::new();
    place.file("x.py", "raise ValueError('\\n  bad size of the table')\n");
    shows(
        &place,
        &["check", "x.py", "-n", "2"],
        0,
        &["ValueError: bad size of the table"],
    );
    shows(
        &place,
        &["check", "x.py", "-n", "2", "-s", "ValueError: bad size of"],
        0,
        &[],
    );
    shows(
        &place,
        &["x.py", "-s", "ValueError: good size"],
        1,
        &["seen:     exit 1, ValueError: bad size of the table"],
    );
}
