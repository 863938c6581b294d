//! An issue as data, as GitHub's REST interface returns it, and pure functions that read it.
//! Nothing here runs, asks or writes. Called by the steps of the flow.

pub mod actionable;
pub mod analyze;
mod blocks;
pub mod claims;
pub mod evidence;
pub mod failure;
pub mod hardware;
pub mod log;
mod markdown;
pub mod recent;
pub mod reported;
pub mod repro;
pub mod versions;

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

pub use crate::cli::Repo;

/// An issue with all its comments.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issue {
    /// Its number.
    pub number: u64,
    /// Its identity for GraphQL.
    pub node_id: String,
    /// Its title.
    pub title: String,
    /// The description, as the original poster wrote it.
    pub post: Post,
    /// Whether it is closed.
    pub is_closed: bool,
    /// The reason for closing: `completed`, `not_planned`, `duplicate`.
    pub state_reason: Option<String>,
    /// Whether only collaborators may comment.
    pub is_locked: bool,
    /// Its labels.
    pub labels: Vec<String>,
    /// The people who should work on it.
    pub assignees: Vec<String>,
    /// The time of the last change of any kind.
    pub updated: SystemTime,
    /// The comments, oldest first.
    pub comments: Vec<Post>,
}

/// A description or a comment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Post {
    /// Its author.
    pub author: String,
    /// The author's association with the repository.
    pub association: Association,
    /// Whether a program wrote it.
    pub is_bot: bool,
    /// The time of writing.
    pub created: SystemTime,
    /// The text, in Markdown.
    pub body: String,
}

/// An author's association with the repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Association {
    /// The owner.
    Owner,
    /// A member of the organization that owns it.
    Member,
    /// An invited collaborator.
    Collaborator,
    /// The author of an earlier change.
    Contributor,
    /// The author of a first change to this repository.
    FirstTimeContributor,
    /// The author of a first change anywhere.
    FirstTimer,
    /// A placeholder for a user who has left.
    Mannequin,
    /// None of these.
    #[default]
    #[serde(other)]
    None,
}

impl Association {
    /// Whether the author may change the repository.
    pub fn is_trusted(self) -> bool {
        matches!(self, Self::Owner | Self::Member | Self::Collaborator)
    }
}

impl Issue {
    /// Whether it has a label, ignoring case.
    pub fn has_label(&self, label: &str) -> bool {
        self.labels
            .iter()
            .any(|own| own.eq_ignore_ascii_case(label))
    }

    /// The description, then the comments.
    pub fn posts(&self) -> impl DoubleEndedIterator<Item = &Post> {
        std::iter::once(&self.post).chain(&self.comments)
    }

    /// Whether the author of the issue wrote a post.
    pub fn is_original_poster(&self, post: &Post) -> bool {
        post.author == self.post.author
    }
}

/// Half a year.
pub const HALF_A_YEAR: Duration = Duration::from_secs(183 * 24 * 3600);
/// A year.
pub const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// An issue or a comment as GitHub's REST interface returns it, or as `gh issue view --json` names
/// its fields.
#[derive(Debug, Deserialize)]
struct RestIssue {
    number: Option<u64>,
    node_id: Option<String>,
    title: Option<String>,
    body: Option<String>,
    state: Option<String>,
    #[serde(alias = "stateReason")]
    state_reason: Option<String>,
    #[serde(default)]
    locked: bool,
    #[serde(alias = "author")]
    user: Option<User>,
    #[serde(default, alias = "authorAssociation")]
    author_association: Association,
    #[serde(default)]
    labels: Vec<Label>,
    #[serde(default)]
    assignees: Vec<User>,
    #[serde(alias = "createdAt")]
    created_at: Option<String>,
    #[serde(alias = "updatedAt")]
    updated_at: Option<String>,
    pull_request: Option<serde_json::Value>,
    /// Their number, or themselves.
    comments: Option<serde_json::Value>,
}

#[derive(Debug, Deserialize)]
struct User {
    login: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    is_bot: bool,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Label {
    Named { name: String },
    Plain(String),
}

/// The reason why an answer is not an issue.
#[derive(Debug, thiserror::Error)]
pub enum IssueError {
    /// It is not JSON, or has another form.
    #[error("it is not an issue as GitHub's REST interface returns it")]
    Form(#[from] serde_json::Error),
    /// A field is missing that every issue has.
    #[error("it has no `{0}`")]
    Missing(&'static str),
    /// It is a pull request.
    #[error("it is a pull request, not an issue")]
    PullRequest,
}

/// Reads `repos/O/R/issues/N` and the pages of `repos/O/R/issues/N/comments`, which follow each
/// other as arrays.
pub fn parse(issue: &str, comments: &str) -> Result<Issue, IssueError> {
    let answer: RestIssue = serde_json::from_str(issue)?;
    let mut posts = Vec::new();
    for page in serde_json::Deserializer::from_str(comments).into_iter::<Vec<RestIssue>>() {
        posts.extend(page?);
    }
    assemble(&answer, &posts)
}

/// The fields that `gh issue view --json` must print.
pub const VIEW: &str = "number,title,body,author,state,labels,assignees,comments,createdAt";

/// A saved issue, and the gaps of its file.
#[derive(Debug)]
pub struct SavedIssue {
    /// The issue.
    pub issue: Issue,
    /// What is missing, for people.
    pub gaps: Vec<String>,
}

/// Reads a saved issue: the output of `gh issue view NUMBER --json ...`, or of
/// `gh api repos/O/R/issues/N`, with or without the pages of its comments after it, or
/// `{"issue": ..., "comments": [...]}`.
pub fn parse_saved(text: &str) -> Result<SavedIssue, IssueError> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
    let mut first = values.next().unwrap_or(Ok(serde_json::Value::Null))?;
    let mut comments: Vec<RestIssue> = Vec::new();
    let mut has_comments = false;
    let pages = values.collect::<Result<Vec<_>, _>>()?;
    let wrapped = first.get("issue").map(|_| {
        let within = first.get("comments").cloned();
        within.unwrap_or_else(|| serde_json::json!([]))
    });
    for page in pages.into_iter().chain(wrapped) {
        comments.extend(serde_json::from_value::<Vec<RestIssue>>(page)?);
        has_comments = true;
    }
    if let Some(within) = first.get_mut("issue") {
        first = within.take();
    }
    let answer: RestIssue = serde_json::from_value(first.clone())?;
    let mut gaps = Vec::new();
    match &answer.comments {
        Some(list) if list.is_array() => {
            comments.extend(serde_json::from_value::<Vec<RestIssue>>(list.clone())?);
        }
        Some(count) if !has_comments && count.as_u64() > Some(0) => gaps.push(format!(
            "the file lacks the {count} comments of the issue; append `gh api \
             repos/OWNER/NAME/issues/NUMBER/comments`, or save it by `gh issue view NUMBER --json {VIEW}`"
        )),
        None if !has_comments => {
            gaps.push("the file has no comments; there may be some on GitHub".to_owned());
        }
        Some(_) | None => {}
    }
    if answer.user.is_none() {
        gaps.push("the file does not name the author".to_owned());
    }
    Ok(SavedIssue {
        issue: assemble(&answer, &comments)?,
        gaps,
    })
}

fn assemble(answer: &RestIssue, comments: &[RestIssue]) -> Result<Issue, IssueError> {
    if answer.pull_request.is_some() {
        return Err(IssueError::PullRequest);
    }
    let number = answer.number.ok_or(IssueError::Missing("number"))?;
    let title = answer.title.clone().ok_or(IssueError::Missing("title"))?;
    let updated = time(answer.updated_at.as_deref()).or_else(|| time(answer.created_at.as_deref()));
    let mut comments: Vec<Post> = comments.iter().map(post).collect();
    comments.sort_by_key(|post| post.created);
    let name = |label: &Label| match label {
        Label::Named { name } | Label::Plain(name) => name.clone(),
    };
    Ok(Issue {
        number,
        node_id: answer.node_id.clone().unwrap_or_default(),
        title,
        post: post(answer),
        is_closed: answer
            .state
            .as_deref()
            .is_some_and(|state| state.eq_ignore_ascii_case("closed")),
        state_reason: answer.state_reason.clone(),
        is_locked: answer.locked,
        labels: answer.labels.iter().map(name).collect(),
        assignees: answer
            .assignees
            .iter()
            .map(|user| user.login.clone())
            .collect(),
        updated: updated.unwrap_or(SystemTime::UNIX_EPOCH),
        comments,
    })
}

fn post(answer: &RestIssue) -> Post {
    let author = answer
        .user
        .as_ref()
        .map_or_else(|| "ghost".to_owned(), |user| user.login.clone());
    let kind = answer.user.as_ref().and_then(|user| user.kind.as_deref());
    Post {
        is_bot: kind == Some("Bot")
            || answer.user.as_ref().is_some_and(|user| user.is_bot)
            || author.ends_with("[bot]")
            || is_known_bot(&author)
            || answer
                .body
                .as_ref()
                .is_some_and(|body| body.contains(OWN_MARK)),
        author,
        association: answer.author_association,
        created: time(answer.created_at.as_deref()).unwrap_or(SystemTime::UNIX_EPOCH),
        body: answer.body.clone().unwrap_or_default(),
    }
}

/// The end of minrepro's own comments, which are no new evidence.
pub(super) const OWN_MARK: &str = "(Analysis by minrepro ";

/// Programs that post from ordinary accounts.
fn is_known_bot(author: &str) -> bool {
    [
        "pytorchmergebot",
        "pytorch-bot",
        "pytorchbot",
        "facebook-github-bot",
    ]
    .contains(&author)
}

fn time(text: Option<&str>) -> Option<SystemTime> {
    humantime::parse_rfc3339_weak(text?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_with_pages_of_comments() {
        let issue = r#"{"number":7,"node_id":"I_7","title":"t","body":null,"state":"open","locked":true,
            "user":{"login":"ann","type":"User"},"author_association":"MEMBER","labels":[{"name":"x"},"y"],
            "assignees":[{"login":"bob"}],"created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-03T03:04:05Z"}"#;
        let comments = r#"[{"body":"b","user":{"login":"c[bot]"},"created_at":"2026-02-02T00:00:00Z"}]
            [{"body":"a","user":null,"author_association":"SOMETHING_NEW","created_at":"2026-02-01T00:00:00Z"}]"#;
        let issue = parse(issue, comments).unwrap();
        assert_eq!(
            (issue.number, issue.is_locked, issue.is_closed),
            (7, true, false)
        );
        assert_eq!(
            (issue.labels.as_slice(), issue.post.body.as_str()),
            (["x", "y"].map(str::to_owned).as_slice(), "")
        );
        assert!(issue.post.association.is_trusted() && issue.has_label("X"));
        let said: Vec<_> = issue
            .comments
            .iter()
            .map(|post| (post.author.as_str(), post.is_bot))
            .collect();
        assert_eq!(said, [("ghost", false), ("c[bot]", true)]);
        assert!(!issue.comments[0].association.is_trusted());
    }

    #[test]
    fn other_answers_are_refused() {
        for text in [
            "",
            "[]",
            "{}",
            r#"{"number":1}"#,
            r#"{"number":1,"title":"t","pull_request":{}}"#,
        ] {
            assert!(parse_saved(text).is_err(), "{text}");
        }
        assert!(parse_saved(r#"{"issue":{"number":1,"title":"t"},"comments":[]}"#).is_ok());
        for repo in ["pytorch", "a/b/c", "/b", "a/", "a/..", "a b/c", "-R/../x"] {
            assert!(repo.parse::<Repo>().is_err(), "{repo}");
        }
        let view = r#"{"number":3,"title":"t","body":"b","state":"OPEN","author":{"login":"ann"},
            "labels":[{"id":"L","name":"x"}],"createdAt":"2026-01-02T03:04:05Z",
            "comments":[{"author":{"login":"bob"},"authorAssociation":"MEMBER","body":"c",
            "createdAt":"2026-01-03T03:04:05Z"}]}"#;
        let saved = parse_saved(view).unwrap();
        let said = &saved.issue.comments[0];
        assert!(saved.gaps.is_empty() && said.association == Association::Member);
        assert_eq!(
            (saved.issue.post.author.as_str(), said.author.as_str()),
            ("ann", "bob")
        );
        let bare = r#"{"number":3,"title":"t","user":{"login":"a"},"comments":2}"#;
        assert!(parse_saved(bare).unwrap().gaps[0].contains("lacks the 2 comments"));
        let paged = format!("{bare}\n[{{\"body\":\"x\"}}]\n");
        let saved = parse_saved(&paged).unwrap();
        assert_eq!((saved.gaps.len(), saved.issue.comments.len()), (0, 1));
        assert_eq!(
            "pytorch/pytorch".parse::<Repo>().unwrap().to_string(),
            "pytorch/pytorch"
        );
    }
}
