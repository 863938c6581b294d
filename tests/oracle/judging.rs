//! What is the same bug and what is not, over outcomes made by hand.

use std::time::Duration;

use minrepro::{
    oracle::{Baseline, BaselineError, NotDerivable, Signature, Spec, Verdict, ledger},
    runner::{Captured, End, Outcome, Timing, traceback},
};
use proptest::{collection::vec, prelude::*};

pub(super) fn outcome(status: i32, stdout: &str, stderr: &str) -> Outcome {
    Outcome {
        stack: Vec::new(),
        other_stacks: Vec::new(),
        trace: None,
        end: End::Exit(status),
        timing: Timing {
            wall: Duration::from_millis(20),
            ..Timing::default()
        },
        stdout: Captured::whole(stdout),
        stderr: Captured::whole(stderr),
        exception: traceback::parse(stderr),
    }
}

/// A run that ends with an exception.
pub(super) fn raised(headline: &str) -> Outcome {
    raised_at("/tmp/run-1/x.py", "<module>", headline)
}

fn raised_at(file: &str, function: &str, headline: &str) -> Outcome {
    let script = "  File \"/tmp/run-1/x.py\", line 9, in <module>\n    main()\n";
    let text = format!(
        "Traceback (most recent call last):\n\
         {script}  File \"{file}\", line 3, in {function}\n    assert  here\n{headline}\n"
    );
    outcome(1, "", &text)
}

pub(super) fn given(text: &str, baseline: &Outcome) -> Result<Signature, BaselineError> {
    Baseline::new(&[Spec::parse(text).unwrap()], vec![baseline.clone(); 3]).map(|it| it.signature)
}

pub(super) fn derived(outcomes: &[Outcome]) -> Signature {
    Baseline::new(&[], outcomes.to_vec())
        .unwrap_or_else(|error| panic!("{error:?}"))
        .signature
}

#[track_caller]
fn check(outcomes: &[Outcome], expected: &str) -> Signature {
    let signature = derived(outcomes);
    assert_eq!(signature.to_string(), expected);
    signature
}

#[test]
fn an_error_of_the_compiler_is_the_same_however_it_is_reported() {
    let with_caches =
        raised("torch._inductor.exc.InductorError: CppCompileError: C++ compile error");
    let without = raised(
        "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\n\
         CppCompileError: C++ compile error",
    );
    let other = raised(
        "torch._dynamo.exc.BackendCompilerFailed: backend='eager' raised:\n\
         CppCompileError: C++ compile error",
    );
    for (text, baseline) in [
        ("InductorError: CppCompileError: C++", &with_caches),
        ("InductorError", &with_caches),
        ("BackendCompilerFailed: backend='inductor' raised", &without),
        ("CppCompileError: C++ compile error", &without),
    ] {
        let signature = given(text, baseline).unwrap();
        for outcome in [&with_caches, &without] {
            assert!(signature.matches(outcome), "{text}: {outcome:?}");
        }
    }
    assert!(
        !given("InductorError: CppCompileError", &with_caches)
            .unwrap()
            .matches(&other)
    );
}

#[test]
fn a_caught_and_printed_accident_is_not_the_bug() {
    let before = outcome(0, "start\nFAIL: results differ\n", "");
    for signature in [
        derived(std::slice::from_ref(&before)),
        given("FAIL", &before).unwrap(),
        given("stdout:FAIL", &before).unwrap(),
        given("/FAIL/", &before).unwrap(),
    ] {
        assert!(
            signature.matches(&outcome(0, "FAIL: results differ\n", "")),
            "{signature}"
        );
        for accident in [
            "FAIL: results differ: NameError: name 'x' is not defined\n",
            "FAIL: results differ, name 'x' is not defined\n",
            "FAIL: results differ: cannot import name 'a' from 'b' (unknown location)\n",
            "FAIL: results differ (No module named 'numpyy')\n",
            "FAIL: results differ: cannot access local variable 'y' where it is not associated \
             with a value\n",
            "FAIL: results differ: local variable 'y' referenced before assignment\n",
            "FAIL: results differ: invalid syntax (<string>, line 1)\n",
        ] {
            assert!(
                !signature.matches(&outcome(0, accident, "")),
                "{signature} on {accident}"
            );
        }
        // What else is printed does not matter.
        assert!(signature.matches(&outcome(
            0,
            "skipped: name 'x' is not defined\nFAIL: results differ\n",
            ""
        )));
    }
    // Unless that is the bug.
    let named = outcome(0, "FAIL: name 'x' is not defined\n", "");
    for signature in [
        derived(std::slice::from_ref(&named)),
        given("FAIL", &named).unwrap(),
        given("stdout:name 'x'", &named).unwrap(),
    ] {
        assert!(signature.matches(&named), "{signature}");
    }
}

#[test]
fn an_exit_status_alone_is_not_shown_by_a_crash() {
    let before = outcome(1, "checked 3 things\n", "");
    for signature in [
        derived(std::slice::from_ref(&before)),
        given("exit:1", &before).unwrap(),
    ] {
        assert!(signature.matches(&before));
        assert!(
            !signature.matches(&raised(
                "TypeError: f() missing 1 required positional argument: 'a'"
            )),
            "{signature}"
        );
    }
    // Nor by another crash, where the script itself crashes.
    let crashing = given("exit:1", &raised("ValueError: a")).unwrap();
    assert!(
        crashing.matches(&raised("ValueError: b")) && !crashing.matches(&raised("TypeError: b"))
    );
    let failing = outcome(1, "case 1 ok\nFAIL: sums differ\n", "");
    assert_eq!(
        derived(&[failing]).to_string(),
        "exit:1 and stdout:FAIL: sums differ"
    );
}

#[test]
fn classes_as_people_write_them() {
    let own = raised("MyError: own");
    for text in [
        "__main__.MyError: own",
        "__main__.MyError",
        "builtins.MyError: own",
        "MyError:",
    ] {
        assert!(given(text, &own).is_ok(), "{text}");
    }
    let library = raised("pkg.mod.Cls: msg");
    for (text, fits) in [
        ("mod.Cls", true),
        ("Cls", true),
        ("pkg.mod.Cls: msg", true),
        ("od.Cls", false),
        ("other.Cls", false),
        ("Mod.Cls", false),
    ] {
        assert_eq!(given(text, &library).is_ok(), fits, "{text}");
    }
}

#[test]
fn what_is_shown_can_be_given_back() {
    for baseline in [
        raised("RuntimeError: <A object at 0x7f12> of shape (3, 4) is bad"),
        raised("AssertionError"),
        raised_at(
            "/v/lib/python3.11/site-packages/torch/_inductor/ir.py",
            "simplify",
            "AssertionError",
        ),
        raised("ValueError: plain"),
        outcome(0, "value 12 gives RuntimeError: 13 is bad\n", ""),
        outcome(3, "", "fatal: the config 12 is broken\n"),
        Outcome {
            end: End::Signal(11),
            ..outcome(0, "", "")
        },
    ] {
        let signature = derived(std::slice::from_ref(&baseline));
        let typed: Vec<Spec> = signature
            .to_arguments()
            .iter()
            .map(|it| Spec::parse(it).unwrap())
            .collect();
        let again = Baseline::new(&typed, vec![baseline]).unwrap().signature;
        assert_eq!(again, signature, "{typed:?}");
    }
}

#[test]
fn the_place_stands_in_for_an_empty_message() {
    let library = |folder: &str, line: u32| {
        let text = format!(
            "Traceback (most recent call last):\n  File \"/tmp/run-{line}/x.py\", line 9, in \
             <module>\n    f()\n  File \"{folder}/torch/_inductor/ir.py\", line {line}, in \
             simplify\n    assert a\nAssertionError\n"
        );
        outcome(1, "", &text)
    };
    let signature = check(
        &[
            library("/a/site-packages", 1),
            library("/b/site-packages", 2),
        ],
        "AssertionError and raised in _inductor/ir.py, simplify(), by `assert a`",
    );
    assert!(!signature.matches(&raised("AssertionError")));
    // In a thread the script is not the first frame, and its folder changes with each run.
    let thread = |run: u32| {
        outcome(
            0,
            "",
            &format!(
                "Exception in thread Thread-1 (f):\n\
                 Traceback (most recent call last):\n  File \"/usr/lib/python3.11/threading.py\", \
                 line 1045, in _bootstrap_inner\n    self.run()\n  File \"/tmp/run-{run}/x.py\", \
                 line 3, in f\n    assert x\nAssertionError\n"
            ),
        )
    };
    check(
        &[thread(1), thread(2)],
        "AssertionError and raised by `assert x`",
    );
    // The wrapper's message says no more than the wrapped one's class.
    check(
        &[raised_at(
            "/v/site-packages/torch/_inductor/ir.py",
            "f",
            "torch._inductor.exc.InductorError: AssertionError: \n\n\
             Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace (please do this especially if \
             you're reporting a bug to PyTorch).",
        )],
        "InductorError: AssertionError and raised in _inductor/ir.py, f(), by `assert here`",
    );
}

#[test]
fn what_the_messages_of_pytorch_leave() {
    for (headline, expected) in [
        (
            "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\n\
             RuntimeError: expected scalar type Float\n\nSet TORCH_LOGS=\"+dynamo\"",
            "BackendCompilerFailed: RuntimeError: expected scalar type Float",
        ),
        (
            "torch._dynamo.exc.TorchRuntimeError: Failed running call_function <built-in method mm \
             of type object at 0x7e01>(*(FakeTensor(..., size=(3, 4)), FakeTensor(..., size=(15, \
             s0))), **{'out': None}):\n\
             a and b must have same reduction dim, but got [3, 4] X [15, 6].\n\n\
             from user code:\n   File \"x.py\", line 2, in f\n    return a @ b",
            "TorchRuntimeError: Failed running call_function <built-in method mm of type object at \
             … a and b must have same reduction dim, but got",
        ),
        (
            "torch._dynamo.exc.TorchRuntimeError: Dynamo failed to run FX node with fake tensors: \
             call_function <built-in function matmul>(*(FakeTensor(..., size=(3, 4)),), **{}): got \
             RuntimeError('size mismatch')",
            "TorchRuntimeError: Dynamo failed to run FX node with fake tensors: call_function \
             <built-in function matmul> … got RuntimeError('size mismatch')",
        ),
        (
            "torch._inductor.exc.InductorError: CppCompileError: C++ compile error\n\nCommand:\n\
             g++ /tmp/torchinductor_u/ab/cd.main.cpp -O3\n\nOutput:\n\
             /tmp/torchinductor_u/ab/cd.main.cpp: In function ‘void kernel()’:\n\
             /tmp/torchinductor_u/ab/cd.main.cpp:7:12: error: no matching function for call to \
             ‘min(int, long int)’\n",
            "InductorError: CppCompileError: C++ compile error … error: no matching function for \
             call to ‘min(int, long int)’",
        ),
        (
            "torch._dynamo.exc.Unsupported: Observed exception\n  Explanation: Dynamo found no \
             exception handler at the top-level compiled function when encountering an exception. \
             Exception will propagate outside the compiled region.\n  Hint: Dynamo has detected \
             it.\n\n  Developer debug context: raised exception TypeError([ConstantVariable(str: \
             'x')])\n",
            "Unsupported: Observed exception … Explanation: Dynamo found no exception handler at \
             the top-level compiled function when encountering an exception. Exception will \
             propagate outside the compiled region.",
        ),
        (
            "RuntimeError: cond INTERNAL ASSERT FAILED at \"../aten/src/ATen/x.cpp\":73, please \
             report a bug to PyTorch. strides differ",
            "RuntimeError: cond INTERNAL ASSERT FAILED at … please report a bug to PyTorch. \
             strides differ",
        ),
        (
            "AssertionError: Tensor-likes are not close!\n\nMismatched elements: 5 / 48 (10.4%)\n\
             Greatest absolute difference: 7.6e-06",
            "AssertionError: Tensor-likes are not close!",
        ),
        (
            "torch.fx.experimental.symbolic_shapes.GuardOnDataDependentSymNode: Could not guard on \
             data-dependent expression Eq(u0, 1) (unhinted: Eq(u0, 1)).  (Size-like symbols: none)",
            "GuardOnDataDependentSymNode: Could not guard on data-dependent expression Eq … \
             unhinted: Eq … Size-like symbols: none",
        ),
    ] {
        check(&[raised(headline)], expected);
    }
}

#[test]
fn long_reprs_give_way() {
    let rows: Vec<String> = (0..40).map(|it| format!("'row{it}'")).collect();
    check(
        &[raised(&format!(
            "ValueError: lost [{}] on the way",
            rows.join(", ")
        ))],
        "ValueError: lost … on the way",
    );
    check(
        &[raised(&format!(
            "KeyError: unknown key '{}' in table",
            "long words ".repeat(12)
        ))],
        "KeyError: unknown key … in table",
    );
    check(
        &[raised("KeyError: unknown key 'short' in table")],
        "KeyError: unknown key 'short' in table",
    );
}

#[test]
fn what_passes_shows_no_sign() {
    for (stdout, stderr) in [
        ("0 errors, 0 failed\nall fine\n", ""),
        ("no errors found\n", ""),
        (
            "done\n",
            "/s/x.py:3: FutureWarning: this will be an error in 3.0\n  x = wrong(1)\n",
        ),
        ("finished without failure\n", ""),
    ] {
        let found = Baseline::new(&[], vec![outcome(0, stdout, stderr); 3]);
        assert!(
            matches!(
                found,
                Err(BaselineError::NotDerivable {
                    reason: NotDerivable::Passes,
                    ..
                })
            ),
            "{stdout}{stderr}: {:?}",
            found.map(|it| it.signature.to_string())
        );
    }
    // The plainest sign counts, not the last.
    check(
        &[outcome(
            0,
            "RuntimeError: bad strides\nmax error was small\n",
            "",
        )],
        "stdout:RuntimeError: bad strides",
    );
}

#[test]
fn runs_that_were_stopped_never_match() {
    let before = raised("ValueError: a");
    let signature = given("ValueError", &before).unwrap();
    let stopped = Outcome {
        end: End::Timeout,
        ..before
    };
    assert_eq!(signature.judge(&stopped, 500), Verdict::TimedOut(500));
}

#[test]
fn slips_are_grouped_by_what_they_say() {
    let signature = given("ValueError", &raised("ValueError: a")).unwrap();
    let verdicts: Vec<Verdict> = [
        "TypeError: <A object at 0x7fab> is not callable",
        "TypeError: <A object at 0x12cd> is not callable",
        "KeyError: 'x'",
        "TypeError: f() missing 1 required positional argument: 'a'",
        "AttributeError: 'NoneType' object has no attribute 'a'",
    ]
    .iter()
    .map(|headline| signature.judge(&raised(headline), 1))
    .collect();
    let keyed = verdicts
        .iter()
        .enumerate()
        .map(|(at, verdict)| match verdict {
            Verdict::Different(difference) => (at.to_string(), difference),
            other => panic!("{other:?}"),
        });
    let slips = ledger(keyed);
    let counts: Vec<_> = slips
        .iter()
        .map(|it| (it.class.as_str(), it.count, it.example.as_str()))
        .collect();
    assert_eq!(counts, [("TypeError", 2, "0"), ("KeyError", 1, "2")]);
}

/// What messages are made of; `@` is different at each run.
const PIECES: &[&str] = &[
    "key",
    "'x'",
    "size 3",
    "@",
    " ",
    " ",
    ": ",
    "\n",
    "(",
    ")",
    "[1, 2]",
    "…",
    "...",
    "0x7f@",
    "/tmp/a@/b.py",
    "FakeTensor(..., size=(3,))",
    "s0",
    "raised:",
    "NameError",
    "name 'x' is not defined",
    "é",
    "_",
    "{",
    "}",
    "'long long long long long long long long long long long long long long long'",
    ".",
    ",",
    "3rd",
    "Error",
    "\"",
    "exit:1",
    "stdout:",
    "at:",
    "cause:A",
    "/",
    "Did you mean: 'y'?",
    "Explanation: b",
    "1e5",
    "\\",
];

fn made_of(pieces: &[usize], run: usize) -> String {
    pieces
        .iter()
        .map(|&at| PIECES[at].replace('@', &format!("{run}{run}")))
        .collect()
}

proptest! {
    /// Whatever a script says, its derived signature holds of its own runs, and can be typed.
    #[test]
    fn any_message_gives_a_signature(pieces in vec(0..PIECES.len(), 0..9), printed: bool) {
        let runs: Vec<Outcome> = (4..7)
            .map(|run| {
                let text = made_of(&pieces, run);
                if printed {
                    outcome(3, "", &text)
                } else {
                    raised_at("/v/lib/python3.11/site-packages/torch/x.py", "f", &format!("ValueError: {text}"))
                }
            })
            .collect();
        let baseline = Baseline::new(&[], runs.clone());
        prop_assert!(baseline.is_ok(), "{:?} of {:?}", baseline.err(), runs[0].stderr.head);
        let signature = baseline.unwrap().signature;
        let arguments = signature.to_arguments();
        let specs: Vec<Spec> = arguments.iter().map(|it| Spec::parse(it).unwrap()).collect();
        let again = Baseline::new(&specs, runs);
        prop_assert!(again.is_ok(), "{arguments:?}: {:?}", again.err());
        prop_assert_eq!(again.unwrap().signature, signature, "{:?}", arguments);
    }
}
