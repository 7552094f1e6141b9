"""Data sets of MindSpore that shuffle get the reference's order, and show their own."""

import mindspore.dataset as ds
import numpy as np
import pytest

from equivalence.host.isolation import isolated
from equivalence.loaders.epochs import Epoch
from equivalence.loaders.mindspore_epochs import handed

ORDERS = [[5, 0, 3, 1, 4, 2], [1, 2, 3, 4, 5, 0], [0, 5, 4, 3, 2, 1]]


class Source:
    def __len__(self):
        return 6

    def __getitem__(self, place):
        return (np.int32(10 * place),)


class Recorder:
    """Hands these orders over."""

    def __init__(self, orders=ORDERS):
        self.given, self.epochs, self.errors = orders, [], []

    def epoch(self, law, samples, key=""):
        self.epochs.append(Epoch(key, law, samples, 1))
        return self.epochs[-1]

    def orders(self, samples):
        assert samples == 6
        return "key", self.given[len(self.epochs) :]

    def unread(self, error):
        self.errors.append(error)


def generated(**options):
    return ds.GeneratorDataset(Source(), ["x"], **options)


def read(dataset, times=2, anew=False, recorder=None):
    """What a script reads in some epochs, by one iterator or by one for each."""
    recorder = recorder or Recorder()
    rows = []
    with isolated(), handed(recorder):
        ds.config.set_seed(3)
        rows_of = dataset.create_tuple_iterator(num_epochs=times, output_numpy=True)
        for _ in range(times):
            if anew:
                rows_of = dataset.create_tuple_iterator(output_numpy=True)
            rows.append([int(each) // 10 for (batch,) in rows_of for each in batch])
    assert recorder.errors == []
    return rows, recorder.epochs


MADE = {
    "by default": lambda: generated(),
    "shuffled": lambda: generated(shuffle=True),
    "with a buffer": lambda: generated(shuffle=False).shuffle(6),
    "by a sampler": lambda: generated(sampler=ds.RandomSampler()),
    "by the script": lambda: generated(sampler=[2, 1, 0, 5, 4, 3]),
    "arrays": lambda: ds.NumpySlicesDataset([10 * n for n in range(6)], ["x"]),
    "a shard": lambda: generated(num_shards=1, shard_id=0),
    "mapped": lambda: generated().map(lambda x: x, ["x"]).map(lambda x: x),
}


@pytest.mark.parametrize("name", MADE)
def test_samples_come_in_the_reference_s_order_of_each_epoch(name):
    for anew in (False, True):
        rows, epochs = read(MADE[name]().batch(2), anew=anew)
        assert rows == ORDERS[:2]
        assert [sorted(each.order) for each in epochs] == [[*range(6)]] * 2
        assert all(each.is_drawn for each in epochs)


def test_each_new_iterator_begins_with_the_same_order_where_a_seed_is_set():
    _, (one, two) = read(generated().batch(2), anew=True)
    assert one.order == two.order
    _, (one, two) = read(generated().batch(2))
    assert one.order != two.order


def test_what_does_not_shuffle_keeps_its_order():
    rows, epochs = read(generated(shuffle=False).batch(2))
    assert rows == [[*range(6)]] * 2
    assert not any(each.is_drawn for each in epochs)


@pytest.mark.parametrize("made", [lambda: generated().take(6), lambda: generated().repeat(1)])
def test_what_chooses_among_samples_is_left_as_it_is(made):
    rows, epochs = read(made().batch(2))
    assert epochs == []
    assert rows != ORDERS[:2]


def test_without_an_order_of_the_reference_a_data_set_gives_its_own():
    rows, epochs = read(generated().batch(2), recorder=Recorder([]))
    assert rows == [each.order for each in epochs]


class Broken(ds.Sampler):
    def __iter__(self):
        raise RuntimeError("no order")


def test_an_order_that_cannot_be_read_is_told():
    recorder = Recorder()
    with isolated(), handed(recorder), pytest.raises(RuntimeError):
        next(iter(generated(sampler=Broken(6)).create_tuple_iterator()))
    assert "no order" in str(recorder.errors[0])


def test_the_part_that_a_rank_reads_is_of_its_law():
    shard = generated(num_shards=2, shard_id=1).batch(2)
    recorder = Recorder([])
    recorder.orders = lambda _: ("key", [])
    rows, epochs = read(shard, 1, recorder=recorder)
    assert epochs[0].law.part == (1, 2)
    assert epochs[0].order == rows[0]
