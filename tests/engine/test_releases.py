"""What a declaration says of some releases of MindSpore holds in these alone."""

import importlib.metadata

import pytest
from packaging.version import Version

from equivalence import kinds, releases, train
from equivalence.declare.difference import Difference, Limit
from equivalence.declare.draws import normal
from equivalence.declare.operator import Operator, to
from equivalence.declare.spaces import unary
from equivalence.errors import DeclarationError, EquivalenceError
from equivalence.operators.drawing import Exploration, beyond_limit, explorations
from equivalence.operators.explore import differs, shows
from tests.engine.parts import small

SAME = ("torch.nn:ReLU", "mindspore.nn:ReLU")
OTHER = ("torch.nn:LeakyReLU", "mindspore.nn:LeakyReLU")  # 0.01 and 0.2 below zero


@pytest.fixture
def release(monkeypatch):
    """Sets the release that counts as installed."""
    return lambda text: monkeypatch.setattr(releases, "installed", lambda: Version(text))


@pytest.mark.parametrize(
    ("text", "right"),
    [
        *((">=2.8", True), ("<2.8,>=2.7", True), ("==2.9.*", True)),
        *(("2.8", False), ("", False), ("newer", False), (2.8, False), (">=2.8 or so", False)),
    ],
)
def test_a_range_is_written_as_packages_write_theirs(text, right):
    assert releases.is_range(text) is right


@pytest.mark.parametrize(
    ("installed", "held"), [("2.7.2", False), ("2.8", True), ("2.9.1", True), ("2.10.0", False)]
)
def test_the_tenth_release_is_newer_than_the_ninth(release, installed, held):
    release(installed)
    assert releases.holds(">=2.8,<2.10") is held
    assert releases.holds(None)


@pytest.mark.parametrize("version", ["2.10.0", "2.10.0rc1", "2.10.0.dev20261101", "2.10.0+cu12"])
def test_a_build_or_a_candidate_of_a_release_counts_as_it(monkeypatch, version):
    monkeypatch.setattr(importlib.metadata, "version", lambda _: version)
    assert releases.installed() == Version("2.10.0")


def test_without_mindspore_the_newest_release_counts(monkeypatch):
    def absent(package):
        raise importlib.metadata.PackageNotFoundError(package)

    monkeypatch.setattr(importlib.metadata, "version", absent)
    assert releases.holds(">=2.10")
    assert not releases.holds("<2.10")


@pytest.mark.parametrize(
    "declared",
    [
        lambda: Difference("it", {"output.0": 0.1}, releases="2.8"),
        lambda: Limit("is refused", "since 2.8"),
    ],
)
def test_what_is_no_range_is_refused_with_an_example(declared):
    with pytest.raises(DeclarationError, match=r"releases is '.*'; write a range, such as '>=2.8'"):
        declared()


def test_a_limit_needs_its_releases_and_words():
    with pytest.raises(DeclarationError, match="releases"):
        Limit("is refused")
    with pytest.raises(DeclarationError, match="say it in words"):
        Limit(" ", "<2.8")


@pytest.mark.parametrize(
    ("sides", "installed", "passed"),
    [
        (OTHER, "2.9.0", True),
        (OTHER, "2.7.2", False),
        (SAME, "2.9.0", False),
        (SAME, "2.7.2", True),
    ],
)
def test_a_difference_must_show_in_its_releases_and_in_no_other(release, sides, installed, passed):
    release(installed)
    known = Difference("the slope below zero", {"*": 20.0}, releases=">=2.8")
    case = small.case(*sides, normal(4, 8), differs=known)
    assert kinds.check(case, 0).passed is passed


def exploration(**known):
    operator = Operator("torch.relu", unary(), to("ops.relu", **known))
    return Exploration(operator, operator.counterparts[0], "pynative", "cpu", 6)


def test_a_limit_of_other_releases_is_none_and_one_of_this_must_show(release):
    limits = {"empty": Limit("is refused", "<2.8"), "vector": "is refused"}
    release("2.9.0")
    assert dict(exploration(without=limits).counterpart.without) == {"vector": "is refused"}
    release("2.7.2")
    declared = exploration(without=limits)
    assert dict(declared.counterpart.without) == {"empty": "is refused", "vector": "is refused"}
    beyond = beyond_limit(declared, "empty", 0)[:2]
    assert beyond
    assert not any(differs(declared, example, 0) for example in beyond)


def test_a_difference_of_a_call_must_show_in_its_releases(release):
    text = "relu(normal(2))"
    known = Difference("it is doubled", {"output.0": 2.0}, releases="<2.8")
    release("2.9.0")
    assert exploration(differs={text: known}).counterpart.differs == {}
    release("2.7.2")
    declared = exploration(differs={text: known})
    example = declared.operator.example(text)
    assert not shows(declared, example, declared.counterpart.differs[text], 0)


def test_a_training_is_refused_where_operators_are_not_shown(release):
    release("2.8.0")
    with pytest.raises(
        EquivalenceError,
        match=r"MindSpore 2\.8\.0 does not show its operators as they run, which the steps of a "
        r"training need; install 'mindspore>=2\.9'",
    ):
        train("no.py", "other.py")
    release("2.9.0")
    with pytest.raises(DeclarationError, match="neither a script nor"):
        train("no.py", "other.py")


def test_a_twin_says_its_releases_and_pinned_draws_need_those_that_show_operators():
    assert small.case(*SAME, normal(4)).releases is None
    assert small.case(*SAME, normal(4), random_layers="eval").releases == releases.DISPATCHING
    both = small.case(*SAME, normal(4), random_layers="eval", releases="<2.11").releases
    assert both == f"<2.11,{releases.DISPATCHING}"
    for execution, needed in (("graph", ">=2.8"), ("pynative", None)):
        some = small.case(*SAME, normal(4), execution=execution, releases={"graph": ">=2.8"})
        assert some.releases == needed
    for wrong in ({"graph": "2.8"}, {"compiled": ">=2.8"}):
        with pytest.raises(DeclarationError, match="twin 'small': releases is"):
            small.case(*SAME, normal(4), releases=wrong)
    with pytest.raises(DeclarationError, match=r"twin 'small': releases is '2.8'; write a range"):
        small.case(*SAME, normal(4), releases="2.8")


def test_a_release_that_does_not_show_its_operators_says_what_to_install(release):
    release("2.8.0")
    case = small.case(*SAME, normal(4), random_layers="eval", executions=("pynative",))
    with pytest.raises(EquivalenceError, match=r"MindSpore 2.8.0 .* install 'mindspore>=2.9'"):
        kinds.check(case, 0)


def test_a_call_of_other_releases_is_not_among_those_that_are_compiled_here(release):
    operator = Operator("torch.relu", unary(), to("mint.relu", releases=">=2.8"), to("ops.relu"))
    for installed, compiled in (("2.7.2", "ops.relu"), ("2.9.0", "mint.relu")):
        release(installed)
        every = list(explorations(operator, "cpu", 6))
        assert [e.counterpart.api for e in every if e.execution == "graph"] == [compiled]
        assert [e.releases for e in every if e.execution == "pynative"] == [">=2.8", None]
