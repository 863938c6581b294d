//! The Python packages by themselves: their own tests, under every interpreter of this machine.

use std::path::Path;

use crate::support::{command, interpreters, skip};

#[test]
fn the_packages_pass_their_own_tests() {
    if interpreters().is_empty() {
        skip("the Python packages", "no interpreter was found");
        return;
    }
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runner/python");
    for python in interpreters().values() {
        let mut run = command(python);
        let ended = run
            .arg("-B")
            .arg(&tests)
            .env_remove("PYTHONPATH")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{}: {said}", python.display());
    }
}
