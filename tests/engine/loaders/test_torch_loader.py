"""A loader of PyTorch, taken apart: what is read of it, and that it is left as it was."""

import numpy as np
import pytest
from torch.utils.data import DataLoader, Subset
from torchvision import transforms

from equivalence.errors import EquivalenceError
from equivalence.loaders.torch_loader import TorchLoader
from tests.engine.parts import loaders

SHAPE = (20, 22, 3)


def test_a_loader_tells_its_stages_columns_and_sizes():
    side = TorchLoader(loaders.torch_loader(train=True, shuffle=True))
    drawn = ("RandomCrop", "RandomHorizontalFlip")
    assert side.stages == ("read", "ToPIL", *drawn, "Resize", "ToTensor", "Normalize", "batch")
    assert side.random == drawn
    assert (side.columns, side.samples, side.batches, side.batch_size) == (["0", "1"], 14, 4, 4)
    assert side.shuffles
    assert not TorchLoader(loaders.torch_loader()).shuffles


def test_a_stage_gives_samples_and_batch_gives_batches_in_the_order_of_the_data():
    side = TorchLoader(loaders.torch_loader(train=True, shuffle=True), limit=2)
    read = side.run("read")
    assert [item["1"].item() for item in read] == loaders.LABELS[:8].tolist()
    np.testing.assert_array_equal(read[0]["0"], loaders.pictures()[0][0])
    assert [item["0"].shape for item in side.run("RandomCrop")] == [(20, 20, 3)] * 8
    assert [item["0"].shape for item in side.run("batch")] == [(4, 3, 24, 24)] * 2


def test_in_float64_and_with_a_perturbation_it_computes_what_it_is_told():
    side = TorchLoader(loaders.torch_loader(), limit=1)
    wide, moved = side.run("batch", "float64"), side.run("batch", "float64", lambda x: x + 1.0)
    assert wide[0]["0"].dtype == np.float64
    change = (moved[0]["0"] - wide[0]["0"])[:, :, 0, 0]
    np.testing.assert_allclose(change, [[1 / each for each in loaders.STD]] * 4)


def test_without_transforms_what_comes_out_is_perturbed():
    class Plain(loaders.Pictures):
        def __getitem__(self, index):
            return self.pictures[index] / 255.0, 0

    plain = Plain([])
    del plain.transform
    side = TorchLoader(plain)
    assert side.stages == ("read", "batch")
    moved = side.run("batch", "float64", lambda x: x + 1.0)
    np.testing.assert_allclose(moved[0]["0"], plain.pictures[0] / 255.0 + 1.0)


def test_the_users_loader_is_left_as_it_was():
    loader = loaders.torch_loader(train=True)
    before = loader.dataset.transform
    side = TorchLoader(loader)
    side.run("ToPIL")
    side.draws("RandomCrop", 0, 2, 0)
    assert loader.dataset.transform is before
    assert loader.num_workers == 2


def test_draws_follow_from_the_seed():
    side = TorchLoader(loaders.torch_loader(train=True))
    one, same, other = (side.draws("RandomCrop", 1, 5, seed) for seed in (0, 0, 1))
    assert all(np.array_equal(*pair) for pair in zip(one, same, strict=True))
    assert not all(np.array_equal(*pair) for pair in zip(one, other, strict=True))


def test_transforms_are_found_in_what_a_data_set_wraps_and_in_compositions():
    inner = loaders.Pictures(
        [transforms.Compose([transforms.ToPILImage(), transforms.ToTensor()]), transforms.Resize(8)]
    )
    side = TorchLoader(Subset(inner, [3, 1]))
    assert side.stages == ("read", "ToPIL", "ToTensor", "Resize", "batch")
    assert side.run("read")[0]["0"].shape == SHAPE


def test_a_transform_alone_is_a_stage():
    made = loaders.Pictures([])
    made.transform = transforms.ToTensor()
    assert TorchLoader(made).stages == ("read", "ToTensor", "batch")


def test_dicts_name_their_columns():
    assert TorchLoader(loaders.torch_loader(named=True)).columns == ["pixels", "class"]


def test_a_stream_is_read_from_its_beginning():
    side = TorchLoader(loaders.torch_stream(), limit=2)
    assert (side.samples, side.batches) == (None, None)
    assert [item["0"].shape for item in side.run("batch")] == [(4, 3, 20, 22)] * 2
    assert len(side.run("read")) == 8


def test_batches_of_a_sampler_of_ones_own_are_read_as_it_gives_them():
    made = loaders.Pictures([transforms.ToTensor()])
    side = TorchLoader(DataLoader(made, batch_size=2, sampler=[5, 3, 1, 0]))
    assert [item["1"].tolist() for item in side.run("batch")] == [[0, 3], [1, 0]]


def test_the_part_of_a_rank_is_read_in_the_order_of_the_data():
    side = TorchLoader(loaders.torch_rank(num_shards=2, shard_id=1))
    assert side.shuffles
    assert [item["1"].item() for item in side.run("read")] == loaders.LABELS[1::2].tolist()


def test_a_sampler_that_shuffles_the_part_of_a_rank_in_its_own_way_is_refused():
    class Own:
        num_replicas, rank, shuffle = 2, 0, True

        def __iter__(self):
            return iter([1, 0])

        def __len__(self):
            return 2

    made = loaders.Pictures([transforms.ToTensor()])
    side = TorchLoader(DataLoader(made, batch_size=2, sampler=Own()))
    with pytest.raises(EquivalenceError, match="Own shuffles the part of a rank"):
        side.run("batch")
