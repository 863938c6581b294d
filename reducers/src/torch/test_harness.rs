//! The class that a test is derived from, and the module that runs it: PyTorch's own or Python's.
//! Called by `--emit-test`.

/// From where a test has its base class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestHarness {
    /// The import statements, lines with their ends.
    pub imports: &'static str,
    /// The base class.
    pub base: &'static str,
    /// The function that runs the tests of a file.
    pub main: &'static str,
}

/// PyTorch's own.
pub const PYTORCH: TestHarness = TestHarness {
    imports: "from torch.testing._internal.common_utils import run_tests, TestCase\n",
    base: "TestCase",
    main: "run_tests",
};

/// PyTorch's own, or Python's if a package that PyTorch's needs is not installed.
pub const PYTORCH_OR_PLAIN: TestHarness = TestHarness {
    imports: "\ntry:\n    from torch.testing._internal.common_utils import run_tests, TestCase\nexcept ModuleNotFoundError:  # it needs `expecttest`\n    from unittest import main as run_tests, TestCase\n",
    base: "TestCase",
    main: "run_tests",
};

/// Python's.
pub const PLAIN: TestHarness = TestHarness {
    imports: "import unittest\n",
    base: "unittest.TestCase",
    main: "unittest.main",
};

/// Whether a file belongs to PyTorch's own harness.
pub fn is_of_harness(file: &str) -> bool {
    file.contains("/torch/testing/_internal/")
}
