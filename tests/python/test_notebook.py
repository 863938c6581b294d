"""``%%minrepro`` in a real kernel."""

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

CELLS = [
    "%load_ext minrepro",
    "import json\nlimit = 3",
    # It fails, so it is no part of the script.
    "raise KeyError('not this')",
    "tags = {'new', 'old'}",
    "%%minrepro\n"
    "rows = [number for number in range(limit)]\n"
    "print(len(rows))\n"
    "json.dumps({'rows': rows, 'tags': tags})",
]


def run(cells, **options):
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells],
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python", "language": "python"}
        },
    )
    NotebookClient(notebook, timeout=120, **options).execute()
    return [cell.outputs for cell in notebook.cells]


def test_a_failing_cell_is_minimized_with_the_cells_before_it():
    outputs = run([*CELLS, "_.text", "_.report.signature"], allow_errors=True)
    *_, progress, result = outputs[4]
    assert progress.data["text/plain"].count(" -> ") == 1, progress
    assert "### Minimized repro" in result.data["text/markdown"]
    # `_` is the value of the cell before.
    text = outputs[5][0].data["text/plain"]
    assert "json.dumps" in text and "import json" in text
    assert "limit" not in text and "KeyError" not in text


def test_a_cell_alone_and_wrong_options():
    outputs = run(
        [
            "%load_ext minrepro",
            "x = 1",
            "%%minrepro --alone\nimport json\nprint(2)\njson.dumps({1})",
        ]
    )
    assert "json.dumps" in outputs[2][-1].data["text/markdown"]
    with pytest.raises(CellExecutionError, match="unrecognized arguments"):
        run(["%load_ext minrepro", "%%minrepro --no-such-option\n1 / 0"])


def test_a_cell_that_succeeds_says_so():
    with pytest.raises(CellExecutionError, match="hint"):
        run(["%load_ext minrepro", "%%minrepro\nprint(1)"])
