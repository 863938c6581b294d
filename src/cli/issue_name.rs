//! How users name an issue and its repository. Pure. Called by the arguments and by scrub.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// `owner/name` of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Repo {
    /// Its owner.
    pub owner: String,
    /// Its name.
    pub name: String,
}

impl TryFrom<String> for Repo {
    type Error = String;
    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Repo> for String {
    fn from(repo: Repo) -> Self {
        repo.to_string()
    }
}

impl FromStr for Repo {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let is_name = |text: &str| {
            !text.is_empty()
                && text != "."
                && text != ".."
                && text
                    .chars()
                    .all(|char| char.is_ascii_alphanumeric() || "-_.".contains(char))
        };
        match text.split_once('/') {
            Some((owner, name)) if is_name(owner) && is_name(name) => Ok(Self {
                owner: owner.to_owned(),
                name: name.to_owned(),
            }),
            _ => Err("a repository has the form OWNER/NAME".to_owned()),
        }
    }
}

impl fmt::Display for Repo {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.owner, self.name)
    }
}

/// An issue as the user names it: `7`, `#7`, `OWNER/NAME#7`, or its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueName {
    /// The repository, if the user names it.
    pub repo: Option<Repo>,
    /// The number.
    pub number: u64,
}

impl FromStr for IssueName {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let unknown = || "name an issue by its number or URL".to_owned();
        let number = |digits: &str| {
            digits
                .parse()
                .ok()
                .filter(|number| *number > 0)
                .ok_or_else(unknown)
        };
        let path = text.strip_prefix("https://").unwrap_or(text);
        if let Some(path) = path.strip_prefix("github.com/") {
            // The fragment behind the number names a comment.
            let path = path
                .split(['#', '?'])
                .next()
                .unwrap_or_default()
                .trim_end_matches('/');
            if path.contains("/pull/") {
                return Err("this is a pull request, not an issue".to_owned());
            }
            let (repo, digits) = path.split_once("/issues/").ok_or_else(unknown)?;
            return Ok(Self {
                repo: Some(repo.parse()?),
                number: number(digits)?,
            });
        }
        match text.split_once('#') {
            Some(("", digits)) => Ok(Self {
                repo: None,
                number: number(digits)?,
            }),
            Some((repo, digits)) => Ok(Self {
                repo: Some(repo.parse()?),
                number: number(digits)?,
            }),
            None => Ok(Self {
                repo: None,
                number: number(text)?,
            }),
        }
    }
}
