//! PyTorch's own minifier, run on the graph that fails, and its result as a plain script. It finds
//! a graph of one operation in a model of a thousand, and cannot find what happens before there is
//! a graph. Called by the diagnosis.

use std::{collections::BTreeMap, fs, time::Duration};

use minrepro_reducers::{
    syntax::Program,
    torch::{
        diagnosis::{CategoryRow, categories},
        environment::{COMPILER_OFF, CompilerRank},
    },
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{
    Examination,
    classify::{CategoryFinding, EvidenceOfRuns},
    findings::sent,
    ladder::{RungKind, RungOutcome, of},
    look,
};
use crate::{
    oracle::{Signature, summary},
    runner::{End, Job, Outcome, RunError},
};

/// The categories whose failures PyTorch's minifier can show.
const CATEGORIES: [&str; 2] = ["backend", "accuracy"];
/// The variables of a category's run that have the minifier's launcher written.
const LAUNCHING: &str = "TORCHDYNAMO_REPRO_";
/// Graphs with no more operations are not minified unless the user gives it time.
const FEW: usize = 3;
/// How long the minifier may take, unless the user sets another limit.
const LIMIT: Duration = Duration::from_mins(1);
/// The longest part of a message that every smaller graph must fail with.
const CHECKED: usize = 80;

/// The result of PyTorch's minifier.
#[derive(Clone, Debug, Default, PartialEq, Serialize, schemars::JsonSchema)]
pub struct MinifierFinding {
    /// The operations of the graph that fails.
    pub nodes_before: Option<usize>,
    /// The operations of the smallest graph.
    pub nodes_after: Option<usize>,
    /// The seconds that the minifier took.
    pub seconds: f64,
    /// Whether it was stopped by its limit.
    pub stopped: bool,
    /// Why there is no program of it, if there is none.
    pub failed: Option<String>,
    /// Why its program was not minimized, or not to the end.
    pub not_minimized: Option<String>,
    /// The file of its program.
    pub file: Option<String>,
    /// The script and the minifier's program, if there is one, the smaller first.
    pub programs: Vec<SizedProgram>,
}

/// A program that shows the bug.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct SizedProgram {
    /// What made it.
    pub by: String,
    /// Its tokens.
    pub tokens: u32,
    /// Its text.
    pub text: String,
}

/// What a minifier's run wrote down.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct MinifierRun {
    nodes_before: Option<usize>,
    nodes_after: Option<usize>,
    seconds: f64,
    stopped: bool,
    failed: Option<String>,
    program: Option<String>,
}

impl MinifierFinding {
    /// The minifier's program.
    pub fn program(&self) -> Option<&SizedProgram> {
        self.programs.iter().find(|program| program.by == MINIFIER)
    }

    /// Replaces the minifier's program by a smaller one.
    pub fn set_minimized(&mut self, text: &str) {
        if let (Some(smaller), Some(program)) = (
            sized(MINIFIER, text),
            self.programs.iter_mut().find(|one| one.by == MINIFIER),
        ) {
            *program = smaller;
        }
        self.programs.sort_by_key(|program| program.tokens);
    }
}

const MINIFIER: &str = "PyTorch's minifier";

fn sized(by: &str, text: &str) -> Option<SizedProgram> {
    let program = Program::parse(text).ok()?;
    Some(SizedProgram {
        by: by.to_owned(),
        tokens: program.size().tokens,
        text: text.to_owned(),
    })
}

/// Runs PyTorch's minifier on a failure of one of its categories; none if it is of no other. With a
/// `limit`, small graphs are minified as well. `settings` are those that the script changes.
pub(super) fn minified(
    session: &Examination<'_>,
    cx: &EvidenceOfRuns<'_>,
    found: &[CategoryFinding],
    settings: &[String],
    limit: Option<Duration>,
) -> Result<Option<MinifierFinding>, RunError> {
    let mut rows = categories().categories.iter();
    let is_found = |row: &CategoryRow| found.iter().any(|category| category.id == row.id);
    let row = rows.find(|row| CATEGORIES.contains(&row.id.as_str()) && is_found(row));
    let Some(row) = row else {
        return Ok(None);
    };
    if let Some(reason) = why_not(cx, limit) {
        return Ok(Some(MinifierFinding {
            failed: Some(reason),
            ..MinifierFinding::default()
        }));
    }
    let is_accuracy = row.id == "accuracy";
    let (run, outcome) = launched(session, cx, row, settings, limit.unwrap_or(LIMIT))?;
    let mut finding = MinifierFinding {
        nodes_before: run.nodes_before,
        nodes_after: run.nodes_after,
        seconds: run.seconds,
        stopped: run.stopped,
        failed: run.failed,
        ..MinifierFinding::default()
    };
    let Some(program) = run.program.as_deref() else {
        let ended = || outcome.as_ref().map_or_else(String::new, summary);
        finding.failed.get_or_insert_with(ended);
        return Ok(Some(finding));
    };
    let file = session.folder.join("minifier/plain.py");
    // If it cannot be written, the page has its text all the same.
    let written = crate::report::write_atomically(&file, program.as_bytes());
    finding.file = written.is_ok().then(|| file.display().to_string());
    finding.failed = refuted(session, program, is_accuracy)?;
    if finding.failed.is_none() {
        let of_script = sized("the script", session.subject.program.text());
        let both = of_script.into_iter().chain(sized(MINIFIER, program));
        finding.programs = both.collect();
        finding.programs.sort_by_key(|program| program.tokens);
    }
    Ok(Some(finding))
}

/// Why the minifier is not run, if it is not.
fn why_not(cx: &EvidenceOfRuns<'_>, limit: Option<Duration>) -> Option<String> {
    let inductor = of(cx.rungs, RungKind::Backend(CompilerRank::Inductor));
    if inductor == Some(RungOutcome::Passes) {
        let reason = "it works on what Inductor compiles, and the bug does not show with Inductor";
        return Some(reason.to_owned());
    }
    let sizes = cx.findings.graphs.iter().map(|graph| graph.nodes.len());
    match (sizes.max(), limit) {
        (Some(most @ 1..=FEW), None) => Some(format!(
            "not run: the largest graph has {most} operations; `--minifier-time` runs it anyway"
        )),
        _ => None,
    }
}

/// Runs the script so that PyTorch writes the launcher, and that, in one confined run.
fn launched(
    session: &Examination<'_>,
    cx: &EvidenceOfRuns<'_>,
    row: &CategoryRow,
    settings: &[String],
    limit: Duration,
) -> Result<(MinifierRun, Option<Outcome>), RunError> {
    let is_accuracy = row.id == "accuracy";
    let launching = row.variables.iter();
    let launching = launching.filter(|(name, _)| name.starts_with(LAUNCHING));
    let settings = settings.iter().filter(|line| line.contains(".config."));
    let options = json!({
        "variables": launching.collect::<BTreeMap<_, _>>(),
        "run_limit": session.reproduced.timeout.as_secs_f64(),
        "limit": limit.as_secs_f64(),
        "check": (!is_accuracy).then(|| checked(&look::key_line(cx))),
        "accuracy": is_accuracy,
        "settings": settings.collect::<Vec<_>>(),
    });
    let code = include_str!("python/minifier.py");
    let folder = session.folder.join("minifier");
    let job = Job {
        artifacts: Some(folder.clone()),
        ..Job::new(
            sent(code, "_minify", &session.subject.bytes, &options).into(),
            // Both limits, and the time that Python needs to start and to rewrite the result.
            session.reproduced.timeout + limit + Duration::from_secs(30),
        )
    };
    let mut outcomes = session.run(&[job])?;
    let text = fs::read_to_string(folder.join("findings.json")).unwrap_or_default();
    Ok((
        serde_json::from_str(&text).unwrap_or_default(),
        outcomes.pop(),
    ))
}

/// Why a plain program does not show the bug; none if it does.
fn refuted(
    session: &Examination<'_>,
    program: &str,
    is_accuracy: bool,
) -> Result<Option<String>, RunError> {
    let (name, value) = COMPILER_OFF;
    let job = |variables: Vec<(String, Option<String>)>| Job {
        variables: variables.into(),
        ..Job::new(program.as_bytes().into(), session.reproduced.timeout)
    };
    let off = vec![(name.to_owned(), Some(value.to_owned()))];
    let outcomes = session.run(&[job(Vec::new()), job(off)])?;
    let [compiled, plain] = outcomes.as_slice() else {
        return Ok(Some("its program was not run".to_owned()));
    };
    let signature = &session.reproduced.signature;
    Ok(if !shows(signature, is_accuracy, compiled) {
        let seen = summary(compiled);
        Some(format!(
            "as a plain script its result does not show the bug: {seen}"
        ))
    } else if plain.end != End::Exit(0) {
        let seen = summary(plain);
        Some(format!(
            "its result fails without the compiler as well: {seen}"
        ))
    } else {
        None
    })
}

/// Whether a plain program fails as the script does; a difference of numbers, by its own check.
fn shows(signature: &Signature, is_accuracy: bool, outcome: &Outcome) -> bool {
    if is_accuracy {
        let raised = outcome.exception.as_ref();
        return raised.is_some_and(|raised| raised.short_class() == "AssertionError");
    }
    // A graph is compiled by another way than a script.
    let words = Signature {
        loose: true,
        ..signature.clone()
    };
    words.matches(outcome)
}

/// The part of a message that a smaller graph must fail with: without what Python escapes.
fn checked(line: &str) -> String {
    let message = line.split_once(": ").map_or(line, |(_, message)| message);
    let pieces = message.split(['\'', '"', '\\']);
    let longest = pieces.max_by_key(|piece| piece.len()).unwrap_or_default();
    longest.chars().take(CHECKED).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_of_a_message_that_is_checked_is_not_escaped() {
        assert_eq!(
            checked("InductorError: TypeError: no 'cos' in this layout of it"),
            " in this layout of it"
        );
        assert_eq!(checked("no class at all"), "no class at all");
    }

    #[test]
    fn the_smaller_program_comes_first() {
        let mut finding = MinifierFinding {
            programs: vec![
                sized("the script", "import torch\nf(1)\n").unwrap(),
                sized(MINIFIER, "import torch\nf(1, 2, 3)\n").unwrap(),
            ],
            ..MinifierFinding::default()
        };
        finding.set_minimized("f(1)\n");
        let order = finding.programs.iter().map(|program| program.by.as_str());
        assert_eq!(order.collect::<Vec<_>>(), [MINIFIER, "the script"]);
        assert_eq!(finding.program().unwrap().text, "f(1)\n");
    }
}
