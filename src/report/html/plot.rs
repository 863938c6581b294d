//! The plot of the page: tokens over candidate runs, each change in the colour of its pass. Tokens
//! are on a logarithmic scale.

use std::fmt::Write;

use maud::{Markup, html};

use super::Report;
use crate::report::{
    reasons,
    words::{counted, runs},
};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 280.0;
/// Room for the figures and the names of the axes.
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 52.0;
/// Passes with a colour of their own; all others share one.
const COLOURS: usize = 7;
const OTHERS: &str = "p-rest";

/// Where runs and tokens are on the plot.
struct Scales {
    runs: f64,
    most: f64,
    least: f64,
}

impl Scales {
    fn of(report: &Report) -> Self {
        let last = report.commits.iter().map(|commit| commit.run).max();
        let counts = &report.counts;
        let all = (counts.runs + counts.journal_hits).max(last.unwrap_or(0));
        let least = f64::from(report.programs.after.tokens.max(1));
        Self {
            runs: all.max(1) as f64,
            most: f64::from(report.programs.before.tokens).max(least + 1.0),
            least,
        }
    }

    fn x(&self, run: f64) -> f64 {
        LEFT + run / self.runs * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, tokens: f64) -> f64 {
        let share = (tokens.max(1.0) / self.least).ln() / (self.most / self.least).ln();
        TOP + (1.0 - share.clamp(0.0, 1.0)) * (HEIGHT - TOP - BOTTOM)
    }

    /// Round numbers of runs, four at most.
    fn runs_marked(&self) -> Vec<f64> {
        let step = round_steps().find(|step| self.runs / step <= 4.0);
        let step = step.unwrap_or(self.runs);
        let marks = (0..).map(|number| f64::from(number) * step);
        marks.take_while(|run| *run <= self.runs).collect()
    }

    /// Both ends, and between them round numbers of tokens that are far enough from each other.
    fn tokens_marked(&self) -> Vec<f64> {
        const APART: f64 = 26.0;
        let mut marks = vec![self.least, self.most];
        for step in round_steps().take_while(|step| *step < self.most) {
            let is_free = |mark: &f64| (self.y(*mark) - self.y(step)).abs() >= APART;
            if step > self.least && marks.iter().all(is_free) {
                marks.push(step);
            }
        }
        marks
    }
}

/// 1, 2, 5, 10, 20, 50 and so on.
fn round_steps() -> impl Iterator<Item = f64> {
    (0..12).flat_map(|power| [1.0, 2.0, 5.0].map(|step| step * 10f64.powi(power)))
}

/// The plot and its legend.
pub(super) fn plot(report: &Report) -> Markup {
    let scales = Scales::of(report);
    let gains = reasons::gains(report);
    let passes: Vec<&str> = gains
        .iter()
        .filter(|(_, gain)| gain.changes > 0)
        .map(|(pass, _)| *pass)
        .collect();
    let class = |pass: &str| {
        let place = passes.iter().position(|known| *known == pass);
        let place = place.filter(|place| *place < COLOURS);
        place.map_or_else(|| OTHERS.to_owned(), |place| format!("p{place}"))
    };
    let (before, after) = (report.programs.before.tokens, report.programs.after.tokens);
    let count = runs(report.counts.runs + report.counts.journal_hits);
    let label = format!("{before} tokens at the start, {after} after {count}");
    let (floor, edge) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
    html! {
        section aria-labelledby="curve" {
            h2 id="curve" { "Size over candidate runs" }
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(label) {
                @for tokens in scales.tokens_marked() {
                    @let y = scales.y(tokens);
                    path.grid d=(format!("M{LEFT} {y:.1}H{edge}")) {}
                    text x=(LEFT - 8.0) y=(format!("{:.1}", y + 4.0)) text-anchor="end" { (tokens) }
                }
                @for run in scales.runs_marked() {
                    @let x = scales.x(run);
                    path.grid d=(format!("M{x:.1} {floor}v5")) {}
                    text x=(format!("{x:.1}")) y=(floor + 20.0) text-anchor="middle" { (run) }
                }
                text x="0" y="15" { "tokens" }
                text x=(edge) y=(HEIGHT - 8.0) text-anchor="end" { "candidate runs" }
                path.axis d=(format!("M{LEFT} {TOP}V{floor}H{edge}")) {}
                path.curve d=(steps(report, &scales)) {}
                @for (number, commit) in report.commits.iter().enumerate() {
                    @let earlier = number.checked_sub(1).map(|earlier| &report.commits[earlier]);
                    @let earlier = earlier.map_or(before, |earlier| earlier.tokens);
                    g class=(class(&commit.pass)) {
                        title {
                            "run " (commit.run) ": " (earlier) " → " (commit.tokens) " tokens\n"
                            (commit.pass) ": " (commit.note)
                        }
                        (change(&scales, commit.run as f64, earlier, commit.tokens))
                    }
                }
            }
            ul.legend {
                @for (number, pass) in passes.iter().take(COLOURS).enumerate() {
                    li class={ "p" (number) } { (pass) }
                }
                @if passes.len() > COLOURS {
                    @let others = (passes.len() - COLOURS) as u64;
                    li class=(OTHERS) { (counted(others, "other pass", "other passes")) }
                }
            }
        }
    }
}

/// One change: a bar from the size before to the size after, and an area around it to point at.
fn change(scales: &Scales, run: f64, before: u32, after: u32) -> Markup {
    let x = scales.x(run);
    let (top, low) = (scales.y(before.into()), scales.y(after.into()));
    html! {
        path.bar d=(format!("M{x:.1} {top:.1}V{low:.1}")) {}
        circle cx=(format!("{x:.1}")) cy=(format!("{low:.1}")) r="3.5" {}
        path.area d=(format!("M{x:.1} {top:.1}V{low:.1}")) {}
    }
}

/// The size over all runs, as steps.
fn steps(report: &Report, scales: &Scales) -> String {
    let start = scales.y(report.programs.before.tokens.into());
    let mut path = format!("M{LEFT:.1} {start:.1}");
    for commit in &report.commits {
        let (x, y) = (scales.x(commit.run as f64), scales.y(commit.tokens.into()));
        let _ = write!(path, "H{x:.1}V{y:.1}");
    }
    let _ = write!(path, "H{:.1}", WIDTH - RIGHT);
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_lie_on_the_plot() {
        let scales = Scales {
            runs: 230.0,
            most: 516.0,
            least: 10.0,
        };
        assert_eq!(scales.runs_marked(), [0.0, 100.0, 200.0]);
        assert_eq!(
            scales.tokens_marked(),
            [10.0, 516.0, 20.0, 50.0, 100.0, 200.0]
        );
        let is_at = |tokens: f64, place: f64| (scales.y(tokens) - place).abs() < 0.5;
        assert!(is_at(516.0, TOP) && is_at(10.0, HEIGHT - BOTTOM));
        let nothing = Scales {
            runs: 1.0,
            most: 2.0,
            least: 1.0,
        };
        assert_eq!(nothing.runs_marked(), [0.0, 1.0]);
        assert!(nothing.y(1.0).is_finite());
    }
}
