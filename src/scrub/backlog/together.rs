//! A backlog on many machines: each issue is a job that scrubs into the issue's own folder. What
//! follows from its end, writes included, happens here. Called by the backlog.

use super::{
    Backlog, EntryState,
    one::{read_entry, unwritten, write_entry},
};
use crate::{
    cli::Failure,
    scrub::cluster::{Cluster, ClusterJob, ClusterSettings, JobEnd},
};

/// The file in an issue's folder that holds its entry, on the way to a machine and back.
const ENTRY_FILE: &str = "entry.json";

impl Backlog<'_> {
    /// Has all issues without an end scrubbed on the nodes of a cluster. Each is tried once.
    pub(super) fn work_together(
        &mut self,
        settings: &ClusterSettings,
        options: &[String],
    ) -> Result<(), Failure> {
        let order = self.order();
        let mut jobs = Vec::new();
        for &at in &order {
            if self.queue.entries()[at].state != EntryState::Done {
                jobs.push(self.job(at, options)?);
            }
        }
        let count = jobs.len();
        if count > 0 {
            let mut cluster = Cluster::start(settings, jobs, self.tools, self.printer)?;
            let mut number = 0;
            while let Some(end) = cluster.next_end()? {
                number += 1;
                self.take(&order, &end, number, count)?;
            }
        }
        // Those that were done before.
        for at in order {
            self.write_agreed(at)?;
        }
        Ok(())
    }

    fn job(&self, at: usize, options: &[String]) -> Result<ClusterJob, Failure> {
        let mut entry = self.queue.entries()[at].clone();
        let folder = self.settings.folder.join(&entry.folder);
        std::fs::create_dir_all(&folder).map_err(|error| unwritten(&folder, error))?;
        entry.state = EntryState::Running;
        entry.why.clear();
        write_entry(&folder.join(ENTRY_FILE), &entry)?;
        let command = ["scrub", "--entry", ENTRY_FILE].map(str::to_owned);
        Ok(ClusterJob {
            name: entry.name(),
            folder,
            arguments: command.into_iter().chain(options.iter().cloned()).collect(),
        })
    }

    /// Records the end of an issue, and carries out its plan if the user has agreed to it.
    fn take(
        &mut self,
        order: &[usize],
        end: &JobEnd,
        number: usize,
        count: usize,
    ) -> Result<(), Failure> {
        let named = |at: &usize| self.queue.entries()[*at].name() == end.name;
        let Some(at) = order.iter().copied().find(named) else {
            return Ok(());
        };
        let known = &self.queue.entries()[at];
        let file = self.settings.folder.join(&known.folder).join(ENTRY_FILE);
        let mut entry = read_entry(&file)?;
        self.printer.note(format!(
            "[{number} of {count}] {} {} ({})",
            entry.name(),
            entry.title,
            end.place
        ));
        if entry.state == EntryState::Running {
            entry.state = EntryState::Failed;
            entry.why = end.reason();
        }
        self.ended(entry)?;
        self.write_agreed(at)
    }
}
