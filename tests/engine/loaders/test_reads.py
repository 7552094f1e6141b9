"""What a training reads of its loaders, and what the port gets of the original's batches."""

import pickle

import numpy as np

from equivalence.loaders.reads import Reading, drawing, handed, pairs, told
from tests.engine.parts import loaders


def ones(*shape, dtype="float32"):
    return np.ones(shape, dtype)


def test_a_loader_stands_for_the_first_of_as_many_batches_else_for_the_next():
    theirs = [Reading("train", "", 1, 9), Reading("test", "", 1, 2), Reading("more", "", 1, 4)]
    ours = [Reading("a", "", 1, 2), Reading("b", "", 1, 9), Reading("c", "", 1, 5)]
    found = [(one.loader, other.loader) for one, other in pairs(theirs, ours)]
    assert found == [("test", "a"), ("train", "b"), ("more", "c")]
    assert [*pairs([], ours)] == []


def test_columns_that_draw_are_found_with_what_draws_them():
    from equivalence.loaders.torch_loader import TorchLoader

    columns, stages = drawing(TorchLoader(loaders.torch_loader(train=True)))
    assert (columns, stages) == (["0"], ["RandomCrop", "RandomHorizontalFlip"])
    assert drawing(TorchLoader(loaders.torch_loader())) == ([], [])


def test_drawn_columns_stand_for_the_port_s_by_name_place_or_shape():
    theirs = {"0": 2 * ones(4, 3, 6, 6), "1": ones(4)}
    for ours in (
        {"0": ones(4, 3, 6, 6), "1": ones(4)},
        {"image": ones(4, 3, 6, 6), "label": ones(4)},
        {"image": ones(4, 6, 6, 3), "label": ones(4)},
        {"number": ones(4, 1), "image": ones(4, 3, 6, 6), "label": ones(4)},
    ):
        found, lost = handed(theirs, ["0"], ours)
        name = "0" if "0" in ours else "image"
        assert lost == []
        assert {n: (v.shape, v.max()) for n, v in found.items()} == {name: (ours[name].shape, 2)}


def test_a_column_that_does_not_fit_is_told():
    theirs = {"0": ones(4, 3, 6, 6), "1": ones(4)}
    ours = {"image": ones(4, 6, 6, 3, dtype="uint8"), "label": ones(4)}
    assert handed(theirs, ["0"], ours) == (
        {},
        ["column 0 is float32 4x3x6x6, and in the port uint8 4x6x6x3"],
    )
    _, (why,) = handed(theirs, ["0"], {"label": ones(4)})
    assert why == "column 0 is float32 4x3x6x6, and in the port no such column"


def test_what_the_port_has_got_is_told():
    theirs = Reading("", "", 1, 3, drawn=["0"], stages=["RandomCrop"])
    ours = Reading("", "", 1, 3, taken={"train.py:3": 2})
    (line,) = told([theirs, Reading("", "", 1, 9)], [ours])
    assert "RandomCrop draw column 0" in line
    assert "gets 2 batches" in line
    (line,) = told([theirs], [])
    assert "no data set of MindSpore that the port reads pairs with it" in line


def test_another_process_gets_no_loader_and_the_longest_line_counts():
    reading = Reading(lambda: 0, "train.py:3", 1, 2, {"a": [{}], "b": [{}, {}]})
    assert len(reading.longest) == 2
    copy = pickle.loads(pickle.dumps(reading))
    assert (copy.loader, copy.batches, copy.key) == (None, {}, "train.py:3")
