//! The helper processes: `minrepro supervise` is this program again, with one thread and a socket
//! on its standard input. A supervisor watches over one run, or over a zygote with everything that
//! is forked from it; see `platform`. The guard outlives minrepro. Started by `helpers`.

use std::{
    io::{BufRead, BufReader},
    process::ExitCode,
};

use super::{guard::guard, orders::Order, platform};

/// Serves the hidden verb: reads an order from standard input and carries it out.
pub fn supervise() -> ExitCode {
    let mut input = BufReader::new(std::io::stdin());
    let mut line = String::new();
    if input.read_line(&mut line).is_err() {
        return ExitCode::FAILURE;
    }
    match serde_json::from_str(&line) {
        Ok(Order::Guard(root)) => guard(root, input),
        Ok(Order::Also(_)) | Err(_) => return ExitCode::FAILURE,
        Ok(order) => platform::carry_out(order, input.buffer().to_vec()),
    }
    ExitCode::SUCCESS
}
