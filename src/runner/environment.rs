//! The environment of a run: the user's without variables that change messages or verdicts, with
//! those that make runs repeat. Pure; called by `workspace`. The variables and their reasons are
//! those that PyTorch and CPython document.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Removed by name.
const REMOVED: &[&str] = &[
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
    "PYTHONINSPECT",
    "PYTHONVERBOSE",
    "PYTHONWARNINGS",
    "PYTHONOPTIMIZE",
    "PYTHONDEBUG",
    "PYTHONDEVMODE",
    "PYTHONTRACEMALLOC",
    "PYTHONPROFILEIMPORTTIME",
    "PYTHONBREAKPOINT",
    "PYTHONSAFEPATH",
    "PYTHONASYNCIODEBUG",
    "PYTHONMALLOC",
    "PYTHONPYCACHEPREFIX",
    "FORCE_COLOR",
    "TORCH_LOGS",
    "TORCH_LOGS_OUT",
    "TORCH_TRACE",
    "TORCH_COMPILE_DEBUG",
    "TORCH_COMPILE_DEBUG_DIR",
    "TORCH_COMPILE_DISABLE",
    "TORCH_SHOW_CPP_STACKTRACES",
    "OLDPWD",
];

/// Removed by prefix.
const REMOVED_PREFIXES: &[&str] = &[
    "TORCHDYNAMO_",
    "TORCH_BISECT_",
    "TORCHINDUCTOR_",
    "SLURM_",
    "TORCHELASTIC_",
    "MINREPRO_",
];

/// Set for every run.
const SET: &[(&str, &str)] = &[
    ("PYTHONHASHSEED", "0"),
    ("PYTHONDONTWRITEBYTECODE", "1"),
    ("PYTHONNOUSERSITE", "1"),
    // A death by a signal shows where it was.
    ("PYTHONFAULTHANDLER", "1"),
    // Tracebacks without colour, and without lines broken at the width of a terminal.
    ("NO_COLOR", "1"),
    ("PYTHON_COLORS", "0"),
    ("TERM", "dumb"),
    ("COLUMNS", "120"),
    ("LINES", "40"),
    // One worker each: many runs share the machine.
    ("TORCHINDUCTOR_COMPILE_THREADS", "1"),
    ("OMP_NUM_THREADS", "1"),
    ("MKL_NUM_THREADS", "1"),
];

/// The environment of a run: `user` scrubbed, folders for temporary files and caches, then `own` on
/// top.
pub(super) fn environment(
    user: impl IntoIterator<Item = (String, String)>,
    own: &[(String, String)],
    work: &Path,
    temporary: &Path,
    cache: &Path,
) -> BTreeMap<String, String> {
    let kept = |name: &str| {
        !REMOVED.contains(&name)
            && !REMOVED_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix))
    };
    let mut environment: BTreeMap<String, String> =
        user.into_iter().filter(|(name, _)| kept(name)).collect();
    let mut set = |name: &str, value: &str| environment.insert(name.to_owned(), value.to_owned());
    for (name, value) in SET {
        set(name, value);
    }
    let temporary = temporary.to_string_lossy();
    for name in ["TMPDIR", "TEMP", "TMP"] {
        set(name, &temporary);
    }
    set("PWD", &work.to_string_lossy());
    set(
        "TORCHINDUCTOR_CACHE_DIR",
        &cache.join("inductor").to_string_lossy(),
    );
    set("TRITON_CACHE_DIR", &cache.join("triton").to_string_lossy());
    for (name, value) in own {
        set(name, value);
    }
    environment
}

/// The folder in that for temporary files in which PyTorch's compiler keeps what no variable places
/// elsewhere: a compiled header of its own, the work of half a minute. Named for the user, as
/// Python's `getpass` finds the name: `users` is the text of `/etc/passwd`.
pub(super) fn compiler_folder(
    environment: &BTreeMap<String, String>,
    users: &str,
    id: u32,
) -> Option<String> {
    let named = ["LOGNAME", "USER", "LNAME", "USERNAME"]
        .iter()
        .filter_map(|name| environment.get(*name));
    let id = id.to_string();
    let listed = || {
        users
            .lines()
            .find(|line| line.split(':').nth(2) == Some(&id))?
            .split(':')
            .next()
    };
    let user = named
        .map(String::as_str)
        .find(|name| !name.is_empty())
        .or_else(listed)?;
    Some(format!(
        "torchinductor_{}",
        user.replace(['\\', '/', ':', '*', '?', '"', '<', '>', '|'], "_")
    ))
}

/// Variables that name folders in which libraries keep the models and data sets that they have
/// downloaded.
const MODEL_CACHES: &[&str] = &[
    "HF_HOME",
    "HF_HUB_CACHE",
    "HUGGINGFACE_HUB_CACHE",
    "HF_DATASETS_CACHE",
    "TRANSFORMERS_CACHE",
    "TORCH_HOME",
];
/// Such folders within the user's folder for caches.
const MODELS_IN_CACHE: &[&str] = &["huggingface", "torch"];

/// The caches of models that there are, by the variables of an environment.
pub(super) fn model_caches(environment: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let named = |name: &str| {
        let value = environment.get(name).filter(|value| !value.is_empty());
        value.map(PathBuf::from)
    };
    let cache = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
    let usual = cache
        .iter()
        .flat_map(|cache| MODELS_IN_CACHE.iter().map(|name| cache.join(name)));
    MODEL_CACHES
        .iter()
        .filter_map(|name| named(name))
        .chain(usual)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(user: &[(&str, &str)], own: &[(&str, &str)]) -> BTreeMap<String, String> {
        let owned = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
            pairs
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect()
        };
        environment(
            owned(user),
            &owned(own),
            Path::new("/w"),
            Path::new("/t"),
            Path::new("/c"),
        )
    }

    #[test]
    fn the_folder_of_the_compiler_is_named_for_the_user() {
        let users = "root:x:0:0:root:/root:/bin/sh\nme:x:10:10::/:/bin/sh\n";
        let folder = |own: &[(&str, &str)], id| compiler_folder(&of(&[], own), users, id);
        assert_eq!(folder(&[], 10).as_deref(), Some("torchinductor_me"));
        assert_eq!(
            folder(&[("LOGNAME", ""), ("USER", "a:b")], 10).as_deref(),
            Some("torchinductor_a_b")
        );
        assert_eq!(folder(&[], 11), None);
    }

    #[test]
    fn variables_that_change_messages_or_verdicts_are_removed() {
        let result = of(
            &[
                ("PATH", "/bin"),
                ("HOME", "/home/x"),
                ("PYTHONPATH", "/lib"),
                ("TORCH_LOGS", "+dynamo"),
                ("TORCHDYNAMO_DISABLE", "1"),
                ("TORCHINDUCTOR_FX_GRAPH_CACHE", "0"),
                ("PYTHONHASHSEED", "7"),
                ("CUDA_VISIBLE_DEVICES", "1"),
            ],
            &[],
        );
        for removed in [
            "PYTHONPATH",
            "TORCH_LOGS",
            "TORCHDYNAMO_DISABLE",
            "TORCHINDUCTOR_FX_GRAPH_CACHE",
        ] {
            assert!(!result.contains_key(removed), "{removed}");
        }
        for (name, value) in [
            ("PATH", "/bin"),
            ("HOME", "/home/x"),
            ("CUDA_VISIBLE_DEVICES", "1"),
            ("PYTHONHASHSEED", "0"),
            ("TMPDIR", "/t"),
            ("PWD", "/w"),
            ("TORCHINDUCTOR_CACHE_DIR", "/c/inductor"),
        ] {
            assert_eq!(result[name], value, "{name}");
        }
    }

    #[test]
    fn caches_are_those_that_variables_name_and_those_in_the_usual_place() {
        let of = |pairs: &[(&str, &str)]| {
            let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            model_caches(&pairs.iter().map(owned).collect())
        };
        let paths = |texts: &[&str]| texts.iter().map(PathBuf::from).collect::<Vec<_>>();
        assert_eq!(
            of(&[("HOME", "/h"), ("TORCH_HOME", "/t")]),
            paths(&["/t", "/h/.cache/huggingface", "/h/.cache/torch"])
        );
        assert_eq!(
            of(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/c")]),
            paths(&["/c/huggingface", "/c/torch"])
        );
        assert_eq!(of(&[]), paths(&[]));
    }

    #[test]
    fn variables_of_the_user_come_last() {
        let result = of(
            &[],
            &[("PYTHONHASHSEED", "42"), ("TORCHDYNAMO_VERBOSE", "1")],
        );
        assert_eq!(
            (
                result["PYTHONHASHSEED"].as_str(),
                result["TORCHDYNAMO_VERBOSE"].as_str()
            ),
            ("42", "1")
        );
    }
}
