"""examples/notebook.ipynb is true: its cells show in a kernel of Jupyter what it has stored."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

NOTEBOOK = Path(__file__).parents[2] / "examples" / "notebook.ipynb"


def run(notebook, folder):
    """The cells of a notebook, with what they show in a kernel of their own."""
    resources = {"metadata": {"path": str(folder)}}
    options = {"timeout": 280, "startup_timeout": 120, "resources": resources}
    return NotebookClient(notebook, **options).execute().cells


def shown(cell):
    """What a cell prints and gives as text, without figures."""
    outputs = [each for each in cell.get("outputs", ()) if each.get("name") != "stderr"]
    texts = [each.get("text") or each.data["text/plain"] for each in outputs]
    return re.sub(r"\d[\d.]*", "#", "\n".join(texts))


def test_each_cell_shows_what_the_notebook_has_stored(tmp_path):
    stored = nbformat.read(NOTEBOOK, 4)
    expected = [shown(cell) for cell in stored.cells]
    cells = run(stored, tmp_path)
    assert [shown(cell) for cell in cells] == expected
    assert sum(map(bool, expected)) == 4
    pages = [
        each.data["text/html"]
        for cell in cells
        for each in cell.get("outputs", ())
        if "data" in each and "text/html" in each.data
    ]
    assert len(pages) == 1
    assert pages[0].startswith("<iframe ")
    assert "port      In[2]:16  return ops.log_softmax(" in pages[0]


def test_a_cell_that_fails_is_seen(tmp_path):
    wrong = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("assert not 1")])
    with pytest.raises(CellExecutionError, match="AssertionError"):
        run(wrong, tmp_path)
