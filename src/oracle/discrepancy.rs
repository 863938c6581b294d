//! How wrong something is according to a comparison's message. Knows the words of the usual
//! comparisons and looks only at messages. Called where scales are compared.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::{Deserialize, Serialize};

use crate::text::pattern;

/// The lines in which comparisons say how far off something is, with a name for each number. Values
/// that are compared are `one` and `other`; they may be whole arrays.
const FORMS: &[&str] = &[
    // Of tensors and of numbers.
    r"(?m)^(?:Greatest a|A)bsolute difference: (?<absolute>NUM)(?: at index \([^)]*\))?(?: \(up to (?<allowed>NUM) allowed\))?",
    r"(?m)^(?:Greatest r|R)elative difference: (?<relative>NUM)(?: at index \([^)]*\))?(?: \(up to (?<allowed_relative>NUM) allowed\))?",
    r"(?m)^Mismatched elements: (?<count>\d+) / (?<of>\d+)",
    // Of NumPy's arrays.
    r"(?m)^Max absolute difference(?: among violations)?: (?<absolute>NUM)",
    r"(?m)^Max relative difference(?: among violations)?: (?<relative>NUM)",
    r"(?m)^Not equal to tolerance rtol=(?<allowed_relative>NUM), atol=(?<allowed>NUM)",
    r"(?m)^ *(?:ACTUAL|x): (?<one>NUM)\n *(?:DESIRED|y): (?<other>NUM)$",
    r"\b(?<odd>nan|inf) location mismatch",
    r"\(max(?: difference)? is (?<places>NUM)(?: ULP)?\)$",
    // Of gradients.
    r"(?s)\bnumerical: ?(?<one>.*?)\nanalytical: ?(?<other>.*?)(?:\n\n|\s*\z)",
    r"(?s)\nGot:\s*(?<one>.*?)\s*\nExpected:\s*(?<other>.*?)(?:\n\n|\s*\z)",
    // Of columns.
    r"values are different \((?<percent>NUM) %\)",
    r"(?m)^\[left\]: +(?<one>.*)\n\[right\]: +(?<other>.*)$",
    // Of numbers, by test frameworks.
    r"\A(?<one>NUM) != (?<other>NUM)(?: within (?:\d+ places|(?<allowed>NUM) delta) \((?<absolute>NUM) difference\))?(?: : |\n|\z)",
    r"(?m)^\s*Obtained: (?<one>NUM)\n\s*Expected: (?<other>NUM)(?: ± (?<allowed>NUM))?",
];

const NUMBER: &str = r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|nan|inf)";

static COMPARISONS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    let compile = |form: &&str| Regex::new(&form.replace("NUM", NUMBER));
    let all = FORMS.iter().map(compile).collect::<Result<_, _>>();
    all.expect("the forms are well-formed")
});

pattern!(ANY_NUMBER, NUMBER);
pattern!(DOUBLE, r"\b(?:float64|complex128)\b");
// The properties of an array besides its numbers.
pattern!(TRAITS, r"(?s),\s*\w+=.*");

/// How wrong something is, as far as a message says. No number here is `nan` or infinite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Discrepancy {
    /// The value that replaces a number.
    pub(super) odd: Option<Odd>,
    /// The greatest difference.
    pub(super) absolute: Option<f64>,
    /// The greatest difference in proportion to the value. None for whole numbers, which are off by
    /// at least one.
    pub(super) relative: Option<f64>,
    /// The difference as a multiple of what is allowed.
    pub(super) excess: Option<f64>,
    /// The share of the elements that are off.
    pub(super) share: Option<f64>,
    /// Whether values that are shown are in double precision.
    #[serde(default)]
    pub(super) is_double: bool,
    /// Whether the difference is one of whole numbers.
    #[serde(default)]
    is_whole: bool,
}

/// A value that is not a distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Odd {
    Nan,
    Infinite,
}

// Its numbers are finite, so each equals itself.
impl Eq for Discrepancy {}

impl Discrepancy {
    /// The discrepancy that a message reports; none if it reports none.
    pub(super) fn of(message: &str) -> Option<Self> {
        let mut found = Self::default();
        for form in COMPARISONS.iter() {
            if let Some(numbers) = form.captures(message) {
                found.learn(&numbers);
            }
        }
        if found.odd.is_some() {
            (found.absolute, found.relative, found.excess) = (None, None, None);
        }
        if found.is_whole {
            found.relative = None;
        }
        (found != Self::default()).then_some(found)
    }

    /// Adds the numbers that one form holds.
    fn learn(&mut self, found: &Captures<'_>) {
        let number = |name: &str| found.name(name).map(|text| text.as_str());
        let value = |name: &str| number(name).and_then(|text| text.parse::<f64>().ok());
        let mut absolute = value("absolute");
        let mut relative = value("relative");
        if let (Some(one), Some(other)) = (number("one"), number("other")) {
            self.is_double |= DOUBLE.is_match(one) && DOUBLE.is_match(other);
            let apart = farthest(one, other);
            absolute = absolute.or(apart.map(|apart| apart.0));
            relative = relative.or(apart.map(|apart| apart.1));
        }
        if let Some(places) = value("places") {
            relative = Some(places * f64::EPSILON);
        }
        self.odd = self.odd.or(match number("odd") {
            Some("nan") => Some(Odd::Nan),
            Some(_) => Some(Odd::Infinite),
            None => absolute.and_then(Odd::of),
        });
        let is_whole = |text: &str| text.chars().all(|char| char.is_ascii_digit());
        self.is_whole |= number("absolute").is_some_and(is_whole);
        // Whatever is infinitely off from zero is off by more than all of it.
        let relative = relative.map(|relative| relative.min(f64::MAX));
        let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
        self.absolute = self.absolute.or(finite(absolute));
        self.relative = self.relative.or(finite(relative));
        for (off, allowed) in [
            (self.absolute, value("allowed")),
            (self.relative, value("allowed_relative")),
        ] {
            let times = off.zip(allowed).map(|(off, allowed)| off / allowed);
            // Elements that are off are off by more than both.
            let times = finite(times).into_iter().chain(self.excess);
            self.excess = times.reduce(f64::min);
        }
        let share = value("count").zip(value("of"));
        let percent = value("percent").map(|percent| percent / 100.0);
        let share = share.map(|(count, of)| count / of).or(percent);
        self.share = self.share.or(finite(share));
    }

    /// How far off it is, for people.
    pub(super) fn amount(&self) -> String {
        match (self.odd, self.absolute) {
            (Some(Odd::Nan), _) => "nan".to_owned(),
            (Some(Odd::Infinite), _) => "inf".to_owned(),
            (None, Some(absolute)) => shown(absolute),
            (None, None) => "a number".to_owned(),
        }
    }
}

impl Odd {
    fn of(number: f64) -> Option<Self> {
        if number.is_nan() {
            return Some(Self::Nan);
        }
        number.is_infinite().then_some(Self::Infinite)
    }
}

/// The largest difference of two values or arrays as they are printed, and that in proportion to
/// the larger of the two numbers; none if they do not fit.
fn farthest(one: &str, other: &str) -> Option<(f64, f64)> {
    let [ours, others] = [one, other].map(|text| TRAITS.replace(text, ""));
    let numbers = |text: &str| -> Vec<f64> {
        let found = ANY_NUMBER.find_iter(text);
        found
            .filter_map(|number| number.as_str().parse().ok())
            .collect()
    };
    // Whole numbers count something.
    let is_real = |text: &str| {
        let mut found = ANY_NUMBER.find_iter(text);
        found.any(|number| number.as_str().contains(['.', 'e', 'n']))
    };
    if !is_real(&ours) && !is_real(&others) {
        return None;
    }
    let (ours, others) = (numbers(&ours), numbers(&others));
    if ours.len() != others.len() {
        return None;
    }
    let apart = |(one, other): (f64, f64)| {
        let is_alike = one.total_cmp(&other).is_eq() || one.is_nan() && other.is_nan();
        let apart = if is_alike { 0.0 } else { (one - other).abs() };
        (
            apart,
            apart / one.abs().max(other.abs()).max(f64::MIN_POSITIVE),
        )
    };
    let pairs = ours.into_iter().zip(others).map(apart);
    pairs.max_by(|one, other| one.0.total_cmp(&other.0))
}

/// A number with the digits that say how large it is.
pub(super) fn shown(number: f64) -> String {
    if number == 0.0 || (1e-3..1e4).contains(&number) {
        let digits = if number < 1.0 { 3 } else { 1 };
        let text = format!("{number:.digits$}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    format!("{number:.1e}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_how_wrong_something_is() {
        let found = Discrepancy::of(
            "Tensor-likes are not close!\n\nMismatched elements: 1 / 4 (25.0%)\n\
             Greatest absolute difference: 0.5 at index (1,) (up to 1e-05 allowed)\n\
             Greatest relative difference: inf at index (1,) (up to 1.3e-06 allowed)",
        );
        let expected = Discrepancy {
            absolute: Some(0.5),
            relative: Some(f64::MAX),
            excess: Some(0.5 / 1e-5),
            share: Some(0.25),
            ..Discrepancy::default()
        };
        assert_eq!(found, Some(expected));
    }

    #[test]
    fn counts_and_texts_have_no_scale() {
        for message in [
            "3 != 4",
            "'a' != 'b'",
            "Lists differ: [1] != [2]",
            "shape (2,) != (3,)",
            "",
        ] {
            assert_eq!(Discrepancy::of(message), None, "{message}");
        }
    }
}
