//! Known patterns of bugs whose evidence a failure shows. A pattern that fits is a guess, with the
//! check that confirms it. Pure. Called by the diagnosis.

use minrepro_reducers::torch::diagnosis::{PatternEvidence, patterns};
use regex::Regex;
use serde::Serialize;

use super::{
    classify::EvidenceOfRuns,
    findings::{ProbedException, SourcePlace},
};
use crate::{runner::End, text::first_line};

/// A known pattern that the evidence fits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct PatternFinding {
    /// Its name in the table.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// The evidence that fits it.
    pub by: String,
    /// The check that confirms it.
    pub check: String,
    /// Where the pattern was looked up.
    pub source: String,
}

/// The patterns whose evidence a failure shows; `python` is the version of its interpreter.
pub(super) fn matching(cx: &EvidenceOfRuns<'_>, python: Option<(u8, u8)>) -> Vec<PatternFinding> {
    let rows = patterns().patterns.iter();
    let found = rows.filter_map(|row| {
        let mut evidence = row.evidence.iter();
        let by = evidence.find_map(|evidence| shown(cx, evidence, python))?;
        Some(PatternFinding {
            id: row.id.clone(),
            name: row.name.clone(),
            by,
            check: row.check.clone(),
            source: row.source.clone(),
        })
    });
    found.collect()
}

/// How a failure shows an evidence, in words; none if it does not.
fn shown(
    cx: &EvidenceOfRuns<'_>,
    evidence: &PatternEvidence,
    python: Option<(u8, u8)>,
) -> Option<String> {
    if evidence.compiled && !cx.passes_without() {
        return None;
    }
    if let Some(least) = evidence.python
        && python.is_none_or(|version| version < least)
    {
        return None;
    }
    if evidence.timeout {
        if cx.outcome.end != End::Timeout {
            return None;
        }
        let frames = cx.frames();
        let by = in_order(&evidence.passes, &frames)?;
        return Some(format!("the run does not end; {by}"));
    }
    let mut exceptions = cx.findings.exceptions.iter();
    exceptions.find_map(|raised| of_exception(cx, evidence, raised))
}

/// The same for one exception.
fn of_exception(
    cx: &EvidenceOfRuns<'_>,
    evidence: &PatternEvidence,
    raised: &ProbedException,
) -> Option<String> {
    let class = raised.short_class();
    let is_message = |regex: &String| matches(regex, &raised.message);
    let is_known = || {
        let words = regex::escape(raised.message.trim_matches(['\'', '"']));
        let whole = format!(r"(^|\W){words}(\W|$)");
        matches(&whole, cx.program.text())
    };
    if !evidence.classes.iter().any(|named| named == class)
        || !evidence.message.iter().all(is_message)
        || evidence.unknown && is_known()
    {
        return None;
    }
    let innermost = raised.frames.last();
    if let Some(regex) = &evidence.place
        && !innermost.is_some_and(|frame| matches(regex, &described(frame)))
    {
        return None;
    }
    in_order(&evidence.passes, &raised.frames)?;
    let at = innermost.map_or_else(String::new, |frame| {
        format!(" at {} `{}`", frame.shown(), frame.code)
    });
    Some(format!("{class}: {}{at}", first_line(&raised.message)))
}

/// The frames that match some expressions, one after the other; none if one matches no frame.
fn in_order(expressions: &[String], frames: &[SourcePlace]) -> Option<String> {
    let mut left = frames.iter();
    let mut found = Vec::new();
    for regex in expressions {
        let frame = left.find(|frame| matches(regex, &described(frame)))?;
        found.push(format!("{} `{}`", frame.shown(), frame.code));
    }
    Some(found.join(", then "))
}

fn described(frame: &SourcePlace) -> String {
    format!("{} {}: {}", frame.file, frame.function, frame.code)
}

fn matches(regex: &str, text: &str) -> bool {
    Regex::new(regex).is_ok_and(|regex| regex.is_match(text))
}

#[cfg(test)]
mod tests {
    use minrepro_reducers::{cost::Cost, syntax::Program};

    use super::*;
    use crate::{
        diagnose::{
            findings::Findings,
            ladder::{Rung, RungKind, RungOutcome},
            trace::CompilerTrace,
        },
        runner::{Captured, Outcome, Timing, TracebackFrame},
    };

    const SCRIPT: &str = "import torch\nf = torch.compile(g)\nout, extra = f(x)\n";

    /// A failure, with the frames of its exception or death as `FILE FUNCTION: CODE`.
    struct Failure<'a> {
        raised: Option<(&'a str, &'a str)>,
        frames: &'a [&'a str],
        python: (u8, u8),
        passes_without: bool,
    }

    impl Failure<'_> {
        fn patterns(&self) -> Vec<String> {
            let program = Program::parse(SCRIPT).unwrap();
            let frames = self.frames.iter().map(|frame| {
                let (place, code) = frame.split_once(": ").unwrap();
                let (file, function) = place.split_once(' ').unwrap();
                SourcePlace {
                    file: file.to_owned(),
                    line: 1,
                    function: function.to_owned(),
                    code: code.to_owned(),
                    own: file == "x.py",
                }
            });
            let frames: Vec<SourcePlace> = frames.collect();
            let of_death = frames.iter().map(|frame| TracebackFrame {
                file: frame.file.clone(),
                line: 1,
                function: frame.function.clone(),
                code: frame.code.clone(),
            });
            let outcome = Outcome {
                end: if self.raised.is_some() {
                    End::Exit(1)
                } else {
                    End::Timeout
                },
                timing: Timing::default(),
                stdout: Captured::default(),
                stderr: Captured::default(),
                exception: None,
                stack: of_death.collect(),
                other_stacks: Vec::new(),
                trace: None,
            };
            let exceptions = self.raised.iter().map(|(class, message)| ProbedException {
                class: (*class).to_owned(),
                message: (*message).to_owned(),
                frames: frames.clone(),
                ..ProbedException::default()
            });
            let findings = Findings {
                exceptions: exceptions.collect(),
                ..Findings::default()
            };
            let rung = Rung {
                kind: RungKind::Backend(minrepro_reducers::torch::environment::CompilerRank::None),
                name: String::new(),
                outcome: if self.passes_without {
                    RungOutcome::Passes
                } else {
                    RungOutcome::Shows
                },
                seen: String::new(),
            };
            let cx = EvidenceOfRuns {
                program: &program,
                rank: Cost::of(&program).environment,
                outcome: &outcome,
                findings: &findings,
                trace: &CompilerTrace::default(),
                rungs: &[rung],
                accuracy: &[],
            };
            let found = matching(&cx, Some(self.python)).into_iter();
            found.map(|pattern| pattern.id).collect()
        }
    }

    /// Checks that an exception under Python 3.13 that needs the compiler fits these patterns.
    #[track_caller]
    fn check(class: &str, message: &str, frames: &[&str], expected: &[&str]) {
        let failure = Failure {
            raised: Some((class, message)),
            frames,
            python: (3, 13),
            passes_without: true,
        };
        assert_eq!(failure.patterns(), expected);
    }

    #[test]
    fn a_key_that_is_removed_twice_is_incomplete() {
        let pop = "torch/a.py end: handle = self._open.pop(name)";
        check("KeyError", "'fwd_0'", &[pop], &["incomplete-key"]);
        let by_name = "torch/a.py find: return table[module.__name__]";
        check("KeyError", "'m'", &[by_name], &["incomplete-key"]);
        // The script gave the key itself.
        check("KeyError", "'extra'", &[pop], &[]);
        // The entry was never there.
        let lookup = "torch/a.py find: return table[index]";
        check("KeyError", "3000", &[lookup], &[]);
        // It is the script's own table.
        check("KeyError", "'fwd_0'", &["x.py f: t.pop(key)"], &[]);
        check("IndexError", "pop from empty list", &[pop], &[]);
    }

    #[test]
    fn a_state_function_that_dynamo_names_may_be_registered_in_part() {
        let frame = "torch/_dynamo/variables/torch.py call_function: unimplemented(fn)";
        let named = "call to torch.compiler.is_exporting";
        let expected = ["state-function"];
        check("torch._dynamo.exc.Unsupported", named, &[frame], &expected);
        let handler =
            "torch/_dynamo/variables/torch.py handle_tracing_state_functions: return states[value]";
        check("KeyError", "<function f>", &[handler], &expected);
        // Another function, and the same one outside Dynamo.
        let other = "call to torch.compiler.is_exporting_to";
        check("torch._dynamo.exc.Unsupported", other, &[frame], &[]);
        check("AssertionError", named, &["torch/nn/a.py f: assert x"], &[]);
    }

    #[test]
    fn an_attribute_that_a_device_object_lacks_is_missing_in_its_binding() {
        let frame = "torch/cuda/a.py arch: return properties.gcnArchName";
        let lacks = "'torch._C._CudaDeviceProperties' object has no attribute 'gcnArchName'";
        check("AttributeError", lacks, &[frame], &["device-property"]);
        let module = "module 'torch._C' has no attribute '_xpu_getMemoryInfo'";
        check("AttributeError", module, &[frame], &["device-property"]);
        // The script asks for it; another object lacks it.
        check("AttributeError", lacks, &["x.py f: p.gcnArchName"], &[]);
        let other = "'torch._C.Graph' object has no attribute 'gcnArchName'";
        check("AttributeError", other, &[frame], &[]);
    }

    #[test]
    fn a_living_object_is_a_cycle_only_since_the_new_collector() {
        let failure = |python, code| Failure {
            raised: Some(("AssertionError", "")),
            frames: code,
            python,
            passes_without: false,
        };
        let dead = ["x.py <module>: assert ref() is None"].as_slice();
        assert_eq!(failure((3, 14), dead).patterns(), ["reference-cycle"]);
        assert!(failure((3, 13), dead).patterns().is_empty());
        let other = ["x.py <module>: assert find() is None"].as_slice();
        assert!(failure((3, 14), other).patterns().is_empty());
    }

    #[test]
    fn a_cleanup_that_fails_may_need_not_exist() {
        let close = "torch/utils/a.py __del__: self._file.close()";
        let message = "'A' object has no attribute '_file'";
        check("AttributeError", message, &[close], &["needless-cleanup"]);
        let start = "torch/utils/a.py __init__: self._file.open()";
        check("AttributeError", message, &[start], &[]);
        let own = "x.py __del__: self._file.close()";
        check("AttributeError", message, &[own], &[]);
    }

    #[test]
    fn a_lock_is_taken_twice_where_the_stack_takes_it_twice() {
        let held = "Deadlock: lock '/c/a.lock' is already held by a different instance";
        let outer = "torch/_inductor/a.py load: with self._lock:";
        let inner = "torch/_inductor/b.py save: with self._lock:";
        check("RuntimeError", held, &[outer], &["held-lock"]);
        let hang = |frames: &[&str]| {
            let failure = Failure {
                raised: None,
                frames,
                python: (3, 13),
                passes_without: false,
            };
            failure.patterns()
        };
        assert_eq!(hang(&[outer, inner]), ["held-lock"]);
        // One lock that another process holds, and locks of the script.
        assert!(hang(&[outer]).is_empty());
        let own = "x.py f: with lock:";
        assert!(hang(&[own, own]).is_empty());
        check("RuntimeError", "the block is held", &[outer], &[]);
    }

    #[test]
    fn a_result_is_changed_where_it_is_whole_without_the_compiler() {
        let frames = ["x.py <module>: out, extra = f(x)"].as_slice();
        let message = "cannot unpack non-iterable Tensor object";
        check("TypeError", message, frames, &["changed-result"]);
        let failure = Failure {
            raised: Some(("TypeError", message)),
            frames,
            python: (3, 13),
            passes_without: false,
        };
        assert!(failure.patterns().is_empty());
        let literal = ["x.py <module>: out, extra = value"].as_slice();
        check("TypeError", message, literal, &[]);
    }
}
