//! `minrepro bench --compare A B`: two versions of minrepro, by their rows in the history. Runs
//! nothing.

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::{Context, anyhow};

use super::history::{BenchHistory, HistoryRow};
use crate::{
    cli::{BenchArgs, Exit, Failure, Printer},
    report::{CaseFigures, ComparedCase, VersionComparison, write_atomically},
};

/// Opens the history of the user's choice.
pub(super) fn history(args: &BenchArgs) -> Result<BenchHistory, Failure> {
    let path = args.issues.history.clone();
    let path: PathBuf = path.or_else(BenchHistory::default_path).ok_or_else(|| {
        Failure::new(Exit::Environment, anyhow!("the home folder is unknown"))
            .hint("name a file for the history: `--history FILE`")
    })?;
    BenchHistory::open(&path)
        .with_context(|| format!("could not open the history `{}`", path.display()))
        .map_err(|error| {
            Failure::new(Exit::Environment, error).hint("name another file: `--history FILE`")
        })
}

pub(super) fn compare(
    a: &str,
    b: &str,
    args: &BenchArgs,
    printer: Printer,
) -> Result<Exit, Failure> {
    let history = history(args)?;
    let mut cases: BTreeMap<&str, [Option<CaseFigures>; 2]> = BTreeMap::new();
    for (at, version) in [a, b].into_iter().enumerate() {
        let rows = history.of(version);
        if rows.is_empty() {
            return Err(unknown(version, &history));
        }
        for row in rows {
            cases.entry(&row.issue).or_default()[at] = figures(row);
        }
    }
    let case = |(name, versions): (&str, _)| ComparedCase {
        name: name.to_owned(),
        versions,
    };
    let comparison = VersionComparison {
        names: [a, b].map(str::to_owned),
        cases: cases.into_iter().map(case).collect(),
    };
    printer.data(comparison.table());
    if let Some(path) = &args.issues.plot {
        write_atomically(path, comparison.page().as_bytes())
            .with_context(|| format!("could not write `{}`", path.display()))
            .map_err(|error| {
                Failure::new(Exit::Environment, error).hint("name another file: `--plot FILE`")
            })?;
        printer.note(format!("plot: {}", path.display()));
    }
    Ok(Exit::Reduced)
}

/// The figures of a row that has a result.
fn figures(row: &HistoryRow) -> Option<CaseFigures> {
    Some(CaseFigures {
        tokens: row.tokens?,
        runs: row.runs,
        seconds: row.seconds,
        verdict: row.verdict.clone(),
    })
}

fn unknown(version: &str, history: &BenchHistory) -> Failure {
    let failure = Failure::usage(format!("the history has no row of `{version}`"));
    let known = history.versions();
    if known.is_empty() {
        return failure.hint("the history is empty: run `minrepro bench --historical --name NAME`");
    }
    let shown: Vec<&str> = known.into_iter().take(10).collect();
    failure.hint(format!("it has rows of {}", shown.join(", ")))
}
