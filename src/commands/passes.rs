//! `minrepro passes` and `minrepro passes explain NAME`; also reads `--passes` for other verbs.

use anstyle::Style;
use minrepro_reducers::{
    pass::Pass,
    registry::{self, PASSES},
};

use crate::cli::{Exit, Failure, Painted, PassesArgs, PassesVerb, Printer};

const NAME: Style = Style::new().bold();

pub(super) fn passes(args: &PassesArgs, printer: Printer) -> Result<Exit, Failure> {
    match &args.verb {
        None => {
            let width = PASSES.iter().map(|pass| pass.id.len()).max().unwrap_or(0);
            for pass in PASSES {
                let stage = pass.stage.name();
                printer.data(
                    Painted::default()
                        .with(NAME, format!("{:width$}", pass.id))
                        .plain(format!("  {stage:9}  {}\n", pass.summary().trim())),
                );
            }
        }
        Some(PassesVerb::Explain { name }) => {
            let pass = find(name)?;
            printer.data(
                Painted::default()
                    .with(NAME, pass.id)
                    .plain(format!(" ({} stage)\n\n", pass.stage.name())),
            );
            for line in pass.doc.lines() {
                let line = line.strip_prefix(' ').unwrap_or(line);
                let line = match line.trim_end() {
                    "```python before" => "Before:",
                    "```python after" => "\nAfter:",
                    "```" => "",
                    line => line,
                };
                printer.data(format!("{line}\n"));
            }
        }
    }
    Ok(Exit::Reduced)
}

/// The passes that `--passes` selects: those named, or all but those named as `no-NAME`.
pub(super) fn select(names: &[String]) -> Result<Vec<&'static Pass>, Failure> {
    let mut wanted = Vec::new();
    let mut unwanted = Vec::new();
    for name in names {
        match name.strip_prefix("no-") {
            Some(name) => unwanted.push(find(name)?.id),
            None => wanted.push(find(name)?.id),
        }
    }
    let chosen = |pass: &&&'static Pass| {
        (wanted.is_empty() || wanted.contains(&pass.id)) && !unwanted.contains(&pass.id)
    };
    Ok(PASSES.iter().filter(chosen).copied().collect())
}

fn find(name: &str) -> Result<&'static Pass, Failure> {
    registry::find(name).ok_or_else(|| {
        const LIKE: usize = 4;
        let distance = |pass: &&&'static Pass| strsim::osa_distance(pass.id, name);
        let nearest = PASSES.iter().min_by_key(distance);
        let hint = match nearest.filter(|pass| distance(pass) <= LIKE) {
            Some(pass) => format!("did you mean `{}`? ", pass.id),
            None => String::new(),
        };
        Failure::usage(format!("there is no pass `{name}`"))
            .hint(format!("{hint}`minrepro passes` lists them all"))
    })
}
