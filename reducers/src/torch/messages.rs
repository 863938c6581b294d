//! The words in which PyTorch reports failures, each once: the advice that it adds to messages, the
//! parts that vary between runs, and the forms in which its compiler wraps errors. Regular
//! expressions are given as text; who uses them compiles them. Called by the oracle and by scrub.

/// Beginnings of the lines that PyTorch adds below a message; none of them describes the failure.
const ADVICE: &[&str] = &[
    "from user code:",
    "Set TORCH",
    "Set torch._dynamo.",
    "You can suppress this exception",
    "Minifier script written",
    "For more information about this error",
    "For more details about this graph break",
    "For debugging consider passing",
    "While executing ",
    "Original traceback:",
    "(scroll up for backtrace)",
    "Exception raised from ",
    "CUDA kernel errors",
    DEBUG_CONTEXT,
    "Found from ",
];

/// Whether a line, without indentation, begins the advice below a message.
pub fn is_advice(line: &str) -> bool {
    ADVICE.iter().any(|advice| line.starts_with(advice))
}

/// What Dynamo was doing when it gave up, without the values that it did it with.
pub fn debug_context(message: &str) -> Option<&str> {
    let context = message
        .lines()
        .find_map(|line| line.trim().strip_prefix(DEBUG_CONTEXT))?;
    let end = context.find(['(', '[', '{']).unwrap_or(context.len());
    Some(context[..end].trim())
}

/// The form of the guard that an exported program cannot keep: its text with `N` for numbers and `S`
/// for sizes of inputs, which change as the program shrinks. None where several guards are listed:
/// some of them go as the program shrinks.
pub fn guard_form(message: &str) -> Option<String> {
    let (_, behind) = message.split_once(GUARD)?;
    if behind.contains(GUARD) {
        return None;
    }
    let guard = behind.lines().next()?.trim().trim_end_matches('.');
    let mut form = String::new();
    let mut rest = guard;
    while let Some(first) = rest.chars().next() {
        let input = rest
            .strip_prefix("L['")
            .and_then(|_| rest.split_once("].size()["));
        if let Some((_, behind)) = input {
            form.push('S');
            rest = behind.split_once(']').map_or("", |(_, behind)| behind);
        } else if first.is_ascii_digit() {
            form.push('N');
            rest = rest.trim_start_matches(|char: char| char.is_ascii_digit() || char == '.');
        } else {
            form.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    Some(form)
}

/// What stands before the guard that an exported program cannot keep.
const GUARD: &str = "satisfy the generated guard ";

/// How the line begins in which Dynamo says what it was doing when it gave up.
const DEBUG_CONTEXT: &str = "Developer debug context:";

/// Symbols for sizes: `u0`, `s12`.
pub const SYMBOLS: &str = r"\b[us]\d+\b";

/// Buffers, nodes and symbols that compilers number.
pub const NUMBERED: &str =
    r"\b(?:buf|tmp|arg|op)\d+(?:_\d+)?\b|\b(?:primals|tangents|getitem)_\d+\b|<eval_with_key>\.\d+";

/// Whether a text ends in the name of a tensor without data, whose arguments follow.
pub fn ends_in_fake_tensor(text: &str) -> bool {
    text.ends_with("FakeTensor") || text.ends_with("Fake")
}

/// A tensor without data, with its arguments.
pub const FAKE_TENSOR: &str = r"FakeTensor\(.*\)";

/// How operators say that arguments do not fit, for a regular expression in verbose mode.
pub const ARITY: &str = r"\b received\ an\ invalid\ combination\ of\ arguments \b";

/// How a comparison of tensors says that a number is none.
pub const NOT_A_NUMBER: &str = r"\bGreatest absolute difference: (?:nan|inf)\b";

/// How the line begins in which a comparison of tensors gives their greatest distance.
pub const DISTANCE: &str = "Greatest absolute difference";

/// How the compiler wraps an error of a backend: the backend, the class and the message within.
pub const WRAPPED: &str = r"^backend='[^']*' raised:\s*\n?((?:\w+\.)*\w+)(?:: ?(.*))?";

/// The same, as PyTorch 2.0 does.
pub const WRAPPED_2_0: &str = r"^\w+ raised ((?:\w+\.)*\w+)(?:: ?(.*))?";

/// How a trace begins the report of a call that failed; the failure is on a later line.
pub const FAILED_CALL: &str = r"^Failed running call_(?:function|method|module) ";

/// How Inductor reports an exception that it got: the exception's message.
pub const GOT: &str = r#"got \w+\(['"](.{5,}?)['"]\)?[,)]"#;

/// The class and the message by which another version of PyTorch reports an error of its compiler,
/// or the same version without its caches.
pub fn reported_elsewhere(short_class: &str, message: &str) -> Option<(&'static str, String)> {
    const RAISED: &str = "backend='inductor' raised:\n";
    match short_class {
        "InductorError" => Some((
            "torch._dynamo.exc.BackendCompilerFailed",
            format!("{RAISED}{message}"),
        )),
        "BackendCompilerFailed" => Some((
            "torch._inductor.exc.InductorError",
            message.strip_prefix(RAISED)?.to_owned(),
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_the_compiler_is_reported_in_two_ways() {
        let (class, message) = reported_elsewhere("InductorError", "E: bad").unwrap();
        assert!(class.ends_with("BackendCompilerFailed"));
        let (back, original) = reported_elsewhere("BackendCompilerFailed", &message).unwrap();
        assert!(back.ends_with("InductorError"));
        assert_eq!(original, "E: bad");
        assert_eq!(reported_elsewhere("BackendCompilerFailed", "E: bad"), None);
        assert_eq!(reported_elsewhere("ValueError", "E: bad"), None);
    }

    #[test]
    fn the_context_is_free_of_values() {
        let message = "Unsupported call\n  Explanation: a\n  Developer debug context: call_method \
                       UserDefined(A) f [Constant(int: 3)]\n";
        assert_eq!(debug_context(message), Some("call_method UserDefined"));
        assert_eq!(debug_context("Unsupported call"), None);
    }

    #[test]
    fn guards_have_the_same_form_whatever_the_sizes_are() {
        let of = |guard: &str| {
            guard_form(&format!(
                "Constraints violated (d)!\n  - Not all values of d = L['z'].size()[1] in the \
                 specified range satisfy the generated guard {guard}.\nmore"
            ))
        };
        assert_eq!(
            of("((1 + L['z'].size()[1]) // 2) != 1").as_deref(),
            Some("((N + S) // N) != N")
        );
        assert_eq!(of("L['a']['b'].size()[0] > 2").as_deref(), Some("S > N"));
        assert_eq!(guard_form("Constraints violated (d)!"), None);
    }

    #[test]
    fn advice_is_recognized_by_its_beginning() {
        assert!(is_advice(
            "Set TORCHDYNAMO_VERBOSE=1 for the internal stack trace"
        ));
        assert!(is_advice("from user code:"));
        assert!(!is_advice("Settings are wrong") && !is_advice(""));
    }
}
