//! The choice of a confinement: what this system allows is tried once at the start of a session.
//! Called by the handle.

use std::{
    io::{self, BufRead, BufReader},
    process::Stdio,
};

use super::{
    error::RunError,
    helpers,
    orders::{Order, Reply, send},
    sandbox::{Bounds, Confinement, has_landlock},
    setup::Sandbox,
    workspace::Workspace,
};

/// Tries what this system allows, the best first.
pub(super) async fn choose(workspace: &Workspace) -> Result<Confinement, RunError> {
    if workspace.setup.sandbox == Sandbox::Off {
        return Ok(Confinement::Off);
    }
    let mut reasons = Vec::new();
    let landlock = has_landlock();
    let alone = landlock.then_some(Confinement::Landlock);
    for confinement in [Confinement::Namespaces { landlock }]
        .into_iter()
        .chain(alone)
    {
        let bounds = Bounds {
            confinement,
            ..workspace.bounds(vec![workspace.root.clone()])
        };
        match attempt(workspace, bounds)
            .await
            .map_err(RunError::Supervisor)?
        {
            Ok(()) => return Ok(confinement),
            Err(reason) => reasons.push(reason),
        }
        // Only namespaces, which are tried first, confine in full.
        if workspace.setup.sandbox == Sandbox::Require {
            return Err(RunError::NoSandbox(reasons.concat()));
        }
    }
    Ok(Confinement::Unavailable)
}

/// Tries one confinement in a process of its own; returns the reason if it is not to be had.
async fn attempt(workspace: &Workspace, bounds: Bounds) -> io::Result<Result<(), String>> {
    let (supervisor, socket) = helpers::spawn(&workspace.setup.supervisor, Stdio::null)?;
    send(&socket, &Order::Try(bounds))?;
    let mut reply = String::new();
    BufReader::new(socket).read_line(&mut reply)?;
    helpers::collect(supervisor, false).await;
    Ok(match serde_json::from_str(&reply) {
        Ok(Reply::Confined) => Ok(()),
        Ok(Reply::NotStarted(reason)) => Err(reason),
        _ => Err("the process that tried it was killed".to_owned()),
    })
}
