//! The class that a test is derived from, and the module that runs it: PyTorch's own or Python's.
//! Called by `--emit-test`.

use crate::{syntax::Program, torch::environment::uses_torch};

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

impl TestHarness {
    /// The harness that people would use for a program.
    pub fn of(program: &Program) -> Self {
        if uses_torch(program) { PYTORCH } else { PLAIN }
    }

    /// The harness to use where a package that this one needs is not installed; none if this one
    /// needs none.
    pub fn fallback(self) -> Option<Self> {
        (self == PYTORCH).then_some(PYTORCH_OR_PLAIN)
    }
}

/// PyTorch's own.
pub const PYTORCH: TestHarness = TestHarness {
    imports: "from torch.testing._internal.common_utils import run_tests, TestCase\n",
    base: "TestCase",
    main: "run_tests",
};

/// PyTorch's own, or Python's if a package that PyTorch's needs is not installed.
const PYTORCH_OR_PLAIN: TestHarness = TestHarness {
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
