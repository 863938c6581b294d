//! The server: its tools, their progress and their cancellation.

use std::{
    io::{self, Write},
    path::Path,
    sync::{Mutex, PoisonError},
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt,
    handler::server::wrapper::Parameters,
    model::{CallToolResult, ContentBlock, ProgressNotificationParam},
    service::RequestContext,
    tool, tool_handler, tool_router,
    transport::stdio,
};
use serde_json::Value;
use tempfile::TempDir;

use super::{
    answers::{Heard, ProgressStep},
    program::{OwnRun, OwnRunEnd},
    requests::{
        CheckRequest, MinimizeRequest, ReportName, ReportRequest, ReviewRequest, ScrubRequest,
        options,
    },
};
use crate::report::{Report, ReportForm};

/// Serves until the client leaves.
///
/// # Errors
///
/// Standard input or output broke, or the client does not speak the protocol.
pub fn serve() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let service = Server::default().serve(stdio()).await?;
        service.waiting().await?;
        anyhow::Ok(())
    })?;
    // A read of standard input that is under way would keep the process.
    runtime.shutdown_background();
    Ok(())
}

/// The server, with the report of the last reduction.
#[derive(Default)]
struct Server {
    last: Mutex<Option<Box<Report>>>,
}

type Answered = Result<CallToolResult, ErrorData>;

#[tool_router]
impl Server {
    /// Run a Python script several times and find the signature of its bug and how often the bug
    /// shows. With `candidate`, judge instead whether another program shows the same bug. Use it
    /// first: a script that does not show its bug here cannot be minimized here.
    #[tool(annotations(read_only_hint = true))]
    async fn check(
        &self,
        Parameters(request): Parameters<CheckRequest>,
        context: RequestContext<RoleServer>,
    ) -> Answered {
        let folder = folder()?;
        let mut words = vec!["check".to_owned()];
        words.extend(request.running.options());
        if let Some(candidate) = &request.candidate {
            let path = file(candidate, &folder, "candidate.py")?;
            words.push(format!("--candidate={path}"));
        } else if let Some(runs) = request.runs {
            words.push(format!("--runs={runs}"));
        }
        let script = file(&request.running.script, &folder, "script.py")?;
        let (heard, ended) = run(with_script(words, script), &context).await?;
        Ok(answer(heard.of_check(&ended), &ended))
    }

    /// Reduce a Python script to the smallest script that still shows the same bug. The script is
    /// never changed. This takes seconds to minutes; progress is reported. If you cancel it, it
    /// stops everything it started. A status other than `reduced` means that something could not
    /// be verified: say so wherever you show the result.
    #[tool]
    async fn minimize(
        &self,
        Parameters(request): Parameters<MinimizeRequest>,
        context: RequestContext<RoleServer>,
    ) -> Answered {
        let folder = folder()?;
        let mut words = request.running.options();
        let result = folder.path().join("result.py").display().to_string();
        let output = Some(request.output.unwrap_or(result));
        let max_time = Some(request.max_time.unwrap_or_else(|| "10m".to_owned()));
        words.extend(options(&[("--output", &output), ("--max-time", &max_time)]));
        words.extend(request.keep.iter().map(|kept| format!("--keep={kept}")));
        let script = file(&request.running.script, &folder, "script.py")?;
        let (mut heard, ended) = run(with_script(words, script), &context).await?;
        let answered = answer(heard.of_minimize(&ended), &ended);
        if let Some(report) = heard.report.take() {
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
        }
        Ok(answered)
    }

    /// List what a script does that a stranger's script should not do, such as reading secrets or
    /// hiding code. Nothing is run. Use it before you run a script from an issue; an empty list
    /// does not mean that the script is safe.
    #[tool(annotations(read_only_hint = true))]
    async fn review(
        &self,
        Parameters(request): Parameters<ReviewRequest>,
        context: RequestContext<RoleServer>,
    ) -> Answered {
        let folder = folder()?;
        let script = file(&request.script, &folder, "script.py")?;
        let words = ["review", "--json", "--", &script].map(str::to_owned);
        whole(&words, &context).await
    }

    /// Do the whole scrub of a GitHub issue without writing anything to it: fetch it, find its
    /// repro, review it, run it confined, minimize it, and plan the comment. The answer holds the
    /// report and every write that a person could now agree to.
    #[tool(annotations(read_only_hint = true))]
    async fn scrub_dry_run(
        &self,
        Parameters(request): Parameters<ScrubRequest>,
        context: RequestContext<RoleServer>,
    ) -> Answered {
        let folder = folder()?;
        let own = folder.path().join("scrub").display().to_string();
        let dir = request.dir.clone().unwrap_or(own);
        let mut words = request.command();
        words.insert(1, format!("--dir={dir}"));
        whole(&words, &context).await
    }

    /// The report of the last reduction of this session: as Markdown for an issue, as JSON with
    /// everything, or as an HTML page.
    #[tool(annotations(read_only_hint = true))]
    async fn report(&self, Parameters(request): Parameters<ReportRequest>) -> Answered {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(report) = last.as_deref() else {
            let text = "there is no report yet: call `minimize` first";
            return Ok(CallToolResult::error(vec![ContentBlock::text(text)]));
        };
        let text = report.render(match request.form {
            ReportName::Markdown => ReportForm::Markdown,
            ReportName::Json => ReportForm::Json,
            ReportName::Html => ReportForm::Html,
        });
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
    }
}

#[tool_handler(
    name = "minrepro",
    instructions = "Reduces Python scripts that show a bug, and judges repros. Call `check` first, then \
                    `minimize`. A status other than `reduced` means that something could not be verified. \
                    `minrepro skill` prints a guide."
)]
impl ServerHandler for Server {}

/// A command line that prints events of a script.
fn with_script(mut words: Vec<String>, script: String) -> Vec<String> {
    words.push("--format=jsonl".to_owned());
    // A path is never taken for a verb or an option.
    words.push(script);
    words
}

/// Runs a verb that prints events; passes on its progress.
async fn run(
    words: Vec<String>,
    context: &RequestContext<RoleServer>,
) -> Result<(Heard, OwnRunEnd), ErrorData> {
    let mut heard = Heard::default();
    let mut before = None;
    let mut program = OwnRun::start(&words).map_err(|error| broken(&error))?;
    while let Some(line) = next(&mut program, context).await? {
        if let Some(ProgressStep { runs, words }) = heard.hear(&line)
            && let Some(token) = context.meta.get_progress_token()
            // Progress has to increase.
            && before.is_none_or(|before| before < runs)
        {
            before = Some(runs);
            let progress = ProgressNotificationParam::new(token, runs as f64).with_message(words);
            // A client that has left is noticed elsewhere.
            let _ = context.peer.notify_progress(progress).await;
        }
    }
    let ended = program.end().await.map_err(|error| broken(&error))?;
    Ok((heard, ended))
}

/// Runs a verb that prints one JSON value.
async fn whole(words: &[String], context: &RequestContext<RoleServer>) -> Answered {
    let mut text = String::new();
    let mut program = OwnRun::start(words).map_err(|error| broken(&error))?;
    while let Some(line) = next(&mut program, context).await? {
        text.push_str(&line);
        text.push('\n');
    }
    let ended = program.end().await.map_err(|error| broken(&error))?;
    let value = match serde_json::from_str::<Value>(&text) {
        Ok(mut value) => {
            value["exit_code"] = ended.code.into();
            value
        }
        Err(_) => serde_json::json!({
            "exit_code": ended.code,
            "error": {"message": ended.said},
        }),
    };
    Ok(answer(value, &ended))
}

/// The next line that a run prints; a cancelled call interrupts it.
async fn next(
    program: &mut OwnRun,
    context: &RequestContext<RoleServer>,
) -> Result<Option<String>, ErrorData> {
    let line = program.line(context.ct.cancelled()).await;
    line.map_err(|error| broken(&error))
}

/// An answer, which is an error if there is no result in it.
fn answer(value: Value, ended: &OwnRunEnd) -> CallToolResult {
    // Status 6 of `review` and 7 of a reduction come with findings and results.
    let has_result =
        ended.code == Some(0) || value.get("error").is_none() || value["text"].is_string();
    if has_result {
        CallToolResult::structured(value)
    } else {
        CallToolResult::structured_error(value)
    }
}

/// The path of a script, which is written to a file if it was given as a text.
fn file(script: &str, folder: &TempDir, name: &str) -> Result<String, ErrorData> {
    if !script.contains('\n') {
        let path = std::path::absolute(Path::new(script)).map_err(|error| broken(&error))?;
        return Ok(path.display().to_string());
    }
    let path = folder.path().join(name);
    std::fs::File::create(&path)
        .and_then(|mut file| file.write_all(script.as_bytes()))
        .map_err(|error| broken(&error))?;
    Ok(path.display().to_string())
}

fn folder() -> Result<TempDir, ErrorData> {
    let made = tempfile::Builder::new().prefix("minrepro-mcp-").tempdir();
    made.map_err(|error| broken(&error))
}

fn broken(error: &io::Error) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}
