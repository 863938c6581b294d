//! Finds the versions between which a bug appeared or was fixed, by a search over installed
//! environments with several probes at a time. Versions that cannot run are skipped and reported.
//! The search itself is pure; the user's tools list the environments.

use std::{cmp::Ordering, path::PathBuf, str::FromStr, time::Duration};

use pep440_rs::{Version, VersionSpecifiers};
use serde::Serialize;

use super::{
    script_runner::{ScriptRunner, Trial},
    tool::{ExternalTools, ToolCall},
};
use crate::{
    cli::{Exit, Failure, Printer},
    journal::cache_folder,
    oracle::{Spec, summary},
    runner::Outcome,
};

/// The sources of environments.
#[derive(Clone, Debug, Default)]
pub struct Environments {
    /// Named by the user: a version and its interpreter.
    pub named: Vec<(String, PathBuf)>,
    /// Versions that uv should install, or has installed for an earlier search.
    pub versions: Vec<String>,
    /// Whether uv may install missing versions.
    pub install: bool,
}

/// A version and the interpreter that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionEnvironment {
    /// The version, or another name.
    pub version: String,
    /// The interpreter.
    pub python: PathBuf,
    /// Variables that its activation would set.
    pub env: Vec<(String, String)>,
}

/// The result of running a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VersionProbe {
    /// The bug shows.
    Shows(String),
    /// The script passes.
    Gone(String),
    /// Unknown: the version does not run, or the script fails in another way.
    Broken(String),
}

/// A search over versions in order, oldest first.
#[derive(Debug)]
pub struct VersionSearch {
    probes: Vec<Option<VersionProbe>>,
    /// The number of rounds so far.
    pub rounds: u32,
}

impl VersionSearch {
    /// A search over a number of versions.
    pub fn new(versions: usize) -> Self {
        Self {
            probes: vec![None; versions],
            rounds: 0,
        }
    }

    /// The versions to probe next, at most `most`; none once nothing more can be learned.
    pub fn next(&self, most: usize) -> Vec<usize> {
        let open = |range: std::ops::Range<usize>| {
            range
                .filter(|&at| self.probes[at].is_none())
                .collect::<Vec<_>>()
        };
        let total = self.probes.len();
        let known: Vec<usize> = (0..total).filter(|&at| self.shows(at).is_some()).collect();
        let (Some(&first), Some(&last)) = (known.first(), known.last()) else {
            return spread(&open(0..total), most, true);
        };
        // If the version at an end cannot run, the next one stands for it.
        let mut wanted: Vec<usize> = open(0..first)
            .first()
            .copied()
            .into_iter()
            .chain(open(last + 1..total).last().copied())
            .collect();
        // Only the last change matters for the newest version.
        let change = known
            .windows(2)
            .rev()
            .find(|pair| self.shows(pair[0]) != self.shows(pair[1]));
        if let Some(pair) = change {
            let within = open(pair[0] + 1..pair[1]);
            wanted.extend(spread(&within, most.saturating_sub(wanted.len()), false));
        }
        wanted.truncate(most);
        wanted
    }

    fn shows(&self, at: usize) -> Option<bool> {
        match self.probes[at] {
            Some(VersionProbe::Shows(_)) => Some(true),
            Some(VersionProbe::Gone(_)) => Some(false),
            _ => None,
        }
    }

    /// Records a round of probes.
    pub fn learn(&mut self, found: Vec<(usize, VersionProbe)>) {
        self.rounds += 1;
        for (at, probe) in found {
            self.probes[at] = Some(probe);
        }
    }

    /// The last change: the version before and the version after.
    fn change(&self) -> Option<(usize, usize)> {
        let known: Vec<usize> = (0..self.probes.len())
            .filter(|&at| self.shows(at).is_some())
            .collect();
        known
            .windows(2)
            .rev()
            .find(|pair| self.shows(pair[0]) != self.shows(pair[1]))
            .map(|pair| (pair[0], pair[1]))
    }
}

/// Picks evenly spread places, with both ends or strictly between them.
fn spread(places: &[usize], most: usize, with_ends: bool) -> Vec<usize> {
    if places.len() <= most {
        return places.to_vec();
    }
    let count = places.len();
    let mut chosen: Vec<usize> = match (with_ends, most) {
        (_, 0) => Vec::new(),
        (true, 1) => vec![count - 1],
        (true, most) => (0..most).map(|at| at * (count - 1) / (most - 1)).collect(),
        (false, most) => (1..=most).map(|at| at * count / (most + 1)).collect(),
    };
    chosen.dedup();
    chosen.into_iter().map(|at| places[at]).collect()
}

/// The result of a search.
#[derive(Clone, Debug, Serialize)]
pub struct BisectAnswer {
    /// Each version with the result of its probe; none if it needed no probe.
    pub versions: Vec<(String, Option<VersionProbe>)>,
    /// The last version before the change, and the first after it.
    pub change: Option<(String, String)>,
    /// Whether the bug was fixed there; otherwise it appeared.
    pub is_fixed: bool,
    /// The number of rounds.
    pub rounds: u32,
}

impl BisectAnswer {
    /// A summary in one sentence.
    pub fn describe(&self) -> String {
        let skipped: Vec<&str> = self
            .versions
            .iter()
            .filter(|(_, probe)| matches!(probe, Some(VersionProbe::Broken(_))))
            .map(|(version, _)| version.as_str())
            .collect();
        let skipped = if skipped.is_empty() {
            String::new()
        } else {
            format!(" (skipped: {})", skipped.join(", "))
        };
        match &self.change {
            Some((before, after)) if self.is_fixed => {
                format!("fixed between {before} and {after}{skipped}")
            }
            Some((before, after)) => format!("broken between {before} and {after}{skipped}"),
            None if self
                .versions
                .iter()
                .any(|(_, probe)| matches!(probe, Some(VersionProbe::Shows(_)))) =>
            {
                format!("every version that was tried shows the bug{skipped}")
            }
            None if self
                .versions
                .iter()
                .any(|(_, probe)| matches!(probe, Some(VersionProbe::Gone(_)))) =>
            {
                format!("no version that was tried shows the bug{skipped}")
            }
            None => format!("no version gave an answer{skipped}"),
        }
    }
}

/// The parameters of a search.
pub struct BisectQuestion<'a> {
    /// The script.
    pub code: &'a str,
    /// Its environment variables.
    pub env: &'a [(String, String)],
    /// The signature of the bug.
    pub specs: &'a [Spec],
    /// Probes at a time.
    pub at_once: usize,
    /// The time limit of each probe.
    pub timeout: Duration,
}

/// Searches the environments.
pub fn search(
    question: &BisectQuestion<'_>,
    environments: &[VersionEnvironment],
    runner: &dyn ScriptRunner,
    printer: Printer,
) -> Result<BisectAnswer, Failure> {
    let mut search = VersionSearch::new(environments.len());
    loop {
        let next = search.next(question.at_once);
        if next.is_empty() {
            break;
        }
        let names: Vec<&str> = next
            .iter()
            .map(|&at| environments[at].version.as_str())
            .collect();
        printer.note(&format!(
            "     round {}: {}",
            search.rounds + 1,
            names.join(", ")
        ));
        let trials: Vec<Trial> = next
            .iter()
            .map(|&at| Trial {
                python: Some(environments[at].python.clone()),
                code: question.code.to_owned(),
                env: question
                    .env
                    .iter()
                    .chain(&environments[at].env)
                    .cloned()
                    .collect(),
                times: 1,
                timeout: question.timeout,
            })
            .collect();
        let mut found = Vec::new();
        for (at, outcomes) in next.into_iter().zip(runner.run(&trials)) {
            let probe = match outcomes {
                Ok(outcomes) => judge(&outcomes, question.specs),
                Err(failure) if matches!(failure.exit, Exit::Interrupted(_)) => {
                    return Err(failure);
                }
                Err(failure) => VersionProbe::Broken(failure.error.to_string()),
            };
            let (mark, seen) = match &probe {
                VersionProbe::Shows(seen) => ("shows the bug", seen),
                VersionProbe::Gone(seen) => ("passes", seen),
                VersionProbe::Broken(seen) => ("gives no answer", seen),
            };
            printer.note(&format!(
                "       {:<16} {mark}: {seen}",
                environments[at].version
            ));
            found.push((at, probe));
        }
        search.learn(found);
    }
    let change = search.change();
    if let Some((before, after)) = change
        && search.probes[before..after]
            .iter()
            .any(|probe| matches!(probe, Some(VersionProbe::Broken(_))))
    {
        printer.note("     a version without an answer may show the bug in other words; a `--signature` that matches both narrows the range");
    }
    let version = |at: usize| environments[at].version.clone();
    Ok(BisectAnswer {
        is_fixed: change.is_some_and(|(before, _)| search.shows(before) == Some(true)),
        change: change.map(|(before, after)| (version(before), version(after))),
        versions: environments
            .iter()
            .map(|environment| environment.version.clone())
            .zip(search.probes)
            .collect(),
        rounds: search.rounds,
    })
}

/// Judges the runs of a version. A script that fails in another way leaves open whether the bug is
/// there.
fn judge(outcomes: &[Outcome], specs: &[Spec]) -> VersionProbe {
    let seen = outcomes.first().map(summary).unwrap_or_default();
    if specs
        .iter()
        .all(|spec| spec.resolve(outcomes).1 == outcomes.len())
        && !outcomes.is_empty()
    {
        return VersionProbe::Shows(seen);
    }
    let passes = outcomes
        .iter()
        .all(|outcome| outcome.exception.is_none() && outcome.end == crate::runner::End::Exit(0));
    if passes {
        VersionProbe::Gone(seen)
    } else {
        VersionProbe::Broken(seen)
    }
}

/// All environments, oldest version first. Reports those that do not exist.
pub fn environments(
    from: &Environments,
    tools: &ExternalTools,
    printer: Printer,
) -> Result<Vec<VersionEnvironment>, Failure> {
    let plain = |version: &str, python: PathBuf| VersionEnvironment {
        version: version.to_owned(),
        python,
        env: Vec::new(),
    };
    let mut found: Vec<VersionEnvironment> = from
        .named
        .iter()
        .map(|(version, python)| plain(version, python.clone()))
        .collect();
    if from.named.is_empty() && from.versions.is_empty() {
        match of_conda(tools)? {
            Ok(environments) => found.extend(environments),
            Err(why) => printer.warning(&format!("conda does not list its environments: {why}")),
        }
    }
    for version in &from.versions {
        match of_uv(version, from.install, tools, printer)? {
            Ok(python) => found.push(plain(version, python)),
            Err(why) => printer.warning(&format!("{version} is left out: {why}")),
        }
    }
    found.sort_by(|a, b| compare(&a.version, &b.version));
    found.dedup_by(|a, b| a.version == b.version);
    Ok(found)
}

/// The environments of conda; none if conda is not installed.
fn of_conda(tools: &ExternalTools) -> Result<Result<Vec<VersionEnvironment>, String>, Failure> {
    // If `conda` is a shell function, only the variable names the program.
    let named = std::env::var("CONDA_EXE")
        .ok()
        .filter(|path| !path.is_empty());
    let mut why = None;
    for program in named.iter().map(String::as_str).chain(["conda"]) {
        // Some releases print no JSON for the first command.
        for words in [["env", "list", "--json"], ["info", "--envs", "--json"]] {
            let output = tools.call(&ToolCall::new(std::iter::once(program).chain(words)))?;
            if output.is_missing {
                break;
            }
            if let Some(found) = parse_conda(&output.stdout).filter(|_| output.is_success()) {
                return Ok(Ok(found));
            }
            let line = output
                .stderr
                .lines()
                .map(str::trim)
                .find(|line| !line.is_empty());
            why.get_or_insert_with(|| line.unwrap_or("it prints no JSON").to_owned());
        }
    }
    Ok(why.map_or_else(|| Ok(Vec::new()), Err))
}

/// The environments named `pytorch-VERSION`, with the variables of their activation; none if the
/// text is not conda's JSON.
fn parse_conda(text: &str) -> Option<Vec<VersionEnvironment>> {
    #[derive(serde::Deserialize)]
    struct CondaList {
        envs: Vec<PathBuf>,
    }
    let list: CondaList = serde_json::from_str(text).ok()?;
    let environments = list.envs.into_iter().filter_map(|path| {
        let name = path.file_name()?.to_str()?.to_owned();
        let version = name.strip_prefix("pytorch-")?.to_owned();
        let search = std::env::var("PATH").unwrap_or_default();
        let env = vec![
            (
                "CONDA_PREFIX".to_owned(),
                path.to_string_lossy().into_owned(),
            ),
            ("CONDA_DEFAULT_ENV".to_owned(), name.clone()),
            (
                "PATH".to_owned(),
                format!("{}:{search}", path.join("bin").display()),
            ),
        ];
        Some(VersionEnvironment {
            version,
            python: path.join("bin/python"),
            env,
        })
    });
    Some(environments.collect())
}

/// An environment with this version of PyTorch, created by uv if that is allowed.
fn of_uv(
    version: &str,
    install: bool,
    tools: &ExternalTools,
    printer: Printer,
) -> Result<Result<PathBuf, String>, Failure> {
    let Some(cache) = cache_folder() else {
        return Ok(Err("the home folder is unknown".to_owned()));
    };
    if version.is_empty() || version.contains(['/', ' ']) {
        return Ok(Err("it is not a version".to_owned()));
    }
    let folder = cache.join("envs").join(format!("torch-{version}"));
    let python = folder.join("bin/python");
    if folder.join(".complete").exists() && python.exists() {
        return Ok(Ok(python));
    }
    if !install {
        return Ok(Err(
            "it is not installed; `--install` lets uv do so".to_owned()
        ));
    }
    let path = folder.to_string_lossy().into_owned();
    let calls = [
        ToolCall::new([
            "uv",
            "venv",
            "--quiet",
            "--clear",
            "--python",
            python_for(version),
            &path,
        ]),
        ToolCall::new([
            "uv",
            "pip",
            "install",
            "--quiet",
            "--python",
            &python.to_string_lossy(),
            &format!("torch=={version}"),
            numpy_for(version),
        ]),
    ];
    for mut call in calls {
        call.limit = Duration::from_mins(20);
        call.is_announced = true;
        printer.note(&format!("     {}", call.shown()));
        let output = tools.call(&call)?;
        if output.is_missing {
            return Ok(Err(
                "`uv` is not installed; see https://docs.astral.sh/uv".to_owned()
            ));
        }
        if !output.is_success() {
            return Ok(Err(why_uv_failed(&output.stderr)));
        }
    }
    match std::fs::File::create(folder.join(".complete")) {
        Ok(_) => Ok(Ok(python)),
        Err(error) => Ok(Err(error.to_string())),
    }
}

/// The error of uv and the last of its causes.
fn why_uv_failed(stderr: &str) -> String {
    let lines: Vec<&str> = stderr
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect();
    let at = lines
        .iter()
        .position(|line| line.starts_with("error:"))
        .unwrap_or(0);
    let Some((first, rest)) = lines.get(at..).and_then(<[&str]>::split_first) else {
        return "uv failed without a message".to_owned();
    };
    let first = first.trim_start_matches("error:").trim();
    let cause = rest
        .iter()
        .rfind(|line| line.starts_with("cause:") || line.starts_with("Caused by:"));
    match cause.and_then(|cause| cause.split_once(": ")) {
        Some((_, cause)) => format!("{first}: {cause}"),
        None => first.to_owned(),
    }
}

/// The Pythons that have wheels of a version of PyTorch and on which its compiler works. Any of
/// them that is installed will do.
fn python_for(version: &str) -> &'static str {
    const PYTHONS: &[(&str, &str)] = &[
        ("<2.1", ">=3.8,<3.11"),
        ("<2.4", ">=3.8,<3.12"),
        ("<2.5", ">=3.8,<3.13"),
        ("<2.6", ">=3.9,<3.13"),
        ("<2.9", ">=3.9,<3.14"),
    ];
    PYTHONS
        .iter()
        .find(|(range, _)| is_within(version, range))
        .map_or(">=3.10,<3.14", |(_, pythons)| *pythons)
}

/// The numpy that a version of PyTorch was built for.
fn numpy_for(version: &str) -> &'static str {
    if is_within(version, "<2.3") {
        "numpy<2"
    } else {
        "numpy"
    }
}

fn is_within(version: &str, range: &str) -> bool {
    let range = VersionSpecifiers::from_str(range);
    let version = Version::from_str(version);
    version.is_ok_and(|version| range.is_ok_and(|range| range.contains(&version)))
}

/// The order of versions. Names that are not versions come first.
pub fn compare(a: &str, b: &str) -> Ordering {
    let parsed = |text: &str| Version::from_str(text).ok();
    parsed(a).cmp(&parsed(b)).then(a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Searches where versions from `fixed` on are well and those of `broken` cannot run; returns
    /// the answer and the rounds.
    fn run(
        count: usize,
        fixed: usize,
        broken: &[usize],
        at_once: usize,
    ) -> (Option<(usize, usize)>, u32) {
        let mut search = VersionSearch::new(count);
        loop {
            let next = search.next(at_once);
            if next.is_empty() {
                return (search.change(), search.rounds);
            }
            assert!(next.len() <= at_once);
            let probe = |at: usize| match at {
                at if broken.contains(&at) => VersionProbe::Broken(String::new()),
                at if at < fixed => VersionProbe::Shows(String::new()),
                _ => VersionProbe::Gone(String::new()),
            };
            search.learn(next.into_iter().map(|at| (at, probe(at))).collect());
        }
    }

    #[test]
    fn nine_versions_take_three_rounds_at_most() {
        for fixed in 1..9 {
            let (change, rounds) = run(9, fixed, &[], 3);
            assert_eq!(change, Some((fixed - 1, fixed)));
            assert!(rounds <= 3, "{fixed}: {rounds}");
        }
    }

    #[test]
    fn a_version_that_cannot_run_does_not_mislead() {
        for fixed in 1..9 {
            for broken in 0..9 {
                let (change, rounds) = run(9, fixed, &[broken], 3);
                let before = (0..fixed).rev().find(|at| *at != broken);
                let after = (fixed..9).find(|at| *at != broken);
                assert_eq!(change, before.zip(after), "{fixed} {broken}");
                assert!(rounds <= 4, "{fixed} {broken}: {rounds}");
            }
        }
        assert_eq!(run(3, 1, &[0, 1, 2], 3).0, None);
        assert_eq!(run(5, 0, &[], 3).0, None);
        assert_eq!(run(5, 5, &[], 2).0, None);
        assert_eq!(run(0, 0, &[], 3), (None, 0));
    }

    #[test]
    fn versions_are_in_the_order_of_time() {
        let mut versions = [
            "2.10.0",
            "2.9.1",
            "2.0.0",
            "2.10.0.dev20250101",
            "1.13.1",
            "2.9.0+cpu",
            "nightly",
            "2.10.0rc1",
        ];
        versions.sort_by(|a, b| compare(a, b));
        assert_eq!(
            versions,
            [
                "nightly",
                "1.13.1",
                "2.0.0",
                "2.9.0+cpu",
                "2.9.1",
                "2.10.0.dev20250101",
                "2.10.0rc1",
                "2.10.0"
            ]
        );
    }

    #[test]
    fn an_error_of_uv_is_put_into_one_line() {
        for (stderr, expected) in [
            (
                "error: Request failed after 3 retries in 12.3s\n  cause: Failed to download `https://x`\n  cause: dns error\n",
                "Request failed after 3 retries in 12.3s: dns error",
            ),
            (
                "warning: Failed to inspect `/x`\n  cause: no such thing\n\nerror: No interpreter found for Python 3.12\n",
                "No interpreter found for Python 3.12",
            ),
            (
                "error: Failed to fetch\n  Caused by: operation timed out\n",
                "Failed to fetch: operation timed out",
            ),
            ("Killed\n", "Killed"),
            ("", "uv failed without a message"),
        ] {
            assert_eq!(why_uv_failed(stderr), expected);
        }
    }

    #[test]
    fn pythons_are_those_on_which_a_version_compiles() {
        for (version, range) in [
            ("1.13.1", ">=3.8,<3.11"),
            ("2.0.1", ">=3.8,<3.11"),
            ("2.3.0", ">=3.8,<3.12"),
            ("2.6.0+cpu", ">=3.9,<3.14"),
            ("2.9.1", ">=3.10,<3.14"),
            ("2.9.0.dev20250801", ">=3.10,<3.14"),
            ("2.10.0", ">=3.10,<3.14"),
        ] {
            assert_eq!(python_for(version), range);
        }
    }

    #[test]
    fn environments_of_conda_are_found_by_their_names() {
        let found =
            parse_conda(r#"{"envs": ["/c", "/c/envs/pytorch-2.1.0", "/c/envs/other"]}"#).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].version.as_str(), found[0].python.to_str()),
            ("2.1.0", Some("/c/envs/pytorch-2.1.0/bin/python"))
        );
        assert!(parse_conda("# conda environments:\n").is_none());
    }
}
