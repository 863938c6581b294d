//! Single parts of a program that can be left out: a keyword of calls, a call that its receiver or
//! first argument can replace, a decorator, a context, a special method. If a program succeeds
//! without a part, the part is one reason why it fails. Goes only by names of libraries. Called by
//! the judge; proposes nothing.

mod search;
mod words;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use words::{Libraries, Omission, words};

use crate::{
    analysis::omissions::search::PartSearch,
    syntax::{AnyNodeRef, Program},
};

/// A part that a program needs to fail.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ProgramPart {
    /// What is left out.
    pub omission: Omission,
    /// The libraries whose part it is.
    of: Libraries,
    /// The words by which a program has it.
    words: BTreeSet<String>,
    /// How much text it is, in bytes.
    pub size: u32,
    /// How often its operator, if it is one, stands elsewhere in the program.
    #[serde(default)]
    elsewhere: usize,
}

impl ProgramPart {
    /// Whether a program with these words has it. An operator may also stand between plain numbers,
    /// so there must be more of it than elsewhere, or one between objects of a package.
    pub fn is_in(&self, program: &Program, words: &BTreeSet<String>) -> bool {
        let is_there = match &self.omission {
            Omission::Operator(symbol) => {
                operations(program, symbol) > self.elsewhere || self.without(program).is_some()
            }
            Omission::Keyword(_) | Omission::Call(_) | Omission::Hook(_) => true,
        };
        is_there && self.words.is_subset(words)
    }

    /// A program without the part; none if it does not have it where it can be left out.
    pub fn without(&self, program: &Program) -> Option<String> {
        let mut parts = PartSearch::of(program, self.of).parts();
        parts.remove(&self.omission)?.edits.apply(program).ok()
    }
}

/// The parts of a program that can be left out, in the order of the text, except calls that make up
/// a whole statement on one of some lines, and except what is not left out there without other
/// calls: the failing call is not the reason of its own failure.
pub fn parts(program: &Program, of: Libraries, lines: &[u32]) -> Vec<ProgramPart> {
    let mut found = PartSearch::of(program, of).parts();
    found.retain(|_, place| {
        let mut swallowing = place.swallowing.iter();
        let is_gone =
            swallowing.any(|(first, last)| lines.iter().any(|line| (first..=last).contains(&line)));
        !lines.contains(&place.statement.unwrap_or_default()) && !is_gone
    });
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(_, place)| place.first);
    let parts = found.into_iter().map(|(omission, place)| ProgramPart {
        elsewhere: match &omission {
            Omission::Operator(symbol) => operations(program, symbol) - place.count,
            Omission::Keyword(_) | Omission::Call(_) | Omission::Hook(_) => 0,
        },
        omission,
        of,
        words: place.words,
        size: place.size,
    });
    parts.collect()
}

/// How many operations of a program have an operator.
fn operations(program: &Program, symbol: &str) -> usize {
    let nodes = program.tree().nodes.iter();
    let operators = nodes.filter_map(|node| match node.node {
        AnyNodeRef::ExprBinOp(operation) => Some(operation.op.as_str()),
        AnyNodeRef::ExprUnaryOp(operation) => Some(operation.op.as_str()),
        AnyNodeRef::StmtAugAssign(assign) => Some(assign.op.as_str()),
        _ => None,
    });
    operators.filter(|operator| *operator == symbol).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, &str)]) {
        let program = Program::parse(text).unwrap();
        let found = parts(&program, Libraries::Installed, &[]);
        let found: Vec<_> = found
            .iter()
            .map(|part| (part.omission.name(), part.without(&program).unwrap()))
            .collect();
        let found: Vec<_> = found
            .iter()
            .map(|(name, text)| (name.as_str(), text.as_str()))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn each_part_by_itself() {
        check(
            "import lib\nx = lib.ones(3, dtype=lib.half)\n",
            &[("dtype=", "import lib\nx = lib.ones(3)\n")],
        );
        check(
            "from lib import rot\ny = rot(x.t() + 1).t()\n",
            &[
                ("rot", "from lib import rot\ny = (x.t() + 1).t()\n"),
                ("t", "from lib import rot\ny = rot(x + 1)\n"),
                ("+", "from lib import rot\ny = rot(x.t()).t()\n"),
            ],
        );
        check(
            "import lib\n@lib.fast()\ndef f(x):\n    x.bind()\nwith lib.mode() as m, g():\n    f(x)\n",
            &[
                (
                    "fast",
                    "import lib\ndef f(x):\n    x.bind()\nwith lib.mode() as m, g():\n    f(x)\n",
                ),
                (
                    "bind",
                    "import lib\n@lib.fast()\ndef f(x):\n    pass\nwith lib.mode() as m, g():\n    f(x)\n",
                ),
                (
                    "mode",
                    "import lib\n@lib.fast()\ndef f(x):\n    x.bind()\nwith __import__('contextlib').nullcontext() as m, g():\n    f(x)\n",
                ),
            ],
        );
    }

    #[test]
    fn calls_in_a_call_are_parts_of_their_own() {
        check(
            "import lib\nlib.show(main(lib.f(2)))\n",
            &[("show", "import lib\nmain(lib.f(2))\n")],
        );
        check(
            "import lib\nlib.show(x.f(y))\nlib.exit(1)\n",
            &[
                ("show", "import lib\nx.f(y)\nlib.exit(1)\n"),
                ("f", "import lib\nlib.show(x)\nlib.exit(1)\n"),
            ],
        );
    }

    #[test]
    fn operators_between_objects_of_packages_are_parts() {
        check(
            "import lib\nx = lib.ones(2)\nn = x.size(0) * 2 + 1\ny = -x.T ** n\n",
            &[
                (
                    "-",
                    "import lib\nx = lib.ones(2)\nn = x.size(0) * 2 + 1\ny = x.T ** n\n",
                ),
                (
                    "**",
                    "import lib\nx = lib.ones(2)\nn = x.size(0) * 2 + 1\ny = -x.T\n",
                ),
            ],
        );
    }

    #[test]
    fn what_is_of_no_package_is_no_part() {
        check(
            "import lib\np.add_argument('--n', default=2)\nt.assertEqual(x, y, msg=z)\n",
            &[],
        );
        check("import json\nx.close().run(k=1)\n", &[]);
        check(
            "import json\nimport lib\nprint(len(json.loads(x.read())))\n",
            &[],
        );
    }

    #[test]
    fn what_is_of_pythons_own_modules_is_a_part_if_asked_for() {
        let text = "import queue\nq = queue.Queue(maxsize=1)\nq.put(1)\n";
        let found = parts(&Program::parse(text).unwrap(), Libraries::All, &[]);
        let names: Vec<String> = found.iter().map(|part| part.omission.name()).collect();
        assert_eq!(names, ["maxsize=", "put"]);
    }

    #[test]
    fn special_methods_are_parts() {
        check(
            "import lib\nclass A:\n    def __init__(self): pass\n    def __eq__(self, other): return \
             True\nlib.unique = A()\n",
            &[(
                "__eq__",
                "import lib\nclass A:\n    def __init__(self): pass\nlib.unique = A()\n",
            )],
        );
    }

    #[test]
    fn parts_are_known_by_their_words() {
        let script = "import lib\nx.to(lib.half)\nx.rows(mode='by column', axis=0)\n";
        let script = Program::parse(script).unwrap();
        let held = |part: usize, candidate: &str| {
            let candidate = Program::parse(candidate).unwrap();
            let words = words(&candidate);
            parts(&script, Libraries::Installed, &[])[part].is_in(&candidate, &words)
        };
        assert!(held(0, "x.half()") && !held(0, "x.to(y)"));
        assert!(held(1, "x.rows()") && !held(1, "x.columns()"));
        assert!(held(2, "f('by column')") && !held(2, "f(mode=1)"));
        assert!(held(3, "f(axis=2)") && !held(3, "x.rows()"));
    }

    #[test]
    fn an_operator_between_numbers_is_not_that_between_objects() {
        let script = "import lib\nx = lib.f() - lib.g()\nassert x.item() - 1 < n - 2\n";
        let script = Program::parse(script).unwrap();
        let all = parts(&script, Libraries::Installed, &[]);
        let part = all.iter().find(|part| part.omission.name() == "-").unwrap();
        let holds = |candidate: &str| {
            let candidate = Program::parse(candidate).unwrap();
            part.is_in(&candidate, &words(&candidate))
        };
        assert!(holds("import lib\nx = lib.f() - 1\n"));
        assert!(holds("def f(x): return x - x\nassert f(y) - 1 < n - 2\n"));
        assert!(!holds(
            "import lib\nx = lib.f()\nassert x.item() - 1 < n - 2\n"
        ));
    }

    #[test]
    fn what_fails_is_no_part() {
        let text = "import lib\ny = x.fails(k=1)\n";
        let found = parts(&Program::parse(text).unwrap(), Libraries::Installed, &[2]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].omission.name(), "k=");
        let text = "import lib\ny = lib.f(1) - x.fails()\n";
        let program = Program::parse(text).unwrap();
        let names = |lines: &[u32]| {
            let found = parts(&program, Libraries::Installed, lines).into_iter();
            found.map(|part| part.omission.name()).collect::<Vec<_>>()
        };
        assert_eq!(names(&[]), ["-", "fails"]);
        assert_eq!(names(&[2]), ["fails"]);
    }
}
