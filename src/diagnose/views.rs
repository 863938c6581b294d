//! Prints a page: for a terminal, as Markdown, as HTML. Pure.

use std::fmt::Write;

use maud::{Markup, html};

use super::page::{Page, PageBlock};
use crate::report::{escaped, fence, html_page};

/// The page for a terminal.
pub(super) fn text(page: &Page) -> String {
    let mut text = format!("{}\n", page.title);
    for section in &page.sections {
        let _ = writeln!(text, "\n{}", section.heading);
        for block in &section.blocks {
            match block {
                PageBlock::Terms(terms) => {
                    let width = terms.iter().map(|(term, _)| term.len()).max().unwrap_or(0);
                    for (term, meaning) in terms {
                        let _ = writeln!(text, "  {term:width$}  {}", one_line(meaning));
                    }
                }
                PageBlock::Table(columns, rows) => table(&mut text, columns, rows),
                PageBlock::Code(lines) => {
                    for line in lines {
                        let _ = writeln!(text, "    {line}");
                    }
                }
                PageBlock::List(items) => {
                    for item in items {
                        let _ = writeln!(text, "  - {}", one_line(item));
                    }
                }
            }
        }
    }
    text
}

/// A table whose columns are as wide as their cells, the last one excepted.
fn table(text: &mut String, columns: &[&str], rows: &[Vec<String>]) {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let widest = cells.map(|cell| one_line(cell).chars().count()).max();
        widest.unwrap_or(0).max(columns[column].len())
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let mut line = |cells: &[String]| {
        let shown = cells
            .iter()
            .zip(&widths)
            .map(|(cell, width)| format!("{cell:width$}"));
        let line = shown.collect::<Vec<_>>().join("  ");
        let _ = writeln!(text, "  {}", line.trim_end());
    };
    line(
        &columns
            .iter()
            .map(|column| (*column).to_owned())
            .collect::<Vec<_>>(),
    );
    for row in rows {
        line(&row.iter().map(|cell| one_line(cell)).collect::<Vec<_>>());
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The page as Markdown.
pub(super) fn markdown(page: &Page) -> String {
    let mut text = format!("# {}\n", escaped(&page.title));
    for section in &page.sections {
        let _ = writeln!(text, "\n## {}\n", section.heading);
        for block in &section.blocks {
            match block {
                PageBlock::Terms(terms) => {
                    for (term, meaning) in terms {
                        let lead = if term.is_empty() {
                            String::new()
                        } else {
                            format!("**{term}**: ")
                        };
                        let _ = writeln!(text, "- {lead}{}", escaped(&one_line(meaning)));
                    }
                }
                PageBlock::Table(columns, rows) => {
                    let _ = writeln!(text, "| {} |", columns.join(" | "));
                    let _ = writeln!(text, "|{}", "---|".repeat(columns.len()));
                    for row in rows {
                        let cells: Vec<String> =
                            row.iter().map(|cell| escaped(&one_line(cell))).collect();
                        let _ = writeln!(text, "| {} |", cells.join(" | "));
                    }
                }
                PageBlock::Code(lines) => {
                    let code = lines.join("\n");
                    let fence = fence(&code);
                    let _ = writeln!(text, "\n{fence}\n{code}\n{fence}");
                }
                PageBlock::List(items) => {
                    for item in items {
                        let _ = writeln!(text, "- {}", escaped(&one_line(item)));
                    }
                }
            }
        }
    }
    text
}

/// The page as HTML.
pub(super) fn html(page: &Page) -> String {
    let content = html! {
        main {
            header { h1 { (page.title) } }
            @for section in &page.sections {
                section {
                    h2 { (section.heading) }
                    @for block in &section.blocks { (marked_up(section.heading, block)) }
                }
            }
        }
    };
    html_page(&page.title, "", &content)
}

fn marked_up(heading: &str, block: &PageBlock) -> Markup {
    html! {
        @match block {
            PageBlock::Terms(terms) => dl {
                @for (term, meaning) in terms { dt { (term) } dd { (meaning) } }
            },
            PageBlock::Table(columns, rows) => {
                div.scroll tabindex="0" role="region" aria-label=(heading) {
                    table {
                        thead { tr { @for column in columns { th scope="col" { (column) } } } }
                        tbody { @for row in rows { tr { @for cell in row { td { (cell) } } } } }
                    }
                }
            },
            PageBlock::Code(lines) => {
                div.scroll tabindex="0" role="region" aria-label="code" {
                    pre { @for line in lines { (line) "\n" } }
                }
            },
            PageBlock::List(items) => ul { @for item in items { li { (item) } } },
        }
    }
}
