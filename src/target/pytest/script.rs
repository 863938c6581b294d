//! The text of a test as a script: the files of its fixtures and its own file, pytest's own
//! fixtures as plain Python, and the steps that pytest made. Pure except for reading the files.
//! Called by the room.

use std::{collections::BTreeMap, fmt::Write as _};

use minrepro_reducers::{
    analysis::names::ImportedNames,
    rewrite::{
        edit::EditSet,
        merge_modules::{Merged, MergedModule, merge},
    },
    syntax::{AnyNodeRef, Program, Ranged, rows::RowKind},
};

use super::{
    node::PytestNode,
    record::{Fixture, NodeRecord},
};
use crate::{
    cli::{Exit, Failure},
    target::unittest_steps,
};

/// Pytest's own fixtures as plain Python.
const BUILTINS: &[(&str, &str)] = &[
    ("caplog", include_str!("../python/fixtures/caplog.py")),
    ("capsys", include_str!("../python/fixtures/capsys.py")),
    (
        "monkeypatch",
        include_str!("../python/fixtures/monkeypatch.py"),
    ),
    ("tmp_path", include_str!("../python/fixtures/tmp_path.py")),
    (
        "tmp_path_factory",
        include_str!("../python/fixtures/tmp_path_factory.py"),
    ),
];

/// The test as a script that pytest has no part in; or why that cannot be.
pub(super) fn plain(
    record: &NodeRecord,
    node: &PytestNode,
    with_teardown: bool,
) -> Result<Result<String, String>, Failure> {
    let wanted = requested(record);
    let mut builtins = Vec::new();
    for name in record
        .fixtures
        .iter()
        .filter_map(|fixture| fixture.builtin.as_deref())
    {
        if !wanted.contains(&name) {
            continue;
        }
        match BUILTINS.iter().find(|(known, _)| *known == name) {
            Some((_, text)) => builtins.push((name, *text)),
            None => return Ok(Err(format!("it uses pytest's fixture `{name}`"))),
        }
    }
    let merged = merged(record, node, Some(&builtins))?;
    let mut names = BTreeMap::new();
    for (at, (name, _)) in builtins.iter().enumerate() {
        names.insert((None, *name), new_name(&merged, at, name));
    }
    for fixture in &record.fixtures {
        let file = fixture.file.as_deref();
        let at = record
            .modules
            .iter()
            .position(|module| Some(module.file.as_str()) == file);
        if let Some(at) = at {
            let name = new_name(&merged, builtins.len() + at, &fixture.function);
            names.insert((file, fixture.function.as_str()), name);
        }
    }
    let mut text = head(record, node);
    text += &merged.text;
    text.push('\n');
    let class = record.class.as_deref().filter(|_| record.unittest);
    if let Some(class) = class {
        text += &unittest_steps::steps(class, &record.function, [false, false], with_teardown);
    } else if record.is_collected() {
        text += &steps(record, &wanted, &names, with_teardown);
    }
    Ok(Ok(text))
}

/// The test as a script that has pytest run it.
pub(super) fn by_pytest(record: &NodeRecord, node: &PytestNode) -> Result<String, Failure> {
    let merged = merged(record, node, None)?;
    let name = node.id.split_once("::").map_or("", |(_, name)| name);
    let name = serde_json::to_string(&format!("::{name}")).unwrap_or_default();
    let tail = include_str!("../python/raising.py").replace("NODE", &name);
    Ok(format!("{}{}{tail}", head(record, node), merged.text))
}

/// The fixtures that the test or another fixture of the project asks for.
fn requested(record: &NodeRecord) -> Vec<&str> {
    let of_project = record
        .fixtures
        .iter()
        .filter(|fixture| fixture.builtin.is_none());
    let asked = of_project.flat_map(|fixture| &fixture.arguments);
    asked.chain(&record.arguments).map(String::as_str).collect()
}

/// The files as one text, after replacements for pytest's own fixtures. Without these replacements,
/// fixtures stay as they are.
fn merged(
    record: &NodeRecord,
    node: &PytestNode,
    builtins: Option<&[(&str, &str)]>,
) -> Result<Merged, Failure> {
    let mut programs = Vec::new();
    for (name, text) in builtins.unwrap_or_default() {
        let program = Program::parse(*text)
            .map_err(|error| Failure::new(Exit::Bug, anyhow::anyhow!("`{name}`: {error}")))?;
        programs.push((program, "", None));
    }
    for module in &record.modules {
        let quoted = serde_json::to_string(&module.file).unwrap_or_default();
        let file = format!("os.path.abspath({quoted})");
        programs.push((
            node.program(&module.file)?,
            module.package.as_str(),
            Some(file),
        ));
    }
    let modules: Vec<MergedModule<'_>> = programs
        .iter()
        .map(|(program, package, file)| MergedModule {
            program,
            package,
            file: file.clone(),
            edits: builtins.map_or_else(EditSet::default, |_| without_fixtures(program)),
        })
        .collect();
    merge(&modules).map_err(|error| Failure::new(Exit::Bug, error))
}

/// Functions that were fixtures as plain functions.
fn without_fixtures(program: &Program) -> EditSet {
    let names = ImportedNames::of(program.tree());
    let mut edits = EditSet::default();
    for node in &program.tree().nodes {
        let AnyNodeRef::StmtFunctionDef(function) = node.node else {
            continue;
        };
        for decorator in &function.decorator_list {
            let expression = match &decorator.expression {
                minrepro_reducers::syntax::ast::Expr::Call(call) => &call.func,
                other => other,
            };
            let path = names.path(expression).unwrap_or_default();
            if path != "pytest.fixture" && path != "pytest_asyncio.fixture" {
                continue;
            }
            let item = program.items().find(|(_, row, range)| {
                row.kind == RowKind::Decorators
                    && range.contains_range(decorator.expression.range())
            });
            if let Some((id, ..)) = item {
                edits.remove(id);
            }
        }
    }
    edits
}

fn new_name(merged: &Merged, at: usize, name: &str) -> String {
    let renamed = merged.renamed.get(at).and_then(|renamed| renamed.get(name));
    renamed.map_or_else(|| name.to_owned(), Clone::clone)
}

/// Where modules are found, and the folder to stand in.
fn head(record: &NodeRecord, node: &PytestNode) -> String {
    let mut text = String::new();
    let quoted = |text: &str| serde_json::to_string(text).unwrap_or_default();
    if !record.paths.is_empty() {
        text += "import sys\n";
        let paths: Vec<String> = record.paths.iter().map(|path| quoted(path)).collect();
        let _ = writeln!(text, "sys.path[:0] = [{}]", paths.join(", "));
    }
    if let Some(folder) = node.folder() {
        let _ = writeln!(
            text,
            "import os\nos.chdir({})",
            quoted(&folder.to_string_lossy())
        );
    }
    text
}

/// The variable that holds the value of a fixture.
fn value(name: &str) -> String {
    format!("{name}_value")
}

/// The steps of pytest, as statements.
struct Steps<'a> {
    record: &'a NodeRecord,
    names: &'a BTreeMap<(Option<&'a str>, &'a str), String>,
    setup: String,
    /// In the order of the set-up.
    teardown: Vec<String>,
    /// The fixtures that are set up.
    known: Vec<&'a str>,
}

fn steps<'a>(
    record: &'a NodeRecord,
    wanted: &[&str],
    names: &'a BTreeMap<(Option<&'a str>, &'a str), String>,
    with_teardown: bool,
) -> String {
    let mut steps = Steps {
        record,
        names,
        setup: String::new(),
        teardown: Vec::new(),
        known: Vec::new(),
    };
    let mut readers = record.fixtures.iter().map(|fixture| &fixture.request);
    let reads = |list: &Vec<String>, word: &str| list.iter().any(|name| name == word);
    let uses_finalizers = readers.any(|list| reads(list, "addfinalizer"));
    let readers = record.fixtures.iter().map(|fixture| &fixture.request);
    if readers
        .chain([&record.request])
        .any(|list| !list.is_empty())
    {
        steps.setup += "import types\n\n";
    }
    if record.coroutine {
        steps.setup += "import asyncio\n\n";
    }
    if let Some(class) = &record.class {
        let _ = writeln!(steps.setup, "{} = {class}()", record.instance);
    }
    if uses_finalizers || reads(&record.request, "addfinalizer") {
        steps.setup += "finalizers = []\n";
        steps
            .teardown
            .push("while finalizers:\n    finalizers.pop()()".to_owned());
    }
    for fixture in &record.fixtures {
        if fixture.builtin.is_none() || wanted.contains(&fixture.name.as_str()) {
            steps.set_up(fixture);
        }
    }
    let call = steps.call();
    let Steps {
        setup, teardown, ..
    } = steps;
    if teardown.is_empty() || !with_teardown {
        return format!("\n{setup}{call}\n");
    }
    let lines = teardown.iter().rev().flat_map(|step| step.lines());
    let lines: String = lines.map(|line| format!("    {line}\n")).collect();
    format!("\n{setup}try:\n    {call}\nfinally:\n{lines}")
}

impl<'a> Steps<'a> {
    fn set_up(&mut self, fixture: &'a Fixture) {
        if let Some([before, after]) = &fixture.xunit {
            self.setup
                .extend(before.iter().map(|line| format!("{line}\n")));
            self.teardown.extend(after.clone());
            return;
        }
        let known = self
            .names
            .get(&(fixture.file.as_deref(), function_of(fixture)));
        let function = match known {
            _ if fixture.method => format!("{}.{}", self.record.instance, fixture.function),
            Some(name) => name.clone(),
            None => fixture.function.clone(),
        };
        let request = request(&fixture.request, fixture.parameter.as_deref(), &self.known);
        let arguments = match &fixture.builtin {
            Some(_) => String::new(),
            None => passed(&fixture.arguments, &request, self.record),
        };
        let (name, held) = (&fixture.name, value(&fixture.name));
        if fixture.generator {
            let _ = writeln!(
                self.setup,
                "{name}_steps = {function}({arguments})\n{held} = next({name}_steps)"
            );
            self.teardown.push(format!("next({name}_steps, None)"));
        } else {
            let _ = writeln!(self.setup, "{held} = {function}({arguments})");
        }
        self.known.push(name);
    }

    /// The call of the test.
    fn call(&self) -> String {
        let record = self.record;
        let request = request(&record.request, None, &self.known);
        let arguments = passed(&record.arguments, &request, record);
        let owner = match &record.class {
            Some(_) => format!("{}.", record.instance),
            None => String::new(),
        };
        let call = format!("{owner}{}({arguments})", record.function);
        if record.coroutine {
            format!("asyncio.run({call})")
        } else {
            call
        }
    }
}

/// The name under which a fixture's function is known.
fn function_of(fixture: &Fixture) -> &str {
    fixture.builtin.as_deref().unwrap_or(&fixture.function)
}

/// The replacement for `request`.
fn request(read: &[String], parameter: Option<&str>, known: &[&str]) -> String {
    let mut fields = Vec::new();
    let reads = |word: &str| read.iter().any(|name| name == word);
    if let Some(parameter) = parameter.filter(|_| reads("param")) {
        fields.push(format!("param={parameter}"));
    }
    if reads("addfinalizer") {
        fields.push("addfinalizer=finalizers.append".to_owned());
    }
    if reads("getfixturevalue") {
        let values = known
            .iter()
            .map(|name| format!("{name:?}: {}", value(name)));
        let values: Vec<String> = values.collect();
        fields.push(format!("getfixturevalue={{{}}}.get", values.join(", ")));
    }
    if fields.is_empty() {
        "None".to_owned()
    } else {
        format!("types.SimpleNamespace({})", fields.join(", "))
    }
}

/// The values of arguments.
fn passed(arguments: &[String], request: &str, record: &NodeRecord) -> String {
    let value_of = |name: &String| {
        if name == "request" {
            request.to_owned()
        } else if let Some(expression) = record.parameters.get(name) {
            expression.clone()
        } else {
            value(name)
        }
    };
    arguments
        .iter()
        .map(value_of)
        .collect::<Vec<_>>()
        .join(", ")
}
