//! The summary of a reduction on the terminal: at most ten lines besides the diff.

use minrepro_reducers::torch::environment::CompilerRank;

use super::{Report, reasons};

/// The last lines of a reduction.
pub fn summary(report: &Report) -> String {
    let share = 100.0
        * (1.0
            - f64::from(report.programs.after.tokens)
                / f64::from(report.programs.before.tokens.max(1)));
    let mut lines = vec![
        format!(
            "{} -> {} tokens ({share:.0} % removed), {} -> {} lines",
            report.programs.before.tokens,
            report.programs.after.tokens,
            report.programs.before.lines,
            report.programs.after.lines
        ),
        format!(
            "{} runs in {:.1} s{}, {} candidates dropped without a run",
            report.counts.runs,
            report.counts.seconds,
            match report.counts.journal_hits {
                0 => String::new(),
                hits => format!(" and {hits} recalled from the journal"),
            },
            report.counts.pruned
        ),
    ];
    if !report.slips.is_empty() {
        let slip = &report.slips[0];
        let others: u64 = report.slips.iter().map(|slip| slip.count).sum();
        lines.push(format!(
            "{others} candidates failed in other ways, most often {}: {}",
            slip.class, slip.message
        ));
    }
    let needed = needed(report);
    if let Some(compiler) = &report.compiler {
        let rest = if needed.is_empty() {
            String::new()
        } else {
            format!("; also needed: {needed}")
        };
        lines.push(format!("compiler needed: {compiler}{rest}"));
    } else if !needed.is_empty() {
        lines.push(format!("needed: {needed}"));
    }
    if let Some(elsewhere) = &report.reproduction.elsewhere {
        lines.push(format!(
            "warning: the result fails in another place ({elsewhere}); `--strict` rejects such candidates"
        ));
    }
    if let Some(looser) = &report.looser {
        lines.push(format!(
            "hint: numbers in the signature rejected smaller candidates; try `--signature \"{looser}\"`"
        ));
    }
    lines.push(match report.reproduction.confirmed {
        confirmed if confirmed.enough => {
            let shown = report.reproduction.shown.unwrap_or_default();
            format!(
                "confirmed by {} of {} fresh runs (the script: {} of {}): {}",
                confirmed.same, confirmed.of, shown.same, shown.of, report.signature
            )
        }
        confirmed if confirmed.is_certain() => {
            let by = report
                .reproduction
                .stabilizer
                .as_ref()
                .map_or_else(String::new, |stabilizer| {
                    format!(" (made reliable by {stabilizer})")
                });
            format!(
                "confirmed by {} fresh runs{by}: {}",
                confirmed.of, report.signature
            )
        }
        confirmed if confirmed.of > 0 => {
            format!(
                "NOT confirmed: only {} of {} fresh runs showed the bug",
                confirmed.same, confirmed.of
            )
        }
        _ => format!("not confirmed by fresh runs ({})", report.stop),
    });
    lines.extend(report.test.as_ref().map(|test| {
        let place = test
            .folder
            .as_ref()
            .map_or_else(String::new, |folder| format!(", for {folder}"));
        format!("test: {}{place}; it fails by the bug", test.file)
    }));
    lines.push(format!("confinement: {}", report.confinement));
    lines.push(format!("verify: {}", report.programs.verify));
    lines.join("\n")
}

/// The conditions that the bug needs, as many as fit on a line.
fn needed(report: &Report) -> String {
    const LONGEST: usize = 90;
    // The compiler has a line of its own.
    let is_reported = |name: &str| report.compiler.is_some() && name == CompilerRank::CALL;
    let names = reasons::needed(report).into_iter().map(|(name, _)| name);
    let names: Vec<&str> = names.filter(|name| !is_reported(name)).collect();
    let mut line = String::new();
    for (number, name) in names.iter().enumerate() {
        if number > 0 && line.len() + name.len() > LONGEST {
            return format!("{line} and {} more", names.len() - number);
        }
        line.push_str(if number > 0 { ", " } else { "" });
        line.push_str(name);
    }
    line
}
