//! Names with two underscores around them: those that the language reference and the standard
//! library give a meaning, and all others, which belong to some library. Called by slices and by
//! the analyses of the judge.

/// The special names of Python's data model, of copying and pickling, and of paths, without their
/// underscores; those of binary operators stand apart.
const OF_THE_LANGUAGE: &str = "\
    new init del repr str bytes format lt le eq ne gt ge hash bool \
    getattr getattribute setattr delattr dir get set delete set_name slots dict doc match_args \
    init_subclass mro_entries prepare instancecheck subclasscheck subclasshook class_getitem \
    call len length_hint getitem setitem delitem missing iter next reversed contains \
    neg pos abs invert complex int float index round trunc floor ceil \
    enter exit await aiter anext aenter aexit buffer release_buffer \
    copy deepcopy replace getstate setstate reduce reduce_ex getnewargs getnewargs_ex \
    fspath sizeof post_init annotations all name file main module qualname class bases";

/// Binary operators: each also has a reflected form and one in place.
const OPERATORS: &str =
    "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and xor or";

/// The names among them that copying and pickling look up.
const OF_COPYING: [&str; 8] = [
    "copy",
    "deepcopy",
    "getnewargs",
    "getnewargs_ex",
    "getstate",
    "reduce",
    "reduce_ex",
    "setstate",
];

/// Whether a name is one of those that the interpreter or a library asks for.
pub(crate) fn is_special(name: &str) -> bool {
    inner(name).is_some()
}

/// Whether a name is that of a method for a binary operator, of any form.
pub(crate) fn is_operator(name: &str) -> bool {
    let listed = |name: &str| OPERATORS.split(' ').any(|listed| listed == name);
    inner(name).is_some_and(|name| {
        let other_form = name.strip_prefix(['r', 'i']);
        listed(name) || other_form.is_some_and(listed)
    })
}

/// Whether a name is special to a library, not to the language: the library may ask whether an
/// object has it without ever calling it.
pub(crate) fn is_of_library(name: &str) -> bool {
    let is_of_language = |name: &str| OF_THE_LANGUAGE.split(' ').any(|listed| listed == name);
    !is_operator(name) && inner(name).is_some_and(|name| !is_of_language(name))
}

/// Special names that a program needs to run at all, or by which it only shows itself.
const OF_EVERY_OBJECT: [&str; 9] = [
    "call",
    "enter",
    "exit",
    "format",
    "init",
    "new",
    "post_init",
    "repr",
    "str",
];

/// Whether a name is one of a method that the interpreter or a library asks for if a class has it,
/// and does without otherwise.
pub(crate) fn is_hook(name: &str) -> bool {
    inner(name).is_some_and(|name| !OF_EVERY_OBJECT.contains(&name))
}

/// Whether a name is one by which a class tells `copy` and `pickle` what to do with its objects.
pub(crate) fn is_of_copying(name: &str) -> bool {
    inner(name).is_some_and(|name| OF_COPYING.contains(&name))
}

/// Special names of methods that a class gives parameters of its own.
const OF_ANY_PARAMETERS: [&str; 5] = ["call", "init", "init_subclass", "new", "post_init"];

/// Whether a name is one of a method that the interpreter or a library calls with arguments of its
/// own choice: with other parameters the call itself fails.
pub(crate) fn has_given_parameters(name: &str) -> bool {
    inner(name).is_some_and(|name| !OF_ANY_PARAMETERS.contains(&name))
}

/// What stands between the underscores of a special name.
fn inner(name: &str) -> Option<&str> {
    let inner = name.strip_prefix("__")?.strip_suffix("__")?;
    (!inner.is_empty()).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_s_names_are_told_from_those_of_libraries() {
        for name in [
            "__init__",
            "__class_getitem__",
            "__radd__",
            "__ior__",
            "__matmul__",
            "__post_init__",
        ] {
            assert!(is_special(name) && !is_of_library(name), "{name}");
        }
        for name in ["__array__", "__array_interface__", "__geo_interface__"] {
            assert!(is_special(name) && is_of_library(name), "{name}");
        }
        assert!(has_given_parameters("__getattribute__") && has_given_parameters("__array__"));
        assert!(!has_given_parameters("__init__") && !has_given_parameters("forward"));
        assert!(is_of_copying("__setstate__") && !is_of_copying("__set__"));
        for name in ["init", "_init_", "__init", "__", "____"] {
            assert!(!is_special(name) && !is_of_library(name), "{name}");
        }
    }
}
