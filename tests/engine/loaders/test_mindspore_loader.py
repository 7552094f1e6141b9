"""A data set of MindSpore, taken apart: what is read of it, and that it is left as it was."""

import mindspore.dataset as ds
import numpy as np
import pytest
from mindspore.dataset import vision

from equivalence.loaders.mindspore_loader import MindSporeLoader
from tests.engine.parts import loaders, record_files


def test_a_data_set_tells_its_stages_columns_and_sizes():
    side = MindSporeLoader(loaders.ms_loader(train=True, shuffle=True))
    drawn = ("RandomCrop", "RandomHorizontalFlip")
    assert side.stages == ("read", "ToPIL", *drawn, "Resize", "ToTensor", "Normalize", "batch")
    assert side.random == drawn
    assert (side.samples, side.batches, side.batch_size) == (14, 4, 4)
    assert side.columns == ["image", "label"]
    assert side.shuffles
    assert not MindSporeLoader(loaders.ms_loader()).shuffles


def test_a_stage_gives_samples_and_batch_gives_batches_in_the_order_of_the_data():
    side = MindSporeLoader(loaders.ms_loader(train=True, shuffle=True), limit=2)
    read = side.run("read")
    assert [item["label"].item() for item in read] == loaders.LABELS[:8].tolist()
    np.testing.assert_array_equal(read[0]["image"], loaders.pictures()[0][0])
    assert [item["image"].shape for item in side.run("RandomCrop")] == [(20, 20, 3)] * 8
    assert [item["image"].shape for item in side.run("batch")] == [(4, 3, 24, 24)] * 2


def test_the_last_stage_has_what_other_maps_do_to_other_columns():
    side = MindSporeLoader(loaders.broken_labels())
    assert side.run("read")[0]["label"].item() == 0
    assert side.run("Normalize")[0]["label"].item() == 1


def test_a_shuffle_of_its_own_is_seen_and_left_out():
    made = loaders.source().shuffle(8).map(vision.ToTensor(), "image").batch(2)
    side = MindSporeLoader(made)
    assert side.shuffles
    labels = np.concatenate([item["label"] for item in side.run("batch")])
    assert labels.tolist() == loaders.LABELS.tolist()


def test_behind_what_stands_for_an_operator_on_arrays_the_next_one_takes_arrays():
    side = MindSporeLoader(loaders.ms_arrays())
    assert side.random == ("RandomCrop", "RandomHorizontalFlip")
    assert side.run("batch")[0]["image"].shape == (4, 3, 20, 20)


def test_the_users_data_set_is_left_as_it_was():
    data = loaders.ms_loader(train=True, shuffle=True)
    side = MindSporeLoader(data)
    side.run("batch")
    side.draws("RandomCrop", 0, 3, 0)
    first = next(data.create_dict_iterator(num_epochs=1, output_numpy=True))
    assert first["image"].shape == (4, 3, 24, 24)


def test_draws_follow_from_the_seed_and_the_seed_is_put_back():
    before = ds.config.get_seed()
    side = MindSporeLoader(loaders.ms_arrays())
    one, same, other = (side.draws("RandomCrop", 1, 5, seed) for seed in (0, 0, 1))
    assert all(np.array_equal(*pair) for pair in zip(one, same, strict=True))
    assert not all(np.array_equal(*pair) for pair in zip(one, other, strict=True))
    assert ds.config.get_seed() == before


def test_the_part_of_a_rank_is_read_in_the_order_of_the_data():
    side = MindSporeLoader(loaders.ms_rank(num_shards=2, shard_id=1))
    assert (side.samples, side.shuffles) == (7, True)
    assert [item["label"].item() for item in side.run("read")] == loaders.LABELS[1::2].tolist()


@pytest.mark.parametrize("source", ["arrays", "MindRecord"])
@pytest.mark.parametrize("shuffle", [True, False])
def test_the_part_of_a_rank_shuffles_where_it_says_so(tmp_path, source, shuffle):
    options = {"shuffle": shuffle, "num_shards": 2, "shard_id": 1}
    made = (
        ds.NumpySlicesDataset(record_files.Y, ["y"], **options)
        if source == "arrays"
        else record_files.mind(tmp_path, **options).project(["y"])
    )
    side = MindSporeLoader(made)
    assert (side.samples, side.shuffles) == (6, shuffle)
    one, two = side.orders(2)
    assert (one == two) == (not shuffle)
    assert shuffle or one == [1, 3, 5, 7, 9, 11]
    assert [row["y"].item() for row in side.run("read")] == [1, 3, 5, 7, 9, 11]


def test_orders_are_not_told_of_what_chooses_among_samples():
    assert MindSporeLoader(ds.NumpySlicesDataset([0, 1, 2]).take(2)).orders(2) is None


def test_without_a_map_or_a_batch_there_is_only_what_is_read():
    side = MindSporeLoader(loaders.source())
    assert (side.stages, side.batch_size) == (("read", "batch"), None)
    assert len(side.run("batch")) == 14


def test_a_column_of_another_name_is_the_main_one_where_a_map_takes_it():
    side = MindSporeLoader(loaders.ms_renamed())
    assert side.stages[1] == "ToPIL"
    assert side.run("ToTensor")[0]["pixels"].shape == (3, 24, 24)
