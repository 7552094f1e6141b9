"""A diffusion transformer that begins as the identity: adaLN-zero."""

from equivalence.declare.initial import Initial
from equivalence.declare.twin import grid

INITIALS = (
    Initial(
        "dit",
        reference="pt_reference.diffusion:DiT",
        candidate="ms_models.diffusion:DiT",
        configs=grid(size=8, channels=4, patch=2, width=48, depth=1, heads=3, classes=10),
        level="nightly",
    ),
)
