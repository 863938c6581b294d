//! One page over a whole backlog: how the issues ended, and everything that would be written, the
//! surest first. One file that loads nothing. Called by the backlog after each issue.

use std::{cmp::Reverse, collections::BTreeMap, path::Path};

use maud::{Markup, html};

use super::{
    confidence::PlanConfidence,
    queue::{BacklogEntry, EntryState, PlanState, Queue},
};
use crate::{
    cli::Failure,
    report::{html_page, write_atomically},
    scrub::{
        plan::Planned,
        steps::{ScrubEnd, report::in_words},
        write::{IssueWrite, WriteState},
    },
    text::visible,
};

/// The file in the backlog's folder.
pub const PAGE_FILE: &str = "backlog.html";

const OWN_STYLE: &str = "
h3 { font-size: 1rem; margin: 0; display: inline; overflow-wrap: anywhere; }
details.issue { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .5rem .75rem; margin: .5rem 0; }
details.issue pre { background: var(--page); border: 1px solid var(--line); border-radius: 6px; padding: .5rem; white-space: pre-wrap; overflow-wrap: anywhere; }
details.issue ol { padding-left: 1.25rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
.state { color: var(--quiet); font-size: .875rem; }
a { color: var(--mark); }
";

/// The place of an issue among others: the surest first, then by end, repository and number.
pub(super) fn rank(
    entry: &BacklogEntry,
) -> (
    Reverse<Option<PlanConfidence>>,
    Option<ScrubEnd>,
    String,
    u64,
) {
    let confidence = Reverse(entry.confidence);
    (confidence, entry.end, entry.repo.to_string(), entry.number)
}

/// Writes the page into the backlog's folder.
pub(super) fn write(queue: &Queue, folder: &Path) -> Result<(), Failure> {
    let path = folder.join(PAGE_FILE);
    let page = render(queue.search(), queue.entries());
    write_atomically(&path, page.as_bytes()).map_err(|error| super::one::unwritten(&path, error))
}

/// The page.
fn render(search: &str, entries: &[BacklogEntry]) -> String {
    let mut sorted: Vec<&BacklogEntry> = entries.iter().collect();
    sorted.sort_by_key(|entry| rank(entry));
    let chosen = |is_chosen: &dyn Fn(&BacklogEntry) -> bool| -> Vec<&BacklogEntry> {
        let chosen = sorted.iter().copied();
        chosen.filter(|entry| is_chosen(entry)).collect()
    };
    let is_done = |entry: &BacklogEntry| entry.state == EntryState::Done;
    let planned = chosen(&|entry| is_done(entry) && !entry.plan.is_empty());
    let unplanned = chosen(&|entry| is_done(entry) && entry.plan.is_empty());
    let failed = chosen(&|entry| entry.state == EntryState::Failed);
    let left = chosen(&|entry| matches!(entry.state, EntryState::Waiting | EntryState::Running));
    let title = format!("Backlog: {} issues", entries.len());
    let content = html! {
        main {
            header {
                h1 { (title) }
                p { code { (search) } }
                (figures(entries))
            }
            (ends(entries))
            @if !planned.is_empty() {
                section aria-labelledby="plans" {
                    h2 id="plans" { "Writes, the surest first" }
                    p {
                        "Nothing is written before you agree: "
                        code { "minrepro scrub --approve --dir FOLDER" }
                    }
                    @for entry in planned { (issue(entry)) }
                }
            }
            (list("unplanned", "Nothing to write", &unplanned))
            (list("failed", "Failed", &failed))
            (list("left", "Not scrubbed yet", &left))
        }
    };
    // Much of it comes from issues.
    visible(&html_page(&title, OWN_STYLE, &content)).into_owned()
}

fn figures(entries: &[BacklogEntry]) -> Markup {
    let count = |is_counted: &dyn Fn(&BacklogEntry) -> bool| {
        entries.iter().filter(|entry| is_counted(entry)).count()
    };
    let state = |state: EntryState| count(&|entry| entry.state == state);
    let writes = |writes: PlanState| count(&|entry| entry.writes == writes);
    let runs: u64 = entries.iter().map(|entry| entry.cost.runs).sum();
    let seconds: f64 = entries.iter().map(|entry| entry.cost.seconds).sum();
    let figures = [
        (
            "Done",
            format!("{} of {}", state(EntryState::Done), entries.len()),
            format!("{} failed", state(EntryState::Failed)),
        ),
        (
            "Plans that wait",
            writes(PlanState::Waiting).to_string(),
            format!("{} could not be written", writes(PlanState::Failed)),
        ),
        (
            "Plans written",
            writes(PlanState::Written).to_string(),
            format!("{} declined", writes(PlanState::Declined)),
        ),
        ("Runs", runs.to_string(), format!("in {seconds:.0} s")),
    ];
    html! {
        dl.figures {
            @for (name, figure, more) in figures {
                div { dt { (name) } dd { strong { (figure) } span { (more) } } }
            }
        }
    }
}

/// How many issues ended in which way.
fn ends(entries: &[BacklogEntry]) -> Markup {
    let mut ends: BTreeMap<ScrubEnd, (usize, usize)> = BTreeMap::new();
    for entry in entries {
        if let Some(end) = entry.end {
            let (all, waiting) = ends.entry(end).or_default();
            *all += 1;
            *waiting += usize::from(entry.is_undecided());
        }
    }
    html! {
        @if !ends.is_empty() {
            section aria-labelledby="ends" {
                h2 id="ends" { "How they ended" }
                div.scroll tabindex="0" role="region" aria-labelledby="ends" {
                    table {
                        thead { tr { th scope="col" { "End" } th.number scope="col" { "Issues" } th.number scope="col" { "Plans that wait" } } }
                        tbody {
                            @for (end, (all, waiting)) in &ends {
                                tr {
                                    th scope="row" { (format!("{end:?}")) }
                                    td.number { (all) }
                                    td.number { (waiting) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// An issue with all that would be written.
fn issue(entry: &BacklogEntry) -> Markup {
    html! {
        details.issue open[entry.is_undecided()] {
            summary {
                h3 { (entry.name()) " " (entry.title) }
                " "
                span.state {
                    (entry.ended())
                    @if let Some(confidence) = entry.confidence { ", " (confidence.word()) }
                    ", " (writes_in_words(entry))
                }
            }
            p { (entry.why) }
            @if !entry.doubts.is_empty() {
                ul.findings { @for doubt in &entry.doubts { li.fails { (doubt) } } }
            }
            @if !entry.troubles.is_empty() {
                ul.findings {
                    @for trouble in &entry.troubles { li.fails { strong { "Not written: " } (trouble) } }
                }
            }
            ol { @for planned in &entry.plan { li { (write_of(planned)) } } }
            (links(entry))
        }
    }
}

/// A write, word for word.
fn write_of(planned: &Planned) -> Markup {
    html! {
        @if let IssueWrite::Comment { body } = &planned.write {
            p { "The comment:" }
            pre { (body) }
        } @else if let Some(words) = in_words(&planned.write) {
            p { (words) }
        }
        @match planned.state {
            WriteState::Shown => {}
            WriteState::Done => p.state { "Done." },
            WriteState::Failed => p.state { "Could not be written." },
            WriteState::InDoubt => p.state { "In doubt: GitHub could not be asked about it." },
        }
        pre { (planned.command) }
    }
}

fn writes_in_words(entry: &BacklogEntry) -> &'static str {
    match entry.writes {
        PlanState::Empty => "nothing to write",
        PlanState::Waiting => "waits for your word",
        PlanState::Agreed => "agreed, and being written",
        PlanState::Written => "written",
        PlanState::Declined => "declined",
        PlanState::Failed => "could not be written",
    }
}

/// The way to the issue and to the files of its scrub.
fn links(entry: &BacklogEntry) -> Markup {
    let folder = entry.folder.to_string_lossy();
    html! {
        p.state {
            a href=(format!("https://github.com/{}/issues/{}", entry.repo, entry.number)) rel="noreferrer" { "issue" }
            " · "
            a href=(format!("{folder}/")) { "folder" }
            @if entry.state == EntryState::Done {
                " · " a href=(format!("{folder}/report.json")) { "report" }
            }
            " · " (entry.cost.runs) " runs in " (format!("{:.1}", entry.cost.seconds)) " s"
        }
    }
}

/// Issues of which there is less to say.
fn list(id: &str, heading: &str, entries: &[&BacklogEntry]) -> Markup {
    html! {
        @if !entries.is_empty() {
            section aria-labelledby=(id) {
                h2 id=(id) { (heading) }
                @for entry in entries {
                    details.issue {
                        summary {
                            h3 { (entry.name()) " " (entry.title) } " "
                            span.state {
                                (entry.ended())
                                @if let Some(confidence) = entry.confidence { ", " (confidence.word()) }
                            }
                        }
                        @if !entry.why.is_empty() { p { (entry.why) } }
                        @if !entry.doubts.is_empty() {
                            ul.findings { @for doubt in &entry.doubts { li.fails { (doubt) } } }
                        }
                        (links(entry))
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scrub::backlog::queue::ScrubCost;

    fn entry(number: u64, confidence: PlanConfidence, body: &str) -> BacklogEntry {
        BacklogEntry {
            repo: "o/r".parse().unwrap(),
            number,
            title: format!("<script>alert({number})</script> \u{202e}txt\x1b[8m"),
            state: EntryState::Done,
            end: Some(ScrubEnd::Minimized),
            confidence: Some(confidence),
            why: "12 -> 3 tokens".to_owned(),
            doubts: Vec::new(),
            plan: vec![Planned {
                command: format!("gh issue comment {number} --repo o/r --body '{body}'"),
                write: IssueWrite::Comment {
                    body: body.to_owned(),
                },
                state: WriteState::Shown,
            }],
            writes: PlanState::Waiting,
            troubles: Vec::new(),
            cost: ScrubCost::default(),
            folder: format!("o/r/{number}").into(),
            updated: 0,
        }
    }

    #[test]
    fn the_page_shows_every_write_the_surest_first_and_acts_on_nothing() {
        let entries = [
            entry(
                1,
                PlanConfidence::Doubtful,
                "one \u{2066}<img src=x onerror=y>",
            ),
            entry(2, PlanConfidence::Sure, "two"),
        ];
        let page = render("label:\"<b>\"", &entries);
        let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
        assert!(at("o/r#2 &lt;script&gt;") < at("o/r#1 &lt;script&gt;"));
        at("one \\u2066&lt;img src=x");
        at("label:&quot;&lt;b&gt;&quot;");
        at("gh issue comment 2 --repo o/r --body 'two'");
        at("href=\"o/r/2/report.json\"");
        assert!(!page.contains("<script") && !page.contains("<img"));
        assert!(!page.contains(['\u{202e}', '\u{2066}', '\x1b']));
        // Nothing is loaded; only links that a person clicks lead elsewhere.
        let addresses = page.matches("http").count();
        assert_eq!(
            addresses,
            page.matches("href=\"https://github.com/o/r/").count()
        );
        assert!(!page.contains("src=\"") && !page.contains("url("));
    }

    #[test]
    fn the_page_holds_each_issue_once() {
        let mut entries = vec![entry(1, PlanConfidence::Sure, "x")];
        let mut failed = entry(2, PlanConfidence::Sure, "x");
        (failed.state, failed.end) = (EntryState::Failed, None);
        let mut waiting = entry(3, PlanConfidence::Sure, "x");
        (waiting.state, waiting.end) = (EntryState::Waiting, None);
        let mut unplanned = entry(4, PlanConfidence::Sure, "x");
        unplanned.plan.clear();
        entries.extend([failed, waiting, unplanned]);
        let page = render("is:open", &entries);
        for number in 1..=4 {
            assert_eq!(page.matches(&format!("<h3>o/r#{number} ")).count(), 1);
        }
        assert!(page.contains("1 failed") && page.contains("2 of 4"));
    }
}
