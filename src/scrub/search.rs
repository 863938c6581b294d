//! Finds issues by GitHub's search, and waits out GitHub's rate limit. Builds the command lines of
//! both, pure functions parse the answers. Called by the backlog.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;

use super::{
    gh::{GhError, gh, read},
    issue::Repo,
    tool::{ExternalTools, ToolCall},
};

/// GitHub's most for a page, and for all pages of a search.
const PAGE: usize = 100;
pub(super) const MOST: usize = 1000;

/// How often in a row the rate limit is waited for.
const ROUNDS: u32 = 8;

/// How long to wait if GitHub does not say so, at first and at most, in seconds.
const UNKNOWN: (u64, u64) = (60, 900);

/// The longest wait that GitHub's answer can ask for, in seconds. Its limits are for an hour.
const LONGEST: u64 = 3660;

/// An issue that a search has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundIssue {
    pub(super) repo: Repo,
    pub(super) number: u64,
    pub(super) title: String,
}

/// The issues of a search.
#[derive(Debug, Default)]
pub(super) struct SearchResult {
    pub(super) issues: Vec<FoundIssue>,
    /// How many there are on GitHub.
    pub(super) total: usize,
    /// Whether GitHub gave up before it had looked everywhere.
    pub(super) is_incomplete: bool,
}

#[derive(Deserialize)]
struct SearchPage {
    #[serde(default)]
    total_count: usize,
    #[serde(default)]
    incomplete_results: bool,
    items: Vec<SearchItem>,
}

#[derive(Deserialize)]
struct SearchItem {
    number: u64,
    title: Option<String>,
    repository_url: String,
    pull_request: Option<serde_json::Value>,
}

/// The search as GitHub receives it: for issues, in a repository unless the text names one itself.
pub(super) fn whole_search(text: &str, repo: Option<&Repo>) -> Result<String, &'static str> {
    let text = text.trim();
    let names_place = text.split_whitespace().any(|word| {
        ["repo:", "org:", "user:"]
            .iter()
            .any(|place| word.starts_with(place))
    });
    match repo {
        Some(_) if names_place => Err("both `--search` and `--repo` name a repository"),
        Some(repo) => Ok(format!("{text} repo:{repo} is:issue")),
        None if names_place => Ok(format!("{text} is:issue")),
        None => Ok(format!("{text} repo:pytorch/pytorch is:issue")),
    }
}

/// Finds issues, the newest first unless the search itself orders them.
pub(super) fn find(
    tools: &ExternalTools,
    search: &str,
    limit: usize,
) -> Result<SearchResult, GhError> {
    let limit = limit.min(MOST);
    let mut found = SearchResult::default();
    for page in 1..=limit.div_ceil(PAGE) {
        let call = page_call(search, limit.min(PAGE), page);
        let output = with_patience(tools, || read(tools, &call))?;
        let (shown, issues, is_incomplete) = {
            let parsed = parse_page(&output.stdout)?;
            found.total = parsed.total_count;
            let shown = parsed.items.len();
            (shown, issues_of(parsed.items)?, parsed.incomplete_results)
        };
        found.is_incomplete |= is_incomplete;
        for issue in issues {
            // An issue that was opened meanwhile moves the others to the next page.
            if !found.issues.contains(&issue) {
                found.issues.push(issue);
            }
        }
        if shown < PAGE {
            break;
        }
    }
    found.issues.truncate(limit);
    Ok(found)
}

fn page_call(search: &str, size: usize, page: usize) -> ToolCall {
    let [query, size, page] = [
        format!("q={search}"),
        format!("per_page={size}"),
        format!("page={page}"),
    ];
    let mut argv = vec![
        "api",
        "-X",
        "GET",
        "search/issues",
        "-f",
        &query,
        "-f",
        &size,
        "-f",
        &page,
    ];
    if !search.contains("sort:") {
        argv.extend(["-f", "sort=created", "-f", "order=desc"]);
    }
    gh(argv)
}

fn parse_page(text: &str) -> Result<SearchPage, GhError> {
    serde_json::from_str(text).map_err(|error| GhError::Answer(error.to_string()))
}

/// The issues among the results; a search can find pull requests despite all.
fn issues_of(items: Vec<SearchItem>) -> Result<Vec<FoundIssue>, GhError> {
    items
        .into_iter()
        .filter(|item| item.pull_request.is_none())
        .map(|item| {
            let path = item.repository_url.rsplit_once("/repos/");
            let repo = path.and_then(|(_, name)| name.parse().ok());
            Ok(FoundIssue {
                repo: repo.ok_or_else(|| {
                    GhError::Answer(format!("`{}` is no repository", item.repository_url))
                })?,
                number: item.number,
                title: item.title.unwrap_or_default(),
            })
        })
        .collect()
}

/// Calls GitHub; where its rate limit is exceeded, waits until it allows more.
pub(super) fn with_patience<T>(
    tools: &ExternalTools,
    mut call: impl FnMut() -> Result<T, GhError>,
) -> Result<T, GhError> {
    for round in 0..ROUNDS {
        match call() {
            Err(GhError::RateLimited) => wait_for_limit(tools, round)?,
            ended => return ended,
        }
    }
    call()
}

/// Waits until GitHub allows more calls. `round` counts the waits in a row.
pub(super) fn wait_for_limit(tools: &ExternalTools, round: u32) -> Result<(), GhError> {
    // This call itself is free.
    let output = tools.call(&gh(["api", "rate_limit"]))?;
    let now = SystemTime::now();
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let wait = wait(&output.stdout, since.as_secs(), round);
    let until = humantime::format_rfc3339_seconds(now + wait).to_string();
    tools.note(&format!(
        "     GitHub's rate limit is exceeded; going on in {}, at {}. Ctrl-C stops, and nothing is lost",
        humantime::format_duration(wait),
        until.replace('T', " ").replace('Z', " UTC")
    ));
    tools.sleep(wait)?;
    Ok(())
}

/// How long to wait by the answer of `gh api rate_limit`, at a time in seconds since 1970.
fn wait(answer: &str, now: u64, round: u32) -> Duration {
    let value: serde_json::Value = serde_json::from_str(answer).unwrap_or_default();
    let resets = ["core", "search", "graphql"].iter().filter_map(|name| {
        let limit = &value["resources"][name];
        let is_used_up = limit["remaining"].as_u64() == Some(0);
        limit["reset"].as_u64().filter(|_| is_used_up)
    });
    let seconds = match resets.max() {
        // Clocks differ a little.
        Some(reset) => (reset.saturating_sub(now) + 1).min(LONGEST),
        // A limit of another kind, for calls that follow each other too fast.
        None => (UNKNOWN.0 << round.min(8)).min(UNKNOWN.1),
    };
    Duration::from_secs(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_names_one_place() {
        let repo: Repo = "o/r".parse().unwrap();
        let whole = |text, repo| whole_search(text, repo).ok();
        assert_eq!(
            whole("label:\"oncall: pt2\" is:open", None).as_deref(),
            Some("label:\"oncall: pt2\" is:open repo:pytorch/pytorch is:issue")
        );
        assert_eq!(
            whole(" is:open ", Some(&repo)).as_deref(),
            Some("is:open repo:o/r is:issue")
        );
        assert_eq!(
            whole("org:o is:open", None).as_deref(),
            Some("org:o is:open is:issue")
        );
        assert_eq!(whole("repo:o/s", Some(&repo)), None);
    }

    #[test]
    fn results_are_read_and_pull_requests_left_out() {
        let text = r#"{"total_count": 3, "incomplete_results": false, "items": [
            {"number": 7, "title": "a", "repository_url": "https://api.github.com/repos/o/r"},
            {"number": 8, "title": null, "repository_url": "https://api.github.com/repos/o/s"},
            {"number": 9, "repository_url": "https://api.github.com/repos/o/r", "pull_request": {}}]}"#;
        let page = parse_page(text).unwrap();
        assert_eq!(page.total_count, 3);
        let found = issues_of(page.items).unwrap();
        let found: Vec<_> = found
            .iter()
            .map(|issue| (issue.repo.to_string(), issue.number, issue.title.as_str()))
            .collect();
        assert_eq!(
            found,
            [("o/r".to_owned(), 7, "a"), ("o/s".to_owned(), 8, "")]
        );
        let foreign = r#"{"items": [{"number": 7, "repository_url": "https://x/../.."}]}"#;
        assert!(issues_of(parse_page(foreign).unwrap().items).is_err());
        assert!(parse_page("<html>").is_err());
    }

    #[test]
    fn the_order_of_results_is_the_newest_first_unless_the_search_orders_them() {
        let argv = |search: &str| page_call(search, 100, 2).argv.join(" ");
        assert!(argv("is:open").ends_with("-f page=2 -f sort=created -f order=desc"));
        assert!(argv("is:open sort:updated-asc").ends_with("-f page=2"));
    }

    #[test]
    fn a_wait_lasts_until_the_limit_is_reset() {
        let limits = |core: u64, search: u64| {
            format!(
                r#"{{"resources": {{"core": {{"remaining": {core}, "reset": 1300}},
                "search": {{"remaining": {search}, "reset": 1060}}}}}}"#
            )
        };
        let wait = |answer: &str, now, round| wait(answer, now, round).as_secs();
        assert_eq!(wait(&limits(0, 0), 1000, 0), 301);
        assert_eq!(wait(&limits(5, 0), 1000, 0), 61);
        assert_eq!(wait(&limits(5, 5), 1000, 0), 60);
        assert_eq!(wait("", 1000, 2), 240);
        assert_eq!(wait("", 1000, 30), 900);
        // A clock that is ahead, and one that is far behind.
        assert_eq!(wait(&limits(0, 5), 2000, 0), 1);
        assert_eq!(wait(&limits(0, 5), 0, 0), 1301);
    }
}
