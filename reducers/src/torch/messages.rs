//! The words in which PyTorch reports failures, each once: the advice that it adds to messages, the
//! parts that vary between runs, and the forms in which its compiler wraps errors. Regular
//! expressions are given as text, and their users compile them. Called by the oracle and by scrub.

use std::collections::BTreeSet;

/// Beginnings of the lines that PyTorch adds below a message; none of them describes the failure.
const ADVICE: &[&str] = &[
    USER_CODE,
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

/// The line before the stack of the code that Dynamo was compiling.
const USER_CODE: &str = "from user code:";

/// Whether a line, without indentation, begins the advice below a message.
pub fn is_advice(line: &str) -> bool {
    ADVICE.iter().any(|advice| line.starts_with(advice))
}

/// The first error that a C++ compiler reported in a message, without the names that it quotes:
/// generated code numbers these.
pub fn cpp_error(message: &str) -> Option<String> {
    let line = message.lines().find(|line| line.contains(CPP_ERROR))?;
    let (_, error) = line.split_once(CPP_ERROR)?;
    let parts = error.trim().split(['\u{2018}', '\u{2019}', '\'']);
    let unquoted = parts.step_by(2).map(str::trim);
    Some(unquoted.collect::<Vec<_>>().join(" … ").trim().to_owned())
}

/// Whether a line of a message is one of what a C++ compiler says. What it warns of in headers depends
/// on whether they were compiled before.
pub fn is_of_cpp_compiler(line: &str) -> bool {
    const SAYING: [&str; 3] = [CPP_ERROR, ": warning: ", ": note: "];
    line.starts_with("In file included from") || SAYING.iter().any(|said| line.contains(said))
}

/// The text between the place and the words of a C++ compiler's error.
const CPP_ERROR: &str = ": error: ";

/// What Dynamo was doing when it gave up, without the values involved.
pub fn debug_context(message: &str) -> Option<&str> {
    let context = message
        .lines()
        .find_map(|line| line.trim().strip_prefix(DEBUG_CONTEXT))?;
    let end = context.find(['(', '[', '{']).unwrap_or(context.len());
    Some(context[..end].trim())
}

/// The conditions on sizes that a message says a program does not keep, or makes the compiler ask
/// for: each with `S` for sizes and `N` for numbers, which change as the program shrinks. 0 and 1
/// are themselves: to the compiler they are no sizes like others, and a program that comes down to
/// them asks something else. Several may be listed, of which some go as the program shrinks.
pub fn size_conditions(message: &str) -> BTreeSet<String> {
    let guards = GUARDS.iter().flat_map(|guard| message.split(guard).skip(1));
    let guards = guards.filter_map(|behind| {
        let guard = behind.lines().next()?.trim().trim_end_matches('.');
        Some(without_sizes(guard))
    });
    let questions = message.split(QUESTION).skip(1).filter_map(|behind| {
        let (asked, _) = behind
            .split_once(" (unhinted")
            .or(behind.split_once('\n'))?;
        Some(relation(&without_sizes(asked)))
    });
    let constants = CONSTANTS.iter().flat_map(|(before, name)| {
        let values = message.split(before).skip(1);
        let values = values.map(|behind| {
            let end = behind.find(|char: char| !char.is_ascii_digit());
            &behind[..end.unwrap_or(behind.len())]
        });
        let values = values.filter(|value| !value.is_empty());
        values.map(move |value| format!("{name} {}", number_class(value)))
    });
    guards.chain(questions).chain(constants).collect()
}

/// A condition with `S` for each size and `N` for each number but 0 and 1.
fn without_sizes(condition: &str) -> String {
    let mut form = String::new();
    let mut rest = condition;
    while let Some(first) = rest.chars().next() {
        let is_part = |char: char| char.is_alphanumeric() || char == '_';
        let length = rest.find(|char| !is_part(char)).unwrap_or(rest.len());
        let word = &rest[..length];
        if let Some(behind) = behind_size(rest) {
            form.push('S');
            rest = behind;
        } else if first.is_ascii_digit() {
            let end = rest.find(|char: char| !(char.is_ascii_digit() || char == '.'));
            let (number, behind) = rest.split_at(end.unwrap_or(rest.len()));
            form.push_str(number_class(number));
            rest = behind;
        } else if is_symbol(word) {
            form.push('S');
            rest = &rest[length..];
        } else {
            let length = length.max(first.len_utf8());
            form.push_str(&rest[..length]);
            rest = &rest[length..];
        }
    }
    form
}

/// The text after the size of an input at the beginning of a text: `x.size()[0]`,
/// `L['x'].size()[0]`.
fn behind_size(text: &str) -> Option<&str> {
    const SIZE: &str = ".size()[";
    let is_part = |char: char| char.is_alphanumeric() || "_.[]'\"".contains(char);
    let end = text.find(|char| !is_part(char)).unwrap_or(text.len());
    let input = text[..end].strip_suffix(".size")?;
    let is_input = input.starts_with(|first: char| first.is_alphabetic() || first == '_');
    let (_, behind) = text[input.len()..].strip_prefix(SIZE)?.split_once(']')?;
    is_input.then_some(behind)
}

/// Whether a word is a symbol for a size: `u0`, `s12`, `zuf3`.
fn is_symbol(word: &str) -> bool {
    let name = word.trim_end_matches(|char: char| char.is_ascii_digit());
    name.len() < word.len() && matches!(name, "u" | "s" | "zuf")
}

/// The question that a condition asks: the relation of its two sides, and the functions by which
/// each is made from sizes. The rest is arithmetic, which becomes simpler as the program does.
fn relation(condition: &str) -> String {
    let call = |name: &str| {
        let arguments = condition.strip_prefix(name)?.strip_suffix(')')?;
        let mut depth = 0_usize;
        let comma = arguments.find(|char| {
            match char {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && char == ','
        })?;
        Some((&arguments[..comma], &arguments[comma + 1..]))
    };
    let infix = |sign: &'static str| Some((sign, condition.split_once(sign)?));
    let found = [("Eq", "Eq("), ("Ne", "Ne(")]
        .into_iter()
        .find_map(|(sign, start)| Some((sign, call(start)?)))
        .or_else(|| [" >= ", " <= ", " > ", " < "].into_iter().find_map(infix));
    let Some((sign, (left, right))) = found else {
        return side(condition);
    };
    format!("{} {} {}", side(left), sign.trim(), side(right))
}

/// One side of a condition: the number that it is, or the functions by which it is made of sizes.
fn side(text: &str) -> String {
    let text = text.trim();
    if matches!(text, "0" | "1" | "N") {
        return text.to_owned();
    }
    let words = text.split(|char: char| !char.is_alphanumeric());
    let is_function = |word: &&str| word.len() > 1 && word.chars().all(char::is_alphabetic);
    let functions: BTreeSet<&str> = words.filter(is_function).collect();
    let mut side: Vec<&str> = functions.into_iter().collect();
    side.push("S");
    side.join(" ")
}

/// A number as conditions name it.
fn number_class(number: &str) -> &str {
    match number {
        "0" | "1" => number,
        _ => "N",
    }
}

/// The text before a condition on sizes that does not hold, up to the end of its line.
const GUARDS: [&str; 2] = ["satisfy the generated guard ", "Guard failed: "];

/// The text before a question about sizes that only the data can answer.
const QUESTION: &str = "data-dependent expression ";

/// The text before a size that a library assumed to be constant, with a name for it.
const CONSTANTS: [(&str, &str); 3] = [
    ("specialized it to be a constant (", "constant"),
    ("were specialized to constants (", "constant"),
    ("to be equal to ", "equal to"),
];

/// How lines begin and end in which `TorchScript` says of a function why a call of it is not valid, and
/// what is wrong then.
const MISFITS: [(&str, &str, &str); 4] = [
    ("Argument ", " not provided.", "an argument is missing"),
    (
        "Expected a value of type ",
        "",
        "an argument has another type",
    ),
    ("Expected at most ", "", "there are too many arguments"),
    ("Unknown keyword argument ", "", "a keyword is unknown"),
];

/// What is wrong with a call, as `TorchScript` says of each function that may be meant: `aten::f: a
/// keyword is unknown`.
pub fn misfits(message: &str) -> BTreeSet<String> {
    let mut function = "";
    let mut found = BTreeSet::new();
    for line in message.lines().map(str::trim) {
        let mut known = MISFITS.iter();
        let misfit = known.find(|(start, end, _)| line.starts_with(start) && line.ends_with(end));
        match (misfit, line.split_once('(')) {
            (Some((_, _, misfit)), _) => {
                found.insert(format!("{function}: {misfit}"));
            }
            (None, Some((name, _))) => function = name,
            (None, None) => {}
        }
    }
    found
}

/// The beginning of the line in which Dynamo says what it was doing when it gave up.
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

/// What CUDA says if the system refuses it what it needs to start.
pub const ACCELERATOR_REFUSED: &str = "OS call failed or operation not supported on this OS";

/// How a comparison of tensors says that a number is none.
pub const NOT_A_NUMBER: &str = r"\bGreatest absolute difference: (?:nan|inf)\b";

/// How the line begins in which a comparison of tensors gives their greatest distance.
pub const DISTANCE: &str = "Greatest absolute difference";

/// How a check of gradients warns that its numbers are not precise enough for it.
pub const IMPRECISE: &str = "is not a double precision floating point or complex";

/// How the compiler wraps an error of a backend: the backend, the class and the message within.
pub const WRAPPED: &str = r"^backend='[^']*' raised:\s*\n?((?:\w+\.)*\w+)(?:: ?(.*))?";

/// The same, as PyTorch 2.0 does.
pub const WRAPPED_2_0: &str = r"^\w+ raised ((?:\w+\.)*\w+)(?:: ?(.*))?";

/// How a trace begins the report of a call that failed; the failure is on a later line.
pub const FAILED_CALL: &str = r"^Failed running call_(?:function|method|module) ";

/// How Inductor reports an exception that it got: the exception's message.
pub const GOT: &str = r#"got \w+\(['"](.{5,}?)['"]\)?[,)]"#;

/// Whether the first line of a message only names the backend that raised the error in the next
/// line.
pub fn names_backend(line: &str) -> bool {
    line.starts_with("backend='") && line.ends_with("' raised:")
}

/// The lines of files that Dynamo was compiling when it gave up, outermost first.
pub fn compiled_lines(message: &str) -> Vec<(&str, u32)> {
    let stack = message.split_once(USER_CODE).map(|(_, stack)| stack);
    let frames = stack.unwrap_or_default().lines();
    let lines = frames.filter_map(|line| {
        let (file, behind) = line
            .trim()
            .strip_prefix("File \"")?
            .split_once("\", line ")?;
        let number = behind.split(',').next()?.parse().ok()?;
        Some((file, number))
    });
    lines.collect()
}

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
    fn torchscript_says_why_a_call_is_not_valid() {
        let message = "Arguments for call are not valid.\n  aten::f(Tensor self, int? n=None):\n  \
                       Expected a value of type 'int' for argument 'n' but found type 'str'.\n  \
                       aten::f.out(Tensor self, *, Tensor out):\n  Argument out not provided.\n";
        let found = misfits(message);
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        let expected = [
            "aten::f.out: an argument is missing",
            "aten::f: an argument has another type",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn dynamo_says_which_lines_it_was_at() {
        let message = "no such thing\n\nfrom user code:\n   File \"/a b/x.py\", line 12, in f\n    \
                       g(x)\n  File \"/lib.py\", line 3, in g\n    x.y\n\nSet TORCHDYNAMO_VERBOSE=1";
        let lines = compiled_lines(message);
        assert_eq!(lines, [("/a b/x.py", 12), ("/lib.py", 3)]);
        assert_eq!(compiled_lines("File \"/lib.py\", line 3, in g"), []);
    }

    #[test]
    fn the_context_is_free_of_values() {
        let message = "Unsupported call\n  Explanation: a\n  Developer debug context: call_method \
                       UserDefined(A) f [Constant(int: 3)]\n";
        assert_eq!(debug_context(message), Some("call_method UserDefined"));
        assert_eq!(debug_context("Unsupported call"), None);
    }

    #[track_caller]
    fn check_conditions(message: &str, expected: &[&str]) {
        let expected: BTreeSet<String> = expected.iter().map(|&form| form.to_owned()).collect();
        assert_eq!(size_conditions(message), expected, "{message}");
    }

    #[test]
    fn guards_have_the_same_form_whatever_the_sizes_are() {
        let guard = |guard: &str| {
            format!(
                "  - Not all values of d = L['z'].size()[1] in the specified range satisfy the \
                 generated guard {guard}.\n"
            )
        };
        check_conditions(
            &guard("((1 + L['z'].size()[1]) // 160) != 1"),
            &["((1 + S) // N) != 1"],
        );
        check_conditions(&guard("L['a']['b'].size()[0] > 2"), &["S > N"]);
        // A program whose own size is 1 asks for something else.
        check_conditions(&guard("L['a'].size()[0] != 4"), &["S != N"]);
        check_conditions(&guard("L['a'].size()[0] != 1"), &["S != 1"]);
        check_conditions(
            &(guard("(L['a'].size()[0] % 4) == 0") + &guard("6 <= L['a'].size()[0]")),
            &["(S % N) == 0", "N <= S"],
        );
        check_conditions("Guard failed: x.size()[0] // 5 != 1", &["S // N != 1"]);
        check_conditions("Guard failed: a.b['c'].size()[0] == 2", &["S == N"]);
        check_conditions(
            "Guard failed: max(1, x.size()[1]) == x.size()[1]",
            &["max(1, S) == S"],
        );
        check_conditions("Constraints violated (d)!", &[]);
    }

    #[test]
    fn constants_are_one_or_more() {
        let constant = |value: u32| {
            format!(
                "  - You marked n as dynamic but your code specialized it to be a constant ({value}). If"
            )
        };
        check_conditions(&constant(2560), &["constant N"]);
        check_conditions(&constant(1), &["constant 1"]);
        check_conditions(
            "Expected input to be equal to 8, but got 9",
            &["equal to N"],
        );
        check_conditions("Expected a to be equal to b", &[]);
    }

    #[test]
    fn questions_about_data_are_known_by_their_relation() {
        let question = |asked: &str| {
            format!(
                "Could not guard on data-dependent expression {asked} (unhinted: {asked}).  (Size"
            )
        };
        check_conditions(&question("u0 > 3"), &["S > N"]);
        check_conditions(&question("Eq(9*s77*u0, 0)"), &["S Eq 0"]);
        check_conditions(&question("Eq(u0, 1)"), &["S Eq 1"]);
        check_conditions(&question("Eq(Mod(u0, 4), 0)"), &["Mod S Eq 0"]);
        check_conditions(&question("Ne(u0, u1 + 1)"), &["S Ne S"]);
        check_conditions(&question("-zuf0 >= 0"), &["S >= 0"]);
    }

    #[test]
    fn errors_of_the_cpp_compiler_are_free_of_names() {
        let message = "CppCompileError: C++ compile error\n\nOutput:\n/tmp/a.cpp: In function 'f':\n\
                       /tmp/a.cpp:12:53: error: \u{2018}zuf0\u{2019} was not declared in 'g'\n";
        let expected = "… was not declared in …";
        assert_eq!(cpp_error(message).as_deref(), Some(expected));
        assert_eq!(cpp_error("error: none"), None);
        let said = message.lines().filter(|line| is_of_cpp_compiler(line));
        assert_eq!(said.count(), 1);
        assert!(is_of_cpp_compiler(
            "a.h:2:1: warning: overflow in conversion"
        ));
        assert!(is_of_cpp_compiler("In file included from a.h:2,"));
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
