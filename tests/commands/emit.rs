//! Results as tests: each fails by the bug today, which is seen by running it, and would pass
//! without it.

use std::path::Path;

use super::{NOISY, Place, SIGNATURE};
use crate::support::{command, newest, skip, torch};

/// Runs a test file; its status and what it said. Without `CI`, under which PyTorch's tests write
/// XML by a package of its own.
fn ran(python: &Path, place: &Place, file: &str) -> (Option<i32>, String) {
    let output = command(python)
        .arg(file)
        .env_remove("CI")
        .current_dir(place.work())
        .output()
        .unwrap();
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

/// Writes the test of a script that is hardly reduced; the test.
#[track_caller]
fn emitted(place: &Place, python: &Path, script: &str, signature: &str) -> String {
    place.file("x.py", script);
    let args = [
        "x.py",
        "-s",
        signature,
        "--emit-test",
        "test_x.py",
        "--report",
        "r.json",
        "--no-journal",
    ];
    let less = [
        "--no-ablation",
        "--passes",
        "drop-comments",
        "-p",
        python.to_str().unwrap(),
    ];
    let output = place.run(&[&args[..], &less].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && stderr.contains("test_x.py"),
        "{stderr}"
    );
    place.read("test_x.py")
}

#[test]
fn a_result_fails_as_a_test_and_passes_without_the_bug() {
    let Some(python) = newest() else {
        return skip("emit", "no CPython");
    };
    let place = Place::new();
    let test = emitted(&place, python, NOISY, SIGNATURE);
    assert!(
        test.contains("class TestTypeError(unittest.TestCase):"),
        "{test}"
    );
    assert!(
        test.contains("def test_object_type_set_not_json_serializable(self):"),
        "{test}"
    );
    let (status, said) = ran(python, &place, "test_x.py");
    assert!(status == Some(1) && said.contains(SIGNATURE), "{said}");
    place.file("test_y.py", test.replace("json.dumps(", "str("));
    assert_eq!(ran(python, &place, "test_y.py").0, Some(0));
    let report: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert!(
        report["test"]["file"]
            .as_str()
            .unwrap()
            .ends_with("/test_x.py"),
        "{report}"
    );
    assert!(report["test"]["folder"].is_null());
}

#[test]
fn what_minds_that_its_names_are_global_keeps_them_so() {
    let Some(python) = newest() else {
        return skip("emit", "no CPython");
    };
    let place = Place::new();
    let script = "import json\ndef f():\n    return json.dumps({1})\nglobals()['f']()\n";
    let args = ["--passes", "drop-comments"];
    place.file("x.py", script);
    let output = place.run(&[&["x.py", "--emit-test", "test_x.py", "-q"][..], &args].concat());
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let test = place.read("test_x.py");
    assert!(test.contains("        global f\n"), "{test}");
    let (status, said) = ran(python, &place, "test_x.py");
    assert!(status == Some(1) && said.contains(SIGNATURE), "{said}");
}

#[test]
fn what_is_printed_and_exits_are_told_by_a_test() {
    let Some(python) = newest() else {
        return skip("emit", "no CPython");
    };
    let place = Place::new();
    let test = emitted(
        &place,
        python,
        "x = sorted(['10', '9'])\nif x[0] != '9':\n    print('order is WRONG')\n",
        "stdout:order is WRONG",
    );
    assert!(
        test.contains("self.assertNotIn(\"order is WRONG\", stdout.getvalue())"),
        "{test}"
    );
    let (status, said) = ran(python, &place, "test_x.py");
    assert!(
        status == Some(1) && said.contains("'order is WRONG' unexpectedly found"),
        "{said}"
    );
    let place = Place::new();
    emitted(
        &place,
        python,
        "import sys\nif max('10', '9') != '10':\n    sys.exit(4)\n",
        "exit:4",
    );
    let (status, said) = ran(python, &place, "test_x.py");
    assert!(
        status == Some(1) && said.contains("SystemExit: 4"),
        "{said}"
    );
}

#[test]
fn what_does_not_fail_as_a_test_is_not_written() {
    let place = Place::new();
    place.file(
        "x.py",
        "import threading\nt = threading.Thread(target=lambda: 1 / 0)\nt.start()\nt.join()\n",
    );
    let output = place.run(&[
        "x.py",
        "-s",
        "ZeroDivisionError",
        "--emit-test",
        "test_x.py",
        "--passes",
        "drop-comments",
    ]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && stderr.contains("no test was written"),
        "{stderr}"
    );
    assert!(!place.work().join("test_x.py").exists());
    let output = place.run(&["x.py", "--emit-test", "x.py"]);
    assert_eq!(output.status.code(), Some(2));
    let output = place.run(&["x.py", "--emit-test", "x.min.py"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_bug_of_pytorch_becomes_a_test_of_its_form() {
    let Some(python) = torch() else {
        return skip("emit", "no PyTorch");
    };
    let place = Place::new();
    let script = "import torch\nfrom torch.utils.checkpoint import checkpoint\n\
         a = [torch.sin, torch.clone]\n\
         checkpoint(lambda x: a.pop(0)(x), torch.ones(1, requires_grad=True), \
         use_reentrant=False).backward()\n";
    let signature = "CheckpointError: A different number of tensors was saved";
    let test = emitted(&place, &python, script, signature);
    assert!(
        test.starts_with("# Owner(s): [\"module: autograd\"]\nimport torch\n"),
        "{test}"
    );
    assert!(
        test.contains("from torch.testing._internal.common_utils import run_tests, TestCase"),
        "{test}"
    );
    assert!(
        test.contains("class TestCheckpointError(TestCase):"),
        "{test}"
    );
    let (status, said) = ran(&python, &place, "test_x.py");
    assert!(
        status == Some(1) && said.contains("A different number of tensors was saved"),
        "{said}"
    );
}
