//! The named pipes that carry the output of a forked run to minrepro. Called by `zygote`.

use std::{
    io,
    path::{Path, PathBuf},
};

use tokio::net::unix::pipe;

use super::platform::make_pipe;

/// The named pipes of a run: read here, and held open until the run has ended, since nobody knows
/// when it opens them.
pub(super) struct Streams {
    pub(super) paths: (PathBuf, PathBuf),
    pub(super) stdout: pipe::Receiver,
    pub(super) stderr: pipe::Receiver,
    pub(super) holders: (pipe::Sender, pipe::Sender),
}

impl Streams {
    /// Makes the pipes of one run.
    pub(super) fn make(folder: &Path) -> io::Result<Self> {
        let make = |name: &str| {
            let path = folder.join(name);
            make_pipe(&path)?;
            let receiver = pipe::OpenOptions::new().open_receiver(&path)?;
            let holder = pipe::OpenOptions::new().open_sender(&path)?;
            io::Result::Ok((path, receiver, holder))
        };
        let (out, stdout, out_holder) = make("stdout")?;
        let (err, stderr, err_holder) = make("stderr")?;
        Ok(Self {
            paths: (out, err),
            stdout,
            stderr,
            holders: (out_holder, err_holder),
        })
    }
}
