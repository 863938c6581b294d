//! In what the keys of a container are like one that is missing in it, as a run writes it down: they
//! differ in type or case, in white space or in the form of characters; they say the same number; one
//! is a part or the name of the other; or the very key was stored in it. Called by the judge; proposes
//! nothing.

use std::collections::BTreeSet;

use super::observation::marked;

/// The mark of what a run writes down about such keys.
const MARK: &str = "near keys";

/// Of a key that was stored in what then lacks it.
pub const KEPT: &str = "kept";

/// The ways in which keys are like the missing one, by the standard error of a program that writes
/// them down.
pub fn near_keys(stderr: &str) -> BTreeSet<String> {
    let mut found = marked(stderr).filter(|(name, _)| *name == MARK);
    let found = found.find_map(|(_, ways)| serde_json::from_str(ways).ok());
    found.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_read_off_a_run() {
        let found = near_keys("noise\n\u{1e}near keys\u{1f}[\"case\", \"part\"]\u{1e}\n");
        assert_eq!(found, ["case", "part"].map(str::to_owned).into());
        assert!(near_keys("KeyError: 'a'\n").is_empty());
    }
}
