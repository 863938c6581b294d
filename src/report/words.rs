//! The current step of a reduction, in plain words, cut to the width of a line. Pure. Called by
//! `progress`.

use crate::engine::Tally;

/// The activity of a pass: `drop-statements` is removing statements.
pub(super) fn of_pass(pass: &str) -> String {
    let (verb, rest) = pass.split_once('-').unwrap_or((pass, ""));
    let rest = rest.replace('-', " ");
    let doing = match verb {
        "drop" => "removing",
        "use" => "trying",
        "plain" => return format!("trying plain {rest}"),
        "write" => "rewriting",
        "extract" => "extracting the",
        "fold" => return "joining changes".to_owned(),
        "trace" => return "recording what runs".to_owned(),
        "ablation" => return "trying what is necessary".to_owned(),
        verb if verb.ends_with('e') => return format!("{}ing {rest}", &verb[..verb.len() - 1]),
        "unwrap" => "unwrapping",
        verb => return format!("{verb}ing {rest}"),
    };
    format!("{doing} {rest}").trim_end().to_owned()
}

/// The current step and how far it is, in at most so many columns. The most important part comes
/// first, and parts that do not fit are left out whole.
pub(super) fn line(what: &str, tally: Option<&Tally>, seconds: f64, room: usize) -> String {
    let mut line = beginning(what, room).to_owned();
    let Some(tally) = tally else {
        return line;
    };
    let pieces = [
        format!(": {} → {}", tally.tokens_before, tally.tokens_now),
        " tokens".to_owned(),
        format!("; {}", runs(tally.judged())),
        format!(", {:.1}/s", tally.runs as f64 / seconds.max(0.001)),
    ];
    for piece in pieces {
        if line.chars().count() + piece.chars().count() > room {
            break;
        }
        line.push_str(&piece);
    }
    line
}

/// As many whole parts of a sentence as there is room for, or else whole words.
fn beginning(what: &str, room: usize) -> &str {
    let Some((end, _)) = what.char_indices().nth(room) else {
        return what;
    };
    let begun = &what[..end];
    let whole = begun.rfind(", ").or_else(|| begun.rfind(' '));
    &begun[..whole.unwrap_or(end)]
}

/// A number of runs.
pub(super) fn runs(count: u64) -> String {
    counted(count, "run", "runs")
}

/// A number of things.
pub(super) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use minrepro_reducers::registry::PASSES;

    use super::*;

    #[test]
    fn every_pass_has_words() {
        for pass in PASSES {
            let words = of_pass(pass.id);
            let verb = words.split(' ').next().unwrap_or_default();
            assert!(verb.ends_with("ing"), "{words}");
        }
        assert_eq!(of_pass("drop-statements"), "removing statements");
        assert_eq!(of_pass("scale-dimensions"), "scaling dimensions");
        assert_eq!(of_pass("join-lines"), "joining lines");
    }

    #[test]
    fn a_line_fits() {
        let tally = Tally {
            runs: 230,
            tokens_before: 516,
            tokens_now: 173,
            ..Tally::default()
        };
        let line = |room| line("removing statements", Some(&tally), 100.0, room);
        assert_eq!(
            line(80),
            "removing statements: 516 → 173 tokens; 230 runs, 2.3/s"
        );
        assert_eq!(line(40), "removing statements: 516 → 173 tokens");
        assert_eq!(line(30), "removing statements: 516 → 173");
        assert_eq!(line(12), "removing");
        assert_eq!(beginning("run 2 of 3, about 60 s each", 20), "run 2 of 3");
        assert_eq!(beginning("rewriting", 4), "rewr");
    }
}
