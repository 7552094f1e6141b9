"""The catalogue of ports that hide from one sample: all are listed; further samples find them."""

import importlib
import inspect

import pytest

from benchmarks.hidden import HIDDEN
from benchmarks.reach import FURTHER, NONE, refusing

FILES = sorted({each.file for each in HIDDEN})

SHOWN = {
    "pooled_floor": "sizes",
    "split_heads_of_two": "batch",
    "attended_unmasked": "masks",
    "last_token_counted": "padding",
    "classified_over_all": "labels",
    "NormedNot": "clamps",
    "RootedLayerOutside": "epsilons",
    "gated_at": "ties",
    "soft_maximum_naive": "saturation",
    "cleaned_otherwise": "finite",
    "CausalOnce": "caches",
    "chunked_later": "branches",
    "overlaps_apart": "boxes",
}
"""A port of each kind -> its kind."""


@pytest.mark.parametrize("file", FILES)
def test_every_network_and_every_port_is_listed(file):
    theirs, ours = (importlib.import_module(f"benchmarks.hidden.{s}.{file}") for s in ("pt", "ms"))
    listed = [each for each in HIDDEN if each.file == file]
    assert {each.name for each in listed} == defined(theirs)
    assert {name for each in listed for name in (each.name, *each.wrong)} == defined(ours)


def defined(module):
    """The functions and classes of a module, but for those of its own use."""
    found = [*inspect.getmembers(module, inspect.isfunction)]
    found += inspect.getmembers(module, inspect.isclass)
    own = [name for name, each in found if each.__module__ == module.__name__]
    return {name for name in own if not name.startswith("_")}


def test_a_port_of_each_kind_is_tried():
    assert {*SHOWN.values()} == {each.kind for each in HIDDEN}


@pytest.mark.parametrize("port", SHOWN)
def test_a_further_sample_refuses_what_the_given_inputs_do_not(port):
    (network,) = [each for each in HIDDEN if port in each.wrong and each.kind == SHOWN[port]]
    assert refusing(network, port, "eval", thorough=True)[0] == FURTHER


@pytest.mark.parametrize(
    "port", [port for port in SHOWN if SHOWN[port] in ("masks", "caches", "boxes")]
)
def test_the_right_port_is_equal_on_all_samples(port):
    (network,) = [each for each in HIDDEN if port in each.wrong and each.kind == SHOWN[port]]
    assert refusing(network, "", "eval", thorough=True)[0] == NONE
