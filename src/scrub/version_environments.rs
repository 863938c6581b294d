//! The interpreters that have a version of PyTorch: those the user names, those of conda, and those
//! that uv installs. The user's tools list them.

use std::{
    cmp::Ordering,
    collections::BTreeMap,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use pep440_rs::{Version, VersionSpecifiers};

use super::tool::{ExternalTools, ToolCall};
use crate::{
    cli::{Failure, Printer},
    journal::cache_folder,
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
    if version.is_empty() || version.contains(['/', ' ']) {
        return Ok(Err("it is not a version".to_owned()));
    }
    let environment = UvEnvironment {
        name: format!("torch-{version}"),
        python: python_for(version).to_owned(),
        packages: vec![format!("torch=={version}"), numpy_for(version).to_owned()],
    };
    environment.made(install, tools, printer)
}

/// An environment with these versions of packages, created by uv if that is allowed. `CPython` is
/// the interpreter itself; without it, any of the range `python` will do. An interpreter of this
/// machine is the base if one is given.
pub fn of_packages(
    python: &str,
    base: Option<&Path>,
    versions: &BTreeMap<String, String>,
    install: bool,
    tools: &ExternalTools,
    printer: Printer,
) -> Result<Result<PathBuf, String>, Failure> {
    let is_plain = |text: &String| !text.is_empty() && !text.contains(['/', ' ']);
    if !versions
        .iter()
        .all(|(name, version)| is_plain(name) && is_plain(version))
    {
        return Ok(Err("it names something that is no version".to_owned()));
    }
    let torch = versions.get("torch");
    let named = versions
        .iter()
        .map(|(name, version)| format!("{name}-{version}"));
    let base = base.map(|base| base.to_string_lossy().into_owned());
    let interpreter = base.or_else(|| versions.get(CPYTHON).cloned());
    let installed = versions.iter().filter(|(name, _)| *name != CPYTHON);
    let mut packages: Vec<String> = installed
        .map(|(name, version)| format!("{name}=={version}"))
        .collect();
    if let Some(torch) = torch.filter(|_| !versions.contains_key("numpy")) {
        packages.push(numpy_for(torch).to_owned());
    }
    let environment = UvEnvironment {
        name: named.collect::<Vec<_>>().join("_"),
        python: interpreter.unwrap_or_else(|| any_patch(python)),
        packages,
    };
    environment.made(install, tools, printer)
}

/// A range in which `==3.8` means any Python 3.8; uv takes it for 3.8.0.
fn any_patch(range: &str) -> String {
    let bounds = range.split(',').map(|bound| {
        let is_minor = bound.trim().starts_with("==") && bound.matches('.').count() == 1;
        format!("{}{}", bound.trim(), if is_minor { ".*" } else { "" })
    });
    bounds.collect::<Vec<_>>().join(",")
}

/// The name of the interpreter among versions of packages.
pub const CPYTHON: &str = "CPython";

/// An environment that uv makes in the user's cache.
struct UvEnvironment {
    /// The name of its folder.
    name: String,
    /// The interpreter, as uv takes it.
    python: String,
    /// The packages, as uv takes them.
    packages: Vec<String>,
}

impl UvEnvironment {
    /// Its interpreter; it is made first if that is allowed and was not done before.
    fn made(
        &self,
        install: bool,
        tools: &ExternalTools,
        printer: Printer,
    ) -> Result<Result<PathBuf, String>, Failure> {
        let Some(cache) = cache_folder() else {
            return Ok(Err("the home folder is unknown".to_owned()));
        };
        let folder = cache.join("envs").join(&self.name);
        let python = folder.join("bin/python");
        if folder.join(".complete").exists() && python.exists() {
            return Ok(Ok(python));
        }
        if !install {
            return Ok(Err(
                "it is not installed; `--install` lets uv do so".to_owned()
            ));
        }
        for mut call in self.calls(&folder.to_string_lossy(), &python.to_string_lossy()) {
            call.limit = Duration::from_mins(20);
            call.is_announced = true;
            printer.note(format!("     {}", call.shown()));
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

    fn calls(&self, folder: &str, python: &str) -> Vec<ToolCall> {
        let venv = [
            "uv",
            "venv",
            "--quiet",
            "--clear",
            "--python",
            &self.python,
            folder,
        ];
        let install = ["uv", "pip", "install", "--quiet", "--python", python];
        let packages = self.packages.iter().map(String::as_str);
        let mut calls = vec![ToolCall::new(venv)];
        if !self.packages.is_empty() {
            calls.push(ToolCall::new(install.into_iter().chain(packages)));
        }
        calls
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
    fn a_minor_version_of_python_is_any_of_its_patches() {
        for (range, of_uv) in [
            ("==3.8", "==3.8.*"),
            (">=3.9, <3.13", ">=3.9,<3.13"),
            ("==3.13.0", "==3.13.0"),
        ] {
            assert_eq!(any_patch(range), of_uv);
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
