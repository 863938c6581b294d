//! The list of names outside the script (`names.txt`) and its lookups. Pure data. Called by the
//! rules.

use std::{collections::BTreeMap, ops::Bound, sync::LazyLock};

use super::Concern;

/// The entry of the list for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListVerdict {
    /// Harmless, with everything below it but private names.
    Harmless,
    /// Harmless, with everything below it.
    Private,
    /// A module of which only the listed names are harmless.
    Listed,
    /// A module whose functions and classes are harmless, and of whose parts only the listed ones.
    Flat,
    /// Another name of a path.
    Alias(&'static str),
    /// Harmless under a condition.
    Guarded(Guard),
    /// A danger, with the reason.
    Danger(Concern, &'static str),
}

/// The conditions under which names are harmless; `names.txt` explains them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString)]
#[strum(serialize_all = "snake_case")]
pub(super) enum Guard {
    Path,
    Load,
    Lookup,
    Import,
    Command,
    Code,
    Connect,
    Decode,
    Process,
    Environ,
    Search,
}

/// The judgement on a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameJudgement {
    /// Nobody needs to see it.
    Harmless,
    /// A guarded function, or one of a guarded module.
    Guarded(Guard),
    /// A danger, with the reason.
    Danger(Concern, &'static str),
    /// Below something that is known, but not on the list.
    Unlisted,
    /// Nothing is known of the package.
    Unknown,
}

static TABLE: LazyLock<BTreeMap<&'static str, ListVerdict>> =
    LazyLock::new(|| rows().map(|row| row.expect("a row of names.txt")).collect());

/// The rows of the list; an error names the line.
fn rows() -> impl Iterator<Item = Result<(&'static str, ListVerdict), String>> {
    let lines = include_str!("names.txt").lines();
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            let mut words = line.splitn(3, ' ');
            let (Some(path), Some(word), rest) = (words.next(), words.next(), words.next()) else {
                return Err(line.to_owned());
            };
            let verdict = match (word, rest) {
                ("ok", None) => ListVerdict::Harmless,
                ("private", None) => ListVerdict::Private,
                ("listed", None) => ListVerdict::Listed,
                ("flat", None) => ListVerdict::Flat,
                ("is", Some(other)) => ListVerdict::Alias(other),
                (guard, reason) => match (guard.parse(), guard.parse(), reason) {
                    (Ok(guard), ..) => ListVerdict::Guarded(guard),
                    (_, Ok(concern), Some(reason)) => ListVerdict::Danger(concern, reason),
                    _ => return Err(line.to_owned()),
                },
            };
            Ok((path, verdict))
        })
}

/// The reason that the row of a guarded path gives.
pub(super) fn reason(path: &str) -> &'static str {
    let lines = include_str!("names.txt").lines();
    let (row, _) = longest(path).unwrap_or_default();
    lines
        .filter_map(|line| line.strip_prefix(row)?.strip_prefix(' '))
        .find_map(|rest| rest.split_once(' '))
        .map_or("", |(_, reason)| reason)
}

/// The longest row that is a path or a prefix of it, and the rest of the path.
fn longest(path: &str) -> Option<(&'static str, &str)> {
    let bytes = path.as_bytes();
    (1..=path.len())
        .rev()
        .filter(|end| *end == path.len() || matches!(bytes[*end], b'.' | b'(' | b'['))
        .find_map(|end| {
            let whole = TABLE.get_key_value(&path[..end]).map(|(row, _)| *row);
            Some((whole.or_else(|| pattern(&path[..end]))?, &path[end..]))
        })
}

/// A row that ends in `*` and matches.
fn pattern(path: &str) -> Option<&'static str> {
    let (parent, name) = path.rsplit_once('.')?;
    let below = TABLE
        .range::<str, _>((Bound::Included(parent), Bound::Unbounded))
        .map(|(row, _)| *row);
    below.take_while(|row| row.starts_with(parent)).find(|row| {
        let rest = row[parent.len()..].strip_prefix('.');
        let start = rest.and_then(|rest| rest.strip_suffix('*'));
        start.is_some_and(|start| name.starts_with(start))
    })
}

/// A path with other names of modules replaced: `posix.system` becomes `os.system`.
pub(super) fn canonical(path: &str) -> String {
    let mut path = path.to_owned();
    for _ in 0..3 {
        let replaced = longest(&path).and_then(|(row, rest)| match TABLE[row] {
            ListVerdict::Alias(other) => Some(format!("{other}{rest}")),
            _ => None,
        });
        match replaced {
            Some(replaced) => path = replaced,
            None => break,
        }
    }
    path
}

/// The judgement on a canonical path.
pub(super) fn judge(path: &str) -> NameJudgement {
    let Some((row, rest)) = longest(path) else {
        return NameJudgement::Unknown;
    };
    match TABLE[row] {
        ListVerdict::Private => NameJudgement::Harmless,
        ListVerdict::Harmless | ListVerdict::Guarded(_) if has_private(rest) => {
            NameJudgement::Unlisted
        }
        ListVerdict::Listed if !rest.is_empty() => NameJudgement::Unlisted,
        ListVerdict::Flat if has_part(rest) => NameJudgement::Unlisted,
        ListVerdict::Harmless | ListVerdict::Listed | ListVerdict::Flat | ListVerdict::Alias(_) => {
            NameJudgement::Harmless
        }
        ListVerdict::Guarded(guard) => NameJudgement::Guarded(guard),
        ListVerdict::Danger(concern, reason) => NameJudgement::Danger(concern, reason),
    }
}

/// Whether private names lead to the rest of a path.
fn has_private(rest: &str) -> bool {
    // Values of calls may have attributes of the script.
    let rest = rest.split(['(', '[']).next().unwrap_or_default();
    let mut names = rest.split('.');
    names.any(|name| name.starts_with('_') && !name.starts_with("__"))
}

/// Whether a path goes through a part of a module: `.new_part.function`, but not `.Class.method`
/// and `.function().attribute`.
fn has_part(rest: &str) -> bool {
    let mut names = rest.split('.').skip(1);
    let first = names.next().unwrap_or_default();
    names.next().is_some() && !first.starts_with(char::is_uppercase) && !first.contains(['(', '['])
}

/// Whether a path is the result of calls below a row, rather than something with a row.
pub(super) fn is_result(path: &str) -> bool {
    longest(path).is_some_and(|(_, rest)| rest.contains(['(', '[']))
}

/// Whether something that is not harmless can be reached from a module or function: whoever is
/// handed it may do more than the script shows.
pub(super) fn is_capability(path: &str) -> bool {
    let is_module_or_guard = |verdict: ListVerdict| {
        matches!(
            verdict,
            ListVerdict::Listed
                | ListVerdict::Flat
                | ListVerdict::Guarded(_)
                | ListVerdict::Danger(..)
        )
    };
    let is_type = path.starts_with("builtins.") || path.ends_with(')');
    TABLE.get(path).copied().is_some_and(is_module_or_guard)
        || !is_type
            && TABLE
                .range::<str, _>((Bound::Included(path), Bound::Unbounded))
                .take_while(|(row, _)| row.starts_with(path))
                .filter(|(row, _)| row[path.len()..].starts_with('.'))
                .any(|(_, verdict)| is_module_or_guard(*verdict))
}

/// Whether the list has a row for exactly this path.
pub(super) fn is_row(path: &str) -> bool {
    TABLE.contains_key(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_can_be_read_and_has_no_path_twice() {
        let rows: Result<Vec<_>, _> = rows().collect();
        assert_eq!(rows.unwrap().len(), TABLE.len());
        for (row, verdict) in &*TABLE {
            if let ListVerdict::Alias(other) = verdict {
                assert!(TABLE.contains_key(other), "{row} is {other}");
            }
        }
    }

    #[test]
    fn the_longest_row_decides() {
        let harmless = [
            "torch.nn.Linear",
            "torch._dynamo.reset",
            "math.pi",
            "os",
            "os.path.join",
        ];
        for path in harmless {
            assert_eq!(judge(path), NameJudgement::Harmless, "{path}");
        }
        for path in [
            "os.nice",
            "torch._C._new_thing",
            "threading._x",
            "torch.new.f",
        ] {
            assert_eq!(judge(path), NameJudgement::Unlisted, "{path}");
        }
        assert_eq!(judge("torch._C._jit_pass_x"), NameJudgement::Harmless);
        assert_eq!(judge("glob.glob"), NameJudgement::Guarded(Guard::Path));
        assert_eq!(judge("nobody.knows"), NameJudgement::Unknown);
        assert_eq!(canonical("posix.system"), "os.system");
        assert_eq!(reason("torch.load"), "unpickles a file");
        assert!(matches!(
            judge("pathlib.Path().parents[]"),
            NameJudgement::Danger(Concern::Files, _)
        ));
    }

    #[test]
    fn what_leads_to_more_than_it_shows_is_a_capability() {
        for path in ["os", "torch", "subprocess.run", "builtins", "torch.jit"] {
            assert!(is_capability(path), "{path}");
        }
        for path in ["math", "torch.nn.functional", "torch.ops.aten", "json"] {
            assert!(!is_capability(path), "{path}");
        }
    }
}
