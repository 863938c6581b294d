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

pub(super) fn find(cx: &mut ConditionFinder<'_>, tree: &Tree<'_>, set: &[(String, String)]) {
    let variable =
        |kind, name: &str, instead: Option<&str>, set: &[(&str, Option<&str>)]| Condition {
            kind,
            name: name.to_owned(),
            instead: instead.map(str::to_owned),
            line: None,
            change: ConditionChange::Variables(
                set.iter()
                    .map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned)))
                    .collect(),
            ),
        };
    let mut seed = None;
    for (name, value) in set {
        if name == "PYTHONHASHSEED" {
            seed = Some(value.as_str());
        } else {
            let shown = format!("{name}={value}");
            cx.conditions.push(variable(
                ConditionKind::Variable,
                &shown,
                None,
                &[(name, None)],
            ));
        }
    }
    let mut threaded = false;
    let hashed = is_hashed(tree);
    let program = cx.program;
    let mut own = Vec::new();
    for node in &tree.nodes {
        match node.node {
            AnyNodeRef::StmtImport(import) => {
                threaded |= import
                    .names
                    .iter()
                    .any(|alias| is_threaded(alias.name.as_str()));
            }
            AnyNodeRef::StmtImportFrom(import) => {
                threaded |= import
                    .module
                    .as_ref()
                    .is_some_and(|module| is_threaded(module.as_str()));
            }
            AnyNodeRef::StmtAssign(assign) if assign.targets.iter().all(is_of_environment) => {
                own.extend(cx.without(assign.range).map(|edits| (assign.range, edits)));
            }
            _ => {}
        }
    }
    for (at, edits) in own {
        cx.add(ConditionKind::Variable, program.slice(at), None, at, &edits);
    }
    if hashed || seed.is_some() {
        let now = seed.unwrap_or("0");
        let other = now
            .parse()
            .map_or(1, |seed: u32| seed.wrapping_add(1))
            .to_string();
        let shown = format!("PYTHONHASHSEED={now}");
        cx.conditions.push(variable(
            ConditionKind::HashSeed,
            &shown,
            Some(&other),
            &[("PYTHONHASHSEED", Some(other.as_str()))],
        ));
    }
    let sets_threads = set.iter().any(|(name, _)| name.ends_with("_NUM_THREADS"));
    if threaded && !sets_threads {
        let two = [
            ("OMP_NUM_THREADS", Some("2")),
            ("MKL_NUM_THREADS", Some("2")),
        ];
        cx.conditions.push(variable(
            ConditionKind::Threads,
            "one thread",
            Some("two"),
            &two,
        ));
    }
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

/// Whether a module may use several threads.
fn is_threaded(module: &str) -> bool {
    THREADED.contains(&module.split('.').next().unwrap_or(module))
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
