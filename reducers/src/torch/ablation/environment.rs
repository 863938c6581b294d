//! What a program is run with: variables, threads, the seed of hashes.

use super::{Change, Condition, Found, Sort};
use crate::syntax::{
    AnyNodeRef, Program, Ranged, Tree,
    ast::{Expr, ExprContext},
};

/// Modules whose work is done by several threads where it may.
const THREADED: &[&str] = &["torch", "numpy", "scipy", "sklearn"];

/// Names of what is in an order that the hashes of texts decide.
const HASHED: &[&str] = &["set", "frozenset", "hash"];

pub(super) fn find(cx: &mut Found<'_>, tree: &Tree<'_>, set: &[(String, String)]) {
    let variable =
        |sort, name: &str, instead: Option<&str>, set: &[(&str, Option<&str>)]| Condition {
            sort,
            name: name.to_owned(),
            instead: instead.map(str::to_owned),
            line: None,
            change: Change::Variables(
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
            cx.conditions
                .push(variable(Sort::Variable, &shown, None, &[(name, None)]));
        }
    }
    let mut threaded = false;
    let hashed = is_hashed(tree);
    let program = cx.program;
    let mut own = Vec::new();
    for node in &tree.nodes {
        match node.node {
            AnyNodeRef::StmtImport(it) => {
                threaded |= it
                    .names
                    .iter()
                    .any(|alias| is_threaded(alias.name.as_str()));
            }
            AnyNodeRef::StmtImportFrom(it) => {
                threaded |= it
                    .module
                    .as_ref()
                    .is_some_and(|module| is_threaded(module.as_str()));
            }
            AnyNodeRef::StmtAssign(it) if it.targets.iter().all(is_of_environment) => {
                own.extend(cx.without(it.range()).map(|edits| (it.range(), edits)));
            }
            _ => {}
        }
    }
    for (at, edits) in own {
        cx.add(Sort::Variable, program.slice(at), None, at, &edits);
    }
    if hashed || seed.is_some() {
        let now = seed.unwrap_or("0");
        let other = now
            .parse()
            .map_or(1, |seed: u32| seed.wrapping_add(1))
            .to_string();
        let shown = format!("PYTHONHASHSEED={now}");
        cx.conditions.push(variable(
            Sort::HashSeed,
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
        cx.conditions
            .push(variable(Sort::Threads, "one thread", Some("two"), &two));
    }
}

/// Whether the hashes of texts may decide what a program does.
pub fn minds_hashes(program: &Program) -> bool {
    is_hashed(program.tree())
}

fn is_hashed(tree: &Tree<'_>) -> bool {
    tree.nodes.iter().any(|node| match node.node {
        AnyNodeRef::ExprSet(_) | AnyNodeRef::ExprSetComp(_) => true,
        AnyNodeRef::ExprName(it) => it.ctx == ExprContext::Load && HASHED.contains(&it.id.as_str()),
        _ => false,
    })
}

fn is_threaded(module: &str) -> bool {
    THREADED.contains(&module.split('.').next().unwrap_or(module))
}

/// Whether a target of an assignment is a variable of the environment.
fn is_of_environment(target: &Expr) -> bool {
    let Expr::Subscript(it) = target else {
        return false;
    };
    match &*it.value {
        Expr::Attribute(it) => it.attr.as_str() == "environ",
        Expr::Name(it) => it.id.as_str() == "environ",
        _ => false,
    }
}
