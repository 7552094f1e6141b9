"""Trainings on ranks, by scripts as they stand: right ones, and a mistake each, with its words."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from equivalence import DeclarationError, train
from equivalence.errors import SideError
from equivalence.ranks import compare, parts, process
from equivalence.ranks.hints import hint_of
from equivalence.ranks.result import RanksResult
from equivalence.scripts.compare import TrainingsResult
from equivalence.scripts.judging import Expectation, RunVerdict, StepDeparture
from equivalence.scripts.steps import (
    KeptTensor,
    ScriptNetwork,
    Step,
    StepCall,
    StepInput,
    TrainingRun,
)
from equivalence.structure.slots import Slot
from tests.engine.ranks.mistakes import BROADCAST, STATISTICS

# --- Both scripts under their launchers ----------------------------------------------------------


def test_a_right_port_is_equal_in_each_rank(on_ranks):
    result = on_ranks("ranks")
    assert result, str(result)
    assert str(result).startswith("EQUAL. ranks_mindspore.py on 2 ranks trains as ranks_torch.py")
    assert [len(each.ours.steps) for each in result.results] == [3, 3]
    assert not result.one_process


@pytest.mark.nightly
def test_statistics_of_each_rank_are_right_where_the_original_sends_none(on_ranks):
    result = on_ranks("ranks", (STATISTICS, ""), reference=[BROADCAST])
    assert result, str(result)


@pytest.mark.nightly
def test_the_first_layer_that_departs_on_a_rank_is_named(on_ranks):
    result = on_ranks("ranks", ("ops.tanh(", "ops.sigmoid("))
    rank = result.results[result.first]
    assert rank.verdict.departures[0].stage == "forward"
    assert rank.culprit.told == "the network's code before fc2 (Linear)", str(result)


@pytest.mark.nightly
def test_ranks_with_their_samples_are_right_beside_one_process(on_ranks):
    result = on_ranks("whole", ranks=(1, 2))
    assert result, str(result)
    assert result.cut
    assert result.one_process
    assert str(result).endswith("losses and gradients by those of all ranks together")
    assert result.results[0].verdict.notes == []


@pytest.mark.nightly
def test_one_process_is_right_beside_the_ranks_of_the_original(on_ranks):
    result = on_ranks("joined", ranks=(2, 1))
    assert result, str(result)
    assert str(result).startswith("EQUAL. joined_mindspore.py trains as joined_torch.py on 2 ranks")


@pytest.mark.nightly
def test_an_optimiser_that_is_cut_over_the_ranks_is_right_where_its_parts_are_sent(on_ranks):
    whole = "    optimizer = nn.SGD(net.trainable_params(), 0.1, momentum=0.9)\n"
    cut = """    every = net.trainable_params()
    mine = [w for n, w in enumerate(every) if n % get_group_size() == get_rank()]
    optimizer = nn.SGD(mine, 0.1, momentum=0.9)
"""
    reduced = "            optimizer(reducer(grads))\n"
    sent = """            kept = {w.name: g for w, g in zip(every, reducer(grads))}
            optimizer(tuple(kept[w.name] for w in mine))
            for n, w in enumerate(every):
                ops.assign(w, ops.Broadcast(n % get_group_size())((w.value(),))[0])
"""
    others = [("DistributedGradReducer(optimizer.parameters)", "DistributedGradReducer(every)")]
    others += [("None, optimizer.parameters)", "None, ms.ParameterTuple(every))")]
    result = on_ranks("ranks", (whole, cut), (reduced, sent), *others)
    assert result, str(result)
    kept = sent[: sent.index("            for n, w")]
    result = on_ranks("ranks", (whole, cut), (reduced, kept), *others)
    first = result.results[0].verdict.departures[0]
    assert (first.step, first.stage, first.name) == (1, "update", "norm.bias")


@pytest.mark.nightly
def test_layers_that_are_cut_over_the_ranks_are_those_of_one_process(on_ranks):
    result = on_ranks("parts")
    assert result, str(result)
    assert str(result).endswith("one process: each of 2 ranks is compared with it")
    result = on_ranks("parts", ("SIZE, 1)[RANK]", "SIZE, 1)[1 - RANK]"))
    assert result.results[0].verdict.departures[0].stage == "forward"
    assert result.hint == "down.weight begins as that of rank 1, not as that of rank 0"
    result = on_ranks(
        "parts", ("self.sum(ops.matmul(x, self.weight.T))", "ops.matmul(x, self.weight.T)")
    )
    assert result.results[0].verdict.departures[0].stage == "forward"


@pytest.mark.nightly
def test_what_a_rank_raises_is_told_with_its_line(on_ranks):
    where = "            send(w for"
    raising = (
        f'            if get_rank() == 1:\n                raise OSError("no shard 4")\n{where}'
    )
    with pytest.raises(SideError) as told:
        on_ranks("ranks", (where, raising))
    words = "the candidate ranks_mindspore.py: rank 1 under msrun raised OSError: no shard 4"
    assert f"{words} after 0 steps" in str(told.value)
    assert "ranks_mindspore.py" in str(told.value)


@pytest.mark.parametrize(
    ("given", "count", "told"),
    [("a.py", 1, "ranks is 1; one process is run without it"), (print, 2, "give a script or")],
)
def test_what_cannot_be_run_on_ranks_is_a_sentence(given, count, told):
    with pytest.raises(DeclarationError, match=told):
        train(given, "b.py", ranks=count)


# --- What is compared, and what explains it, of runs that are made here ---------------------------

W, B = np.float32([[1.0, 2.0], [3.0, 4.0]]), np.float32([0.5, 0.25])


def stored(values):
    return KeptTensor.of("x", np.float32(values))


def step(number, weights, gradients=None, own=None, rows=0.0):
    return Step(
        number,
        calls=[
            StepCall(
                0, [StepInput(np.float32([[rows]]))], "net.py:1", outputs={"0": stored([[1.0]])}
            )
        ],
        losses=[np.float32(1.0)],
        gradients={f"0:{n}": stored(v) for n, v in (own or gradients or {}).items()},
        reached={f"0:{n}": stored(v) for n, v in (gradients or {}).items()},
        weights={f"0:{n}": stored(v) for n, v in weights.items()},
        averages={},
    )


def run(*steps, initial=W):
    slots = {"w": Slot((2, 2), "parameter"), "b": Slot((2,), "buffer")}
    return TrainingRun([ScriptNetwork("Net", slots, {"w": initial, "b": B}, [])], list(steps))


def result(theirs, ours, *departures):
    verdict = RunVerdict(list(departures))
    return TrainingsResult("a.py", "b.py", 1, 2, theirs, ours, verdict, {}, Expectation(theirs))


def hinted(first, theirs, ours, rank=1, others=None):
    whole = [result(*(others or (theirs, ours))), result(theirs, ours, first)]
    return hint_of(whole, rank, [], {}, (theirs, ours), 2)


@pytest.mark.parametrize("which", ["plain", "noisy"])
def test_ranks_whose_gradients_part_stand_for_no_process_but_those_of_noisy_runs_may(
    monkeypatch, which
):
    def of_rank(given):
        return run(step(1, {"w": W, "b": B}, {"w": given, "b": B}))

    apart = [process.Ran([of_rank(W)]), process.Ran([of_rank(W + 1e-6)])]
    alike = [process.Ran([of_rank(W)]), process.Ran([of_rank(W)])]
    left = iter([apart] if which == "plain" else [alike, apart])
    monkeypatch.setattr(process, "run", lambda _: next(left))
    sides = SimpleNamespace(role="reference", name="a.py"), SimpleNamespace(role="candidate")
    pair = compare._TrainingPair(*sides, (2, 1), {}, (), False, lambda _: None)
    if which == "plain":
        with pytest.raises(DeclarationError, match="update w by other gradients in step 1"):
            pair._refer("the reference", 1)
    else:
        pair._refer("the reference", 1)
        ((found,),) = pair._refer("the reference with noise", 1, given=pair.own)
        assert len(found.steps) == 1


@pytest.mark.parametrize(
    ("got", "own", "hint"),
    [
        (2 * W, W + 1, "it is 2 times the original's: summed over the ranks, and not averaged"),
        (
            W / 2,
            W + 1,
            "it is 1/2 of the original's: divided by the number of ranks too often",
        ),
        (W + 1, W + 1, "it is the rank's own: not averaged over the ranks"),
        (W * W, W + 1, ""),
    ],
)
def test_what_wrong_gradients_are(got, own, hint):
    theirs = run(step(1, {"w": W}, {"w": W}, {"w": W + 1}))
    ours = run(step(1, {"w": W}, {"w": got}, {"w": own}))
    assert hinted(StepDeparture(1, "clipping", "w", "is off"), theirs, ours) == hint


def test_whose_statistics_a_rank_goes_on_from():
    first = StepDeparture(2, "update", "b", "is off")
    alone = np.float32([0.3, 0.7])  # those of rank 1 after the first step
    firsts = [run(step(1, {"b": B}), step(2, {"b": 0.9 * B + 0.1})) for _ in range(2)]
    batch = np.float32([0.2, 0.4])
    sent = run(step(1, {"b": alone}), step(2, {"b": 0.9 * B + batch}))
    kept = run(step(1, {"b": alone}), step(2, {"b": 0.9 * alone + batch}))
    told = hinted(first, sent, kept, others=firsts)
    assert told == "it goes on from its own, and from the first rank's in the original"
    told = hinted(first, kept, sent, others=firsts)
    assert told == "it goes on from the first rank's, and from its own in the original"
    other = run(step(1, {"b": alone}), step(2, {"b": np.float32([0.9, -0.4])}))
    assert hinted(first, kept, other, others=firsts) == ""


def test_a_batch_of_another_rank_is_known():
    theirs = [run(step(1, {"w": W}, rows=float(rank))) for rank in (0, 1)]
    first = StepDeparture(1, "data", "input 0", "is off")
    got = [result(theirs[0], theirs[0]), result(theirs[1], theirs[0], first)]
    told = hint_of(got, 1, [], {}, (theirs[1], theirs[0]), 2)
    assert told == "it is the original's of rank 0"


def test_weights_that_no_rank_sends_are_found():
    assert compare._apart([run(), run()], [run(), run()]) == []
    assert compare._apart([run(), run()], [run(), run(initial=W + 1)]) == [1]
    assert compare._apart([run(), run(initial=W + 1)], [run(), run(initial=W + 1)]) == []
    first = StepDeparture(1, "forward", "output 0", "is off")
    got = [result(run(), run()), result(run(), run(), first)]
    told = hint_of(got, 1, [1], {}, (run(), run()), 2)
    assert told.startswith("it begins with weights of its own")


def test_weights_must_be_the_same_to_the_bit_where_the_original_s_are():
    theirs, moved = [run(step(1, {"w": W}))] * 2, np.nextafter(W, np.float32(9))
    for ours, expected in ((W, []), (moved, ["w"])):
        verdicts = [RunVerdict(), RunVerdict()]
        compare._compare_ranks(theirs, [theirs[0], run(step(1, {"w": ours}))], verdicts, ())
        assert [each.name for each in verdicts[1].departures] == expected
    verdicts = [RunVerdict(), RunVerdict()]
    compare._compare_ranks(theirs, [theirs[0], run(step(1, {"w": moved}))], verdicts, {"0:w"})
    assert not verdicts[1].departures


def test_a_weight_that_another_rank_updates_has_its_gradient():
    zero = np.zeros_like(W)
    sides = [run(step(1, {"w": W, "b": B}, each)) for each in ({"w": W}, {"w": zero, "b": B})]
    one, two = compare._shared(sides)
    for each in (one, two):
        assert list(each.steps[0].reached) == ["0:w", "0:b"]
        np.testing.assert_array_equal(each.steps[0].reached["0:w"].values, W)
        np.testing.assert_array_equal(each.steps[0].reached["0:b"].values, B)


def test_a_rank_with_a_part_of_a_weight_is_judged_by_that_part():
    whole = run(step(1, {"w": W, "b": B}, {"w": 2 * W}))
    cut = parts.cut(whole, {0: {"w": (1, 1)}}, 2)
    np.testing.assert_array_equal(cut.steps[0].weights["0:w"].values, W[:, 1:])
    np.testing.assert_array_equal(cut.steps[0].reached["0:w"].values, 2 * W[:, 1:])
    assert cut.steps[0].weights["0:w"].shape == (2, 1)
    np.testing.assert_array_equal(cut.steps[0].weights["0:b"].values, B)
    assert Expectation(cut).judge(cut).departures == []
    other = run(step(1, {"w": W[:, :1], "b": B}, {"w": 2 * W[:, :1]}))
    assert Expectation(cut).judge(other).departures


def test_the_axis_along_which_a_weight_is_cut():
    whole = {"up.weight": Slot((8, 6), "parameter"), "down.weight": Slot((3, 8), "parameter")}
    ours = {"up.weight": Slot((4, 6), "parameter"), "down.weight": Slot((3, 4), "parameter")}
    assert parts._axes(whole, ours, {}, (), 2) == {"up.weight": 0, "down.weight": 1}
    assert parts._axes(whole, ours, {}, (), 4) == {}
    assert parts._axes(whole, whole, {}, (), 2) == {}


def test_what_is_told_of_ranks():
    right = result(run(step(1, {"w": W})), run(step(1, {"w": W})))
    wrong = replace(
        right, verdict=RunVerdict([StepDeparture(1, "clipping", "w", "is off", "b.py:3")])
    )
    told = RanksResult([right, wrong, wrong], True, hint="because").lines
    assert told[0] == "DIFFERENT. rank 1 of 3 of b.py departs from a.py in step 1:"
    assert told[1:4] == ["  clipping: w is off", "    port: b.py:3", "    because"]
    assert told[-3:] == [
        "rank 2 departs, too",
        "rank 0 is right",
        "the original is one process: each of 3 ranks is compared with it",
    ]
    assert RanksResult([right, wrong], False, 2).document["ranks"][0]["equal"]
