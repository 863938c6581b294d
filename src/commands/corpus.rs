//! `minrepro corpus fetch`: the code of historical issues into the user's cache, and how it compares
//! with the recorded hashes. Runs no script. Its list and its folder are those of
//! `bench --historical`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use anyhow::{Context, anyhow};

use super::scrub::tools;
use crate::{
    cli::{CorpusArgs, CorpusFetchArgs, CorpusVerb, Exit, Failure, Printer},
    journal::cache_folder,
    report::write_atomically,
    scrub::{
        corpus::{
            FetchError, FetchedCode, FetchedIssue, Fetcher, HashComparison, HistoricalIssue,
            IssueList,
        },
        gh::GhError,
    },
};

pub(super) fn corpus(args: &CorpusArgs, printer: Printer) -> Result<Exit, Failure> {
    match &args.verb {
        CorpusVerb::Fetch(args) => fetch(args, printer),
    }
}

/// Reads a list of issues: its text, and what it holds.
pub(super) fn read_list(path: &Path) -> Result<(String, IssueList), Failure> {
    let read = || {
        let text = std::fs::read_to_string(path)?;
        let list = IssueList::parse(&text)?;
        anyhow::Ok((text, list))
    };
    read()
        .with_context(|| format!("could not read the list `{}`", path.display()))
        .map_err(|error| {
            Failure::new(Exit::Usage, error)
                .hint("name a list of issues, such as `corpus/historical/issues.toml`")
        })
}

/// The issues of a list that the user chose.
pub(super) fn chosen<'l>(
    list: &'l IssueList,
    only: &[String],
) -> Result<Vec<&'l HistoricalIssue>, Failure> {
    list.chosen(only).map_err(|error| {
        Failure::new(Exit::Usage, error).hint("the names are the values of `id` in the list")
    })
}

/// The folder of the fetched code.
pub(super) fn code_folder() -> Result<PathBuf, Failure> {
    let cache = cache_folder().ok_or_else(|| {
        Failure::new(Exit::Environment, anyhow!("the home folder is unknown"))
            .hint("set `XDG_CACHE_HOME` to a folder")
    })?;
    Ok(cache.join("historical"))
}

fn fetch(args: &CorpusFetchArgs, printer: Printer) -> Result<Exit, Failure> {
    let (text, list) = read_list(&args.file)?;
    let issues = chosen(&list, &args.only)?;
    let folder = code_folder()?;
    let tools = tools(printer)?;
    let mut fetcher = Fetcher::new(&tools, &folder);
    let mut found = FetchTally::default();
    for issue in issues {
        let was_reachable = fetcher.unreachable.is_none();
        let fetched = if args.offline {
            FetchedIssue::NotAsked
        } else {
            fetcher.fetch(issue).map_err(failed)?
        };
        if let Some(error) = fetcher.unreachable.as_ref().filter(|_| was_reachable) {
            printer.warning(&format!(
                "{error}; for the other issues, the code that was fetched before is taken"
            ));
        }
        let code = match &fetched {
            FetchedIssue::Fetched { code, .. } => Some(code.clone()),
            _ => FetchedCode::read(&folder, issue),
        };
        printer.data(found.line(issue, &fetched, code.as_ref()));
    }
    printer.note(found.summary(&folder));
    if args.record {
        record(&args.file, &text, &found.hashes, printer)?;
    }
    if found.missing.is_empty() {
        return Ok(Exit::Reduced);
    }
    Err(missing(&found.missing, fetcher.unreachable))
}

/// What became of the issues so far.
#[derive(Default)]
struct FetchTally {
    /// How many are in each state.
    states: BTreeMap<&'static str, usize>,
    /// The hashes of their code.
    hashes: BTreeMap<String, String>,
    /// Those of which nothing is known: GitHub was not asked, and the cache lacks them.
    missing: Vec<String>,
}

impl FetchTally {
    /// Counts an issue, and says what became of it.
    fn line(
        &mut self,
        issue: &HistoricalIssue,
        fetched: &FetchedIssue,
        code: Option<&FetchedCode>,
    ) -> String {
        let kept = if code.is_some() {
            "; the code fetched before stays"
        } else {
            ""
        };
        let (state, more) = match (fetched, code) {
            (FetchedIssue::Deleted, _) => ("deleted", format!("or not visible{kept}")),
            (FetchedIssue::NoCode, _) => ("no code", format!("in its thread{kept}")),
            (FetchedIssue::NotOnGitHub(address), _) => {
                ("elsewhere", format!("not an issue on GitHub: {address}"))
            }
            (FetchedIssue::NotAsked, None) => {
                self.missing.push(issue.id.clone());
                ("missing", "not fetched, and not fetched before".to_owned())
            }
            (FetchedIssue::NotAsked, Some(code)) => {
                let (state, more) = compared(issue, code);
                (state, joined(&["fetched before", more]))
            }
            (
                FetchedIssue::Fetched {
                    of, is_new_version, ..
                },
                code,
            ) => {
                let (state, more) = code.map_or(("same", ""), |code| compared(issue, code));
                let several = (*of > 1).then(|| format!("one of {of} pieces of code"));
                let new = if *is_new_version {
                    "other code than before"
                } else {
                    ""
                };
                (
                    state,
                    joined(&[more, several.as_deref().unwrap_or(""), new]),
                )
            }
        };
        if let (Some(code), FetchedIssue::Fetched { .. } | FetchedIssue::NotAsked) = (code, fetched)
        {
            self.hashes.insert(issue.id.clone(), code.hash.clone());
        }
        *self.states.entry(state).or_default() += 1;
        format!("{:24} {state:10} {more}", issue.id)
            .trim_end()
            .to_owned()
            + "\n"
    }

    fn summary(&self, folder: &Path) -> String {
        let counts = self.states.iter();
        let counts: Vec<String> = counts
            .map(|(state, count)| format!("{count} {state}"))
            .collect();
        format!("{}; in {}", counts.join(", "), folder.display())
    }
}

/// How code compares with the recorded hash, in a word and more words.
fn compared(issue: &HistoricalIssue, code: &FetchedCode) -> (&'static str, &'static str) {
    match issue.compare(&code.hash) {
        HashComparison::Same => ("same", ""),
        HashComparison::Changed => ("changed", "other code than the recorded"),
        HashComparison::Completed => (
            "differs",
            "the recorded hash is that of the script as it was run, perhaps completed by hand",
        ),
        HashComparison::Unrecorded => ("new", "no hash is recorded"),
    }
}

fn joined(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts
        .iter()
        .copied()
        .filter(|part| !part.is_empty())
        .collect();
    parts.join("; ")
}

/// Writes hashes into the list.
fn record(
    path: &Path,
    text: &str,
    hashes: &BTreeMap<String, String>,
    printer: Printer,
) -> Result<(), Failure> {
    let new = IssueList::with_hashes(text, hashes).map_err(|error| {
        Failure::new(Exit::Usage, error)
            .hint("each issue begins with the line `[[issue]]`, and each field has a line")
    })?;
    write_atomically(path, new.as_bytes())
        .with_context(|| format!("could not write `{}`", path.display()))
        .map_err(|error| Failure::new(Exit::Environment, error))?;
    let count = hashes.len();
    printer.note(format!(
        "recorded the hashes of {count} issues in {}",
        path.display()
    ));
    Ok(())
}

/// Some issues could be had neither from GitHub nor from the cache.
fn missing(ids: &[String], unreachable: Option<GhError>) -> Failure {
    let mut failure = match unreachable {
        None => Failure::new(Exit::Environment, anyhow!("some issues were never fetched"))
            .hint("run the command again without `--offline`"),
        Some(error) => {
            let hint = match error {
                GhError::Missing => Some("install it from https://cli.github.com"),
                GhError::NotLoggedIn => Some("log in: `gh auth login`"),
                _ => None,
            };
            let mut failure = Failure::from(error);
            failure.error = failure.error.context("some issues could not be fetched");
            match hint {
                Some(hint) => failure.hint(hint),
                None => failure,
            }
        }
    };
    failure.details = ids.iter().map(|id| format!("missing: {id}")).collect();
    failure
}

fn failed(error: FetchError) -> Failure {
    match error {
        FetchError::GitHub(error) => error.into(),
        error @ FetchError::Unwritten { .. } => {
            Failure::new(Exit::Environment, error).hint("set `XDG_CACHE_HOME` to a writable folder")
        }
    }
}
