//! The environment of a diagnosis: interpreter, PyTorch, tools, and the variables and settings that
//! differ from the defaults.

use serde::Serialize;

use super::findings::Findings;
use crate::judge::Subject;

/// Beginnings of variables that change PyTorch's behaviour.
const TELLING: &[&str] = &[
    "TORCH",
    "PYTORCH",
    "CUDA",
    "TRITON",
    "NCCL",
    "GLOO",
    "OMP_",
    "MKL_",
    "KMP_",
    "PYTHON",
    "CXX",
    "CC",
    "HIP_",
    "ROCR_",
    "CUBLAS_",
    "LD_PRELOAD",
    "ENABLE_AOT",
];

/// The environment of a diagnosis.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
pub struct EnvironmentFacts {
    /// The interpreter's answers about itself and PyTorch: names and values.
    pub facts: Vec<(String, String)>,
    /// The variables of the user's that runs are given and that PyTorch or Python minds.
    pub variables: Vec<String>,
    /// The settings of the compiler that the script changes.
    pub settings: Vec<String>,
}

impl EnvironmentFacts {
    pub(super) fn of(subject: &Subject, fresh: &Findings, settings: Vec<String>) -> Self {
        let facts = fresh.environment.iter();
        let facts = facts.filter_map(|(name, value)| Some((name.clone(), value.clone()?)));
        let inherited = subject.runner.inherited_variables();
        let own = subject.env();
        let all = inherited.into_iter().chain(own);
        let variables = all.filter(|(name, _)| TELLING.iter().any(|start| name.starts_with(start)));
        Self {
            facts: facts.collect(),
            variables: variables
                .map(|(name, value)| format!("{name}={value}"))
                .collect(),
            settings,
        }
    }

    /// The version of Python: major, minor.
    pub(super) fn python(&self) -> Option<(u8, u8)> {
        let mut numbers = self.fact("python")?.split('.');
        let mut number = || numbers.next()?.parse().ok();
        Some((number()?, number()?))
    }

    /// A fact by its name.
    pub fn fact(&self, name: &str) -> Option<&str> {
        let found = self.facts.iter().find(|(its, _)| its == name);
        found.map(|(_, value)| value.as_str())
    }
}
