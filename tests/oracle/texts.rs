//! Tracebacks as texts: what libraries print around them, and what no interpreter can be made to
//! print on demand.

use minrepro::runner::traceback::{parse, parse_all};
use proptest::prelude::*;

const HEAD: &str =
    "Traceback (most recent call last):\n  File \"x.py\", line 1, in <module>\n    f()\n";

#[track_caller]
fn check(text: &str, class: &str, message: &str) {
    let found = parse(text).unwrap_or_else(|| panic!("no exception in\n{text}"));
    assert_eq!(
        (found.class.as_str(), found.message.as_str()),
        (class, message),
        "in\n{text}"
    );
}

#[test]
fn what_is_ignored_hides_nothing() {
    // Without a traceback of its own, as a closed pipe is reported.
    check(
        &format!(
            "Exception ignored in: <_io.TextIOWrapper name='<stdout>'>\n\
             BrokenPipeError: [Errno 32] Broken pipe\n{HEAD}ValueError: real\n"
        ),
        "ValueError",
        "real",
    );
    // A chain that is ignored as a whole, behind the failure.
    let chain = format!(
        "Exception ignored in: <function D.__del__ at 0x7f0>\n{HEAD}KeyError: 1\n\n\
         During handling of the above exception, another exception occurred:\n\n\
         {HEAD}TypeError: in del\n"
    );
    check(
        &format!("{HEAD}ValueError: real\n{chain}"),
        "ValueError",
        "real",
    );
    assert_eq!(parse(&chain), None);
    check(
        &format!(
            "{HEAD}ValueError: real\nError in atexit._run_exitfuncs:\n{HEAD}TypeError: at exit\n"
        ),
        "ValueError",
        "real",
    );
}

#[test]
fn failures_beside_the_main_thread_give_way_to_it() {
    for beside in [
        format!(
            "Exception in thread Thread-1 (f):\n{HEAD}KeyError: 1\n\n\
             During handling of the above exception, another exception occurred:\n\n\
             {HEAD}TypeError: beside\n"
        ),
        format!("Process SpawnProcess-1:\n{HEAD}TypeError: beside\n"),
        format!("Process ForkPoolWorker-2:\n{HEAD}TypeError: beside\n"),
        format!(
            "Task exception was never retrieved\n\
             future: <Task finished name='Task-1' coro=<f() done>>\n{HEAD}TypeError: beside\n"
        ),
        format!(
            "--- Logging error ---\n{HEAD}TypeError: beside\n\
             Call stack:\n  File \"x.py\", line 3, in <module>\n    log.info('a', 1)\n\
             Message: 'a'\nArguments: (1,)\n"
        ),
    ] {
        check(
            &format!("{HEAD}ValueError: main\n{beside}"),
            "ValueError",
            "main",
        );
        check(
            &format!("{beside}{HEAD}ValueError: main\n"),
            "ValueError",
            "main",
        );
        assert_eq!(parse(&beside).unwrap().class, "TypeError", "{beside}");
    }
}

#[test]
fn a_progress_bar_stands_before_the_header_and_behind_the_message() {
    check(
        &format!(
            "\r  0%|          | 0/10 [00:00<?, ?it/s]\r 30%|███       | 3/10 [00:00<00:01,  \
             3.30it/s]{HEAD}RuntimeError: bad\n\r 30%|███       | 3/10 [00:00<00:01,  3.30it/s]\n"
        ),
        "RuntimeError",
        "bad",
    );
    // An indented one is part of a message.
    check(
        &format!(
            "{HEAD}RuntimeError: outer\n  {}",
            HEAD.replace('\n', "\n  ")
        ),
        "RuntimeError",
        "outer\n  Traceback (most recent call last):\n    File \"x.py\", line 1, in \
         <module>\n      f()",
    );
}

#[test]
fn chains_keep_to_themselves() {
    // What was printed before has no part in a chain whose cause has no traceback.
    let text = format!(
        "{HEAD}KeyError: 'printed'\n--- Logging error ---\nOSError: never raised\n\n\
         The above exception was the direct cause of the following exception:\n\n\
         {HEAD}ValueError: last\n"
    );
    let found = parse(&text).unwrap();
    assert_eq!(
        (found.class.as_str(), found.message.as_str()),
        ("ValueError", "last")
    );
    let chain: Vec<_> = found
        .chain
        .iter()
        .map(|it| (it.class.as_str(), it.message.as_str()))
        .collect();
    assert_eq!(chain, [("OSError", "never raised")]);
    let found = parse(&format!(
        "concurrent.futures.process._RemoteTraceback: \n\"\"\"\n{HEAD}KeyError: 'far'\n\"\"\"\n\n\
         The above exception was the direct cause of the following exception:\n\n\
         {HEAD}KeyError: 'near'\n"
    ))
    .unwrap();
    assert_eq!((found.message.as_str(), found.chain.len()), ("'near'", 1));
}

#[test]
fn cuts_anywhere() {
    let frame = "  File \"x.py\", line 1, in f\n    return f()\n";
    // The header itself is gone; so is part of a frame.
    check(
        &format!("noise\n[... 9 bytes cut ...]\nurn f()\n{frame}{frame}RecursionError: deep\n"),
        "RecursionError",
        "deep",
    );
    check(
        &format!("noise\n[... 9 bytes cut ...]\nreturn\n{frame}RecursionError: deep\n"),
        "RecursionError",
        "deep",
    );
    // The rest of a word is no class.
    check(
        &format!("{HEAD}{frame}    ret\n[... 9 bytes cut ...]\nurn\n{frame}RecursionError: deep\n"),
        "RecursionError",
        "deep",
    );
    // Another traceback began within what was cut.
    let found = parse(&format!(
        "{HEAD}[... 9 bytes cut ...]\nrest\nmore\n{HEAD}ValueError: whole\n"
    ))
    .unwrap();
    assert_eq!(
        (found.class.as_str(), found.frames.len()),
        ("ValueError", 1)
    );
    assert_eq!(parse("a\n[... 9 bytes cut ...]\nb\nc: d\n"), None);
}

#[test]
fn ranks_do_not_mix() {
    let mut text = String::new();
    for line in format!("{HEAD}RuntimeError: same\non all\n").lines() {
        text.extend([format!("[rank0]: {line}\n"), format!("[rank1]: {line}\n")]);
    }
    check(&text, "RuntimeError", "same\non all");
    assert_eq!(parse_all(&text).len(), 2);
}

#[test]
fn the_texts_of_pytorch() {
    for (body, class, first_line) in [
        (
            "torch._dynamo.exc.BackendCompilerFailed: inductor raised RuntimeError: msg\n",
            "torch._dynamo.exc.BackendCompilerFailed",
            "inductor raised RuntimeError: msg",
        ),
        (
            "torch._dynamo.exc.BackendCompilerFailed: backend='inductor' raised:\n\
             RuntimeError: msg\n\n\
             Set TORCH_LOGS=\"+dynamo\" and TORCHDYNAMO_VERBOSE=1 for more information\n\n\n\
             You can suppress this exception and fall back to eager by setting:\n    import \
             torch._dynamo\n    torch._dynamo.config.suppress_errors = True\n",
            "torch._dynamo.exc.BackendCompilerFailed",
            "backend='inductor' raised:",
        ),
        (
            "torch._inductor.exc.InductorError: LoweringException: AssertionError: \n  target: \
             aten.x.default\n  args[0]: TensorBox(\n    StorageBox(x)\n  )\n",
            "torch._inductor.exc.InductorError",
            "LoweringException: AssertionError: ",
        ),
        (
            "torch._dynamo.exc.InternalTorchDynamoError\n",
            "torch._dynamo.exc.InternalTorchDynamoError",
            "",
        ),
        (
            "torch._dynamo.exc.Unsupported: Data-dependent branching\n  Explanation: Detected \
             it.\n  Hint: no\n\n  Developer debug context: attempted to jump\n\n\n\
             from user code:\n   File \"/s/x.py\", line 8, in f\n    if x.sum() > 0:\n\n\
             Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace (please do this especially if \
             you're reporting a bug to PyTorch).\n",
            "torch._dynamo.exc.Unsupported",
            "Data-dependent branching",
        ),
        (
            "AssertionError: Tensor-likes are not close!\n\nMismatched elements: 5 / 48 (10.4%)\n",
            "AssertionError",
            "Tensor-likes are not close!",
        ),
    ] {
        let found = parse(&format!("{HEAD}{body}")).unwrap();
        assert_eq!(found.class, class);
        assert_eq!(
            found.message.lines().next().unwrap_or_default().trim_end(),
            first_line.trim_end()
        );
    }
}

proptest! {
    #[test]
    fn any_text_is_read(text in "\\PC*(\n\\PC*){0,20}") {
        let _ = (parse(&text), parse_all(&text), minrepro::runner::traceback::without_frames(&text));
    }

    #[test]
    fn any_pieces_are_read(pieces in proptest::collection::vec(0..PIECES.len(), 0..40)) {
        let text: String = pieces.iter().map(|&at| PIECES[at]).collect();
        let all = parse_all(&text);
        // Whatever is read stands in the text.
        for exception in all.iter().flat_map(|it| it.chain.iter().chain([it])) {
            prop_assert!(text.contains(&exception.class), "{} in\n{}", exception.class, text);
        }
    }

    /// The last traceback counts, whatever is printed before it.
    #[test]
    fn what_is_before_changes_nothing(pieces in proptest::collection::vec(0..PIECES.len(), 0..20)) {
        let before: String = pieces.iter().map(|&at| PIECES[at]).collect();
        let found = parse(&format!("{before}\nplain output\n{HEAD}Last: one\n")).unwrap();
        prop_assert_eq!((found.class.as_str(), found.message.as_str()), ("Last", "one"));
    }
}

const PIECES: &[&str] = &[
    "Traceback (most recent call last):\n",
    "  + Exception Group Traceback (most recent call last):\n",
    "    + Exception Group Traceback (most recent call last):\n",
    "  | ExceptionGroup: many (2 sub-exceptions)\n",
    "  +-+---------------- 1 ----------------\n",
    "    +---------------- 2 ----------------\n",
    "    +------------------------------------\n",
    "    | Traceback (most recent call last):\n",
    "    |   File \"x.py\", line 3, in f\n",
    "    | ValueError: é one\n",
    "  File \"x.py\", line 1, in <module>\n",
    "  File \"x.py\", line 99999999999\n",
    "    é = f()\n",
    "    ^^^^^^^\n",
    "ValueError: a\n",
    "SyntaxError: b\n",
    "AssertionError\n",
    "\n",
    "The above exception was the direct cause of the following exception:\n",
    "During handling of the above exception, another exception occurred:\n",
    "Exception ignored in: <f>\n",
    "Exception in thread Thread-1 (f):\n",
    "[rank0]: Traceback (most recent call last):\n",
    "[rank1]:   File \"x.py\", line 1, in f\n",
    "\u{1b}[35mKeyError\u{1b}[0m: 'c'\n",
    "x.py:3: UserWarning: w\n",
    "\r 10%|█ | 1/10",
    "some output\n",
];
