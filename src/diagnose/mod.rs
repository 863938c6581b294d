//! `minrepro diagnose`: classifies a failure. Reproduces it, climbs the ladder of the compiler,
//! decides mode, moment, component and category, runs the script with the logs of that category and
//! reads them. Findings name the run that shows them. Guesses are marked as guesses. Called by the
//! command.

mod classify;
mod elsewhere;
mod environment;
mod findings;
mod ladder;
mod look;
mod minifier;
mod page;
mod patterns;
mod trace;
mod views;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use minrepro_reducers::{
    cost::Cost,
    torch::{diagnosis::categories, environment::uses_torch},
};
use serde::Serialize;

pub use classify::{Answer, CategoryFinding};
pub use elsewhere::{ElsewhereFinding, ElsewhereOutcome, ElsewhereRuns, OtherBuild, elsewhere};
pub use environment::EnvironmentFacts;
pub use findings::{Divergence, DivergingNode, NodeFinding, SourcePlace};
pub use ladder::{Rung, RungKind, RungOutcome};
pub use look::{GeneratedCode, SuggestedLabel};
pub use minifier::{MinifierFinding, SizedProgram};
pub use patterns::PatternFinding;
pub use trace::{GraphBreak, Recompilation, SizeGuard};

use self::{
    classify::EvidenceOfRuns,
    findings::{Findings, ProbeKind},
    trace::CompilerTrace,
};
use crate::{
    judge::Subject,
    oracle::Signature,
    report::ReportForm,
    runner::{Job, Outcome, RunError},
};

/// The version of the diagnosis' form; it grows when a field changes its meaning or is removed.
pub const VERSION: u32 = 1;

/// The diagnosis of a failure.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
pub struct Diagnosis {
    /// The version of this form.
    pub version: u32,
    /// The script.
    pub script: String,
    /// The signature of the bug.
    pub signature: String,
    /// How many runs of the script showed the bug.
    pub shown: usize,
    /// How many runs were made.
    pub of: usize,
    /// The interpreter, PyTorch, and the settings that differ from their defaults.
    pub environment: EnvironmentFacts,
    /// The way through PyTorch that fails.
    pub mode: Answer,
    /// When it fails.
    pub moment: Answer,
    /// The component that has the bug.
    pub component: Answer,
    /// The line of the script that is responsible.
    pub guilty: Option<Answer>,
    /// The text of that line.
    pub guilty_code: Option<String>,
    /// The script with less of the compiler, and with other settings of it.
    pub rungs: Vec<Rung>,
    /// The kinds of failure, the first match first.
    pub categories: Vec<CategoryFinding>,
    /// The line of the failure or of the log that matters most.
    pub key_line: String,
    /// Graph breaks, those that an earlier one caused last.
    pub graph_breaks: Vec<GraphBreak>,
    /// Recompilations.
    pub recompilations: Vec<Recompilation>,
    /// Guards on sizes that the script's lines asked for.
    pub size_guards: Vec<SizeGuard>,
    /// What the compiler was working on when it failed.
    pub working_on: Vec<String>,
    /// The generated code that failed.
    pub generated: Option<GeneratedCode>,
    /// The first results that diverge, a graph each.
    pub divergences: Vec<Divergence>,
    /// The result of PyTorch's own minifier, if the failure is one for it.
    pub minifier: Option<MinifierFinding>,
    /// The script and its test under other interpreters, if any were named.
    pub elsewhere: Vec<ElsewhereFinding>,
    /// Places in PyTorch to look at.
    pub look: Vec<SourcePlace>,
    /// The folder where a test belongs.
    pub test_folder: Option<String>,
    /// Known patterns that the evidence fits: guesses, each with the check that confirms it.
    pub patterns: Vec<PatternFinding>,
    /// Labels for an issue.
    pub labels: Vec<SuggestedLabel>,
    /// The facts that could not be found out, and why.
    pub unknown: Vec<String>,
    /// The folder with logs and artifacts.
    pub artifacts: String,
    /// The runs whose logs lie there: each with its command's variables.
    pub logged: Vec<String>,
    /// Seconds that the diagnosis took.
    pub seconds: f64,
}

impl Diagnosis {
    /// The diagnosis in one of its forms.
    pub fn render(&self, form: ReportForm) -> String {
        match form {
            ReportForm::Json => serde_json::to_string_pretty(self).unwrap_or_default(),
            ReportForm::Markdown => views::markdown(&page::of(self)),
            ReportForm::Html => views::html(&page::of(self)),
        }
    }

    /// The diagnosis for a terminal.
    pub fn text(&self) -> String {
        views::text(&page::of(self))
    }
}

/// A category as the table has it, with the command that shows it; none if there is no such one.
pub fn explain(category: &str) -> Option<String> {
    let table = categories();
    let row = table.categories.iter().find(|row| row.id == category)?;
    Some(views::text(&page::category(row, &table.date)))
}

/// The names of all categories.
pub fn category_names() -> Vec<&'static str> {
    let rows = categories().categories.iter();
    rows.map(|row| row.id.as_str()).collect()
}

/// The behaviour of a script before it is diagnosed.
pub struct ReproducedFailure {
    /// What counts as the bug.
    pub signature: Signature,
    /// The runs.
    pub outcomes: Vec<Outcome>,
    /// How many of them show it.
    pub same: usize,
    /// The time limit of a run.
    pub timeout: Duration,
}

/// Why there is no diagnosis.
#[derive(Debug, thiserror::Error)]
pub enum DiagnosisError {
    /// A run could not be made.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The interpreter has no PyTorch that works.
    #[error("the interpreter cannot import PyTorch: {0}")]
    NoTorch(String),
}

/// A script under diagnosis.
struct Examination<'a> {
    subject: &'a Subject,
    reproduced: &'a ReproducedFailure,
    folder: &'a Path,
}

impl Examination<'_> {
    /// A run that probes the script and keeps its output in a folder of the artifacts.
    fn probe(&self, kind: ProbeKind, name: &str) -> Job {
        let bytes = findings::program(kind, &self.subject.bytes);
        Job {
            artifacts: Some(self.folder.join(name)),
            ..Job::new(bytes.into(), self.reproduced.timeout)
        }
    }

    fn run(&self, jobs: &[Job]) -> Result<Vec<Outcome>, RunError> {
        self.subject.runner.run_all(jobs, &mut |_, _| {})
    }

    /// The script as it is, with the logs of a category; returns how to run it by hand.
    fn log(&self, category: &str) -> Result<Option<String>, RunError> {
        let rows = &categories().categories;
        let Some(row) = rows.iter().find(|row| row.id == category) else {
            return Ok(None);
        };
        if row.variables.is_empty() {
            return Ok(None);
        }
        let set = row.variables.iter();
        let shown: Vec<String> = set
            .clone()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let job = Job {
            variables: set
                .map(|(name, value)| (name.clone(), Some(value.clone())))
                .collect(),
            ..Job::new(
                Arc::from(self.subject.bytes.as_slice()),
                self.reproduced.timeout,
            )
        };
        let outcomes = self.run(&[job])?;
        let name = format!("{category}.log");
        for outcome in outcomes {
            let text = outcome.stderr.text();
            // The report names the file; if it cannot be written, its absence is seen there.
            let _ = crate::report::write_atomically(&self.folder.join(&name), text.as_bytes());
        }
        Ok(Some(format!("{} -> {name}", shown.join(" "))))
    }
}

/// Diagnoses a script that shows a bug. Logs and artifacts go to `folder`. PyTorch's minifier may
/// take `minifier_time`; without one it takes its usual time, and leaves small graphs alone.
///
/// # Errors
///
/// A run could not be made, or there is no PyTorch.
pub fn diagnose(
    subject: &Subject,
    reproduced: &ReproducedFailure,
    folder: &Path,
    minifier_time: Option<Duration>,
) -> Result<Diagnosis, DiagnosisError> {
    let started = Instant::now();
    let session = Examination {
        subject,
        reproduced,
        folder,
    };
    let probes = [
        session.probe(ProbeKind::Environment, "environment"),
        session.probe(ProbeKind::Failure, "failure"),
    ];
    session.run(&probes)?;
    let fresh = Findings::read(&folder.join("environment"));
    let findings = Findings::read(&folder.join("failure"));
    let import_error = fresh.environment.get("import_error").cloned().flatten();
    if let (true, Some(error)) = (uses_torch(&subject.program), import_error) {
        return Err(DiagnosisError::NoTorch(error));
    }
    let trace = CompilerTrace::read(&folder.join("failure/trace"), &findings.folder);
    let signature = &reproduced.signature;
    let (runner, program) = (&subject.runner, &subject.program);
    let rungs = ladder::climb(runner, program, signature, reproduced.timeout)?;
    let mut outcomes = reproduced.outcomes.iter();
    let showing = outcomes.find(|outcome| signature.matches(outcome));
    let Some(outcome) = showing.or(reproduced.outcomes.first()) else {
        return Err(DiagnosisError::NoTorch("nothing was run".to_owned()));
    };
    let outcome = &findings::with_code(outcome);
    let evidence = EvidenceOfRuns {
        program: &subject.program,
        rank: Cost::of(&subject.program).environment,
        outcome,
        findings: &findings,
        trace: &trace,
        rungs: &rungs,
        accuracy: &[],
    };
    let mut measured = Vec::new();
    if evidence.is_accuracy() {
        session.run(&[session.probe(ProbeKind::Accuracy, "accuracy")])?;
        measured = Findings::read(&folder.join("accuracy")).accuracy;
    }
    let changed = findings.changed_settings(&fresh);
    let evidence = EvidenceOfRuns {
        accuracy: &measured,
        ..evidence
    };
    let mut diagnosis = decided(&session, &evidence);
    diagnosis.environment = EnvironmentFacts::of(subject, &fresh, changed);
    diagnosis.patterns = patterns::matching(&evidence, diagnosis.environment.python());
    let settings = &diagnosis.environment.settings;
    let found = &diagnosis.categories;
    diagnosis.minifier = minifier::minified(&session, &evidence, found, settings, minifier_time)?;
    let mut logged = Vec::new();
    for category in &diagnosis.categories {
        logged.extend(session.log(&category.id)?);
    }
    diagnosis.logged = logged;
    diagnosis.seconds = started.elapsed().as_secs_f64();
    Ok(diagnosis)
}

/// The conclusions from the runs.
fn decided(session: &Examination<'_>, cx: &EvidenceOfRuns<'_>) -> Diagnosis {
    let mode = classify::mode(cx);
    let moment = classify::moment(cx, &mode.is);
    let (component_id, component) = classify::component(cx, &mode.is);
    let categories = classify::categories_of(cx, component_id);
    let guilty = classify::guilty(cx, component_id);
    let mut breaks = cx.trace.breaks.clone();
    look::add_raised_break(cx, &mut breaks);
    breaks.sort_by_key(GraphBreak::is_caused);
    let labels = look::labels(cx, component_id, &moment.is, &categories);
    Diagnosis {
        version: VERSION,
        script: session.subject.runner.script().display().to_string(),
        signature: session.reproduced.signature.to_string(),
        shown: session.reproduced.same,
        of: session.reproduced.outcomes.len(),
        environment: EnvironmentFacts::default(),
        key_line: look::key_line(cx),
        working_on: look::working_on(cx, component_id),
        generated: look::generated(cx),
        minifier: None,
        elsewhere: Vec::new(),
        look: look::places(cx),
        test_folder: look::test_folder(cx, component_id),
        unknown: look::unknown(cx),
        guilty_code: guilty.as_ref().map(|(place, _)| place.code.clone()),
        guilty: guilty.map(|(_, answer)| answer),
        mode,
        moment,
        component,
        categories,
        rungs: cx.rungs.to_vec(),
        graph_breaks: breaks,
        recompilations: cx.trace.recompilations.clone(),
        size_guards: cx.trace.guards.clone(),
        divergences: cx.accuracy.to_vec(),
        patterns: Vec::new(),
        labels,
        artifacts: session.folder.display().to_string(),
        logged: Vec::new(),
        seconds: 0.0,
    }
}

/// The folder for logs and artifacts, unless the user names one: beside the script.
pub fn default_folder(script: &Path) -> PathBuf {
    let stem = script.file_stem().unwrap_or_default().to_string_lossy();
    script.with_file_name(format!("{stem}.diagnosis"))
}
