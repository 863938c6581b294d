//! Runs and minimizes the scripts of `scrub` with the sessions and the reduction of the other
//! verbs.

use std::{
    io::Write,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{reduce, session::Session};
use crate::{
    cli::{Exit, Failure, Format, Printer, ReduceArgs, RunArgs},
    runner::{Interpreter, Outcome},
    scrub::script_runner::{MinimizeTask, MinimizedScript, ScriptRunner, Trial},
    target::Target,
};

/// The user's interpreter and limits.
pub(super) struct Bench {
    run: RunArgs,
    interpreter: Interpreter,
    printer: Printer,
    /// How long a reduction may take.
    limit: Option<Duration>,
}

impl Bench {
    /// Finds the interpreter.
    pub(super) fn new(run: RunArgs, printer: Printer) -> Result<Self, Failure> {
        let interpreter = Interpreter::find(run.python.as_deref())?;
        Ok(Self {
            run,
            interpreter,
            printer,
            limit: None,
        })
    }

    /// Sets how long a reduction may take.
    pub(super) fn set_limit(&mut self, limit: Duration) {
        self.limit = Some(limit);
    }

    fn trial(&self, trial: &Trial) -> Result<Vec<Outcome>, Failure> {
        let unwritten = |error: std::io::Error| {
            Failure::new(
                Exit::Environment,
                anyhow::Error::new(error).context("could not write the script to be run"),
            )
        };
        // A folder of its own: nothing lies beside the script.
        let folder = tempfile::Builder::new()
            .prefix("minrepro-trial-")
            .tempdir()
            .map_err(unwritten)?;
        let script = folder.path().join("repro.py");
        std::fs::File::create(&script)
            .and_then(|mut file| file.write_all(trial.code.as_bytes()))
            .map_err(unwritten)?;
        let python = trial
            .python
            .clone()
            .unwrap_or_else(|| self.interpreter.path.clone());
        let args = RunArgs {
            python: Some(python),
            env: self.run.env.iter().chain(&trial.env).cloned().collect(),
            signature: Vec::new(),
            ..self.run.clone()
        };
        let session = Session::start(&Target::Script(script), &args)?;
        Ok(session
            .subject
            .run_times(&session.subject.bytes, trial.times, trial.timeout)?)
    }
}

impl ScriptRunner for Bench {
    fn run(&self, trials: &[Trial]) -> Vec<Result<Vec<Outcome>, Failure>> {
        if let [trial] = trials {
            return vec![self.trial(trial)];
        }
        std::thread::scope(|scope| {
            let running: Vec<_> = trials
                .iter()
                .map(|trial| scope.spawn(|| self.trial(trial)))
                .collect();
            let ended = running.into_iter().map(std::thread::ScopedJoinHandle::join);
            ended
                .map(|joined| {
                    joined.unwrap_or_else(|_| {
                        Err(Failure::new(Exit::Bug, anyhow::anyhow!("a probe panicked")))
                    })
                })
                .collect()
        })
    }

    fn minimize(&self, task: &MinimizeTask<'_>) -> Result<MinimizedScript, Failure> {
        let run = RunArgs {
            python: Some(self.interpreter.path.clone()),
            env: self.run.env.iter().chain(task.env).cloned().collect(),
            signature: task.signature.to_vec(),
            good: task.good.map(Path::to_owned),
            ..self.run.clone()
        };
        let args = ReduceArgs {
            inline: vec!["all".to_owned()],
            script: Some(task.script.to_owned()),
            run,
            output: Some(task.output.to_owned()),
            max_time: self.limit,
            max_runs: None,
            passes: Vec::new(),
            keep: Vec::new(),
            // The folder is the scrub's own.
            force: true,
            diff: false,
            report: Vec::new(),
            emit_test: None,
            // The comment says why each line stays, which the final sweep found out.
            no_ablation: true,
            format: Format::Human,
            no_journal: false,
        };
        let reduce::Reduced { exit, report, text } = reduce::reduced(&args, self.printer)?;
        if let Exit::Interrupted(signal) = exit {
            return Err(crate::runner::RunError::Interrupted(signal).into());
        }
        Ok(MinimizedScript {
            text: text.to_string(),
            tokens: (report.programs.before.tokens, report.programs.after.tokens),
            is_whole: report.undone.is_empty(),
            runs: report.counts.runs,
            kept: report.kept,
        })
    }

    fn identity(&self) -> String {
        self.interpreter.identity.clone()
    }

    fn python(&self) -> PathBuf {
        self.interpreter.path.clone()
    }

    fn set_python(&mut self, python: &Path) -> Result<(), Failure> {
        self.interpreter = Interpreter::find(Some(python))?;
        Ok(())
    }
}
