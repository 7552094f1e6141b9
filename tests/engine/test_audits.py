"""The tables of other packages' networks: complete, and as the page of the docs has them."""

import ast
import re
from pathlib import Path
from typing import ClassVar

import pytest

from audits import not_tried, packages, tiny
from benchmarks import audit_page
from equivalence.errors import DeclarationError

ROOT = Path(__file__).parents[2]
FAMILIES = 30
"""What the page promises of MindCV, at the least."""


def test_thirty_families_of_mindcv_are_compared():
    assert len({port.family for port in packages()["mindcv"]}) >= FAMILIES


@pytest.mark.parametrize("file", sorted((ROOT / "audits").glob("*.py")), ids=lambda file: file.stem)
def test_the_tables_import_no_framework(file):
    tree = ast.parse(file.read_text())
    names = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not [name for name in names if re.match(r"(torch|timm|mindspore|mindcv)\b", name)]


def test_every_original_that_is_built_here_is_used():
    tree = ast.parse((ROOT / "audits/pt/mindcv.py").read_text())
    takes = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.args.args[0].arg == "num_classes"
    }
    targets = {twin.reference for port in packages()["mindcv"] for twin in port.twins}
    assert {t.partition(":")[2] for t in targets if t.startswith("audits.pt.")} == takes


@pytest.mark.parametrize("package", packages())
def test_every_network_is_in_the_page(package):
    page = (ROOT / f"docs/zoo/{package}.md").read_text()
    for port in packages()[package]:
        assert f"| {port.network} | {port.original} |" in page
    for family in not_tried(package):
        assert re.search(rf"^Not tried, .*\b{family}\b", page, re.MULTILINE)


def test_no_family_is_both_compared_and_left_out():
    assert not {port.family for port in packages()["mindone"]} & not_tried("mindone").keys()


def test_the_page_says_what_became_of_a_network_and_which_stand_ins_stood():
    equal, left = packages()["mindone"][:2]
    case = {"alarm": None, "needed": 3.25, "excuses": [], "stand_ins": ["mint.arange"]}
    record = {"twin": equal.twin.name, "seconds": 2.0, "cases": [case]}
    page = audit_page.page("mindone", (equal, left), [record], {"mindone": "1"}, {"a": "why"})
    assert f"| {equal.network} | {equal.original} | equal | 3.2 | 1 | 2 |" in page
    assert f"| {left.network} | {left.original} | {audit_page.LEFT} |" in page
    assert "stood for mint.arange." in page
    assert "Not tried, why: a." in page


def test_a_family_or_package_that_is_not_there_is_one_sentence():
    with pytest.raises(DeclarationError, match="is not installed; `make audit` installs it"):
        tiny.network("no_such_package.models", "llama", "LlamaModel")


class Config:
    """A configuration as those of transformers are."""

    sub_configs: ClassVar[dict] = {}

    def __init__(self, hidden_size=768, num_layers=12, other=5):
        self.told = {"hidden_size": hidden_size, "num_layers": num_layers, "other": other}


def test_a_configuration_is_small_where_nothing_else_is_said():
    assert tiny.config(Config).told == {"hidden_size": 32, "num_layers": 2, "other": 5}
    assert tiny.config(Config, num_layers=3, other=6).told["num_layers"] == 3


class Tensor:
    """A tensor as those of both frameworks are."""

    def __init__(self, floats):
        self.floats = floats

    def is_floating_point(self):
        return self.floats


def test_only_floating_point_tensors_are_taken_from_what_a_network_returns():
    first, second, places = Tensor(True), Tensor(True), Tensor(False)
    nested = {"state": (first, [places, None]), "logits": second, "loss": 1.0}
    assert tiny.floating(nested, Tensor) == (first, second)
    assert tiny.floating(places, Tensor) == ()
