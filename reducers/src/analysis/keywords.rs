//! The keywords by which a program sets the behaviour of others' code. Called by the judge;
//! proposes nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    analysis::calls::Others,
    syntax::{AnyNodeRef, Program, ast::ExprCall},
};

/// The keywords that each call of a function or method is given, in the order of the text, by the
/// last part of its name. `**` stands for those of a mapping.
pub type Keywords = BTreeMap<String, Vec<BTreeSet<String>>>;

/// The mark of keywords that a mapping holds.
const UNPACKED: &str = "**";

/// The keywords that all calls of a foreign function pass.
pub fn keywords(program: &Program) -> Keywords {
    let others = Others::of(program);
    let mut found = Keywords::new();
    for node in &program.tree().nodes {
        let (name, given) = match node.node {
            AnyNodeRef::ExprCall(call) => (others.called(call), names(call)),
            // A decorator without arguments is a call as well.
            AnyNodeRef::Decorator(decorator) => {
                (others.imported(&decorator.expression), BTreeSet::new())
            }
            _ => continue,
        };
        if let Some(name) = name {
            found.entry(name.to_owned()).or_default().push(given);
        }
    }
    found
}

fn names(call: &ExprCall) -> BTreeSet<String> {
    let keywords = call.arguments.keywords.iter();
    let names = keywords.map(|keyword| {
        let name = keyword.arg.as_ref();
        name.map_or_else(|| UNPACKED.to_owned(), ToString::to_string)
    });
    names.collect()
}

/// Whether the calls of a candidate pass the keywords that the program's calls pass. Its calls of a
/// function are some of the program's, in their order. If there are more, nobody can say which is
/// which, and each must pass the keywords that all of the program's calls pass.
pub fn are_given(known: &Keywords, candidate: &Keywords) -> bool {
    candidate.iter().all(|(name, calls)| {
        let Some(known) = known.get(name) else {
            return true;
        };
        if known.len() < calls.len() {
            let by_all = |keyword: &&String| known.iter().all(|given| given.contains(*keyword));
            let by_all: BTreeSet<String> = known.iter().flatten().filter(by_all).cloned().collect();
            let mut calls = calls.iter();
            return calls.all(|given| passes(&by_all, given));
        }
        let mut left = known.iter();
        let mut calls = calls.iter();
        calls.all(|given| left.any(|known| passes(known, given)))
    })
}

/// Whether a call that is given some keywords passes known ones. Those of a mapping may be written
/// out.
fn passes(known: &BTreeSet<String>, given: &BTreeSet<String>) -> bool {
    let is_unpacked = || !given.is_subset(known);
    known
        .iter()
        .all(|keyword| given.contains(keyword) || keyword == UNPACKED && is_unpacked())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_of_others_stay() {
        let of = |text: &str| keywords(&Program::parse(text).unwrap());
        let known =
            of("from lib import A\ndef f(x): pass\nA(1, k=2)\nf(x=1)\ny.z(p=1)\ny.z(p=2, q=1)\n");
        assert!(are_given(&known, &of("A(k=3)\nf()\ny.z(p=0)\n")));
        assert!(!are_given(&known, &of("A(1)\n")));
        assert!(!are_given(&known, &of("y.z(q=1)\n")));
        // Which of three the two were is not known.
        assert!(are_given(
            &known,
            &of("for _ in x: y.z(p=1), y.z(p=2), y.z(p=3)\n")
        ));
        assert!(!are_given(&known, &of("y.z(p=1), y.z(p=2)\n")));
        let known = of("import lib\n@lib.option('--x', default=1)\ndef f(): pass\n");
        assert!(are_given(
            &known,
            &of("import lib\n@lib.option(default=1)\ndef f(): pass\n")
        ));
        assert!(!are_given(
            &known,
            &of("import lib\n@lib.option\ndef f(): pass\n")
        ));
        let known = of("from lib import A\nA(k=1, **settings)\n");
        assert!(are_given(&known, &of("A(k=1, **{'m': 2})\n")));
        assert!(are_given(&known, &of("A(k=1, m=2)\n")));
        assert!(!are_given(&known, &of("A(k=1)\n")));
    }
}
