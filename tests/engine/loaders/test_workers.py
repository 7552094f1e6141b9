"""Workers that draw the same numbers: those of either framework, and what chance does."""

import numpy as np

from equivalence.loaders.mindspore_loader import MindSporeLoader
from equivalence.loaders.torch_loader import TorchLoader
from equivalence.loaders.workers import alike, compare_workers
from tests.engine.parts import mixed_ms, mixed_pt


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


def test_processes_of_mindspore_draw_the_same_numbers_and_threads_do_not():
    assert alike(MindSporeLoader(mixed_ms.mosaic(2)).by_workers(40))
    assert MindSporeLoader(mixed_ms.mosaic_in_threads()).by_workers(40) == []
