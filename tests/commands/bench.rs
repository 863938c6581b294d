//! `minrepro bench`: which cases it runs by which interpreter, and what falls short.

use super::Place;

/// A case whose repro holds on all rungs of a `torch` of its own down to `aot_eager`.
fn case(place: &Place, name: &str, ideal: &str, more: &str) {
    let torch = "def compile(f, backend='inductor'):\n    if backend not in ('eager', 'none'): \
         raise ValueError('no backend')\n    return f\n";
    place.file(&format!("{name}/torch.py"), torch);
    place.file(
        &format!("{name}/repro.py"),
        "import torch\nx = 1\ntorch.compile(print)\n",
    );
    place.file(&format!("{name}/ideal.py"), ideal);
    let text = format!(
        "description = 'a case'\nsignature = 'ValueError: no backend'\npython = '>=3.8'\n\
         timeout = 20\n\
         max_tokens = 9\nmax_runs = 50\n{more}\n"
    );
    place.file(&format!("{name}/case.toml"), text);
}

const IDEAL: &str = "import torch\ntorch.compile(0)\n";

#[track_caller]
fn check(place: &Place, args: &[&str], status: i32, fragments: &[&str]) {
    let shown = place.shown(args);
    assert!(shown.starts_with(&format!("status: {status}\n")), "{shown}");
    for fragment in fragments {
        assert!(shown.contains(fragment), "`{fragment}` is not in\n{shown}");
    }
}

#[test]
fn both_scripts_must_show_the_bug() {
    let place = Place::new();
    case(&place, "good", IDEAL, "");
    check(&place, &["bench", "--check", "good"], 0, &["both show it"]);
    case(&place, "bad", "import torch\ntorch.compile\n", "");
    let fault = "bad: `ideal.py` shows the signature in 0 of 3 runs";
    check(
        &place,
        &["bench", "--check", "--runs", "3", "good", "bad"],
        1,
        &["1 of the cases fall short", fault],
    );
    check(&place, &["bench", "bad"], 1, &[fault]);
    let fault = "bad: `ideal.py` shows the signature in 0 of 1 runs";
    case(&place, "ugly", IDEAL, "");
    place.file("ugly/repro.py", "raise KeyError\n");
    check(
        &place,
        &["bench", "--check", "."],
        1,
        &["2 of the cases", fault, "ugly: `repro.py`: ", "KeyError"],
    );
}

#[test]
fn the_rung_must_be_the_weakest_that_shows_the_bug() {
    let place = Place::new();
    case(&place, "x", IDEAL, "rung = 'aot_eager'");
    check(&place, &["bench", "--check", "x"], 0, &[]);
    case(&place, "x", IDEAL, "rung = 'eager'");
    check(
        &place,
        &["bench", "--check", "x"],
        1,
        &["`ideal.py` does not show the signature on rung eager"],
    );
    case(&place, "x", IDEAL, "rung = 'inductor'");
    check(
        &place,
        &["bench", "--check", "x"],
        1,
        &["`ideal.py` shows the signature on rung aot_eager_decomp_partition"],
    );
    case(&place, "x", IDEAL, "rung = 'mps'");
    check(
        &place,
        &["bench", "--check", "x"],
        2,
        &["the case `x` is broken", "unknown backend `mps`"],
    );
}

#[test]
fn a_case_without_an_interpreter_is_skipped() {
    let place = Place::new();
    case(&place, "plain", IDEAL, "");
    case(
        &place,
        "needy",
        IDEAL,
        "packages = { no-such-package = '1.2' }",
    );
    let skipped = "SKIPPED needy: no interpreter here is Python >=3.8 with no-such-package 1.2";
    check(
        &place,
        &["bench", "--check", "."],
        0,
        &[skipped, "1 of 2 cases were SKIPPED"],
    );
    check(
        &place,
        &["bench", "--check", "needy"],
        5,
        &[skipped, "no case could be run"],
    );
}

#[test]
fn an_interpreter_with_the_packages_is_found_in_the_cache_folder() {
    let place = Place::new();
    case(&place, "needy", IDEAL, "packages = { pip = '0.0.1' }");
    check(
        &place,
        &["bench", "--check", "needy"],
        5,
        &["SKIPPED needy"],
    );
    // An environment that has the package: an interpreter asked with `-I` sees its site-packages.
    let home = place
        .work()
        .parent()
        .unwrap()
        .join("home/.cache/minrepro/pip-0.0.1");
    let made = crate::support::command("python3")
        .args(["-m", "venv", "--without-pip"])
        .arg(&home)
        .output();
    if !made.is_ok_and(|it| it.status.success()) {
        return crate::support::skip(
            "an_interpreter_with_the_packages",
            "`python3 -m venv` does not work",
        );
    }
    let library = std::fs::read_dir(home.join("lib"))
        .unwrap()
        .flatten()
        .next()
        .unwrap()
        .path();
    let packages = library.join("site-packages/pip-0.0.1.dist-info");
    std::fs::create_dir_all(&packages).unwrap();
    place.file(
        "METADATA",
        "Metadata-Version: 2.1\nName: pip\nVersion: 0.0.1+local\n",
    );
    std::fs::copy(place.work().join("METADATA"), packages.join("METADATA")).unwrap();
    check(&place, &["bench", "--check", "needy"], 0, &["both show it"]);
}
