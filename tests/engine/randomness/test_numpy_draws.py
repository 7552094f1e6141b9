"""What code of a user's own draws by `np.random` is noted, and another may stand for it."""

import threading

import numpy as np
import pytest

from equivalence.randomness import numpy_draws


@pytest.fixture
def seen():
    """What was noted: law and shape; all numbers are ones instead."""
    found = []

    def note(law, values):
        found.append((law, values.shape))
        return np.ones(values.shape)

    before = dict(vars(np.random))
    with numpy_draws.noted(note):
        yield found
    assert vars(np.random) == before


@pytest.mark.parametrize(
    ("draw", "law"),
    [
        (lambda: np.random.rand(2, 3), "uniform (0.0, 1.0)"),
        (lambda: np.random.uniform(-1, size=(2, 3)), "uniform (-1.0, 1.0)"),
        (lambda: np.random.randn(2, 3), "normal (0.0, 1.0)"),
        (lambda: np.random.normal(0, 0.1, (2, 3)), "normal (0.0, 0.1)"),
        (lambda: np.random.beta(0.4, 0.4, (2, 3)), "beta (0.4, 0.4)"),
        (lambda: np.random.randint(9, size=(2, 3)), "integers (0.0, 9.0)"),
        (lambda: np.random.randint(2, 9, (2, 3), dtype="int32"), "integers (2.0, 9.0)"),
    ],
)
def test_a_draw_is_noted_with_its_law_and_its_numbers(seen, draw, law):
    assert (draw() == 1).all()
    assert seen == [(law, (2, 3))]


def test_what_stands_for_a_draw_is_of_its_kind(seen):
    assert np.random.permutation(3).dtype == np.int64
    assert isinstance(np.random.rand(), float)
    assert type(np.random.randint(5)) is int
    assert [law for law, _ in seen] == [
        "permutation (3.0)",
        "uniform (0.0, 1.0)",
        "integers (0.0, 5.0)",
    ]


def test_what_loaders_threads_and_libraries_draw_is_left_out(seen):
    loader = {"__name__": "torch.utils.data.sampler"}
    exec("def read(draw):\n    return draw()", loader)
    loader["read"](lambda: np.random.rand(2))
    thread = threading.Thread(target=lambda: np.random.rand(2))
    thread.start()
    thread.join()
    library = {"np": np}
    exec(compile("np.random.rand(2)", numpy_draws.__file__, "exec"), library)
    np.random.permutation(np.arange(3))  # whose numbers may be others
    assert seen == []
