//! Notebooks as what is given.

use serde_json::{Value, json};

use super::{Place, situations::shows};
use crate::support::snapshot;

fn code(source: &str, error: Option<(&str, &str)>, count: u64) -> Value {
    let outputs: Vec<Value> = error
        .iter()
        .map(|(name, value)| json!({"output_type": "error", "ename": name, "evalue": value, "traceback": []}))
        .collect();
    json!({"cell_type": "code", "source": source, "outputs": outputs, "execution_count": count, "metadata": {}})
}

fn notebook(place: &Place, cells: &[Value]) {
    let value = json!({
        "cells": cells,
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    });
    place.file("report.ipynb", value.to_string());
}

const FAILURE: (&str, &str) = ("TypeError", "Object of type set is not JSON serializable");

#[test]
fn the_cells_up_to_the_failing_one_are_reduced() {
    let place = Place::new();
    place.file("shelf.py", "def rows():\n    return {1: {2}}\n");
    notebook(
        &place,
        &[
            json!({"cell_type": "markdown", "source": ["# Report\n"], "metadata": {}}),
            code(
                "%matplotlib inline\n!pip install rich\nimport json\nfrom shelf import rows",
                None,
                1,
            ),
            code("%%bash\nls", None, 2),
            code(
                "%%time\nfound = rows()\nfor row in found:\n    %time str(row)\nfound",
                None,
                3,
            ),
            code("display(len(found))\njson.dumps(found)", Some(FAILURE), 4),
            code("raise SystemExit('never')", None, 5),
        ],
    );
    let before = snapshot(&place.work());
    shows(
        &place,
        &["report.ipynb"],
        0,
        &[
            "notebook: the cells up to number 5, which reports TypeError: Object of type set",
            "cell 3 is skipped: `%%bash`",
            "confirmed by 3 fresh runs",
        ],
    );
    let result = place.read("report.min.py");
    assert!(
        result.contains("json.dumps(") && !result.contains("len("),
        "{result}"
    );
    std::fs::remove_file(place.work().join("report.min.py")).unwrap();
    assert_eq!(snapshot(&place.work()), before);
    assert!(place.scratch_is_empty());
}

#[test]
fn what_is_shown_and_the_order_of_execution_matter_only_where_the_failure_needs_them() {
    let place = Place::new();
    let class = "class Row:\n    def __repr__(self):\n        return 1";
    let error = ("TypeError", "__repr__ returned non-string (type int)");
    notebook(
        &place,
        &[
            code(class, None, 1),
            code("row = Row()\nrow", Some(error), 2),
        ],
    );
    let check = ["check", "report.ipynb", "-n", "1"];
    shows(
        &place,
        &check,
        0,
        &["cell output is printed", "__repr__ returned non-string"],
    );
    let error = ("ZeroDivisionError", "division by zero");
    notebook(
        &place,
        &[
            code("1 / divisor", Some(error), 2),
            code("divisor = 0", None, 1),
        ],
    );
    shows(
        &place,
        &check,
        0,
        &["in the order in which they were run", "ZeroDivisionError"],
    );
}

#[test]
fn notebooks_that_do_not_fail_as_they_say() {
    let place = Place::new();
    let check = ["check", "report.ipynb", "-n", "1"];
    notebook(
        &place,
        &[
            code("import no_such_package", None, 1),
            code("1 / 0", Some(FAILURE), 2),
        ],
    );
    shows(
        &place,
        &check,
        1,
        &[
            "fails in cell 1, not in cell 2 as it reports",
            "No module named 'no_such_package'",
            "hint:",
        ],
    );
    notebook(&place, &[code("1 +", Some(FAILURE), 1)]);
    shows(&place, &check, 2, &["cell 1 is not Python", "hint:"]);
    notebook(&place, &[code("name = input()", None, 1)]);
    shows(&place, &check, 1, &["standard input", "--stdin FILE"]);
    notebook(&place, &[code("x = 1", None, 1)]);
    shows(&place, &check, 1, &["hint:"]);
    place.file("report.ipynb", "{}");
    shows(&place, &check, 2, &["has no cells", "hint:"]);
    place.file("report.ipynb", "x = 1");
    shows(&place, &check, 2, &["is not a notebook", "hint:"]);
    shows(&place, &["none.ipynb"], 2, &["could not read", "hint:"]);
}
