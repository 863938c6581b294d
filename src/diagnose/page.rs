//! The one page of a diagnosis, as headings, paragraphs, tables and code, which the views print.
//! The first things that a reader sees are category, component, the line that matters, and the
//! generated code that failed. Pure.

use minrepro_reducers::torch::diagnosis::CategoryRow;

use super::{Answer, Diagnosis, GraphBreak, Rung, RungOutcome, SourcePlace};

/// A page.
pub(super) struct Page {
    pub(super) title: String,
    pub(super) sections: Vec<PageSection>,
}

/// A part of a page with its heading.
pub(super) struct PageSection {
    pub(super) heading: &'static str,
    pub(super) blocks: Vec<PageBlock>,
}

/// A block of a section.
pub(super) enum PageBlock {
    /// Terms and their meanings.
    Terms(Vec<(String, String)>),
    /// Columns and rows.
    Table(Vec<&'static str>, Vec<Vec<String>>),
    /// Lines of code.
    Code(Vec<String>),
    /// Items.
    List(Vec<String>),
}

/// The page of a diagnosis.
pub(super) fn of(diagnosis: &Diagnosis) -> Page {
    let name = diagnosis.script.rsplit('/').next().unwrap_or_default();
    let parts = [
        Some(summary(diagnosis)),
        generated(diagnosis),
        accuracy(diagnosis),
        breaks(diagnosis),
        recompilations(diagnosis),
        guards(diagnosis),
        Some(ladder(diagnosis)),
        minifier(diagnosis),
        elsewhere(diagnosis),
        look(diagnosis),
        patterns(diagnosis),
        Some(artifacts(diagnosis)),
        Some(environment(diagnosis)),
    ];
    Page {
        title: format!("{name}: diagnosis"),
        sections: parts.into_iter().flatten().collect(),
    }
}

/// The page of a category.
pub(super) fn category(row: &CategoryRow, date: &str) -> Page {
    let variables = row.variables.iter();
    let set: Vec<String> = variables
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let mut terms = vec![
        ("seen as".to_owned(), row.seen.clone()),
        ("classes".to_owned(), row.classes.join(", ")),
        ("read off".to_owned(), row.read.clone()),
        ("as of".to_owned(), date.to_owned()),
    ];
    terms.retain(|(_, meaning)| !meaning.is_empty());
    let mut blocks = vec![PageBlock::Terms(terms)];
    if !set.is_empty() {
        let trace = "TORCH_TRACE=trace TORCHINDUCTOR_COMPILE_THREADS=1 python SCRIPT".to_owned();
        blocks.push(PageBlock::Code(vec![
            format!("{} python SCRIPT", set.join(" ")),
            trace,
        ]));
    }
    Page {
        title: format!("{} ({})", row.name, row.id),
        sections: vec![PageSection {
            heading: "How to diagnose it",
            blocks,
        }],
    }
}

fn section(heading: &'static str, blocks: Vec<PageBlock>) -> PageSection {
    PageSection { heading, blocks }
}

/// An answer with its evidence.
fn stated(answer: &Answer) -> String {
    let guess = if answer.guess { "a guess: " } else { "" };
    format!("{guess}{} ({})", answer.is, answer.by)
}

fn summary(diagnosis: &Diagnosis) -> PageSection {
    let mut terms = Vec::new();
    for (at, category) in diagnosis.categories.iter().enumerate() {
        let term = if at == 0 { "category" } else { "also" };
        terms.push((
            term.to_owned(),
            format!("{} ({})", category.name, category.by),
        ));
    }
    terms.push(("component".to_owned(), stated(&diagnosis.component)));
    terms.push(("mode".to_owned(), stated(&diagnosis.mode)));
    terms.push(("moment".to_owned(), stated(&diagnosis.moment)));
    if let Some(guilty) = &diagnosis.guilty {
        terms.push(("line".to_owned(), stated(guilty)));
    }
    if let Some(code) = diagnosis
        .guilty_code
        .as_ref()
        .filter(|code| !code.is_empty())
    {
        terms.push((String::new(), code.clone()));
    }
    terms.push(("failure".to_owned(), diagnosis.key_line.clone()));
    let shown = format!(
        "{} ({} of {} runs)",
        diagnosis.signature, diagnosis.shown, diagnosis.of
    );
    terms.push(("signature".to_owned(), shown));
    for on in &diagnosis.working_on {
        terms.push(("working on".to_owned(), on.clone()));
    }
    for unknown in &diagnosis.unknown {
        terms.push(("not known".to_owned(), unknown.clone()));
    }
    section("What it is", vec![PageBlock::Terms(terms)])
}

fn generated(diagnosis: &Diagnosis) -> Option<PageSection> {
    let generated = diagnosis.generated.as_ref()?;
    let mut items = vec![generated.what.clone()];
    items.extend(generated.error.clone());
    Some(section(
        "Generated code that failed",
        vec![
            PageBlock::List(items),
            PageBlock::Code(generated.lines.clone()),
        ],
    ))
}

fn accuracy(diagnosis: &Diagnosis) -> Option<PageSection> {
    let rows: Vec<Vec<String>> = diagnosis
        .divergences
        .iter()
        .filter_map(|one| {
            let first = one.first.as_ref()?;
            let line = first.node.places.last().map(SourcePlace::shown);
            Some(vec![
                if one.backward { "backward" } else { "forward" }.to_owned(),
                format!("{} ({})", first.node.name, first.node.target),
                line.unwrap_or_default(),
                format!("{:.3e}", first.off),
                format!("{:.3e}", first.usual),
                format!("{:.3e}", first.size),
                format!("{}; {}", one.reference, one.by),
            ])
        })
        .collect();
    if rows.is_empty() {
        return None;
    }
    let columns = vec![
        "graph",
        "first wrong node",
        "line",
        "compiled off by",
        "eager off by",
        "size",
        "reference",
    ];
    Some(section(
        "First diverging node",
        vec![PageBlock::Table(columns, rows)],
    ))
}

fn breaks(diagnosis: &Diagnosis) -> Option<PageSection> {
    let row = |found: &GraphBreak| {
        vec![
            found
                .place
                .as_ref()
                .map(SourcePlace::shown)
                .unwrap_or_default(),
            found.reason.clone(),
            found.number.clone().unwrap_or_default(),
            found.hint_class.unwrap_or_default().to_owned(),
            found.count.to_string(),
            found.hints.join(" "),
        ]
    };
    let rows: Vec<_> = diagnosis.graph_breaks.iter().map(row).collect();
    if rows.is_empty() {
        return None;
    }
    let columns = vec!["line", "reason", "number", "class", "times", "hints"];
    Some(section(
        "Graph breaks",
        vec![PageBlock::Table(columns, rows)],
    ))
}

fn recompilations(diagnosis: &Diagnosis) -> Option<PageSection> {
    let rows: Vec<_> = diagnosis
        .recompilations
        .iter()
        .map(|one| vec![one.function.clone(), one.guards.join("; ")])
        .collect();
    if rows.is_empty() {
        return None;
    }
    Some(section(
        "Recompilations",
        vec![PageBlock::Table(
            vec!["function", "guards that failed"],
            rows,
        )],
    ))
}

fn guards(diagnosis: &Diagnosis) -> Option<PageSection> {
    let is_shape = |id: &str| {
        diagnosis
            .categories
            .iter()
            .any(|category| category.id == id)
    };
    let mut rows: Vec<Vec<String>> = Vec::new();
    for guard in &diagnosis.size_guards {
        let row = vec![guard.place.shown(), guard.expression.clone()];
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    if rows.is_empty() || !is_shape("dynamic_shapes") {
        return None;
    }
    Some(section(
        "Guards on sizes",
        vec![PageBlock::Table(vec!["line", "asks whether"], rows)],
    ))
}

fn ladder(diagnosis: &Diagnosis) -> PageSection {
    let row = |rung: &Rung| {
        let outcome = match rung.outcome {
            RungOutcome::Shows => "shows the bug",
            RungOutcome::Passes => "passes",
            RungOutcome::FailsOtherwise => "fails in another way",
        };
        vec![rung.name.clone(), outcome.to_owned(), rung.seen.clone()]
    };
    let rows = diagnosis.rungs.iter().map(row).collect();
    section(
        "The ladder, each rung run once",
        vec![PageBlock::Table(vec!["rung", "outcome", "seen"], rows)],
    )
}

fn minifier(diagnosis: &Diagnosis) -> Option<PageSection> {
    let found = diagnosis.minifier.as_ref()?;
    let mut terms = Vec::new();
    if let (Some(before), after) = (found.nodes_before, found.nodes_after) {
        let after = after.map_or_else(|| "none".to_owned(), |after| after.to_string());
        let stopped = if found.stopped {
            ", stopped by its limit"
        } else {
            ""
        };
        let seconds = found.seconds;
        let text = format!("{after} of {before} operations, in {seconds:.0} s{stopped}");
        terms.push(("smallest graph".to_owned(), text));
    }
    terms.extend(
        found
            .failed
            .iter()
            .map(|why| ("no program".to_owned(), why.clone())),
    );
    let unminimized = found.not_minimized.iter();
    terms.extend(unminimized.map(|why| ("not minimized".to_owned(), why.clone())));
    terms.extend(
        found
            .file
            .iter()
            .map(|file| ("kept in".to_owned(), file.clone())),
    );
    let mut blocks = vec![PageBlock::Terms(terms)];
    for program in &found.programs {
        let size = format!("{} tokens", program.tokens);
        blocks.push(PageBlock::Terms(vec![(program.by.clone(), size)]));
        let lines = program.text.lines().map(str::to_owned);
        blocks.push(PageBlock::Code(lines.collect()));
    }
    Some(section("PyTorch's own minifier", blocks))
}

fn elsewhere(diagnosis: &Diagnosis) -> Option<PageSection> {
    let mut rows = Vec::new();
    for one in &diagnosis.elsewhere {
        let programs = [("script", Some(&one.script)), ("test", one.test.as_ref())];
        for (program, runs) in programs {
            let Some(runs) = runs else { continue };
            let mut seen = vec![runs.seen.clone()];
            seen.extend(runs.difference.clone());
            rows.push(vec![
                one.name.clone(),
                one.build.clone(),
                program.to_owned(),
                runs.outcome.words().to_owned(),
                format!("{} of {}", runs.shown, runs.of),
                seen.join("; "),
            ]);
        }
    }
    let columns = vec!["name", "build", "program", "outcome", "runs", "seen"];
    let table = || PageBlock::Table(columns, rows.clone());
    (!rows.is_empty()).then(|| section("Under other interpreters", vec![table()]))
}

fn look(diagnosis: &Diagnosis) -> Option<PageSection> {
    let places = diagnosis.look.iter();
    let items: Vec<String> = places
        .map(|place| format!("{} {}(): {}", place.shown(), place.function, place.code))
        .collect();
    let mut terms = Vec::new();
    if let Some(folder) = &diagnosis.test_folder {
        terms.push(("a test belongs to".to_owned(), folder.clone()));
    }
    for label in &diagnosis.labels {
        terms.push((
            "label".to_owned(),
            format!("{} ({}: {})", label.label, label.confidence, label.by),
        ));
    }
    if items.is_empty() && terms.is_empty() {
        return None;
    }
    Some(section(
        "Where to look",
        vec![PageBlock::List(items), PageBlock::Terms(terms)],
    ))
}

fn patterns(diagnosis: &Diagnosis) -> Option<PageSection> {
    let mut terms = Vec::new();
    for one in &diagnosis.patterns {
        terms.push(("a guess".to_owned(), format!("{} ({})", one.name, one.id)));
        terms.push(("evidence".to_owned(), one.by.clone()));
        terms.push(("check".to_owned(), one.check.clone()));
    }
    let has_any = !terms.is_empty();
    has_any.then(|| section("Known patterns to check", vec![PageBlock::Terms(terms)]))
}

fn artifacts(diagnosis: &Diagnosis) -> PageSection {
    let mut items = vec![format!("{}: the folder of all logs", diagnosis.artifacts)];
    items.push("failure/trace: the structured log; `tlparse` renders it".to_owned());
    items.extend(diagnosis.logged.iter().cloned());
    section("Logs and artifacts", vec![PageBlock::List(items)])
}

fn environment(diagnosis: &Diagnosis) -> PageSection {
    let facts = &diagnosis.environment;
    let mut terms = facts.facts.clone();
    for (term, values) in [
        ("variables", &facts.variables),
        ("settings changed", &facts.settings),
    ] {
        terms.extend(values.iter().map(|value| (term.to_owned(), value.clone())));
    }
    section("Environment", vec![PageBlock::Terms(terms)])
}
