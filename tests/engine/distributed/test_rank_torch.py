"""Trainings on ranks as people write them, under both launchers: right ones, and a mistake each.

Of what ranks are told, `test_compare.py` holds the words, without a launcher.
"""

import pytest

from equivalence.declare.data_parallel import DataParallel, cases
from equivalence.declare.draws import integers, normal
from equivalence.distributed import compare as distributed
from equivalence.distributed.compare import compare
from equivalence.distributed.diagnose import brief
from equivalence.errors import SideError
from equivalence.host.isolation import isolated

PARTS = "tests.engine.parts.ranks_"


@pytest.fixture(autouse=True)
def _alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where logs of failures are kept
    with isolated():
        yield
    distributed._comparisons.clear()


def case(execution, candidate="step", statistics="own", **config):
    """A training whose ranks have six samples each: a batch of four, and one of two."""
    declared = DataParallel(
        "ranks",
        PARTS + "torch:Step",
        f"{PARTS}mindspore:{candidate}",
        [normal(11, 4).constant(), integers(11, high=3)],
        batch_size=4,
        steps=3,
        configs=[config],
        executions=(execution,),
        statistics=statistics,
    )
    return next(cases(declared))


def other(monkeypatch, execution, statistics, **config):
    """The same run, judged with statistics that are declared otherwise."""
    kept = distributed._comparisons[0][1].trace
    monkeypatch.setattr(distributed, "_run", lambda *_: kept)
    return compare(case(execution, statistics=statistics, **config), 0)


def test_what_distributed_data_parallel_does_by_itself_is_right_as_it_is_declared(monkeypatch):
    found = compare(case("torchrun"), 0)
    (cause,) = brief(found)
    assert cause.startswith("culprit: the statistics of rank 1: backbone.norm.running_mean")
    assert cause.endswith("declare statistics='first', or give it broadcast_buffers=False")
    found = other(monkeypatch, "torchrun", "first")
    assert not found.judgement.differing, brief(found)


@pytest.mark.nightly
def test_a_port_whose_ranks_keep_their_own_statistics_is_right_where_the_original_s_do(monkeypatch):
    found = compare(case("pynative"), 0)
    assert not found.judgement.differing, brief(found)
    found = other(monkeypatch, "pynative", "first")
    (cause,) = brief(found)
    assert cause.endswith("goes on from its own, and is to get the first rank's before each step")


@pytest.mark.nightly
def test_a_port_that_sends_the_first_rank_s_statistics_is_right():
    found = compare(case("pynative", "sending", "first"), 0)
    assert not found.judgement.differing, brief(found)


@pytest.mark.nightly
def test_gradients_that_are_accumulated_without_sums_are_right_if_the_last_pass_sums():
    found = compare(case("torchrun", norm=False, accumulated=2), 0)
    assert not found.judgement.differing, brief(found)


@pytest.mark.nightly
def test_gradients_that_are_never_summed_are_told():
    found = compare(case("torchrun", norm=False, accumulated=2, never=True), 0)
    (cause,) = brief(found)
    assert cause.endswith("the rank's own: they are not averaged over the ranks")


@pytest.mark.nightly
def test_an_optimiser_that_keeps_its_state_in_parts_is_right():
    found = compare(case("torchrun", norm=False, sharded=True), 0)
    assert not found.judgement.differing, brief(found)


@pytest.mark.nightly
def test_an_optimiser_whose_parts_are_not_sent_is_told():
    causes = brief(compare(case("pynative", "sharded", norm=False), 0))
    assert any("weights are not the same in all ranks at the end" in cause for cause in causes)


def test_an_error_of_a_user_s_data_set_is_told_with_its_own_line():
    with pytest.raises(SideError) as told:
        compare(case("pynative", "failing"), 0)
    assert "OSError: shard 4 is not there" in str(told.value)
    assert 'raise OSError("shard 4 is not there")' in str(told.value)


@pytest.mark.nightly
def test_a_synchronised_norm_has_no_kernel_here_and_says_so():
    with pytest.raises(SideError, match="SyncBatchNorm layers only work with GPU modules"):
        compare(case("torchrun", synchronised=True), 0)
