"""The layers of the twins, compared as data: right twins are configured alike."""

import pytest
from mindspore import nn as msnn
from torch import nn

import ms_models.resnet
import pt_reference.resnet
from equivalence.comparison import sides
from equivalence.comparison.comparison import CaseAtSeed
from equivalence.declare.twin import cases
from equivalence.structure import pairing
from equivalence.structure import settings as configuration
from equivalence.structure.layers import common, compare_settings, differences, unread
from equivalence.structure.mindspore_settings import settings
from equivalence.structure.settings import OWN
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
        assert unread(torch_settings(module), settings(cell)) == [], path
        assert alone(module, cell) <= ALONE.get(type(module).__name__, set()), path
        phrases = [p for p in told(module, cell) if not of_own_class(p, module, cell)]
        assert {p.split()[0] for p in phrases} == {*twin.settings}, f"{path}: {phrases}"


ALONE = {
    "BatchNorm1d": {"bias"},
    "BatchNorm2d": {"bias"},
    "BatchNorm3d": {"bias"},
    "CrossEntropyLoss": {"ignore_index"},  # of nn.SoftmaxCrossEntropyWithLogits
    "Embedding": {"max_norm", "norm_type", "scale_grad_by_freq", "sparse"},
    "GroupNorm": {"bias"},
    "LayerNorm": {"bias"},
    "Linear": {"in_features", "out_features"},
    "NonDynamicallyQuantizableLinear": {"in_features", "out_features"},
    "PReLU": {"init"},
    "TransformerEncoder": {"enable_nested_tensor", "mask_check"},
}
"""Settings that PyTorch's layer holds and MindSpore's does not. Another one is lost: a release has
renamed it, say, and it is compared no more."""


def alone(module, cell):
    """The settings that PyTorch's layer alone holds, of two libraries' layers of one kind."""
    ours, theirs = torch_settings(module), settings(cell)
    if OWN in ours | theirs or len(common(ours, theirs)) < 2:  # of other kinds, or containers
        return set()
    return ours.keys() - theirs.keys()


def test_a_setting_that_a_release_renames_is_missed(monkeypatch):
    cell = msnn.BatchNorm2d(3)
    assert alone(nn.BatchNorm2d(3), cell) == {"bias"}
    cell.channels = vars(cell).pop("num_features")
    (missed,) = unread(torch_settings(nn.BatchNorm2d(3)), settings(cell))
    assert missed.name == "num_features"
    monkeypatch.setattr(configuration, "UNHELD", {"BatchNorm2d": ["num_features"]})
    assert alone(nn.BatchNorm2d(3), cell) == {"bias", "num_features"}


OWN_UPDATE = "the optimizer's update is of the model's own"

STEPS = [t for t in twins.declared() if t.steps and not t.raises and t.level == "gate"]


@pytest.mark.parametrize("twin", STEPS, ids=lambda twin: twin.name)
def test_every_setting_of_a_training_can_be_read(twin):
    case = next(cases(twin, "cpu"))
    reference, candidate = sides.build_reference(case), sides.build_candidate(case)
    partners = pairing.partners(case, reference.slots(), candidate.slots())
    theirs = sides.reference_layers(case, reference, CaseAtSeed(case, 0).sample())
    ours = candidate.layers(partners) + sides.candidate_step(candidate, partners)
    unread = compare_settings(theirs, ours, partners.rename).unread
    assert {each.raised for each in unread} <= {OWN_UPDATE}


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
