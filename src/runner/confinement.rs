//! The choice of a confinement: tries once, at the start of a session, what this system allows.
//! Called by the handle.

use std::{
    io::{self, BufRead, BufReader},
    process::Stdio,
};

use super::{
    bounds::{Bounds, Confinement},
    error::RunError,
    helpers,
    orders::{Order, Reply, send},
    platform::{NO_CONFINEMENT, confinements},
    setup::Sandbox,
    workspace::Workspace,
};

/// Tries the confinements that this system may allow, the best first.
pub(super) async fn choose(workspace: &Workspace) -> Result<Confinement, RunError> {
    if workspace.setup.sandbox == Sandbox::Off {
        return Ok(Confinement::Off);
    }
    let is_required = workspace.setup.sandbox == Sandbox::Require;
    // Only namespaces, which are tried first, confine in full.
    let tried = if is_required { 1 } else { usize::MAX };
    let mut reasons = Vec::new();
    for confinement in confinements().into_iter().take(tried) {
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
    }
    if is_required {
        if reasons.is_empty() {
            reasons.push(NO_CONFINEMENT.to_owned());
        }
        return Err(RunError::NoSandbox(reasons.concat()));
    }
    Ok(Confinement::Unavailable)
}

/// Tries one confinement in a separate process. Returns the reason if it is not available.
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
