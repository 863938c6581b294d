//! `minrepro diagnose SCRIPT`: classifies a failure of PyTorch.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use super::{script_runner::Bench, scrub, session::Session};
use crate::{
    cli::{DiagnoseArgs, Exit, Failure, Printer, RunArgs},
    diagnose::{
        Diagnosis, DiagnosisError, MinifierFinding, OtherBuild, ReproducedFailure, category_names,
        default_folder, diagnose as run, elsewhere, explain,
    },
    oracle::Baseline,
    report::{ReportForm, check_writable, target, write_atomically},
    runner::{RunError, Start},
    scrub::script_runner::{MinimizeTask, ScriptRunner as _},
    target::Target,
};

/// How often the script is run first, and how often if it does not show the bug each time.
const RUNS: usize = 3;
const FLAKY_RUNS: usize = 20;
/// How long the program of PyTorch's minifier is minimized, unless the user sets another limit.
const MINIMIZING: Duration = Duration::from_mins(3);

pub(super) fn diagnose(args: &DiagnoseArgs, printer: Printer) -> Result<Exit, Failure> {
    if let Some(category) = &args.explain {
        let text = explain(category).ok_or_else(|| {
            let names = category_names().join(", ");
            Failure::usage(format!("there is no category `{category}`"))
                .hint(format!("the categories are {names}"))
        })?;
        printer.data(&text);
        return Ok(Exit::Reduced);
    }
    let Some(script) = &args.script else {
        return Err(Failure::usage("the script is missing"));
    };
    let reports = reports(args, script)?;
    let test = args.emitted_test.as_deref().map(test).transpose()?;
    let run_args = RunArgs {
        signature: args.probe.signature.clone(),
        timeout: args.probe.timeout,
        env: args.env.clone(),
        scrubbed: false,
        ..scrub::run_args(&args.probe)
    };
    let given = Target::typed(Some(script), None)?;
    let session = Session::start(&given, &run_args)?;
    for note in &session.notes {
        printer.note(note);
    }
    session.warn_of_weak_confinement(printer);
    let folder = args.artifacts.clone();
    let folder = folder.unwrap_or_else(|| default_folder(session.subject.runner.script()));
    std::fs::create_dir_all(&folder).map_err(|error| {
        let error = anyhow::Error::new(error);
        Failure::new(
            Exit::Usage,
            error.context(format!("could not make `{}`", folder.display())),
        )
        .hint("name another folder by `--artifacts FOLDER`")
    })?;
    let reproduced = reproduced(&session)?;
    printer.note(format!(
        "signature: {} ({} of {} runs)",
        reproduced.signature,
        reproduced.same,
        reproduced.outcomes.len()
    ));
    let diagnosed = run(&session.subject, &reproduced, &folder, args.minifier_time);
    let mut diagnosis = diagnosed.map_err(|error| match error {
        DiagnosisError::Run(error) => error.into(),
        error @ DiagnosisError::NoTorch(_) => {
            let python = session
                .interpreter
                .as_ref()
                .map(|found| found.path.display().to_string());
            let mut failure = Failure::new(Exit::Environment, error)
                .hint("name the interpreter that has it by `--python PATH`");
            failure.details = python
                .into_iter()
                .map(|path| format!("interpreter: {path}"))
                .collect();
            failure
        }
    })?;
    if let Some(found) = &mut diagnosis.minifier {
        minimize(found, &folder, args, printer)?;
    }
    let builds = builds(args, &session, test.is_some())?;
    let script = &session.subject.bytes;
    diagnosis.elsewhere = elsewhere(script, test.as_deref(), &reproduced, builds)?;
    for (path, form) in &reports {
        write(path, *form, &diagnosis)?;
    }
    printer.data(diagnosis.text());
    Ok(Exit::Reduced)
}

/// Minimizes the program of PyTorch's minifier.
fn minimize(
    found: &mut MinifierFinding,
    folder: &Path,
    args: &DiagnoseArgs,
    printer: Printer,
) -> Result<(), Failure> {
    let (Some(_), Some(file)) = (found.program(), &found.file) else {
        return Ok(());
    };
    let run = RunArgs {
        env: args.env.clone(),
        ..scrub::run_args(&args.probe)
    };
    let mut bench = Bench::new(run, printer)?;
    bench.set_limit(args.minifier_time.unwrap_or(MINIMIZING));
    let output = folder.join("minifier/minimized.py");
    // The words of a graph's failure may differ from the script's; its own were checked.
    let task = MinimizeTask {
        script: Path::new(file),
        signature: &[],
        env: &[],
        good: None,
        output: &output,
    };
    match bench.minimize(&task) {
        Ok(minimized) => {
            found.set_minimized(&minimized.text);
            let stopped = "its minimization was stopped by its limit".to_owned();
            found.not_minimized = (!minimized.is_whole).then_some(stopped);
        }
        Err(failure) if matches!(failure.exit, Exit::Interrupted(_)) => return Err(failure),
        // The program shows the bug all the same.
        Err(failure) => found.not_minimized = Some(format!("{:#}", failure.error)),
    }
    Ok(())
}

/// The bytes of the test that was made of the script.
fn test(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| {
        let error = anyhow::Error::new(error);
        Failure::new(
            Exit::Usage,
            error.context(format!("could not read `{}`", file.display())),
        )
        .hint("name a file that `minrepro SCRIPT --emit-test FILE` wrote")
    })
}

/// The interpreters under which the script is run as well; for a test, that of the session is one.
fn builds(
    args: &DiagnoseArgs,
    session: &Session,
    has_test: bool,
) -> Result<Vec<OtherBuild>, Failure> {
    let own = session.interpreter.as_ref().filter(|_| has_test);
    let own = own.map(|own| ("here".to_owned(), own.path.clone()));
    let named = own.into_iter().chain(args.also.iter().cloned());
    let build = |(name, python): (String, PathBuf)| {
        let (description, runner) = match session.under(&python) {
            Ok((found, runner)) => {
                let torch = found.package("torch");
                let torch = torch.map(|version| format!(", torch {version}"));
                let description = format!("{}{}", found.description, torch.unwrap_or_default());
                (description, Ok(runner))
            }
            // An interrupted command ends; an interpreter that does not work is a finding.
            Err(error @ RunError::Interrupted(_)) => return Err(error.into()),
            Err(error) => (python.display().to_string(), Err(error.to_string())),
        };
        Ok(OtherBuild {
            name,
            python,
            description,
            runner,
        })
    };
    named.map(build).collect()
}

/// Runs the script until its signature and the rate of the bug are known.
fn reproduced(session: &Session) -> Result<ReproducedFailure, Failure> {
    let subject = &session.subject;
    let specs = &subject.settings.specs;
    let outcomes = subject.baseline_runs(RUNS, Start::Cold, &mut |_| {})?;
    if let (Some(obstacle), Some(first)) = (subject.obstacle(&outcomes), outcomes.first()) {
        return Err(session.obstructed(&obstacle, first));
    }
    let baseline = match Baseline::new(specs, outcomes.clone()) {
        Ok(baseline) => baseline,
        Err(error) if error.is_unstable() => {
            let timeout = subject.timeout(
                outcomes
                    .iter()
                    .map(|outcome| outcome.timing.alone())
                    .max()
                    .unwrap_or_default(),
            );
            let more = subject.run_times(&subject.bytes, FLAKY_RUNS - outcomes.len(), timeout)?;
            let all = outcomes.iter().cloned().chain(more).collect();
            Baseline::of_some(specs, all)
                .map_err(|_| session.not_reproduced(error, outcomes.first()))?
        }
        Err(error) => return Err(session.not_reproduced(error, outcomes.first())),
    };
    Ok(ReproducedFailure {
        // Probes take longer than the script: they compile more, and log.
        timeout: subject.timeout(baseline.wall).max(Duration::from_mins(1)),
        signature: baseline.signature,
        same: baseline.same,
        outcomes: baseline.outcomes,
    })
}

/// The files of the reports with their forms, checked before anything is run.
fn reports(args: &DiagnoseArgs, script: &Path) -> Result<Vec<(PathBuf, ReportForm)>, Failure> {
    const HINT: &str = "name a file that ends with .html, .md or .json";
    let checked = args.report.iter().map(|path| {
        let form = ReportForm::of(path).ok_or_else(|| {
            Failure::usage(format!("`{}` has no known report format", path.display())).hint(HINT)
        })?;
        let path = target(path, &[script], HINT)?;
        check_writable(&path, HINT)?;
        Ok((path, form))
    });
    checked.collect()
}

fn write(path: &Path, form: ReportForm, diagnosis: &Diagnosis) -> Result<(), Failure> {
    write_atomically(path, diagnosis.render(form).as_bytes()).map_err(|error| {
        let error = anyhow::Error::new(error);
        Failure::new(
            Exit::Environment,
            error.context(format!("could not write `{}`", path.display())),
        )
    })
}
