//! Catches panics of minrepro itself: writes them to a folder that can be attached to a report.
//! Called by `main`.

use std::{
    backtrace::Backtrace,
    io::Write,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use crate::cli::{Exit, Failure};

static LAST: Mutex<String> = Mutex::new(String::new());

/// Runs a command; a panic becomes a failure that names the crash folder.
///
/// Panics of passes are caught further in and reported by the engine.
pub fn caught(run: impl FnOnce() -> Result<Exit, Failure>) -> Result<Exit, Failure> {
    std::panic::set_hook(Box::new(|panic| {
        let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
        *last = format!("{panic}\n\n{}", Backtrace::force_capture());
    }));
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        let report = LAST.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let first = report.lines().nth(1).unwrap_or("no message").to_owned();
        let failure = Failure::new(Exit::Bug, anyhow::anyhow!("minrepro has a bug: {first}"));
        Err(match write(&report) {
            Some(folder) => failure.hint(format!(
                "please report it and attach the folder `{}`, which holds the details and the script",
                folder.display()
            )),
            None => failure.hint("please report it with the command and the script"),
        })
    })
}

/// Writes the report, the command line and the script, if it was named first.
fn write(report: &str) -> Option<PathBuf> {
    let folder = tempfile::Builder::new()
        .prefix("minrepro-crash-")
        .tempdir()
        .ok()?
        .keep();
    let args: Vec<String> = std::env::args().collect();
    let mut file = std::fs::File::create(folder.join("report.txt")).ok()?;
    writeln!(
        file,
        "minrepro {}\n{args:?}\n\n{report}",
        env!("CARGO_PKG_VERSION")
    )
    .ok()?;
    for path in args.iter().skip(1).map(PathBuf::from) {
        if let Some(name) = path
            .file_name()
            .filter(|_| path.extension().is_some_and(|extension| extension == "py"))
        {
            // The report is worth having without the script, too.
            let _ = std::fs::copy(&path, folder.join(name));
        }
    }
    Some(folder)
}
