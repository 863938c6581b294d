//! By how much the numbers of a comparison are apart that gives no more than a truth value, as a run
//! wrote it down. Called by the judge; proposes nothing.

use crate::analysis::observation::marked;

/// The mark of what a run writes down about numbers that are not close.
const MARK: &str = "apart";

/// The mark of numbers in double precision.
const DOUBLE: &str = "double ";

/// How far numbers are apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Apart {
    /// In the words of a comparison that says so.
    pub message: String,
    /// Whether all of them are in double precision.
    pub are_double: bool,
}

/// How far the numbers of the last comparison are apart that finds them not close, by the standard
/// error of a program that writes it down.
pub fn differing(stderr: &str) -> Option<Apart> {
    let said = marked(stderr).filter(|(name, _)| *name == MARK);
    let (_, text) = said.last()?;
    let message = text.strip_prefix(DOUBLE);
    Some(Apart {
        are_double: message.is_some(),
        message: message.unwrap_or(text).to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_comparison_counts() {
        let said = "\u{1e}apart\u{1f}double a\u{1e}\n\u{1e}apart\u{1f}b\u{1e}\n";
        let of = |text: &str| differing(text).map(|apart| (apart.message, apart.are_double));
        assert_eq!(of(said), Some(("b".to_owned(), false)));
        assert_eq!(of(&said[..20]), Some(("a".to_owned(), true)));
        assert_eq!(of("noise"), None);
    }
}
