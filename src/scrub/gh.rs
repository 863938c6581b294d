//! GitHub, by the user's `gh`, which holds the login. One function builds the command of each verb,
//! one calls it, pure functions read what it says. Reads are tried again, writes never; a write is
//! refused unless it is about the issue of the scrub.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{
    issue::{self, Issue, IssueError, Repo},
    plan::IssueWrite,
    tool::{ExternalTools, Interrupted, ToolCall, ToolOutput},
};
use crate::cli::{Exit, Failure};

/// The oldest `gh` that knows all that is asked of it.
const OLDEST: (u32, u32) = (2, 20);
/// Between the tries of a read.
const WAITS: [u64; 3] = [1, 2, 4];

/// One issue on GitHub.
pub struct GitHub<'a> {
    tools: &'a ExternalTools,
    repo: Repo,
    number: u64,
}

/// Why `gh` did not do what was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GhError {
    /// It is not installed.
    #[error("`gh`, GitHub's command line, is not installed")]
    Missing,
    /// It is too old.
    #[error("`gh` {0} is too old; {major}.{minor} is the oldest that will do", major = OLDEST.0, minor = OLDEST.1)]
    TooOld(String),
    /// Nobody is logged in.
    #[error("`gh` is not logged in")]
    NotLoggedIn,
    /// Too much was asked.
    #[error("GitHub's rate limit is spent")]
    RateLimited,
    /// GitHub can not be reached, or does not answer.
    #[error("GitHub can not be reached: {0}")]
    Offline(String),
    /// GitHub has an error of its own.
    #[error("GitHub has trouble: {0}")]
    Server(String),
    /// No such issue, or it may not be seen.
    #[error("there is no such issue, or this login may not see it")]
    NotFound,
    /// This login may not.
    #[error("this login may not do that: {0}")]
    Forbidden(String),
    /// Something else.
    #[error("`gh` failed: {0}")]
    Other(String),
    /// The answer is not what it should be.
    #[error("GitHub's answer can not be read: {0}")]
    Answer(String),
    /// A write to another issue was asked for.
    #[error("refused: the write is about another issue than the scrub")]
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
                "install it from https://cli.github.com, or give the issue as a file: `--from issue.json`"
            }
            GhError::TooOld(_) => "install a newer one from https://cli.github.com",
            GhError::NotLoggedIn => "log in by `gh auth login`",
            GhError::RateLimited => {
                "wait some minutes, an hour at most; `gh api rate_limit` tells when, and it goes on from here"
            }
            GhError::Offline(_) | GhError::Server(_) => "try again; it goes on from here",
            GhError::NotFound => "check the number, and the repository: `--repo OWNER/NAME`",
            GhError::Forbidden(_) => {
                "`gh auth status` tells who is logged in and with which rights"
            }
            GhError::Other(_) | GhError::Answer(_) => "try the command by hand to see more",
        };
        Self::new(Exit::Environment, error).hint(hint)
    }
}

/// Whether somebody hears of what happens on an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Subscription {
    /// Of everything.
    Subscribed,
    /// When mentioned.
    Unsubscribed,
    /// Never.
    Ignored,
}

impl Subscription {
    fn name(self) -> &'static str {
        match self {
            Self::Subscribed => "SUBSCRIBED",
            Self::Unsubscribed => "UNSUBSCRIBED",
            Self::Ignored => "IGNORED",
        }
    }
}

impl<'a> GitHub<'a> {
    /// Makes sure that `gh` is there and new enough.
    pub fn open(tools: &'a ExternalTools, repo: Repo, number: u64) -> Result<Self, GhError> {
        let github = Self {
            tools,
            repo,
            number,
        };
        let said = tools.call(&gh(["--version"]))?;
        if said.is_missing {
            return Err(GhError::Missing);
        }
        let version =
            parse_version(&said.stdout).ok_or_else(|| GhError::Other(first_line(&said)))?;
        if version.0 < OLDEST {
            return Err(GhError::TooOld(version.1));
        }
        Ok(github)
    }

    fn path(&self, below: &str) -> String {
        format!("repos/{}/issues/{}{below}", self.repo, self.number)
    }

    /// The issue and its comments, asked for at the same time.
    pub fn issue(&self) -> Result<Issue, GhError> {
        let issue = gh(["api", &self.path("")]);
        let comments = gh(["api", "--paginate", &self.path("/comments?per_page=100")]);
        let said = self.read_all(&[issue, comments])?;
        let parsed = issue::parse(&said[0].stdout, &said[1].stdout);
        parsed.map_err(|error| match error {
            IssueError::PullRequest => {
                GhError::Other("it is a pull request, not an issue".to_owned())
            }
            error => GhError::Answer(error.to_string()),
        })
    }

    /// Whether someone may push to the repository; `None` if this login may not ask.
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

    /// Whether this login hears of the issue.
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

    /// Changes whether this login hears of the issue. To set it twice does no harm, so it is tried
    /// again as reads are.
    pub fn set_subscription(&self, node: &str, to: Subscription) -> Result<(), GhError> {
        let state = to.name();
        let query = format!(
            "mutation($id: ID!) {{ updateSubscription(input: {{subscribableId: $id, state: {state}}}) {{ subscribable {{ ... on Issue {{ viewerSubscription }} }} }} }}"
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
            Err(GhError::Answer(format!("it stays {}", now.name())))
        }
    }

    /// The command of a write, as it is shown and carried out.
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
                argv.extend(["close", &number, "--repo", &repo, "--reason", reason.name()]);
            }
        }
        gh(argv)
    }

    /// Carries out a write, once. The caller holds signals back, so that it is not left half done.
    pub fn write(&self, write: &IssueWrite) -> Result<(), GhError> {
        let call = self.command(write);
        if !is_about(&call.argv, &self.repo, self.number) {
            return Err(GhError::WrongTarget);
        }
        let said = self.tools.call(&call)?;
        if said.is_well() {
            Ok(())
        } else {
            Err(parse_failure(&said))
        }
    }

    fn read(&self, call: &ToolCall) -> Result<ToolOutput, GhError> {
        self.read_all(std::slice::from_ref(call))
            .map(|mut said| said.remove(0))
    }

    /// Reads all at the same time; those that fail for a passing reason are tried again.
    fn read_all(&self, calls: &[ToolCall]) -> Result<Vec<ToolOutput>, GhError> {
        let mut said = self.tools.call_all(calls)?;
        for wait in WAITS {
            let failed: Vec<usize> = (0..calls.len())
                .filter(|&at| !said[at].is_well() && parse_failure(&said[at]).may_pass())
                .collect();
            let Some(&first) = failed.first() else { break };
            self.tools.note(&format!(
                "     {}; again in {wait} s",
                parse_failure(&said[first])
            ));
            self.tools.sleep(Duration::from_secs(wait))?;
            let again: Vec<ToolCall> = failed.iter().map(|&at| calls[at].clone()).collect();
            for (at, new) in failed.into_iter().zip(self.tools.call_all(&again)?) {
                said[at] = new;
            }
        }
        match said.iter().find(|answer| !answer.is_well()) {
            Some(failed) => Err(parse_failure(failed)),
            None => Ok(said),
        }
    }
}

impl GhError {
    /// Whether the same may go well in a moment.
    fn may_pass(&self) -> bool {
        matches!(self, Self::Offline(_) | Self::Server(_))
    }
}

/// A call of `gh` that asks nothing, shows nothing and reads nothing from the terminal.
fn gh<'s>(args: impl IntoIterator<Item = &'s str>) -> ToolCall {
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
        // It would lead writes elsewhere.
        ("GH_REPO", None),
    ];
    call
}

/// Whether a write's command line names this issue and no other: the last check before anything is
/// written.
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

/// The version that `gh --version` tells, as numbers and as text.
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

/// Why a call failed, from its exit status and what it says.
fn parse_failure(said: &ToolOutput) -> GhError {
    if said.is_missing {
        return GhError::Missing;
    }
    let text = said.stderr.trim();
    let lower = text.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
    // As `gh api` puts it, and as its other verbs do.
    let is = |status: &str| has(&[&format!("http {status}"), &format!("status code: {status}")]);
    let line = first_line(said);
    if said.status == Some(4) || is("401") || has(&["bad credentials", "gh auth login"]) {
        GhError::NotLoggedIn
    } else if is("429") || has(&["rate limit", "abuse detection"]) {
        GhError::RateLimited
    } else if is("404") || has(&["could not resolve to a"]) {
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
    } else if said.status.is_none()
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

fn first_line(said: &ToolOutput) -> String {
    said.stderr
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
    fn failures_are_told_apart() {
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
            .may_pass()
        );
        assert!(failed(Some(1), "gh: HTTP 502").may_pass() && failed(None, "").may_pass());
        assert!(failed(Some(1), "error connecting to api.github.com").may_pass());
        assert!(!failed(Some(1), "something else").may_pass());
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
