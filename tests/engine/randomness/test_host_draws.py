"""What code of a user's own draws by NumPy or Python is noted, or replayed."""

import random
import threading

import numpy as np
import pytest

from equivalence.randomness import host_draws
from equivalence.randomness.replay import Replay


@pytest.fixture
def seen():
    """What was noted: law and shape; all numbers are ones instead."""
    found = []

    def note(law, values):
        found.append((law, values.shape))
        return np.ones(values.shape)

    before = dict(vars(np.random)), dict(vars(random))
    with host_draws.noted(note):
        yield found
    assert (vars(np.random), vars(random)) == before


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
        (lambda: np.random.binomial(1, 0.3, (2, 3)), "binomial (1.0, 0.3)"),
    ],
)
def test_a_draw_is_noted_with_its_law_and_its_numbers(seen, draw, law):
    assert (draw() == 1).all()
    assert seen == [(law, (2, 3))]


def test_what_stands_for_a_draw_is_of_its_kind(seen):
    assert np.random.permutation(3).dtype == np.int64
    assert isinstance(np.random.rand(), float)
    assert type(np.random.randint(5)) is int
    assert type(random.random()) is float
    assert [law for law, _ in seen] == [
        "permutation (3.0)",
        "uniform (0.0, 1.0)",
        "integers (0.0, 5.0)",
        "uniform (0.0, 1.0)",
    ]


def test_elements_and_orders_are_drawn_by_their_places(seen):
    words = ["a", "b"]
    assert np.random.choice([5, 6, 7], 2).tolist() == [6, 6]
    assert np.random.choice(3, (1, 2), replace=False).tolist() == [[1, 1]]
    assert np.random.choice([5, 6], p=[0.5, 0.5]) == 6
    assert np.random.permutation(np.array([[5, 6], [7, 8]])).tolist() == [[7, 8], [7, 8]]
    assert random.choice(words) == "b"
    assert random.sample(words, 1) == ["b"]
    assert random.shuffle(words) is None
    assert words == ["b", "b"]
    assert seen == [
        ("integers (0.0, 3.0)", (2,)),
        ("choice (3.0, 0.0)", (1, 2)),
        ("choice (2.0, 1.0, [0.5, 0.5])", ()),
        ("permutation (2.0)", (2,)),
        ("integers (0.0, 2.0)", ()),
        ("choice (2.0, 0.0)", (1,)),
        ("permutation (2.0)", (2,)),
    ]


def test_a_generator_without_a_seed_is_noted_and_one_with_a_seed_gives_its_own(seen):
    numbers = np.random.default_rng(0).random(2)
    assert seen == []
    assert numbers.tolist() == np.random.default_rng(0).random(2).tolist()
    rng = np.random.default_rng()
    assert isinstance(rng, np.random.Generator)
    assert rng.integers(1, 5, 2, endpoint=True).tolist() == [1, 1]
    assert rng.permutation(2).tolist() == [1, 1]
    assert [law for law, _ in seen] == ["integers (1.0, 6.0)", "permutation (2.0)"]


def drawn(kind):
    """What every function gives that chooses or orders, with a seed."""
    np.random.seed(0)
    random.seed(0)
    values, rows, words = np.arange(9.0), np.arange(18).reshape(9, 2), list("abcdefghi")
    owners = [np.random]
    if kind == "generator":
        owners = [np.random.default_rng()]
        owners[0].bit_generator.state = np.random.PCG64(0).state
    for owner in owners:
        yield from (owner.permutation(each) for each in (9, values, rows))
        yield owner.choice(values, 4)
        yield owner.choice(words, 4, replace=False)
        yield owner.choice(words, p=np.full(9, 1 / 9))
        for each in (values, rows, words):
            owner.shuffle(each)
            yield list(each)
    yield random.choice(words)
    yield random.sample(words, 3)
    random.shuffle(words)
    yield words


@pytest.mark.parametrize("kind", ["module", "generator"])
def test_what_is_told_and_kept_is_what_would_have_been_drawn(kind):
    expected = [np.asarray(each).tolist() for each in drawn(kind)]
    with host_draws.noted(lambda _, values: values):
        assert [np.asarray(each).tolist() for each in drawn(kind)] == expected


def test_what_loaders_threads_and_libraries_draw_is_left_out(seen):
    loader = {"__name__": "torch.utils.data.sampler"}
    exec("def read(draw):\n    return draw()", loader)
    loader["read"](lambda: np.random.rand(2))
    thread = threading.Thread(target=lambda: np.random.rand(2))
    thread.start()
    thread.join()
    library = {"np": np}
    exec(compile("np.random.rand(2)", host_draws.__file__, "exec"), library)
    assert seen == []


CALLS = {
    "rand": lambda: np.random.rand(2, 3),
    "random": lambda: np.random.random((2, 3)),
    "random_sample": lambda: np.random.random_sample(4),
    "uniform": lambda: np.random.uniform(2.0, 3.0, 4),
    "uniform of lists": lambda: np.random.uniform([0.0, 5.0], [1.0, 6.0]),
    "one": lambda: np.random.uniform(),
    "randn": lambda: np.random.randn(3),
    "standard_normal": lambda: np.random.standard_normal((3,)),
    "normal": lambda: np.random.normal(1.0, 2.0, (3,)),
    "randint": lambda: np.random.randint(3, size=5),
    "permutation": lambda: np.random.permutation(6),
    "choice": lambda: np.random.choice([5, 6, 7, 8], 2),
    "each once": lambda: np.random.choice(9, (2, 3), replace=False),
    "by shares": lambda: np.random.choice(4, 5, p=[0.1, 0.2, 0.3, 0.4]),
    "without a seed": lambda: np.random.default_rng().integers(1, 9, 5),
    "python": lambda: random.random(),
    "python uniform": lambda: random.uniform(1.0, 2.0),
    "gauss": lambda: random.gauss(0.0, 1.0),
    "python randint": lambda: random.randint(0, 9),
    "randrange": lambda: random.randrange(9),
    "steps": lambda: random.randrange(1, 9, 3),
    "python choice": lambda: random.choice([5, 6, 7]),
    "python sample": lambda: random.sample(range(9), 4),
}


def replayed(draw):
    """What is drawn under a replay, and the replay."""
    replay = Replay("sample")
    replay.begin([])
    with host_draws.replayed(replay):
        return draw(), replay


def state():
    """The state of both generators."""
    return random.getstate(), np.random.get_state()[1].tobytes(), *np.random.get_state()[2:]


@pytest.mark.parametrize("name", CALLS)
def test_a_function_draws_what_is_replayed(name):
    before = state()
    (one, replay), (two, _) = replayed(CALLS[name]), replayed(CALLS[name])
    assert np.array_equal(one, two)
    assert [each.line.partition(":")[0] for each in replay.drawn] == ["test_host_draws.py"]
    assert replay.refused == []
    assert state() == before
    assert np.shape(CALLS[name]()) == np.shape(one)  # and so it draws without a replay


@pytest.mark.parametrize(
    ("draw", "possible"),
    [
        (lambda: np.random.choice(400, 400, replace=False), set(range(400))),
        (lambda: np.random.choice(3, 400, p=[0.5, 0.0, 0.5]), {0, 2}),
        (lambda: [random.randrange(1, 9, 3) for _ in range(400)], {1, 4, 7}),
        (lambda: random.sample(range(5, 405), 400), set(range(5, 405))),
    ],
)
def test_what_is_replayed_is_all_that_may_be_drawn(draw, possible):
    assert {int(each) for each in replayed(draw)[0]} == possible


def test_a_list_gets_the_order_that_is_replayed():
    def shuffled():
        words = list("abcdefghi")
        random.shuffle(words)
        return words

    one, _ = replayed(shuffled)
    assert one == replayed(shuffled)[0]
    assert one != list("abcdefghi")
    assert sorted(one) == list("abcdefghi")


def test_what_a_library_draws_is_its_own():
    library = {"np": np, "random": random}
    code = "np.random.rand(2), random.sample(range(9), 3), np.random.beta(0.4, 0.4)"
    _, replay = replayed(lambda: exec(compile(code, host_draws.__file__, "exec"), library))
    assert replay.drawn == []
    assert replay.refused == []


def test_a_law_without_numbers_is_refused_and_drawn_as_ever():
    before = state()
    number, replay = replayed(lambda: np.random.beta(0.4, 0.4))
    assert 0 <= number <= 1
    assert replay.drawn == []
    (refused,) = replay.refused
    assert refused.startswith("beta (0.4, 0.4) (test_host_draws.py:")
    assert state() != before
