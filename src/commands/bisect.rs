//! `minrepro bisect SCRIPT --signature SIG`: finds the versions between which a bug appeared or was
//! fixed, and the commit.

use std::time::Duration;

use super::{script_runner::Bench, scrub};
use crate::{
    cli::{BisectArgs, Exit, Failure, Printer},
    oracle::Spec,
    runner::Interpreter,
    scrub::{
        ExternalTools,
        bisect::{BisectAnswer, BisectQuestion, search},
        change::{self, History},
        issue::log::parse_log,
        version_environments::environments,
        version_search::VersionProbe,
    },
    target,
};

/// The time limit of a probe, unless the user sets one.
const TIMEOUT: Duration = Duration::from_mins(2);

pub(super) fn bisect(args: &BisectArgs, printer: Printer) -> Result<Exit, Failure> {
    let (_, program) = target::read(&args.script)?;
    let typed = &args.probe.signature;
    if typed.is_empty() {
        return Err(Failure::usage("the signature of the bug is missing").hint(
            "name it by `--signature`; `minrepro check SCRIPT` derives one from a failing run",
        ));
    }
    let specs = typed
        .iter()
        .map(|text| Spec::parse(text))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| {
            let hint = error.hint;
            Failure::new(Exit::Usage, error).hint(hint)
        })?;
    let tools = scrub::tools(printer)?;
    let found = environments(&scrub::environments(&args.versions), &tools, printer)?;
    if found.len() < 2 {
        let hint = if args.versions.install {
            "see above for the versions that uv could not install, or name installed ones by `--interpreter VERSION=PYTHON`"
        } else {
            "name some by `--interpreter VERSION=PYTHON`, or let uv install them: `--versions 2.5.0,2.6.0 --install`; conda environments named `pytorch-VERSION` are found automatically"
        };
        let there_are = match found.len() {
            0 => "there is no version".to_owned(),
            _ => format!("there is only version {}", found[0].version),
        };
        return Err(Failure::new(
            Exit::Environment,
            anyhow::anyhow!("{there_are} to test; a search needs two"),
        )
        .hint(hint));
    }
    let mut run = scrub::run_args(&args.probe);
    if run.python.is_none() {
        // No probe runs in the user's own interpreter, which may be unsuitable.
        run.python = found
            .iter()
            .map(|environment| &environment.python)
            .find(|python| Interpreter::find(Some(python)).is_ok())
            .cloned();
    }
    let bench = Bench::new(run, printer)?;
    let question = BisectQuestion {
        code: program.text(),
        env: &[],
        specs: &specs,
        at_once: args.at_once.into(),
        timeout: args.probe.timeout.unwrap_or(TIMEOUT),
        times: 1,
        cure: None,
    };
    let answer = search(&question, &found, &bench, printer)?;
    let History { changes, gaps } = history(args, &answer, &tools)?;
    for gap in &gaps {
        printer.warning(gap);
    }
    if args.json {
        let value = serde_json::json!({"answer": answer, "changes": changes});
        printer.data(format!("{value:#}\n"));
    } else {
        printer.data(format!("{}\n", answer.describe()));
        for change in &changes {
            printer.data(format!(
                "perhaps {} {} ({})\n",
                change.commit,
                change.subject,
                change.reasons.join("; ")
            ));
        }
    }
    Ok(exit(&answer))
}

/// The changes between the two versions, where a checkout is given.
fn history(
    args: &BisectArgs,
    answer: &BisectAnswer,
    tools: &ExternalTools,
) -> Result<History, Failure> {
    let typed = args.probe.signature.iter();
    let failure = answer.failure.clone();
    let failure = failure.or_else(|| typed.into_iter().find_map(|text| parse_log(text)));
    let (Some((before, after)), Some(checkout), Some(what)) =
        (&answer.change, &args.versions.pytorch, failure)
    else {
        return Ok(History::default());
    };
    Ok(change::candidates(
        checkout,
        (before, after),
        args.issue,
        &what,
        tools,
    )?)
}

fn exit(answer: &BisectAnswer) -> Exit {
    let has_answer = answer
        .versions
        .iter()
        .any(|(_, probe)| matches!(probe, Some(VersionProbe::Shows(_) | VersionProbe::Gone(_))));
    match (&answer.change, has_answer) {
        (Some(_), _) => Exit::Reduced,
        (None, true) => Exit::NotReproduced,
        (None, false) => Exit::Environment,
    }
}
