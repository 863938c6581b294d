//! GitHub, through the user's `gh`, which holds the login. One function builds the command of each
//! verb, one calls it, pure functions parse the output. Reads are retried, writes never. A write is
//! refused unless it concerns the issue of the scrub.

use std::{fs::File, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use super::{
    issue::{self, Issue, IssueError, Repo},
    tool::{ExternalTools, Interrupted, ToolCall, ToolOutput},
    write::IssueWrite,
};
use crate::cli::{Exit, Failure};

/// The oldest `gh` that supports all calls.
const OLDEST: (u32, u32) = (2, 20);
/// Seconds between the tries of a read.
const WAITS: [u64; 3] = [1, 2, 4];

/// One issue on GitHub.
pub struct GitHub<'a> {
    tools: &'a ExternalTools,
    repo: Repo,
    number: u64,
}

/// The reason why a call of `gh` failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GhError {
    /// It is not installed.
    #[error("`gh`, GitHub's command line, is not installed")]
    Missing,
    /// It is too old.
    #[error("`gh` {0} is too old; minrepro needs {major}.{minor} or later", major = OLDEST.0, minor = OLDEST.1)]
    TooOld(String),
    /// Nobody is logged in.
    #[error("`gh` is not logged in")]
    NotLoggedIn,
    /// The rate limit is exceeded.
    #[error("GitHub's rate limit is exceeded")]
    RateLimited,
    /// GitHub cannot be reached or does not answer.
    #[error("GitHub cannot be reached: {0}")]
    Offline(String),
    /// GitHub reports an error of its own.
    #[error("GitHub reports an error of its own: {0}")]
    Server(String),
    /// The issue does not exist or is not visible.
    #[error("the issue does not exist, or this login may not see it")]
    NotFound,
    /// It is a pull request.
    #[error("it is a pull request, not an issue")]
    PullRequest,
    /// This login lacks the rights.
    #[error("this login lacks the rights: {0}")]
    Forbidden(String),
    /// Something else.
    #[error("`gh` failed: {0}")]
    Other(String),
    /// The answer has an unexpected form.
    #[error("could not read GitHub's answer: {0}")]
    Answer(String),
    /// A write concerns another issue.
    #[error("refused to write to another issue than that of the scrub")]
    WrongTarget,
    /// A signal came.
    #[error("interrupted by signal {0}")]
    Interrupted(i32),
}

impl From<Interrupted> for GhError {
    fn from(Interrupted(signal): Interrupted) -> Self {
        Self::Interrupted(signal)
    }
}

impl From<GhError> for Failure {
    fn from(error: GhError) -> Self {
        let hint = match &error {
            GhError::Interrupted(signal) => return Interrupted(*signal).into(),
            GhError::WrongTarget => return Self::new(Exit::Bug, error),
            GhError::Missing => {
                "install it from https://cli.github.com, or pass the issue as a file: `--from issue.json`"
            }
            GhError::TooOld(_) => "install a newer one from https://cli.github.com",
            GhError::NotLoggedIn => {
                "log in: `gh auth login`, or pass the issue as a file: `--from issue.json`"
            }
            GhError::RateLimited => {
                "wait for at most an hour (`gh api rate_limit` shows the time), then run the same command again to continue"
            }
            GhError::Offline(_) | GhError::Server(_) => "run the same command again to continue",
            GhError::NotFound | GhError::PullRequest => {
                "check the number and the repository: `--repo OWNER/NAME`"
            }
            GhError::Forbidden(_) => {
                "`gh auth status` shows who is logged in and with which rights"
            }
            GhError::Other(_) | GhError::Answer(_) => "run the command by hand to see more",
        };
        Self::new(Exit::Environment, error).hint(hint)
    }
}

/// Which notifications of an issue the user receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[strum(serialize_all = "SCREAMING_SNAKE_CASE")]
pub enum Subscription {
    /// All.
    Subscribed,
    /// Mentions only.
    Unsubscribed,
    /// None.
    Ignored,
}

impl<'a> GitHub<'a> {
    /// Checks that `gh` is installed and new enough.
    pub fn open(tools: &'a ExternalTools, repo: Repo, number: u64) -> Result<Self, GhError> {
        let github = Self {
            tools,
            repo,
            number,
        };
        check_version(tools)?;
        Ok(github)
    }

    /// Another issue, by the same `gh`.
    #[must_use]
    pub fn other(&self, repo: Repo, number: u64) -> Self {
        Self {
            tools: self.tools,
            repo,
            number,
        }
    }

    fn path(&self, below: &str) -> String {
        format!("repos/{}/issues/{}{below}", self.repo, self.number)
    }

    /// The issue and its comments, requested at the same time.
    pub fn issue(&self) -> Result<Issue, GhError> {
        let issue = gh(["api", &self.path("")]);
        let comments = gh(["api", "--paginate", &self.path("/comments?per_page=100")]);
        let output = read_all(self.tools, &[issue, comments])?;
        let parsed = issue::parse(&output[0].stdout, &output[1].stdout);
        parsed.map_err(|error| match error {
            IssueError::PullRequest => GhError::PullRequest,
            error => GhError::Answer(error.to_string()),
        })
    }

    /// Whether a user may push to the repository; `None` if this login may not ask.
    pub fn is_collaborator(&self, user: &str) -> Result<Option<bool>, GhError> {
        let call = gh([
            "api",
            "--silent",
            &format!("repos/{}/collaborators/{user}", self.repo),
        ]);
        match self.read(&call) {
            Ok(_) => Ok(Some(true)),
            Err(GhError::NotFound) => Ok(Some(false)),
            Err(GhError::Forbidden(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// This login's subscription to an issue.
    pub fn subscription(&self, node: &str) -> Result<Subscription, GhError> {
        let query = "query($id: ID!) { node(id: $id) { ... on Issue { viewerSubscription } } }";
        let call = gh([
            "api",
            "graphql",
            "-F",
            &format!("id={node}"),
            "-f",
            &format!("query={query}"),
        ]);
        parse_subscription(&self.read(&call)?.stdout, "/data/node/viewerSubscription")
    }

    /// Sets this login's subscription. Setting it twice does no harm, so it is retried as reads
    /// are.
    pub fn set_subscription(&self, node: &str, to: Subscription) -> Result<(), GhError> {
        let query = format!(
            "mutation($id: ID!) {{ updateSubscription(input: {{subscribableId: $id, state: {to}}}) {{ subscribable {{ ... on Issue {{ viewerSubscription }} }} }} }}"
        );
        let call = gh([
            "api",
            "graphql",
            "-F",
            &format!("id={node}"),
            "-f",
            &format!("query={query}"),
        ]);
        let answer = self.read(&call)?.stdout;
        let now = parse_subscription(
            &answer,
            "/data/updateSubscription/subscribable/viewerSubscription",
        )?;
        if now == to {
            Ok(())
        } else {
            Err(GhError::Answer(format!("the subscription stays {now}")))
        }
    }

    /// The command of a write as it is shown and carried out.
    pub fn command(&self, write: &IssueWrite) -> ToolCall {
        let (number, repo) = (self.number.to_string(), self.repo.to_string());
        let mut argv: Vec<&str> = vec!["issue"];
        let labels: Vec<(&str, String)>;
        match write {
            IssueWrite::Comment { body } => {
                argv.extend(["comment", &number, "--repo", &repo, "--body", body]);
            }
            IssueWrite::Labels { add, remove } => {
                argv.extend(["edit", &number, "--repo", &repo]);
                labels = [("--remove-label", remove), ("--add-label", add)]
                    .into_iter()
                    .filter(|(_, names)| !names.is_empty())
                    .map(|(flag, names)| (flag, names.join(",")))
                    .collect();
                for (flag, names) in &labels {
                    argv.extend([flag, names.as_str()]);
                }
            }
            IssueWrite::Close { reason } => {
                let reason: &str = reason.into();
                argv.extend(["close", &number, "--repo", &repo, "--reason", reason]);
            }
        }
        gh(argv)
    }

    /// Carries out a write once. The caller holds signals back so that it is not left half done.
    ///
    /// The program that writes holds the lock until it ends, even if this one is killed before.
    pub fn write(&self, write: &IssueWrite, lock: Option<Arc<File>>) -> Result<(), GhError> {
        let mut call = self.command(write);
        call.stdin = lock;
        if !is_about(&call.argv, &self.repo, self.number) {
            return Err(GhError::WrongTarget);
        }
        let output = self.tools.call(&call)?;
        if output.is_success() {
            Ok(())
        } else {
            Err(parse_failure(&output))
        }
    }

    fn read(&self, call: &ToolCall) -> Result<ToolOutput, GhError> {
        read(self.tools, call)
    }
}

/// Reads once, and again if that fails for a temporary reason.
pub(super) fn read(tools: &ExternalTools, call: &ToolCall) -> Result<ToolOutput, GhError> {
    read_all(tools, std::slice::from_ref(call)).map(|mut output| output.remove(0))
}

/// Reads all at the same time and retries those that fail for a temporary reason.
fn read_all(tools: &ExternalTools, calls: &[ToolCall]) -> Result<Vec<ToolOutput>, GhError> {
    let mut output = tools.call_all(calls)?;
    for wait in WAITS {
        let failed: Vec<usize> = (0..calls.len())
            .filter(|&at| !output[at].is_success() && parse_failure(&output[at]).is_temporary())
            .collect();
        let Some(&first) = failed.first() else { break };
        tools.note(&format!(
            "     {}; trying again in {wait} s",
            parse_failure(&output[first])
        ));
        tools.sleep(Duration::from_secs(wait))?;
        let again: Vec<ToolCall> = failed.iter().map(|&at| calls[at].clone()).collect();
        for (at, new) in failed.into_iter().zip(tools.call_all(&again)?) {
            output[at] = new;
        }
    }
    match output.iter().find(|answer| !answer.is_success()) {
        Some(failed) => Err(parse_failure(failed)),
        None => Ok(output),
    }
}

impl GhError {
    /// Whether the same call may succeed in a moment.
    fn is_temporary(&self) -> bool {
        matches!(self, Self::Offline(_) | Self::Server(_))
    }
}

/// Checks that `gh` is installed and new enough.
pub(super) fn check_version(tools: &ExternalTools) -> Result<(), GhError> {
    let output = tools.call(&gh(["--version"]))?;
    if output.is_missing {
        return Err(GhError::Missing);
    }
    let version =
        parse_version(&output.stdout).ok_or_else(|| GhError::Other(first_line(&output)))?;
    if version.0 < OLDEST {
        return Err(GhError::TooOld(version.1));
    }
    Ok(())
}

/// A call of `gh` that asks nothing, shows nothing and reads nothing from the terminal.
pub(super) fn gh<'s>(args: impl IntoIterator<Item = &'s str>) -> ToolCall {
    let mut call = ToolCall::new(std::iter::once("gh").chain(args));
    let set = |value: &str| Some(value.to_owned());
    call.env = vec![
        ("GH_PROMPT_DISABLED", set("1")),
        ("GH_NO_UPDATE_NOTIFIER", set("1")),
        ("GH_SPINNER_DISABLED", set("1")),
        ("GH_PAGER", set("cat")),
        ("NO_COLOR", set("1")),
        ("CLICOLOR_FORCE", None),
        ("GH_FORCE_TTY", None),
        ("GH_DEBUG", None),
        // It would redirect writes to another repository.
        ("GH_REPO", None),
    ];
    call
}

/// Whether a write's command line names this issue and no other, as the last check before the
/// write.
fn is_about(argv: &[String], repo: &Repo, number: u64) -> bool {
    let [program, issue, verb, target, flag, named, ..] = argv else {
        return false;
    };
    program == "gh"
        && issue == "issue"
        && matches!(verb.as_str(), "comment" | "edit" | "close")
        && *target == number.to_string()
        && flag == "--repo"
        && *named == repo.to_string()
}

/// The version that `gh --version` prints, as numbers and as text.
fn parse_version(text: &str) -> Option<((u32, u32), String)> {
    let version = text
        .strip_prefix("gh version ")?
        .split_whitespace()
        .next()?;
    let mut parts = version.split(['.', '-', '+']).map(str::parse::<u32>);
    Some((
        (parts.next()?.ok()?, parts.next()?.ok()?),
        version.to_owned(),
    ))
}

fn parse_subscription(answer: &str, pointer: &str) -> Result<Subscription, GhError> {
    let value: serde_json::Value =
        serde_json::from_str(answer).map_err(|error| GhError::Answer(error.to_string()))?;
    let state = value.pointer(pointer).cloned().unwrap_or_default();
    serde_json::from_value(state).map_err(|error| GhError::Answer(error.to_string()))
}

/// The reason why a call failed, from its exit status and its messages.
fn parse_failure(output: &ToolOutput) -> GhError {
    if output.is_missing {
        return GhError::Missing;
    }
    let text = output.stderr.trim();
    let lower = text.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
    // The forms of `gh api` and of the other verbs.
    let is = |status: &str| has(&[&format!("http {status}"), &format!("status code: {status}")]);
    let line = first_line(output);
    if output.status == Some(4) || is("401") || has(&["bad credentials", "gh auth login"]) {
        GhError::NotLoggedIn
    } else if is("429") || has(&["rate limit", "abuse detection"]) {
        GhError::RateLimited
    } else if is("404") || is("410") || has(&["could not resolve to a"]) {
        GhError::NotFound
    } else if is("403")
        || has(&[
            "must have push access",
            "resource not accessible",
            "does not have permission",
            "does not have the correct permissions",
        ])
    {
        GhError::Forbidden(line)
    } else if is("50") {
        GhError::Server(line)
    } else if output.status.is_none()
        || has(&[
            "error connecting",
            "dial ",
            "connection refused",
            "connection reset",
            "no such host",
            "eof",
            "timeout",
            "broken pipe",
            "network is unreachable",
            "unexpected end of json",
        ])
    {
        GhError::Offline(if line.is_empty() {
            "`gh` was killed".to_owned()
        } else {
            line
        })
    } else {
        GhError::Other(line)
    }
}

fn first_line(output: &ToolOutput) -> String {
    output
        .stderr
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(status: Option<i32>, stderr: &str) -> GhError {
        parse_failure(&ToolOutput {
            status,
            stderr: stderr.to_owned(),
            ..ToolOutput::default()
        })
    }

    #[test]
    fn failures_are_distinguished() {
        for (status, text, expected) in [
            (
                Some(4),
                "To get started with GitHub CLI, please run:  gh auth login",
                GhError::NotLoggedIn,
            ),
            (
                Some(1),
                "gh: Bad credentials (HTTP 401)",
                GhError::NotLoggedIn,
            ),
            (
                Some(1),
                "gh: API rate limit exceeded for user ID 1. (HTTP 403)",
                GhError::RateLimited,
            ),
            (Some(1), "gh: Not Found (HTTP 404)", GhError::NotFound),
            (
                Some(1),
                "gh: This issue was deleted (HTTP 410)",
                GhError::NotFound,
            ),
            (
                Some(1),
                "non-200 OK status code: 429 Too Many Requests body: \"\"",
                GhError::RateLimited,
            ),
            (
                Some(1),
                "GraphQL: You have exceeded a secondary rate limit. Please wait a few minutes (addComment)",
                GhError::RateLimited,
            ),
            (
                Some(1),
                "GraphQL: Could not resolve to an issue or pull request with the number of 7. (repository.issue)",
                GhError::NotFound,
            ),
        ] {
            assert_eq!(failed(status, text), expected, "{text}");
        }
        assert!(matches!(
            failed(Some(1), "gh: Must have push access (HTTP 403)"),
            GhError::Forbidden(_)
        ));
        assert!(
            failed(
                Some(1),
                "non-200 OK status code: 502 Bad Gateway body: \"\""
            )
            .is_temporary()
        );
        assert!(failed(Some(1), "gh: HTTP 502").is_temporary() && failed(None, "").is_temporary());
        assert!(failed(Some(1), "error connecting to api.github.com").is_temporary());
        assert!(!failed(Some(1), "something else").is_temporary());
        assert_eq!(
            parse_version("gh version 2.23.0 (2023-02-27)\n"),
            Some(((2, 23), "2.23.0".to_owned()))
        );
        assert_eq!(parse_version("hub 1\n"), None);
    }

    #[test]
    fn writes_to_other_issues_are_refused() {
        let repo: Repo = "o/r".parse().unwrap();
        let argv = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        assert!(is_about(
            &argv("gh issue comment 7 --repo o/r --body x"),
            &repo,
            7
        ));
        for text in [
            "gh issue comment 8 --repo o/r --body x",
            "gh issue comment 7 --repo o/other --body x",
            "gh issue delete 7 --repo o/r --yes",
            "gh pr comment 7 --repo o/r --body x",
            "gh issue comment 7 --body x",
            "sh issue comment 7 --repo o/r --body x",
        ] {
            assert!(!is_about(&argv(text), &repo, 7), "{text}");
        }
    }
}
