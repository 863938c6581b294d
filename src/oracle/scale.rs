//! The scale of a failure: a repro of a gross error must be grossly wrong, and one of a subtle
//! error subtly. Pure. Called by the fingerprint.

use serde::{Deserialize, Serialize};

use super::discrepancy::{Discrepancy, shown};

/// By how much a candidate may be less wrong. What the sizes of a script shrink to is seldom its
/// worst part: the largest of a thousand normal numbers is three, and one of thirty alone is below
/// a thirtieth of that. Rounding, on the other hand, is off by a thousandth at most.
const FACTOR: f64 = 30.0;

/// The same where more than chance plays a part: the sizes of numbers shrink along with a script,
/// so absolute differences do, and relative ones grow.
const WIDE_FACTOR: f64 = FACTOR * FACTOR;

/// How wrong the script as given is in each of its runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scale(Vec<Discrepancy>);

impl Scale {
    /// The scale of these messages, if each of them says how wrong something is.
    pub fn of<'a>(messages: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut all = messages.map(Discrepancy::of).collect::<Option<Vec<_>>>()?;
        all.dedup();
        (!all.is_empty()).then_some(Self(all))
    }

    /// How the scale of a message differs from that of all runs, in words; none if it does not.
    pub fn mismatch(&self, message: &str) -> Option<String> {
        let Some(its) = Discrepancy::of(message) else {
            let own = self.0.first()?.amount();
            return Some(format!(
                "it does not say by how much it is off, not by {own}"
            ));
        };
        let mut mismatches = self.0.iter().map(|known| known.mismatch(&its));
        let first = mismatches.next()??;
        mismatches.all(|other| other.is_some()).then_some(first)
    }
}

impl Discrepancy {
    /// How wrong a candidate is compared with this, if that is another scale.
    fn mismatch(&self, its: &Self) -> Option<String> {
        if self.is_double && !its.is_double {
            return Some("compared in less than double precision".to_owned());
        }
        if self.odd != its.odd {
            return Some(format!("off by {}, not by {}", its.amount(), self.amount()));
        }
        let (least, most) = match self.relative {
            Some(_) => (WIDE_FACTOR, f64::INFINITY),
            None => (FACTOR, WIDE_FACTOR),
        };
        // By more than 1, or by more than the whole value: how much more says nothing.
        let is_absolute = its.absolute.is_some() == self.absolute.is_some()
            && is_within(self.absolute, its.absolute, 1.0, least, most);
        let is_relative = is_within(self.relative, its.relative, 1.0, FACTOR, WIDE_FACTOR);
        if !is_absolute || !is_relative {
            let relatively = if is_absolute { "relatively " } else { "" };
            let [its, own] = [its, self].map(|one| {
                let amount = if is_absolute {
                    one.relative
                } else {
                    one.absolute
                };
                amount.map_or_else(|| "an unknown amount".to_owned(), shown)
            });
            return Some(format!("{relatively}off by {its}, not by {own}"));
        }
        let is_beyond = is_within(self.excess, its.excess, WIDE_FACTOR, FACTOR, f64::INFINITY);
        if !is_beyond {
            let [its, own] = [its, self].map(|one| shown(one.excess.unwrap_or_default()));
            return Some(format!(
                "off by {its} times what is allowed, not by {own} times"
            ));
        }
        let is_as_much = is_within(self.share, its.share, 1.0, FACTOR, f64::INFINITY);
        (!is_as_much).then(|| {
            let [its, own] = [its, self].map(|one| shown(one.share.unwrap_or_default() * 100.0));
            format!("off in {its}% of the elements, not in {own}%")
        })
    }
}

/// Whether a number is no smaller and no larger than the known one by these factors, if both are at
/// most the largest that says anything.
fn is_within(known: Option<f64>, its: Option<f64>, cap: f64, least: f64, most: f64) -> bool {
    let Some(known) = known.map(|known| known.min(cap)) else {
        return true;
    };
    // A message may say less where there is less to say.
    its.map(|its| its.min(cap))
        .is_none_or(|its| its * least >= known && its <= known * most)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message of a comparison of tensors.
    fn tensors(absolute: &str, relative: &str, allowed: &str) -> String {
        format!(
            "Tensor-likes are not close!\n\nMismatched elements: 1 / 3 (33.3%)\n\
             Greatest absolute difference: {absolute} at index (1,) (up to 1e-05 allowed)\n\
             Greatest relative difference: {relative} at index (1,) (up to {allowed} allowed)"
        )
    }

    #[track_caller]
    fn check(known: &str, its: &str, expected: Option<&str>) {
        let scale = Scale::of([known].into_iter()).expect("the message says how much");
        assert_eq!(scale.mismatch(its).as_deref(), expected, "{known}\n{its}");
        assert_eq!(scale.mismatch(known), None, "it is its own");
    }

    #[test]
    fn rounding_is_no_gross_error() {
        let gross = tensors("0.5", "0.2", "1.3e-06");
        let noise = tensors("2.1e-05", "1.5e-06", "1.3e-06");
        check(&gross, &noise, Some("off by 2.1e-5, not by 0.5"));
        check(&noise, &gross, Some("relatively off by 0.2, not by 1.5e-6"));
        // Large numbers are off by much when they are rounded.
        let large = tensors("64.0", "1.5e-06", "1.3e-06");
        check(&gross, &large, Some("relatively off by 1.5e-6, not by 0.2"));
        // A sum that is nearly nothing is off by all of it.
        let cancelled = tensors("2.1e-05", "1.0", "1.3e-06");
        check(&gross, &cancelled, Some("off by 2.1e-5, not by 0.5"));
    }

    #[test]
    fn what_shrinks_is_still_as_wrong() {
        let gross = tensors("512.0", "4000.5", "1.3e-06");
        check(&gross, &tensors("1.0", "0.25", "1.3e-06"), None);
        check(&gross, &tensors("0.01", "inf", "1.3e-06"), None);
        let subtle = tensors("0.0002", "0.0003", "1.3e-06");
        check(&subtle, &tensors("0.00001", "0.00002", "1.3e-06"), None);
        // Another tolerance is no other error.
        check(&subtle, &tensors("0.0002", "0.0003", "0.00001"), None);
    }

    #[test]
    fn what_is_allowed_counts() {
        let double = |absolute: &str, relative: &str| {
            format!(
                "Scalars are not close!\n\nExpected 1.0 but got 2.0.\n\
                 Absolute difference: {absolute} (up to 1e-07 allowed)\n\
                 Relative difference: {relative} (up to 1e-07 allowed)"
            )
        };
        check(
            &double("1e-5", "1e-5"),
            &tensors("2e-5", "2e-6", "1.3e-6"),
            Some("off by 1.5 times what is allowed, not by 100 times"),
        );
        check(&double("1e-5", "1e-5"), &double("3e-6", "3e-6"), None);
    }

    #[test]
    fn nan_and_infinity_stay() {
        let [finite, nan, inf] = ["0.5", "nan", "inf"].map(|off| tensors(off, "nan", "1.3e-06"));
        check(&nan, &finite, Some("off by 0.5, not by nan"));
        check(&nan, &inf, Some("off by inf, not by nan"));
        check(&finite, &inf, Some("off by inf, not by 0.5"));
        let array = |odd: &str| format!("Not equal to tolerance rtol=1e-07, atol=0\n\n{odd}");
        check(
            &array("nan location mismatch:"),
            &array("Max absolute difference: 1."),
            Some("off by 1, not by nan"),
        );
    }

    #[test]
    fn whole_numbers_are_off_by_one_at_least() {
        let whole = |off: &str, relative: &str| {
            format!(
                "Greatest absolute difference: {off} at index (0,)\nGreatest relative difference: {relative} at index (0,)"
            )
        };
        check(&whole("1", "1e-06"), &whole("1", "0.5"), None);
        check(&whole("300", "1e-06"), &whole("1", "inf"), None);
    }

    #[test]
    fn few_elements_may_become_all_but_not_all_few() {
        let array =
            |count: &str| format!("Mismatched elements: {count}\nMax absolute difference: 1.");
        check(&array("1 / 1000 (0.1%)"), &array("1 / 1 (100%)"), None);
        check(&array("10 / 10 (100%)"), &array("1 / 4 (25%)"), None);
        check(
            &array("10 / 10 (100%)"),
            &array("1 / 100 (1%)"),
            Some("off in 1% of the elements, not in 100%"),
        );
    }

    #[test]
    fn gradients_stay_as_wrong_and_as_precise() {
        let check_of = |numerical: &str, analytical: &str| {
            format!(
                "Jacobian mismatch for output 0 with respect to input 0,\n\
                 numerical:{numerical}\nanalytical:{analytical}\n"
            )
        };
        let gross = check_of(
            "tensor([[-0.5200, 0.0000],\n        [0.0000, 1.0000]], dtype=torch.float64)",
            "tensor([[0.0000, 0.0000],\n        [0.0000, 1.0000]],\n       dtype=torch.float64)",
        );
        let rounded = check_of("tensor([[0.9800]])", "tensor([[1.0000]])");
        check(
            &gross,
            &rounded,
            Some("compared in less than double precision"),
        );
        let rounded = check_of(
            "tensor([[0.9800]], dtype=torch.float64)",
            "tensor([[1.0000]], dtype=torch.float64)",
        );
        check(&gross, &rounded, Some("relatively off by 0.02, not by 1"));
        let smaller = check_of(
            "tensor([[0.3]], dtype=torch.float64)",
            "tensor([[-1.5]], dtype=torch.float64)",
        );
        check(&gross, &smaller, None);
        check(
            &check_of("-0.8381560471355158", "2.937823704623985"),
            &check_of("1.25", "1.26"),
            Some("relatively off by 0.008, not by 1.3"),
        );
    }

    #[test]
    fn all_usual_comparisons_are_known() {
        for (known, noise) in [
            (
                "Arrays are not almost equal to 7 decimals\n ACTUAL: 1.0\n DESIRED: 1.5",
                "Arrays are not almost equal to 7 decimals\n ACTUAL: 1.0\n DESIRED: 1.0000002",
            ),
            (
                "Arrays are not almost equal up to 1 ULP (max difference is 4.5e+15 ULP)",
                "Arrays are not almost equal up to 1 ULP (max difference is 2 ULP)",
            ),
            (
                "1.0 != 2.0 within 7 places (1.0 difference) : first",
                "1.0 != 1.0000001 within 7 places (1.0000000005838672e-07 difference)",
            ),
            (
                "1.0 != 2.0 within 0.1 delta (1.0 difference)",
                "1.0 != 1.01 within 0.001 delta (0.01 difference)",
            ),
            ("0.5 != 0.75", "0.30000000000000004 != 0.3"),
            (
                "comparison failed\n  Obtained: 1.0\n  Expected: 1.5 ± 1.5e-06",
                "comparison failed\n  Obtained: 1.0\n  Expected: 1.000002 ± 1.0e-06",
            ),
            (
                "Series values are different (50.0 %)\n[index]: [0, 1]\n[left]:  [1.0, 2.0]\n[right]: [1.0, 3.0]",
                "Series values are different (50.0 %)\n[index]: [0, 1]\n[left]:  [1.0, 2.0]\n[right]: [1.0, 2.00003]",
            ),
            (
                "For output 0 and input 0:\n\nGot:\ntensor([1.0])\n\nExpected:\ntensor([2.0])\n\nmore 7",
                "For output 0 and input 0:\n\nGot:\ntensor([1.0])\n\nExpected:\ntensor([1.0001])\n\nmore 7",
            ),
        ] {
            let scale = Scale::of([known].into_iter()).expect(known);
            assert_eq!(scale.mismatch(known), None);
            let mismatch = scale.mismatch(noise).expect(noise);
            assert!(mismatch.contains("off by"), "{mismatch}");
            assert!(scale.mismatch("no words").is_some());
        }
    }

    #[test]
    fn each_run_of_the_script_is_a_measure() {
        let runs = [
            tensors("0.5", "0.9", "1.3e-06"),
            tensors("0.002", "0.002", "1.3e-06"),
        ];
        let scale = Scale::of(runs.iter().map(String::as_str)).unwrap();
        assert_eq!(
            scale.mismatch(&tensors("0.0001", "0.0001", "1.3e-06")),
            None
        );
        assert!(
            scale
                .mismatch(&tensors("2e-5", "2e-6", "1.3e-06"))
                .is_some()
        );
        assert_eq!(Scale::of([runs[0].as_str(), "no words"].into_iter()), None);
    }
}
