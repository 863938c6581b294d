//! The keywords by which a program sets what others do. Called by the judge; proposes nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    analysis::calls::Others,
    syntax::{AnyNodeRef, Program},
};

/// The keywords that calls of a function or method are given, by the last part of its name.
pub type Keywords = BTreeMap<String, BTreeSet<String>>;

/// The keywords that all calls of what is not the program's own are given.
pub fn keywords(program: &Program) -> Keywords {
    let others = Others::of(program);
    let mut found = Keywords::new();
    for node in &program.tree().nodes {
        let AnyNodeRef::ExprCall(call) = node.node else {
            continue;
        };
        let Some(name) = others.called(call) else {
            continue;
        };
        let named = call.arguments.keywords.iter();
        let given: BTreeSet<String> = named
            .filter_map(|keyword| Some(keyword.arg.as_ref()?.to_string()))
            .collect();
        found
            .entry(name.to_owned())
            .and_modify(|all| all.retain(|keyword| given.contains(keyword)))
            .or_insert(given);
    }
    found
}

/// Whether the calls of a candidate are given what those of a program are.
pub fn are_given(known: &Keywords, candidate: &Keywords) -> bool {
    candidate
        .iter()
        .all(|(name, given)| known.get(name).is_none_or(|all| all.is_subset(given)))
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
    }
}
