//! One file out of many: a program and the modules that it imports, joined in the order in which a
//! traced run executed them. Pure: works on what the trace recorded, and refuses with a reason
//! where that does not say how to rewrite a module. What is joined is judged by runs, not here.
//! Called by the commands, before a reduction.
//!
//! Each module's text takes the place of the import that first had it run, so that everything is
//! executed in the order in which it was. `unit` reads imports, `meaning` says what each name
//! stands for, `naming` finds a name for it in the one file, `layout` writes that file.

mod layout;
mod meaning;
mod naming;
mod references;
pub mod standard;
pub mod switches;
mod unit;

use std::collections::BTreeMap;

use crate::{
    modules::{layout::Layout, meaning::Units, naming::FileNames, references::References},
    syntax::Program,
    trace::evidence::Evidence,
};

/// A program with modules inlined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Joined {
    /// The text; that of the program if nothing could be inlined.
    pub text: String,
    /// The modules that it no longer imports.
    pub inlined: Vec<String>,
    /// Those that it still does, each with the reason.
    pub left: BTreeMap<String, String>,
    /// Why it may do something else than the program did.
    pub doubts: Vec<String>,
}

/// Why a module cannot be inlined.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ModuleRefusal {
    module: String,
    reason: String,
}

/// Inlines the modules that a traced run of a program executed; only those that are `wanted`, by
/// name.
pub fn join(program: &Program, evidence: &Evidence, wanted: &dyn Fn(&str) -> bool) -> Joined {
    let mut left = BTreeMap::new();
    // Each round leaves at least one more module as it is.
    loop {
        let (units, unread) = Units::of(program, evidence, &|name| {
            wanted(name) && !left.contains_key(name)
        });
        left.extend(unread);
        let refused = match joined(&units) {
            Ok((text, doubts)) => {
                let names = units.all.iter().skip(1).map(|unit| unit.name.clone());
                return Joined {
                    text: text.unwrap_or_else(|| program.text().to_owned()),
                    inlined: names.collect(),
                    left,
                    doubts,
                };
            }
            Err(refused) => refused,
        };
        let before = left.len();
        for ModuleRefusal { module, reason } in refused {
            left.entry(module).or_insert(reason);
        }
        if left.len() == before {
            // A reason that names no module would be found again for ever.
            for unit in units.all.iter().skip(1) {
                let reason = "it cannot be told from another module".to_owned();
                left.entry(unit.name.clone()).or_insert(reason);
            }
        }
    }
}

/// The joined text of some units, and the possible differences. No text if there is only the
/// program.
fn joined(units: &Units) -> Result<(Option<String>, Vec<String>), Vec<ModuleRefusal>> {
    if units.all.len() < 2 {
        return Ok((None, Vec::new()));
    }
    let references = References::of(units)?;
    let names = FileNames::of(units, &references);
    let layout = Layout::new(units, &references, &names)?;
    let text = layout.text()?;
    Ok((Some(text), references.doubts))
}

#[cfg(test)]
mod tests;
