//! Step 1: fetches the issue with its comments and finds the repro and the reported failure.

use std::path::Path;

use minrepro_reducers::syntax::Program;

use super::{IssueSource, ScrubContext, ScrubEnd, Step};
use crate::{
    cli::{Exit, Failure},
    scrub::issue::{
        Association, Issue, parse_saved,
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
            let text = text_of(path)?;
            parse_saved(&text).map_err(|error| {
                let error = anyhow::Error::new(error)
                    .context(format!("could not read `{}`", path.display()));
                Failure::new(Exit::Usage, error)
                    .hint("save an issue by `gh api repos/OWNER/NAME/issues/NUMBER > issue.json`")
            })?
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

/// Picks the repro and the reported failure.
pub(in crate::scrub) fn read(
    cx: &mut ScrubContext<'_>,
    issue: Option<&Issue>,
) -> Result<Step<Option<Repro>>, Failure> {
    let Some(issue) = issue else {
        let IssueSource::Script(path) = &cx.settings.source else {
            return Ok(Step::Next(None));
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
        cx.found.repro = Some(repro.clone());
        return Ok(Step::Next(Some(repro)));
    };
    let repro = match pick(issue) {
        Pick::Found(repro) => Some(*repro),
        Pick::Ask(mut options) => {
            let at = match cx.settings.pick {
                Some(number) if (1..=options.len()).contains(&number) => number - 1,
                Some(number) => {
                    return Err(Failure::usage(format!(
                        "there is no repro {number}; the issue has {}",
                        options.len()
                    ))
                    .hint("choose another: `--pick N`"));
                }
                None => choose(cx, &options)?,
            };
            Some(options.swap_remove(at))
        }
        Pick::ImageOnly => {
            // A closed issue ends as closed, whatever it contains.
            cx.found.reported = reported(issue, None);
            if issue.is_closed {
                None
            } else {
                cx.found.next = Some("ask for the code as text".to_owned());
                cx.found.add.push("needs reproduction".to_owned());
                return Ok(Step::End(
                    ScrubEnd::ImageOnly,
                    "the code is only shown in images".to_owned(),
                ));
            }
        }
        Pick::None(link) => {
            if let Some(link) = link {
                cx.decided(&format!(
                    "no code, but a link: {link}; save the code and pass it by `--from script.py`"
                ));
            }
            None
        }
    };
    if let Some(repro) = &repro {
        cx.decided(&format!(
            "repro of {} tokens by {}: {}",
            repro.weight, repro.author, repro.why
        ));
    }
    cx.found.reported = reported(issue, repro.as_ref());
    if let Some(reported) = &cx.found.reported {
        cx.decided(&format!(
            "reported: {} ({})",
            reported.what.describe(),
            reported.source
        ));
    }
    cx.found.repro.clone_from(&repro);
    Ok(Step::Next(repro))
}

fn choose(cx: &ScrubContext<'_>, options: &[Repro]) -> Result<usize, Failure> {
    let mut details = Vec::new();
    for (at, option) in options.iter().enumerate() {
        details.push(format!(
            "{}: by {}, {} tokens, {}",
            at + 1,
            option.author,
            option.weight,
            option.why
        ));
        details.extend(
            option
                .code
                .lines()
                .take(12)
                .map(|line| format!("    {line}")),
        );
    }
    if !cx.prompt.is_attended() {
        let mut failure = Failure::usage("several pieces of code may be the repro")
            .hint("choose one: `--pick N`");
        failure.details = details;
        return Err(failure);
    }
    for line in &details {
        cx.printer.always(line);
    }
    let keys: Vec<String> = (1..=options.len())
        .map(|number| number.to_string())
        .collect();
    let choices: Vec<(&str, &str)> = keys
        .iter()
        .zip(options)
        .map(|(key, option)| (key.as_str(), option.author.as_str()))
        .collect();
    Ok(cx
        .prompt
        .choose("which is the repro?", &choices, 0, "--pick N")?)
}
