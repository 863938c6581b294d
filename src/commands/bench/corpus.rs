//! The cases of a corpus, their `case.toml`, and the interpreters of this machine that fit them.
//! Called by `bench` and `bench --historical`; runs interpreters only to ask for their versions.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, anyhow};
use minrepro_reducers::{syntax::Program, torch::environment::CompilerRank};
use serde::{Deserialize, Deserializer, de::Error as _};

use crate::{
    cli::{Exit, Failure},
    journal::cache_folder,
    runner::{Interpreter, installed_interpreters},
    scrub::version_environments::CPYTHON,
    target::Target,
};

/// The content of `case.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expected {
    pub(super) description: String,
    pub(super) signature: String,
    /// The value of `--min-rate` for a bug that does not show in every run.
    pub(super) min_rate: Option<f64>,
    python: String,
    /// The input instead of `repro.py`, as typed in the folder `project`.
    given: Option<String>,
    /// The arguments after `--`.
    #[serde(default)]
    pub(super) arguments: Vec<String>,
    /// Packages that the script imports, each with the version that shows the bug.
    #[serde(default)]
    packages: BTreeMap<String, String>,
    pub(super) timeout: f64,
    #[serde(default)]
    pub(super) keep: Vec<String>,
    #[serde(default)]
    pub(super) gone: Vec<String>,
    pub(super) max_tokens: u32,
    pub(super) max_runs: u64,
    /// The lowest rank of the compiler at which `ideal.py` shows the bug.
    #[serde(default, deserialize_with = "by_backend")]
    pub(super) rung: Option<CompilerRank>,
    /// Programs that are known to be judged wrongly: names of files, each with the forms of the
    /// signature.
    #[serde(default)]
    pub(super) holes: BTreeMap<String, BTreeSet<Brevity>>,
}

/// Reads a rank of the compiler from the name of its backend.
fn by_backend<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<CompilerRank>, D::Error> {
    let name = String::deserialize(deserializer)?;
    let rank = CompilerRank::ALL
        .into_iter()
        .find(|rank| rank.backend() == name);
    rank.map(Some).ok_or_else(|| {
        let known = CompilerRank::ALL.map(CompilerRank::backend).join(", ");
        D::Error::custom(format!("unknown backend `{name}`, expected one of {known}"))
    })
}

/// How much of a signature the judge is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Brevity {
    /// That of the case.
    Given,
    /// None, so that it is derived.
    Derived,
    /// The first half of the words of the case's.
    Short,
}

impl Brevity {
    /// All forms.
    pub(super) const ALL: [Self; 3] = [Self::Given, Self::Derived, Self::Short];

    /// Its name in `case.toml`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::Derived => "derived",
            Self::Short => "short",
        }
    }

    /// The part of this signature that the judge gets.
    pub(super) fn of(self, signature: &str) -> Option<String> {
        match self {
            Self::Given => Some(signature.to_owned()),
            Self::Derived => None,
            Self::Short => Some(cut_short(signature)),
        }
    }
}

/// A signature with the first half of its words; its class or its kind stays.
fn cut_short(signature: &str) -> String {
    let is_kind = |lead: &str| !lead.is_empty() && !lead.contains(char::is_whitespace);
    let (lead, text) = match signature.split_once(':') {
        Some((lead, text)) if is_kind(lead) => (lead, text.trim_start()),
        _ => ("", signature),
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let kept = words[..words.len() / 2].join(" ");
    match (lead, kept.as_str()) {
        // Without text these are no signatures.
        ("" | "stdout" | "stderr" | "exit" | "signal", "") => signature.to_owned(),
        ("", kept) => kept.to_owned(),
        (lead, "") => lead.to_owned(),
        (lead, kept) => format!("{lead}: {kept}"),
    }
}

/// A case, read from its folder.
pub(super) struct Case {
    pub(super) name: String,
    folder: PathBuf,
    /// The input that is reduced.
    pub(super) target: Target,
    pub(super) expected: Expected,
    pub(super) ideal: Arc<Program>,
    /// Programs that show the same words and another bug, or none, by the names of their files.
    pub(super) slips: Vec<(String, Arc<Program>)>,
}

impl Case {
    /// Reads a case.
    pub(super) fn read(folder: &Path) -> Result<Self, Failure> {
        let name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let program = |file: &str| {
            std::fs::read(folder.join(file))
                .map_err(anyhow::Error::from)
                .and_then(|bytes| Ok(Arc::new(Program::read(&bytes)?)))
                .with_context(|| format!("`{file}` cannot be read"))
        };
        let read = || -> anyhow::Result<Self> {
            let names = slips(folder)?;
            let slips = names.into_iter().map(|name| {
                let program = program(&name)?;
                Ok((name, program))
            });
            let text = std::fs::read_to_string(folder.join("case.toml"))?;
            let expected: Expected = toml::from_str(&text)?;
            Ok(Self {
                name: name.clone(),
                folder: folder.to_owned(),
                target: target(folder, expected.given.as_deref())?,
                expected,
                ideal: program("ideal.py")?,
                slips: slips.collect::<anyhow::Result<_>>()?,
            })
        };
        read().map_err(|error| broken(&name, error))
    }

    /// Whether the input is a project with several files.
    pub(super) fn is_project(&self) -> bool {
        self.expected.given.is_some()
    }

    /// Changes to the folder in which the input was typed.
    pub(super) fn enter(&self) -> Result<(), Failure> {
        if !self.is_project() {
            return Ok(());
        }
        std::env::set_current_dir(self.folder.join(PROJECT))
            .map_err(|error| broken(&self.name, error.into()))
    }

    /// Its scripts, if the input is one.
    pub(super) fn scripts(&self) -> Vec<PathBuf> {
        match &self.target {
            Target::Script(script) if self.expected.given.is_none() => {
                vec![script.clone(), self.folder.join("ideal.py")]
            }
            _ => Vec::new(),
        }
    }

    /// The requirements for an interpreter.
    pub(super) fn needs(&self) -> Needs<'_> {
        Needs {
            python: &self.expected.python,
            packages: &self.expected.packages,
        }
    }
}

/// What an interpreter must be and have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Needs<'a> {
    /// A range, such as `>=3.8,<3.14`.
    pub(super) python: &'a str,
    /// Packages with their versions; `CPython` is the interpreter itself.
    pub(super) packages: &'a BTreeMap<String, String>,
}

impl fmt::Display for Needs<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let packages = self.packages.iter();
        let packages: Vec<String> = packages
            .map(|(name, version)| format!(" with {name} {version}"))
            .collect();
        write!(formatter, "Python {}{}", self.python, packages.join(" and"))
    }
}

/// The folder of a case that holds a project.
const PROJECT: &str = "project";

/// The input that is reduced: `repro.py`, or the `given` of the case.
fn target(folder: &Path, given: Option<&str>) -> anyhow::Result<Target> {
    let Some(given) = given else {
        return Ok(Target::Script(folder.join("repro.py")));
    };
    // A node of pytest's is sought from where it is typed.
    std::env::set_current_dir(folder.join(PROJECT))?;
    let typed = match given.strip_prefix("-m ") {
        Some(module) => Target::typed(None, Some(module)),
        None => Target::typed(Some(Path::new(given)), None),
    };
    typed.map_err(|failure| failure.error)
}

/// The names of the slips in a folder, in order.
fn slips(folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut names: Vec<String> = std::fs::read_dir(folder)?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| {
            name.starts_with("slip") && Path::new(name).extension() == Some("py".as_ref())
        })
        .collect();
    names.sort();
    Ok(names)
}

fn broken(name: &str, error: anyhow::Error) -> Failure {
    Failure::new(
        Exit::Usage,
        error.context(format!("the case `{name}` is broken")),
    )
}

/// The folders with a `case.toml`, as named, or else by name within a named folder.
pub(super) fn cases(folders: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut all = Vec::new();
    for folder in folders {
        // Cases may stand in folders of their own.
        let folder = &std::path::absolute(folder).unwrap_or_else(|_| folder.clone());
        if folder.join("case.toml").is_file() {
            all.push(folder.clone());
            continue;
        }
        let entries = std::fs::read_dir(folder)
            .with_context(|| format!("could not read the corpus `{}`", folder.display()))
            .map_err(|error| {
                Failure::new(Exit::Usage, error).hint("name a folder of cases, such as `corpus`")
            })?;
        let mut found: Vec<PathBuf> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.join("case.toml").is_file())
            .collect();
        if found.is_empty() {
            return Err(
                Failure::usage(format!("`{}` holds no case", folder.display()))
                    .hint("a case is a folder with repro.py, case.toml and ideal.py"),
            );
        }
        found.sort();
        all.append(&mut found);
    }
    Ok(all)
}

/// The interpreters to choose from.
pub(super) struct Interpreters {
    /// Oldest first.
    known: Vec<Interpreter>,
    /// Whether the interpreters of the cache folder may be used, too.
    may_look: bool,
}

impl Interpreters {
    /// The interpreters that were given, or else those of this machine.
    pub(super) fn new(named: &[PathBuf]) -> Result<Self, Failure> {
        if named.is_empty() {
            return Ok(Self {
                known: installed(),
                may_look: true,
            });
        }
        let mut known = named
            .iter()
            .map(|path| Interpreter::find(Some(path)))
            .collect::<Result<Vec<_>, _>>()?;
        known.sort_by_key(|interpreter| interpreter.version);
        Ok(Self {
            known,
            may_look: false,
        })
    }

    /// The newest interpreter that fits a case.
    pub(super) fn fitting(&self, case: &Case) -> Result<Option<Interpreter>, Failure> {
        let found = self.that_is(case.needs());
        found.map_err(|error| broken(&case.name, error))
    }

    /// The newest interpreter that is within a range and has packages in their versions. Those of
    /// the cache folder come first.
    pub(super) fn that_is(&self, needs: Needs<'_>) -> anyhow::Result<Option<Interpreter>> {
        let range = Range::parse(needs.python)?;
        let packages = needs.packages;
        let cached = packages
            .iter()
            .filter(|_| self.may_look)
            .filter_map(|(name, version)| {
                let path = cache_folder()?
                    .join(format!("{name}-{version}"))
                    .join("bin/python");
                Interpreter::find(Some(&path)).ok()
            });
        let has = |interpreter: &Interpreter, name: &str, version: &String| match name {
            CPYTHON => interpreter.description == format!("{CPYTHON} {version}"),
            name => interpreter.package(name).as_ref() == Some(version),
        };
        let fits = |interpreter: &Interpreter| {
            range.holds(interpreter.version)
                && packages
                    .iter()
                    .all(|(name, version)| has(interpreter, name, version))
        };
        Ok(cached.chain(self.known.iter().rev().cloned()).find(fits))
    }
}

/// The interpreters of this machine, oldest first, and the active one in place of another of its
/// version.
fn installed() -> Vec<Interpreter> {
    let active = Interpreter::find(Some(Path::new("python3"))).ok();
    let others = installed_interpreters();
    let others = others
        .values()
        .filter_map(|path| Interpreter::find(Some(path)).ok());
    let mut found: BTreeMap<(u8, u8), Interpreter> = BTreeMap::new();
    for interpreter in active.into_iter().chain(others) {
        found.entry(interpreter.version).or_insert(interpreter);
    }
    found.into_values().collect()
}

/// The interpreters of this machine and those that cases with packages may get.
pub(super) fn all_interpreters() -> Vec<Interpreter> {
    let folders = cache_folder().and_then(|cache| cache.read_dir().ok());
    let mut cached: Vec<PathBuf> = folders
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("bin/python"))
        .filter(|path| path.is_file())
        .collect();
    cached.sort();
    let cached = cached.iter();
    let cached = cached.filter_map(|path| Interpreter::find(Some(path)).ok());
    installed().into_iter().chain(cached).collect()
}

/// A range such as `>=3.8,<3.14`.
struct Range(Vec<(String, (u8, u8))>);

impl Range {
    fn parse(text: &str) -> anyhow::Result<Self> {
        let mut bounds = Vec::new();
        for bound in text.split(',').map(str::trim) {
            let digits = bound
                .find(|char: char| char.is_ascii_digit())
                .context("a bound without a version")?;
            let (sign, version) = bound.split_at(digits);
            let (major, minor) = version
                .trim()
                .split_once('.')
                .context("a version is MAJOR.MINOR")?;
            let sign = sign.trim();
            if ![">=", "<=", "<", ">", "=="].contains(&sign) {
                return Err(anyhow!("`{sign}` is not a comparison"));
            }
            bounds.push((sign.to_owned(), (major.parse()?, minor.parse()?)));
        }
        Ok(Self(bounds))
    }

    fn holds(&self, version: (u8, u8)) -> bool {
        self.0.iter().all(|(sign, bound)| match sign.as_str() {
            ">=" => version >= *bound,
            "<=" => version <= *bound,
            "<" => version < *bound,
            ">" => version > *bound,
            _ => version == *bound,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{oracle::Spec, scrub::corpus::IssueList};

    #[test]
    fn a_short_signature_is_the_first_half_of_the_words_or_the_class() {
        for (signature, short) in [
            ("TypeError: bad size of 3 bytes", "TypeError: bad size"),
            ("KeyError: 'unit'", "KeyError"),
            ("torch.x.Error: it is: so", "torch.x.Error: it"),
            ("stdout:sums are not equal", "stdout: sums are"),
            ("stdout:FAIL", "stdout:FAIL"),
            ("exit:3", "exit:3"),
            ("timeout", "timeout"),
        ] {
            assert_eq!(cut_short(signature), short);
        }
    }

    #[test]
    fn the_historical_issues_have_ranges_and_signatures() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/historical/issues.toml");
        let text = std::fs::read_to_string(path).unwrap();
        for issue in IssueList::parse(&text).unwrap().issues {
            assert!(Range::parse(&issue.python).is_ok(), "{}", issue.id);
            let signature = issue.signature.as_deref();
            assert!(
                signature.is_none_or(|text| Spec::parse(text).is_ok()),
                "{}",
                issue.id
            );
        }
    }

    #[test]
    fn ranges() {
        let holds = |range: &str, minor| Range::parse(range).unwrap().holds((3, minor));
        assert!(holds(">=3.8", 13) && holds(">=3.8, <3.14", 13) && holds("==3.11", 11));
        assert!(
            !holds(">=3.8,<3.14", 14)
                && !holds("==3.11", 12)
                && !holds(">3.8", 8)
                && !holds("<=3.8", 9)
        );
        for text in ["3.8", ">=3", "~=3.8", "", ">=3.x"] {
            assert!(Range::parse(text).is_err(), "{text}");
        }
    }
}
