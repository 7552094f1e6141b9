"""Mistakes that hide from one sample are refused with further ones, and no right port is."""

import pytest

from benchmarks.hidden import HIDDEN
from benchmarks.reach import FURTHER, NONE, refusing

SHOWN = {
    "pooled_floor": "sizes",
    "split_heads_of_two": "batch",
    "attended_unmasked": "masks",
    "last_token_counted": "padding",
    "classified_over_all": "labels",
    "NormedNot": "clamps",
    "RootedLayerOutside": "epsilons",
    "gated_at": "ties",
    "soft_maximum_naive": "saturation",
    "cleaned_otherwise": "finite",
    "CausalOnce": "caches",
    "chunked_later": "branches",
    "overlaps_apart": "boxes",
}
"""A port of each kind, which a merge waits for -> its kind."""

ONE_SIZE = {"joined_by_factor", "shifted_of_five", "split_heads_of_seven", "CausalOfSeven"}
"""Ports that take the given size alone, and raise at others: told, and not refused, as
`tests/engine/further/test_fixed.py` holds."""

RIGHT = {"attended_unmasked", "CausalOnce", "overlaps_apart"}
"""Ports whose right one a merge waits for, too."""


def _marks(one: bool) -> tuple[pytest.MarkDecorator, ...]:
    return (pytest.mark.representative,) if one else ()


@pytest.mark.parametrize(
    ("network", "port"),
    [
        pytest.param(each, port, id=f"{each.name}: {port}", marks=_marks(port in SHOWN))
        for each in HIDDEN
        for port in each.wrong
    ],
)
def test_defect(network, port):
    refused = refusing(network, port, "eval", thorough=True)[0]
    if port in SHOWN:
        assert refused == FURTHER
    else:
        assert (refused == NONE) is (port in ONE_SIZE)


@pytest.mark.parametrize(
    "network",
    [
        pytest.param(each, id=each.name, marks=_marks(not RIGHT.isdisjoint(each.wrong)))
        for each in HIDDEN
    ],
)
def test_the_right_port_is_equal_on_all_samples(network):
    assert refusing(network, "", "eval", thorough=True)[0] == NONE


@pytest.mark.representative
def test_a_port_of_each_kind_is_among_those_that_a_merge_waits_for():
    kinds = {each.kind for each in HIDDEN}
    of = {port: each.kind for each in HIDDEN for port in each.wrong}
    assert {*SHOWN.values()} == kinds
    assert all(of[port] == kind for port, kind in SHOWN.items())
