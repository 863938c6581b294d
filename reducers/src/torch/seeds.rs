//! Chance: whether a program draws random numbers, and the program with those of PyTorch, `numpy`
//! and Python seeded, for bugs that depend on them. Called before a reduction and by the judge.

use std::collections::BTreeMap;

use crate::{
    analysis::names::ImportedNames,
    rewrite::{
        edit::{Edit, splice},
        test_body::first_of_body,
    },
    syntax::{
        AnyNodeRef, Program, Ranged, TextRange,
        ast::{Alias, Expr, ExprCall, Stmt, StmtFunctionDef},
        lines::newline_of,
    },
    torch::dimensions::whole_number,
};

/// Functions of PyTorch that make tensors of random numbers, or of whatever lies in memory.
const RANDOM: &[&str] = &[
    "bernoulli",
    "empty",
    "empty_like",
    "empty_strided",
    "multinomial",
    "normal",
    "poisson",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
];

/// Whether a program calls, by name, functions that draw random numbers, as layers do for their
/// weights.
pub fn draws_random_numbers(program: &Program) -> bool {
    let tree = program.tree();
    let names = ImportedNames::of(tree);
    tree.nodes.iter().any(|node| {
        let call = node.node.as_expr_call();
        let path = call.and_then(|call| names.path(&call.func));
        path.is_some_and(|path| {
            let class = path.strip_prefix("torch.nn.");
            is_drawing(&path) || class.is_some_and(|class| class.starts_with(char::is_uppercase))
        })
    })
}

/// Whether a program calls such functions, but for layers, in a function, a loop or a comprehension:
/// it may draw other numbers each time.
pub fn draws_each_time(program: &Program) -> bool {
    let tree = program.tree();
    let names = ImportedNames::of(tree);
    (0..tree.nodes.len()).any(|at| {
        let call = tree.nodes[at].node.as_expr_call();
        let path = call.and_then(|call| names.path(&call.func));
        let mut around = tree.ancestors(at as u32);
        path.is_some_and(|path| is_drawing(&path))
            && around.any(|node| {
                matches!(
                    node,
                    AnyNodeRef::StmtFunctionDef(_)
                        | AnyNodeRef::ExprLambda(_)
                        | AnyNodeRef::StmtFor(_)
                        | AnyNodeRef::StmtWhile(_)
                        | AnyNodeRef::ExprListComp(_)
                        | AnyNodeRef::ExprDictComp(_)
                        | AnyNodeRef::ExprSetComp(_)
                        | AnyNodeRef::ExprGenerator(_)
                )
            })
    })
}

/// Whether a dotted path is that of a function that draws random numbers.
fn is_drawing(path: &str) -> bool {
    let of_torch = path.strip_prefix("torch.");
    of_torch.is_some_and(|name| RANDOM.contains(&name))
        || path.starts_with("random.")
        || path.starts_with("numpy.random.")
}

/// Whether a program seeds random numbers.
fn seeds_random_numbers(program: &Program) -> bool {
    seeding_calls(program).next().is_some()
}

/// Whether a program draws other random numbers in each run.
pub fn draws_anew(program: &Program) -> bool {
    draws_random_numbers(program) && !seeds_random_numbers(program)
}

/// How often at most a program gives the same seed: where it does so twice, it draws the same
/// numbers twice. A function that seeds counts as often as the program calls it by name.
pub fn equal_seedings(program: &Program) -> usize {
    let nodes = &program.tree().nodes;
    let functions: Vec<&StmtFunctionDef> = nodes
        .iter()
        .filter_map(|node| node.node.as_stmt_function_def().copied())
        .collect();
    let calls_of = |name: &str| {
        let calls = nodes.iter().filter_map(|node| node.node.as_expr_call());
        let called = calls.filter(|call| match &*call.func {
            Expr::Name(callee) => callee.id == name,
            Expr::Attribute(callee) => callee.attr.as_str() == name,
            _ => false,
        });
        called.count()
    };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for call in seeding_calls(program) {
        let around = functions
            .iter()
            .filter(|def| def.range.contains_range(call.range))
            .min_by_key(|def| def.range.len());
        let times = around.map_or(1, |def| calls_of(&def.name).max(1));
        *counts.entry(program.slice(call.range)).or_default() += times;
    }
    counts.into_values().max().unwrap_or_default()
}

/// The program with other seeds in place of those that it writes out, each larger by a number; none
/// if it writes out none.
pub fn reseeded(program: &Program, by: u64) -> Option<String> {
    let literals = seeding_calls(program).filter_map(|call| call.arguments.args.first());
    let edits: Vec<Edit> = literals
        .filter_map(whole_number)
        .map(|(seed, range)| Edit::replace(range, (seed + by).to_string()))
        .collect();
    (!edits.is_empty()).then(|| splice(program.text(), &edits))
}

/// Where a program seeds random numbers.
pub(crate) fn seeding_ranges(program: &Program) -> impl Iterator<Item = TextRange> {
    seeding_calls(program).map(|call| call.range)
}

fn seeding_calls(program: &Program) -> impl Iterator<Item = &ExprCall> {
    let calls = program
        .tree()
        .nodes
        .iter()
        .filter_map(|node| match node.node {
            AnyNodeRef::ExprCall(call) => Some(call),
            _ => None,
        });
    calls.filter(|call| {
        let method = call.func.as_attribute_expr().map(|method| &*method.attr);
        let name = call.func.as_name_expr().map(|name| &*name.id);
        let called = method.or(name).unwrap_or_default();
        matches!(called, "manual_seed" | "seed" | "default_rng") && !call.arguments.is_empty()
    })
}

/// The program with a seed after its first imports for each source of random numbers that it
/// imports, and the inserted calls. None if it imports no such source.
pub fn seeded(program: &Program, seed: u32) -> Option<(String, String)> {
    let head = &program.body()[..first_of_body(program.body())];
    let mut lines = Vec::new();
    for statement in head {
        match statement {
            Stmt::Import(import) => {
                lines.extend(import.names.iter().filter_map(|alias| call(alias, seed)));
            }
            Stmt::ImportFrom(it)
                if it
                    .module
                    .as_ref()
                    .is_some_and(|module| module.as_str() == "random") =>
            {
                // The program may use the name `random` for the function of that name.
                lines.push("from random import seed".to_owned());
                lines.push(format!("seed({seed})"));
            }
            _ => {}
        }
    }
    lines.dedup();
    let last = head.last().filter(|_| !lines.is_empty())?;
    let text = program.text();
    let newline = newline_of(text);
    let (before, after) = text.split_at(last.end().into());
    let added: String = lines
        .iter()
        .flat_map(|line| [newline, line.as_str()])
        .collect();
    let calls = lines
        .into_iter()
        .filter(|line| !line.starts_with("from"))
        .collect::<Vec<_>>()
        .join(", ");
    let text = format!("{before}{added}{after}");
    program
        .sibling(text.as_str())
        .is_ok()
        .then_some((text, calls))
}

/// The call that seeds an imported source of random numbers.
fn call(alias: &Alias, seed: u32) -> Option<String> {
    let module = alias.name.as_str();
    let name = alias
        .asname
        .as_ref()
        .map_or(module.split('.').next().unwrap_or(module), |name| {
            name.as_str()
        });
    match module.split('.').next()? {
        "torch" if alias.asname.is_none() || module == "torch" => {
            Some(format!("{name}.manual_seed({seed})"))
        }
        "random" => Some(format!("{name}.seed({seed})")),
        "numpy" if alias.asname.is_none() || module == "numpy" => {
            Some(format!("{name}.random.seed({seed})"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(&str, &str)>) {
        let found = seeded(&Program::parse(text).unwrap(), 3);
        assert_eq!(
            found
                .as_ref()
                .map(|(text, calls)| (text.as_str(), calls.as_str())),
            expected
        );
    }

    #[test]
    fn seeds_are_known_by_the_call() {
        let seeds = |text: &str| seeds_random_numbers(&Program::parse(text).unwrap());
        assert!(seeds("import torch\ntorch.manual_seed(0)\n"));
        assert!(seeds("from random import seed\nseed(3)\n"));
        assert!(seeds("g = torch.Generator().manual_seed(1)\n"));
        assert!(!seeds(
            "import numpy as np\nnp.random.default_rng()\nseed = 3\n"
        ));
    }

    #[test]
    fn draws_are_found_behind_aliases() {
        let draws = |text| draws_random_numbers(&Program::parse(text).unwrap());
        assert!(draws("from torch import randint as r\nr(3, (2,))\n"));
        assert!(draws("import numpy as np\nnp.random.default_rng()\n"));
        assert!(draws("import random\nrandom.choice([1])\n"));
        assert!(draws("from torch import nn\nnn.Linear(2, 3)\n"));
        assert!(!draws(
            "import torch\ntorch.ones(2)\nrandn(2)\ntorch.nn.functional.relu(x)\n"
        ));
    }

    #[test]
    fn what_is_drawn_once_is_not_drawn_each_time() {
        let draws =
            |text: &str| draws_each_time(&Program::parse(format!("import torch\n{text}")).unwrap());
        assert!(draws("def f(): return torch.randn(2)\n"));
        assert!(draws("x = [torch.rand(y) for y in z]\n"));
        assert!(draws("while x:\n    x = torch.rand(1) < 0.9\n"));
        assert!(!draws("x = torch.randn(2)\n"));
        assert!(!draws("def f(): return torch.nn.Linear(2, 2)\n"));
    }

    #[test]
    fn each_source_is_seeded_once_behind_the_imports() {
        check(
            "import torch as t, numpy as np\nimport os\nf()\n",
            Some((
                "import torch as t, numpy as np\nimport os\nt.manual_seed(3)\nnp.random.seed(3)\nf()\n",
                "t.manual_seed(3), np.random.seed(3)",
            )),
        );
        check(
            "import torch\nimport torch.nn as nn\nimport torch.fx\nf()",
            Some((
                "import torch\nimport torch.nn as nn\nimport torch.fx\ntorch.manual_seed(3)\nf()",
                "torch.manual_seed(3)",
            )),
        );
        check(
            "from random import random\r\nf()\r\n",
            Some((
                "from random import random\r\nfrom random import seed\r\nseed(3)\r\nf()\r\n",
                "seed(3)",
            )),
        );
    }

    #[test]
    fn equal_seeds_are_counted() {
        let count = |text: &str| equal_seedings(&Program::parse(text).unwrap());
        assert_eq!(count("t.manual_seed(2)\nf()\nt.manual_seed(2)\n"), 2);
        assert_eq!(count("t.manual_seed(2)\nrandom.seed(2)\n"), 1);
        assert_eq!(count("f()\n"), 0);
        assert_eq!(count("def f():\n    t.manual_seed(2)\nf()\na.f()\n"), 2);
        assert_eq!(count("def f():\n    t.manual_seed(2)\n"), 1);
    }

    #[test]
    fn programs_without_random_numbers_stay() {
        check("import os\nf()\n", None);
        check("f()\nimport random\n", None);
        check("import os; f()\n", None);
        check(
            "import random; f()\n",
            Some(("import random\nrandom.seed(3); f()\n", "random.seed(3)")),
        );
    }
}
