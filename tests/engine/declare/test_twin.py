"""Declarations that say nothing are refused; cases are named after all that makes them."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from equivalence.declare.difference import Difference, Raised
from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, TwinCase, cases, grid, sample_of
from equivalence.errors import DeclarationError


def twin(**changes):
    """A small twin, with changes."""
    declared = {
        "name": "linear",
        "reference": "torch.nn:Linear",
        "candidate": "mindspore.nn:Dense",
        "inputs": [normal("BATCH", "width")],
        "configs": grid(width=[3, 4], BATCH=2),
    }
    return Twin(**declared | changes)


# --- Declarations --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"name": "two words"}, "is no identifier"),
        ({"name": "a-b"}, "is no identifier"),
        ({"name": "class"}, "is no identifier"),
        ({"name": ""}, "is no identifier"),
        ({"reference": "torch.nn.Linear"}, "reference 'torch.nn.Linear' is not 'module:attribute'"),
        ({"candidate": "mindspore.nn:"}, "candidate 'mindspore.nn:' is not 'module:attribute'"),
        ({"candidate": "a:b:c"}, "candidate 'a:b:c' is not 'module:attribute'"),
        ({"reference": "a:b\n"}, r"reference 'a:b\n' is not 'module:attribute'"),
        ({"phases": "train"}, "phases is a string; write a tuple"),
        ({"executions": "graph"}, "executions is a string; write a tuple"),
        ({"dtypes": "float32"}, "dtypes is a string; write a tuple"),
        ({"phases": ("train", "test")}, "phases ['test'] not among train, eval"),
        ({"executions": ("eager",)}, "executions ['eager'] not among pynative, graph"),
        ({"dtypes": ("float64",)}, "dtypes ['float64'] not among float32, float16, bfloat16"),
        ({"phases": ()}, "phases is empty, so nothing would be compared"),
        ({"executions": ()}, "executions is empty, so nothing would be compared"),
        ({"dtypes": ()}, "dtypes is empty, so nothing would be compared"),
        ({"level": "weekly"}, "level 'weekly' is not among gate, nightly"),
        ({"configs": ()}, "configs is empty, so nothing would be compared"),
        ({"configs": grid(width=[], BATCH=2)}, "configs is empty, so nothing would be compared"),
        ({"inputs": []}, "has no inputs"),
        ({"inputs": normal(2, 3)}, "inputs is one draw; write a list"),
        ({"configs": {"width": 3}}, "configs is one configuration; write a list"),
        (
            {"random_layers": "off"},
            "random_layers can only be 'eval', 'replay', or a list of paths and classes",
        ),
        (
            {"random_layers": "replay"},
            "random_layers='replay' compares draws, of which a compiled graph shows none; "
            "executions must be ('pynative',)",
        ),
        (
            {"random_layers": "replay", "executions": ("pynative",), "by_layer": True},
            "random_layers='replay' and by_layer cannot be together; leave out one",
        ),
        (
            {"differs": Difference("eps", {"*": 1.0}), "raises": Raised("ValueError", "eps")},
            "cannot both differ and raise",
        ),
        (
            {"inputs": [normal("BATCH", "height")]},
            "an input shape names ['height'], not in {'width': 3, 'BATCH': 2}",
        ),
        (
            {"configs": [{"width": 3, "BATCH": 2}, {"width": 3}]},
            "an input shape names ['BATCH'], not in {'width': 3}",
        ),
        (
            {"configs": grid(width=[3, 4, 3], BATCH=2)},
            "several configurations share the name linear-width3-BATCH2",
        ),
        (
            {"inputs": [normal(2)], "configs": [{"k": (1, 2)}, {"k": "1_2"}]},
            "several configurations share the name linear-k1_2",
        ),
    ],
)
def test_a_wrong_declaration_is_refused_with_the_twin_and_the_reason(changes, complaint):
    with pytest.raises(DeclarationError) as caught:
        twin(**changes)
    assert str(caught.value) == f"twin {changes.get('name', 'linear')!r}: {complaint}"


def test_what_may_be_declared_is_accepted():
    twin(differs=Difference("the epsilon is another", {"output.0": 0.1}))
    twin(raises=Raised("ValueError", "shape"))
    twin(level="nightly", random_layers="eval", dtypes=("float32", "float16"))
    twin(configs=({},), inputs=[normal(2, 3)])
    assert twin(random_layers="replay", executions=("pynative",)).pinned is None


@pytest.mark.parametrize(
    ("axes", "configs"),
    [
        ({}, ({},)),
        ({"a": 1}, ({"a": 1},)),
        ({"a": [1, 2], "b": 3}, ({"a": 1, "b": 3}, {"a": 2, "b": 3})),
        (
            {"a": [1, 2], "b": [3, 4]},
            ({"a": 1, "b": 3}, {"a": 1, "b": 4}, {"a": 2, "b": 3}, {"a": 2, "b": 4}),
        ),
        ({"kernel": [(3, 5)], "shape": (2, 3)}, ({"kernel": (3, 5), "shape": (2, 3)},)),
        ({"a": []}, ()),
    ],
)
def test_a_grid_is_every_combination_of_its_lists(axes, configs):
    assert grid(**axes) == configs


# --- Cases ---------------------------------------------------------------------------------------


def test_a_case_is_named_after_everything_that_makes_it():
    declared = twin(
        configs=[{"width": 3, "BATCH": 2, "kernel": (3, 5), "bias": False, "eps": 1e-5}]
    )
    (case, *_) = cases(declared, "cpu")
    assert case.sample_name == "linear-width3-BATCH2-kernel3_5-biasFalse-eps1e-05-train-float32"
    assert case.name == f"{case.sample_name}-pynative-cpu"


def test_configuration_in_capitals_sizes_inputs_and_is_not_passed_on():
    case = TwinCase(
        twin(), {"width": 3, "BATCH": 2, "H": 7, "Wide": 1}, "eval", "float32", "graph", "cpu"
    )
    assert case.arguments == {"width": 3, "Wide": 1}


def test_every_combination_is_a_case_and_no_two_share_a_name():
    made = list(cases(twin(dtypes=("float32", "float16")), "cpu"))
    assert len(made) == len({case.name for case in made}) == 2 * 2 * 2 * 2
    axes = {(c.config["width"], c.phase, c.dtype, c.execution, c.device) for c in made}
    assert len(axes) == len(made)


def test_cases_that_share_a_sample_follow_each_other():
    names = [case.sample_name for case in cases(twin(dtypes=("float32", "float16")), "cpu")]
    changes = sum(one != two for one, two in itertools.pairwise(names))
    assert changes == len(set(names)) - 1


def test_executions_and_devices_share_a_sample_and_nothing_else_does():
    case = TwinCase(twin(), {"width": 3, "BATCH": 2}, "train", "float32", "pynative", "cpu")
    elsewhere = TwinCase(case.twin, case.config, "train", "float32", "graph", "ascend")
    assert elsewhere.sample_name == case.sample_name
    for other in (
        TwinCase(twin(name="dense"), case.config, "train", "float32", "pynative", "cpu"),
        TwinCase(case.twin, {"width": 4, "BATCH": 2}, "train", "float32", "pynative", "cpu"),
        TwinCase(case.twin, case.config, "eval", "float32", "pynative", "cpu"),
        TwinCase(case.twin, case.config, "train", "float16", "pynative", "cpu"),
    ):
        assert other.sample_name != case.sample_name


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple),
    max_leaves=4,
)


@given(VALUES, st.sampled_from(("pynative", "graph")), st.sampled_from(("cpu", "ascend")))
def test_a_name_is_one_word_from_which_the_sample_can_be_read(value, execution, device):
    case = TwinCase(twin(), {"option": value}, "train", "float32", execution, device)
    assert sample_of(case.name) == case.sample_name
    assert re.fullmatch(r"[\w.+-]+", case.name)
