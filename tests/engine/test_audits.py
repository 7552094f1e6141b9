"""The tables of other packages' networks: complete, and as the page of the docs has them."""

import ast
import re
from pathlib import Path

import pytest

from audits import packages

ROOT = Path(__file__).parents[2]
FAMILIES = 30
"""What the page promises of MindCV, at the least."""


def test_thirty_families_of_mindcv_are_compared():
    assert len({port.family for port in packages()["mindcv"]}) >= FAMILIES


@pytest.mark.parametrize("package", packages())
def test_the_tables_import_no_framework(package):
    tree = ast.parse((ROOT / f"audits/{package}.py").read_text())
    names = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not [name for name in names if re.match(r"(torch|timm|mindspore|mindcv)\b", name)]


@pytest.mark.parametrize("package", packages())
def test_every_original_that_is_built_here_is_used(package):
    tree = ast.parse((ROOT / f"audits/pt/{package}.py").read_text())
    takes = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.args.args[0].arg == "num_classes"
    }
    targets = {twin.reference for port in packages()[package] for twin in port.twins}
    used = {t.partition(":")[2] for t in targets if t.startswith(f"audits.pt.{package}:")}
    assert used == takes


@pytest.mark.parametrize("package", packages())
def test_every_network_is_in_the_page(package):
    page = (ROOT / "docs/zoo.md").read_text()
    for port in packages()[package]:
        assert f"| {port.network} | {port.original} |" in page
