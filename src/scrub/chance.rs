//! Signs in a script that its outcome may depend on chance, and how many clean runs a rate asks
//! for. Pure.

use minrepro_reducers::{
    analysis::names::ImportedNames,
    syntax::{
        AnyNodeRef, Node, Program, Ranged, TextRange, Tree,
        ast::{CmpOp, Expr, Stmt},
    },
    torch::seeds::draws_random_numbers,
};

/// A cause for runs of a script to differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Chance {
    /// Nothing that can be seen.
    None,
    /// Only the values of random tensors, which no branch of the script looks at.
    Values,
    /// This.
    Sign(String),
}

/// Modules whose use makes runs differ.
const MODULES: &[&str] = &[
    "_thread",
    "asyncio",
    "concurrent",
    "datetime",
    "gc",
    "multiprocessing",
    "queue",
    "secrets",
    "signal",
    "subprocess",
    "tempfile",
    "threading",
    "time",
    "torch.multiprocessing",
    "uuid",
    "weakref",
];
/// Calls that do.
const CALLS: &[&str] = &[
    "os.fork",
    "os.path.exists",
    "os.path.isfile",
    "os.getenv",
    "os.getpid",
    "os.getppid",
    "os.times",
    "os.urandom",
    "torch.empty",
    "torch.empty_like",
    "torch.empty_strided",
];
const BUILTINS: &[&str] = &["frozenset", "hash", "id", "set"];
/// Calls that fix the numbers that are drawn.
const SEEDS: &[&str] = &["manual_seed", "seed", "seed_everything", "set_seed"];
/// Parts of the names of calls whose failures depend on the values of their tensors.
const BY_VALUE: &[&str] = &[
    "allclose",
    "assert",
    "cholesky",
    "close",
    "eig",
    "equal",
    "inv",
    "isfinite",
    "isnan",
    "item",
    "linalg",
    "lstsq",
    "masked_select",
    "nonzero",
    "qr",
    "same",
    "solve",
    "svd",
    "tolist",
    "unique",
];

/// Reads a script.
pub(super) fn chance(program: &Program) -> Chance {
    let tree = program.tree();
    let names = ImportedNames::of(tree);
    if let Some(module) = names.paths().find(|path| {
        MODULES.iter().any(|module| {
            path.strip_prefix(module)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }) {
        return Chance::Sign(format!("the script uses `{module}`"));
    }
    let mut is_seeded = false;
    let mut looks_at_values = false;
    // A value that is only printed decides nothing, but its computation may.
    let printed: Vec<_> = tree
        .nodes
        .iter()
        .filter_map(|node| printed(node.node))
        .collect();
    for node in &tree.nodes {
        let is_printed = printed
            .iter()
            .any(|range| range.contains_range(node.node.range()));
        match node.node {
            AnyNodeRef::ExprCall(call) => {
                let last = match &*call.func {
                    Expr::Name(name) => name.id.as_str(),
                    Expr::Attribute(attribute) => attribute.attr.as_str(),
                    _ => "",
                };
                let path = names.path(&call.func);
                let is_sign =
                    path.as_deref().is_some_and(|path| CALLS.contains(&path)) || last == "__hash__";
                if is_sign && !is_printed {
                    return Chance::Sign(format!("the script calls `{last}`"));
                }
                // Without a number, a seed is one of the system's.
                is_seeded |= SEEDS.iter().any(|seed| last.starts_with(seed))
                    && (!call.arguments.is_empty() || last == "seed_everything");
                let name = path.as_deref().unwrap_or(last);
                looks_at_values |= BY_VALUE.iter().any(|part| name.contains(part));
                if let Some(workers) = call.arguments.find_keyword("num_workers")
                    && !is_zero(&workers.value)
                {
                    return Chance::Sign("the script starts workers that load data".to_owned());
                }
            }
            // Called, or given to what calls them.
            AnyNodeRef::ExprName(name)
                if BUILTINS.contains(&name.id.as_str())
                    && name.ctx.is_load()
                    && names.path(&Expr::Name(name.clone())).is_none()
                    && !is_printed =>
            {
                return Chance::Sign(format!("the script uses `{}`", name.id));
            }
            AnyNodeRef::ExprSet(_) | AnyNodeRef::ExprSetComp(_)
                if !is_printed && !is_asked(tree, node) =>
            {
                return Chance::Sign("the script makes a set, whose order varies".to_owned());
            }
            AnyNodeRef::StmtIf(branch) => looks_at_values |= !is_main(&branch.test),
            AnyNodeRef::StmtWhile(_)
            | AnyNodeRef::StmtAssert(_)
            | AnyNodeRef::StmtRaise(_)
            | AnyNodeRef::StmtTry(_)
            | AnyNodeRef::ExprIf(_) => looks_at_values = true,
            _ => {}
        }
    }
    if is_seeded || !draws(program) {
        Chance::None
    } else if looks_at_values {
        Chance::Sign("the script looks at random values that no seed fixes".to_owned())
    } else {
        Chance::Values
    }
}

/// `x in {1, 2}`, for which no order matters.
fn is_asked(tree: &Tree<'_>, node: &Node<'_>) -> bool {
    node.parent.is_some_and(|at| {
        matches!(tree.nodes[at as usize].node, AnyNodeRef::ExprCompare(compare)
            if compare.ops.iter().all(|op| matches!(op, CmpOp::In | CmpOp::NotIn)))
    })
}

/// The range of a statement that only prints.
fn printed(node: AnyNodeRef<'_>) -> Option<TextRange> {
    let AnyNodeRef::StmtExpr(stmt) = node else {
        return None;
    };
    let Expr::Call(call) = &*stmt.value else {
        return None;
    };
    matches!(&*call.func, Expr::Name(name) if name.id == "print").then(|| stmt.range())
}

/// Whether a program draws random numbers, by a call or by a name that it imports.
fn draws(program: &Program) -> bool {
    draws_random_numbers(program)
        || ImportedNames::of(program.tree())
            .paths()
            .any(|path| path == "random" || path.starts_with("random."))
}

fn is_zero(expr: &Expr) -> bool {
    matches!(expr, Expr::NumberLiteral(number)
        if number.value.as_int().is_some_and(|value| value.as_u8() == Some(0)))
}

/// `__name__ == "__main__"`
fn is_main(test: &Expr) -> bool {
    matches!(test, Expr::Compare(compare)
        if matches!(&*compare.left, Expr::Name(name) if name.id == "__name__"))
}

/// Whether a script checks something itself, so that an `AssertionError` reports a wrong result.
pub(super) fn asserts(program: &Program) -> bool {
    program.tree().nodes.iter().any(|node| match node.node {
        AnyNodeRef::StmtAssert(_) => true,
        AnyNodeRef::ExprCall(call) => match &*call.func {
            Expr::Attribute(attribute) => attribute.attr.starts_with("assert"),
            Expr::Name(name) => name.id.starts_with("assert"),
            _ => false,
        },
        _ => false,
    }) && !matches!(program.body(), [Stmt::Pass(_)])
}

/// The number of clean runs after which a bug that shows in this share of runs would be missed
/// once in a thousand times.
pub(super) fn runs_for(percent: u32) -> usize {
    let miss = 1.0 - f64::from(percent.clamp(1, 99)) / 100.0;
    (0.001_f64.ln() / miss.ln()).ceil() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_chance_are_seen() {
        for (text, expected) in [
            ("import torch\ntorch.ones(2).sum()\n", "none"),
            (
                "import torch\ntorch.mm(torch.randn(2, 2), torch.randn(3, 2))\n",
                "values",
            ),
            (
                "import torch\nx = torch.randn(2)\nif x[0] > 0:\n    f()\n",
                "sign",
            ),
            (
                "import torch\ntorch.manual_seed(0)\nassert torch.randn(2)[0] > 0\n",
                "none",
            ),
            ("import torch\ntorch.linalg.svd(torch.rand(2, 2))\n", "sign"),
            ("import random\nprint(random.random())\n", "values"),
            ("import random\nassert random.random() > 0.1\n", "sign"),
            (
                "import random\nrandom.seed(3)\nassert random.random() > 0.1\n",
                "none",
            ),
            ("from random import random\nassert random() > 0.1\n", "sign"),
            ("import time\nx = time.time()\n", "sign"),
            ("x = list({'a', 'b'})\n", "sign"),
            ("import os\nprint(os.getpid())\n", "none"),
            ("import os\nx = os.getpid()\n", "sign"),
            ("print('a' in {'a', 'b'})\n", "none"),
            ("x = hash('a')\n", "sign"),
            ("x = 'a'.__hash__()\n", "sign"),
            ("x = sorted('ab', key=hash)\n", "sign"),
            ("hash = 3\n", "none"),
            (
                "import random\nrandom.seed()\nassert random.random() > 0.1\n",
                "sign",
            ),
            ("f(num_workers=2)\n", "sign"),
            ("print(f(num_workers=2))\n", "sign"),
            ("f(num_workers=0)\n", "none"),
            ("if __name__ == '__main__':\n    f()\n", "none"),
        ] {
            let found = match chance(&Program::parse(text).unwrap()) {
                Chance::None => "none",
                Chance::Values => "values",
                Chance::Sign(_) => "sign",
            };
            assert_eq!(found, expected, "{text}");
        }
        assert!(asserts(
            &Program::parse("self.assertEqual(1, 2)\n").unwrap()
        ));
        assert!(!asserts(&Program::parse("print(1)\n").unwrap()));
    }

    #[test]
    fn rates_ask_for_runs() {
        for (percent, runs) in [(5, 135), (10, 66), (40, 14), (50, 10), (90, 3)] {
            assert_eq!(runs_for(percent), runs, "{percent}");
        }
    }
}
