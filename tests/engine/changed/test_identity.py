"""Cases as text: different ones never have the same, and what cannot be told apart is refused."""

from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import pytest

from equivalence.changed.identity import Identity, UnknownError, modules
from equivalence.declare.batches import Batches
from equivalence.declare.difference import Difference
from equivalence.declare.draws import file, normal
from equivalence.declare.pipeline import Pipeline
from equivalence.declare.twin import Twin, cases

TWIN = Twin(
    "small",
    "nets_pt:Net",
    "nets_ms:Net.inner",
    [normal(2, "width")],
    configs=[{"width": 3, "act": "relu"}],
)


@dataclass(frozen=True)
class Own:
    width: int


def spell(value):
    return Identity().spell(value)


def test_equal_cases_have_the_same_text():
    one, two = (list(cases(replace(TWIN), "cpu")) for _ in range(2))
    assert [*map(spell, one)] == [*map(spell, two)]
    assert len({*map(spell, one)}) == len(one) == 4


@pytest.mark.parametrize(
    "change",
    [
        {"inputs": [normal(2, "width", scale=2.0)]},
        {"inputs": [normal(2, "width").constant()]},
        {"inputs": {"x": normal(2, "width")}},
        {"configs": [{"width": 4, "act": "relu"}]},
        {"configs": [{"width": 3, "act": "gelu"}]},
        {"configs": [{"width": 3, "act": True}]},
        {"configs": [{"width": 3, "act": 1}]},
        {"candidate": "nets_ms:Net.outer"},
        {"reference": "nets_pt:Other"},
        {"rename": {"a": "b"}},
        {"random_layers": "eval"},
        {"constants": ("mask",)},
        {"settings": {"bn.eps": "why"}},
        {"differs": Difference("why", {"output.0": 9.0})},
        {"level": "nightly"},
    ],
)
def test_every_field_of_a_declaration_counts(change):
    (before, *_), (after, *_) = (
        list(cases(each, "cpu")) for each in (TWIN, replace(TWIN, **change))
    )
    assert spell(before) != spell(after)


def test_the_configurations_of_other_cases_do_not_count():
    two = replace(TWIN, configs=[*TWIN.configs, {"width": 4, "act": "relu"}])
    assert spell(next(cases(two, "cpu"))) == spell(next(cases(TWIN, "cpu")))
    assert spell(two) != spell(TWIN)


def test_what_python_takes_for_equal_differs():
    values = [1, 1.0, True, "1", (1,), [1], {1}, frozenset({1}), None, b"1", {"a": 1}, Own(1)]
    values += [np.float32(1), np.ones(1), np.ones((1, 1)), MappingProxyType({"a": 1}), -0.0, 0.0]
    assert len({*map(spell, values)}) == len(values)


def test_a_file_counts_by_its_content(tmp_path):
    path = tmp_path / "x.npy"
    texts = []
    for value in (1.0, 1.0, 2.0):
        np.save(path, np.full(3, value, np.float32))
        texts.append((spell(str(path)), spell(file(str(path)))))
    assert texts[0] == texts[1]
    assert texts[0][0] != texts[2][0]
    assert texts[0][1] != texts[2][1]


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(UnknownError, match=r"x\.npy"):
        spell(file(str(tmp_path / "x.npy")))


@pytest.mark.parametrize("value", [lambda x: x, object(), np.array([object()]), iter(())])
def test_what_cannot_be_told_apart_is_refused(value):
    with pytest.raises(UnknownError):
        spell({"act": value})


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(UnknownError, match="it names the folder"):
        spell({"data": str(tmp_path)})


def test_functions_and_classes_count_by_their_names():
    assert spell(cases) == "equivalence.declare.twin:cases"
    assert spell(Own) != spell(Twin)


def test_modules_are_those_of_targets_classes_and_functions():
    pipeline = Pipeline("photos", "data_pt:photos", "data_ms:photos", files="pictures:write")
    twin = replace(TWIN, inputs=Batches(pipeline, {}), configs=[{"act": lambda x: Own(x)}])
    found = modules({"case": next(cases(TWIN, "cpu")), "more": [twin]})
    assert {"nets_pt", "nets_ms", "data_pt", "data_ms", "pictures", Own.__module__} <= found
    assert "equivalence.declare.twin" in found


def test_modules_of_what_refers_to_itself():
    loop = [TWIN.reference]
    loop.append(loop)
    assert modules(loop) == {"nets_pt"}
