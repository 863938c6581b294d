//! The tracer under every interpreter: the evidence that it notes, and that a run ends as it does
//! without the tracer.

mod torch;

use std::{collections::BTreeMap, path::Path, time::Duration};

use minrepro::runner::{Command, End, Job, Outcome, Runner};
use minrepro_reducers::trace::{
    evidence::{Arguments, Evidence, Frame, SourceLine},
    value::RecordedValue,
};

use super::setup;
use crate::support::{interpreters, skip};

const SCRIPT: &str = "\
import sys
class Point:
    def __init__(self, x, *, y=0):
        self.x = x

def scale(point, factor):
    if factor is None:
        return None
    names = {'a': [1, 2.5], 'b': point}
    return point.x[factor]

def base():
    return 40

print(sys.argv[1:], __name__)
for factor in range(3):
    scale(Point([base()], y=factor), factor)
";

/// A line of the script, by its number.
fn at(number: u32) -> SourceLine {
    SourceLine::of_program(number)
}

/// The number of a line of the script.
fn number(line: SourceLine) -> u32 {
    line.in_program().expect("only the script is traced")
}

/// A plain run and a traced run of a script under each interpreter.
fn on_all(source: &str, check: impl Fn(&Outcome, &Outcome, Option<Evidence>)) {
    if interpreters().is_empty() {
        skip("tracing", "no interpreter was found");
        return;
    }
    for python in interpreters().values() {
        on(python, source, &check);
    }
}

/// The same under one interpreter.
fn on(python: &Path, source: &str, check: impl Fn(&Outcome, &Outcome, Option<Evidence>)) {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = setup(folder.path(), 2);
    setup.command = Command::Python {
        python: python.to_owned(),
        args: vec!["one".into()],
    };
    let runner = Runner::start(setup).unwrap();
    let plain = Job::new(source.as_bytes().into(), Duration::from_mins(2));
    let traced = Job {
        traced: true,
        sought: ["total: 7".to_owned()].into(),
        ..plain.clone()
    };
    let outcomes = runner.run_all(&[plain, traced], &mut |_, _| {}).unwrap();
    let [plain, traced] = outcomes.as_slice() else {
        panic!("two outcomes")
    };
    let evidence = traced
        .trace
        .as_deref()
        .map(|text| serde_json::from_str(text).unwrap());
    check(plain, traced, evidence);
}

#[test]
fn a_failure_is_written_down_with_its_values() {
    on_all(SCRIPT, |plain, traced, evidence| {
        assert_eq!((plain.end, &plain.stdout), (traced.end, &traced.stdout));
        let (before, after) = (
            plain.exception.as_ref().unwrap(),
            traced.exception.as_ref().unwrap(),
        );
        let said = |it: &str| it.split("from user code").next().map(str::to_owned);
        assert_eq!(
            (&before.class, said(&before.message)),
            (&after.class, said(&after.message))
        );
        let lines = |it: &minrepro::runner::Exception| {
            it.frames.iter().map(|frame| frame.line).collect::<Vec<_>>()
        };
        assert_eq!(lines(before), lines(after));

        let evidence = evidence.unwrap();
        assert!(
            evidence.hits.contains_key(&at(7)) && !evidence.hits.contains_key(&at(8)),
            "{:?}",
            evidence.hits
        );
        assert_eq!(evidence.hits.get(&at(9)), Some(&2));
        assert_eq!(evidence.entered.get(&at(12)), Some(&2));
        assert_eq!(
            evidence.returned.get(&at(12)).map(RecordedValue::text),
            Some("40")
        );
        assert!(evidence.varying.is_empty());
        assert_eq!(evidence.files.len(), 1);
        let [module, function] = evidence.failure.as_slice() else {
            panic!("{:?}", evidence.failure)
        };
        assert!(module.is_module() && (module.line, function.line) == (at(17), at(10)));
        let value = |name: &str| function.values.get(name).map(RecordedValue::text);
        assert_eq!(value("factor"), Some("1"));
        assert_eq!(value("point"), Some("Point([40], y=1)"));
        assert_eq!(
            value("names"),
            Some("{'a': [1, 2.5], 'b': Point([40], y=1)}")
        );
    });
}

#[test]
fn arguments_of_library_functions_are_noted() {
    let source = "\
import copy, string
import xml.etree.ElementTree as ET
class Slot:
    def __init__(self, name):
        self.name = name
    def __reduce_ex__(self, protocol):
        return 1 / 0
tree = ET.ElementTree(ET.Element('scene'))
ET.SubElement(tree.getroot(), 'boat', width=1)
template = string.Template('$x')
def save(tree, template, rows):
    return copy.deepcopy(rows)
save(tree, template, {'a': [1, Slot('left')]})
";
    on_all(source, |_, _, evidence| {
        let evidence = evidence.unwrap();
        let frame = evidence
            .failure
            .iter()
            .find(|frame| frame.function == "save")
            .unwrap();
        let value = |name: &str| frame.values.get(name).map(RecordedValue::text);
        assert_eq!(value("tree"), Some("ET.ElementTree(ET.Element('scene'))"));
        assert_eq!(value("template"), Some("string.Template('$x')"));
        assert!(!frame.values["tree"].is_exact && !frame.values["template"].is_exact);
        let inside: Vec<&str> = frame.inside.iter().map(RecordedValue::text).collect();
        assert_eq!(inside[0], "Slot('left')");
        assert!(inside.contains(&"[1, Slot('left')]"), "{inside:?}");
    });
}

#[test]
fn comprehensions_are_frames_with_variables_of_their_own() {
    let source = "\
g = 'outer'
def f(rows):
    return {
        k: [len(x) for x in g] for k, g in rows
    }
f([('a', ['b']), ('c', ['d', 5])])
";
    on_all(source, |_, _, evidence| {
        let evidence = evidence.unwrap();
        let [.., outer, inner] = evidence.failure.as_slice() else {
            panic!("{:?}", evidence.failure)
        };
        assert_eq!(
            (outer.function.as_str(), inner.function.as_str()),
            ("<dictcomp>", "<listcomp>")
        );
        let value = |frame: &Frame, name: &str| {
            let value = frame.values.get(name);
            value.map(|value| value.text().to_owned())
        };
        assert_eq!(value(outer, "g").as_deref(), Some("['d', 5]"));
        assert_eq!(value(inner, "x").as_deref(), Some("5"));
        assert_eq!(evidence.failure.len(), 4);
        let function = &evidence.failure[1];
        assert_eq!(
            (function.function.as_str(), value(function, "x")),
            ("f", None)
        );
        assert!(value(function, "g").is_none_or(|text| text == "'outer'"));
        let starts = |frame: &Frame| frame.place.1;
        assert!(
            starts(function).is_none_or(|line| line == 11)
                && starts(inner).is_none_or(|line| line == 12)
        );
    });
}

/// An iterator that returns itself goes on where it is; a new one begins anew. One that always
/// returns its last never ends.
#[test]
fn an_iterator_is_not_replaced_by_what_it_returns() {
    let source = "\
class Words:
    def __init__(self, text):
        self.rest = text.split()
    def __iter__(self):
        return self
    def __next__(self):
        if not self.rest:
            raise StopIteration
        return self.rest.pop(0)
def first(rows):
    return rows
def caught(rows):
    try:
        return rows[2]
    except IndexError:
        return 3
print(list(Words('a b')), first([1]), caught([]))
1 / 0
";
    on_all(source, |_, _, evidence| {
        let returned = evidence.unwrap().returned;
        assert_eq!((returned.get(&at(4)), returned.get(&at(6))), (None, None));
        let value = |line: u32| returned.get(&at(line)).map(RecordedValue::text);
        assert_eq!((value(10), value(12)), (Some("[1]"), Some("3")));
    });
}

#[test]
fn results_of_calls_in_a_failing_statement_are_noted() {
    let source = "\
print('once')
class Words:
    def __init__(self, text):
        self.rest = text.split()
    def next(self):
        return self.rest.pop(0)
def add(words, more):
    return list(words.rest) + [words.next(), f'{len(more)}'] + len(more)
for text in ['a b', 'c d']:
    row = Words(text)
    if text == 'c d':
        add(row, sorted([2, 1]))
";
    on_all(source, |plain, traced, evidence| {
        let lines = |it: &Outcome| it.stderr.text().lines().count();
        assert_eq!(
            (plain.end, &plain.stdout, lines(plain)),
            (traced.end, &traced.stdout, lines(traced))
        );
        let evidence = evidence.unwrap();
        let [module, add] = evidence.failure.as_slice() else {
            panic!("{:?}", evidence.failure)
        };
        let result = |frame: &minrepro_reducers::trace::evidence::Frame, name: &str| {
            let value = frame.results.get(name);
            value.map(|value| value.text().to_owned())
        };
        assert_eq!(
            result(add, "list(words.rest)").as_deref(),
            Some("['c', 'd']")
        );
        assert_eq!(result(add, "words.next()").as_deref(), Some("'c'"));
        assert_eq!(result(add, "len(more)").as_deref(), Some("2"));
        assert_eq!(result(module, "sorted([2, 1])").as_deref(), Some("[1, 2]"));
        assert_eq!(
            add.values.get("words").map(RecordedValue::text),
            Some("Words('c d')")
        );
    });
}

/// What is made by calls of libraries is written as these calls, from CPython 3.9 on.
#[test]
fn objects_of_libraries_are_written_as_they_were_made() {
    let source = "\
import contextlib, re, sqlite3, threading
LINE = re.compile('a+')
class Book:
    def __init__(self, path=':memory:'):
        self.connection = sqlite3.connect(path)
def lock(kind):
    return getattr(threading, 'Lock')() if kind else threading.Semaphore(2 + 1)
def fail(book, text):
    found = LINE.match(text)
    made = lock(0)
    local = threading.local()
    local = None
    with contextlib.closing(book.connection.cursor()) as cursor:
        cursor.execute('select ?', text)
fail(Book(), 'aaa')
";
    if interpreters().is_empty() {
        skip(
            "objects_of_libraries_are_written_as_they_were_made",
            "no interpreter was found",
        );
    }
    for (minor, python) in interpreters() {
        on(python, source, |_, _, evidence| {
            let evidence = evidence.unwrap();
            let frame = evidence
                .failure
                .iter()
                .find(|frame| frame.function == "fail")
                .unwrap();
            let value = |name: &str| {
                frame
                    .values
                    .get(name)
                    .map(RecordedValue::text)
                    .filter(|_| *minor > 8)
            };
            let expected = |text: &'static str| Some(text).filter(|_| *minor > 8);
            assert_eq!(
                value("cursor"),
                expected("sqlite3.connect(':memory:').cursor()")
            );
            assert_eq!(value("found"), expected("re.compile('a+').match('aaa')"));
            assert_eq!(value("made"), expected("lock(0)"));
            assert_eq!(value("local"), expected("None"));
            let is_exact = frame.values.get("cursor").map(|value| value.is_exact);
            assert_eq!(is_exact, (*minor > 8).then_some(false));
        });
    }
}

#[test]
fn calls_of_library_functions_for_their_effect_are_noted() {
    let source = "\
import logging
from random import seed
def begin(level, names):
    logging.basicConfig(level=level)
    seed(names['n'] + len(names))
    names.clear()
    helper()
def helper():
    pass
begin(30, {'n': 1})
1 / 0
";
    if interpreters().is_empty() {
        skip(
            "calls_of_libraries_for_what_they_do_are_written_down",
            "no interpreter was found",
        );
    }
    for (minor, python) in interpreters() {
        on(python, source, |_, _, evidence| {
            let done = evidence.unwrap().done;
            let expected =
                BTreeMap::from([(at(4), "logging.basicConfig(level=30)".to_owned().into())]);
            assert_eq!(
                done,
                if *minor > 8 {
                    expected
                } else {
                    BTreeMap::new()
                }
            );
        });
    }
}

/// A process that dies of a signal tells where; then another run can write down what was known
/// there.
#[test]
fn values_are_noted_where_a_process_crashes() {
    let source = "\
import os
def last(things, limit):
    total = 0
    for thing in things:
        total += thing
        stop(total, limit)
def stop(total, limit):
    if total > limit:
        os.kill(os.getpid(), 11)
last([1, 2, 3], 4)
";
    if interpreters().is_empty() {
        skip(
            "what_is_known_where_a_process_dies_is_written_down",
            "no interpreter was found",
        );
    }
    for python in interpreters().values() {
        let folder = tempfile::tempdir().unwrap();
        let mut setup = setup(folder.path(), 1);
        setup.command = Command::Python {
            python: python.to_owned(),
            args: Vec::new(),
        };
        let runner = Runner::start(setup).unwrap();
        let job = Job {
            traced: true,
            ..Job::new(source.as_bytes().into(), Duration::from_mins(2))
        };
        let run = |job: &Job| {
            runner
                .run_all(std::slice::from_ref(job), &mut |_, _| {})
                .unwrap()
                .remove(0)
        };
        let died = run(&job);
        assert_eq!((died.end, died.trace.as_deref()), (End::Signal(11), None));
        let crash_stack = died
            .stack
            .iter()
            .map(|frame| (frame.file.clone(), frame.line))
            .collect();
        let died = run(&Job { crash_stack, ..job });
        assert_eq!(died.end, End::Signal(11));
        let evidence: Evidence = serde_json::from_str(died.trace.as_deref().unwrap()).unwrap();
        let found: Vec<(&str, u32)> = evidence
            .failure
            .iter()
            .map(|frame| (frame.function.as_str(), number(frame.line)))
            .collect();
        assert_eq!(found, [("<module>", 10), ("last", 6), ("stop", 9)]);
        let value = |at: usize, name: &str| evidence.failure[at].values[name].text();
        assert_eq!(
            [value(1, "thing"), value(2, "total"), value(2, "limit")],
            ["3", "6", "4"]
        );
    }
}

#[test]
fn where_a_process_dies_is_known_without_its_own_dump() {
    let source = "\
import ctypes, faulthandler, threading
faulthandler.disable()
def read(address):
    return ctypes.string_at(address)
def work(addresses):
    for address in addresses:
        read(address)
text = ctypes.create_string_buffer(b'text')
work([ctypes.addressof(text)])
thread = threading.Thread(target=work, args=([ctypes.addressof(text), 0],))
thread.start()
thread.join()
";
    if interpreters().is_empty() {
        skip("tracing of deaths", "no interpreter was found");
    }
    for python in interpreters().values() {
        let folder = tempfile::tempdir().unwrap();
        let mut setup = setup(folder.path(), 1);
        setup.command = Command::Python {
            python: python.to_owned(),
            args: Vec::new(),
        };
        let runner = Runner::start(setup).unwrap();
        let job = Job {
            traced: true,
            keeps_last: true,
            ..Job::new(source.as_bytes().into(), Duration::from_mins(2))
        };
        let outcomes = runner.run_all(&[job], &mut |_, _| {});
        let died = outcomes.unwrap().remove(0);
        assert_eq!(died.end, End::Signal(11), "{python:?}: {died:?}");
        let lines: Vec<u32> = died.stack.iter().map(|frame| frame.line).collect();
        assert_eq!(lines, [7, 4], "{python:?}");
        assert_eq!(died.stack[1].code, "return ctypes.string_at(address)");
    }
}

/// The evidence of a run that hangs, under each interpreter.
fn on_all_where_it_hangs(source: &str, timeout: Duration, check: impl Fn(Evidence)) {
    if interpreters().is_empty() {
        skip("tracing of hangs", "no interpreter was found");
    }
    for python in interpreters().values() {
        let folder = tempfile::tempdir().unwrap();
        let mut setup = setup(folder.path(), 1);
        setup.command = Command::Python {
            python: python.to_owned(),
            args: Vec::new(),
        };
        let job = Job {
            traced: true,
            hangs: true,
            ..Job::new(source.as_bytes().into(), timeout)
        };
        let outcomes = Runner::start(setup)
            .unwrap()
            .run_all(&[job], &mut |_, _| {});
        let outcome = outcomes.unwrap().remove(0);
        assert_eq!(outcome.end, End::Timeout, "{python:?}: {outcome:?}");
        check(serde_json::from_str(outcome.trace.as_deref().unwrap()).unwrap());
    }
}

fn lines(frames: &[Frame]) -> Vec<(&str, u32)> {
    frames
        .iter()
        .map(|frame| (frame.function.as_str(), number(frame.line)))
        .collect()
}

#[test]
fn where_all_threads_wait_is_written_down() {
    let source = "\
import threading
def work(number):
    lock.acquire()
lock = threading.Lock()
lock.acquire()
thread = threading.Thread(target=work, args=(7,))
thread.start()
thread.join()
";
    on_all_where_it_hangs(source, Duration::from_mins(5), |evidence| {
        assert_eq!(lines(&evidence.failure), [("<module>", 8)]);
        assert_eq!(evidence.causes.len(), 1);
        assert_eq!(lines(&evidence.causes[0]), [("work", 3)]);
        assert_eq!(evidence.causes[0][0].values["number"].text(), "7");
    });
}

#[test]
fn what_a_task_waits_for_is_written_down() {
    let source = "\
import asyncio
async def inner(number):
    await asyncio.get_event_loop().create_future()
async def main():
    await inner(3)
asyncio.run(main())
";
    on_all_where_it_hangs(source, Duration::from_mins(5), |evidence| {
        assert_eq!(lines(&evidence.failure), [("<module>", 6)]);
        assert_eq!(lines(&evidence.causes[0]), [("main", 5), ("inner", 3)]);
    });
}

#[test]
fn the_loop_that_does_not_end_is_written_down() {
    let source = "\
def read(text, at):
    return text[at]
def scan(text):
    at = 0
    while at < len(text):
        if read(text, at) == 'a':
            at += 1
scan('ab')
";
    // Enough to come there on a busy machine: a run's time stands still while others run.
    on_all_where_it_hangs(source, Duration::from_secs(1), |evidence| {
        assert_eq!(lines(&evidence.failure), [("<module>", 8), ("scan", 5)]);
        assert_eq!(evidence.failure[1].values["at"].text(), "1");
    });
}

#[test]
fn causes_exits_and_broken_scripts() {
    on_all(
        "def f():\n    try:\n        int('x')\n    except ValueError as error:\n        raise \
         KeyError(1) from error\nf()\n",
        |_, traced, evidence| {
            let evidence = evidence.unwrap();
            assert_eq!(evidence.causes.len(), 1);
            assert_eq!(evidence.causes[0].last().unwrap().line, at(3));
            assert_eq!(traced.exception.as_ref().unwrap().chain.len(), 1);
        },
    );
    let group = "class Group(Exception):\n    exceptions = ()\ngroup = Group()\n\
         for n in (1, 2):\n    try: int('x' * n)\n    except ValueError as error: group.exceptions \
         += (error,)\nraise group\n";
    on_all(group, |_, _, evidence| {
        let lines: Vec<u32> = evidence
            .unwrap()
            .causes
            .iter()
            .map(|cause| number(cause[0].line))
            .collect();
        assert_eq!(lines, [5, 5]);
    });
    on_all("import sys\nsys.exit(3)\n", |_, traced, evidence| {
        assert_eq!(traced.end, End::Exit(3));
        assert!(evidence.unwrap().failure.is_empty());
    });
    on_all("x = (\n", |plain, traced, evidence| {
        assert_eq!(plain.end, traced.end);
        assert!(evidence.is_none());
    });
}

const PRINTS: &str = "\
import os, re
from collections import Counter, defaultdict, deque
from datetime import datetime, timedelta, timezone
from pathlib import Path
class Row(dict):
    pass
class Call:
    def __init__(self, name):
        self.name = name
    def __call__(self):
        return self.name
class Bill:
    def __init__(self, parts):
        self.parts = parts
    def show(self, label):
        last = self.parts['last']
        echo = 'total: ' + str(last)
        call, row = Call('c'), Row(a=1)
        moment = datetime(2024, 5, 1, tzinfo=timezone.utc) + timedelta(hours=1)
        queue, count, lists = deque([1], maxlen=2), Counter('aab'), defaultdict(list, {1: [2]})
        word = re.compile('(?P<w>a)', re.I)
        path = Path(os.environ['TMPDIR']) / 'folder' / 'data.csv'
        print(label, end=' ')
        print(self.parts['last'])
try:
    raise ValueError('total: 7')
except ValueError as error:
    Bill({'last': 7}).show('total:')
";

#[test]
fn the_statement_that_prints_a_sought_text_is_noted() {
    on_all(PRINTS, |plain, traced, evidence| {
        assert_eq!((plain.end, &plain.stdout), (traced.end, &traced.stdout));
        let evidence = evidence.unwrap();
        let [module, show] = evidence.failure.as_slice() else {
            panic!("{:?}", evidence.failure)
        };
        assert_eq!((module.line, show.line), (at(28), at(24)));
        assert_eq!(
            evidence
                .causes
                .iter()
                .map(|cause| number(cause[0].line))
                .collect::<Vec<_>>(),
            [26]
        );
        for (name, expected) in [
            ("self.parts['last']", "7"),
            ("self.parts", "{'last': 7}"),
            ("call", "Call('c')"),
            ("row", "Row({'a': 1})"),
            ("moment", "datetime(2024, 5, 1, 1, tzinfo=timezone.utc)"),
            ("queue", "deque([1], maxlen=2)"),
            ("count", "Counter({'a': 2, 'b': 1})"),
            ("lists", "defaultdict(list, {1: [2]})"),
            ("word", "re.compile('(?P<w>a)', 2)"),
            ("path", "Path('data.csv')"),
        ] {
            assert_eq!(
                show.values.get(name).map(RecordedValue::text),
                Some(expected),
                "{name}"
            );
        }
        // What tells the sign itself would be an echo of it.
        assert!(!show.values.contains_key("echo") && !module.values.contains_key("error"));
    });
}

#[test]
fn arguments_of_the_last_calls_are_noted() {
    let source = "\
import sys
def f(x, y=1):
    return x / y
def g(x):
    return f(x)
g(1)
for n in (1, 0):
    f(g(2), n)
";
    on_all(source, |_, _, evidence| {
        let evidence = evidence.unwrap();
        let values = |calls: &Arguments, line| {
            let values = calls.get(&at(line))?.values();
            Some(
                values
                    .map(RecordedValue::text)
                    .collect::<Vec<_>>()
                    .join(" "),
            )
        };
        assert_eq!(values(&evidence.arguments, 2).as_deref(), Some("1 1"));
        assert_eq!(values(&evidence.latest, 2).as_deref(), Some("2.0 0"));
        assert_eq!(values(&evidence.latest, 4).as_deref(), Some("2"));
    });
}
