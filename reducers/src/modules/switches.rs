//! The variables by which packages do without what they compile: the functions of a program, which
//! then run as Python does, or a part of the package itself, which has another implementation in
//! Python. Called by the commands, which make controls of them for the judge.

use crate::{modules::standard::packages_needed, syntax::Program};

/// A variable and its value.
pub type Switch = (&'static str, &'static str);

/// The packages, by the first parts of their names, each with its variable, as its documentation
/// has it.
const SWITCHES: [(&str, Switch); 8] = [
    ("aiohttp", ("AIOHTTP_NO_EXTENSIONS", "1")),
    ("frozenlist", ("FROZENLIST_NO_EXTENSIONS", "1")),
    ("jax", ("JAX_DISABLE_JIT", "1")),
    ("multidict", ("MULTIDICT_NO_EXTENSIONS", "1")),
    ("numba", ("NUMBA_DISABLE_JIT", "1")),
    ("sqlalchemy", ("DISABLE_SQLALCHEMY_CEXT_RUNTIME", "1")),
    ("wrapt", ("WRAPT_DISABLE_EXTENSIONS", "1")),
    ("yarl", ("YARL_NO_EXTENSIONS", "1")),
];

/// The variables of the packages that a program imports.
pub fn switches(program: &Program) -> Vec<Switch> {
    let needed = packages_needed(program.tree());
    let switches = SWITCHES.iter().filter(|(name, _)| needed.contains(name));
    switches.map(|(_, variable)| *variable).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_that_compile_can_be_told_not_to() {
        let of = |text: &str| switches(&Program::parse(text).unwrap());
        assert_eq!(of("import os, numpy\n"), []);
        assert_eq!(
            of("from numba.typed import List\n"),
            [("NUMBA_DISABLE_JIT", "1")]
        );
    }
}
