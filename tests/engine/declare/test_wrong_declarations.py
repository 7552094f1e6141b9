"""Each wrong declaration is refused in one sentence with its kind, its name and the field.

None is accepted, and none ends in an exception that knows nothing of the declaration.
"""

import dataclasses
import math
import re

import numpy as np
import pytest

from equivalence.declare.batches import Batches
from equivalence.declare.data_parallel import DataParallel
from equivalence.declare.declaration import shown
from equivalence.declare.difference import Difference, Raised
from equivalence.declare.draws import (
    definite,
    distinct,
    distribution,
    given,
    normal,
    triangular,
    uniform,
)
from equivalence.declare.initial import Initial
from equivalence.declare.operator import LIMITS, Counterpart, Example, Operator, to
from equivalence.declare.pipeline import Pipeline
from equivalence.declare.spaces import unary
from equivalence.declare.twin import Twin, TwinCase, cases, grid
from equivalence.errors import DeclarationError
from tests.recipe import Recipe

SIDES = {"reference": "some.module:f", "candidate": "some.module:g"}
REFUSAL = Difference("it refuses", Raised("ValueError", "it"))
PIPELINE = Pipeline("it", files="some.module:files", **SIDES)
FED = Batches(PIPELINE, {"size": 3})
TWIN = Twin("it", inputs=[normal(2, "N")], configs=[{"N": 3}], **SIDES)
STEP = Twin("it", inputs=FED, steps=2, phases=("train",), **SIDES)

RIGHT = {
    "twin": (Twin, {"name": "it", "inputs": [normal(2, "N")], "configs": [{"N": 3}], **SIDES}),
    "pipeline": (Pipeline, {"name": "it", "files": "some.module:files", **SIDES}),
    "initial": (Initial, {"name": "it", **SIDES}),
    "distributed": (
        DataParallel,
        {"name": "it", "inputs": [normal(9, 4)], "batch_size": 3, "steps": 3, **SIDES},
    ),
    "batches": (Batches, {"pipeline": PIPELINE, "config": {"size": 3}}),
    "recipe": (Recipe, {"step": STEP, "initial": Initial("it", **SIDES)}),
    "case": (
        TwinCase,
        {
            "twin": TWIN,
            "config": {"N": 3},
            "phase": "train",
            "dtype": "float32",
            "execution": "graph",
            "device": "cpu",
        },
    ),
    "counterpart": (Counterpart, {"api": "ops.it"}),
    "difference": (Difference, {"cause": "it", "tensors": {"output.0": 0.1}}),
    "raised": (Raised, {"error": "ValueError", "message": "it"}),
    "example": (Example, {"inputs": (normal(2),)}),
    "operator": (
        lambda torch, space, counterparts, **rest: Operator(torch, space, *counterparts, **rest),
        {"torch": "torch.it", "space": unary(), "counterparts": (to("ops.it"),)},
    ),
}


def declared(kind, **changes):
    make, fields = RIGHT[kind]
    return make(**{**fields, **changes})


def several(*values):
    """An iterator, which can be read once."""
    return iter(values)


# Kind -> the fields that are changed, the first of which the sentence has to name.
WRONG = {
    "twin": [
        {"name": None},
        {"name": 3},
        {"name": b"it"},
        {"reference": None},
        {"reference": math.sqrt},
        {"reference": "some.module"},
        {"reference": ".module:f"},
        {"reference": "some module:f"},
        {"reference": "some.module:f."},
        {"candidate": ["some.module:f"]},
        {"inputs": None},
        {"inputs": {"x": normal(2)}},
        {"inputs": {normal}},
        {"inputs": [normal(2), (3, 4)]},
        {"inputs": [normal]},
        {"inputs": "normal(2)"},
        {"inputs": several()},
        {"inputs": np.zeros((40, 40))},
        {"configs": None},
        {"configs": 3},
        {"configs": [3]},
        {"configs": ["N"]},
        {"configs": [{"N": 3}, None]},
        {"configs": [{3: 4}]},
        {"configs": [{"N": 3, "": 4}]},
        {"configs": [{"N": 3, "two words": 4}]},
        {"configs": several()},
        {"configs": frozenset()},
        {"configs": [{"N": 3, "H": 4}]},
        {"configs": [{"N": 3, "kernel": several(3, 4)}]},
        {"configs": [{"N": 3, "kernel": {3, 4}}]},
        {"inputs": FED, "configs": [{"BATCH": 2}]},
        {"inputs": [normal("N")], "configs": [{"N": 2.0}]},
        {"inputs": [normal("N")], "configs": [{"N": "2"}]},
        {"inputs": [normal("N")], "configs": [{"N": -2}]},
        {"inputs": [normal("N")], "configs": [{"N": 0}]},
        {"inputs": [normal("N")], "configs": [{"N": True}]},
        {"inputs": [normal("N")], "configs": [{"N": (2, -1)}]},
        {"inputs": [normal("N")], "configs": [{"N": None}]},
        {"inputs": [normal(2, 0, "N")]},
        {"inputs": [definite("N", 2)]},
        {"inputs": [triangular("N")]},
        {"inputs": [distribution(), normal("N")]},
        {"inputs": [distinct("N", 3000)]},
        {"inputs": [uniform("N", low=1.0, high=1.0)]},
        {"phases": None},
        {"phases": [None]},
        {"phases": ("train", "train")},
        {"phases": {"train", "eval"}},
        {"phases": {"train": True}},
        {"phases": several()},
        {"executions": {"graph"}},
        {"executions": several("eager")},
        {"executions": 3},
        {"dtypes": {"float16", "float32"}},
        {"dtypes": ("float32", np.float16)},
        {"dtypes": [["float32"]]},
        {"level": None},
        {"level": "gates"},
        {"level": ["gate"]},
        {"rename": None},
        {"rename": [("a", "b")]},
        {"rename": {"a": ""}},
        {"rename": {"": "a"}},
        {"rename": {"a": 3}},
        {"rename": {1: "a"}},
        {"rename": {"a.": "b"}},
        {"rename": {"a b": "b"}},
        {"differs": ""},
        {"differs": "the epsilon is another"},
        {"differs": {"output.0": 0.1}},
        {"differs": True},
        {"differs": REFUSAL},
        {"raises": ""},
        {"raises": ValueError},
        {"raises": "ValueError"},
        {"raises": ("ValueError", "shape")},
        {"random_layers": "evaluation"},
        {"random_layers": True},
        {"steps": True, "phases": ("train",)},
        {"steps": 2.0, "phases": ("train",)},
        {"steps": "2", "phases": ("train",)},
        {"steps": -1, "phases": ("train",)},
        {"constants": "mask"},
        {"constants": ("a b",)},
        {"constants": (3,)},
        {"constants": ("mask", "mask")},
        {"computes": "half"},
        {"computes": 16},
        {"computes": ["float16"]},
        {"sizes": {"N": 3}, "configs": [{}]},
        {"sizes": None},
        {"sizes": "N"},
        {"sizes": [3, 4], "configs": [{}]},
        {"sizes": several({"N": 3}), "configs": [{}]},
        {"sizes": [{"N": 3}, {"N": 3.5}], "configs": [{}], "inputs": [normal(2, "N")]},
        {"sizes": [{1: 3}, {1: 4}], "configs": [{}]},
    ],
    "pipeline": [
        {"name": 3},
        {"files": "files"},
        {"configs": [3]},
        {"configs": several()},
        {"configs": [{"num_shards": 0}]},
        {"configs": [{"num_shards": 2.0}]},
        {"configs": [{"num_shards": 2, "shard_id": 2}]},
        {"configs": [{"num_shards": 2, "shard_id": None}]},
        {"configs": [{"folder": "here"}]},
        {"differs": "crop: a level"},
        {"level": 1},
    ],
    "initial": [
        {"name": None},
        {"candidate": 3},
        {"rename": {"a": None}},
        {"rename": "a"},
        {"differs": 0},
        {"configs": [{None: 1}]},
    ],
    "distributed": [
        {"inputs": FED},
        {"inputs": [normal(9, 4), normal(8)]},
        {"inputs": [normal()]},
        {"inputs": [normal("N")], "configs": [{"N": 0}]},
        {"inputs": None},
        {"configs": [{"N": 3}]},
        {"batch_size": 0},
        {"batch_size": 2.5},
        {"batch_size": None},
        {"steps": True},
        {"steps": "3"},
        {"ranks": 2.0},
        {"ranks": 0},
        {"executions": "graph"},
        {"executions": {"graph"}},
        {"executions": ("graph", "graph")},
        {"rename": {"": ""}},
        {"limit": 0},
        {"limit": None},
        {"limit": math.inf},
        {"limit": math.nan},
    ],
    "batches": [
        {"pipeline": None},
        {"pipeline": "it"},
        {"config": None},
        {"config": {3: 4}},
        {"config": {"num_shards": 2}},
        {"together": 0},
        {"together": True},
        {"together": 2.0},
    ],
    "recipe": [
        {"step": None},
        {"step": "it"},
        {"step": TWIN},
        {"step": dataclasses.replace(STEP, steps=None)},
        {"initial": None},
        {"initial": Initial("it", configs=[{"a": 1}, {"a": 2}], **SIDES)},
    ],
    "case": [
        {"twin": None},
        {"twin": PIPELINE},
        {"config": None},
        {"config": [("N", 3)]},
        {"phase": "test"},
        {"phase": None},
        {"dtype": "float64"},
        {"execution": "eager"},
        {"device": ""},
        {"device": None},
        {"size": 3},
    ],
    "counterpart": [
        {"api": None},
        {"api": ""},
        {"api": "ops."},
        {"api": math.sqrt},
        {"names": {"dim": 3}},
        {"names": {"dim": ""}},
        {"names": "axis"},
        {"through": "ops.softmax"},
        {"through": 3},
        {"without": ["empty"]},
        {"without": {"empty": ""}},
        {"differs": {"it(normal(2))": "it is other"}},
        {"differs": Difference("it is other", {"output.0": 0.1})},
        {"defaults": {"dim": -1}},
        {"defaults": {"dim": (0, 1, 2)}},
        {"defaults": ["dim"]},
    ],
    "difference": [
        {"cause": ""},
        {"cause": None},
        {"tensors": None},
        {"tensors": "output.0"},
        {"tensors": {}},
        {"tensors": {"": 0.1}},
        {"tensors": {0: 0.1}},
        {"tensors": {"output.0": 0}},
        {"tensors": {"output.0": -0.1}},
        {"tensors": {"output.0": math.inf}},
        {"tensors": {"output.0": math.nan}},
        {"tensors": {"output.0": True}},
        {"tensors": {"output.0": " "}},
        {"tensors": {"output.0": None}},
    ],
    "raised": [
        {"error": ""},
        {"error": ValueError},
        {"error": "value error"},
        {"error": "print"},
        {"error": "SystemExit"},
        {"error": "builtins.ValueError"},
        {"message": ""},
        {"message": " "},
        {"message": None},
        {"candidate": ""},
        {"candidate": 3},
    ],
    "example": [
        {"inputs": normal(2)},
        {"inputs": [3]},
        {"inputs": {normal}},
        {"arguments": ["dim"]},
        {"arguments": {0: 1}},
    ],
    "operator": [
        {"torch": None},
        {"torch": "torch."},
        {"name": 3},
        {"space": None},
        {"space": [normal(2)]},
        {"packed": 1},
        {"dtypes": "float32"},
        {"dtypes": {"float32"}},
        {"dtypes": ()},
        {"dtypes": ("float64",)},
        {"dtypes": ("float32", "float32")},
        {"counterparts": ("ops.it",)},
        {"counterparts": (to("ops.it", differs={"normal(2)": Difference("other", {"*": 1.0})}),)},
    ],
}


def refusal(make, *arguments, **fields):
    """The sentence by which a declaration is refused."""
    with pytest.raises(DeclarationError) as refused:
        make(*arguments, **fields)
    text = str(refused.value)
    assert "\n" not in text
    assert len(text) < 300
    return text


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        pytest.param(kind, changes, id=f"{kind}-{next(iter(changes))}-{number}")
        for kind, mistakes in WRONG.items()
        for number, changes in enumerate(mistakes)
    ],
)
def test_a_wrong_declaration_is_refused_with_kind_name_and_field(kind, changes):
    told, field = refusal(declared, kind, **changes), next(iter(changes))
    if "is no example of it" in told:
        return
    assert told.startswith(f"{kind} ")
    assert field in told
    if field in ("name", "api") or field in ("cause", "error"):
        assert told.startswith(f"{kind} {shown(changes[field])}: ")
    elif field not in ("pipeline", "step", "twin", "torch", "inputs", "arguments", "dtype"):
        name = {"counterpart": "ops.it", "raised": "ValueError"}.get(kind, "it")
        assert told.startswith(f"{kind} {name!r}: ")


@pytest.mark.parametrize("values", [("START", "5"), (1e39, 1), ((1, 2), (3, 4)), (None, 1)])
def test_given_values_that_a_size_has_wrong_are_refused(values):
    sizes = [{"START": value} for value in values]
    told = refusal(declared, "twin", inputs=[given(values="START")], configs=[{}], sizes=sizes)
    assert told.startswith("twin 'it': values ")


@pytest.mark.parametrize("axis", [range(3), {1, 2}, several(1, 2), (n for n in (1, 2))])
def test_an_axis_of_a_grid_is_a_list(axis):
    told = refusal(grid, width=axis)
    assert told.startswith(f"grid: width is a {type(axis).__name__}; write a list for an axis, a ")


@pytest.mark.parametrize(("name", "beyond"), [(3, bool), ("night", True)])
def test_a_limit_is_a_name_with_a_function(name, beyond):
    assert refusal(LIMITS.__setitem__, name, beyond).startswith(f"limit {name!r}: ")


def test_iterators_are_read_once_and_kept():
    lazy = declared(
        "twin",
        inputs=(normal(2, name) for name in ("N", "N")),
        configs=({"N": size} for size in (3, 4)),
        phases=several("train", "eval"),
        executions=several("graph"),
        dtypes=several("float32", "float16"),
    )
    for _ in range(2):
        assert len(list(cases(lazy, "cpu"))) == 2 * 2 * 2
    assert lazy.inputs == (normal(2, "N"), normal(2, "N"))
    sized = declared("twin", configs=several({}), sizes=({"N": size} for size in (3, 4)))
    assert [size["N"] for size in sized.sizes] == [3, 4]
    assert len(declared("distributed", executions=several("graph", "pynative")).executions) == 2
    for kind in ("pipeline", "initial"):
        assert declared(kind, configs=({"a": n} for n in (1, 2))).configs == ({"a": 1}, {"a": 2})


def test_lists_and_tuples_declare_the_same():
    one = declared("twin", configs=[{"N": 3}], phases=["train"], inputs=[normal(2, "N")])
    assert one == declared("twin", configs=({"N": 3},), phases=("train",), inputs=(normal(2, "N"),))


@pytest.mark.parametrize("kind", RIGHT)
def test_what_is_right_is_taken(kind):
    declared(kind)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (
            lambda: Twin("x", "a:b", "c:d", [normal(2)], phase="train"),
            "Twin 'x': got an unexpected keyword argument 'phase'; write 'phases'",
        ),
        (
            lambda: Twin("x", "a:b"),
            "Twin 'x': missing a required argument: 'candidate'; the fields are name, reference,",
        ),
        (
            lambda: Operator("torch.abs"),
            "Operator 'torch.abs': missing a required argument: 'space'; the fields are torch,",
        ),
        (lambda: Initial(), "Initial None: missing a required argument: 'name'; the fields are"),
    ],
)
def test_a_field_that_is_missing_or_unknown_is_named_with_the_cure(make, told):
    with pytest.raises(DeclarationError, match=f"^{re.escape(told)}"):
        make()
