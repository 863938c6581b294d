//! The tracer under every interpreter: what it writes down, and that a run ends as it would have without it.

use std::time::Duration;

use minrepro::runner::{Command, End, Job, Outcome, Runner};
use minrepro_reducers::evidence::Evidence;

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

/// A plain run and a traced run of a script under each interpreter.
fn on_all(source: &str, check: impl Fn(&Outcome, &Outcome, Option<Evidence>)) {
    if interpreters().is_empty() {
        skip("tracing", "no interpreter was found");
        return;
    }
    for python in interpreters().values() {
        let folder = tempfile::tempdir().unwrap();
        let mut setup = setup(folder.path(), 2);
        setup.command = Command::Python { python: python.clone(), args: vec!["one".into()] };
        let runner = Runner::start(setup).unwrap();
        let plain = Job::new(source.as_bytes().into(), Duration::from_secs(30));
        let traced = Job { traced: true, ..plain.clone() };
        let outcomes = runner.run_all(&[plain, traced], &mut |_, _| {}).unwrap();
        let [plain, traced] = outcomes.as_slice() else { panic!("two outcomes") };
        let evidence = traced.trace.as_deref().map(|text| serde_json::from_str(text).unwrap());
        check(plain, traced, evidence);
    }
}

#[test]
fn a_failure_is_written_down_with_its_values() {
    on_all(SCRIPT, |plain, traced, evidence| {
        assert_eq!((plain.end, &plain.stdout), (traced.end, &traced.stdout));
        let (before, after) = (plain.exception.as_ref().unwrap(), traced.exception.as_ref().unwrap());
        assert_eq!((&before.class, &before.message), (&after.class, &after.message));
        let lines = |it: &minrepro::runner::Exception| it.frames.iter().map(|it| it.line).collect::<Vec<_>>();
        assert_eq!(lines(before), lines(after));

        let evidence = evidence.unwrap();
        assert!(evidence.hits.contains_key(&7) && !evidence.hits.contains_key(&8), "{:?}", evidence.hits);
        assert_eq!(evidence.hits.get(&9), Some(&2));
        assert_eq!(evidence.entered.get(&12), Some(&2));
        assert_eq!(evidence.returned.get(&12).map(String::as_str), Some("40"));
        assert!(evidence.varying.is_empty());
        let [module, function] = evidence.failure.as_slice() else { panic!("{:?}", evidence.failure) };
        assert!(module.is_module() && (module.line, function.line) == (17, 10));
        let value = |name: &str| function.values.get(name).map(String::as_str);
        assert_eq!(value("factor"), Some("1"));
        assert_eq!(value("point"), Some("Point([40], y=1)"));
        assert_eq!(value("names"), Some("{'a': [1, 2.5], 'b': Point([40], y=1)}"));
    });
}

#[test]
fn causes_exits_and_broken_scripts() {
    on_all(
        "def f():\n    try:\n        int('x')\n    except ValueError as error:\n        raise KeyError(1) from error\nf()\n",
        |_, traced, evidence| {
            let evidence = evidence.unwrap();
            assert_eq!(evidence.causes.len(), 1);
            assert_eq!(evidence.causes[0].last().unwrap().line, 3);
            assert_eq!(traced.exception.as_ref().unwrap().chain.len(), 1);
        },
    );
    on_all("import sys\nsys.exit(3)\n", |_, traced, evidence| {
        assert_eq!(traced.end, End::Exit(3));
        assert!(evidence.unwrap().failure.is_empty());
    });
    on_all("x = (\n", |plain, traced, evidence| {
        assert_eq!(plain.end, traced.end);
        assert!(evidence.is_none());
    });
}
