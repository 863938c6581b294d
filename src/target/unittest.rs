//! A unittest script with the name of one test as its argument. The test is run once to see how it
//! fails. Then the file becomes a script that makes unittest's steps itself. Called by the room.

use std::{ffi::OsString, path::Path};

use anyhow::anyhow;
use minrepro_reducers::{
    rewrite::{
        edit::EditSet,
        merge_modules::{MergedModule, merge},
    },
    syntax::Program,
};
use serde::{Deserialize, Serialize};

use super::{
    TargetProgram,
    failure::{TestFailure, differs, likely},
};
use crate::{
    cli::{Exit, Failure},
    oracle::{Spec, summary},
    runner::{Runner, Setup},
};

#[derive(Serialize)]
struct Unittest<'a> {
    source: &'a str,
    module: String,
    name: &'a str,
}

/// The record of a name by unittest.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct UnittestRecord {
    /// The tests that the name stands for.
    items: Vec<String>,
    /// All tests of the file, where there is none.
    known: Vec<String>,
    said: String,
    failure: Option<TestFailure>,
    skipped: Option<String>,
    class: String,
    method: String,
    /// Those of `setUpModule` and `tearDownModule` that there are.
    fixtures: Vec<String>,
}

/// The name of a test among the arguments of a script, if they are nothing else.
pub(super) fn asked(program: &Program, arguments: &[OsString]) -> Option<String> {
    let [name] = arguments else {
        return None;
    };
    let name = name.to_str()?;
    let (class, _) = name.split_once('.').unwrap_or((name, ""));
    let is_name = name
        .chars()
        .all(|char| char.is_alphanumeric() || ['_', '.'].contains(&char));
    // A class may stand for several, as `TestPools` does for `TestPoolsCPU`.
    let mut defined = program.defined_names().into_iter();
    let is_class = defined.any(|known| known.len() > 2 && class.starts_with(&known));
    let is_test = ["TestCase", "unittest", "run_tests"]
        .iter()
        .any(|word| program.has_name(word));
    (is_name && is_class && is_test).then(|| name.to_owned())
}

/// The test as a script without arguments; nothing if it fails only as unittest runs it.
pub(super) fn read(
    script: &Path,
    program: &Program,
    name: &str,
    specs: &[Spec],
    setup: Setup,
) -> Result<Result<TargetProgram, String>, Failure> {
    let runner = Runner::start(setup)?;
    let stem = script.file_stem().unwrap_or_default().to_string_lossy();
    let question = Unittest {
        source: program.text(),
        module: stem.into_owned(),
        name,
    };
    let (record, outcome) =
        runner.ask::<_, UnittestRecord>(include_str!("python/unittest_case.py"), &question)?;
    let Some(record) = record else {
        return Ok(Err(format!(
            "unittest does not finish: {}",
            summary(&outcome)
        )));
    };
    let failure = check(name, &record)?;
    let mut seen = String::new();
    for text in [steps(&record, true), steps(&record, false), whole(&record)] {
        let module = MergedModule {
            program,
            package: "",
            file: None,
            edits: EditSet::default(),
        };
        let merged = merge(&[module]).map_err(|error| Failure::new(Exit::Bug, error))?;
        let program = program
            .sibling(format!("{}{text}", merged.text))
            .map_err(|error| Failure::new(Exit::Bug, anyhow!("the test as a script: {error}")))?;
        let bytes = program.encode().unwrap_or_default();
        let outcome = runner.run_once(bytes.clone())?;
        match differs(Some(failure), specs, &outcome) {
            None => {
                return Ok(Ok(TargetProgram {
                    bytes,
                    program,
                    notes: vec![
                        format!("unittest: {} fails: {}", record.items[0], failure.shown()),
                        "the test is run as a plain script".to_owned(),
                    ],
                    takes_arguments: false,
                }));
            }
            Some(other) => seen = other,
        }
    }
    Ok(Err(format!("as a plain script it shows {seen}")))
}

/// The failure of the one test that a name stands for.
fn check<'a>(name: &str, record: &'a UnittestRecord) -> Result<&'a TestFailure, Failure> {
    match record.items.as_slice() {
        [] => {
            let mut failure = Failure::usage(format!("unittest finds no test `{name}`"));
            failure.details = vec![record.said.lines().last().unwrap_or_default().to_owned()];
            return Err(failure.hint(likely(
                name,
                &record.known,
                "name it as unittest does: `TestX.test_y`",
            )));
        }
        [_] => {}
        several => {
            let count = several.len();
            let mut failure = Failure::usage(format!("`{name}` stands for {count} tests"));
            failure.details = several.iter().take(10).cloned().collect();
            return Err(failure.hint(format!("name one of them: `-- {}`", several[0])));
        }
    }
    record.failure.as_ref().ok_or_else(|| {
        let said = match &record.skipped {
            Some(reason) => format!("the test `{name}` is not run to its end: {reason}"),
            None => format!("the test `{name}` passes"),
        };
        Failure::new(Exit::NotReproduced, anyhow!(said))
            .hint("run it by hand; `--python PATH` names another interpreter")
    })
}

/// The steps of unittest for a test, as statements of a script.
fn steps(record: &UnittestRecord, with_teardown: bool) -> String {
    let has = |name: &str| record.fixtures.iter().any(|known| known == name);
    super::unittest_steps::steps(
        &record.class,
        &record.method,
        [has("setUpModule"), has("tearDownModule") && with_teardown],
        with_teardown,
    )
}

/// The same by unittest's own means, for tests that need them, such as asynchronous ones.
fn whole(record: &UnittestRecord) -> String {
    let module = if record.fixtures.iter().any(|name| name == "setUpModule") {
        "setUpModule()\n"
    } else {
        ""
    };
    let UnittestRecord { class, method, .. } = record;
    format!("\n\n{module}{class}.setUpClass()\n{class}('{method}').debug()\n")
}
