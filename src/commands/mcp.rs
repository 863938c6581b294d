//! `minrepro mcp`: a server of the Model Context Protocol on standard input and output.

use crate::{
    agent::serve,
    cli::{Exit, Failure},
};

pub(super) fn mcp() -> Result<Exit, Failure> {
    match serve() {
        Ok(()) => Ok(Exit::Reduced),
        Err(error) => Err(Failure::new(Exit::Environment, error)
            .hint("a client starts this command and speaks to it; nothing is to be typed here")),
    }
}
