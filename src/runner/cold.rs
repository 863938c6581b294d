//! The cold backend: a fresh process for every run, each under a supervisor of its own. Takes every
//! job.

use std::{process::Stdio, sync::Arc};

use tokio::{
    io::{AsyncBufReadExt, BufReader},
    net::UnixStream,
};

use super::{
    backend::{Backend, Ended, Running, Stop},
    capture::until_end,
    error::RunError,
    helpers,
    job::Job,
    orders::{Order, Reply, send},
    outcome::{End, Timing},
    workspace::Workspace,
};

/// Runs jobs in fresh processes.
pub(super) struct Cold {
    workspace: Arc<Workspace>,
}

impl Cold {
    pub(super) fn new(workspace: Arc<Workspace>) -> Self {
        Self { workspace }
    }

    async fn run_cold(&self, job: &Job, mut stop: Stop) -> Ended {
        let workspace = &self.workspace;
        let scratch = workspace.scratch(job)?;
        let order = workspace
            .run_order(&scratch, job)
            .map_err(|source| workspace.unprepared(source))?;
        let command = order.program.argv.join(" ");
        let (mut supervisor, socket) = helpers::spawn(&workspace.setup.supervisor, Stdio::piped)
            .map_err(RunError::Supervisor)?;
        send(&socket, &Order::Run(Box::new(order))).map_err(RunError::Supervisor)?;
        socket.set_nonblocking(true).map_err(RunError::Supervisor)?;
        let mut socket =
            BufReader::new(UnixStream::from_std(socket).map_err(RunError::Supervisor)?);

        let mut reply = String::new();
        let report = async {
            tokio::select! {
                _ = socket.read_line(&mut reply) => Some(()),
                _ = stop.wait_for(|stop| *stop) => None,
            }
        };
        let streams = (supervisor.stdout.take(), supervisor.stderr.take());
        let limit = workspace.setup.limits.output;
        let (ended, stdout, stderr) = until_end(limit, streams.0, streams.1, report).await;
        // If the run was stopped, this is how its supervisor hears of it.
        drop(socket);
        helpers::collect(supervisor, reply.is_empty() && ended.is_some()).await;
        if ended.is_none() {
            return Ok(None);
        }
        let (end, timing) = match serde_json::from_str(&reply) {
            Ok(Reply::Ended { end, timing }) => (end, timing),
            Ok(Reply::NotStarted(reason)) => return Err(RunError::NotStarted { command, reason }),
            // The program killed its supervisor, which nothing but a KILL does.
            Ok(_) | Err(_) => (End::Signal(9), Timing::default()),
        };
        workspace.after(end);
        Ok(Some(scratch.outcome(job, (end, timing), stdout, stderr)))
    }
}

impl Backend for Cold {
    fn run<'a>(&'a self, job: &'a Job, stop: Stop) -> Running<'a> {
        Box::pin(self.run_cold(job, stop))
    }
}
