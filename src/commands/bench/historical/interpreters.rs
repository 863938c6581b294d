//! The interpreter that has the versions which show an issue: one of this machine, or one that uv
//! has made or makes. Runs interpreters only to ask for their versions.

use std::collections::BTreeMap;

use crate::{
    cli::{BenchArgs, Exit, Failure, Printer},
    commands::bench::corpus::{Interpreters, Needs},
    runner::Interpreter,
    scrub::{
        ExternalTools,
        corpus::HistoricalIssue,
        version_environments::{CPYTHON, of_packages},
    },
};

/// The interpreters that fit issues, each looked for once.
pub(super) struct FittingInterpreters<'a> {
    interpreters: Interpreters,
    known: BTreeMap<String, Result<Interpreter, String>>,
    args: &'a BenchArgs,
    tools: &'a ExternalTools,
    printer: Printer,
}

impl<'a> FittingInterpreters<'a> {
    /// Those that the user named, or else all that can be found.
    pub(super) fn new(
        args: &'a BenchArgs,
        tools: &'a ExternalTools,
        printer: Printer,
    ) -> Result<Self, Failure> {
        Ok(Self {
            interpreters: Interpreters::new(&args.python)?,
            known: BTreeMap::new(),
            args,
            tools,
            printer,
        })
    }

    /// The interpreter for an issue, or why there is none.
    pub(super) fn fitting(
        &mut self,
        issue: &HistoricalIssue,
    ) -> Result<Result<Interpreter, String>, Failure> {
        let needs = Needs {
            python: &issue.python,
            packages: &issue.versions,
        };
        let key = needs.to_string();
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }
        let here = self.interpreters.that_is(needs).map_err(|error| {
            let context = format!("the issue `{}` is broken", issue.id);
            Failure::new(Exit::Usage, error.context(context))
        })?;
        let found = match here {
            Some(interpreter) => Ok(interpreter),
            None if !self.args.python.is_empty() => Err(format!("no interpreter named is {needs}")),
            None => self.made(needs)?,
        };
        self.known.insert(key, found.clone());
        Ok(found)
    }

    /// One that uv makes, or has made.
    fn made(&self, needs: Needs<'_>) -> Result<Result<Interpreter, String>, Failure> {
        let install = self.args.issues.install;
        let itself = needs.packages.iter().filter(|(name, _)| *name == CPYTHON);
        let itself: BTreeMap<String, String> = itself
            .map(|(name, version)| (name.clone(), version.clone()))
            .collect();
        let base = self.interpreters.that_is(Needs {
            packages: &itself,
            ..needs
        });
        let base = base.ok().flatten();
        let made = of_packages(
            needs.python,
            base.as_ref().map(|base| base.path.as_path()),
            needs.packages,
            install,
            self.tools,
            self.printer,
        )?;
        let none = |why: String| format!("no interpreter here is {needs}; {why}");
        Ok(made.map_err(none).and_then(|python| {
            Interpreter::find(Some(&python)).map_err(|error| none(error.to_string()))
        }))
    }
}
