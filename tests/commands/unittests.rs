//! One test of a script of unittest's as what is given.

use super::{Place, situations::shows};
use crate::support::snapshot;

const SCRIPT: &str = "\
import json
import unittest


class TestShelf(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows = {1: {2}}

    def setUp(self):
        self.count = len(self.rows)
        self.addCleanup(self.rows.get, 1)

    def test_dump(self):
        self.assertEqual(self.count, 1)
        for row in self.rows:
            with self.subTest(row=row):
                self.assertTrue(json.dumps({row: self.rows[row]}))

    def test_count(self):
        self.assertEqual(self.count, 2)

    def test_fine(self):
        self.assertEqual(self.count, 1)

    @unittest.skip('not today')
    def test_skipped(self):
        pass


class TestLater(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.row = {1: {2}}

    async def test_dump(self):
        json.dumps(self.row)


if __name__ == '__main__':
    unittest.main()
";

#[test]
fn a_test_is_a_script_without_its_runner() {
    let place = Place::new();
    place.file("test_shelf.py", SCRIPT);
    let before = snapshot(&place.work());
    let args = ["test_shelf.py", "--no-journal", "--", "TestShelf.test_dump"];
    shows(
        &place,
        &args,
        0,
        &[
            "unittest: TestShelf.test_dump fails: TypeError: Object of type set",
            "the test is run as a plain script",
            "confirmed by 3 fresh runs",
        ],
    );
    let result = place.read("test_shelf.min.py");
    assert!(
        result.contains("json.dumps(") && !result.contains("unittest"),
        "{result}"
    );
    std::fs::remove_file(place.work().join("test_shelf.min.py")).unwrap();
    assert_eq!(snapshot(&place.work()), before);
    for (test, fragment) in [
        ("TestShelf.test_count", "AssertionError: 1 != 2"),
        ("TestLater.test_dump", "TypeError: Object of type set"),
    ] {
        let args = ["check", "test_shelf.py", "-n", "1", "--", test];
        shows(
            &place,
            &args,
            0,
            &["the test is run as a plain script", fragment],
        );
    }
}

#[test]
fn names_that_are_no_failing_test() {
    let place = Place::new();
    place.file("test_shelf.py", SCRIPT);
    for (test, status, fragments) in [
        (
            "TestShelf.test_damp",
            2,
            ["finds no test", "hint: the file has `TestShelf.test_dump`"],
        ),
        (
            "TestShelf",
            2,
            ["stands for 4 tests", "-- TestShelf.test_count"],
        ),
        ("TestShelf.test_fine", 1, ["test_fine` passes", "hint:"]),
        (
            "TestShelf.test_skipped",
            1,
            ["is not run to its end: not today", "hint:"],
        ),
    ] {
        shows(&place, &["test_shelf.py", "--", test], status, &fragments);
    }
}
