"""Settings, and numbers in the code, that a sample does not show are found by changing each."""

import inspect
from dataclasses import replace

import pytest
import torch
from torch.nn import functional

from equivalence.comparison import kept, settings
from equivalence.declare.draws import normal
from equivalence.declare.twin import TwinCase, cases
from equivalence.host.isolation import isolated
from equivalence.truth.hidden import Number, NumbersInCode, other_number
from tests.defects.twins import HIDDEN
from tests.engine.parts import networks_pt
from tests.engine.parts.small import PT, case

TWINS = {twin.name: twin for twin in HIDDEN}
HERE = "tests.engine.truth.test_hidden:"


@pytest.fixture(autouse=True)
def isolation():
    kept.forget()
    with isolated():
        yield
    kept.forget()


def hidden(of: TwinCase) -> list[str]:
    return settings.hidden(of, 0).lines


def first(name: str) -> TwinCase:
    return next(cases(TWINS[name], "cpu"))


def test_settings_that_no_tensor_shows_are_listed_with_both_values():
    told = hidden(first("norms_of_large_inputs"))
    assert told[0] == "settings that the sample does not show: 5 of 5"
    assert told[5] == "batch.momentum 0.1: 0.9 moves nothing"
    # The epsilon that the code of RMSNorm adds is a setting.
    assert told[6] == "numbers in the code that the sample does not show: 1 of 1"
    assert told[7].startswith("hidden.py:46 mul 1000: 10000 moves nothing by more than ")
    assert told[1].startswith("layer.eps 1e-05: 0.0001 moves nothing by more than ")


def test_settings_that_a_tensor_shows_are_not_listed():
    batch_norm = "torch.nn:BatchNorm1d", "mindspore.mint.nn:BatchNorm1d", normal(9, 4)
    config = {"num_features": 4}
    assert hidden(case(*batch_norm, config=config)) == [
        "settings that the sample does not show: 0 of 2"
    ]
    assert hidden(case(*batch_norm, config=config, phase="eval"))[1:] == [
        "momentum 0.1: 0.9 moves nothing"
    ]


def test_of_a_training_the_optimiser_and_the_clip_are_tried():
    told = hidden(first("fine_tuning"))
    assert "step.clip.limit 10000.0: 100000.0 moves nothing" in told
    assert any(line.startswith("optimizer.eps 1e-08: 1e-07 moves nothing") for line in told)
    assert not any("optimizer.lr" in line for line in told)


def test_a_setting_without_an_effect_anywhere_is_not_tried():
    conv = "torch.nn:Conv2d", "mindspore.mint.nn:Conv2d", normal(2, 3, 5, 5)
    config = {"in_channels": 3, "out_channels": 2, "kernel_size": 3}
    assert hidden(case(*conv, config=config)) == ["settings that the sample does not show: 0 of 0"]
    assert hidden(case(*conv, config={**config, "padding": 1}))[0].endswith("0 of 1")


def test_a_setting_must_be_hidden_at_every_size():
    twin = replace(
        TWINS["norms_of_large_inputs"],
        reference="torch.nn:LayerNorm",
        configs=({"normalized_shape": 12},),
        inputs=[normal("N", 12)],
        sizes=[{"N": 3}, {"N": 5}],
    )
    assert hidden(next(cases(twin, "cpu"))) == ["settings that the sample does not show: 0 of 1"]


def test_numbers_in_the_code_that_no_tensor_shows_are_listed():
    guarded = case(PT + "Guarded", "mindspore.mint.nn:Identity", normal(5, 4))
    first_line = inspect.getsourcelines(networks_pt.Guarded.forward)[1]
    assert hidden(guarded) == [
        "settings that the sample does not show: 0 of 1",
        "numbers in the code that the sample does not show: 3 of 6",
        f"networks_pt.py:{first_line + 1} clamp max 100: 200 moves nothing",
        f"networks_pt.py:{first_line + 2} normalize eps 1e-12: 1e-11 moves nothing",
        f"networks_pt.py:{first_line + 3} clamp 1000: 10000 moves nothing",
    ]


def test_a_number_that_bites_is_not_listed():
    guarded = case(PT + "Guarded", "mindspore.mint.nn:Identity", normal(5, 4, shift=6.0))
    assert "numbers in the code that the sample does not show: 2 of 6" in hidden(guarded)


def test_a_number_without_which_a_gradient_is_nan_is_not_listed():
    rooted = case(HERE + "rooted", "mindspore.mint.nn:Identity", normal(5, 4))
    _, told, *lines = hidden(rooted)
    assert told == "numbers in the code that the sample does not show: 2 of 3"
    assert not any("sub 0.5" in line for line in lines)


def test_sizes_axes_and_zeros_are_no_numbers():
    with NumbersInCode() as numbers:
        values = torch.ones(3, 4).sum(1).reshape(3, 1) * 2
        functional.relu(values.clamp(min=0)).masked_fill(values > 1, -torch.inf)
        torch.full((3,), 1e10)
    assert [each.path.partition(" ")[2] for each in numbers.met] == ["gt", "full"]


def test_a_guard_is_changed_tenfold_and_others_are_doubled():
    values = -1e9, -0.5, 1e-10, 3
    numbers = [Number("net.py", 1, "clamp", 1, value) for value in values]
    assert list(map(other_number, numbers)) == pytest.approx([-1e10, -1.0, 1e-9, 6])
    assert other_number(Number("net.py", 1, "dropout", "p", 0.1)) == 0.3


def rooted():
    """The input; of the other branch the gradient is NaN where 1 is taken off in place of 0.5."""
    return lambda x: torch.where(x.abs() < 100, x, (x * 0 - 0.5 + 1.0).sqrt())
