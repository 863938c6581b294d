//! The parameters by which a program sets the behaviour of others' code. Called by the judge;
//! proposes nothing.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    analysis::{calls::Others, names::ImportedNames, own_classes::OwnClasses},
    syntax::{
        AnyNodeRef, Program,
        ast::{Expr, ExprCall},
    },
};

/// The parameters that each call of a function or method is given, in the order of the text, by the
/// last part of its name: its keywords, and its positional arguments where the signature is known.
/// `**` stands for those of a mapping, `*` for those of another iterable.
pub type Keywords = BTreeMap<String, Vec<BTreeSet<String>>>;

/// The names of the parameters of imported functions and classes that may be given by position, by
/// the path of what is called. Those that take any number are left out.
pub type Signatures = BTreeMap<String, Vec<String>>;

/// The mark of keywords that a mapping holds.
const UNPACKED: &str = "**";

/// The mark of positional arguments that an iterable holds.
const STARRED: &str = "*";

/// The paths of the imported functions and classes that a program calls with positional arguments.
pub fn called_by_position(program: &Program) -> BTreeSet<String> {
    let imported = ImportedNames::of(program.tree());
    let nodes = program.tree().nodes.iter();
    let calls = nodes.filter_map(|node| node.node.as_expr_call().copied());
    calls
        .filter(|call| !call.arguments.args.is_empty())
        .filter_map(|call| imported.path(&call.func))
        .collect()
}

/// The parameters that all calls of a foreign function pass.
pub fn keywords(program: &Program, signatures: &Signatures) -> Keywords {
    let others = Others::of(program);
    let classes = OwnClasses::of(program);
    // What a class of the program's own gets, its base may get.
    let own = |call: &ExprCall| {
        let name = call.func.as_name_expr().map(|name| name.id.as_str());
        name.filter(|name| classes.passes_on(name))
            .map(str::to_owned)
    };
    let mut found = Keywords::new();
    for node in &program.tree().nodes {
        let (name, given) = match node.node {
            AnyNodeRef::ExprCall(call) => {
                let path = others.path(&call.func);
                let signature = path.and_then(|path| signatures.get(&path));
                let signature = signature.map_or(&[][..], Vec::as_slice);
                let called = others.called(call).map(str::to_owned);
                (called.or_else(|| own(call)), names(call, signature))
            }
            // A decorator without arguments is a call as well.
            AnyNodeRef::Decorator(decorator) => {
                let name = others.imported(&decorator.expression);
                (name.map(str::to_owned), BTreeSet::new())
            }
            _ => continue,
        };
        if let Some(name) = name {
            found.entry(name).or_default().push(given);
        }
    }
    found
}

fn names(call: &ExprCall, signature: &[String]) -> BTreeSet<String> {
    let keywords = call.arguments.keywords.iter();
    let names = keywords.map(|keyword| {
        let name = keyword.arg.as_ref();
        name.map_or_else(|| UNPACKED.to_owned(), ToString::to_string)
    });
    let positional = &call.arguments.args;
    let single = positional.iter().take_while(|arg| !arg.is_starred_expr());
    let by_position = single.zip(signature).map(|(_, name)| name.clone());
    let is_starred = positional.iter().any(Expr::is_starred_expr);
    let starred = is_starred.then(|| STARRED.to_owned());
    names.chain(by_position).chain(starred).collect()
}

/// Whether the calls of a candidate pass the parameters that the program's calls pass. Its calls of
/// a function are some of the program's, in their order. If there are more, nobody can say which is
/// which, and each must pass the parameters that all of the program's calls pass.
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

/// Whether a call that is given some parameters passes known ones. Those of a mapping or of another
/// iterable may be written out.
fn passes(known: &BTreeSet<String>, given: &BTreeSet<String>) -> bool {
    let is_unpacked = || !given.is_subset(known);
    known.iter().all(|keyword| match keyword.as_str() {
        STARRED => true,
        UNPACKED => given.contains(UNPACKED) || is_unpacked(),
        keyword => given.contains(keyword) || given.contains(STARRED),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_of_others_stay() {
        let none = Signatures::new();
        let of = |text: &str| keywords(&Program::parse(text).unwrap(), &none);
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
        let known = of("import lib\nclass A(lib.B): pass\nA(k=1)\n");
        assert!(!are_given(
            &known,
            &of("import lib\nclass A(lib.B): pass\nA()\n")
        ));
        assert!(are_given(&known, &of("class A:\n    pass\nA()\n")));
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

    #[test]
    fn positional_arguments_are_known_by_the_signature() {
        let paths = called_by_position(
            &Program::parse("import lib as l\nl.a.F(1)\nl.G()\nprint(2)\n").unwrap(),
        );
        assert_eq!(paths, ["lib.a.F".to_owned()].into());
        let names = ["junk", "a", "b"].map(str::to_owned);
        let signatures = Signatures::from([("lib.F".to_owned(), names.to_vec())]);
        let of = |text: &str| {
            let text = format!("from lib import F, G\n{text}");
            keywords(&Program::parse(text).unwrap(), &signatures)
        };
        let known = of("F(None, x, y)\nG(1, 2)\n");
        assert!(are_given(&known, &of("F(None, [], [])\nG(1)\n")));
        assert!(are_given(&known, &of("F(None, b=1, a=2)\n")));
        assert!(are_given(&known, &of("F(*x)\n")));
        assert!(!are_given(&known, &of("F(None, x)\n")));
    }
}
