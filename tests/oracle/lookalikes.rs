//! Other bugs that look like the one at hand: a derived signature tells them apart, and still knows
//! its own.

use super::judging::{derived, given, outcome, raised};
use minrepro::{
    oracle::{Baseline, Signature},
    runner::{End, Outcome, TracebackFrame},
};

/// A frame of a traceback: file, function, source line.
type At<'a> = (&'a str, &'a str, &'a str);

const MAIN: At<'_> = ("/tmp/run-1/x.py", "<module>", "main()");
const COMPILER: &str = "/v/lib/python3.12/site-packages/torch/_inductor/scheduler.py";
const LIBRARY: &str = "/v/lib/python3.12/site-packages/torch/_dynamo/variables.py";
const CAUSED: &str = "\nThe above exception was the direct cause of the following exception:\n\n";
const DURING: &str = "\nDuring handling of the above exception, another exception occurred:\n\n";

fn traced(frames: &[At<'_>], headline: &str) -> String {
    let frames: String = frames
        .iter()
        .map(|(file, function, code)| {
            format!("  File \"{file}\", line 3, in {function}\n    {code}\n")
        })
        .collect();
    format!("Traceback (most recent call last):\n{frames}{headline}\n")
}

fn fails(text: &str) -> Outcome {
    outcome(1, "", text)
}

fn fails_at(frames: &[At<'_>], headline: &str) -> Outcome {
    fails(&traced(frames, headline))
}

#[track_caller]
fn check(signature: &Signature, same: &[Outcome], others: &[Outcome]) {
    for outcome in same {
        assert!(
            signature.matches(outcome),
            "{signature} not in\n{}{}",
            outcome.stdout.head,
            outcome.stderr.head
        );
    }
    for outcome in others {
        assert!(
            !signature.matches(outcome),
            "{signature} in\n{}{}",
            outcome.stdout.head,
            outcome.stderr.head
        );
    }
}

#[test]
fn keys_of_one_table() {
    let lookup = ("/tmp/run-1/x.py", "f", "return table[key]");
    let key = |headline| fails_at(&[MAIN, lookup], headline);
    for (own, others) in [
        (
            "KeyError: 'x'",
            ["KeyError: 'y'", "KeyError: 'xx'", "KeyError: 0"],
        ),
        (
            "KeyError: 'x1'",
            ["KeyError: 'x2'", "KeyError: 'x11'", "KeyError: 1"],
        ),
        (
            "KeyError: 'alpha'",
            [
                "KeyError: 'alphabet'",
                "KeyError: 'beta'",
                "KeyError: 'an alpha'",
            ],
        ),
    ] {
        check(&derived(&[key(own)]), &[key(own)], &others.map(key));
    }
    // Numbers shrink with the script; then the place counts.
    let elsewhere = fails_at(
        &[MAIN, ("/tmp/run-1/x.py", "g", "del rows[0]")],
        "KeyError: 7",
    );
    check(
        &derived(&[key("KeyError: 7")]),
        &[key("KeyError: 0")],
        &[elsewhere],
    );
    check(
        &given("KeyError: alpha", &key("KeyError: 'alpha'")).unwrap(),
        &[],
        &[key("KeyError: 'alphabet'")],
    );
}

#[test]
fn calls_that_do_not_fit() {
    let own = raised("TypeError: unsupported operand type(s) for +: 'A' and 'B'");
    let others = [
        raised("TypeError: f() missing 1 required positional argument: 'a'"),
        raised("TypeError: f() takes 1 positional argument but 2 were given"),
        raised("TypeError: f() takes from 1 to 2 positional arguments but 3 were given"),
        raised("TypeError: f() got an unexpected keyword argument 'a'"),
        raised("TypeError: 'NoneType' object is not callable"),
        raised("TypeError: 'int' object is not subscriptable"),
    ];
    // Even where only the class was given.
    for signature in [
        given("TypeError", &own).unwrap(),
        given("/TypeError/", &own).unwrap(),
    ] {
        let another = raised("TypeError: another of the user's");
        check(&signature, &[own.clone(), another], &others);
    }
    let arity = raised("TypeError: f() missing 1 required positional argument: 'a'");
    check(
        &derived(std::slice::from_ref(&arity)),
        &[arity],
        &[
            raised("TypeError: f() missing 2 required positional arguments: 'a' and 'b'"),
            raised("TypeError: g() missing 1 required positional argument: 'a'"),
            raised("TypeError: f() missing 1 required positional argument: 'ab'"),
        ],
    );
}

#[test]
fn breaks_inside_a_library() {
    let headline = "AttributeError: 'NoneType' object has no attribute 'size'";
    let own = fails_at(&[MAIN, (LIBRARY, "call", "return x.size")], headline);
    check(
        &derived(std::slice::from_ref(&own)),
        &[own],
        &[
            fails_at(&[MAIN, (LIBRARY, "call", "y.size")], headline),
            fails_at(&[MAIN, (LIBRARY, "build", "return x.size")], headline),
            fails_at(&[MAIN], headline),
        ],
    );
    // Words that a library says in several places do not tell these apart.
    let told = "TypeError: unsupported layout of x";
    let own = fails_at(
        &[
            MAIN,
            (
                LIBRARY,
                "call",
                "raise TypeError(f\"unsupported layout of {x}\")",
            ),
        ],
        told,
    );
    let mut signature = derived(&[own]);
    let there = fails_at(&[MAIN, (LIBRARY, "build", "raise TypeError(m)")], told);
    check(&signature, &[], std::slice::from_ref(&there));
    signature.loose = true;
    check(&signature, &[there], &[]);
}

/// A failure of the script that wraps another, linked to it.
fn wrapper(link: &str, cause: &str) -> Outcome {
    let inner = [
        ("/tmp/run-1/x.py", "main", "f()"),
        ("/tmp/run-1/x.py", "f", "g()"),
    ];
    let raises = "raise RuntimeError(\"compile failed\") from e";
    let outer = [MAIN, ("/tmp/run-1/x.py", "main", raises)];
    let inner = traced(&inner, cause);
    let outer = traced(&outer, "RuntimeError: compile failed");
    fails(&format!("{inner}{link}{outer}"))
}

#[test]
fn wrappers_of_the_scripts_own() {
    for link in [CAUSED, DURING] {
        let signature = derived(&[wrapper(link, "ValueError: bad strides")]);
        assert_eq!(
            signature.to_string(),
            "RuntimeError: compile failed and caused by ValueError: bad strides"
        );
        check(
            &signature,
            &[wrapper(link, "ValueError: bad strides")],
            &[
                wrapper(
                    link,
                    "TypeError: f() missing 1 required positional argument: 'a'",
                ),
                wrapper(link, "ValueError: bad sizes"),
                raised("RuntimeError: compile failed"),
            ],
        );
    }
    // Where only the wrapper is asked for, no accident may hide in it.
    let missing = wrapper(
        CAUSED,
        "TypeError: f() missing 1 required positional argument: 'a'",
    );
    let own = wrapper(CAUSED, "ValueError: bad strides");
    check(
        &given("RuntimeError: compile failed", &own).unwrap(),
        &[own],
        &[missing],
    );
    // What is beneath is told by its words where its class is the wrapper's.
    let own = wrapper(CAUSED, "RuntimeError: the dimension is sharded");
    let others = [
        wrapper(CAUSED, "AssertionError: size"),
        wrapper(CAUSED, "RuntimeError: this shape is invalid"),
    ];
    check(
        &given("RuntimeError: compile failed", &own).unwrap(),
        &[own],
        &others,
    );
    // The failure inside may come out of its wrapper, but never be another.
    let own = wrapper(CAUSED, "ValueError: bad strides");
    check(
        &given("ValueError: bad", &own).unwrap(),
        &[own, raised("ValueError: bad strides")],
        &[
            raised("RuntimeError: compile failed"),
            wrapper(CAUSED, "ValueError: badly"),
            raised("TypeError: bad"),
        ],
    );
}

#[test]
fn what_failed_before_a_fallback_is_not_the_bug() {
    let fast = traced(
        &[("/tmp/run-1/x.py", "main", "fast()")],
        "OSError: no fast way",
    );
    let slow = traced(
        &[
            MAIN,
            ("/tmp/run-1/x.py", "main", "slow()"),
            ("/tmp/run-1/x.py", "slow", "raise ValueError(m)"),
        ],
        "ValueError: bad strides",
    );
    let signature = derived(&[fails(&format!("{fast}{DURING}{slow}"))]);
    assert_eq!(signature.to_string(), "ValueError: bad strides");
    // Unless it fails for want of a name.
    let broken = traced(
        &[("/tmp/run-1/x.py", "main", "fast()")],
        "NameError: name 'fast' is not defined",
    );
    check(
        &signature,
        &[fails(&slow)],
        &[fails(&format!("{broken}{DURING}{slow}"))],
    );
}

#[test]
fn wrapped_failures_keep_their_wrapper() {
    let wrapped = raised(
        "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\nRuntimeError: bad",
    );
    let signature = given("RuntimeError: bad", &wrapped).unwrap();
    check(
        &signature,
        &[wrapped],
        &[
            raised("RuntimeError: bad"),
            raised("a.b.OtherError: RuntimeError: bad"),
        ],
    );
}

#[test]
fn groups_by_what_is_in_them() {
    const HEAD: &str = "  + Exception Group Traceback (most recent call last):\n  |   File \
         \"/tmp/run-1/x.py\", line 3, in <module>\n  |     main()\n  | ExceptionGroup: unhandled \
         errors in a TaskGroup ";
    const TRACED: &str = "    | Traceback (most recent call last):\n    |   File \
         \"/tmp/run-1/x.py\", line 1, in f\n    |     g()\n";
    let group = |members: &[&str]| {
        let count = members.len();
        let plural = if count == 1 { "" } else { "s" };
        let traced = |(at, headline): (usize, &&str)| {
            let lead = if at == 0 { "  +-+" } else { "    +" };
            let number = at + 1;
            format!("{lead}---------------- {number} ----------------\n{TRACED}    | {headline}\n")
        };
        let members: String = members.iter().enumerate().map(traced).collect();
        fails(&format!(
            "{HEAD}({count} sub-exception{plural})\n\
             {members}    +------------------------------------\n"
        ))
    };
    let signature = derived(&[group(&["ValueError: bad strides", "KeyError: 'x'"])]);
    check(
        &signature,
        &[group(&["ValueError: bad strides"])],
        &[
            group(&["TypeError: f() takes 1 positional argument but 2 were given"]),
            group(&["KeyError: 'x'"]),
            group(&[
                "ValueError: bad strides",
                "NameError: name 'x' is not defined",
            ]),
        ],
    );
    let mut signature = given("ExceptionGroup", &group(&["ValueError: a"])).unwrap();
    let others = [group(&["NameError: name 'x' is not defined"])];
    check(&signature, &[], &[group(&["KeyError: 'x'"])]);
    check(&signature, &[], &others);
    signature.loose = true;
    check(&signature, &[group(&["KeyError: 'x'"])], &others);
}

#[test]
fn words_that_are_spread_over_lines() {
    let signature = derived(&[raised(
        "RuntimeError: size 3 of tensor differs from size 4 of mask",
    )]);
    check(
        &signature,
        &[raised(
            "RuntimeError: size 1 of tensor differs from size 2 of mask\nmore",
        )],
        &[raised(
            "RuntimeError: no size\nof tensor\ndiffers from size\nof mask",
        )],
    );
}

#[test]
fn signs_that_are_printed() {
    let before = outcome(0, "step 1\nFAIL: sums differ\n", "");
    let crash = "Traceback (most recent call last):\n  File \"/tmp/x.py\", line 1, in \
         <module>\n    f()\nTypeError: a\n";
    check(
        &derived(std::slice::from_ref(&before)),
        &[outcome(
            0,
            "FAIL: sums differ\n",
            "/x.py:1: UserWarning: b\n",
        )],
        &[
            // The sign, and then a crash of its own.
            outcome(1, "FAIL: sums differ\n", crash),
            Outcome {
                end: End::Signal(11),
                ..before.clone()
            },
            outcome(0, "FAIL: sums\ndiffer\n", ""),
            outcome(0, "FAIL: sums differently\n", ""),
        ],
    );
    // An exit status says nothing of why.
    let handled = outcome(1, "could not load: strides are bad\n", "");
    check(
        &given("exit:1", &handled).unwrap(),
        &[outcome(1, "", ""), handled],
        &[
            outcome(1, "could not load: name 'x' is not defined\n", ""),
            outcome(1, "", "No module named 'y'\n"),
        ],
    );
}

#[test]
fn deaths_by_signals() {
    let died = |signal, stderr: &str| Outcome {
        end: End::Signal(signal),
        ..outcome(0, "", stderr)
    };
    // Corrupted memory shows in more than one way.
    let both = [died(6, "free(): invalid pointer\n"), died(11, "")];
    let signature = derived(&both);
    assert_eq!(signature.to_string(), "signal:SIGABRT,SIGSEGV");
    check(&signature, &both, &[died(8, ""), raised("ValueError: a")]);
    assert!(Baseline::new(&[], vec![raised("ValueError: a"), died(11, "")]).is_err());

    let thrown = |what: &str| {
        died(
            6,
            &format!(
                "terminate called after throwing an instance of 'c10::Error'\n  what():  {what}\n\
                 Exception raised from f\n"
            ),
        )
    };
    check(
        &derived(&[thrown("bad strides")]),
        &[thrown("bad strides")],
        &[thrown("bad sizes"), died(6, "")],
    );
    // A library's function may be called by the script itself, but not code that was generated.
    let at = |stack: &[(&str, &str)]| Outcome {
        stack: stack
            .iter()
            .map(|(file, function)| TracebackFrame {
                file: (*file).to_owned(),
                line: 1,
                function: (*function).to_owned(),
                code: "f()".to_owned(),
            })
            .collect(),
        ..died(8, "")
    };
    let script = ("/s/x.py", "<module>");
    let library = ("/v/lib/python3.12/site-packages/torch/_ops.py", "call");
    let generated = (
        "/tmp/cyfx3tfk2aknmvvbk5rzmjmpyeczz6u3mcuejycvfwqgmrbyu5b3.py",
        "call",
    );
    check(&derived(&[at(&[script, library])]), &[at(&[script])], &[]);
    check(
        &derived(&[at(&[script, generated])]),
        &[at(&[script, generated]), died(8, "")],
        &[at(&[script]), at(&[script, library])],
    );
    // A report that the script itself asks for may go along with the asking.
    let reported = died(
        11,
        "Fatal Python error: Segmentation fault\n\nCurrent thread 0x7f (most recent call first):\n",
    );
    check(&derived(&[reported]), &[died(11, "")], &[]);
    // An exception and a death are two bugs, unless they came together.
    let dying = Outcome {
        end: End::Signal(11),
        ..raised("ValueError: bad strides")
    };
    check(
        &derived(&[raised("ValueError: bad strides")]),
        &[],
        std::slice::from_ref(&dying),
    );
    assert_eq!(
        derived(std::slice::from_ref(&dying)).to_string(),
        "ValueError: bad strides and signal:SIGSEGV"
    );
    let signature = given("ValueError: bad strides", &dying).unwrap();
    check(&signature, &[dying, raised("ValueError: bad strides")], &[]);
}

#[test]
fn numbers_that_are_none() {
    let differ = |greatest: &str| {
        raised(&format!(
            "AssertionError: Tensor-likes are not close!\n\nMismatched elements: 5 / 48 (10.4%)\n\
             Greatest absolute difference: {greatest} at index (3, 6) (up to 1e-05 allowed)\n\
             Greatest relative difference: inf at index (3, 6) (up to 1.3e-06 allowed)"
        ))
    };
    check(
        &derived(&[differ("0.25")]),
        &[differ("0.01")],
        &[differ("nan"), differ("inf"), differ("1.6e-05")],
    );
    check(&derived(&[differ("nan")]), &[differ("nan")], &[]);
}

#[test]
fn checks_of_gradients_in_single_precision() {
    let jacobian = |numerical: &str, warning: &str| {
        let headline = format!(
            "m.GradcheckError: Jacobian mismatch for output 0 with respect to input 0,\n\
             numerical:{numerical}\nanalytical:tensor([[2.5000]])"
        );
        fails(&format!("{warning}{}", traced(&[MAIN], &headline)))
    };
    let warning = "x.py:3: UserWarning: Input #0 requires gradient and is not a double precision \
                   floating point or complex. This check will likely fail\n";
    // Where double precision is the default, tensors do not show it.
    let own = jacobian("tensor([[-0.5200]])", "");
    for signature in [
        derived(std::slice::from_ref(&own)),
        given("GradcheckError", &own).unwrap(),
    ] {
        check(
            &signature,
            &[own.clone(), jacobian("tensor([[1.7000]])", "")],
            &[
                jacobian("tensor([[-0.5200]])", warning),
                jacobian("tensor([[2.4900]])", ""),
            ],
        );
    }
}

#[test]
fn sizes_that_are_one() {
    let constant = |value: u32| {
        raised(&format!(
            "torch._dynamo.exc.UserError: Constraints violated (n)! For more information, run with \
             logs.\n  - You marked n as dynamic but your code specialized it to be a constant \
             ({value}). If you are"
        ))
    };
    check(
        &derived(&[constant(2560)]),
        &[constant(2)],
        &[constant(1), constant(0)],
    );
    check(&derived(&[constant(1)]), &[constant(1)], &[constant(8)]);
}

#[test]
fn suggestions_come_and_go() {
    let own =
        raised("AttributeError: module 'torch' has no attribute 'fulll'. Did you mean: 'full'?");
    check(
        &derived(&[own]),
        &[raised(
            "AttributeError: module 'torch' has no attribute 'fulll'",
        )],
        &[raised(
            "AttributeError: module 'torch' has no attribute 'ful'. Did you mean: 'full'?",
        )],
    );
}

#[test]
fn wrapped_failures_that_say_little() {
    let failing = |function, headline| {
        fails_at(
            &[MAIN, (COMPILER, function, "raise InductorError(e)")],
            headline,
        )
    };
    // Names of buffers change as the script shrinks.
    let signature = derived(&[failing(
        "fuse",
        "torch._inductor.exc.InductorError: KeyError: 'buf3'",
    )]);
    check(
        &signature,
        &[failing(
            "fuse",
            "torch._inductor.exc.InductorError: KeyError: 'buf0'",
        )],
        &[failing(
            "order",
            "torch._inductor.exc.InductorError: KeyError: 'buf0'",
        )],
    );
}

#[test]
fn emptied_values() {
    let own = raised("IndexError: index 3 is out of bounds for dimension 0 with size 2");
    check(
        &given("IndexError", &own).unwrap(),
        &[raised(
            "IndexError: index 0 is out of bounds for dimension 0 with size 0",
        )],
        &[
            raised("IndexError: list index out of range"),
            raised("IndexError: pop from empty list"),
        ],
    );
    let own = raised("ValueError: bad strides");
    check(
        &given("ValueError", &own).unwrap(),
        &[own],
        &[raised(
            "ValueError: not enough values to unpack (expected 2, got 0)",
        )],
    );
}

#[test]
fn the_same_words_from_another_origin() {
    const LIBRARY: &str = "/v/lib/python3.12/os.py";
    let own = |code| fails_at(&[MAIN, ("/tmp/run-1/x.py", "f", code)], "KeyError: 'HOME'");
    let raised_there = fails_at(
        &[
            MAIN,
            (LIBRARY, "__getitem__", "raise KeyError(key) from None"),
        ],
        "KeyError: 'HOME'",
    );
    let broken_there = fails_at(
        &[MAIN, (LIBRARY, "get", "return self.data[key]")],
        "KeyError: 'HOME'",
    );
    let elsewhere = fails_at(
        &[MAIN, (LIBRARY, "pop", "return self.data.pop(key)")],
        "KeyError: 'HOME'",
    );
    let typed = |outcome: &Outcome| given("KeyError: 'HOME'", outcome).unwrap();
    check(
        &typed(&raised_there),
        std::slice::from_ref(&raised_there),
        &[own("return {}[x]"), own("raise KeyError(x)")],
    );
    check(
        &typed(&broken_there),
        std::slice::from_ref(&broken_there),
        &[elsewhere, own("return {}[x]")],
    );
    check(
        &typed(&own("return a[x]")),
        &[own("b['HOME']")],
        &[own("raise KeyError('HOME')")],
    );
    check(
        &typed(&own("raise KeyError(x)")),
        &[own("raise KeyError('HOME')")],
        &[own("{}['HOME']"), raised_there],
    );
}

#[test]
fn text_alone_is_of_the_class_that_says_it() {
    let own = fails_at(&[MAIN], "ValueError: 'plane' is not a mode");
    let echo = fails_at(&[MAIN], "KeyError: 'plane'");
    check(&given("plane", &own).unwrap(), &[own], &[echo]);
}

#[test]
fn what_ends_a_thread_alone_does_not_end_the_script() {
    let own = fails_at(&[MAIN], "OSError: no room");
    let beside = format!(
        "Exception in thread T:\n{}",
        traced(&[MAIN], "OSError: no room")
    );
    check(
        &given("OSError: no room", &own).unwrap(),
        &[own],
        &[outcome(0, "", &beside)],
    );
    let thread = outcome(0, "", &beside);
    check(
        &given("OSError: no room", &thread).unwrap(),
        &[thread, fails_at(&[MAIN], "OSError: no room")],
        &[],
    );
}

#[test]
fn what_a_handler_raises_is_raised_for_something() {
    let handler = (
        "/tmp/run-1/x.py",
        "<module>",
        "raise RuntimeError('load failed') from error",
    );
    let caused = |class: &str| {
        fails(&format!(
            "{}{CAUSED}{}",
            traced(&[MAIN], class),
            traced(&[handler], "RuntimeError: load failed")
        ))
    };
    let own = caused("UnicodeDecodeError: bad");
    let signature = given("RuntimeError: load failed", &own).unwrap();
    check(
        &signature,
        &[own],
        &[
            caused("ValueError: bad"),
            fails_at(&[handler], "RuntimeError: load failed"),
        ],
    );
}

#[test]
fn the_same_words_from_another_place_are_another_bug() {
    let at = |function| {
        fails_at(
            &[
                MAIN,
                (
                    "/v/lib/python3.12/a.py",
                    function,
                    "raise OSError('closed')",
                ),
            ],
            "OSError: closed",
        )
    };
    let mut signature = given("OSError: closed", &at("read")).unwrap();
    assert_eq!(
        signature.mismatch(&at("write")).unwrap(),
        "raised in a.py, write(), by `raise OSError('closed')`, not raised in a.py, read(), by \
         `raise OSError('closed')`"
    );
    assert_eq!(signature.mismatch(&at("read")), None);
    check(
        &signature,
        &[at("read"), fails_at(&[MAIN], "OSError: closed")],
        &[at("write")],
    );
    signature.loose = true;
    check(&signature, &[at("read"), at("write")], &[]);
}

#[test]
fn a_shortened_signature_still_means_the_same_message() {
    let raised = |line| fails_at(&[MAIN, (LIBRARY, "f", "raise RuntimeError(text)")], line);
    let own = raised("RuntimeError: expected scalar type Half but found Float");
    let signature = given("RuntimeError: expected scalar", &own).unwrap();
    check(
        &signature,
        &[own],
        &[raised(
            "RuntimeError: expected scalar type Long but found Float",
        )],
    );
}

#[test]
fn the_cause_from_which_a_library_raises_is_part_of_the_bug() {
    let caused = |cause: &str| {
        let text = format!(
            "Traceback (most recent call last):\n  File \"{LIBRARY}\", line 3, in call\n    \
             inner()\n{cause}\n\nThe above exception was the direct cause of the following \
             exception:\n\nTraceback (most recent call last):\n  File \"/s/x.py\", line 1, in \
             <module>\n    f()\n  File \"{LIBRARY}\", line 9, in f\n    raise Wrapped(why) from \
             error\nWrapped: cannot be captured\n"
        );
        fails(&text)
    };
    let own = caused("AliasError: two inputs share memory");
    let signature = given("Wrapped: cannot be captured", &own).unwrap();
    let other = caused("CallError: three operands are missing");
    assert_eq!(
        signature.mismatch(&other).unwrap(),
        "caused by CallError, not AliasError"
    );
    check(&signature, &[own], &[other]);
}

#[test]
fn the_lines_below_a_general_headline_say_what_happened() {
    let raised = |detail: &str| {
        let line = format!("ConstraintError: Constraints violated (dz)!\n  - {detail}");
        fails_at(
            &[MAIN, (LIBRARY, "solve", "raise ConstraintError(text)")],
            &line,
        )
    };
    let own =
        raised("Not all values of dz = L['z'].size()[1] satisfy the guard (1 + dz) // 2 != 1.");
    let signature = given("ConstraintError: Constraints violated (dz)", &own).unwrap();
    let shrunk = raised("Not all values of dz = L['z'].size()[0] satisfy the guard dz != 1.");
    let specialized = "You marked dz as dynamic but your code specialized it to be a constant (1).";
    assert_eq!(
        signature.mismatch(&raised(specialized)).unwrap(),
        format!("in particular `- {specialized}`")
    );
    check(&signature, &[own, shrunk], &[raised(specialized)]);
}

#[test]
fn a_library_is_not_entered_by_another_special_method() {
    const RAISED: At<'_> = (LIBRARY, "dispatch", "raise RuntimeError('mixed')");
    let nn = |function| {
        let file = "/v/lib/python3.12/site-packages/torch/nn.py";
        fails_at(
            &[MAIN, (file, function, "f()"), RAISED],
            "RuntimeError: mixed",
        )
    };
    let own = nn("call");
    let signature = given("RuntimeError: mixed", &own).unwrap();
    let shortened = fails_at(&[MAIN, RAISED], "RuntimeError: mixed");
    assert_eq!(
        signature.mismatch(&nn("__iter__")).unwrap(),
        "reached by torch/nn.py, __iter__(), which the script did not pass"
    );
    check(
        &signature,
        &[own, shortened, nn("apply")],
        &[nn("__iter__")],
    );
}

#[test]
fn a_library_is_not_entered_by_a_property_that_the_script_did_not_reach() {
    const RAISED: At<'_> = (LIBRARY, "inverse", "raise ValueError('bad limits')");
    const CHANGED: At<'_> = (LIBRARY, "changed", "self.inverse(0)");
    let through = |code, function| {
        let main = ("/tmp/run-1/x.py", "<module>", code);
        let entered = (LIBRARY, function, "self.changed()");
        fails_at(&[main, entered, CHANGED, RAISED], "ValueError: bad limits")
    };
    let own = through("plot.autoscale()", "autoscale");
    let signature = given("ValueError: bad limits", &own).unwrap();
    let set = through("plot.norm = Log(0, 1)", "norm");
    assert_eq!(
        signature.mismatch(&set).unwrap(),
        "reached by _dynamo/variables.py, norm(), which the script did not pass"
    );
    let called = through("plot.norms = plot.norm (0)", "norm");
    check(&signature, &[own, called], &[set]);
}

#[test]
fn compiled_code_may_be_called_from_anywhere_on_the_way() {
    const MODULE: At<'_> = ("/v/lib/python3.12/site-packages/torch/nn.py", "call", "f()");
    let own = fails_at(
        &[MAIN, MODULE, (LIBRARY, "dropout", "_C.dropout(x)")],
        "RuntimeError: mode",
    );
    let signature = given("RuntimeError: mode", &own).unwrap();
    let nearer = fails_at(&[MAIN, MODULE], "RuntimeError: mode");
    let other = fails_at(
        &[MAIN, (LIBRARY, "rand", "_C.rand(x)")],
        "RuntimeError: mode",
    );
    check(&signature, &[own, nearer], &[other]);
}

#[test]
fn the_scripts_own_names_and_texts_may_change() {
    let warned = |words: &str| {
        let script = ("/tmp/run-1/x.py", "feed", "warnings.warn(text)");
        fails_at(&[MAIN, script], &format!("UserWarning: {words}"))
    };
    let own = warned("Decoder: the buffer is too small for 7 bytes");
    let mut signature = given("UserWarning: too small", &own).unwrap();
    let cut = warned("buffer is too small");
    check(
        &signature,
        std::slice::from_ref(&own),
        std::slice::from_ref(&cut),
    );
    let names = ["Decoder".to_owned()].into();
    signature.forget(&names, &["the buffer is too small for %d bytes"]);
    check(
        &signature,
        &[own, cut],
        &[warned("the buffer is too large")],
    );
}

#[test]
fn the_interpreters_words_count_in_the_library_where_they_were() {
    let words = "UnboundLocalError: cannot access local variable 'x' where it is not associated \
                 with a value";
    let own = fails_at(&[MAIN, (LIBRARY, "forward", "y = x")], words);
    let signature = given("UnboundLocalError", &own).unwrap();
    check(&signature, &[own], &[fails_at(&[MAIN], words)]);
}
