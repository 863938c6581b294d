//! Fetches the code of historical issues by `gh` into a folder, and compares it with the recorded
//! hashes. If GitHub cannot be asked, the code fetched earlier stands. Called by `corpus fetch`.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::list::{HistoricalIssue, IssueThread, hash_of};
use crate::{
    files::{Links, read_regular},
    report::write_atomically,
    scrub::{
        ExternalTools,
        gh::{GhError, GitHub},
        issue::{
            Issue, Repo,
            repro::{Pick, Repro, pick},
        },
    },
};

/// No script in a thread is larger.
const MOST: u64 = 1 << 20;

/// The code of an issue in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedCode {
    /// The code.
    pub text: String,
    /// Its hash.
    pub hash: String,
}

impl FetchedCode {
    fn new(text: String) -> Self {
        let hash = hash_of(&text);
        Self { text, hash }
    }

    /// The file of an issue's code in a folder.
    pub fn file(folder: &Path, issue: &HistoricalIssue) -> PathBuf {
        folder.join(format!("{}.py", issue.id))
    }

    /// Reads the code that was fetched for an issue.
    pub fn read(folder: &Path, issue: &HistoricalIssue) -> Option<Self> {
        let bytes = read_regular(&Self::file(folder, issue), Links::Refused, MOST).ok()?;
        String::from_utf8(bytes).ok().map(Self::new)
    }
}

/// The result of fetching an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FetchedIssue {
    /// Its code is in the cache now.
    Fetched {
        /// The code.
        code: FetchedCode,
        /// The number of pieces of code that may be the repro.
        of: usize,
        /// Whether the cache held other code before.
        is_new_version: bool,
    },
    /// It is deleted or not visible.
    Deleted,
    /// It has no code.
    NoCode,
    /// It is not an issue on GitHub.
    NotOnGitHub(String),
    /// GitHub was not asked.
    NotAsked,
}

/// Fetches issues one after the other.
pub struct Fetcher<'a> {
    tools: &'a ExternalTools,
    folder: &'a Path,
    /// The connection, once it was opened.
    github: Option<GitHub<'a>>,
    /// Why GitHub cannot be asked, once that is known.
    pub unreachable: Option<GhError>,
}

impl<'a> Fetcher<'a> {
    /// Fetches into a folder.
    pub fn new(tools: &'a ExternalTools, folder: &'a Path) -> Self {
        Self {
            tools,
            folder,
            github: None,
            unreachable: None,
        }
    }

    /// Fetches an issue. Once GitHub cannot be asked, it is not asked again.
    ///
    /// # Errors
    ///
    /// A signal came.
    pub fn fetch(&mut self, issue: &HistoricalIssue) -> Result<FetchedIssue, FetchError> {
        let (repo, number) = match issue.thread() {
            IssueThread::GitHub(repo, number) => (repo, number),
            IssueThread::Elsewhere(address) => {
                return Ok(FetchedIssue::NotOnGitHub(address.to_owned()));
            }
        };
        if self.unreachable.is_some() {
            return Ok(FetchedIssue::NotAsked);
        }
        match self.ask(repo, number) {
            Ok(read) => self.store(issue, &read),
            Err(GhError::NotFound) => Ok(FetchedIssue::Deleted),
            Err(GhError::PullRequest) => {
                let address = format!("https://github.com/{repo}/pull/{number}");
                Ok(FetchedIssue::NotOnGitHub(address))
            }
            Err(GhError::Interrupted(signal)) => {
                Err(FetchError::GitHub(GhError::Interrupted(signal)))
            }
            Err(error) => {
                self.unreachable = Some(error);
                Ok(FetchedIssue::NotAsked)
            }
        }
    }

    fn ask(&mut self, repo: &Repo, number: u64) -> Result<Issue, GhError> {
        let github = match &self.github {
            Some(github) => github.other(repo.clone(), number),
            None => GitHub::open(self.tools, repo.clone(), number)?,
        };
        self.github.insert(github).issue()
    }

    /// Writes the code into the folder, unless it is there already.
    fn store(&self, issue: &HistoricalIssue, read: &Issue) -> Result<FetchedIssue, FetchError> {
        let Some((repro, of)) = chosen(issue, pick(read)) else {
            return Ok(FetchedIssue::NoCode);
        };
        let code = FetchedCode::new(repro.code);
        let before = FetchedCode::read(self.folder, issue);
        if before.as_ref() != Some(&code) {
            let path = FetchedCode::file(self.folder, issue);
            let written = fs::create_dir_all(self.folder)
                .and_then(|()| write_atomically(&path, code.text.as_bytes()));
            written.map_err(|source| FetchError::Unwritten { path, source })?;
        }
        Ok(FetchedIssue::Fetched {
            is_new_version: before.is_some_and(|before| before != code),
            code,
            of,
        })
    }
}

/// Why fetching ends.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// A signal came.
    #[error(transparent)]
    GitHub(#[from] GhError),
    /// The code cannot be kept.
    #[error("could not write `{}`", path.display())]
    Unwritten {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// The piece of code with the recorded hash, else the likeliest, and the number of pieces.
fn chosen(issue: &HistoricalIssue, pick: Pick) -> Option<(Repro, usize)> {
    let mut options = match pick {
        Pick::Found(repro) => vec![*repro],
        Pick::Ask(options) => options,
        Pick::ImageOnly | Pick::None(_) => Vec::new(),
    };
    let of = options.len();
    let recorded = |repro: &Repro| Some(hash_of(&repro.code)) == issue.hash;
    let at = options.iter().position(recorded).unwrap_or(0);
    (of > 0).then(|| (options.swap_remove(at), of))
}
