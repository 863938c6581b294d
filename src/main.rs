//! Parses the arguments, runs the command, gives the exit status.

use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args_os().nth(1).is_some_and(|verb| verb == "supervise") {
        return minrepro::runner::supervise();
    }
    ExitCode::SUCCESS
}
