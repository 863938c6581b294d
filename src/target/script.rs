//! Reads a script from its file or from standard input, or explains why it is not one.

use std::{
    io::{IsTerminal, Read},
    path::Path,
};

use anyhow::Context;
use minrepro_reducers::syntax::{Program, ReadError};

use crate::cli::{Exit, Failure, tip};

/// The script's bytes and the program that they hold.
///
/// # Errors
///
/// There is no such file, or it is no script.
pub fn read(script: &Path) -> Result<(Vec<u8>, Program), Failure> {
    let shown = script.display();
    if script.is_dir() {
        return Err(Failure::usage(format!("`{shown}` is a folder")).hint("name the script in it"));
    }
    // A pipe may never end, and there would be no folder beside it.
    if script.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(
            Failure::usage(format!("`{shown}` is not a regular file")).hint(
                "save the script to a file, or give it on standard input: `minrepro - < SCRIPT`",
            ),
        );
    }
    let bytes = std::fs::read(script)
        .with_context(|| format!("could not read `{shown}`"))
        .map_err(|error| {
            let hint = match script.to_str().and_then(|word| tip(word, "")) {
                Some(tip) => format!("{tip}, or name a script that exists"),
                None => "name a script that exists and can be read".to_owned(),
            };
            Failure::new(Exit::Usage, error).hint(hint)
        })?;
    parsed(&shown.to_string(), bytes)
}

/// The script on standard input.
pub(super) fn read_input() -> Result<(Vec<u8>, Program), Failure> {
    if std::io::stdin().is_terminal() {
        return Err(
            Failure::usage("the script on standard input would have to be typed")
                .hint("give a file: `minrepro - < SCRIPT`"),
        );
    }
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .context("could not read standard input")
        .map_err(|error| Failure::new(Exit::Usage, error))?;
    parsed("standard input", bytes)
}

/// The program in bytes from a place with a name.
fn parsed(shown: &str, bytes: Vec<u8>) -> Result<(Vec<u8>, Program), Failure> {
    if is_notebook(&bytes) {
        return Err(
            Failure::usage(format!("`{shown}` is a notebook, not a script"))
                .hint("name it so that it ends in `.ipynb`"),
        );
    }
    let program = Program::read(&bytes).map_err(|error| not_python(shown, &bytes, error))?;
    if program.body().is_empty() {
        return Err(
            Failure::usage(format!("`{shown}` is empty: there is nothing to run"))
                .hint("name the script that shows the bug"),
        );
    }
    Ok((bytes, program))
}

/// Whether a file is a Jupyter notebook, which is JSON, and most of it parses as Python, too.
fn is_notebook(bytes: &[u8]) -> bool {
    let notebook: Option<serde_json::Value> = serde_json::from_slice(bytes).ok();
    notebook.is_some_and(|value| value["cells"].is_array() && value["nbformat"].is_number())
}

fn not_python(shown: &str, bytes: &[u8], error: ReadError) -> Failure {
    match error {
        ReadError::Decode(error) => Failure::new(
            Exit::Usage,
            anyhow::Error::new(error).context(format!("`{shown}` is not Python source")),
        )
        .hint(
            "save it as UTF-8, or name its encoding on the first line: `# -*- coding: latin-1 -*-`",
        ),
        ReadError::Syntax(error) => {
            let hint = if is_python_2(&String::from_utf8_lossy(bytes)) {
                "it looks like Python 2; minrepro reads Python 3"
            } else {
                "correct the line above, or name the file that runs"
            };
            let lead = format!("  {} | ", error.line);
            let caret = " ".repeat(lead.len() + error.column.saturating_sub(1) as usize);
            let mut failure = Failure::usage(format!(
                "`{shown}` is not Python: {}:{}: {}",
                error.line, error.column, error.message
            ))
            .hint(hint);
            failure.details = vec![
                format!("{lead}{}", error.excerpt.replace('\t', " ")),
                format!("{caret}^"),
            ];
            failure
        }
    }
}

/// Whether a text that does not parse has the marks of Python 2.
fn is_python_2(text: &str) -> bool {
    text.lines().map(str::trim_start).any(|line| {
        let prints = line.strip_prefix("print ").is_some_and(|rest| {
            !rest.trim_start().starts_with(['(', '=', ',']) && !rest.is_empty()
        });
        let catches = line.starts_with("except ")
            && line.trim_end().ends_with(':')
            && line.contains(", ")
            && !line.contains('(');
        prints || catches || line.starts_with("exec \"")
    })
}
