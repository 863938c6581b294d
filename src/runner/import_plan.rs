//! The imports of a zygote: the modules that a recorded run imported, each with the environment it
//! was imported in. Pure. Called by `warm` and `zygote`.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use serde::Serialize;

/// Variables with their new values; nothing for those that are removed.
pub(super) type EnvironmentChange = BTreeMap<String, Option<String>>;

/// The imports of a run that has ended.
#[derive(Clone, Debug, Serialize)]
pub(super) struct ImportPlan {
    /// Modules in the order of their first import, each with the environment it was imported in.
    modules: Vec<(String, usize)>,
    /// Environments, as changes of the run's own; the first is none.
    environments: Vec<EnvironmentChange>,
}

/// Modules that were imported in further environments are left to each run.
const ENVIRONMENTS: usize = 64;

impl Default for ImportPlan {
    fn default() -> Self {
        Self {
            modules: Vec::new(),
            environments: vec![EnvironmentChange::new()],
        }
    }
}

/// The imports of a zygote.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Imports {
    Planned(ImportPlan),
    /// Those of a run that is only running now.
    Followed {
        /// The file that the run notes them in, line by line; an empty line is the last.
        followed: PathBuf,
        /// Modules beside the script, which are left to each run.
        beside: BTreeSet<String>,
    },
}

impl ImportPlan {
    /// Reads the notes of a run. Modules `beside` the script are left to each run: they are being
    /// reduced, or belong to the script.
    pub(super) fn read(notes: &str, beside: &BTreeSet<String>) -> Self {
        let mut plan = Self::default();
        let mut known_modules = BTreeSet::new();
        for line in notes.lines() {
            let Ok((module, change)) = serde_json::from_str::<(String, EnvironmentChange)>(line)
            else {
                continue;
            };
            let top = module.split('.').next().unwrap_or_default();
            if beside.contains(top) || known_modules.contains(&module) {
                continue;
            }
            let known = plan.environments.iter().position(|known| *known == change);
            if known.is_none() && plan.environments.len() == ENVIRONMENTS {
                continue;
            }
            known_modules.insert(module.clone());
            let moment = known.unwrap_or_else(|| {
                plan.environments.push(change);
                plan.environments.len() - 1
            });
            plan.modules.push((module, moment));
        }
        plan
    }

    /// The files that the modules of a run were loaded from, by its notes.
    pub(super) fn files(notes: &str) -> impl Iterator<Item = PathBuf> {
        let file = |line| match serde_json::from_str::<[PathBuf; 1]>(line) {
            Ok([file]) => Some(file),
            Err(_) => None,
        };
        notes.lines().filter_map(file)
    }

    /// Whether something is imported in this environment.
    pub(super) fn fits(&self, wanted: &EnvironmentChange) -> bool {
        self.modules
            .iter()
            .any(|(_, moment)| self.environments[*moment] == *wanted)
    }

    /// The same modules, all imported in one environment.
    pub(super) fn within(&self, environment: EnvironmentChange) -> Self {
        let mut plan = Self::default();
        let moment = usize::from(!environment.is_empty());
        if moment == 1 {
            plan.environments.push(environment);
        }
        plan.modules = self
            .modules
            .iter()
            .map(|(name, _)| (name.clone(), moment))
            .collect();
        plan
    }
}

/// The plan that fits best: one of the `latest` used, or one made for an environment. If there is
/// none yet, the first one that did not fit is made again for that environment. A run that does not
/// fit that one either must be recorded.
pub(super) fn next_plan(
    plans: &mut Vec<ImportPlan>,
    latest: impl Iterator<Item = usize>,
    tried: &[usize],
    environment: Option<&EnvironmentChange>,
) -> Option<usize> {
    let fits = |plan: &usize| environment.is_none_or(|wanted| plans[*plan].fits(wanted));
    let found = latest
        .chain(0..plans.len())
        .find(|plan| !tried.contains(plan) && fits(plan));
    if let (None, [first], Some(wanted)) = (found, tried, environment) {
        let plan = plans[*first].within(wanted.clone());
        plans.push(plan);
        return Some(plans.len() - 1);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(name: &str) -> EnvironmentChange {
        EnvironmentChange::from([(name.to_owned(), Some("1".to_owned()))])
    }

    #[test]
    fn a_plan_is_made_anew_for_an_environment_once() {
        let modules = vec![("a".to_owned(), 1), ("b".to_owned(), 2)];
        let environments = vec![EnvironmentChange::new(), change("A"), change("B")];
        let mut plans = vec![ImportPlan {
            modules,
            environments,
        }];
        let mut next = |tried: &[usize], environment: Option<&EnvironmentChange>| {
            (
                next_plan(&mut plans, std::iter::empty(), tried, environment),
                plans.clone(),
            )
        };
        assert_eq!(next(&[], None).0, Some(0));
        for _ in 0..2 {
            assert_eq!(next(&[0], Some(&change("C"))).0, Some(1));
            assert_eq!(next(&[0], Some(&EnvironmentChange::new())).0, Some(2));
        }
        assert_eq!(next(&[], None).1.len(), 3);
        for (plan, environment) in [(1, change("C")), (2, EnvironmentChange::new())] {
            let made = next(&[], None).1.swap_remove(plan);
            assert!(made.fits(&environment));
            assert!(
                made.modules
                    .iter()
                    .all(|(_, moment)| made.environments[*moment] == environment)
            );
            // A run that finds yet another environment there imports in several.
            assert_eq!(next(&[0, plan], Some(&change("D"))).0, None);
        }
    }

    #[test]
    fn the_notes_of_a_run_become_a_plan() {
        let notes =
            "[\"a\",{}]\n[\"beside.b\",{}]\n[\"c\",{\"A\":\"1\"}]\n[\"a\",{\"A\":\"1\"}]\ntorn";
        let plan = ImportPlan::read(notes, &BTreeSet::from(["beside".to_owned()]));
        assert_eq!(
            plan.modules,
            [("a".to_owned(), 0), ("c".to_owned(), 1)].to_vec()
        );
        assert_eq!(plan.environments, [EnvironmentChange::new(), change("A")]);
    }
}
