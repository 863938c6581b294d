//! Tracebacks and signatures as real interpreters make them, of every CPython that this machine
//! has.

mod judging;
mod lookalikes;
mod precision;
mod texts;

use std::{path::Path, time::Duration};

use minrepro::{
    oracle::{Baseline, BaselineError, NotDerivable, Spec, Verdict},
    runner::{Captured, End, Exception, Outcome, Timing, traceback},
};

use crate::support::{command, interpreters, skip};

/// What a program does under an interpreter.
fn run(python: &Path, source: &str, env: &[(&str, &str)]) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script.py");
    std::io::Write::write_all(
        &mut std::fs::File::create(&file).unwrap(),
        source.as_bytes(),
    )
    .unwrap();
    let output = command(python)
        .arg(&file)
        .envs(env.iter().copied())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    Outcome {
        stack: Vec::new(),
        other_stacks: Vec::new(),
        trace: None,
        end: End::Exit(output.status.code().unwrap_or(-1)),
        timing: Timing {
            wall: Duration::from_millis(20),
            ..Timing::default()
        },
        exception: traceback::parse(&stderr),
        stdout: Captured::whole(String::from_utf8_lossy(&output.stdout)),
        stderr: Captured::whole(stderr),
    }
}

/// Runs a program under every interpreter from a minor version on and checks the exception it ends
/// with.
fn on_all(test: &str, since: u8, source: &str, check: impl Fn(&Exception)) {
    let found: Vec<_> = interpreters().range(since..).collect();
    if found.is_empty() {
        return skip(test, "no CPython is new enough");
    }
    for (minor, python) in found {
        for env in [&[][..], &[("FORCE_COLOR", "1"), ("PYTHON_COLORS", "1")]] {
            let outcome = run(python, source, env);
            let exception = outcome
                .exception
                .unwrap_or_else(|| panic!("3.{minor}: none in\n{}", outcome.stderr.head));
            let caught =
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&exception)));
            assert!(
                caught.is_ok(),
                "3.{minor}: {exception:?} of\n{}",
                outcome.stderr.head
            );
        }
    }
}

fn is(exception: &Exception, class: &str, message: &str) {
    assert_eq!(
        (exception.class.as_str(), exception.message.as_str()),
        (class, message)
    );
}

#[test]
fn plain_tracebacks() {
    on_all(
        "plain_tracebacks",
        8,
        "def f(x):\n    return g(\n        x,\n    )\ndef g(x):\n    return {}[x]\nf('ключ')\n",
        |it| {
            is(it, "KeyError", "'ключ'");
            let functions: Vec<_> = it
                .frames
                .iter()
                .map(|frame| (frame.line, frame.function.as_str()))
                .collect();
            assert_eq!((functions[0], functions[2]), ((7, "<module>"), (6, "g")));
            assert_eq!(it.frames[2].code, "return {}[x]");
        },
    );
}

#[test]
fn chains_and_own_classes() {
    on_all(
        "chains_and_own_classes",
        8,
        "class Outer:\n    class Inner(Exception): pass\n\
         try:\n    try:\n        1 / 0\n    except ZeroDivisionError:\n        [][1]\n\
         except IndexError as e:\n    raise Outer.Inner('two\\nlines') from e\n",
        |it| {
            // Versions differ in how much of the path they print.
            assert_eq!(it.short_class(), "Inner");
            assert_eq!(it.message, "two\nlines");
            let chain: Vec<&str> = it.chain.iter().map(|it| it.class.as_str()).collect();
            assert_eq!(chain, ["ZeroDivisionError", "IndexError"]);
        },
    );
}

#[test]
fn empty_messages_warnings_and_what_comes_after() {
    on_all(
        "empty_messages_warnings_and_what_comes_after",
        8,
        "import warnings, atexit, sys\nwarnings.warn('before')\n\
         atexit.register(lambda: print('after', file=open(2, 'w', closefd=False)) if 0 else None)\n\
         class D:\n    def __del__(self): raise ValueError('ignored')\nd = D()\n\
         def f():\n    assert 1 == 2\nf()\n",
        |it| is(it, "AssertionError", ""),
    );
}

#[test]
fn scripts_that_do_not_parse() {
    on_all(
        "scripts_that_do_not_parse",
        8,
        "x = 1\nif x\n    y\n",
        |it| {
            assert_eq!(
                (it.class.as_str(), it.frames.last().map(|it| it.line)),
                ("SyntaxError", Some(2))
            );
        },
    );
    on_all("scripts_that_do_not_parse", 8, "if 1:\nx\n", |it| {
        assert_eq!(it.class, "IndentationError");
    });
    on_all("scripts_that_do_not_parse", 8, "exec('(')\n", |it| {
        assert_eq!(it.class, "SyntaxError");
        assert!(!it.frames.is_empty());
    });
}

#[test]
fn deep_recursion() {
    on_all("deep_recursion", 8, "def f(): f()\nf()\n", |it| {
        assert_eq!(it.class, "RecursionError");
        assert!(it.message.starts_with("maximum recursion depth exceeded"));
    });
}

#[test]
fn threads_and_print_exc() {
    on_all(
        "threads_and_print_exc",
        8,
        "import threading, traceback\ndef f(): raise KeyError('thread')\n\
         t = threading.Thread(target=f); t.start(); t.join()\ntry: 1 / 0\n\
         except Exception: traceback.print_exc()\nraise ValueError('last')\n",
        |it| is(it, "ValueError", "last"),
    );
    on_all(
        "threads_and_print_exc",
        8,
        "import threading\ndef f(): raise KeyError('thread')\n\
         t = threading.Thread(target=f); t.start(); t.join()\n",
        |it| is(it, "KeyError", "'thread'"),
    );
}

#[test]
fn groups_and_notes() {
    on_all(
        "groups_and_notes",
        11,
        "e = ValueError('one'); e.add_note('a note')\n\
         raise ExceptionGroup('many', [e, ExceptionGroup('inner', [TypeError('two')]), \
         KeyError('three')])\n",
        |it| {
            assert_eq!(it.class, "ExceptionGroup");
            assert!(it.message.starts_with("many"));
            let members: Vec<_> = it
                .members
                .iter()
                .map(|it| (it.class.as_str(), it.message.as_str()))
                .collect();
            assert_eq!(members[0], ("ValueError", "one\na note"));
            assert_eq!(members[2], ("KeyError", "'three'"));
            assert_eq!(it.members[1].members[0].class, "TypeError");
        },
    );
}

#[test]
fn os_exit_leaves_what_was_printed() {
    on_all(
        "os_exit_leaves_what_was_printed",
        8,
        "import os, sys, traceback\ntry: open('/nonexistent')\n\
         except OSError: traceback.print_exc(); sys.stderr.flush(); os._exit(3)\n",
        |it| assert_eq!(it.class, "FileNotFoundError"),
    );
}

fn newest() -> Option<&'static Path> {
    interpreters()
        .last_key_value()
        .map(|(_, path)| path.as_path())
}

fn outcomes(source: &str) -> Vec<Outcome> {
    newest()
        .map(|python| (0..3).map(|_| run(python, source, &[])).collect())
        .unwrap_or_default()
}

#[track_caller]
fn check_derived(source: &str, expected: &str) {
    let outcomes = outcomes(source);
    if outcomes.is_empty() {
        return skip("check_derived", "no CPython found");
    }
    assert_eq!(
        Baseline::new(&[], outcomes).unwrap().signature.to_string(),
        expected
    );
}

#[test]
fn signatures_are_derived() {
    check_derived(
        "import torch_missing_for_sure\n",
        "ModuleNotFoundError: No module named 'torch_missing_for_sure'",
    );
    check_derived(
        "class A: pass\nraise RuntimeError(f'{A()} of shape (3, 4) at /tmp/x1/y2 is bad')\n",
        "RuntimeError: <__main__.A object at … > of shape … is bad",
    );
    check_derived(
        "import random, sys\nrandom.seed()\nraise ValueError(f'lost {random.random()} of it')\n",
        "ValueError: lost … of it",
    );
    check_derived(
        "def f(x):\n    assert   x == 2\nf(1)\n",
        "AssertionError and raised by `assert x == 2`",
    );
    check_derived(
        "import json\njson.loads('{')\n",
        "JSONDecodeError: Expecting property name enclosed in double quotes: line … column … char",
    );
    check_derived(
        "try: [].pop()\nexcept Exception as e: print(f'{type(e).__name__}: {e}')\n",
        "stdout:IndexError: pop from empty list",
    );
    check_derived(
        "import traceback\ntry: [].pop()\nexcept Exception: traceback.print_exc()\n",
        "IndexError: pop from empty list",
    );
    check_derived("{'a1': 0}['a2']\n", "KeyError: 'a2'");
    check_derived(
        "def f():\n    try: {}['a']\n    except KeyError as e:\n        raise RuntimeError('no \
         luck') from e\nf()\n",
        "RuntimeError: no luck and caused by KeyError: 'a'",
    );
    check_derived(
        "import copy\nclass A:\n    def __deepcopy__(self, memo): return None.a\n\
         try: copy.deepcopy(A())\nexcept AttributeError: copy.copy()\n",
        "TypeError: copy() missing … required positional argument: 'x'",
    );
    check_derived(
        "import queue\nqueue.Queue(None).put(1)\n",
        "TypeError: '>' not supported between instances of 'NoneType' and 'int' and raised in \
         queue.py, put(), by `if self.maxsize > 0:`",
    );
    check_derived(
        "import sys\nsys.exit('config is broken')\n",
        "exit:1 and stderr:config is broken",
    );
    check_derived(
        "print('max diff 3.5')\nprint('BUG: results differ')\n",
        "stdout:BUG: results differ",
    );
}

#[test]
fn signatures_of_groups_are_derived() {
    if interpreters().range(11..).next().is_none() {
        return skip(
            "signatures_of_groups_are_derived",
            "no CPython is new enough",
        );
    }
    check_derived(
        "import asyncio\nasync def f(): raise KeyError('a')\n\
         async def main():\n    async with asyncio.TaskGroup() as group: group.create_task(f())\n\
         asyncio.run(main())\n",
        "ExceptionGroup: unhandled errors in a TaskGroup and caused by KeyError: 'a'",
    );
    check_derived(
        "raise ExceptionGroup('many', [ExceptionGroup('two', [TypeError('bad strides'), \
         KeyError('a')])])\n",
        "ExceptionGroup: many and caused by TypeError: bad strides",
    );
}

#[test]
fn what_shows_no_bug_gives_no_signature() {
    let passing = outcomes("print('all fine')\n");
    if passing.is_empty() {
        return skip("what_shows_no_bug_gives_no_signature", "no CPython found");
    }
    assert!(matches!(
        Baseline::new(&[], passing),
        Err(BaselineError::NotDerivable {
            reason: NotDerivable::Passes,
            ..
        })
    ));
    let unsteady = [
        outcomes("raise ValueError('a')\n"),
        outcomes("raise TypeError('b')\n"),
    ]
    .concat();
    assert!(matches!(
        Baseline::new(&[], unsteady),
        Err(BaselineError::Unstable { same: 3, of: 6, .. })
    ));
}

#[track_caller]
fn check_match(signature: &str, source: &str, expected: bool) {
    let outcomes = outcomes(source);
    if outcomes.is_empty() {
        return skip("check_match", "no CPython found");
    }
    let spec = Spec::parse(signature).unwrap();
    assert_eq!(
        Baseline::new(&[spec], outcomes).is_ok(),
        expected,
        "{signature} on\n{source}"
    );
}

#[test]
fn all_forms_of_signatures() {
    let script = "import json\ndef f(): raise json.JSONDecodeError('bad thing', 'doc', 0)\nf()\n";
    for signature in [
        "JSONDecodeError: bad thing",
        "json.decoder.JSONDecodeError: bad",
        "decoder.JSONDecodeError",
        "JSONDecodeError",
        "bad thing",
        "/bad\\s+thing.*char \\d/",
        "/BAD THING/i",
        "exit:1",
        "stderr:bad thing",
    ] {
        check_match(signature, script, true);
    }
    for signature in [
        "JSONDecodeError: good thing",
        "ValueError: bad thing",
        "/^bad/",
        "exit:2",
        "stdout:bad thing",
        // Source lines of the traceback are no evidence.
        "raise json",
        "stderr:def f",
    ] {
        check_match(signature, script, false);
    }
    check_match(
        "RuntimeError: printed",
        "print('RuntimeError: printed by hand')\n",
        true,
    );
    check_match("Mismatch", "print('Mismatch in row 3')\n", true);
}

#[test]
fn what_can_be_no_signature_says_why() {
    for text in [
        "",
        "  ",
        "exit:300",
        "exit:x",
        "exit:0",
        "/(/",
        "/x*/",
        "stdout:",
        "signal:SIGNONE",
        "timeout:often",
    ] {
        assert!(Spec::parse(text).is_err(), "{text}");
    }
}

#[test]
fn errors_that_come_of_missing_parts_never_match_by_accident() {
    let before = outcomes("import json\nprint('x')\nraise ValueError('no json here')\n");
    if before.is_empty() {
        return skip(
            "errors_that_come_of_missing_parts_never_match_by_accident",
            "no CPython found",
        );
    }
    let spec = Spec::parse("json").unwrap();
    let signature = Baseline::new(&[spec], before).unwrap().signature;
    let after = outcomes("json.dumps(1)\n");
    assert!(
        matches!(signature.judge(&after[0], 1000), Verdict::Different(it) if it.class == "NameError")
    );
    let named = Baseline::new(&[Spec::parse("NameError").unwrap()], after.clone())
        .unwrap()
        .signature;
    assert!(named.matches(&after[0]) && named.is_name_error());
}
