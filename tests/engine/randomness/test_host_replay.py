"""A network's own draws from NumPy's and Python's generators are replayed; those of others not."""

import random

import numpy as np
import pytest

from equivalence.randomness.host_replay import replayed
from equivalence.randomness.replay import Replay

CALLS = {
    "rand": lambda: np.random.rand(2, 3),
    "random": lambda: np.random.random((2, 3)),
    "random_sample": lambda: np.random.random_sample(4),
    "uniform": lambda: np.random.uniform(2.0, 3.0, 4),
    "one": lambda: np.random.uniform(),
    "randn": lambda: np.random.randn(3),
    "standard_normal": lambda: np.random.standard_normal((3,)),
    "normal": lambda: np.random.normal(1.0, 2.0, (3,)),
    "randint": lambda: np.random.randint(3, size=5),
    "permutation": lambda: np.random.permutation(6),
    "python": lambda: random.random(),
    "python uniform": lambda: random.uniform(1.0, 2.0),
    "gauss": lambda: random.gauss(0.0, 1.0),
    "python randint": lambda: random.randint(0, 9),
    "randrange": lambda: random.randrange(9),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_function_draws_what_is_replayed(name):
    def run():
        replay = Replay("sample")
        replay.begin([])
        with replayed(replay):
            return CALLS[name](), replay.drawn

    before = random.getstate(), np.random.get_state()[1].tobytes(), np.random.get_state()[2]
    (one, drawn), (two, _) = run(), run()
    assert np.array_equal(one, two)
    assert len(drawn) == 1
    assert before == (
        random.getstate(),
        np.random.get_state()[1].tobytes(),
        np.random.get_state()[2],
    )
    assert np.shape(CALLS[name]()) == np.shape(one)  # and so it draws without a replay


def test_what_a_library_draws_is_its_own():
    replay = Replay("sample")
    replay.begin([])
    with replayed(replay):
        random.sample(range(9), 3)
    assert replay.drawn == []
