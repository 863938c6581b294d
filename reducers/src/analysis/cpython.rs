//! The words in which CPython reports failures, each once. Regular expressions are given as text,
//! and their users compile them. Called by hints, by the oracle and by scrub.

/// Of a name that nothing binds: `name 'x' is not defined`.
pub const NOT_DEFINED: &str = "is not defined";
/// Of an attribute that nothing sets: `'A' object has no attribute 'x'`.
pub const NO_ATTRIBUTE: &str = "has no attribute";
/// Of a module that lacks a name.
pub const CANNOT_IMPORT: &str = "cannot import name";
/// Of a module that does not exist.
pub const NO_MODULE: &str = "No module named";
/// Of a call with a keyword that the function does not have.
pub const UNEXPECTED_KEYWORD: &str = "got an unexpected keyword argument";
/// Of a class that is called with arguments, and has no constructor.
pub const TAKES_NOTHING: &str = "takes no arguments";
/// Before the interpreter's guess at the name that was meant.
pub const SUGGESTION: &str = ". Did you mean";

/// The interpreter's guess at the name that was meant, which depends on whatever else is defined.
pub const SUGGESTION_PATTERN: &str = r"\. Did you (?:mean|forget)\b.*$";
/// The count in the headline of an exception group.
pub const GROUP_PATTERN: &str = r"\(\d+ sub-exceptions?\)";

/// Of names that nothing binds.
pub const NAME_PATTERN: &str = r"\bname '\w+' is not defined|\bfree variable '\w+'";
/// Of local variables that are not bound yet.
pub const UNBOUND_PATTERN: &str = r"\blocal variable '\w+' (?:where it is not associated with a value|referenced before assignment)";
/// Of names that a module lacks.
pub const IMPORT_PATTERN: &str = r"\bcannot import name '";
/// Of modules that do not exist.
pub const MODULE_PATTERN: &str = r"\bNo module named '";
/// Of source that does not parse. When a program prints such an exception, its location is last.
pub const SYNTAX_PATTERN: &str =
    r"\binvalid syntax\b|\((?:<(?:string|unknown|stdin)>|[\w.+-]+\.py), line \d+\)";
/// Of arguments that do not fit, in verbose mode.
pub const ARITY_PATTERN: &str = r"
    \b missing\ (?: \d+\ )? required\ (?: positional\ | keyword-only\ )? argument
    | \b takes\ (?: from\ )? \d+\ (?: to\ \d+\ )? positional\ arguments?\ but \b
    | \b takes\ (?: exactly | at\ least | at\ most | no )\ (?: \w+\ ){0,2} arguments? \b
    | \b expected\ (?: at\ least\ | at\ most\ | exactly\ )? \d+\ arguments?,\ got \b
    | \b got\ an\ unexpected\ keyword\ argument \b | \b is\ an\ invalid\ keyword\ argument\ for \b
    | \b got\ multiple\ values\ for\ argument \b
    | \b (?: not\ enough | too\ many )\ values\ to\ unpack \b";
/// Of a value of a built-in type that does not fit, in verbose mode; the groups name the type.
pub const LITERAL_PATTERN: &str = r"(?x)
    \b (NoneType) \b
    | ' (int|float|str|bytes|bool|list|dict|tuple) '\ object\ (?: is | has | does | can )
    | ^ (list|tuple) \ (?:assignment\ )? index\ out\ of\ range | \b pop\ from\ empty\ (list)";
/// Of a value that does not fit an operation, in verbose mode.
pub const OWN_WORDS_PATTERN: &str = r"(?x)
    ^ '[\w.]+' \ object\ (?: is\ not | has\ no | does\ not | cannot ) \b
    | ^ unsupported\ operand\ type | ^ bad\ operand\ type | ^ cannot\ unpack \b
    | ^ '.{1,2}'\ not\ supported\ between \b
    | ^ argument\ of\ type\ ' | ^ can\ only\ concatenate \b
    | ^ (?: not\ enough | too\ many )\ values\ to\ unpack \b
    | ^ (?: array | bytearray | deque | list | tuple | string | range\ object )\ (?: assignment\ )?
        index\ out\ of\ range
    | ^ index\ out\ of\ range $
    | ^ invalid\ literal\ for\ int\(\)\ with\ base\ \d+:\ ''$
    | ^ could\ not\ convert\ string\ to\ float:\ (?: '' )? $
    | ^ can't\ (?: compare | subtract )\ | ^ unhashable\ type: | ^ cannot\ convert\ float\ 
    | \b (?: changed\ size | keys\ changed | mutated )\ during\ iteration $
    | \b value\ out\ of\ range $
    | ^ pop\ from\ (?: an\ )? empty\ \w+ | \b not\ in\ (?: list | deque | tuple ) $
    | ^ (?: substring | subsection )\ not\ found | \barg\ is\ an\ empty\ sequence
    | \biterable\ argument\ is\ empty | \bx\ not\ in\ (?: list | deque | tuple )
    | \bmust\ be\ an\ iterable,\ not\b | \bindices\ must\ be\ integers\b";
/// Warnings of the interpreter: the location, then the category, a colon and the text.
pub const WARNING_PATTERN: &str = r"^.+:\d+: (\w*Warning: .*)$";

/// Classes of exceptions that the interpreter itself raises when any operation fails.
pub const OPERATION_ERRORS: &[&str] = &[
    "AttributeError",
    "IndexError",
    "KeyError",
    "StopIteration",
    "TypeError",
    "ZeroDivisionError",
];

/// The first quoted text of a message: the name that it is about.
pub fn quoted(message: &str) -> Option<&str> {
    Some(message.split_once('\'')?.1.split_once('\'')?.0)
}

/// The attribute that nothing sets.
pub fn missing_attribute(message: &str) -> Option<&str> {
    let message = message.split(SUGGESTION).next()?;
    let at = message.rfind(NO_ATTRIBUTE)?;
    quoted(&message[at + NO_ATTRIBUTE.len()..])
}

/// The class whose objects cannot do something, and the method with a special name that does it.
pub fn missing_protocol(message: &str) -> Option<(&str, &'static str)> {
    const WITHOUT: [(&str, &str); 7] = [
        ("has no len()", "__len__"),
        ("is not callable", "__call__"),
        ("is not iterable", "__iter__"),
        ("is not subscriptable", "__getitem__"),
        ("does not support item assignment", "__setitem__"),
        ("does not support the context manager protocol", "__enter__"),
        ("unhashable type", "__hash__"),
    ];
    let (_, method) = WITHOUT.iter().find(|(words, _)| message.contains(words))?;
    Some((quoted(message)?, method))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_objects_cannot_do_is_a_method_of_their_class() {
        let of = missing_protocol;
        assert_eq!(of("unhashable type: 'A'"), Some(("A", "__hash__")));
        let message = "'A' object is not iterable";
        assert_eq!(of(message), Some(("A", "__iter__")));
        assert_eq!(
            of("object of type 'A' has no len()"),
            Some(("A", "__len__"))
        );
        assert_eq!(of("'A' object has no attribute 'b'"), None);
    }
}
