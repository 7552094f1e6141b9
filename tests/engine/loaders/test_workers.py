"""Workers that draw the same numbers: those of either framework, and what chance does."""

import mindspore.dataset as ds
import numpy as np
import pytest

from equivalence.loaders.mindspore_loader import MindSporeLoader
from equivalence.loaders.torch_loader import TorchLoader
from equivalence.loaders.workers import alike, compare_workers
from tests.engine.parts import mixed_ms, mixed_pt

UNSEEDED = 5489
"""The seed of MindSpore's data where nobody has set one."""


def coins(chance, seed, count=40):
    draws = np.random.default_rng(seed).random(count) < chance
    return [each.tobytes() for each in draws]


def test_workers_are_alike_where_all_draw_the_same_and_chance_does_not_explain_it():
    assert alike([coins(0.5, 0), coins(0.5, 0)])
    assert not alike([coins(0.5, 0), coins(0.5, 1)])
    assert not alike([coins(0.01, 0), coins(0.01, 0)])  # as good as constant
    assert not alike([[b"a"] * 40] * 2)
    assert not alike([])
    assert not alike([coins(0.5, 0)])


def test_one_process_has_no_workers():
    sides = TorchLoader(mixed_pt.mosaic()), MindSporeLoader(mixed_ms.mosaic())
    assert [side.by_workers(3) for side in sides] == [[], []]
    assert compare_workers(*sides) == {}


def test_a_generator_that_a_data_set_keeps_is_copied_into_each_worker_of_pytorch():
    assert alike(TorchLoader(mixed_pt.kept()).by_workers(40))
    assert not alike(TorchLoader(mixed_pt.mosaic(2)).by_workers(40))


@pytest.fixture
def seeding():
    """What sets the seed of MindSpore's data, which other tests may have left set."""
    before = ds.config.get_seed()
    yield ds.config.set_seed
    ds.config.set_seed(before)


def test_processes_of_mindspore_draw_the_same_numbers_and_threads_do_not(seeding):
    seeding(UNSEEDED)
    assert alike(MindSporeLoader(mixed_ms.mosaic(2)).by_workers(40))
    assert MindSporeLoader(mixed_ms.mosaic_in_threads()).by_workers(40) == []


def test_a_seed_gives_each_process_of_mindspore_its_own_numbers(seeding):
    seeding(3)
    sides = TorchLoader(mixed_pt.mosaic(2)), MindSporeLoader(mixed_ms.mosaic(2))
    assert not alike(sides[1].by_workers(40))
    assert compare_workers(*sides) == {"workers": None}


def test_workers_that_are_alike_are_told_with_the_cure(seeding):
    seeding(UNSEEDED)
    sides = TorchLoader(mixed_pt.mosaic(2)), MindSporeLoader(mixed_ms.mosaic(2))
    (told,) = compare_workers(*sides).values()
    assert told == (
        "the 2 workers of the candidate draw the same numbers; "
        "a seed (`mindspore.set_seed`) gives each its own"
    )
