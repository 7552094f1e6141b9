"""The committed records are those of the twins as they are declared now, told by little running."""

from pathlib import Path

import pytest

from equivalence.comparison import sides
from equivalence.comparison.comparison import of_products, reference_multiplies
from equivalence.declare.operator import OF_OPERATORS, operator_case
from equivalence.declare.twin import cases
from equivalence.host.devices import EVERY_PLACE
from equivalence.operators.drawing import GATE_EXAMPLES, explorations, planned
from equivalence.record import codec, fingerprint, store, truths
from tests.twins import declared
from tests.twins.operators import operators

FOLDER = Path(__file__).parents[3] / truths.FOLDER
CURE = "run `make record DEVICE=...` for cpu, gpu and ascend, ARGS='-k TWIN' for a part"


@pytest.fixture(scope="module")
def wanted():
    """What the gate needs: the cases by twin and key of their record.

    Where a record tells whether the reference multiplies, it is believed.
    """
    found = {}
    with truths.using(truths.Library(FOLDER, truths.USE)):
        for twin in declared():
            every = (case for place in EVERY_PLACE for case in cases(twin, place))
            if twin.level == "gate":
                found[twin.name] = {
                    fingerprint.key(one, 0, of_products(one, 0)): one
                    for case in every
                    if truths.recordable(case)
                    for one in case.sizes
                }
    return {name: samples for name, samples in found.items() if samples}


@pytest.fixture(scope="module")
def committed():
    """What there is: by twin, the samples in the manifest."""
    return {
        name: each["samples"]
        for name, each in store.manifest(FOLDER).items()
        if not name.startswith(OF_OPERATORS)
    }


@pytest.fixture(scope="module")
def examples():
    """What there is of operators: by operator, the samples in the manifest."""
    return {
        name.removeprefix(OF_OPERATORS): each["samples"]
        for name, each in store.manifest(FOLDER).items()
        if name.startswith(OF_OPERATORS)
    }


def test_every_record_that_the_gate_needs_is_there_and_no_other(wanted, committed):
    lacking, needless = _apart(wanted, committed)
    assert not lacking, f"no record of {lacking}: {CURE}"
    assert not needless, f"nothing needs the records of {needless}: {CURE}"


def _apart(wanted, committed):
    """The names of records that are wanted alone, and that are committed alone."""
    here, there = (
        {key for samples in each.values() for key in samples} for each in (wanted, committed)
    )
    return sorted(here - there), sorted(there - here)


def test_no_record_is_stale(wanted, committed):
    stale = _stale(wanted, committed)
    assert not stale, f"changed since they were recorded: {stale}; {CURE}"


def _stale(wanted, committed):
    return [
        key
        for twin, samples in wanted.items()
        for key, case in samples.items()
        if key in committed.get(twin, {})
        and committed[twin][key]["fingerprint"]
        != fingerprint.fingerprint(case, 0, unit_roundoff_of(key))
    ]


def unit_roundoff_of(key):
    """That in a record's key, "... u=2^-24"."""
    return 2.0 ** int(key.rpartition("^")[2])


def test_the_numbers_that_were_recorded_are_drawn_again(wanted):
    """Of each twin's first sample: a draw that changes does so in every one."""
    entries = store.manifest(FOLDER)
    other = []
    for twin, samples in wanted.items():
        records = store.read(FOLDER, twin, entries[twin])
        key, case = next((key, case) for key, case in samples.items() if key in records)
        known = codec.decode(*records[key], sides.draw(case, 0))
        if fingerprint.digest_of(known, case.calls) != records[key][1]["digest"]:
            other.append(key)
    assert not other, f"other inputs or weights are drawn now: {other}; {CURE}"


def test_the_records_tell_rightly_which_references_multiply(wanted, committed):
    """By a run of each twin's first sample."""
    assert not _told_wrongly(wanted, committed)


def _told_wrongly(wanted, committed):
    return [
        key
        for twin, samples in wanted.items()
        for key, case in [*samples.items()][:1]
        if key in committed.get(twin, {})
        and committed[twin][key]["multiplies"] is not reference_multiplies(case, 0)
    ]


def test_no_record_of_an_example_is_stale(examples):
    stale = _stale_examples(examples)
    assert not stale, f"changed since they were recorded, or of no operator: {stale}; {CURE}"


def _stale_examples(examples):
    by_name = {operator.name: operator for operator in operators("ascend")}
    return [
        key
        for name, samples in examples.items()
        for key, sample in samples.items()
        if (case := _case_of(by_name.get(name), key)) is None
        or sample["fingerprint"] != fingerprint.fingerprint(case, 0, unit_roundoff_of(key))
    ]


def _case_of(operator, key):
    """The case of an example on record; None where its operator has none such."""
    spelled, _, integers = key.partition(" seed=")[0].partition(" integers=")
    counterparts = operator.counterparts if operator else ()
    for counterpart in counterparts:
        if (counterpart.integers or "") == integers:
            example = operator.example(spelled)
            return operator_case(operator, counterpart, example, "pynative", "cpu")
    return None


def test_examples_that_the_gate_draws_are_on_record(examples):
    """All of some operators, since drawing takes long. Compiled, at least the largest one."""
    without = {operator.name for operator in operators()} - examples.keys()
    assert not without, f"no record of an example of {sorted(without)}: {CURE}"
    lacking = _lacking_examples(examples, operators()[::40])
    assert not lacking, f"no record of {lacking}: {CURE}"


def _lacking_examples(examples, some):
    lacking = []
    for operator in some:
        there = {key.partition(" seed=")[0] for key in examples.get(operator.name, ())}
        for each in explorations(operator, "cpu", GATE_EXAMPLES):
            drawn = planned(each, 0)[: 1 if each.execution == "graph" else None]
            wanted = {each.case(example).recorded.sample for example in drawn}
            lacking += sorted(wanted - there)
    return lacking


# That each of these can fail.


def test_an_example_that_is_stale_or_lacking_shows(monkeypatch):
    softmax = next(each for each in operators() if each.name == "softmax")
    (case, *_) = map(
        next(explorations(softmax, "cpu", GATE_EXAMPLES)).case,
        [softmax.example("softmax(normal(2, 3), dim=1)")],
    )
    key = fingerprint.key(case, 0, 2.0**-24)
    current = {key: {"fingerprint": fingerprint.fingerprint(case, 0, 2.0**-24)}}
    assert not _stale_examples({"softmax": current})
    assert _stale_examples({"softmax": {key: {"fingerprint": "another"}}, "gone": current}) == [
        key,
        key,
    ]
    assert _lacking_examples({"softmax": current}, [softmax])
    monkeypatch.setattr(fingerprint, "sources", lambda target: f"changed {target}")
    assert _stale_examples({"softmax": current}) == [key]


def test_a_changed_twin_shows(wanted, committed, monkeypatch):
    monkeypatch.setattr(fingerprint, "sources", lambda target: f"changed {target}")
    assert len(_stale(wanted, committed)) == sum(map(len, wanted.values()))


def test_one_that_is_told_wrongly_shows(wanted, committed):
    some = {name: wanted[name] for name in ("conv2d", "gelu")}
    other = {
        name: {key: {"multiplies": not told["multiplies"]} for key, told in committed[name].items()}
        for name in some
    }
    assert len(_told_wrongly(some, other)) == 2


def test_a_record_too_few_or_too_many_shows(wanted, committed):
    some = next(iter(committed))
    fewer = {name: samples for name, samples in committed.items() if name != some}
    assert _apart(wanted, fewer) == (sorted(wanted[some]), [])
    assert _apart({k: v for k, v in wanted.items() if k != some}, committed) == (
        [],
        sorted(committed[some]),
    )
