"""Compares the two scripts of a pair on ranks."""

import pytest

from equivalence import train
from tests.engine.scripts.conftest import folder  # noqa: F401
from tests.engine.scripts.mistakes import PAIRS

STEPS = 3


@pytest.fixture
def on_ranks(folder):  # noqa: F811
    """Compares a pair on ranks, with edits of the port."""

    def run(pair, *edits, ranks=2, reference=()):
        names = [f"{pair}_{side}.py" for side in ("torch", "mindspore")]
        for name, changes in zip(names, (reference, edits), strict=True):
            text = (PAIRS / name).read_text()
            for old, new in changes:
                assert old in text
                text = text.replace(old, new)
            (folder / name).write_text(text)
        return train(*names, steps=STEPS, ranks=ranks)

    return run
