//! Step 1: fetches the issue with its comments and finds the repro and the reported failure.

use std::path::Path;

use minrepro_reducers::syntax::Program;

use super::{IssueSource, ScrubContext, ScrubEnd, Step};
use crate::{
    cli::{Exit, Failure},
    scrub::issue::{
        Association, Issue, VIEW,
        claims::claims,
        parse_saved,
        reported::reported,
        repro::{Pick, Repro, pick},
        versions::versions,
    },
};

/// Fetches the issue; none if only a script was given.
pub(in crate::scrub) fn fetch(cx: &mut ScrubContext<'_>) -> Result<Option<Issue>, Failure> {
    let issue = match &cx.settings.source {
        IssueSource::GitHub(number) => {
            cx.step("1", &format!("fetching {}#{number}", cx.settings.repo));
            match &cx.github {
                Some(github) => github.issue()?,
                None => {
                    return Err(Failure::new(
                        Exit::Bug,
                        anyhow::anyhow!("the connection to GitHub was not opened"),
                    ));
                }
            }
        }
        IssueSource::Saved(path) => {
            cx.step("1", &format!("reading the issue from {}", path.display()));
            let hint =
                || format!("save an issue by `gh issue view NUMBER --json {VIEW} > issue.json`");
            let text = text_of(path).map_err(|failure| failure.hint(hint()))?;
            let saved = parse_saved(&text).map_err(|error| {
                let error = anyhow::Error::new(error)
                    .context(format!("could not read `{}`", path.display()));
                Failure::new(Exit::Usage, error).hint(hint())
            })?;
            for gap in &saved.gaps {
                cx.printer.warning(gap);
            }
            saved.issue
        }
        IssueSource::Script(path) => {
            cx.step("1", &format!("reading the script {}", path.display()));
            return Ok(None);
        }
    };
    cx.decided(&format!(
        "\"{}\", {} comments",
        issue.title,
        issue.comments.len()
    ));
    cx.found.title = Some(issue.title.clone());
    cx.found.versions = Some(versions(&issue.post.body));
    cx.found.claims = claims(&issue);
    if issue.is_locked {
        cx.decided("it is locked: minrepro will write nothing");
    }
    Ok(Some(issue))
}

fn text_of(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|error| {
        let error =
            anyhow::Error::new(error).context(format!("could not read `{}`", path.display()));
        Failure::new(Exit::Usage, error)
            .hint("`--from` takes a readable script, or an issue as a `.json` file")
    })
}

/// Picks the code that may be the repro, the likeliest first; none where there is none.
pub(in crate::scrub) fn read(
    cx: &mut ScrubContext<'_>,
    issue: Option<&Issue>,
) -> Result<Step<Vec<Repro>>, Failure> {
    let Some(issue) = issue else {
        let IssueSource::Script(path) = &cx.settings.source else {
            return Ok(Step::Next(Vec::new()));
        };
        let code = text_of(path)?;
        let repro = Repro {
            parses: Program::parse(code.as_str()).is_ok(),
            weight: 0,
            code,
            author: String::new(),
            association: Association::Owner,
            post: 0,
            why: "given by the user".to_owned(),
        };
        return Ok(Step::Next(vec![repro]));
    };
    match pick(issue) {
        Pick::Found(repro) => Ok(Step::Next(vec![*repro])),
        Pick::Ask(options) => several(cx, options).map(Step::Next),
        // A closed issue ends as closed, whatever it contains.
        Pick::ImageOnly if !issue.is_closed => {
            cx.found.reported = reported(issue, None);
            cx.found.next = Some("ask for the code as text".to_owned());
            cx.found.add.push("needs reproduction".to_owned());
            Ok(Step::End(
                ScrubEnd::ImageOnly,
                "the code is only shown in images".to_owned(),
            ))
        }
        Pick::ImageOnly => Ok(Step::Next(Vec::new())),
        Pick::None(link) => {
            if let Some(link) = link {
                cx.decided(&format!(
                    "no code, but a link: {link}; save the code and pass it by `--from script.py`"
                ));
            }
            Ok(Step::Next(Vec::new()))
        }
    }
}

/// Of several pieces of code the one that the user named, or all: runs decide which it is.
fn several(cx: &ScrubContext<'_>, mut options: Vec<Repro>) -> Result<Vec<Repro>, Failure> {
    match cx.settings.pick {
        Some(number) if (1..=options.len()).contains(&number) => {
            Ok(vec![options.swap_remove(number - 1)])
        }
        Some(number) => Err(Failure::usage(format!(
            "there is no repro {number}; the issue has {}",
            options.len()
        ))
        .hint("choose another: `--pick N`")),
        None => {
            cx.decided(&format!(
                "{} pieces of code may be the repro; runs decide which",
                options.len()
            ));
            Ok(options)
        }
    }
}

/// Looks at one piece of code and at the failure that is reported of it.
pub(in crate::scrub) fn look_at(
    cx: &mut ScrubContext<'_>,
    issue: Option<&Issue>,
    repro: Option<&Repro>,
) {
    if let Some(repro) = repro.filter(|repro| !repro.author.is_empty()) {
        cx.decided(&format!(
            "repro of {} tokens by {}: {}",
            repro.weight, repro.author, repro.why
        ));
    }
    cx.found.repro = repro.cloned();
    let Some(issue) = issue else { return };
    cx.found.reported = reported(issue, repro);
    if let Some(reported) = &cx.found.reported {
        cx.decided(&format!(
            "reported: {} ({}; {})",
            reported.what.describe(),
            reported.source,
            reported.certainty.word()
        ));
    }
}
