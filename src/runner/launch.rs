//! Starts the program of a run, with the limits that the kernel itself enforces. Called by the
//! process that waits for its end; see `platform`.

use std::{
    fs::File,
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::orders::Launch;

/// Open files of one process.
const OPEN_FILES: u64 = 1 << 16;

/// Starts a program in a process group of its own. From now on, this process and everything that it
/// starts have the program's limits, too.
#[expect(clippy::disallowed_methods, reason = "the runner starts processes")]
pub(super) fn start(program: &Launch) -> Result<Child, String> {
    limit(program).map_err(|error| format!("limits: {error}"))?;
    let (name, args) = program.argv.split_first().ok_or("the command is empty")?;
    let input = match &program.input {
        Some(path) => File::open(path)
            .map_err(|error| format!("its standard input: {error}"))?
            .into(),
        None => Stdio::null(),
    };
    Command::new(name)
        .args(args)
        .env_clear()
        .envs(&program.env)
        .current_dir(&program.work)
        .stdin(input)
        .process_group(0)
        .spawn()
        .map_err(|error| error.to_string())
}

fn limit(program: &Launch) -> rustix::io::Result<()> {
    let both = |limit: u64| Rlimit {
        current: Some(limit),
        maximum: Some(limit),
    };
    setrlimit(Resource::Core, both(0))?;
    setrlimit(Resource::Fsize, both(program.file_size))?;
    let lower = |limit: Option<u64>| Some(limit.unwrap_or(u64::MAX).min(OPEN_FILES));
    let files = getrlimit(Resource::Nofile);
    setrlimit(
        Resource::Nofile,
        Rlimit {
            current: lower(files.current),
            maximum: lower(files.maximum),
        },
    )
}
