"""The layers of the twins, compared as data: right twins are configured alike."""

import pytest
from mindspore import nn as msnn
from torch import nn

import ms_models.resnet
import pt_reference.resnet
from equivalence.structure.layers import differences
from equivalence.structure.mindspore_settings import settings
from equivalence.structure.torch_settings import settings as torch_settings
from equivalence.structure.weights import reference_name
from equivalence.targets import build
from tests import twins


def told(reference, candidate):
    return [str(x) for x in differences(torch_settings(reference), settings(candidate))]


def paired_layers(twin):
    """(path, reference, candidate) of every layer with the same path after renames."""
    for config in twin.configs:
        keywords = {k: v for k, v in config.items() if not k.isupper()}
        reference, candidate = (build(t, keywords) for t in (twin.reference, twin.candidate))
        if isinstance(reference, nn.Module) and isinstance(candidate, msnn.Cell):
            modules = dict(reference.named_modules())
            for name, cell in candidate.cells_and_names():
                path = reference_name(name, twin.rename)
                if path in modules:
                    yield path, modules[path], cell


def has_layers(twin):
    """Whether the reference is a module; a plain function has no settings to compare."""
    keywords = {k: v for k, v in twin.configs[0].items() if not k.isupper()}
    return isinstance(build(twin.reference, keywords), nn.Module)


RIGHT = [t for t in twins.declared() if not t.differs and not t.raises and t.level == "gate"]


@pytest.mark.parametrize("twin", RIGHT, ids=lambda twin: twin.name)
def test_layers_of_right_twins_do_not_differ(twin):
    pairs = list(paired_layers(twin))
    assert bool(pairs) is has_layers(twin)
    for path, module, cell in pairs:
        phrases = [p for p in told(module, cell) if not of_own_class(p, module, cell)]
        assert {p.split()[0] for p in phrases} == {*twin.settings}, f"{path}: {phrases}"


def of_own_class(phrase, module, cell):
    """A kind differs by name alone where a model has a class of its own for it."""
    ours = type(module).__module__.startswith("torch.nn")
    theirs = type(cell).__module__.startswith("mindspore.nn")
    return phrase.startswith("kind ") and not (ours and theirs)


def test_every_layer_of_resnet50_is_paired_and_equal():
    modules = dict(pt_reference.resnet.resnet(50).named_modules())
    cells = dict(ms_models.resnet.resnet(50).cells_and_names())
    assert modules.keys() - cells.keys() == {"avgpool"}  # an operator on the other side
    shared = modules.keys() & cells.keys()
    assert len(shared) == 150
    assert {path: told(modules[path], cells[path]) for path in shared} == {
        path: [] for path in shared
    }
