//! Public issues as a corpus: the list of facts about them, and the code of their threads, which
//! belongs to other people and is fetched into the user's cache. Never writes to an issue and runs
//! nothing. Called by `corpus fetch` and by `bench --historical`.

mod fetch;
mod list;

pub use fetch::{FetchError, FetchedCode, FetchedIssue, Fetcher};
pub use list::{HashComparison, HistoricalIssue, IssueList, IssueListError, IssueThread, hash_of};
