"""The tables of other packages' networks: complete, and as the page of the docs has them."""

import ast
import re
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from audits import Port, not_tried, packages, tiny
from benchmarks import audit_page
from benchmarks.entries import KERNEL
from equivalence.declare.difference import Difference
from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin
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
    case |= {"phase": "eval", "execution": "pynative"}
    record = {"twin": equal.twin.name, "seconds": 2.0, "cases": [case]}
    page = audit_page.page("mindone", (equal, left), [record], {"mindone": "1"}, {"a": "why"})
    assert f"| {equal.network} | {equal.original} | equal | 3.2 | evaluation, PyNative | " in page
    assert "training: not tried; graph: not tried | 2 |" in page
    assert f"| {left.network} | {left.original} | {audit_page.LEFT} |" in page
    assert "stood for mint.arange." in page
    assert "Not tried, why: a." in page


def ran(phase, execution, **told):
    """The record of a case."""
    return {"phase": phase, "execution": execution, "alarm": None, "excuses": [], **told}


def test_the_page_says_in_which_phases_and_modes_a_network_was_compared():
    both = [ran(phase, mode) for phase in ("eval", "train") for mode in ("pynative", "graph")]
    assert audit_page.compared(both) == "evaluation, training, PyNative, graph"
    assert audit_page.compared(both[:2]) == "evaluation, PyNative, graph"
    assert audit_page.compared(both[:3]) == (
        "evaluation graph; evaluation PyNative; training PyNative"
    )
    assert audit_page.compared([{"case": "it died", "alarm": "it died"}]) == ""


def test_the_page_says_what_an_interrupted_audit_did_not_reach():
    port = packages()["mindcv"][0]
    both = [ran("eval", mode) for mode in ("pynative", "graph")]
    assert audit_page.left_out(port, both) == {"train": "not reached yet"}
    assert not audit_page.left_out(port, [*both, ran("train", "graph")])
    refused = next(port for port in packages()["mindcv"] if port.refused and not port.alike)
    assert not audit_page.left_out(refused, [])
    narrow = packages()["mindone"][0]
    assert audit_page.left_out(narrow, both[:1]) == narrow.narrowed


def test_a_network_that_differs_by_its_cause_alone_may_need_a_kernel_besides():
    port = next(port for port in packages()["mindcv"] if port.alike and port.twin.differs)
    records = [
        {"twin": twin.name, "seconds": 1.0, "cases": [ran("eval", "graph", excuses=excuses)]}
        for twin, excuses in zip(port.twins, ([], [KERNEL]), strict=True)
    ]
    assert audit_page.verdict(port, records).endswith("*Only that*, but for a kernel")
    records[1]["cases"][0]["excuses"] = []
    assert audit_page.verdict(port, records).endswith("*Only that*")


@pytest.mark.parametrize(
    ("phases", "narrowed"), [(("eval",), {}), (("eval", "train"), {"train": "it is slow"})]
)
def test_a_row_says_what_it_does_not_compare_and_nothing_else(phases, narrowed):
    twin = Twin("net", "torch.nn:ReLU", "mindspore.nn:ReLU", [normal(2)], phases=phases)
    with pytest.raises(DeclarationError, match="narrowed names"):
        Port("net", "torch relu", "ReLU", twin, narrowed=narrowed)


def test_a_known_difference_need_not_be_met_in_all_phases():
    sides = ("torch.nn:ReLU", "mindspore.nn:ReLU", [normal(2)])
    known = Twin("net", *sides, phases=("eval",), differs=Difference("why", {"*": 1.0}))
    alike = Twin("alike", *sides)
    assert not Port("net", "torch relu", "ReLU", known).left_out
    assert not Port("net", "torch relu", "ReLU", known, alike=alike).left_out
    with pytest.raises(DeclarationError, match="not compared are"):
        Port("net", "torch relu", "ReLU", known, alike=replace(alike, executions=("graph",)))


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
