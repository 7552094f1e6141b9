"""Ranks beside one process: parts of batches, means over ranks, and samples that no rank reads."""

import numpy as np
import pytest

from equivalence.errors import DeclarationError
from equivalence.loaders.epochs import Epoch
from equivalence.loaders.orders import Order
from equivalence.ranks import process, whole
from equivalence.ranks.compare import on_ranks
from equivalence.ranks.process import Ran
from equivalence.scripts.judging import Expectation, RunVerdict
from equivalence.scripts.running import ScriptTraining
from equivalence.scripts.steps import (
    WHOLE,
    KeptTensor,
    ScriptNetwork,
    Step,
    StepCall,
    StepInput,
    TrainingRun,
)
from equivalence.structure.slots import Slot

X = np.random.default_rng(0).normal(size=(4, 2)).astype("float32")
Y = np.array([0, 1, 1, 0])
W = np.float32([[1.0, 2.0], [3.0, 4.0]])


def stored(values):
    return KeptTensor.of("x", np.float32(values))


def run(*, rows=None, gradients=W, loss=2.0, marked=True, reached=W, weights=W):
    """A run of one step whose network doubles its input."""
    taken = X if rows is None else X[rows]
    labels = Y if rows is None else Y[rows]
    own = [*rows] if rows is not None and marked else None
    call = StepCall(0, [StepInput(taken)], "net.py:1", outputs={"0": stored(2 * taken)}, rows=own)
    step = Step(
        1,
        calls=[call],
        targets=[StepCall(-1, [StepInput(labels)], "net.py:2", rows=own)],
        losses=[np.float32(loss)],
        gradients={"0:w": stored(gradients)},
        reached={"0:w": stored(reached)},
        weights={"0:w": stored(weights)},
        averages={},
    )
    return TrainingRun(
        [ScriptNetwork("Net", {"w": Slot((2, 2), "parameter")}, {"w": W}, [])], [step]
    )


def parts(**options):
    return [run(rows=[0, 2], **options), run(rows=[1, 3], **options)]


def judged(theirs, ours):
    averaged = whole.averaged(theirs, ours)
    pairs = zip(averaged, ours, strict=True)
    verdicts = [Expectation(whole.of_samples(theirs, own)).judge(one) for one, own in pairs]
    whole.compare_samples(theirs, ours, verdicts)
    return [[(each.stage, each.name) for each in verdict.departures] for verdict in verdicts]


def test_ranks_with_their_samples_are_right_where_their_means_are():
    ours = parts()
    ours[0].steps[0].losses, ours[1].steps[0].losses = [np.float32(1.5)], [np.float32(2.5)]
    ours[0].steps[0].gradients = {"0:w": stored(W - 1)}
    ours[1].steps[0].gradients = {"0:w": stored(W + 1)}
    assert whole.is_cut(ours)
    assert judged(run(), ours) == [[], []]


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"gradients": W + 1}, ("gradients", "w")),
        ({"loss": 3.0}, ("loss", "loss")),
        ({"reached": 2 * W}, ("clipping", "w")),
        ({"weights": W + 1}, ("update", "w")),
    ],
)
def test_what_is_not_the_original_s_on_ranks_departs(options, place):
    assert judged(run(), parts(**options)) == [[place], [place]]


def test_another_target_of_a_sample_departs():
    ours = parts()
    ours[1].steps[0].targets[0].inputs = [StepInput(1 - Y[[1, 3]])]
    assert judged(run(), ours) == [[], [("data", "target")]]


def test_losses_that_add_up_are_sums_and_that_is_told():
    ours = whole.averaged(run(), parts(loss=1.0, gradients=W / 2))
    assert ours[0].notes == [whole.SUMS]
    assert float(ours[0].steps[0].losses[0]) == 2.0
    np.testing.assert_array_equal(ours[1].steps[0].gradients["0:w"].values, W)


def test_samples_that_no_rank_reads_depart():
    twice = [run(rows=[0, 2]), run(rows=[0, 1])]
    verdicts = [RunVerdict(), RunVerdict()]
    whole.compare_samples(run(), twice, verdicts)
    (departure,) = verdicts[1].departures
    assert (departure.stage, departure.name) == ("data", "samples")
    assert (
        departure.told
        == "of the ranks: no rank reads 1 of the original's 4, and 1 sample is read once more"
    )
    verdicts = [RunVerdict(), RunVerdict()]
    whole.compare_samples(run(), parts(), verdicts)
    assert not any(each.departures for each in verdicts)


def test_outputs_that_are_too_large_to_be_cut_are_told():
    theirs = run()
    large = np.zeros((4, WHOLE), "float32")
    theirs.steps[0].calls[0].outputs["1"] = stored(large)
    part = whole.of_samples(theirs, run(rows=[0, 2]))
    assert [*part.steps[0].calls[0].outputs] == ["0"]
    assert part.notes == ["not compared, for they are large: output 1"]


def test_ranks_together_are_one_process():
    ranks = [run(rows=[0, 2], marked=False, loss=1.0), run(rows=[1, 3], marked=False, loss=3.0)]
    ranks[0].steps[0].gradients = {"0:w": stored(W - 1)}
    ranks[1].steps[0].gradients = {"0:w": stored(W + 1)}
    together = whole.together(ranks)
    rows = [0, 2, 1, 3]
    np.testing.assert_array_equal(together.steps[0].calls[0].inputs[0].values, X[rows])
    np.testing.assert_array_equal(together.steps[0].targets[0].inputs[0].values, Y[rows])
    np.testing.assert_array_equal(together.steps[0].calls[0].outputs["0"].values, 2 * X[rows])
    assert float(together.steps[0].losses[0]) == 2.0
    np.testing.assert_array_equal(together.steps[0].gradients["0:w"].values, W)


def test_what_all_ranks_share_is_no_sample_s():
    mask = np.ones((2, 2), "float32")
    ranks = [run(rows=[0, 2], marked=False), run(rows=[1, 3], marked=False)]
    for each in ranks:
        each.steps[0].calls[0].inputs.append(StepInput(mask))
    together = whole.together(ranks)
    np.testing.assert_array_equal(together.steps[0].calls[0].inputs[1].values, mask)


def test_ranks_that_part_stand_for_no_one_process():
    whole.demand_alike(parts(), ValueError)
    with pytest.raises(ValueError, match="its ranks update w by other gradients in step 1"):
        whole.demand_alike([run(), run(reached=W + 1)], ValueError)


def test_orders_of_ranks_and_of_one_process():
    one = TrainingRun(epochs=[Epoch("a.py:1", Order(True), 6, 1, [5, 3, 1, 0, 2, 4])])
    mine = whole.shared_out(one, 1, 2).epochs
    assert [(each.samples, each.order, each.law.part) for each in mine][1] == (3, [3, 0, 4], (1, 2))
    ranks = [
        TrainingRun(epochs=[whole.shared_out(one, rank, 2).epochs[1]], steps=[]) for rank in (0, 1)
    ]
    (epoch,) = whole.together(ranks).epochs
    assert (epoch.samples, epoch.order) == (6, one.epochs[0].order)


# --- From end to end, with runs that are made here in the place of processes ---------------------


@pytest.fixture
def launched(monkeypatch, tmp_path):
    """Compares runs of the original's ranks with those of the port's."""
    monkeypatch.chdir(tmp_path)
    for name in ("t.py", "m.py"):
        (tmp_path / name).touch()

    def compare(theirs, ours, met=True):
        seen = []

        def run(job):
            seen.append((job.training.role, job.ranks, job.whole))
            if job.training.role == "reference":
                return [Ran([each] * len(job.noises), met) for each in theirs]
            return [Ran([each]) for each in ours]

        monkeypatch.setattr(process, "run", run)
        sides = ScriptTraining("reference", "t.py"), ScriptTraining("candidate", "m.py")
        return on_ranks(*sides, 1, (len(theirs), len(ours)), {}), seen

    return compare


def test_an_original_of_one_process_beside_two_ranks(launched):
    result, seen = launched([run()], parts(), met=False)
    assert result, str(result)
    assert result.cut
    assert seen == [("reference", 1, False), ("candidate", 2, True)]
    assert str(result).startswith("EQUAL. m.py on 2 ranks trains as t.py does in 1 step")
    assert "by its samples of each batch" in str(result)


@pytest.mark.parametrize(
    ("theirs", "ours", "place", "hint"),
    [
        (
            [run()],
            parts(gradients=W, reached=2 * W),
            ("clipping", "w"),
            "it is 2 times the original's: summed over the ranks, and not averaged",
        ),
        (
            [run()],
            [run(rows=[0, 2]), run(rows=[0, 2])],
            ("data", "samples"),
            "rank 1 has the samples of rank 0",
        ),
    ],
)
def test_mistakes_beside_one_process(launched, theirs, ours, place, hint):
    result, _ = launched(theirs, ours, met=False)
    first = result.results[result.first].verdict.departures[0]
    assert not result
    assert (first.stage, first.name) == place
    assert result.hint == hint


def test_a_port_of_one_process_beside_two_ranks(launched):
    ranks = [run(rows=rows, marked=False) for rows in ([0, 2], [1, 3])]
    (port,) = [run(rows=[0, 2, 1, 3], marked=False)]
    result, seen = launched(ranks, [port])
    assert result, str(result)
    assert seen == [("reference", 2, False), ("candidate", 1, True)]
    assert str(result).startswith("EQUAL. m.py trains as t.py on 2 ranks does in 1 step")
    assert str(result).endswith("it is compared with the original's 2 ranks together")
    result, _ = launched(ranks, [run(rows=[0, 2, 1, 3], marked=False, loss=4.0)])
    assert [each.stage for each in result.results[0].verdict.departures] == ["loss"]


def test_one_process_on_both_sides_needs_no_ranks(launched):
    with pytest.raises(DeclarationError, match="leave out the ranks"):
        launched([run(), run()], [run()], met=False)


def test_weights_of_its_own_on_a_rank_beside_one_process_are_told(launched):
    ours = parts()
    ours[1].networks[0].initial = {"w": W + 1}
    ours[1].steps[0].calls[0].outputs = {"0": stored(np.ones((2, 2)))}
    result, seen = launched([run()], ours, met=False)
    assert ("candidate", 2, True) in seen[2:]
    assert result.hint == "it begins with weights of its own: the first rank's are not sent to it"
