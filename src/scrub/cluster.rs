//! Jobs on the nodes of a Ray cluster. Ray is reached through the Python package, which runs on each
//! node; this starts it here and reads what it says. A job is a command of ours in a folder.
//! Knows nothing of what jobs do. Called by `bench` and the backlog.

use std::{
    collections::BTreeMap,
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow};
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::{
    cli::{Exit, Failure, Printer, VERSION},
    scrub::tool::{ExternalTools, ToolCall, ToolStream},
};

/// The runs at a time of a job, and the cores that it takes, unless the user says.
const CPUS: u16 = 2;

/// Which cluster, and how jobs use it.
#[derive(Clone, Debug)]
pub struct ClusterSettings {
    /// Its address, as Ray takes it.
    pub address: String,
    /// The cores that each job takes.
    pub cpus: u16,
}

impl ClusterSettings {
    /// The settings that the user typed.
    pub fn new(address: &str, jobs: Option<u16>) -> Self {
        Self {
            address: address.to_owned(),
            cpus: jobs.unwrap_or(CPUS),
        }
    }
}

/// A command in a folder.
#[derive(Clone, Debug, Serialize)]
pub struct ClusterJob {
    /// Its name, unlike those of all other jobs.
    pub name: String,
    /// The folder. A node has a copy of it, and its changes come back here.
    pub folder: PathBuf,
    /// The arguments of `minrepro`, which runs in the copy.
    pub arguments: Vec<String>,
}

/// The end of a job.
#[derive(Clone, Debug)]
pub struct JobEnd {
    /// The job's name.
    pub name: String,
    /// Where it ran, in a word or two.
    pub place: String,
    /// The exit status; none if it did not come to one.
    pub status: Option<i32>,
    stdout: String,
    stderr: String,
}

impl JobEnd {
    /// What it said to people last, which is why it failed if it did.
    pub fn reason(&self) -> String {
        let said = |text: &str, lead: &str| {
            let mut lines = text.lines().filter_map(|line| line.strip_prefix(lead));
            lines.next_back().map(|line| line.trim().to_owned())
        };
        said(&self.stderr, "error: ")
            .or_else(|| said(&self.stderr, ""))
            .or_else(|| said(&self.stdout, ""))
            .unwrap_or_else(|| "it said nothing".to_owned())
    }
}

/// A line of the package.
#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum ClusterEvent {
    Node {
        node: String,
        host: String,
        cpus: f64,
        devices: BTreeMap<String, f64>,
        interpreters: Vec<String>,
        trouble: Option<String>,
    },
    Started {
        job: String,
        node: String,
    },
    Lost {
        job: String,
        node: String,
    },
    Ended {
        job: String,
        node: String,
        status: Option<i32>,
        stdout: String,
        stderr: String,
    },
    Failed {
        message: String,
    },
}

#[derive(Serialize)]
struct ClusterRequest<'a> {
    address: &'a str,
    cpus: u16,
    version: String,
    jobs: &'a [ClusterJob],
}

/// A cluster that works on jobs. It stops when this is dropped.
pub struct Cluster<'a> {
    tools: &'a ExternalTools,
    printer: Printer,
    stream: ToolStream,
    /// The nodes, each with a short name.
    places: BTreeMap<String, String>,
    left: usize,
    _request: NamedTempFile,
}

impl<'a> Cluster<'a> {
    /// Gives jobs to a cluster.
    pub fn start(
        settings: &ClusterSettings,
        mut jobs: Vec<ClusterJob>,
        tools: &'a ExternalTools,
        printer: Printer,
    ) -> Result<Self, Failure> {
        for job in &mut jobs {
            let folder = std::path::absolute(&job.folder);
            job.folder = folder.unwrap_or_else(|_| job.folder.clone());
        }
        let request = ClusterRequest {
            address: &settings.address,
            cpus: settings.cpus,
            version: format!("minrepro {VERSION}"),
            jobs: &jobs,
        };
        let started = || {
            let mut file = NamedTempFile::new()?;
            file.write_all(&serde_json::to_vec(&request)?)?;
            let call = ToolCall {
                is_announced: true,
                ..ToolCall::new([
                    python().display().to_string(),
                    "-m".to_owned(),
                    "minrepro._cluster".to_owned(),
                    file.path().display().to_string(),
                ])
            };
            let stream = tools.open(call)?;
            anyhow::Ok((file, stream))
        };
        let (file, stream) = started()
            .context("could not start the Python package of minrepro")
            .map_err(|error| Failure::new(Exit::Environment, error))?;
        Ok(Self {
            tools,
            printer,
            stream,
            places: BTreeMap::new(),
            left: jobs.len(),
            _request: file,
        })
    }

    /// Waits for the next end of a job; none after the last.
    pub fn next_end(&mut self) -> Result<Option<JobEnd>, Failure> {
        while self.left > 0 {
            let Some(line) = self.tools.next_line(&mut self.stream)? else {
                return Err(self.broken()?);
            };
            let Ok(event) = serde_json::from_str(&line) else {
                continue;
            };
            if let Some(end) = self.take(event)? {
                self.left -= 1;
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    fn take(&mut self, event: ClusterEvent) -> Result<Option<JobEnd>, Failure> {
        match event {
            ClusterEvent::Node {
                node,
                host,
                cpus,
                devices,
                interpreters,
                trouble,
            } => {
                let number = self.places.len() + 1;
                let place = format!("node {number}, {host}");
                let devices = devices.iter();
                let devices: Vec<String> = devices
                    .map(|(name, count)| format!("{count} {name}"))
                    .collect();
                let has = [
                    format!("{cpus} cores"),
                    devices.join(", "),
                    interpreters.join(", "),
                ];
                let has = has.iter().filter(|text| !text.is_empty()).cloned();
                let has = has.collect::<Vec<_>>().join("; ");
                match trouble {
                    Some(trouble) => self
                        .printer
                        .warning(&format!("{place} gets no jobs: {trouble}")),
                    None => self.printer.note(format!("{place}: {has}")),
                }
                self.places.insert(node, place);
            }
            ClusterEvent::Started { job, node } => {
                let place = self.place(&node);
                self.printer.note(format!("     {job} began on {place}"));
            }
            ClusterEvent::Lost { job, node } => {
                let place = self.place(&node);
                self.printer
                    .warning(&format!("{place} was lost; {job} goes on elsewhere"));
            }
            ClusterEvent::Ended {
                job,
                node,
                status,
                stdout,
                stderr,
            } => {
                return Ok(Some(JobEnd {
                    place: self.place(&node),
                    name: job,
                    status,
                    stdout,
                    stderr,
                }));
            }
            ClusterEvent::Failed { message } => {
                return Err(Failure::new(Exit::Environment, anyhow!(message)).hint(
                    "name a cluster as Ray does: `auto`, or the `HOST:PORT` that `ray start --head` prints; \
                     each node needs `pip install 'minrepro[ray]'`",
                ));
            }
        }
        Ok(None)
    }

    fn place(&self, node: &str) -> String {
        let known = self.places.get(node).cloned();
        known.unwrap_or_else(|| "an unknown node".to_owned())
    }

    /// Why the package ended before its jobs did.
    fn broken(&mut self) -> Result<Failure, Failure> {
        let output = self.tools.close(&mut self.stream)?;
        let last = output.stderr.lines().last().unwrap_or("it said nothing");
        let error = anyhow!("the Python package of minrepro ended: {}", last.trim());
        Ok(Failure::new(Exit::Environment, error)
            .hint("install it with Ray where this program is: `pip install 'minrepro[ray]'`"))
    }
}

/// The interpreter that this program was installed with, or else that of the user.
fn python() -> PathBuf {
    let beside = std::env::current_exe()
        .ok()
        .and_then(|program| program.parent().map(|folder| folder.join("python3")));
    beside
        .filter(|path| path.is_file())
        .unwrap_or_else(|| Path::new("python3").to_owned())
}
