"""The unit of a coarse compute mode is that of references which multiply, and of no others."""

from dataclasses import replace

import pytest

from equivalence.comparison import check, sides
from equivalence.comparison.comparison import of_products, unit_roundoff
from equivalence.declare.difference import Difference, Raised
from equivalence.declare.draws import normal
from equivalence.declare.twin import DTYPES
from equivalence.errors import RecordError, SideError, TorchMissingError
from equivalence.host import environment
from equivalence.host.devices import EVERY_PLACE
from equivalence.host.isolation import isolated
from equivalence.record import store, truths
from tests.engine.parts import small
from tests.engine.parts.recording import affine, judged, recorded

FINE, COARSE = 2.0**-24, 2.0**-11
PLACES = {"cpu", "gpu.float32", "ascend.float32"}
"""Where float32 is multiplied in float32."""
REHEARSED = "ascend.hf32.rehearsed"
MS = "tests.engine.parts.products_ms:"


def gelu(candidate="ms_models.activations:gelu", device=REHEARSED, **twin):
    """A case that multiplies nothing, with a tensor that is sketched."""
    config = {"approximate": "none"}
    return small.case(
        "torch.nn:GELU", candidate, normal(30, 40), config=config, device=device, **twin
    )


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    """Nothing is known of any reference."""
    monkeypatch.setattr("equivalence.comparison.comparison._multiplying", {})


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "truth"


@pytest.mark.parametrize("place", EVERY_PLACE)
def test_the_unit_of_a_mode_is_that_of_references_that_multiply(place):
    linear, plain = affine(device=place), gelu(device=place)
    assert of_products(linear, 0) == (FINE if place in PLACES else COARSE)
    assert unit_roundoff(linear) == FINE
    assert of_products(plain, 0) == FINE


def test_half_precision_is_as_coarse_by_itself():
    for case in (affine(device="ascend"), gelu(device="ascend")):
        half = replace(case, dtype="float16")
        assert of_products(half, 0) == COARSE
        assert unit_roundoff(half) == COARSE
    assert set(DTYPES) == {"float32", "float16", "bfloat16"}


def test_where_no_mode_rounds_more_no_reference_is_run_for_it(monkeypatch):
    monkeypatch.setattr(sides, "build_reference", None)
    for place in PLACES:
        assert of_products(affine(device=place), 0) == FINE
    with pytest.raises(SideError, match="the reference raised TypeError"):
        of_products(affine(device="ascend"), 0)


def test_it_is_asked_once_for_all_seeds_executions_and_devices(monkeypatch):
    assert of_products(gelu(), 0) == FINE
    assert of_products(affine(device="ascend"), 0) == COARSE
    monkeypatch.setattr(sides, "build_reference", None)
    assert of_products(gelu(execution="graph"), 7) == FINE
    assert of_products(affine(device="gpu", execution="graph"), 7) == COARSE


def test_of_several_sizes_the_first_tells_for_all():
    sizes = [{"ROWS": 3}, {"ROWS": 30}]
    case = small.case(
        "torch.nn:Linear",
        "tests.engine.parts.networks_ms:Affine",
        normal("ROWS", 40),
        config={"in_features": 40, "out_features": 24},
        sizes=sizes,
        device="ascend",
    )
    assert of_products(case, 0) == COARSE
    assert {of_products(one, 0) for one in case.sizes} == {COARSE}


def test_of_a_reference_that_must_raise_nothing_is_run():
    raising = affine(
        device="ascend",
        reference="no.such:thing",
        raises=Raised("ValueError", "no shape pleases me"),
    )
    assert of_products(raising, 0) == FINE


# The verdict.


def test_what_multiplies_nothing_is_judged_as_on_the_cpu():
    with isolated():
        plain, rehearsed = check.check(gelu(device="cpu"), 0), check.check(gelu(), 0)
    assert rehearsed.products == 0
    assert not rehearsed.judgement.coarse
    assert rehearsed.judgement == plain.judgement


def test_a_mistake_below_what_the_mode_shows_is_red_where_nothing_is_multiplied():
    wrong = gelu(MS + "gelu_by_tanh")
    with isolated():
        outcome = check.check(wrong, 0)
    assert outcome.judgement.differing
    assert outcome.judgement.needed * FINE < 16 * COARSE


def test_a_known_difference_of_such_a_case_must_show():
    right = gelu(differs=Difference("an epsilon", {"*": 9.0}))
    with isolated():
        assert not check.check(right, 0).passed


def test_a_candidate_that_multiplies_where_the_reference_does_not_is_red():
    def case(device):
        return small.case("torch.nn:Identity", MS + "by_identity", normal(4, 6), device=device)

    with isolated():
        assert check.check(case("cpu"), 0).passed
        outcome = check.check(case(REHEARSED), 0)
    assert outcome.products > 0
    assert outcome.judgement.differing


# By a record.


def test_a_record_tells_without_torch(folder, monkeypatch):
    recorded(folder, gelu(device="cpu"), affine(device=REHEARSED))
    monkeypatch.setattr(sides, "build_reference", None)
    monkeypatch.setattr("equivalence.comparison.comparison._multiplying", {})
    by_record = judged(gelu(), folder, truths.REQUIRE)
    assert (by_record.record, by_record.judgement.coarse) == ("used", False)
    linear = judged(affine(device=REHEARSED), folder, truths.REQUIRE)
    assert (linear.record, linear.judgement.coarse) == ("used", True)


def test_a_record_made_for_a_coarse_mode_is_that_of_the_cpu(folder):
    recorded(folder, gelu())
    (entry,) = store.manifest(folder).values()
    (key,) = entry["samples"]
    assert key.endswith("u=2^-24")
    assert entry["samples"][key]["multiplies"] is False
    assert judged(gelu(device="cpu"), folder, truths.REQUIRE).record == "used"


def test_one_of_float32_does_not_serve_where_the_reference_multiplies(folder):
    recorded(folder, affine())
    with pytest.raises(RecordError, match="there is no record of it with seed 0"):
        judged(affine(device=REHEARSED), folder, truths.REQUIRE)
    outcome = judged(affine(device=REHEARSED), folder, truths.USE)
    assert (outcome.record, outcome.judgement.coarse) == (None, True)


def test_without_a_record_it_is_not_run_for_where_one_is_required(folder, monkeypatch):
    monkeypatch.setattr(sides, "build_reference", None)
    with pytest.raises(RecordError, match="there is no record of it with seed 0"):
        judged(gelu(), folder, truths.REQUIRE)


def test_a_stale_record_tells_nothing(folder):
    recorded(folder, gelu(device="cpu"))
    now = gelu()
    now = replace(now, twin=replace(now.twin, reference="tests.engine.parts.products_pt:Squared"))
    with pytest.raises(RecordError, match="its record is stale: its declaration or the source"):
        judged(now, folder, truths.REQUIRE)
    record_of = truths.Library(folder, truths.USE)
    with truths.using(record_of):
        assert of_products(now, 0) == COARSE


def test_without_torch_and_record_a_case_says_so(monkeypatch):
    monkeypatch.setattr(environment, "installed", lambda _: False)
    with pytest.raises(TorchMissingError, match="its reference needs torch, which is not"):
        of_products(gelu(), 0)
