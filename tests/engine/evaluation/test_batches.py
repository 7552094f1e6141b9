"""Data of users as batches: what is inputs, what is labels."""

import mindspore as ms
import numpy as np
import pytest
import torch

from equivalence.errors import DeclarationError
from equivalence.evaluation.batches import read

IMAGES, LABELS = torch.zeros(2, 3), torch.tensor([1, 0])


def parts(batch):
    """(positional arguments, keywords, labels) of a single batch."""
    ((called, arrays, labels),) = read([batch])
    positional, keywords = called.filled(arrays)
    return positional, keywords, labels


@pytest.mark.parametrize("images", [IMAGES, IMAGES.numpy(), ms.Tensor(IMAGES.numpy())])
def test_the_last_item_of_a_batch_is_its_labels(images):
    (first,), keywords, labels = parts((images, LABELS))
    assert np.array_equal(first, IMAGES.numpy())
    assert not keywords
    assert labels.tolist() == [1, 0]


def test_a_mapping_has_keywords_and_labels_by_name():
    positional, keywords, labels = parts({"x": IMAGES, "mask": None, "labels": [1, 0]})
    assert not positional
    assert keywords.keys() == {"x", "mask"}
    assert keywords["mask"] is None
    assert labels.tolist() == [1, 0]


def test_an_array_alone_has_no_labels():
    (first,), _, labels = parts(IMAGES)
    assert first.shape == (2, 3)
    assert labels is None


def test_inputs_may_be_nested():
    (first, (second,)), _, _ = parts((IMAGES, [LABELS], LABELS))
    assert first.shape == (2, 3)
    assert second.dtype == np.int32


def test_a_function_gives_the_batches_and_only_so_many_are_read():
    drawn = []

    def batches():
        for number in range(9):
            drawn.append(number)
            yield IMAGES, LABELS

    assert len(list(read(batches, 2))) == 2
    assert drawn == [0, 1]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (3, "the data is a int; name an iterable of batches"),
        ([], "the data has no batch"),
        ([("a", "b")], "batch 1 has no array or tensor among its inputs, but tuple"),
        ([(IMAGES, "b")], "the labels of batch 1 are no array of numbers, but str"),
    ],
)
def test_what_is_no_data_is_an_error(data, message):
    with pytest.raises(DeclarationError, match=message):
        list(read(data))
