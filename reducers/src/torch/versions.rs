//! Which versions a report names, and the question to an interpreter that finds them.

use std::collections::BTreeSet;

/// Prints, as JSON, the versions of the packages that provide these top-level modules, and of the
/// CUDA that PyTorch was built for. Imports none of them.
pub const QUESTION: &str = include_str!("versions.py");

/// The top-level modules whose versions matter to a program that imports these.
pub fn reported(imported: BTreeSet<String>) -> BTreeSet<String> {
    let mut modules = imported;
    // PyTorch behaves by the NumPy that it finds.
    if modules.contains("torch") {
        modules.insert("numpy".to_owned());
    }
    modules
}
