"""Examples of operators on record: judged where torch is not, with the same verdicts."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import strategies as st

from equivalence.comparison import sides
from equivalence.comparison.kept import forget
from equivalence.declare.draws import normal, uniform
from equivalence.declare.operator import Operator, operator_case, to
from equivalence.declare.spaces import along, binary, unary
from equivalence.errors import RecordError
from equivalence.host.isolation import isolated
from equivalence.operators.drawing import GATE_EXAMPLES, Exploration, planned
from equivalence.operators.explore import explore
from equivalence.record import fingerprint, store, truths
from tests.engine.operators.test_explore import RIGHT, operator, search
from tests.engine.parts.recording import judged, recorded

pytest_plugins = ["pytester"]

PT, MS = "tests.engine.parts.operators_pt.", "tests.engine.parts.operators_ms:"
ROOT = Path(__file__).parents[3]


def matrices(draw, _):
    """The space of two matrices that multiply."""
    rows, inner = draw(st.integers(1, 30)), draw(st.integers(1, 30))
    return [normal(rows, inner), normal(inner, 31)], {}


def only(tensor, **arguments):
    """The space of one example."""
    return lambda *_: ([tensor], arguments)


EXCUSED = {
    "all elements": Operator(
        "torch.logsumexp", only(uniform(4, 9, low=89.0, high=200.0), dim=-1), to("ops.logsumexp")
    ),
    "faint elements": Operator(
        "torch.softmax",
        only(uniform(2, 1, 4, low=20.0, high=40.0), dim=-3),
        to("ops.softmax", dim="axis"),
    ),
}
"""Operators and examples in which the rounding of results moves these elements."""

OPERATORS = {
    "cumsum": RIGHT,
    "matmul": Operator("torch.matmul", matrices, to("ops.matmul")),
    "topk": Operator(
        "torch.topk",
        along(normal, k=1),
        to("ops.topk", integers="int32", without={"empty": "nothing is the largest"}),
    ),
    "add": Operator("torch.add", binary(), to("ops.add")),
    **EXCUSED,
    "of NaN": Operator("torch.sqrt", unary(), to("ops.sqrt"), name="sqrt"),
}


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "truth"


@pytest.fixture
def no_torch(monkeypatch):
    """What takes the reference away."""
    return lambda: monkeypatch.setattr(sides, "build_reference", None)


def few(declared, execution="pynative", device="cpu"):
    return Exploration(declared, declared.counterparts[0], execution, device, GATE_EXAMPLES)


def explored(exploration, folder, mode):
    """What an exploration finds by the records in a folder; what it records waits beside it."""
    library = truths.Library(folder, mode, folder / "../parts")
    forget()
    try:
        with isolated(), truths.using(None if mode == truths.IGNORE else library):
            return explore(exploration, 0, folder, shrink=False)
    finally:
        forget()


def record(folder, *explorations):
    """Record explorations and put them into the folder; how many samples."""
    for each in explorations:
        explored(each, folder, truths.WRITE)
    parts = [*(folder / "../parts").rglob("*.safetensors")]
    count = store.pack(parts, folder)
    for each in parts:
        each.unlink()
    return count


def samples(folder, group):
    return {key.partition(" seed=")[0] for key in store.manifest(folder)[group]["samples"]}


def told(found):
    """The verdicts of an exploration, tensor by tensor."""
    failed = [found.failure] if found.failure else []
    return [
        (o.case.name, o.excuses, [(v.name, v.equal, v.problem) for v in o.judgement.verdicts])
        for o in (*found.outcomes, *failed)
    ]


def example(reference, candidate, spelled):
    """The case of one example of a function in `operators_pt`, or in torch."""
    counterpart = to("ops.sqrt", through=candidate and MS + candidate)
    declared = Operator(reference, unary(), counterpart)
    return operator_case(declared, counterpart, declared.example(spelled), "pynative", "cpu")


# The verdict.


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("execution", ["pynative", "graph"])
def test_examples_are_judged_as_by_the_reference(folder, no_torch, name, execution):
    exploration = few(OPERATORS[name], execution)
    plain = explored(exploration, folder, truths.IGNORE)
    assert record(folder, exploration) >= plain.drawn
    no_torch()
    by_record = explored(exploration, folder, truths.REQUIRE)
    assert (by_record.drawn, by_record.failure) == (plain.drawn, None)
    assert told(by_record) == told(plain)
    assert {outcome.record for outcome in by_record.outcomes} == {"used"}


def test_a_wrong_counterpart_is_red_at_the_same_example(folder, no_torch):
    """Which is not made smaller: smaller ones have no record."""
    wrong = search(operator("wrong_when_long"), GATE_EXAMPLES)
    plain = explored(wrong, folder, truths.IGNORE)
    record(folder, few(RIGHT))
    no_torch()
    library = truths.Library(folder, truths.REQUIRE)
    with isolated(), truths.using(library):
        by_record = explore(wrong, 0, folder)
    forget()
    assert by_record.example == plain.example
    assert told(by_record) == told(plain)
    assert by_record.failure.judgement.differing


@pytest.mark.parametrize(
    ("reference", "candidate", "drawn"),
    [
        ("steeper_beyond_three", "wrong_beyond_three", "low=2.0, high=2.9"),
        ("cube_beside_a_million", "off_by_one", "low=3, high=3"),
        ("cube", "off_by_a_thirtieth", "low=3, high=3"),
    ],
)
@pytest.mark.parametrize("size", [4, 600], ids=["whole", "sketched"])
def test_what_is_wrong_is_so_by_its_record(folder, no_torch, reference, candidate, drawn, size):
    case = example(PT + reference, candidate, f"{reference}(uniform({size}, {drawn}))")
    plain = judged(case, folder, truths.IGNORE)
    recorded(folder, case)
    no_torch()
    by_record = judged(case, folder, truths.REQUIRE)
    for outcome in (plain, by_record):
        assert outcome.judgement.ill_posed is None
        assert outcome.judgement.differing


def test_what_the_reference_cannot_judge_is_on_record_as_that(folder, no_torch):
    case = example("torch.sqrt", None, "sqrt(uniform(4, low=-2, high=-1))")
    plain = judged(case, folder, truths.IGNORE).judgement.ill_posed
    assert plain
    recorded(folder, case)
    no_torch()
    assert judged(case, folder, truths.REQUIRE).judgement.ill_posed == plain


# What is recorded.


def test_what_an_exploration_compares_is_known_before(tmp_path):
    begun = []
    explore(few(RIGHT), 0, tmp_path, begun.append)
    assert begun == [each.spelled("cumsum") for each in planned(few(RIGHT), 0)]
    assert len(begun) == GATE_EXAMPLES


def test_another_device_is_recorded_by_the_reference_alone(folder, monkeypatch):
    """Of what is compiled, too, the example that no candidate can fail is not the last one."""
    lost = operator("ill_conditioned", torch=PT + "ill_conditioned", space=unary(normal))
    lost = replace(few(lost, "graph"), device="ascend")
    monkeypatch.setattr(sides, "build_candidate", None)
    with pytest.raises(Exception, match=r"of \d examples 0 are well-posed"):
        record(folder, lost)
    found = explored(few(RIGHT, "graph", "ascend"), folder, truths.WRITE)
    assert [(each.judgement, each.record) for each in found.outcomes] == [(None, "written")]


def test_counterparts_share_a_record_unless_their_integers_differ():
    both = to("ops.argmax", integers="int32"), to("mint.argmax")
    declared = Operator("torch.argmax", along(normal), *both)
    spelled = declared.example("argmax(normal(2, 3), dim=1)")
    one, two = (operator_case(declared, each, spelled, "pynative", "cpu") for each in both)
    assert [fingerprint.key(each, 0, 2.0**-24) for each in (one, two)] == [
        "argmax(normal(2, 3), dim=1) integers=int32 seed=0 u=2^-24",
        "argmax(normal(2, 3), dim=1) seed=0 u=2^-24",
    ]
    renamed = operator_case(declared, to("nn.X", dim="axis"), spelled, "graph", "ascend")
    packed = Operator("torch.argmax", along(normal), both[1], packed=True)
    packed = operator_case(packed, both[1], spelled, "pynative", "cpu")
    other = Operator("torch.argmin", along(normal), both[1], name="argmax")
    other = operator_case(other, both[1], spelled, "pynative", "cpu")
    prints = [
        fingerprint.fingerprint(each, 0, 2.0**-24) for each in (two, renamed, one, packed, other)
    ]
    assert prints[0] == prints[1]
    assert len(set(prints)) == 4


def test_of_a_part_the_rest_stays_and_what_is_drawn_no_more_goes(folder):
    assert record(folder, few(RIGHT), few(RIGHT, "graph")) > GATE_EXAMPLES
    before = samples(folder, "operators.cumsum")
    record(folder, few(RIGHT, "graph"))
    assert samples(folder, "operators.cumsum") == before
    other = operator(space=along(normal), dim="axis")
    record(folder, few(other))
    wanted = {each.spelled("cumsum") for each in planned(few(other), 0)}
    wanted |= {each.spelled("cumsum") for each in planned(few(other, "graph"), 0)}
    assert samples(folder, "operators.cumsum") <= wanted


# What is refused.


def test_a_record_that_is_missing_damaged_or_stale_is_refused(folder, no_torch, monkeypatch):
    record(folder, few(RIGHT))
    no_torch()
    other = operator(torch="torch.cumprod", dim="axis")
    other = replace(few(other), operator=Operator("torch.cumprod", along(), to("ops.cumprod")))
    refused = explored(other, folder, truths.REQUIRE)
    assert isinstance(refused.failure, RecordError)
    assert "there is no record of it with seed 0; run pytest with --record=write" in str(
        refused.failure
    )
    with monkeypatch.context() as patch:
        patch.setattr(fingerprint, "version", lambda _: "0.1")
        refused = explored(few(RIGHT), folder, truths.REQUIRE)
        assert "recorded with torch 2." in str(refused.failure)
        assert "and 0.1 is installed" in str(refused.failure)
    with monkeypatch.context() as patch:
        patch.setattr(fingerprint, "sources", lambda target: f"changed {target}")
        refused = explored(few(RIGHT), folder, truths.REQUIRE)
        assert "the source of its reference has changed since" in str(refused.failure)
    (path,) = folder.glob("operators.cumsum-*")
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    refused = explored(few(RIGHT), folder, truths.REQUIRE)
    assert "is damaged, its SHA-256 is not the manifest's" in str(refused.failure)


# Inside pytest.

SUITE = """
import pytest
from equivalence.operators.drawing import GATE_EXAMPLES
from tests.engine.operators.test_explore import RIGHT, operator, search

SEARCHES = {
    "right": search(RIGHT, GATE_EXAMPLES),
    "compiled": search(RIGHT, GATE_EXAMPLES, "graph"),
    "wrong": search(operator("wrong_when_long"), GATE_EXAMPLES),
    "many": search(RIGHT),
}


@pytest.mark.parametrize("exploration", SEARCHES.values(), ids=SEARCHES)
def test_operator(exploration, explore):
    explore(exploration)
"""


def run(project, *arguments):
    return project.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:randomly", *arguments)


def test_explorations_are_recorded_and_a_process_without_torch_judges_by_them(project_of):
    project = project_of(test_operators=SUITE)
    result = run(project, "-k", "right or compiled", "--record=write")
    result.assert_outcomes(passed=2, deselected=2)
    result.stdout.fnmatch_lines(["recorded * samples; fixtures/truth has 0.? MB"])

    without = ("-p", "tests.engine.parts.without_torch")
    result = run(project, *without, "--record=require")
    result.assert_outcomes(passed=2, failed=1, skipped=1)
    result.stdout.fnmatch_lines(
        [
            "repeat: pytest 'test_operators.py::test_operator*wrong*' --seed 0 --example 'cumsum*",
            "no diagnosis: it needs torch; repeat it where torch is installed",
            "the example is one of those on record; a run with torch and without*",
            "  records * 7 cases against recorded truth*",
        ]
    )
    result.stdout.fnmatch_lines(["SKIPPED*: torch is not installed, and of this no truth is rec*"])
    assert "Traceback" not in result.stdout.str()
