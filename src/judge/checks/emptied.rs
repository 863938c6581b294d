//! Whether a candidate makes tensors without elements where the script makes none. To most of
//! PyTorch an empty tensor is a special case, which fails for reasons of its own, often in the same
//! words.

use minrepro_reducers::{syntax::Program, torch::emptiness::makes_empty_tensors};
use serde_json::Value;

use super::super::{
    check::{Applied, Check, Checks, Kind, Objection, Script, Shown},
    probe::Probe,
};
use crate::{oracle::Verdict, runner::RunError};

pub(super) const KIND: Kind = Kind {
    id: "emptied",
    establish,
    recall: |_| Some(Box::new(Emptied)),
};

/// Refuses candidates that make empty tensors.
#[derive(Debug)]
struct Emptied;

/// Applies where the script makes none.
#[expect(clippy::unnecessary_wraps, reason = "other kinds run the script and may fail")]
fn establish(script: &Script<'_>, _: &Checks) -> Applied {
    let program = script.program;
    let applies = program.text().contains("torch") && !makes_empty_tensors(program);
    Ok(applies.then(|| Box::new(Emptied) as Box<dyn Check>))
}

impl Check for Emptied {
    fn review(&self, _: &Probe<'_>, shown: &[Shown<'_>]) -> Result<Vec<Objection>, RunError> {
        let objection = |candidate: &Shown<'_>| Objection {
            verdict: self.review_without_runs(candidate),
            ..Objection::default()
        };
        Ok(shown.iter().map(objection).collect())
    }

    fn review_without_runs(&self, shown: &Shown<'_>) -> Option<Verdict> {
        self.is_hopeless(shown.program).then_some(Verdict::Vacuous)
    }

    fn is_hopeless(&self, program: &Program) -> bool {
        makes_empty_tensors(program)
    }

    fn claim(&self) -> Option<String> {
        None
    }

    fn findings(&self) -> Value {
        Value::Bool(true)
    }
}
