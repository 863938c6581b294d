//! `minrepro bisect` with real interpreters whose package `torch` is of the tests' own making and
//! differs by version.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use super::flow::with_torch;
use crate::support::{command, newest, skip};

const SCRIPT: &str = "import torch\ntorch.stack([])\n";
const SIGNATURE: &str = "RuntimeError: stack expects a non-empty TensorList of things";

fn bisect(folder: &Path, args: &[String]) -> (Option<i32>, serde_json::Value, String) {
    bisect_with(folder, args, &[])
}

fn bisect_with(
    folder: &Path,
    args: &[String],
    env: &[(&str, &str)],
) -> (Option<i32>, serde_json::Value, String) {
    fs::create_dir_all(folder.join("tmp")).unwrap();
    std::io::Write::write_all(
        &mut fs::File::create(folder.join("x.py")).unwrap(),
        SCRIPT.as_bytes(),
    )
    .unwrap();
    let output = command(env!("CARGO_BIN_EXE_minrepro"))
        .args(["bisect", "x.py", "--json", "--signature", SIGNATURE])
        .args(args)
        .current_dir(folder)
        .env("TMPDIR", folder.join("tmp"))
        .envs(env.iter().copied())
        .output()
        .unwrap();
    let value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (
        output.status.code(),
        value,
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

fn put_program(path: &Path, text: &str) {
    use std::os::unix::fs::OpenOptionsExt;
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let file = fs::OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(true)
        .mode(0o755)
        .open(path);
    std::io::Write::write_all(&mut file.unwrap(), text.as_bytes()).unwrap();
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn environments(pairs: &[(&str, &Path)]) -> Vec<String> {
    pairs
        .iter()
        .flat_map(|(version, python)| {
            [
                "--interpreter".to_owned(),
                format!("{version}={}", python.display()),
            ]
        })
        .collect()
}

#[test]
fn nine_versions_take_three_rounds_and_a_broken_one_is_skipped() {
    if newest().is_none() {
        return skip("bisect", "no CPython was found");
    }
    let (old, new) = (with_torch("2.0.0"), with_torch("9.9.9"));
    // Its torch cannot be imported.
    let broken = with_torch("8.8.8");
    let package = fs::read_dir(broken.parent().unwrap().with_file_name("lib"))
        .unwrap()
        .flatten()
        .next()
        .unwrap();
    let package = package.path().join("site-packages/torch/__init__.py");
    std::io::Write::write_all(
        &mut fs::File::create(package).unwrap(),
        b"raise ImportError('libtorch.so: no such file')\n",
    )
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let names = [
        "2.0.0", "2.1.0", "2.2.0", "2.3.0", "2.4.0", "2.5.0", "2.6.0", "2.7.0", "2.10.0",
    ];
    let of = |at: usize| match at {
        5 => broken.as_path(),
        at if at < 5 => old.as_path(),
        _ => new.as_path(),
    };
    let pairs: Vec<(&str, &Path)> = names
        .iter()
        .enumerate()
        .map(|(at, name)| (*name, of(at)))
        .rev()
        .collect();
    let (status, value, stderr) = bisect(folder.path(), &environments(&pairs));
    assert_eq!(status, Some(0), "{stderr}");
    let answer = &value["answer"];
    assert_eq!(
        (&answer["change"][0], &answer["change"][1]),
        (&"2.4.0".into(), &"2.6.0".into()),
        "{answer:#}"
    );
    assert!(
        answer["is_fixed"] == true && answer["rounds"].as_u64() <= Some(3),
        "{answer:#}"
    );
    let broken = &answer["versions"][5];
    assert!(
        broken[1]["broken"]
            .as_str()
            .unwrap()
            .contains("ImportError"),
        "{answer:#}"
    );
    assert!(
        stderr.contains("gives no answer") && stderr.contains("in other words"),
        "{stderr}"
    );
}

/// Runs git in a checkout.
fn git(checkout: &Path, args: &[&str]) {
    let identity = [
        "-c",
        "user.name=x",
        "-c",
        "user.email=x@x",
        "-c",
        "commit.gpgsign=false",
    ];
    let output = command("git")
        .args(identity)
        .args(args)
        .current_dir(checkout)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Makes a checkout with a history of changes between two versions.
fn commit_history(checkout: &Path) {
    let git = |args: &[&str]| git(checkout, args);
    fs::create_dir_all(checkout.join("torch")).unwrap();
    git(&["init", "-q"]);
    for (number, (subject, tag)) in [
        ("First", Some("v2.0.0")),
        ("Speed up sum (#100)", None),
        (
            "Let stack take an empty TensorList (#101)\n\nFixes #7",
            None,
        ),
        ("Touch the TensorList (#104)", None),
        ("Sort the TensorList (#105)", None),
        ("Print a TensorList (#106)", None),
        ("Say what view expects (#107)", None),
        ("Document views (#102)", Some("v9.9.9")),
        ("Touch stack and TensorList again (#103)", None),
    ]
    .iter()
    .enumerate()
    {
        let text = format!("{number}\n");
        std::io::Write::write_all(
            &mut fs::File::create(checkout.join("torch/x.py")).unwrap(),
            text.as_bytes(),
        )
        .unwrap();
        git(&["add", "."]);
        git(&["commit", "-q", "-m", subject]);
        if let Some(tag) = tag {
            git(&["tag", tag]);
        }
    }
}

#[test]
fn the_change_is_found_in_the_history_of_a_checkout() {
    if newest().is_none()
        || !command("git")
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success())
    {
        return skip("bisect", "no CPython or no git was found");
    }
    let folder = tempfile::tempdir().unwrap();
    let checkout = folder.path().join("checkout");
    commit_history(&checkout);
    let (old, new) = (with_torch("2.0.0"), with_torch("9.9.9"));
    let mut args = environments(&[("2.0.0", &old), ("9.9.9", &new)]);
    args.extend(["--pytorch", checkout.to_str().unwrap(), "--issue", "7"].map(str::to_owned));
    let (status, value, stderr) = bisect(folder.path(), &args);
    assert_eq!(status, Some(0), "{stderr}");
    let changes = value["changes"].as_array().unwrap();
    assert_eq!(changes[0]["pull"], 101, "{value:#}");
    assert!(
        changes.iter().all(|change| change["pull"] != 103),
        "{value:#}"
    );
    assert!(
        changes[0]["reasons"]
            .to_string()
            .contains("names the issue"),
        "{value:#}"
    );
    // Of words, the rare one says more.
    let score = |pull: u64| {
        changes
            .iter()
            .find(|change| change["pull"] == pull)
            .unwrap()["score"]
            .as_u64()
    };
    assert!(score(107) > score(105), "{value:#}");

    // A checkout that does not know a version says so.
    git(&checkout, &["tag", "-d", "v9.9.9"]);
    let (status, value, stderr) = bisect(folder.path(), &args);
    assert!(
        status == Some(0) && value["changes"].as_array().unwrap().is_empty(),
        "{stderr}"
    );
    assert!(stderr.contains("has no tag of 9.9.9"), "{stderr}");
}

#[test]
fn a_search_of_history_that_takes_too_long_is_given_up_and_reported() {
    if newest().is_none() {
        return skip("bisect", "no CPython was found");
    }
    let folder = tempfile::tempdir().unwrap();
    put_program(
        &folder.path().join("bin/git"),
        "#!/bin/sh\ncase \"$1\" in log) exec sleep 120 ;; *) echo 1234 ;; esac\n",
    );
    let search = format!(
        "{}:{}",
        folder.path().join("bin").display(),
        std::env::var("PATH").unwrap()
    );
    let (old, new) = (with_torch("2.0.0"), with_torch("9.9.9"));
    let mut args = environments(&[("2.0.0", &old), ("9.9.9", &new)]);
    args.extend(["--pytorch", folder.path().to_str().unwrap(), "--issue", "7"].map(str::to_owned));
    let started = Instant::now();
    let (status, value, stderr) = bisect_with(folder.path(), &args, &[("PATH", &search)]);
    assert_eq!(status, Some(0), "{stderr}");
    assert_eq!(
        value["answer"]["change"],
        serde_json::json!(["2.0.0", "9.9.9"]),
        "{stderr}"
    );
    assert!(
        stderr.contains("for lack of time: whether its message names the issue"),
        "{stderr}"
    );
    assert!(
        started.elapsed() < Duration::from_secs(60),
        "{:?}",
        started.elapsed()
    );
}

#[test]
fn too_few_versions_and_no_change_are_reported() {
    if newest().is_none() {
        return skip("bisect", "no CPython was found");
    }
    let folder = tempfile::tempdir().unwrap();
    let old = with_torch("2.0.0");
    let (status, _, stderr) = bisect(folder.path(), &environments(&[("2.0.0", &old)]));
    assert!(status == Some(5) && stderr.contains("hint:"), "{stderr}");
    let (status, value, _) = bisect(
        folder.path(),
        &environments(&[("2.0.0", &old), ("2.1.0", &old)]),
    );
    assert_eq!(
        (status, &value["answer"]["change"]),
        (Some(1), &serde_json::Value::Null)
    );
    let (status, _, stderr) = bisect(
        folder.path(),
        &["--versions".to_owned(), "2.0.0,no/version".to_owned()],
    );
    assert!(
        status == Some(5) && stderr.contains("--install"),
        "{stderr}"
    );
}

/// Does what `uv venv` and `uv pip install` do, with the package of the tests; there is no version
/// 2.99.0.
const UV: &str = r#"#!/bin/sh
echo "$*" >> "$UV_LOG"
for last; do :; done
case "$*" in
  *==2.99.0*)
    echo "warning: a proxy is set" >&2
    echo "error: No solution found when resolving dependencies" >&2
    echo "  cause: Because there is no version of torch==2.99.0, it is not available" >&2
    exit 1 ;;
  venv*) exec "$UV_PYTHON_THERE" -m venv --without-pip "$last" ;;
  *==2.0.0*) from=$UV_OLD ;;
  *) from=$UV_NEW ;;
esac
cp -r "$from"/lib/python*/site-packages/torch "${5%/bin/python}"/lib/python*/site-packages/
"#;

#[test]
fn uv_installs_missing_versions_if_that_is_allowed() {
    let Some(python) = newest() else {
        return skip("bisect", "no CPython was found");
    };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    put_program(&folder.path().join("bin/uv"), UV);
    let root = |version| {
        with_torch(version)
            .parent()
            .unwrap()
            .parent()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    };
    let (old, new, log) = (root("2.0.0"), root("9.9.9"), path("uv.log"));
    let search = format!("{}:{}", path("bin"), std::env::var("PATH").unwrap());
    let env = [
        ("PATH", search.as_str()),
        ("XDG_CACHE_HOME", &path("cache")),
        ("UV_LOG", &log),
        ("UV_PYTHON_THERE", python.to_str().unwrap()),
        ("UV_OLD", &old),
        ("UV_NEW", &new),
    ];
    let run = |args: &str| bisect_with(folder.path(), &words(args), &env);

    // Not without the user's word.
    let (status, _, stderr) = run("--versions 2.0.0,9.9.9");
    assert!(
        status == Some(5) && stderr.contains("`--install` lets uv do so"),
        "{stderr}"
    );
    assert!(!Path::new(&log).exists(), "{stderr}");

    // Any installed Python with wheels will do. A missing version is reported with its cause.
    let (status, value, stderr) = run("--versions 9.9.9,2.99.0,2.0.0 --install");
    assert_eq!(status, Some(0), "{stderr}");
    assert_eq!(
        value["answer"]["change"],
        serde_json::json!(["2.0.0", "9.9.9"]),
        "{stderr}"
    );
    assert!(
        stderr.contains(
            "2.99.0 is left out: No solution found when resolving dependencies: Because there is"
        ),
        "{stderr}"
    );
    let asked = fs::read_to_string(&log).unwrap();
    assert!(
        asked.contains("--python >=3.8,<3.11 ") && asked.contains("torch==9.9.9 numpy"),
        "{asked}"
    );

    // What was installed is found again; what failed half way is not taken for it.
    fs::remove_file(&log).unwrap();
    let (status, _, stderr) = run("--versions 2.0.0,9.9.9,2.99.0");
    assert!(
        status == Some(0) && stderr.contains("2.99.0 is left out: it is not installed"),
        "{stderr}"
    );
    assert!(!Path::new(&log).exists(), "{stderr}");

    // The advice is not what was just tried.
    let (status, _, stderr) = run("--versions 2.0.0,2.99.0 --install");
    assert!(
        status == Some(5) && stderr.contains("there is only version 2.0.0"),
        "{stderr}"
    );
    assert!(!stderr.contains("let uv install"), "{stderr}");
}

/// Answers as conda does: `env list --json`, and `info --envs --json` where a release ignores
/// `--json` for the former.
#[test]
fn condas_environments_are_found_whatever_its_release() {
    if newest().is_none() {
        return skip("conda", "no CPython was found");
    }
    let folder = tempfile::tempdir().unwrap();
    let root = |version| {
        with_torch(version)
            .parent()
            .unwrap()
            .parent()
            .unwrap()
            .to_owned()
    };
    let envs = folder.path().join("miniconda3/envs");
    fs::create_dir_all(envs.join("scratch")).unwrap();
    std::os::unix::fs::symlink(root("2.0.0"), envs.join("pytorch-2.0.0")).unwrap();
    std::os::unix::fs::symlink(root("9.9.9"), envs.join("pytorch-9.9.9")).unwrap();
    let base = envs.parent().unwrap().display();
    let list = format!(
        r#"{{"envs": ["{base}", "{base}/envs/scratch", "{base}/envs/pytorch-2.0.0", "{base}/envs/pytorch-9.9.9"], "envs_details": {{"{base}": {{"name": "base", "active": false}}}}}}"#
    );
    let plain = format!("# conda environments:\n#\nbase                     {base}\n");
    let conda = folder.path().join("miniconda3/bin/conda");
    let run = |text: String, env: &[(&str, &str)]| {
        put_program(&conda, &text);
        bisect_with(folder.path(), &[], env)
    };
    let search = format!(
        "{}:{}",
        conda.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let on_path = [("PATH", search.as_str())];
    // Where a shell function stands for conda, only this variable names the program.
    let by_name = [("CONDA_EXE", conda.to_str().unwrap())];
    let answers = format!("#!/bin/sh\ncat <<'END'\n{list}\nEND\n");
    let ignores = format!(
        "#!/bin/sh\nif [ \"$1\" = env ]; then cat <<'END'\n{plain}END\nelse cat <<'END'\n{list}\n\
         END\nfi\n"
    );
    for (text, env) in [
        (&answers, &on_path),
        (&answers, &by_name),
        (&ignores, &on_path),
    ] {
        let (status, value, stderr) = run(text.clone(), env);
        assert_eq!(status, Some(0), "{stderr}");
        assert_eq!(
            value["answer"]["change"],
            serde_json::json!(["2.0.0", "9.9.9"]),
            "{stderr}"
        );
    }
    let (status, _, stderr) = run(
        "#!/bin/sh\necho 'CondaError: no such root' >&2\nexit 1\n".to_owned(),
        &on_path,
    );
    assert!(
        status == Some(5) && stderr.contains("CondaError: no such root"),
        "{stderr}"
    );
}

#[test]
fn the_interpreter_of_the_user_is_not_needed_where_versions_are_named() {
    if newest().is_none() {
        return skip("bisect", "no CPython was found");
    }
    let folder = tempfile::tempdir().unwrap();
    put_program(&folder.path().join("bin/python3"), "#!/bin/sh\nexit 127\n");
    let search = format!("{}:/usr/bin:/bin", folder.path().join("bin").display());
    let (old, new) = (with_torch("2.0.0"), with_torch("9.9.9"));
    let args = environments(&[("2.0.0", &old), ("9.9.9", &new)]);
    let (status, _, stderr) = bisect_with(folder.path(), &args, &[("PATH", &search)]);
    assert_eq!(status, Some(0), "{stderr}");

    // Shells leave the `~` of `--interpreter 2.0.0=~/python` as it is.
    let home = old.parent().unwrap().parent().unwrap();
    let below = |path: &Path| format!("~/{}", path.strip_prefix(home).unwrap().display());
    let args = environments(&[("2.0.0", Path::new(&below(&old))), ("9.9.9", &new)]);
    let (status, _, stderr) = bisect_with(
        folder.path(),
        &args,
        &[("PATH", &search), ("HOME", home.to_str().unwrap())],
    );
    assert_eq!(status, Some(0), "{stderr}");
}
