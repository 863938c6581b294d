//! The distance of the numbers that a program compares from the truth, for the compiled program and
//! for the plain one. The numbers of the plain program in double precision count as the truth. A
//! difference between the two is the compiler's fault only if the compiled program is further off;
//! `torch._dynamo.utils.same` measures in the same way. Called by the judge; proposes nothing.

use std::collections::BTreeMap;

use crate::{
    analysis::{dependence_check::ReportSite, observation::marked, watch::operands},
    rewrite::edit::{Edit, splice},
    syntax::{Program, Ranged, ast::Stmt},
};

/// The compiled program has to be this many times further off than the plain one.
const FURTHER: f64 = 2.0;

/// A part of the numbers' own size by which no rounding of single precision makes them differ.
const GROSS: f64 = 0.01;

/// Prints the numbers of a value on standard error and returns the value. Of a large tensor, it
/// prints some, the sum and the sum of squares.
const TELL: &str = r#"
def _minrepro_numbers(place, value):
    import sys
    def numbers(value):
        if hasattr(value, "detach"):
            value = value.detach().cpu()
            if value.is_complex():
                value = __import__("torch").view_as_real(value)
            flat = value.double().flatten()
            some = flat[:: max(1, flat.numel() // 4096)]
            return some.tolist() + [flat.sum().item(), (flat * flat).sum().item()]
        if isinstance(value, (list, tuple)):
            return [each for part in value for each in numbers(part)]
        if isinstance(value, dict):
            return numbers(list(value.values()))
        return [float(value)] if isinstance(value, (int, float)) else []
    try:
        found = " ".join(map(repr, numbers(value)))
        sys.stderr.write("\x1e%s\x1f%s\x1e\n" % (place, found))
    except Exception:
        pass
    return value
"#;

/// Makes floating tensors double as they are created, with the numbers that they would have had.
const DOUBLE: &str = concat!("\n", include_str!("control/double.py"), "_plain([])\n");

/// The program, made to tell the numbers that its conditions compare, as it is or in double
/// precision; none if there are no conditions.
pub fn measured(program: &Program, report_site: &ReportSite) -> Option<Measured> {
    let edits: Vec<Edit> = operands(program, report_site, None)
        .iter()
        .enumerate()
        .map(|(place, (range, _))| {
            Edit::replace(
                *range,
                format!("_minrepro_numbers({place}, {})", program.slice(*range)),
            )
        })
        .collect();
    let is_head = |statement: &&Stmt| match statement {
        Stmt::ImportFrom(import) => import
            .module
            .as_ref()
            .is_some_and(|module| module.as_str() == "__future__"),
        Stmt::Expr(expression) => expression.value.is_string_literal_expr(),
        _ => false,
    };
    let first = program
        .body()
        .iter()
        .find(|statement| !is_head(statement))
        .filter(|_| !edits.is_empty())?;
    let text = splice(program.text(), &edits);
    // All edits lie behind it, or within it.
    let at = program.text()[..first.start().into()]
        .rfind('\n')
        .map_or(0, |at| at + 1);
    Some(Measured { text, at })
}

/// A program that prints the numbers that it compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    text: String,
    /// The place for the functions that it needs.
    at: usize,
}

impl Measured {
    /// The text of the program.
    pub fn text(&self) -> String {
        [&self.text[..self.at], TELL, &self.text[self.at..]].concat()
    }

    /// The text of a program like [`Measured::text`] that computes in double precision.
    pub fn in_double(text: &str) -> String {
        text.replacen(TELL, &[TELL, DOUBLE].concat(), 1)
    }
}

/// The numbers that a program printed: the last ones at each place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers(BTreeMap<String, Vec<f64>>);

impl Numbers {
    /// Reads them off the program's standard error.
    pub fn read(stderr: &str) -> Self {
        let mut numbers = BTreeMap::new();
        for (place, found) in marked(stderr) {
            let found: Result<Vec<f64>, _> =
                found.split_ascii_whitespace().map(str::parse).collect();
            numbers.insert(place.to_owned(), found.unwrap_or_default());
        }
        Self(numbers)
    }

    /// How far these are from others, all in all; none if they are not of the same kind, or none at
    /// all.
    fn distance(&self, other: &Self) -> Option<f64> {
        let (ours, others) = (self.0.values().flatten(), other.0.values().flatten());
        let sizes = |numbers: &Self| {
            numbers
                .0
                .iter()
                .map(|(place, numbers)| (place.clone(), numbers.len()))
                .collect::<Vec<_>>()
        };
        if sizes(self) != sizes(other) || self.0.values().all(Vec::is_empty) {
            return None;
        }
        let apart = |(one, other): (&f64, &f64)| {
            let is_alike = (one.is_nan() && other.is_nan())
                || (one.is_infinite() && one.to_bits() == other.to_bits());
            let apart = (one - other).abs();
            if is_alike {
                0.0
            } else if apart.is_nan() {
                f64::INFINITY
            } else {
                apart
            }
        };
        Some(ours.zip(others).map(apart).sum())
    }
}

/// Whether the compiled numbers differ from the plain ones by more than any rounding. Then it does
/// not matter which of the two are closer to the truth. None if that cannot be determined.
pub fn is_gross(compiled: &Numbers, plain: &Numbers) -> Option<bool> {
    let size: f64 = plain.0.values().flatten().map(|number| number.abs()).sum();
    Some(compiled.distance(plain)? > GROSS * size)
}

/// Whether the compiled numbers are clearly further from the truth than the plain ones; none if
/// that cannot be determined.
pub fn is_further_off(compiled: &Numbers, plain: &Numbers, truth: &Numbers) -> Option<bool> {
    let (off, usual) = (compiled.distance(truth)?, plain.distance(truth)?);
    Some(off > FURTHER * usual)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(stderr: &str) -> Numbers {
        Numbers::read(stderr)
    }

    #[test]
    fn checks_print_the_compared_numbers() {
        let text = "\"\"\"Doc.\"\"\"\nfrom __future__ import annotations\nimport torch\nassert torch.allclose(f(x), y)\n";
        let program = Program::parse(text).unwrap();
        let measured = measured(&program, &ReportSite::Raised(vec![4])).unwrap();
        let text = measured.text();
        assert!(text.starts_with(
            "\"\"\"Doc.\"\"\"\nfrom __future__ import annotations\n\ndef _minrepro_numbers"
        ));
        assert!(text.ends_with(
            "import torch\nassert torch.allclose(_minrepro_numbers(0, f(x)), _minrepro_numbers(1, y))\n"
        ));
        assert!(Program::parse(text.as_str()).is_ok());
        assert!(
            Program::parse(Measured::in_double(&text))
                .is_ok_and(|double| double.text().contains("Double()"))
        );
        let without = Program::parse("import torch\nf(1)\nx = 0\n").unwrap();
        assert_eq!(
            super::measured(&without, &ReportSite::Raised(vec![3])),
            None
        );
    }

    #[test]
    fn the_compiled_one_has_to_be_further_off() {
        let truth = of("\u{1e}0\u{1f}1.0 2.0\u{1e}\n");
        let near = of("noise\n\u{1e}0\u{1f}1.0 2.1\u{1e}\n");
        let far = of("\u{1e}0\u{1f}1.0 9.0\u{1e}\n\u{1e}0\u{1f}1.0 3.0\u{1e}\n");
        let none = of("\u{1e}0\u{1f}1.0 nan\u{1e}\n");
        assert_eq!(is_further_off(&far, &near, &truth), Some(true));
        assert_eq!(is_further_off(&none, &near, &truth), Some(true));
        assert_eq!(is_further_off(&near, &far, &truth), Some(false));
        assert_eq!(is_further_off(&near, &near, &truth), Some(false));
        assert_eq!(is_further_off(&far, &truth, &truth), Some(true));
        let rounded = of("\u{1e}0\u{1f}1.0 2.0001\u{1e}\n");
        assert_eq!(is_gross(&rounded, &truth), Some(false));
        assert_eq!(is_gross(&far, &truth), Some(true));
        assert_eq!(is_gross(&far, &of("")), None);
        assert_eq!(is_further_off(&far, &near, &of("")), None);
        assert_eq!(is_further_off(&of(""), &of(""), &of("")), None);
    }
}
