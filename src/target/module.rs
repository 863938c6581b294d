//! `-m NAME`: a module's text as a script in the current folder. The text includes what `python -m`
//! does in addition: it imports the module's package first, and relative imports are absolute.

use std::path::Path;

use anyhow::anyhow;
use minrepro_reducers::{
    rewrite::{
        absolute_imports::{absolute_imports, head},
        edit::Edit,
    },
    syntax::{Program, TextRange},
};
use serde::Deserialize;

use super::{TargetProgram, script};
use crate::{
    cli::{Exit, Failure},
    oracle::summary,
    runner::{Runner, Setup},
};

/// Where a module is.
#[derive(Debug, Deserialize)]
struct Located {
    /// The part of its name that is not found.
    missing: Option<String>,
    /// Where it comes from, if that is no source file.
    origin: Option<String>,
    /// Its file; relative to the folder if it lies there.
    file: Option<String>,
    #[serde(default)]
    package: String,
}

pub(super) fn read(name: &str, setup: Setup) -> Result<TargetProgram, Failure> {
    if !name.split('.').all(is_identifier) {
        return Err(Failure::usage(format!("`{name}` is not a module name"))
            .hint("name it as `import` does: `-m package.module`"));
    }
    let folder = setup.script.parent().unwrap_or(Path::new(".")).to_owned();
    let runner = Runner::start(setup)?;
    let (located, outcome) = runner.ask::<_, Located>(include_str!("python/module.py"), &name)?;
    let Some(located) = located else {
        let error = anyhow!("could not look for `{name}`: {}", summary(&outcome));
        let failure = Failure::new(Exit::Environment, error);
        return Err(failure.hint("name another interpreter with `--python PATH`"));
    };
    let Some(file) = &located.file else {
        return Err(unreadable(name, &located));
    };
    let path = folder.join(file);
    let (_, program) = script::read(&path)?;
    let program = as_script(&program, &located.package)?;
    let bytes = program.encode().unwrap_or_default();
    Ok(TargetProgram {
        bytes,
        program,
        notes: vec![format!("module: {name} is `{file}`, run as a script")],
        takes_arguments: true,
    })
}

fn is_identifier(part: &str) -> bool {
    !part.is_empty()
        && !part.starts_with(|char: char| char.is_ascii_digit())
        && part
            .chars()
            .all(|char| char.is_alphanumeric() || char == '_')
}

/// Why a module's text cannot be had.
fn unreadable(name: &str, located: &Located) -> Failure {
    if let Some(missing) = &located.missing {
        let error = if missing == &format!("{name}.__main__") {
            format!("`{name}` is a package without a module `__main__`, which cannot be run")
        } else {
            format!("there is no module `{missing}`")
        };
        return Failure::usage(error).hint(
            "modules are sought as `python -m` does, from this folder on; `--python PATH` names the \
             interpreter that has it",
        );
    }
    let origin = located.origin.as_deref().unwrap_or("built in");
    Failure::usage(format!("`{name}` has no Python source: it is `{origin}`"))
        .hint("name a module that is written in Python")
}

/// A module's program as a script.
pub(super) fn as_script(module: &Program, package: &str) -> Result<Program, Failure> {
    if package.is_empty() {
        return reparsed(module, module.text().to_owned());
    }
    let mut edits = absolute_imports(module, package);
    let at = TextRange::empty(head(module));
    edits.edit(Edit::replace(at, format!("import {package}\n")));
    let text = edits
        .apply(module)
        .map_err(|error| Failure::new(Exit::Bug, error))?;
    reparsed(module, text)
}

fn reparsed(module: &Program, text: String) -> Result<Program, Failure> {
    module
        .sibling(text)
        .map_err(|error| Failure::new(Exit::Bug, anyhow!("the module as a script: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_as_a_script_imports_its_package() {
        let module = Program::parse("'''Says.'''\n\nfrom .core import x\n").unwrap();
        assert_eq!(
            as_script(&module, "a.b").unwrap().text(),
            "'''Says.'''\nimport a.b\n\nfrom a.b.core import x\n"
        );
        let alone = as_script(&module, "").unwrap();
        assert_eq!(alone.text(), module.text());
    }
}
