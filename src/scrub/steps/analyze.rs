//! Step 3: what the repro needs, and whether it may be run.

use std::path::PathBuf;

use minrepro_reducers::syntax::{Program, Ranged, ast::Stmt};

use super::{Maybe, ScrubContext, ScrubEnd, Step};
use crate::{
    cli::{Exit, Failure},
    scrub::{
        issue::{analyze, repro::Repro},
        repair,
        review::{self, Finding},
        tool::ToolCall,
    },
};

/// The script to be run.
pub(in crate::scrub) struct Ready {
    pub(in crate::scrub) code: String,
    pub(in crate::scrub) env: Vec<(String, String)>,
}

/// Looks at the repro, asks where there is cause to.
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
            "the code is not Python, and the missing bracket is not easily found",
        ));
    };
    let says_nothing =
        cx.found.reported.is_none() && cx.settings.signature.is_empty() && issue.is_some();
    if says_nothing {
        return Ok(needs_repro(
            cx,
            issue,
            "neither an error nor what is expected is told",
        ));
    }
    let data = analyze::external_data(&program);
    if !data.is_empty() {
        let why = format!("it reads what is not in the issue: {}", data.join(", "));
        return Ok(needs_repro(cx, issue, &why));
    }
    if let Some(called) = analyze::with_tests_called(&program) {
        adapt(
            cx,
            &mut program,
            called,
            "the tests are called, which the script leaves to a test runner",
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
            "torch.distributed: run as one process, by variables for the rendezvous",
        );
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
    adaptation(cx, "a bracket that is never closed was closed");
    Some(program)
}

fn needs_repro(cx: &mut ScrubContext<'_>, issue: Maybe<'_>, why: &str) -> Step<Ready> {
    if issue.is_some_and(|issue| !issue.has_label("needs reproduction")) {
        cx.found.add.push("needs reproduction".to_owned());
    }
    cx.found.next =
        Some("ask for a script that shows it, and for what it should do instead".to_owned());
    Step::End(ScrubEnd::NeedsRepro, why.to_owned())
}

/// Packages that are not here.
fn packages(cx: &mut ScrubContext<'_>, program: &Program) -> Result<Step<()>, Failure> {
    let missing = missing(cx, program)?;
    if missing.is_empty() && cx.settings.with.is_empty() {
        return Ok(Step::Next(()));
    }
    let mut wanted = cx.settings.with.clone();
    if wanted.is_empty() {
        let names = missing.join(", ");
        cx.decided(&format!("not here: {names}"));
        let flags: Vec<String> = missing
            .iter()
            .map(|package| format!("--with {package}"))
            .collect();
        let flags = flags.join(" ");
        // PyTorch itself is chosen by the interpreter, not installed in passing.
        let may_install = !missing.iter().any(|package| package == "torch");
        if !may_install
            || !cx.prompt.agrees(
                &format!("install {names} into a folder of this scrub?"),
                &flags,
            )?
        {
            let hint = if may_install {
                format!("install {names}, or say so by `{flags}`")
            } else {
                "name an interpreter that has PyTorch by `--python PATH`".to_owned()
            };
            cx.found.next = Some(hint);
            return Ok(Step::End(
                ScrubEnd::MissingPackages,
                format!("not here: {names}"),
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
        format!("still not here: {}", missing.join(", ")),
    ))
}

fn missing(cx: &mut ScrubContext<'_>, program: &Program) -> Result<Vec<String>, Failure> {
    let names: Vec<String> = analyze::packages(program).into_iter().collect();
    let question = format!(
        "import importlib.util\nfor name in {}:\n    if importlib.util.find_spec(name) is None:\n        print('missing', name)\n",
        serde_json::to_string(&names).unwrap_or_default()
    );
    let said = cx.ask_python(&question)?;
    Ok(said
        .lines()
        .filter_map(|line| line.strip_prefix("missing "))
        .map(str::to_owned)
        .collect())
}

/// Where an interpreter finds its packages, and which PyTorch it has.
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
    let own = cx.runner.python().to_string_lossy().into_owned();
    let path = folder.to_string_lossy().into_owned();
    let has = cx.ask_python(WHERE)?;
    let told = |name: &str| -> Vec<&str> {
        has.lines()
            .filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
            .collect()
    };
    let well = |cx: &ScrubContext<'_>, mut call: ToolCall| -> Result<String, Failure> {
        call.limit = std::time::Duration::from_mins(15);
        call.is_told = true;
        let said = cx.tools.call(&call)?;
        if said.is_well() {
            return Ok(said.stdout);
        }
        let mut failure =
            Failure::new(Exit::Environment, anyhow::anyhow!("could not install {}", packages.join(", ")))
                .hint(
                    "check the names; or install them yourself, and name that interpreter by `--python PATH`",
                );
        failure.details = said
            .stderr
            .lines()
            .rev()
            .take(10)
            .map(str::to_owned)
            .collect();
        failure.details.reverse();
        if said.is_missing {
            failure.details = vec![format!("`{}` is not there", call.argv[0])];
        }
        Err(failure)
    };
    // What belongs to another interpreter, or was left half done, is made anew.
    let mark = folder.join("of-interpreter");
    if !std::fs::read_to_string(&mark).is_ok_and(|text| text == has) {
        let call = ToolCall::new([own.as_str(), "-m", "venv", "--clear", &path]);
        cx.decided(&call.shown());
        well(cx, call)?;
        // `--system-site-packages` would give those of the interpreter that the user's own
        // environment was made from.
        let question = "import sysconfig; print(sysconfig.get_path('purelib'))";
        let site = well(
            cx,
            ToolCall::new([&python.to_string_lossy(), "-c", question]),
        )?;
        let adds = told("path")
            .into_iter()
            .map(|path| format!("site.addsitedir({})", serde_json::Value::from(path)));
        let adds = format!("import site; {}\n", adds.collect::<Vec<_>>().join("; "));
        // PyTorch is chosen by the interpreter: no package may bring another.
        let torch = told("torch")
            .first()
            .map_or_else(String::new, |version| format!("torch=={version}\n"));
        for (file, text) in [
            (PathBuf::from(site.trim()).join("_of_interpreter.pth"), adds),
            (folder.join("constraints.txt"), torch),
            (mark, has.clone()),
        ] {
            crate::report::write_atomically(&file, text.as_bytes()).map_err(|error| {
                let error = anyhow::Error::new(error)
                    .context(format!("could not write `{}`", file.display()));
                Failure::new(Exit::Environment, error)
            })?;
        }
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
    well(cx, call)?;
    Ok(python)
}

/// The review; the user's word where it finds something, or where a stranger wrote the script.
fn security(
    cx: &mut ScrubContext<'_>,
    repro: &Repro,
    program: Program,
) -> Result<Step<Program>, Failure> {
    let mut program = program;
    loop {
        let findings = review::review(&program);
        cx.found.findings.clone_from(&findings);
        let hash = blake3::hash(program.text().as_bytes()).to_hex().to_string();
        if cx.settings.trust || cx.state.agreed.contains(&hash) {
            let said = if findings.is_empty() {
                ""
            } else {
                "; you said that it may run"
            };
            cx.decided(&format!(
                "security review: {} concerns{said}",
                findings.len()
            ));
            return Ok(Step::Next(program));
        }
        if findings.is_empty() {
            cx.decided("security review: no concerns");
            if is_known(cx, repro)? {
                return Ok(Step::Next(program));
            }
            show(cx, program.text());
            let question = format!(
                "{} is no collaborator of {}; may this script be run here, confined?",
                repro.author, cx.settings.repo
            );
            if cx.prompt.agrees(&question, "--trust")? {
                cx.state.agreed.insert(hash);
                cx.state.keep();
                return Ok(Step::Next(program));
            }
            cx.found.next = Some("read the script, then run again with `--trust`".to_owned());
            return Ok(Step::End(
                ScrubEnd::SecurityConcern,
                format!(
                    "nobody has said that the script of {} may run",
                    repro.author
                ),
            ));
        }
        for finding in &findings {
            let Finding {
                line,
                concern,
                what,
            } = finding;
            cx.printer.always(&format!(
                "     line {line}: {concern}: {what} ({})",
                concern.why()
            ));
        }
        let options = [
            ("p", "proceed"),
            ("s", "skip: it is not run"),
            ("d", "drop the risky parts"),
        ];
        match cx
            .prompt
            .choose("the script gives cause for concern", &options, 1, "--trust")?
        {
            0 => {
                cx.state.agreed.insert(hash);
                cx.state.keep();
                return Ok(Step::Next(program));
            }
            2 => {
                let Some(rest) = without(&program, &findings) else {
                    cx.decided("they can not be dropped");
                    continue;
                };
                program = rest;
                show(cx, program.text());
                adaptation(cx, "the risky parts were dropped");
            }
            _ => {
                cx.found.next = Some(
                    "look at each concern, then run again with `--trust`, or not at all".to_owned(),
                );
                return Ok(Step::End(
                    ScrubEnd::SecurityConcern,
                    format!("{} concerns", findings.len()),
                ));
            }
        }
    }
}

/// Whether the author of the script may change the repository anyway.
fn is_known(cx: &ScrubContext<'_>, repro: &Repro) -> Result<bool, Failure> {
    if repro.author.is_empty() {
        // The user's own.
        return Ok(true);
    }
    let known = match &cx.github {
        Some(github) => github.is_collaborator(&repro.author)?,
        None => None,
    };
    let (known, by) = match known {
        Some(known) => (known, "GitHub says so"),
        None => (
            repro.association.is_trusted(),
            "by what the issue says of the author",
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
        cx.printer.always(&format!("     {:>4}  {line}", at + 1));
    }
}

/// The program without the statements that were found; `None` if it does not parse then.
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
