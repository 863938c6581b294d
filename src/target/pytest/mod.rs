//! `FILE::NODE`: a pytest test. The project's own pytest runs it once and reports how it fails and
//! what was set up for it. Then the test is written as a script, in the first form that shows the
//! same failure. Called by the room.

mod node;
mod record;
mod script;

use std::path::Path;

use anyhow::anyhow;
use minrepro_reducers::syntax::Program;
use serde::Serialize;

use self::{
    record::NodeRecord,
    script::{by_pytest, plain},
};
use super::{
    TargetProgram,
    failure::{differs, likely},
};
use crate::{
    cli::{Exit, Failure},
    oracle::{Spec, summary},
    runner::{Outcome, Runner, Setup},
};

pub use node::PytestNode;

#[derive(Serialize)]
struct Question<'a> {
    node: &'a str,
    folder: &'a Path,
    arguments: &'a [String],
}

impl PytestNode {
    pub(in crate::target) fn read(
        &self,
        arguments: &[String],
        specs: &[Spec],
        setup: Setup,
    ) -> Result<TargetProgram, Failure> {
        let runner = Runner::start(setup)?;
        let question = Question {
            node: &self.id,
            folder: self.folder().unwrap_or(Path::new("")),
            arguments,
        };
        let (record, outcome) =
            runner.ask::<_, NodeRecord>(include_str!("../python/pytest_node.py"), &question)?;
        let Some(record) = record else {
            let error = anyhow!("pytest did not finish `{}`: {}", self.id, summary(&outcome));
            let mut failure = Failure::new(Exit::NotReproduced, error)
                .hint("run it by hand: `python -m pytest NODE`");
            failure.details = tail(&outcome);
            return Err(failure);
        };
        self.check(&record, &outcome)?;
        let failure = record.failure.as_ref();
        let mut notes = vec![match failure {
            Some(failure) => format!(
                "pytest: {} fails in its {}: {}",
                record.items[0],
                failure.phase,
                failure.shown()
            ),
            None => format!("pytest: {} cannot be imported", self.id),
        }];
        let bytes_of = |text: String| -> Result<TargetProgram, Failure> {
            let program = Program::parse(text).map_err(|error| {
                Failure::new(Exit::Bug, anyhow!("the test as a script: {error}"))
            })?;
            Ok(TargetProgram {
                bytes: program.encode().unwrap_or_default(),
                program,
                notes: Vec::new(),
                takes_arguments: false,
            })
        };
        let mut why = record.unsupported.first().cloned();
        if why.is_none() {
            // Where tearing down fails as well, the script would end with that.
            let with_teardown = failure.is_none_or(|failure| failure.phase == "teardown")
                || !record.phases.iter().any(|phase| phase == "teardown");
            let text = plain(&record, self, with_teardown)?;
            match text {
                Ok(text) => {
                    let mut target = bytes_of(text)?;
                    let outcome = runner.run_once(target.bytes.clone())?;
                    match differs(failure, specs, &outcome) {
                        None => {
                            notes.push("the test is run as a plain script".to_owned());
                            target.notes = notes;
                            return Ok(target);
                        }
                        Some(seen) => why = Some(format!("as a plain script it shows {seen}")),
                    }
                }
                Err(reason) => why = Some(reason),
            }
        }
        let why = why.unwrap_or_default();
        let mut target = bytes_of(by_pytest(&record, self)?)?;
        notes.push(format!(
            "the test stays a test that pytest runs, since {why}"
        ));
        target.notes = notes;
        Ok(target)
    }

    /// Whether the node is one test that fails.
    fn check(&self, record: &NodeRecord, outcome: &Outcome) -> Result<(), Failure> {
        let id = &self.id;
        if record.pytest == Some(false) {
            let error = anyhow!("pytest is not installed for this interpreter");
            return Err(Failure::new(Exit::Environment, error)
                .hint("name the interpreter of the project with `--python PATH`"));
        }
        match record.items.as_slice() {
            [] if record.collection.is_some() => return Ok(()),
            [] => {
                let said = outcome.stderr.text();
                let said: Vec<&str> = said.lines().filter(|line| !line.is_empty()).collect();
                let mut failure = Failure::usage(format!("pytest finds no test `{id}`"));
                failure.details = said.iter().take(6).map(|line| (*line).to_owned()).collect();
                return Err(failure.hint(likely(
                    id,
                    &record.known,
                    "name it as pytest does: `tests/test_x.py::TestX::test_y[case]`",
                )));
            }
            [_] => {}
            several => {
                let count = several.len();
                let mut failure = Failure::usage(format!("`{id}` stands for {count} tests"));
                failure.details = several.iter().take(10).cloned().collect();
                return Err(failure.hint(format!("name one of them: `minrepro '{}'`", several[0])));
            }
        }
        if record.failure.is_some() {
            return Ok(());
        }
        let said = match &record.skipped {
            Some(reason) => format!("the test `{id}` is not run to its end: {reason}"),
            None => format!("the test `{id}` passes"),
        };
        let mut failure = Failure::new(Exit::NotReproduced, anyhow!(said));
        failure.details = tail(outcome);
        Err(failure.hint(
            "run it in the project's folder by hand; `--python PATH` names another interpreter",
        ))
    }
}

/// The last lines that pytest printed.
fn tail(outcome: &Outcome) -> Vec<String> {
    let text = outcome.stdout.text();
    let lines: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    let from = lines.len().saturating_sub(15);
    lines[from..]
        .iter()
        .map(|line| format!("  {line}"))
        .collect()
}
