//! Settings of a call that decide which bug it can show: which of several implementations does the
//! work, and how far numbers may be apart. Goes only by names. Called by the judge, which compares
//! a candidate with the script.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::{
    analysis::names::ImportedNames,
    syntax::{AnyNodeRef, Program, Ranged, ast::ExprCall},
};

/// The settings of a function, each with the value that PyTorch takes where it is not given.
type SettingTable = &'static [(&'static str, &'static str)];

/// Functions with their settings.
const SETTINGS: &[(&[&str], SettingTable)] = &[
    (
        &[
            "torch.export.export",
            "torch.export.export_for_training",
            "torch.export.draft_export",
        ],
        &[("strict", "False")],
    ),
    (
        &[
            "torch.fx.experimental.proxy_tensor.make_fx",
            "functorch.make_fx",
        ],
        &[("tracing_mode", "\"real\""), ("pre_dispatch", "False")],
    ),
    (
        &[
            "torch.utils.checkpoint.checkpoint",
            "torch.utils.checkpoint.checkpoint_sequential",
        ],
        &[("use_reentrant", "True")],
    ),
    (&["torch.onnx.export"], &[("dynamo", "True")]),
    (
        &["torch.autograd.functional.jacobian"],
        &[("strategy", "\"reverse-mode\""), ("vectorize", "False")],
    ),
    (
        &["torch.autograd.gradcheck", "torch.autograd.gradgradcheck"],
        &[
            ("fast_mode", "False"),
            ("check_forward_ad", "False"),
            ("check_backward_ad", "True"),
            ("check_batched_grad", "False"),
        ],
    ),
    (
        &[
            "torch.allclose",
            "torch.isclose",
            "numpy.allclose",
            "numpy.isclose",
        ],
        &[("rtol", "1e-5"), ("atol", "1e-8"), ("equal_nan", "False")],
    ),
];

/// The value that a call gives a setting.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Value {
    /// A number, a string or a constant that is written out.
    Written(String),
    /// Anything else.
    Computed,
}

/// The values of the settings in the calls of one function.
type SettingValues = BTreeMap<String, Value>;

/// The settings of a program's calls, by their functions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSettings {
    calls: BTreeMap<String, BTreeSet<SettingValues>>,
    /// All that the program writes out.
    written: BTreeSet<String>,
}

impl CallSettings {
    /// Those of a program.
    pub fn of(program: &Program) -> Self {
        let tree = program.tree();
        let names = ImportedNames::of(tree);
        let mut found = Self::default();
        for node in &tree.nodes {
            if let AnyNodeRef::ExprCall(call) = node.node
                && let Some(path) = names.path(&call.func)
                && let Some(settings) = settings_of(&path)
            {
                let given = given(program, call, settings);
                found.calls.entry(path).or_default().insert(given);
            }
            if let Some(literal) = literal(program, node.node) {
                found.written.insert(literal);
            }
        }
        found
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.calls.values().flatten().all(BTreeMap::is_empty)
    }

    /// Whether each call of a candidate has the settings of a call of this program: those that are
    /// written out are the same, or left out where that means the same.
    pub fn are_kept_by(&self, candidate: &Self) -> bool {
        candidate.calls.iter().all(|(path, calls)| {
            let settings = settings_of(path).unwrap_or_default();
            let own = self.calls.get(path);
            own.is_none_or(|own| {
                calls.iter().all(|its| {
                    own.iter().any(|given| {
                        let mut all = settings.iter();
                        all.all(|(name, usual)| {
                            self.is_kept(given.get(*name), its.get(*name), usual)
                        })
                    })
                })
            })
        })
    }

    fn is_kept(&self, own: Option<&Value>, its: Option<&Value>, usual: &str) -> bool {
        match (own, its) {
            (None, None) | (Some(Value::Computed), Some(Value::Computed)) => true,
            (Some(Value::Written(own)), None) => own == usual,
            (Some(Value::Written(own)), Some(Value::Written(its))) => own == its,
            (Some(Value::Computed), Some(Value::Written(its))) => self.written.contains(its),
            _ => false,
        }
    }
}

fn settings_of(path: &str) -> Option<SettingTable> {
    let mut all = SETTINGS.iter();
    all.find_map(|(functions, settings)| functions.contains(&path).then_some(*settings))
}

fn given(program: &Program, call: &ExprCall, settings: SettingTable) -> SettingValues {
    let keywords = call.arguments.keywords.iter();
    let of_settings = keywords.filter_map(|keyword| {
        let name = keyword.arg.as_ref()?.as_str();
        let is_setting = settings.iter().any(|(setting, _)| *setting == name);
        let written = literal(program, AnyNodeRef::from(&keyword.value));
        let value = written.map_or(Value::Computed, Value::Written);
        is_setting.then(|| (name.to_owned(), value))
    });
    of_settings.collect()
}

/// The text of a literal; strings in double quotes.
fn literal(program: &Program, node: AnyNodeRef<'_>) -> Option<String> {
    match node {
        AnyNodeRef::ExprStringLiteral(string) => Some(format!("{:?}", string.value.to_str())),
        AnyNodeRef::ExprNumberLiteral(_)
        | AnyNodeRef::ExprBooleanLiteral(_)
        | AnyNodeRef::ExprNoneLiteral(_) => Some(program.slice(node.range()).to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(script: &str, candidate: &str, expected: bool) {
        let of = |call: &str| {
            let head = "import torch, numpy as np\nfrom torch.utils.checkpoint import checkpoint\n";
            CallSettings::of(&Program::parse(format!("{head}{call}\n")).unwrap())
        };
        let is_kept = of(script).are_kept_by(&of(candidate));
        assert_eq!(is_kept, expected, "{script} | {candidate}");
    }

    #[test]
    fn what_selects_an_implementation_stays() {
        let strict = "torch.export.export(m, x, strict=True)";
        check(strict, "torch.export.export(m, x)", false);
        check(strict, "torch.export.export(n, strict=True)", true);
        check(strict, "f(m)", true);
        check(
            "torch.export.export(m, x, strict=False)",
            "torch.export.export(m)",
            true,
        );
        check("torch.export.export(m)", strict, false);
        check(
            "checkpoint(f, x, use_reentrant=False); checkpoint(f, x, use_reentrant=True)",
            "checkpoint(f, use_reentrant=True)",
            true,
        );
        check(
            "checkpoint(f, x, use_reentrant=False)",
            "checkpoint(f, x)",
            false,
        );
    }

    #[test]
    fn tolerances_stay() {
        let given = "a = 1e-3\ntorch.allclose(x, y, atol=a)";
        check(given, "torch.allclose(x, y, atol=1e-3)", true);
        check(given, "a = 0\ntorch.allclose(x, y, atol=a)", true);
        check(given, "torch.allclose(x, y, atol=0)", false);
        check(given, "torch.allclose(x, y)", false);
        check(
            "np.allclose(x, y, rtol=.1)",
            "np.allclose(x, y, rtol=.01)",
            false,
        );
    }

    #[test]
    fn most_programs_have_none() {
        let program = Program::parse("import torch\ntorch.compile(f, dynamic=True)\n").unwrap();
        assert!(CallSettings::of(&program).is_empty());
    }
}
