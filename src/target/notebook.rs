//! `NAME.ipynb`: the code cells of a notebook, up to the one that fails, as a script in its folder.
//! Magics and shell lines are removed; a cell in another language is skipped and reported. Called
//! by the room.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use minrepro_reducers::{
    rewrite::edit::{Edit, EditSet},
    syntax::{
        AnyNodeRef, Program, Ranged,
        ast::{Expr, Stmt},
    },
};
use serde::Deserialize;

use super::TargetProgram;
use crate::{
    cli::{Exit, Failure},
    oracle::{Baseline, Spec, summary},
    runner::{Outcome, Runner, Setup},
};

/// Cell magics whose body is Python that runs.
const TRANSPARENT: &[&str] = &[
    "time", "timeit", "capture", "prun", "python", "python3", "memit",
];

#[derive(Deserialize)]
struct Notebook {
    #[serde(default)]
    cells: Vec<NotebookCell>,
    #[serde(default)]
    metadata: serde_json::Value,
}

/// A cell of a notebook.
#[derive(Deserialize)]
struct NotebookCell {
    cell_type: String,
    #[serde(default)]
    source: Source,
    #[serde(default)]
    outputs: Vec<CellOutput>,
    #[serde(default)]
    execution_count: Option<u64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Source {
    Text(String),
    Lines(Vec<String>),
}

impl Default for Source {
    fn default() -> Self {
        Self::Lines(Vec::new())
    }
}

/// The output of a cell.
#[derive(Deserialize)]
struct CellOutput {
    output_type: String,
    #[serde(default)]
    ename: String,
    #[serde(default)]
    evalue: String,
}

/// A cell as it is written into the script.
struct WrittenCell {
    /// Its number among all cells, from 1.
    number: usize,
    text: String,
}

/// How expressions that a notebook shows are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DisplayForm {
    /// Evaluated, and not shown.
    Evaluated,
    /// Printed as text.
    Printed,
}

/// The path of the script that stands for a notebook: not the name of one that may be beside it.
pub(super) fn place(notebook: &Path) -> PathBuf {
    let stem = notebook.file_stem().unwrap_or_default().to_string_lossy();
    notebook.with_file_name(format!("{stem}_notebook.py"))
}

pub(super) fn result(notebook: &Path) -> PathBuf {
    notebook.with_extension("min.py")
}

pub(super) fn read(path: &Path, specs: &[Spec], setup: Setup) -> Result<TargetProgram, Failure> {
    let notebook = parsed(path)?;
    let code: Vec<(usize, &NotebookCell)> = notebook
        .cells
        .iter()
        .enumerate()
        .map(|(at, cell)| (at + 1, cell))
        .filter(|(_, cell)| cell.cell_type == "code")
        .collect();
    let error_of = |cell: &NotebookCell| {
        let mut outputs = cell.outputs.iter();
        outputs.any(|output| output.output_type == "error")
    };
    let failing = code.iter().position(|(_, cell)| error_of(cell));
    let reported = failing.and_then(|at| {
        let (number, cell) = code[at];
        let error = cell.outputs.iter().find(|one| one.output_type == "error")?;
        Some((number, error))
    });
    let mut notes = vec![match reported {
        Some((number, error)) => format!(
            "notebook: the cells up to number {number}, which reports {}",
            line_of(error)
        ),
        None => "notebook: all cells, since none reports an error".to_owned(),
    }];
    let in_order = &code[..failing.map_or(code.len(), |at| at + 1)];
    let mut orders = vec![in_order.to_vec()];
    let mut by_count: Vec<_> = code.clone();
    by_count.retain(|(_, cell)| cell.execution_count.is_some());
    by_count.sort_by_key(|(_, cell)| cell.execution_count);
    let end = by_count.iter().position(|(_, cell)| error_of(cell));
    by_count.truncate(end.map_or(by_count.len(), |at| at + 1));
    if by_count
        .iter()
        .map(|(at, _)| at)
        .ne(in_order.iter().map(|(at, _)| at))
    {
        orders.push(by_count);
    }
    let runner = Runner::start(setup)?;
    let mut first: Option<(TargetProgram, Outcome, Vec<WrittenCell>)> = None;
    for (at, order) in orders.iter().enumerate() {
        for shown in [DisplayForm::Evaluated, DisplayForm::Printed] {
            let mut skipped = Vec::new();
            let cells = written(order, shown, &mut skipped)?;
            let mut target = script(path, &cells)?;
            let outcome = runner.run_once(target.bytes.clone())?;
            if shows(reported.map(|(_, error)| error), specs, &outcome) {
                if at > 0 {
                    notes.push("the cells stand in the order in which they were run".to_owned());
                }
                if shown == DisplayForm::Printed {
                    notes.push("cell output is printed, since the failure needs it".to_owned());
                }
                notes.append(&mut skipped);
                target.notes = notes;
                return Ok(target);
            }
            target.notes.clone_from(&notes);
            target.notes.append(&mut skipped);
            first.get_or_insert((target, outcome, cells));
        }
    }
    let Some((target, outcome, cells)) = first else {
        return Err(Failure::usage(format!("`{}` has no code", path.display()))
            .hint("name the notebook that shows the bug"));
    };
    match (reported, failing_cell(&outcome, &cells)) {
        (Some((number, error)), Some(other)) if other != number && specs.is_empty() => Err(
            elsewhere(path, (number, error), (other, &outcome), &target.notes),
        ),
        // The session says what it shows.
        _ => Ok(target),
    }
}

fn parsed(path: &Path) -> Result<Notebook, Failure> {
    let shown = path.display();
    let bytes = std::fs::read(path)
        .with_context(|| format!("could not read `{shown}`"))
        .map_err(|error| {
            Failure::new(Exit::Usage, error).hint("name a notebook that exists and can be read")
        })?;
    let notebook: Notebook = serde_json::from_slice(&bytes)
        .with_context(|| format!("`{shown}` is not a notebook"))
        .map_err(|error| {
            Failure::new(Exit::Usage, error).hint("save it anew from Jupyter, or export a script")
        })?;
    if notebook.cells.is_empty() {
        return Err(Failure::usage(format!("`{shown}` has no cells"))
            .hint("a notebook of format 3 is converted by `jupyter nbconvert --to notebook`"));
    }
    let languages = ["/language_info/name", "/kernelspec/language"];
    let language = languages
        .iter()
        .find_map(|pointer| notebook.metadata.pointer(pointer)?.as_str());
    match language {
        None | Some("python" | "Python") => Ok(notebook),
        Some(language) => Err(
            Failure::usage(format!("`{shown}` is a notebook of {language}"))
                .hint("minrepro reduces Python"),
        ),
    }
}

fn line_of(error: &CellOutput) -> String {
    let message = error.evalue.lines().next().unwrap_or_default();
    if message.is_empty() {
        error.ename.clone()
    } else {
        format!("{}: {message}", error.ename)
    }
}

/// Whether a run shows the failure that the user or the notebook names; any failure if neither
/// names one.
fn shows(reported: Option<&CellOutput>, specs: &[Spec], outcome: &Outcome) -> bool {
    if !specs.is_empty() {
        return Baseline::new(specs, vec![outcome.clone()]).is_ok();
    }
    let Some(exception) = &outcome.exception else {
        return false;
    };
    reported.is_none_or(|error| {
        let class = error.ename.rsplit('.').next().unwrap_or_default();
        exception.short_class() == class
    })
}

/// The number of the cell that a run failed in.
fn failing_cell(outcome: &Outcome, cells: &[WrittenCell]) -> Option<usize> {
    let frame = outcome.exception.as_ref()?.frames.first()?;
    let mut line = 1;
    for cell in cells {
        line += cell.text.lines().count() as u32 + 1;
        if frame.line < line {
            return Some(cell.number);
        }
    }
    None
}

fn elsewhere(
    path: &Path,
    (number, error): (usize, &CellOutput),
    (other, outcome): (usize, &Outcome),
    notes: &[String],
) -> Failure {
    let mut failure = Failure::new(
        Exit::NotReproduced,
        anyhow!(
            "`{}` fails in cell {other}, not in cell {number} as it reports",
            path.display()
        ),
    );
    failure.details = vec![
        format!("expected: {}", line_of(error)),
        format!("seen:     {}", summary(outcome)),
    ];
    failure.details.extend(notes.iter().skip(1).cloned());
    failure.hint(
        "run the notebook from its beginning in a new kernel and save it; if the failure seen is the bug, name it by `--signature`",
    )
}

/// The cells as one program.
fn script(path: &Path, cells: &[WrittenCell]) -> Result<TargetProgram, Failure> {
    let texts: Vec<&str> = cells.iter().map(|cell| cell.text.as_str()).collect();
    let text = texts.join("\n");
    let program = Program::parse(text).map_err(|error| {
        Failure::usage(format!("`{}` is not Python: {error}", path.display()))
            .hint("correct the cell, or export the notebook as a script")
    })?;
    Ok(TargetProgram {
        bytes: program.encode().unwrap_or_default(),
        program,
        notes: Vec::new(),
        takes_arguments: true,
    })
}

/// The cells as Python. Skipped parts are noted.
fn written(
    cells: &[(usize, &NotebookCell)],
    shown: DisplayForm,
    skipped: &mut Vec<String>,
) -> Result<Vec<WrittenCell>, Failure> {
    let mut all = Vec::new();
    for (number, cell) in cells {
        let text = match &cell.source {
            Source::Text(text) => text.clone(),
            Source::Lines(lines) => lines.concat(),
        };
        let Some(text) = without_magics(&text, *number, skipped) else {
            continue;
        };
        let program = Program::parse(text).map_err(|error| {
            let mut failure = Failure::usage(format!("cell {number} is not Python: {error}"));
            failure.details = vec![format!("  {}", error.excerpt)];
            failure.hint("correct the cell, or export the notebook as a script")
        })?;
        let text = plain(&program, shown)
            .map_err(|error| Failure::new(Exit::Bug, anyhow!("cell {number}: {error}")))?;
        if !text.trim().is_empty() {
            all.push(WrittenCell {
                number: *number,
                text: format!("{}\n", text.trim_end()),
            });
        }
    }
    Ok(all)
}

/// A cell without magics and shell lines; nothing if it is in another language.
fn without_magics(text: &str, number: usize, skipped: &mut Vec<String>) -> Option<String> {
    let mut body = text.trim_start_matches(['\n', '\r']);
    while let Some(magic) = body.strip_prefix("%%") {
        let (line, rest) = magic.split_once('\n').unwrap_or((magic, ""));
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or_default();
        if ["writefile", "file"].contains(&name) {
            let file = words
                .rfind(|word| !word.starts_with('-'))
                .unwrap_or_default();
            let [file, rest] =
                [file, rest].map(|text| serde_json::to_string(text).unwrap_or_default());
            return Some(format!(
                "with open({file}, \"w\") as file:\n    file.write({rest})\n"
            ));
        }
        if !TRANSPARENT.contains(&name) {
            skipped.push(format!("cell {number} is skipped: `%%{}`", line.trim()));
            return None;
        }
        body = rest;
    }
    if Program::parse(body).is_ok() {
        return Some(body.to_owned());
    }
    let mut lines = Vec::new();
    let mut continues = false;
    for line in body.lines() {
        let bare = line.trim_start();
        let indent = &line[..line.len() - bare.len()];
        let is_magic = continues || is_command(bare);
        continues = is_magic && line.ends_with('\\');
        let kept = if is_magic {
            kept_of(bare)
        } else {
            Some(bare.to_owned())
        };
        match kept {
            Some(kept) => lines.push(format!("{indent}{kept}")),
            None if indent.is_empty() => {
                if bare.contains('=') && !bare.starts_with(['!', '%', '?']) {
                    skipped.push(format!("cell {number} lacks a line of the shell: `{bare}`"));
                }
            }
            None => lines.push(format!("{indent}pass")),
        }
    }
    Some(lines.join("\n") + "\n")
}

/// Whether a line is for `IPython`: a magic, the shell, or help.
fn is_command(line: &str) -> bool {
    let value = line
        .split_once('=')
        .map_or("", |(_, value)| value.trim_start());
    let is_magic = |text: &str| {
        text.strip_prefix('%')
            .is_some_and(|rest| rest.starts_with(|char: char| char.is_alphabetic()))
    };
    line.starts_with(['!', '?'])
        || is_magic(line)
        || is_magic(value)
        || value.starts_with('!')
        || line.trim_end().ends_with('?') && !line.contains('#')
}

/// The Python part of an `IPython` line: the statement that is timed, a variable that is set.
fn kept_of(line: &str) -> Option<String> {
    let rest = line.strip_prefix('%')?;
    let (name, rest) = rest.split_once(char::is_whitespace)?;
    let rest = rest.trim();
    match name {
        "time" | "timeit" | "prun" if !rest.starts_with('-') => Some(rest.to_owned()),
        "env" | "set_env" => {
            let (name, value) = rest.split_once('=').or_else(|| rest.split_once(' '))?;
            let [name, value] =
                [name, value].map(|text| serde_json::to_string(text.trim()).unwrap_or_default());
            Some(format!("import os; os.environ[{name}] = {value}"))
        }
        _ => None,
    }
}

/// A cell without the features that only `IPython` has.
fn plain(
    program: &Program,
    shown: DisplayForm,
) -> Result<String, minrepro_reducers::rewrite::edit::Conflict> {
    let mut edits = EditSet::default();
    for (at, statement) in program.body().iter().enumerate() {
        let Stmt::Expr(expression) = statement else {
            continue;
        };
        let is_last = at + 1 == program.body().len();
        let ends = program.text()[usize::from(statement.range().end())..].trim_start();
        let value = program.slice(expression.value.range());
        match &*expression.value {
            Expr::Call(call) if is_named(&call.func, "display") => {
                let arguments = call.arguments.args.iter();
                let texts = arguments.map(|argument| program.slice(argument.range()));
                let arguments: Vec<&str> = texts.collect();
                let text = match (shown, arguments.as_slice()) {
                    (_, []) => "pass".to_owned(),
                    (DisplayForm::Printed, all) => format!("print({})", reprs(all)),
                    (DisplayForm::Evaluated, [one]) if !one.starts_with('*') => (*one).to_owned(),
                    (DisplayForm::Evaluated, all) => format!("({},)", all.join(", ")),
                };
                edits.edit(Edit::replace(statement.range(), text));
            }
            value if begins_with_ipython(value) => {
                edits.edit(Edit::replace(statement.range(), "pass"));
            }
            Expr::Await(_) => {}
            _ if is_last && shown == DisplayForm::Printed && !ends.starts_with(';') => {
                edits.edit(Edit::replace(
                    statement.range(),
                    format!("print({})", reprs(&[value])),
                ));
            }
            _ => {}
        }
    }
    let tree = program.tree();
    let mut awaits = false;
    for (at, node) in tree.nodes.iter().enumerate() {
        let AnyNodeRef::ExprAwait(expression) = node.node else {
            continue;
        };
        let is_function = |node: AnyNodeRef<'_>| {
            matches!(
                node,
                AnyNodeRef::StmtFunctionDef(_) | AnyNodeRef::ExprLambda(_)
            )
        };
        if !tree.ancestors(at as u32).any(is_function) {
            let awaited = program.slice(expression.value.range());
            edits.edit(Edit::replace(
                expression.range,
                format!("asyncio.run({awaited})"),
            ));
            awaits = true;
        }
    }
    let text = edits.apply(program)?;
    Ok(if awaits {
        format!("import asyncio\n{text}")
    } else {
        text
    })
}

fn reprs(expressions: &[&str]) -> String {
    if expressions.iter().any(|text| text.starts_with('*')) {
        return format!("*map(repr, ({},))", expressions.join(", "));
    }
    let each = expressions.iter().map(|text| format!("repr({text})"));
    each.collect::<Vec<_>>().join(", ")
}

fn is_named(expression: &Expr, name: &str) -> bool {
    matches!(expression, Expr::Name(it) if it.id == name)
}

/// Whether an expression goes to `IPython`: `get_ipython().…`.
fn begins_with_ipython(expression: &Expr) -> bool {
    match expression {
        Expr::Call(call) => is_named(&call.func, "get_ipython") || begins_with_ipython(&call.func),
        Expr::Attribute(attribute) => begins_with_ipython(&attribute.value),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(cell: &str, shown: DisplayForm, expected: &str) {
        let text = without_magics(cell, 1, &mut Vec::new()).unwrap();
        assert_eq!(
            plain(&Program::parse(text).unwrap(), shown).unwrap(),
            expected
        );
    }

    #[test]
    fn lines_for_ipython_go() {
        check(
            "%matplotlib inline\n!pip install x\nimport os\nos.path?\n%time x = f(1)\nfor i in x:\n    !ls\n%env A=b c\n",
            DisplayForm::Evaluated,
            "import os\nx = f(1)\nfor i in x:\n    pass\nimport os; os.environ[\"A\"] = \"b c\"\n",
        );
        check(
            "text = '''\n%time\n!x'''\n",
            DisplayForm::Evaluated,
            "text = '''\n%time\n!x'''\n",
        );
        check("y = (a\n%b)\n", DisplayForm::Evaluated, "y = (a\n%b)\n");
        check(
            "%%time\n%%capture\nx = 1\n",
            DisplayForm::Evaluated,
            "x = 1\n",
        );
    }

    #[test]
    fn other_languages_are_skipped_and_said() {
        let mut skipped = Vec::new();
        assert_eq!(without_magics("%%bash -e\nls\n", 3, &mut skipped), None);
        assert_eq!(skipped, ["cell 3 is skipped: `%%bash -e`"]);
        check(
            "%%writefile a.py\nx = '1'\n",
            DisplayForm::Evaluated,
            "with open(\"a.py\", \"w\") as file:\n    file.write(\"x = '1'\\n\")\n",
        );
    }

    #[test]
    fn what_is_shown_is_evaluated_or_printed() {
        let cell = "display(a)\nget_ipython().system('ls')\nawait f()\nb.c\n";
        check(
            cell,
            DisplayForm::Evaluated,
            "import asyncio\na\npass\nasyncio.run(f())\nb.c\n",
        );
        check(
            cell,
            DisplayForm::Printed,
            "import asyncio\nprint(repr(a))\npass\nasyncio.run(f())\nprint(repr(b.c))\n",
        );
        check("a;\n", DisplayForm::Printed, "a;\n");
        check("display(*a, b)\n", DisplayForm::Evaluated, "(*a, b,)\n");
        check(
            "display(*a)\n",
            DisplayForm::Printed,
            "print(*map(repr, (*a,)))\n",
        );
    }
}
