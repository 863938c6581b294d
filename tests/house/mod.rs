//! The house is in order: which file may use which, and figures of style, counted in the sources.
//!
//! `cargo test --test all house -- --nocapture` prints all figures with their places;
//! `MINREPRO_HOUSE=FOLDER` measures another checkout, without limits.

mod modules;
mod rooms;
mod sources;
mod style;

use std::{
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
};

use sources::Source;

/// What each figure may be. A limit is tightened when the sources get better, never loosened
/// without a reason beside it.
const LIMITS: &[(&str, Limit)] = &[
    (
        "circles of files that use each other, but for scrub/review",
        Limit::AtMost(0.0),
    ),
    (
        "arrows between rooms that are not allowed",
        Limit::AtMost(0.0),
    ),
    ("crates named outside their rooms", Limit::AtMost(0.0)),
    ("passes that use other passes", Limit::AtMost(0.0)),
    (
        "files outside its rooms that name PyTorch",
        Limit::AtMost(0.0),
    ),
    (
        "names of what Linux alone offers, outside the platform room",
        Limit::AtMost(0.0),
    ),
    ("type names that several types carry", Limit::AtMost(4.0)),
    ("closures with a parameter named `it`", Limit::AtMost(0.0)),
    ("functions of more than 80 lines", Limit::AtMost(0.0)),
    (
        "lines of more than 100 columns, per thousand",
        Limit::AtMost(5.0),
    ),
    (
        "comments in bodies of functions of the engine, per thousand lines",
        Limit::AtLeast(20.0),
    ),
    (
        "comments in bodies of functions of the judge, per thousand lines",
        Limit::AtLeast(20.0),
    ),
    (
        "comments in bodies of functions of the runner, per thousand lines",
        Limit::AtLeast(20.0),
    ),
    (
        "comments in bodies of functions of extraction, per thousand lines",
        Limit::AtLeast(20.0),
    ),
    (
        "comments in bodies of functions of the slicer, per thousand lines",
        Limit::AtLeast(17.0),
    ),
];

/// Words that only PyTorch's rooms use.
const PYTORCH: &[&str] = &[
    "torch",
    "dynamo",
    "inductor",
    "aot_eager",
    "autograd",
    "cuda",
    "gloo",
    "nccl",
];

/// PyTorch's rooms: what its names mean, the passes for it, the variables of runs, and the scrub of
/// its issues with the two verbs for these and their arguments.
const PYTORCH_ROOMS: &[&str] = &[
    "reducers/src/torch",
    "reducers/src/passes/torch/",
    "src/runner/environment.rs",
    "src/scrub/",
    "src/diagnose/",
    "src/stale/",
    "src/cli/diagnose_args.rs",
    "src/commands/diagnose.rs",
    "src/cli/scrub_args.rs",
    "src/commands/scrub.rs",
    "src/commands/bisect.rs",
    "src/commands/triage.rs",
];

const SLICER: &[&str] = &["reducers/src/slice", "reducers/src/analysis/slice"];

#[derive(Clone, Copy, Debug)]
enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

/// A figure, with the places that it counts.
struct Figure {
    value: f64,
    places: Vec<String>,
}

impl Figure {
    fn count(places: Vec<String>) -> Self {
        Self {
            value: places.len() as f64,
            places,
        }
    }

    fn rate((count, lines): (usize, usize)) -> Self {
        Self {
            value: (count as f64) * 1000.0 / (lines.max(1) as f64),
            places: vec![format!("{count} in {lines} lines")],
        }
    }
}

/// All figures, in the order of `LIMITS`.
fn figures(sources: &[Source]) -> Vec<Figure> {
    let edges = modules::dependencies(sources);
    let mut circles = Vec::new();
    for circle in modules::circles(&edges) {
        let is_review = |file: &usize| sources[*file].path.starts_with("src/scrub/review/");
        if circle.iter().all(is_review) {
            continue;
        }
        let mut place = format!("{} files:", circle.len());
        for from in &circle {
            for to in edges[from].iter().filter(|to| circle.contains(to)) {
                let _ = write!(
                    place,
                    "\n      {} → {}",
                    sources[*from].path, sources[*to].path
                );
            }
        }
        circles.push(place);
    }
    let wide = style::wide_lines(sources, 100);
    let all: usize = sources.iter().map(Source::all_lines).sum();
    let comments = |rooms: &[&str]| Figure::rate(style::comments(sources, rooms));
    vec![
        Figure::count(circles),
        Figure::count(rooms::forbidden_arrows(sources, &edges)),
        Figure::count(rooms::strangers(sources)),
        Figure::count(rooms::passes_in_passes(sources, &edges)),
        Figure::count(style::naming(sources, PYTORCH, PYTORCH_ROOMS)),
        Figure::count(rooms::linux_only(sources)),
        Figure::count(style::shared_type_names(sources)),
        Figure::count(style::closures_with(sources, "it")),
        Figure::count(style::long_functions(sources, 80)),
        Figure {
            value: (wide.len() as f64) * 1000.0 / (all as f64),
            places: wide,
        },
        comments(&["src/engine/"]),
        comments(&["src/judge/"]),
        comments(&["src/runner/"]),
        comments(&["reducers/src/passes/trace/extract.rs"]),
        comments(SLICER),
    ]
}

/// What is over its limit, each with its places.
fn exceeded(figures: &[Figure]) -> Vec<String> {
    let mut found = Vec::new();
    for ((name, limit), figure) in LIMITS.iter().zip(figures) {
        let is_kept = match limit {
            Limit::AtMost(most) => figure.value <= *most,
            Limit::AtLeast(least) => figure.value >= *least,
        };
        if !is_kept {
            let places = figure.places.join("\n    ");
            found.push(format!(
                "{name}: {:.1}, limit {limit:?}\n    {places}",
                figure.value
            ));
        }
    }
    found
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "the harness shows it with --nocapture alone"
)]
fn every_figure_keeps_its_limit() {
    let other = std::env::var_os("MINREPRO_HOUSE").map(PathBuf::from);
    let root = other
        .as_deref()
        .unwrap_or(Path::new(env!("CARGO_MANIFEST_DIR")));
    let sources = sources::read(root);
    let figures = figures(&sources);
    for ((name, _), figure) in LIMITS.iter().zip(&figures) {
        println!(
            "{name}: {:.1}\n    {}\n",
            figure.value,
            figure.places.join("\n    ")
        );
    }
    for ((name, limit), figure) in LIMITS.iter().zip(&figures) {
        println!("{:6.1}  {limit:?}  {name}", figure.value);
    }
    let lines: usize = sources.iter().map(Source::lines).sum();
    println!("{lines:6}  lines of Rust outside tests");
    let edges = modules::dependencies(&sources);
    println!("arrows: {}", rooms::arrows(&sources, &edges).join(", "));
    if other.is_none() {
        let exceeded = exceeded(&figures);
        assert!(exceeded.is_empty(), "{}", exceeded.join("\n"));
    }
}

/// A small workspace in which every figure is wrong: a check that cannot fail is no check.
#[test]
fn every_figure_finds_what_it_counts() {
    let folder = tempfile::tempdir().unwrap();
    let long = format!("fn long() {{\n{}}}\n", "    work();\n".repeat(80));
    let wide = format!("// {}\n", "wide ".repeat(20));
    let files = [
        (
            "src/lib.rs",
            "mod engine;\nmod oracle;\nmod runner;\n".to_owned(),
        ),
        (
            "src/engine/mod.rs",
            "mod plan;\npub use plan::Plan;\npub(crate) struct Step(Plan);\n\
             fn f() {\n    // Because it is so.\n    tokio::spawn();\n}\n"
                .to_owned(),
        ),
        (
            "src/engine/plan.rs",
            "use super::fold::Fold;\npub struct Plan(Fold);\nfn f() { x.map(|it| it) }\n"
                .to_owned(),
        ),
        (
            "src/engine/fold.rs",
            "use super::Plan;\npub struct Fold;\nfn f(plan: Plan) { a(&a | it | &b) }\n".to_owned(),
        ),
        (
            "src/oracle/mod.rs",
            "use crate::engine::Step;\nstruct Plan;\nconst A: &str = \"torch.compile\";\n"
                .to_owned(),
        ),
        // Comments, doc comments, tests, paths into rooms and bodies of closures count for
        // nothing.
        (
            "src/runner/mod.rs",
            "/// Torch, `a | it | b`.\nfn f() { x::torch::f() } // torch\n\
             fn g() { |x: Option<u8>| (it, y | x) }\n\
             use x::{a, torch};\n\
             #[cfg(test)]\nmod tests {\n    struct Fold;\n    fn f() { x.map(|it| it) }\n    \
             fn g() { read(\"/proc/self\") }\n}\n"
                .to_owned(),
        ),
        (
            "src/runner/platform/mod.rs",
            "/// Reads `/proc/self`.\n#[cfg(target_os = \"linux\")]\nuse std::os::linux::fs::X;\n"
                .to_owned(),
        ),
        (
            "src/runner/error.rs",
            "use std::os::linux::fs::X; // /proc/self\n".to_owned(),
        ),
        ("reducers/src/lib.rs", format!("{long}{wide}")),
        ("reducers/src/passes/mod.rs", String::new()),
        (
            "reducers/src/passes/one.rs",
            "fn f() { crate::passes::two::g() }\n".to_owned(),
        ),
        ("reducers/src/passes/two.rs", "fn g() {}\n".to_owned()),
    ];
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::io::Write::write_all(&mut fs::File::create(path).unwrap(), text.as_bytes()).unwrap();
    }
    let sources = sources::read(folder.path());
    let found = figures(&sources);
    let counts: Vec<usize> = found[..9]
        .iter()
        .map(|figure| figure.value as usize)
        .collect();
    let places: Vec<_> = found
        .iter()
        .map(|figure| figure.places.join("; "))
        .collect();
    assert_eq!(counts, [1, 1, 1, 1, 1, 1, 1, 1, 1], "{}", places.join("\n"));
    assert_eq!(found[9].places.len(), 1, "{}", places[9]);
    assert_eq!(found[10].places, ["1 in 13 lines"]);
}
