//! Step 3: finds out what the repro needs and whether it may run.

use std::path::{Path, PathBuf};

use minrepro_reducers::syntax::{Program, Ranged, ast::Stmt};

use super::{Maybe, ScrubContext, ScrubEnd, Step};
use crate::{
    cli::{Exit, Failure},
    scrub::{
        doubts::{Doubt, DoubtKind},
        issue::{analyze, repro::Repro},
        repair,
        review::{self, Concern, Finding},
        tool::ToolCall,
    },
};

/// A script that is ready to run.
pub(in crate::scrub) struct Ready {
    pub(in crate::scrub) code: String,
    pub(in crate::scrub) env: Vec<(String, String)>,
}

/// Checks the needs of the repro, and asks if necessary.
pub(in crate::scrub) fn analyze(
    cx: &mut ScrubContext<'_>,
    issue: Maybe<'_>,
    repro: Option<Repro>,
) -> Result<Step<Ready>, Failure> {
    cx.step("3", "what does the repro need?");
    let Some(repro) = repro else {
        return Ok(needs_repro(cx, issue, "there is no code"));
    };
    let Some(mut program) = parsed(cx, &repro.code) else {
        return Ok(needs_repro(
            cx,
            issue,
            "the code is not valid Python, and closing a bracket does not repair it",
        ));
    };
    let says_nothing =
        cx.found.reported.is_none() && cx.settings.signature.is_empty() && issue.is_some();
    if says_nothing {
        return Ok(needs_repro(
            cx,
            issue,
            "the issue reports neither an error nor the expected behaviour",
        ));
    }
    let data = analyze::external_data(&program);
    // The package that reads the data is asked for first; it may build the model without them.
    if !data.is_empty() && missing(cx, &program)?.is_empty() {
        let why = format!(
            "the script reads data that the issue does not contain: {}",
            data.join(", ")
        );
        return Ok(needs_repro(cx, issue, &why));
    }
    if let Some(called) = analyze::with_tests_called(&program) {
        adapt(
            cx,
            &mut program,
            called,
            "added calls of the tests, which the script leaves to a test runner",
        );
    }
    program = match security(cx, &repro, program)? {
        Step::Next(program) => program,
        Step::End(end, why) => return Ok(Step::End(end, why)),
    };
    if let Step::End(end, why) = packages(cx, &program)? {
        return Ok(Step::End(end, why));
    }
    let env = analyze::rendezvous(&program).unwrap_or_default();
    if !env.is_empty() {
        adaptation(
            cx,
            "torch.distributed: set rendezvous variables so that the script runs as one process",
        );
        if env.iter().any(|(name, _)| name == "WORLD_SIZE") {
            altered(
                cx,
                DoubtKind::Device,
                "it was run as one process of `torch.distributed`",
            );
        }
    }
    if issue.is_some_and(|issue| issue.has_label("needs reproduction")) {
        cx.found.remove.push("needs reproduction".to_owned());
    }
    Ok(Step::Next(Ready {
        code: program.text().to_owned(),
        env,
    }))
}

pub(super) fn adaptation(cx: &mut ScrubContext<'_>, what: &str) {
    cx.decided(&format!("adapted: {what}"));
    cx.found.adaptations.push(what.to_owned());
}

/// Notes a change after which a clean run proves less.
fn altered(cx: &mut ScrubContext<'_>, kind: DoubtKind, what: &str) {
    cx.found.doubts.push(Doubt::new(kind, what));
}

fn adapt(cx: &mut ScrubContext<'_>, program: &mut Program, text: String, what: &str) {
    if let Ok(changed) = Program::parse(text) {
        *program = changed;
        adaptation(cx, what);
    }
}

fn parsed(cx: &mut ScrubContext<'_>, code: &str) -> Option<Program> {
    if let Ok(program) = Program::parse(code) {
        return Some(program);
    }
    let program = Program::parse(repair::closed(code)?).ok()?;
    adaptation(cx, "closed a bracket that was left open");
    altered(cx, DoubtKind::Altered, "a bracket was closed by guess");
    Some(program)
}

fn needs_repro(cx: &mut ScrubContext<'_>, issue: Maybe<'_>, why: &str) -> Step<Ready> {
    if issue.is_some_and(|issue| !issue.has_label("needs reproduction")) {
        cx.found.add.push("needs reproduction".to_owned());
    }
    cx.found.next =
        Some("ask for a script that shows the bug and for the expected behaviour".to_owned());
    Step::End(ScrubEnd::NeedsRepro, why.to_owned())
}

/// Installs missing packages if the user agrees.
fn packages(cx: &mut ScrubContext<'_>, program: &Program) -> Result<Step<()>, Failure> {
    let missing = missing(cx, program)?;
    if missing.is_empty() && cx.settings.with.is_empty() {
        return Ok(Step::Next(()));
    }
    let mut wanted = cx.settings.with.clone();
    if wanted.is_empty() {
        let names = missing.join(", ");
        cx.decided(&format!("missing packages: {names}"));
        let flags: Vec<String> = missing
            .iter()
            .map(|package| format!("--with {package}"))
            .collect();
        let flags = flags.join(" ");
        // The user chooses PyTorch with the interpreter; it is not installed in passing.
        let may_install = !missing.iter().any(|package| package == "torch");
        if !may_install
            || !cx.prompt.agrees(
                &format!("install {names} into a folder of this scrub?"),
                &flags,
            )?
        {
            let hint = if may_install {
                format!("install {names}, or let minrepro install them: `{flags}`")
            } else {
                "name an interpreter that has PyTorch: `--python PATH`".to_owned()
            };
            cx.found.next = Some(hint);
            return Ok(Step::End(
                ScrubEnd::MissingPackages,
                format!("missing packages: {names}"),
            ));
        }
        wanted = missing;
    }
    let python = installed(cx, &wanted)?;
    cx.runner.set_python(&python)?;
    cx.decided(&format!(
        "run with {}, installed for this scrub",
        wanted.join(", ")
    ));
    let missing = self::missing(cx, program)?;
    if missing.is_empty() {
        return Ok(Step::Next(()));
    }
    Ok(Step::End(
        ScrubEnd::MissingPackages,
        format!("still missing: {}", missing.join(", ")),
    ))
}

fn missing(cx: &mut ScrubContext<'_>, program: &Program) -> Result<Vec<String>, Failure> {
    let names: Vec<String> = analyze::packages(program).into_iter().collect();
    let question = format!(
        "import importlib.util\nfor name in {}:\n    if importlib.util.find_spec(name) is None:\n        print('missing', name)\n",
        serde_json::to_string(&names).unwrap_or_default()
    );
    let output = cx.ask_python(&question)?;
    Ok(output
        .lines()
        .filter_map(|line| line.strip_prefix("missing "))
        .map(str::to_owned)
        .collect())
}

/// Prints where an interpreter finds its packages and which PyTorch it has.
const WHERE: &str = "import importlib.metadata, site, sys, sysconfig
known = [it for it in sys.path if it.endswith(('site-packages', 'dist-packages'))]
for path in dict.fromkeys([sysconfig.get_path('purelib'), sysconfig.get_path('platlib'), *known]):
    print('path', path)
try:
    print('torch', importlib.metadata.version('torch'))
except importlib.metadata.PackageNotFoundError:
    pass
";

/// An environment of this scrub with packages on top of those of the interpreter.
fn installed(cx: &mut ScrubContext<'_>, packages: &[String]) -> Result<PathBuf, Failure> {
    let folder = cx.file("packages");
    let python = folder.join("bin/python");
    let known = cx.ask_python(WHERE)?;
    // An environment of another interpreter, or an unfinished one, is created anew.
    let mark = folder.join("of-interpreter");
    if !std::fs::read_to_string(&mark).is_ok_and(|text| text == known) {
        create_environment(cx, packages, &folder, &known)?;
    }
    let constraints = folder.join("constraints.txt");
    let (program, constraints) = (python.to_string_lossy(), constraints.to_string_lossy());
    let install = [
        &program,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--constraint",
        &constraints,
    ];
    let call = ToolCall::new(
        install
            .into_iter()
            .map(str::to_owned)
            .chain(packages.iter().cloned()),
    );
    cx.decided(&call.shown());
    install_call(cx, packages, call)?;
    Ok(python)
}

/// Creates an environment that finds the packages of the interpreter, given as [`WHERE`] prints
/// them.
fn create_environment(
    cx: &ScrubContext<'_>,
    packages: &[String],
    folder: &Path,
    known: &str,
) -> Result<(), Failure> {
    let values = |name: &str| -> Vec<&str> {
        known
            .lines()
            .filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
            .collect()
    };
    let own = cx.runner.python().to_string_lossy().into_owned();
    let path = folder.to_string_lossy().into_owned();
    let call = ToolCall::new([own.as_str(), "-m", "venv", "--clear", &path]);
    cx.decided(&call.shown());
    install_call(cx, packages, call)?;
    // `--system-site-packages` would find those of the interpreter from which the user's own
    // environment was created.
    let python = folder.join("bin/python");
    let question = "import sysconfig; print(sysconfig.get_path('purelib'))";
    let ask = ToolCall::new([&python.to_string_lossy(), "-c", question]);
    let site = install_call(cx, packages, ask)?;
    let adds: Vec<String> = values("path")
        .into_iter()
        .map(|path| format!("site.addsitedir({})", serde_json::Value::from(path)))
        .collect();
    // The user chooses PyTorch with the interpreter: no package may bring another.
    let torch = values("torch")
        .first()
        .map_or_else(String::new, |version| format!("torch=={version}\n"));
    for (file, text) in [
        (
            PathBuf::from(site.trim()).join("_of_interpreter.pth"),
            format!("import site; {}\n", adds.join("; ")),
        ),
        (folder.join("constraints.txt"), torch),
        (folder.join("of-interpreter"), known.to_owned()),
    ] {
        crate::report::write_atomically(&file, text.as_bytes()).map_err(|error| {
            let error =
                anyhow::Error::new(error).context(format!("could not write `{}`", file.display()));
            Failure::new(Exit::Environment, error)
        })?;
    }
    Ok(())
}

/// Makes a call of an installation; its standard output, or a failure with the end of its standard
/// error.
fn install_call(
    cx: &ScrubContext<'_>,
    packages: &[String],
    mut call: ToolCall,
) -> Result<String, Failure> {
    call.limit = std::time::Duration::from_mins(15);
    call.is_announced = true;
    let output = cx.tools.call(&call)?;
    if output.is_success() {
        return Ok(output.stdout);
    }
    let error = anyhow::anyhow!("could not install {}", packages.join(", "));
    let mut failure = Failure::new(Exit::Environment, error).hint(
        "check the names, or install them yourself and name that interpreter by `--python PATH`",
    );
    let lines: Vec<&str> = output.stderr.lines().collect();
    failure.details = if output.is_missing {
        vec![format!("`{}` is not installed", call.argv[0])]
    } else {
        let last = lines.len().saturating_sub(10);
        lines[last..]
            .iter()
            .map(|line| (*line).to_owned())
            .collect()
    };
    Err(failure)
}

/// Reviews the script and has it agreed to, until it may run or must not.
fn security(
    cx: &mut ScrubContext<'_>,
    repro: &Repro,
    program: Program,
) -> Result<Step<Program>, Failure> {
    let mut program = program;
    loop {
        let mut findings = review::review(&program);
        // Whoever installed a package, or is asked for it by its name, decides about its code.
        findings.retain(|finding| finding.concern != Concern::Package);
        cx.found.findings.clone_from(&findings);
        let hash = blake3::hash(program.text().as_bytes()).to_hex().to_string();
        if cx.settings.trust || cx.state.agreed.contains(&hash) {
            let agreement = if findings.is_empty() {
                ""
            } else {
                "; you agreed to run the script"
            };
            cx.decided(&format!(
                "security review: {} concerns{agreement}",
                findings.len()
            ));
            return Ok(Step::Next(program));
        }
        if findings.is_empty() {
            cx.decided("security review: no concerns");
            return agreed_to_clean(cx, repro, program, hash);
        }
        for finding in &findings {
            let Finding {
                line,
                concern,
                what,
            } = finding;
            cx.printer.always(format!(
                "     line {line}: {concern}: {what} ({})",
                concern.why()
            ));
        }
        let options = [
            ("p", "proceed"),
            ("s", "skip: do not run the script"),
            ("d", "drop the risky parts"),
        ];
        let question = "the security review has concerns about the script";
        match cx.prompt.choose(question, &options, 1, "--trust")? {
            0 => {
                cx.state.agreed.insert(hash);
                cx.state.keep();
                return Ok(Step::Next(program));
            }
            2 => {
                let Some(rest) = without(&program, &findings) else {
                    cx.decided("the risky parts cannot be dropped");
                    continue;
                };
                program = rest;
                show(cx, program.text());
                adaptation(cx, "the risky parts were dropped");
                altered(cx, DoubtKind::Altered, "the risky parts were dropped");
            }
            _ => {
                cx.found.next =
                    Some("check each concern; run again with `--trust` if none is real".to_owned());
                return Ok(Step::End(
                    ScrubEnd::SecurityConcern,
                    format!("{} concerns", findings.len()),
                ));
            }
        }
    }
}

/// A script without concerns runs if a collaborator wrote it, or if the user agrees.
fn agreed_to_clean(
    cx: &mut ScrubContext<'_>,
    repro: &Repro,
    program: Program,
    hash: String,
) -> Result<Step<Program>, Failure> {
    if is_known(cx, repro)? {
        return Ok(Step::Next(program));
    }
    show(cx, program.text());
    let question = format!(
        "{} is not a collaborator of {}; run this script here, confined?",
        repro.author, cx.settings.repo
    );
    if cx.prompt.agrees(&question, "--trust")? {
        cx.state.agreed.insert(hash);
        cx.state.keep();
        return Ok(Step::Next(program));
    }
    cx.found.next = Some("read the script, then run again with `--trust`".to_owned());
    Ok(Step::End(
        ScrubEnd::SecurityConcern,
        format!("nobody agreed to run the script of {}", repro.author),
    ))
}

/// Whether the author of the script may change the repository anyway.
fn is_known(cx: &ScrubContext<'_>, repro: &Repro) -> Result<bool, Failure> {
    if repro.author.is_empty() {
        // The user's own script.
        return Ok(true);
    }
    let known = match &cx.github {
        Some(github) => github.is_collaborator(&repro.author)?,
        None => None,
    };
    let (known, by) = match known {
        Some(known) => (known, "according to GitHub"),
        None => (
            repro.association.is_trusted(),
            "by the author's association with the repository",
        ),
    };
    cx.decided(&format!(
        "{} is {}a collaborator ({by})",
        repro.author,
        if known { "" } else { "not " }
    ));
    Ok(known)
}

fn show(cx: &ScrubContext<'_>, code: &str) {
    for (at, line) in code.lines().enumerate() {
        cx.printer.always(format!("     {:>4}  {line}", at + 1));
    }
}

/// The program without the statements of the findings; `None` if the rest does not parse.
fn without(program: &Program, findings: &[Finding]) -> Option<Program> {
    let text = program.text();
    let line_of = |at: usize| 1 + text[..at].matches('\n').count() as u32;
    let is_risky = |stmt: &Stmt| {
        let (from, to) = (line_of(stmt.start().into()), line_of(stmt.end().into()));
        findings
            .iter()
            .any(|finding| (from..=to).contains(&finding.line))
    };
    let mut kept = String::new();
    let mut at = 0;
    for stmt in program.body().iter().filter(|stmt| is_risky(stmt)) {
        kept.push_str(&text[at..usize::from(stmt.start())]);
        kept.push_str("pass");
        at = stmt.end().into();
    }
    kept.push_str(&text[at..]);
    Program::parse(kept).ok()
}
