//! `minrepro bench --ray ADDRESS`: each case or issue is a job, a `minrepro bench` of this one alone
//! on a node. The figures and results that come back are those of a bench here.

use std::path::{Path, PathBuf};

use anyhow::Context;
use serde::de::DeserializeOwned;
use tempfile::TempDir;

use super::{
    Found,
    row::{Row, line},
};
use crate::{
    cli::{BenchArgs, Exit, Failure, Printer, RunnerKind, anywhere},
    commands::scrub::tools,
    scrub::ExternalTools,
    scrub::cluster::{Cluster, ClusterJob, ClusterSettings},
};

/// The names in a job's folder.
const FIGURES: &str = "figures.json";
const RESULTS: &str = "results";

/// Minimizes the cases of a corpus.
pub(super) fn corpus(
    folders: &[PathBuf],
    address: &str,
    args: &BenchArgs,
    found: &mut Found,
    printer: Printer,
) -> Result<(), Failure> {
    let tools = tools(printer)?;
    let mut jobs = BenchJobs::new(address, args)?;
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let files = [(folder.clone(), PathBuf::from(&*name))];
        jobs.add(&name, &files, &[name.to_string()])?;
    }
    jobs.run(
        &tools,
        printer,
        |name, figures: Result<Row, Unminimized>| match figures {
            Ok(row) => {
                printer.data(line(&row));
                found.hold(name, &row.faults);
                found.rows.push(row);
            }
            Err(Unminimized::Skipped(why)) => found.skip(name, &why, printer),
            Err(Unminimized::Failed(why)) => {
                printer.warning(&format!("{name}: {why}"));
                found.hold(name, &[why]);
            }
        },
    )
}

/// Why there are no figures.
pub(super) enum Unminimized {
    /// No node has what it takes.
    Skipped(String),
    /// The bench of it failed.
    Failed(String),
}

/// Jobs, each with a folder.
pub(super) struct BenchJobs<'a> {
    root: TempDir,
    settings: ClusterSettings,
    args: &'a BenchArgs,
    jobs: Vec<ClusterJob>,
}

impl<'a> BenchJobs<'a> {
    /// None yet.
    pub(super) fn new(address: &str, args: &'a BenchArgs) -> Result<Self, Failure> {
        Ok(Self {
            root: TempDir::new().map_err(uncopied)?,
            settings: ClusterSettings::new(address, args.jobs),
            args,
            jobs: Vec::new(),
        })
    }

    /// Adds a job that has copies of files or folders, each with its place in the job's folder.
    pub(super) fn add(
        &mut self,
        name: &str,
        files: &[(PathBuf, PathBuf)],
        arguments: &[String],
    ) -> Result<(), Failure> {
        let folder = self.root.path().join(self.jobs.len().to_string());
        std::fs::create_dir(&folder).map_err(uncopied)?;
        for (from, to) in files {
            copy(from, &folder.join(to))
                .with_context(|| format!("could not copy `{}`", from.display()))
                .map_err(|error| Failure::new(Exit::Environment, error))?;
        }
        let own = ["bench", "--json", FIGURES, "--keep", RESULTS].map(str::to_owned);
        self.jobs.push(ClusterJob {
            name: name.to_owned(),
            folder,
            arguments: own
                .into_iter()
                .chain(arguments.iter().cloned())
                .chain(self.options())
                .collect(),
        });
        Ok(())
    }

    /// The options of every bench.
    fn options(&self) -> Vec<String> {
        let pythons = self.args.python.iter();
        let mut options: Vec<String> = pythons
            .map(|path| format!("--python={}", anywhere(path)))
            .collect();
        options.push(format!("--jobs={}", self.settings.cpus));
        match self.args.runner {
            RunnerKind::Auto => {}
            RunnerKind::Warm => options.push("--runner=warm".to_owned()),
            RunnerKind::Cold => options.push("--runner=cold".to_owned()),
        }
        if self.args.ablation {
            options.push("--ablation".to_owned());
        }
        options
    }

    /// Runs all jobs, and takes the figures of each as it ends.
    pub(super) fn run<F: DeserializeOwned>(
        self,
        tools: &ExternalTools,
        printer: Printer,
        mut take: impl FnMut(&str, Result<F, Unminimized>),
    ) -> Result<(), Failure> {
        let jobs = self.jobs.clone();
        let mut cluster = Cluster::start(&self.settings, self.jobs, tools, printer)?;
        while let Some(end) = cluster.next_end()? {
            let Some(job) = jobs.iter().find(|job| job.name == end.name) else {
                continue;
            };
            let figures = std::fs::read(job.folder.join(FIGURES)).ok();
            let figures: Option<Vec<F>> =
                figures.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            let lacks_something = end.status == Some(i32::from(Exit::Environment.code()));
            let figures = match figures.and_then(|mut rows| rows.pop()) {
                Some(row) => Ok(row),
                None if lacks_something => Err(Unminimized::Skipped(end.reason())),
                None => Err(Unminimized::Failed(end.reason())),
            };
            let results = job.folder.join(RESULTS);
            if let Some(keep) = self.args.keep.as_ref().filter(|_| results.is_dir()) {
                copy(&results, keep)
                    .with_context(|| format!("could not keep the result in `{}`", keep.display()))
                    .map_err(|error| Failure::new(Exit::Environment, error))?;
            }
            take(&end.name, figures);
        }
        Ok(())
    }
}

fn uncopied(error: std::io::Error) -> Failure {
    let error = anyhow::Error::new(error).context("could not copy the cases for the nodes");
    Failure::new(Exit::Environment, error)
}

/// Copies a file, or a folder with all that it holds.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    if !from.is_dir() {
        return std::fs::copy(from, to).map(|_| ());
    }
    std::fs::create_dir_all(to)?;
    for entry in from.read_dir()? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
