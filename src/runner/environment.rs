//! The environment of a run: the user's, without secrets and variables that would break runs, and
//! with those that make runs repeatable. For a stranger's script, also without variables that
//! change messages or verdicts. Pure. Called by `workspace`. PyTorch and CPython document the
//! variables and their effects.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::setup::Inherited;

/// Removed by name from a stranger's surroundings.
const SCRUBBED: &[&str] = &[
    "PYTHONPATH",
    "PYTHONHOME",
    "PYTHONSTARTUP",
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
    "TORCH_LOGS",
    "TORCH_COMPILE_DEBUG",
    "TORCH_COMPILE_DISABLE",
    "TORCH_SHOW_CPP_STACKTRACES",
    "OLDPWD",
];

/// The same by prefix.
const SCRUBBED_PREFIXES: &[&str] = &[
    "TORCHDYNAMO_",
    "TORCH_BISECT_",
    "TORCHINDUCTOR_",
    "SLURM_",
    "TORCHELASTIC_",
];

/// Withheld from every run: an interpreter that never ends, messages in colour, files that are
/// written outside the scratch folder.
const WITHHELD: &[&str] = &[
    "PYTHONINSPECT",
    "FORCE_COLOR",
    "TORCH_LOGS_OUT",
    "TORCH_TRACE",
    "TORCH_COMPILE_DEBUG_DIR",
];

/// Set for every run.
const SET: &[(&str, &str)] = &[
    ("PYTHONDONTWRITEBYTECODE", "1"),
    // A death by a signal shows where it was.
    ("PYTHONFAULTHANDLER", "1"),
    // Tracebacks without colour, and without lines broken at the width of a terminal.
    ("NO_COLOR", "1"),
    ("PYTHON_COLORS", "0"),
    ("TERM", "dumb"),
    ("COLUMNS", "120"),
    ("LINES", "40"),
];

/// Set for every run unless the user has set them: runs repeat, and many share the machine.
const SET_IF_UNSET: &[(&str, &str)] = &[
    ("PYTHONHASHSEED", "0"),
    ("TORCHINDUCTOR_COMPILE_THREADS", "1"),
    ("OMP_NUM_THREADS", "1"),
    ("MKL_NUM_THREADS", "1"),
];
/// Of these, the variables that can change what a program does, and so belong to its command.
const MATTERS: &[&str] = &["PYTHONHASHSEED", "OMP_NUM_THREADS", "MKL_NUM_THREADS"];
/// Whoever sets one of these has decided on the others.
const THREADS: &[&str] = &["OMP_NUM_THREADS", "MKL_NUM_THREADS"];

/// Variables that differ between the user's own shells and say nothing about a program.
const OF_A_SHELL: &[&str] = &[
    "_",
    "COLORTERM",
    "COLUMNS",
    "DISPLAY",
    "EDITOR",
    "LINES",
    "LS_COLORS",
    "OLDPWD",
    "PAGER",
    "PS1",
    "PWD",
    "SHLVL",
    "STY",
    "TERM",
    "TERM_PROGRAM",
    "TMPDIR",
    "TMUX",
    "TMUX_PANE",
    "WINDOWID",
];
/// The same by prefix.
const OF_A_SHELL_PREFIXES: &[&str] = &["DBUS_", "GPG_", "SSH_", "VSCODE_", "XDG_SESSION_"];

/// Whether a variable is likely to hold a secret, by its name.
fn is_secret(name: &str) -> bool {
    const WORDS: [&str; 7] = [
        "TOKEN",
        "SECRET",
        "KEY",
        "PASSWORD",
        "PASSWD",
        "CREDENTIALS",
        "APIKEY",
    ];
    let name = name.to_ascii_uppercase();
    name.starts_with("AWS_")
        || name.contains("_SECRET")
        || WORDS.iter().any(|word| {
            name.strip_suffix(word)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('_'))
        })
        || matches!(
            name.as_str(),
            "SSH_AUTH_SOCK" | "GOOGLE_APPLICATION_CREDENTIALS"
        )
        || name.ends_with("_KEY_ID")
}

/// Whether a run is given a variable of the user's.
fn is_kept(name: &str, inherited: Inherited) -> bool {
    let is_withheld = name.starts_with("MINREPRO_") || WITHHELD.contains(&name) || is_secret(name);
    let is_scrubbed = || {
        SCRUBBED.contains(&name)
            || SCRUBBED_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix))
    };
    !is_withheld && (inherited == Inherited::Users || !is_scrubbed())
}

/// The differences between the environment of runs and the user's that can change what a program
/// does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentDifference {
    /// Variables that are set.
    pub set: Vec<(String, String)>,
    /// Variables that are withheld.
    pub withheld: Vec<String>,
}

/// The variables that are set for every run since nobody has set them.
fn added(
    user: &BTreeMap<String, String>,
    inherited: Inherited,
) -> impl Iterator<Item = (&'static str, &'static str)> {
    let has = move |name: &str| inherited == Inherited::Users && user.contains_key(name);
    SET_IF_UNSET.iter().copied().filter(move |(name, _)| {
        let decides = THREADS.contains(name) && THREADS.iter().any(|name| has(name));
        !(decides || has(name))
    })
}

/// The differences between the environment of runs and the user's; `own` are variables for each
/// run.
pub(super) fn difference(
    user: &[(String, String)],
    own: &[(String, String)],
    inherited: Inherited,
) -> EnvironmentDifference {
    let user: BTreeMap<String, String> = user.iter().cloned().collect();
    let is_own = |name: &str| own.iter().any(|(its, _)| its == name);
    let matters = |(name, value): &(&str, &str)| {
        MATTERS.contains(name) && !is_own(name) && user.get(*name).is_none_or(|its| its != value)
    };
    EnvironmentDifference {
        set: added(&user, inherited)
            .filter(matters)
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        withheld: user
            .keys()
            .filter(|name| !is_kept(name, inherited) && !is_own(name))
            .filter(|name| !OF_A_SHELL.contains(&name.as_str()))
            .cloned()
            .collect(),
    }
}

/// The user's variables that runs get and that may change their behaviour. They are part of the
/// journal's name.
pub(super) fn inherited_variables(
    user: &[(String, String)],
    inherited: Inherited,
) -> BTreeMap<String, String> {
    let of_a_shell = |name: &str| {
        OF_A_SHELL.contains(&name)
            || OF_A_SHELL_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix))
    };
    user.iter()
        .filter(|(name, _)| is_kept(name, inherited) && !of_a_shell(name))
        .cloned()
        .collect()
}

/// The variables that say where compilers keep what they compiled, and folders for it. Some write
/// beside the code of packages otherwise, and fail where they cannot.
const COMPILERS: [(&str, &str); 3] = [
    ("NUMBA_CACHE_DIR", "numba"),
    ("TORCHINDUCTOR_CACHE_DIR", "inductor"),
    ("TRITON_CACHE_DIR", "triton"),
];

/// The environment of a run: the kept part of `user`, folders for temporary files and caches, then
/// `own` on top.
pub(super) fn environment(
    user: &[(String, String)],
    inherited: Inherited,
    own: &[(String, String)],
    [work, temporary, cache]: [&Path; 3],
) -> BTreeMap<String, String> {
    let mut environment: BTreeMap<String, String> = user
        .iter()
        .filter(|(name, _)| is_kept(name, inherited))
        .cloned()
        .collect();
    let added: Vec<_> = added(&environment, inherited).collect();
    let mut set = |name: &str, value: &str| environment.insert(name.to_owned(), value.to_owned());
    for (name, value) in SET.iter().copied().chain(added) {
        set(name, value);
    }
    if inherited == Inherited::Scrubbed {
        set("PYTHONNOUSERSITE", "1");
    }
    let temporary = temporary.to_string_lossy();
    for name in ["TMPDIR", "TEMP", "TMP"] {
        set(name, &temporary);
    }
    set("PWD", &work.to_string_lossy());
    for (name, folder) in COMPILERS {
        set(name, &cache.join(folder).to_string_lossy());
    }
    for (name, value) in own {
        set(name, value);
    }
    environment
}

/// The folder, within that for temporary files, where PyTorch's compiler keeps files that no
/// variable places elsewhere: a compiled header of its own, which takes half a minute to make. It
/// is named after the user, as Python's `getpass` finds the name: `users` is the text of
/// `/etc/passwd`.
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

    fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn of(user: &[(&str, &str)], own: &[(&str, &str)]) -> BTreeMap<String, String> {
        let folders = ["/w", "/t", "/c"].map(Path::new);
        environment(&owned(user), Inherited::Scrubbed, &owned(own), folders)
    }

    fn kept(user: &[(&str, &str)]) -> BTreeMap<String, String> {
        let folders = ["/w", "/t", "/c"].map(Path::new);
        environment(&owned(user), Inherited::Users, &[], folders)
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
            ("NUMBA_CACHE_DIR", "/c/numba"),
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
    fn the_environment_of_the_user_is_kept_but_for_secrets() {
        let user = [
            ("PYTHONPATH", "/lib"),
            ("PYTHONWARNINGS", "error"),
            ("TORCH_LOGS", "+dynamo"),
            ("TORCHINDUCTOR_MAX_AUTOTUNE", "1"),
            ("OMP_NUM_THREADS", "4"),
            ("TOKENIZERS_PARALLELISM", "0"),
            ("KEYBOARD", "us"),
        ];
        let result = kept(&user);
        for (name, value) in user {
            assert_eq!(result[name], value, "{name}");
        }
        assert!(
            !result.contains_key("MKL_NUM_THREADS") && !result.contains_key("PYTHONNOUSERSITE")
        );
        assert_eq!(result["PYTHONHASHSEED"], "0");
        for secret in [
            "GITHUB_TOKEN",
            "TOKEN",
            "HF_TOKEN",
            "AWS_PROFILE",
            "MY_SECRET_NAME",
            "OPENAI_API_KEY",
            "DB_PASSWORD",
            "MINREPRO_X",
            "PYTHONINSPECT",
        ] {
            assert!(!kept(&[(secret, "1")]).contains_key(secret), "{secret}");
        }
    }

    #[test]
    fn differences_are_what_a_command_by_hand_has_to_repeat() {
        let user = [
            ("OMP_NUM_THREADS", "4"),
            ("HF_TOKEN", "x"),
            ("FORCE_COLOR", "1"),
        ];
        let of = |own: &[(&str, &str)]| difference(&owned(&user), &owned(own), Inherited::Users);
        let found = of(&[]);
        assert_eq!(found.set, owned(&[("PYTHONHASHSEED", "0")]));
        assert_eq!(found.withheld, ["FORCE_COLOR", "HF_TOKEN"]);
        assert_eq!(of(&[("PYTHONHASHSEED", "3")]).set, owned(&[]));
        let named = inherited_variables(&owned(&[("A", "1"), ("SHLVL", "2")]), Inherited::Users);
        assert_eq!(named.into_iter().collect::<Vec<_>>(), owned(&[("A", "1")]));
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
