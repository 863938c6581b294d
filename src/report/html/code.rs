//! Programs on the page, in colours: the result with the reasons why each line stays, and the
//! script and the result side by side.

use maud::{Markup, html};
use similar::{ChangeTag, TextDiff};

use super::{Report, marked};
use crate::report::{highlight, reasons, words::counted};

/// The lines of a program as markup, without their ends.
fn lines(program: &str) -> Vec<Markup> {
    let mut lines: Vec<Vec<(Option<&str>, &str)>> = vec![Vec::new()];
    for (shade, part) in highlight::parts(program) {
        for (number, piece) in part.split('\n').enumerate() {
            if number > 0 {
                lines.push(Vec::new());
            }
            let piece = piece.trim_end_matches('\r');
            if let Some(line) = lines.last_mut().filter(|_| !piece.is_empty()) {
                line.push((shade.class(), piece));
            }
        }
    }
    let marked = lines.iter().map(|line| {
        html! {
            @for (class, piece) in line {
                @if let Some(class) = class { span class=(class) { (piece) } } @else { (piece) }
            }
        }
    });
    marked.collect()
}

/// The result, and why each line of it stays.
pub(super) fn result(report: &Report) -> Markup {
    let reasons = reasons::by_line(report);
    let text = &report.programs.text_after;
    let count = text.lines().count();
    html! {
        section aria-labelledby="result" {
            div.head {
                h2 id="result" { "The result, and why each line stays" }
                button type="button" data-copies="text" aria-label="Copy the result" hidden {
                    "Copy"
                }
            }
            pre id="text" hidden { (text) }
            div.scroll tabindex="0" role="region" aria-labelledby="result" {
                table.code {
                    thead {
                        tr {
                            th.number scope="col" { "Line" }
                            th scope="col" { "Code" }
                            th scope="col" { "Without it" }
                        }
                    }
                    tbody {
                        @for (number, line) in (1u32..).zip(lines(text)).take(count) {
                            tr {
                                td.number { (number) }
                                td { pre { (line) } }
                                td.why {
                                    @if let Some(why) = reasons.get(&number) {
                                        ul { @for reason in why { li { (marked(reason)) } } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A row of two texts side by side: the lines that face each other, by their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FacingLines {
    before: Option<usize>,
    after: Option<usize>,
    is_same: bool,
}

/// The rows of two texts: equal lines share a row, and a difference begins in one.
fn facing(before: &str, after: &str) -> Vec<FacingLines> {
    let diff = TextDiff::from_lines(before, after);
    let (mut rows, mut old, mut new) = (Vec::new(), Vec::new(), Vec::new());
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Delete => old.extend(change.old_index()),
            ChangeTag::Insert => new.extend(change.new_index()),
            ChangeTag::Equal => {
                end_of_change(&mut old, &mut new, &mut rows);
                rows.push(FacingLines {
                    before: change.old_index(),
                    after: change.new_index(),
                    is_same: true,
                });
            }
        }
    }
    end_of_change(&mut old, &mut new, &mut rows);
    rows
}

/// Ends a change: its removed and added lines face each other.
fn end_of_change(old: &mut Vec<usize>, new: &mut Vec<usize>, rows: &mut Vec<FacingLines>) {
    for number in 0..old.len().max(new.len()) {
        rows.push(FacingLines {
            before: old.get(number).copied(),
            after: new.get(number).copied(),
            is_same: false,
        });
    }
    old.clear();
    new.clear();
}

/// The script and the result side by side.
pub(super) fn sides(report: &Report) -> Markup {
    let programs = &report.programs;
    let (before, after) = (lines(&programs.text_before), lines(&programs.text_after));
    let [old, new] =
        [&programs.before, &programs.after].map(|size| counted(size.lines.into(), "line", "lines"));
    let cell = |lines: &[Markup], line: Option<usize>, is_same: bool, side: &str| {
        let number = line.map(|line| (line + 1).to_string()).unwrap_or_default();
        let class = match (line, is_same) {
            (Some(_), true) => format!("{side} same"),
            (Some(_), false) => format!("{side} changed"),
            (None, _) => format!("{side} none"),
        };
        html! {
            td class={ "number " (class) } { (number) }
            td class=(class) {
                @if let Some(line) = line.and_then(|line| lines.get(line)) {
                    pre {
                        @if is_same { (line) }
                        @else if side == "old" { del { (line) } }
                        @else { ins { (line) } }
                    }
                }
            }
        }
    };
    html! {
        section aria-labelledby="sides" {
            h2 id="sides" { "Before and after" }
            div.scroll.long tabindex="0" role="region" aria-labelledby="sides" {
                table.sides {
                    colgroup { @for _ in 0..2 { col.number; col; } }
                    thead {
                        tr {
                            th colspan="2" scope="col" { "Before, " (old) }
                            th colspan="2" scope="col" { "After, " (new) }
                        }
                    }
                    tbody {
                        @for row in facing(&programs.text_before, &programs.text_after) {
                            tr {
                                (cell(&before, row.before, row.is_same, "old"))
                                (cell(&after, row.after, row.is_same, "new"))
                            }
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_the_same_face_each_other() {
        let rows = facing("a\nb\nc\nd\n", "x\nc\ne\n");
        let shown: Vec<_> = rows
            .iter()
            .map(|row| (row.before, row.after, row.is_same))
            .collect();
        assert_eq!(
            shown,
            [
                (Some(0), Some(0), false),
                (Some(1), None, false),
                (Some(2), Some(1), true),
                (Some(3), Some(2), false),
            ]
        );
    }

    #[test]
    fn every_line_is_marked_by_itself() {
        let shown: Vec<String> = lines("x = '''a\n<b>'''\n\nimport y\n")
            .into_iter()
            .map(maud::PreEscaped::into_string)
            .collect();
        assert_eq!(
            shown,
            [
                "x = <span class=\"s\">'''a</span>",
                "<span class=\"s\">&lt;b&gt;'''</span>",
                "",
                "<span class=\"k\">import</span> y",
                ""
            ]
        );
    }
}
