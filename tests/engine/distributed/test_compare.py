"""The truth of a training on several ranks, what is compared of it, and the causes told."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from torch.utils.data import DistributedSampler

from equivalence.declare.data_parallel import DataParallel, cases
from equivalence.declare.draws import integers, normal
from equivalence.distributed import compare as distributed
from equivalence.distributed import diagnose
from equivalence.distributed.compare import Sharded, compare, reference
from equivalence.distributed.diagnose import brief, full
from equivalence.distributed.launch import Rank
from equivalence.distributed.rank import RankJob, RankSample, of_rank
from equivalence.errors import DeclarationError, EquivalenceError, SideError
from equivalence.host import watch
from equivalence.host.isolation import isolated
from tests.engine.parts.training_on_ranks import whole_batch_gradients

HERE = "tests.engine.parts.training_on_ranks:"


def declared(**changes) -> DataParallel:
    known = {
        "name": "small_training",
        "reference": HERE + "step",
        "candidate": "ms_models.distributed:small_step",
        "inputs": [normal(9, 4).constant(), integers(9, high=3)],
        "batch_size": 3,
        "steps": 3,
    }
    return DataParallel(**known | changes)


def case(**changes):
    return next(cases(declared(**changes)))


@pytest.fixture(autouse=True)
def _alone():
    with isolated():
        yield
    distributed._comparisons.clear()


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"ranks": 1}, "one rank is not distributed"),
        ({"inputs": []}, "has no inputs"),
        ({"steps": 1}, "one step does not show whether the ranks stay together"),
        ({"executions": ("mpirun",)}, r"executions \['mpirun'\] not among torchrun, pynative"),
        ({"executions": ()}, "executions is empty"),
        ({"level": "never"}, "level 'never' is not among"),
    ],
)
def test_a_wrong_declaration_is_refused_with_the_reason(changes, complaint):
    with pytest.raises(DeclarationError, match=complaint):
        declared(**changes)


@pytest.mark.parametrize(("samples", "ranks"), [(7, 2), (8, 2), (7, 3), (2, 3)])
def test_ranks_read_what_pytorch_deals_out(samples, ranks):
    inputs = [normal(samples, 4).constant(), integers(samples, high=3)]
    sample = Sharded(case(inputs=inputs, ranks=ranks, steps=4, batch_size=2), 0)
    for rank in range(ranks):
        dealt = list(DistributedSampler(range(samples), ranks, rank, shuffle=False))
        read = np.concatenate(sample.read(rank))
        assert read.tolist() == (dealt * 8)[: len(read)]


def test_without_statistics_the_truth_is_that_of_the_whole_batch():
    known = reference(case(configs=[{"norm": False}]), 0)
    for name, values in whole_batch_gradients(known.sample, known.slots).items():
        for rank in (0, 1):
            got = known.expected[of_rank(f"gradient:{name}", rank)].truth
            np.testing.assert_allclose(got, values, rtol=1e-12, atol=1e-15)


def test_statistics_are_those_of_the_ranks_own_batches():
    known = reference(case(configs=[{"norm": True}], steps=2), 0)
    sample = known.sample
    weight = sample.weight("backbone.fc1.weight", (5, 4)).astype(float)
    before = sample.weight("backbone.norm.running_mean", (5,)).astype(float)
    for rank in (0, 1):
        after = before
        for step in (1, 2):
            moved = known.expected[of_rank("update[1]:backbone.fc1.weight", rank)].truth
            images = sample.inputs(step)[0][rank].astype(float)
            mean = (images @ (weight + (step - 1) * moved).T).mean(axis=0)
            after = 0.9 * after + 0.1 * mean
        got = known.expected[of_rank("buffer:backbone.norm.running_mean", rank)].truth
        np.testing.assert_allclose(got, after, rtol=1e-12)


# --- Verdicts and causes, on traces made of the truth --------------------------------------------


def right(known) -> dict[str, np.ndarray]:
    """What right ranks would leave."""
    trace = {
        name: np.asarray(expected.truth, expected.dtype)
        for name, expected in known.expected.items()
    }
    for rank in range(known.sample.twin.ranks):
        read = np.concatenate(known.sample.read(rank)).astype(np.int64)
        trace[of_rank("samples", rank)] = read
    for name in known.slots:
        if of_rank(f"update[1]:{name}", 1) in trace:
            trace[of_rank(f"apart:{name}", 1)] = np.array(0)
    return trace


@pytest.fixture
def judged(monkeypatch):
    """The comparison of a right run after an edit of its trace."""

    def run(edit):
        def traced(_, known):
            trace = right(known)
            edit(trace, known)
            return trace

        monkeypatch.setattr(distributed, "_run", traced)
        return compare(case(configs=[{"norm": True}]), 0)

    return run


def scaled(kind: str, factor: float, ranks=(0, 1)):
    def edit(trace, _):
        for name in trace:
            if name.startswith(kind) and int(name[-1]) in ranks:
                trace[name] = (trace[name] * factor).astype(trace[name].dtype)

    return edit


def own_gradients(ranks):
    def edit(trace, known):
        own = known.process.own_gradients(known.sample)
        for rank in ranks:
            for name, values in own[rank].items():
                trace[of_rank(name, rank)] = values.astype(np.float32)

    return edit


def first_for_all(kind: str):
    def edit(trace, _):
        for name in trace:
            if name.startswith(kind):
                trace[name] = trace[name.replace("@rank1", "@rank0")]

    return edit


def tail_dropped(trace, _):
    trace["samples@rank1"] = np.delete(trace["samples@rank1"], 4)


def one_apart(trace, _):
    trace["apart:backbone.fc2.bias@rank1"] = np.array(3)


def one_wrong(trace, _):
    trace["gradient:backbone.fc1.weight@rank1"] = trace["gradient:backbone.fc1.weight@rank1"][::-1]


def nothing(*_):
    pass


@pytest.mark.parametrize(
    ("edit", "causes"),
    [
        (nothing, []),
        (
            first_for_all("samples"),
            ["rank 1 reads the samples of rank 0"],
        ),
        (
            tail_dropped,
            ["rank 1 reads, from its sample number 5 on, 1, 3, 5 where it is to read 0, 1, 3, 5"],
        ),
        (
            scaled("loss[1]", 2.0, (1,)),
            ["rank 1 begins with other weights: it is not given the first rank's"],
        ),
        (
            scaled("loss[1]", 2.0),
            ["the network or its loss: the first losses are wrong in every rank"],
        ),
        (
            scaled("gradient:", 2.0),
            [
                "in rank 0 and rank 1 all 5 gradients: 2 times the mean: they are summed, "
                "not averaged"
            ],
        ),
        (
            scaled("gradient:backbone.fc2", 0.5),
            [
                "in rank 0 and rank 1 the gradients of backbone.fc2.weight, backbone.fc2.bias: "
                "1/2 of the mean: they are divided once too often"
            ],
        ),
        (
            own_gradients((1,)),
            ["in rank 1 all 5 gradients: the rank's own: they are not averaged over the ranks"],
        ),
        (one_wrong, ["in rank 1 the gradients of backbone.fc1.weight: wrong"]),
        (
            scaled("update[1]:", 2.0),
            [
                "in rank 0 and rank 1 all 5 updates after step 1: "
                "2 times as long, the number of ranks"
            ],
        ),
        (
            scaled("update[1]:", 1.5),
            ["in rank 0 and rank 1 all 5 updates after step 1: 1.5 times as long"],
        ),
        (one_apart, ["weights are not the same in all ranks at the end: backbone.fc2.bias"]),
        (
            first_for_all("buffer:"),
            [
                "the statistics of rank 1: backbone.norm.running_mean, "
                "backbone.norm.running_var; they are the first rank's"
            ],
        ),
    ],
)
def test_what_is_wrong_is_refused_and_the_cause_told(judged, edit, causes):
    found = judged(edit)
    assert not found.judgement.ill_posed
    assert found.judgement.equal == (not causes)
    assert brief(found) == [f"culprit: {cause}" for cause in causes]
    assert len(full(found)) == len(found.judgement.verdicts) + 2


def test_a_nan_in_one_rank_and_a_missing_tensor_are_errors(judged):
    def edit(trace, _):
        trace["loss[2]@rank1"] = np.float32(np.nan)
        del trace["update[3]:backbone.fc2.bias@rank0"]

    wrong = {verdict.name: verdict.problem for verdict in judged(edit).judgement.differing}
    assert wrong.keys() == {"loss[2]@rank1", "update[3]:backbone.fc2.bias@rank0"}
    assert "not finite" in wrong["loss[2]@rank1"]


def test_weights_are_compared_bit_by_bit():
    first = np.array([0.0, np.nan, 1.0, 2.0], np.float32)
    other = np.array([-0.0, np.nan, 1.0, np.nextafter(np.float32(2.0), np.float32(3.0))])
    assert distributed._count_differing(first, other.astype(np.float32)) == 2
    assert distributed._count_differing(first, first) == 0
    assert (
        distributed._count_differing(first, None)
        == distributed._count_differing(first, first[:2])
        == 4
    )


# --- Ranks ---------------------------------------------------------------------------------------


def job(**changes) -> RankJob:
    known = RankJob("torchrun", "m:f", {}, "torchrun", {}, {}, "a sample", 0, 2, 5)
    return replace(known, **changes)


@pytest.fixture
def samples(tmp_path):
    """The samples of two ranks."""
    data = [np.arange(3, dtype=np.float32).reshape(3, 1), np.arange(3, dtype=np.int32)]
    job().write(tmp_path, data, {"w": np.float32([1.0, 2.0])})
    return [RankSample(job(), rank, tmp_path) for rank in (0, 1)]


def test_a_rank_begins_with_its_own_weights_and_counts_updates_from_the_first_ones(samples):
    given = [1.0, 2.0]
    assert samples[0].weight("w", (2,)).tolist() == given
    assert samples[1].weight("w", (2,)).tolist() != given
    assert [each.initial("w", (2,)).tolist() for each in samples] == [given, given]


def test_a_rank_reads_epoch_after_epoch_and_notes_the_samples(samples):
    rank = samples[1]
    rank.loader = lambda arrays, size: iter([[v[i : i + size] for v in arrays] for i in (0, 2)])
    batches = [rank.inputs(step) for step in range(1, 6)]
    assert [labels.tolist() for _, labels in batches] == [[0, 1], [2], [0, 1], [2], [0, 1]]
    assert np.concatenate(rank.indices).tolist() == [0, 1, 2, 0, 1, 2, 0, 1]


def test_a_rank_without_any_batch_is_told(samples):
    rank = samples[1]
    rank.loader = lambda *_: iter(())
    with pytest.raises(DeclarationError, match="the loader of rank 1 gives no batch"):
        rank.inputs()


def test_a_damaged_result_is_told(tmp_path):
    rank = Rank(tmp_path, 1)
    np.savez(rank.file("npz"), loss=np.zeros(1000))
    rank.file("npz").write_bytes(rank.file("npz").read_bytes()[:500])
    with pytest.raises(SideError, match="a case: the result of rank 1 is damaged: "):
        distributed._read("a case", rank)


def test_what_the_sources_of_a_rank_reach_is_known(tmp_path):
    watch.start()
    rank = Rank(tmp_path, 0)
    np.savez(rank.file("npz"), loss=np.zeros(3))
    rank.file("reached").write_text('{"/project/nets.py": ["module tables"]}')
    assert [*distributed._read("a case", rank)] == ["loss"]
    assert watch.reached()["/project/nets.py"] == {"module tables"}


def test_no_pickle_is_run(tmp_path):
    rank = Rank(tmp_path, 0)
    np.savez(rank.file("npz"), loss=np.array([{}], object))
    with pytest.raises(SideError, match=r"damaged: .*allow_pickle"):
        distributed._read("a case", rank)


def test_a_reference_that_cannot_be_built_is_told():
    with pytest.raises(EquivalenceError, match="no attribute 'nothing'"):
        compare(case(reference=HERE + "nothing"), 0)


def test_a_step_that_lacks_what_ranks_use_is_told():
    told = r"builds a Bare without optimizer, update; a step of data parallel training has network"
    with pytest.raises(EquivalenceError, match=told):
        reference(case(reference=HERE + "Bare"), 0)


def test_statistics_that_the_ranks_lack_are_not_alike():
    run = SimpleNamespace(ranks=range(2), both=lambda name, rank: (0.0, held[name][rank]))
    held = {"alike": (np.ones(2), np.ones(2)), "none": (None, None), "one": (np.ones(2), None)}
    assert [diagnose._alike(run, [name]) for name in held] == [True, False, False]
