"""What a step holds, and when the tensors of two sides pair up."""

import numpy as np
import pytest

from equivalence.errors import DeclarationError
from equivalence.scripts.steps import (
    WHOLE,
    KeptTensor,
    ScriptNetwork,
    Step,
    StepInput,
    TrainingRun,
    demand_steps,
    fit,
    law_of,
)


def test_a_large_tensor_is_kept_as_its_sketch_and_a_change_shows_in_it():
    values = np.linspace(0.0, 1.0, WHOLE + 1, dtype="float32")
    stored = KeptTensor.of("fc.weight", values)
    assert (stored.sketched, stored.shape, stored.values.size) == (True, (WHOLE + 1,), 256)
    values[7] += 1.0
    assert not np.array_equal(KeptTensor.of("fc.weight", values).values, stored.values)
    assert not KeptTensor.of("fc.bias", values[:9]).sketched


def test_a_tensor_is_a_copy():
    values = np.zeros(3)
    stored = KeptTensor.of("x", values)
    values += 1
    assert stored.values.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("values", "fits"),
    [
        (np.zeros((2, 3), "int32"), True),
        (np.zeros((2, 3), "float32"), False),
        (np.zeros((3, 2), "int64"), False),
    ],
)
def test_tensors_fit_by_shape_and_kind_whatever_their_width(values, fits):
    assert fit([StepInput(np.zeros((2, 3), "int64"))], [StepInput(values)]) is fits


def test_another_number_of_tensors_does_not_fit():
    assert not fit([StepInput(np.zeros(2))], [])


@pytest.mark.parametrize("name", ["normal_", "randn", "standard_normal"])
def test_a_law_is_the_same_by_all_names(name):
    assert law_of(name) == "normal"


def test_a_run_without_a_step_or_a_network_is_an_error_with_the_cure():
    with pytest.raises(
        DeclarationError,
        match=r"^the candidate m\.py ends without an update by an optimiser that could be seen$",
    ):
        demand_steps(TrainingRun(), "candidate", "m.py")
    with pytest.raises(DeclarationError, match="no call of a network was seen: call the network"):
        demand_steps(TrainingRun(steps=[Step()]), "reference", "t.py")
    seen = TrainingRun([ScriptNetwork("Net", {}, {}, [])], [Step()])
    demand_steps(seen, "reference", "t.py")
    assert seen.shows_steps
    assert not TrainingRun(steps=[Step()]).shows_steps
    assert not TrainingRun(seen.networks).shows_steps
    assert TrainingRun(overflows=1).shows_steps
