"""Trainings on ranks, by scripts as they stand: right ones, and a mistake each, with its words."""

from dataclasses import replace

import numpy as np
import pytest

from equivalence import DeclarationError, train
from equivalence.errors import SideError
from equivalence.scripts import ranks
from equivalence.scripts.compare import Result
from equivalence.scripts.judging import Departure, Expectation, Verdict
from equivalence.scripts.ranks import Ran, RanksResult
from equivalence.scripts.steps import Call, Given, Network, Run, Step, Stored
from equivalence.structure.slots import Slot
from tests.engine.scripts.mistakes import PAIRS

# --- Both scripts under their launchers ----------------------------------------------------------


@pytest.fixture
def on_two(folder):
    """Compares a pair on two ranks, whose port may be edited."""

    def run(pair, *edits):
        for side, changes in (("torch", ()), ("mindspore", edits)):
            text = (PAIRS / f"{pair}_{side}.py").read_text()
            for old, new in changes:
                assert old in text
                text = text.replace(old, new)
            (folder / f"{pair}_{side}.py").write_text(text)
        return train(f"{pair}_torch.py", f"{pair}_mindspore.py", steps=3, ranks=2)

    return run


def test_a_right_port_is_equal_in_each_rank(on_two):
    result = on_two("ranks")
    assert result, str(result)
    assert str(result).startswith("EQUAL. ranks_mindspore.py on 2 ranks trains as ranks_torch.py")
    assert [len(each.ours.steps) for each in result.results] == [3, 3]
    assert not result.one_process


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("edits", "place", "hint"),
    [
        (
            [("(optimizer.parameters)\n", "(optimizer.parameters, mean=False)\n")],
            (1, "clipping"),
            "it is 2 times the original's: summed over the ranks, and not averaged",
        ),
        (
            [("optimizer(reducer(grads))", "optimizer(grads)")],
            (1, "clipping"),
            "it is the rank's own: not averaged over the ranks",
        ),
        (
            [("optimizer(reducer(grads))", "optimizer(tuple(g / 2 for g in reducer(grads)))")],
            (1, "clipping"),
            "it is 1/2 of the original's: divided by the number of ranks too often",
        ),
        (
            [("            send(w for w in net.get_parameters() if not w.requires_grad)\n", "")],
            (2, "update"),
            "it goes on from its own, and from the first rank's in the original",
        ),
        (
            [("    send(net.get_parameters())\n", "")],
            (1, "forward"),
            "it begins with weights of its own: the first rank's are not sent to it",
        ),
        (
            [("shard_id=get_rank()", "shard_id=1 - get_rank()")],
            (1, "data"),
            "it is the original's of rank 1",
        ),
        ([("data.batch(5)", "data.batch(5, drop_remainder=True)")], (2, "data"), ""),
    ],
)
def test_a_mistake_is_named_by_rank_step_and_stage(on_two, edits, place, hint):
    result = on_two("ranks", *edits)
    assert not result
    first = result.results[ranks._first(result.results)].verdict.departures[0]
    assert (first.step, first.stage) == place, str(result)
    assert result.hint == hint


@pytest.mark.nightly
def test_an_optimiser_that_is_cut_over_the_ranks_is_right_where_its_parts_are_sent(on_two):
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
    result = on_two("ranks", (whole, cut), (reduced, sent), *others)
    assert result, str(result)
    kept = sent[: sent.index("            for n, w")]
    result = on_two("ranks", (whole, cut), (reduced, kept), *others)
    first = result.results[0].verdict.departures[0]
    assert (first.step, first.stage, first.name) == (1, "update", "norm.bias")


@pytest.mark.nightly
def test_layers_that_are_cut_over_the_ranks_are_those_of_one_process(on_two):
    result = on_two("parts")
    assert result, str(result)
    assert str(result).endswith("one process: each of 2 ranks is compared with it")
    result = on_two("parts", ("SIZE, 1)[RANK]", "SIZE, 1)[1 - RANK]"))
    assert result.results[0].verdict.departures[0].stage == "forward"
    assert result.hint == "down.weight begins as that of rank 1, not as that of rank 0"
    result = on_two(
        "parts", ("self.sum(ops.matmul(x, self.weight.T))", "ops.matmul(x, self.weight.T)")
    )
    assert result.results[0].verdict.departures[0].stage == "forward"


@pytest.mark.nightly
def test_what_a_rank_raises_is_told_with_its_line(on_two):
    where = "            send(w for"
    raising = (
        f'            if get_rank() == 1:\n                raise OSError("no shard 4")\n{where}'
    )
    with pytest.raises(SideError) as told:
        on_two("ranks", (where, raising))
    assert "rank 1 under msrun raised SideError" in str(told.value)
    assert "raised OSError: no shard 4 after 0 steps" in str(told.value)
    assert "ranks_mindspore.py" in str(told.value)


@pytest.mark.usefixtures("folder")
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
    return Stored.of("x", np.float32(values))


def step(number, weights, gradients=None, own=None, rows=0.0):
    return Step(
        number,
        calls=[Call(0, [Given(np.float32([[rows]]))], "net.py:1", True, {"0": stored([[1.0]])})],
        losses=[np.float32(1.0)],
        gradients={f"0:{n}": stored(v) for n, v in (own or gradients or {}).items()},
        reached={f"0:{n}": stored(v) for n, v in (gradients or {}).items()},
        weights={f"0:{n}": stored(v) for n, v in weights.items()},
        averages={},
    )


def run(*steps, initial=W):
    slots = {"w": Slot((2, 2), "parameter"), "b": Slot((2,), "buffer")}
    return Run([Network("Net", slots, {"w": initial, "b": B}, [])], list(steps))


def result(theirs, ours, *departures):
    verdict = Verdict(list(departures))
    return Result("a.py", "b.py", 1, 2, theirs, ours, verdict, {}, Expectation(theirs))


def hint_of(first, theirs, ours, rank=1, others=None):
    whole = [result(*(others or (theirs, ours))), result(theirs, ours, first)]
    return ranks._hint(whole, rank, [], {})


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
    assert hint_of(Departure(1, "clipping", "w", "is off"), theirs, ours) == hint


def test_whose_statistics_a_rank_goes_on_from():
    first = Departure(2, "update", "b", "is off")
    alone = np.float32([0.3, 0.7])  # those of rank 1 after the first step
    firsts = [run(step(1, {"b": B}), step(2, {"b": 0.9 * B + 0.1})) for _ in range(2)]
    batch = np.float32([0.2, 0.4])
    sent = run(step(1, {"b": alone}), step(2, {"b": 0.9 * B + batch}))
    kept = run(step(1, {"b": alone}), step(2, {"b": 0.9 * alone + batch}))
    told = hint_of(first, sent, kept, others=firsts)
    assert told == "it goes on from its own, and from the first rank's in the original"
    told = hint_of(first, kept, sent, others=firsts)
    assert told == "it goes on from the first rank's, and from its own in the original"
    other = run(step(1, {"b": alone}), step(2, {"b": np.float32([0.9, -0.4])}))
    assert hint_of(first, kept, other, others=firsts) == ""


def test_a_batch_of_another_rank_is_known():
    theirs = [run(step(1, {"w": W}, rows=float(rank))) for rank in (0, 1)]
    first = Departure(1, "data", "input 0", "is off")
    got = [result(theirs[0], theirs[0]), result(theirs[1], theirs[0], first)]
    assert ranks._hint(got, 1, [], {}) == "it is the original's of rank 0"


def test_weights_that_no_rank_sends_are_found():
    assert ranks._apart([run(), run()], [run(), run()]) == []
    assert ranks._apart([run(), run()], [run(), run(initial=W + 1)]) == [1]
    assert ranks._apart([run(), run(initial=W + 1)], [run(), run(initial=W + 1)]) == []
    first = Departure(1, "forward", "output 0", "is off")
    told = ranks._hint([result(run(), run()), result(run(), run(), first)], 1, [1], {})
    assert told.startswith("it begins with weights of its own")


def test_weights_must_be_the_same_to_the_bit_where_the_original_s_are():
    theirs, moved = [run(step(1, {"w": W}))] * 2, np.nextafter(W, np.float32(9))
    for ours, expected in ((W, []), (moved, ["w"])):
        verdicts = [Verdict(), Verdict()]
        ranks._compare_ranks(theirs, [theirs[0], run(step(1, {"w": ours}))], verdicts, ())
        assert [each.name for each in verdicts[1].departures] == expected
    verdicts = [Verdict(), Verdict()]
    ranks._compare_ranks(theirs, [theirs[0], run(step(1, {"w": moved}))], verdicts, {"0:w"})
    assert not verdicts[1].departures


def test_a_weight_that_another_rank_updates_has_its_gradient():
    zero = np.zeros_like(W)
    sides = [run(step(1, {"w": W, "b": B}, each)) for each in ({"w": W}, {"w": zero, "b": B})]
    one, two = ranks._shared(sides)
    for each in (one, two):
        assert list(each.steps[0].reached) == ["0:w", "0:b"]
        np.testing.assert_array_equal(each.steps[0].reached["0:w"].values, W)
        np.testing.assert_array_equal(each.steps[0].reached["0:b"].values, B)


def test_a_rank_with_a_part_of_a_weight_is_judged_by_that_part():
    whole = run(step(1, {"w": W, "b": B}, {"w": 2 * W}))
    cut = ranks._cut(whole, Ran([], parts={0: {"w": (1, 1)}}), 2)
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
    assert ranks._axes(whole, ours, {}, (), 2) == {"up.weight": 0, "down.weight": 1}
    assert ranks._axes(whole, ours, {}, (), 4) == {}
    assert ranks._axes(whole, whole, {}, (), 2) == {}


def test_what_is_told_of_ranks():
    right = result(run(step(1, {"w": W})), run(step(1, {"w": W})))
    wrong = replace(right, verdict=Verdict([Departure(1, "clipping", "w", "is off", "b.py:3")]))
    told = RanksResult([right, wrong, wrong], True, "because").lines
    assert told[0] == "DIFFERENT. rank 1 of 3 of b.py departs from a.py in step 1:"
    assert told[1:4] == ["  clipping: w is off", "    port: b.py:3", "    because"]
    assert told[-3:] == [
        "rank 2 departs, too",
        "rank 0 is right",
        "the original is one process: each of 3 ranks is compared with it",
    ]
    assert RanksResult([right, wrong], False).document["ranks"][0]["equal"]
