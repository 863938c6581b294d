//! The changes that a scrub may make to an issue, as data. `gh` turns them into command lines, the
//! plan carries them out.

use minrepro_reducers::syntax::lines::with_plain_newlines;
use serde::{Deserialize, Serialize};

use super::issue::{Issue, Post};

/// A change to an issue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IssueWrite {
    /// A comment.
    Comment {
        /// Its text.
        body: String,
    },
    /// Labels added and removed in one call.
    Labels {
        /// Labels to add.
        add: Vec<String>,
        /// Labels to remove.
        remove: Vec<String>,
    },
    /// Closing.
    Close {
        /// The reason that GitHub records.
        reason: CloseReason,
    },
}

/// The reason for closing an issue, named as `gh` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "lowercase")]
pub enum CloseReason {
    /// The bug is fixed.
    Completed,
    /// Nobody will fix it.
    #[strum(serialize = "not planned")]
    NotPlanned,
}

/// The state of a planned write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WriteState {
    /// Shown to the user, not carried out.
    Shown,
    /// Visible on GitHub.
    Done,
    /// Not visible on GitHub.
    Failed,
    /// Tried, but GitHub could not be asked about it.
    #[serde(rename = "in doubt")]
    InDoubt,
}

impl IssueWrite {
    /// Whether a post is the comment that this writes.
    pub(super) fn is_shown(&self, post: &Post) -> bool {
        let Self::Comment { body } = self else {
            return false;
        };
        with_plain_newlines(&post.body).trim() == with_plain_newlines(body).trim()
    }

    /// Whether an issue shows that this was done.
    pub(super) fn is_done(&self, issue: &Issue) -> bool {
        match self {
            Self::Comment { .. } => issue.comments.iter().any(|post| self.is_shown(post)),
            Self::Labels { add, remove } => {
                add.iter().all(|label| issue.has_label(label))
                    && !remove.iter().any(|label| issue.has_label(label))
            }
            Self::Close { .. } => issue.is_closed,
        }
    }

    /// The key that keeps it from being carried out twice.
    pub(super) fn identity(&self, index: usize) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        format!("{index}-{}", blake3::hash(text.as_bytes()).to_hex())
    }

    pub(super) fn closes(&self) -> bool {
        matches!(self, Self::Close { .. })
    }

    /// Whether GitHub subscribes whoever writes it. Labels do not.
    pub(super) fn subscribes(&self) -> bool {
        !matches!(self, Self::Labels { .. })
    }
}
