"""A table that a port builds itself is compared in the rows that no sample reads, too."""

from dataclasses import replace

import pytest

from equivalence.comparison import kept
from equivalence.comparison.check import check
from equivalence.declare.draws import given, normal
from equivalence.errors import WeightError
from equivalence.host.isolation import isolated
from equivalence.judge.settings import alone_told
from equivalence.own.session import Session
from tests.engine.parts.small import case

PT, MS = "tests.engine.parts.tabled_pt:", "tests.engine.parts.tabled_ms:"
NUMBERS = given(2, 3, values=(0, 1, 2, 3, 4, 2))


@pytest.fixture(autouse=True)
def isolation():
    kept.forget()
    with isolated():
        yield
    kept.forget()


def palette(name, **options):
    own = {"constants": ("table",)} if "kept" in name else {}
    return case(PT + "Palette", MS + name, NUMBERS, **own, **options)


@pytest.mark.parametrize("name", ["Palette", "Renamed", "kept_palette"])
@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_a_right_table_passes(name, execution):
    if (name, execution) == ("Renamed", "graph"):
        return  # a graph takes no array
    outcome = check(palette(name, execution=execution), 0)
    assert outcome.passed
    assert outcome.settings.compared == 4  # three of the layer


@pytest.mark.parametrize("name", ["wrong_palette", "wrong_renamed", "wrong_kept"])
def test_a_wrong_row_that_nothing_reads_is_red(name):
    outcome = check(palette(name), 0)
    assert outcome.judgement.equal
    assert not outcome.passed
    (difference,) = outcome.settings.differing
    assert "in the original, at (17, 1)" in difference.told
    assert difference.path == "table"


def test_it_may_be_declared():
    declared = {"settings": {"table": "no such colour is ever asked for"}}
    assert check(palette("wrong_palette", **declared), 0).passed


def test_positions_beyond_the_length_of_the_sample_count():
    assert check(case(PT + "Positions", MS + "Positions", normal(2, 6, 8)), 0).passed
    outcome = check(case(PT + "Positions", MS + "short_positions", normal(2, 6, 8)), 0)
    assert outcome.judgement.equal
    assert outcome.settings.differing[0].where.startswith("at (40, 0) and")


def test_the_structure_alone_tells_it():
    twin = palette("wrong_palette").twin
    assert [each.name for each in Session(twin).structure().settings.differing] == ["table"]


@pytest.mark.parametrize(("name", "equal"), [("Palette", True), ("wrong_palette", False)])
def test_a_buffer_that_a_port_keeps_in_no_weight_pairs_by_itself(name, equal):
    """Of one's own networks, where all else pairs up; its rows are compared all the same."""
    twin = replace(case(PT + "Saved", MS + name, NUMBERS).twin, executions=("pynative",))
    session = Session(twin)
    structure = session.structure()
    assert structure.problem is None
    assert session.twin.constants == ("table",)
    assert structure.sides == (
        "The port keeps table in no weight: what is computed with it counts, and its values where "
        "the port has such a table.",
    )
    assert {each.outcome.passed for each in session.verdicts()} == {equal}
    with pytest.raises(WeightError, match="reference table"):
        check(case(PT + "Saved", MS + name, NUMBERS), 0)


def test_a_weight_that_the_port_lacks_is_refused_all_the_same():
    twin = case(PT + "Saved", "mindspore.nn:ReLU", NUMBERS).twin
    assert Session(twin).structure().problem is not None


LOOKED_UP = "tests.engine.parts.looked_up_"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("OfAnother", "ALPHAS is 0.03 in the port and 0.3 in the original, at (6,), looked_up_ms"),
        ("LastDoubled", "SIGMAS is 8 in the port and 4 in the original, at (7,), looked_up_ms"),
        ("GuidedLess", "GUIDANCE is 5.4 in the port and 4.5 in the original, at (4,), looked_up_w"),
        ("last_beta", "betas is 0.2 in the port and 0.1 in the original, at (9,), looked_up_ms"),
        ("last_anchor", "anchors is 26 in the port and 62 in the original, at (2, 2), looked_up"),
    ],
)
def test_a_wrong_number_in_a_global_or_a_list_is_red_with_its_line(name, told):
    outcome = check(case(LOOKED_UP + "pt:Sampler", f"{LOOKED_UP}ms:{name}", normal(3, 4)), 0)
    assert outcome.judgement.equal
    assert not outcome.passed
    (difference,) = outcome.settings.differing
    assert difference.told.startswith(told)


@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_right_ones_pass_and_what_has_no_partner_is_counted(execution):
    sides = LOOKED_UP + "pt:Sampler", LOOKED_UP + "ms:Sampler"
    outcome = check(case(*sides, normal(3, 4), execution=execution), 0)
    assert outcome.passed
    assert outcome.settings.alone == ("order",)
    (line,) = alone_told(outcome.settings)
    assert line.startswith("1 table that the port's code looks up has no partner")


@pytest.mark.parametrize(("name", "equal"), [("OfTensors", True), ("OfTensorsWrong", False)])
def test_a_list_of_a_port_pairs_with_a_tensor_of_the_original(name, equal):
    outcome = check(case(LOOKED_UP + "pt:OfTensors", f"{LOOKED_UP}ms:{name}", normal(3, 4)), 0)
    assert outcome.judgement.equal
    assert outcome.passed == equal
