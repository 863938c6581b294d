//! The ledger of slips: failures other than the bug that candidates showed, grouped. Each may be
//! another bug. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{artifact::is_artifact, normalize, verdict::Difference};
use crate::{runner::End, text::first_line};

/// Failures of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Slip {
    /// The exception's class, or how the run ended.
    pub class: String,
    /// The first line of the message of the example.
    pub message: String,
    /// How the mechanism differs from the bug's, if the words are the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mechanism: Option<String>,
    /// How many candidates showed it.
    pub count: u64,
    /// The content hash of the first candidate that did.
    pub example: String,
}

/// Groups differences, each with the key of its candidate in the order of the reduction: most
/// frequent first, without those that a reduction causes itself, such as missing names and
/// arguments, syntax errors, and literals instead of objects.
pub fn ledger<'a>(differences: impl IntoIterator<Item = (String, &'a Difference)>) -> Vec<Slip> {
    let mut groups: BTreeMap<(String, String, Option<String>), Slip> = BTreeMap::new();
    for (example, difference) in differences {
        if is_artifact(&difference.class, &difference.message) {
            continue;
        }
        let class = if difference.class.is_empty() {
            end_name(difference.end)
        } else {
            difference.class.clone()
        };
        let message = first_line(&difference.message).to_owned();
        let kind = normalize::kind(&message);
        let mechanism = difference.mechanism.as_deref().map(normalize::kind);
        groups
            .entry((class.clone(), kind, mechanism))
            .or_insert_with(|| Slip {
                class,
                message,
                mechanism: difference.mechanism.clone(),
                count: 0,
                example,
            })
            .count += 1;
    }
    let mut slips: Vec<Slip> = groups.into_values().collect();
    slips.sort_by_key(|slip| std::cmp::Reverse(slip.count));
    slips
}

/// The first of the typed signatures whose numbers kept a slip from matching, with gaps instead of
/// the numbers: a message that contains sizes changes with them.
pub fn looser<'a>(typed: impl IntoIterator<Item = &'a str>, slips: &[Slip]) -> Option<String> {
    typed.into_iter().find_map(|typed| {
        let loose = normalize::kind(typed);
        let message = loose
            .split_once(": ")
            .map_or(loose.as_str(), |(_, message)| message);
        let blocks = |slip: &Slip| {
            slip.mechanism.is_none() && normalize::kind(&slip.message).contains(message.trim())
        };
        (loose != typed && slips.iter().any(blocks)).then_some(loose)
    })
}

fn end_name(end: End) -> String {
    match end.shell_status() {
        Some(status) => format!("exit {status}"),
        None => "stopped by a limit".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_keep_failures_out_are_reported() {
        let slip = |message: &str| {
            vec![Slip {
                class: "RuntimeError".into(),
                message: message.into(),
                mechanism: None,
                count: 1,
                example: String::new(),
            }]
        };
        let typed = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x64 and 128x64)";
        let found = looser(
            [typed],
            &slip("mat1 and mat2 shapes cannot be multiplied (1x2 and 3x2)"),
        );
        assert_eq!(
            found.unwrap(),
            "RuntimeError: mat1 and mat2 shapes cannot be multiplied (… and …)"
        );
        assert_eq!(looser([typed], &slip("size 3 is too large")), None);
        assert_eq!(
            looser(["RuntimeError: too large"], &slip("size 3 is too large")),
            None
        );
    }
}
