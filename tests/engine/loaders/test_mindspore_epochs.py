"""Data sets of MindSpore that shuffle get the reference's order, and show their own."""

import mindspore.dataset as ds
import numpy as np
import pytest

from equivalence.host.isolation import isolated
from equivalence.loaders import mindspore_epochs
from equivalence.loaders.epochs import Epoch
from equivalence.loaders.mindspore_epochs import handed
from equivalence.loaders.mindspore_loader import chain, is_sized
from tests.engine.parts import record_files

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

    def reads(self, loader, count):
        sized = is_sized(chain(loader)[-1])
        assert count == (loader.get_dataset_size() if sized else None)
        return lambda row: row


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


def endless():
    place = 0
    while True:
        yield (np.int32(10 * place),)
        place += 1


@pytest.mark.parametrize("options", [{}, {"shuffle": False}])
def test_what_a_generator_gives_has_no_order_also_where_it_never_ends(options):
    recorder = Recorder()
    with isolated(), handed(recorder):
        rows = ds.GeneratorDataset(endless, ["x"], **options).create_tuple_iterator()
        read_first = [int(next(rows)[0]) // 10 for _ in range(4)]
    assert read_first == [0, 1, 2, 3]
    assert (recorder.errors, recorder.epochs) == ([], [])


def test_a_generator_that_is_shuffled_behind_it_gets_the_order_of_the_reference():
    def counted():
        for place in range(6):
            yield (np.int32(10 * place),)

    rows, epochs = read(ds.GeneratorDataset(counted, ["x"]).shuffle(6).batch(2))
    assert rows == ORDERS[:2]
    assert [each.law.drawn for each in epochs] == [True, True]


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


class OfTwelve(Recorder):
    """Hands orders of twelve samples over, in the number that a part has."""

    def orders(self, samples):
        self.samples = samples
        return "key", [[*range(12)][::-1][:samples], [3, 1, 2, 0, *range(4, 12)][:samples]]


SOURCES = {
    "MindRecord, as it is": lambda folder: record_files.mind(folder),
    "MindRecord, shuffled": lambda folder: record_files.mind(folder, shuffle=True),
    "MindRecord, a part": lambda folder: record_files.mind(folder, num_shards=2, shard_id=0),
    "TFRecord": lambda folder: record_files.tensorflow(folder),
    "TFRecord, with a buffer": lambda folder: record_files.tensorflow(
        folder, shuffle=False
    ).shuffle(12),
}


@pytest.mark.parametrize("name", SOURCES)
def test_a_source_that_takes_no_order_of_others_gives_its_samples_in_it(tmp_path, name):
    recorder = OfTwelve()
    with isolated(), handed(recorder):
        rows = SOURCES[name](tmp_path).create_dict_iterator(2, output_numpy=True)
        epochs = [[int(row["y"].item()) for row in rows] for _ in range(2)]
    assert recorder.errors == []
    assert epochs == recorder.orders(recorder.samples)[1]
    assert recorder.samples == (6 if "part" in name else 12)
    assert all(each.is_drawn for each in recorder.epochs)


@pytest.mark.parametrize(
    ("most", "options", "told"),
    [
        (5, {}, "TFRecordDataset of 12 samples takes no order of others"),
        (
            12,
            {"num_shards": 2, "shard_id": 0, "shard_equal_rows": True},
            "has samples of its own part alone",
        ),
    ],
)
def test_an_order_that_a_source_cannot_take_is_told(tmp_path, monkeypatch, most, options, told):
    monkeypatch.setattr(mindspore_epochs, "MOST_HELD", most)
    recorder = OfTwelve()
    with isolated(), handed(recorder):
        data = record_files.tensorflow(tmp_path, shuffle=True, **options)
        assert [*data.create_tuple_iterator()]
    assert told in str(recorder.errors[0])


def test_a_batch_is_the_recorder_s_to_change():
    class Changing(Recorder):
        def reads(self, loader, count):
            assert (type(loader), count) == (ds.BatchDataset, 3)
            return lambda row: [10 * each for each in row]

    data = generated(shuffle=False).batch(2)
    with isolated(), handed(Changing()):
        rows = [*data.create_tuple_iterator(["x"], num_epochs=1, output_numpy=True)]
    assert np.concatenate(rows, axis=None).tolist() == [100 * n for n in range(6)]
