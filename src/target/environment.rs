//! The interpreter for an input if nobody names one: that of the project's `.venv`, or one that
//! fits the metadata in the script (PEP 723). Called by the commands.

use std::path::{Path, PathBuf};

use anyhow::anyhow;
use pep440_rs::{Version, VersionSpecifiers};
use serde::Deserialize;

use crate::{
    cli::{Exit, Failure},
    runner::Interpreter,
};

/// The requirements that a script declares.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct ScriptMetadata {
    requires_python: Option<VersionSpecifiers>,
    dependencies: Vec<String>,
}

/// The interpreter that is named, or else the one that the script or its project asks for; and how
/// it was chosen, if not as for any script.
pub fn interpreter(
    named: Option<&Path>,
    script: &Path,
) -> Result<(Interpreter, Option<String>), Failure> {
    if named.is_some() {
        return Ok((Interpreter::find(named)?, None));
    }
    let folder = script.parent().unwrap_or(Path::new("/"));
    let of_project = project_python(folder);
    let text = std::fs::read_to_string(script).unwrap_or_default();
    if let Some(metadata) = metadata(&text) {
        return fitting(&metadata?, of_project.as_deref());
    }
    let Some(python) = of_project else {
        return Ok((Interpreter::find(None)?, None));
    };
    let found = Interpreter::find(Some(&python))?;
    let note = format!(
        "python: `{}`, the environment of the project ({})",
        python.display(),
        found.description
    );
    Ok((found, Some(note)))
}

/// The interpreter of the `.venv` beside a script, or in the project above it.
fn project_python(folder: &Path) -> Option<PathBuf> {
    for (distance, ancestor) in folder.ancestors().enumerate() {
        let python = ancestor.join(".venv/bin/python");
        let is_project = ancestor.join("pyproject.toml").is_file();
        if python.exists() && (distance == 0 || is_project) {
            return Some(python);
        }
        if is_project || ancestor.join(".git").exists() {
            return None;
        }
    }
    None
}

/// The first interpreter that meets the script's requirements.
fn fitting(
    metadata: &ScriptMetadata,
    of_project: Option<&Path>,
) -> Result<(Interpreter, Option<String>), Failure> {
    let mut reasons = Vec::new();
    let names = (8..=14)
        .rev()
        .map(|minor| PathBuf::from(format!("python3.{minor}")));
    let candidates = of_project.map(|path| Some(path.to_owned())).into_iter();
    for candidate in candidates.chain([None]).chain(names.map(Some)) {
        let Ok(found) = Interpreter::find(candidate.as_deref()) else {
            continue;
        };
        match lacking(&found, metadata) {
            None => {
                let note = format!(
                    "python: `{}`, which fits the metadata of the script ({})",
                    found.path.display(),
                    found.description
                );
                return Ok((found, Some(note)));
            }
            Some(reason) => {
                let reason = format!("  {}: {reason}", found.path.display());
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
        }
    }
    let error = anyhow!("no interpreter here meets the requirements in the script's metadata");
    let mut failure = Failure::new(Exit::Environment, error);
    failure.details = reasons;
    Err(failure.hint(
        "make one, `uv sync --script SCRIPT`, and name it: `--python \"$(uv python find --script SCRIPT)\"`",
    ))
}

/// The script's requirements that an interpreter does not meet.
fn lacking(interpreter: &Interpreter, metadata: &ScriptMetadata) -> Option<String> {
    let (major, minor) = interpreter.version;
    if let Some(range) = &metadata.requires_python {
        let full = interpreter
            .description
            .rsplit(' ')
            .next()
            .unwrap_or_default();
        let version: Version = full
            .parse()
            .unwrap_or_else(|_| Version::new([u64::from(major), u64::from(minor)]));
        if !range.contains(&version) {
            return Some(format!("{version} is not {range}"));
        }
    }
    metadata.dependencies.iter().find_map(|dependency| {
        let (name, range) = requirement(dependency);
        let Some(version) = interpreter.package(name) else {
            return Some(format!("`{name}` is not installed"));
        };
        let range: VersionSpecifiers = range.parse().ok()?;
        let is_within = version
            .parse()
            .is_ok_and(|version| range.contains(&version));
        (!is_within).then(|| format!("`{name}` is {version}, not {range}"))
    })
}

/// The name and the range of versions of a dependency such as
/// `rich[jupyter] >=13 ; os_name == "nt"`.
fn requirement(dependency: &str) -> (&str, &str) {
    let dependency = dependency.split(';').next().unwrap_or_default();
    let is_of_name = |char: char| char.is_ascii_alphanumeric() || ['-', '_', '.'].contains(&char);
    let name = dependency.trim_start();
    let end = name.find(|char| !is_of_name(char)).unwrap_or(name.len());
    let (name, rest) = name.split_at(end);
    let rest = rest.trim_start();
    let rest = match rest.strip_prefix('[') {
        Some(extras) => extras.split_once(']').map_or("", |(_, rest)| rest),
        None => rest,
    };
    (name, rest.trim())
}

/// The metadata of a script: the comment block `# /// script`.
fn metadata(text: &str) -> Option<Result<ScriptMetadata, Failure>> {
    let mut lines = text
        .lines()
        .skip_while(|line| line.trim_end() != "# /// script");
    lines.next()?;
    let block: Vec<&str> = lines
        .take_while(|line| line.starts_with('#') && line.trim_end() != "# ///")
        .map(|line| line.strip_prefix("# ").unwrap_or(&line[1..]))
        .collect();
    Some(toml::from_str(&block.join("\n")).map_err(|error| {
        let error = anyhow::Error::new(error).context("the metadata of the script cannot be read");
        Failure::new(Exit::Usage, error)
            .hint("correct the block `# /// script`, or name the interpreter with `--python PATH`")
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_a_block_of_comments() {
        let text = "#!/usr/bin/env python\n# /// script\n# requires-python = \">=3.9\"\n# dependencies = [\n#   \"rich>=13\",\n# ]\n# ///\nimport rich\n";
        let found = metadata(text).unwrap().unwrap();
        assert_eq!(found.dependencies, ["rich>=13"]);
        assert_eq!(found.requires_python.unwrap().to_string(), ">=3.9");
        assert!(metadata("import rich\n").is_none());
        assert!(
            metadata("# /// script\n# dependencies = 3\n# ///\n")
                .unwrap()
                .is_err()
        );
    }

    #[test]
    fn a_dependency_has_a_name_and_a_range() {
        for (dependency, found) in [
            ("rich", ("rich", "")),
            ("a.b-c[x, y] >=1,<2 ; os_name == 'nt'", ("a.b-c", ">=1,<2")),
            ("torch==2.9.1", ("torch", "==2.9.1")),
        ] {
            assert_eq!(requirement(dependency), found);
        }
    }
}
