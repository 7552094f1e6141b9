"""What stands for a stage, the names of stages, and what is no loader."""

import numpy as np
import pytest
import torch
from PIL import Image

from equivalence.errors import DeclarationError
from equivalence.loaders.stages import (
    Chain,
    Fitted,
    NotedStage,
    array,
    drawing,
    flat,
    named,
    staged,
)

PICTURE = np.arange(4 * 5 * 3, dtype=np.uint8).reshape(4, 5, 3)


def test_a_side_that_is_declared_stays_as_it_is():
    class Declared:
        stages, run = ("read", "batch"), None

    side = Declared()
    assert staged(side) is side


def test_what_is_no_loader_is_refused():
    with pytest.raises(DeclarationError, match="it is list, and no data set; give a DataLoader"):
        staged([1])


def test_stages_have_the_names_of_classes_and_a_number_where_there_are_several():
    class ToPILImage:
        pass

    assert named([ToPILImage(), np.sort, np.sort]) == ["ToPIL", "sort", "sort2"]


@pytest.mark.parametrize("kind", [np.asarray, torch.from_numpy, Image.fromarray])
def test_what_stands_for_a_random_stage_gives_its_size_and_the_kind_that_it_takes(kind):
    values = kind(PICTURE)
    fitted = Fitted((6, 3, 3))(values)
    assert type(fitted) is type(values)
    np.testing.assert_array_equal(array(fitted), PICTURE[[0, 1, 2, 3, 0, 1]][:, :3])


def test_a_stage_that_keeps_the_size_is_left_out():
    assert Fitted(PICTURE.shape)(PICTURE) is PICTURE
    assert Fitted((7,))(PICTURE) is PICTURE


def test_a_chain_perturbs_the_first_floating_array_alone():
    steps = [lambda x: x, lambda x: x.float(), lambda x: x * 2]
    chain = Chain(steps, lambda values: values + 1)
    assert chain(torch.tensor([1, 2])).tolist() == [4.0, 6.0]
    assert chain.perturbed
    whole = Chain(steps[:1], lambda values: values + 1)
    assert whole(torch.tensor([1, 2])).tolist() == [1, 2]
    assert not whole.perturbed


def test_a_chain_gives_back_what_it_does_not_change():
    assert Chain([lambda x: x + 1])(1, "target") == (2, "target")


def test_a_stage_notes_what_it_is_called_with():
    seeing = NotedStage(lambda x: x + 1)
    assert (seeing(3), seeing.seen) == (4, [3])


def test_a_stage_draws_where_its_results_differ_in_values_or_in_shape():
    one, other = np.zeros((2, 3)), np.ones((2, 3))
    assert drawing([one, one]) is None
    assert drawing([one, other]).shape == (2, 3)
    assert drawing([one, np.zeros((2, 4))]).shape == (2, 3)


def test_columns_are_the_keys_or_the_positions():
    assert dict(flat({"a": 1, 2: 3})) == {"a": 1, "2": 3}
    assert dict(flat((1, 2))) == {"0": 1, "1": 2}
    assert dict(flat(PICTURE)).keys() == {"0"}


def test_columns_are_arrays():
    assert array(b"ab").tolist() == [97, 98]
    assert array(torch.ones(2, requires_grad=True)).tolist() == [1, 1]
    assert array(3).shape == ()
