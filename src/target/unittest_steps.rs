//! The steps of unittest for a test, as statements. Pure. Called for unittest scripts and for
//! unittest tests that pytest runs.

use std::fmt::Write;

/// The steps of a test of a class; `module` says whether the module is set up, and torn down.
pub(super) fn steps(class: &str, method: &str, module: [bool; 2], with_teardown: bool) -> String {
    let [set_up, tear_down] = module;
    let mut text = "\n\n".to_owned();
    if set_up {
        text += "setUpModule()\n";
    }
    let _ = write!(
        text,
        "{class}.setUpClass()\ntest = {class}('{method}')\ntest.setUp()\n"
    );
    if !with_teardown {
        let _ = writeln!(text, "test.{method}()");
        return text;
    }
    let _ = write!(
        text,
        "try:\n    test.{method}()\nfinally:\n    test.tearDown()\n    test.doCleanups()\n    \
         {class}.tearDownClass()\n"
    );
    if tear_down {
        text += "    tearDownModule()\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::steps;

    #[test]
    fn a_test_is_set_up_called_and_torn_down() {
        assert_eq!(
            steps("TestA", "test_b", [true, false], false),
            "\n\nsetUpModule()\nTestA.setUpClass()\ntest = TestA('test_b')\ntest.setUp()\ntest.test_b()\n"
        );
        assert!(
            steps("TestA", "test_b", [true, true], true)
                .ends_with("    TestA.tearDownClass()\n    tearDownModule()\n")
        );
    }
}
