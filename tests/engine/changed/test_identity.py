"""Cases as text: different ones never have the same, and what cannot be told apart is refused."""

import functools
import math
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import pytest

from equivalence.changed import identity as room
from equivalence.changed.identity import Identity, UnknownError, modules
from equivalence.declare.batches import Batches
from equivalence.declare.difference import Difference
from equivalence.declare.draws import file, normal
from equivalence.declare.operator import Operator, to
from equivalence.declare.pipeline import Pipeline
from equivalence.declare.spaces import along
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


@pytest.mark.parametrize("value", [object(), np.array([object()]), iter(())])
def test_what_cannot_be_told_apart_is_refused(value):
    with pytest.raises(UnknownError):
        spell({"act": value})


def test_what_holds_itself_is_refused():
    loop = []
    loop.append(loop)
    with pytest.raises(UnknownError, match="holds itself"):
        spell(loop)


def adding(number):
    return lambda x, *, y=2: x + y + number


def test_a_function_counts_by_its_code_and_what_it_holds():
    functions = [adding(1), adding(2), lambda x: x + 1, lambda x: x + 2, lambda x=1: x, lambda x: x]
    functions += [functools.partial(adding, 1), functools.partial(adding, 2), adding, math.prod]
    assert len({*map(spell, functions)}) == len(functions)
    assert spell(adding(1)) == spell(adding(1))
    with pytest.raises(UnknownError):
        spell(adding(object()))


def test_an_operator_counts_with_the_limits_of_its_calls(monkeypatch):
    def operator(high=4, limit="empty"):
        call = to("ops.softmax", dim="axis", without={limit: "why"}, through="calls:softmax")
        return Operator("torch.softmax", along(keepdim=high), call)

    found = {spell(operator()), spell(operator(high=3)), spell(operator(limit="scalar"))}
    monkeypatch.setattr(room, "LIMITS", {**room.LIMITS, "empty": bool})
    assert len({*found, spell(operator())}) == 4
    assert {"calls", "equivalence.declare.spaces"} <= modules(operator())


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(UnknownError, match="it names the folder"):
        spell({"data": str(tmp_path)})


def test_functions_and_classes_count_by_their_names():
    assert spell(Own) == f"{Own.__module__}:Own"
    assert spell(cases).startswith("equivalence.declare.twin:cases[")


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
