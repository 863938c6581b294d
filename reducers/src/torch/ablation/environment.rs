//! Conditions of the environment: variables, threads, the seed of string hashes.

use super::{Condition, ConditionChange, ConditionFinder, ConditionKind};
use crate::syntax::{
    AnyNodeRef, Program, Tree,
    ast::{Expr, ExprContext},
};

/// Modules that use several threads where they can.
const THREADED: &[&str] = &["torch", "numpy", "scipy", "sklearn"];

/// Names whose values depend on the hashes of strings.
const HASHED: &[&str] = &["set", "frozenset", "hash"];

/// The variable that seeds the hashes of strings.
const SEED: &str = "PYTHONHASHSEED";

pub(super) fn find(cx: &mut ConditionFinder<'_>, tree: &Tree<'_>, set: &[(String, String)]) {
    let seeds = set.iter().filter(|(name, _)| name == SEED);
    let seed = seeds.map(|(_, value)| value.as_str()).next_back();
    for (name, value) in set.iter().filter(|(name, _)| name != SEED) {
        let shown = format!("{name}={value}");
        let unset = variables(ConditionKind::Variable, &shown, None, &[(name, None)]);
        cx.conditions.push(unset);
    }
    let program = cx.program;
    let mut own = Vec::new();
    for node in &tree.nodes {
        if let AnyNodeRef::StmtAssign(assign) = node.node
            && assign.targets.iter().all(is_of_environment)
        {
            own.extend(cx.without(assign.range).map(|edits| (assign.range, edits)));
        }
    }
    for (at, edits) in own {
        cx.add(ConditionKind::Variable, program.slice(at), None, at, &edits);
    }
    if is_hashed(tree) || seed.is_some() {
        cx.conditions.push(other_seed(seed.unwrap_or("0")));
    }
    let sets_threads = set.iter().any(|(name, _)| name.ends_with("_NUM_THREADS"));
    if !sets_threads && tree.nodes.iter().any(|node| imports_threads(node.node)) {
        let two = ["OMP_NUM_THREADS", "MKL_NUM_THREADS"].map(|name| (name, Some("2")));
        let threads = variables(ConditionKind::Threads, "one thread", Some("two"), &two);
        cx.conditions.push(threads);
    }
}

/// A condition that other values of variables take away; none stands for a variable that is not
/// set.
fn variables(
    kind: ConditionKind,
    name: &str,
    instead: Option<&str>,
    set: &[(&str, Option<&str>)],
) -> Condition {
    let set = set.iter();
    let set = set.map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned)));
    Condition {
        kind,
        name: name.to_owned(),
        instead: instead.map(str::to_owned),
        line: None,
        change: ConditionChange::Variables(set.collect()),
    }
}

/// The condition that strings are hashed with a seed, which another takes away.
fn other_seed(seed: &str) -> Condition {
    let other = seed.parse().map_or(1, |seed: u32| seed.wrapping_add(1));
    let other = other.to_string();
    let set = [(SEED, Some(other.as_str()))];
    let shown = format!("{SEED}={seed}");
    variables(ConditionKind::HashSeed, &shown, Some(&other), &set)
}

/// Whether a program may depend on the hashes of strings.
pub fn minds_hashes(program: &Program) -> bool {
    is_hashed(program.tree())
}

fn is_hashed(tree: &Tree<'_>) -> bool {
    tree.nodes.iter().any(|node| match node.node {
        AnyNodeRef::ExprSet(_) | AnyNodeRef::ExprSetComp(_) => true,
        AnyNodeRef::ExprName(name) => {
            name.ctx == ExprContext::Load && HASHED.contains(&name.id.as_str())
        }
        _ => false,
    })
}

/// Whether a statement imports a module that may use several threads.
fn imports_threads(statement: AnyNodeRef<'_>) -> bool {
    let is_threaded = |module: &str| THREADED.contains(&module.split('.').next().unwrap_or(module));
    match statement {
        AnyNodeRef::StmtImport(import) => {
            let mut modules = import.names.iter().map(|alias| alias.name.as_str());
            modules.any(is_threaded)
        }
        AnyNodeRef::StmtImportFrom(import) => import.module.as_deref().is_some_and(is_threaded),
        _ => false,
    }
}

/// Whether a target of an assignment is an environment variable.
fn is_of_environment(target: &Expr) -> bool {
    let Expr::Subscript(entry) = target else {
        return false;
    };
    match &*entry.value {
        Expr::Attribute(attribute) => attribute.attr.as_str() == "environ",
        Expr::Name(name) => name.id.as_str() == "environ",
        _ => false,
    }
}
