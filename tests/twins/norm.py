"""Batch normalisation."""

from equivalence.draws import normal
from equivalence.twin import Twin, grid

MAPS = [normal(3, "num_features", 7, 5, shift=0.5)]

TWINS = (
    Twin(
        "batch_norm2d",
        reference="torch.nn:BatchNorm2d",
        candidate="ms_models.norm:batch_norm2d",
        configs=grid(num_features=12, eps=1e-5, momentum=0.1),
        inputs=MAPS,
        dtypes=("float32", "float16"),
    ),
    Twin(
        "plain_batch_norm2d",
        reference="torch.nn:BatchNorm2d",
        candidate="ms_models.norm:plain_batch_norm2d",
        configs=grid(num_features=12, eps=1e-3, momentum=0.3, affine=False),
        inputs=MAPS,
    ),
)
