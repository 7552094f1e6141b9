"""With the same draws on both sides, a right port is right in its own way, a wrong one is not."""

import pytest

from equivalence.comparison import check as module
from equivalence.comparison import kept
from equivalence.comparison.check import check
from equivalence.declare.draws import normal
from equivalence.diagnosis.diagnose import diagnose
from equivalence.errors import DeclarationError, SideError
from equivalence.host import environment
from equivalence.host.isolation import isolated
from equivalence.judge import tensors
from equivalence.judge.outcome import DrawsCompared
from tests.engine.parts.small import case

PT = "tests.engine.parts.drawing_pt:"
MS = "tests.engine.parts.drawing_ms:"
PINNED = {"path": "Path", "together": "Together", "rates": "Rates"}


@pytest.fixture(autouse=True)
def isolation():
    kept.forget()
    with isolated():
        yield
    kept.forget()


def drawing(reference: str, candidate: str, **options):
    layers = [PINNED[reference]] if reference in PINNED else "eval"
    layers = [*layers, OTHER[candidate]] if candidate in OTHER else layers
    return case(PT + reference, MS + candidate, normal(4, 5, 6), random_layers=layers, **options)


OTHER = {
    "path_of_other_share": "PathOfOtherShare",
    "fewer": "Fewer",
    "raises": "Raises",
    "apart": "Apart",
}

RIGHT = {
    "the other side of each number": ("path", "path", 1),
    "two draws for one": ("together", "apart", 1),
    "the sequence first": ("elements", "elements", 1),
    "layers in another order": ("crossed", "crossed", 2),
}


@pytest.mark.parametrize("way", RIGHT)
def test_a_right_port_may_draw_in_another_way(way):
    reference, candidate, count = RIGHT[way]
    outcome = check(drawing(reference, candidate), 0)
    assert outcome.passed
    assert outcome.draws == DrawsCompared(count)


def test_without_another_pairing_these_are_red(monkeypatch):
    monkeypatch.setattr(module, "pairings", lambda *_: [])
    assert not any(check(drawing(*way[:2]), 0).passed for way in RIGHT.values())


def test_a_share_that_its_law_does_not_show_is_red():
    wrong = drawing("path", "path_of_other_share")
    outcome = check(wrong, 0)
    names = {each.name for each in outcome.judged.differing}
    assert not outcome.passed
    assert all(name.endswith(" with the same draws") for name in names)
    (culprit,) = diagnose(wrong, 0).culprits
    assert "(ops.rand(x.shape[0], 1, 1) < 0.74)" in culprit.statement


def test_draws_that_do_not_pair_are_told_with_both_lines():
    outcome = check(drawing("together", "fewer"), 0)
    told = next(each.problem for each in outcome.judged.differing if each.name == tensors.DRAWS)
    assert "draw 1 is normal numbers of shape (2, 4, 5, 6) (draw at drawing_pt.py:" in told
    assert "normal numbers of shape (4, 5, 6) (draw at drawing_ms.py:" in told


def test_what_cannot_be_replayed_is_compared_by_its_laws_and_told():
    outcome = check(drawing("rates", "rates"), 0)
    assert "no run can replay poisson (drawing_pt.py:" in str(outcome.draws)


def test_a_port_that_fails_where_it_trains_is_red():
    with pytest.raises(SideError, match="misspelt"):
        check(drawing("together", "raises"), 0)


def test_a_dropout_that_is_replayed_is_reached():
    reach = check(drawing("elements", "elements"), 0).reach
    assert [each for each in reach.missed if each.key.kind == "dropout"] == []
    reach = check(drawing("elements", "elements", execution="graph"), 0).reach
    assert [each.key.kind for each in reach.missed if each.key.kind == "dropout"]


def test_a_graph_is_told_to_be_pinned():
    right = drawing("elements", "elements", execution="graph")
    outcome = check(right, 0)
    assert outcome.passed
    assert outcome.draws == DrawsCompared(pinned=module.COMPILED)


def test_a_twin_of_graphs_alone_is_replayed_in_pynative_mode():
    right = drawing("elements", "elements", execution="graph", executions=("graph",))
    assert check(right, 0).draws == DrawsCompared(1)


def test_what_does_not_draw_is_not_run_again(monkeypatch):
    monkeypatch.setattr(module, "_tried", lambda *_: pytest.fail("it draws nothing"))
    assert check(drawing("elements", "elements", phase="eval"), 0).draws is None


def test_without_torch_what_draws_is_pinned(monkeypatch):
    monkeypatch.setattr(module.environment, "installed", lambda _: False)
    assert environment.installed("torch") is False
    told = module.replay(drawing("elements", "elements"), Comparable(), 0)
    assert told.draws == DrawsCompared(pinned="there is no torch here")


class Comparable:
    """What `compare` asks of a comparison in which something draws."""

    class candidate:  # noqa: N801
        built = True

    class reference:  # noqa: N801
        random_layers = (None,)


def free(candidate: str, reference: str = "Latent", **options):
    options = {"random_layers": "replay", "executions": ("pynative",), **options}
    return case(PT + reference, MS + candidate, normal(4, 5, 6), **options)


@pytest.mark.parametrize("phase", ["train", "eval"])
def test_a_network_that_draws_by_itself_is_compared_with_the_same_draws(phase):
    outcome = check(free("Latent", phase=phase), 0)
    assert outcome.passed
    assert outcome.draws == DrawsCompared(2 if phase == "train" else 1)
    assert {each.name.partition(".")[0] for each in outcome.judged.verdicts} == {
        "output", "gradient:input[0]", "gradient:mean", "gradient:spread", "gradient:back"
    }  # fmt: skip


WRONG = {
    "Variances": "mean, spread = self.mean(x), ops.exp(self.spread(x))",
    "Still": "return self.back(self.dropout(self.mean(x) + 0.0 * self.spread(x)))",
    "OfOtherLaw": "return self.back(self.dropout(mean + spread * self.noise(spread)))",
    "Uniform": "return mean + spread * ops.rand_like(spread)",
    "Dropped": "return self.dropout(self.back(mean + spread * self.noise(spread)))",
}


@pytest.mark.parametrize("candidate", WRONG)
def test_a_wrong_network_that_draws_by_itself_is_red_and_blamed_to_the_line(candidate):
    wrong = free(candidate)
    assert not check(wrong, 0).passed
    (culprit,) = diagnose(wrong, 0).culprits
    assert WRONG[candidate] in culprit.statement
    drawn = [cause.partition(":")[0] for cause in culprit.causes if "random numbers" in cause]
    told = {
        "OfOtherLaw": ["it takes the random numbers of drawing_ms.py"],
        "Uniform": ["it draws other random numbers than the original"],
    }
    assert drawn == told.get(candidate, [])


def test_draws_that_no_run_can_replay_are_refused_by_name():
    with pytest.raises(
        DeclarationError, match=r"no run can replay poisson \(drawing_pt.py:.*; pin"
    ):
        check(free("Rates", "Counted"), 0)


def test_a_host_without_torch_cannot_replay(monkeypatch):
    monkeypatch.setattr(environment, "installed", lambda name: name != "torch")
    with pytest.raises(DeclarationError, match="needs torch on this host"):
        module.replay_alone(free("Latent"), 0)
