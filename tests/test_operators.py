"""Every operator, over shapes, axes and values drawn at random, on every device."""

from dataclasses import replace

import pytest

from equivalence.coverage.defaults import differences
from equivalence.declare.difference import UNWRITTEN
from equivalence.declare.operator import LIMITS as BEYOND
from equivalence.declare.operator import Example, to
from equivalence.errors import SideError, SignatureError
from equivalence.host.devices import places
from equivalence.host.isolation import isolated
from equivalence.kinds import check
from equivalence.operators.drawing import (
    GATE_EXAMPLES,
    NIGHTLY_EXAMPLES,
    Exploration,
    beyond_limit,
    draw_examples,
    explorations,
    pairs_without,
)
from equivalence.operators.explore import differs, shows
from equivalence.releases import holds
from tests.twins.operators import operators
from tests.twins.operators.only_ascend import ON_ASCEND

EXPLORATIONS = [
    pytest.param(
        exploration,
        id=exploration.name,
        marks=[getattr(pytest.mark, device), getattr(pytest.mark, level)],
    )
    for device, place in places().items()
    for operator in operators(device)
    for count, level in ((GATE_EXAMPLES, "gate"), (NIGHTLY_EXAMPLES, "nightly"))
    for exploration in explorations(operator, place, count)
]

# What is known of MindSpore's CPU kernels; others may do better.
KNOWN = [
    Exploration(operator, counterpart, "pynative", "cpu", GATE_EXAMPLES)
    for operator in operators()
    for counterpart in operator.counterparts
    if holds(counterpart.releases)
]

# What an Ascend alone has; a CPU refuses it.
ALONE = [
    Exploration(operator, ON_ASCEND[operator.name], "pynative", "cpu", GATE_EXAMPLES)
    for operator in operators("ascend")
    if operator.name in ON_ASCEND
]

LIMITS = [
    pytest.param(each, limit, id=f"{each.operator.name}-{limit}-{each.counterpart.api}")
    for each in KNOWN
    for limit, told in each.counterpart.without.items()
    if limit != "graph" and not told.startswith(("crashes", "spoils", UNWRITTEN))
]

DIFFERENCES = [
    pytest.param(
        each, spelled, difference, id=f"{each.operator.name}-{number}-{each.counterpart.api}"
    )
    for each in KNOWN
    for number, (spelled, difference) in enumerate(each.counterpart.differs.items())
]

DEFAULTS = [
    pytest.param(each, argument, id=f"{each.operator.name}-{argument}-{each.counterpart.api}")
    for each in KNOWN
    for argument in each.counterpart.defaults
]

UNREADABLE = {"Tensor.__getitem__", "Tensor.__setitem__", "mint.addcdiv"}
"""Counterparts that tell their arguments nowhere."""


def refused(exploration: Exploration, example: Example) -> bool:
    """Whether the candidate raises, with an error of its own."""
    try:
        check(exploration.case(example), 0)
    except SideError as error:
        return "the candidate raised" in str(error)
    return False


def _bare(exploration: Exploration) -> Exploration:
    """The call by the names of its arguments alone."""
    plain = to(exploration.counterpart.api, **exploration.counterpart.names)
    return replace(exploration, counterpart=plain)


@pytest.mark.parametrize("exploration", EXPLORATIONS)
def test_operator(exploration, explore):
    explore(exploration)


@pytest.mark.cpu
@pytest.mark.nightly
@pytest.mark.parametrize(("exploration", "limit"), LIMITS)
def test_some_example_beyond_a_limit_is_refused(exploration, limit):
    """Otherwise the limit is to be lifted. Known differences that are beyond it come first."""
    operator, known = exploration.operator, exploration.counterpart.differs
    shown = filter(BEYOND[limit], map(operator.example, known))
    with isolated():
        assert any(
            differs(exploration, e, 0) for e in (*shown, *beyond_limit(exploration, limit, 0))
        )


@pytest.mark.cpu
@pytest.mark.nightly
@pytest.mark.parametrize("exploration", ALONE, ids=[each.name for each in ALONE])
def test_a_cpu_refuses_what_an_ascend_alone_has(exploration):
    """Otherwise it is to be compared on a CPU, too: a kernel or a stand-in is there."""
    with isolated():
        assert any(
            refused(exploration, each) for each in draw_examples(exploration, 0, GATE_EXAMPLES)
        )


@pytest.mark.cpu
@pytest.mark.gate
@pytest.mark.parametrize(("exploration", "spelled", "difference"), DIFFERENCES)
def test_a_known_difference_shows(exploration, spelled, difference):
    """In the plain call, or else it is gone, and to be taken out of the table."""
    with isolated():
        assert shows(_bare(exploration), exploration.operator.example(spelled), difference, 0)


@pytest.mark.cpu
@pytest.mark.gate
def test_every_default_that_differs_is_declared():
    wrong, unread = [], set()
    for operator, counterpart in ((each.operator, each.counterpart) for each in KNOWN):
        try:
            found = differences(operator.torch, counterpart)
        except SignatureError:
            unread.add(counterpart.api)
            continue
        if dict(counterpart.defaults) != found:
            wrong.append(f"{operator.name}: to({counterpart.api!r}, ..., defaults={found})")
    assert not wrong, "\n".join(wrong)
    assert unread == UNREADABLE


@pytest.mark.cpu
@pytest.mark.gate
def test_a_default_that_stands_for_what_the_other_side_has_is_equal():
    """Written differently, read as the same, and left out by both."""
    wrong = []
    for each in KNOWN:
        torch, counterpart = each.operator.torch, each.counterpart
        if counterpart.api in UNREADABLE:
            continue
        read = differences(torch, counterpart, meant={})
        for argument in read.keys() - differences(torch, counterpart).keys():
            with isolated():
                if any(
                    differs(each, left, 0)
                    for _, left in pairs_without(each, argument, 0)[:GATE_EXAMPLES]
                ):
                    wrong.append(f"{each.name}: {argument} {read[argument]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.cpu
@pytest.mark.gate
@pytest.mark.parametrize(("exploration", "argument"), DEFAULTS)
def test_a_default_that_differs_shows(exploration, argument):
    """In a plain call that leaves it out; told, the same example is equal."""
    with isolated():
        assert any(
            differs(_bare(exploration), left, 0) and not differs(exploration, told, 0)
            for told, left in pairs_without(exploration, argument, 0)
        )
