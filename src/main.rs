//! Parses the arguments, runs the command, gives the exit status.

fn main() {}
