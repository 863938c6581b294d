//! Two versions of minrepro on the same cases, as one value, and its views: a table and a page with
//! a plot. Knows nothing of where the figures come from. Called by `bench --compare`.

use std::fmt::Write;

use maud::{Markup, html};

use super::{html::html_page, words::counted};

/// The figures of a case under one version.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CaseFigures {
    pub(crate) tokens: u32,
    pub(crate) runs: u64,
    pub(crate) seconds: f64,
    /// Whether the result is known to show the same bug, in a word.
    pub(crate) verdict: String,
}

/// A case under two versions; none where there is no result.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ComparedCase {
    pub(crate) name: String,
    pub(crate) versions: [Option<CaseFigures>; 2],
}

/// Two versions on the same cases.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct VersionComparison {
    /// The names of the versions.
    pub(crate) names: [String; 2],
    pub(crate) cases: Vec<ComparedCase>,
}

/// The geometric mean of values; of none it is 1.
pub(crate) fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value.max(1e-9).ln();
        count += 1.0;
    }
    if count > 0.0 {
        (sum / count).exp()
    } else {
        1.0
    }
}

/// Reads a figure off a case.
type ReadFigure = fn(&CaseFigures) -> f64;

/// What is compared.
const MEASURES: [(&str, ReadFigure); 3] = [
    ("tokens", |case| f64::from(case.tokens)),
    ("runs", |case| case.runs as f64),
    ("seconds", |case| case.seconds),
];

impl VersionComparison {
    /// The cases with a result under both versions.
    fn both(&self) -> impl Iterator<Item = (&str, &CaseFigures, &CaseFigures)> {
        self.cases.iter().filter_map(|case| match &case.versions {
            [Some(a), Some(b)] => Some((case.name.as_str(), a, b)),
            _ => None,
        })
    }

    /// Each measure with the geometric mean of its ratios, B by A.
    fn means(&self) -> Vec<(&'static str, f64)> {
        let ratio = |of: ReadFigure| {
            // Nothing divided by nothing is no change.
            geometric_mean(self.both().map(|(_, a, b)| of(b).max(0.1) / of(a).max(0.1)))
        };
        MEASURES.map(|(name, of)| (name, ratio(of))).to_vec()
    }

    /// The table for the terminal, with the means in its last lines.
    pub(crate) fn table(&self) -> String {
        let [a, b] = &self.names;
        let mut text = format!("A: {a}\nB: {b}\n{:24}", "case");
        for (name, _) in MEASURES {
            let _ = write!(text, " {:>9} {:>9} {:>6}", format!("{name} A"), "B", "B/A");
        }
        text.push_str("  verdict\n");
        for (name, a, b) in self.both() {
            let _ = write!(text, "{name:24}");
            for (measure, of) in MEASURES {
                let (a, b) = (of(a), of(b));
                let digits = usize::from(measure == "seconds");
                let ratio = b.max(0.1) / a.max(0.1);
                let _ = write!(text, " {a:>9.digits$} {b:>9.digits$} {ratio:>6.2}");
            }
            let verdict = if a.verdict == b.verdict {
                a.verdict.clone()
            } else {
                format!("{} → {}", a.verdict, b.verdict)
            };
            let _ = writeln!(text, "  {verdict}");
        }
        let means = self.means();
        let means: Vec<String> = means
            .iter()
            .map(|(name, mean)| format!("{name} {mean:.2}"))
            .collect();
        let _ = writeln!(
            text,
            "geometric mean of B/A over {}: {}",
            counted(self.both().count() as u64, "case", "cases"),
            means.join(", ")
        );
        for (at, name) in ["A", "B"].iter().enumerate() {
            let only = self.only(at);
            if !only.is_empty() {
                let _ = writeln!(text, "result under {name} alone: {}", only.join(", "));
            }
        }
        text
    }

    /// The cases with a result under one version alone.
    fn only(&self, at: usize) -> Vec<&str> {
        let cases = self.cases.iter();
        cases
            .filter(|case| case.versions[at].is_some() && case.versions[1 - at].is_none())
            .map(|case| case.name.as_str())
            .collect()
    }

    /// The page: the figures and the plot. It makes no requests.
    pub(crate) fn page(&self) -> String {
        let [a, b] = &self.names;
        let title = format!("{a} and {b}");
        let content = html! {
            main {
                header {
                    h1 { "Two versions of minrepro" }
                    dl.figures {
                        @for (name, mean) in self.means() {
                            div {
                                dt { (name) ", " (b) " by " (a) }
                                dd { strong { (format!("{mean:.2}")) } span { "geometric mean" } }
                            }
                        }
                    }
                }
                section aria-labelledby="sizes" {
                    h2 id="sizes" { "Sizes of the results" }
                    (self.plot())
                    ul.legend { li.p0 { (a) } li.p1 { (b) } }
                }
                section aria-labelledby="table" {
                    h2 id="table" { "All figures" }
                    div.scroll tabindex="0" role="region" aria-labelledby="table" {
                        pre { (self.table()) }
                    }
                }
            }
        };
        html_page(&title, "", &content)
    }

    /// For each case the sizes of both results, joined by a line, on a logarithmic scale.
    fn plot(&self) -> Markup {
        const WIDTH: f64 = 720.0;
        const LEFT: f64 = 220.0;
        const ROW: f64 = 20.0;
        let tokens = |case: &CaseFigures| f64::from(case.tokens.max(1));
        let sizes = self.both().flat_map(|(_, a, b)| [tokens(a), tokens(b)]);
        let most = sizes.fold(10.0, f64::max);
        let x = |size: f64| LEFT + size.ln() / f64::ln(most) * (WIDTH - LEFT - 40.0);
        let count = self.both().count() as f64;
        let floor = ROW * (count + 1.0);
        let steps = (0..6).flat_map(|power| [1.0, 3.0].map(|step| step * 10f64.powi(power)));
        let steps: Vec<f64> = steps.take_while(|step| *step <= most).collect();
        html! {
            svg viewBox=(format!("0 0 {WIDTH} {}", floor + 28.0)) role="img" aria-label="sizes of the results in tokens" {
                @for step in steps {
                    path.grid d=(format!("M{:.1} 4V{floor}", x(step))) {}
                    text x=(format!("{:.1}", x(step))) y=(floor + 18.0) text-anchor="middle" { (step) }
                }
                @for (row, (name, a, b)) in self.both().enumerate() {
                    @let y = ROW * (row as f64 + 0.75);
                    g {
                        title { (name) ": " (a.tokens) " → " (b.tokens) " tokens" }
                        text x=(LEFT - 10.0) y=(y + 4.0) text-anchor="end" { (name) }
                        path.axis d=(format!("M{:.1} {y}H{:.1}", x(tokens(a)), x(tokens(b)))) {}
                        circle.p0 cx=(format!("{:.1}", x(tokens(a)))) cy=(y) r="5" {}
                        circle.p1 cx=(format!("{:.1}", x(tokens(b)))) cy=(y) r="3.5" {}
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(tokens: u32, runs: u64, seconds: f64) -> CaseFigures {
        CaseFigures {
            tokens,
            runs,
            seconds,
            verdict: "verified".to_owned(),
        }
    }

    fn comparison() -> VersionComparison {
        let case = |name: &str, a, b: Option<CaseFigures>| ComparedCase {
            name: name.to_owned(),
            versions: [Some(a), b],
        };
        VersionComparison {
            names: ["old".to_owned(), "<new>".to_owned()],
            cases: vec![
                case("one", figures(40, 100, 8.0), Some(figures(20, 100, 2.0))),
                case("two", figures(10, 50, 1.0), Some(figures(20, 100, 1.0))),
                case("three", figures(10, 50, 1.0), None),
            ],
        }
    }

    #[test]
    fn means_are_geometric_and_only_of_cases_with_both_results() {
        let means = comparison().means();
        let rounded: Vec<String> = means
            .iter()
            .map(|(name, mean)| format!("{name} {mean:.2}"))
            .collect();
        assert_eq!(rounded, ["tokens 1.00", "runs 1.41", "seconds 0.50"]);
        assert!((geometric_mean(std::iter::empty()) - 1.0).abs() < 1e-9);
        let table = comparison().table();
        assert!(
            table.contains("over 2 cases: tokens 1.00, runs 1.41, seconds 0.50"),
            "{table}"
        );
        assert!(table.contains("result under A alone: three"), "{table}");
    }

    #[test]
    fn the_page_asks_nobody_for_anything() {
        let page = comparison().page();
        assert!(page.contains("&lt;new&gt;") && !page.contains("<new>"));
        assert!(page.contains("<svg") && page.contains("one: 40 → 20 tokens"));
        assert!(!page.contains("http://") && !page.contains("https://") && !page.contains("src="));
    }
}
