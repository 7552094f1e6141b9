"""Networks that cast to half precision by themselves, against autocast and casts by hand.

They are smooth, without kinks: rounding to float16 moves activations far. A level of MindSpore
wraps the network, and perhaps its BatchNorms, in cells that the renames take out. The level O1 is
left out: it imports a rewritten copy of the source, by paths that it leaves in `sys.path`.
"""

from equivalence.declare.draws import integers, normal
from equivalence.declare.twin import Twin, grid

PT, MS = "pt_reference.precision:", "ms_models.precision:"
HALF = {"computes": "float16"}

LAYERS = ("conv1", "bn1", "conv2", "bn2", "fc")
# Names under O2, with the BatchNorms wrapped, and without a level.
NORMS_KEPT = {
    f"_backbone.{layer}{'._backbone' if layer.startswith('bn') else ''}": f"network.{layer}"
    for layer in LAYERS
}
BARE = {layer: f"network.{layer}" for layer in LAYERS}

IMAGES = [normal(3, 3, 9, 8)]


def mixed(level: str, rename: dict[str, str]) -> Twin:
    """The small network under one level."""
    return Twin(
        f"mixed_{level}".lower(),
        reference=PT + "mixed",
        candidate=MS + "mixed",
        configs=grid(level=level),
        inputs=IMAGES,
        rename=rename,
        **HALF,
    )


# Learning rates are large: an update must exceed what rounding its weight to float16 does.
TWINS = (
    mixed("O2", NORMS_KEPT),
    mixed("O3", {"_backbone": "network"}),
    mixed("auto", BARE),
    Twin(
        "half_convolutions",
        reference=PT + "half_convolutions",
        candidate=MS + "half_convolutions",
        inputs=IMAGES,
        **HALF,
    ),
    Twin(
        "hand_cast_attention",
        reference=PT + "HandCastAttention",
        candidate=MS + "HandCastAttention",
        configs=grid(width=16),
        inputs=[normal(2, 7, "width")],
        phases=("train",),
        **HALF,
    ),
    Twin(
        "scaled_step",
        reference=PT + "scaled_step",
        candidate=MS + "scaled_step",
        configs=grid(learning_rate=30.0, loss_weight=1e-7, loss_scale=2.0**20),
        inputs=[normal(4, 12), integers(4, high=5)],
        phases=("train",),
        steps=1,
        rename={"backbone._backbone": "backbone.network"},
        **HALF,
    ),
    Twin(
        "model_step",
        reference=PT + "model_step",
        candidate=MS + "model_step",
        configs=grid(learning_rate=30.0, loss_scale=1024.0),
        inputs=[normal(12, 3, 9, 8), integers(12, high=5)],
        phases=("train",),
        steps=1,
        rename={ours: f"backbone.{theirs}" for ours, theirs in NORMS_KEPT.items()},
        **HALF,
    ),
)
