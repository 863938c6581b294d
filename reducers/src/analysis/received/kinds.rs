//! The kinds of the values that calls received, and which kinds are as good as others: an object
//! may stand for another, but no constant for an object, and nothing empty for what is full.

use std::collections::{BTreeMap, BTreeSet};

use super::values::{EMPTY, GivenValue, GivenValues};

/// The kinds of the language's containers.
const CONTAINERS: [&str; 5] = ["dict", "frozenset", "list", "set", "tuple"];

/// What the kinds of arrays have before the type of their elements.
const OF_ARRAYS: &str = " of ";

/// The kind of functions and methods.
const FUNCTION: &str = "function";

/// The kind of a generator that has nothing left.
const SPENT: &str = "spent";

/// Whether a value of a kind has the type of one of known kinds. A number is as good as another.
pub(super) fn is_alike(kind: &str, known: &BTreeSet<&str>) -> bool {
    known.contains(kind)
        || known.contains("")
        || known.contains(format!("{kind}{EMPTY}").as_str()) && is_constant(kind)
        || is_number(kind) && known.iter().any(|known| is_number(known)) && is_as_good(kind, known)
}

/// Whether something that can be called is among things of some kinds, if all known things are
/// functions.
pub(super) fn can_be_called(its: &BTreeSet<&str>, known: &BTreeSet<&str>) -> bool {
    let is_callable = |kind: &str| [FUNCTION, "class", ""].contains(&kind);
    !known.iter().all(|known| *known == FUNCTION) || its.iter().any(|kind| is_callable(kind))
}

/// Whether a kind is one of numbers.
pub(super) fn is_number(kind: &str) -> bool {
    const NUMBERS: [&str; 3] = ["zero ", "finite ", "odd "];
    NUMBERS.iter().any(|size| kind.starts_with(size))
}

/// Whether a kind is one of constants.
fn is_constant(kind: &str) -> bool {
    let name = kind.strip_suffix(EMPTY).unwrap_or(kind);
    matches!(name, "None" | "bool" | "bytes" | "str") || is_number(kind)
}

/// Whether a value of a kind says as much as those of known kinds: an object may be replaced by
/// another, but not by a constant, and nothing by something that is empty, zero or no number. A
/// generator that has nothing left is not one that never had anything.
pub(super) fn is_as_good(kind: &str, known: &BTreeSet<&str>) -> bool {
    if kind == SPENT || known.iter().all(|known| *known == SPENT) {
        return known.contains(kind);
    }
    if known.contains(kind) {
        return true;
    }
    // What is handed out one by one may be written out, but a text is a row of letters.
    if known.contains("") {
        return !matches!(kind, "str" | "bytes") || known.iter().any(|known| is_constant(known));
    }
    if let Some(full) = kind.strip_suffix(EMPTY) {
        let is_for_array = known.iter().any(|known| known.contains(OF_ARRAYS));
        return !known.contains(full) && !is_constant(kind) && !is_for_array;
    }
    if is_number(kind) {
        let size = kind.split(' ').next().unwrap_or(kind);
        let mut known_numbers = known.iter().filter(|known| is_number(known));
        return known_numbers.any(|known| known.starts_with(size))
            || kind.starts_with("finite") && known.iter().any(|known| is_constant(known));
    }
    // What is only looked at is no function.
    if kind == FUNCTION {
        return known.contains("class");
    }
    // Who is given keys takes no object for them.
    let name = |kind| str::strip_suffix(kind, EMPTY).unwrap_or(kind);
    let is_container = CONTAINERS.contains(&name(kind));
    if !is_constant(kind) && !is_container && known.iter().all(|kind| name(kind) == "dict") {
        return false;
    }
    kind != "None" && (!is_constant(kind) || known.iter().any(|known| is_constant(known)))
}

/// Whether a kind is one of single things in the place of rows.
pub(super) fn is_for_row(kind: &str, known: &BTreeSet<&str>) -> bool {
    (is_number(kind) || matches!(kind, "str" | "bytes")) && known.iter().all(|kind| is_row(kind))
}

/// Whether a kind is one of rows of parts.
fn is_row(kind: &str) -> bool {
    matches!(kind, "list" | "tuple")
}

/// The kinds of what calls receive, by the place, and of the parts of it, by the kind of the whole
/// as well, since an object that replaces another has other parts, and by their keys.
pub(super) fn kinds(calls: &[GivenValues]) -> BTreeMap<(&str, Option<&str>), BTreeSet<&str>> {
    let mut found: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    for (place, value) in calls.iter().flatten() {
        let place = place.as_str();
        let whole = found.entry((place, None)).or_default();
        whole.insert(value.kind());
        if value.is_callable() {
            whole.insert(FUNCTION);
        }
        let of = if is_row(value.kind()) {
            "row"
        } else {
            value.kind()
        };
        let parts = found.entry((place, Some(of))).or_default();
        parts.extend(value.parts().iter().map(GivenValue::kind));
        for (key, value) in keyed(value) {
            // Texts are in quotes, so no key is taken for a kind.
            let of_key = found.entry((place, Some(key))).or_default();
            of_key.insert(value.kind());
        }
    }
    // Of what has no known parts, nothing is known.
    found.retain(|_, kinds| !kinds.is_empty());
    found
}

/// The values in a dictionary, and in those in it, that have texts for keys.
fn keyed(value: &GivenValue) -> Vec<(&str, &GivenValue)> {
    let mut found = Vec::new();
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        open.extend(value.parts());
        if value.kind() == "dict" {
            let pairs = value.parts().chunks_exact(2);
            found.extend(pairs.filter_map(|pair| match pair {
                [GivenValue::Plain(kind, key), value] if kind == "str" => {
                    Some((key.as_str(), value))
                }
                _ => None,
            }));
        }
    }
    found
}

/// Whether the texts that are keys of what calls receive are keys of what others receive in the same
/// places.
pub(super) fn are_keys_of(its: &[GivenValues], known: &[GivenValues]) -> bool {
    let (its, known) = (keys(its), keys(known));
    its.iter().all(|(place, its)| {
        let known = known.get(place);
        known.is_none_or(|known| its.is_subset(known))
    })
}

/// The texts that are keys of what calls receive, by the place and the depth in it.
fn keys(calls: &[GivenValues]) -> BTreeMap<(&str, usize), BTreeSet<&str>> {
    let mut found: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    for (place, value) in calls.iter().flatten() {
        let mut open = vec![(0, value)];
        while let Some((depth, value)) = open.pop() {
            open.extend(value.parts().iter().map(|part| (depth + 1, part)));
            if value.kind() == "dict" {
                let keys = value.parts().iter().step_by(2);
                let keys = keys.filter_map(|key| match key {
                    GivenValue::Plain(kind, text) if kind == "str" => Some(text.as_str()),
                    _ => None,
                });
                found
                    .entry((place.as_str(), depth))
                    .or_default()
                    .extend(keys);
            }
        }
    }
    found
}

/// Whether anything that calls receive is an object of a class, and not a constant or a container.
pub(super) fn holds_objects(calls: &[GivenValues]) -> bool {
    let mut values = calls.iter().flat_map(BTreeMap::values);
    values.any(|value| {
        let kind = value.kind();
        let name = kind.strip_suffix(EMPTY).unwrap_or(kind);
        !(kind.is_empty() || is_constant(kind) || CONTAINERS.contains(&name))
    })
}
