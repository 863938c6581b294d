//! `minrepro bench FOLDER`: minimizes every case of a corpus and holds the results against what an expert wrote.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow};
use minrepro_reducers::{registry::PASSES, syntax::Program};
use serde::{Deserialize, Serialize};

use super::{output::Output, reduce::minimize, session::Session};
use crate::{
    cli::{BenchArgs, Exit, Failure, Printer, RunArgs, SandboxWhen},
    engine::Stop,
    journal::Journal,
    report::{Progress, write_atomically},
    runner::Interpreter,
};

/// What `case.toml` says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    description: String,
    signature: String,
    python: String,
    timeout: f64,
    #[serde(default)]
    keep: Vec<String>,
    #[serde(default)]
    gone: Vec<String>,
    max_tokens: u32,
    max_runs: u64,
}

/// The figures of one case.
#[derive(Clone, Debug, Serialize)]
struct Row {
    case: String,
    description: String,
    python: String,
    before: u32,
    after: u32,
    ideal: u32,
    ratio: f64,
    /// Tokens once 100 candidates had been run, over the ideal's.
    ratio_at_100: f64,
    runs: u64,
    /// Share of runs behind the last success.
    tail: f64,
    seconds: f64,
    confirmed: bool,
    /// What falls short; empty if nothing does.
    faults: Vec<String>,
}

pub(super) fn bench(args: &BenchArgs, printer: Printer) -> Result<Exit, Failure> {
    let folders = cases(&args.folder)?;
    let interpreters = match &args.python {
        Some(python) => vec![Interpreter::find(Some(python))?],
        None => interpreters(),
    };
    let mut rows = Vec::new();
    printer.data(&header());
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let failed = |error: anyhow::Error| {
            Failure::new(Exit::Usage, error.context(format!("the case `{name}` is broken")))
        };
        let text = std::fs::read_to_string(folder.join("case.toml")).map_err(|error| failed(error.into()))?;
        let case: Case = toml::from_str(&text).map_err(|error| failed(error.into()))?;
        let Some(python) = fitting(&interpreters, &case.python).map_err(failed)? else {
            printer.warning(&format!("SKIPPED {name}: no interpreter here is Python {}", case.python));
            continue;
        };
        let row = run(&name, &folder, &case, python, args, printer)?;
        printer.data(&line(&row));
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(Failure::new(Exit::Environment, anyhow!("no case could be run")));
    }
    printer.data(&footer(&rows));
    if let Some(path) = &args.json {
        let text = serde_json::to_vec_pretty(&rows).unwrap_or_default();
        write_atomically(path, &text)
            .with_context(|| format!("could not write `{}`", path.display()))
            .map_err(|error| Failure::new(Exit::Environment, error))?;
    }
    let faults: Vec<String> =
        rows.iter().flat_map(|row| row.faults.iter().map(|fault| format!("{}: {fault}", row.case))).collect();
    if faults.is_empty() {
        return Ok(Exit::Reduced);
    }
    let mut failure = Failure::new(Exit::NotReproduced, anyhow!("{} of the cases fall short", faults.len()));
    failure.details = faults;
    Err(failure)
}

/// The folders with a `case.toml`, by name.
fn cases(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    if folder.join("case.toml").is_file() {
        return Ok(vec![folder.to_owned()]);
    }
    let entries = std::fs::read_dir(folder)
        .with_context(|| format!("could not read the corpus `{}`", folder.display()))
        .map_err(|error| Failure::new(Exit::Usage, error).hint("name a folder of cases, such as `corpus`"))?;
    let mut found: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.join("case.toml").is_file()).collect();
    found.sort();
    if found.is_empty() {
        return Err(Failure::usage(format!("`{}` holds no case", folder.display()))
            .hint("a case is a folder with repro.py, case.toml and ideal.py"));
    }
    Ok(found)
}

/// The interpreters of this machine, oldest first: the active one, `python3.N` on the search path, pyenv's.
fn interpreters() -> Vec<Interpreter> {
    let mut names: Vec<PathBuf> = vec!["python3".into()];
    names.extend((8..=14).map(|minor| PathBuf::from(format!("python3.{minor}"))));
    let root = std::env::var_os("PYENV_ROOT").map(PathBuf::from);
    let root = root.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".pyenv")));
    if let Some(versions) = root.and_then(|root| root.join("versions").read_dir().ok()) {
        let mut found: Vec<PathBuf> = versions.flatten().map(|it| it.path().join("bin/python")).collect();
        found.sort();
        names.extend(found);
    }
    let mut found: BTreeMap<(u8, u8), Interpreter> = BTreeMap::new();
    for name in names {
        if let Ok(interpreter) = Interpreter::find(Some(&name)) {
            found.entry(interpreter.version).or_insert(interpreter);
        }
    }
    found.into_values().collect()
}

/// The newest interpreter that fits a range such as `>=3.8,<3.14`.
fn fitting<'a>(interpreters: &'a [Interpreter], range: &str) -> anyhow::Result<Option<&'a Interpreter>> {
    let mut bounds = Vec::new();
    for bound in range.split(',').map(str::trim) {
        let digits = bound.find(|char: char| char.is_ascii_digit()).context("a bound without a version")?;
        let (sign, version) = bound.split_at(digits);
        let (major, minor) = version.trim().split_once('.').context("a version is MAJOR.MINOR")?;
        bounds.push((sign.trim().to_owned(), (major.parse::<u8>()?, minor.parse::<u8>()?)));
    }
    let fits = |version: (u8, u8)| -> anyhow::Result<bool> {
        for (sign, bound) in &bounds {
            let holds = match sign.as_str() {
                ">=" => version >= *bound,
                "<=" => version <= *bound,
                "<" => version < *bound,
                ">" => version > *bound,
                "==" => version == *bound,
                other => return Err(anyhow!("`{other}` is no comparison")),
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    };
    for interpreter in interpreters.iter().rev() {
        if fits(interpreter.version)? {
            return Ok(Some(interpreter));
        }
    }
    Ok(None)
}

fn run(
    name: &str,
    folder: &Path,
    case: &Case,
    python: &Interpreter,
    args: &BenchArgs,
    printer: Printer,
) -> Result<Row, Failure> {
    let run_args = RunArgs {
        signature: vec![case.signature.clone()],
        test: None,
        python: Some(python.path.clone()),
        timeout: Some(std::time::Duration::from_secs_f64(case.timeout)),
        memory: None,
        env: Vec::new(),
        sandbox: SandboxWhen::Auto,
        runner: args.runner,
        jobs: args.jobs,
        args: Vec::new(),
    };
    let ideal = std::fs::read(folder.join("ideal.py"))
        .map_err(anyhow::Error::from)
        .and_then(|bytes| Ok(Program::read(&bytes)?))
        .map_err(|error| {
            Failure::new(Exit::Usage, error.context(format!("`ideal.py` of `{name}` can not be read")))
        })?;
    let (session, program) = Session::start(&folder.join("repro.py"), &run_args)?;
    let progress = Progress::silent(printer);
    let minimized =
        minimize(&session, program, PASSES, &mut Journal::in_memory(), None, &Output::Stdout, &progress)?;
    let reduction = &minimized.reduction;
    if let Stop::Halted(crate::engine::Halt::Interrupted(signal)) = reduction.stop {
        return Err(Failure::new(Exit::Interrupted(signal), anyhow!("interrupted")));
    }
    let text = reduction.program.text();
    if let Some(keep) = &args.keep {
        let written = std::fs::create_dir_all(keep).and_then(|()| {
            write_atomically(
                &keep.join(format!("{name}.py")),
                &reduction.program.encode().unwrap_or_default(),
            )
        });
        written
            .with_context(|| format!("could not keep the result in `{}`", keep.display()))
            .map_err(|error| Failure::new(Exit::Environment, error))?;
    }
    let (before, after, ideal) =
        (minimized.before.size().tokens, reduction.program.size().tokens, ideal.size().tokens);
    let at_100 =
        reduction.commits.iter().take_while(|commit| commit.run <= 100).last().map_or(before, |it| it.tokens);
    let last = reduction.commits.last().map_or(0, |commit| commit.run);
    let runs = reduction.tally.runs;
    let over = |tokens: u32| f64::from(tokens) / f64::from(ideal.max(1));
    let mut faults = Vec::new();
    faults.extend(case.keep.iter().filter(|it| !text.contains(*it)).map(|it| format!("`{it}` is gone")));
    faults
        .extend(case.gone.iter().filter(|it| text.contains(*it)).map(|it| format!("`{it}` is still there")));
    if after > case.max_tokens {
        faults.push(format!("{after} tokens, {} at most", case.max_tokens));
    }
    if runs > case.max_runs {
        faults.push(format!("{runs} runs, {} at most", case.max_runs));
    }
    if !minimized.confirmed.is_certain() {
        faults.push("not confirmed by fresh runs".to_owned());
    }
    Ok(Row {
        case: name.to_owned(),
        description: case.description.clone(),
        python: python.description.clone(),
        before,
        after,
        ideal,
        ratio: over(after),
        ratio_at_100: over(at_100),
        runs,
        tail: (runs.saturating_sub(last)) as f64 / runs.max(1) as f64,
        seconds: minimized.seconds,
        confirmed: minimized.confirmed.is_certain(),
        faults,
    })
}

fn header() -> String {
    format!(
        "{:24} {:16} {:>6} {:>6} {:>6} {:>6} {:>7} {:>5} {:>5} {:>8}  {}\n",
        "case",
        "python",
        "before",
        "after",
        "ideal",
        "ratio",
        "at 100",
        "runs",
        "tail",
        "seconds",
        "confirmed"
    )
}

fn line(row: &Row) -> String {
    format!(
        "{:24} {:16} {:>6} {:>6} {:>6} {:>6.2} {:>7.2} {:>5} {:>4.0}% {:>8.1}  {}{}\n",
        row.case,
        row.python,
        row.before,
        row.after,
        row.ideal,
        row.ratio,
        row.ratio_at_100,
        row.runs,
        100.0 * row.tail,
        row.seconds,
        if row.confirmed { "yes" } else { "NO" },
        if row.faults.is_empty() { "" } else { "  FALLS SHORT" },
    )
}

fn footer(rows: &[Row]) -> String {
    let mean = |of: &dyn Fn(&Row) -> f64| {
        (rows.iter().map(|row| of(row).max(1e-9).ln()).sum::<f64>() / rows.len() as f64).exp()
    };
    let mut text = String::new();
    let _ = writeln!(
        text,
        "geometric mean of {} cases: ratio {:.2}, at 100 runs {:.2}, runs {:.0}",
        rows.len(),
        mean(&|row| row.ratio),
        mean(&|row| row.ratio_at_100),
        mean(&|row| row.runs as f64)
    );
    text
}
