"""Tables that a network's own code looks up are found by the names in it."""

import numpy as np
import pytest
from torch import nn

from equivalence.structure import looked_up
from tests.engine.parts.looked_up_pt import OfTensors, Sampler
from tests.engine.parts.looked_up_tables import GUIDANCE

HERE, AGAIN = [1.0, 2.0, 3.0], (1, 2, 3)
PAIR = (0.5, 0.25)
WORDS = ["a", "b", "c"]
RAGGED = [[1, 2, 3], [1, 2]]
BY_KEY = {"low": [1, 2, 3], "high": (4, 5, 6)}
BY_NUMBER = {2: 0.5, 0: 0.25, 1: 0.125}


class Reader(nn.Module):
    RATES = (0.1, 0.2, 0.3)

    def __init__(self):
        super().__init__()
        self.sizes = [7, 8, 9]
        self.unread = [1, 2, 3]

    @property
    def rates(self):
        return self.RATES

    @staticmethod
    def look(step):
        return [HERE[step] for _ in WORDS]

    def forward(self, x):
        return x * self.rates[0] * self.look(0)[0] * self.sizes[0] * nn.init.math.tau


class OfMany(Reader):
    def look(self, step):
        return (AGAIN, PAIR, WORDS, RAGGED, BY_KEY, BY_NUMBER, GUIDANCE)[step][step]


def _no_module(_cls):
    raise AttributeError("__module__")


NAMELESS = type("Nameless", (type,), {"__module__": property(_no_module)})("Nameless", (), {})
"""A class that does not tell its module, as some of compiled extensions."""


class OfNameless(Reader):
    def look(self, step):
        return NAMELESS, HERE[step]


def found(module):
    return looked_up.looked_up(module.named_modules(), "forward", lambda _: None, nn.Module)


def test_globals_and_attributes_of_the_class_and_the_object_are_found_with_their_lines():
    tables = found(Reader())
    assert tables.keys() == {"HERE", "RATES", "sizes"}
    assert tables["HERE"].place == "test_looked_up.py:11"
    assert tables["RATES"].place == "test_looked_up.py:20"
    assert tables["sizes"].place == "test_looked_up.py:24"


def test_a_class_that_does_not_tell_its_module_is_not_the_networks_own():
    assert found(OfNameless()).keys() == {"HERE", "RATES", "sizes"}


def test_lists_in_lists_and_by_keys_are_tables_and_pairs_and_words_are_none():
    tables = found(OfMany())
    assert tables.keys() == {
        *("AGAIN", "RAGGED[0]", "BY_KEY['low']", "BY_KEY['high']", "BY_NUMBER", "GUIDANCE"),
        *("RATES", "sizes"),
    }
    assert tables["BY_NUMBER"].values.tolist() == [0.25, 0.125, 0.5]
    assert tables["GUIDANCE"].place == "looked_up_tables.py:3"


def test_what_a_constructor_alone_reads_is_none():
    tables = found(Sampler())
    assert tables.keys() == {"ALPHAS", "SIGMAS", "GUIDANCE", "anchors", "order", "schedule.betas"}
    assert tables["anchors"].values.shape == (3, 3)
    assert tables["schedule.betas"].place.startswith("looked_up_pt.py:")
    assert found(OfTensors()) == {}


def test_code_of_a_framework_is_none_of_the_networks():
    assert found(nn.Sequential(nn.Conv2d(1, 1, 3), nn.Flatten())) == {}


def test_a_table_is_kept_as_it_was_found():
    module = Reader()
    tables = found(module)
    module.sizes[0] = 0
    assert tables["sizes"].values[0] == 7


@pytest.mark.parametrize("value", [[], [None, 1.0], [[1, 2], 3], [np.zeros(2)], ["1", "2", "3"]])
def test_other_lists_are_no_table(value):
    assert looked_up._listed(value) is None
