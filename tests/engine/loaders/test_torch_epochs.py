"""The epochs of loaders of PyTorch, as a training reads them."""

import pytest
import torch
from torch.utils import data

from equivalence.loaders import torch_epochs
from equivalence.loaders.epochs import Epoch
from equivalence.loaders.torch_epochs import noted

SAMPLES = data.TensorDataset(torch.arange(6))


def read(loader, times=2, batches=None):
    """The epochs that were noted, and the samples that came out."""
    epochs, rows = [], []

    def note(law, samples):
        epochs.append(Epoch("", law, samples, 1))
        return epochs[-1]

    with noted(note):
        for _ in range(times):
            for number, (batch,) in enumerate(loader):
                if number == batches:
                    break
                rows += batch.flatten().tolist()
    return epochs, rows


@pytest.mark.parametrize("batch_size", [2, None])
def test_the_order_of_each_epoch_is_noted(batch_size):
    epochs, rows = read(data.DataLoader(SAMPLES, batch_size, shuffle=True))
    assert [each for epoch in epochs for each in epoch.order] == rows
    assert sorted(epochs[0].order) == [*range(6)]
    assert [each.samples for each in epochs] == [6, 6]
    assert all(each.law.drawn for each in epochs)


def test_an_epoch_that_is_left_is_noted_as_far_as_it_came():
    epochs, rows = read(data.DataLoader(SAMPLES, 2, shuffle=True), batches=1)
    assert [each.order[:2] for each in epochs] == [rows[:2], rows[2:]]


def test_a_sampler_of_ranks_repeats_its_order_unless_it_is_told_the_epoch():
    sampler = data.DistributedSampler(SAMPLES, 1, 0)
    epochs, _ = read(data.DataLoader(SAMPLES, 2, sampler=sampler))
    assert epochs[0].order == epochs[1].order != sorted(epochs[0].order)
    assert epochs[0].law.part == (0, 1)


class Own(data.Sampler):
    """A sampler of a script, which must not be asked more often than the script does."""

    asked = 0

    def __len__(self):
        return 6

    def __iter__(self):
        Own.asked += 1
        return iter(range(6))


def test_what_does_not_shuffle_and_a_sampler_of_the_script_are_left_to_their_values():
    assert read(data.DataLoader(SAMPLES, 2))[0] == []
    assert read(data.DataLoader(SAMPLES, batch_sampler=data.BatchSampler(Own(), 2, False)))[0] == []
    assert Own.asked == 2


@pytest.mark.parametrize("workers", [0, 1])
def test_each_batch_goes_through_what_is_given_for_its_epoch(workers):
    begun = []

    def begins(loader, count):
        begun.append((loader, count))
        return lambda batch: [10 * each for each in batch]

    loader = data.DataLoader(SAMPLES, 4, num_workers=workers)
    with torch_epochs.read(begins):
        rows = [[batch.tolist() for (batch,) in loader] for _ in range(2)]
    assert rows == [[[0, 10, 20, 30], [40, 50]]] * 2
    assert begun == [(loader, 2)] * 2
    assert [batch.tolist() for (batch,) in loader] == [[0, 1, 2, 3], [4, 5]]
