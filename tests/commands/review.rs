//! What the review of a script shows.

use super::Place;

const STRANGER: &str = "\
import os
import subprocess
import torch
import helpers_of_mine

x = torch.ones(3)
subprocess.run(['id'])
os.system('id')
print(open('/etc/passwd').read())
os.system('id')
";

#[test]
fn concerns_are_shown_by_their_grade_with_line_and_reason() {
    let place = Place::new();
    place.file("stranger.py", STRANGER);
    let expected = "\
status: 6
-- stdout
stranger.py:7: commands: `subprocess.run` runs a command (it may do anything, noticed or not)
stranger.py:8: commands: `os.system` runs a command (it may do anything, noticed or not); also in line 10
stranger.py:9: files: `open` reaches outside the script's folder (files that are not the script's own may be read or changed)
stranger.py:4: package: imports `helpers_of_mine`, which is not on the list (nothing is known of its code)
-- stderr
4 concerns (2 dangerous, 1 reaching outside, 1 unreadable); check each place before you run the script
";
    assert_eq!(place.shown(&["review", "stranger.py"]), expected);
}

#[test]
fn programs_get_every_finding_with_its_grade() {
    let place = Place::new();
    place.file("stranger.py", STRANGER);
    let output = place.run(&["review", "stranger.py", "--json"]);
    assert_eq!(output.status.code(), Some(6));
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = value["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 5, "{value:#}");
    let last = &findings[4];
    assert_eq!(last["line"], 10);
    assert_eq!(last["grade"], "dangerous");
    assert_eq!(last["concern"], "commands");
}

#[test]
fn an_ordinary_script_has_no_concerns() {
    let place = Place::new();
    let script = "import torch\ntorch.save(torch.ones(3), 'x.pt')\n\
                  print(torch.load('x.pt', weights_only=True))\n";
    place.file("x.py", script);
    let expected = "\
status: 0
-- stdout
-- stderr
no concerns; the review cannot find everything that a script may do
";
    assert_eq!(place.shown(&["review", "x.py"]), expected);
}

#[test]
fn a_script_that_cannot_be_read_is_not_called_harmless() {
    let place = Place::new();
    for script in [
        "print 'x'\n",
        "# coding: utf-7\nx = 1\n",
        "# coding: rot13\nx = 1\n",
    ] {
        place.file("x.py", script);
        let shown = place.shown(&["review", "x.py"]);
        assert!(shown.starts_with("status: 2\n"), "{shown}");
    }
}

#[test]
fn a_script_cannot_write_to_the_terminal_that_shows_its_review() {
    let place = Place::new();
    place.file("x.py", "__import__('a\x1b[2Jb')\n");
    let shown = place.shown(&["review", "x.py"]);
    assert!(shown.starts_with("status: 6\n"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown}");
}
