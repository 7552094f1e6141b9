"""Laws of samples and batches: columns by themselves, and together."""

import numpy as np
import pytest

from equivalence.errors import EquivalenceError
from equivalence.loaders.torch_loader import TorchLoader
from equivalence.pipelines import drawn
from tests.engine.parts import mixed_pt

PICTURES = np.random.default_rng(0).normal(size=(6, 10)).astype(np.float32)
TARGETS = np.eye(6, dtype=np.float32)


def draws(seed, count=drawn.MIXED, together=True, low=0.0, text="a b"):
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        one, order = rng.uniform(low, 1.0), rng.permutation(6)
        other, second = (one, order) if together else (rng.uniform(low, 1.0), rng.permutation(6))
        made.append(
            {
                "image": one * PICTURES + (1 - one) * PICTURES[order],
                "label": other * TARGETS + (1 - other) * TARGETS[second],
                "text": np.array(text.split()),
            }
        )
    return made


def test_two_samples_of_one_law():
    assert drawn.difference(draws(0), draws(1)) is None


def test_columns_that_are_right_by_themselves_must_go_together():
    told = drawn.difference(draws(0), draws(1, together=False))
    assert told.startswith("image and label do not go together")


def test_a_column_of_another_law_is_told_with_its_figures():
    told = drawn.difference(draws(0), draws(1, low=0.5))
    assert " is " in told
    assert "in the reference" in told
    assert " of text is " in drawn.difference(draws(0, 50), draws(1, 50, text="a c"))


def test_columns_of_other_names_or_dimensions_are_told():
    one, other = draws(0, 3), [{**item, "text": item["text"][0]} for item in draws(1, 3)]
    assert drawn.difference(one, other) == "text has 0 dimensions for 1"
    with pytest.raises(EquivalenceError, match="columns image, label, text, and the candidate im"):
        drawn.difference(one, [{"image": item["image"]} for item in other])


def test_where_a_side_draws():
    sides = mixed_pt.plain(), mixed_pt.mix(), mixed_pt.mosaic()
    found = [drawn.level_of(TorchLoader(side), 0) for side in sides]
    assert found == [None, "batch", "read"]
