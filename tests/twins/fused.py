"""Fused operators of transformers, of which a CPU has none: stand-ins are compared there."""

from typing import Any

from equivalence.declare.draws import Draw, booleans, normal, uniform
from equivalence.declare.twin import Twin, grid

HEADS = 4
SHAPES = {"BSH": (2, 6, 32), "SBH": (6, 2, 32), "BNSD": (2, HEADS, 6, 8), "BSND": (2, 6, HEADS, 8)}


def fused(name: str, kind: str, configs: Any, *inputs: Draw) -> Twin:
    """One operator, in training mode."""
    return Twin(
        f"fused_{name}",
        reference=f"pt_reference.fused:{kind}",
        candidate=f"ms_models.fused:{kind}",
        configs=configs,
        inputs=inputs,
        phases=("train",),
        level="nightly",
    )


def attention(layout: str, *more: Draw, causal: bool = False) -> Twin:
    """Flash attention in one layout, under a mask of what is hidden, a causal one, or none."""
    suffix = "_causal" if causal else "_masked" if more else ""
    configs = grid(heads=HEADS, layout=layout, scale=[0.25, 1.0], causal=causal)
    inputs = (normal(*SHAPES[layout]),) * 3
    return fused(f"attention_{layout.lower()}{suffix}", "Attention", configs, *inputs, *more)


ANGLES = (uniform(1, 1, 6, 8, low=-1.0, high=1.0).constant(),) * 2

TWINS = (
    fused("rms_norm", "RMSNorm", grid(width=8, eps=[1e-6, 1e-3]), normal(2, 5, 8)),
    fused(
        "add_rms_norm",
        "AddRMSNorm",
        grid(width=8, eps=1e-6),
        normal(2, 5, 8),
        normal(2, 5, 8),
    ),
    fused("swiglu", "SwiGLU", grid(dim=[-1, 1]), normal(2, 6, 8)),
    fused("rotary", "Rotary", grid(mode=[0, 1]), normal(2, HEADS, 6, 8), *ANGLES),
    *(attention(layout) for layout in SHAPES),
    attention("BNSD", booleans(2, 1, 6, 6)),
    attention("BNSD", causal=True),
)
