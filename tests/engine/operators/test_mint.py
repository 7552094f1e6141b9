"""Every public name of `mindspore.mint` has a case for an Ascend, or a reason why not."""

import importlib

import pytest

from ms_models import mint_optim
from tests.test_twins import CASES
from tests.twins import declared, fused
from tests.twins.mint_optim import ON_ASCEND
from tests.twins.operators import operators

MODULES = ("mint", "mint.nn", "mint.nn.functional", "mint.linalg", "mint.special", "mint.optim")

RANDOM = "draws at random; both frameworks draw other numbers"
UNWRITTEN = "gives memory that nobody wrote"
COMPLEX = "takes or gives complex numbers, which are not drawn"
NO_KERNEL = "a CPU has neither a kernel nor a stand-in, and no other call is beside PyTorch's"
RANKS = "needs several devices"
WITHOUT = {
    "addr_": "changes its argument; mint.addmm and torch.addr have the formula",
    "allclose": "gives a Python boolean, no tensor",
    "batch_norm_elemt": RANKS,
    "batch_norm_gather_stats_with_counts": RANKS,
    "batch_norm_stats": RANKS,
    "bernoulli": RANDOM,
    "bitwise_not": NO_KERNEL,
    "conv_tbc": "no document tells its arguments",
    "empty": UNWRITTEN,
    "empty_like": UNWRITTEN,
    "float_power": "gives float64, which an Ascend has not",
    "imag": COMPLEX,
    "isneginf": NO_KERNEL,
    "kthvalue": "tells its arguments nowhere",
    "multinomial": RANDOM,
    "nn.SyncBatchNorm": RANKS,
    "normal": RANDOM,
    "nn.functional.upsample": "another name of mint.nn.functional.interpolate",
    "npu_gelu": "PyTorch has it not",
    "polar": COMPLEX,
    "rand": RANDOM,
    "rand_like": RANDOM,
    "randint": RANDOM,
    "randint_like": RANDOM,
    "randn": RANDOM,
    "randn_like": RANDOM,
    "randperm": RANDOM,
    "real": COMPLEX,
    "searchsorted": "its boundaries must be sorted in each row",
    "triangular_solve": "PyTorch has removed it",
    "vdot": NO_KERNEL,
}
"""Name below `mint` -> why it has no case."""

FUSED = {
    "add_rms_norm": "AddRMSNorm",
    "flash_attention_score": "Attention",
    "rms_norm": "RMSNorm",
    "rotary_position_embedding": "Rotary",
    "swiglu": "SwiGLU",
}
"""Fused operator of `mindspore.ops` -> the cell that calls it."""

OPTIMISERS = {
    "mint.optim.Adam": "adam",
    "mint.optim.AdamW": "adamw",
    "mint.optim.FusedAdamW": "fused_adamw",
    "mint.optim.SGD": "sgd",
}
"""Optimiser -> what builds a training step with it, in `ms_models.mint_optim`."""


def found(name):
    owner, _, attribute = f"mindspore.{name}".rpartition(".")
    return getattr(importlib.import_module(owner), attribute, None)


def public(module):
    """The names of a module that exist, without those of communication; layers, told or not."""
    from mindspore import mint, nn

    here = importlib.import_module(f"mindspore.{module}")
    told = {*here.__all__, *(n for n in vars(here) if _is_layer(getattr(here, n), nn))}
    apart = {*mint.distributed.__all__, *dir(mint.distributed)}
    inner = {*mint.nn.__all__, *mint.optim.__all__} if module == "mint" else set()
    there = {n for n in told - inner if getattr(here, n, None) is not None}
    return sorted(there - apart if module == "mint" else there)


def _is_layer(value, nn):
    return isinstance(value, type) and issubclass(value, nn.Cell) and value is not nn.Cell


def compared():
    """The calls of MindSpore that have a case for an Ascend."""
    apis = {each.api for one in operators("ascend") for each in one.counterparts}
    targets = {twin.candidate for twin in declared("ascend")}
    for target in targets:
        module, _, attribute = target.partition(":")
        apis.add(f"{module.removeprefix('mindspore.')}.{attribute}")
    return apis | {
        api for api, name in OPTIMISERS.items() if f"ms_models.mint_optim:{name}" in targets
    }


def lacking(module, apis):
    """The public names of a module that have no case; one object may have several names."""
    objects = {id(found(api)) for api in apis if api.startswith("mint.")}
    names = {f"{module}.{name}" for name in public(module)}
    return {
        name.removeprefix("mint.") for name in names - set(apis) if id(found(name)) not in objects
    }


@pytest.mark.parametrize("module", MODULES)
def test_a_public_name_has_a_case_or_a_reason(module):
    prefix = module.removeprefix("mint").removeprefix(".")
    listed = {each for each in WITHOUT if each.rpartition(".")[0] == prefix}
    assert sorted(lacking(module, compared())) == sorted(listed)


def test_a_name_without_a_case_is_seen():
    assert "nn.Conv2d" in lacking("mint.nn", compared() - {"mint.nn.Conv2d"})


def test_fused_operators_have_a_case():
    from mindspore import ops

    kinds = {twin.candidate.rpartition(":")[2] for twin in fused.TWINS}
    assert kinds == set(FUSED.values())
    assert all(hasattr(ops, name) for name in FUSED)


@pytest.mark.parametrize(("api", "name"), OPTIMISERS.items())
def test_a_step_that_bears_the_name_of_an_optimiser_is_built_with_it(api, name, monkeypatch):
    monkeypatch.setattr(mint_optim, "_step", lambda optimiser, *_, **__: optimiser)
    assert getattr(mint_optim, name)() is found(api)


def test_what_an_ascend_alone_can_run_is_collected_there_and_nowhere_else():
    everywhere = {twin.name for twin in declared()}
    assert {twin.name for twin in declared("ascend")} - everywhere == ON_ASCEND
    devices = {
        twin: {case.values[0].device for case in CASES if case.values[0].twin.name == twin}
        for twin in ON_ASCEND | {"mint_adamw"}
    }
    assert devices.pop("mint_adamw") == {"cpu", "gpu", "ascend"}
    assert {*map(frozenset, devices.values())} == {frozenset({"ascend"})}
