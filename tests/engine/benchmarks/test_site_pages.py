"""The site: what has no page in `docs/` gets one, and a link that leads nowhere is an error."""

import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import site_pages

ROOT = Path(__file__).parents[3]


def led(text, page="own.md"):
    """The text of a page as the site has it."""
    return site_pages.on_page_markdown(text, SimpleNamespace(file=SimpleNamespace(src_uri=page)))


@pytest.mark.parametrize(
    ("written", "leads_to"),
    [
        ("[a](judging.md#the-rule)", "[a](judging.md#the-rule)"),
        ("[a](../README.md)", "[a](index.md)"),
        ("[a](../examples/own/README.md#x)", "[a](examples/own/README.md#x)"),
        ("[a](../ms_models/resnet.py)", "[a](source/ms_models/resnet.py.md)"),
        ("[a](../ms_models)", "a"),
        ("[a](https://example.org/x)", "[a](https://example.org/x)"),
        ("[a](#here)", "[a](#here)"),
        ("[a](nowhere.md)", "[a](nowhere.md)"),
        ("![a](page.png)", "![a](page.png)"),
        ("```sh\n[a](../README.md)\n```", "```sh\n[a](../README.md)\n```"),
    ],
)
def test_a_link_leads_to_a_page_of_the_site(written, leads_to):
    assert led(written) == leads_to


def test_a_link_of_a_page_beside_docs_is_read_from_where_it_lies():
    assert led("[a](docs/own.md)", "index.md") == "[a](own.md)"
    assert led("[a](../../docs/twins.md)", "examples/own/README.md") == "[a](../../twins.md)"


def test_what_a_docstring_says_of_an_argument_is_an_item_of_a_list():
    assert site_pages.as_markdown("Adds.\n\nx: an input,\n    of any shape.\ny: another.") == (
        "Adds.\n\n- `x`: an input,\n    of any shape.\n- `y`: another."
    )


def test_an_example_of_a_docstring_is_a_block():
    assert site_pages.as_markdown("Adds.\n\n>>> 1 + 1\n2") == "Adds.\n\n```pycon\n>>> 1 + 1\n2\n```"


def test_each_public_name_and_each_command_is_in_the_reference():
    assert "::: equivalence.own.notebook.compare" in site_pages._python()
    assert "## compare" in site_pages._commands()
    assert "--hidden-settings" in site_pages._commands()


@pytest.mark.nightly
def test_a_link_that_leads_nowhere_fails_the_build(tmp_path):
    docs = tmp_path / "docs"
    shutil.copytree(ROOT / "docs", docs)
    (docs / "large.md").write_text(
        f"{(docs / 'large.md').read_text()}\n[x](nowhere.md) [y](own.md#nowhere)\n"
    )
    config = (ROOT / "mkdocs.yml").read_text()
    config = config.replace("docs_dir: docs", f"docs_dir: {docs}")
    config = config.replace("benchmarks/site_pages.py", f"{ROOT}/benchmarks/site_pages.py")
    (tmp_path / "mkdocs.yml").write_text(config)
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "NO_MKDOCS_2_WARNING": "1"},
    )
    assert done.returncode == 1
    assert "large.md" in done.stderr
    assert "nowhere.md" in done.stderr
    assert "#nowhere" in done.stderr
    assert done.stderr.count("WARNING") == 2


def test_a_notebook_is_a_page_of_its_cells_and_of_what_they_show():
    cells = site_pages._source("examples/notebook.ipynb")
    assert "# A port in a notebook\n" in cells
    assert "``````python\nimport torch\n" in cells
    assert "``````text\nDIFFERENT. Original (eval, PyNative, CPU): " in cells
    assert '"cell_type"' not in cells
