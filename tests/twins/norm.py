"""Normalisation. One channel in eight is quiet, so that an epsilon shows."""

from equivalence.declare.draws import normal
from equivalence.declare.twin import Twin, grid

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
    Twin(
        "layer_norm",
        reference="torch.nn:LayerNorm",
        candidate="ms_models.norm:layer_norm",
        configs=grid(normalized_shape=16),
        inputs=[normal(2, 8, 5, "normalized_shape", shift=0.5)],
        phases=("train",),
    ),
    Twin(
        "group_norm",
        reference="torch.nn:GroupNorm",
        candidate="mindspore.nn:GroupNorm",
        configs=grid(num_groups=[3, 12], num_channels=12),
        inputs=[normal(3, "num_channels", 7, 5, shift=0.5)],
        phases=("train",),
    ),
)
